"""Compare methods over data sets: tiers, and significance tests for comparison."""
