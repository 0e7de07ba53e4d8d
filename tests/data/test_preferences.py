from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierwise import InputError, Preferences

pairs = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda p: p[0] != p[1]))


def orders_that_agree(answers):
    return [
        order
        for order in permutations(range(5))
        if all(order.index(preferred) < order.index(other) for preferred, other in answers)
    ]


@given(pairs.filter(bool))
def test_closure_is_what_all_agreeing_orders_share_and_a_cycle_has_none(answers):
    agreeing = orders_that_agree(answers)
    if not agreeing:
        with pytest.raises(InputError, match="assessor 'Ann' contradicts"):
            Preferences({"Ann": answers}, items=range(5))
        return
    closed = Preferences({"Ann": answers}, items=range(5)).closure[0]
    for first in range(5):
        for second in range(5):
            shared = first != second and all(
                order.index(first) < order.index(second) for order in agreeing
            )
            assert closed[first, second] == shared


def test_the_cycle_is_named_in_order():
    rows = [("Ann", "a", "b"), ("Bob", "a", "b"), ("Bob", "b", "c"), ("Bob", "c", "a")]
    with pytest.raises(InputError, match=r"assessor 'Bob' contradicts.*'a' > 'b' > 'c' > 'a'"):
        Preferences.from_pairs(rows)


def test_the_papers_example():
    preferences = Preferences.from_pairs([("one", 4, 2), ("one", 1, 3), ("one", 2, 1)])
    assert set(preferences.pairs("one")) == {(4, 2), (4, 1), (4, 3), (2, 1), (2, 3), (1, 3)}


def test_equality_and_size():
    rows = [("Ann", "a", "b"), ("Bob", "b", "a")]
    assert Preferences.from_pairs(rows) == Preferences.from_pairs(rows)
    assert Preferences.from_pairs(rows) != Preferences.from_pairs(rows[:1])
    assert len(Preferences.from_pairs(rows)) == 2
    assert np.array_equal(Preferences.from_pairs(rows[:1]).closure[0], [[False, True], [False] * 2])


@pytest.mark.parametrize(
    ("rows", "items", "complaint"),
    [
        ([], None, "no preferences"),
        ([("Ann", "a", "a")], "ab", "compares item 'a' with itself: leave out this answer"),
        ([("Ann", "a", "z")], "ab", "assessor 'Ann': item 'z' is not among"),
        ([("Ann", "a")], None, "row 1 must be"),
    ],
)
def test_bad_pairs_are_refused(rows, items, complaint):
    with pytest.raises(InputError, match=complaint):
        Preferences.from_pairs(rows, items)


def test_unknown_assessor():
    with pytest.raises(InputError, match="no assessor 'Eve'"):
        Preferences.from_pairs([("Ann", "a", "b")]).pairs("Eve")


def test_items_may_be_tuples_beside_numbers_of_numpy():
    rows = [(1, ("a", 1), np.int64(2)), (2, np.int64(2), ("a", 1))]
    assert Preferences.from_pairs(rows).items == (("a", 1), 2)
    answers = {1: [(("a", 1), np.int64(2))]}
    assert len(Preferences(answers)) == 1
