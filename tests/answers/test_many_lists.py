"""Many lists of some items, all others anywhere: sums share what answers end with."""

import numpy as np
import pytest
from hypothesis import given

import tierwise as tw
from tests.answers.test_interleaved import chains, places_of
from tests.reference import DISTANCES
from tests.reference_incomplete import Answer, pairs_of_groups
from tierwise._kernels.consensus import total_cost
from tierwise.answers import blockwise
from tierwise.answers.blockwise import DRAWS, BlockwiseAnswers, work_of, work_of_shared
from tierwise.answers.likelihood import source_of
from tierwise.distances import get_distance


def answer_of(order, sizes, distance, labels, theta):
    return Answer(pairs_of_groups([[item] for item in order]), sizes, distance, labels, theta)


@given(chains())
def test_sums_are_those_of_brute_force(case):
    sizes, labels, orders, distance, theta = case
    weights = np.arange(1.0, len(orders) + 1)
    found = BlockwiseAnswers(places_of(orders, 5), weights, sizes, get_distance(distance))
    theta = min(theta, 5.0)
    answers = [answer_of(order, sizes, distance, tuple(labels), theta) for order in orders]
    assert found.log_weights(labels, theta) == pytest.approx(
        [answer.log_weight() for answer in answers], abs=1e-9
    )
    sums = found.sums(labels, theta)
    assert sums.mean == pytest.approx(weights @ [answer.mean() for answer in answers], abs=1e-9)
    assert sums.variance == pytest.approx(
        weights @ [answer.variance() for answer in answers], abs=1e-7
    )


def ballots(seed, n_items, number):
    """Lists of different lengths; many begin alike, and some are the beginning of others."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(n_items)[: rng.integers(1, n_items + 1)] for _ in range(number)]
    return orders, places_of(orders, n_items), rng.integers(1, 4, number).astype(np.float64)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("sizes", [(1, 2, 3), (2, 2, 2), (1,) * 6, (5, 1)])
@pytest.mark.parametrize("theta", [0.0, 0.4, 60.0])
def test_many_answers_are_summed_over_as_if_one_by_one(distance, sizes, theta):
    _, first, weights = ballots(3, 6, 40)
    labels = np.random.default_rng(1).permutation(np.repeat(np.arange(len(sizes)), sizes))
    measure = get_distance(distance)
    together = BlockwiseAnswers(first, weights, sizes, measure)
    single = [
        BlockwiseAnswers(first[[row]], weights[[row]], sizes, measure) for row in range(len(first))
    ]
    logs = [answer.log_weights(labels, theta)[0] for answer in single]
    assert together.log_weights(labels, theta) == pytest.approx(logs)
    assert together.sums(labels, theta).variance == pytest.approx(
        sum(answer.sums(labels, theta).variance for answer in single), rel=1e-6, abs=1e-6
    )
    costs = together.expected_costs(labels, theta)
    expected = [answer.expected_costs(labels, theta) for answer in single]
    assert costs.linear == pytest.approx(sum(one.linear for one in expected), abs=1e-7)
    assert costs.pairs == pytest.approx(sum(one.pairs for one in expected), abs=1e-7)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("sizes", [(1, 2, 3), (2, 2, 2), (1,) * 6, (5, 1)])
@pytest.mark.parametrize("theta", [0.0, 0.4, 60.0])
def test_completions_are_drawn_where_there_are_too_many(distance, sizes, theta, monkeypatch):
    _, first, weights = ballots(3, 6, 150)
    labels = np.random.default_rng(1).permutation(np.repeat(np.arange(len(sizes)), sizes))
    exact = BlockwiseAnswers(first, weights, sizes, get_distance(distance))
    monkeypatch.setattr(blockwise, "MOST_COUNTED", 0)
    drawn = BlockwiseAnswers(first, weights, sizes, get_distance(distance))
    found, expected = drawn.expected_costs(labels, theta), exact.expected_costs(labels, theta)
    total = total_cost(labels, expected.linear, expected.pairs)
    # The drawn mean distance is off by its spread over the root of the number of draws.
    error = np.sqrt(exact.sums(labels, theta).variance * weights.sum() / DRAWS)
    assert abs(total_cost(labels, found.linear, found.pairs) - total) <= 6 * error + 1e-6 * total
    # So is the expected number of answers that have an item in a block, or before another.
    largest = 6 * np.sqrt(weights.sum() * weights.sum() / DRAWS) * distance_of_one(exact)
    assert np.abs(found.linear - expected.linear).max(initial=0.0) <= largest
    assert np.abs(found.pairs - expected.pairs).max(initial=0.0) <= largest
    assert drawn.expected_costs(labels, theta).pairs.tolist() == found.pairs.tolist()


def distance_of_one(answers):
    """Most that one item, or a pair, may cost."""
    rule = answers.rule
    return rule.unit * max(rule.misplaced, rule.tied, int(rule.placing.max()))


def test_answers_are_summed_over_together_where_that_is_less_work():
    orders, first, _ = ballots(1, 8, 300)
    rankings = tw.Rankings(range(8), first, unranked="anywhere")
    for most_work in (0.0, 1e12):
        parts = source_of(rankings, "kendall").at((1,) * 8, most_work=most_work).parts
        assert BlockwiseAnswers in {type(part) for part in parts}
    assert work_of_shared(first, (1,) * 8) < work_of(first, (1,) * 8).sum()
    assert work_of_shared(np.full((1, 25), -1, dtype=np.int32), (1,) * 25) == np.inf
    assert work_of_shared(first, (1,) * 8) > work_of_shared(first, (4, 4))
    assert len(orders) == 300


@pytest.mark.slow
def test_a_fit_of_many_ballots_finds_the_tiers():
    sizes = (1, 1, 1, 1, 1, 2, 2)
    model = tw.ClusteredMallows(tw.Tiers.from_sizes(sizes, range(9)), 0.5)
    complete = model.sample(4000, rng=1)
    places = complete.patterns[complete.pattern_of]
    shown = np.random.default_rng(3).random(places.shape) < 0.5
    shown[:, 0] = True
    ranks = np.argsort(np.argsort(np.where(shown, places, 9 + places), axis=1), axis=1)
    partial = tw.Rankings(
        complete.items, np.where(shown, ranks, -1).astype(np.int32), unranked="anywhere"
    )
    kinds = source_of(partial, "kendall").at(sizes).parts
    assert any(isinstance(part, BlockwiseAnswers) for part in kinds)
    found = tw.fit(partial, sizes, rng=1)
    assert found.tiers == model.tiers
    assert found.log_likelihood_error == 0.0
    assert abs(found.theta - 0.5) < 4 * found.theta_estimate.standard_error


def test_answers_that_a_group_does_not_have_cost_nothing():
    first = places_of([[0, 1], [2, 3, 1]], 5)
    found = BlockwiseAnswers(first, np.zeros(2), (2, 3), get_distance("kendall"))
    costs = found.expected_costs(np.array([0, 0, 1, 1, 1]), 0.5)
    assert not costs.linear.any()
    assert not costs.pairs.any()


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("sizes", [(1, 2, 2, 2), (2, 1, 4), (1, 2, 1, 3)])
def test_answers_that_end_with_the_same_ties_may_leave_more_or_fewer_items_open(distance, sizes):
    """States within a tied group, shared by answers, are those of the answer with most free."""
    rng, n_items = np.random.default_rng(1), 7
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    groups = rng.integers(3, size=(80, n_items)).astype(np.int32)
    groups[rng.random(groups.shape) < 0.3] = -1
    # The first place of a group is the number of items listed above it.
    above = (groups[:, None, :] < groups[:, :, None]) & (groups[:, None, :] >= 0)
    first = np.where(groups >= 0, above.sum(axis=2), -1).astype(np.int32)
    first = np.unique(first[(first >= 0).sum(axis=1) > 1], axis=0)
    part = BlockwiseAnswers(first, np.ones(len(first)), sizes, get_distance(distance))
    alone = [
        BlockwiseAnswers(row[None], np.ones(1), sizes, get_distance(distance)) for row in first
    ]
    logs = part.log_weights(labels, 0.4)
    assert logs == pytest.approx([one.log_weights(labels, 0.4)[0] for one in alone], abs=1e-9)
    assert part.sums(labels, 0.4).mean == pytest.approx(
        sum(one.sums(labels, 0.4).mean for one in alone)
    )
    given_tiers, summed = part.given(labels).sums(0.4), part.sums(labels, 0.4)
    assert given_tiers.log_weight == pytest.approx(summed.log_weight, rel=1e-12)
    assert given_tiers.mean == pytest.approx(summed.mean, rel=1e-9)
    assert given_tiers.variance == pytest.approx(summed.variance, rel=1e-7)
    costs = part.expected_costs(labels, 0.4)
    expected = sum(one.expected_costs(labels, 0.4).pairs for one in alone)
    assert costs.pairs == pytest.approx(expected, abs=1e-9)
    for row in range(0, len(first), 20):
        ordered = [np.flatnonzero(first[row] == place).tolist() for place in range(n_items)]
        pairs = pairs_of_groups([group for group in ordered if group])
        answer = Answer(pairs, sizes, distance, tuple(labels), 0.4)
        assert logs[row] == pytest.approx(answer.log_weight(), abs=1e-9)
