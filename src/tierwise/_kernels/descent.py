"""Trading tiers between pairs of items until no trade is an improvement."""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@compiled
def _tier_costs(
    labels: _Integers, linear: _Floats, pairs: _Floats, pairs_transposed: _Floats, n_tiers: int
) -> _Floats:
    """Entry ``[a, l]``: all costs that involve ``a``, were it in tier ``l`` and no other moved."""
    n_items = labels.shape[0]
    costs = np.zeros((n_items, n_tiers))
    for item in range(n_items):
        if pairs.shape[0] > 0:
            # First by the tier of the other item, then summed over better and over worse tiers.
            from_worse = np.zeros(n_tiers)
            for other in range(n_items):
                costs[item, labels[other]] += pairs[item, other]
                from_worse[labels[other]] += pairs_transposed[item, other]
            for tier in range(1, n_tiers):
                costs[item, tier] += costs[item, tier - 1]
            running = 0.0
            for tier in range(n_tiers - 1, -1, -1):
                running += from_worse[tier]
                costs[item, tier] += running
        if linear.shape[0] > 0:
            for tier in range(n_tiers):
                costs[item, tier] += linear[item, tier]
    return costs


@compiled
def _move(
    costs: _Floats,
    pairs: _Floats,
    pairs_transposed: _Floats,
    labels: _Integers,
    item: int,
    target: int,
) -> None:
    """Put an item in another tier and bring the costs of all others up to date."""
    source = labels[item]
    labels[item] = target
    upper, lower = min(source, target), max(source, target)
    sign = 1.0 if source < target else -1.0
    for other in range(pairs.shape[0]):
        for tier in range(upper, lower):
            costs[other, tier] -= sign * pairs_transposed[item, other]
            costs[other, tier + 1] += sign * pairs[item, other]


@compiled
def descend(
    labels: _Integers,
    linear: _Floats,
    pairs: _Floats,
    pairs_transposed: _Floats,
    n_tiers: int,
    tolerance: float,
) -> None:
    """Swap labels, in place, as long as a swap of two improves the total by over a tolerance."""
    n_items = labels.shape[0]
    costs = _tier_costs(labels, linear, pairs, pairs_transposed, n_tiers)
    improved = True
    while improved:
        improved = False
        for first in range(n_items):
            for second in range(first):
                one, other = labels[first], labels[second]
                if one == other:
                    continue
                change = costs[first, other] - costs[first, one]
                change += costs[second, one] - costs[second, other]
                if pairs.shape[0] > 0:
                    # Each of the two was priced as if the other stayed where it is.
                    change -= pairs[first, second] + pairs[second, first]
                if change < -tolerance:
                    _move(costs, pairs, pairs_transposed, labels, first, other)
                    _move(costs, pairs, pairs_transposed, labels, second, one)
                    improved = True
