"""Which tiers? How many there are, and how large."""
