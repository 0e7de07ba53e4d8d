"""Methods compared over data sets: tiers, and what tests of significance say beside them."""
