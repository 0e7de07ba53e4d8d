"""Are divided people distinguished from people who agree a little?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from studies.harness import Place, Results, Study
from studies.truths import drawn_tiers, opposed, race, scattered
from studies.writing import paragraphs, table
from tierwise import Rankings, search
from tierwise._util.tasks import run_tasks
from tierwise.fitting.order import standard_errors_above_half

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator, SeedSequence

# So many standard errors above one half; the third is what `search` asks for.
BOUNDS = (2.0, 2.5, 3.0, 3.5, 4.0)


@dataclass(frozen=True)
class Settings:
    """How many data sets there are of each kind."""

    n_items: int = 6
    rankings: tuple[int, ...] = (50, 200, 1000)
    data_sets: int = 40
    seed: int = 33_007


def _weak_tiers(n_items: int, n_rankings: int, rng: Generator) -> Rankings:
    labels = drawn_tiers(n_items, rng)
    return scattered(labels, float(rng.uniform(0.5, 1.0)) / n_items, "inversions", n_rankings, rng)


def _weak_worths(n_items: int, n_rankings: int, rng: Generator) -> Rankings:
    return race(rng.normal(0.0, rng.uniform(0.1, 0.25), n_items), n_rankings, rng)


def _loved_or_hated(n_items: int, n_rankings: int, rng: Generator) -> Rankings:
    """Put one item first or last, by a coin, and the others in any order."""
    others = rng.permuted(np.tile(np.arange(1, n_items), (n_rankings, 1)), axis=1)
    one = np.zeros((n_rankings, 1), dtype=np.int64)
    first = rng.random((n_rankings, 1)) < 0.5
    orders = np.where(first, np.hstack([one, others]), np.hstack([others, one]))
    return Rankings.from_order_array(orders, range(n_items))


KINDS: dict[str, Callable[[int, int, Generator], Rankings]] = {
    "tiers, weak agreement": _weak_tiers,
    "worths that hardly differ": _weak_worths,
    "opposed halves, who agree a little": lambda n, q, rng: opposed(3.0 / n, n, q, rng),
    "opposed halves, who agree": lambda n, q, rng: opposed(8.0 / n, n, q, rng),
    "opposed halves, who agree much": lambda n, q, rng: opposed(20.0 / n, n, q, rng),
    "an item that is loved or hated": _loved_or_hated,
}

REAL = ("tiers", "worths")


def compute(settings: Settings, place: Place) -> Results:
    results: Results = {}
    for number, kind in enumerate(KINDS):
        for n_rankings in settings.rankings:
            key = [settings.seed, number, n_rankings]
            found = run_tasks(
                one_set,
                [
                    (kind, settings.n_items, n_rankings, seed)
                    for seed in np.random.SeedSequence(key).spawn(settings.data_sets)
                ],
                description=kind,
                workers=place.workers,
                progress="off",
            )
            errors = np.array([one for one in found if one is not None])
            passing = [int((errors > bound).sum()) for bound in BOUNDS]
            results[f"{kind}; {n_rankings}"] = [len(errors), *passing]
    return results


def one_set(kind: str, n_items: int, n_rankings: int, seed: SeedSequence) -> float | None:
    """Return how clearly answers go with the best tiers of all models; None without tiers."""
    data = KINDS[kind](n_items, n_rankings, np.random.default_rng(seed))
    # What is named is used as named: these tiers are not asked whether they are an order.
    found = [
        search(data, family=family, workers=1, progress="off", rng=1)
        for family in ("mallows", "luce")
    ]
    best = max(found, key=lambda one: one.contenders[0].score).best.tiers
    return None if len(best) == 1 else min(standard_errors_above_half(data, best), 1e6)


def tell(results: Results, settings: Settings) -> str:
    rows = []
    for kind in KINDS:
        for n_rankings in settings.rankings:
            numbers = results[f"{kind}; {n_rankings}"]
            rows.append([kind, f"{n_rankings:,}", *map(str, numbers)])
    return paragraphs(
        "If two halves of the people are opposed, models find tiers, although as many answers go "
        "against them as with them. So `search` requires that the share of pairs that agree with "
        "the tiers exceeds one half by 3 standard errors, counting each person once. Each row of "
        f"the table has {settings.data_sets} data sets of {settings.n_items} items: in how many "
        "models find tiers, and in how many of these the given number of standard errors would "
        "call them an order. In the first rows there is an order.",
        table(
            ["truth", "rankings", "tiers", *(f"more than {bound:g}" for bound in BOUNDS)],
            rows,
        ),
        _summary(results),
    )


def _summary(results: Results) -> str:
    real = [numbers for cell, numbers in results.items() if cell.startswith(REAL)]
    divided = [numbers for cell, numbers in results.items() if not cell.startswith(REAL)]
    place = BOUNDS.index(3.0) + 1
    lost = sum(numbers[0] - numbers[place] for numbers in real)
    return (
        f"With 3, {lost} of {sum(numbers[0] for numbers in real)} real orders are missed, and "
        f"{sum(numbers[place] for numbers in divided)} of "
        f"{sum(numbers[0] for numbers in divided)} divisions of people are mistaken for an order."
    )


STUDY = Study(
    name="divided-people",
    title="Are divided people distinguished from people who agree a little?",
    full=Settings(),
    quick=Settings(rankings=(50,), data_sets=2),
    compute=compute,
    tell=tell,
    page="simulations",
)
