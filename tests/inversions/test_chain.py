"""The chain against the exact posterior, and on more items."""

from typing import NamedTuple

import numpy as np
import pytest

from tests.inversions.lines import log_likelihood
from tests.inversions.small import chi_square_p_value, counts_of, random_answers
from tests.reference_inversions import LOG_PRIOR, LOG_THETAS, THETAS, Posterior, log_line
from tierwise.data.counts import WeakOrderCounts
from tierwise.inversions.chain import TiersChain
from tierwise.inversions.evidence import sum_evidence
from tierwise.inversions.searching import search_tiers
from tierwise.model.priors import Gamma
from tierwise.partition.gaussian import draw_orderings


class Draws(NamedTuple):
    """Tiers, thetas where there is one, and log posterior of draws."""

    labels: np.ndarray
    thetas: np.ndarray
    log_posterior: np.ndarray


def run_chain(
    counts, labels, n_draws, rng, concentration="single", prior_sizes="uniform", warmup=0, thin=1
):
    chain = TiersChain(counts, labels, concentration, Gamma(2, 2), prior_sizes)
    draws = Draws(np.zeros((n_draws, counts.n_items), int), np.zeros(n_draws), np.zeros(n_draws))
    for sweep in range(-warmup, n_draws * thin):
        chain.sweep(rng)
        if sweep >= 0 and sweep % thin == thin - 1:
            row = sweep // thin
            chain.write_labels(draws.labels[row])
            draws.thetas[row], draws.log_posterior[row] = chain.theta, chain.log_posterior
    return draws


@pytest.mark.parametrize(
    ("complete", "penalised", "by_line"),
    [
        (True, False, False),
        (False, True, False),
        (False, True, True),
        pytest.param(True, False, True, marks=pytest.mark.slow),
    ],
)
def test_chain_follows_the_posterior(by_line, complete, penalised):
    answers = random_answers(4, 6, seed=13, complete=complete)
    wanted = Posterior(answers, 4, by_line=by_line, penalised=penalised)
    draws = run_chain(
        counts_of(answers, 4),
        np.zeros(4, dtype=int),
        2500,
        np.random.default_rng(17),
        "tier" if by_line else "single",
        prior_sizes="penalised" if penalised else "uniform",
        warmup=50,
        thin=4,
    )
    number_of = {labels: number for number, labels in enumerate(wanted.tiers)}
    rows = [number_of[tuple(row)] for row in draws.labels.tolist()]
    observed = np.bincount(rows, minlength=len(wanted.tiers))
    assert chi_square_p_value(observed, 2500 * wanted.probabilities) > 1e-4


def test_theta_of_the_chain_follows_its_posterior():
    answers = random_answers(4, 6, seed=13)
    counts = counts_of(answers, 4)
    wanted = Posterior(answers, 4)
    density = np.zeros_like(THETAS)
    for labels, probability in zip(wanted.tiers, wanted.probabilities, strict=True):
        lines = [log_line(answers, labels, tier, THETAS) for tier in range(max(labels))]
        heights = sum(lines, np.zeros_like(THETAS)) + LOG_PRIOR
        heights = np.exp(heights - heights.max())
        density += probability * heights / heights.sum()
    rng = np.random.default_rng(4)
    draws = run_chain(counts, np.zeros(4, dtype=int), 3000, rng, warmup=50, thin=6)
    from scipy.stats import kstest

    cumulative = np.cumsum(density)
    p_value = kstest(
        np.log(draws.thetas), lambda x: np.interp(x, LOG_THETAS, cumulative / cumulative[-1])
    ).pvalue
    assert p_value > 1e-4


def test_log_posterior_is_prior_times_likelihood():
    from math import lgamma, log

    counts = counts_of(random_answers(5, 8, seed=2), 5)
    draws = run_chain(counts, np.arange(5), 20, np.random.default_rng(1))
    for labels, theta, value in zip(draws.labels, draws.thetas, draws.log_posterior, strict=True):
        sizes = np.bincount(labels).tolist()
        log_number = lgamma(6) - sum(lgamma(size + 1) for size in sizes)
        prior = log(4) + log(theta) - 2 * theta - 4 * log(2) - log_number
        wanted = log_likelihood(counts, labels, float(theta)) + prior
        assert value == pytest.approx(wanted, abs=1e-8)


@pytest.mark.slow
def test_chain_agrees_with_exact_draws_on_eight_items():
    counts = counts_of(random_answers(8, 40, seed=3, complete=True), 8)
    for concentration in ("single", "tier"):
        exact = sum_evidence(counts, concentration)
        rng = np.random.default_rng(9)
        draws = run_chain(counts, np.zeros(8, dtype=int), 3000, rng, concentration, warmup=100)
        shares = np.bincount(draws.labels.max(axis=1) + 1, minlength=9) / 3000
        np.testing.assert_allclose(shares, exact.number_of_tiers, atol=0.05)


def test_chain_stays_near_the_truth_with_many_items():
    labels = np.repeat(np.arange(5), 8)
    drawn = draw_orderings(labels, 0.15, 300, np.random.default_rng(1))
    counts = WeakOrderCounts.from_patterns(np.argsort(drawn, axis=1))
    found = search_tiers(counts, n_starts=1)
    draws = run_chain(counts, found.labels, 60, np.random.default_rng(2), warmup=20)
    assert abs(np.median(draws.thetas) - 0.15) < 0.02
    best = draws.log_posterior.max()
    assert best > draws.log_posterior.mean()
