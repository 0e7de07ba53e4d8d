"""Many items, and data of another model: are the tiers recovered?"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from studies.harness import Place, Results, Study
from studies.writing import duration, paragraphs, percent, sizes_text, table
from tierwise import ClusteredMallows, Rankings, Tiers, search
from tierwise._util.tasks import run_tasks

if TYPE_CHECKING:
    from numpy.random import SeedSequence
    from numpy.typing import NDArray

    from tierwise.tiers import Sizes

MANY: dict[int, tuple[Sizes, ...]] = {
    40: ((5,) * 8, (5, 10, 20, 5)),
    120: ((10,) * 12, (5, 15, 30, 50, 20)),
    300: ((10,) * 30, (5, 10, 20, 50, 50, 50, 50, 40, 20, 5)),
}
THETAS = (0.05, 0.2)
# rankclust's own example: 1 > 2 ~ 3 > 4 ~ 5 > 6.
LUCE_SIZES = (1, 2, 2, 1)
WORTHS = {"64, 16, 16, 4, 4, 1": (64, 16, 16, 4, 4, 1), "8, 4, 4, 2, 2, 1": (8, 4, 4, 2, 2, 1)}
WAYS = {
    "Kendall": {"distance": "kendall"},
    "inversions": {"distance": "inversions"},
    "inversions, a theta per tier": {"distance": "inversions", "concentration": "tier"},
    "default": {},
}


@dataclass(frozen=True)
class Settings:
    """How many data sets there are of each kind."""

    items: tuple[int, ...] = (40, 120, 300)
    data_sets: int = 5
    rankings: tuple[int, ...] = (50, 200)
    luce_sets: int = 40
    luce_rankings: tuple[int, ...] = (200, 1000)
    seed: int = 20_612


def compute(settings: Settings, place: Place) -> Results:
    many = [
        (sizes, theta, n_rankings, seed)
        for n_items in settings.items
        for number, sizes in enumerate(MANY[n_items])
        for theta in THETAS
        for n_rankings in settings.rankings
        for seed in np.random.SeedSequence(
            [settings.seed, n_items, number, round(1000 * theta), n_rankings]
        ).spawn(settings.data_sets)
    ]
    luce = [
        (worths, n_rankings, seed)
        for number, worths in enumerate(WORTHS.values())
        for n_rankings in settings.luce_rankings
        for seed in np.random.SeedSequence([settings.seed, number, n_rankings]).spawn(
            settings.luce_sets
        )
    ]
    found_many = run_tasks(
        recover_many, many, description="many items", workers=place.workers, progress="off"
    )
    found_luce = run_tasks(
        recover_luce, luce, description="worths", workers=place.workers, progress="off"
    )
    results: Results = {"many": {}, "luce": {}}
    for (sizes, theta, n_rankings, _seed), row in zip(many, found_many, strict=True):
        cell = f"{sizes_text(sizes)}, {theta:g}, {n_rankings}"
        results["many"].setdefault(cell, []).append(row)
    for (worths, n_rankings, _seed), right in zip(luce, found_luce, strict=True):
        cell = f"{', '.join(map(str, worths))}; {n_rankings}"
        results["luce"].setdefault(cell, []).append(right)
    return results


def recover_many(
    sizes: Sizes, theta: float, n_rankings: int, seed: SeedSequence
) -> dict[str, float]:
    """Search the tiers of one data set of many items, and cut its Borda order by the true sizes."""
    rng = np.random.default_rng(seed)
    n_items = sum(sizes)
    truth = Tiers.from_sizes(sizes, range(n_items))
    model = ClusteredMallows(truth, theta, distance="inversions")
    data = model.sample(n_rankings, rng).restrict(range(n_items))
    started = perf_counter()
    labels = search(data, "inversions", progress="off").best.tiers.label_array(range(n_items))
    seconds = perf_counter() - started
    wins = -data.places.sum(axis=0)
    borda = np.empty(n_items, dtype=np.int64)
    borda[np.argsort(-wins, kind="stable")] = np.repeat(np.arange(len(sizes)), sizes)
    found = {"tiers": float(labels.max() + 1), "seconds": round(seconds, 3)}
    for name, guess in (("", labels), ("borda ", borda)):
        ordered, tied = _shares(guess, np.repeat(np.arange(len(sizes)), sizes))
        found |= {f"{name}ordered": ordered, f"{name}tied": tied}
    return found


def _shares(labels: NDArray[np.int64], truth: NDArray[np.int64]) -> tuple[float, float]:
    """Share of pairs of different tiers in the right order, and of tied pairs that are tied."""
    upper = np.triu_indices(len(truth), 1)
    guessed, right = (np.sign(one[:, None] - one)[upper] for one in (labels, truth))
    different = right != 0
    return (
        round(float((guessed == right)[different].mean()), 4),
        round(float((guessed == right)[~different].mean()), 4),
    )


def recover_luce(worths: tuple[int, ...], n_rankings: int, seed: SeedSequence) -> dict[str, bool]:
    """Search one data set of a Bradley-Terry-Luce model in several ways: are the tiers right?"""
    rng = np.random.default_rng(seed)
    # The order of exponential times with the worths as rates is Luce's.
    times = rng.exponential(1 / np.array(worths), size=(n_rankings, len(worths)))
    data = Rankings.from_order_array(np.argsort(times, axis=1), range(len(worths)))
    truth = Tiers.from_sizes(LUCE_SIZES, range(len(worths)))
    return {
        way: search(data, **arguments, progress="off").best.tiers == truth  # type: ignore[arg-type]
        for way, arguments in WAYS.items()
    }


def tell(results: Results, settings: Settings) -> str:
    rows = []
    for n_items in settings.items:
        for sizes in MANY[n_items]:
            for theta in THETAS:
                for n_rankings in settings.rankings:
                    cell = results["many"][f"{sizes_text(sizes)}, {theta:g}, {n_rankings}"]
                    mean = {name: fmean(row[name] for row in cell) for name in cell[0]}
                    rows.append(
                        [
                            str(n_items),
                            _sizes_in_short(sizes),
                            f"{theta:g}",
                            str(n_rankings),
                            f"{mean['tiers']:.1f}",
                            percent(mean["ordered"]),
                            percent(mean["tied"]),
                            percent(mean["borda ordered"]),
                            percent(mean["borda tied"]),
                            duration(mean["seconds"]),
                        ]
                    )
    luce = [
        [
            worths,
            f"{n_rankings:,}",
            *(
                f"{sum(row[way] for row in cell)} of {len(cell)}"
                for cell in [results["luce"][f"{worths}; {n_rankings}"]]
                for way in WAYS
            ),
        ]
        for worths in WORTHS
        for n_rankings in settings.luce_rankings
    ]
    return paragraphs(
        "Tiers of 5 to 50 items, rankings drawn from the model with the distance inversions, "
        f"{settings.data_sets} data sets each. The search does not know the sizes or their number. "
        "Beside it is the order by Borda points (how many items an item is ranked above, over all "
        "rankings), cut at the *true* sizes, which nobody knows in practice.",
        table(
            [
                "items",
                "true sizes",
                "theta",
                "rankings",
                "tiers found",
                "different tiers: right order",
                "tied pairs: tied",
                "Borda, true sizes: right order",
                "tied",
                "time",
            ],
            rows,
        ),
        "The next rankings come from another model: Luce's choice model, in which the next item is "
        "drawn with probabilities proportional to worths. The true tiers are 1 > 2 ~ 3 > 4 ~ 5 > "
        "6, by their worths. How often are exactly these found?",
        table(["worths", "rankings", *WAYS], luce),
    )


def _sizes_in_short(sizes: Sizes) -> str:
    return f"{len(sizes)} x {sizes[0]}" if len(set(sizes)) == 1 else sizes_text(sizes)


STUDY = Study(
    name="other-truths",
    title="Are the tiers of many items recovered, and those of another model?",
    full=Settings(),
    quick=Settings(items=(40,), data_sets=1, rankings=(50,), luce_sets=2, luce_rankings=(200,)),
    compute=compute,
    tell=tell,
    page="simulations",
)
