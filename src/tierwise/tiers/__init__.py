"""Tiers: ordered partitions of the items, and the sizes they have."""
