"""Which method is taken, and what is refused."""

import numpy as np
import pytest

from tests.reference_consensus import random_parts
from tierwise.consensus.annealing import Annealing
from tierwise.consensus.find import METHODS, find_consensus
from tierwise.distances import Costs
from tierwise.errors import InputError

nothing = np.empty((0, 0))


def test_auto_takes_the_most_exact_method_that_is_affordable():
    kendall = Costs(*random_parts((2, 2, 2), "pairs", 9, 0))
    assert find_consensus(Costs(np.ones((6, 3)), nothing), (2, 2, 2)).method == "assignment"
    assert find_consensus(kendall, (2, 2, 2)).method == "subsets"
    assert find_consensus(kendall, (2, 2, 2), max_steps=10, rng=0).method == "milp"
    quick = Annealing(steps=10, restarts=1)
    large = Costs(nothing, np.ones((90, 90)))
    assert find_consensus(large, (45, 45), annealing=quick, rng=0).method == "annealing"


def test_all_methods_agree():
    costs = Costs(*random_parts((1, 2, 1, 2), "both", 40, 1))
    methods = ("auto", "subsets", "milp", "annealing")
    assert {*methods, "assignment"} == set(METHODS)
    totals = {find_consensus(costs, (1, 2, 1, 2), method=name, rng=0).total for name in methods}
    assert len(totals) == 1


@pytest.mark.parametrize("method", METHODS)
def test_one_tier_and_one_item(method):
    linear = np.array([[2.0], [3.0]])
    found = find_consensus(Costs(linear, nothing), (2,), method=method, rng=0)
    assert (found.labels.tolist(), found.total, found.bound) == ([0, 0], 5.0, 5.0)
    found = find_consensus(Costs(linear[:1], nothing), (1,), method=method, rng=0)
    assert (found.labels.tolist(), found.total) == ([0], 2.0)


def test_the_costs_are_left_as_they_were():
    pairs = np.full((4, 4), 2.0)
    find_consensus(Costs(nothing, pairs), (2, 2))
    assert (pairs == 2.0).all()


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_counts_of_any_number_type(dtype):
    pairs = np.array([[0, 2], [1, 0]], dtype=dtype, order="F")
    found = find_consensus(Costs(nothing, pairs), (1, 1))
    assert (found.labels.tolist(), found.total) == ([0, 1], 1.0)


def test_unknown_methods_are_refused_with_a_list():
    with pytest.raises(InputError, match='"assignment", "subsets", "milp", "annealing"'):
        find_consensus(Costs(nothing, np.ones((3, 3))), (1, 2), method="magic")


@pytest.mark.parametrize("sizes", [(1, 1), (0, 3), (), (1.5, 1.5), (2, 2)])
def test_sizes_that_do_not_fit(sizes):
    with pytest.raises(InputError):
        find_consensus(Costs(nothing, np.ones((3, 3))), sizes)


@pytest.mark.parametrize(
    ("linear", "pairs", "message"),
    [
        (np.ones((3, 3)), nothing, "costs.linear has shape"),
        (nothing, np.ones((3, 2)), "costs.pairs has shape"),
        (np.ones((3, 2)), np.ones((2, 2)), "costs.pairs has shape"),
        (nothing, np.full((3, 3), np.nan), "finite"),
        (np.full((3, 2), np.inf), nothing, "finite"),
    ],
)
def test_costs_that_cannot_be_used(linear, pairs, message):
    with pytest.raises(InputError, match=message):
        find_consensus(Costs(linear, pairs), (1, 2))
