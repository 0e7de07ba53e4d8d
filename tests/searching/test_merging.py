from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tierwise as tw
from tests import reference_structure as naive
from tests.data_paths import shared_data
from tierwise import Counts, InputError, Rankings
from tierwise.searching.merging import merge_even_pairs


@given(
    st.lists(st.permutations("abcde"), min_size=1, max_size=15),
    st.sampled_from([0.0, 0.04, 0.11, 0.21, 0.5]),
)
def test_merging_as_defined(orderings, tolerance):
    orderings = [list(row) for row in orderings]
    expected, shares = naive.merge(orderings, list("abcde"), tolerance)
    found = merge_even_pairs(Rankings.from_orderings(orderings, items="abcde"), tolerance)
    assert [step.share for step in found.steps] == pytest.approx(shares)
    assert {frozenset(group) for group in found.groups} == {frozenset(group) for group in expected}
    assert sum(found.sizes) == 5


def test_groups_are_in_order_of_preference_and_known_by_their_proportions():
    rankings = Rankings.from_orderings(
        [["a", "b", "c", "d"]] * 3 + [["b", "a", "c", "d"]] * 3 + [["c", "b", "a", "d"]]
    )
    found = merge_even_pairs(rankings, 0.1)
    assert found.groups == (("a", "b"), ("c",), ("d",))
    assert found.sizes == (2, 1, 1)
    assert found.sizes_by_size == (1, 1, 2)
    (step,) = found.steps
    assert (step.first, step.second) == (("a",), ("b",))
    assert step.share == pytest.approx(3 / 7)
    assert step.groups == (("a",), ("b",), ("c",), ("d",))
    assert step.proportions[0, 2] == pytest.approx(6 / 7)
    assert found.proportions[0, 1] == pytest.approx(6 / 7)
    assert np.isnan(found.proportions.diagonal()).all()


def test_default_tolerance_follows_the_number_of_rankings():
    orderings = [["a", "b", "c"]] * 4
    assert merge_even_pairs(Rankings.from_orderings(orderings)).tolerance == 0.125**0.5
    assert merge_even_pairs(Rankings.from_orderings(orderings[:1])).tolerance == 0.5


def test_counts_and_rankings_give_the_same():
    rankings = tw.load_political_goals()
    first, second = merge_even_pairs(rankings, 0.1), merge_even_pairs(Counts.of(rankings), 0.1)
    assert first.groups == second.groups


def test_everything_even_merges_into_one_group():
    everything = Rankings.from_orderings([list(row) for row in permutations("abc")])
    assert merge_even_pairs(everything).groups == (("a", "b", "c"),)


def test_pairs_that_nobody_compared_are_not_merged():
    rankings = Rankings.from_orderings(
        [["a", "b"], ["b", "a"], ["c", "a"]], items="abcd", unranked="anywhere"
    )
    found = merge_even_pairs(rankings, 0.2)
    assert {frozenset(group) for group in found.groups} == {
        frozenset("ab"),
        frozenset("c"),
        frozenset("d"),
    }


@pytest.mark.parametrize("tolerance", [-0.1, 0.6, float("nan")])
def test_tolerances_that_make_no_sense_are_refused(tolerance):
    with pytest.raises(InputError, match="tolerance"):
        merge_even_pairs(tw.load_political_goals(), tolerance)


def test_tohoku_sushi_as_in_the_paper():
    rankings = tw.load_sushi(shared_data("sushi"), region="Tohoku")
    found = merge_even_pairs(rankings, 0.05)
    assert len(found.steps) == 4
    assert {found.steps[0].first, found.steps[0].second} == {("squid",), ("tuna roll",)}
    assert found.sizes_by_size == (1, 1, 1, 2, 2, 3)
    assert found.sizes == (1, 2, 3, 2, 1, 1)


def test_memory_grows_with_the_square_of_the_number_of_items():
    """One matrix per step took 6.7 GB for 1,368 items."""
    n_items = 60
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(n_items), (4, 1)), axis=1)
    merging = merge_even_pairs(Rankings.from_order_array(orders, range(n_items)), tolerance=0.5)
    assert len(merging.steps) > 20
    assert len({id(step.wins) for step in merging.steps}) == 1
    arrays = [value for step in merging.steps for value in vars(step).values()]
    assert sum(isinstance(value, np.ndarray) for value in arrays) == len(merging.steps)
    for step in merging.steps:
        first, second = step.groups.index(step.first), step.groups.index(step.second)
        assert step.proportions[first, second] == pytest.approx(step.share)


def test_battles_of_which_none_counts_have_no_tiers():
    drawn = tw.Battles.from_rows([("a", "b", "tie")]).with_drawn("drop")
    assert len(tw.search(drawn).best.tiers) == 1
    assert len(tw.leaderboard(drawn, rng=1).tiers) == 1
