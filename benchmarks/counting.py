"""Counting: places and pairs of places, from Parquet files and from memory."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.floors import seconds_to_read
from benchmarks.rows import Row, best_time, shortest_time
from tierwise import Counts, Rankings

ROWS_OF_A_GROUP = 250_000
CASES = [(100_000, 10), (1_000_000, 10), (4_000_000, 10), (1_000_000, 5), (1_000_000, 20)]


def growth_with_rankings_and_items() -> list[Row]:
    """Count files of several sizes, beside only reading them."""
    rows = []
    with TemporaryDirectory() as folder:
        for n_rankings, n_items in CASES:
            path = Path(folder) / "rankings.parquet"
            write_orderings(path, n_rankings, n_items, seed=1)
            scan = Rankings.scan(path, items=names(n_items))
            seconds, _ = best_time(scan.counts, repeats=2)
            rows += _beside_reading(path, n_rankings, n_items, seconds, "")
    return rows


def against_bincount() -> list[Row]:
    """Count rankings that are in memory already, by numpy alone."""
    n_rankings, n_items = 1_000_000, 10
    orderings = _random_orderings(n_rankings, n_items, np.random.default_rng(1))
    rankings = Rankings.from_order_array(orderings, names(n_items))
    columns = np.ascontiguousarray(rankings.places.T, dtype=np.int64)
    seconds, counts = best_time(lambda: Counts.of(rankings), repeats=3)
    peer_seconds, (place_counts, joint) = best_time(lambda: count_by_bincount(columns), repeats=3)
    assert np.array_equal(counts.places, place_counts)
    assert np.array_equal(counts.joint, joint)
    return [
        Row(
            "counting, from memory",
            _case(n_rankings, n_items),
            seconds,
            "same counts",
            "numpy.bincount",
            peer_seconds,
            seconds_to_read(rankings.places.nbytes),
        )
    ]


def large_file(n_rankings: int) -> list[Row]:
    """Count a file once, in a process of its own, whose memory the kernel keeps account of."""
    n_items = 10
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rankings.parquet"
        write_orderings(path, n_rankings, n_items, seed=1)
        alone = count_alone(path)
        remark = f"peak memory {alone.megabytes:.0f} MB, file {path.stat().st_size / 1e6:.0f} MB"
        return _beside_reading(path, n_rankings, n_items, alone.seconds, remark)


def names(n_items: int) -> list[str]:
    return [f"item {number}" for number in range(n_items)]


def write_orderings(path: Path, n_rankings: int, n_items: int, seed: int) -> None:
    """Write random complete orderings, group by group, so that any number fits in memory."""
    rng = np.random.default_rng(seed)
    labels = pa.array(names(n_items))
    schema = pa.schema([(f"place {place}", pa.string()) for place in range(1, n_items + 1)])
    coded = pa.schema([(name, pa.dictionary(pa.int32(), pa.string())) for name in schema.names])
    with pq.ParquetWriter(path, coded, store_schema=False) as writer:
        for start in range(0, n_rankings, ROWS_OF_A_GROUP):
            n_rows = min(ROWS_OF_A_GROUP, n_rankings - start)
            orderings = _random_orderings(n_rows, n_items, rng).astype(np.int32)
            columns = [
                pa.DictionaryArray.from_arrays(np.ascontiguousarray(orderings[:, place]), labels)
                for place in range(n_items)
            ]
            writer.write_table(pa.table(columns, schema=coded))


def count_by_bincount(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count places and pairs of places; ``columns[item]`` are the item's places."""
    n_items = len(columns)
    place_counts = np.stack([np.bincount(column, minlength=n_items) for column in columns])
    half = np.zeros((n_items,) * 4, dtype=np.int64)
    for first in range(n_items):
        row_of_cell = columns[first] * n_items
        for second in range(first + 1, n_items):
            pair = np.bincount(row_of_cell + columns[second], minlength=n_items**2)
            half[first, :, second, :] = pair.reshape(n_items, n_items)
    joint = half + half.transpose(2, 3, 0, 1)
    item, place = np.indices(place_counts.shape)
    joint[item, place, item, place] = place_counts
    return place_counts, joint


@dataclass(frozen=True)
class Alone:
    """What counting took in a process of its own."""

    seconds: float
    megabytes: float


def count_alone(path: Path) -> Alone:
    command = [sys.executable, "-m", "benchmarks.counting", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Alone(**json.loads(done.stdout))


def _beside_reading(
    path: Path, n_rankings: int, n_items: int, seconds: float, remark: str
) -> list[Row]:
    """Compare with reading the file and doing nothing with it, as pyarrow does by default."""
    text_seconds, _ = shortest_time(lambda: _read(path))
    columns = pq.read_schema(path).names
    code_seconds, _ = shortest_time(lambda: _read(path, read_dictionary=columns))
    floor = seconds_to_read(n_rankings * n_items)
    what, case = "counting, from Parquet", _case(n_rankings, n_items)
    return [
        Row(what, case, seconds, remark, "pyarrow, only reading", text_seconds, floor),
        Row(what, case, seconds, "", "pyarrow, only reading codes", code_seconds, floor),
    ]


def _read(path: Path, **options) -> None:
    for _ in pq.ParquetFile(path, **options).iter_batches():
        pass


def _random_orderings(n_rankings: int, n_items: int, rng: np.random.Generator) -> np.ndarray:
    return rng.permuted(np.tile(np.arange(n_items), (n_rankings, 1)), axis=1)


def _case(n_rankings: int, n_items: int) -> str:
    return f"{n_rankings:,} rankings of {n_items} items"


def _peak_megabytes() -> float:
    """Return the most memory this process ever held.

    Read from the kernel's account of this program alone: getrusage would also count what the
    process that started it held at that moment.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    """Count one file and say what that took; `count_alone` starts this."""
    seconds, _ = shortest_time(Rankings.scan(sys.argv[1]).counts, repeats=1)
    print(json.dumps({"seconds": seconds, "megabytes": _peak_megabytes()}))


if __name__ == "__main__":
    main()
