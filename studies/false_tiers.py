"""How often does `search` find tiers in noise, and how often the true ones?"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from studies.harness import Place, Results, Study
from studies.writing import paragraphs, sizes_text, table
from tierwise import ClusteredMallows, Priors, Rankings, Tiers, search
from tierwise._util.tasks import run_tasks

if TYPE_CHECKING:
    from numpy.random import SeedSequence

    from tierwise.searching.evaluate import Criterion
    from tierwise.tiers import Sizes

TIERS_OF: dict[int, Sizes] = {4: (1, 2, 1), 6: (2, 2, 2), 10: (2, 3, 3, 2), 30: (5, 10, 10, 5)}
NOISE = "noise"
# What else noise is judged by, and for up to how many items.
OTHER_CRITERIA: tuple[Criterion, ...] = ("likelihood", "evidence")
MOST_ITEMS_OF_OTHERS = 6


@dataclass(frozen=True)
class Settings:
    """How many data sets of noise and of tiers there are, by the number of items."""

    items: tuple[int, ...] = (4, 6, 10, 30)
    rankings: tuple[int, ...] = (20, 100, 1000)
    thetas: tuple[float, ...] = (0.1, 0.3, 1.0)
    noise_sets: tuple[int, ...] = (200, 200, 100, 200)
    tiers_sets: tuple[int, ...] = (40, 40, 10, 40)
    seed: int = 20_611


def truths(settings: Settings, n_items: int) -> dict[str, tuple[Sizes, float]]:
    """Return the sizes and the theta of each truth, by its name."""
    found: dict[str, tuple[Sizes, float]] = {NOISE: ((n_items,), 0.0)}
    for kind, sizes in (("strict", (1,) * n_items), ("tiers", TIERS_OF[n_items])):
        found |= {f"{kind} {theta:g}": (sizes, theta) for theta in settings.thetas}
    return found


def compute(settings: Settings, place: Place) -> Results:
    tasks, cells = [], []
    for n_items, n_noise, n_tiers in zip(
        settings.items, settings.noise_sets, settings.tiers_sets, strict=True
    ):
        for truth, (sizes, theta) in truths(settings, n_items).items():
            n_sets = n_noise if truth == NOISE else n_tiers
            for n_rankings in settings.rankings:
                key = [
                    settings.seed,
                    n_items,
                    n_rankings,
                    list(truths(settings, n_items)).index(truth),
                ]
                for seed in np.random.SeedSequence(key).spawn(n_sets):
                    cells.append(f"{n_items} items, {n_rankings} rankings, {truth}")
                    tasks.append((sizes, theta, n_rankings, seed))
    rows = run_tasks(
        one_data_set, tasks, description="false tiers", workers=place.workers, progress="off"
    )
    results: Results = {cell: {} for cell in dict.fromkeys(cells)}
    for cell, row in zip(cells, rows, strict=True):
        for name, found in row.items():
            results[cell].setdefault(name, []).append(found)
    return {
        cell: {name: [len(values), fmean(values)] for name, values in found.items()}
        for cell, found in results.items()
    }


def one_data_set(
    sizes: Sizes, theta: float, n_rankings: int, seed: SeedSequence
) -> dict[str, float]:
    """Search one simulated data set: is what is found the truth, and which pairs are told right?"""
    rng = np.random.default_rng(seed)
    n_items = sum(sizes)
    data: Rankings
    if len(sizes) == 1:
        orders = rng.permuted(np.tile(np.arange(n_items), (n_rankings, 1)), axis=1)
        data = Rankings.from_order_array(orders, range(n_items))
    else:
        truth = Tiers.from_sizes(sizes, range(n_items))
        data = ClusteredMallows(truth, theta, distance="inversions").sample(n_rankings, rng)
        data = data.restrict(range(n_items))
    true_labels = np.repeat(np.arange(len(sizes)), sizes)
    labels = search(data, progress="off").best.tiers.label_array(range(n_items))
    found = {
        "no tiers": float(labels.max() == 0),
        "right": float(np.array_equal(labels, true_labels)),
    }
    above, truly_above = (np.sign(one[:, None] - one) for one in (labels, true_labels))
    upper = np.triu_indices(n_items, 1)
    different = truly_above[upper] != 0
    if different.any():
        found["ordered rightly"] = float((above[upper] == truly_above[upper])[different].mean())
        found["ordered wrongly"] = float((above[upper] == -truly_above[upper])[different].mean())
    if not different.all():
        found["told apart"] = float((above[upper] != 0)[~different].mean())
    if len(sizes) == 1 and n_items <= MOST_ITEMS_OF_OTHERS:
        for criterion in OTHER_CRITERIA:
            other = search(
                data,
                "kendall",
                criterion=criterion,
                priors=Priors(sizes=None if criterion == "likelihood" else "uniform"),
                progress="off",
            )
            found[criterion] = float(len(other.best.tiers) == 1)
    return found


def tell(results: Results, settings: Settings) -> str:
    parts = [
        "Everybody answers at random: there are no tiers to find. The table says how often "
        "`search` with its defaults reports none, and beside it, for few items, the paper's "
        "criterion I and the evidence with all sizes equally probable, both with the Kendall "
        "distance.",
        table(
            [
                "items",
                "rankings",
                "data sets",
                "default",
                "the paper's I",
                "evidence, uniform sizes",
            ],
            [
                [
                    str(n_items),
                    f"{n_rankings:,}",
                    str(one["no tiers"][0]),
                    _share(one, "no tiers"),
                    _share(one, "likelihood"),
                    _share(one, "evidence"),
                ]
                for n_items in settings.items
                for n_rankings in settings.rankings
                for one in [results[f"{n_items} items, {n_rankings} rankings, {NOISE}"]]
            ],
        ),
        "And where there are tiers? Rankings are drawn from the model with the distance "
        "inversions: with a strict order, and with tiers of sizes "
        + ", ".join(sizes_text(TIERS_OF[n]) for n in settings.items)
        + ". *Right* is the share of data sets in which exactly the true tiers were found; then "
        "come the share of pairs of different tiers that were put in the right and in the wrong "
        "order (the rest were called tied), and of tied pairs that were told apart.",
    ]
    for n_items in settings.items:
        rows = []
        for truth in truths(settings, n_items):
            if truth == NOISE:
                continue
            kind, theta = truth.split()
            for n_rankings in settings.rankings:
                one = results[f"{n_items} items, {n_rankings} rankings, {truth}"]
                names = ("no tiers", "right", "ordered rightly", "ordered wrongly", "told apart")
                rows.append(
                    [kind, theta, f"{n_rankings:,}", *(_share(one, name) for name in names)]
                )
        parts.append(
            table(
                [
                    f"{n_items} items",
                    "theta",
                    "rankings",
                    "no tiers",
                    "right",
                    "pairs ordered rightly",
                    "wrongly",
                    "tied pairs told apart",
                ],
                rows,
            )
        )
    return paragraphs(*parts)


def _share(cell: dict[str, tuple[int, float]], name: str) -> str:
    if name not in cell:
        return ""
    share = cell[name][1]
    return f"{100 * share:.1f}%" if 0 < share < 1 else f"{100 * share:.0f}%"


STUDY = Study(
    name="false-tiers",
    title="How often is noise taken for tiers, and how often are tiers found?",
    full=Settings(),
    quick=Settings(
        items=(4, 6), rankings=(20,), thetas=(0.3,), noise_sets=(4, 4), tiers_sets=(2, 2)
    ),
    compute=compute,
    tell=tell,
    page="simulations",
)
