from dataclasses import replace
from itertools import combinations, permutations
from math import exp, log

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

import tierwise as tw
from tests.reference import BLOCK_DISTANCES, DISTANCES
from tierwise import InputError
from tierwise._kernels.consensus import total_cost
from tierwise.answers import likelihood
from tierwise.answers.likelihood import source_of
from tierwise.answers.votes import DrawnVotes, SummedVotes, can_be_summed, votes_of
from tierwise.distances import get_distance
from tierwise.fitting.solve import Settings, solve

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
            exp(-theta * DISTANCES[distance](ordering, labels, sizes))
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


REPEATED = [*CYCLE, ("Ann", "a", "b"), ("Ann", "b", "a"), *[("Bob", "d", "c")] * 3]
SAID = [[(0, 1), (1, 2), (2, 0), (0, 1), (1, 0)], [(0, 3), *[(3, 2)] * 3]]


@pytest.mark.parametrize("distance", BLOCK_DISTANCES)
def test_votes_are_summed_over_all_orderings(distance):
    votes = votes_of(tw.Preferences.from_pairs(REPEATED, items="abcd", cycles="keep"))
    sizes, labels, theta = (1, 2, 1), np.array([1, 0, 2, 1]), 0.6
    summed = SummedVotes(votes, sizes, get_distance(distance), 0.2)
    expected = [log_weight(pairs, tuple(labels), sizes, theta, 0.2, distance) for pairs in SAID]
    assert summed.log_weights(labels, theta) == pytest.approx(expected)
    sums = summed.sums(labels, theta)
    assert sums.log_weight == pytest.approx(sum(expected))
    step = 1e-5
    below, above = (summed.sums(labels, theta + shift).log_weight for shift in (-step, step))
    assert sums.mean == pytest.approx((below - above) / (2 * step), rel=1e-6)
    costs = summed.expected_costs(labels, theta)
    assert total_cost(labels, costs.linear, costs.pairs) == pytest.approx(sums.mean)


@pytest.mark.parametrize("distance", ["kendall", "footrule"])
def test_moments_are_derivatives_of_the_likelihood(distance):
    votes = votes_of(tw.Preferences.from_pairs(REPEATED, items="abcd", cycles="keep"))
    sizes, labels = (1, 2, 1), np.array([1, 0, 2, 1])

    def value(theta, log_odds):
        mistake = 1 / (1 + exp(-log_odds))
        logs = [log_weight(pairs, tuple(labels), sizes, theta, mistake, distance) for pairs in SAID]
        # Leave out what does not depend on the ordering.
        return sum(logs) - sum(map(len, SAID)) * log(1 - mistake)

    theta, log_odds, step = 0.6, log(0.2 / 0.8), 1e-4
    moments = SummedVotes(votes, sizes, get_distance(distance), 0.2).moments(labels, theta)
    slopes = [
        value(theta - step, log_odds) - value(theta + step, log_odds),
        value(theta, log_odds + step) - value(theta, log_odds - step),
    ]
    assert moments[:2] == pytest.approx(np.array(slopes) / (2 * step), rel=1e-6)
    middle = value(theta, log_odds)
    curvatures = [
        value(theta + step, log_odds) + value(theta - step, log_odds) - 2 * middle,
        (
            value(theta - step, log_odds + step)
            + value(theta + step, log_odds - step)
            - value(theta + step, log_odds + step)
            - value(theta - step, log_odds - step)
        )
        / 4,
        value(theta, log_odds + step) + value(theta, log_odds - step) - 2 * middle,
    ]
    assert moments[2:] == pytest.approx(np.array(curvatures) / step**2, rel=1e-4, abs=1e-5)


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


def test_the_interval_is_where_the_likelihood_is_not_much_lower():
    preferences, sizes = simulated(4, 80, theta=0.9, mistake=0.15, seed=3)
    found = tw.fit(preferences, sizes, rng=1)
    labels = tuple(found.tiers.label_array(range(4)).tolist())
    answers = [preferences.pairs(assessor) for assessor in preferences.assessors]

    def value(theta, mistake):
        log_partition = log_weight([], labels, sizes, theta, 0.5)
        logs = (log_weight(pairs, labels, sizes, theta, mistake) for pairs in answers)
        return sum(logs) - len(answers) * log_partition

    def best(function):
        return -minimize_scalar(lambda x: -function(x), bounds=(1e-6, 8), method="bounded").fun

    assert best(lambda theta: value(theta, found.mistake_probability)) == pytest.approx(
        found.log_likelihood, abs=1e-4
    )
    drop = 1.959964**2 / 2
    for end in found.mistake_interval:
        lower = best(lambda theta, end=end: value(theta, end))
        assert found.log_likelihood - lower == pytest.approx(drop, abs=0.02)
    # Where theta is given, the mistake probability has its best value for it.
    for end in found.theta_estimate.interval:
        lower = -minimize_scalar(
            lambda mistake, end=end: -value(end, mistake), bounds=(1e-6, 0.5), method="bounded"
        ).fun
        assert found.log_likelihood - lower == pytest.approx(drop, abs=0.05)


def test_the_standard_error_of_theta_is_that_of_both_unknowns():
    preferences, sizes = simulated(4, 200, theta=0.9, mistake=0.15, seed=5)
    found = tw.fit(preferences, sizes, rng=1)
    labels = found.tiers.label_array(range(4))
    votes = votes_of(preferences)

    def value(parameters):
        theta, log_odds = parameters
        summed = SummedVotes(votes, sizes, get_distance("kendall"), 1 / (1 + exp(-log_odds)))
        log_partition = log_weight([], tuple(labels), sizes, theta, 0.5)
        return summed.sums(labels, theta).log_weight - 200 * log_partition

    mistake = found.mistake_probability
    top = np.array([found.theta, log(mistake / (1 - mistake))])
    steps = 1e-3 * np.eye(2)
    hessian = [
        [
            value(top + one + two)
            + value(top - one - two)
            - value(top + one - two)
            - value(top - one + two)
            for two in steps
        ]
        for one in steps
    ]
    errors = np.sqrt(np.diag(np.linalg.inv(-np.array(hessian) / 4e-6)))
    assert found.theta_estimate.standard_error == pytest.approx(errors[0], rel=1e-3)
    assert errors[0] > 1.05 / np.sqrt(-hessian[0][0] / 4e-6)


@pytest.mark.slow
def test_estimates_are_right_on_the_average():
    """Repeated answers count as often as they were given: else mistakes would be overrated."""
    rng = np.random.default_rng(7)
    sizes, found = (1, 2, 2), []
    model = tw.ClusteredMallows(tw.Tiers.from_sizes(sizes, range(5)), 0.7)
    for _ in range(60):
        rows = []
        for judge, row in enumerate(model.sample(100, rng).to_orderings()):
            for _ in range(4):
                first, second = sorted(rng.choice(5, size=2, replace=False).tolist())
                pair = (row[first], row[second])
                rows.append((judge, *(pair[::-1] if rng.random() < 0.1 else pair)))
        votes = tw.Preferences.from_pairs(rows, items=range(5), cycles="keep")
        found.append(solve(source_of(votes, "kendall"), sizes, Settings(), rng))
    estimates = np.array([solution.mistake_probability for solution in found])
    assert abs(estimates.mean() - 0.1) < 6 * estimates.std() / np.sqrt(60)
    inside = [
        solution.mistake_interval[0] < 0.1 < solution.mistake_interval[1] for solution in found
    ]
    assert sum(inside) >= 43
    inside = [solution.theta.interval[0] < 0.7 < solution.theta.interval[1] for solution in found]
    assert sum(inside) >= 43


@pytest.mark.slow
def test_drawing_finds_what_summing_finds(monkeypatch):
    preferences, sizes = simulated(5, 30, theta=0.8, mistake=0.1, seed=2)
    exact = tw.fit(preferences, sizes, rng=1)
    monkeypatch.setattr(likelihood, "votes_can_be_summed", lambda votes: False)
    drawn = tw.fit(preferences, sizes, rng=1)
    assert drawn.method.startswith("stochastic")
    assert drawn.tiers == exact.tiers
    assert drawn.mistake_probability == pytest.approx(exact.mistake_probability, abs=0.02)
    assert drawn.mistake_interval == pytest.approx(exact.mistake_interval, abs=0.02)
    assert drawn.theta == pytest.approx(exact.theta, abs=0.1)
    (low, high), (exact_low, exact_high) = (fit.theta_estimate.interval for fit in (drawn, exact))
    assert low == pytest.approx(exact_low, abs=0.15)
    assert exact_high == np.inf
    assert high > 2.0
    assert drawn.theta_estimate.standard_error == pytest.approx(
        exact.theta_estimate.standard_error, rel=0.3
    )
    assert abs(drawn.log_likelihood - exact.log_likelihood) < (6 * drawn.log_likelihood_error + 0.2)


def test_only_few_items_are_summed_over():
    assert can_be_summed(votes_of(simulated(6, 30, 0.5, 0.1, seed=1)[0]))
    few = votes_of(
        tw.Preferences.from_pairs(CYCLE, items=[*"abcd", *range(6)], cycles="keep").with_answers(
            np.ones((1, 10, 10), dtype=np.int32)
        )
    )
    assert not can_be_summed(few)


@pytest.mark.parametrize("distance", BLOCK_DISTANCES)
@pytest.mark.parametrize(
    ("sizes", "labels"), [((1, 3), [1, 0, 1, 1]), ((1, 1, 1, 1), [2, 0, 3, 1])]
)
def test_orderings_are_drawn_in_spite_of_cycles(distance, sizes, labels):
    preferences = tw.Preferences.from_pairs(REPEATED, items="abcd", cycles="keep")
    one, many = votes_of(preferences), votes_of(preferences)
    many = replace(many, said=np.repeat(one.said, 1000, axis=0), weights=np.ones(2000))
    labels, theta = np.array(labels), 0.3
    drawn = DrawnVotes(many, sizes, get_distance(distance), np.random.default_rng(1), 0.2)
    exact = SummedVotes(one, sizes, get_distance(distance), 0.2).moments(labels, theta)
    found = np.array(drawn.moments(labels, theta))
    # Each of the 2000 chains stands for at least one independent draw.
    assert abs(found[0] - 1000 * exact.distance) < 6 * np.sqrt(1000 * exact.distance_variance)
    assert abs(found[1] - 1000 * exact.mistakes) < 6 * np.sqrt(1000 * exact.mistakes_variance)
    assert found[2:] == pytest.approx(1000 * np.array(exact[2:]), rel=0.1, abs=40)


def test_the_weight_of_drawn_orderings_is_estimated():
    votes = votes_of(tw.Preferences.from_pairs(CYCLE[:3], items="abc", cycles="keep"))
    many = replace(votes, said=np.repeat(votes.said, 2000, axis=0), weights=np.ones(2000))
    sizes, labels, theta = (1, 2), np.array([1, 0, 1]), 0.5
    drawn = DrawnVotes(many, sizes, get_distance("kendall"), np.random.default_rng(1), 0.2)
    exact = SummedVotes(votes, sizes, get_distance("kendall"), 0.2)
    assert drawn.moments(labels, theta).mistakes == pytest.approx(
        2000 * exact.moments(labels, theta).mistakes, rel=0.02
    )
    estimate = drawn.log_weight(labels, theta)
    assert abs(estimate - 2000 * exact.log_weights(labels, theta)[0]) < (
        6 * estimate.standard_error
    )


def test_the_mistake_probability_is_learned_from_orderings_drawn():
    preferences, sizes = simulated(5, 300, theta=0.8, mistake=0.1, seed=2)
    drawn = DrawnVotes(
        votes_of(preferences), sizes, get_distance("kendall"), np.random.default_rng(1), 0.4
    )
    labels = np.repeat(np.arange(2), sizes)
    for _ in range(40):
        drawn.sweep(labels, 0.8)
        assert drawn.adapt(labels, 0.8, 0.5) < 0.5
    assert drawn.mistake_probability == pytest.approx(0.1, abs=0.04)
    before = drawn.mistake_probability
    assert drawn.adapt(labels, 0.8, 0.0) == 0.0
    assert drawn.mistake_probability == before


def test_answers_that_tell_nothing_are_said_to_tell_nothing():
    rows = [(judge, *pair) for judge, pair in enumerate([("a", "b"), ("b", "a"), ("c", "a")] * 5)]
    found = tw.fit(tw.Preferences.from_pairs(rows, items="abcd", cycles="keep"), (2, 2), rng=1)
    low, high = found.mistake_interval
    assert low == 0.0
    assert high > 0.3
    assert "hardly distinguish" in found.summary()
    assert found.to_dict()["mistake_interval"] == [low, high]
    sure, sizes = simulated(5, 300, theta=0.7, mistake=0.1, seed=1)
    assert "hardly distinguish" not in tw.fit(sure, sizes, rng=1).summary()


def test_answers_without_contradictions_may_all_be_right():
    preferences, sizes = simulated(5, 40, theta=0.7, mistake=0.0, seed=1)
    found = tw.fit(preferences, sizes, rng=1)
    assert found.mistake_probability < 0.001
    assert found.mistake_interval[0] == 0.0
    assert found.mistake_interval[1] < 0.05
    right = tw.Preferences({name: preferences.pairs(name) for name in preferences.assessors})
    assert found.theta == pytest.approx(tw.fit(right, sizes, rng=1).theta, abs=0.01)


def test_repeated_answers_count():
    kept = tw.Preferences.from_pairs(REPEATED, items="abcd", cycles="keep")
    assert kept.pairs("Bob") == [("a", "d"), *[("d", "c")] * 3]
    assert kept.times.sum() == len(REPEATED)
    assert str(len(REPEATED)) in repr(kept)
    assert kept != tw.Preferences.from_pairs(dict.fromkeys(REPEATED), items="abcd", cycles="keep")
    once = tw.Preferences.from_pairs([("Ann", "a", "b")] * 2)
    assert once.times is None
    assert once == tw.Preferences.from_pairs([("Ann", "a", "b")])


@pytest.mark.parametrize(
    ("kind", "cycles"),
    [
        ("nonparametric", "keep"),
        pytest.param("parametric", "error", marks=pytest.mark.slow),
        pytest.param("nonparametric", "error", marks=pytest.mark.slow),
        pytest.param("parametric", "keep", marks=pytest.mark.slow),
    ],
)
def test_preferences_are_resampled(kind, cycles):
    answered, sizes = simulated(5, 150, theta=0.8, mistake=0.1 * (cycles == "keep"), seed=2)
    answers = {name: answered.pairs(name) for name in answered.assessors}
    preferences = tw.Preferences(answers, items=range(5), cycles=cycles)
    fit = tw.fit(preferences, sizes, rng=1)
    again = tw.bootstrap(preferences, fit, replicates=30, kind=kind, workers=1, rng=1)
    assert again.thetas.std() == pytest.approx(fit.theta_estimate.standard_error, rel=0.8)
    assert abs(again.thetas.mean() - fit.theta) < 6 * fit.theta_estimate.standard_error
    assert again.tier_probabilities()[0, 0] > 0.5


def test_sizes_are_searched_for_in_spite_of_mistakes():
    preferences, sizes = simulated(4, 150, theta=1.2, mistake=0.1, seed=2)
    found = tw.search(
        preferences, rng=1, workers=1, progress="off", distance="kendall", criterion="likelihood"
    )
    assert found.best.sizes == sizes


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
