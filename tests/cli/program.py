"""The program, run without a process of its own: a second for each start of Python is saved."""

import io
import signal
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from unittest.mock import patch

from tierwise.cli.main import main


@dataclass(frozen=True)
class Done:
    """What a run of the program left."""

    returncode: int
    output: bytes
    messages: bytes

    @property
    def stdout(self):
        return self.output.decode()

    @property
    def stderr(self):
        return self.messages.decode()


@contextmanager
def computed_once(module, name):
    """Let runs that differ in what they print share a result, which the first computes."""
    compute, kept = getattr(import_module(module), name), []

    def compute_once(*arguments, **options):
        if not kept:
            kept.append(compute(*arguments, **options))
        return kept[0]

    with patch(f"{module}.{name}", compute_once):
        yield


def run_program(*words, columns=80):
    """Run ``tierwise`` with these words and no input; warnings are shown, as people see them."""
    streams = {
        "stdin": io.TextIOWrapper(io.BytesIO(), encoding="utf-8"),
        "stdout": io.TextIOWrapper(io.BytesIO(), encoding="utf-8"),
        "stderr": io.TextIOWrapper(io.BytesIO(), encoding="utf-8"),
    }
    handler = signal.getsignal(signal.SIGTERM)
    code = 0
    with (
        patch.multiple(sys, argv=["tierwise", *map(str, words)], **streams),
        patch.object(sys, "unraisablehook", sys.unraisablehook),
        patch.dict("os.environ", {"COLUMNS": str(columns)}),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        finally:
            signal.signal(signal.SIGTERM, handler)
            for stream in streams.values():
                stream.flush()
    return Done(code, streams["stdout"].buffer.getvalue(), streams["stderr"].buffer.getvalue())
