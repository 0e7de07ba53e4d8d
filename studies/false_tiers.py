"""How often does `search` find tiers in noise, and how often the true ones?"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from studies.harness import Place, Results, Study
from studies.truths import fight, race, scattered
from studies.writing import paragraphs, sizes_text, table
from tierwise import Priors, search
from tierwise._util.tasks import run_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.random import SeedSequence

    from tierwise import Battles, Rankings
    from tierwise.searching.evaluate import Criterion
    from tierwise.tiers import Sizes

TIERS_OF: dict[int, Sizes] = {4: (1, 2, 1), 6: (2, 2, 2), 10: (2, 3, 3, 2), 30: (5, 10, 10, 5)}
# What else noise is judged by, and for up to how many items.
OTHER_CRITERIA: tuple[Criterion, ...] = ("likelihood", "evidence")
MOST_ITEMS_OF_OTHERS = 6


@dataclass(frozen=True)
class Settings:
    """Noise: items, and how many rankings, battles and data sets; then tiers, by their items."""

    noise: tuple[tuple[int, tuple[int, ...], tuple[int, ...], int], ...] = (
        (4, (20, 100, 1000), (60, 300, 3000), 100),
        (6, (20, 100, 1000), (120, 600, 6000), 100),
        (10, (20, 100, 1000), (300, 1500, 15_000), 40),
        (30, (20, 100, 1000), (2000, 20_000), 60),
        (129, (), (20_000,), 10),
    )
    items: tuple[int, ...] = (4, 6, 10, 30)
    rankings: tuple[int, ...] = (20, 100, 1000)
    thetas: tuple[float, ...] = (0.1, 0.3, 1.0)
    tiers_sets: tuple[int, ...] = (40, 40, 10, 40)
    seed: int = 20_611


def truths(settings: Settings, n_items: int) -> dict[str, tuple[Sizes, float]]:
    """Return the sizes and the theta of each truth, by its name."""
    return {
        f"{kind} {theta:g}": (sizes, theta)
        for kind, sizes in (("strict", (1,) * n_items), ("tiers", TIERS_OF[n_items]))
        for theta in settings.thetas
    }


def noise_cases(settings: Settings) -> Iterator[tuple[str, int, int, int]]:
    """Return kind and number of answers, number of items and of data sets."""
    for n_items, rankings, battles, n_sets in settings.noise:
        yield from (("rankings", n_answers, n_items, n_sets) for n_answers in rankings)
        yield from (("battles", n_answers, n_items, n_sets) for n_answers in battles)


def compute(settings: Settings, place: Place) -> Results:
    results: Results = {}
    for kind, n_answers, n_items, n_sets in noise_cases(settings):
        key = [settings.seed, n_items, n_answers, kind == "battles"]
        seeds = np.random.SeedSequence(key).spawn(n_sets)
        noise = [(kind, n_answers, n_items, seed) for seed in seeds]
        results[f"{n_items} items, {n_answers} {kind}"] = _means(noise_set, noise, place)
    for n_items, n_sets in zip(settings.items, settings.tiers_sets, strict=True):
        for number, (truth, (sizes, theta)) in enumerate(truths(settings, n_items).items()):
            for n_rankings in settings.rankings:
                seeds = np.random.SeedSequence(
                    [settings.seed, n_items, n_rankings, 1 + number]
                ).spawn(n_sets)
                tasks = [(sizes, theta, n_rankings, seed) for seed in seeds]
                cell = f"{n_items} items, {n_rankings} rankings, {truth}"
                results[cell] = _means(tiers_set, tasks, place)
    return results


def _means(
    function: Callable[..., dict[str, float]], tasks: Sequence[tuple[Any, ...]], place: Place
) -> dict[str, list[float]]:
    """Return the number of data sets and the mean of each measure."""
    rows = run_tasks(
        function, tasks, description="false tiers", workers=place.workers, progress="off"
    )
    return {name: [len(rows), fmean(row[name] for row in rows)] for name in rows[0]}


def noise_set(kind: str, n_answers: int, n_items: int, seed: SeedSequence) -> dict[str, float]:
    """Search answers at random: does the search report no tiers?"""
    rng = np.random.default_rng(seed)
    data: Rankings | Battles = (race if kind == "rankings" else fight)(
        np.zeros(n_items), n_answers, rng
    )
    best = search(data, workers=1, progress="off", rng=1).best
    found = {"no tiers": float(len(best.tiers) == 1)}
    if kind == "rankings" and n_items <= MOST_ITEMS_OF_OTHERS:
        for criterion in OTHER_CRITERIA:
            priors = Priors(sizes=None if criterion == "likelihood" else "uniform")
            other = search(data, "kendall", criterion=criterion, priors=priors, progress="off")
            found[criterion] = float(len(other.best.tiers) == 1)
    return found


def tiers_set(sizes: Sizes, theta: float, n_rankings: int, seed: SeedSequence) -> dict[str, float]:
    """Search one simulated data set: is what is found the truth, and which pairs are right?"""
    true_labels = np.repeat(np.arange(len(sizes)), sizes)
    data = scattered(true_labels, theta, "inversions", n_rankings, np.random.default_rng(seed))
    best = search(data, workers=1, progress="off", rng=1).best
    labels = best.tiers.label_array(range(len(true_labels)))
    found = {
        "no tiers": float(labels.max() == 0),
        "right": float(np.array_equal(labels, true_labels)),
    }
    above, truly_above = (np.sign(one[:, None] - one) for one in (labels, true_labels))
    upper = np.triu_indices(len(labels), 1)
    different = truly_above[upper] != 0
    if different.any():
        found["ordered rightly"] = float((above[upper] == truly_above[upper])[different].mean())
        found["ordered wrongly"] = float((above[upper] == -truly_above[upper])[different].mean())
    if not different.all():
        found["separated"] = float((above[upper] != 0)[~different].mean())
    return found


def tell(results: Results, settings: Settings) -> str:
    parts = [
        # Said of stored results that another version made.
        results.get("origin", ""),
        "Everybody answers at random, so there are no tiers to find. The table says how often "
        "`search` with its defaults reports none. Beside it, for few items, are the paper's "
        "criterion I and the evidence with all sizes equally probable, both with the Kendall "
        "distance.",
        table(
            [
                "items",
                "answers",
                "data sets",
                "default",
                "the paper's I",
                "evidence, uniform sizes",
            ],
            [
                [
                    str(n_items),
                    f"{n_answers:,} {kind}",
                    str(n_sets),
                    _share(one, "no tiers"),
                    _share(one, "likelihood"),
                    _share(one, "evidence"),
                ]
                for kind, n_answers, n_items, n_sets in noise_cases(settings)
                for one in [results[f"{n_items} items, {n_answers} {kind}"]]
            ],
        ),
        "And where there are tiers? Rankings are drawn from the model with the distance "
        "inversions: with a strict order, and with tiers of sizes "
        + ", ".join(sizes_text(TIERS_OF[n]) for n in settings.items)
        + ". *Right* is the share of data sets in which exactly the true tiers were found; then "
        "come the share of pairs of different tiers that were put in the right and in the wrong "
        "order (the rest were called tied), and of tied pairs that were separated.",
    ]
    for n_items in settings.items:
        rows = []
        for truth in truths(settings, n_items):
            kind, theta = truth.split()
            for n_rankings in settings.rankings:
                one = results[f"{n_items} items, {n_rankings} rankings, {truth}"]
                names = ("no tiers", "right", "ordered rightly", "ordered wrongly", "separated")
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
                    "tied pairs separated",
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
        noise=((4, (20,), (60,), 2), (6, (20,), (), 2)),
        items=(4, 6),
        rankings=(20,),
        thetas=(0.3,),
        tiers_sets=(2, 2),
    ),
    compute=compute,
    tell=tell,
    page="simulations",
)
