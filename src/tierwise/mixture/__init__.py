"""Mixtures: groups of people, each with its own tiers."""
