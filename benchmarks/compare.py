"""Which benchmarks got slower or faster between two commits.

``python -m benchmarks.compare main`` checks out that commit and the present one, runs the
benchmarks of each with its own code, one after the other on this machine, and prints the rows
that changed by more than 10%. ``--only partition`` runs those with that word in their name.

The two take turns, and the shortest time of a row counts: on a machine that does something else
besides, a single turn finds changes between two copies of the same code.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.rows import Row, show_time
from benchmarks.runs import Run

ROOT = Path(__file__).resolve().parents[1]
HEADER = (
    "| what | case | peer | before | after | after / before | the same of the peer |\n"
    "|---|---|---|--:|--:|--:|--:|"
)


def compare(before: Run, after: Run, *, beyond: float = 0.1) -> str:
    """Write the rows that changed by more than a share, and what only one of the runs has."""
    old, new = before.by_key(), after.by_key()
    common = [(old[key], row) for key, row in new.items() if key in old]
    changed = [pair for pair in common if abs(_factor(*pair) - 1.0) > beyond]
    timed = sum(a.seconds is not None and b.seconds is not None for a, b in common)
    lines = [
        f"{before.commit} -> {after.commit}: {len(changed)} of {timed} rows changed by more than "
        f"{beyond:.0%}.",
        *_about("only before", [row for key, row in old.items() if key not in new]),
        *_about("only after", [row for key, row in new.items() if key not in old]),
    ]
    if changed:
        lines += ["", HEADER, *(_show(*pair) for pair in changed)]
        lines += ["", "A row whose peer changed as much was disturbed by something else."]
    return "\n".join(lines)


def shortest(runs: list[Run]) -> Run:
    """The newest of several runs of one commit, each row with the shortest of its times."""

    def least(times: list[float | None]) -> float | None:
        return min((time for time in times if time is not None), default=None)

    *_, last = runs
    rows = []
    for key, row in last.by_key().items():
        same = [found[key] for run in runs if key in (found := run.by_key())]
        seconds = least([one.seconds for one in same])
        rows.append(
            replace(row, seconds=seconds, peer_seconds=least([one.peer_seconds for one in same]))
        )
    return replace(last, rows=tuple(rows))


def _factor(before: Row, after: Row) -> float:
    if before.seconds is None or after.seconds is None:
        return 1.0
    return after.seconds / before.seconds


def _about(which: str, rows: list[Row]) -> list[str]:
    return [f"{which}: {row.what}, {row.case} {row.peer}".rstrip() for row in rows]


def _show(before: Row, after: Row) -> str:
    of_peer = ""
    if before.peer_seconds and after.peer_seconds:
        of_peer = f"{after.peer_seconds / before.peer_seconds:.2f}"
    cells = (
        after.what,
        after.case,
        after.peer,
        show_time(before.seconds),
        show_time(after.seconds),
        f"{_factor(before, after):.2f}",
        of_peer,
    )
    return "| " + " | ".join(cells) + " |"


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """Check a commit out into a folder of its own, and take it away afterwards."""
    with TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        _git("worktree", "add", "--quiet", "--detach", str(tree), revision)
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def run_in(tree: Path, options: list[str]) -> Run:
    """Run the benchmarks of a folder with its own code, in the environment that runs this."""
    kept = tree / "run.json"
    command = [sys.executable, "-m", "benchmarks", "--json", str(kept), *options]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    done = subprocess.run(command, cwd=tree, env=environment, check=False, stdout=sys.stderr)
    if done.returncode:
        sys.exit(f"The benchmarks of {tree} failed; those of old commits do not know --json.")
    return Run.read(kept)


def _git(*words: str) -> None:
    subprocess.run(["git", *words], cwd=ROOT, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("head", nargs="?", default="HEAD", help="the other commit")
    parser.add_argument("--only", default="", help="run those with this in their name")
    parser.add_argument("--rankings", default="1000000", help="how many the large file holds")
    parser.add_argument("--beyond", type=float, default=0.1, help="the share that is a change")
    parser.add_argument("--turns", type=int, default=2, help="how often each commit is run")
    options = parser.parse_args()
    passed = ["--rankings", options.rankings, "--only", options.only]
    before: list[Run] = []
    after: list[Run] = []
    with checked_out(options.base) as base, checked_out(options.head) as head:
        for turn in range(1, options.turns + 1):
            for revision, tree, runs in (
                (options.base, base, before),
                (options.head, head, after),
            ):
                print(f"turn {turn} of {options.turns}: {revision}", file=sys.stderr)
                runs.append(run_in(tree, passed))
    print(compare(shortest(before), shortest(after), beyond=options.beyond))


if __name__ == "__main__":
    main()
