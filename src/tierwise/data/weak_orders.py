"""Sufficient statistics of weak orders for the distance ``inversions``.

A weak order is a sequence of blocks, best first: a complete ranking has blocks of one item, a tie
is a block of several, and items that are not listed are the last block. Its likelihood needs how
often each item is ranked above each other one, and the blocks that hold several items, as sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise.errors import InputError
from tierwise.files.places import first_places

if TYPE_CHECKING:
    from tierwise.data.rankings import Rankings

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WeakOrderCounts:
    """What the distance ``inversions`` needs of weak orders; two of them add.

    Attributes
    ----------
    n_items
        Number of items.
    n_rankings
        Number of rankings, the sum of their weights.
    above
        ``above[a, b]`` is how often ``a`` is ranked above ``b``; ties do not count.
    block_offsets, block_members
        The distinct blocks that tie two items or more: block ``i`` holds
        ``block_members[block_offsets[i] : block_offsets[i + 1]]``, ascending.
    block_weights
        How often each of these blocks occurs.

    Examples
    --------
    >>> import numpy as np
    >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2], [0, 1, 1]]))
    >>> counts.above.tolist()
    [[0.0, 2.0, 2.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    >>> counts.block_members.tolist(), counts.block_weights.tolist()
    ([1, 2], [1.0])
    >>> (counts + counts).n_rankings
    4.0
    """

    n_items: int
    n_rankings: float
    above: _Floats
    block_offsets: _Integers
    block_members: _Integers
    block_weights: _Floats

    @classmethod
    def of(cls, rankings: Rankings) -> WeakOrderCounts:
        """Count rankings; what is not listed must be complete or mean "below"."""
        if rankings.unranked == "anywhere":
            raise InputError(
                "weak orders say of every two items which is above, or that they are tied: "
                'rankings with unranked="anywhere" do not'
            )
        return cls.from_patterns(rankings.patterns, rankings.pattern_weights)

    @classmethod
    def from_patterns(
        cls, patterns: NDArray[Any], weights: NDArray[Any] | None = None
    ) -> WeakOrderCounts:
        """Count weak orders given as places, one row per answer.

        Parameters
        ----------
        patterns
            ``patterns[row, item]`` is the place of the item, counted from 0; tied items share the
            first place they take up; -1 is not listed, which is below all that are listed.
        weights
            How often each row counts; once where none are given.
        """
        from tierwise._kernels import inversions_weak_orders as kernels

        first = np.ascontiguousarray(first_places(np.asarray(patterns, dtype=np.int32)))
        n_rows, n_items = first.shape
        row_weights = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
        above = np.zeros((n_items, n_items))
        kernels.add_pairs(first, row_weights, above)
        n_blocks, _ = kernels.count_tied_blocks(first)
        words = np.zeros((n_blocks, _n_words(n_items)), dtype=np.uint64)
        block_weights = np.zeros(n_blocks)
        kernels.list_tied_blocks(first, row_weights, words, block_weights)
        return cls._from_words(n_items, float(row_weights.sum()), above, words, block_weights)

    @classmethod
    def without_ties(cls, above: NDArray[Any], n_rankings: float) -> WeakOrderCounts:
        """Take counts of complete rankings as they are.

        Parameters
        ----------
        above
            ``above[a, b]`` is how often ``a`` is ranked above ``b``.
        n_rankings
            Number of rankings.
        """
        nothing = np.zeros(0, dtype=np.int64)
        counts = np.asarray(above, dtype=np.float64)
        return cls(
            len(counts), n_rankings, counts, np.zeros(1, dtype=np.int64), nothing, np.zeros(0)
        )

    @classmethod
    def _from_words(
        cls,
        n_items: int,
        n_rankings: float,
        above: _Floats,
        words: NDArray[np.uint64],
        weights: _Floats,
    ) -> WeakOrderCounts:
        """Merge blocks that are equal."""
        from tierwise._kernels import inversions_weak_orders as kernels

        kept = weights > 0.0
        words, weights = np.ascontiguousarray(words[kept]), weights[kept]
        if words.shape[1] == 1:
            distinct, which = np.unique(words[:, 0], return_inverse=True)
            distinct = distinct[:, None]
        else:
            rows = words.view(np.dtype((np.void, words.shape[1] * 8)))[:, 0]
            _, first, which = np.unique(rows, return_index=True, return_inverse=True)
            distinct = words[first]
        merged = np.bincount(which.ravel(), weights, minlength=len(distinct)).astype(np.float64)
        bits = np.unpackbits(np.ascontiguousarray(distinct).view(np.uint8), axis=1)
        sizes = bits.sum(axis=1, dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        members = np.zeros(int(offsets[-1]), dtype=np.int64)
        kernels.members_of_words(np.ascontiguousarray(distinct), n_items, offsets, members)
        return cls(n_items, n_rankings, above, offsets, members, merged)

    def __add__(self, other: WeakOrderCounts) -> WeakOrderCounts:
        if self.n_items != other.n_items:
            raise InputError("counts of different items do not add")
        return self._from_words(
            self.n_items,
            self.n_rankings + other.n_rankings,
            self.above + other.above,
            np.concatenate([self._words(), other._words()]),
            np.concatenate([self.block_weights, other.block_weights]),
        )

    def _words(self) -> NDArray[np.uint64]:
        from tierwise._kernels import inversions_weak_orders as kernels

        words = np.zeros((self.n_blocks, _n_words(self.n_items)), dtype=np.uint64)
        kernels.words_of_members(self.block_offsets, self.block_members, words)
        return words

    @property
    def n_blocks(self) -> int:
        """Number of distinct blocks that tie two items or more."""
        return len(self.block_weights)

    @cached_property
    def largest_block(self) -> int:
        """Number of items in the largest tied block; 1 where there is none."""
        return int(np.diff(self.block_offsets).max()) if self.n_blocks else 1

    @cached_property
    def has_whole_weights(self) -> bool:
        """Whether all counts are whole numbers."""
        return bool((self.above == np.floor(self.above)).all())

    @cached_property
    def blocks_of_items(self) -> tuple[_Integers, _Integers]:
        """The blocks that hold each item, as offsets and blocks laid end to end."""
        block_of = np.repeat(np.arange(self.n_blocks), np.diff(self.block_offsets))
        order = np.argsort(self.block_members, kind="stable")
        counts = np.bincount(self.block_members, minlength=self.n_items)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return offsets, np.ascontiguousarray(block_of[order]).astype(np.int64)

    def borda_order(self) -> _Integers:
        """Items by how much more often they are ranked above others than below, best first."""
        lead = self.above.sum(axis=1) - self.above.sum(axis=0)
        return np.argsort(-lead, kind="stable").astype(np.int64)


def _n_words(n_items: int) -> int:
    return max((n_items + 63) // 64, 1)
