"""How many answers are needed, which to ask for next, and when to stop."""
