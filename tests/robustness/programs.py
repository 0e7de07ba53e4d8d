"""Small programs that run in a process of their own, where things go wrong."""

import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def python(code, *arguments, before=(), **options):
    """Run a program to its end, and return what became of it."""
    command = [*before, sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=ROOT, timeout=240, **options
    )


# What a shell starts in the background ignores Ctrl-C, and so do the programs it starts in turn.
_LISTEN = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"


def start(code, *arguments):
    """Start a program, which can be interrupted, and let it run."""
    command = [sys.executable, "-c", _LISTEN + textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
