"""Public functions, called at random: each call gives a result that can be used, or a refusal.

A number names a call: which function, which data, which options. What comes back is used as people
do: printed, turned into strict JSON and frames, pickled, saved and loaded, drawn. Whatever is not a
`TierwiseError` is a fault. So is a warning that is not a `TierwiseWarning`, a method of a result
that refuses, or a call that takes too long.

Some calls are part of the tests. A long run, with a child process that may crash or hang::

    python -m tests.robustness.random_calls --calls 5000
    python -m tests.robustness.random_calls --only 1234  # the call of that number, with traceback
"""

from __future__ import annotations

import argparse
import collections
import inspect
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

import tierwise as tw
from tests.robustness import random_data
from tests.robustness.random_options import (
    FIXED,
    FOR_PEOPLE,
    FOR_RANKINGS,
    OPTIONS,
    SECOND,
    SHARES,
    WITHOUT_DATA,
    Drawn,
)
from tests.robustness.random_uses import Words, use, use_data

if TYPE_CHECKING:
    from collections.abc import Iterator

# Of the processor, not of the clock: machines may be busy. Time to compile is most of it.
SECONDS = 120.0
# A kernel cannot be interrupted: a child that is silent for so much longer is ended.
PATIENCE = 5.0


@dataclass(frozen=True)
class Outcome:
    """What became of a call.

    Attributes
    ----------
    number
        Names the call.
    kind
        "result", "refusal", "exception", "warning", "hang" or "crash"; "unusable" where there was a
        result, and one of its own methods refused.
    what
        The call in words.
    message
        What was raised, if anything.
    where
        Where in the package, innermost last.
    """

    number: int
    kind: str
    what: str
    message: str = ""
    where: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def is_fault(self) -> bool:
        return self.kind not in ("result", "refusal")

    def __str__(self) -> str:
        head = f"{self.number}: {self.kind}: {self.what}"
        return "\n    ".join([head, self.message, " < ".join(self.where)])


class TooLong(BaseException):
    """A call takes too long; no `except Exception` of the package hides it."""


# Figures say where there is nothing to show, and files and frames which names they cannot hold;
# what a model cannot tell of some data, or of so many thetas, it says, too.
MAY_REFUSE = (
    *("read", "save", "to_frame", "figure", "distribution", "distances", "log_prob"),
    *("rank_tier_bands", "theta_interval", "mean_distance", "var_distance", "log_partition"),
    *("rank_tier_probabilities", "place_probabilities"),
)


def call(number: int, *, seconds: float = SECONDS, reraise: str = "no") -> Outcome:
    """Make the call of a number, use its result, and say what became of it."""
    mpl.use("agg")
    words, started = Words(), time.perf_counter()

    def outcome(kind: str, error: BaseException | None = None) -> Outcome:
        message = "" if error is None else f"{type(error).__name__}: {error}"
        where = () if error is None else _where(error)
        return Outcome(number, kind, str(words), message, where, time.perf_counter() - started)

    try:
        with (
            _time_limit(seconds),
            warnings.catch_warnings(),
            tempfile.TemporaryDirectory() as folder,
        ):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", tw.TierwiseWarning)
            # Fonts are the machine's.
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            os.environ["TIERWISE_RANDOM_CALLS"] = folder
            _make_call(np.random.default_rng([26, number]), Path(folder), words)
    except tw.TierwiseError as error:
        used = str(words).partition("; used:")[2].split()
        return outcome("unusable" if used and used[-1] not in MAY_REFUSE else "refusal", error)
    except TooLong as error:
        return outcome("hang", error)
    except Exception as error:
        if reraise == "yes":
            raise
        return outcome("warning" if isinstance(error, Warning) else "exception", error)
    finally:
        _close_figures()
    return outcome("result")


def _make_call(rng: np.random.Generator, folder: Path, words: Words) -> None:
    shares = np.array([SHARES.get(name, 1) for name in OPTIONS], dtype=float)
    name = str(rng.choice(list(OPTIONS), p=shares / shares.sum()))
    known = random_data.RANKINGS if name in FOR_RANKINGS else random_data.KINDS
    kind = str(rng.choice(list(known)))
    if rng.random() < 0.02:
        kind = str(rng.choice(list(random_data.KINDS)))
    elif name in FOR_PEOPLE:
        kind = "known_people"
    words.said.append(f"{name} of {kind}:")
    data = random_data.KINDS[kind](rng)
    words.said.append(repr(data))
    drawn = Drawn(rng, data, folder)
    options = drawn.options(OPTIONS[name])
    if name == "fit" and options.get("tiers") is not None:
        options["sizes"] = None
    words.said.append(f"{ {key: value for key, value in options.items() if value is not data} }")
    given = [] if name in WITHOUT_DATA else [data]
    if name in SECOND:
        second = SECOND[name](drawn)
        words.said.append(f"with {second!r}")
        given.append(second)
    function = getattr(tw, name)
    parameters = inspect.signature(function).parameters
    fixed = {key: value for key, value in FIXED.items() if key in parameters}
    result = function(*given, **options, **fixed)
    words.said.append("; used:")
    use(result, drawn, given, words, options)
    if name == "describe":
        use_data(data, drawn, words)


def _where(error: BaseException) -> tuple[str, ...]:
    """Return where in the package an error arose, innermost last."""
    package = str(Path(tw.__file__).parent)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(package)]
    return tuple(
        f"{Path(frame.filename).relative_to(package)}:{frame.lineno}" for frame in own[-4:]
    )


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise TooLong(f"more than {seconds:g} seconds of the processor")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _close_figures() -> None:
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def _answer(connection: Any, seconds: float) -> None:
    """Make the calls whose numbers come in, in a child process."""
    while True:
        connection.send(call(connection.recv(), seconds=seconds))


class Child:
    """A process that makes calls; another one takes over where it crashes or hangs."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_answer, args=(theirs, self._seconds), daemon=True)
        self._process.start()
        theirs.close()

    def call(self, number: int) -> Outcome:
        self._connection.send(number)
        try:
            silent = not self._connection.poll(PATIENCE * self._seconds)
            outcome = Outcome(number, "hang", "in a kernel") if silent else self._connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            outcome = Outcome(number, "crash", f"exit code {self._process.exitcode}")
        if outcome.kind in ("hang", "crash"):
            # What was interrupted while it compiled does not work any more.
            self.end()
            self._start()
        return outcome

    def end(self) -> None:
        self._process.kill()
        self._process.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=1000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--only", type=int, help="make one call here, and show its traceback")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long a call may take")
    parser.add_argument("--refusals", type=int, default=0, help="how many kinds of them to list")
    given = parser.parse_args()
    if given.only is not None:
        print(call(given.only, seconds=given.seconds, reraise="yes"))
        return 0
    kinds: collections.Counter[str] = collections.Counter()
    faults: dict[tuple[Any, ...], list[Outcome]] = collections.defaultdict(list)
    refusals: collections.Counter[str] = collections.Counter()
    child, started = Child(given.seconds), time.perf_counter()
    for number in range(given.first, given.first + given.calls):
        outcome = child.call(number)
        kinds[outcome.kind] += 1
        if outcome.kind == "refusal":
            refusals[f"{outcome.what.partition(' ')[0]}: {outcome.message[:90]}"] += 1
        if outcome.is_fault:
            alike = faults[outcome.kind, outcome.where[-1:], outcome.message.partition(":")[0]]
            alike.append(outcome)
            if len(alike) == 1:
                print(outcome, flush=True)
        if (number - given.first) % 100 == 99:
            print(f"-- {dict(kinds)} in {time.perf_counter() - started:.0f} s", flush=True)
    child.end()
    print(f"\n{given.calls} calls from {given.first}: {dict(kinds)}")
    for message, times in refusals.most_common(given.refusals):
        print(f"{times:5} refused: {message}")
    for alike in sorted(faults.values(), key=len, reverse=True):
        print(f"{len(alike)} times, as {[one.number for one in alike[:5]]}: {alike[0]}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
