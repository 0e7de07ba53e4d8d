"""Plan a data collection: how many answers, which to ask next, and when to stop."""
