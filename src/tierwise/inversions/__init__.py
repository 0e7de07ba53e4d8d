"""Tiers with the distance ``inversions``: pairs of different tiers in the wrong order."""

from tierwise.inversions.best import BestTiers, criterion_of, find_best_tiers
from tierwise.inversions.chain import ChainDraws, run_chain
from tierwise.inversions.comparisons import log_likelihood_of_wins, win_probabilities
from tierwise.inversions.counts import WeakOrderCounts
from tierwise.inversions.evidence import Evidence, TierDraws, sum_evidence
from tierwise.inversions.searching import FoundTiers, search_tiers

__all__ = [
    "BestTiers",
    "ChainDraws",
    "Evidence",
    "FoundTiers",
    "TierDraws",
    "WeakOrderCounts",
    "criterion_of",
    "find_best_tiers",
    "log_likelihood_of_wins",
    "run_chain",
    "search_tiers",
    "sum_evidence",
    "win_probabilities",
]
