"""Incomplete answers: what an evaluation, a fit and a search take, on made-up ballots.

Times are of one process after a first call that compiles. Run: python benchmarks/incomplete.py
"""

import resource
from time import perf_counter

import numpy as np

import tierwise as tw
from tierwise.distances import get_distance
from tierwise.fitting import Settings, solve_sizes
from tierwise.incomplete.answers import answers_of

KENDALL = get_distance("kendall")


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


def main():
    print(f"{'answers':>9} {'distinct':>9} {'items':>6} {'unranked':>9} {'tiers':>6}", end=" ")
    print(f"{'sum ms':>8} {'expect ms':>10} {'fit s':>8}  method")
    cases = [
        (9, 30_000, "below"),
        (12, 44_000, "below"),
        (14, 64_000, "below"),
        (25, 200, "anywhere"),
    ]
    for n_items, n_rankings, unranked in cases:
        rankings = ballots(n_items, n_rankings, unranked)
        pairs = (2,) * (n_items // 2) + (1,) * (n_items % 2)
        for sizes in [(1,) * n_items, pairs, (2, 3, n_items - 5)]:
            rng = np.random.default_rng(1)
            labels = np.repeat(np.arange(len(sizes)), sizes)
            answers = answers_of(rankings, sizes, KENDALL, rng)
            theta = iter(np.linspace(0.2, 0.3, 100))
            summed = expected = float("nan")
            if answers.drawn is None:
                summed = seconds(lambda: [p.sums(labels, next(theta)) for p in answers.exact])
                expected = seconds(lambda: [p.expected_costs(labels, 0.25) for p in answers.exact])
            start = perf_counter()
            solution = solve_sizes(rankings, sizes, KENDALL, Settings(), rng)
            took = perf_counter() - start
            print(
                f"{n_rankings:>9,} {len(rankings.patterns):>9,} {n_items:>6} {unranked:>9} "
                f"{len(sizes):>6} {1e3 * summed:>8.1f} {1e3 * expected:>10.1f} {took:>8.2f}  "
                f"{solution.consensus.method}"
            )
    print(f"\nmemory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
