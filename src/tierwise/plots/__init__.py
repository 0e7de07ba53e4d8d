"""Figures: one function each, drawn with matplotlib, optionally on your own axes.

Every function takes an optional ``ax``, draws on it or on a new figure, and returns it.
Colours suit colour-blind readers, and labels fit with 25 items.
"""

from tierwise.plots.comparison import rank_diagram
from tierwise.plots.data import (
    pairwise_matrix,
    preferred_shares,
    rank_boxes,
    rank_shares,
    tier_rank_boxes,
    times_compared,
)
from tierwise.plots.groups import group_tier_lists, group_tree, memberships
from tierwise.plots.model import (
    agreement_along_tiers,
    distance_distributions,
    expected_pairs,
    expected_ranks,
    rank_tier_bars,
    strengths,
    theta_along_ranking,
)
from tierwise.plots.planning import power_curves
from tierwise.plots.posterior import chain_ranks, rank_intervals, trace
from tierwise.plots.search import (
    criterion_histogram,
    criterion_replicates,
    leaderboard,
    merging_steps,
    theta_histogram,
)
from tierwise.plots.tiers import co_tier_matrix, tier_list, tier_probabilities

__all__ = [
    "agreement_along_tiers",
    "chain_ranks",
    "co_tier_matrix",
    "criterion_histogram",
    "criterion_replicates",
    "distance_distributions",
    "expected_pairs",
    "expected_ranks",
    "group_tier_lists",
    "group_tree",
    "leaderboard",
    "memberships",
    "merging_steps",
    "pairwise_matrix",
    "power_curves",
    "preferred_shares",
    "rank_boxes",
    "rank_diagram",
    "rank_intervals",
    "rank_shares",
    "rank_tier_bars",
    "strengths",
    "theta_along_ranking",
    "theta_histogram",
    "tier_list",
    "tier_probabilities",
    "tier_rank_boxes",
    "times_compared",
    "trace",
]
