"""Values that were found by independent prototypes, on real data and on data of another model."""

import csv
from dataclasses import replace

import numpy as np
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tests.inversions.lines import estimate_line_thetas, estimate_one_theta, log_likelihood
from tierwise._kernels.consensus import insert_items
from tierwise._kernels.inversions_climbing import load_best_cuts
from tierwise._kernels.inversions_partition import load, value_tiers
from tierwise._kernels.ordered_partition import labels_of
from tierwise.data.counts import WeakOrderCounts
from tierwise.inversions.best import find_best_tiers
from tierwise.inversions.evidence import sum_evidence
from tierwise.inversions.objective import line_objective
from tierwise.inversions.searching import board_of, search_tiers
from tierwise.model.priors import Gamma
from tierwise.tiers import log_factorials

# fatty tuna > shrimp ~ sea eel ~ tuna ~ sea urchin ~ salmon roe > squid ~ tuna roll > egg
# > cucumber roll
SUSHI_TIERS = [1, 1, 1, 2, 1, 1, 3, 0, 2, 4]


def test_sushi_of_tohoku():
    counts = WeakOrderCounts.of(tw.load_sushi(shared_data("sushi"), region="Tohoku"))
    best = find_best_tiers(counts)
    assert best.criterion == pytest.approx(-3948.02, abs=0.005)
    assert best.thetas[0] == pytest.approx(0.3006, abs=5e-5)
    assert best.labels.tolist() == SUSHI_TIERS
    assert (best.n_optima, best.gap) == (1, 0.0)
    assert search_tiers(counts).criterion == pytest.approx(best.criterion)
    assert sum_evidence(counts).log_evidence == pytest.approx(-3957.99, abs=0.005)
    assert sum_evidence(counts, "tier").log_evidence == pytest.approx(-3925.06, abs=0.005)


@pytest.mark.thorough
def test_all_sushi():
    counts = WeakOrderCounts.of(tw.load_sushi(shared_data("sushi")))
    best = find_best_tiers(counts)
    assert best.criterion == pytest.approx(-71086.62, abs=0.005)
    assert best.thetas[0] == pytest.approx(0.2749, abs=5e-5)
    assert best.labels.tolist() == SUSHI_TIERS
    assert sum_evidence(counts).log_evidence == pytest.approx(-71098.17, abs=0.005)
    # A prototype said -69973.07; integrating its best tiers on 400,000 points gives -69973.10.
    assert sum_evidence(counts, "tier").log_evidence == pytest.approx(-69973.0957, abs=0.001)


def test_all_sushi_with_a_strict_consensus_and_a_theta_per_line():
    counts = WeakOrderCounts.of(tw.load_sushi(shared_data("sushi")))
    one = strict_labels(counts)
    assert estimate_one_theta(counts, one).value == pytest.approx(0.242, abs=0.001)
    likelihood = log_likelihood(counts, one, estimate_one_theta(counts, one).value)
    assert likelihood == pytest.approx(-71353.04, abs=0.01)
    thetas = [line.value for line in estimate_line_thetas(counts, one)]
    assert log_likelihood(counts, one, thetas) == pytest.approx(-70490.39, abs=0.005)
    # Kemeny's order is not the best one once each line has its own theta.
    best = best_strict_by_line(counts)
    thetas = [line.value for line in estimate_line_thetas(counts, best)]
    assert log_likelihood(counts, best, thetas) == pytest.approx(-69911.43, abs=0.005)


def strict_labels(counts):
    labels = np.argsort(counts.borda_order())
    insert_items(labels, counts.above, np.ascontiguousarray(counts.above.T), 1e-9)
    return labels


def best_strict_by_line(counts):
    """The best strict order with a theta per line, by recursion over sets of items."""
    import numba

    from tierwise._kernels.inversions_lines import curve_of_sizes, line_value

    @numba.njit
    def value_of_line(objective, n_worse, total, curve):
        if n_worse == 0:
            return 0.0
        curve_of_sizes(objective, 1, n_worse, curve)
        return line_value(objective, curve, total)

    objective = line_objective(counts, None)
    curve = np.zeros(objective.grid.factorials.shape[1:])
    n_items = counts.n_items
    values, choices = {0: 0.0}, {}
    for whole in range(1, 2**n_items):
        members = [item for item in range(n_items) if (whole >> item) & 1]
        options = []
        for item in members:
            total = float(sum(counts.above[other, item] for other in members))
            line = value_of_line(objective, len(members) - 1, total, curve)
            options.append((line + values[whole ^ (1 << item)], item))
        values[whole], choices[whole] = max(options)
    labels, whole = np.zeros(n_items, dtype=np.int64), 2**n_items - 1
    for place in range(n_items):
        labels[choices[whole]] = place
        whole ^= 1 << choices[whole]
    return labels


def test_political_goals():
    counts = WeakOrderCounts.of(tw.load_political_goals())
    best = find_best_tiers(counts)
    assert best.criterion == pytest.approx(-6435.19, abs=0.005)
    assert best.thetas[0] == pytest.approx(0.691, abs=5e-4)
    assert best.labels.tolist() == [0, 1, 0, 1]
    # A prototype said -6440.67; summing all 75 tiers on 200,000 points of theta gives -6440.656.
    assert sum_evidence(counts).log_evidence == pytest.approx(-6440.6565, abs=0.0005)
    assert sum_evidence(counts, "tier").log_evidence == pytest.approx(-6426.98, abs=0.005)


def test_apa_election():
    best = find_best_tiers(WeakOrderCounts.of(tw.load_apa1980()))
    assert best.criterion == pytest.approx(-27406.96, abs=0.005)


def mteb_scores():
    """The models without an empty cell, and their scores, one row per task."""
    with (shared_data("mteb") / "scores.csv").open() as file:
        header, *rows = csv.reader(file)
    scores = np.array([[float(cell) if cell else np.nan for cell in row[1:]] for row in rows])
    whole = ~np.isnan(scores).any(axis=0)
    return [model for model, kept in zip(header[1:], whole, strict=True) if kept], scores[:, whole]


def board_by_line(counts):
    return board_of(counts, log_factorials(counts.n_items), line_objective(counts, Gamma(2, 2)))


def value_of_borda_runs(counts, theta):
    board = board_of(counts, log_factorials(counts.n_items))
    load_best_cuts(board, counts.borda_order(), theta)
    return value_tiers(board, theta), labels_of(board.tiers)


def value_of_borda_runs_by_line(counts):
    board = board_by_line(counts)
    load_best_cuts(board, counts.borda_order(), np.inf)
    return value_tiers(board, np.inf), labels_of(board.tiers)


def log_factorial(number):
    return float(np.log(np.arange(1, number + 1)).sum())


def test_text_embedding_models():
    """The printed figures count a pair with equal scores half in each order."""
    _, scores = mteb_scores()
    higher = (scores[:, :, None] > scores[:, None, :]).sum(axis=0)
    equal = (scores[:, :, None] == scores[:, None, :]).sum(axis=0)
    weak = WeakOrderCounts.from_patterns((scores[:, None, :] > scores[:, :, None]).sum(axis=2))
    half = replace(
        weak,
        above=(higher + equal / 2) * (1 - np.eye(30)),
        block_offsets=np.zeros(1, dtype=np.int64),
        block_members=np.zeros(0, dtype=np.int64),
        block_weights=np.zeros(0),
    )
    value, labels = value_of_borda_runs_by_line(half)
    assert np.bincount(labels).tolist() == [2, 5, 5, 6, 2, 2, 3, 4, 1]
    assert value - log_factorial(30) == pytest.approx(-3555.63, abs=0.005)
    thetas = [line.value for line in estimate_line_thetas(half, labels)]
    np.testing.assert_allclose(thetas, [0.14, 0.14, 0.18, 0.35, 0.46, 0.49, 0.45, 0.53], atol=0.011)
    _, labels = value_of_borda_runs(half, 0.269)
    assert labels.tolist().count(0) == 18
    theta = estimate_one_theta(half, labels).value
    value, _ = value_of_borda_runs(half, theta)
    assert value - log_factorial(30) == pytest.approx(-3623.44, abs=0.005)
    # As weak orders, which do not say how ties would have been broken, they are more probable.
    value, labels = value_of_borda_runs_by_line(weak)
    assert np.bincount(labels).tolist() == [2, 5, 5, 6, 2, 2, 3, 4, 1]
    assert value - log_factorial(30) == pytest.approx(-3547.98, abs=0.005)


@pytest.mark.slow
def test_a_search_finds_tiers_of_embedding_models_that_one_theta_hides():
    models, scores = mteb_scores()
    ranks = 1 + (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    rankings = tw.Rankings.from_ranks(ranks.tolist(), items=models, ties="allow")
    single = tw.search(rankings, "inversions", rng=1, progress="off").best
    found = tw.search(rankings, "inversions", concentration="tier", rng=1, progress="off")
    best = found.best
    # One theta puts 18 models into the first tier; the nine tiers of the prototype begin with
    # 2, 5, 5 and 6, agreement growing downward.
    assert single.sizes[0] == 18
    assert best.concentration == "tier"
    assert len(best.sizes) >= 9
    assert best.sizes[0] <= 5
    assert best.divided == ()
    thetas = np.array(best.thetas)
    assert thetas[:3].max() < 0.21
    assert thetas[4:].min() > 0.35
    # By the prototype's own measure they are better than its nine tiers, -3547.98.
    counts = WeakOrderCounts.of(rankings)
    board = board_by_line(counts)
    load(board.tiers, board.ties, best.tiers.label_array(rankings.items))
    value = value_tiers(board, np.inf)
    assert value - log_factorial(30) > -3540.0


def test_prototype_constants_of_runs():
    """The value of runs leaves nothing out but the number of all orderings of the items."""
    patterns = np.array([[0, 1, 2], [1, 0, 2]])
    counts = WeakOrderCounts.from_patterns(patterns)
    value, labels = value_of_borda_runs(counts, 0.5)
    sizes = np.bincount(labels)
    wanted = log_likelihood(counts, labels, 0.5) + sum(log_factorial(size) for size in sizes)
    assert value == pytest.approx(wanted)


@pytest.mark.parametrize("worths", [(64, 16, 16, 4, 4, 1), (8, 4, 4, 2, 2, 1)], ids=str)
def test_tied_worths_of_bradley_terry_and_luce_are_found(worths):
    rng = np.random.default_rng(1)
    for _ in range(5):
        # The order of exponential times with these rates is Luce's ranking.
        orderings = np.argsort(rng.exponential(size=(1000, 6)) / np.array(worths), axis=1)
        counts = WeakOrderCounts.from_patterns(np.argsort(orderings, axis=1))
        assert find_best_tiers(counts).labels.tolist() == [0, 1, 1, 2, 2, 3]
