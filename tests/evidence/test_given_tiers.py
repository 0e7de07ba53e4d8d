"""The probability of answers given tiers, theta integrated out: against plain quadrature."""

from math import exp, log

import numpy as np
import pytest
from scipy.integrate import quad

import tierwise as tw
from tests import reference
from tierwise.answers.likelihood import source_of
from tierwise.evidence.given_tiers import (
    laplace_correction,
    log_integrated_likelihood,
    log_integrated_thetas,
)
from tierwise.partition.choose import partition_function
from tierwise.theta.estimate import ThetaEstimate

ITEMS = list("abcd")
COMPLETE = [list("abcd"), list("bacd"), list("abdc"), list("cabd"), list("abcd")]
TOP = [list("ab"), list("b"), list("acb"), list("ab")]


def agrees(ordering, listed):
    """Whether an ordering begins with the listed items, in order: the rest comes below."""
    return [ITEMS[item] for item in ordering[: len(listed)]] == listed


def naive(answers, labels, sizes, distance, theta):
    brute = reference.BruteForce(sizes, distance)
    log_psi = brute.log_partition(theta)
    total = 0.0
    for listed in answers:
        weight = sum(
            exp(-theta * reference.DISTANCES[distance](ordering, labels, sizes) - log_psi)
            for ordering in brute.orderings
            if agrees(ordering, listed)
        )
        total += log(weight)
    return total


@pytest.mark.parametrize("distance", ["kendall", "inversions", "hamming"])
@pytest.mark.parametrize("answers", [COMPLETE, TOP], ids=["complete", "top"])
@pytest.mark.parametrize("labels", [(0, 0, 1, 1), (0, 1, 2, 2), (1, 0, 2, 3)])
def test_it_is_the_average_over_the_prior(distance, answers, labels):
    sizes = tuple(np.bincount(labels).tolist())
    prior = tw.Gamma(2.0, 3.0)
    rankings = tw.Rankings.from_orderings(answers, items=ITEMS, unranked="below")
    likelihood = source_of(rankings, distance).at(sizes)
    fitted = tw.fit(rankings, sizes, distance, rng=1).theta_estimate
    found = log_integrated_likelihood(likelihood, np.array(labels), fitted, prior)

    def height(theta):
        density = float(prior.log_density(np.array([theta]))[0])
        return exp(naive(answers, labels, sizes, distance, theta) + density + 12.0)

    expected = log(quad(height, 0.0, 30.0, limit=200, epsabs=0, epsrel=1e-9)[0]) - 12.0
    assert float(found) == pytest.approx(expected, abs=1e-6)
    assert found.standard_error == 0.0


def test_without_tiers_there_is_no_theta():
    rankings = tw.Rankings.from_orderings(COMPLETE)
    likelihood = source_of(rankings, "inversions").at((4,))
    nothing = ThetaEstimate(0.0, float("inf"), (0.0, float("inf")), "exact")
    found = log_integrated_likelihood(likelihood, np.zeros(4, dtype=int), nothing, tw.Gamma(2, 2))
    assert float(found) == pytest.approx(-5 * log(24))


def test_laplace_is_close_where_there_are_many_answers():
    rankings = tw.load_political_goals()
    fitted = tw.fit(rankings, (2, 2), "inversions")
    likelihood = source_of(rankings, "inversions").at((2, 2))
    labels = fitted.tiers.label_array(rankings.items)
    prior = tw.Gamma(2, 2)
    exact = log_integrated_likelihood(likelihood, labels, fitted.theta_estimate, prior)
    approximate = fitted.log_likelihood + laplace_correction(fitted.theta_estimate, prior)
    assert approximate == pytest.approx(float(exact), abs=2e-3)
    infinite = ThetaEstimate(float("inf"), float("nan"), (1.0, float("inf")), "exact")
    assert laplace_correction(infinite, prior) == 0.0


PARTS = [
    ((1, 2, 1), "kendall", "place", (1.0, 0.3)),
    ((2, 2), "kendall", "tier", (0.7, 0.3)),
    ((1, 2, 1), "kendall", "tier", (0.0, 0.5)),
    ((1, 2, 1), "inversions", "tier", (0.9, 0.1)),
    ((1, 1, 1), "kendall", "place", (1.0, 0.0)),
    ((1, 1, 1), "kendall", "tier", (0.4, 1.0)),
]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sizes", "distance", "concentration", "thetas"),
    [pytest.param(*one, marks=() if one[0] == (1, 2, 1) else pytest.mark.slow) for one in PARTS],
)
def test_several_thetas_are_integrated_out(sizes, distance, concentration, thetas):
    tiers = tw.Tiers.from_sizes(sizes, "abcd"[: sum(sizes)])
    model = tw.ClusteredMallows(tiers, thetas, distance, concentration)
    rankings, prior = model.sample(60, rng=1), tw.Gamma(2, 2)
    condensed = tw.Rankings(rankings.items, rankings.patterns, rankings.pattern_weights)
    partition = partition_function(sizes, distance, concentration=concentration)
    answers = source_of(rankings, partition.distance).with_thetas(partition)
    found = log_integrated_thetas(answers, tiers.label_array(rankings.items), prior)
    # The likelihood depends on the totals of the parts only, so few numbers make up the grid.
    curve = answers.curve(tiers.label_array(rankings.items))
    logs = np.linspace(-9.0, 3.0, 81)
    grid = np.exp(logs)
    heights = np.array(
        [
            [
                -np.dot((one, other), curve.totals)
                - len(rankings) * partition.log_value((one, other))
                for other in grid
            ]
            for one in grid
        ]
    )
    at = np.array(thetas)
    known = model.log_prob(condensed) @ condensed.weights
    assert known == pytest.approx(-at @ curve.totals - len(rankings) * partition.log_value(at))
    log_prior = prior.log_density(grid) + logs
    heights += log_prior[:, None] + log_prior[None, :]
    top = heights.max()
    expected = top + np.log(np.exp(heights - top).sum()) + 2 * np.log(logs[1] - logs[0])
    exact = found.method == "quadrature"
    assert exact == (distance == "inversions" or max(sizes) == 1)
    error = 0.0 if exact else found.standard_error
    assert error < 0.1
    assert float(found) == pytest.approx(expected, abs=1e-6 + 3 * error)


def test_equal_kinds_have_equal_integrals():
    """With two tiers under inversions, a theta per tier is one theta."""
    rankings = tw.load_political_goals()
    labels = np.array([0, 1, 0, 1])
    one = tw.fit(rankings, (2, 2), "inversions").theta_estimate
    likelihood = source_of(rankings, "inversions").at((2, 2))
    single = log_integrated_likelihood(likelihood, labels, one, tw.Gamma(2, 2))
    answers = source_of(rankings, "inversions").with_thetas(
        partition_function((2, 2), "inversions", concentration="tier")
    )
    several = log_integrated_thetas(answers, labels, tw.Gamma(2, 2))
    assert float(several) == pytest.approx(float(single), abs=1e-6)
    # By place, Kendall with two blocks has one theta, too: sampling against quadrature.
    one = tw.fit(rankings, (2, 2)).theta_estimate
    likelihood = source_of(rankings, "kendall").at((2, 2))
    single = log_integrated_likelihood(likelihood, labels, one, tw.Gamma(2, 2))
    answers = source_of(rankings, "kendall").with_thetas(
        partition_function((2, 2), "kendall", concentration="place")
    )
    several = log_integrated_thetas(answers, labels, tw.Gamma(2, 2))
    assert several.method == "importance sampling"
    assert float(several) == pytest.approx(float(single), abs=3 * several.standard_error)


@pytest.mark.parametrize("seed", range(4))
def test_thetas_that_are_known_to_very_different_precisions(seed):
    """Weights from 1 to 1e12: what one theta is known by is a million times as precise."""
    rng = np.random.default_rng(seed)
    orderings = np.array([rng.permutation(4) for _ in range(12)])
    rankings = tw.Rankings.from_order_array(orderings, "abcd", 10.0 ** rng.uniform(0, 12, 12))
    found = tw.search(rankings, "kendall", concentration="tier", rng=1)
    assert np.isfinite(found.best.criterion)
