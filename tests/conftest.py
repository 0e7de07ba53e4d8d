"""Settings shared by all tests."""

from functools import cache

import typer
from hypothesis import settings
from typer import testing

# Compiled functions are slow on first call only, so no single example has a time limit.
settings.register_profile("tierwise", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("tierwise")

# A run of the program makes its commands of functions, which takes longer than most commands that
# tests run in this process.
typer.main.get_command = testing._get_command = cache(typer.main.get_command)
