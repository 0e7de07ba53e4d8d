"""Incomplete answers: what an evaluation, a fit and a search take, on made-up ballots.

Times are of one process after a first call that compiles. Run: python benchmarks/incomplete.py
"""

import resource
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

import tierwise as tw
from tierwise.answers.likelihood import source_of
from tierwise.fitting.solve import Settings, solve

CASES = [
    (9, 30_000, "below"),
    (12, 44_000, "below"),
    (14, 64_000, "below"),
    (25, 200, "anywhere"),
]


def ballots(n_items, n_rankings, unranked="below", seed=1):
    """Lists of the best one to all items, of rankings around tiers of two."""
    rng = np.random.default_rng(seed)
    sizes = (2,) * (n_items // 2) + (1,) * (n_items % 2)
    model = tw.ClusteredMallows(tw.Tiers.from_sizes(sizes, range(n_items)), 0.25)
    complete = model.sample(n_rankings, rng)
    places = complete.patterns[complete.pattern_of].copy()
    if unranked == "below":
        lengths = np.minimum(rng.geometric(0.25, size=n_rankings), n_items)
        places[places >= lengths[:, None]] = -1
    else:
        shown = rng.random(places.shape) < 0.6
        shown[:, :2] = True
        ranks = np.argsort(np.argsort(np.where(shown, places, n_items + places), axis=1), axis=1)
        places = np.where(shown, ranks, -1).astype(np.int32)
    return tw.Rankings(complete.items, places, unranked=unranked)


def seconds(function, repeats=3):
    """Least time of some calls, after one that compiles."""
    function()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)


def time_case(rankings, sizes):
    """Times of one sum over completions, of one expectation, and of a fit; and its method."""
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    source = source_of(rankings, "kendall")
    likelihood = source.at(sizes, rng=rng)
    thetas = iter(np.linspace(0.2, 0.3, 100))
    summed = expected = float("nan")
    if likelihood.drawn is None:
        # Another theta each time: values at the last one are kept.
        summed = seconds(lambda: likelihood.sums(labels, next(thetas)))
        expected = seconds(lambda: likelihood.expected_costs(labels, 0.25))
    start = perf_counter()
    solution = solve(source, sizes, Settings(), rng)
    return summed, expected, perf_counter() - start, solution.consensus.method


def main():
    table = Table("answers", "distinct", "items", "unranked", "tiers", "sum", "expect", "fit", "by")
    for n_items, n_rankings, unranked in CASES:
        rankings = ballots(n_items, n_rankings, unranked)
        pairs = (2,) * (n_items // 2) + (1,) * (n_items % 2)
        for sizes in [(1,) * n_items, pairs, (2, 3, n_items - 5)]:
            summed, expected, fitted, method = time_case(rankings, sizes)
            table.add_row(
                f"{n_rankings:,}",
                f"{len(rankings.patterns):,}",
                str(n_items),
                unranked,
                str(len(sizes)),
                f"{1e3 * summed:.1f} ms",
                f"{1e3 * expected:.1f} ms",
                f"{fitted:.2f} s",
                method,
            )
    console = Console()
    console.print(table)
    console.print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
