"""The command line: parse, call the library, print."""

from tierwise.cli.main import main

__all__ = ["main"]
