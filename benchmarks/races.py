"""Races against R and other programs, beside the figures that their own runs gave.

The peers were built from source and run side by side with tierwise on two cores in November 2026:
BayesMallows and PerMallows in R, BioConsert of corankco. R is rarely there, so that their figures
stand here as they were found then; tierwise is measured again, by the time that cores work on it.
Effective draws are compared as seconds for a thousand of them.

The sushi rankings, which may not be shipped, are read from the folder ``sushi`` in the folder that
``TIERWISE_DATA`` names; without it, rankings that are like them are drawn.
"""

import os
import warnings
from collections.abc import Callable
from math import isnan
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.consensus import kendall_costs
from benchmarks.first_use import first_answers
from benchmarks.rows import Row, core_time
from tierwise import (
    ClusteredMallows,
    Preferences,
    Rankings,
    Tiers,
    TierwiseWarning,
    fit_mixture,
    sample_posterior,
    search,
)
from tierwise.consensus.find import find_consensus
from tierwise.data.datasets import load_sushi
from tierwise.distances import get_distance
from tierwise.mixture.gibbs import MixtureTarget, run_chain
from tierwise.mixture.groups import distinct_answers
from tierwise.model.priors import Gamma
from tierwise.posterior.result import Posterior
from tierwise.posterior.summary import diagnose

STRICT = (1,) * 10
WHEN = "as of 2026-11"
_SEEDS = (1, 2, 3)


def the_rankings() -> Rankings:
    """Load the sushi rankings, or draw as many that are like them."""
    folder = os.environ.get("TIERWISE_DATA")
    if folder and Path(folder, "sushi").is_dir():
        return load_sushi(Path(folder, "sushi"))
    return ClusteredMallows(Tiers.from_sizes(STRICT, range(10)), 0.242).sample(5000, rng=1)


def best_of(rankings: Rankings, n_listed: int) -> Rankings:
    """Keep the first places of every ranking."""
    places = np.where(rankings.places < n_listed, rankings.places, -1).astype(np.int32)
    return Rankings(rankings.items, places, unranked="below")


def effective_draws(posterior: Posterior) -> tuple[float, float]:
    """How many independent draws the draws are worth for theta, and for the worst rank."""
    labels = posterior.data["posterior"]["tier"].to_numpy()
    ranks = {str(item): labels[:, :, item] for item in range(labels.shape[2])}
    varying = {name: values.astype(float) for name, values in ranks.items() if np.ptp(values) > 0}
    of_ranks = diagnose(varying, labels[:, :, :1], ["any"]).numbers
    theta = posterior.diagnostics().numbers[0].ess_bulk
    return theta, min((row.ess_bulk for row in of_ranks), default=float("nan"))


def effective_draws_of_posteriors() -> list[Row]:
    """Effective draws of theta, and of the rank that has least, for complete and open answers."""
    everything = the_rankings()
    some = everything.subset(slice(0, 280))
    pairs = _preferences(60, 15)
    # Effective draws a second of the peer: of theta, and the least of any rank.
    cases: list[tuple[str, Rankings | Preferences, str, float, float | None]] = [
        ("280 complete", some, "kendall", 1200.0, None),
        ("280 complete, footrule", some, "footrule", 2902.0, None),
        ("280 complete, Spearman", some, "spearman", 2294.0, None),
        ("280 x top 5", best_of(some, 5), "kendall", 306.0, 12.0),
        ("5,000 x top 5", best_of(everything, 5), "kendall", 10.0, None),
        ("60 x pairs of 15", pairs, "kendall", 33.0, 1.0),
    ]
    rows = []
    for case, data, distance, of_theta, of_ranks in cases:
        sizes = (1,) * len(data.items)
        seconds, posterior = _time_posterior(data, sizes, distance)
        theta, least = effective_draws(posterior)
        remark = f"{posterior.method}: {theta / seconds:,.0f}/s; peer {of_theta:,.0f}/s {WHEN}"
        rows.append(_thousand("theta", case, seconds / theta, remark, 1 / of_theta))
        remark = f"{least / seconds:,.0f}/s"
        if isnan(least):
            rows.append(Row(_WHAT.format("the worst rank"), case, None, "no rank varies"))
        elif of_ranks is None:
            rows.append(Row(_WHAT.format("the worst rank"), case, 1000 * seconds / least, remark))
        else:
            remark += f"; peer {of_ranks:g}/s {WHEN}"
            rows.append(_thousand("the worst rank", case, seconds / least, remark, 1 / of_ranks))
    return rows


_WHAT = "1,000 effective draws of {}"


def _thousand(what: str, case: str, seconds: float, remark: str, peer_seconds: float) -> Row:
    what = _WHAT.format(what)
    return Row(what, case, 1000 * seconds, remark, "BayesMallows", 1000 * peer_seconds)


def _time_posterior(
    data: Rankings | Preferences, sizes: tuple[int, ...], distance: str
) -> tuple[float, Posterior]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TierwiseWarning)

        def sample(draws: int) -> Posterior:
            return sample_posterior(
                data, sizes, distance, draws=draws, rng=1, progress="off", workers=1
            )

        sample(20)  # compiles
        start = process_time()
        posterior = sample(2000)
        return process_time() - start, posterior


def _preferences(n_assessors: int, n_items: int) -> Preferences:
    """Compare pairs of items at random, as rankings around a strict consensus say."""
    rng = np.random.default_rng(1)
    model = ClusteredMallows(Tiers.from_sizes((1,) * n_items, range(n_items)), 0.2)
    answers = []
    for assessor, row in enumerate(model.sample(n_assessors, rng).places):
        for _ in range(15):
            one, other = rng.choice(n_items, 2, replace=False).tolist()
            better, worse = (one, other) if row[one] < row[other] else (other, one)
            answers.append((assessor, better, worse))
    return Preferences.from_pairs(answers)


def sweeps_of_a_mixture() -> list[Row]:
    """Gibbs sampling of three strict groups."""
    data = the_rankings()
    start = fit_mixture(data, 3, STRICT, starts=5, rng=1, progress="off", distance="kendall")
    target = MixtureTarget(distinct_answers(data), get_distance("kendall"), Gamma(2.0, 2.0), 1.0)
    groups = tuple(
        target.fitter.component(group.sizes, group.tiers.label_array(data.items), group.theta)
        for group in start.groups
    )
    seed = np.random.SeedSequence(1)
    seconds = core_time(lambda: run_chain(target, groups, start.shares, 100, 900, seed), 2)
    remark = f"peer {WHEN}, and its shares are wrong"
    case = "3 groups, 5,000 x 10"
    return [Row("1,000 Gibbs sweeps", case, seconds, remark, "BayesMallows", 9.8)]


def strict_draws() -> list[Row]:
    """Draws from the strict Mallows model with Kendall distance."""
    model = ClusteredMallows(Tiers.from_sizes(STRICT, range(10)), 0.1)
    seconds = core_time(lambda: model.sample(10_000, rng=1), 10)
    return [Row("strict draws", "10,000 x 10", seconds, f"peer {WHEN}", "PerMallows", 7.9e-3)]


def consensus_without_proof() -> list[Row]:
    """The closest strict order that a heuristic finds."""
    rows = []
    for n_items, peer_seconds in ((20, 28e-3), (30, 55e-3)):
        sizes = (1,) * n_items
        costs = kendall_costs(sizes, 0.1)
        exact = find_consensus(costs, sizes, method="milp", rng=1)
        found = find_consensus(costs, sizes, method="annealing", rng=1)
        assert exact.optimal
        assert found.total == exact.total

        def run(costs: object = costs, sizes: tuple[int, ...] = sizes) -> object:
            return find_consensus(costs, sizes, method="annealing", rng=1)  # type: ignore[arg-type]

        remark = f"the best, as a proof shows; peer {WHEN}"
        case = f"{n_items} items"
        seconds = core_time(run, 5)
        rows.append(
            Row("consensus without proof", case, seconds, remark, "BioConsert", peer_seconds)
        )
    return rows


def every_size_vector() -> list[Row]:
    """Best tiers of all 512 size vectors of ten items, and their theta."""
    data = the_rankings()
    seconds = core_time(
        lambda: search(
            data, distance="kendall", criterion="likelihood", rng=1, progress="off", workers=1
        )
    )
    return [Row("search", "512 size vectors, 5,000 x 10", seconds, "best tiers and theta of each")]


def mixture_from_several_seeds() -> list[Row]:
    """Fit three groups, strict ones and such whose sizes are searched for; where each seed ends."""
    data, rows = the_rankings(), []
    kinds: dict[str, str | tuple[int, ...]] = {"strict": STRICT, "sizes searched": "search"}
    for kind, sizes in kinds.items():
        fit_mixture(
            data.subset(slice(0, 100)),
            3,
            sizes,
            starts=5,
            rng=1,
            progress="off",
            distance="kendall",
        )
        start = process_time()
        ends = [
            fit_mixture(data, 3, sizes, rng=seed, progress="off", distance="kendall")
            for seed in _SEEDS
        ]
        seconds = (process_time() - start) / len(_SEEDS)
        values = [end.history[-1] for end in ends]
        remark = f"best {max(values):,.2f}, {max(values) - min(values):.2f} apart "
        remark += f"from {len(values)} seeds; one fit"
        rows.append(Row(f"fit_mixture, {kind}", "3 groups, 5,000 x 10", seconds, remark))
    return rows


RACES: list[Callable[[], list[Row]]] = [
    effective_draws_of_posteriors,
    sweeps_of_a_mixture,
    mixture_from_several_seeds,
    strict_draws,
    consensus_without_proof,
    every_size_vector,
    first_answers,
]
