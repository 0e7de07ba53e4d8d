"""Kendall: pairs of items that are not in the order of their tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.distances.base import Distance, Rule

if TYPE_CHECKING:
    from tierwise.tiers.sizes import Sizes


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
