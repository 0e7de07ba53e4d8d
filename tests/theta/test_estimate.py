from math import exp, inf, isnan, log

import numpy as np
import pytest

from tierwise.errors import InputError
from tierwise.partition.choose import partition_function
from tierwise.theta.estimate import estimate_theta, iterate_theta


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (1, 1, 1, 2, 3, 2), (1,) * 40])
@pytest.mark.parametrize("theta", [1e-6, 0.01, 0.3, 2.0, 15.0])
@pytest.mark.parametrize("distance", ["kendall", "hamming"])
def test_the_root_gives_theta_back(sizes, theta, distance):
    partition = partition_function(sizes, distance)
    mean = float(partition.mean(theta))
    found = estimate_theta(partition, mean, n_rankings=10).value
    assert float(partition.mean(found)) == pytest.approx(mean, rel=1e-9)
    assert found == pytest.approx(theta, rel=1e-6, abs=1e-9)


def test_two_items_have_a_closed_form():
    # Among q rankings of two items a share p disagrees: theta is log((1 - p) / p).
    found = estimate_theta(partition_function((1, 1)), mean_distance=0.2, n_rankings=50)
    assert found.value == pytest.approx(log(0.8 / 0.2), rel=1e-12)
    assert found.standard_error == pytest.approx((50 * 0.2 * 0.8) ** -0.5, rel=1e-9)


def test_limits_are_answers():
    partition = partition_function((1, 1, 1))
    none = estimate_theta(partition, mean_distance=1.5, n_rankings=10)
    assert none.value == 0.0
    assert none.interval[0] == 0.0 < none.interval[1] < inf
    beyond = estimate_theta(partition, mean_distance=2.5, n_rankings=10)
    assert beyond.value == 0.0
    perfect = estimate_theta(partition, mean_distance=0.0, n_rankings=10)
    assert perfect.value == inf
    assert isnan(perfect.standard_error)
    single = estimate_theta(partition_function((3,)), mean_distance=0.0, n_rankings=10)
    assert single.value == 0.0


def test_more_agreeing_rankings_push_the_lower_limit_up():
    partition = partition_function((1, 1, 1))
    few = estimate_theta(partition, 0.0, n_rankings=3).interval[0]
    many = estimate_theta(partition, 0.0, n_rankings=300).interval[0]
    assert 0 < few < many


def test_intervals_cover_theta_as_often_as_they_say():
    rng = np.random.default_rng(5)
    partition = partition_function((1, 1, 1))
    distribution = np.array([1, 2, 2, 1]) * np.exp(-0.7 * np.arange(4))
    covered = 0
    for _ in range(1000):
        draws = rng.choice(4, size=100, p=distribution / distribution.sum())
        low, high = estimate_theta(partition, draws.mean(), 100).interval
        covered += low < 0.7 < high
    # 950 expected, standard deviation 7; five of them on either side.
    assert 915 < covered < 985


def test_the_papers_iteration_comes_close_and_says_whether_it_settled():
    partition = partition_function((1, 2, 2))
    mean = float(partition.mean(0.5))
    exact = estimate_theta(partition, mean, 100)
    found = iterate_theta(partition, mean, 100, rng=3)
    assert found.method == "monte-carlo"
    assert found.converged
    assert found.value == pytest.approx(exact.value, abs=0.06)
    assert iterate_theta(partition, mean, 100, rng=3).value == found.value
    assert iterate_theta(partition, mean, 100, rng=4).value != found.value
    hurried = iterate_theta(partition, mean, 100, rounds=1, rng=3)
    assert not hurried.converged
    assert iterate_theta(partition, 0.0, 100).value == inf


@pytest.mark.slow
def test_an_iteration_that_runs_away_does_not_claim_to_have_settled():
    # Each round overshoots here, until theta collapses to 0.
    partition = partition_function((3, 3, 3, 3, 3))
    found = iterate_theta(partition, float(partition.mean(1.5)), 100, rng=1)
    assert not found.converged


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"tolerance": 2.0}, "tolerance"),
        ({"rounds": 0}, "rounds"),
        ({"level": 1.0}, "between 0"),
    ],
)
def test_bad_arguments_are_refused(arguments, complaint):
    with pytest.raises(InputError, match=complaint):
        iterate_theta(partition_function((1, 1)), 0.3, 10, **arguments)


def test_tiny_mean_distances_do_not_loop():
    found = estimate_theta(partition_function((1, 1)), mean_distance=1e-9, n_rankings=10)
    assert exp(-found.value) == pytest.approx(1e-9, rel=1e-6)
