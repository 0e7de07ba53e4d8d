"""Partition function, moments, probabilities and draws against all orderings."""

from math import inf, lgamma, log

import numpy as np
import pytest

from tests.inversions.small import chi_square_p_value
from tests.reference_inversions import (
    Model,
    compositions,
    labels_of,
    pattern_of,
    random_weak_order,
)
from tierwise.errors import InputError, TooLargeError
from tierwise.partition.gaussian import (
    distance_distribution,
    draw_orderings,
    expected_pair_inversions,
    line_moments,
    log_partition,
    log_probabilities,
    mean_distance,
    pair_probabilities,
    precedence_by_gap,
    rank_tier_probabilities,
    variance_of_distance,
)

ALL_SIZES = [sizes for n_items in range(1, 6) for sizes in compositions(n_items)]
SOME_OF_SIX = [(1, 2, 3), (2, 2, 2), (3, 3), (1, 1, 1, 1, 1, 1), (4, 1, 1), (6,)]


def thetas_to_try(sizes):
    rng = np.random.default_rng(len(sizes))
    return [0.4, rng.uniform(0.0, 1.2, len(sizes) - 1)]


@pytest.mark.parametrize("sizes", [*ALL_SIZES, *SOME_OF_SIX], ids=str)
def test_everything_against_all_orderings(sizes):
    labels = labels_of(sizes)
    rng = np.random.default_rng(1)
    for theta in thetas_to_try(sizes):
        model = Model(labels, theta)
        moments = line_moments(sizes, theta)
        assert log_partition(sizes, theta) == pytest.approx(model.log_partition(), abs=1e-12)
        np.testing.assert_allclose(moments.means, model.line_means(), atol=1e-12)
        np.testing.assert_allclose(moments.variances, model.line_variances(), atol=1e-11)
        np.testing.assert_allclose(
            rank_tier_probabilities(sizes, theta), model.rank_tiers(), atol=1e-12
        )
        np.testing.assert_allclose(pair_probabilities(sizes, theta), model.pairs(), atol=1e-12)
        expected = expected_pair_inversions(sizes, theta)
        assert expected.sum() == pytest.approx(mean_distance(sizes, theta), abs=1e-12)
        answers = [random_weak_order(len(labels), rng) for _ in range(12)]
        found = log_probabilities(
            np.array([pattern_of(blocks, len(labels)) for blocks in answers]),
            np.array(labels),
            theta,
        )
        wanted = [model.log_probability(blocks) for blocks in answers]
        np.testing.assert_allclose(found, wanted, atol=1e-11)


@pytest.mark.parametrize("sizes", [*ALL_SIZES, *SOME_OF_SIX], ids=str)
def test_number_of_orderings_at_each_distance(sizes):
    totals = Model(labels_of(sizes), 0.0).lines.sum(axis=1).astype(int)
    distribution = distance_distribution(sizes)
    assert list(distribution.counts) == np.bincount(totals).tolist()
    weights = distribution.probabilities(0.7)
    assert weights @ distribution.distances == pytest.approx(mean_distance(sizes, 0.7))


def test_values_of_pairs():
    np.testing.assert_allclose(
        pair_probabilities((2, 2, 2), 0.4)[0], [0.5, 0.65994, 0.76907], atol=5e-6
    )
    pairs = pair_probabilities((1, 2, 3), 0.4)
    np.testing.assert_allclose(
        [pairs[0, 1], pairs[0, 2], pairs[1, 2]], [0.6299, 0.76852, 0.68822], atol=5e-6
    )


def test_pairs_of_a_line_are_not_decided_by_its_mean_alone():
    """Items of worse tiers differ in where they stand behind the line."""
    theta = np.array([0.5, 0.9])
    pairs = pair_probabilities((2, 2, 2), theta)
    assert pairs[0, 1] < pairs[0, 2]
    mean = 1 - line_moments((2, 2, 2), theta).means[0] / (2 * 4)
    assert (pairs[0, 1] + pairs[0, 2]) / 2 == pytest.approx(mean)


@pytest.mark.parametrize("theta", [0.0, 1e-300, 1e-9, 1e-4, 0.5, 30.0, 700.0, inf])
@pytest.mark.parametrize(
    "sizes", [(1,) * 1000, (100,) * 10, (999, 1)], ids=["strict", "ten", "two"]
)
def test_thousand_items_at_extreme_thetas(sizes, theta):
    moments = line_moments(sizes, theta)
    assert np.isfinite(moments.log_binomials).all()
    assert (moments.means >= 0).all()
    assert (moments.variances >= 0).all()
    largest = lgamma(1001)
    assert log_partition(sizes, theta) <= largest * (1 + 1e-12)
    if theta < 1e-8:
        assert log_partition(sizes, theta) == pytest.approx(largest, rel=1e-5)
    if theta == inf:
        assert mean_distance(sizes, theta) == 0.0


def test_derivatives_of_the_partition_function():
    sizes, step = (3, 4, 2, 6), 1e-5
    for theta in (0.05, 0.6, 2.0):
        left, middle, right = (log_partition(sizes, theta + shift) for shift in (-step, 0, step))
        assert mean_distance(sizes, theta) == pytest.approx((left - right) / (2 * step), rel=1e-6)
        bend = (left - 2 * middle + right) / step**2
        assert variance_of_distance(sizes, theta) == pytest.approx(bend, rel=1e-3)


def test_pairs_near_zero_theta():
    for theta in (1e-12, 1e-7, 1e-3, 0.02):
        gaps = np.arange(5)
        direct = 0.5 + (2 * gaps + 1) * theta / 12  # the first term of the series
        found = precedence_by_gap(theta, 4)
        np.testing.assert_allclose(found[1:], direct[1:], atol=3e-2 * theta)


def test_infinite_theta():
    np.testing.assert_array_equal(
        rank_tier_probabilities((1, 2), inf), [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    )
    patterns = np.array([[0, 1, 2], [1, 0, 2], [0, 1, 1]])
    found = log_probabilities(patterns, np.array([0, 1, 1]), inf)
    np.testing.assert_allclose(found, [log(0.5), -inf, 0.0], atol=1e-14)


@pytest.mark.parametrize("theta", [0.0, 0.6, np.array([0.2, 1.1])], ids=str)
def test_draws_have_the_right_probabilities(theta):
    labels = (1, 0, 2, 1)
    model = Model(labels, theta)
    draws = draw_orderings(np.array(labels), theta, 20_000, np.random.default_rng(7))
    counted = dict.fromkeys(model.orderings, 0)
    for row in draws.tolist():
        counted[tuple(row)] += 1
    expected = 20_000 * np.array(model.probabilities)
    assert chi_square_p_value(list(counted.values()), expected) > 1e-4


def test_both_ways_to_draw_agree_in_the_mean():
    labels = np.repeat(np.arange(5), 6)
    rng = np.random.default_rng(3)
    sizes = (6,) * 5
    for theta in (0.1, np.full(4, 0.1)):
        draws = draw_orderings(labels, theta, 4000, rng)
        places = np.argsort(draws, axis=1)
        by_line = log_probabilities(places, labels, 0.1) - log_probabilities(places, labels, 0.0)
        log_ratio = log_partition(sizes, 0.0) - log_partition(sizes, 0.1)
        distance = (log_ratio - by_line) / 0.1
        error = np.sqrt(variance_of_distance(sizes, 0.1) / 4000)
        assert abs(distance.mean() - mean_distance(sizes, 0.1)) < 4.5 * error


def test_wrong_thetas_are_refused():
    with pytest.raises(InputError, match="0 or more"):
        log_partition((1, 1), -0.1)
    with pytest.raises(InputError, match="one for each tier but the last"):
        log_partition((1, 1), [0.1, 0.2])
    with pytest.raises(TooLargeError, match="limited to"):
        distance_distribution((1,) * 301)
