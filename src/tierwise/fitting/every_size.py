"""Size vectors of few items fitted all at once, or only the best of them, by branch and bound.

What does not depend on the answers, the number of orderings at each distance above all, is computed
once. The costs of all size vectors are sums of the same joint counts of places; a kernel does the
rest.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.every_size import (
    CountedAnswers,
    SizeVectors,
    best_size_vectors,
    bound_size_vectors,
    fit_size_vectors,
)
from tierwise.consensus.problem import MAX_ALTERNATIVES
from tierwise.data.counts import BlockCounts, Counts
from tierwise.distances import Distance
from tierwise.partition.base import PartitionFunction
from tierwise.partition.choose import partition_function
from tierwise.tiers import Sizes, compositions, log_number_of_tiers

# Beyond, there are too many size vectors to fit all of them in passing.
MOST_ITEMS = 10
# So many, where pairs count and bounds leave few size vectors to be fitted: 2,048 in half a second.
MOST_ITEMS_BY_PAIRS = 12


def can_be_together(n_items: int, distance: Distance) -> bool:
    """Return whether the size vectors of some items can be evaluated at the same time.

    Examples
    --------
    >>> from tierwise.distances import get_distance
    >>> can_be_together(12, get_distance("kendall")), can_be_together(12, get_distance("spearman"))
    (True, False)
    """
    if n_items <= MOST_ITEMS:
        return True
    return n_items <= MOST_ITEMS_BY_PAIRS and not distance.rule((1,) * n_items).additive


class FittedSizes(NamedTuple):
    """The closest tiers of some size vectors, one row for each."""

    rows: NDArray[np.int64]
    """``[row]``: the number of each size vector in `EverySize.sizes`."""
    labels: NDArray[np.int64]
    """``[row, item]``: tiers, counted from 0."""
    thetas: NDArray[np.float64]
    totals: NDArray[np.float64]
    """Distance of all answers from the tiers."""
    log_likelihoods: NDArray[np.float64]


class BoundedSizes(NamedTuple):
    """How well tiers of some size vectors can fit at best, one row for each."""

    rows: NDArray[np.int64]
    """As in `FittedSizes`."""
    totals: NDArray[np.float64]
    """No tiers of these sizes are closer to the answers."""
    log_likelihoods: NDArray[np.float64]
    """None have a larger one."""


class OrdersByDistance(NamedTuple):
    """How many orderings have each distance, for one size vector."""

    shares: NDArray[np.float64]
    """``[units]``: relative to those at distance 0."""
    log_orders: float
    """Log number of orderings at distance 0."""
    unit: float
    """The distance that a unit is."""

    @classmethod
    def of(cls, partition: PartitionFunction, unit: float) -> "OrdersByDistance":
        """Take them from an exact partition function."""
        known = partition.distribution()
        units = np.rint(known.distances / unit).astype(np.int64)
        shares = np.zeros(1 + units[-1])
        shares[units] = np.exp(known.log_counts - known.log_counts[0])
        return cls(shares, float(known.log_counts[0]), unit)


class EverySize:
    """All size vectors of some items.

    Parameters
    ----------
    n_items
        The number of items, few enough by `can_be_together`.
    distance
        The distance.

    Examples
    --------
    >>> from tierwise.data.rankings import Rankings
    >>> from tierwise.distances import get_distance
    >>> rankings = Rankings.from_orderings([["a", "b", "c"], ["a", "c", "b"]] * 9)
    >>> every = EverySize(3, get_distance("kendall"))
    >>> best = every.best(Counts.of(rankings), number=2)
    >>> every.sizes[best.rows[0]], best.labels[0].tolist(), best.thetas[0].item()
    ((1, 2), [0, 1, 1], inf)
    """

    def __init__(self, n_items: int, distance: Distance) -> None:
        self.distance = distance
        self.sizes = list(compositions(n_items))
        rules = [distance.rule(sizes) for sizes in self.sizes]
        self._rule = rules[0]
        # Of each size vector: what an item costs in a tier, by its place, and in any place.
        self._placing = np.zeros((len(self.sizes), n_items, n_items))
        self._anywhere = np.zeros_like(self._placing)
        for row, (sizes, rule) in enumerate(zip(self.sizes, rules, strict=True)):
            block_of_place = distance.block_of_place(sizes)
            self._placing[row, :, : len(sizes)] = (rule.placing * rule.unit)[block_of_place]
            anywhere = costs_anywhere(sizes, distance)
            if anywhere.size:
                self._anywhere[row, :, : len(sizes)] = anywhere
        self._has_linear = bool(self._placing.any() or self._anywhere.any())

    @cached_property
    def vectors(self) -> SizeVectors:
        """All size vectors, and how many orderings have each distance from tiers of these."""
        unit, n_items = self._rule.unit, sum(self.sizes[0])
        by_sizes: dict[Sizes, OrdersByDistance] = {}
        for sizes in self.sizes:
            same = by_sizes.get(sizes[::-1]) if self._can_be_turned(sizes) else None
            by_sizes[sizes] = same or OrdersByDistance.of(
                partition_function(sizes, self.distance), unit
            )
        known = list(by_sizes.values())
        shares = np.zeros((len(known), max(len(one.shares) for one in known)))
        for row, one in zip(shares, known, strict=True):
            row[: len(one.shares)] = one.shares
        return SizeVectors(
            sizes=_padded(self.sizes, n_items),
            blocks=_padded([self.distance.blocks(sizes) for sizes in self.sizes], n_items),
            log_numbers=np.array([log_number_of_tiers(sizes) for sizes in self.sizes]),
            shares=shares,
            log_orders=np.array([one.log_orders for one in known]),
            unit=unit,
        )

    def _can_be_turned(self, sizes: Sizes) -> bool:
        """Return whether as many orderings have each distance if the last tier comes first.

        So it is where pairs alone count: all of them are reversed.
        """
        upside_down = self.distance.blocks(sizes[::-1]) == self.distance.blocks(sizes)[::-1]
        return upside_down and not self._placing.any()

    @cached_property
    def _row_of(self) -> dict[Sizes, int]:
        return {sizes: row for row, sizes in enumerate(self.sizes)}

    def fit(self, counts: Counts, batch: Sequence[Sizes]) -> FittedSizes:
        """Fit each of some size vectors."""
        return self._fitted(self._answers(counts), self._rows(batch))

    def bound(self, counts: Counts, batch: Sequence[Sizes]) -> BoundedSizes:
        """Bound how well tiers of some size vectors can fit, without finding any."""
        rows = self._rows(batch)
        return BoundedSizes(rows, *bound_size_vectors(self.vectors, self._answers(counts), rows))

    def best(self, counts: Counts, number: int) -> FittedSizes:
        """Fit those of the largest log-likelihood less log number of tiers, the largest first."""
        answers = self._answers(counts)
        rows, _ = best_size_vectors(self.vectors, answers, number)
        return self._fitted(answers, rows)

    def _rows(self, batch: Sequence[Sizes]) -> NDArray[np.int64]:
        return np.array([self._row_of[sizes] for sizes in batch], dtype=np.int64)

    def _fitted(self, answers: CountedAnswers, rows: NDArray[np.int64]) -> FittedSizes:
        # As many are listed as by `tierwise.consensus.subsets`, so the same tiers come first.
        n_listed = MAX_ALTERNATIVES + 1
        return FittedSizes(rows, *fit_size_vectors(self.vectors, answers, rows, n_listed))

    def _answers(self, counts: Counts) -> CountedAnswers:
        """Return what answers cost in tiers of any sizes."""
        linear, ahead = np.empty((0, 0, 0)), np.empty((0, 0, 0, 0))
        if self._has_linear:
            linear = counts.places.astype(np.float64) @ self._placing
            linear += float(counts.n_rankings) * self._anywhere
        if not self._rule.additive:
            ahead = _counts_ahead(counts.joint) * (self._rule.misplaced * self._rule.unit)
        return CountedAnswers(linear, ahead, float(counts.n_rankings))


@lru_cache(4)
def every_size(n_items: int, distance: Distance) -> EverySize:
    """Return all size vectors of some items; what was computed for them before is kept."""
    return EverySize(n_items, distance)


def costs_anywhere(sizes: Sizes, distance: Distance) -> NDArray[np.float64]:
    """Return what a ranking costs in tiers wherever items are: ``[item, tier]``, or empty."""
    n_items, blocks = sum(sizes), distance.blocks(sizes)
    nothing = BlockCounts(
        tuple(range(n_items)),
        blocks,
        membership=np.zeros((n_items, len(blocks))),
        precedence=np.zeros((n_items, n_items)),
        n_rankings=1.0,
    )
    return distance.costs(nothing, sizes).linear


def _padded(vectors: list[Sizes], length: int) -> NDArray[np.int64]:
    """One row for each, filled up with zeros."""
    rows = np.zeros((len(vectors), length), dtype=np.int64)
    for row, vector in zip(rows, vectors, strict=True):
        row[: len(vector)] = vector
    return rows


def _counts_ahead(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    """``[start, end, b, a]``: how often a lies between two places, and b behind both."""
    n_items = len(joint)
    # behind[place, end]: a is in the place, b behind the end.
    behind = np.zeros((n_items, n_items + 1, n_items, n_items))
    behind[:, :-1] = np.cumsum(joint.transpose(1, 3, 2, 0)[:, ::-1], axis=1)[:, ::-1]
    ahead = np.zeros((n_items + 1, n_items + 1, n_items, n_items))
    for start in range(n_items - 1, -1, -1):
        ahead[start, start + 1 :] = ahead[start + 1, start + 1 :] + behind[start, start + 1 :]
    return ahead
