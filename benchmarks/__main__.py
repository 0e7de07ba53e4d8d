"""Run every benchmark and write one markdown table.

``python -m benchmarks`` prints it; ``--out docs/benchmarks.md`` makes the page of the docs.
"""

import argparse
import platform
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from os import cpu_count, getloadavg
from pathlib import Path

import numpy as np

import tierwise
from benchmarks import counting, peers
from benchmarks.first_use import first_answers
from benchmarks.floors import memory_bandwidth
from benchmarks.partition import (
    exact_against_importance_sampling,
    growth_with_items,
    growth_with_states,
    path_sampling,
)
from benchmarks.rows import HEADER, Row, show_row
from benchmarks.sampling import exact_against_metropolis

# To add one, write a function that returns rows and list it here.
BENCHMARKS: list[Callable[[], list[Row]]] = [
    *peers.PEERS,
    counting.against_bincount,
    counting.growth_with_rankings_and_items,
    exact_against_importance_sampling,
    growth_with_items,
    growth_with_states,
    path_sampling,
    exact_against_metropolis,
    first_answers,
]

PAGE = """# Benchmarks

This page is made by `python -m benchmarks --rankings {rankings} --out docs/benchmarks.md`; no
figure is typed by hand.

All times of a line come from the same run on the same data, so the ratios mean more than the
times. Each is the shortest of several calls, or of one if that takes long, after one that loads
and compiles; only the last file is counted in a fresh process. *Floor* is what the machine needs
in any case: to read from memory, at the {bandwidth:.0f} GB/s that one core was measured to reach,
a byte for every cell (counting) or eight for every state (recursion). *Peer / tierwise* above 1
means that tierwise is faster.

Made on {date:%Y-%m-%d} with tierwise {version}, Python {python}, numpy {numpy}; {cores} cores
({machine}), which {load:.1f} programs wanted to use at the time.

"""


def lines(n_rankings: int) -> Iterator[str]:
    """Run the benchmarks and give the table line by line."""
    yield HEADER
    for benchmark in [*BENCHMARKS, partial(counting.large_file, n_rankings)]:
        yield from map(show_row, benchmark())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rankings", type=int, default=10_000_000, help="how many the large file holds"
    )
    parser.add_argument("--out", type=Path, help="the file to write")
    options = parser.parse_args()
    table = []
    for line in lines(options.rankings):
        print(line, flush=True)
        table.append(line)
    if options.out:
        page = PAGE.format(
            rankings=options.rankings,
            bandwidth=memory_bandwidth() / 1e9,
            date=datetime.now(UTC),
            version=tierwise.__version__,
            python=platform.python_version(),
            numpy=np.__version__,
            cores=cpu_count(),
            machine=platform.machine(),
            load=getloadavg()[0],
        )
        options.out.write_text(page + "\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
