from math import comb, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierwise.errors import InputError
from tierwise.tiers.sizes import (
    adjacent_shifts,
    check_sizes,
    compositions,
    log_number_of_tiers,
    neighbours,
    splits_and_merges,
)

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
