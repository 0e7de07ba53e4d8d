"""Hamming, and any distance of two tiers that is a multiple of it: the rook polynomial.

Since ``exp(theta)^m`` is the sum of ``(exp(theta) - 1)^size`` over subsets of ``m`` matches, the
partition function is a sum over the number ``k`` of items that are forced into the blocks of their
tiers, the others being anywhere: ``exp(-theta n) sum_k r_k (n - k)! (exp(theta) - 1)^k``, with rook
numbers ``r``. Every term is positive.

A board says how many places are free in the block of each tier, and how many items of the tier are
left. That of a model has all places and items; lists of the best items leave others.
"""

from __future__ import annotations

from functools import cached_property
from math import comb, exp, expm1, factorial, inf, log
from typing import TYPE_CHECKING

import numpy as np

from tierwise.partition.base import (
    DistanceDistribution,
    ExactPartition,
    Moments,
    check_items_of_distribution,
    from_exact_counts,
)
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt


# Up to this many items exact counts take some milliseconds; beyond, everything is in logarithms.
MOST_ITEMS_FOR_DISTRIBUTION = 200
# Stands for the logarithm of 0 where it is subtracted from itself.
_LEAST_LOG = -1e300


class RookPartition(ExactPartition):
    """Partition function of the Hamming model, any sizes, thousands of items."""

    method = "rook"

    def _moments(self, theta: float) -> Moments:
        if self.n_items <= MOST_ITEMS_FOR_DISTRIBUTION:
            distribution = self.distribution()
            return self._from_counts(distribution.distances, distribution.log_counts, theta)
        return self._moments_by_forcing(theta)

    def log_values(self, thetas: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Log values at many thetas."""
        if self.n_items > MOST_ITEMS_FOR_DISTRIBUTION:
            return super().log_values(thetas)
        known = self.distribution()
        return self._log_values_from_counts(known.distances, known.log_counts, thetas)

    def _moments_by_forcing(self, theta: float) -> Moments:
        """Moments through the number of forced items, in logarithms."""
        n_items, unit = self.n_items, self.rule.unit
        theta *= unit
        terms = log_terms(self._log_rooks[-1], n_items, theta)
        peak = float(terms.max())
        weights = np.exp(terms - peak)
        total = float(weights.sum())
        log_value = peak + log(total)
        forced = np.arange(n_items + 1)
        # A match is forced with this chance; a mismatch never is.
        chance = -expm1(-theta)
        if chance > 0.5:
            mean_forced = float(weights @ forced) / total
            free = float(weights @ (n_items - forced)) / total
            spread = float(weights @ (forced - mean_forced) ** 2) / total
            mean = free - mean_forced * exp(-theta) / chance
            variance = (spread - mean_forced * exp(-theta)) / chance**2
        else:
            # Factorial moments of the number of matches: whole at a theta of 0 too.
            matches, pairs = (
                float(
                    np.exp(log_terms(self._log_rooks[-1], n_items, theta, order) - log_value).sum()
                )
                for order in (1, 2)
            )
            mean = n_items - matches
            variance = pairs + matches - matches * matches
        return self._known(log_value, unit * mean, unit**2 * variance)

    @cached_property
    def _log_rooks(self) -> npt.NDArray[np.float64]:
        """Log rook numbers of the first tiers: of none of them, of one, and so on to all."""
        sizes = np.array([self.sizes], dtype=np.int64)
        log_rooks = np.full((len(self.sizes) + 1, self.n_items + 1), -inf)
        for tier, rooks in enumerate(_rooks_by_tier(sizes, sizes)):
            log_rooks[tier, : rooks.shape[1]] = rooks
        return log_rooks

    @cached_property
    def _distribution(self) -> DistanceDistribution:
        n_items = self.n_items
        rooks = [1]
        for size in self.sizes:
            ways = [comb(size, chosen) ** 2 * factorial(chosen) for chosen in range(size + 1)]
            longer = [0] * (len(rooks) + size)
            for forced, number in enumerate(rooks):
                for chosen, way in enumerate(ways):
                    longer[forced + chosen] += number * way
            rooks = longer
        ways = [number * factorial(n_items - forced) for forced, number in enumerate(rooks)]
        # Subsets of forced matches, turned into exact numbers of matches.
        counts = [
            sum(
                (-1) ** (forced - matches) * comb(forced, matches) * ways[forced]
                for forced in range(matches, n_items + 1)
            )
            for matches in range(n_items, -1, -1)
        ]
        return from_exact_counts(counts, self.rule.unit)

    def distribution(self) -> DistanceDistribution:
        """Return the number of orderings at each distance."""
        check_items_of_distribution(self.n_items, MOST_ITEMS_FOR_DISTRIBUTION)
        return self._distribution

    def _draw_sequences(
        self, theta: float, n_rows: int, rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Draw how many items are forced, split them over the tiers, and shuffle the others."""
        from tierwise._kernels.orderings import draw_matchings, shuffle_within_blocks

        terms = log_terms(self._log_rooks[-1], self.n_items, theta * self.rule.unit)
        cumulative = np.cumsum(np.exp(terms - terms.max()))
        forced = np.searchsorted(cumulative, rng.random(n_rows) * cumulative[-1], side="right")
        forced = np.minimum(forced, self.n_items)
        sizes = np.array(self.sizes, dtype=np.int64)
        ways, forced = _log_placements(sizes, sizes), forced.astype(np.int64)
        sequences = draw_matchings(self._log_rooks, ways, sizes, forced, rng)
        shuffle_within_blocks(sequences, sizes, rng)
        return sequences

    def _expected_table(self, theta: float) -> npt.NDArray[np.float64]:
        """Return the expected table: one item is fixed in a place, the others fill the rest.

        An entry depends on the sizes of the two tiers only, and on whether they are the same.
        """
        sizes = np.array(self.sizes, dtype=np.int64)
        table = np.empty((len(sizes), len(sizes)))
        shares: dict[tuple[int, int, bool], float] = {}
        for block, places in enumerate(self.sizes):
            for label, items in enumerate(self.sizes):
                key = (min(places, items), max(places, items), block == label)
                if key not in shares:
                    shares[key] = self._share(theta, block, label)
                table[block, label] = shares[key]
        return table

    def _share(self, theta: float, block: int, label: int) -> float:
        """Return the expected number of items of a label in a block."""
        places = np.array([self.sizes], dtype=np.int64)
        items = places.copy()
        places[0, block] -= 1
        items[0, label] -= 1
        per_unit = theta * self.rule.unit
        rooks = log_rook_numbers(places, items)[0]
        board = log_sums(log_terms(rooks, self.n_items - 1, per_unit))
        mismatch = per_unit if block != label else 0.0
        choices = self.sizes[block] * self.sizes[label]
        return choices * exp(float(board) - mismatch - float(self.log_value(theta)))


def log_rook_numbers(
    places: npt.NDArray[np.int64], items: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """``[board, k]``: log number of ways to force ``k`` items into the blocks of their tiers.

    Parameters
    ----------
    places, items
        ``[board, tier]``: how many places a tier has in its block, and how many items.

    Examples
    --------
    >>> np.exp(log_rook_numbers(np.array([[1, 2]]), np.array([[2, 1]]))).round(6)
    array([[1., 4., 4.]])
    """
    *_, rooks = _rooks_by_tier(places, items)
    return rooks


def _rooks_by_tier(
    places: npt.NDArray[np.int64], items: npt.NDArray[np.int64]
) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the rook numbers of no tier, of the first, of the first two, and so on."""
    rooks = np.zeros((len(places), 1))
    yield rooks
    most_forced = np.minimum(places, items).cumsum(axis=1).max(axis=0)
    for tier, most in enumerate(most_forced.tolist()):
        rooks = _add_tier(rooks, _log_placements(places[:, tier], items[:, tier]), most)
        yield rooks


def _add_tier(
    rooks: npt.NDArray[np.float64], ways: npt.NDArray[np.float64], most: int
) -> npt.NDArray[np.float64]:
    """Multiply polynomials row by row, coefficients being in logarithms, up to a degree."""
    peaks, sums = np.full((len(rooks), most + 1), _LEAST_LOG), np.zeros((len(rooks), most + 1))
    for chosen in range(min(ways.shape[1], most + 1)):
        reached = peaks[:, chosen : chosen + rooks.shape[1]]
        terms = rooks[:, : reached.shape[1]] + ways[:, chosen, None]
        np.maximum(reached, terms, out=reached)
    for chosen in range(min(ways.shape[1], most + 1)):
        reached = peaks[:, chosen : chosen + rooks.shape[1]]
        terms = rooks[:, : reached.shape[1]] + ways[:, chosen, None]
        terms -= reached
        sums[:, chosen : chosen + rooks.shape[1]] += np.exp(terms, out=terms)
    with np.errstate(divide="ignore"):
        np.log(sums, out=sums)
    sums += peaks
    return sums


def _log_placements(
    places: npt.NDArray[np.int64], items: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """``[row, k]``: log number of ways to put ``k`` of the items into as many of the places."""
    logs = log_factorials(int(max(places.max(), items.max())))
    chosen = np.arange(int(np.minimum(places, items).max()) + 1)
    places_left, items_left = places[:, None] - chosen, items[:, None] - chosen
    ways: npt.NDArray[np.float64] = (logs[places] + logs[items])[:, None]
    ways = ways - logs[places_left] - logs[items_left]
    ways -= logs[chosen]
    ways[np.minimum(places_left, items_left) < 0] = -inf
    return ways


def log_sums_without(
    places: npt.NDArray[np.int64], items: npt.NDArray[np.int64], theta: float
) -> npt.NDArray[np.float64]:
    """``[board, block]``: log sum of ``exp(-theta d)`` if a place less is free in a block.

    Parameters
    ----------
    places, items
        ``[board, tier]``: free places, one more than there are items, and items.
    theta
        Theta of a mismatch.
    """
    n_items = items.sum(axis=1)
    most, n_tiers = int(n_items.max()), places.shape[1]
    # Sums over the tiers from each one on, by how many may still be forced.
    onward = [log_terms(np.zeros((len(places), most + 1)), n_items, theta)[:, ::-1]]
    ways = [_log_placements(places[:, tier], items[:, tier]) for tier in range(n_tiers)]
    for tier in range(n_tiers - 1, 0, -1):
        onward.append(_add_tier(onward[-1], ways[tier], most))
    rooks, sums = np.zeros((len(places), 1)), np.empty(places.shape)
    for tier in range(n_tiers):
        fewer = _add_tier(rooks, _log_placements(places[:, tier] - 1, items[:, tier]), most)
        sums[:, tier] = log_sums(fewer + onward.pop()[:, ::-1])
        rooks = _add_tier(rooks, ways[tier], most)
    return sums


def log_terms(
    log_rooks: npt.NDArray[np.float64],
    n_items: int | npt.NDArray[np.int64],
    theta: float,
    order: int = 0,
) -> npt.NDArray[np.float64]:
    """Log terms of the sum over orderings of ``m (m - 1) ... exp(-theta d)``, with ``m`` matches.

    Parameters
    ----------
    log_rooks
        ``[..., k]``: log rook numbers.
    n_items
        Number of items, of each row if rows differ.
    theta
        Theta of a mismatch.
    order
        Number of factors that are numbers of matches.
    """
    forced = np.arange(log_rooks.shape[-1])
    free = np.maximum(np.asarray(n_items)[..., None] - forced, 0)
    logs = log_factorials(int(np.max(n_items)))
    # The weight of a forced match, less than that of an unforced mismatch by the latter.
    log_chance = log(-expm1(-theta)) if theta > 0.0 else -inf
    powers = np.full(len(forced), -inf)
    powers[order:] = logs[forced[order:]] - logs[forced[order:] - order]
    powers[order + 1 :] += (forced[order + 1 :] - order) * log_chance
    terms: npt.NDArray[np.float64] = log_rooks + logs[free] - theta * free + powers
    return terms


def log_sums(terms: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Log of the sums of exponentials, row by row."""
    peaks = np.maximum(terms.max(axis=-1, keepdims=True), _LEAST_LOG)
    with np.errstate(divide="ignore"):
        sums: npt.NDArray[np.float64] = np.log(np.exp(terms - peaks).sum(axis=-1))
    sums += peaks[..., 0]
    return sums
