"""Promises about time, with room for slow machines; the benchmarks give the real numbers."""

from time import perf_counter

import pytest

from tierwise import Tiers
from tierwise.model import ClusteredMallows
from tierwise.partition import log_partition


def shortest(function, repeats):
    times = []
    for _ in range(repeats + 1):  # the first call may compile
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


def test_exact_is_hundreds_of_times_faster_than_importance_sampling_and_right():
    sizes, truth = (1, 1, 1, 2, 3, 2), 10.445639342627
    estimate = log_partition(sizes, 0.25, method="importance", draws=100_000, rng=1)
    assert abs(log_partition(sizes, 0.25) - truth) < 1e-10
    assert 1e-3 < estimate.standard_error < 3e-2
    exact_time = shortest(lambda: log_partition(sizes, 0.25), 50)
    estimate_time = shortest(
        lambda: log_partition(sizes, 0.25, method="importance", draws=100_000, rng=1), 1
    )
    assert estimate_time > 200 * exact_time


@pytest.mark.parametrize(
    ("sizes", "name", "limit"),
    [((1,) * 1000, "kendall", 0.5), ((100,) * 10, "hamming", 0.5), ((2,) * 13, "kendall", 6)],
)
def test_many_items(sizes, name, limit):
    assert shortest(lambda: log_partition(sizes, 0.25, name), 2) < limit


@pytest.mark.parametrize(("n_items", "limit"), [(10, 0.05), (50, 0.25)])
def test_ten_thousand_strict_draws(n_items, limit):
    model = ClusteredMallows(Tiers.from_sizes((1,) * n_items, range(n_items)), 0.3)
    assert shortest(lambda: model.sample(10_000, rng=1), 5) < limit
