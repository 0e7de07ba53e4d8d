"""Search for the number and the sizes of tiers."""
