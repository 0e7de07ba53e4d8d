"""Tiers of all sizes under inversions: with a proof for few items, by local search for many."""

import resource
import sys
from multiprocessing import get_context

import numpy as np

import tierwise as tw
from benchmarks.rows import Row, best_time, shortest_time
from tierwise.data.counts import WeakOrderCounts
from tierwise.inversions.best import find_best_tiers


def best_of_all_sizes() -> list[Row]:
    """The best tiers of all sizes with a proof, after counting."""
    rows = []
    for n_items in (10, 12, 16):
        counts = WeakOrderCounts.of(_simulated(n_items, 280))
        timed = best_time if n_items < 16 else shortest_time
        seconds, best = timed(lambda counts=counts: find_best_tiers(counts))
        case = f"{n_items} items, 280 rankings"
        rows.append(
            Row("best tiers of all sizes, proved", case, seconds, f"{max(best.labels) + 1} tiers")
        )
    return rows


def search_of_many_items() -> list[Row]:
    """A whole search, each in a separate process, so its memory can be measured."""
    cases = {
        "300 items, 1,000 rankings": (_simulated, (300, 1000)),
        "1,000 items, 200 rankings": (_simulated, (1000, 200)),
        "100,000 ballots of 30 candidates, ties and truncation": (_ballots, (100_000, 30)),
    }
    rows = []
    for case, (make, arguments) in cases.items():
        with get_context("spawn").Pool(1) as pool:
            seconds, n_tiers, megabytes = pool.apply(_searched, (make, arguments))
        rows.append(Row("search", case, seconds, f"{n_tiers} tiers; at most {megabytes:,.0f} MB"))
    return rows


def _searched(make, arguments) -> tuple[float, int, float]:
    tw.search(_simulated(14, 20), progress="off")  # compiling does not count
    data = make(*arguments)
    seconds, found = shortest_time(lambda: tw.search(data, progress="off"), repeats=2)
    units = 1024 if sys.platform != "darwin" else 1024**2
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / units
    return seconds, len(found.best.tiers), memory


def _simulated(n_items: int, n_rankings: int) -> tw.Rankings:
    """Rankings of items that lie in tiers of about ten."""
    sizes = (10,) * (n_items // 10) + ((n_items % 10,) if n_items % 10 else ())
    sizes = sizes if n_items > 20 else (2,) * (n_items // 2)
    model = tw.ClusteredMallows(tw.Tiers.from_sizes(sizes, range(n_items)), 0.1, "inversions")
    return model.sample(n_rankings, rng=1)


def _ballots(n_ballots: int, n_candidates: int) -> tw.Rankings:
    """Ballots that list some candidates, some of them tied, all others being below."""
    rng = np.random.default_rng(1)
    worth = np.repeat(np.arange(6), n_candidates // 6) * 0.6
    order = np.argsort(worth + rng.gumbel(size=(n_ballots, n_candidates)), axis=1)
    is_tied = rng.random((n_ballots, n_candidates - 1)) < 0.15
    ranks = 1 + np.concatenate([np.zeros((n_ballots, 1)), np.cumsum(~is_tied, axis=1)], axis=1)
    ranks[np.arange(n_candidates) >= rng.integers(3, n_candidates, size=n_ballots)[:, None]] = 0
    table = np.zeros((n_ballots, n_candidates))
    np.put_along_axis(table, order, ranks, axis=1)
    table[table == 0] = np.nan
    return tw.Rankings.from_ranks(table, items=range(n_candidates), unranked="below", ties="allow")
