"""Hamming: how many items lie outside the block of their tier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.distances.base import Distance, Rule

if TYPE_CHECKING:
    from tierwise.tiers.sizes import Sizes


class Hamming(Distance):
    """The number of items that lie outside the block of their tier."""

    name = "hamming"
    description = "items outside the block of their tier"

    def rule(self, sizes: Sizes) -> Rule:
        """Charge an item 1 in any block but its own."""
        n_tiers = len(sizes)
        elsewhere = 1 - np.eye(n_tiers, dtype=np.int64)
        return Rule(misplaced=0, placing=elsewhere, unit=1.0, tied=0)
