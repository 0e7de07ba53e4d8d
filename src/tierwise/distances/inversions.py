"""Inversions: pairs of items of different tiers that are ranked in the wrong order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.distances.base import Costs, Distance, Rule

if TYPE_CHECKING:
    from tierwise.data.counts import BlockCounts
    from tierwise.tiers.sizes import Sizes


class Inversions(Distance):
    """The number of pairs of different tiers that are ranked in the wrong order.

    Pairs within a tier cost nothing, and places are not cut into blocks: every place is a block of
    its own. The model is the strict Mallows model in which the items of each tier are then
    shuffled among the places that the tier has got, and its partition function is a product of
    Gaussian binomials.
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

        Costs charge ``above[a, b]`` also where ``a`` and ``b`` are tied. Of every two items one is
        above the other, so each tied pair is charged the number of rankings, and how many pairs are
        tied follows from the sizes: that much is taken off again, an equal part for each item.
        """
        n_items = sum(sizes)
        n_tied = sum(size * (size - 1) // 2 for size in sizes)
        taken_off = float(counts.n_rankings) * n_tied / n_items
        return Costs(
            linear=np.full((n_items, len(sizes)), -taken_off),
            pairs=counts.precedence.astype(np.float64),
        )
