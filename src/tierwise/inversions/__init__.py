"""Tiers with the distance ``inversions``: pairs of different tiers in the wrong order."""

from tierwise.inversions.best import BestTiers, criterion_of, find_best_tiers
from tierwise.inversions.counts import WeakOrderCounts

__all__ = ["BestTiers", "WeakOrderCounts", "criterion_of", "find_best_tiers"]
