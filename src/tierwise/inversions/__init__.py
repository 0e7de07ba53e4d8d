"""Tiers with the distance ``inversions``: pairs of different tiers in the wrong order."""

from tierwise.data.weak_orders import WeakOrderCounts
from tierwise.inversions.best import BestTiers, criterion_of, find_best_tiers
from tierwise.inversions.evidence import Evidence, TierDraws, sum_evidence

__all__ = [
    "BestTiers",
    "Evidence",
    "TierDraws",
    "WeakOrderCounts",
    "criterion_of",
    "find_best_tiers",
    "sum_evidence",
]
