"""The clustered Mallows model and the priors of its parameters."""
