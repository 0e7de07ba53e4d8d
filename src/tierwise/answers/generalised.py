"""Answers where every part of the distance has a theta: what they say about each part.

Answers that say which items lie in which block enter through the total of each part. Where the
parts are independent, answers may be incomplete: weak orders by tier (strict orders, and
inversions of any sizes), and lists of the best items by place (strict orders). All other
incomplete answers are refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.counting import add_block_pair_counts
from tierwise.answers.base import log_numbers_of_groups
from tierwise.answers.curves import CurveOfLines, CurveOfParts
from tierwise.data.counts import Counts, WeakOrderCounts, block_counts, blocks_are_known
from tierwise.errors import InputError, TooLargeError, use
from tierwise.files.places import first_places, sizes_of_groups
from tierwise.partition.gaussian import log_probabilities as log_probabilities_of_lines
from tierwise.partition.generalised import (
    ClosedParts,
    LineParts,
    RecursionParts,
    StrictPlaceParts,
)
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    from tierwise._util.types import Places
    from tierwise.answers.curves import CurveOfThetas
    from tierwise.data.rankings import Rankings
    from tierwise.partition.base import PartitionFunction

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# Pairs of items by block that are counted at the same time: 160 MB.
_MOST_NUMBERS = 20_000_000


class GeneralisedAnswers(ABC):
    """Answers at given sizes; made by `AnswerSource.with_thetas`.

    Attributes
    ----------
    partition
        The partition function.
    n_rankings
        Number of rankings, the sum of their weights.
    log_completions
        Sum over answers of the log number of complete orderings that agree with each.
    """

    def __init__(
        self, partition: PartitionFunction, n_rankings: float, log_completions: float
    ) -> None:
        self.partition = partition
        self.n_rankings = float(n_rankings)
        self.log_completions = log_completions

    @abstractmethod
    def curve(self, labels: _Integers) -> CurveOfThetas:
        """Return what the answers say about the thetas of given tiers, counted from 0."""

    @property
    @abstractmethod
    def pairs(self) -> _Floats:
        """How often one item (row) precedes another, in all or, by place, block by block."""


class AnswersByTier(GeneralisedAnswers):
    """Kendall by tier, blocks known: how often items lie in an earlier block than others."""

    def __init__(
        self,
        partition: PartitionFunction,
        pairs: _Floats,
        n_rankings: float,
        log_completions: float,
    ) -> None:
        super().__init__(partition, n_rankings, log_completions)
        self._pairs = np.ascontiguousarray(pairs, dtype=np.float64)

    @property
    def pairs(self) -> _Floats:
        """How often one item (row) lies in an earlier block than another."""
        return self._pairs

    def curve(self, labels: _Integers) -> CurveOfThetas:
        """Sum pairs by their better tier."""
        charged = (self.pairs * _wrong(labels)).sum(axis=0)
        totals: _Floats = np.bincount(labels, weights=charged).astype(np.float64)
        return CurveOfParts(
            self.partition,
            totals[: self.partition.n_parts],
            self.log_completions,
            self.n_rankings,
        )


class AnswersByPlace(GeneralisedAnswers):
    """By block of the earlier item: how often items precede others, block by block.

    Parameters
    ----------
    partition
        The partition function.
    pairs
        ``pairs[block, a, b]``: how often ``a`` lies in the block and ``b`` in a later one.
    n_listing
        How many rankings say what lies in each block, where parts are independent.
    n_rankings, log_completions
        As for all answers.
    """

    def __init__(
        self,
        partition: PartitionFunction,
        pairs: _Floats,
        n_listing: _Floats,
        n_rankings: float,
        log_completions: float,
    ) -> None:
        super().__init__(partition, n_rankings, log_completions)
        self._pairs = pairs
        self._coefficients = None
        if isinstance(partition, ClosedParts):
            self._coefficients = -n_listing[:, None] * partition.coefficients

    def curve(self, labels: _Integers) -> CurveOfThetas:
        """Sum pairs block by block."""
        totals = self.pairs[:, _wrong(labels)].sum(axis=1)
        if self._coefficients is not None:
            return CurveOfLines(totals, self._coefficients, 0.0)
        return CurveOfParts(self.partition, totals, self.log_completions, self.n_rankings)

    @property
    def pairs(self) -> _Floats:
        """How often one item (row) lies in each block and another in a later one."""
        return self._pairs


def _wrong(labels: _Integers) -> NDArray[np.bool_]:
    """Tell for which two items, a row and a column, it costs something that the one is first."""
    wrong: NDArray[np.bool_] = labels[None, :] <= labels[:, None]
    np.fill_diagonal(wrong, False)  # noqa: FBT003
    return wrong


class AnswersByLine(GeneralisedAnswers):
    """Weak orders by tier, in closed form."""

    def __init__(
        self, partition: PartitionFunction, counts: WeakOrderCounts, log_completions: float
    ) -> None:
        super().__init__(partition, counts.n_rankings, log_completions)
        self.counts = counts

    @property
    def pairs(self) -> _Floats:
        """How often one item (row) is above another."""
        return self.counts.above

    def curve(self, labels: _Integers) -> CurveOfThetas:
        """Count inversions and tied groups, line by line."""
        return CurveOfLines.of(self.counts, labels)


def answers_of_rankings(data: Rankings, partition: PartitionFunction) -> GeneralisedAnswers:
    """Collect what rankings say about the parts of a distance; nothing may stand against that.

    Parameters
    ----------
    data
        The rankings.
    partition
        The partition function, with several thetas.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise import Rankings
    >>> from tierwise.partition.choose import partition_function
    >>> rankings = Rankings.from_orderings([["b", "a", "c"], ["c", "b", "a"]])
    >>> partition = partition_function((1, 1, 1), concentration="place")
    >>> answers_of_rankings(rankings, partition).curve(np.array([0, 1, 2])).totals
    array([2., 0.])
    """
    log_completions = 0.0
    if not data.is_complete:
        numbers = log_numbers_of_groups(first_places(data.patterns))
        log_completions = float(data.pattern_weights @ numbers)
    if isinstance(partition, LineParts):
        return AnswersByLine(partition, WeakOrderCounts.of(data), log_completions)
    if partition.concentration == "tier":
        pairs = block_counts(data, partition.sizes).precedence
        return AnswersByTier(partition, pairs, data.n_rankings, log_completions)
    n_items, n_parts = len(data.items), partition.n_parts
    first = first_places(data.patterns)
    weights = data.pattern_weights.astype(np.float64)
    blocks = partition.distance.block_of_place(partition.sizes)[first]
    pairs = np.zeros((n_parts, n_items, n_items))
    for part in range(n_parts):
        # An earlier block than that of the part is as good as unknown, and later ones are alike.
        add_block_pair_counts(np.sign(blocks - part), weights, pairs[part])
    n_listing = np.full(n_parts, float(data.n_rankings))
    if isinstance(partition, StrictPlaceParts):
        n_listing = weights @ _listed(first)[:, :n_parts]
    return AnswersByPlace(partition, pairs, n_listing, data.n_rankings, log_completions)


def answers_of_counts(data: Counts, partition: PartitionFunction) -> GeneralisedAnswers:
    """Collect what counts of complete rankings say about the parts of a distance."""
    n_rankings = float(data.n_rankings)
    if isinstance(partition, LineParts):
        return AnswersByLine(
            partition, WeakOrderCounts.without_ties(data.pair_counts, n_rankings), 0.0
        )
    if partition.concentration == "tier":
        return AnswersByTier(partition, data.blocks(partition.sizes).precedence, n_rankings, 0.0)
    n_items, n_parts = len(data.items), partition.n_parts
    starts = np.cumsum((0, *partition.sizes[:-1]))
    by_block = np.add.reduceat(np.add.reduceat(data.joint, starts, axis=1), starts, axis=3)
    later = by_block[:, :, :, ::-1].cumsum(axis=3)[:, :, :, ::-1]
    pairs = np.stack(
        [later[:, block, :, block + 1] for block in range(n_parts)]
        or [np.zeros((n_items, n_items))]
    )[:n_parts].astype(np.float64)
    return AnswersByPlace(partition, pairs, np.full(n_parts, n_rankings), n_rankings, 0.0)


def too_many_counts(partition: PartitionFunction) -> TooLargeError | None:
    """Return that there is too much to count for a theta per place, if that is so."""
    n_counts = (partition.n_parts + 1) * sum(partition.sizes) ** 2
    if partition.concentration != "place" or n_counts <= _MOST_NUMBERS:
        return None
    return TooLargeError(
        f"one theta per place needs {n_counts:.2g} counts for sizes {partition.sizes}",
        ["use fewer tiers or items", use(concentration="tier")],
    )


def obstacle_of_rankings(data: Rankings, partition: PartitionFunction) -> InputError | None:
    """Return what rankings leave open that must be known, if they do."""
    if isinstance(partition, RecursionParts):
        known = blocks_are_known(data, partition.sizes)
    elif data.unranked == "anywhere" and not data.is_complete:
        known = False
    elif isinstance(partition, StrictPlaceParts):
        first = first_places(data.patterns)
        group_sizes = sizes_of_groups(first)
        known = bool(((group_sizes == 1) | (first + group_sizes == first.shape[1])).all())
    else:
        known = True
    return None if known else obstacle_of_answers("some answers are too incomplete", partition)


def obstacle_of_answers(problem: str, partition: PartitionFunction) -> InputError:
    """Return what is wrong with answers, and what a theta for each part needs to know."""
    return InputError(
        f"{problem}, but one theta per {partition.concentration} needs answers that "
        f"{_what_is_needed(partition)}",
        ("use complete rankings or other sizes", use(concentration="single")),
    )


def _what_is_needed(partition: PartitionFunction) -> str:
    if isinstance(partition, RecursionParts):
        return (
            "say which items lie in which tier-sized block "
            f"(sizes {partition.sizes}, {partition.distance.name})"
        )
    if isinstance(partition, StrictPlaceParts):
        return "are complete, or top lists without ties whose other items rank below"
    return "order every pair of items or tie them"


def log_probabilities(
    rankings: Rankings, partition: PartitionFunction, labels: _Integers, thetas: _Floats
) -> _Floats:
    """Log probability of each distinct answer, summed over all orderings that agree with it.

    Parameters
    ----------
    rankings
        The answers.
    partition
        The partition function.
    labels
        Tier of each item, counted from 0.
    thetas
        Theta of each part.
    """
    if isinstance(partition, LineParts):
        return log_probabilities_of_lines(rankings.patterns, labels, thetas)
    first = first_places(rankings.patterns)
    if isinstance(partition, StrictPlaceParts):
        distances = partition.part_distances(first, labels)
        listed = _listed(first)[:, : partition.n_parts]
        moments = [
            partition.coefficients[part] @ _log_q_factorials(theta, len(labels))
            for part, theta in enumerate(thetas.tolist())
        ]
        logs: _Floats = _minus_products(distances, thetas) - listed @ np.array(moments)
        return logs
    blocks = partition.distance.block_of_place(partition.sizes)[first]
    group_sizes = sizes_of_groups(first)
    log_numbers = (log_factorials(len(labels))[group_sizes] / group_sizes).sum(axis=1)
    distances = partition.part_distances(blocks, labels)
    weights: _Floats = log_numbers + _minus_products(distances, thetas)
    return weights - partition.log_value(thetas)


def _minus_products(distances: _Floats, thetas: _Floats) -> _Floats:
    """Return ``-distances @ thetas``, where 0 times infinity is 0."""
    finite = np.where(np.isinf(thetas), 0.0, thetas)
    infinite = (distances[:, np.isinf(thetas)] > 0.0).any(axis=1)
    products: _Floats = np.where(infinite, -inf, -(distances @ finite))
    return products


def _log_q_factorials(theta: float, largest: int) -> _Floats:
    from tierwise._kernels.inversions_lines import log_q_factorials

    logs: _Floats = log_q_factorials(theta, largest)
    return logs


def _listed(first: Places) -> _Floats:
    """Whether each answer says which item is in each place (column)."""
    single = sizes_of_groups(first) == 1
    rows = np.arange(len(first))[:, None]
    listed = np.zeros(first.shape)
    listed[np.broadcast_to(rows, first.shape)[single], first[single]] = 1.0
    return listed
