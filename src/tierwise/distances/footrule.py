"""Footrule: how far items lie from the block of their tier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.distances.base import Distance, Rule, mean_places

if TYPE_CHECKING:
    from tierwise.tiers.sizes import Sizes


class Footrule(Distance):
    """The sum over items of the distance between mean places of their block and their tier."""

    name = "footrule"
    description = "sum over items of how far the mean places of block and tier lie apart"

    def rule(self, sizes: Sizes) -> Rule:
        """Charge an item the distance between mean places, which are halves of whole numbers."""
        doubled = mean_places(sizes)
        return Rule(misplaced=0, placing=np.abs(doubled[:, None] - doubled), unit=0.5, tied=0)
