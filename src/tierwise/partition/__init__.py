"""The partition function: the sum of ``exp(-theta d)`` over all orderings."""
