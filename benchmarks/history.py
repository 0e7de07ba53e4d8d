"""The page that shows how the benchmarks changed, from the runs in ``benchmarks/history``.

``python -m benchmarks.history`` writes ``docs/benchmarks-history.md``. To keep a run, write it
into the folder: ``python -m benchmarks --json benchmarks/history/2026-11-15.json``.
"""

from collections.abc import Callable
from pathlib import Path

from benchmarks.rows import Row, show_time
from benchmarks.runs import Run, key, ratios

KEPT = Path(__file__).parent / "history"
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks-history.md"
# More columns than this cannot be read; older runs stay in the folder.
MOST_RUNS = 6

START = """# Benchmarks over time

This page is made by `python -m benchmarks.history` from the runs that are kept in
`benchmarks/history`, one JSON file each; no figure is typed by hand. [The newest
table](benchmarks.md) says what the rows mean, and `make bench-compare BASE=<commit>` compares two
commits on your machine.

Ratios are taken within a run, so they can be compared from run to run. Times can only where the
machine is the same, and as busy.
"""


def read_runs(folder: Path) -> list[Run]:
    """All runs that are kept, the oldest first."""
    return sorted((Run.read(path) for path in folder.glob("*.json")), key=lambda run: run.date)


def page(runs: list[Run]) -> str:
    """Write the page: the runs, the ratios to peers, and the times."""
    shown = runs[-MOST_RUNS:]
    parts = [
        START,
        "## The runs\n",
        _runs_table(shown),
        "\n## How many times faster than the peer\n",
        _table(shown, _ratio, with_peer=True),
        "\n## How long tierwise takes\n",
        _table(shown, lambda row: show_time(row.seconds), with_peer=False),
    ]
    return "\n".join(parts) + "\n"


def _runs_table(runs: list[Run]) -> str:
    lines = [
        "| run | tierwise | commit | Python | numpy | numba | machine | cores | GB/s | load |",
        "|---|---|---|---|---|---|---|--:|--:|--:|",
    ]
    for run in runs:
        machine = run.machine
        cells = (
            run.date,
            run.version,
            run.commit,
            machine.python,
            machine.numpy,
            machine.numba,
            f"{machine.system} {machine.processor}".strip(),
            machine.cores,
            machine.gigabytes_per_second,
            "" if machine.load is None else machine.load,
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += [f"\n*{run.date}*: {run.note}" for run in runs if run.note]
    return "\n".join(lines)


def _ratio(row: Row) -> str:
    ratio = ratios(row).get("peer / tierwise")
    return "" if ratio is None else f"{ratio:.3g}"


def _table(runs: list[Run], show: Callable[[Row], str], *, with_peer: bool) -> str:
    """One line for each row that some run has, one column for each run."""
    names = ["what", "case", "peer"] if with_peer else ["what", "case"]
    lines = [
        "| " + " | ".join([*names, *(run.date for run in runs)]) + " |",
        "|" + "---|" * len(names) + "--:|" * len(runs),
    ]
    by_run = [{key(row)[: len(names)]: show(row) for row in run.rows} for run in runs]
    # The newest run first: its rows are in the order of the table that people know.
    for labels in dict.fromkeys(label for found in reversed(by_run) for label in found):
        cells = [found.get(labels, "") for found in by_run]
        if any(cells):
            lines.append("| " + " | ".join([*labels, *cells]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(read_runs(KEPT)), encoding="utf-8")
