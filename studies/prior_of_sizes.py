"""Which prior of sizes tells tied items from different ones best, where tiers have worths?"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, lgamma, log, log1p
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from studies.harness import Place, Results, Study
from studies.truths import fight, race
from studies.writing import paragraphs, percent, table
from tierwise._util.tasks import run_tasks
from tierwise.answers.races import races_of
from tierwise.luce.chain import RaceChain
from tierwise.luce.search import TierSearch, search_tiers
from tierwise.model.priors import log_prior_of_sizes
from tierwise.posterior.estimates import share_above

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from tierwise.answers.races import Races

    # Log prior of any sizes with so many tiers, of so many items.
    PriorOfNumber = Callable[[int, int], float]

# How much log worths of tiers spread.
SPREAD = 0.8
CERTAINTY = 0.95
# Probabilities are estimated by draws: none is taken for smaller than this.
LEAST = 1e-3
# This part of the draws, at the beginning, is not used.
WARM_UP = 4


@dataclass(frozen=True)
class Settings:
    """Kinds of answers with how many items, true tiers and answers, and data sets of each."""

    cases: tuple[tuple[str, int, int, int], ...] = (
        ("battles", 6, 2, 200),
        ("battles", 6, 3, 1_000),
        ("battles", 6, 6, 1_000),
        ("battles", 30, 4, 2_000),
        ("battles", 30, 8, 20_000),
        ("battles", 30, 30, 5_000),
        ("battles", 129, 6, 10_000),
        ("battles", 129, 20, 100_000),
        ("battles", 129, 129, 100_000),
        ("battles", 300, 10, 50_000),
        ("battles", 300, 40, 300_000),
        ("rankings", 6, 3, 50),
        ("rankings", 6, 3, 300),
        ("rankings", 30, 5, 30),
        ("rankings", 30, 10, 200),
        ("rankings", 30, 30, 50),
    )
    n_sets: int = 6
    draws: int = 800
    many_items: int = 200
    n_sets_of_many: int = 2
    draws_of_many: int = 400
    seed: int = 0


def _weighted_by_number(weight: Callable[[int], float]) -> PriorOfNumber:
    """One half to no tiers, the other half by number of tiers and then uniform over sizes."""

    def log_prior(n_tiers: int, n_items: int) -> float:
        if n_tiers == 1:
            return log(0.5)
        total = sum(exp(weight(number)) for number in range(2, n_items + 1))
        n_sizes = lgamma(n_items) - lgamma(n_tiers) - lgamma(n_items - n_tiers + 1)
        return log(0.5) + weight(n_tiers) - log(total) - n_sizes

    return log_prior


def _cut_by_chance(a: float, b: float) -> PriorOfNumber:
    """One half to no tiers; in the other, neighbours are cut with a probability that is Beta."""

    def log_beta(first: float, second: float) -> float:
        return lgamma(first) + lgamma(second) - lgamma(first + second)

    def log_prior(n_tiers: int, n_items: int) -> float:
        if n_tiers == 1:
            return log(0.5)
        this = log_beta(a + n_tiers - 1, b + n_items - n_tiers) - log_beta(a, b)
        none = log_beta(a, b + n_items - 1) - log_beta(a, b)
        return log(0.5) + this - log1p(-exp(none))

    return log_prior


def _sceptical(n_tiers: int, n_items: int) -> float:
    return log_prior_of_sizes("sceptical", (n_items - n_tiers + 1, *(1,) * (n_tiers - 1)))


PRIORS: dict[str, PriorOfNumber] = {
    "sceptical": _sceptical,
    "uniform in L": _cut_by_chance(1.0, 1.0),
    "cuts Beta(1, 3)": _cut_by_chance(1.0, 3.0),
    "cuts Beta(1/2, 1/2)": _cut_by_chance(0.5, 0.5),
    "1 / L": _weighted_by_number(lambda number: -log(number)),
    "1 / L(L - 1)": _weighted_by_number(lambda number: -log(number * (number - 1))),
    "Poisson(3)": _weighted_by_number(lambda number: (number - 1) * log(3.0) - lgamma(number)),
}


def compute(settings: Settings, place: Place) -> Results:
    return {"priors": _priors(settings, place)}


def _priors(settings: Settings, place: Place) -> Results:
    results: Results = {}
    for kind, n_items, n_tiers, n_answers in settings.cases:
        many = n_items >= settings.many_items
        n_draws = settings.draws_of_many if many else settings.draws
        first = settings.seed + 1000 * n_items + 10 * n_tiers
        n_sets = settings.n_sets_of_many if many else settings.n_sets
        rows = run_tasks(
            one_data_set,
            [
                (kind, n_items, n_tiers, n_answers, n_draws, seed)
                for seed in range(first, first + n_sets)
            ],
            description="prior of sizes",
            workers=place.workers,
            progress="off",
        )
        results[f"{n_answers:,} {kind}, {n_items} items, {n_tiers} tiers"] = {
            name: {measure: fmean(row[name][measure] for row in rows) for measure in rows[0][name]}
            for name in PRIORS
        }
    return results


def one_data_set(
    kind: str, n_items: int, n_tiers: int, n_answers: int, n_draws: int, seed: int
) -> dict[str, dict[str, float]]:
    """Draw answers to items with known worths, and ask under each prior which of them are tied."""
    rng = np.random.default_rng(seed)
    labels = np.r_[np.arange(n_tiers), rng.integers(n_tiers, size=n_items - n_tiers)]
    log_worths = -np.sort(-SPREAD * rng.normal(size=n_tiers))[labels]
    draw = fight if kind == "battles" else race
    races = races_of(draw(log_worths, n_answers, rng))
    truth = np.sign(log_worths[:, None] - log_worths)
    return {name: _judged(races, truth, prior, n_draws, rng) for name, prior in PRIORS.items()}


def _judged(
    races: Races,
    truth: NDArray[np.float64],
    prior: PriorOfNumber,
    n_draws: int,
    rng: Generator,
) -> dict[str, float]:
    n_items = len(truth)
    best = search_tiers(TierSearch(races, lambda sizes: prior(len(sizes), n_items)))[0]
    chain = RaceChain(races, [prior(number, n_items) for number in range(1, n_items + 1)])
    labels, *_ = chain.run(best.labels, best.worths.logs[best.labels], n_draws, rng)
    labels = labels[n_draws // WARM_UP :]
    above = share_above(labels + 1)
    said = np.where(truth > 0, above, np.where(truth < 0, above.T, 1 - above - above.T))
    upper = np.triu_indices(n_items, 1)
    claimed = above >= CERTAINTY
    different = truth[upper] != 0
    return {
        "log loss": float(-np.log(np.maximum(said[upper], LEAST)).mean()),
        "wrong claims": float((claimed & (truth <= 0)).sum() / max(claimed.sum(), 1)),
        "differences found": float((claimed | claimed.T)[upper][different].mean()),
        "tiers in the mean": float((labels.max(axis=1) + 1).mean()),
        "tiers of the best": float(len(best.sizes)),
    }


def tell(results: Results, settings: Settings) -> str:
    priors: dict[str, dict[str, dict[str, float]]] = results["priors"]
    worst = max(case["sceptical"]["wrong claims"] for case in priors.values())
    names = list(PRIORS)
    return paragraphs(
        # Said of stored results that another program made.
        results.get("origin", ""),
        "Answers to items whose worths are known: log worths of tiers are normal with a standard "
        f"deviation of {SPREAD:g}, items are spread over the tiers at random. All priors but "
        "*sceptical* give one half to no tiers and divide the other half by the number of tiers "
        "L, then equally among sizes; *sceptical* divides it among sizes in proportion to "
        "exp(-L). Every pair of items is tied, or one of them is better; the table has the mean "
        "of minus the log of the probability that the posterior gives to what is true (lower is "
        f"better), over {settings.n_sets} data sets ({settings.n_sets_of_many} from "
        f"{settings.many_items} items on).",
        table(
            ["log loss", *names],
            [
                [case, *(_best_in_bold(found, name) for name in names)]
                for case, found in priors.items()
            ],
        ),
        "With the sceptical prior, and beside it one that is uniform in L: how many tiers the "
        "best and the posterior have, and how many of all differences are claimed with a "
        f"probability of {CERTAINTY:.0%} or more.",
        table(
            [
                "",
                "sceptical: tiers of the best",
                "in the mean",
                "found",
                "wrong claims",
                "uniform: tiers of the best",
                "in the mean",
                "found",
                "wrong claims",
            ],
            [
                [case, *_counts(found["sceptical"]), *_counts(found["uniform in L"])]
                for case, found in priors.items()
            ],
        ),
        f"Under the sceptical prior at most {percent(worst)} of the claims are wrong, in any row. "
        "Where some items are tied it is the best or nearly so, except with many items in few "
        "tiers, where it is the worst: there the posterior expects more tiers than there are, "
        "though the best tiers are fewer than the true ones. Where all worths differ it expects "
        "too few, and priors that are uniform in L are better. The best tiers of these, however, "
        "can be nearly strict although many items are tied (300 items, 40 tiers), and the best "
        "tiers are what "
        "is published.",
    )


def _best_in_bold(found: dict[str, dict[str, float]], name: str) -> str:
    least = min((one["log loss"] for one in found.values()), default=inf)
    text = f"{found[name]['log loss']:.3f}"
    return f"**{text}**" if text == f"{least:.3f}" else text


def _counts(found: dict[str, float]) -> list[str]:
    return [
        f"{found['tiers of the best']:.1f}",
        f"{found['tiers in the mean']:.1f}",
        percent(found["differences found"]),
        percent(found["wrong claims"]),
    ]


STUDY = Study(
    name="prior-of-sizes",
    title="Which prior of sizes tells tied items from different ones?",
    full=Settings(),
    quick=Settings(
        cases=(("battles", 6, 3, 200), ("rankings", 6, 3, 20)),
        n_sets=1,
        draws=100,
    ),
    compute=compute,
    tell=tell,
    page="simulations",
)
