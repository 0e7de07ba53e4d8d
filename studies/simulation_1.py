"""Simulation study 1: does the search find sizes (1,1,3,1,1) of Hamming data?"""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from studies.harness import Claim, Place, Results, Study, number_claim
from studies.paper_methods import climb, fit_as_in_the_paper
from studies.writing import duration, figure, paragraphs, percent, sizes_text, table
from tierwise import ClusteredMallows, Counts, Search, Tiers, search
from tierwise._util.tasks import run_tasks
from tierwise.searching.merging import merge_even_pairs
from tierwise.searching.strategies import Greedy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES, THETA, DISTANCE = (1, 1, 3, 1, 1), 0.9, "hamming"
PAPER_SHARE = 1.0
METHODS = {
    "paper": "the paper's methods",
    "greedy": "exact, the same moves",
    "all": "exact, all 64",
}


@dataclass(frozen=True)
class Settings:
    """The paper's methods are slow: they search the first so many data sets only."""

    data_sets: int = 100
    data_sets_by_paper: int = 100
    rankings: int = 500
    draws: int = 100_000
    seed: int = 20_241


def compute(settings: Settings, place: Place) -> Results:
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.data_sets)
    rows = run_tasks(
        one_data_set,
        [(settings, number, seed) for number, seed in enumerate(seeds)],
        description="study 1",
        workers=place.workers,
        progress="off",
    )
    by_method = {name: [row[name] for row in rows if name in row] for name in METHODS}
    noisy = by_method["paper"]
    return {
        "top": {name: [one["top"] for one in found] for name, found in by_method.items()},
        "seconds": {
            name: median(one["seconds"] for one in found) for name, found in by_method.items()
        },
        "gap": [row["gap"] for row in rows],
        "error": [one["error"] for one in noisy],
        "looked_at": median(one["looked_at"] for one in noisy),
    }


def one_data_set(settings: Settings, number: int, seed: np.random.SeedSequence) -> Results:
    """Simulate one data set and search it in two or three ways."""
    rng = np.random.default_rng(seed)
    tiers = Tiers.from_sizes(SIZES, range(1, sum(SIZES) + 1))
    rankings = ClusteredMallows(tiers, THETA, DISTANCE).sample(settings.rankings, rng)
    data = Counts.of(rankings)
    started = process_time()
    everything = search(data, DISTANCE, method="exhaustive", progress="off", criterion="likelihood")
    seconds_all = process_time() - started
    started = process_time()
    greedy = search(
        data, DISTANCE, method=Greedy(moves="adjacent"), progress="off", criterion="likelihood"
    )
    seconds_greedy = process_time() - started
    row: Results = {
        "greedy": {"top": _top(greedy), "seconds": seconds_greedy},
        "all": {"top": _top(everything), "seconds": seconds_all},
        "gap": everything.runner_up_gap,
    }
    if number < settings.data_sets_by_paper:
        row["paper"] = noisy_search(data, settings, rng)
    return row


def noisy_search(data: Counts, settings: Settings, rng: np.random.Generator) -> Results:
    """Search by the paper's methods."""
    errors: list[float] = []

    def score(sizes: tuple[int, ...]) -> float:
        fitted = fit_as_in_the_paper(data, sizes, DISTANCE, settings.draws, rng)
        errors.append(fitted.criterion_error)
        return fitted.criterion

    started = process_time()
    found = climb(merge_even_pairs(data).sizes, score)
    return {
        "top": found.best(5),
        "seconds": process_time() - started,
        "error": median(errors),
        "looked_at": len(found.scores),
    }


def _top(found: Search) -> list[tuple[int, ...]]:
    return [one.sizes for one in found.contenders[:5]]


def share_found(results: Results, method: str) -> float:
    """Share of data sets whose best sizes are the true ones."""
    best = [tuple(top[0]) for top in results["top"][method]]
    return best.count(SIZES) / len(best)


def draw(results: Results, place: Place | None) -> dict[str, Figure]:  # noqa: ARG001
    from matplotlib import pyplot as plt
    from matplotlib.patches import Patch

    from tierwise.plots.style import CATEGORIES

    drawn, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained", sharey=True)
    common = Tally(
        sizes_text(sizes)
        for method in ("paper", "all")
        for top in results["top"][method]
        for sizes in top
    )
    shown = [sizes_text(SIZES)] + [
        name for name, _ in common.most_common(7) if name != sizes_text(SIZES)
    ]
    colours = dict(zip(shown, CATEGORIES, strict=False)) | {"other": "lightgrey"}
    for ax, method in zip(axes, ("paper", "all"), strict=True):
        lists = results["top"][method]
        for position in range(5):
            names = [sizes_text(top[position]) for top in lists if len(top) > position]
            counted = Tally(name if name in colours else "other" for name in names)
            below = 0.0
            for name, colour in colours.items():
                height = counted[name] / len(lists)
                ax.bar(position + 1, height, bottom=below, color=colour, width=0.8)
                below += height
        ax.set_title(METHODS[method])
        ax.set_xlabel("place in the search")
    axes[0].set_ylabel("share of data sets")
    handles = [Patch(color=colour) for colour in colours.values()]
    drawn.legend(handles, list(colours), loc="outside right center", frameon=False, title="sizes")
    return {"simulation-1": drawn}


def claims(results: Results) -> list[Claim]:
    return [
        number_claim(
            "study 1, true sizes found, exact", PAPER_SHARE, share_found(results, "all"), 2
        ),
        number_claim(
            "study 1, true sizes found, the paper's methods",
            PAPER_SHARE,
            share_found(results, "paper"),
            2,
            close=0.05,
        ),
    ]


def tell(results: Results, settings: Settings) -> str:
    rows = [
        [
            label,
            str(len(results["top"][name])),
            percent(share_found(results, name)),
            duration(results["seconds"][name]),
        ]
        for name, label in METHODS.items()
    ]
    return paragraphs(
        f"{settings.data_sets} data sets of {settings.rankings} rankings from the Hamming model "
        f"with sizes {sizes_text(SIZES)} and theta {THETA:g}. The search by the paper's methods "
        "climbs by one-adjacent shifts; each size vector it looks at (a median of "
        f"{results['looked_at']:.0f}) is annealed, its theta iterated by simulation, and its "
        f"partition function estimated from {settings.draws:,} draws. Times are seconds of one "
        "core for one data set, the median of all.",
        table(
            [
                "search",
                "data sets",
                "true sizes best (paper: " + percent(PAPER_SHARE) + ")",
                "time",
            ],
            rows,
        ),
        figure("simulation-1", "The five best size vectors of each search."),
        f"The gap between the best and the second best of all 64 size vectors has a median of "
        f"{median(results['gap']):.1f} (smallest {min(results['gap']):.1f}), and the importance "
        f"sampling error of one criterion a median of {median(results['error']):.1f}: with so "
        "many rankings the error of log Psi is multiplied by their number.",
    )


STUDY = Study(
    name="simulation-1",
    title="Simulation study 1: the sizes of Hamming data (section 6.3)",
    full=Settings(),
    quick=Settings(data_sets=2, data_sets_by_paper=1, draws=2_000),
    compute=compute,
    tell=tell,
    draw=draw,
    claims=claims,
)
