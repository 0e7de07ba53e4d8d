"""The distinct answers as arrays, for computations that weigh them anew again and again."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels import counting
from tierwise._kernels.groups import precedence_of_orderings, units_of_orderings
from tierwise._util.types import NOT_LISTED, Item, Places, Unranked
from tierwise.data.counts import MOST_ITEMS_FOR_JOINT_COUNTS, BlockCounts, Counts, blocks_are_known
from tierwise.data.encoding import first_places, sizes_of_groups
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.distances.base import Distance
from tierwise.errors import InputError, TooLargeError
from tierwise.mixture.plans import Plan
from tierwise.tiers.sizes import Sizes


@dataclass(frozen=True, eq=False)
class Answers:
    """Distinct answers, each with a weight.

    Attributes
    ----------
    items
        The items.
    patterns
        ``patterns[answer, item]``: the place of an item, the first of them where several are tied;
        -1 where it is not listed.
    unranked
        What it means that an item is not listed.
    weights
        How often each answer counts.
    open
        Whether answers leave open which items lie in which block, for sizes that are looked at.
    """

    items: tuple[Item, ...]
    patterns: Places
    unranked: Unranked | None
    weights: NDArray[np.float64]
    open: bool

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    @property
    def n_rankings(self) -> float:
        """Number of rankings, the sum of the weights."""
        return float(self.weights.sum())

    def reweighted(self, weights: NDArray[np.float64]) -> "Answers":
        """Return the same answers with other weights, without those that have none left."""
        kept = weights > 0
        return Answers(self.items, self.patterns[kept], self.unranked, weights[kept], self.open)

    @cached_property
    def first_places(self) -> Places:
        """The first place of each item's tied group; -1 where the item may be anywhere."""
        return self.patterns if self.unranked == "anywhere" else first_places(self.patterns)

    @cached_property
    def ranks(self) -> NDArray[np.float64]:
        """The mean place of each item's tied group; the middle where it may be anywhere."""
        known = first_places(self.patterns)
        ranks: NDArray[np.float64] = known + (sizes_of_groups(known) - 1) / 2
        if self.unranked == "anywhere":
            ranks[self.patterns == NOT_LISTED] = (self.n_items - 1) / 2
        return ranks

    def pair_counts(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Count how often each item is ranked above each other; what is open does not count."""
        counts = np.zeros((self.n_items, self.n_items))
        counting.add_block_pair_counts(self.first_places, weights, counts)
        return counts

    # What follows is for answers that leave nothing open but the order within blocks.

    @cached_property
    def orderings(self) -> NDArray[np.int64]:
        """``orderings[answer, place]``: the item in a place, ties broken in any way."""
        return np.argsort(self.first_places, axis=1, kind="stable")

    @cached_property
    def places(self) -> Places:
        """``places[answer, item]``, ties broken in the same way."""
        places = np.empty_like(self.patterns)
        in_order = np.arange(self.n_items, dtype=places.dtype)[None, :]
        np.put_along_axis(places, self.orderings, in_order, axis=1)
        return places

    @cached_property
    def log_completions(self) -> NDArray[np.float64]:
        """Log of the number of complete orderings that agree with each answer."""
        group_sizes = sizes_of_groups(self.first_places)
        # Each member of a group carries its share of the log number of orders of the group.
        shares = [lgamma(size + 1) / max(size, 1) for size in range(self.n_items + 1)]
        completions: NDArray[np.float64] = np.array(shares)[group_sizes].sum(axis=1)
        return completions

    def blocks(self, sizes: Sizes) -> Places:
        """Return the block of each item in each answer, for blocks of given sizes."""
        block_of_place = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        return block_of_place[self.places]

    def block_counts(self, weights: NDArray[np.float64], sizes: Sizes) -> BlockCounts:
        """Count blocks of given sizes, with other weights than the answers' own."""
        membership = np.zeros((self.n_items, len(sizes)))
        counting.add_place_counts(self.blocks(sizes), weights, membership)
        precedence = precedence_of_orderings(self.orderings, _block_ends(sizes), weights)
        return BlockCounts(self.items, sizes, membership, precedence, float(weights.sum()))

    def joint_counts(self, weights: NDArray[np.float64]) -> Counts:
        """Count places and pairs of places, from which blocks of any sizes follow."""
        places = np.zeros((self.n_items,) * 2)
        half = np.zeros((self.n_items,) * 4)
        counting.add_place_counts(self.places, weights, places)
        counting.add_joint_counts(self.places, weights, half)
        joint = half + half.transpose(2, 3, 0, 1)
        item, place = np.indices(places.shape)
        joint[item, place, item, place] = places
        return Counts(self.items, places, joint, float(weights.sum()))

    def distances(
        self, labels: NDArray[np.int64], sizes: Sizes, distance: Distance
    ) -> NDArray[np.float64]:
        """Distance of each answer from tiers."""
        rule = distance.rule(sizes)
        by_place = np.repeat(rule.placing, sizes, axis=0)
        units = units_of_orderings(
            self.orderings, labels, _block_ends(sizes), rule.misplaced, rule.tied, by_place
        )
        return units.astype(np.float64) * rule.unit


def rankings_only(data: Rankings | Preferences) -> Rankings:
    """Return rankings; pairwise answers leave too much open to be divided into groups."""
    if isinstance(data, Preferences):
        raise InputError(
            "groups are found in rankings, and these are answers pair by pair: a fit, a search, a "
            "posterior and a report without groups take pairs"
        )
    return data


def answers_of(rankings: Rankings, plans: Iterable[Plan]) -> Answers:
    """Return the distinct answers, for groups of given sizes or with sizes to be found."""
    distinct = set(plans)
    known = rankings.is_complete or all(
        plan != "search" and blocks_are_known(rankings, plan) for plan in distinct
    )
    if known and "search" in distinct and len(rankings.items) > MOST_ITEMS_FOR_JOINT_COUNTS:
        raise TooLargeError(
            f"sizes can be searched for up to {MOST_ITEMS_FOR_JOINT_COUNTS} items, and there are "
            f"{len(rankings.items)}: give the sizes"
        )
    weights = rankings.pattern_weights.astype(np.float64)
    return Answers(rankings.items, rankings.patterns, rankings.unranked, weights, open=not known)


def _block_ends(sizes: Sizes) -> NDArray[np.int64]:
    """Return, for each place, the first place after its block."""
    return np.repeat(np.cumsum(np.array(sizes, dtype=np.int64)), sizes)
