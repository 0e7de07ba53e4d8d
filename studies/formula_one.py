"""Formula 1, 2015 and 2016: tiers after the points system, under both readings of "not listed"."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma
from typing import TYPE_CHECKING

import numpy as np

from studies import formula_one_paper as paper
from studies.augmented_chain import AugmentedDraws, run_augmented_chain
from studies.formula_one_text import MEANING, tell
from studies.harness import Claim, Place, Results, Study, number_claim, text_claim
from studies.writing import tiers_text
from tierwise import Fit, Rankings, Tiers, fit, load_f1

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRICT = (1,) * 25


@dataclass(frozen=True)
class Settings:
    """The paper runs 11,000 iterations and drops the first 1,000."""

    readings: tuple[str, ...] = ("below", "anywhere")
    iterations: int = 11_000
    warmup: int = 1_000
    seed: int = 20_251


def compute(settings: Settings, _place: Place) -> Results:
    races = load_f1()
    results: Results = {
        "races": int(races.n_rankings),
        "drivers": len(races.items),
        "uniform": -races.n_rankings * lgamma(len(races.items) + 1),
        "penalty_strict": lgamma(len(races.items) + 1),
    }
    for reading in settings.readings:
        rankings = load_f1(unranked=reading)  # type: ignore[arg-type]
        results[reading] = one_reading(rankings, settings)
    return results


def one_reading(rankings: Rankings, settings: Settings) -> Results:
    """Fit tiers and the strict consensus exactly, and run the paper's chain for both."""
    found: Results = {}
    for name, sizes in (("tiers", paper.SIZES), ("strict", STRICT)):
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
                proposal=proposal,
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


def draw(_results: Results, _place: Place | None) -> dict[str, Figure]:
    from matplotlib import pyplot as plt

    from tierwise import plots

    races = load_f1()
    tiers = fit(races, paper.SIZES, rng=0).tiers
    drawn, axes = plt.subplots(1, 2, figsize=(11.0, 6.4), layout="constrained")
    plots.rank_boxes(races, tiers, ax=axes[0])
    plots.tier_rank_boxes(races, tiers, ax=axes[1])
    return {"formula-one-ranks": drawn}


def claims(results: Results) -> list[Claim]:
    below = results["below"]
    found = [
        text_claim(
            "Formula 1, tiers, not listed = below",
            tiers_text(sorted(tier) for tier in paper.TIERS),
            tiers_text(below["tiers"]["tiers"]),
        )
    ]
    if "anywhere" in results:
        found.append(
            text_claim(
                "the same, not listed = anywhere",
                tiers_text(sorted(tier) for tier in paper.TIERS),
                tiers_text(results["anywhere"]["tiers"]["tiers"]),
            )
        )
    for name, label in (
        ("tiers", "best criterion of the tiers"),
        ("strict", "best criterion of the strict model"),
    ):
        for reading in [one for one in MEANING if one in results]:
            best = results[reading][f"{name}_reinsert"]["best_criterion"]
            found.append(
                number_claim(
                    f"Formula 1, {label} in the chain, not listed = {reading}",
                    paper.CRITERION[name],
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


STUDY = Study(
    name="formula-one",
    title="Formula 1 (section 7.1)",
    full=Settings(),
    quick=Settings(readings=("below",), iterations=300, warmup=100),
    compute=compute,
    tell=tell,
    draw=draw,
    claims=claims,
)
