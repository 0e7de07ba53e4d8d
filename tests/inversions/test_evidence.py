"""Evidence and exact draws against all tiers of four and five items."""

import numpy as np
import pytest
from scipy.stats import kstest

from tests.inversions.small import chi_square_p_value, counts_of, random_answers
from tests.reference_inversions import LOG_PRIOR, LOG_THETAS, THETAS, Posterior, log_line
from tierwise._kernels.inversions_subsets import Grading, choices_from, sum_values
from tierwise.inversions.evidence import _sum, sum_evidence
from tierwise.inversions.objective import SubsetTables, fixed_objective, tiers_prior
from tierwise.model.priors import Gamma


@pytest.mark.parametrize("by_line", [False, True])
@pytest.mark.parametrize(
    ("n_items", "complete", "penalised"), [(4, True, False), (4, False, True), (5, False, False)]
)
def test_evidence_is_the_sum_over_all_tiers(n_items, complete, penalised, by_line):
    answers = random_answers(n_items, 9, seed=n_items, complete=complete)
    wanted = Posterior(answers, n_items, by_line=by_line, penalised=penalised)
    found = sum_evidence(
        counts_of(answers, n_items),
        "tier" if by_line else "single",
        prior_sizes="penalised" if penalised else "uniform",
    )
    assert found.log_evidence == pytest.approx(wanted.log_evidence, abs=1e-7)
    np.testing.assert_allclose(found.number_of_tiers, wanted.number_of_tiers(), atol=1e-7)
    assert found.probability_of_no_tiers == pytest.approx(found.number_of_tiers[1])


@pytest.mark.parametrize("by_line", [False, True])
def test_draws_follow_the_posterior(by_line):
    answers = random_answers(4, 7, seed=11)
    wanted = Posterior(answers, 4, by_line=by_line)
    evidence = sum_evidence(counts_of(answers, 4), "tier" if by_line else "single")
    draws = evidence.draw(8000, np.random.default_rng(5))
    number_of = {labels: number for number, labels in enumerate(wanted.tiers)}
    rows = [number_of[tuple(row)] for row in draws.labels.tolist()]
    observed = np.bincount(rows, minlength=len(wanted.tiers))
    assert chi_square_p_value(observed, 8000 * wanted.probabilities) > 1e-4
    # Theta given the most probable tiers that have a line.
    likely = max(
        (labels for labels in wanted.tiers if max(labels) > 0),
        key=lambda labels: wanted.probabilities[number_of[labels]],
    )
    chosen = (draws.labels == likely).all(axis=1)
    lines = [log_line(answers, likely, tier, THETAS) for tier in range(max(likely))]
    heights = (lines[0] if by_line else sum(lines)) + LOG_PRIOR
    cumulative = np.cumsum(np.exp(heights - heights.max()))
    thetas = draws.thetas[chosen, 0] if by_line else draws.thetas[chosen]
    p_value = kstest(
        np.log(thetas), lambda x: np.interp(x, LOG_THETAS, cumulative / cumulative[-1])
    ).pvalue
    assert p_value > 1e-4
    if by_line:
        n_lines = (~np.isnan(draws.thetas)).sum(axis=1)
        np.testing.assert_array_equal(n_lines, draws.labels.max(axis=1))


@pytest.mark.parametrize("name", ["uniform", "penalised", "sceptical", "several"])
def test_priors_of_many_tiers_are_those_of_each(name):
    labels = np.array([[0, 0, 0, 0], [0, 1, 1, 2], [3, 1, 0, 2], [1, 0, 0, 0]])
    prior = tiers_prior(name, 4)
    wanted = [prior.log_probability(np.bincount(row)) for row in labels]
    np.testing.assert_allclose(prior.log_probabilities(labels), wanted, rtol=1e-13)


def test_no_tiers_leave_theta_its_prior():
    """Answers that say nothing: every composition keeps its prior probability."""
    answers = [(((0, 1, 2),), 5)]
    evidence = sum_evidence(counts_of(answers, 3))
    assert evidence.log_evidence == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(evidence.number_of_tiers, [0, 0.25, 0.5, 0.25], atol=1e-9)
    thetas = evidence.draw(4000, np.random.default_rng(3)).thetas
    assert kstest(thetas, "gamma", args=(2.0, 0.0, 0.5)).pvalue > 1e-4


def test_other_priors():
    counts = counts_of(random_answers(4, 9, seed=1), 4)
    sharp = sum_evidence(counts, prior_theta=Gamma(200, 400))
    assert abs((sharp.thetas * sharp.theta_weights).sum() - 0.5) < 0.1
    same = sum_evidence(counts, prior_theta=lambda theta: np.log(4 * theta) - 2 * theta)
    assert same.log_evidence == pytest.approx(sum_evidence(counts).log_evidence, abs=1e-6)


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("prior_sizes", ["uniform", "sceptical", "several"])
@pytest.mark.parametrize("n_answers", [1, 9, 200])
@pytest.mark.parametrize("theta", [1e-6, 0.1, 0.6, 1.3, 2.0, 9.0])
def test_sets_that_are_left_out_do_not_matter(complete, prior_sizes, n_answers, theta):
    n_items = 6
    counts = counts_of(random_answers(n_items, n_answers, seed=4, complete=complete), n_items)
    tables, prior = SubsetTables(counts), tiers_prior(prior_sizes, n_items)
    objective = fixed_objective(counts, theta, prior.tier_constant)
    sums = _sum(tables, objective, prior)
    numbers = np.arange(n_items + 1)
    by_number = Grading(np.maximum(numbers, 1), np.minimum(numbers, 1))
    every = np.ones(2**n_items, dtype=np.bool_)
    logs, shares = sum_values(sums.problem, by_number, every)
    assert sums.logs[-1] == pytest.approx(logs[-1], abs=1e-12)
    np.testing.assert_allclose(sums.shares[1:], shares, atol=1e-12)
    # The bound holds for each set: forward through all choices, what comes before it is summed.
    before = np.full(2**n_items, -np.inf)
    before[-1] = 0.0
    for whole in range(2**n_items - 1, 0, -1):
        tiers, terms = choices_from(sums.problem, whole)
        # Of the whole only what is not a single tier is bounded.
        rests = tiers[::-1][1:-1] if whole == 2**n_items - 1 else tiers[::-1][1:]
        for rest, term in zip(rests, terms[1 : len(rests) + 1], strict=True):
            before[rest] = np.logaddexp(before[rest], before[whole] + term)
    bounds = tables.most_summed(objective)
    assert (before[1:-1] + logs[1:-1] <= bounds[1:-1] + 1e-9).all()
    assert sums.matters[-1]
