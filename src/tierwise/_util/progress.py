"""How far long work has come: a bar for people, a hook for programs."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias, TypeVar

ProgressHook: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, how many steps are done and how many there are."""

Progress: TypeAlias = ProgressHook | Literal["auto", "off"]
"""A hook, "auto" for a bar on a terminal, or "off"."""

_Step = TypeVar("_Step")


def track(
    steps: Iterable[_Step], description: str, total: int, progress: Progress = "auto"
) -> Iterator[_Step]:
    """Pass steps on, and tell after each how many are done.

    Parameters
    ----------
    steps
        What to go through.
    description
        What is being done, for people.
    total
        How many steps there are.
    progress
        "auto" shows a bar on stderr where that is a terminal; a function is called with the
        description, the number of steps done and their total; "off" stays silent.

    Examples
    --------
    >>> for letter in track("ab", "reading", 2, lambda *told: print(told)):
    ...     pass
    ('reading', 1, 2)
    ('reading', 2, 2)
    """
    with _reporter(description, total, progress) as report:
        for done, step in enumerate(steps, start=1):
            yield step
            report(description, done, total)


@contextmanager
def _reporter(description: str, total: int, progress: Progress) -> Iterator[ProgressHook]:
    if callable(progress):
        yield progress
    elif progress == "off" or not sys.stderr.isatty():
        yield lambda _description, _done, _total: None
    else:
        with _bar(description, total) as report:
            yield report


@contextmanager
def _bar(description: str, total: int) -> Iterator[ProgressHook]:
    from rich import progress as bars
    from rich.console import Console

    with bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as shown:
        task = shown.add_task(description, total=total)
        yield lambda _description, done, _total: shown.update(task, completed=done)
