"""Do people differ? Tiers by what is known of them."""
