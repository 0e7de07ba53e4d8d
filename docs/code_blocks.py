"""Run the code blocks of a page, so that what the documentation shows is what happens.

The blocks of a page run from top to bottom, in one namespace and one folder:

- ``pycon`` is a Python session, of which everything that is shown as printed is compared;
- ``console`` holds commands of the program, ``$ tierwise ...``, with what they print;
- ``{code-block} text`` with a ``:caption:`` is a file, which is written under that name.

Blocks of other languages (``text``, ``sh``) are only shown.
"""

import doctest
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from tierwise.errors import TierwiseWarning

LANGUAGES_THAT_RUN = ("pycon", "console", "{code-block} text")
LANGUAGES_ONLY_SHOWN = ("text", "sh", "{toctree}", "{eval-rst}", "{glossary}")

_FENCE = re.compile(
    r"^(?P<ticks>`{3,})(?P<language>[^`\n]*)\n(?P<body>.*?)^(?P=ticks)`*$", re.M | re.S
)
_COMPARING = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_WIDTH = "88"


class WrongPageError(Exception):
    """A page shows something that does not happen."""


@dataclass(frozen=True)
class Block:
    """A block of code, and the line of the page on which it begins."""

    language: str
    body: str
    line: int


def blocks_of(text: str) -> Iterator[Block]:
    """Find all blocks of a page."""
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start("body"))
        yield Block(found["language"].strip(), found["body"], line)


# What values look like in a notebook, by the line of the page on which they are made.
Cards = dict[int, str]


def run_page(page: Path, folder: Path) -> Cards:
    """Run a page in a folder; raise WrongPageError where it prints something else."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cards: Cards = {}
    with chdir(folder), _environment(), warnings.catch_warnings():
        warnings.simplefilter("error", TierwiseWarning)
        for block in blocks_of(page.read_text(encoding="utf-8")):
            if block.language == "pycon":
                cards |= _run_session(block, page, names)
            elif block.language == "console":
                _run_commands(block, page)
            elif block.language == "{code-block} text":
                _write_file(block)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    return cards


@contextmanager
def _environment() -> Iterator[None]:
    """Set a terminal of known width and figures without a display, and all as before afterwards."""
    before = dict(os.environ)
    os.environ |= {"COLUMNS": _WIDTH, "MPLBACKEND": "agg"}
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class _Runner(doctest.DocTestRunner):
    """Runs a session, and keeps what values look like in a notebook."""

    def __init__(self, block: Block) -> None:
        super().__init__(optionflags=_COMPARING, verbose=False)
        self.block = block
        self.cards: Cards = {}

    def report_start(self, out: Any, test: doctest.DocTest, example: doctest.Example) -> None:
        """Have the value of the statement that comes next shown and kept."""

        def show(value: Any) -> None:
            plain_hook(value)
            if hasattr(value, "_repr_html_"):
                self.cards[self.block.line + example.lineno] = value._repr_html_()

        super().report_start(out, test, example)
        # What a session shows values with was set for it, and is set back after it.
        plain_hook, sys.displayhook = sys.__displayhook__, show


def _run_session(block: Block, page: Path, names: dict[str, Any]) -> Cards:
    session = doctest.DocTestParser().get_doctest(
        block.body, names, page.name, str(page), block.line
    )
    session.globs = names  # a test works on a copy, and the next block needs what this one made
    report = StringIO()
    runner = _Runner(block)
    if runner.run(session, out=report.write, clear_globs=False).failed:
        raise WrongPageError(report.getvalue())
    return runner.cards


def _run_commands(block: Block, page: Path) -> None:
    for part in re.split(r"^\$ ", block.body, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        printed, code = _run_command(command)
        as_shown = doctest.OutputChecker().check_output(shown, printed, _COMPARING)
        if shown.strip() and not as_shown:
            raise WrongPageError(
                f"{page}, block at line {block.line}: $ {command}\n"
                f"shown:\n{shown}\nprinted:\n{printed}"
            )
        if code and not shown.strip():
            raise WrongPageError(f"{page}: $ {command} ended with code {code}:\n{printed}")


def _run_command(command: str) -> tuple[str, int]:
    """Run a command of the program here; return what it printed and its exit code."""
    from tierwise.cli.main import main

    program, *arguments = shlex.split(command)
    if program != "tierwise":
        raise WrongPageError(f"only tierwise runs in console blocks; got: {command}")
    printed, before = StringIO(), sys.argv
    sys.argv = [program, *arguments]
    try:
        with redirect_stdout(printed), redirect_stderr(printed), warnings.catch_warnings():
            main()
    except SystemExit as end:
        return printed.getvalue(), int(end.code or 0)
    finally:
        sys.argv = before
    return printed.getvalue(), 0


def _write_file(block: Block) -> None:
    options, _, content = block.body.partition("\n\n")
    name = re.search(r"^:caption: (.+)$", options, re.M)
    if name is None:
        raise WrongPageError(f"the block at line {block.line} has no :caption: to name its file")
    Path(name[1].strip("`")).write_text(content, encoding="utf-8")
