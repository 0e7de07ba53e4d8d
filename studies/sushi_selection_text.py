"""What the selection of sizes for the sushi data shows, in words."""

from __future__ import annotations

from collections import Counter as Tally
from statistics import NormalDist, median
from typing import TYPE_CHECKING

from studies import sushi_paper as paper
from studies.writing import duration, figure, paragraphs, percent, sizes_text, table, tiers_text

if TYPE_CHECKING:
    from studies.harness import Results
    from studies.sushi_selection import Settings


def tell(results: Results, settings: Settings) -> str:
    """Return the section."""
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
    for distance in paper.DISTANCES:
        for criterion, symbol in (("likelihood", "I"), ("agreement", "D")):
            ends = [
                sizes_text(results[f"{distance}_{criterion}_{start}"]["best"]["sizes"])
                for start in ("by_size", "by_preference")
            ]
            printed = sizes_text(paper.SELECTED[f"{distance}_{criterion}"])
            rows.append([f"{distance}, {symbol}", printed, *ends])
    path = results["kendall_likelihood_by_size"]["path"]
    better = results["neighbours_of_meant"][0]
    gap = better["criterion"] - results["meant"]["criterion"]
    return paragraphs(
        "**The paper's greedy search with exact numbers**: one-adjacent shifts from the start the "
        f"paper has, {sizes_text(paper.START)}, and from the same groups in order of preference, "
        f"{sizes_text(results['start_by_preference'])}.",
        table(["criterion", "paper", "from the paper's start", "from order of preference"], rows),
        f"With Kendall and I, from the paper's start, the path is "
        f"{', '.join(sizes_text(sizes) for sizes in path)}. The paper stops at "
        f"{sizes_text(paper.MEANT)}, whose best neighbour, {sizes_text(better['sizes'])}, is "
        f"{gap:.2f} better. Estimates with the paper's standard deviation would hide such a gap in "
        f"{percent(chance_of_missing(gap))} of the comparisons; an annealing that missed the best "
        "tiers, or a theta that had not settled, could too.",
    )


def chance_of_missing(gap: float) -> float:
    """Probability that two estimates, each with the paper's error, hide a gap."""
    return NormalDist().cdf(-gap / (2**0.5 * paper.CRITERION_SD))


def _noisy(results: Results, settings: Settings) -> str:
    rows = []
    for distance in paper.DISTANCES:
        noisy = results[f"{distance}_noisy"]
        best = results[f"{distance}_all"]["leaderboard"][0]["criterion"]
        for sizes, count in Tally(sizes_text(end) for end in noisy["ends"]).most_common():
            these = [number for number, end in enumerate(noisy["ends"]) if sizes_text(end) == sizes]
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
        f"{median(raised):.1f} too high. A search that compares noisy numbers is drawn to those "
        f"that were lucky, and stays there. One such search takes {duration(kendall['seconds'])} "
        "of one core.",
    )


def _misprint(results: Results) -> str:
    meant, printed, strict = results["meant"], results["printed"], results["strict"]
    best = results["kendall_all"]["leaderboard"][0]
    implied = paper.STRICT_CRITERION + results["penalty_strict"]
    places = results["kendall_all"]["places"]
    return paragraphs(
        f"**Which sizes the paper selects.** Its text and table say {sizes_text(paper.START)}; the "
        f"tiers that it lists are of sizes {sizes_text(paper.MEANT)}. Exactly, the former has the "
        f"criterion {printed['criterion']:.2f} and the latter {meant['criterion']:.2f}; the "
        f"paper's Monte Carlo average is {paper.CRITERION:.2f} (sd {paper.CRITERION_SD:.2f}). So "
        f"the latter is meant. Of all 512 it is number {places[sizes_text(paper.MEANT)]}, "
        f"{best['criterion'] - meant['criterion']:.2f} behind the best.",
        table(
            ["model", "log-likelihood", "criterion", "theta", "paper's criterion"],
            [
                [
                    sizes_text(meant["sizes"]),
                    f"{meant['log_likelihood']:.2f}",
                    f"{meant['criterion']:.2f}",
                    f"{meant['theta']:.4f}",
                    f"{paper.CRITERION:.2f}",
                ],
                [
                    "strict",
                    f"{strict['log_likelihood']:.2f}",
                    f"{strict['criterion']:.2f}",
                    f"{strict['theta']:.4f}",
                    f"{paper.STRICT_CRITERION:.2f}",
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
        f"The paper's {paper.STRICT_CRITERION:.2f} for the strict model is a log-likelihood of "
        f"{implied:.2f}, below that of the uniform distribution, {results['uniform']:.2f}, which "
        "is the strict model with theta 0: a fitted model cannot be worse than that. By the closed "
        f"form its criterion is {strict['criterion']:.2f}, which is "
        f"{strict['criterion'] - meant['criterion']:.2f} above that of the selected tiers. "
        "Tiers are still preferred to the strict consensus, though not these: the best are "
        f"{best['criterion'] - strict['criterion']:.2f} above it.",
    )
