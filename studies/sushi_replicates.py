"""Tohoku sushi: how the importance sampling criterion varies when it is computed again."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

import numpy as np

from studies import sushi_paper as paper
from studies.harness import Claim, Place, Results, Study, number_claim
from studies.writing import figure, paragraphs, sizes_text, table
from tierwise import Fit, fit, load_sushi, search
from tierwise._util.tasks import run_tasks
from tierwise.partition.choose import partition_function
from tierwise.tiers import log_number_of_tiers

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Settings:
    replicates: int = 500
    draws: int = paper.DRAWS
    seed: int = 20_262


def compute(settings: Settings, place: Place) -> Results:
    rankings = load_sushi(place.folder("sushi"), region="Tohoku")
    best, second = (
        one.sizes
        for one in search(
            rankings, progress="off", distance="kendall", criterion="likelihood"
        ).leaderboard[:2]
    )
    candidates = [
        ("Kendall, the paper's", paper.MEANT, "kendall"),
        ("Kendall, the paper's misprint", paper.START, "kendall"),
        ("Kendall (D)", paper.SELECTED["kendall_agreement"], "kendall"),
        ("Kendall, best of 512", best, "kendall"),
        ("Kendall, second of 512", second, "kendall"),
        ("Hamming (I)", paper.SELECTED["hamming_likelihood"], "hamming"),
        ("Hamming (D)", paper.SELECTED["hamming_agreement"], "hamming"),
    ]
    results: Results = {"models": []}
    for number, (name, sizes, distance) in enumerate(candidates):
        fitted = fit(rankings, sizes, distance)
        seeds = np.random.SeedSequence([settings.seed, number]).spawn(settings.replicates)
        pieces = [seeds[first :: place.workers] for first in range(place.workers)]
        found = run_tasks(
            replicate,
            [(fitted, settings.draws, piece) for piece in pieces],
            description=name,
            workers=place.workers,
            progress="off",
        )
        results["models"].append(
            {
                "name": name,
                "sizes": list(sizes),
                "distance": distance,
                "exact": fitted.criterion,
                "replicates": _in_order(found),
            }
        )
    return results


def replicate(fitted: Fit, draws: int, seeds: list[np.random.SeedSequence]) -> list[float]:
    """Compute the criterion at the fitted tiers and theta, each time from other draws."""
    (theta,) = fitted.thetas
    fixed = -theta * fitted.total_distance - log_number_of_tiers(fitted.sizes)
    values = []
    for seed in seeds:
        estimated = partition_function(
            fitted.sizes, fitted.distance, method="importance", draws=draws, rng=seed
        )
        values.append(round(fixed - fitted.n_rankings * estimated.log_value(theta), 4))
    return values


def _in_order(pieces: list[list[float]]) -> list[float]:
    """Undo the dealing of seeds to workers, so that the file does not depend on their number."""
    longest = max(len(piece) for piece in pieces)
    return [piece[row] for row in range(longest) for piece in pieces if row < len(piece)]


def draw(results: Results, place: Place | None) -> dict[str, Figure]:  # noqa: ARG001
    from matplotlib import pyplot as plt

    from tierwise import plots
    from tierwise.plots.style import ORANGE

    drawn, ax = plt.subplots(figsize=(8.2, 4.4), layout="constrained")
    names = [f"{one['name']} {sizes_text(one['sizes'])}" for one in results["models"]]
    values = {name: one["replicates"] for name, one in zip(names, results["models"], strict=True)}
    plots.criterion_replicates(values, ax=ax)
    for number, one in enumerate(results["models"]):
        ax.plot([one["exact"]], [number], marker="D", color=ORANGE, zorder=5)
    ax.set_xlabel("criterion, estimated again and again (diamond: exact)")
    return {"sushi-replicates": drawn}


def claims(results: Results) -> list[Claim]:
    first = results["models"][0]
    return [
        number_claim(
            "sushi, mean of the estimated criterion",
            paper.CRITERION,
            fmean(first["replicates"]),
            2,
            close=paper.CRITERION_SD,
        ),
        number_claim(
            "sushi, its standard deviation",
            paper.CRITERION_SD,
            stdev(first["replicates"]),
            2,
            close=1.0,
        ),
    ]


def tell(results: Results, settings: Settings) -> str:
    rows = [
        [
            one["name"],
            sizes_text(one["sizes"]),
            f"{one['exact']:.2f}",
            f"{fmean(one['replicates']):.2f}",
            f"{stdev(one['replicates']):.2f}",
            f"{min(one['replicates']):.1f} to {max(one['replicates']):.1f}",
        ]
        for one in results["models"]
    ]
    first, best, second = (results["models"][number] for number in (0, 3, 4))
    wins = fmean(
        behind > ahead
        for behind, ahead in zip(second["replicates"], best["replicates"], strict=True)
    )
    return paragraphs(
        f"The criterion at the best tiers and theta, {settings.replicates} times, each from "
        f"{settings.draws:,} new draws of the pseudo-likelihood.",
        table(["model", "sizes", "exact", "mean", "sd", "range"], rows),
        figure("sushi-replicates", "Replicates of the estimated criterion."),
        f"The paper reports {paper.CRITERION:.2f} with standard deviation {paper.CRITERION_SD:.2f} "
        f"for its selected model. The mean is the exact value. The standard deviation here is "
        f"{stdev(first['replicates']):.2f}; {paper.CRITERION_SD:.2f} is what "
        f"{draws_for_paper_sd(results, settings.draws):,.0f} draws would give. We do not know "
        "where the difference comes from.",
        "Models that differ by less than a few such deviations cannot be distinguished by one "
        f"estimate each: the second best sizes of all, truly {best['exact'] - second['exact']:.2f} "
        f"behind the best, come out ahead of them in {100 * wins:.0f}% of the pairs of replicates. "
        "Between the models that the paper compares the differences are larger, and its conclusion "
        "that its first is the best of those holds.",
    )


def draws_for_paper_sd(results: Results, draws: int) -> float:
    """Number of draws that would give the paper's standard deviation, to two digits."""
    ratio = stdev(results["models"][0]["replicates"]) / paper.CRITERION_SD
    return float(f"{draws * ratio**2:.2g}")


STUDY = Study(
    name="sushi-replicates",
    title="Tohoku sushi: the noise of the estimated criterion (section 7.2)",
    full=Settings(),
    quick=Settings(replicates=10, draws=5_000),
    compute=compute,
    tell=tell,
    draw=draw,
    claims=claims,
    data=("sushi",),
)
