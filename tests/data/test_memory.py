"""Memory is decided from sizes, before anything is allocated."""

import sys
from io import StringIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tierwise as tw
from tierwise._util import resources
from tierwise.cli.main import main


def test_free_memory_is_a_sensible_number():
    assert 2**20 < resources.free_memory() < 2**50
    assert resources.memory_limit() <= resources.free_memory()


def test_sizes_as_people_write_them(monkeypatch):
    monkeypatch.setenv(resources.VARIABLE, "2 gb")
    assert resources.memory_limit() == 2 * 2**30
    assert resources.parse_size("1000", "memory") == 1000
    for wrong in ("", "much", "-1GB", "0", "1e30TB", "nan", "3XB"):
        with pytest.raises(tw.InputError, match="memory must be a size such as"):
            resources.parse_size(wrong, "memory")


def test_without_proc(monkeypatch):
    monkeypatch.setattr(resources.Path, "read_text", lambda *_, **__: "")
    assert resources.free_memory() > 2**20


REQUESTS = {
    "orderings": lambda: tw.Rankings.from_orderings([list(range(200))]),
    "ranks": lambda: tw.Rankings.from_ranks(np.broadcast_to(np.arange(1.0, 51), (10**7, 50))),
    "a table": lambda: tw.read_rankings(StringIO("a,b\n" + "1,2\n" * 1000)),
    "a long table": lambda: tw.read_rankings(
        StringIO("voter,item,rank\n" + "".join(f"{n},{n},1\n" for n in range(300))),
        unranked="anywhere",
    ),
    "pairs": lambda: tw.Preferences.from_pairs([(n, n, n + 1) for n in range(100)]),
}


@pytest.mark.parametrize("request_", REQUESTS)
def test_what_is_too_large_is_refused_with_a_remedy(monkeypatch, request_):
    monkeypatch.setenv(resources.VARIABLE, "20KB")
    with pytest.raises(tw.TooLargeError, match=r"of memory, and the limit is 20 KB: .*fewer"):
        REQUESTS[request_]()


def test_a_limit_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(resources.VARIABLE, "1GB")  # restored at the end, for the program sets it
    path = tmp_path / "answers.csv"
    path.write_text("a,b\n" + "1,2\n" * 1000)
    for size, code, said in [("10KB", 2, "--memory"), ("much", 2, "such as 500MB"), ("1GB", 0, "")]:
        monkeypatch.setattr(sys, "argv", ["tierwise", "describe", str(path), "--memory", size])
        with pytest.raises(SystemExit) as ended:
            main()
        assert (ended.value.code or 0) == code
        assert said in capsys.readouterr().err


def test_equal_rows_of_parquet_are_counted_before_they_are_read(tmp_path, monkeypatch):
    """Dictionaries and runs make millions of rows of a few kilobytes."""
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(3_000_000, dtype=np.int32)), ["a"])
    other = pa.DictionaryArray.from_arrays(column.indices, ["b"])
    path = tmp_path / "equal.parquet"
    pq.write_table(pa.table({"place 1": column, "place 2": other}), path)
    assert path.stat().st_size < 20_000
    monkeypatch.setenv(resources.VARIABLE, "100MB")
    with pytest.raises(tw.TooLargeError, match=r"3,000,000 rows of 2 columns .* Rankings\.scan"):
        tw.read_rankings(path)
    with pytest.raises(tw.TooLargeError, match="3,000,000 rows of 2 columns"):
        tw.read_preferences(path, preferred="place 1", other="place 2")
    assert tw.Rankings.scan(path).counts().n_rankings == 3_000_000


def test_pairs_are_counted_before_they_are_read(monkeypatch):
    monkeypatch.setenv(resources.VARIABLE, "1MB")
    with pytest.raises(tw.TooLargeError, match=r"10,000 rows, pair by pair, .* read_battles"):
        tw.read_preferences(StringIO("winner,loser\n" + "a,b\n" * 10_000))
