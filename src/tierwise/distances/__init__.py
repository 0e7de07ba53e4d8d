"""Distances between orderings and tiers."""
