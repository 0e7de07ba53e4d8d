"""``tierwise serve``: tiers for people who do not program, in their browser."""
