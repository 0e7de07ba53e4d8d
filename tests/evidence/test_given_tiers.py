"""The probability of answers given tiers, theta integrated out: against plain quadrature."""

from math import exp, log

import numpy as np
import pytest
from scipy.integrate import quad

import tierwise as tw
from tests import reference
from tierwise.answers.likelihood import source_of
from tierwise.evidence.given_tiers import laplace_correction, log_integrated_likelihood
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
