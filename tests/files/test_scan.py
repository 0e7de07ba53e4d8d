"""Reading in chunks gives the same as reading whole."""

from io import StringIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import rankings
from tierwise import Counts, InputError, Rankings, read_rankings, write_rankings
from tierwise.data.read import scan_rankings


def random_orderings(n_rankings, n_items, seed):
    rng = np.random.default_rng(seed)
    orders = rng.permuted(np.tile(np.arange(n_items), (n_rankings, 1)), axis=1)
    return Rankings.from_order_array(orders, [f"item {item}" for item in range(n_items)])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("layout", ["orderings", "ranks"])
@pytest.mark.parametrize("chunk_rows", [1, 7, 100, 1000])
def test_chunks_join_to_the_whole(tmp_path, suffix, layout, chunk_rows):
    path = tmp_path / f"answers.{suffix}"
    write_rankings(random_orderings(100, 5, seed=1), path, layout=layout)
    chunks = list(scan_rankings(path, chunk_rows=chunk_rows))
    assert [len(chunk) for chunk in chunks[:-1]] == [chunk_rows] * (len(chunks) - 1)
    assert len({chunk.items for chunk in chunks}) == 1
    assert Rankings.concat(chunks) == read_rankings(path)


@pytest.mark.thorough
@given(answers=rankings(with_ties=False), chunk_rows=st.integers(1, 4))
def test_chunks_of_incomplete_answers(tmp_path_factory, answers, chunk_rows):
    path = tmp_path_factory.mktemp("scan") / "answers.csv"
    write_rankings(answers, path)
    options = {"items": answers.items, "unranked": answers.unranked}
    assert Rankings.concat(scan_rankings(path, chunk_rows=chunk_rows, **options)) == answers


def test_items_come_in_order_of_appearance_over_all_chunks():
    text = "place 1,place 2\nb,a\na,d\nc,b\n"
    chunks = list(scan_rankings(StringIO(text), chunk_rows=1, unranked="below"))
    assert {chunk.items for chunk in chunks} == {("b", "a", "d", "c")}
    assert read_rankings(StringIO(text), unranked="below").items == ("b", "a", "d", "c")


def test_rows_are_named_by_their_line_in_the_file(tmp_path):
    lines = ["a,b"] * 50 + ["a,a"] + ["b,a"] * 50
    path = tmp_path / "answers.csv"
    path.write_text("place 1,place 2\n" + "\n".join(lines))
    with pytest.raises(InputError, match=r"answers\.csv, line 52: item 'a' is listed twice"):
        list(scan_rankings(path, chunk_rows=9))


def test_counts_of_chunks_are_counts_of_the_whole(tmp_path):
    path = tmp_path / "answers.parquet"
    write_rankings(random_orderings(500, 6, seed=2), path)
    assert Counts.from_chunks(scan_rankings(path, chunk_rows=64)) == Counts.of(read_rankings(path))


def test_a_csv_file_of_many_blocks(tmp_path):
    path = tmp_path / "answers.csv"
    answers = random_orderings(60_000, 6, seed=3)
    write_rankings(answers, path)
    assert path.stat().st_size > 2 * 2**20
    assert Rankings.concat(scan_rankings(path, items=answers.items)) == answers


def test_weights_and_ties_in_chunks():
    text = "a,b,votes\n1,1,2\n1,2,3\n"
    chunks = scan_rankings(StringIO(text), chunk_rows=1, ties="allow", weights="votes")
    assert [(chunk.n_rankings, chunk.has_ties) for chunk in chunks] == [(2, True), (3, False)]


def test_chunks_without_weight_are_passed_over():
    text = "a,b,weight\n1,2,0\n2,1,3\n"
    assert [chunk.n_rankings for chunk in scan_rankings(StringIO(text), chunk_rows=1)] == [3]
    with pytest.raises(InputError, match="all weights are 0"):
        list(scan_rankings(StringIO("a,b,weight\n1,2,0\n2,1,0\n"), chunk_rows=1))


def test_what_cannot_be_scanned(tmp_path):
    with pytest.raises(InputError, match="cannot be read in chunks"):
        scan_rankings(StringIO("assessor,item,rank\nAnn,a,1\nAnn,b,2\n"))
    with pytest.raises(InputError, match="cannot be read in chunks"):
        scan_rankings(StringIO("10 1\n0 2 1 3\n"), unranked="below")
    with pytest.raises(InputError, match="chunk_rows"):
        scan_rankings(StringIO("a,b\n1,2\n"), chunk_rows=0)
    with pytest.raises(InputError, match="no rankings"):
        scan_rankings(StringIO("a,b\n"))


def test_a_chunk_is_not_refused_for_a_word_of_another(tmp_path):
    column = pa.array(["1", "2", "one"]).dictionary_encode()
    table = pa.table({"a": column, "b": pa.array(["2", "1", "2"]).dictionary_encode()})
    pq.write_table(table, tmp_path / "x.parquet")
    chunks = scan_rankings(tmp_path / "x.parquet", chunk_rows=2, layout="ranks")
    assert len(next(chunks)) == 2
    with pytest.raises(InputError, match="row 3: the rank of item 'a' is 'one'"):
        next(chunks)
