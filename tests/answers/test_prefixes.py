"""Many lists of some items, all others anywhere: sums share what answers begin with."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import chisquare

import tierwise as tw
from tests.answers.test_interleaved import chains, places_of
from tests.reference_incomplete import Answer, pairs_of_groups
from tierwise._kernels.consensus import total_cost
from tierwise.answers.blockwise import BlockwiseAnswers
from tierwise.answers.interleaved import (
    DRAWS,
    SharedInterleavings,
    are_affordable,
    work_of_shared,
)
from tierwise.answers.likelihood import source_of
from tierwise.distances import get_distance

# Under inversions such answers are summed over in another way.
DISTANCES = ("kendall", "hamming", "footrule", "spearman")


def answer_of(order, sizes, distance, labels, theta):
    return Answer(pairs_of_groups([[item] for item in order]), sizes, distance, labels, theta)


@given(chains(distances=DISTANCES))
def test_sums_are_those_of_brute_force(case):
    sizes, labels, orders, distance, theta = case
    weights = np.arange(1.0, len(orders) + 1)
    found = SharedInterleavings(places_of(orders, 5), weights, sizes, get_distance(distance))
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
    _, first, weights = ballots(3, 6, 150)
    labels = np.random.default_rng(1).permutation(np.repeat(np.arange(len(sizes)), sizes))
    measure = get_distance(distance)
    shared = SharedInterleavings(first, weights, sizes, measure)
    single = BlockwiseAnswers(first, weights, sizes, measure)
    assert shared.log_weights(labels, theta) == pytest.approx(single.log_weights(labels, theta))
    assert shared.sums(labels, theta).variance == pytest.approx(
        single.sums(labels, theta).variance, rel=1e-6, abs=1e-6
    )
    drawn, exact = shared.expected_costs(labels, theta), single.expected_costs(labels, theta)
    total = total_cost(labels, exact.linear, exact.pairs)
    # The drawn mean distance is off by its spread over the root of the number of draws.
    error = np.sqrt(single.sums(labels, theta).variance * weights.sum() / DRAWS)
    assert abs(total_cost(labels, drawn.linear, drawn.pairs) - total) <= 6 * error + 1e-6 * total


@pytest.mark.parametrize("sizes", [(1, 2, 2), (1,) * 5, (3, 2)])
def test_completions_are_drawn_with_their_probabilities(sizes, monkeypatch):
    order, theta, n_draws = [3, 0], 0.4, 4000
    labels = np.random.default_rng(5).permutation(np.repeat(np.arange(len(sizes)), sizes))
    blocks_drawn = []
    from tierwise.answers import interleaved

    count = interleaved.add_place_counts
    monkeypatch.setattr(interleaved, "DRAWS", n_draws)
    monkeypatch.setattr(
        interleaved, "add_place_counts", lambda *args: (blocks_drawn.append(args[0]), count(*args))
    )
    answers = SharedInterleavings(places_of([order], 5), np.ones(1), sizes, get_distance("kendall"))
    answers.expected_costs(labels, theta)
    found = Counter(map(tuple, blocks_drawn[0].tolist()))
    answer = answer_of(order, sizes, "kendall", tuple(labels), theta)
    block_of_place = np.repeat(np.arange(len(sizes)), sizes)
    expected = Counter()
    for ordering, weight in zip(answer.orderings, answer.weights, strict=True):
        expected[tuple(block_of_place[np.argsort(ordering)].tolist())] += weight
    assert set(found) <= set(expected)
    observed = [found[blocks] for blocks in expected]
    probable = np.array(list(expected.values())) / sum(expected.values()) * n_draws
    assert chisquare(observed, probable).pvalue > 1e-4


def test_answers_are_summed_over_together_where_that_is_less_work():
    orders, first, _ = ballots(1, 8, 300)
    rankings = tw.Rankings(range(8), first, unranked="anywhere")
    source = source_of(rankings, "kendall")
    kinds = {
        most_work: {type(part) for part in source.at((1,) * 8, most_work=most_work).parts}
        for most_work in (0.0, 1e12)
    }
    assert SharedInterleavings in kinds[0.0]
    assert BlockwiseAnswers in kinds[1e12]
    assert are_affordable(first, (1,) * 8)
    assert not are_affordable(np.full((1, 25), -1, dtype=np.int32), (1,) * 25)
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
    assert any(isinstance(part, SharedInterleavings) for part in kinds)
    found = tw.fit(partial, sizes, rng=1)
    assert found.tiers == model.tiers
    assert found.log_likelihood_error == 0.0
    assert abs(found.theta - 0.5) < 4 * found.theta_estimate.standard_error
