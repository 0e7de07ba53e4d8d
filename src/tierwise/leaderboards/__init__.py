"""Leaderboards: tiers, ranks and their uncertainty for each item."""
