"""Hamming: placements of items that are forced into the blocks of their own tiers."""

from math import lgamma

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled


@compiled
def _log_placements(places: int, items: int, chosen: int) -> float:
    """Log number of ways to put ``chosen`` of the items into as many of the places."""
    return (
        lgamma(places + 1)
        - lgamma(places - chosen + 1)
        + lgamma(items + 1)
        - lgamma(items - chosen + 1)
        - lgamma(chosen + 1)
    )


@compiled
def log_rook_numbers(
    places: npt.NDArray[np.int64], items: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """``rooks[t, k]``: log number of ways to force ``k`` items of the first ``t`` tiers into place.

    Tier ``t`` has ``places[t]`` free places in its block, and ``items[t]`` items.
    """
    n_tiers = places.shape[0]
    rooks = np.full((n_tiers + 1, np.minimum(places, items).sum() + 1), -np.inf)
    rooks[0, 0] = 0.0
    degree = 0
    for tier in range(n_tiers):
        most = min(places[tier], items[tier])
        ways = np.empty(most + 1)
        for chosen in range(most + 1):
            ways[chosen] = _log_placements(places[tier], items[tier], chosen)
        for forced in range(degree + most + 1):
            fewest = max(0, forced - degree)
            peak = -np.inf
            for chosen in range(fewest, min(forced, most) + 1):
                peak = max(peak, rooks[tier, forced - chosen] + ways[chosen])
            total = 0.0
            for chosen in range(fewest, min(forced, most) + 1):
                total += np.exp(rooks[tier, forced - chosen] + ways[chosen] - peak)
            rooks[tier + 1, forced] = peak + np.log(total)
        degree += most
    return rooks


@compiled
def draw_matchings(
    rooks: npt.NDArray[np.float64],
    sizes: npt.NDArray[np.int64],
    forced: npt.NDArray[np.int64],
    rng: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Draw label sequences with ``forced[row]`` items forced into the blocks of their tiers."""
    n_tiers = sizes.shape[0]
    n_items = sizes.sum()
    sequences = np.empty((forced.shape[0], n_items), dtype=np.int64)
    split = np.empty(n_tiers, dtype=np.int64)
    pool = np.empty(n_items, dtype=np.int64)
    for row in range(forced.shape[0]):
        left = forced[row]
        in_pool = 0
        for tier in range(n_tiers - 1, -1, -1):
            # Where rounding leaves a remainder after the last choice, the last possible one stands.
            remainder = rng.random()
            split[tier] = 0
            for chosen in range(min(left, sizes[tier]) + 1):
                weight = np.exp(
                    rooks[tier, left - chosen]
                    + _log_placements(sizes[tier], sizes[tier], chosen)
                    - rooks[tier + 1, left]
                )
                if weight > 0.0:
                    split[tier] = chosen
                    remainder -= weight
                if remainder < 0.0:
                    break
            left -= split[tier]
            for _ in range(sizes[tier] - split[tier]):
                pool[in_pool] = tier
                in_pool += 1
        place = 0
        for block in range(n_tiers):
            for position in range(sizes[block]):
                if position < split[block]:
                    sequences[row, place] = block
                else:
                    drawn = int(rng.random() * in_pool)
                    in_pool -= 1
                    sequences[row, place] = pool[drawn]
                    pool[drawn] = pool[in_pool]
                place += 1
    return sequences
