"""The likelihood of independent comparisons, against sums over all orderings."""

from itertools import permutations
from math import exp, inf, log

import numpy as np
import pytest

from tests.reference_inversions import Model
from tests.small_battles import fitted, some_wins, value_at
from tierwise.partition.gaussian import pair_probabilities


def probability_of_win(labels, theta, winner, loser):
    """Sum over all orderings of the probability of those that have one item before the other."""
    n_items = len(labels)
    total = won = 0.0
    for order in permutations(range(n_items)):
        inversions = sum(
            labels[order[later]] < labels[order[earlier]]
            for earlier in range(n_items)
            for later in range(earlier + 1, n_items)
        )
        weight = exp(-theta * inversions)
        total += weight
        won += weight * (order.index(winner) < order.index(loser))
    return won / total


def test_win_probabilities_are_those_of_all_orderings():
    labels = (0, 1, 1, 2)
    np.testing.assert_allclose(
        pair_probabilities((1, 2, 1), 0.8), Model(labels, 0.8).pairs(), atol=1e-12
    )


def test_log_likelihood_is_a_sum_over_comparisons():
    rng = np.random.default_rng(1)
    labels = (1, 0, 1, 2)
    wins = rng.integers(0, 5, (4, 4)) + 0.5
    np.fill_diagonal(wins, 0.0)
    pairs = Model(labels, 0.6).pairs()
    wanted = sum(
        wins[first, second] * log(pairs[labels[first], labels[second]])
        for first in range(4)
        for second in range(4)
        if first != second
    )
    assert value_at(wins, np.array(labels), 0.6) == pytest.approx(wanted)


def test_infinite_theta():
    wins = np.array([[0.0, 3.0], [0.0, 0.0]])
    assert value_at(wins, np.array([0, 1]), inf) == 0.0
    assert value_at(wins, np.array([1, 0]), inf) == -inf


@pytest.mark.parametrize("theta", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("labels", [(0, 1, 1, 2), (1, 0, 0, 1), (0, 1, 2, 3), (0, 0, 0, 0)])
def test_likelihood_is_that_of_all_orderings(labels, theta):
    wins = some_wins(4, 1)
    wanted = sum(
        wins[one, other] * log(probability_of_win(labels, theta, one, other))
        for one, other in permutations(range(4), 2)
    )
    found = value_at(wins, np.array(labels), theta)
    assert found == pytest.approx(wanted, abs=1e-9)


def test_likelihood_of_five_items():
    labels, wins = (0, 1, 1, 1, 2), some_wins(5, 2)
    wanted = sum(
        wins[one, other] * log(probability_of_win(labels, 0.7, one, other))
        for one, other in permutations(range(5), 2)
    )
    assert value_at(wins, np.array(labels), 0.7) == pytest.approx(wanted)


@pytest.mark.parametrize("theta", [1e-6, 0.049, 0.051, 8.0])
def test_win_probabilities_of_large_tiers_and_extreme_thetas(theta):
    sizes = (3, 40, 17)
    labels = np.repeat(np.arange(3), sizes)
    wins = np.zeros((60, 60))
    wins[0, 59], wins[59, 0] = 2.0, 1.0
    shares = pair_probabilities(sizes, theta)
    wanted = 2 * np.log(shares[0, 2]) + np.log(max(shares[2, 0], 1e-300))
    found = value_at(wins, labels, theta)
    if theta < 1:
        assert found == pytest.approx(wanted, rel=1e-7)
    else:  # the other formula has no digits left where a loss is so improbable
        assert found < -30


def test_theta_is_the_best_on_a_grid():
    wins, labels = some_wins(5, 3), np.array([0, 0, 1, 1, 2])
    wins[:2, 2:] += 4
    estimate = fitted(wins, labels).theta
    grid = np.linspace(1e-3, 3, 3000)
    values = [value_at(wins, labels, theta) for theta in grid]
    assert estimate.value == pytest.approx(grid[int(np.argmax(values))], abs=2e-3)
    assert estimate.interval[0] < estimate.value < estimate.interval[1]


def test_theta_is_infinite_without_losses_and_0_against_the_tiers():
    wins = np.array([[0.0, 5.0], [0.0, 0.0]])
    up = fitted(wins, np.array([0, 1])).theta
    assert up.value == inf
    assert value_at(wins, np.array([0, 1]), inf) == 0.0
    # Five wins in a row have a probability of 5% at this win probability.
    shares = pair_probabilities((1, 1), up.interval[0])
    assert shares[0, 1] ** 5 == pytest.approx(0.05, rel=1e-3)
    assert fitted(wins, np.array([1, 0])).theta.value == 0.0
