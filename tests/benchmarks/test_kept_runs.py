"""Runs of the benchmarks that are kept, compared, and shown."""

from dataclasses import replace

import pytest
from benchmarks.compare import compare
from benchmarks.rows import Row
from benchmarks.runs import Machine, Run

from benchmarks import history

MACHINE = Machine("Linux", "x86_64", 2, 30.0, 0.5, "3.13.0", "2.3.5", "0.62.1")
ROWS = (
    Row("draws", "ten items", 0.5, "", "a peer", 2.0, 0.1),
    Row("draws", "in R", None, "not there", "R"),
    Row("counting", "a file", 1.0, "same counts"),
)


def run(rows=ROWS, date="2026-01-01", commit="before"):
    return Run(date, "0.1.0", commit, MACHINE, rows)


def test_a_run_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "folder" / "run.json"
    run().write(path)
    assert Run.read(path) == run()
    assert '"peer / tierwise": 4.0' in path.read_text(encoding="utf-8")


def turns(*seconds, commit="before"):
    return [run((replace(ROWS[0], seconds=time), *ROWS[1:]), commit=commit) for time in seconds]


@pytest.mark.parametrize(("factor", "n_changed"), [(1.0, 0), (1.09, 0), (1.12, 1), (0.85, 1)])
def test_rows_that_changed_are_named(factor, n_changed):
    shown = compare(turns(0.5, 0.5), turns(0.5 * factor, 0.5 * factor, commit="after"))
    first = f"of 2 rows, {n_changed} changed by more than 10%, {n_changed} of them clearly."
    assert shown.startswith(f"before -> after: {first}")
    assert (f"| {factor:.2f} | 1.00 | 1.00 | clear |" in shown) == bool(n_changed)


def test_a_change_as_large_as_between_turns_is_not_clear():
    # Two copies of the same code, on a busy machine.
    shown = compare(turns(0.389, 0.400), turns(0.484, 0.317, commit="after"))
    assert "1 changed by more than 10%, 0 of them clearly" in shown
    assert "| 389 ms | 317 ms | 0.81 | 1.53 | 1.00 | no more than between turns |" in shown


def test_what_makes_times_doubtful_is_said():
    busy = replace(run(), machine=replace(MACHINE, load=5.7))
    assert "Up to 5.7 programs shared 2 cores" in compare([busy], [busy])
    assert "With a single turn" in compare([busy], [busy])
    quiet = compare(turns(0.5, 0.5), turns(0.5, 0.5))
    assert "shared" not in quiet
    assert "single" not in quiet


def test_rows_of_one_run_only_are_named():
    shown = compare([run(ROWS[:2])], [run(ROWS[1:])])
    assert "only before: draws, ten items a peer" in shown
    assert "only after: counting, a file\n" in shown


def test_the_page_shows_ratios_and_times_of_every_run():
    later = (replace(ROWS[0], seconds=0.25), ROWS[1])
    shown = history.page([run(), run(later, date="2026-02-01")])
    assert "| draws | ten items | a peer | 4 | 8 |" in shown
    assert "| draws | ten items | 500 ms | 250 ms |" in shown
    assert "| counting | a file | 1 s |  |" in shown
    assert "in R" not in shown


def test_the_page_of_the_documentation_is_up_to_date():
    made = history.page(history.read_runs(history.KEPT))
    assert history.PAGE.read_text(encoding="utf-8") == made
