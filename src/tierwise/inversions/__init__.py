"""Tiers of all sizes at once under the distance inversions: best tiers, evidence, draws, chains."""
