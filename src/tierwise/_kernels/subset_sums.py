"""Sums over all tiers of given sizes, and draws of tiers: dynamic programming over sets of items.

The recursion is that of the least costs with sums in the place of minima. Everything is relative to
the least cost, so that nothing overflows and nothing that matters vanishes: the weight of a set is
the sum of ``exp(-theta e)`` over all ways to make it the first tiers, ``e`` being what a way costs
above the least cost of the set. Draws are made by forward filtering and backward sampling: from the
set of all items, a last tier is drawn and taken away until nothing remains.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.layers import (
    binomial_table,
    copy_with_last_tier,
    enter_set,
    go_to_set,
    layer_starts,
    next_choice,
    next_set,
    start_layer,
)

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# What weighs less than the best by this logarithm is lost in rounding.
_NEGLIGIBLE = 100.0


@compiled
def weigh_tiers(
    linear: _Floats,
    pairs_transposed: _Floats,
    sizes: _Integers,
    least: _Floats,
    thetas: _Floats,
    largest_excess: float,
) -> _Floats:
    """Sum over all tiers of ``exp(-theta e)``, at each theta.

    ``least`` is what `least_costs` gave for the same costs and sizes. Steps that cost more than
    ``largest_excess`` above the least are left out: they must be known not to matter.
    """
    binomials = binomial_table(sizes)
    starts = layer_starts(sizes, binomials)
    n_thetas = thetas.shape[0]
    before = np.ones((1, n_thetas))
    for tier in range(sizes.shape[0]):
        least_before = least[starts[tier] : starts[tier + 1]]
        least_here = least[starts[tier + 1] : starts[tier + 2]]
        weights = np.zeros((least_here.shape[0], n_thetas))
        layer = start_layer(tier, linear, pairs_transposed, sizes, binomials)
        go_to_set(layer, np.int64(0))
        for rank in range(least_here.shape[0]):
            if rank > 0:
                enter_set(layer, next_set(layer.members))
            while True:
                for position in range(layer.chosen[1]):
                    remaining = layer.ranks[1] + layer.keys[0, position]
                    cost = layer.costs[1] + layer.weights[position]
                    excess = least_before[remaining] + cost - least_here[rank]
                    if excess > largest_excess:
                        continue
                    for node in range(n_thetas):
                        weights[rank, node] += before[remaining, node] * np.exp(
                            -thetas[node] * excess
                        )
                if not next_choice(layer):
                    break
        before = weights
    everything: _Floats = before[0]
    return everything


@compiled
def _weigh_sets(
    linear: _Floats,
    pairs_transposed: _Floats,
    sizes: _Integers,
    least: _Floats,
    theta: float,
) -> _Floats:
    """Weights of all sets, all layers laid end to end, relative to their least costs."""
    binomials = binomial_table(sizes)
    starts = layer_starts(sizes, binomials)
    weights = np.zeros(starts[-1])
    weights[0] = 1.0
    for tier in range(sizes.shape[0]):
        layer = start_layer(tier, linear, pairs_transposed, sizes, binomials)
        go_to_set(layer, starts[0])
        for place in range(starts[tier + 1], starts[tier + 2]):
            if place > starts[tier + 1]:
                enter_set(layer, next_set(layer.members))
            weight = 0.0
            while True:
                for position in range(layer.chosen[1]):
                    before = starts[tier] + layer.ranks[1] + layer.keys[0, position]
                    cost = layer.costs[1] + layer.weights[position]
                    excess = least[before] + cost - least[place]
                    if theta * excess < _NEGLIGIBLE:
                        weight += weights[before] * np.exp(-theta * excess)
                if not next_choice(layer):
                    break
            weights[place] = weight
    return weights


@compiled
def draw_tiers(
    linear: _Floats,
    pairs_transposed: _Floats,
    sizes: _Integers,
    least: _Floats,
    thetas: _Floats,
    rng: np.random.Generator,
) -> _Integers:
    """Draw labels, one row for each theta, by the recursion over sets.

    Their probabilities fall by ``exp(-theta)`` with every unit of distance.

    ``least`` is what ``least_costs`` gave for the same costs and sizes.
    """
    binomials = binomial_table(sizes)
    starts = layer_starts(sizes, binomials)
    labels = np.zeros((thetas.shape[0], binomials.shape[0] - 1), np.int64)
    for row in range(thetas.shape[0]):
        theta = thetas[row]
        weights = _weigh_sets(linear, pairs_transposed, sizes, least, theta)
        rank = 0
        for tier in range(sizes.shape[0] - 1, -1, -1):
            layer = start_layer(tier, linear, pairs_transposed, sizes, binomials)
            go_to_set(layer, rank)
            here = starts[tier + 1] + rank
            threshold = rng.random() * weights[here]
            reached = 0.0
            searching = True
            while searching:
                for position in range(layer.chosen[1]):
                    before = layer.ranks[1] + layer.keys[0, position]
                    cost = layer.costs[1] + layer.weights[position]
                    excess = least[starts[tier] + before] + cost - least[here]
                    if theta * excess >= _NEGLIGIBLE:
                        continue
                    reached += weights[starts[tier] + before] * np.exp(-theta * excess)
                    # Should rounding keep the sum below the threshold, the last choice stands.
                    layer.chosen[0] = position
                    rank = before
                    if reached >= threshold:
                        searching = False
                        break
                searching = searching and next_choice(layer)
            copy_with_last_tier(layer, labels, row, labels, row)
    return labels
