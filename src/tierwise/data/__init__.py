"""What people said: rankings, preferences, and what the model needs of them."""
