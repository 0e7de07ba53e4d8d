"""Distances between orderings and tiers, one module each."""
