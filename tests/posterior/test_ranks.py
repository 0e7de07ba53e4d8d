"""Ranks of items from draws of tiers, against all orders within the tiers."""

from itertools import permutations, product

import numpy as np
import pytest

import tierwise as tw
from tierwise import InputError, sample_posterior
from tierwise.model.ranks import rank_intervals, rank_shares


def shares_by_enumeration(draws):
    """Share of each rank of each item over all orders of the items of each tier."""
    n_items = len(draws[0])
    shares = np.zeros((n_items, n_items))
    for labels in draws:
        tiers = [
            [item for item in range(n_items) if labels[item] == tier]
            for tier in sorted(set(labels))
        ]
        orders = [sum(parts, ()) for parts in product(*(permutations(tier) for tier in tiers))]
        for order in orders:
            for rank, item in enumerate(order):
                shares[item, rank] += 1 / len(orders) / len(draws)
    return shares


@pytest.mark.parametrize("seed", range(6))
def test_ranks_are_those_of_all_orders_within_tiers(seed):
    rng = np.random.default_rng(seed)
    draws = []
    for _ in range(7):
        labels = rng.integers(0, 5, size=5)
        draws.append(tuple(int(label) for label in np.unique(labels, return_inverse=True)[1] + 1))
    wanted = shares_by_enumeration(draws)
    found = rank_shares(np.array(draws))
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    for level in (0.5, 0.8, 0.95):
        for item, (low, high) in enumerate(rank_intervals(found, level).tolist()):
            below, beyond = wanted[item, : low - 1].sum(), wanted[item, high:].sum()
            tail = (1 - level) / 2 + 1e-9
            assert below <= tail
            assert beyond <= tail
            # It is no longer than it must be.
            assert below + wanted[item, low - 1] > tail - 2e-9
            assert beyond + wanted[item, high - 1] > tail - 2e-9


@pytest.fixture(scope="module")
def rankings():
    rows = [list("abcd")] * 4 + [list("bacd")] * 3 + [list("abdc")] * 3 + [list("cadb")] * 2
    return tw.Rankings.from_orderings(rows)


@pytest.mark.parametrize("sizes", [None, (1, 2, 1)])
@pytest.mark.parametrize("distance", ["kendall", "inversions"])
def test_leaderboard_of_a_posterior(rankings, sizes, distance):
    posterior = sample_posterior(rankings, sizes, distance, draws=100, chains=2, rng=1)
    wanted = shares_by_enumeration([tuple(row) for row in posterior.labels.tolist()])
    for k in range(1, 5):
        found = posterior.best_k_probabilities(k)
        np.testing.assert_allclose(found.to_numpy(), wanted[:, :k].sum(axis=1), atol=1e-12)
    intervals = posterior.rank_interval(0.9)
    assert intervals.dims == ("item", "bound")
    assert (intervals.sel(bound="low") <= intervals.sel(bound="high")).all()
    steps = posterior.better_than_next_probabilities()
    order = [*steps["item"].to_numpy(), steps["next"].to_numpy()[-1]]
    means = dict(zip(posterior.items, wanted @ np.arange(4), strict=True))
    assert [means[item] for item in order] == pytest.approx(sorted(means.values()))
    above = posterior.above_probabilities()
    for item, following, share in zip(
        steps["item"].to_numpy(), steps["next"].to_numpy(), steps.to_numpy(), strict=True
    ):
        assert share == float(above.sel(item=item, other=following))
    again = sample_posterior(rankings, sizes, distance, draws=100, chains=2, rng=1)
    assert again.best_k_probabilities(2).equals(posterior.best_k_probabilities(2))


def test_ranks_of_a_single_tier_are_open():
    shares = rank_shares(np.ones((3, 10), dtype=int))
    np.testing.assert_allclose(shares, 0.1)
    assert rank_intervals(shares, 0.95).tolist() == [[1, 10]] * 10


def test_bad_arguments(rankings):
    posterior = sample_posterior(rankings, (1, 2, 1), draws=10, rng=1)
    with pytest.raises(InputError, match="at most 4"):
        posterior.best_k_probabilities(5)
    with pytest.raises(InputError, match="k must be"):
        posterior.best_k_probabilities(0)
    with pytest.raises(InputError, match="level"):
        posterior.rank_interval(1.5)
