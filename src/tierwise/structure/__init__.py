"""Which tiers? How many there are, and how large."""

from tierwise.structure.result import Candidate, Search
from tierwise.structure.searching import search
from tierwise.structure.start import Merging, MergingStep, merge_even_pairs

__all__ = ["Candidate", "Merging", "MergingStep", "Search", "merge_even_pairs", "search"]
