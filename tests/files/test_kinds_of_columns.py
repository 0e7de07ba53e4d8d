"""Columns of any type in Parquet files and data frames: read, or refused by name."""

import contextlib
import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tierwise import InputError, Rankings, read_rankings

DAY = dt.date(2024, 2, 29)
COLUMNS = {
    "lists": pa.array([[1], [2]]),
    "records": pa.array([{"x": 1}, {"x": 2}]),
    "maps": pa.array([[("a", 1)], [("b", 2)]], type=pa.map_(pa.string(), pa.int64())),
    "dates": pa.array([DAY, DAY]),
    "times": pa.array([dt.time(1), dt.time(2)]),
    "moments": pa.array([dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1)]),
    "durations": pa.array([dt.timedelta(1), dt.timedelta(2)]),
    "nothing": pa.nulls(2),
    "bytes": pa.array([b"a", b"\xff"]),
    "decimals": pa.array([decimal.Decimal(1), decimal.Decimal(2)]),
    "truths": pa.array([True, False]),
    "halves": pa.array(np.array([1, 2], dtype=np.float16)),
    "large numbers": pa.array([2**64 - 1, 1], type=pa.uint64()),
    "categories": pa.array([1, 2]).dictionary_encode(),
    "large texts": pa.array(["a", "b"], type=pa.large_string()),
    "runs": pc.run_end_encode(pa.array(["a", "b"])),
}
# Older versions of pyarrow name this type, but make no columns of it.
with contextlib.suppress(pa.ArrowNotImplementedError):
    COLUMNS["views"] = pa.array(["a", "b"]).cast(pa.string_view())
OPTIONS = [{}, {"layout": "ranks"}, {"layout": "orderings", "unranked": "below"}, {"weights": "x"}]


def outcome(read):
    try:
        return read()
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("other", [[2, 1], ["u", "v"]], ids=["numbers", "texts"])
@pytest.mark.parametrize("said", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", COLUMNS)
def test_files_scans_and_frames_agree(tmp_path, kind, said, other):
    table = pa.table({"x": COLUMNS[kind], "y": other, "z": other[::-1]})
    of_frame = outcome(lambda: read_rankings(table, **said))
    if kind in ("lists", "records", "maps", "runs"):
        assert "column 'x' holds cells of the type" in of_frame
        assert "neither text nor numbers" in of_frame
    if kind == "runs":
        return  # Parquet has no such columns
    path = tmp_path / "answers.parquet"
    pq.write_table(table, path)
    of_file = outcome(lambda: read_rankings(path, **said))
    of_scan = outcome(lambda: Rankings.scan(path, **said).distinct())
    assert isinstance(of_file, str) == isinstance(of_scan, str) == isinstance(of_frame, str)
    if isinstance(of_file, str):
        assert of_file == of_scan
        assert "answers.parquet" in of_file
    else:
        assert of_file.fingerprint() == of_scan.fingerprint() == of_frame.fingerprint()


def test_files_and_scans_see_the_same_layout(tmp_path):
    """A first row group of one row alone would leave the layout in doubt."""
    table = pa.table({"first": ["1", "a", "b"], "second": ["2", "b", "a"]})
    pq.write_table(table, tmp_path / "answers.parquet", row_group_size=1)
    read = outcome(lambda: read_rankings(tmp_path / "answers.parquet", unranked="below"))
    scanned = outcome(lambda: Rankings.scan(tmp_path / "answers.parquet", unranked="below"))
    assert read.items == scanned.items


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2], [2, 1]], columns=["a", "a"]),
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ],
)
def test_two_columns_of_one_name(frame, tmp_path):
    with pytest.raises(InputError, match="column 'a' occurs twice"):
        read_rankings(frame)
    if isinstance(frame, pa.Table):
        pq.write_table(frame, tmp_path / "x.parquet")
        for read in (read_rankings, Rankings.scan):
            with pytest.raises(InputError, match=r"x\.parquet: column 'a' occurs twice"):
                read(tmp_path / "x.parquet")


@pytest.mark.parametrize(
    "column", [[10**400, 1], [10**30, 1], [object(), 1], [1j, 2], [[1], 2], [DAY, 1]]
)
def test_cells_that_no_table_can_hold(column):
    frame = pd.DataFrame({"x": pd.Series(column, dtype=object), "y": [1, 2]})
    with pytest.raises(InputError, match="column 'x'"):
        read_rankings(frame)


def test_a_lazy_frame_and_numbers_beyond_all_limits():
    with pytest.raises(InputError, match="collect a lazy frame first"):
        read_rankings(pl.LazyFrame({"a": [1, 2]}))
    with pytest.raises(InputError, match="ranks must be numbers"):
        Rankings.from_ranks([[10**400, 1]])
    with pytest.raises(InputError, match="weights must be numbers"):
        Rankings.from_orderings([["a", "b"]], weights=[10**400])
    with pytest.raises(InputError, match="whole numbers"):
        Rankings.from_order_array(np.array([[0.0, 1.0]]), "ab")
