"""Simulated annealing and the simple bound, against brute force."""

import numpy as np
import pytest

from tests.reference_consensus import brute_force, random_parts, total_of
from tierwise._kernels.consensus import TierCosts, anneal, insert_items
from tierwise.consensus.annealing import Annealing, simple_bound
from tierwise.consensus.find import find_consensus
from tierwise.consensus.problem import make_problem
from tierwise.distances import Costs
from tierwise.errors import InputError


@pytest.mark.parametrize(
    "sizes",
    [
        (1, 2, 1, 2, 1),
        (2, 2, 3),
        *(pytest.param(sizes, marks=pytest.mark.slow) for sizes in ((1,) * 7, (3, 4))),
    ],
)
def test_finds_the_optimum_in_99_of_100_seeds(sizes):
    linear, pairs = random_parts(sizes, "pairs", 20, seed=11)
    least, optima = brute_force(linear, pairs, sizes)
    hits = 0
    for seed in range(100):
        found = find_consensus(Costs(linear, pairs), sizes, method="annealing", rng=seed)
        hits += found.total == least
        assert not found.optimal
        assert found.n_optima is None
        assert found.bound <= least
        if found.total == least:
            assert tuple(found.labels.tolist()) in optima
    assert hits >= 99


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_works_for_costs_of_any_size(scale):
    linear, pairs = random_parts((2, 2, 3), "both", 20, seed=4)
    least, _ = brute_force(linear, pairs, (2, 2, 3))
    costs = Costs(linear * scale, pairs * scale)
    found = find_consensus(costs, (2, 2, 3), method="annealing", rng=1)
    assert found.total == pytest.approx(least * scale, rel=1e-12)


@pytest.mark.parametrize(
    "annealing",
    [Annealing(switched=3), Annealing(schedule="geometric"), Annealing(switched=7, restarts=50)],
)
def test_variants_find_the_optimum(annealing):
    linear, pairs = random_parts((1, 2, 1, 2, 1), "pairs", 20, seed=2)
    least, _ = brute_force(linear, pairs, (1, 2, 1, 2, 1))
    found = find_consensus(
        Costs(linear, pairs), (1, 2, 1, 2, 1), method="annealing", annealing=annealing, rng=3
    )
    assert found.total == least


def test_every_setting_changes_the_course():
    problem = make_problem(Costs(*random_parts((3, 3, 3), "pairs", 20, seed=2)), (3, 3, 3))

    def course(switched=2, inverse_temperature=0.01, steps=300, seed=1):
        labels = problem.sorted_labels
        temperatures = np.full(steps, inverse_temperature)
        change = anneal(labels, problem.costs, temperatures, switched, np.random.default_rng(seed))
        return change, labels.tolist()

    assert course() == course()
    for other in [{"switched": 3}, {"inverse_temperature": 1.0}, {"steps": 99}, {"seed": 2}]:
        assert course(**other) != course()


def test_metropolis_steps_visit_labels_as_often_as_they_should():
    # Two items in two tiers: at inverse temperature b the worse order has odds exp(-b * change).
    pairs = np.array([[0.0, 2.0], [1.0, 0.0]])
    costs = TierCosts(np.empty((0, 0)), pairs, pairs.T.copy())
    rng = np.random.default_rng(5)
    labels = np.array([0, 1])
    n_draws, n_worse = 20_000, 0
    for _ in range(n_draws):
        # An odd number of steps, so that always trading places is told from sampling.
        anneal(labels, costs, np.full(7, 1.0), 2, rng)
        n_worse += labels[0] == 1
    share = np.exp(-1.0) / (1.0 + np.exp(-1.0))
    # Draws are negatively correlated, so independence overstates the error; five sigma.
    assert abs(n_worse / n_draws - share) < 5.0 * np.sqrt(share * (1.0 - share) / n_draws)


@pytest.mark.parametrize("switched", [2, 3, 5])
def test_when_cold_nothing_gets_worse(switched):
    sizes = (1, 2, 1, 2)
    linear, pairs = random_parts(sizes, "both", 50, seed=switched)
    np.fill_diagonal(pairs, 0.0)
    labels = np.repeat(np.arange(4), sizes)
    rng = np.random.default_rng(0)
    total = total_of(linear, pairs, labels)
    costs = TierCosts(linear, pairs, pairs.T.copy())
    for _ in range(200):
        anneal(labels, costs, np.full(1, 1e9), switched, rng)
        assert total_of(linear, pairs, labels) <= total
        assert np.bincount(labels).tolist() == list(sizes)
        total = total_of(linear, pairs, labels)


def test_same_seed_same_answer_and_ties_are_listed():
    pairs = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    costs = Costs(np.empty((0, 0)), pairs)
    first, second = (find_consensus(costs, (1, 1, 1), method="annealing", rng=7) for _ in "ab")
    assert first.labels.tolist() == second.labels.tolist()
    assert len(first.alternatives) == 2
    different = {tuple(labels.tolist()) for labels in (first.labels, *first.alternatives)}
    assert len(different) == 3


@pytest.mark.parametrize("sizes", [(1,) * 5, (5,), (2, 3), (1, 3, 1)])
@pytest.mark.parametrize("kind", ["pairs", "linear", "both"])
def test_the_simple_bound_is_a_bound(sizes, kind):
    for seed in range(20):
        linear, pairs = random_parts(sizes, kind, 9, seed)
        bound = simple_bound(make_problem(Costs(linear - 2.0, pairs - 2.0), sizes))
        assert bound <= brute_force(linear - 2.0, pairs - 2.0, sizes)[0]


def test_the_simple_bound_is_tight_for_unanimous_data():
    pairs = np.triu(np.ones((6, 6)), k=1)
    costs = Costs(np.empty((0, 0)), pairs)
    found = find_consensus(costs, (1,) * 6, method="annealing", rng=0)
    assert found.total == found.bound == 0.0
    assert found.gap == 0.0
    one_tier = find_consensus(costs, (6,), method="annealing", rng=0)
    assert one_tier.total == one_tier.bound == 15.0


def test_many_items():
    n_items = 1500
    better = np.triu(np.full((n_items, n_items), 3.0), k=1) + np.ones((n_items, n_items))
    order = np.random.default_rng(0).permutation(n_items)
    sizes = (500, 400, 600)
    found = find_consensus(
        Costs(np.empty((0, 0)), better[np.ix_(order, order)]),
        sizes,
        rng=1,
        annealing=Annealing(steps=30_000, restarts=1),
    )
    assert found.method == "annealing"
    assert found.labels.tolist() == np.repeat([0, 1, 2], sizes)[order].tolist()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"switched": 1}, "switched"),
        ({"schedule": "cold"}, "schedule"),
        ({"steps": 0}, "steps"),
        ({"restarts": 0}, "restarts"),
    ],
)
def test_settings_that_cannot_be_used(bad, message):
    with pytest.raises(InputError, match=message):
        Annealing(**bad)


def test_more_items_switched_than_there_are():
    with pytest.raises(InputError, match="switch fewer"):
        find_consensus(
            Costs(np.empty((0, 0)), np.ones((3, 3))),
            (1, 2),
            method="annealing",
            annealing=Annealing(switched=4),
        )


def test_no_item_has_a_better_place_after_insertions():
    rng = np.random.default_rng(3)
    for _ in range(30):
        linear, pairs = random_parts((1,) * 7, "pairs", 20, seed=int(rng.integers(1000)))
        labels = rng.permutation(7)
        before = total_of(linear, pairs, labels)
        insert_items(labels, pairs, np.ascontiguousarray(pairs.T), 0.0)
        least = total_of(linear, pairs, labels)
        assert sorted(labels.tolist()) == list(range(7))
        assert least <= before
        order = np.argsort(labels).tolist()
        for item in range(7):
            others = [other for other in order if other != item]
            for place in range(7):
                moved = np.argsort([*others[:place], item, *others[place:]])
                assert total_of(linear, pairs, moved) >= least


def test_more_starts_are_made_only_where_they_disagree():
    linear, pairs = random_parts((1,) * 7, "pairs", 20, seed=11)
    costs = Costs(linear, pairs)
    few, many = (
        find_consensus(costs, (1,) * 7, method="annealing", rng=1, annealing=annealing)
        for annealing in (Annealing(), Annealing(restarts=100))
    )
    assert few.total == many.total
