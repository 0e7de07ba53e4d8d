"""Rook polynomials of the Hamming distance, for complete orderings and for lists of the best items.

A list of the best items leaves a rectangular board of free places and items left. Items are forced
into the blocks of their own tiers in all possible numbers, the others being anywhere. Every term is
positive, and in logarithms.
"""

from math import lgamma

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@compiled_part
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
def log_rook_numbers(places: _Integers, items: _Integers) -> _Floats:
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
    rooks: _Floats, sizes: _Integers, forced: _Integers, rng: np.random.Generator
) -> _Integers:
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


@compiled
def log_factorial_moment(log_rooks: _Floats, n_left: int, theta: float, order: int) -> float:
    """Log of the sum over orderings of ``m (m - 1) ... exp(-theta d)``, with ``m`` matches."""
    # The weight of a forced match, less than that of an unforced mismatch by the latter.
    log_chance = np.log(-np.expm1(-theta)) if theta > 0.0 else -np.inf
    peak = -np.inf
    terms = np.empty(log_rooks.shape[0])
    for forced in range(order, log_rooks.shape[0]):
        term = log_rooks[forced] + lgamma(n_left - forced + 1.0) - theta * (n_left - forced)
        term += lgamma(forced + 1.0) - lgamma(forced - order + 1.0)
        if forced > order:
            term += (forced - order) * log_chance
        terms[forced] = term
        peak = max(peak, term)
    if peak == -np.inf:
        return peak
    total = 0.0
    for forced in range(order, log_rooks.shape[0]):
        total += np.exp(terms[forced] - peak)
    return float(peak + np.log(total))


@compiled_part
def _log_sum(places: _Integers, items: _Integers, theta: float) -> float:
    """Log of the sum of ``exp(-theta d)`` over all ways to put items into places."""
    log_rooks = log_rook_numbers(places, items)[places.shape[0]]
    return log_factorial_moment(log_rooks, items.sum(), theta, 0)


@compiled_part
def _write_places(block: int, free: int, sizes: _Integers, places: _Integers) -> None:
    """Write down how many places are free in each block."""
    for tier in range(sizes.shape[0]):
        places[tier] = sizes[tier] if tier > block else 0
    places[block] = free


@compiled
def value_boards(
    items: _Integers, blocks_and_free: _Integers, sizes: _Integers, theta: float
) -> _Floats:
    """Log sum, mean and mean square of the distance, for items left by tier, one row per board."""
    results = np.empty((items.shape[0], 3))
    places = np.empty(sizes.shape[0], dtype=np.int64)
    for row in range(items.shape[0]):
        _write_places(blocks_and_free[row, 0], blocks_and_free[row, 1], sizes, places)
        n_left = items[row].sum()
        log_rooks = log_rook_numbers(places, items[row])[places.shape[0]]
        log_total = log_factorial_moment(log_rooks, n_left, theta, 0)
        matches = np.exp(log_factorial_moment(log_rooks, n_left, theta, 1) - log_total)
        pairs = np.exp(log_factorial_moment(log_rooks, n_left, theta, 2) - log_total)
        mean = n_left - matches
        results[row, 0] = log_total
        results[row, 1] = mean
        results[row, 2] = mean * mean + pairs + matches - matches * matches
    return results


@compiled
def expect_boards(
    items: _Integers, blocks_and_free: _Integers, sizes: _Integers, theta: float
) -> _Floats:
    """``tables[row, block, tier]``: expected number of items of a tier in a block.

    One item is fixed in a place, and the others fill the rest.
    """
    n_tiers = sizes.shape[0]
    tables = np.zeros((items.shape[0], n_tiers, n_tiers))
    places = np.empty(n_tiers, dtype=np.int64)
    left = np.empty(n_tiers, dtype=np.int64)
    for row in range(items.shape[0]):
        _write_places(blocks_and_free[row, 0], blocks_and_free[row, 1], sizes, places)
        for tier in range(n_tiers):
            left[tier] = items[row, tier]
        log_total = _log_sum(places, left, theta)
        for block in range(n_tiers):
            for tier in range(n_tiers):
                ways = places[block] * left[tier]
                if ways == 0:
                    continue
                places[block] -= 1
                left[tier] -= 1
                log_rest = _log_sum(places, left, theta)
                places[block] += 1
                left[tier] += 1
                mismatch = theta if block != tier else 0.0
                tables[row, block, tier] = ways * np.exp(log_rest - mismatch - log_total)
    return tables
