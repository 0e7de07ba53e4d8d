"""The recursion over sets, against brute force."""

from itertools import accumulate, combinations
from math import comb, prod

import numpy as np
import pytest

from tests.reference_consensus import brute_force, random_parts
from tierwise.consensus.find import find_consensus
from tierwise.consensus.problem import MAX_ALTERNATIVES, make_problem
from tierwise.consensus.subsets import best_labels, count_and_list, subset_work
from tierwise.distances import Costs
from tierwise.errors import TooLargeError
from tierwise.tiers import compositions

all_small_sizes = [sizes for n_items in range(1, 7) for sizes in compositions(n_items)]


def multinomial(sizes):
    return prod(comb(total, size) for total, size in zip(accumulate(sizes), sizes, strict=True))


some_sizes_of_seven = [(1, 1, 1, 1, 1, 1, 1), (1, 2, 1, 2, 1), (3, 4), (1, 5, 1), (2, 2, 3), (7,)]


@pytest.mark.parametrize("sizes", all_small_sizes + some_sizes_of_seven, ids=str)
def test_equals_brute_force_and_counts_all_optima(sizes):
    for kind, largest in [("pairs", 1), ("pairs", 30), ("both", 2), ("linear", 1)]:
        linear, pairs = random_parts(sizes, kind, largest, seed=sum(sizes) + largest)
        least, optima = brute_force(linear, pairs, sizes)
        found = find_consensus(Costs(linear, pairs), sizes, method="subsets")
        assert found.total == found.bound == least
        assert found.optimal
        assert found.gap == 0.0
        assert found.n_optima == len(optima)
        listed = {tuple(labels.tolist()) for labels in (found.labels, *found.alternatives)}
        assert listed <= optima
        assert len(listed) == 1 + len(found.alternatives) == min(len(optima), 11)


@pytest.mark.parametrize("sizes", [(1,) * 10, (3, 4, 5), (4, 1, 6)])
def test_ties_of_all_are_counted(sizes):
    problem = make_problem(Costs(np.empty((0, 0)), np.ones((sum(sizes), sum(sizes)))), sizes)
    n_optima, labels = count_and_list(problem)
    assert n_optima == multinomial(sizes)
    assert len({tuple(row.tolist()) for row in labels}) == len(labels) == MAX_ALTERNATIVES + 1


@pytest.mark.parametrize("sizes", [(1, 2, 3), (2, 2, 2), (1, 1, 1, 1, 1, 1)])
def test_ties_survive_rounding(sizes):
    _, pairs = random_parts(sizes, "pairs", 2, seed=5)
    # Multiples of a third are not exact: equal totals differ in their last digits.
    weighted = pairs / 3.0 + 0.1
    least, optima = brute_force([], weighted, sizes, tolerance=1e-9)
    found = find_consensus(Costs(np.empty((0, 0)), weighted), sizes, method="subsets")
    assert found.total == pytest.approx(least, rel=1e-12)
    assert found.n_optima == len(optima)


def test_costs_may_be_negative():
    linear, pairs = random_parts((1, 2, 2), "both", 8, seed=3)
    linear, pairs = linear - 4.0, pairs - 4.0
    least, optima = brute_force(linear, pairs, (1, 2, 2))
    found = find_consensus(Costs(linear, pairs), (1, 2, 2), method="subsets")
    assert (found.total, found.n_optima) == (least, len(optima))


def test_data_that_say_nothing_tie_all_tiers():
    pairs = np.ones((12, 12))
    found = find_consensus(Costs(np.empty((0, 0)), pairs), (1,) * 12, method="subsets")
    assert found.n_optima == 479_001_600
    assert len(found.alternatives) == 10


def test_counts_beyond_exact_arithmetic_are_not_given():
    pairs = np.zeros((19, 19))
    found = find_consensus(Costs(np.empty((0, 0)), pairs), (1,) * 19, method="subsets")
    assert found.n_optima is None


def test_best_labels_is_the_same_optimum():
    linear, pairs = random_parts((2, 1, 3, 2), "both", 50, seed=1)
    found = find_consensus(Costs(linear, pairs), (2, 1, 3, 2), method="subsets")
    labels, total = best_labels(make_problem(Costs(linear, pairs), (2, 1, 3, 2)))
    assert total == found.total
    assert labels.tolist() == found.labels.tolist()


@pytest.mark.parametrize("sizes", [(1,), (4,), (1, 2, 1), (2, 1, 1, 2), (1, 1, 1, 1, 1)])
def test_work_counts_sets_and_transitions(sizes):
    items = range(sum(sizes))
    ends = list(accumulate(sizes))
    sets = [list(combinations(items, end)) for end in [0, *ends]]
    work = subset_work(sizes)
    assert work.sets == sum(len(layer) for layer in sets)
    assert work.transitions == sum(
        len(list(combinations(members, size)))
        for layer, size in zip(sets[1:], sizes, strict=True)
        for members in layer
    )
    assert work.memory == 8 * (work.sets + 2 * max(len(layer) for layer in sets))
    assert work.steps > work.transitions


def test_too_much_work_is_refused_and_the_remedy_named():
    pairs = np.zeros((40, 40))
    with pytest.raises(TooLargeError, match=r'method="milp" or method="annealing"'):
        find_consensus(Costs(np.empty((0, 0)), pairs), (1,) * 40, method="subsets")
    with pytest.raises(TooLargeError, match=r"max_steps=\.\.\. to allow more"):
        find_consensus(
            Costs(np.empty((0, 0)), pairs[:9, :9]), (3,) * 3, max_steps=10, method="subsets"
        )
