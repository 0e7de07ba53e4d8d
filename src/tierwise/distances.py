"""Distances between orderings and tiers: Kendall, inversions, Hamming, footrule and Spearman.

`Distance` is the base class, and `get_distance` finds a distance by name.

References
----------
D. E. Critchlow (1985). Metric Methods for Analyzing Partially Ranked Data. Springer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from tierwise.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.data.counts import BlockCounts
    from tierwise.tiers import Sizes

DistanceName: TypeAlias = Literal["kendall", "inversions", "hamming", "footrule", "spearman"]
"""The distances that are known by name: the one list, which the command line reads as well."""


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

    def units(
        self, blocks: npt.NDArray[np.int32], labels: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Distance of each row from tiers, in units, from the blocks and the labels of its items.

        Where all rows have the same blocks, or the same labels, these may be a single row.
        """
        from tierwise._kernels.orderings import WHOLE, distance_units

        units = np.zeros((max(len(blocks), len(labels)), 1), dtype=np.int64)
        distance_units(blocks, labels, self.misplaced, self.tied, self.placing, WHOLE, units)
        return units[:, 0]

    def in_largest_units(self) -> Rule:
        """Return the same distance in the largest units that keep its costs whole."""
        if 1 in (self.misplaced, self.tied):
            return self
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

    A subclass has a ``name``, a ``description`` and a ``rule``. Functions that take the name of a
    distance take an object of such a class as well.

    All methods rely on this: the distance is 0 for orderings that agree with the tiers, and for no
    others; blocks have the sizes of the tiers; a pair that is tied in the tiers costs as much as a
    reversed one. Other rules are refused. `Inversions` alone, which has methods of its own, cuts
    places into other blocks and charges nothing for tied pairs.
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

    def checked_rule(self, sizes: Sizes) -> Rule:
        """Return the rule, or raise an error for an invalid user-defined distance."""
        rule, blocks = self.rule(sizes), self.blocks(sizes)
        wanted = (len(blocks), len(sizes))
        placing = rule.placing
        if placing.shape != wanted or placing.dtype != np.int64 or placing.min() < 0:
            raise InputError(
                f"the rule of the distance {self.name} must have as placing an array of "
                f"non-negative whole numbers of shape {wanted}, one row per block and one "
                "column per tier; got "
                f"{placing.dtype} of shape {placing.shape}"
            )
        if not 0.0 < rule.unit < inf or rule.misplaced < 0:
            raise InputError(
                f"the rule of the distance {self.name} must have a positive unit, and reversed "
                f"pairs must not cost less than nothing; got {rule.unit} and {rule.misplaced}"
            )
        if sum(blocks) != sum(sizes) or min(blocks) < 1:
            raise InputError(
                f"the blocks of the distance {self.name} must sum to {sum(sizes)}; got {blocks}"
            )
        if type(self) is not Inversions:
            self._check_what_methods_rely_on(rule, sizes)
        return rule

    def _check_what_methods_rely_on(self, rule: Rule, sizes: Sizes) -> None:
        """Raise an error if computations with this rule would go wrong."""
        blocks = self.blocks(sizes)
        if tuple(blocks) != tuple(sizes):
            raise InputError(
                f"the distance {self.name} cuts places into blocks of sizes {blocks} for tiers of "
                f"sizes {sizes}: blocks must have the sizes of the tiers (only inversions has "
                "others)"
            )
        if rule.tied != rule.misplaced:
            raise InputError(
                f"the distance {self.name} charges {rule.tied} for tied pairs and "
                f"{rule.misplaced} for reversed ones: a tied pair must cost as much as a reversed "
                "one (only under inversions it costs nothing)"
            )
        placing, n_tiers = rule.placing, len(sizes)
        if placing.diagonal().any():
            raise InputError(
                f"the distance {self.name} must be 0 for orderings that agree with the tiers: the "
                "diagonal of placing, which is what an item costs in the block of its own tier, "
                "must be 0"
            )
        if not rule.additive or np.count_nonzero(placing) == n_tiers * (n_tiers - 1):
            return
        free = placing == 0
        if np.tril(free, -1).any() and np.triu(free, 1).any():
            raise InputError(
                f"the distance {self.name} must be more than 0 for orderings that do not agree "
                "with the tiers: all entries of placing below its diagonal must be positive, or "
                "all above it"
            )

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
        >>> from tierwise.distances import get_distance
        >>> get_distance("kendall").between(np.array([[0, 1, 0, 1], [0, 0, 1, 1]]), (2, 2))
        array([3., 0.])
        """
        rule = self.checked_rule(sizes)
        checked = np.asarray(sequences)
        if checked.ndim != 2 or checked.dtype.kind not in "iu" or checked.shape[1] != sum(sizes):
            raise InputError(
                f"sequences must be whole numbers with {sum(sizes)} columns, one per place"
            )
        if checked.size and not 0 <= checked.min() <= checked.max() < len(sizes):
            raise InputError(f"sequences must hold tiers counted from 0, up to {len(sizes) - 1}")
        labels = np.ascontiguousarray(checked, dtype=np.int64)
        units = rule.units(self.block_of_place(sizes)[None], labels)
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
        rule = self.checked_rule(sizes)
        linear = pairs = np.empty((0, 0))
        if rule.additive or rule.placing.any():
            linear = counts.membership.astype(np.float64) @ (rule.placing * rule.unit)
        if not rule.additive:
            pairs = counts.precedence.astype(np.float64) * (rule.misplaced * rule.unit)
        return Costs(linear=linear, pairs=pairs)

    def __repr__(self) -> str:
        return f"<distance {self.name}: {self.description}>"


class Kendall(Distance):
    """The number of pairs in different blocks that are reversed or tied in the tiers.

    This is Critchlow's extension of the number of inversions; a pair that is tied in the tiers but
    lies in different blocks counts too.
    """

    name = "kendall"
    description = "pairs in different blocks that are reversed or tied in the tiers"

    def rule(self, sizes: Sizes) -> Rule:
        """Charge 1 for each such pair."""
        nothing = np.zeros((len(sizes), len(sizes)), dtype=np.int64)
        return Rule(misplaced=1, placing=nothing, unit=1.0, tied=1)


class Inversions(Distance):
    """The number of pairs of different tiers that are ranked in the wrong order.

    Pairs within a tier cost nothing, and places are not cut into blocks: every place is its own
    block. The model is the strict Mallows model in which the items of each tier are then shuffled
    among the places of the tier, and its partition function is a product of Gaussian binomials.
    """

    name = "inversions"
    description = "pairs of different tiers in the wrong order"

    def blocks(self, sizes: Sizes) -> Sizes:
        """Every place is a block of its own."""
        return (1,) * sum(sizes)

    def rule(self, sizes: Sizes) -> Rule:
        """Charge 1 for a reversed pair, and nothing for one that is tied in the tiers."""
        nothing = np.zeros((sum(sizes), len(sizes)), dtype=np.int64)
        return Rule(misplaced=1, placing=nothing, unit=1.0, tied=0)

    def costs(self, counts: BlockCounts, sizes: Sizes) -> Costs:
        """Total distance of complete orderings from tiers of given sizes.

        Costs charge ``above[a, b]`` also where ``a`` and ``b`` are tied. Of every pair of items one
        is above the other, so each tied pair is charged the number of rankings, and how many pairs
        are tied follows from the sizes: that much is taken off again, an equal part for each item.
        """
        n_items = sum(sizes)
        n_tied = sum(size * (size - 1) // 2 for size in sizes)
        taken_off = float(counts.n_rankings) * n_tied / n_items
        return Costs(
            linear=np.full((n_items, len(sizes)), -taken_off),
            pairs=counts.precedence.astype(np.float64),
        )


class Hamming(Distance):
    """The number of items that lie outside the block of their tier."""

    name = "hamming"
    description = "items outside the block of their tier"

    def rule(self, sizes: Sizes) -> Rule:
        """Charge an item 1 in any block but its own."""
        n_tiers = len(sizes)
        elsewhere = 1 - np.eye(n_tiers, dtype=np.int64)
        return Rule(misplaced=0, placing=elsewhere, unit=1.0, tied=0)


class Footrule(Distance):
    """The sum over items of the distance between mean places of their block and their tier."""

    name = "footrule"
    description = "sum over items of how far the mean places of block and tier lie apart"

    def rule(self, sizes: Sizes) -> Rule:
        """Charge an item the distance between mean places, which are halves of whole numbers."""
        doubled = _mean_places(sizes)
        return Rule(misplaced=0, placing=np.abs(doubled[:, None] - doubled), unit=0.5, tied=0)


class Spearman(Distance):
    """The sum over items of the squared distance between mean places of block and tier."""

    name = "spearman"
    description = "sum over items of the squared distance between mean places of block and tier"

    def rule(self, sizes: Sizes) -> Rule:
        """Charge an item the square of a half of a whole number."""
        doubled = _mean_places(sizes)
        return Rule(misplaced=0, placing=(doubled[:, None] - doubled) ** 2, unit=0.25, tied=0)


def _mean_places(sizes: Sizes) -> npt.NDArray[np.int64]:
    """Twice the mean place of each block, places counted from 0, which is a whole number."""
    ends = np.cumsum(np.array(sizes, dtype=np.int64))
    starts = ends - np.array(sizes, dtype=np.int64)
    return starts + ends - 1


# The classes above.
_KNOWN: dict[str, Distance] = {kind.name: kind() for kind in Distance.__subclasses__()}


def distance_names() -> tuple[str, ...]:
    """Return the names of all distances.

    Examples
    --------
    >>> distance_names()
    ('footrule', 'hamming', 'inversions', 'kendall', 'spearman')
    """
    return tuple(sorted(get_args(DistanceName)))


def get_distance(distance: str | Distance) -> Distance:
    """Return the distance with this name; a distance is returned unchanged.

    Examples
    --------
    >>> get_distance("kendall")
    <distance kendall: pairs in different blocks that are reversed or tied in the tiers>
    """
    if isinstance(distance, Distance):
        known = _KNOWN.get(distance.name)
        if known is not None and type(distance) is not type(known):
            raise InputError(
                f"{distance.name} is the name of a distance that comes with tierwise, and "
                f"{type(distance).__name__} is another one: give it another name"
            )
        return distance
    if not isinstance(distance, str) or distance not in _KNOWN:
        raise InputError(
            f"there is no distance {distance!r}: use one of " + ", ".join(distance_names())
        )
    return _KNOWN[distance]
