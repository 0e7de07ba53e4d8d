"""The tasks of child processes: read a file, analyse it, judge a tier list, write an example.

``python -m tierwise.web.tasks`` takes one line of JSON on standard input and reports progress in
lines of JSON on standard output. It ends with the server, because its standard input then closes. A
file that crashes its reader or fills the memory ends a child, not the server. With the word
``ready`` it loads what analyses need before it is given its task.
"""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from importlib import import_module
from math import inf
from pathlib import Path
from time import monotonic
from typing import IO, TYPE_CHECKING, Any

from tierwise._compiling.beforehand import compile_beside
from tierwise._util.processes import collect_seldom, end_with_parent
from tierwise._util.resources import VARIABLE
from tierwise.errors import TierwiseError, TierwiseWarning
from tierwise.web.bombs import refuse_bombs
from tierwise.web.own_tiers import judged
from tierwise.web.understanding import read_upload, table_of, told, understand

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise.data.kinds import Answers
    from tierwise.reporting.analysis import Analysis
    from tierwise.reporting.report import LeaderboardReport
    from tierwise.reporting.tables import ShownTier

_SECONDS_BETWEEN_NEWS = 0.2
# With so many items a fit takes seconds, and people who wait want to see tiers.
_MANY_ITEMS_OF = {"rankings": 100, "pairs": 100, "battles": inf}
_FEW_REPLICATES = 10

EXAMPLES = {
    "goals": "What should a country aim for? 2,262 people put four goals in order (M. Croon, 1989)",
    "election": "An election: 5,738 ballots that rank five candidates (P. Diaconis, 1988)",
    "races": "Formula 1: the finishers of the 40 races of 2015 and 2016 (f1db project, CC BY 4.0)",
}
"""The examples of the package, with their descriptions on the page."""


READY = "ready"
"""The word with which a child is started that has no task yet."""

COMPILING = "Finding the tiers, and compiling, once: this takes some seconds longer"
"""What the page says of the first analysis of a kind of answers after an installation."""


def analyse_file(task: dict[str, Any], tell: Callable[..., None]) -> dict[str, Any]:
    """Read a file, find its tiers, and write the page and all that can be downloaded."""
    from tierwise.data.kinds import use_of
    from tierwise.reporting.report import report

    refuse_bombs(task)
    tell("Reading the file", 0, 0)
    read = read_upload(task, table_of(task, {}))
    answers = read.answers
    compiling = compile_beside(use_of("report", answers))
    wishes, folder = {**task["wishes"]}, Path(task["folder"])
    many = len(answers.items) > _MANY_ITEMS_OF[answers.kind]
    if many and wishes.get("uncertainty") != "posterior":
        wishes["replicates"] = _FEW_REPLICATES
    tell(COMPILING if compiling.processes else "Finding the tiers", 0, 0)
    with warnings.catch_warnings(record=True) as cautions:
        warnings.simplefilter("always")
        analysis = report(answers, folder / "report.html", progress=tell, **wishes)
    _write_downloads(analysis, folder)
    return {
        **_shown(analysis, answers),
        "options": read.options,
        "without": [str(item) for item in read.without],
        "wishes": wishes,
        "kind": answers.kind,
        "policy": _policy_of((folder / "report.html").read_text(encoding="utf-8")),
        "cautions": sorted({str(one.message) for one in cautions if _is_ours(one)}),
    }


def _is_ours(caution: warnings.WarningMessage) -> bool:
    return issubclass(caution.category, TierwiseWarning)


def _policy_of(page: str) -> str:
    """Return the policy that a report asks for, which names the one script that may run."""
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    return "default-src 'none'; style-src 'unsafe-inline'" if found is None else found[1]


def _tier_list(analysis: Analysis | LeaderboardReport) -> list[ShownTier]:
    """Return the tiers as they are shown, with how sure they are if that is known."""
    from tierwise.reporting import tables
    from tierwise.reporting.report import LeaderboardReport

    if isinstance(analysis, LeaderboardReport):
        return tables.tier_list(analysis.board.tiers)
    return tables.tier_list(analysis.fit, tables.probabilities_by_item(analysis))


def _said(analysis: Analysis | LeaderboardReport, answers: Answers) -> dict[str, Any]:
    """Return the title of a result and its sentences."""
    from tierwise.plots.tiers import of_how_many
    from tierwise.reporting import wording
    from tierwise.reporting.report import LeaderboardReport, default_title, title_of_leaderboard

    if isinstance(analysis, LeaderboardReport):
        return {
            "title": title_of_leaderboard(analysis.board, answers.reading),
            "opening": analysis.board.note().splitlines(),
            "seconds": analysis.board.provenance.seconds,
        }
    return {
        "title": default_title(analysis),
        "opening": wording.opening(analysis),
        "of_how_many": of_how_many(analysis.sampled),
        "seconds": analysis.provenance.seconds,
    }


def _shown(analysis: Analysis | LeaderboardReport, answers: Answers) -> dict[str, Any]:
    """Return what the page of the result shows beside the report."""
    fit, rows, forecast = analysis.fit, _tier_list(analysis), analysis.forecast
    agreed = fit.agreed_tiers
    ranked = [number for number, item in enumerate(answers.items) if item in agreed.items]
    position = {answers.items[number]: place for place, number in enumerate(ranked)}
    return {
        **_said(analysis, answers),
        "about_enough": "" if forecast is None else forecast.sentence(),
        "verdict": "" if analysis.check is None else analysis.check.verdict_in_words(),
        "tiers": [
            {
                "sign": row.sign,
                "divided": row.divided,
                "colour": row.colour,
                "ink": row.ink,
                "items": [{"name": item.name, "sure": item.sure} for item in row.members],
            }
            for row in rows
        ],
        # Positions, for items need not be texts. What people are divided about has no place.
        "ranked": ranked,
        "items": [str(answers.items[number]) for number in ranked],
        "found": [[position[item] for item in tier] for tier in agreed],
        "family": fit.family,
        "distance": fit.distance,
        "concentration": fit.concentration,
    }


def _write_downloads(analysis: Analysis | LeaderboardReport, folder: Path) -> None:
    """Write the other files for download."""
    import csv

    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from tierwise.plots.tiers import tier_list
    from tierwise.reporting.report import LeaderboardReport

    if isinstance(analysis, LeaderboardReport):
        numbers = analysis.board.to_dict()
        tier_list(analysis.board)
    else:
        numbers = analysis.to_dict()
        tier_list(analysis.fit, analysis.sampled)
    text = json.dumps(numbers, indent=2, ensure_ascii=False, default=str)
    (folder / "result.json").write_text(text, encoding="utf-8")
    for kind in ("png", "svg"):
        plt.savefig(folder / f"tiers.{kind}", dpi=200, bbox_inches="tight")
    plt.close()
    rows = _tier_list(analysis)
    with (folder / "tiers.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["tier", "item", "probability"])
        for row in rows:
            sign = "divided" if row.divided else row.sign
            writer.writerows(
                [sign, _as_text(item.name), "" if item.sure is None else f"{item.sure:.4f}"]
                for item in row.members
            )


def _as_text(name: str) -> str:
    """Keep spreadsheets from taking a name for a formula."""
    return f"'{name}" if name[:1] in "=+-@\t\r" else name


def judge_own(task: dict[str, Any], _tell: Callable[..., None]) -> dict[str, Any]:
    """Compare the user's own tiers with those found, under the chosen model."""
    return judged(read_upload(task, table_of(task, {})).answers, task)


def write_example(task: dict[str, Any], _tell: Callable[..., None]) -> dict[str, Any]:
    """Write an example in the form of a typical file."""
    from tierwise.data.datasets import load_apa1980, load_f1, load_political_goals
    from tierwise.data.write import write_csv

    load = {"goals": load_political_goals, "election": load_apa1980, "races": load_f1}
    with Path(task["upload"]).open("w", encoding="utf-8", newline="") as file:
        write_csv(load[task["example"]](), file)
    return {}


_TASKS = {
    "understand": understand,
    "analyse": analyse_file,
    "judge": judge_own,
    "example": write_example,
}


def _limit_memory(n_bytes: int) -> None:
    """Let this process take no more memory than that, where the system can see to it."""
    # What is decided from sizes beforehand is to stay clear of that.
    os.environ.setdefault(VARIABLE, str(n_bytes // 2))
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


class _News:
    """Tells the server how far the work is, a few times a second at most."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream, self._last, self._step = stream, 0.0, ""

    def __call__(self, step: str, done: int, total: int) -> None:
        now = monotonic()
        if step == self._step and done < total and now - self._last < _SECONDS_BETWEEN_NEWS:
            return
        self._last, self._step = now, step
        self.write(json.dumps({"step": step, "done": done, "total": total}))

    def write(self, message: str) -> None:
        """Write a line."""
        self._stream.write(message + "\n")
        self._stream.flush()


def reply_to(task: dict[str, Any], tell: Callable[..., None]) -> str:
    """Do a task, and return its last message as JSON: the result, or what is wrong."""
    try:
        return json.dumps({"result": _TASKS[task["do"]](task, tell)})
    except TierwiseError as error:
        return json.dumps(told(error))
    except MemoryError:
        problem = "There is not enough memory for this: use fewer items or answers."
        return json.dumps({"problem": problem})


def _load_what_analyses_need() -> None:
    """Load the libraries that take a second or two, while nobody waits for them."""
    for name in ("reporting.report", "reporting.figures", "posterior.run"):
        import_module(f"tierwise.{name}")
    for name in ("numba", "xarray", "matplotlib.pyplot", "matplotlib.backends.backend_svg"):
        import_module(name)


def main() -> None:
    """Run the task on standard input."""
    # Whatever libraries print must not end up among the lines for the server.
    news = _News(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)
    collect_seldom()
    if sys.argv[1:] == [READY]:
        _load_what_analyses_need()
    given = sys.stdin.buffer.readline()
    if not given:  # the server has ended
        return
    task = json.loads(given)
    _limit_memory(task["limits"]["memory_bytes"])
    end_with_parent()
    news.write(reply_to(task, news))


if __name__ == "__main__":
    main()
