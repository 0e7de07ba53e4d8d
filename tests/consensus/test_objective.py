"""The total cost and its change under a swap, against the definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference_consensus import random_parts, total_of
from tierwise._kernels.consensus import TierCosts, best_runs, descend, swap_change, total_cost

sizes_strategy = st.lists(st.integers(1, 3), min_size=1, max_size=4).map(tuple)
kinds = st.sampled_from(["pairs", "linear", "both"])


def shuffled_labels(sizes, seed):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return np.random.default_rng(seed + 1).permutation(labels)


@given(sizes_strategy, kinds, st.integers(0, 1000))
def test_total_is_the_definition(sizes, kind, seed):
    linear, pairs = random_parts(sizes, kind, 9, seed)
    labels = shuffled_labels(sizes, seed)
    assert total_cost(labels, linear, pairs) == total_of(linear, pairs, labels)


@given(sizes_strategy, kinds, st.integers(0, 1000), st.data())
def test_swap_change_is_the_difference_of_totals(sizes, kind, seed, data):
    linear, pairs = random_parts(sizes, kind, 9, seed)
    labels = shuffled_labels(sizes, seed)
    items = st.integers(0, len(labels) - 1)
    first, second = data.draw(items), data.draw(items)
    swapped = labels.copy()
    swapped[[first, second]] = swapped[[second, first]]
    costs = TierCosts(linear, pairs, np.ascontiguousarray(pairs.T))
    change = swap_change(labels, costs, first, second)
    assert change == total_of(linear, pairs, swapped) - total_of(linear, pairs, labels)


@given(sizes_strategy, kinds, st.integers(0, 1000))
def test_descent_ends_where_no_swap_improves(sizes, kind, seed):
    linear, pairs = random_parts(sizes, kind, 9, seed)
    np.fill_diagonal(pairs, 0.0)
    labels = shuffled_labels(sizes, seed)
    before = total_of(linear, pairs, labels)
    descend(labels, TierCosts(linear, pairs, np.ascontiguousarray(pairs.T)), len(sizes), 0.0)
    after = total_of(linear, pairs, labels)
    assert after <= before
    assert np.bincount(labels).tolist() == list(sizes)
    for first in range(len(labels)):
        for second in range(first):
            swapped = labels.copy()
            swapped[[first, second]] = swapped[[second, first]]
            assert total_of(linear, pairs, swapped) >= after


def test_descent_tolerance_keeps_small_improvements_out():
    pairs = np.array([[0.0, 1.0], [0.0, 0.0]])
    labels = np.array([1, 0])
    costs = TierCosts(np.empty((0, 0)), pairs, pairs.T.copy())
    descend(labels, costs, 2, 1.0)
    assert labels.tolist() == [1, 0]
    descend(labels, costs, 2, 0.5)
    assert labels.tolist() == [0, 1]


@pytest.mark.parametrize("kind", ["pairs", "both"])
def test_the_diagonal_of_pairs_does_not_matter(kind):
    linear, pairs = random_parts((1, 2, 1), kind, 9, 0)
    labels = np.array([1, 0, 2, 1])
    other = pairs.copy()
    np.fill_diagonal(other, 100.0)
    assert total_cost(labels, linear, pairs) == total_cost(labels, linear, other)


@given(st.integers(1, 7), st.integers(0, 1000))
def test_the_best_runs_are_the_best_of_all_cuts(n_places, seed):
    values = np.random.default_rng(seed).normal(size=(n_places + 1, n_places + 1))

    def value_of(runs):
        starts = [place for place in range(n_places) if place == 0 or runs[place] > runs[place - 1]]
        return sum(values[run] for run in zip(starts, [*starts[1:], n_places], strict=True))

    every = [np.cumsum([0, *cuts]) for cuts in product((0, 1), repeat=n_places - 1)]
    best = max(every, key=value_of)
    assert best_runs(values).tolist() == best.tolist()


def test_equally_good_runs_are_long_first():
    assert best_runs(np.zeros((4, 4))).tolist() == [0, 0, 0]
