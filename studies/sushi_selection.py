"""Tohoku sushi: which sizes; by the paper's search, by exact search, and of all 512."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from studies.harness import Claim, Place, Results, Study, number_claim, text_claim
from studies.paper_methods import agreement_as_in_the_paper, climb, fit_as_in_the_paper
from studies.writing import duration, figure, paragraphs, percent, sizes_text, table, tiers_text
from tierwise import Counts, Rankings, fit, load_sushi, search
from tierwise.distances import get_distance
from tierwise.fit_result import plain_number
from tierwise.fitting import Settings as FitSettings
from tierwise.fitting import solve_sizes
from tierwise.sizes import log_number_of_tiers
from tierwise.structure import merge_even_pairs
from tierwise.tasks import run_tasks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DISTANCES = ("kendall", "hamming")
PAPER_START = (1, 1, 1, 2, 2, 3)
# The paper's table; what it calls (1,1,1,2,2,3) is (1,1,1,2,3,2) by its own tiers.
PAPER = {
    "kendall_likelihood": (1, 1, 1, 2, 2, 3),
    "kendall_agreement": (1, 2, 2, 5),
    "hamming_likelihood": (1, 2, 2, 2, 3),
    "hamming_agreement": (1, 2, 3, 4),
}
MEANT = (1, 1, 1, 2, 3, 2)
PAPER_CRITERION, PAPER_CRITERION_SD, PAPER_STRICT = -3968.38, 3.74, -4341.95


@dataclass(frozen=True)
class Settings:
    searches: int = 12
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
    for distance in DISTANCES:
        everything = search(data, distance, method="exhaustive", progress="off")
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
                if one.sizes in (MEANT, *PAPER.values())
            },
            "of_paper": {
                sizes_text(one.sizes): _row(one)
                for one in everything.leaderboard
                if one.sizes in (MEANT, *PAPER.values())
            },
            "seconds": everything.provenance.seconds,
        }
        for criterion in ("likelihood", "agreement"):
            for name, start in (("by_size", PAPER_START), ("by_preference", by_preference)):
                found = search(
                    data,
                    distance,
                    criterion=criterion,  # type: ignore[arg-type]
                    method="greedy",
                    moves="adjacent",
                    start=start,
                    progress="off",
                )
                results[f"{distance}_{criterion}_{name}"] = {
                    "path": [list(sizes) for sizes in found.path],
                    "best": _row(found.contenders[0]),
                }
        results[f"{distance}_noisy"] = noisy_searches(data, distance, settings, place.workers)
    results["meant"] = _fit_of(rankings, MEANT)
    results["printed"] = _fit_of(rankings, PAPER_START)
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
        PAPER_START, lambda sizes: agreement_as_in_the_paper(data, sizes, distance, rng)
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
        PAPER_START,
        lambda sizes: fit_as_in_the_paper(data, sizes, distance, draws, rng).criterion,
    )
    seconds = process_time() - started
    end = found.path[-1]
    solution = solve_sizes(data, end, get_distance(distance), FitSettings(), rng)
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
    from matplotlib import pyplot

    from tierwise import plots

    rankings = load_sushi(place.folder("sushi"), region="Tohoku")
    drawn, ax = pyplot.subplots(figsize=(7.0, 4.2), layout="constrained")
    plots.leaderboard(search(rankings, progress="off"), ax=ax)
    best = results["kendall_all"]["leaderboard"][0]
    ax.set_title(f"Kendall: criterion behind {best['criterion']:.2f}", fontsize=10)
    return {"sushi-leaderboard": drawn}


def claims(results: Results) -> list[Claim]:
    found = [
        number_claim(
            f"sushi, criterion of {sizes_text(MEANT)}, exact (the paper prints "
            f"{sizes_text(PAPER_START)})",
            PAPER_CRITERION,
            results["meant"]["criterion"],
            2,
            close=PAPER_CRITERION_SD,
        ),
        number_claim(
            "sushi, criterion of the strict model",
            PAPER_STRICT,
            results["strict"]["criterion"],
            2,
        ),
        text_claim(
            "sushi, best sizes, Kendall and I, of all 512",
            sizes_text(PAPER["kendall_likelihood"]),
            sizes_text(results["kendall_all"]["leaderboard"][0]["sizes"]),
        ),
        text_claim(
            "sushi, best sizes, Hamming and I, of all 512",
            sizes_text(PAPER["hamming_likelihood"]),
            sizes_text(results["hamming_all"]["leaderboard"][0]["sizes"]),
        ),
        text_claim(
            "sushi: tiers of the selected sizes are preferred to the strict model",
            "yes",
            "yes" if results["meant"]["criterion"] > results["strict"]["criterion"] else "no",
        ),
    ]
    for distance in DISTANCES:
        found.append(
            text_claim(
                f"sushi, greedy search, {distance.title()} and D, from the paper's start",
                sizes_text(PAPER[f"{distance}_agreement"]),
                sizes_text(results[f"{distance}_agreement_by_size"]["best"]["sizes"]),
            )
        )
    return found


def tell(results: Results, settings: Settings) -> str:
    return paragraphs(
        _all_sizes(results), _greedy(results), _noisy(results, settings), _misprint(results)
    )


def _all_sizes(results: Results) -> str:
    leaders = [
        [
            str(number),
            sizes_text(one["sizes"]),
            f"{one['criterion']:.2f}",
            f"{one['theta']:.4f}",
            tiers_text(one["tiers"]),
        ]
        for number, one in enumerate(results["kendall_all"]["leaderboard"][:5], 1)
    ]
    strict = results["kendall_all"]["strict"]
    leaders.append(
        ["", "strict", f"{strict['criterion']:.2f}", f"{strict['theta']:.4f}", "all sizes 1"]
    )
    hamming = results["hamming_all"]["leaderboard"][0]
    degenerate = results["kendall_all"]["by_agreement"]
    return paragraphs(
        "Ten items have 512 size vectors. With the exact partition function all of them can be "
        f"compared: {duration(results['kendall_all']['seconds'])} for Kendall, "
        f"{duration(results['hamming_all']['seconds'])} for Hamming.",
        table(["", "sizes", "criterion", "theta", "tiers"], leaders),
        figure("sushi-leaderboard", "How far other sizes are behind the best."),
        f"For Hamming the best is {sizes_text(hamming['sizes'])}, criterion "
        f"{hamming['criterion']:.2f}, theta {hamming['theta']:.4f}: far below Kendall, as in the "
        "paper.",
        "By the data criterion D alone, the best of all 512 are degenerate: "
        + "; ".join(
            f"{sizes_text(one['sizes'])} with {one['agreement']:.4f}" for one in degenerate[:3]
        )
        + ".",
    )


def _greedy(results: Results) -> str:
    rows = []
    for distance in DISTANCES:
        for criterion, symbol in (("likelihood", "I"), ("agreement", "D")):
            ends = [
                sizes_text(results[f"{distance}_{criterion}_{start}"]["best"]["sizes"])
                for start in ("by_size", "by_preference")
            ]
            paper = sizes_text(PAPER[f"{distance}_{criterion}"])
            rows.append([f"{distance}, {symbol}", paper, *ends])
    return paragraphs(
        "**The paper's greedy search with exact numbers**: one-adjacent shifts from the start the "
        f"paper has, {sizes_text(PAPER_START)}, and from the same groups in order of preference, "
        f"{sizes_text(results['start_by_preference'])}.",
        table(["criterion", "paper", "from the paper's start", "from order of preference"], rows),
    )


def _noisy(results: Results, settings: Settings) -> str:
    rows = []
    for distance in DISTANCES:
        noisy = results[f"{distance}_noisy"]
        best = results[f"{distance}_all"]["leaderboard"][0]["criterion"]
        for sizes, count in Tally(sizes_text(end) for end in noisy["ends"]).most_common():
            these = [
                number for number, end in enumerate(noisy["ends"]) if sizes_text(end) == sizes
            ]
            exact = noisy["exact"][these[0]]
            estimates = [noisy["estimated"][number] for number in these]
            rows.append(
                [
                    distance,
                    sizes,
                    f"{count} of {len(noisy['ends'])}",
                    f"{sum(estimates) / count:.1f}",
                    f"{exact:.2f}",
                    f"{best - exact:.2f}",
                ]
            )
    kendall = results["kendall_noisy"]
    short = [
        results["kendall_all"]["leaderboard"][0]["criterion"] - exact for exact in kendall["exact"]
    ]
    raised = [
        estimated - exact
        for estimated, exact in zip(kendall["estimated"], kendall["exact"], strict=True)
    ]
    reached = sum(gap < 1e-6 for gap in short) / len(short)
    return paragraphs(
        f"**The paper's greedy search with the paper's methods**, {settings.searches} times from "
        f"its start: annealing, theta by simulation, {settings.draws:,} importance draws a size "
        "vector.",
        table(
            [
                "distance",
                "ends at",
                "how often",
                "its estimated criterion",
                "its exact criterion",
                "short of the best of 512 by",
            ],
            rows,
        ),
        f"With Kendall it reaches the best sizes in {percent(reached)} of the runs; it ends "
        f"{median(short):.1f} short of them in the median, at sizes whose estimate is "
        f"{median(raised):.1f} too high: a search that compares noisy numbers is drawn to those "
        f"that were lucky, and stays there. One such search takes {duration(kendall['seconds'])} "
        "of one core.",
    )


def _misprint(results: Results) -> str:
    meant, printed, strict = results["meant"], results["printed"], results["strict"]
    best = results["kendall_all"]["leaderboard"][0]
    implied = PAPER_STRICT + results["penalty_strict"]
    places = results["kendall_all"]["places"]
    return paragraphs(
        f"**Which sizes the paper selects.** Its text and table say {sizes_text(PAPER_START)}; the "
        f"tiers that it lists are of sizes {sizes_text(MEANT)}. Exactly, the former has the "
        f"criterion {printed['criterion']:.2f} and the latter {meant['criterion']:.2f}; the paper's "
        f"Monte Carlo average is {PAPER_CRITERION:.2f} (sd {PAPER_CRITERION_SD:.2f}). So the "
        f"latter is meant. Of all 512 it is number {places[sizes_text(MEANT)]}, "
        f"{best['criterion'] - meant['criterion']:.2f} behind the best.",
        table(
            ["model", "log-likelihood", "criterion", "theta", "paper's criterion"],
            [
                [
                    sizes_text(meant["sizes"]),
                    f"{meant['log_likelihood']:.2f}",
                    f"{meant['criterion']:.2f}",
                    f"{meant['theta']:.4f}",
                    f"{PAPER_CRITERION:.2f}",
                ],
                [
                    "strict",
                    f"{strict['log_likelihood']:.2f}",
                    f"{strict['criterion']:.2f}",
                    f"{strict['theta']:.4f}",
                    f"{PAPER_STRICT:.2f}",
                ],
                [
                    "no tiers",
                    f"{results['uniform']:.2f}",
                    f"{results['uniform']:.2f}",
                    "0",
                    "",
                ],
            ],
        ),
        f"The paper's {PAPER_STRICT:.2f} for the strict model is a log-likelihood of "
        f"{implied:.2f}, below that of the uniform distribution, {results['uniform']:.2f}, which is "
        "the strict model with theta 0: a fitted model cannot be worse than that. By the closed "
        f"form its criterion is {strict['criterion']:.2f}, which is "
        f"{strict['criterion'] - meant['criterion']:.2f} above that of the selected tiers. "
        "Tiers are still preferred to the strict consensus, though not these: the best are "
        f"{best['criterion'] - strict['criterion']:.2f} above it.",
    )


STUDY = Study(
    name="sushi-selection",
    title="Tohoku sushi: which sizes (section 7.2)",
    full=Settings(),
    quick=Settings(searches=1, draws=2_000),
    compute=compute,
    tell=tell,
    draw=draw,
    claims=claims,
    data="sushi",
)
