"""Hamming, and any distance of two tiers that is a multiple of it: the rook polynomial.

Since ``exp(theta)^m`` is the sum of ``(exp(theta) - 1)^size`` over subsets of ``m`` matches, the
partition function is a sum over the number ``k`` of items that are forced into the blocks of their
tiers, the others being anywhere: ``exp(-theta n) sum_k r_k (n - k)! (exp(theta) - 1)^k``, with rook
numbers ``r``. Every term is positive.
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

if TYPE_CHECKING:
    import numpy.typing as npt


# Up to this many items exact counts take some milliseconds; beyond, everything is in logarithms.
MOST_ITEMS_FOR_DISTRIBUTION = 200


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
        from tierwise._kernels.hamming import log_factorial_moment

        n_items, unit = self.n_items, self.rule.unit
        theta *= unit
        terms = self._log_terms(self._log_rooks[-1], n_items, theta)
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
                exp(log_factorial_moment(self._log_rooks[-1], n_items, theta, order) - log_value)
                for order in (1, 2)
            )
            mean = n_items - matches
            variance = pairs + matches - matches * matches
        return self._known(log_value, unit * mean, unit**2 * variance)

    @staticmethod
    def _log_terms(
        log_rooks: npt.NDArray[np.float64], n_items: int, theta: float
    ) -> npt.NDArray[np.float64]:
        """Log terms of the sum over forced items."""
        forced = np.arange(len(log_rooks))
        log_chance = log(-expm1(-theta)) if theta > 0 else -inf
        powers = np.zeros(len(log_rooks))
        np.multiply(forced, log_chance, out=powers, where=forced > 0)
        free = n_items - forced
        return log_rooks + _log_factorials(n_items)[free] - theta * free + powers

    @cached_property
    def _log_rooks(self) -> npt.NDArray[np.float64]:
        from tierwise._kernels.hamming import log_rook_numbers

        sizes = np.array(self.sizes, dtype=np.int64)
        return log_rook_numbers(sizes, sizes)

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
        from tierwise._kernels.hamming import draw_matchings
        from tierwise._kernels.orderings import shuffle_within_blocks

        terms = self._log_terms(self._log_rooks[-1], self.n_items, theta * self.rule.unit)
        cumulative = np.cumsum(np.exp(terms - terms.max()))
        forced = np.searchsorted(cumulative, rng.random(n_rows) * cumulative[-1], side="right")
        forced = np.minimum(forced, self.n_items)
        sizes = np.array(self.sizes, dtype=np.int64)
        sequences = draw_matchings(self._log_rooks, sizes, forced.astype(np.int64), rng)
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
        from tierwise._kernels.hamming import log_rook_numbers

        places = np.array(self.sizes, dtype=np.int64)
        items = places.copy()
        places[block] -= 1
        items[label] -= 1
        rooks = log_rook_numbers(places, items)[-1]
        per_unit = theta * self.rule.unit
        board = np.logaddexp.reduce(self._log_terms(rooks, self.n_items - 1, per_unit))
        mismatch = per_unit if block != label else 0.0
        choices = self.sizes[block] * self.sizes[label]
        return choices * exp(float(board) - mismatch - float(self.log_value(theta)))


def _log_factorials(largest: int) -> npt.NDArray[np.float64]:
    """Log factorials of 0, 1, ..., ``largest``."""
    logs = np.zeros(largest + 1)
    np.cumsum(np.log(np.arange(1, largest + 1)), out=logs[1:])
    return logs
