"""Spearman: how far items lie from the block of their tier, squared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tierwise.distances.base import Distance, Rule, mean_places

if TYPE_CHECKING:
    from tierwise.tiers.sizes import Sizes


class Spearman(Distance):
    """The sum over items of the squared distance between mean places of block and tier."""

    name = "spearman"
    description = "sum over items of the squared distance between mean places of block and tier"

    def rule(self, sizes: Sizes) -> Rule:
        """Charge an item the square of a half of a whole number."""
        doubled = mean_places(sizes)
        return Rule(misplaced=0, placing=(doubled[:, None] - doubled) ** 2, unit=0.25, tied=0)
