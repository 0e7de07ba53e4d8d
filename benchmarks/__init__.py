"""How long things take: ``python -m benchmarks`` prints one table."""
