"""The best tiers for given sizes, one module per algorithm."""
