from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

import tierwise as tw
from tests.reference import DISTANCES
from tests.reference_incomplete import Answer, pairs_of_groups
from tierwise import InputError
from tierwise._kernels.consensus import total_cost
from tierwise.answers.drawn import DrawnCompletions
from tierwise.answers.given_sizes import Likelihood
from tierwise.answers.partial import orders_of_places, orders_of_preferences
from tierwise.distances import get_distance
from tierwise.partition.choose import partition_function

# Item 1 before the tied items 0 and 3; items 2 and 4 anywhere.
FIRST = np.array([[1, 0, -1, 1, -1]], dtype=np.int32)
PAIRS = pairs_of_groups([[1], [0, 3]])


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("proposal", ["reinsert", "refill"])
@pytest.mark.parametrize("sizes", [(1, 2, 2), (3, 2), (1, 1, 1, 1, 1)])
def test_completions_are_drawn_with_their_probabilities(distance, proposal, sizes):
    labels = np.random.default_rng(5).permutation(np.repeat(np.arange(len(sizes)), sizes))
    theta = 0.4 if distance != "spearman" else 0.1
    # Independent chains: the test of their ends needs independent draws.
    orders = orders_of_places(np.repeat(FIRST, 4000, axis=0), np.ones(4000))
    drawn = DrawnCompletions(
        orders, sizes, get_distance(distance), np.random.default_rng(1), proposal=proposal
    )
    for _ in range(30):
        drawn.sweep(labels, theta)
    found = Counter(tuple(np.argsort(places).tolist()) for places in drawn.places)
    answer = Answer(PAIRS, sizes, distance, tuple(labels), theta)
    assert set(found) <= set(answer.orderings)
    expected = np.array(answer.weights) / sum(answer.weights) * 4000
    observed = np.array([found[ordering] for ordering in answer.orderings])
    assert chisquare(observed, expected).pvalue > 1e-4


def test_preferences_are_completed_with_their_probabilities():
    pairs = [(0, 1), (2, 3), (0, 4)]
    answers = tw.Preferences(dict.fromkeys(range(3000), pairs), items=range(5))
    orders, _ = orders_of_preferences(answers)
    sizes, labels = (2, 2, 1), np.array([0, 2, 1, 0, 1])
    drawn = DrawnCompletions(
        orders, sizes, get_distance("kendall"), np.random.default_rng(2), each="assessor"
    )
    assert len(drawn.places) == 3000
    for _ in range(30):
        drawn.sweep(labels, 0.5)
    found = Counter(tuple(np.argsort(places).tolist()) for places in drawn.places)
    answer = Answer(pairs, sizes, "kendall", tuple(labels), 0.5)
    assert set(found) <= set(answer.orderings)
    expected = np.array(answer.weights) / sum(answer.weights) * 3000
    observed = np.array([found[ordering] for ordering in answer.orderings])
    assert chisquare(observed, expected).pvalue > 1e-4


@pytest.mark.parametrize("distance", DISTANCES)
def test_expected_costs_and_moments_come_close_to_exact_ones(distance):
    sizes, labels, theta = (1, 2, 2), np.array([2, 0, 1, 2, 1]), 0.3
    orders = orders_of_places(np.repeat(FIRST, 500, axis=0), np.full(500, 2.0))
    drawn = DrawnCompletions(orders, sizes, get_distance(distance), np.random.default_rng(4))
    answer = Answer(PAIRS, sizes, distance, tuple(labels), theta)
    assert drawn.variance(labels, theta) == pytest.approx(1000 * answer.variance(), rel=0.1)
    costs = drawn.expected_costs(labels, theta)
    others = np.array([0, 1, 1, 2, 2])
    expected = 1000 * answer.mean_distance_from(tuple(others))
    assert total_cost(others, costs.linear, costs.pairs) == pytest.approx(expected, rel=0.05)
    drawn.sweep(labels, theta)
    now = drawn.costs()
    total = 2.0 * drawn.distances(others).sum()
    assert total_cost(others, now.linear, now.pairs) == pytest.approx(total)


def test_the_log_weight_is_estimated_with_its_error():
    sizes, labels, theta = (1, 2, 2), np.array([2, 0, 1, 2, 1]), 0.6
    orders = orders_of_places(np.repeat(FIRST, 200, axis=0), np.ones(200))
    drawn = DrawnCompletions(orders, sizes, get_distance("kendall"), np.random.default_rng(4))
    estimate = drawn.log_weight(labels, theta)
    answer = Answer(PAIRS, sizes, "kendall", tuple(labels), theta)
    assert 0 < estimate.standard_error < 1
    assert abs(estimate - 200 * answer.log_weight()) < 6 * estimate.standard_error


def test_gains_of_other_tiers_are_estimated_with_their_errors():
    sizes, labels, theta = (1, 2, 2), np.array([2, 0, 1, 2, 1]), 0.6
    orders = orders_of_places(np.repeat(FIRST, 200, axis=0), np.ones(200))
    drawn = DrawnCompletions(orders, sizes, get_distance("kendall"), np.random.default_rng(4))
    other = np.array([2, 1, 0, 2, 1])
    (gain,) = drawn.gains(labels, theta, [other])
    before, after = (
        Answer(PAIRS, sizes, "kendall", tuple(tiers), theta).log_weight()
        for tiers in (labels, other)
    )
    assert 0 < gain.standard_error < 20
    assert abs(gain - 200 * (after - before)) < 6 * gain.standard_error


@pytest.mark.thorough
@pytest.mark.parametrize("distance", ["kendall", "inversions"])
def test_estimates_are_the_same_when_asked_again_and_leave_the_chain_as_it_is(distance):
    sizes, labels, theta = (1, 2, 2), np.array([2, 0, 1, 2, 1]), 0.6
    orders = orders_of_places(np.repeat(FIRST, 20, axis=0), np.ones(20))
    rng = np.random.default_rng(4)
    drawn = DrawnCompletions(orders, sizes, get_distance(distance), rng)
    likelihood = Likelihood((), partition_function(sizes, get_distance(distance)), drawn)
    places, state = drawn.places.copy(), rng.bit_generator.state
    asked = [
        lambda: likelihood.value(labels, theta),
        lambda: likelihood.total_distance(labels, theta),
        lambda: likelihood.information(labels, theta),
        lambda: drawn.gains(labels, theta, [np.array([2, 1, 0, 2, 1])]),
    ]
    before = [float(np.ravel(estimate())[0]) for estimate in asked]
    assert before == [float(np.ravel(estimate())[0]) for estimate in asked]
    assert np.array_equal(drawn.places, places)
    assert rng.bit_generator.state == state
    drawn.draw_costs(labels, theta)
    assert not np.array_equal(drawn.places, places)
    assert all(
        float(np.ravel(estimate())[0]) != one for estimate, one in zip(asked, before, strict=True)
    )


def test_the_same_seed_gives_the_same_completions():
    orders = orders_of_places(np.repeat(FIRST, 10, axis=0), np.ones(10))
    labels = np.array([0, 1, 0, 1, 1])
    ends = []
    for seed in (1, 1, 2):
        drawn = DrawnCompletions(
            orders, (2, 3), get_distance("kendall"), np.random.default_rng(seed)
        )
        drawn.sweep(labels, 0.2)
        ends.append(drawn.places)
    assert np.array_equal(ends[0], ends[1])
    assert not np.array_equal(ends[0], ends[2])


def test_preferences_have_no_places_to_refill():
    answers = tw.Preferences({"Ann": [("a", "b")]}, items="abc")
    orders, _ = orders_of_preferences(answers)
    with pytest.raises(InputError, match="reinsert"):
        DrawnCompletions(
            orders, (1, 2), get_distance("kendall"), np.random.default_rng(0), proposal="refill"
        )


def test_weights_that_would_overflow_leave_the_closest_completions():
    # From the order that is furthest away, at a theta that is as good as infinite.
    n_items = 20
    orders = orders_of_places(np.full((3, n_items), -1, dtype=np.int32), np.ones(3))
    sizes, labels = (1,) * n_items, np.arange(n_items)
    drawn = DrawnCompletions(orders, sizes, get_distance("kendall"), np.random.default_rng(1))
    drawn.places[:] = np.arange(n_items)[::-1]
    for _ in range(5):
        drawn.sweep(labels, 46.0)
    assert drawn.places.tolist() == [labels.tolist()] * 3
