"""Settings shared by all tests."""

from hypothesis import settings

# Compiled functions are slow on first call only, so no single example has a time limit.
settings.register_profile("tierwise", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("tierwise")
