"""Data in the shapes that leaderboards, surveys and elections have, from file to printed answer.

``python -m benchmarks.shapes`` prints a table: wall time, time of the cores and peak memory of the
commands that people type, each in a process of its own, with a limit. ``--only ballots`` runs the
shapes with this in their name, ``--growth`` doubles items and answers (battles: ten times as many),
``--seconds`` sets the limit, ``--peers`` times other programs, and
``--first-use`` runs commands with nothing compiled. ``--json
benchmarks/shapes.json`` keeps the figures, in the place of those of the same shapes, and ``--page
docs/benchmarks-shapes.md`` makes the page of what is kept.
"""

import argparse
import compileall
import contextlib
import io
import json
import os
import resource
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

import tierwise
from benchmarks.served import seconds_until_page

Write = Callable[[Path, int, int, np.random.Generator], None]

# A first call loads and compiles; beyond so many seconds it is not made again.
_MOST_SECONDS_TWICE = 20.0
_SEED = 1
KEPT = Path(__file__).parent / "shapes.json"
# How much longer a process may take than the cores work on it.
_LARGEST_LOAD = 10.0
SHARED = Path(
    os.environ.get("TIERWISE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)


@dataclass(frozen=True)
class Shape:
    """Data of a shape, and the command that is asked about them.

    Attributes
    ----------
    name
        What stands in the table.
    n_items, n_answers
        How large the data are; growth multiplies them.
    write
        Writes made data to a file: path, number of items, number of answers, generator.
    command
        The words after ``tierwise``; FILE is the file, PAGE a page that is written.
    wanted
        Seconds that it may take on a quiet machine.
    real
        A file of real data of this shape below the folder of shared data, used if it is there.
    more_answers
        By how much the answers grow.
    """

    name: str
    n_items: int
    n_answers: int
    write: Write
    command: str
    wanted: float
    real: str = ""
    more_answers: int = 2

    def sizes(self, growth: str) -> tuple[int, int]:
        """Return the numbers of items and of answers, as they are or grown."""
        return (
            self.n_items * (2 if growth == "items" else 1),
            self.n_answers * (self.more_answers if growth == "answers" else 1),
        )


def _lines(path: Path, rows: list[list[Any]]) -> None:
    text = "\n".join(",".join(map(str, row)) for row in rows)
    path.write_text(text + "\n", encoding="utf-8")


def _names(n_items: int, word: str = "item") -> list[str]:
    return [f"{word} {number:04}" for number in range(1, n_items + 1)]


def _strengths(n_items: int, n_tiers: int, step: float) -> np.ndarray:
    """Log worths of items in tiers, the items of a tier being equal."""
    return -step * (np.arange(n_items) * n_tiers // n_items)


def _orders(logs: np.ndarray, n_answers: int, rng: np.random.Generator) -> np.ndarray:
    """Draw orderings with these log worths, the best item first."""
    return np.argsort(-(logs + rng.gumbel(size=(n_answers, len(logs)))), axis=1)


def _pass_or_fail(path: Path, n_items: int, n_answers: int, rng: np.random.Generator) -> None:
    """Models in rows, tasks in columns, each cell 1 or 0."""
    skill = _strengths(n_items, 12, 0.35)[:, None] + 2.0
    cells = rng.random((n_items, n_answers)) < 1 / (1 + np.exp(rng.normal(size=n_answers) - skill))
    head = ["model", *_names(n_answers, "task")]
    rows = zip(_names(n_items, "model"), cells.astype(int).tolist(), strict=True)
    _lines(path, [head, *([name, *row] for name, row in rows)])


def _scores(empty: float) -> Write:
    def write(path: Path, n_items: int, n_answers: int, rng: np.random.Generator) -> None:
        skill = _strengths(n_items, 10, 0.4)[:, None]
        cells = 60 + 4 * (skill + rng.normal(size=(n_items, n_answers)))
        cells += rng.normal(scale=8, size=n_answers)
        shown = np.where(rng.random(cells.shape) < empty, "", np.char.mod("%.2f", cells))
        head = ["model", *_names(n_answers, "task")]
        rows = zip(_names(n_items, "model"), shown.tolist(), strict=True)
        _lines(path, [head, *([name, *row] for name, row in rows)])

    return write


def _battles(path: Path, n_items: int, n_answers: int, rng: np.random.Generator) -> None:
    """Counted battles of models whose strengths lie in tiers."""
    logs = _strengths(n_items, 14, 0.22)
    first = rng.integers(n_items, size=n_answers)
    second = (first + 1 + rng.integers(n_items - 1, size=n_answers)) % n_items
    chance = 1 / (1 + np.exp(logs[second] - logs[first]))
    drawn = rng.random(n_answers)
    outcome = np.where(drawn < 0.15, 2, np.where(rng.random(n_answers) < chance, 0, 1))
    keys = (first * n_items + second) * 3 + outcome
    found, counts = np.unique(keys, return_counts=True)
    names, winner = _names(n_items, "model"), ("model_a", "model_b", "tie")
    rows = [
        [names[key // 3 // n_items], names[key // 3 % n_items], winner[key % 3], count]
        for key, count in zip(found.tolist(), counts.tolist(), strict=True)
    ]
    _lines(path, [["model_a", "model_b", "winner", "count"], *rows])


def _ratings(path: Path, n_items: int, n_answers: int, rng: np.random.Generator) -> None:
    """Places with ties, one column per item, an item missing here and there."""
    logs = _strengths(n_items, 3, 0.7)
    heard = logs + rng.gumbel(size=(n_answers, n_items))
    places = 5 - np.clip(np.round(2 + heard), 0, 4).astype(int)
    shown = np.where(rng.random(places.shape) < 0.12, "", places.astype(str))
    _lines(path, [_names(n_items), *shown.tolist()])


def _nearly_complete(path: Path, n_items: int, n_answers: int, rng: np.random.Generator) -> None:
    """Complete rankings, but two with a gap and one with a tie."""
    places = 1 + np.argsort(_orders(_strengths(n_items, 3, 0.6), n_answers, rng), axis=1)
    shown = places.astype(str).astype(object)
    shown[0, 2] = shown[1, 4] = ""
    shown[2, int(np.flatnonzero(places[2] == 3)[0])] = "2"
    _lines(path, [_names(n_items), *shown.tolist()])


def _ballots(most: int) -> Write:
    def write(path: Path, n_items: int, n_answers: int, rng: np.random.Generator) -> None:
        orders = _orders(_strengths(n_items, 4, 0.5), n_answers, rng)
        lengths = rng.integers(1, most + 1, size=n_answers)
        names = np.array(_names(n_items))[orders[:, :most]].astype(object)
        names[np.arange(most) >= lengths[:, None]] = ""
        _lines(path, [[f"choice {place + 1}" for place in range(most)], *names.tolist()])

    return write


def _gaps(listed: float) -> Write:
    """Orderings of some of the items, the others lying anywhere."""

    def write(path: Path, n_items: int, n_answers: int, rng: np.random.Generator) -> None:
        most = max(2, round(listed * n_items))
        logs = _strengths(n_items, 4, 0.9)
        heard = logs + rng.gumbel(size=(n_answers, n_items))
        seen = np.argsort(rng.random((n_answers, n_items)), axis=1)[:, :most]
        order = np.take_along_axis(
            seen, np.argsort(-np.take_along_axis(heard, seen, axis=1), axis=1), axis=1
        )
        lengths = rng.integers(max(2, most - 3), most + 1, size=n_answers)
        names = np.array(_names(n_items))[order].astype(object)
        names[np.arange(most) >= lengths[:, None]] = ""
        _lines(path, [[f"place {place + 1}" for place in range(most)], *names.tolist()])

    return write


def _races(path: Path, n_items: int, n_answers: int, rng: np.random.Generator) -> None:
    """One row per driver of a race, drivers missing here and there."""
    orders = _orders(_strengths(n_items, 6, 0.6), n_answers, rng)
    names = _names(n_items, "driver")
    rows: list[list[Any]] = [["year", "round", "order", "driverId"]]
    for race, order in enumerate(orders.tolist()):
        kept = [driver for driver in order if rng.random() > 0.15]
        rows += [[2015, race + 1, place + 1, names[driver]] for place, driver in enumerate(kept)]
    _lines(path, rows)


def _grades(path: Path, n_items: int, n_answers: int, rng: np.random.Generator) -> None:
    """Places with many ties, one row per person."""
    heard = _strengths(n_items, 4, 0.9) + rng.normal(size=(n_answers, n_items))
    places = 6 - np.clip(np.round(heard + 4), 1, 5).astype(int)
    _lines(path, [_names(n_items, "game"), *places.tolist()])


_ANYWHERE, _BELOW = "--unranked anywhere", "--unranked below"
_F1 = "--item driverId --rank order --assessor year --assessor round"
SHAPES = (
    Shape(
        "134 x 500 pass or fail: leaderboard",
        134,
        500,
        _pass_or_fail,
        "leaderboard FILE --better higher",
        10.0,
    ),
    Shape(
        "129 models, 1.67 million battles, counted: leaderboard with page",
        129,
        1_670_000,
        _battles,
        "leaderboard FILE --page PAGE",
        10.0,
        "arena/battles.csv",
        10,
    ),
    Shape(
        "122 models, 139,000 battles: leaderboard",
        122,
        139_000,
        _battles,
        "leaderboard FILE",
        8.0,
        more_answers=10,
    ),
    Shape(
        "181 x 41 scores, a tenth empty: leaderboard",
        181,
        41,
        _scores(0.1),
        "leaderboard FILE --better higher",
        8.0,
    ),
    Shape(
        "90 x 10 scores: leaderboard", 90, 10, _scores(0.0), "leaderboard FILE --better higher", 3.0
    ),
    Shape(
        "8 items, 140 ratings with ties and gaps: fit",
        8,
        140,
        _ratings,
        f"fit FILE --ties allow --layout ranks {_ANYWHERE}",
        4.0,
    ),
    Shape(
        "8 items, 140 ratings with ties and gaps: posterior",
        8,
        140,
        _ratings,
        f"posterior FILE --ties allow --layout ranks {_ANYWHERE}",
        4.0,
    ),
    Shape(
        "7 items, 64 rankings, a gap or a tie here and there: fit",
        7,
        64,
        _nearly_complete,
        f"fit FILE --ties allow {_ANYWHERE}",
        3.0,
    ),
    Shape(
        "12 items, 10,000 top-5 ballots: fit", 12, 10_000, _ballots(5), f"fit FILE {_BELOW}", 3.0
    ),
    Shape(
        "12 items, 10,000 top-5 ballots: 1 to 4 groups",
        12,
        10_000,
        _ballots(5),
        f"mixture FILE {_BELOW} --groups 1-4",
        30.0,
    ),
    Shape(
        "9 items, 635 ballots, the rest below: fit", 9, 635, _ballots(8), f"fit FILE {_BELOW}", 3.0
    ),
    Shape(
        "9 items, 1,902 ballots, the rest below: fit",
        9,
        1902,
        _ballots(8),
        f"fit FILE {_BELOW}",
        3.0,
    ),
    Shape("17 items, 16 answers with gaps: fit", 17, 16, _gaps(0.6), f"fit FILE {_ANYWHERE}", 3.0),
    Shape("20 items, 66 answers with gaps: fit", 20, 66, _gaps(0.6), f"fit FILE {_ANYWHERE}", 3.0),
    Shape("26 items, 82 answers with gaps: fit", 26, 82, _gaps(0.6), f"fit FILE {_ANYWHERE}", 3.0),
    Shape(
        "25 drivers, 40 races, gaps: fit",
        25,
        40,
        _races,
        f"fit FILE {_F1} {_ANYWHERE}",
        5.0,
        "f1/f1db_2015_2016_results.csv",
    ),
    Shape(
        "20 games, 5 people's grades: fit",
        20,
        5,
        _grades,
        "fit FILE --ties allow --layout ranks",
        3.0,
    ),
    Shape(
        "8 items, 60 answers with gaps, inversions: fit",
        8,
        60,
        _gaps(0.7),
        f"fit FILE {_ANYWHERE} --distance inversions",
        2.0,
    ),
    Shape(
        "4 items with gaps, Kendall: posterior",
        4,
        40,
        _gaps(0.75),
        f"posterior FILE {_ANYWHERE} --distance kendall",
        1.0,
    ),
    Shape(
        "100 items, 5,000 people with 10 listed each: fit",
        100,
        5_000,
        _gaps(0.1),
        f"fit FILE {_ANYWHERE}",
        15.0,
    ),
    Shape(
        "1,368 items, 4 answers with gaps: fit", 1368, 4, _gaps(0.5), f"fit FILE {_ANYWHERE}", 10.0
    ),
)


@dataclass(frozen=True)
class Figures:
    """What a shape took.

    ``core_seconds`` is the time of the cores, which other programs do not disturb; ``said`` is what
    went wrong, where something did, and else the first sentence on the choice of the model.
    ``effective`` is what the draws are worth for what the chains say least about, None where there
    are no chains, and ``settled`` whether they agree.
    """

    seconds: float
    core_seconds: float
    megabytes: float
    said: str
    effective: float | None = None
    settled: bool | None = None


def measure(shape: Shape, growth: str, limit: float) -> Figures:
    """Run a shape in a process of its own, until the cores have worked as long as the limit."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        n_items, n_answers = shape.sizes(growth)
        real = SHARED / shape.real
        if shape.real and not growth and real.is_file():
            path = real
        else:
            shape.write(path, n_items, n_answers, np.random.default_rng(_SEED))
        words = [
            str(path)
            if word == "FILE"
            else str(Path(folder) / "page.html")
            if word == "PAGE"
            else word
            for word in shape.command.split()
        ]
        words += ["--seed", str(_SEED)]
        program = [sys.executable, "-m", "benchmarks.shapes", "--run", json.dumps(words)]
        # The cores' time is what counts: a busy machine takes longer.
        try:
            done = subprocess.run(
                [*program, "--seconds", str(limit)],
                capture_output=True,
                text=True,
                timeout=_LARGEST_LOAD * limit,
                # Threads that wait for each other would count as work.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Figures(_LARGEST_LOAD * limit, limit, float("nan"), "not in time")
    if done.returncode == -signal.SIGXCPU:
        return Figures(float("nan"), limit, float("nan"), f"not in {limit:g} s of the cores")
    if done.returncode:
        return Figures(0.0, 0.0, 0.0, done.stderr.strip().splitlines()[-1][:200])
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


def run_here(words: list[str]) -> Figures:
    """Run a command in this process, twice where that is quick: the second call is warm."""
    from typer.main import get_command

    from tierwise.cli.main import app

    command = get_command(app)
    seen = _remembered_diagnostics()
    for _ in range(2):
        seen.clear()
        printed, noted = io.StringIO(), io.StringIO()
        start, cores = perf_counter(), process_time()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(noted):
            command.main(words, standalone_mode=False)
        seconds, core_seconds = perf_counter() - start, process_time() - cores
        if core_seconds > _MOST_SECONDS_TWICE:
            break
    both = " ".join(f"{noted.getvalue()} {printed.getvalue()}".split())
    signs = ("describes the answers best", "settle", "Not compared", "warning")
    said = ". ".join(part for part in both.split(". ") if any(sign in part for sign in signs))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    effective, settled = None, None
    if seen:
        least = seen[-1].least_ess
        effective, settled = min(least.ess_bulk, least.ess_tail), seen[-1].agree
    return Figures(seconds, core_seconds, peak, said[-300:], effective, settled)


FIRST_USES: dict[str, tuple[str, Write]] = {
    "demo": ("demo", _ballots(8)),
    "fit": (f"fit FILE {_BELOW}", _ballots(8)),
    "leaderboard": ("leaderboard FILE", _battles),
    "report": (f"report FILE {_BELOW} -o PAGE", _ballots(8)),
}
"""Commands of a first use, and what writes their data: 9 items, 1,000 ballots or battles."""

SERVED: dict[str, float] = {
    "serve: page of a file that is chosen at once": 0.0,
    "serve: page of a file that is chosen 10 s after the start": 10.0,
    "serve: page of a file that is chosen 20 s after the start": 20.0,
}
"""How many seconds after the start of the server the file of `report` is given to it."""


def _write_for_first_use(write: Write, path: Path) -> None:
    write(path, 9, 1000, np.random.default_rng(_SEED))


def translate_to_bytecode() -> None:
    """Translate the libraries to bytecode, as pip does when it installs them."""
    for folder in (sysconfig.get_path("purelib"), Path(tierwise.__file__).parent):
        compileall.compile_dir(str(folder), quiet=2)


def measure_served(chosen_after: float) -> Figures:
    """Have a server that has nothing compiled make the page of a file.

    The time of the cores is not known: processes that are killed do not say what they took.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        _write_for_first_use(FIRST_USES["report"][1], path)
        seconds = seconds_until_page(path, {"unranked": "below"}, chosen_after=chosen_after)
    return Figures(seconds, float("nan"), float("nan"), "")


def _spent_since(before: resource.struct_rusage) -> tuple[float, float]:
    """Return the seconds of cores that child processes have taken, and the megabytes of one."""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cores = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cores, after.ru_maxrss / 1024


def measure_first_use(command: str, write: Write) -> Figures:
    """Run a command in a process of its own with nothing compiled."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        _write_for_first_use(write, path)
        files = {"FILE": str(path), "PAGE": str(path.with_suffix(".html"))}
        words = [files.get(word, word) for word in command.split()]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "tierwise", *words],
            capture_output=True,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "NUMBA_CACHE_DIR": folder},
            check=False,
        )
        seconds = perf_counter() - start
    said = done.stderr.strip().splitlines()[-1][:200] if done.returncode else ""
    return Figures(seconds, *_spent_since(before), said)


def _remembered_diagnostics() -> list[Any]:
    """Return a list that is filled with what is found about chains from now on."""
    from tierwise.posterior.result import Posterior

    seen: list[Any] = []
    diagnose = Posterior.diagnostics

    def remembered(posterior: Any) -> Any:
        found = diagnose(posterior)
        if posterior.method == "mcmc":
            seen.append(found)
        return found

    Posterior.diagnostics = remembered  # type: ignore[method-assign, assignment]
    return seen


PAGE = """# Shapes of real data

This page is made by `python -m benchmarks.shapes --page docs/benchmarks-shapes.md` from
`benchmarks/shapes.json`; no figure is typed by hand.

The data are made in the shapes that leaderboards, surveys and elections have, or are real data of
that shape where these are at hand. Each line is a command from file to printed answer, with default
options, so all models that can be compared are. *Wanted* is the time limit that we set ourselves
for a quiet machine. Times were taken in a process that had run the command before, if that took
less than 20 seconds; other times include the start of Python. *Cores* is processor time. *Effective
draws* is the effective sample size of the least certain quantity: the number of tiers, theta, or
whether two items are tied.

All shapes were run one after another, on two virtual cores (AMD EPYC) that did nothing else, and
then grown, with a limit of 40 s of a core.

Of 134 models that pass or fail 500 tasks, most of the time goes to chains, in which each item is
valued by 500 tied blocks, and to the searches of the models that are compared. Groups of ballots
are fitted from 20 starts and five times without a fold, for each number of groups, and then merged
and split. Under inversions, answers with gaps are fitted for each of the 128 sizes of eight items.
A first use spends most of its time on compiling; the demo is so small that nothing is compiled.

"""


def _key(name: str, growth: str) -> str:
    return f"{name} [{growth}]" if growth else name


def page_of(kept: dict[str, Any]) -> str:
    """Write what is kept as a page: the shapes as they are, and how times grow."""
    lines = [
        "| shape | wanted | wall | cores | memory | effective draws | per second of a core "
        "| settled | measured |",
        "|---|--:|--:|--:|--:|--:|--:|---|---|",
    ]
    for shape in SHAPES:
        found = kept.get(_key(shape.name, ""))
        empty = f"| {shape.name} | {shape.wanted:g} s |  |  |  |  |  |  | not yet |"
        lines.append(empty if found is None else _line(shape, found))
    grown = [
        "",
        "## How times grow",
        "",
        "Twice the items, twice the answers, or ten times the battles; time of the cores.",
        "",
        "| shape | as it is | more items | more answers |",
        "|---|--:|--:|--:|",
    ]
    for shape in SHAPES:
        three = [kept.get(_key(shape.name, growth)) for growth in ("", "items", "answers")]
        if any(three[1:]):
            cells = ["" if one is None else _time(one) for one in three]
            grown.append(f"| {' | '.join([shape.name, *cells])} |")
    if grown[-1].startswith("|--"):
        grown = []
    first = [
        "",
        "## A first use",
        "",
        "With no kernel compiled, as after an installation; 10 s are wanted of each. A page of",
        "`serve` is that of `report`, and its time begins when the file is sent. Until then, the",
        "server compiles.",
        "",
        "| command | wall | cores | measured |",
        "|---|--:|--:|---|",
    ]
    for name in (*FIRST_USES, *SERVED):
        found = kept.get(_key(name, "first use"))
        if found is not None:
            wall = f"{found['seconds']:.1f} s"
            cores = "" if name in SERVED else _time(found)
            first.append(f"| tierwise {name} | {wall} | {cores} | {found['date']} |")
    if first[-1].startswith("|--"):
        first = []
    further = [*_before_and_after(kept), *_draws(kept), *_peers(kept)]
    return PAGE + "\n".join(lines + further + grown + first) + "\n"


def _before_and_after(kept: dict[str, Any]) -> list[str]:
    """Write times of the cores that an earlier state took, beside those of this one."""
    before = kept.get("before", {})
    if not before:
        return []
    lines = [
        "",
        "## Before and after",
        "",
        f"Time of the cores at commit {before['commit']}, when other programs ran, and now. What",
        "takes more than 20 s is run once, and its time includes the loading of kernels.",
        "",
        "| shape | before | now |",
        "|---|--:|--:|",
    ]
    for name, seconds in before["core_seconds"].items():
        if name in kept:
            lines.append(f"| {name} | {seconds} | {_time(kept[name])} |")
    return lines


def _draws(kept: dict[str, Any]) -> list[str]:
    """Write what draws are worth for ranks and ties, as `benchmarks.effective` found."""
    draws = kept.get("draws", {})
    if not draws:
        return []
    lines = [
        "",
        "## Effective draws per second of a core",
        "",
        "Of 4 chains of 1,000 draws, the model being named (`python -m benchmarks.effective`): for",
        "the rank of an item, and for whether two neighbours are tied; of the item or pair about",
        f"which least is known, and of the middle one. *Before* is commit {draws['commit']}.",
        "",
        "| shape | | cores | least rank | middle rank | least tie | middle tie |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    fields = ("ranks_least", "ranks_median", "ties_least", "ties_median")
    for name in draws["now"]:
        for state in ("before", "now"):
            found = draws[state].get(name)
            if found is not None:
                cells = [f"{found[field] / found['core_seconds']:,.0f}" for field in fields]
                shown = [name, state, f"{found['core_seconds']:.1f} s", *cells]
                lines.append(f"| {' | '.join(shown)} |")
    return lines


def _peers(kept: dict[str, Any]) -> list[str]:
    """Write what other programs take for strengths, tiers of players, and scores."""
    peers = kept.get("peers", [])
    if not peers:
        return []
    lines = [
        "",
        "## Other programs",
        "",
        "Strengths are those of one item each, found once, or in battles that are drawn again a",
        "hundred times: the shortest wall time of some calls. Tiers of players are searched once,",
        "and those of scores come with a posterior, as `leaderboard` gives it; these are times of",
        "the cores. autorank tests which mean ranks differ, which asks less.",
        "BayesMallows was not run here; its dated figures are in [the benchmarks](benchmarks.md).",
        "",
        "| what | data | tierwise | peer | its time | remark |",
        "|---|---|--:|---|--:|---|",
    ]
    for row in peers:
        times = [
            "" if row[name] is None else f"{1000 * row[name]:,.1f} ms"
            for name in ("seconds", "peer_seconds")
        ]
        cells = row["what"], row["case"], times[0], row["peer"], times[1], row["remark"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _time(found: dict[str, Any]) -> str:
    """Write the time of the cores, or that it was not enough."""
    known = np.isfinite(found["megabytes"] or np.nan)
    return f"{found['core_seconds']:.1f} s" if known else f"over {found['core_seconds']:.0f} s"


def _line(shape: Shape, found: dict[str, Any]) -> str:
    done = np.isfinite(found["megabytes"] or np.nan)
    effective, settled = found.get("effective"), found.get("settled")
    cells = [
        shape.name,
        f"{shape.wanted:g} s",
        f"{found['seconds']:.1f} s" if done else "",
        _time(found),
        f"{found['megabytes']:.0f} MB" if done else "",
        "" if effective is None else f"{effective:,.0f}",
        "" if effective is None else f"{effective / found['core_seconds']:,.0f}",
        "" if settled is None else "yes" if settled else "no",
        found["date"],
    ]
    return f"| {' | '.join(cells)} |"


def _kept(found: Figures) -> dict[str, Any]:
    """Return figures as they are kept: as JSON can hold them, with the date."""
    figures = {
        name: None if isinstance(value, float) and not np.isfinite(value) else value
        for name, value in asdict(found).items()
    }
    return {**figures, "date": f"{datetime.now(UTC):%Y-%m-%d}"}


def main() -> None:
    """Measure the shapes and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="run those with this in their name")
    parser.add_argument("--growth", choices=["items", "answers"], default="")
    parser.add_argument("--seconds", type=float, default=120.0, help="limit of each")
    parser.add_argument("--json", type=Path, help="the file in which the figures are kept")
    parser.add_argument("--page", type=Path, help="write this page of what is kept, and no more")
    parser.add_argument("--first-use", action="store_true", help="run with nothing compiled")
    parser.add_argument("--peers", action="store_true", help="time other programs")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        resource.setrlimit(resource.RLIMIT_CPU, (int(options.seconds), int(options.seconds) + 5))
        print(json.dumps(asdict(run_here(json.loads(options.run)))))
        return
    if options.page:
        options.page.write_text(page_of(json.loads(KEPT.read_text(encoding="utf-8"))))
        return
    kept: dict[str, Any] = {}
    if options.json and options.json.exists():
        kept = json.loads(options.json.read_text(encoding="utf-8"))
    if options.peers:
        from benchmarks.leaderboard import tiers_of_scores
        from benchmarks.rows import compile_whatever_is_called
        from benchmarks.strengths import resampled_strengths, strengths_alone
        from benchmarks.tied_worths import ranks_that_are_shared

        compile_whatever_is_called()
        races = (strengths_alone, resampled_strengths, ranks_that_are_shared, tiers_of_scores)
        kept["peers"] = [asdict(row) for race in races for row in race()]
        print("\n".join(_peers(kept)))
        if options.json:
            options.json.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        return
    if options.first_use:
        translate_to_bytecode()
        runs = {name: partial(measure_first_use, *use) for name, use in FIRST_USES.items()}
        runs |= {name: partial(measure_served, after) for name, after in SERVED.items()}
        for name, run in runs.items():
            found = run()
            kept[_key(name, "first use")] = _kept(found)
            print(f"| {name} | {found.seconds:.1f} s | {found.core_seconds:.1f} s | {found.said} |")
        if options.json:
            options.json.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        return
    print("| shape | wanted | wall | cores | memory | said |\n|---|--:|--:|--:|--:|---|")
    for shape in SHAPES:
        if options.only not in shape.name:
            continue
        found = measure(shape, options.growth, options.seconds)
        kept[_key(shape.name, options.growth)] = _kept(found)
        name = shape.name
        if options.growth:
            n_items, n_answers = shape.sizes(options.growth)
            name += f" (grown: {n_items:,} items, {n_answers:,} answers)"
        print(
            f"| {name} | {shape.wanted:g} s | {found.seconds:.1f} s | {found.core_seconds:.1f} s | "
            f"{found.megabytes:.0f} MB | {found.said} |",
            flush=True,
        )
        if options.json:
            options.json.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
