"""Do people differ? Tiers by region, age and other columns."""
