"""Formula 1, 2015 and 2016: tiers after the points system, under both readings of "not listed"."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma
from typing import TYPE_CHECKING, Any

import numpy as np

from studies.augmented_chain import AugmentedDraws, run_augmented_chain
from studies.harness import Claim, Place, Results, Study, number_claim, text_claim
from studies.writing import duration, figure, paragraphs, sizes_text, table, tiers_text
from tierwise import Fit, Rankings, Tiers, fit, load_f1

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (1, 1, 1, 2, 3, 2, 15)
STRICT = (1,) * 25
FILE = "f1db_2015_2016_results.csv"
PAPER_TIERS = (
    ("Hamilton",),
    ("Rosberg",),
    ("Vettel",),
    ("Raikkonen", "Ricciardo"),
    ("Bottas", "Massa", "Verstappen"),
    ("Grosjean", "Perez"),
)
PAPER_STRICT = (
    "Hamilton", "Rosberg", "Vettel", "Raikkonen", "Ricciardo",
    "Bottas", "Massa", "Verstappen", "Perez", "Grosjean",
)  # fmt: skip
PAPER_CRITERION = {"tiers": -1901.93, "strict": -2388.607}
MEANING = {
    "below": "below the finishers",
    "anywhere": "anywhere",
}


@dataclass(frozen=True)
class Settings:
    """The paper runs 11,000 iterations and drops the first 1,000."""

    readings: tuple[str, ...] = ("below", "anywhere")
    iterations: int = 11_000
    warmup: int = 1_000
    seed: int = 20_251


def compute(settings: Settings, place: Place) -> Results:
    path = place.folder("f1") / FILE
    races = load_f1(path)
    results: Results = {
        "races": int(races.n_rankings),
        "drivers": len(races.items),
        "uniform": -races.n_rankings * lgamma(len(races.items) + 1),
        "penalty_strict": lgamma(len(races.items) + 1),
    }
    for reading in settings.readings:
        rankings = load_f1(path, unranked=reading)  # type: ignore[arg-type]
        results[reading] = one_reading(rankings, settings)
    return results


def one_reading(rankings: Rankings, settings: Settings) -> Results:
    """Fit tiers and the strict consensus exactly, and run the paper's chain for both."""
    found: Results = {}
    for name, sizes in (("tiers", SIZES), ("strict", STRICT)):
        # Beyond some twenty items the strict consensus of every round is annealed.
        method = "auto" if name == "tiers" else "annealing"
        fitted = fit(rankings, sizes, method=method, rng=settings.seed)
        found[name] = summary_of_fit(fitted)
        rng = np.random.default_rng([settings.seed, len(sizes)])
        for proposal in ("reinsert", "refill"):
            draws = run_augmented_chain(
                rankings,
                fitted.tiers,
                iterations=settings.iterations,
                warmup=settings.warmup,
                proposal=proposal,  # type: ignore[arg-type]
                rng=rng,
            )
            found[f"{name}_{proposal}"] = summary_of_draws(draws, rankings)
    return found


def summary_of_fit(fitted: Fit) -> Results:
    """Keep what the page tells about a fit; criteria are those of complete orderings as well."""
    return {
        "tiers": surnames(fitted.tiers),
        "theta": fitted.theta,
        "total_distance": fitted.total_distance,
        "criterion": fitted.criterion,
        "log_completions": fitted.log_completions,
        "optimal": fitted.optimal,
        "seconds": fitted.provenance.seconds,
    }


def summary_of_draws(draws: AugmentedDraws, rankings: Rankings) -> Results:
    """Keep what the page tells about a chain."""
    mode = Tiers.from_labels([label + 1 for label in draws.most_frequent], rankings.items)
    return {
        "tiers": surnames(mode),
        "theta_mean": float(draws.thetas.mean()),
        "theta_sd": float(draws.thetas.std()),
        "best_criterion": float(draws.criteria.max()),
        "mean_criterion": float(draws.criteria.mean()),
    }


def surnames(tiers: Tiers) -> list[list[str]]:
    """Return the drivers of all tiers but a last large one, by surname."""
    shown = [tier for tier in tiers if len(tier) < 15]
    return [sorted(_surname(str(driver)) for driver in tier) for tier in shown][:10]


def _surname(driver: str) -> str:
    return driver.removesuffix(" Jr").split()[-1]


def of_complete(one: Results) -> float:
    """Return the criterion per complete ordering: without how many orderings agree."""
    return float(one["criterion"] - one["log_completions"])


def draw(results: Results, place: Place | None) -> dict[str, Figure]:  # noqa: ARG001
    if place is None:
        return {}
    from matplotlib import pyplot

    from tierwise import plots

    races = load_f1(place.folder("f1") / FILE)
    tiers = fit(races, SIZES, rng=0).tiers
    drawn, axes = pyplot.subplots(1, 2, figsize=(11.0, 6.4), layout="constrained")
    plots.rank_boxes(races, tiers, ax=axes[0])
    plots.tier_rank_boxes(races, tiers, ax=axes[1])
    return {"formula-one-ranks": drawn}


def claims(results: Results) -> list[Claim]:
    below = results["below"]
    found = [
        text_claim(
            "Formula 1, tiers, not listed = below",
            tiers_text(sorted(tier) for tier in PAPER_TIERS),
            tiers_text(below["tiers"]["tiers"]),
        )
    ]
    if "anywhere" in results:
        found.append(
            text_claim(
                "the same, not listed = anywhere",
                tiers_text(sorted(tier) for tier in PAPER_TIERS),
                tiers_text(results["anywhere"]["tiers"]["tiers"]),
            )
        )
    for name, label in (("tiers", "best criterion of the tiers"), ("strict", "of the strict model")):
        for reading in [one for one in MEANING if one in results]:
            best = results[reading][f"{name}_reinsert"]["best_criterion"]
            found.append(
                number_claim(
                    f"Formula 1, {label} in the chain, not listed = {reading}",
                    PAPER_CRITERION[name],
                    best,
                    2,
                )
            )
    found.append(
        text_claim(
            "Formula 1, the model with the higher criterion",
            "tiers",
            "tiers"
            if all(
                results[reading]["tiers"]["criterion"] > results[reading]["strict"]["criterion"]
                for reading in MEANING
                if reading in results
            )
            else "strict",
        )
    )
    return found


def tell(results: Results, settings: Settings) -> str:
    readings = [reading for reading in MEANING if reading in results]
    fits = [
        [
            MEANING[reading],
            name,
            f"{one['theta']:.4f}",
            f"{one['criterion']:.2f}",
            f"{of_complete(one):.2f}",
            duration(one["seconds"]),
        ]
        for reading in readings
        for name in ("tiers", "strict")
        for one in [results[reading][name]]
    ]
    chains = [
        [
            MEANING[reading],
            name,
            proposal,
            f"{one['theta_mean']:.4f} ({one['theta_sd']:.4f})",
            f"{one['best_criterion']:.2f}",
            f"{one['mean_criterion']:.2f}",
            f"{PAPER_CRITERION[name]:.2f}",
        ]
        for reading in readings
        for name in ("tiers", "strict")
        for proposal in ("reinsert", "refill")
        for one in [results[reading][f"{name}_{proposal}"]]
    ]
    implied = PAPER_CRITERION["strict"] + results["penalty_strict"]
    return paragraphs(
        f"{results['races']} races, {results['drivers']} drivers with more than ten entries. A "
        "race lists its finishers. What it means not to be listed, the data cannot say: to come "
        "below all finishers, or to be able to come anywhere. The paper's section 5.1 describes "
        "top-k lists, which is the first; its data augmentation can be read as the second. We "
        f"compute both, with sizes {sizes_text(SIZES)}.",
        "**The tiers** (the last, of 15 drivers, is left out).",
        table(
            ["not listed means", "tiers"],
            [["paper", tiers_text(PAPER_TIERS)]]
            + [
                [MEANING[reading], tiers_text(results[reading]["tiers"]["tiers"])]
                for reading in readings
            ],
        ),
        "**The first ten of the strict consensus.**",
        table(
            ["not listed means", "drivers"],
            [["paper", " > ".join(PAPER_STRICT)]]
            + [
                [MEANING[reading], tiers_text(results[reading]["strict"]["tiers"])]
                for reading in readings
            ],
        ),
        "**Maximum likelihood**, all complete orderings that agree with a race being summed over. "
        "The criterion is that of the races as observed; less the log number of orderings that "
        "agree with them, it is on the scale of complete orderings, on which no tiers at all has "
        f"{results['uniform']:.1f}.",
        table(
            ["not listed means", "model", "theta", "criterion", "on the complete scale", "time"],
            fits,
        ),
        _conclusion(results, readings),
        f"**The paper's chain**: complete the races, switch tiers, draw theta, "
        f"{settings.iterations:,} iterations, the first {settings.warmup:,} dropped; the criterion "
        "is computed in each iteration with the races as they are completed then, and the paper "
        "reports its maximum. ('Refill' is the paper's proposal, all missing places at once; "
        "'reinsert' moves one driver at a time and mixes better.)",
        table(
            [
                "not listed means",
                "model",
                "proposal",
                "theta (sd)",
                "best criterion",
                "mean",
                "paper's best",
            ],
            chains,
        ),
        "Such a maximum over completions compares models unfairly: it rewards the model whose "
        "completions can be chosen to suit it, and it grows with the number of iterations. The "
        "table above it does not have this problem.",
        f"The paper's criterion of the strict model, {PAPER_CRITERION['strict']:.1f}, is a "
        f"log-likelihood of {implied:.1f}. The uniform distribution, which is the strict model with "
        f"theta 0, has {results['uniform']:.1f}; a maximum cannot lie below it.",
        figure("formula-one-ranks", "Ranks of the drivers, and of tiers of drivers."),
    )


def _conclusion(results: dict[str, Any], readings: list[str]) -> str:
    gaps = {
        reading: results[reading]["strict"]["criterion"] - results[reading]["tiers"]["criterion"]
        for reading in readings
    }
    told = ", ".join(f"by {gap:.1f} if not listed means {MEANING[one]}" for one, gap in gaps.items())
    if all(gap > 0 for gap in gaps.values()):
        return (
            f"The strict consensus has the higher criterion ({told}). The paper concludes the "
            "opposite; but a last tier of 15 drivers throws away all that is known about the order "
            "of those drivers, and there is much of it."
        )
    return f"The difference of the criteria, strict less tiers: {told}."


STUDY = Study(
    name="formula-one",
    title="Formula 1 (section 7.1)",
    full=Settings(),
    quick=Settings(readings=("below",), iterations=300, warmup=100),
    compute=compute,
    tell=tell,
    draw=draw,
    claims=claims,
    data="f1",
)
