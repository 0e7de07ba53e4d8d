"""Data frames in and out."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tierwise import InputError, Rankings, read_rankings
from tierwise.data.frames import make_frame, numeric_columns

MAKERS = [pd.DataFrame, pl.DataFrame, pa.table]
ORDERINGS = Rankings.from_orderings([["a", "b", "c"], ["b", "c", "a"]])


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "columns",
    [
        {"first": ["a", "b"], "second": ["b", "c"], "third": ["c", "a"]},
        {"a": [1, 3], "b": [2, 1], "c": [3, 2]},
        {"voter": [5, 5, 5, 7, 7, 7], "item": list("abcabc"), "rank": [1, 2, 3, 3, 1, 2]},
    ],
)
def test_every_layout_from_every_library(make, columns):
    assert read_rankings(make(columns)) == ORDERINGS


@pytest.mark.parametrize("make", MAKERS)
def test_missing_cells(make):
    frame = make({"a": [1.0, 2.0], "b": [None, 1.0], "c": [2.0, None]})
    answers = read_rankings(frame, unranked="anywhere")
    assert answers.to_orderings() == [["a", "c"], ["b", "a"]]
    frame = make({"x": ["a", "b"], "y": ["b", None], "z": ["c", ""]})
    assert read_rankings(frame, unranked="below").to_orderings() == [
        ["a", "b", "c"],
        ["b"],
    ]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_there_and_back(backend):
    answers = Rankings.from_orderings(
        [["a", ["b", "c"]], ["c"], ["b", "a", "c"]], weights=[2, 1, 4], unranked="below"
    )
    frame = answers.to_frame(backend=backend)
    assert type(frame).__module__.startswith(backend)
    assert read_rankings(frame, ties="allow", unranked="below") == answers


def test_labels_keep_their_kind():
    frame = pd.DataFrame({"place 1": [10, 20], "place 2": [20, None]})
    assert read_rankings(frame, unranked="below").items == (10, 20)
    assert all(type(item) is int for item in read_rankings(frame, unranked="below").items)
    frame = pd.DataFrame({0: [1, 2], 1: [2, 1]})
    assert read_rankings(frame, layout="ranks").items == (0, 1)
    categories = pd.DataFrame({"x": pd.Categorical(["a", "b"]), "y": pd.Categorical(["b", "a"])})
    assert read_rankings(categories).items == ("a", "b")


def test_the_index_of_a_frame_is_no_column():
    frame = pd.DataFrame({"a": [1, 2], "b": [2, 1]}, index=["Ann", "Bob"])
    assert read_rankings(frame).items == ("a", "b")


def test_options_reach_the_table():
    frame = pd.DataFrame({"a": [1, 1], "b": [1, 2], "votes": [3, 4], "who": ["x", "y"]})
    answers = read_rankings(
        frame, ties="allow", weights="votes", assessor="who", items=["b", "a"], layout="ranks"
    )
    assert answers.items == ("b", "a")
    assert answers.weights.tolist() == [3, 4]
    with pytest.raises(InputError, match="row 1: items 'a' and 'b' both have rank 1"):
        read_rankings(frame, weights="votes", assessor="who")


def test_ranks_from_a_frame():
    frame = pl.DataFrame({"a": [2, 1], "b": [1, None]})
    answers = Rankings.from_ranks(frame, unranked="below")
    assert answers.to_orderings() == [["b", "a"], ["a", "b"]]


def test_numeric_columns():
    names, values = numeric_columns(pd.DataFrame({"a": [1, 2], "b": ["3", None]}))
    assert names == ["a", "b"]
    assert np.array_equal(values, [[1, 3], [2, np.nan]], equal_nan=True)
    with pytest.raises(InputError, match="row 2: the value of 'a' is 'x', which is not a number"):
        numeric_columns(pd.DataFrame({"a": ["1", "x"]}))


def test_a_large_frame_is_read_quickly():
    rng = np.random.default_rng(1)
    orders = rng.permuted(np.tile(np.arange(8), (200_000, 1)), axis=1)
    names = np.array(list("abcdefgh"), dtype=object)
    frame = pd.DataFrame({f"place {place}": names[orders[:, place]] for place in range(8)})
    expected = Rankings.from_order_array(orders, "abcdefgh")
    assert read_rankings(frame, items="abcdefgh") == expected


def test_what_is_not_a_frame():
    with pytest.raises(InputError, match="an open file, or a data frame of pandas"):
        read_rankings({"a": [1, 2]})
    with pytest.raises(InputError, match="collect a lazy frame first"):
        read_rankings(pl.LazyFrame({"a": [1, 2]}))
    with pytest.raises(InputError, match="column 'a' mixes text and numbers"):
        read_rankings(pd.DataFrame({"a": [1, "x"], "b": ["y", 2]}, dtype=object))
    with pytest.raises(InputError, match="no rankings"):
        read_rankings(pd.DataFrame({"a": [], "b": []}))


def test_backends(monkeypatch):
    with pytest.raises(InputError, match=r"backend must be .*'excel'"):
        make_frame({"a": [1]}, "excel")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(InputError, match=r"polars is not .*\"pandas\" or backend=\"pyarrow\""):
        make_frame({"a": [1]}, "polars")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_names_of_several_kinds_become_text(backend):
    frame = make_frame({"item": ["a", 2, None, 0.5], "tier": [1, 2, 3, 4]}, backend)
    assert list(frame["item"].to_numpy()[[0, 1, 3]]) == ["a", "2", "0.5"]
    assert list(frame["tier"].to_numpy()) == [1, 2, 3, 4]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_numbers_of_several_kinds_become_floats(backend):
    frame = make_frame({"item": [1, 2.5, None]}, backend)
    assert list(frame["item"].to_numpy()[:2]) == [1.0, 2.5]
