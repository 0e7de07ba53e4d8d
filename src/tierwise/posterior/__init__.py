"""The posterior of tiers, sizes and theta: chains, and exact draws where feasible."""
