"""The best tiers by dynamic programming over sets of items, filled tier by tier.

Layer ``l`` holds, for every set of ``n_1 + ... + n_l`` items, the least cost of making it the
first ``l`` tiers. The diagonal of ``pairs_transposed`` must be zero throughout.
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


@compiled
def least_costs(linear: _Floats, pairs_transposed: _Floats, sizes: _Integers) -> _Floats:
    """Least cost of every set that can be the first tiers, all layers laid end to end.

    The last entry is the cost of the best tiers.
    """
    binomials = binomial_table(sizes)
    starts = layer_starts(sizes, binomials)
    values = np.zeros(starts[-1])
    for tier in range(sizes.shape[0]):
        previous = values[starts[tier] : starts[tier + 1]]
        current = values[starts[tier + 1] : starts[tier + 2]]
        layer = start_layer(tier, linear, pairs_transposed, sizes, binomials)
        keys, weights = layer.keys[0], layer.weights
        go_to_set(layer, np.int64(0))
        for rank in range(current.shape[0]):
            if rank > 0:
                enter_set(layer, next_set(layer.members))
            best = np.inf
            while True:
                base, cost = layer.ranks[1], layer.costs[1]
                for position in range(layer.chosen[1]):
                    candidate = previous[base + keys[position]] + (cost + weights[position])
                    best = min(best, candidate)
                if not next_choice(layer):
                    break
            current[rank] = best
    return values


@compiled
def find_optima(
    linear: _Floats,
    pairs_transposed: _Floats,
    sizes: _Integers,
    values: _Floats,
    tolerance: float,
    limit: int,
) -> tuple[float, _Integers]:
    """Count the tiers whose cost is the least, and list the labels of up to ``limit``, one a row.

    The number is exact up to ``2 ** 53``.
    """
    binomials = binomial_table(sizes)
    n_items = binomials.shape[0] - 1
    starts = layer_starts(sizes, binomials)
    ways = np.ones(1)
    labels = np.zeros((1, n_items), np.int64)
    ranks = np.zeros(1, np.int64)
    for tier in range(sizes.shape[0] - 1, -1, -1):
        layer = start_layer(tier, linear, pairs_transposed, sizes, binomials)
        ways_before = np.zeros(starts[tier + 1] - starts[tier])
        labels_before = np.zeros((limit, n_items), np.int64)
        ranks_before = np.zeros(limit, np.int64)
        # A plain 0 would have what is called with it compiled once more.
        n_found = np.int64(0)
        for rank in range(ways.shape[0]):
            if ways[rank] == 0.0:
                continue
            go_to_set(layer, rank)
            least = values[starts[tier + 1] + rank] + tolerance
            while True:
                for position in range(layer.chosen[1]):
                    before = layer.ranks[1] + layer.keys[0, position]
                    cost = layer.costs[1] + layer.weights[position]
                    if values[starts[tier] + before] + cost > least:
                        continue
                    ways_before[before] += ways[rank]
                    layer.chosen[0] = position
                    # Every set on the way has a best choice, so the limit leaves no loose ends.
                    for row in range(ranks.shape[0]):
                        if ranks[row] == rank and n_found < limit:
                            copy_with_last_tier(layer, labels, row, labels_before, n_found)
                            ranks_before[n_found] = before
                            n_found += 1
                if not next_choice(layer):
                    break
        ways = ways_before
        labels, ranks = labels_before[:n_found], ranks_before[:n_found]
    return float(ways[0]), labels
