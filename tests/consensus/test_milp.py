"""Linear and integer programming, against brute force."""

import numpy as np
import pytest

from tests.reference_consensus import brute_force, random_parts
from tierwise.consensus.annealing import Annealing
from tierwise.consensus.find import find_consensus
from tierwise.distances import Costs
from tierwise.errors import InputError, TooLargeError
from tierwise.tiers import compositions

# A candidate that is often bad, so that the program has to do the work.
careless = Annealing(steps=1, restarts=1)
sizes_of_up_to_five = [sizes for n_items in (1, 2, 3, 5) for sizes in compositions(n_items)]


@pytest.mark.parametrize(
    "sizes",
    [
        *sizes_of_up_to_five,
        # Six items in every second way, and in all ways where there is time.
        *(
            pytest.param(sizes, marks=pytest.mark.slow if number % 2 else ())
            for number, sizes in enumerate(compositions(6))
        ),
        (1, 2, 1, 2, 1),
        (2, 2, 3),
    ],
    ids=str,
)
def test_equals_brute_force(sizes):
    for kind, largest in [("pairs", 30), ("both", 5)]:
        linear, pairs = random_parts(sizes, kind, largest, seed=sum(sizes))
        least, optima = brute_force(linear, pairs, sizes)
        found = find_consensus(
            Costs(linear, pairs), sizes, method="milp", annealing=careless, rng=1, time_limit=20.0
        )
        assert found.optimal
        assert found.total == found.bound == least
        listed = {tuple(labels.tolist()) for labels in (found.labels, *found.alternatives)}
        assert listed <= optima
        assert len(listed) == 1 + len(found.alternatives)
        assert found.n_optima in {None, len(optima)}


def test_finds_all_of_a_few_optima():
    # Rock, paper, scissors: three orders are equally good.
    pairs = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    found = find_consensus(Costs(np.empty((0, 0)), pairs), (1, 1, 1), method="milp", rng=0)
    assert (found.total, found.n_optima, len(found.alternatives)) == (1.0, 3, 2)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_weights_need_not_be_whole(scale):
    rng = np.random.default_rng(2)
    for sizes in [(1, 2, 2), (2, 2, 2), (1,) * 6]:
        pairs = scale * rng.random((sum(sizes), sum(sizes)))
        least, _ = brute_force([], pairs, sizes)
        found = find_consensus(
            Costs(np.empty((0, 0)), pairs), sizes, method="milp", annealing=careless, rng=1
        )
        assert found.optimal
        assert found.total == pytest.approx(least, rel=1e-12)
        assert found.n_optima == 1


def test_out_of_time_it_reports_a_bound_and_a_gap():
    sizes = (4,) * 5
    _, pairs = random_parts(sizes, "pairs", 30, seed=1)
    costs = Costs(np.empty((0, 0)), pairs)
    exact = find_consensus(costs, sizes, method="subsets")
    found = find_consensus(costs, sizes, method="milp", rng=1, time_limit=1e-6)
    assert not found.optimal
    assert found.n_optima is None
    assert found.bound <= exact.total <= found.total
    assert found.gap > 0.0


def test_too_many_items_are_refused_and_the_remedy_named():
    pairs = np.zeros((201, 201))
    with pytest.raises(TooLargeError, match=r'method="annealing"'):
        find_consensus(Costs(np.empty((0, 0)), pairs), (1, 200), method="milp")


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_a_time_limit_is_positive(seconds):
    with pytest.raises(InputError, match="time_limit"):
        find_consensus(Costs(np.empty((0, 0)), np.ones((2, 2))), (1, 1), time_limit=seconds)
