"""Rankings that are written out in the cells of a table."""

from io import StringIO

import pandas as pd
import pytest

import tierwise as tw
from tierwise.files.notation import is_ranking


def read(cells, **options):
    return tw.read(pd.DataFrame({"ranking": cells}), **options)


def test_a_ranking_in_a_cell_is_not_an_item():
    answers = read(["a > b", "b > c > a", "a"], unranked="below")
    assert answers.to_orderings() == [["a", "b", "c"], ["b", "c", "a"], ["a"]]  # c is last


def test_signs_of_ties_in_cells_are_ties():
    answers = read(["a > b = c", "b ~ a > c", "b = c > a"])
    assert answers.to_orderings() == [["a", ["b", "c"]], [["a", "b"], "c"], [["b", "c"], "a"]]
    assert answers.reading.columns == ("ranking",)
    assert "3 answers hold tied items" in str(answers.reading)


def test_items_may_be_numbers():
    assert read(["3 > 1 > 2", "1 > 2 > 3"]).to_orderings() == [["3", "1", "2"], ["1", "2", "3"]]


def test_weights_and_people_stay_beside_rankings_in_cells(tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text("who,weight,ranking\nx,2,a > b\ny,1,b > c = a\n", encoding="utf-8")
    answers = tw.read(file, unranked="anywhere")
    assert answers.n_rankings == 3
    assert answers.to_orderings() == [["a", "b"], ["b", ["a", "c"]]]


def test_named_items_that_nobody_lists_are_items_too():
    answers = read(["a > b = c", "b > a"], items=["a", "b", "c", "d"], unranked="below")
    assert answers.items == ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("cells", "options", "problem"),
    [
        (["a > b; b > c", "a > b"], {}, "one ranking or several comparisons"),
        (["a > b = a", "b > a"], {}, "names 'a' twice"),
        (["a > b = ", "b > a"], {}, "column 'ranking': an item is missing"),
        (["a > b = c"], {"items": ["a", "b"]}, "'c' in column 'ranking' is not one of the items"),
        (["a > b", "b > c > a"], {}, "unranked"),
    ],
)
def test_what_may_be_meant_in_two_ways_is_asked(cells, options, problem):
    with pytest.raises(tw.InputError, match=problem):
        read(cells, **options)


@pytest.mark.parametrize(
    "cells",
    [
        ["a, b, c", "b, d", "c, a, d, b"],
        ["a; b; c", "b; d"],
        ['["a","b"]', '["b","a"]'],
        ["tea < milk", "milk < tea"],
        ["1. tea\n2. milk", "2. milk\n1. tea"],
    ],
)
def test_lists_that_are_not_read_are_not_taken_for_items(cells):
    with pytest.raises(tw.InputError, match="seem to list several items"):
        read(cells, unranked="below")
    if "\n" not in cells[0]:
        assert read(cells, layout="orderings", unranked="below").items == tuple(cells)


def test_names_with_commas_are_items():
    votes = ["Yang, Andrew", "Wiley, Maya", "Yang, Andrew"]
    assert read(votes, unranked="below").items == ("Yang, Andrew", "Wiley, Maya")


def test_items_that_are_named_are_found_in_lists_that_stop_early():
    answers = read(["a, b, c", "b, d", "c, a"], items=["a", "b", "c", "d"], unranked="anywhere")
    assert answers.to_orderings() == [["a", "b", "c"], ["b", "d"], ["c", "a"]]


def test_cells_that_are_lists_are_rankings():
    assert read([["a", "b", "c"], ["b", "a"]], unranked="anywhere").to_orderings() == [
        ["a", "b", "c"],
        ["b", "a"],
    ]
    tied = read([[["a"], ["b", "c"]], [["b"], ["a"], ["c"]]])
    assert tied.to_orderings() == [["a", ["b", "c"]], ["b", "a", "c"]]


@pytest.mark.parametrize("sign", ["->", "-->", ">>", "→", "≻"])
def test_arrows_are_signs_of_order(sign):
    cells = [f"tea {sign} milk {sign} water", f"milk{sign}tea{sign}water"]
    assert read(cells).to_orderings() == [["tea", "milk", "water"], ["milk", "tea", "water"]]


def test_rankings_in_cells_are_not_read_in_chunks(tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text("ranking\na > b > c\nc > b > a\n", encoding="utf-8")
    with pytest.raises(tw.InputError, match="cannot be read in chunks"):
        tw.Rankings.scan(file)


def test_an_item_called_like_another_column_is_refused():
    frame = pd.DataFrame({"a": ["x", "y"], "ranking": ["a > b = c", "c > a = b"]})
    with pytest.raises(tw.InputError, match="'a' is an item in column 'ranking'"):
        tw.read(frame)


def test_two_columns_of_rankings_with_ties_are_refused():
    cells = ["a > b = c", "c > a = b"]
    with pytest.raises(tw.InputError, match="both hold rankings"):
        tw.read(pd.DataFrame({"before": cells, "after": cells}))


@pytest.mark.parametrize("filler", [" ", "-", "=", ">"])
def test_long_runs_of_signs_take_no_time(filler):
    # Patterns that try every length of a run at every place would take minutes.
    assert not is_ranking("a" + filler * 300_000 + "a")


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("tea coffee milk\n1 2 3\n2 1 3\n1 2 3\n", "spaces"),
        ("tea   coffee  milk\n  1   2   3\n  2  1   3\n", "spaces"),
        ('"tea" "coffee" "milk"\n"1" 1 2 3\n"2" 2 1 3\n', "spaces"),
        ("tea|coffee|milk\n1|2|3\n2|1|3\n", r"signs \|"),
        ("tea : coffee : milk\n1 : 2 : 3\n2 : 1 : 3\n", "colons"),
    ],
)
def test_tables_with_other_separators_are_not_items(text, called):
    """Each line was an item, '1 2 3', if items that were not listed ranked below."""
    with pytest.raises(tw.InputError, match=f"{called} seem to separate the columns: write commas"):
        tw.read(StringIO(text), unranked="below")
