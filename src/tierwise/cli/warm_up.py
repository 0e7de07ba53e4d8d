"""``tierwise warm-up``: compile in advance what a first use would wait for."""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tierwise.cli import options, printing
from tierwise.errors import TierwiseWarning

# Too many items for exact sums, so chains and local searches are compiled too.
_MANY_ITEMS = 15


def warm_up_command(
    *,
    quiet: options.Quiet = False,
) -> None:
    """Compile everything once for this machine: fits, searches, posteriors and pages.

    Otherwise the first use waits, some seconds for each kind of answers. The compiled code is kept
    beside the package, or in the folder named by the environment variable NUMBA_CACHE_DIR.
    """
    with TemporaryDirectory(prefix="tierwise-") as folder, warnings.catch_warnings():
        # These few draws are never looked at.
        warnings.simplefilter("ignore", TierwiseWarning)
        for name, use in steps(Path(folder)):
            if not quiet:
                printing.note(f"Compiling the code for {name}.")
            use()


def steps(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Return for each kind of answers its name and a function that uses all its code."""
    from tierwise.data.battles import Battles
    from tierwise.data.datasets import load_political_goals
    from tierwise.data.preferences import Preferences
    from tierwise.data.rankings import Rankings

    goals = load_political_goals()
    lists = [["a"], ["b", "a"], ["c", "b", "a"], ["a", "c", "d"], ["b", ["c", "d"]]] * 2
    said = [("p", "a", "b"), ("p", "b", "c"), ("q", "c", "d"), ("r", "a", "d"), ("r", "b", "d")]
    contradicted = [*said, ("p", "c", "a")]
    won = [("a", "b", "a"), ("b", "c", "b"), ("c", "d", "d"), ("a", "d", "a"), ("b", "a", "b")] * 3
    yield "pages", lambda: _page(goals, folder)
    yield "complete rankings", lambda: _use(goals, "kendall", "inversions", "hamming")
    yield "rankings of many items", lambda: _use(_many(), "inversions")
    for name, unranked in (("ballots", "below"), ("rankings with gaps", "anywhere")):
        data = Rankings.from_orderings(lists, unranked=unranked)  # type: ignore[arg-type]
        yield name, lambda data=data: _use(data, "kendall", "inversions")  # type: ignore[misc]
    yield "pairwise answers", lambda: _use(Preferences.from_pairs(said), "kendall", "inversions")
    votes = Preferences.from_pairs(contradicted, cycles="keep")
    yield "pairwise answers that may be mistaken", lambda: _use(votes, "kendall")
    yield "battles", lambda: _board(Battles.from_rows(won))
    yield "groups of people", lambda: _groups(goals)


def _page(data: Any, folder: Path) -> None:
    """Write a report as ``tierwise demo`` and the pages of ``tierwise serve`` do."""
    from tierwise.reporting.report import report

    report(data, folder / "report.html", replicates=20, progress="off", rng=1)


def _use(data: Any, *distances: str) -> None:
    """Search, fit, check and draw, with each distance and with worths."""
    from tierwise.checking.check import check_fit
    from tierwise.fitting.bootstrap import bootstrap
    from tierwise.fitting.fit import fit
    from tierwise.model.clustered_mallows import ClusteredMallows
    from tierwise.posterior.run import sample_posterior
    from tierwise.posterior.samplers import Sampler
    from tierwise.searching.search import search

    # Enough that chains go through all their moves.
    few: dict[str, Any] = {"chains": 1, "draws": 20, "progress": "off", "rng": 1}
    few["sampler"] = Sampler(warmup=20)
    found = search(data, progress="off", rng=1)
    bootstrap(data, found.best, replicates=2, progress="off", rng=1)
    check_fit(data, found.best, draws=100, rng=1)
    found.best.model().sample(10, rng=1)
    for distance in distances:
        fitted = fit(data, found.best.sizes, distance, family="mallows", rng=1)
        if isinstance(model := fitted.model(), ClusteredMallows):
            model.log_partition()
            model.sample(10, rng=1)
        sample_posterior(data, distance=distance, family="mallows", **few)
        sample_posterior(data, found.best.sizes, distance, family="mallows", **few)
    sample_posterior(data, family="luce", **few)


def _board(data: Any) -> None:
    """Make a leaderboard."""
    from tierwise.leaderboards.leaderboard import leaderboard

    leaderboard(data, chains=1, draws=20, progress="off", rng=1)


def _groups(data: Any) -> None:
    """Divide people into groups."""
    from tierwise.mixture.fit import fit_mixture

    fit_mixture(data, 2, progress="off", rng=1)


def _many() -> Any:
    """Rank many items, with some noise."""
    import numpy as np

    from tierwise.data.rankings import Rankings

    noise = np.random.default_rng(1).normal(0.0, 2.0, (20, _MANY_ITEMS))
    orders = np.argsort(np.arange(_MANY_ITEMS) // 3 + noise, axis=1)
    return Rankings.from_orderings(orders.tolist())
