"""Run every benchmark and write one markdown table.

``python -m benchmarks`` prints it; ``--out docs/benchmarks.md`` makes the page of the docs (some
benchmarks, chosen by ``--only``, become a section of a page that holds others), and
``--json benchmarks/history/2026-11-15.json`` keeps the run.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks import counting, peers, races
from benchmarks.leaderboard import tiers_against_bradley_terry
from benchmarks.many_items import best_of_all_sizes, search_of_many_items
from benchmarks.partition import (
    exact_against_importance_sampling,
    growth_with_items,
    growth_with_states,
    path_sampling,
)
from benchmarks.rows import HEADER, Row, compile_whatever_is_called, show_row, show_table
from benchmarks.runs import Run
from benchmarks.sampling import exact_against_metropolis
from benchmarks.strengths import (
    leaderboards_of_strengths,
    posterior_of_strengths,
    search_of_strengths,
    strengths_alone,
)
from benchmarks.tied_worths import effective_draws_of_ties, ranks_that_are_shared

# To add one, write a function that returns rows and list it here.
BENCHMARKS: list[Callable[[], list[Row]]] = [
    *peers.PEERS,
    *races.RACES,
    counting.against_bincount,
    counting.growth_with_rankings_and_items,
    exact_against_importance_sampling,
    growth_with_items,
    growth_with_states,
    path_sampling,
    exact_against_metropolis,
    best_of_all_sizes,
    search_of_many_items,
    tiers_against_bradley_terry,
    strengths_alone,
    search_of_strengths,
    posterior_of_strengths,
    leaderboards_of_strengths,
    effective_draws_of_ties,
    ranks_that_are_shared,
]

PAGE = """# Benchmarks{about}

This page is made by `python -m benchmarks {options}`; no figure is typed by hand.

All times of a line come from the same run on the same data, so the ratios mean more than the
times. Each is the shortest of several calls, or of one if that takes long, after one that loads
and compiles; only first uses and the last file are counted in a fresh process. *Floor* is what the
machine needs in any case: to read from memory, at the {gigabytes_per_second:.0f} GB/s that one core
was measured to reach, a byte for every cell (counting) or eight for every state (recursion).
*Peer / tierwise* above 1 means that tierwise is faster. Where a remark has a date, the peer was
built and run side by side with an earlier tierwise at that time, and its figures stand here as they
were found then.

Made on {date} with tierwise {version}, Python {python}, numpy {numpy}; {cores} cores
({processor}), which {load} programs wanted to use at the time.

"""


SECTION = """## {heading}

`python -m benchmarks {command}` on {date} with tierwise {version}, Python {python}, numpy {numpy};
{cores} cores ({processor}), which {load} programs wanted to use at the time;
{gigabytes_per_second:.0f} GB/s from memory.

"""


def with_section(page: str, heading: str, section: str) -> str:
    """Put a section into a page, in the place of the one with its heading if there is one.

    Examples
    --------
    >>> with_section("# Page\\n\\n## A\\n\\nold\\n\\n## B\\n", "A", "## A\\n\\nnew\\n")
    '# Page\\n\\n## A\\n\\nnew\\n\\n## B\\n'
    """
    first, *others = page.split("\n## ")
    kept = [f"## {other.strip()}\n" for other in others]
    places = [place for place, other in enumerate(kept) if other.startswith(f"## {heading}\n")]
    if places:
        kept[places[0]] = section
    else:
        kept.insert(0, section)
    return "\n".join([first.strip() + "\n", *kept])


def is_of_others(page: str, part: str) -> bool:
    """Whether a page holds benchmarks that were chosen in another way: it is then added to.

    Examples
    --------
    >>> page = "This page is made by `python -m benchmarks --only in_r --out page.md`"
    >>> is_of_others(page, "--only in_r"), is_of_others(page, "--only strengths_alone")
    (False, True)
    >>> is_of_others("", "--only in_r")
    False
    """
    return bool(page) and f"`python -m benchmarks {part} --out" not in page


def chosen(only: str, n_rankings: int) -> list[Callable[[], list[Row]]]:
    """The benchmarks that have a word in their name: all of them if it is empty."""
    every = {
        "races_" * (benchmark in races.RACES) + benchmark.__name__: benchmark
        for benchmark in BENCHMARKS
    }
    every["large_file"] = partial(counting.large_file, n_rankings)
    found = [benchmark for name, benchmark in every.items() if only in name]
    if not found:
        sys.exit(f"No benchmark has {only!r} in its name; there are {', '.join(every)}.")
    return found


def measure(benchmarks: list[Callable[[], list[Row]]]) -> Iterator[Row]:
    """Run benchmarks and print their rows as they come."""
    print(HEADER, flush=True)
    for benchmark in benchmarks:
        for row in benchmark():
            print(show_row(row), flush=True)
            yield row


def main() -> None:
    compile_whatever_is_called()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rankings", type=int, default=10_000_000, help="how many the large file holds"
    )
    parser.add_argument("--only", default="", help="run those with this in their name")
    parser.add_argument("--out", type=Path, help="the page to write")
    parser.add_argument("--json", type=Path, help="the file in which the run is kept")
    options = parser.parse_args()
    run = Run.of(list(measure(chosen(options.only, options.rankings))))
    if options.json:
        run.write(options.json)
    if options.out:
        facts = {**vars(run.machine), "version": run.version, "date": run.date.split()[0]}
        part = f"--only {options.only}" if options.only else f"--rankings {options.rankings}"
        table = show_table(run.rows) + "\n"
        before = options.out.read_text(encoding="utf-8") if options.out.exists() else ""
        if "\n## " in before or is_of_others(before, part):
            heading = options.only.capitalize().replace("_", " ") or "All benchmarks"
            section = SECTION.format(heading=heading, command=part, **facts) + table
            options.out.write_text(with_section(before, heading, section), encoding="utf-8")
            return
        page = PAGE.format(
            about=f": those with {options.only!r} in their name" if options.only else "",
            options=f"{part} --out {options.out.as_posix()}",
            **facts,
        )
        options.out.write_text(page + table, encoding="utf-8")


if __name__ == "__main__":
    main()
