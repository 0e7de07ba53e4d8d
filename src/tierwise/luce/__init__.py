"""Tiers of strength: Luce's choice model with one worth per tier."""
