"""A model of what things cost, checked against measurements, and what it says about larger data.

``python -m benchmarks.costs`` prints it; ``--out docs/scale.md`` puts it into that page, between
the lines that mark the place.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.counting import count_alone, names, write_orderings
from benchmarks.rows import core_time, show_sizes, show_time
from tierwise import ClusteredMallows, Rankings, Tiers
from tierwise.consensus.find import find_consensus
from tierwise.consensus.subsets import subset_work
from tierwise.distances import Costs
from tierwise.partition.choose import partition_function
from tierwise.partition.recursion import steps

# Half of the joint counts, which is what is written to, in the megabyte that a core has at hand.
MOST_ITEMS_IN_CACHE = 22
START, END = "<!-- made by python -m benchmarks.costs -->", "<!-- end of what is made -->"


@dataclass(frozen=True)
class Check:
    """A cost that the model predicts for one case, and what it turned out to be there."""

    what: str
    formula: str
    constants: str
    case: str
    predicted: float
    measured: float


@dataclass(frozen=True)
class Model:
    """The constants, in seconds on one core."""

    per_cell: float
    per_pair: float
    per_pair_beyond_cache: float
    per_block_pair: float

    def count(self, n_rankings: float, n_items: int) -> float:
        """Seconds to count rankings of few items from Parquet."""
        in_cache = n_items <= MOST_ITEMS_IN_CACHE
        per_pair = self.per_pair if in_cache else self.per_pair_beyond_cache
        return n_rankings * (self.per_cell * n_items + per_pair * _pairs(n_items))

    def count_blocks(self, n_rankings: float, n_items: int) -> float:
        """Seconds to count rankings of many items for given sizes."""
        return n_rankings * (self.per_cell * n_items + self.per_block_pair * n_items**2)


def _pairs(n_items: int) -> float:
    return n_items * (n_items - 1) / 2


def bytes_on_disk(n_rankings: float, n_items: int) -> float:
    """Size of a Parquet file: cells are numbers of items, in as few bits as they need."""
    return n_rankings * n_items * ceil(log2(n_items)) / 8


def bytes_of_counts(n_items: int) -> float:
    """Memory of joint counts; a worker holds up to three of them."""
    return 3 * 8 * n_items**4


def make_model() -> Model:
    """Measure the constants on small cases."""
    few, some, more, many = 5, 20, 48, 100
    cells_and_pairs = [[few, _pairs(few)], [some, _pairs(some)]]
    times = [_seconds_to_count(400_000, n_items) / 400_000 for n_items in (few, some)]
    per_cell, per_pair = np.linalg.solve(cells_and_pairs, times)
    beyond = _seconds_to_count(400_000, more) / 400_000
    blocks = _seconds_to_count_blocks(4_000, many) / 4_000
    return Model(
        per_cell,
        per_pair,
        (beyond - per_cell * more) / _pairs(more),
        (blocks - per_cell * many) / many**2,
    )


def checks(model: Model) -> list[Check]:
    """Compare the model with cases that its constants do not come from."""
    return [
        *_counting_checks(model),
        *_growth(
            "log partition at a theta, recursion",
            "states x (tiers + items / 2)",
            steps,
            _seconds_of_recursion,
            [(2,) * 13, (2,) * 14, (3,) * 10],
        ),
        *_growth(
            "consensus, subsets",
            "steps of `subset_work`",
            lambda sizes: subset_work(sizes).steps,
            _seconds_of_subsets,
            [(1,) * 16, (1,) * 19, (4,) * 5],
        ),
        *_growth(
            "consensus, annealing",
            "items²",
            lambda sizes: sum(sizes) ** 2,
            _seconds_of_annealing,
            [(10,) * 10, (20,) * 10, (50,) * 10],
        ),
        *_growth(
            "a draw, exact",
            "items",
            sum,
            _seconds_of_a_draw,
            [(1,) * 20, (1,) * 40, (1,) * 80],
        ),
    ]


def _counting_checks(model: Model) -> list[Check]:
    constants = (
        f"a = {1e9 * model.per_cell:.1f} ns; b = {1e9 * model.per_pair:.1f} ns, beyond "
        f"{MOST_ITEMS_IN_CACHE} items {1e9 * model.per_pair_beyond_cache:.1f} ns"
    )
    found = [
        Check(
            "counting",
            "rankings x (a items + b pairs of items)",
            constants,
            f"{n_rankings:,} rankings of {n_items} items",
            model.count(n_rankings, n_items),
            _seconds_to_count(n_rankings, n_items),
        )
        for n_rankings, n_items in [(1_500_000, 10), (500_000, 15), (400_000, 42)]
    ]
    found.append(
        Check(
            "counting for given sizes",
            "rankings x (a items + c items²)",
            f"c = {1e9 * model.per_block_pair:.2f} ns",
            "1,000 rankings of 300 items",
            model.count_blocks(1_000, 300),
            _seconds_to_count_blocks(1_000, 300),
        )
    )
    return found


def _growth(
    what: str,
    unit: str,
    work: Callable[[tuple[int, ...]], float],
    seconds: Callable[[tuple[int, ...]], float],
    cases: list[tuple[int, ...]],
) -> list[Check]:
    """Take the constant from the first case, and predict the others."""
    first, *others = cases
    constant = seconds(first) / work(first)
    return [
        Check(
            what,
            f"a x {unit}",
            f"a = {1e9 * constant:.3g} ns",
            f"sizes {show_sizes(sizes)}",
            constant * work(sizes),
            seconds(sizes),
        )
        for sizes in others
    ]


def _seconds_to_count(n_rankings: int, n_items: int) -> float:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rankings.parquet"
        write_orderings(path, n_rankings, n_items, seed=1)
        scan = Rankings.scan(path, items=names(n_items))
        return core_time(lambda: scan.counts(workers=1))


def _seconds_to_count_blocks(n_rankings: int, n_items: int) -> float:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rankings.parquet"
        write_orderings(path, n_rankings, n_items, seed=1)
        scan = Rankings.scan(path, items=names(n_items))
        sizes = (n_items // 2, n_items - n_items // 2)
        return core_time(lambda: scan.blocks(sizes, workers=1))


def _seconds_of_recursion(sizes: tuple[int, ...]) -> float:
    return core_time(
        lambda: partition_function(sizes, "kendall", method="recursion").log_value(0.1)
    )


def _seconds_of_subsets(sizes: tuple[int, ...]) -> float:
    costs = _random_costs(sum(sizes))
    return core_time(lambda: find_consensus(costs, sizes, method="subsets"))


def _seconds_of_annealing(sizes: tuple[int, ...]) -> float:
    costs = _random_costs(sum(sizes))
    return core_time(lambda: find_consensus(costs, sizes, method="annealing", rng=1), repeats=1)


def _seconds_of_a_draw(sizes: tuple[int, ...]) -> float:
    model = ClusteredMallows(Tiers.from_sizes(sizes, range(sum(sizes))), 0.1)
    return core_time(lambda: model.sample(20_000, rng=1), repeats=5) / 20_000


def _random_costs(n_items: int) -> Costs:
    above = np.random.default_rng(1).random((n_items, n_items))
    np.fill_diagonal(above, 0.0)
    return Costs(linear=np.empty((0, 0)), pairs=above)


def show_checks(rows: list[Check]) -> list[str]:
    lines = [
        "| what | model | constants, one core | checked on | predicted | measured | ratio |",
        "|---|---|---|---|--:|--:|--:|",
    ]
    for row in rows:
        times = f"{show_time(row.predicted)} | {show_time(row.measured)}"
        ratio = f"{row.measured / row.predicted:.2f}"
        cells = (row.what, row.formula, row.constants, row.case, times, ratio)
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def show_memory() -> list[str]:
    """Measure that memory does not grow with the number of rankings."""
    lines = ["| rankings of 10 items | peak memory of the whole process |", "|--:|--:|"]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rankings.parquet"
        for n_rankings in (4_000_000, 16_000_000):
            write_orderings(path, n_rankings, 10, seed=1)
            lines.append(f"| {n_rankings:,} | {count_alone(path).megabytes:.0f} MB |")
    return lines


def show_predictions(model: Model) -> list[str]:
    lines = [
        "| rankings | items | file | one core | cores to be done in an hour | counts in memory |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for exponent, n_items in [(8, 10), (9, 10), (12, 10), (9, 50), (6, 1000), (9, 1000)]:
        n_rankings = 10.0**exponent
        many = n_items > 50
        seconds = (model.count_blocks if many else model.count)(n_rankings, n_items)
        memory = 3 * 8 * n_items**2 if many else bytes_of_counts(n_items)
        cells = (
            f"10^{exponent}",
            f"{n_items:,}",
            show_bytes(bytes_on_disk(n_rankings, n_items)),
            show_duration(seconds),
            f"{ceil(seconds / 3600):,}",
            show_bytes(memory) + " per worker",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def show_bytes(n_bytes: float) -> str:
    for unit, size in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes / 1e3:.3g} kB"


def show_duration(seconds: float) -> str:
    for unit, size in (("years", 3.156e7), ("days", 86_400.0), ("hours", 3_600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="the page to put it into")
    options = parser.parse_args()
    model = make_model()
    made = [
        *show_checks(checks(model)),
        "",
        *show_memory(),
        "",
        "What the model says about counting larger data:",
        "",
        *show_predictions(model),
    ]
    print("\n".join(made))
    if options.out:
        page = options.out.read_text(encoding="utf-8")
        before, rest = page.split(START)
        after = rest.split(END)[1]
        text = "\n".join([before + START, "", *made, "", END + after])
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
