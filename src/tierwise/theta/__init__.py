"""Theta: estimates, intervals, and densities given the data."""
