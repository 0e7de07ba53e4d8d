"""The assignment problem of additive distances, against brute force and the subset recursion."""

import numpy as np
import pytest

from tests.reference_consensus import brute_force, random_parts, total_of
from tierwise.consensus.assignment import _equally_good
from tierwise.consensus.find import find_consensus
from tierwise.consensus.problem import make_problem
from tierwise.distances import Costs
from tierwise.errors import InputError
from tierwise.tiers import compositions

small_sizes = [sizes for n_items in (1, 2, 4, 6) for sizes in compositions(n_items)]


@pytest.mark.parametrize("sizes", small_sizes, ids=str)
def test_equals_brute_force(sizes):
    for largest in (1, 3, 50):
        linear, pairs = random_parts(sizes, "linear", largest, seed=largest)
        least, optima = brute_force(linear, pairs, sizes)
        found = find_consensus(Costs(linear, pairs), sizes)
        assert found.method == "assignment"
        assert found.optimal
        assert found.total == found.bound == least
        assert found.n_optima == len(optima)
        listed = {tuple(labels.tolist()) for labels in (found.labels, *found.alternatives)}
        assert listed <= optima
        assert len(listed) == 1 + len(found.alternatives) == min(11, len(optima))


@pytest.mark.parametrize("sizes", small_sizes, ids=str)
def test_ties_are_found_without_counting(sizes):
    for largest in (1, 2, 20):
        for seed in range(5):
            linear, pairs = random_parts(sizes, "linear", largest, seed)
            _, optima = brute_force(linear, pairs, sizes)
            problem = make_problem(Costs(linear, pairs), sizes)
            labels = np.array(min(optima))
            others = {tuple(other.tolist()) for other in _equally_good(problem, labels)}
            assert others <= optima - {min(optima)}
            assert bool(others) == (len(optima) > 1)


def test_a_tie_that_needs_a_long_cycle():
    # Each of 30 items is as well off in the next tier, round the circle, and nowhere else.
    n_items = 30
    linear = np.ones((n_items, n_items)) - np.eye(n_items) - np.roll(np.eye(n_items), 1, axis=1)
    found = find_consensus(Costs(linear, np.empty((0, 0))), (1,) * n_items)
    assert found.total == 0.0
    assert found.n_optima is None
    assert len(found.alternatives) == 1
    assert (found.alternatives[0] != found.labels).all()


def test_many_items_with_one_optimum():
    rng = np.random.default_rng(3)
    sizes = (100, 50, 1, 149)
    linear = rng.random((300, 4))
    found = find_consensus(Costs(linear, np.empty((0, 0))), sizes)
    assert found.n_optima == 1
    assert np.bincount(found.labels).tolist() == list(sizes)
    assert found.total == pytest.approx(total_of(linear, [], found.labels))


def test_the_subset_recursion_agrees():
    for seed in range(10):
        costs = Costs(*random_parts((3, 1, 4, 2), "linear", 4, seed))
        one = find_consensus(costs, (3, 1, 4, 2), method="assignment")
        other = find_consensus(costs, (3, 1, 4, 2), method="subsets")
        assert (one.total, one.n_optima) == (other.total, other.n_optima)


def test_kendall_costs_are_refused_and_the_remedy_named():
    with pytest.raises(InputError, match='"subsets" or method="milp" or method="annealing"'):
        find_consensus(Costs(np.empty((0, 0)), np.ones((3, 3))), (1, 2), method="assignment")
