"""What a distance between an ordering and tiers is, and what it needs from data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tierwise.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.data.counts import BlockCounts
    from tierwise.tiers.sizes import Sizes


@dataclass(frozen=True, eq=False)
class Costs:
    """What it costs, summed over all rankings, to give the items their tiers.

    For labels ``z`` counted from 0 the total distance of the data from the tiers is
    ``sum_i linear[i, z_i] + sum_{a != b} pairs[a, b] * [z_b <= z_a]``.

    Attributes
    ----------
    linear
        ``linear[item, tier]``, or shape (0, 0) when the distance has no such part (Kendall).
    pairs
        ``pairs[a, b]`` is paid when ``b`` is not in a worse tier than ``a``; its diagonal is not
        used. Shape (0, 0) when the distance has no such part (additive distances).

    Examples
    --------
    >>> import numpy as np
    >>> Costs(linear=np.zeros((3, 2)), pairs=np.empty((0, 0))).n_items
    3
    """

    linear: npt.NDArray[np.float64]
    pairs: npt.NDArray[np.float64]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return max(len(self.linear), len(self.pairs))


@dataclass(frozen=True, eq=False)
class Rule:
    """A distance for given sizes, in whole units so that computations with it are exact.

    An ordering meets the tiers through the contingency table ``N[block, label]``. Its distance is
    ``unit * (misplaced * K + tied * T + sum(N * placing))``, where ``K`` is the number of pairs of
    items in different blocks that are reversed, and ``T`` the number of those that are tied in the
    tiers.

    Attributes
    ----------
    misplaced
        What a reversed pair costs: 1 for Kendall and inversions, 0 for additive distances.
    placing
        ``placing[block, label]``, int64: what an item of a tier costs in a block.
    unit
        The distance that a unit is.
    tied
        What a pair in different blocks costs that is tied in the tiers: 1 for Kendall.
    """

    misplaced: int
    placing: npt.NDArray[np.int64]
    unit: float
    tied: int

    @property
    def additive(self) -> bool:
        """Whether the distance is a sum over items."""
        return self.misplaced == 0

    def in_largest_units(self) -> Rule:
        """Return the same distance in the largest units that keep its costs whole."""
        of_placing = np.gcd.reduce(self.placing, axis=None)
        common = max(int(np.gcd.reduce([of_placing, self.misplaced, self.tied])), 1)
        return Rule(
            self.misplaced // common,
            self.placing // common,
            self.unit * common,
            self.tied // common,
        )

    def largest(self, sizes: Sizes) -> int:
        """Upper bound of the distance in units."""
        weights = np.array(sizes, dtype=np.int64)
        n_items = int(weights.sum())
        pairs = (n_items * n_items - int(weights @ weights)) // 2
        return self.misplaced * pairs + int(weights @ self.placing.max(axis=0))


class Distance(ABC):
    """A distance between the blocks of an ordering and tiers.

    To add one, write a subclass in ``named.py`` that has a ``name``, a ``description`` and a
    ``rule``, and add it to the list there; every method of the library then works with it.
    """

    name: ClassVar[str]
    description: ClassVar[str]

    def blocks(self, sizes: Sizes) -> Sizes:
        """Sizes of the blocks into which the places of an ordering are cut: those of the tiers."""
        return sizes

    def block_of_place(self, sizes: Sizes) -> npt.NDArray[np.int32]:
        """Return the block, counted from 0, that each place belongs to."""
        blocks = self.blocks(sizes)
        return np.repeat(np.arange(len(blocks), dtype=np.int32), blocks)

    @abstractmethod
    def rule(self, sizes: Sizes) -> Rule:
        """Return the distance in whole units, for tiers of these sizes."""

    def of_table(self, table: npt.ArrayLike) -> float:
        """Distance of an ordering with this contingency table.

        Parameters
        ----------
        table
            ``table[i, j]`` is the number of items in block ``i`` whose tier is ``j``.

        Examples
        --------
        >>> from tierwise.distances.named import get_distance
        >>> get_distance("kendall").of_table([[1, 1], [1, 1]])
        3.0
        >>> get_distance("hamming").of_table([[1, 1], [1, 1]])
        2.0
        """
        counts, rule = self._check_table(table)
        units = int((counts * rule.placing).sum())
        if not rule.additive:
            # Items of later blocks by label, then those among them with a label of at most j.
            later = counts[::-1].cumsum(axis=0)[::-1] - counts
            ties = int((counts * later).sum())
            units += rule.misplaced * (int((counts * later.cumsum(axis=1)).sum()) - ties)
            units += rule.tied * ties
        return units * rule.unit

    def swap_change(
        self, table: npt.ArrayLike, first: tuple[int, int], second: tuple[int, int]
    ) -> float:
        """Change of the distance when two items trade places.

        Parameters
        ----------
        table
            The contingency table before the swap.
        first, second
            Block and label, counted from 0, of each of the two items.

        Examples
        --------
        >>> from tierwise.distances.named import get_distance
        >>> get_distance("kendall").swap_change([[1, 1], [1, 1]], (0, 1), (1, 0))
        -3.0
        """
        from tierwise._kernels.orderings import smaller_labels, swap_units

        counts, rule = self._check_table(table)
        for block, label in (first, second):
            if counts[block, label] == 0:
                raise InputError(f"there is no item of label {label} in block {block} to swap")
        units = swap_units(smaller_labels(counts), *first, *second, rule.misplaced, rule.placing)
        return units * rule.unit

    def between(self, sequences: npt.NDArray[np.int64], sizes: Sizes) -> npt.NDArray[np.float64]:
        """Distances of many orderings from tiers.

        Parameters
        ----------
        sequences
            ``sequences[row, place]`` is the tier, counted from 0, of the item in a place.
        sizes
            Sizes of the tiers.

        Examples
        --------
        >>> import numpy as np
        >>> from tierwise.distances.named import get_distance
        >>> get_distance("kendall").between(np.array([[0, 1, 0, 1], [0, 0, 1, 1]]), (2, 2))
        array([3., 0.])
        """
        from tierwise._kernels.orderings import sequence_units

        rule = self.rule(sizes)
        units = sequence_units(
            np.ascontiguousarray(sequences, dtype=np.int64),
            np.array(self.blocks(sizes), dtype=np.int64),
            rule.misplaced,
            rule.tied,
            rule.placing,
        )
        return units.astype(np.float64) * rule.unit

    def costs(self, counts: BlockCounts, sizes: Sizes) -> Costs:
        """Total distance of data from any tiers, as costs of giving the items their tiers.

        Parameters
        ----------
        counts
            Counts of the data for the `blocks` of these sizes.
        sizes
            Sizes of the tiers.
        """
        rule = self.rule(sizes)
        linear = pairs = np.empty((0, 0))
        if rule.additive or rule.placing.any():
            linear = counts.membership.astype(np.float64) @ (rule.placing * rule.unit)
        if not rule.additive:
            pairs = counts.precedence.astype(np.float64) * (rule.misplaced * rule.unit)
        return Costs(linear=linear, pairs=pairs)

    def _check_table(self, table: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], Rule]:
        """Return a contingency table as integers, and the rule for its sizes, or refuse it."""
        counts = np.array(table)
        if counts.ndim != 2 or counts.dtype.kind not in "iu":
            raise InputError("a contingency table has two dimensions and holds whole numbers")
        sizes = tuple(counts.sum(axis=0).tolist())
        fits = counts.size > 0 and min(sizes) > 0 and (counts >= 0).all()
        if not fits or self.blocks(sizes) != tuple(counts.sum(axis=1).tolist()):
            raise InputError(
                "columns of a contingency table sum to the sizes of the tiers, and rows to those "
                f"of the blocks of {self.name}; got {counts.tolist()}"
            )
        return counts.astype(np.int64), self.rule(sizes)

    def __repr__(self) -> str:
        return f"<distance {self.name}: {self.description}>"
