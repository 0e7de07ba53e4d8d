"""How often is a page too sure of a tier, with open sizes and with sizes that are held fixed?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from studies.harness import Place, Results, Study
from studies.writing import paragraphs, percent, sizes_text, table
from tierwise import (
    ClusteredMallows,
    Tiers,
    TierwiseWarning,
    bootstrap,
    choose,
    leaderboard,
    sample_posterior,
    search,
)
from tierwise._util.tasks import run_tasks
from tierwise.model.ranks import rank_shares

if TYPE_CHECKING:
    from numpy.random import SeedSequence

    from tierwise.tiers import Sizes

SURE = 0.95
WAYS = ("posterior, sizes open", "bootstrap, sizes held fixed")


@dataclass(frozen=True)
class Settings:
    """Eight items, two of which are tied, and agreement that is moderate."""

    sizes: Sizes = (1, 1, 1, 2, 1, 1, 1)
    thetas: tuple[float, ...] = (0.2, 0.4)
    rankings: int = 200
    data_sets: int = 50
    replicates: int = 200
    draws: int = 500
    seed: int = 33_212


def compute(settings: Settings, place: Place) -> Results:
    results: Results = {}
    for theta in settings.thetas:
        seeds = np.random.SeedSequence([settings.seed, round(1000 * theta)]).spawn(
            settings.data_sets
        )
        found = run_tasks(
            one_set,
            [(settings, theta, seed) for seed in seeds],
            description="tiers",
            workers=place.workers,
            progress="off",
        )
        results[f"{theta:g}"] = {
            way: [sum(one[way][number] for one in found) for number in range(5)] for way in WAYS
        } | {"data sets too sure": [sum(one[way][1] > 0 for one in found) for way in WAYS]}
    return results


def one_set(settings: Settings, theta: float, seed: SeedSequence) -> dict[str, list[float]]:
    """Count items whose tier is called sure, and wrong ones; whether all tiers are, and wrong."""
    rng = np.random.default_rng(seed)
    items = rng.permutation(sum(settings.sizes)).tolist()
    truth = Tiers.from_sizes(settings.sizes, items)
    data = ClusteredMallows(truth, theta, "inversions").sample(settings.rankings, rng)
    ranks = rank_shares(truth.label_array(data.items)[None] + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TierwiseWarning)  # few draws
        choice = choose(data, workers=1, progress="off", rng=1)
        board = leaderboard(
            data, choice=choice, draws=settings.draws, workers=1, progress="off", rng=2
        )
        drawn = sample_posterior(
            data, choice=choice, draws=settings.draws, workers=1, progress="off", rng=3
        )
        fixed = search(data, family="mallows", workers=1, progress="off", rng=1).best
        again = bootstrap(data, fixed, replicates=settings.replicates, progress="off", rng=2)
    said = {row.item: row.tier_probabilities[row.tier - 1] for row in board.rows}
    own = fixed.tiers.label_array(again.items)
    shares = again.tier_probabilities().to_numpy()[np.arange(len(own)), own]
    by_item = dict(zip(again.items, shares.tolist(), strict=True))
    ways = (
        (board.tiers, said, drawn.items, drawn.labels),
        (fixed.tiers, by_item, again.items, again.labels),
    )
    found = {}
    for way, (tiers, probabilities, items_drawn, labels) in zip(WAYS, ways, strict=True):
        starts = np.cumsum((0, *tiers.sizes))
        sure, wrong = 0.0, 0.0
        for item, share in probabilities.items():
            if share > SURE:
                tier = tiers[item]
                sure += 1.0
                own_ranks = ranks[data.items.index(item), starts[tier - 1] : starts[tier]]
                wrong += 1.0 - float(own_ranks.sum())
        found_tiers = np.array([tiers[item] for item in items_drawn])
        all_sure = float((labels == found_tiers).all(axis=1).mean() > SURE)
        all_wrong = all_sure * float(tiers != truth)
        found[way] = [sure, round(wrong, 6), float(len(tiers)), all_sure, all_wrong]
    return found


def tell(results: Results, settings: Settings) -> str:
    rows = []
    for theta in settings.thetas:
        found = results[f"{theta:g}"]
        for way, n_too_sure in zip(WAYS, found["data sets too sure"], strict=True):
            sure, wrong, n_tiers, all_sure, all_wrong = found[way]
            rows.append(
                [
                    f"{theta:g}",
                    way,
                    f"{n_tiers / settings.data_sets:.1f}",
                    f"{sure:,.0f}",
                    percent(wrong / max(sure, 1.0)),
                    f"{n_too_sure} of {settings.data_sets}",
                    f"{all_wrong:.0f} of {all_sure:.0f}",
                ]
            )
    return paragraphs(
        f"Eight items have tiers of sizes {sizes_text(settings.sizes)}: two are tied, all others "
        f"differ. {settings.rankings} rankings are drawn with the distance inversions. A page says "
        "for each item how sure its tier is. Up to version 0.2 that came from a bootstrap in which "
        "the sizes of the best tiers of Mallows models were held fixed; now it comes from the "
        "posterior, with all sizes. How often does it claim a tier with more than 95% that does "
        "not hold the item's true rank (half wrong if that depends on which of two tied items is "
        "first)? The last column is about all tiers together: if they come out in more than 95% of "
        "draws or replicates, how often are they not exactly the true ones?",
        table(
            [
                "theta",
                "by",
                "tiers found",
                "items said to be sure",
                "of these wrong",
                "data sets with such an item",
                "of data sets with sure tiers, not exactly the true ones",
            ],
            rows,
        ),
    )


STUDY = Study(
    name="sizes-held-fixed",
    title="How often is a page too sure of a tier?",
    full=Settings(),
    quick=Settings(thetas=(0.4,), data_sets=2, replicates=20, draws=100),
    compute=compute,
    tell=tell,
    page="simulations",
)
