"""The best tiers of all sizes against all ordered partitions."""

import numpy as np
import pytest

from tests.inversions.lines import (
    criterion_of,
    estimate_line_thetas,
    estimate_one_theta,
    log_likelihood,
)
from tests.inversions.small import counts_of, random_answers
from tests.reference_inversions import (
    LOG_PRIOR,
    THETAS,
    CompleteRankingTwin,
    all_label_rows,
    all_tiers,
    best_criterion,
    compositions,
    log_integral,
    log_line,
    log_number_of_tiers,
    log_orders,
)
from tierwise.data.counts import WeakOrderCounts
from tierwise.errors import TooLargeError
from tierwise.inversions.best import find_best_tiers
from tierwise.model.priors import Gamma


@pytest.mark.parametrize(
    ("n_items", "seed"),
    [
        # Of five items one case, and all three where there is time.
        pytest.param(n_items, seed, marks=pytest.mark.slow if (n_items, seed) > (5, 1) else ())
        for n_items in (2, 3, 4, 5)
        for seed in (1, 2, 3)
    ],
)
@pytest.mark.parametrize("complete", [True, False])
def test_best_of_all_tiers(n_items, seed, complete):
    answers = random_answers(n_items, 12, seed=seed, complete=complete)
    counts = counts_of(answers, n_items)
    tiers = all_tiers(n_items)[:: 1 if n_items < 5 else 3]
    single = find_best_tiers(counts)
    assert single.gap == 0.0
    by_line = find_best_tiers(counts, "tier")
    for labels in tiers:
        assert single.criterion >= best_criterion(answers, labels, by_line=False) - 1e-7
        assert by_line.criterion >= best_criterion(answers, labels, by_line=True) - 1e-7
    for best, lines in ((single, False), (by_line, True)):
        own = best_criterion(answers, tuple(best.labels.tolist()), by_line=lines)
        assert best.criterion == pytest.approx(own, abs=1e-4)
        theta = best.thetas if lines else float(best.thetas[0])
        assert best.criterion == pytest.approx(criterion_of(counts, best.labels, theta), abs=1e-7)


@pytest.mark.parametrize(
    "n_items", [6, *(pytest.param(number, marks=pytest.mark.slow) for number in (7, 8))]
)
def test_best_of_all_tiers_of_complete_rankings(n_items):
    """Every ordered partition is valued, 545,835 of them for eight items."""
    answers = random_answers(n_items, 10, seed=n_items, complete=True)
    counts = counts_of(answers, n_items)
    twin = CompleteRankingTwin(precedence(answers, n_items), sum(times for _, times in answers))
    values, rows = twin.single()
    best = find_best_tiers(counts)
    assert best.gap == 0.0
    assert best.criterion == pytest.approx(values.max(), abs=1e-6)
    assert best.labels.tolist() == rows[values.argmax()].tolist()
    lines, by_tier = twin.by_line(), find_best_tiers(counts, "tier")
    assert by_tier.criterion == pytest.approx(lines.max(), abs=1e-6)
    assert by_tier.n_optima == (lines > lines.max() - 1e-9).sum()


def precedence(answers, n_items):
    """How often each item is ranked before each other one."""
    precedes = np.zeros((n_items, n_items))
    for blocks, times in answers:
        order = [block[0] for block in blocks]
        for place, item in enumerate(order):
            precedes[item, order[place + 1 :]] += times
    return precedes


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_best_of_six_items_with_ties(every):
    """Ordered partitions are valued by the package's own likelihood, which is tested alone."""
    counts = counts_of(random_answers(6, 15, seed=6), 6)
    best, by_tier = find_best_tiers(counts), find_best_tiers(counts, "tier")
    for tiers in all_label_rows(6)[::every]:
        theta = estimate_one_theta(counts, tiers).value
        assert criterion_of(counts, tiers, theta) <= best.criterion + 1e-7
        thetas = np.array([line.value for line in estimate_line_thetas(counts, tiers)])
        assert criterion_of(counts, tiers, thetas) <= by_tier.criterion + 1e-7


@pytest.mark.parametrize("complete", [True, False])
def test_best_with_theta_integrated_out(complete):
    answers = random_answers(4, 8, seed=9, complete=complete)
    counts = counts_of(answers, 4)
    best = find_best_tiers(counts, "tier", prior_theta=Gamma(2, 2))
    values = {}
    for labels in all_tiers(4):
        lines = [log_line(answers, labels, tier, THETAS) for tier in range(max(labels))]
        values[labels] = (
            sum(log_integral(line + LOG_PRIOR) for line in lines)
            + log_orders(answers, labels)
            - log_number_of_tiers(labels)
            - np.log(len(list(compositions(4))))
        )
    assert best.criterion == pytest.approx(max(values.values()), abs=1e-7)
    assert values[tuple(best.labels.tolist())] == pytest.approx(best.criterion, abs=1e-7)


def test_a_prior_may_be_a_function():
    counts = counts_of(random_answers(4, 8, seed=9), 4)
    gamma = find_best_tiers(counts, "tier", prior_theta=Gamma(2, 2))
    same = find_best_tiers(counts, "tier", prior_theta=lambda theta: np.log(4 * theta) - 2 * theta)
    assert same.criterion == pytest.approx(gamma.criterion, abs=1e-4)


def test_ties_between_optima_are_reported():
    counts = WeakOrderCounts.from_patterns(
        np.array([[0, 1, 2, 3]] * 4 + [[1, 0, 2, 3]] * 4 + [[0, 1, 3, 2]] * 4 + [[1, 0, 3, 2]] * 4)
    )
    assert find_best_tiers(counts).n_optima == 1
    # Two items that always differ in both orders equally, with many rankings: symmetric optima.
    symmetric = WeakOrderCounts.from_patterns(np.array([[0, 1, 2], [2, 1, 0]] * 30))
    best = find_best_tiers(symmetric, "tier")
    assert best.n_optima == 1 + len(best.alternatives)
    for other in best.alternatives:
        thetas = np.array([line.value for line in estimate_line_thetas(symmetric, other)])
        assert criterion_of(symmetric, other, thetas) == pytest.approx(best.criterion)


def test_rankings_that_all_agree():
    counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2, 3]] * 50))
    best = find_best_tiers(counts)
    assert best.labels.tolist() == [0, 1, 2, 3]
    assert np.isinf(best.thetas).all()
    assert best.gap == 0.0
    assert log_likelihood(counts, best.labels, np.inf) == 0.0


def test_weights_need_not_be_whole():
    rng = np.random.default_rng(4)
    answers = random_answers(6, 20, seed=4, complete=True)
    patterns = np.argsort(np.array([[block[0] for block in blocks] for blocks, _ in answers]))
    counts = WeakOrderCounts.from_patterns(patterns, rng.uniform(20, 60, 20))
    best = find_best_tiers(counts, "tier")
    assert best.criterion == pytest.approx(criterion_of(counts, best.labels, best.thetas), abs=1e-5)


def test_many_rankings_are_interpolated_well():
    """Lines with very many possible values are kept at some of them only."""
    answers = random_answers(7, 40, seed=12, complete=True)
    few = counts_of(answers, 7)
    patterns = np.argsort(np.array([[block[0] for block in blocks] for blocks, _ in answers]))
    many = WeakOrderCounts.from_patterns(patterns, np.array([times for _, times in answers]) * 500)
    for prior in (None, Gamma(2, 2)):
        best = find_best_tiers(many, "tier", prior_theta=prior)
        again = find_best_tiers(few, "tier", prior_theta=prior)
        assert best.labels.max() >= again.labels.max() - 3
        if prior is None:
            own = criterion_of(many, best.labels, best.thetas)
            assert best.criterion == pytest.approx(own, abs=1e-4)


def test_too_many_items_are_refused():
    counts = WeakOrderCounts.from_patterns(np.arange(19)[None, :])
    with pytest.raises(TooLargeError, match="local search"):
        find_best_tiers(counts)
