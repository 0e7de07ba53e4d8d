"""Which benchmarks got slower or faster between two commits.

``python -m benchmarks.compare main`` checks out that commit and the present one, runs the
benchmarks of each with its own code, one after the other on this machine, and prints the rows
that changed by more than 10%. ``--only partition`` runs those with that word in their name.

The two take turns. The shortest time of a row counts, and a change is only called clear if it is
larger than what the turns of one commit differ by: on a busy machine, two copies of the same code
may well be 20% apart.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.rows import Row, show_time
from benchmarks.runs import Run

ROOT = Path(__file__).resolve().parents[1]
HEADER = (
    "| what | case | peer | before | after | after / before | between turns | of the peer | |\n"
    "|---|---|---|--:|--:|--:|--:|--:|---|"
)


@dataclass(frozen=True)
class Change:
    """A row of two commits: the shortest times, and by what factor turns of one commit differ."""

    row: Row
    before: float
    after: float
    between_turns: float
    of_peer: float | None

    @property
    def factor(self) -> float:
        return self.after / self.before

    @property
    def size(self) -> float:
        """How many times longer the longer of the two is."""
        return max(self.factor, 1.0 / self.factor)

    @property
    def clear(self) -> bool:
        return self.size > self.between_turns


def compare(before: list[Run], after: list[Run], *, beyond: float = 0.1) -> str:
    """Write the rows that changed by more than a share, from all turns of two commits."""
    changes, only = _changes(before, after)
    large = [change for change in changes if abs(change.factor - 1.0) > beyond]
    clear = sum(change.clear for change in large)
    lines = [
        f"{before[-1].commit} -> {after[-1].commit}: of {len(changes)} rows, {len(large)} changed "
        f"by more than {beyond:.0%}, {clear} of them clearly.",
        *_about_load([*before, *after]),
        *only,
    ]
    if len(before) == 1:
        lines.append("With a single turn nothing says how much times differ by themselves.")
    if large:
        lines += ["", HEADER, *map(_show, large)]
    return "\n".join(lines)


def _changes(before: list[Run], after: list[Run]) -> tuple[list[Change], list[str]]:
    """Rows that both commits time, and a line for each that only one of them has."""
    old, new = before[-1].by_key(), after[-1].by_key()
    only = [_name("only before", row) for key, row in old.items() if key not in new]
    only += [_name("only after", row) for key, row in new.items() if key not in old]
    changes = []
    for key, row in new.items():
        ours = [_times(runs, key, "seconds") for runs in (before, after)]
        if all(ours):
            peers = [_times(runs, key, "peer_seconds") for runs in (before, after)]
            of_peer = min(peers[1]) / min(peers[0]) if all(peers) else None
            between = max(max(times) / min(times) for times in ours)
            changes.append(Change(row, min(ours[0]), min(ours[1]), between, of_peer))
    return changes, only


def _times(runs: list[Run], key: tuple[str, str, str], which: str) -> list[float]:
    """The times of a row in all turns that took it."""
    rows = [found[key] for run in runs if key in (found := run.by_key())]
    return [time for row in rows if (time := getattr(row, which)) is not None]


def _about_load(runs: list[Run]) -> list[str]:
    """Warn where more programs wanted to run than there are cores."""
    loads = [run.machine.load for run in runs if run.machine.load is not None]
    cores = runs[-1].machine.cores
    if not loads or cores is None or max(loads) <= cores:
        return []
    return [f"Up to {max(loads):.1f} programs shared {cores} cores: repeat this when it is quiet."]


def _name(which: str, row: Row) -> str:
    return f"{which}: {row.what}, {row.case} {row.peer}".rstrip()


def _show(change: Change) -> str:
    cells = (
        change.row.what,
        change.row.case,
        change.row.peer,
        show_time(change.before),
        show_time(change.after),
        f"{change.factor:.2f}",
        f"{change.between_turns:.2f}",
        "" if change.of_peer is None else f"{change.of_peer:.2f}",
        "clear" if change.clear else "no more than between turns",
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
    parser.add_argument("--turns", type=int, default=3, help="how often each commit is run")
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
    print(compare(before, after, beyond=options.beyond))


if __name__ == "__main__":
    main()
