"""Leaderboards: what is published about each item, and how it could change."""
