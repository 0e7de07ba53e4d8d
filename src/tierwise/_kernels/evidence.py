"""Sums over all tiers of given sizes, by the recursion over sets of items with sums for minima.

Everything is relative to the least cost, so that nothing overflows and nothing that matters
vanishes: the weight of a set is the sum of ``exp(-theta e)`` over all ways to make it the first
tiers, ``e`` being what a way costs above the least cost of the set.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.layers import (
    binomial_table,
    enter_set,
    go_to_set,
    layer_starts,
    next_choice,
    next_set,
    start_layer,
)


@compiled
def weigh_tiers(
    linear: npt.NDArray[np.float64],
    pairs_transposed: npt.NDArray[np.float64],
    sizes: npt.NDArray[np.int64],
    least: npt.NDArray[np.float64],
    thetas: npt.NDArray[np.float64],
    largest_excess: float,
) -> npt.NDArray[np.float64]:
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
    everything: npt.NDArray[np.float64] = before[0]
    return everything
