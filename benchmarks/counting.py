"""Reading and counting: rankings from Parquet, place and joint counts, chunk by chunk.

The yardstick is `numpy.bincount` on the same rankings, already in memory as an array of places.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tierwise.counts import Counts
from tierwise.readers import scan_rankings

N_ITEMS = 10
ROWS_OF_A_GROUP = 100_000
NAMES = [f"item {number}" for number in range(N_ITEMS)]


def write_orderings(path: Path, n_rankings: int, seed: int) -> None:
    """Write random complete orderings, group by group, so that any number fits in memory."""
    rng = np.random.default_rng(seed)
    labels = pa.array(NAMES)
    schema = pa.schema([(f"place {place}", pa.string()) for place in range(1, N_ITEMS + 1)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rankings, ROWS_OF_A_GROUP):
            n_rows = min(ROWS_OF_A_GROUP, n_rankings - start)
            orderings = rng.permuted(np.tile(np.arange(N_ITEMS), (n_rows, 1)), axis=1)
            columns = [labels.take(pa.array(orderings[:, place])) for place in range(N_ITEMS)]
            writer.write_table(pa.table(columns, schema=schema))


def count_file(path: Path) -> Counts:
    return Counts.from_chunks(scan_rankings(path))


def count_named_items(path: Path) -> Counts:
    """Count in one pass: with the items named, none is needed to find them."""
    return Counts.from_chunks(scan_rankings(path, items=NAMES))


def count_by_bincount(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count places and pairs of places by numpy alone; ``columns[item]`` are the item's places."""
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


def columns_in_memory(path: Path, items: tuple) -> np.ndarray:
    chunks = scan_rankings(path, items=items)
    places = np.concatenate([chunk.patterns[chunk.pattern_of] for chunk in chunks])
    return np.ascontiguousarray(places.T, dtype=np.int64)


def best_seconds(function, argument, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function(argument)
        times.append(perf_counter() - start)
    return min(times)


def peak_megabytes(path: Path) -> float:
    """Count a file in a process of its own, and return how much memory that took at most."""
    command = [sys.executable, "-m", "benchmarks.counting", "--peak-memory-of", str(path)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def own_peak_megabytes() -> float:
    """Return the most memory this process ever held.

    Read from the kernel's account of this program alone: getrusage would also count what the
    process that started it held at that moment.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rankings", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peak-memory-of", type=Path)
    options = parser.parse_args()
    if options.peak_memory_of:
        count_file(options.peak_memory_of)
        print(own_peak_megabytes())
        return
    with TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.parquet", Path(folder) / "large.parquet"
        write_orderings(small, options.rankings, seed=1)
        counts = count_file(small)  # also compiles
        columns = columns_in_memory(small, counts.items)
        place_counts, joint = count_by_bincount(columns)
        assert np.array_equal(counts.places, place_counts)
        assert np.array_equal(counts.joint, joint)
        ours = best_seconds(count_file, small, options.repeats)
        named = best_seconds(count_named_items, small, options.repeats)
        theirs = best_seconds(count_by_bincount, columns, options.repeats)
        print(f"{options.rankings:,} complete rankings of {N_ITEMS} items, places and joint counts")
        print(f"tierwise, from Parquet        {ours:8.3f} s")
        print(f"  with the items named        {named:8.3f} s")
        print(f"numpy.bincount, from memory   {theirs:8.3f} s")
        print(f"ratio                         {ours / theirs:8.2f}")
        write_orderings(large, 4 * options.rankings, seed=2)
        before, after = peak_megabytes(small), peak_megabytes(large)
        print(f"peak memory                   {before:8.0f} MB")
        print(f"peak memory, 4 times the rows {after:8.0f} MB")


if __name__ == "__main__":
    main()
