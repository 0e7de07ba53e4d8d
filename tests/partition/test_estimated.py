"""Estimated partition functions: right within their standard errors, and honest about them."""

import numpy as np
import pytest

from tests.reference import BLOCK_DISTANCES
from tierwise.partition.choose import log_partition, partition_function

# A normal variable is further out than this once in five hundred million times; t variables with
# 15 degrees of freedom (16 chains) once in a million beyond 7.6.
FAR = 8.0


@pytest.mark.parametrize("name", BLOCK_DISTANCES)
@pytest.mark.parametrize("method", ["path", "importance"])
def test_estimates_agree_with_exact_values(method, name):
    sizes = (1, 2, 1, 2)
    exact = partition_function(sizes, name)
    estimated = partition_function(sizes, name, method=method, rng=5)
    assert not estimated.exact
    for theta in (0.05, 0.3, 1.0):
        for quantity in ("log_value", "mean", "variance"):
            estimate = getattr(estimated, quantity)(theta)
            truth = getattr(exact, quantity)(theta)
            assert estimate.method == method
            assert 0 < estimate.standard_error < 0.1 * max(1, truth)
            assert abs(estimate - truth) < FAR * estimate.standard_error


@pytest.mark.parametrize("sizes", [(1, 2, 1, 2), (3, 1, 5), (2, 2, 2, 2, 2), (1,) * 5])
def test_estimates_from_the_strict_model_agree_with_exact_values(sizes):
    exact = partition_function(sizes)
    estimated = partition_function(sizes, method="anchored", rng=5)
    assert not estimated.exact
    for theta in (0.05, 0.3, 0.31, 1.0):
        for quantity in ("log_value", "mean", "variance"):
            estimate = getattr(estimated, quantity)(theta)
            truth = float(getattr(exact, quantity)(theta))
            assert abs(estimate - truth) < FAR * estimate.standard_error + 1e-12 * truth
        assert estimated.log_value(theta).method == "anchored"
        assert estimated.log_value(theta).standard_error < 0.02


def test_the_strict_model_is_a_better_start_than_a_path():
    sizes = (2,) * 10
    exact = partition_function(sizes)
    for theta in (0.1, 0.3):
        near, far = (
            partition_function(sizes, method=method, rng=1).log_value(theta)
            for method in ("anchored", "path")
        )
        assert near.standard_error < far.standard_error / 3
        assert abs(near - exact.log_value(theta)) < FAR * near.standard_error


def test_where_the_strict_model_is_far_the_path_is_as_good():
    estimated = partition_function((10, 10), method="anchored", rng=1)
    estimate = estimated.log_value(1.0)
    assert abs(estimate - log_partition((10, 10), 1.0)) < FAR * estimate.standard_error


@pytest.mark.parametrize("theta", [0.1, 0.4, pytest.param(3.0, marks=pytest.mark.slow)])
def test_path_of_a_strict_model(theta):
    sizes = (1,) * 30
    exact = partition_function(sizes)
    estimate = partition_function(sizes, method="path", rng=1).log_value(theta)
    assert abs(estimate - exact.log_value(theta)) < FAR * estimate.standard_error
    assert estimate.standard_error < 0.2


def test_standard_errors_are_of_the_right_size():
    sizes, theta = (2, 2, 2), 0.5
    truth = partition_function(sizes).log_value(theta)
    for method, draws in (("path", 30), ("anchored", 30), ("importance", 1000)):
        scores = []
        for seed in range(60):
            estimate = log_partition(sizes, theta, method=method, draws=draws, rng=seed)
            scores.append((estimate - truth) / estimate.standard_error)
        # 60 squared scores sum to a chi-square variable, or a little more with t variables.
        assert 20 < np.sum(np.square(scores)) < 160


@pytest.mark.thorough
def test_more_draws_mean_smaller_errors():
    methods = [("path", (2, 2, 2)), ("importance", (2, 2, 2)), ("anchored", (2,) * 10)]
    for method, sizes in methods:
        few, many = (
            log_partition(sizes, 0.5, method=method, draws=draws, rng=1) for draws in (200, 20_000)
        )
        assert many.standard_error < few.standard_error / 3


def test_a_path_answers_in_any_order():
    up = partition_function((2, 3, 2), method="path", rng=3)
    down = partition_function((2, 3, 2), method="path", rng=3)
    first = [float(up.log_value(theta)) for theta in (0.2, 0.9)]
    second = [float(down.log_value(theta)) for theta in (0.9, 0.2)]
    assert first[0] == pytest.approx(second[1], rel=1e-12)
    assert first[1] == pytest.approx(second[0], rel=1e-12)


def test_a_path_ends_where_the_model_freezes():
    psi = partition_function((2, 2), method="path", rng=3, draws=50)
    estimate = psi.log_value(1e6)
    assert abs(estimate - np.log(4)) < FAR * estimate.standard_error
    assert psi.mean(1e6) == 0
    assert psi.log_value(np.inf) == pytest.approx(np.log(4))


@pytest.mark.parametrize("method", ["path", "anchored"])
def test_a_path_at_theta_zero(method):
    estimate = partition_function((2, 2), method=method, rng=3).log_value(0.0)
    assert estimate == pytest.approx(np.log(24))


def test_seeds():
    for method in ("path", "anchored", "importance"):
        values = [float(log_partition((2, 3), 0.5, method=method, rng=rng)) for rng in (1, 1, 2)]
        assert values[0] == values[1] != values[2]


def test_effective_sample_size():
    strict = partition_function((1,) * 6, method="importance", draws=5000, rng=1)
    assert strict.effective_sample_size(0.0) == pytest.approx(5000)
    tied = partition_function((1, 1, 1, 2, 3, 2), method="importance", draws=5000, rng=1)
    assert 50 < tied.effective_sample_size(0.25) < 4500


@pytest.mark.slow
@pytest.mark.parametrize("method", ["path", "anchored"])
def test_twenty_tiers_of_five_are_estimated(method):
    psi = partition_function((5,) * 20, method=method, rng=1)
    estimate = psi.log_value(0.25)
    assert 0 < estimate.standard_error < 0.3
    other = partition_function((5,) * 20, method=method, rng=2).log_value(0.25)
    together = np.hypot(estimate.standard_error, other.standard_error)
    assert abs(estimate - other) < FAR * together


def test_the_exact_value_is_right_where_the_papers_estimate_has_an_error():
    sizes, truth = (1, 1, 1, 2, 3, 2), 10.445639342627
    estimate = log_partition(sizes, 0.25, method="importance", draws=100_000, rng=1)
    assert abs(log_partition(sizes, 0.25) - truth) < 1e-10
    assert 1e-3 < estimate.standard_error < 3e-2
    assert abs(estimate - truth) < 6 * estimate.standard_error
