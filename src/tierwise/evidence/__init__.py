"""Evidence: how probable the answers are under given sizes, whatever the tiers and theta."""
