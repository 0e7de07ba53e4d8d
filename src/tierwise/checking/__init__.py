"""Checks whether a fitted model predicts the rankings it was fitted to."""
