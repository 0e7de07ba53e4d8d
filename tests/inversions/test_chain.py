"""The chain against the exact posterior, and on more items."""

from typing import NamedTuple

import numpy as np
import pytest

from tests.inversions.lines import log_likelihood
from tests.inversions.small import chi_square_p_value, counts_of, random_answers
from tests.reference_inversions import LOG_PRIOR, LOG_THETAS, THETAS, Posterior, log_line
from tierwise.data.counts import WeakOrderCounts
from tierwise.inversions.chain import TiersChain
from tierwise.inversions.evidence import integrate_tiers, lines_of_tiers, sum_evidence
from tierwise.inversions.objective import line_objective, tiers_prior
from tierwise.inversions.searching import search_tiers
from tierwise.model.priors import Gamma
from tierwise.partition.gaussian import draw_orderings
from tierwise.theta.density import prior_table


class Draws(NamedTuple):
    """Tiers, and thetas where there is one."""

    labels: np.ndarray
    thetas: np.ndarray


def run_chain(
    counts, labels, n_draws, rng, concentration="single", prior_sizes="uniform", warmup=0, thin=1
):
    chain = TiersChain(counts, labels, concentration, Gamma(2, 2), prior_sizes)
    labels, thetas = chain.run(warmup + n_draws * thin, rng)
    return Draws(labels[warmup + thin - 1 :: thin], thetas[warmup + thin - 1 :: thin])


@pytest.mark.thorough
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
    apart = labels[:, None] < labels
    kept = draws.labels[:, :, None] < draws.labels[:, None, :]
    assert kept[:, apart].mean() > 0.98


def passed_or_failed(n_items, n_tasks, seed, weights=None):
    """Count items that pass or fail tasks, the first ones more often."""
    rng = np.random.default_rng(seed)
    chances = np.linspace(0.9, 0.3, n_items)
    return WeakOrderCounts.from_patterns(rng.random((n_tasks, n_items)) > chances, weights)


def swept(counts, n_sweeps=30):
    """Make sweeps; return the tiers, and theta, inversions and log-likelihood of each; and ties."""
    from tierwise._kernels.inversions_chain import run_sweeps
    from tierwise._kernels.inversions_partition import load
    from tierwise._kernels.ordered_partition import make_dealing
    from tierwise.inversions.searching import board_of

    n_items = counts.n_items
    labels, numbers = np.empty((n_sweeps, n_items), int), np.empty((n_sweeps, 3))
    board = board_of(counts, tiers_prior("uniform", n_items).tier_values(n_items), theta=0.3)
    load(board.tiers, board.ties, np.arange(n_items))
    rng = np.random.default_rng(1)
    room = make_dealing(n_items)
    run_sweeps(board, None, prior_table(Gamma(2, 2)), 0.0, room, labels, numbers, rng)
    return labels, numbers, board.ties


@pytest.mark.parametrize("dense", [False, True], ids=["some ties", "passed or failed"])
def test_sweeps_know_the_likelihood_of_where_they_are(dense):
    n_items = 9
    counts = counts_of(random_answers(n_items, 12, seed=5), n_items)
    if dense:
        counts = passed_or_failed(n_items, 40, seed=5)
    assert counts.n_blocks
    labels, numbers, ties = swept(counts)
    assert (ties.bits.shape[1] > 0) == dense
    assert len(np.unique(labels, axis=0)) > len(labels) / 2
    for row, (theta, inversions, log_likelihood_there) in zip(labels, numbers, strict=True):
        assert log_likelihood_there == pytest.approx(log_likelihood(counts, row, theta), abs=1e-9)
        assert inversions == counts.above.T[row[:, None] < row].sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_as_bits_are_counted_as_blocks_one_by_one(monkeypatch, weighted):
    from tierwise._kernels import tied_blocks

    weights = np.random.default_rng(3).choice([1.0, 2.0, 2.5], 200) if weighted else None
    counts = passed_or_failed(20, 200, seed=2, weights=weights)
    found = swept(counts)
    assert found[2].bits.shape[1] > 0
    assert not found[2].held.size
    monkeypatch.setattr(tied_blocks, "_LEAST_BLOCKS_OF_A_WORD", 1e9)
    expected = swept(counts)
    assert expected[2].bits.shape[1] == 0
    assert len(np.unique(found[0], axis=0)) > 15
    assert (found[0] == expected[0]).all()
    assert found[1] == pytest.approx(expected[1], rel=1e-10)


@pytest.mark.parametrize("complete", [True, False])
def test_tiers_are_integrated_all_together_as_one_by_one(complete):
    counts = counts_of(random_answers(6, 9, seed=4, complete=complete), 6)
    objective = line_objective(counts, Gamma(2, 2))
    rng = np.random.default_rng(2)
    tiers = np.array([np.unique(rng.integers(4, size=6), return_inverse=True)[1] for _ in range(9)])
    for concentration in ("single", "tier"):
        totals, logs = integrate_tiers(counts, tiers, objective, concentration)
        for row, total, log in zip(tiers, totals, logs, strict=True):
            lines = lines_of_tiers(counts, row, objective)
            assert total == lines.totals.sum()
            assert log == pytest.approx(lines.log_likelihood(concentration), abs=1e-10)
