"""How kernels are compiled, beforehand or when they are called, and run by Python meanwhile."""
