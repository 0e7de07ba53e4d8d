import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tierwise as tw
from tests.strategies import names
from tierwise import InputError, Rankings


@st.composite
def orderings_with_ties(draw, min_items=2, max_items=6):
    """Rows of distinct items, perhaps incomplete, perhaps with ties, and their weights."""
    items = draw(st.lists(names, min_size=min_items, max_size=max_items, unique=True))
    rows = []
    for _ in range(draw(st.integers(1, 5))):
        order = draw(st.permutations(items))
        listed = order[: draw(st.integers(1, len(items)))]
        row = []
        while listed:
            size = draw(st.integers(1, len(listed)))
            row.append(listed[0] if size == 1 else list(listed[:size]))
            listed = listed[size:]
        rows.append(row)
    return items, rows


def as_sets(row):
    return [set(entry) if isinstance(entry, list) else {entry} for entry in row]


@pytest.mark.thorough
@given(orderings_with_ties())
def test_orderings_come_back_as_they_went_in(example):
    items, rows = example
    rankings = Rankings.from_orderings(rows, items=items, unranked="anywhere")
    assert len(rankings) == len(rows)
    for given_row, row in zip(rows, rankings.to_orderings(), strict=True):
        assert as_sets(given_row) == as_sets(row)


@given(orderings_with_ties())
def test_ranks_say_the_same_as_orderings(example):
    items, rows = example
    rankings = Rankings.from_orderings(rows, items=items, unranked="anywhere")
    again = Rankings.from_ranks(rankings.ranks(), items, unranked="anywhere", ties="allow")
    assert again == rankings


@given(orderings_with_ties(min_items=3), st.data())
def test_restricting_keeps_the_order_of_what_stays(example, data):
    items, rows = example
    kept = data.draw(st.permutations(items))[:2]
    rankings = Rankings.from_orderings(rows, items=items, unranked="anywhere").restrict(kept)
    assert rankings.items == tuple(kept)
    for row, restricted in zip(rows, rankings.to_orderings(), strict=True):
        expected = [tier & set(kept) for tier in as_sets(row)]
        assert as_sets(restricted) == [tier for tier in expected if tier]


def test_identical_rows_collapse_and_weights_add_up():
    rankings = Rankings.from_orderings([["a", "b"], ["b", "a"], ["a", "b"]], weights=[2, 3, 4])
    assert len(rankings) == 3
    assert rankings.n_rankings == 9
    assert rankings.pattern_weights.tolist() == [6, 3]
    assert rankings.pattern_of.tolist() == [0, 1, 0]
    assert rankings.weights.dtype == np.int64
    fractional = Rankings.from_orderings([["a", "b"], ["b", "a"]], weights=[0.5, 1])
    assert fractional.n_rankings == 1.5


def test_incomplete_rows_need_a_meaning():
    rows = [["a", "b"], ["b", "a", "c"]]
    with pytest.raises(InputError, match=r'row 1 lists 2 of 3 items \(not .c.\).*unranked="below"'):
        Rankings.from_orderings(rows)
    assert Rankings.from_orderings(rows, unranked="anywhere").unranked == "anywhere"
    # With one item left out there is only one place for it.
    assert Rankings.from_orderings(rows, unranked="below").to_orderings()[0] == ["a", "b", "c"]
    assert Rankings.from_orderings(rows, unranked="below").is_complete


def test_a_meaning_that_is_not_needed_changes_nothing():
    rows = [["a", "b"], ["b", "a"]]
    assert Rankings.from_orderings(rows, unranked="below") == Rankings.from_orderings(rows)


def test_items_may_be_any_hashable_labels():
    rankings = Rankings.from_orderings([[(1, 2), 3, frozenset("x")]])
    assert rankings.items == ((1, 2), 3, frozenset("x"))
    assert rankings.is_complete


def test_ties_are_lists_or_sets_inside_a_row():
    rankings = Rankings.from_orderings([["a", ["b", "c"], "d"], ["a", {"c", "b"}, "d"]])
    assert rankings.has_ties
    assert not rankings.is_complete
    assert rankings.patterns.tolist() == [[0, 1, 1, 3]]


def test_equality_looks_at_everything():
    base = Rankings.from_orderings([["a", "b"], ["b", "a"]])
    assert base == Rankings.from_orderings([["a", "b"], ["b", "a"]])
    assert base != Rankings.from_orderings([["b", "a"], ["a", "b"]], items=["a", "b"])
    assert base != Rankings.from_orderings([["a", "b"], ["b", "a"]], weights=[1, 2])
    assert base != Rankings.from_orderings([["a", "b"], ["b", "a"]], items=["b", "a"])
    assert base != "rankings"


def test_nothing_can_be_changed():
    rankings = Rankings.from_orderings([["a", "b"]])
    for array in (rankings.patterns, rankings.weights, rankings.pattern_of):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_the_users_own_arrays_stay_writable():
    weights = np.array([1, 2])
    Rankings.from_orderings([["a", "b"], ["b", "a"]], weights=weights)
    weights[0] = 5


def test_subset_by_numbers_slice_and_mask():
    rankings = Rankings.from_orderings([["a", "b"], ["b", "a"], ["a", "b"]], weights=[1, 2, 3])
    assert rankings.subset([2, 0]).weights.tolist() == [3, 1]
    assert rankings.subset(slice(1, 3)).to_orderings() == [["b", "a"], ["a", "b"]]
    assert rankings.subset(np.array([False, True, False])).weights.tolist() == [2]
    with pytest.raises(InputError, match="the selection is empty"):
        rankings.subset([])


def test_concat_aligns_items():
    first = Rankings.from_orderings([["a", "b"]])
    second = Rankings.from_orderings([["b", "a"]], weights=[2])
    joined = Rankings.concat([first, second])
    assert joined.to_orderings() == [["a", "b"], ["b", "a"]]
    assert joined.weights.tolist() == [1, 2]
    with pytest.raises(InputError, match="only some of the collections have item"):
        Rankings.concat([first, Rankings.from_orderings([["a", "c"]])])
    with pytest.raises(InputError, match="cannot be joined"):
        Rankings.concat(
            [
                Rankings.from_orderings([["a"]], items="abc", unranked="below"),
                Rankings.from_orderings([["a"]], items="abc", unranked="anywhere"),
            ]
        )
    with pytest.raises(InputError, match="nothing to join"):
        Rankings.concat([])


def test_an_answer_without_any_kept_item_still_counts():
    rankings = Rankings.from_orderings([["a"], ["b", "c", "d"]], items="abcd", unranked="below")
    assert rankings.restrict("bcd").n_rankings == 2


def test_repr_says_what_it_holds():
    complete = Rankings.from_orderings([["a", "b"]] * 3)
    assert repr(complete) == "Rankings(3 rankings of 2 items, complete, 1 distinct)"
    mixed = Rankings.from_orderings([["a"], ["b", ["a", "c"]]], unranked="anywhere")
    assert "1 incomplete: not listed = anywhere, 1 with ties" in repr(mixed)


def test_html_escapes_names():
    html = Rankings.from_orderings([["<script>alert(1)</script>", "b"]])._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_from_order_array():
    rankings = Rankings.from_order_array(np.array([[2, 0, 1], [0, 1, 2]]), "abc")
    assert rankings.to_orderings() == [["c", "a", "b"], ["a", "b", "c"]]
    for orderings, complaint in [
        (np.array([[0, 0, 1]]), "row 1 of the orderings lists an item twice"),
        (np.array([[0, 1, 3]]), "numbers from 0 to 2"),
        (np.array([[0, 1]]), "3 columns"),
    ]:
        with pytest.raises(InputError, match=complaint):
            Rankings.from_order_array(orderings, "abc")


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Rankings.from_orderings([]), "no rankings"),
        (lambda: Rankings.from_orderings([["a", "b"], []]), "row 2 lists no item"),
        (lambda: Rankings.from_orderings([["a", "b", "a"]]), "row 1: item 'a' is listed twice"),
        (lambda: Rankings.from_orderings([["a"]]), "only one item, 'a'"),
        (lambda: Rankings.from_orderings(["ab"]), "row 1 is the text 'ab'"),
        (
            lambda: Rankings.from_orderings([["a", "b"], ["a", "z"]], items="ab"),
            "row 2: item 'z' is not among the 2 items",
        ),
        (lambda: Rankings.from_orderings([["a", "b"]], items="aba"), "listed twice among"),
        (lambda: Rankings.from_orderings([["a", "b"]], weights=[-1]), "row 1 has weight -1"),
        (lambda: Rankings.from_orderings([["a", "b"]], weights=[float("nan")]), "weight nan"),
        (lambda: Rankings.from_orderings([["a", "b"]], weights=[1, 2]), "need 1 weights"),
        (lambda: Rankings.from_orderings([["a", "b"]], weights=[0]), "all weights are 0"),
        (lambda: Rankings.from_orderings([["a", "b"]], weights=["x"]), "must be numbers"),
        (lambda: Rankings.from_orderings([["a", "b"]], unranked="under"), '"below" or "anywhere"'),
        (lambda: Rankings.from_ranks([[1, 0]]), "rank of item 2 is 0"),
        (lambda: Rankings.from_ranks([[1, -2]]), "rank of item 2 is -2"),
        (lambda: Rankings.from_ranks([[1, 1.5]]), "is 1.5, but ranks are whole numbers"),
        (lambda: Rankings.from_ranks([[1, float("inf")]]), "is inf"),
        (lambda: Rankings.from_ranks([["x", "y"]]), "must be numbers"),
        (
            lambda: Rankings.from_ranks([[1, 2], [2, 2]]),
            'row 2: items 1 and 2 both have rank 2.*ties="allow"',
        ),
        (lambda: Rankings.from_ranks([[1, 2]], ties="yes"), '"error" or "allow"'),
        (lambda: Rankings.from_ranks([[np.nan, np.nan]], unranked="below"), "row 1 ranks no item"),
        (lambda: Rankings.from_ranks([[1, 2]], items="abc"), "3 items were given for 2 columns"),
        (lambda: Rankings.from_ranks([1, 2]), "must be a table"),
        (lambda: Rankings.from_orderings([["a", "b"]]).restrict(["a", "z"]), "'z' is not among"),
    ],
)
def test_bad_input_is_refused_with_row_and_item(make, complaint):
    with pytest.raises(InputError, match=complaint):
        make()


def test_errors_are_tierwise_errors():
    assert issubclass(InputError, tw.TierwiseError)


def test_items_left_out_are_said_and_unknown_ones_refused(tmp_path):
    from tierwise.data.read import leave_out, read

    path = tmp_path / "drinks.csv"
    path.write_text("tea,coffee,milk\n1,2,3\n3,1,2\n", encoding="utf-8")
    whole = read(path)
    left = leave_out(whole, ["coffee", "coffee"])
    assert left.to_orderings() == [["tea", "milk"], ["milk", "tea"]]
    assert left.reading.set_aside() == ["Left out of every answer: 'coffee'."]
    assert whole.reading.set_aside() == []
    assert leave_out(whole, []) is whole
    with pytest.raises(InputError, match=r"item 'cocoa' cannot be left out.*'tea', 'coffee'"):
        leave_out(whole, ["cocoa"])
    with pytest.raises(InputError, match="2 items left out there is nothing to compare"):
        leave_out(whole, ["tea", "milk"])
    pairs = tw.Preferences.from_pairs([("Ann", "tea", "milk")])
    with pytest.raises(InputError, match="pairwise comparisons"):
        leave_out(pairs, ["tea"])


@pytest.mark.parametrize(
    "places",
    [
        3,
        "ab",
        [[0, 1], [0]],
        [0, 1, 2],
        [[0, 1]],
        [[0.0, 1.0, 2.0]],
        [[0, 1, 7]],
        [[0, 1, -2]],
        [[0, 0, 1]],
        [[1, 2, 2]],
        [[-1, 1, 2]],
        np.array([[0, 1, 2**40]]),
    ],
)
def test_places_that_cannot_be(places):
    """These would be read beyond the ends of arrays, or taken for other answers."""
    with pytest.raises(InputError, match="places"):
        Rankings("abc", places, unranked="below")


def test_places_with_ties_and_gaps():
    made = Rankings("abc", [[0, 1, 1], [2, 0, 0], [-1, 0, -1], [0, 0, 0]], unranked="anywhere")
    assert made.to_orderings() == [["a", ["b", "c"]], [["b", "c"], "a"], ["b"], [["a", "b", "c"]]]
