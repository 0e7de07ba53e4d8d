"""Tiers and size vectors: how they print, their checks, compositions and neighbours."""

from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tierwise as tw
from tierwise import InputError, Tiers
from tierwise.tiers import (
    adjacent_shifts,
    check_sizes,
    compositions,
    log_number_of_tiers,
    neighbours,
    splits_and_merges,
)


@st.composite
def any_tiers(draw):
    n_items = draw(st.integers(1, 7))
    labels = draw(st.lists(st.integers(1, 4), min_size=n_items, max_size=n_items))
    numbers = {label: number for number, label in enumerate(sorted(set(labels)), start=1)}
    return Tiers.from_labels([numbers[label] for label in labels])


def test_prints_as_people_write_it():
    tiers = Tiers([["fatty tuna"], ["tuna", "shrimp"]])
    assert str(tiers) == "fatty tuna > tuna ~ shrimp"
    assert tiers.sizes == (1, 2)
    assert tiers.labels == (1, 2, 2)
    assert tiers.items == ("fatty tuna", "tuna", "shrimp")


def test_the_papers_example():
    tiers = Tiers.from_labels((2, 1, 1, 2, 3))
    assert tiers.to_lists() == [[2, 3], [1, 4], [5]]
    assert tiers.labels == (2, 1, 1, 2, 3)
    assert tiers.items == (1, 2, 3, 4, 5)


@given(any_tiers())
def test_labels_and_lists_say_the_same(tiers):
    assert Tiers(tiers.to_lists()) == tiers
    assert Tiers.from_labels(tiers.labels, tiers.items) == tiers
    assert Tiers.from_labels(dict(zip(tiers.items, tiers.labels, strict=True))) == tiers
    assert Tiers.from_sizes(tiers.sizes, [item for tier in tiers for item in tier]) == tiers
    assert sum(tiers.sizes) == len(tiers.items)
    assert len(tiers) == len(tiers.sizes)


@given(any_tiers(), any_tiers())
def test_equal_tiers_have_equal_hashes(first, second):
    if first == second:
        assert hash(first) == hash(second)
    assert (first == second) == ([set(tier) for tier in first] == [set(tier) for tier in second])


def test_order_within_a_tier_does_not_matter_but_order_of_tiers_does():
    assert Tiers([["a", "b"], ["c"]]) == Tiers([["b", "a"], ["c"]])
    assert len({Tiers([["a", "b"], ["c"]]), Tiers([["b", "a"], ["c"]])}) == 1
    assert Tiers([["a"], ["b"]]) != Tiers([["b"], ["a"]])
    assert Tiers([["a"], ["b"]]) != "a > b"


def test_membership_and_ties():
    tiers = Tiers([["a"], ["b", "c"]])
    assert tiers["a"] == 1
    assert "b" in tiers
    assert "z" not in tiers
    assert tiers.tied("b", "c")
    assert not tiers.tied("a", "c")
    with pytest.raises(InputError, match="'z' is not in the tiers"):
        tiers["z"]


def test_label_array_follows_the_items_given():
    tiers = Tiers([["a"], ["b", "c"]])
    np.testing.assert_array_equal(tiers.label_array(["c", "a", "b"]), [1, 0, 1])
    with pytest.raises(InputError, match="not in the tiers: 'z'; only in the tiers: 'c'"):
        tiers.label_array(["a", "b", "z"])


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Tiers([]), "no tiers"),
        (lambda: Tiers([["a"], []]), "tier 2 is empty"),
        (lambda: Tiers([["a"], ["a"]]), "'a' is in tier 1 and again in tier 2"),
        (lambda: Tiers("ab"), "list of lists"),
        (lambda: Tiers(["tuna", "egg"]), r"write \['tuna'\]"),
        (lambda: Tiers.from_labels([1, 3]), "every number from 1"),
        (lambda: Tiers.from_labels([0, 1]), "every number from 1"),
        (lambda: Tiers.from_labels([]), "no labels"),
        (lambda: Tiers.from_labels(["x"]), "whole numbers"),
        (lambda: Tiers.from_labels([1, 2], items=["a"]), "2 labels were given for 1 items"),
        (lambda: Tiers.from_labels({"a": 1}, items=["a"]), "leave out items"),
        (lambda: Tiers.from_sizes((1, 1), ["a"]), "sum to 2, but there are 1 items"),
    ],
)
def test_bad_tiers_are_refused(make, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, tw.TierwiseError)


size_vectors = st.lists(st.integers(1, 4), min_size=1, max_size=6).map(tuple)


@pytest.mark.parametrize("n_items", range(1, 11))
def test_there_are_two_to_the_n_minus_one_compositions_and_all_differ(n_items):
    found = list(compositions(n_items))
    assert len(set(found)) == len(found) == 2 ** (n_items - 1)
    assert all(sum(sizes) == n_items and min(sizes) >= 1 for sizes in found)


def test_adjacent_shifts_are_the_papers_with_its_misprint_corrected():
    assert set(adjacent_shifts((1, 3, 3, 3))) == {
        (4, 3, 3),
        (2, 2, 3, 3),
        (1, 2, 4, 3),
        (1, 4, 2, 3),
        (1, 3, 2, 4),
        (1, 3, 4, 2),
        (1, 3, 3, 2, 1),
    }


def test_both_ends_open_new_tiers():
    assert (1, 2, 3) in adjacent_shifts((3, 3))
    assert (3, 2, 1) in adjacent_shifts((3, 3))


@given(size_vectors)
def test_neighbours_are_size_vectors_of_the_same_items_and_never_the_vector_itself(sizes):
    for rule in (adjacent_shifts, splits_and_merges, neighbours):
        found = rule(sizes)
        assert sizes not in found
        assert len(set(found)) == len(found)
        assert all(sum(other) == sum(sizes) and min(other) >= 1 for other in found)


@given(size_vectors)
def test_being_neighbours_is_mutual(sizes):
    # Not for adjacent shifts alone: a tier that lost its only item does not come back in between.
    for rule in (splits_and_merges, neighbours):
        assert all(sizes in rule(other) for other in rule(sizes))


def test_log_number_of_tiers():
    assert log_number_of_tiers((2, 3)) == pytest.approx(log(comb(5, 2)), rel=1e-12)


@pytest.mark.parametrize(
    ("sizes", "complaint"),
    [
        ((), "empty"),
        ((1, 0), "at least one item"),
        ((-1, 3), "at least one item"),
        ((1.5, 2), "whole numbers"),
        (("a",), "whole numbers"),
        ((1, 1), "sum to 2, but there are 3 items"),
    ],
)
def test_bad_sizes_are_refused(sizes, complaint):
    with pytest.raises(InputError, match=complaint):
        check_sizes(sizes, n_items=3)


def test_compositions_need_an_item():
    with pytest.raises(InputError, match="n_items must be at least 1"):
        next(compositions(0))


def test_numbers_of_numpy_beside_tuples():
    """A number of NumPy compared with a tuple is an array, which ended lookups of items."""
    items = (("a", 1), np.int64(70), np.float64(2.5), "")
    for made in (Tiers([items[:2], items[2:]]), Tiers.from_labels([1, 1, 2, 2], items)):
        assert made.items == (("a", 1), 70, 2.5, "")
        assert [type(item) for item in made.items] == [tuple, int, float, str]
        assert made.items.index(np.float64(2.5).item()) == 2
    places = np.arange(4, dtype=np.int32)[None, :]
    assert tw.Rankings(items, places).items == (("a", 1), 70, 2.5, "")
