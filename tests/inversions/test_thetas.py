"""Theta of given tiers: roots, ends, errors and intervals."""

from math import inf, isinf, isnan

import numpy as np
import pytest

from tests.inversions.lines import estimate_line_thetas, estimate_one_theta, log_likelihood
from tests.inversions.small import counts_of, random_answers
from tests.reference_inversions import THETAS, all_tiers, log_line, log_orders
from tierwise.data.counts import WeakOrderCounts
from tierwise.errors import InputError
from tierwise.partition.gaussian import draw_orderings

# Stands for an infinite theta: no larger one is distinguished from it.
LARGEST = THETAS[-1]


@pytest.mark.parametrize("complete", [True, False])
def test_no_theta_of_a_grid_is_better(complete):
    answers = random_answers(4, 9, seed=3, complete=complete)
    counts = counts_of(answers, 4)
    for labels in all_tiers(4)[::5]:
        lines = [log_line(answers, labels, tier, THETAS) for tier in range(max(labels))]
        if not lines:
            continue
        tiers, constant = np.array(labels), log_orders(answers, labels)
        one = estimate_one_theta(counts, tiers).value
        assert log_likelihood(counts, tiers, one) >= sum(lines).max() + constant - 1e-9
        for tier, estimate in enumerate(estimate_line_thetas(counts, tiers)):
            found = log_line(answers, labels, tier, np.array([min(estimate.value, LARGEST)]))
            assert found[0] >= lines[tier].max() - 1e-9


def test_ends_are_answers():
    agreed = WeakOrderCounts.from_patterns(np.array([[0, 1, 2]] * 10))
    estimate = estimate_one_theta(agreed, np.array([0, 1, 2]))
    assert isinf(estimate.value)
    assert isnan(estimate.standard_error)
    lower, upper = estimate.interval
    assert upper == inf
    below = log_likelihood(agreed, np.array([0, 1, 2]), lower)
    assert below == pytest.approx(np.log(0.05))
    reversed_order = estimate_one_theta(agreed, np.array([2, 1, 0]))
    assert reversed_order.value == 0.0
    one_tier = estimate_one_theta(agreed, np.array([0, 0, 0]))
    assert one_tier.interval == (0.0, inf)
    assert estimate_line_thetas(agreed, np.array([0, 0, 0])) == ()


def test_standard_error_is_that_of_the_bend():
    answers = random_answers(5, 30, seed=8)
    counts = counts_of(answers, 5)
    labels = np.array([0, 0, 1, 2, 2])
    estimate = estimate_one_theta(counts, labels, level=0.9)
    step = 1e-4
    values = [log_likelihood(counts, labels, estimate.value + shift) for shift in (-step, 0, step)]
    bend = (values[0] - 2 * values[1] + values[2]) / step**2
    assert estimate.standard_error == pytest.approx((-bend) ** -0.5, rel=1e-4)
    reach = estimate.interval[1] - estimate.value
    assert reach == pytest.approx(1.6448536 * estimate.standard_error)


def test_thetas_are_recovered():
    labels = np.repeat(np.arange(4), 5)
    thetas = np.array([0.05, 0.3, 0.15])
    draws = draw_orderings(labels, thetas, 4000, np.random.default_rng(2))
    counts = WeakOrderCounts.from_patterns(np.argsort(draws, axis=1))
    for theta, estimate in zip(thetas, estimate_line_thetas(counts, labels), strict=True):
        assert abs(estimate.value - theta) < 4.5 * estimate.standard_error


def test_level_is_checked():
    counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2]]))
    with pytest.raises(InputError, match="level"):
        estimate_one_theta(counts, np.array([0, 1, 2]), level=1.0)
