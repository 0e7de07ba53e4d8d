"""Which method is taken, what is refused, and how it is said."""

import copy
import pickle
import tracemalloc

import pytest

from tierwise import InputError, TooLargeError
from tierwise._util.types import Estimate
from tierwise.distances import distance_names
from tierwise.partition.choose import log_partition, partition_function


@pytest.mark.parametrize(
    ("sizes", "name", "method"),
    [
        ((1,) * 50, "kendall", "closed"),
        ((1,) * 50, "hamming", "rook"),
        ((1, 1, 2), "kendall", "recursion"),
        ((1,) * 12, "footrule", "recursion"),
        ((1, 2, 3), "spearman", "recursion"),
        ((5,) * 20, "kendall", "anchored"),
        ((1,) * 50, "footrule", "path"),
        ((700, 700), "kendall", "path"),
        ((2,) * 120, "kendall", "path"),
    ],
)
def test_auto(sizes, name, method):
    psi = partition_function(sizes, name)
    assert psi.method == method
    assert psi.exact == (method not in {"anchored", "path"})
    assert method in repr(psi)
    assert name in repr(psi)


def test_nothing_is_allocated_before_the_method_is_chosen():
    partition_function((2, 2))
    tracemalloc.start()
    partition_function((5,) * 20)
    with pytest.raises(TooLargeError):
        partition_function((5,) * 20, method="recursion")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e6


def test_the_budget_decides():
    assert partition_function((3, 3, 3), budget=100).method == "anchored"
    assert partition_function((3, 3, 3), budget=10_000).method == "recursion"
    with pytest.raises(TooLargeError, match='method="path"'):
        partition_function((3, 3, 3), method="recursion", budget=100)


def test_methods_that_do_not_apply():
    with pytest.raises(InputError, match="closed"):
        partition_function((1, 2), method="closed")
    with pytest.raises(InputError, match="closed"):
        partition_function((1, 1), "hamming", method="closed")
    with pytest.raises(InputError, match="rook"):
        partition_function((1, 2), "kendall", method="rook")
    # Places that are not cut into the blocks of the tiers ended in a segmentation fault.
    for sizes in [(1, 2), (1, 1, 1), (3,)]:
        with pytest.raises(InputError, match="anchored"):
            log_partition(sizes, 0.5, "inversions", method="anchored", rng=0)
    every = "method must be one of"
    with pytest.raises(InputError, match=every):
        partition_function((1, 2), method="exact")


@pytest.mark.parametrize(
    ("name", "method"),
    [(name, "auto") for name in distance_names()]
    + [("kendall", "anchored"), ("kendall", "path"), ("kendall", "importance")],
)
def test_one_item_has_one_ordering(name, method):
    psi = partition_function((1,), name, method=method, rng=0)
    for theta in (0.0, 0.5, 30.0, float("inf")):
        moments = psi.moments(theta)
        assert (moments.log_value, moments.mean, moments.variance) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("sizes", [(), (0, 1), (-1, 2), (1.5, 2), "ab", 3])
def test_bad_sizes(sizes):
    with pytest.raises(InputError, match=r"sizes|tier"):
        partition_function(sizes)


@pytest.mark.parametrize("theta", [-0.1, float("nan"), -float("inf"), "much", None])
@pytest.mark.parametrize("method", ["recursion", "anchored", "path", "importance"])
def test_bad_theta(theta, method):
    with pytest.raises(InputError, match="theta"):
        log_partition((1, 2), theta, method=method)
    with pytest.raises(InputError, match="theta"):
        partition_function((1, 2)).distribution().probabilities(theta)


def test_bad_draws_and_distance():
    with pytest.raises(InputError, match="draws"):
        partition_function((1, 2), method="path", draws=1)
    with pytest.raises(InputError, match="distance"):
        partition_function((1, 2), "euclid")


def test_distributions_that_are_too_wide():
    for sizes, name in (((1,) * 301, "kendall"), ((3,) * 100, "hamming"), ((2,) * 13, "kendall")):
        with pytest.raises(TooLargeError):
            partition_function(sizes, name).distribution()
    with pytest.raises(TooLargeError, match="sample"):
        partition_function((5,) * 20).distribution()


def test_estimates_are_floats_that_remember():
    estimate = Estimate(1.5, standard_error=0.1, method="path")
    assert estimate + 1 == 2.5
    assert type(estimate + 1) is float
    assert not estimate.exact
    assert repr(estimate) == "1.5 +- 0.1 (path)"
    assert repr(Estimate(2.0, method="rook")) == "2.0 (exact, rook)"
    for twin in (pickle.loads(pickle.dumps(estimate)), copy.deepcopy(estimate)):
        assert (twin, twin.standard_error, twin.method) == (1.5, 0.1, "path")
