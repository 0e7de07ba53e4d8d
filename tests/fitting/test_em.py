from itertools import permutations
from math import exp, inf, log

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import tierwise as tw
from tests.reference import BLOCK_DISTANCES, DISTANCES
from tests.reference_incomplete import completions, pairs_of_groups
from tierwise.answers import dispatch as answers_module
from tierwise.answers.likelihood import source_of
from tierwise.fitting import em as stochastic
from tierwise.fitting.em import climb, maximise, starting_labels
from tierwise.fitting.solve import Settings, solve


def ballots(seed, n_items, n_rankings, unranked="below"):
    """Lists of the best one, two or more of noisy orders."""
    rng = np.random.default_rng(seed)
    utilities = np.linspace(2, 0, n_items) + rng.gumbel(size=(n_rankings, n_items))
    orders = np.argsort(-utilities, axis=1)
    lengths = rng.integers(1, n_items, size=n_rankings)
    rows = [order[:length].tolist() for order, length in zip(orders, lengths, strict=True)]
    if unranked == "anywhere":
        rows = [rng.permutation(n_items)[: max(length, 2)] for length in lengths]
        rows = [
            sorted(row.tolist(), key=list(order).index)
            for row, order in zip(rows, orders, strict=True)
        ]
    return tw.Rankings.from_orderings(rows, items=range(n_items), unranked=unranked)


def brute_force_maximum(rankings, sizes, distance):
    """Maximise the likelihood over all tiers and theta, from the definitions."""
    n_items = sum(sizes)
    answers = []
    for row in rankings.to_orderings():
        groups = [group if isinstance(group, list) else [group] for group in row]
        listed = {item for group in groups for item in group}
        if rankings.unranked == "below":
            groups.append([item for item in range(n_items) if item not in listed])
        answers.append(completions(pairs_of_groups(groups), n_items))
    best = (-inf, None, None)
    for labels in set(permutations(np.repeat(np.arange(len(sizes)), sizes).tolist())):
        distances = {
            ordering: DISTANCES[distance](ordering, labels, sizes)
            for ordering in permutations(range(n_items))
        }

        def negative(theta, distances=distances):
            weights = {ordering: exp(-theta * value) for ordering, value in distances.items()}
            total = log(sum(weights.values()))
            return -sum(log(sum(map(weights.get, answer))) - total for answer in answers)

        found = minimize_scalar(negative, bounds=(0, 8), method="bounded", options={"xatol": 1e-9})
        best = max(best, (-found.fun, labels, found.x), key=lambda triple: triple[0])
    return best


@pytest.mark.parametrize("distance", BLOCK_DISTANCES)
@pytest.mark.parametrize("sizes", [(1, 2, 1), (2, 2), (1, 1, 1, 1), (1, 3)])
@pytest.mark.parametrize("unranked", ["below", "anywhere"])
def test_no_tiers_and_theta_are_more_probable(distance, sizes, unranked):
    rankings = ballots(7, 4, 12, unranked)
    found = tw.fit(rankings, sizes, distance, rng=1)
    value, labels, theta = brute_force_maximum(rankings, sizes, distance)
    assert found.log_likelihood == pytest.approx(value, abs=1e-5)
    assert found.tiers.label_array(range(4)).tolist() == list(labels)
    assert found.theta == pytest.approx(theta, abs=1e-4)
    model = tw.ClusteredMallows(found.tiers, found.theta, distance)
    assert found.log_likelihood == pytest.approx(model.log_prob(rankings).sum(), abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("distance", ["kendall", "footrule"])
def test_no_round_lowers_the_likelihood(seed, distance):
    rankings = ballots(seed, 7, 40, "below" if seed % 2 else "anywhere")
    rng = np.random.default_rng(seed)
    for sizes in [(2, 3, 2), (1, 1, 2, 3)]:
        likelihood = source_of(rankings, distance).at(sizes)
        start = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
        top = climb(likelihood, start)
        assert (np.diff(top.path) > 0).all()
        assert top.value == top.path[-1] == pytest.approx(likelihood.value(top.labels, top.theta))
        best = maximise(likelihood, [start, starting_labels(likelihood, "auto", rng)])
        assert best.value >= top.value


def test_theta_is_where_the_slope_vanishes_and_its_error_comes_from_the_curvature():
    rankings = ballots(3, 6, 60)
    found = tw.fit(rankings, (2, 2, 2), rng=1)

    def value(theta):
        return tw.ClusteredMallows(found.tiers, theta).log_prob(rankings).sum()

    step = 1e-4
    slope = (value(found.theta + step) - value(found.theta - step)) / (2 * step)
    curvature = (
        value(found.theta + step) - 2 * value(found.theta) + value(found.theta - step)
    ) / step**2
    assert slope == pytest.approx(0.0, abs=1e-4)
    assert found.theta_estimate.standard_error == pytest.approx((-curvature) ** -0.5, rel=1e-3)
    low, high = found.theta_estimate.interval
    assert low < found.theta < high


def test_theta_is_infinite_if_all_answers_agree_and_zero_if_they_do_not_at_all():
    rows = [["a"], ["a", "b"], ["b"]]
    agreed = tw.Rankings.from_orderings(rows, items="abcd", unranked="below")
    found = tw.fit(agreed, (2, 2), rng=1)
    assert found.theta == inf
    # One of a and b first: a half, and the second is then certain.
    assert found.log_likelihood == pytest.approx(3 * log(0.5))
    everything = list(permutations("abc", 1))
    even = tw.Rankings.from_orderings(everything, items="abc", unranked="below")
    found = tw.fit(even, (1, 1, 1), rng=1)
    assert found.theta == 0.0
    assert found.log_likelihood == pytest.approx(3 * log(1 / 3))


def test_an_infinite_theta_has_a_lower_end_where_the_likelihood_has_fallen():
    rows = [["a"]] * 5 + [["a", "b"]] * 4 + [["b"]] * 5
    agreed = tw.Rankings.from_orderings(rows, items="abcd", unranked="below")
    found = tw.fit(agreed, (2, 2), rng=1, level=0.9)
    low, high = found.theta_estimate.interval
    assert found.theta == high == inf
    value = tw.ClusteredMallows(found.tiers, low).log_prob(agreed).sum()
    assert value == pytest.approx(found.log_likelihood + log(0.1), abs=1e-4)


def test_a_theta_lost_in_rounding_is_infinite():
    rankings = tw.Rankings.from_orderings([["a", "b"]] * 14, items="abcd", unranked="anywhere")
    found = tw.fit(rankings, (1, 1, 1, 1), rng=1)
    assert found.theta == inf
    assert 0 < found.theta_estimate.interval[0] < 10


def test_an_answer_of_weight_three_counts_as_three():
    once = ballots(5, 5, 20)
    weights = np.arange(1, 21) % 3 + 1
    rows = once.to_orderings()
    weighted = tw.Rankings.from_orderings(rows, range(5), weights, unranked="below")
    repeated = tw.Rankings.from_orderings(
        [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)],
        range(5),
        unranked="below",
    )
    one = tw.fit(weighted, (2, 3), rng=1)
    other = tw.fit(repeated, (2, 3), rng=1)
    assert one.tiers == other.tiers
    assert one.log_likelihood == pytest.approx(other.log_likelihood)
    assert one.theta == pytest.approx(other.theta)
    assert one.log_likelihood < tw.fit(once, (2, 3), rng=1).log_likelihood


@pytest.fixture
def only_drawing(monkeypatch):
    """Nothing is summed over: all incomplete answers are completed at random."""
    monkeypatch.setattr(answers_module, "MOST_COMPLETIONS", 0.5)
    monkeypatch.setattr(answers_module, "is_affordable", lambda sizes: False)
    monkeypatch.setattr(answers_module, "_are_affordable_chains", lambda *_: False)
    monkeypatch.setattr(answers_module, "_affordable", lambda able, *_: np.zeros_like(able))


@pytest.mark.thorough
@pytest.mark.parametrize("unranked", ["below", "anywhere"])
def test_drawing_finds_what_summing_finds(unranked, only_drawing, monkeypatch):
    rankings = ballots(11, 6, 80, unranked)
    source = source_of(rankings, "kendall")
    rng = np.random.default_rng(1)
    drawn = solve(source, (2, 2, 2), Settings(), rng)
    monkeypatch.undo()
    exact = solve(source, (2, 2, 2), Settings(), rng)
    assert drawn.consensus.method.startswith("stochastic")
    assert drawn.consensus.labels.tolist() == exact.consensus.labels.tolist()
    assert 0 < drawn.log_likelihood_error < 2
    assert abs(drawn.log_likelihood - exact.log_likelihood) < 6 * drawn.log_likelihood_error
    assert drawn.theta.value == pytest.approx(exact.theta.value, abs=0.03)
    assert drawn.theta.standard_error == pytest.approx(exact.theta.standard_error, rel=0.1)
    assert drawn.log_completions == pytest.approx(exact.log_completions)


def test_the_rounds_of_drawing_are_limited(only_drawing, monkeypatch):
    monkeypatch.setattr(stochastic, "MOST_ROUNDS", 3)
    found = tw.fit(ballots(2, 6, 30), (2, 4), rng=1)
    assert not found.theta_estimate.converged
    assert not found.optimal


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_fit(only_drawing):
    rankings = ballots(2, 6, 30)
    fits = [tw.fit(rankings, (2, 4), rng=seed) for seed in (1, 1, 2)]
    assert fits[0].log_likelihood == fits[1].log_likelihood
    assert fits[0].log_likelihood != fits[2].log_likelihood


@pytest.mark.parametrize("distance", ["kendall", "inversions"])
def test_climbs_that_meet_lead_to_the_top_that_each_finds_alone(distance):
    rng = np.random.default_rng(4)
    orders = [rng.permutation(5)[: rng.integers(2, 5)].tolist() for _ in range(12)]
    rankings = tw.Rankings.from_orderings(orders, items=range(5), unranked="anywhere")
    likelihood = source_of(rankings, distance).at((1, 2, 2))
    starts = [rng.permutation([0, 1, 1, 2, 2]) for _ in range(8)]
    alone = [climb(likelihood, start) for start in starts]
    together = maximise(likelihood, starts)
    assert together.value == pytest.approx(max(top.value for top in alone), rel=1e-12)
    # A climb that comes to tiers that were passed ends there.
    met = {}
    first = climb(likelihood, starts[0], met)
    again = climb(likelihood, first.labels, met)
    assert again.path == (pytest.approx(first.value, rel=1e-10),)
    assert len(met) == len(first.path)
