from itertools import combinations, permutations
from math import exp, log

import numpy as np
import pytest
from scipy.optimize import minimize

import tierwise as tw
from tests.reference import DISTANCES as NAIVE_DISTANCES
from tierwise import InputError
from tierwise._kernels.objective import total_cost
from tierwise.distances import get_distance
from tierwise.incomplete import mistakes
from tierwise.incomplete.votes import DrawnVotes, SummedVotes, votes_of

CYCLE = [("Ann", "a", "b"), ("Ann", "b", "c"), ("Ann", "c", "a"), ("Bob", "a", "d")]


def chance(pairs, ordering, mistake):
    """Probability of pairwise answers of somebody with an ordering in mind."""
    result = 1.0
    for preferred, other in pairs:
        right = ordering.index(preferred) < ordering.index(other)
        result *= 1 - mistake if right else mistake
    return result


def log_weight(pairs, labels, sizes, theta, mistake, distance="kendall"):
    return log(
        sum(
            exp(-theta * NAIVE_DISTANCES[distance](ordering, labels, sizes))
            * chance(pairs, ordering, mistake)
            for ordering in permutations(range(sum(sizes)))
        )
    )


def simulated(n_items, n_assessors, theta, mistake, seed):
    """Answers to some pairs by assessors who draw an ordering and make mistakes."""
    rng = np.random.default_rng(seed)
    sizes = (2, n_items - 2)
    model = tw.ClusteredMallows(tw.Tiers.from_sizes(sizes, range(n_items)), theta)
    rows = []
    for assessor, ordering in enumerate(model.sample(n_assessors, rng).to_orderings()):
        for first, second in combinations(ordering, 2):
            if rng.random() < 0.8:
                wrong = rng.random() < mistake
                rows.append((assessor, *((second, first) if wrong else (first, second))))
    return tw.Preferences.from_pairs(rows, items=range(n_items), cycles="keep"), sizes


@pytest.mark.parametrize("distance", ["kendall", "hamming", "footrule", "spearman"])
def test_votes_are_summed_over_all_orderings(distance):
    votes = votes_of(tw.Preferences.from_pairs(CYCLE, items="abcd", cycles="keep"))
    sizes, labels, theta = (1, 2, 1), np.array([1, 0, 2, 1]), 0.6
    summed = SummedVotes(votes, sizes, get_distance(distance), 0.2)
    answers = [[(0, 1), (1, 2), (2, 0)], [(0, 3)]]
    expected = [log_weight(pairs, tuple(labels), sizes, theta, 0.2, distance) for pairs in answers]
    assert summed.log_weights(labels, theta) == pytest.approx(expected)
    sums = summed.sums(labels, theta)
    assert sums.log_weight == pytest.approx(sum(expected))
    step = 1e-5
    below, above = (summed.sums(labels, theta + shift).log_weight for shift in (-step, step))
    assert sums.mean == pytest.approx((below - above) / (2 * step), rel=1e-6)
    costs = summed.expected_costs(labels, theta)
    assert total_cost(labels, costs.linear, costs.pairs) == pytest.approx(sums.mean)


def test_tiers_theta_and_mistakes_are_the_most_probable():
    preferences, sizes = simulated(4, 12, theta=0.8, mistake=0.15, seed=3)
    answers = [np.argwhere(said).tolist() for said in preferences.closure]
    best = -np.inf
    for labels in set(permutations(np.repeat(np.arange(2), sizes).tolist())):

        def negative(parameters, labels=labels):
            theta, mistake = parameters
            log_partition = log_weight([], labels, sizes, theta, 0.5)
            return -sum(
                log_weight(pairs, labels, sizes, theta, mistake) - log_partition
                for pairs in answers
            )

        found = minimize(negative, (0.5, 0.1), bounds=[(1e-6, 10), (1e-6, 0.5)])
        best = max(best, -found.fun)
    found = tw.fit(preferences, sizes, rng=1)
    assert found.log_likelihood == pytest.approx(best, abs=1e-4)
    assert 0 < found.mistake_probability < 0.5
    assert found.to_dict()["mistake_probability"] == found.mistake_probability


def test_the_mistake_probability_is_recovered():
    preferences, sizes = simulated(5, 300, theta=0.7, mistake=0.1, seed=1)
    found = tw.fit(preferences, sizes, rng=1)
    assert found.tiers == tw.Tiers.from_sizes(sizes, range(5))
    assert found.mistake_probability == pytest.approx(0.1, abs=0.03)
    assert found.theta == pytest.approx(0.7, abs=0.15)


def test_drawing_finds_what_summing_finds(monkeypatch):
    preferences, sizes = simulated(5, 30, theta=0.8, mistake=0.1, seed=2)
    exact = tw.fit(preferences, sizes, rng=1)
    monkeypatch.setattr(mistakes, "MOST_ITEMS_FOR_ALL_ORDERINGS", 4)
    drawn = tw.fit(preferences, sizes, rng=1)
    assert drawn.method.startswith("stochastic")
    assert drawn.tiers == exact.tiers
    assert drawn.mistake_probability == pytest.approx(exact.mistake_probability, abs=0.02)
    assert drawn.theta == pytest.approx(exact.theta, abs=0.1)
    assert abs(drawn.log_likelihood - exact.log_likelihood) < (6 * drawn.log_likelihood_error + 0.2)


def test_orderings_are_drawn_in_spite_of_cycles():
    votes = votes_of(tw.Preferences.from_pairs(CYCLE[:3], items="abc", cycles="keep"))
    many = votes._replace(said=np.repeat(votes.said, 2000, axis=0), weights=np.ones(2000))
    sizes, labels, theta = (1, 2), np.array([1, 0, 1]), 0.5
    drawn = DrawnVotes(many, sizes, get_distance("kendall"), np.random.default_rng(1), 0.2)
    exact = SummedVotes(votes, sizes, get_distance("kendall"), 0.2)
    assert drawn.expected_mistakes(labels, theta) == pytest.approx(
        2000 * exact.expected_mistakes(labels, theta), rel=0.02
    )
    estimate = drawn.log_weight(labels, theta)
    assert abs(estimate - 2000 * exact.log_weights(labels, theta)[0]) < (
        6 * estimate.standard_error
    )


def test_cycles_are_refused_unless_kept():
    with pytest.raises(InputError, match="cycles"):
        tw.Preferences.from_pairs(CYCLE)
    kept = tw.Preferences.from_pairs(CYCLE, cycles="keep")
    assert "mistaken" in repr(kept)
    assert kept.pairs("Ann") == [("a", "b"), ("b", "c"), ("c", "a")]
    assert kept != tw.Preferences.from_pairs(CYCLE[1:], cycles="keep")
    model = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c", "d"]]), 0.5)
    with pytest.raises(InputError, match="mistaken"):
        model.log_prob(kept)
    with pytest.raises(InputError, match="keep"):
        tw.Preferences.from_pairs(CYCLE, cycles="drop")
