"""Tohoku sushi: which sizes; by the paper's search, by exact search, and of all 512."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from studies import sushi_paper as paper
from studies.harness import Claim, Place, Results, Study, number_claim, text_claim
from studies.paper_methods import agreement_as_in_the_paper, climb, fit_as_in_the_paper
from studies.sushi_selection_text import tell
from studies.writing import sizes_text
from tierwise import Counts, Rankings, fit, load_sushi, search
from tierwise._util.tasks import run_tasks
from tierwise._util.types import plain_number
from tierwise.answers.likelihood import source_of
from tierwise.fitting.solve import Settings as FitSettings
from tierwise.fitting.solve import solve
from tierwise.searching.merging import merge_even_pairs
from tierwise.searching.strategies import Greedy
from tierwise.tiers import adjacent_shifts, log_number_of_tiers

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Settings:
    searches: int = 6
    draws: int = 100_000
    seed: int = 20_261


def compute(settings: Settings, place: Place) -> Results:
    rankings = load_sushi(place.folder("sushi"), region="Tohoku")
    data = Counts.of(rankings)
    by_preference = merge_even_pairs(rankings, 0.05).sizes
    results: Results = {
        "start_by_preference": list(by_preference),
        "uniform": -data.n_rankings * log_number_of_tiers((1,) * 10),
        "penalty_strict": log_number_of_tiers((1,) * 10),
    }
    for distance in paper.DISTANCES:
        everything = search(
            data, distance, method="exhaustive", progress="off", criterion="likelihood"
        )
        results[f"{distance}_all"] = {
            "leaderboard": [_row(one) for one in everything.leaderboard[:10]],
            "by_agreement": [
                _row(one)
                for one in sorted(
                    (one for one in everything.leaderboard if len(one.sizes) > 1),
                    key=lambda one: -one.agreement,
                )[:5]
            ],
            "strict": next(
                _row(one) for one in everything.leaderboard if one.name == "strict consensus"
            ),
            "places": {
                sizes_text(one.sizes): number
                for number, one in enumerate(everything.leaderboard, 1)
                if one.sizes in (paper.MEANT, *paper.SELECTED.values())
            },
            "of_paper": {
                sizes_text(one.sizes): _row(one)
                for one in everything.leaderboard
                if one.sizes in (paper.MEANT, *paper.SELECTED.values())
            },
            "seconds": everything.provenance.seconds,
        }
        for criterion in ("likelihood", "agreement"):
            for name, start in (("by_size", paper.START), ("by_preference", by_preference)):
                found = search(
                    data,
                    distance,
                    criterion=criterion,
                    method=Greedy(moves="adjacent", start=start),
                    progress="off",
                )
                results[f"{distance}_{criterion}_{name}"] = {
                    "path": [list(sizes) for sizes in found.path],
                    "best": _row(found.contenders[0]),
                }
        results[f"{distance}_noisy"] = noisy_searches(data, distance, settings, place.workers)
    results["neighbours_of_meant"] = sorted(
        (_fit_of(rankings, sizes) for sizes in adjacent_shifts(paper.MEANT)),
        key=lambda one: -one["criterion"],
    )
    results["meant"] = _fit_of(rankings, paper.MEANT)
    results["printed"] = _fit_of(rankings, paper.START)
    results["strict"] = _fit_of(rankings, (1,) * 10)
    return results


def noisy_searches(data: Counts, distance: str, settings: Settings, workers: int) -> Results:
    """Run the paper's search, with its Monte Carlo error, from different seeds."""
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.searches)
    rows = run_tasks(
        one_noisy_search,
        [(data, distance, settings.draws, seed) for seed in seeds],
        description=f"sushi, {distance}",
        workers=workers,
        progress="off",
    )
    rng = np.random.default_rng(settings.seed)
    annealed = climb(
        paper.START, lambda sizes: agreement_as_in_the_paper(data, sizes, distance, rng)
    )
    return {
        "ends": [row["end"] for row in rows],
        "estimated": [row["estimated"] for row in rows],
        "exact": [row["exact"] for row in rows],
        "seconds": median(row["seconds"] for row in rows),
        "agreement_end": list(annealed.path[-1]),
    }


def one_noisy_search(
    data: Counts, distance: str, draws: int, seed: np.random.SeedSequence
) -> Results:
    """Climb by estimated criteria from the paper's start."""
    rng = np.random.default_rng(seed)
    started = process_time()
    found = climb(
        paper.START,
        lambda sizes: fit_as_in_the_paper(data, sizes, distance, draws, rng).criterion,
    )
    seconds = process_time() - started
    end = found.path[-1]
    solution = solve(source_of(data, distance), end, FitSettings(), rng)
    return {
        "end": list(end),
        "estimated": found.scores[end],
        "exact": solution.log_likelihood - log_number_of_tiers(end),
        "seconds": seconds,
    }


def _row(one: Any) -> Results:
    return {
        "sizes": list(one.sizes),
        # Not all is computed for every criterion.
        "criterion": plain_number(one.criterion),
        "agreement": plain_number(one.agreement),
        "theta": plain_number(one.theta),
        "tiers": [list(tier) for tier in one.tiers],
    }


def _fit_of(rankings: Rankings, sizes: tuple[int, ...]) -> Results:
    fitted = fit(rankings, sizes)
    return {
        "sizes": list(sizes),
        "criterion": fitted.criterion,
        "log_likelihood": fitted.log_likelihood,
        "theta": fitted.theta,
        "tiers": [list(tier) for tier in fitted.tiers],
        "optimal": fitted.optimal,
    }


def draw(results: Results, place: Place | None) -> dict[str, Figure]:
    if place is None:
        return {}
    from matplotlib import pyplot as plt

    from tierwise import plots

    rankings = load_sushi(place.folder("sushi"), region="Tohoku")
    drawn, ax = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    plots.leaderboard(
        search(rankings, progress="off", distance="kendall", criterion="likelihood"), ax=ax
    )
    best = results["kendall_all"]["leaderboard"][0]
    ax.set_title(f"Kendall: criterion behind {best['criterion']:.2f}", fontsize=10)
    return {"sushi-leaderboard": drawn}


def claims(results: Results) -> list[Claim]:
    found = [
        number_claim(
            f"sushi, criterion of {sizes_text(paper.MEANT)}, exact (the paper prints "
            f"{sizes_text(paper.START)})",
            paper.CRITERION,
            results["meant"]["criterion"],
            2,
            close=paper.CRITERION_SD,
        ),
        number_claim(
            "sushi, criterion of the strict model",
            paper.STRICT_CRITERION,
            results["strict"]["criterion"],
            2,
        ),
        text_claim(
            "sushi, best sizes, Kendall and I, of all 512",
            sizes_text(paper.SELECTED["kendall_likelihood"]),
            sizes_text(results["kendall_all"]["leaderboard"][0]["sizes"]),
        ),
        text_claim(
            "sushi, best sizes, Hamming and I, of all 512",
            sizes_text(paper.SELECTED["hamming_likelihood"]),
            sizes_text(results["hamming_all"]["leaderboard"][0]["sizes"]),
        ),
        text_claim(
            "sushi: tiers of the selected sizes are preferred to the strict model",
            "yes",
            "yes" if results["meant"]["criterion"] > results["strict"]["criterion"] else "no",
        ),
    ]
    found += [
        text_claim(
            f"sushi, greedy search, {distance.title()} and D, from the paper's start",
            sizes_text(paper.SELECTED[f"{distance}_agreement"]),
            sizes_text(results[f"{distance}_agreement_by_size"]["best"]["sizes"]),
        )
        for distance in paper.DISTANCES
    ]
    return found


STUDY = Study(
    name="sushi-selection",
    title="Tohoku sushi: which sizes (section 7.2)",
    full=Settings(),
    quick=Settings(searches=1, draws=2_000),
    compute=compute,
    tell=tell,
    draw=draw,
    claims=claims,
    data=("sushi",),
)
