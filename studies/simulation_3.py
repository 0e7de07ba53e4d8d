"""Simulation study 3: the data criterion D, and I for comparison, on fifteen items."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass
from statistics import fmean, median
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from studies.harness import Claim, Place, Results, Study, text_claim
from studies.paper_methods import agreement_as_in_the_paper, climb, fit_as_in_the_paper
from studies.writing import duration, figure, paragraphs, percent, sizes_text, table
from tierwise import ClusteredMallows, Counts, Tiers, search
from tierwise._util.tasks import run_tasks
from tierwise.partition.choose import partition_function
from tierwise.searching.merging import merge_even_pairs
from tierwise.searching.strategies import Greedy
from tierwise.theta.estimate import iterate_theta
from tierwise.tiers import adjacent_shifts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tierwise.searching.evaluate import Criterion
    from tierwise.searching.size_space import Moves

SIZES, THETA = (3, 3, 3, 3, 3), 1.5
DISTANCES = ("kendall", "hamming")
METHODS = {
    "agreement_paper": "D, annealed as in the paper",
    "agreement": "D, exact tiers",
    "likelihood": "I, exact",
    "likelihood_wider": "I, exact, also splits and merges",
    "likelihood_paper": "I, the paper's methods",
}
SEARCHES: tuple[tuple[str, Criterion, Moves], ...] = (
    ("agreement", "agreement", "adjacent"),
    ("likelihood", "likelihood", "adjacent"),
    ("likelihood_wider", "likelihood", "split-merge-shift"),
)


@dataclass(frozen=True)
class Settings:
    """The paper gives neither distance nor number of rankings: both distances, and 200.

    The paper's I is costly here: it is computed for the first so many Hamming data sets only.
    """

    data_sets: int = 100
    data_sets_by_paper: int = 3
    rankings: int = 200
    draws: int = 100_000
    theta_runs: int = 10
    seed: int = 20_243


def compute(settings: Settings, place: Place) -> Results:
    results: Results = {}
    for distance, root in zip(
        DISTANCES, np.random.SeedSequence(settings.seed).spawn(2), strict=True
    ):
        rows = run_tasks(
            one_data_set,
            [
                (settings, distance, number, seed)
                for number, seed in enumerate(root.spawn(settings.data_sets))
            ],
            description=f"study 3, {distance}",
            workers=place.workers,
            progress="off",
        )
        for method in METHODS:
            present = [row[method] for row in rows if method in row]
            if present:
                results[f"{distance}_{method}"] = {
                    "top": [one["top"] for one in present],
                    "seconds": median(one["seconds"] for one in present),
                }
        results[f"{distance}_two_tiers"] = [row["two_tiers"] for row in rows]
        results[f"{distance}_true_agreement"] = [row["true_agreement"] for row in rows]
    results["iterations"] = {distance: iterations(settings, distance) for distance in DISTANCES}
    return results


def one_data_set(
    settings: Settings, distance: str, number: int, seed: np.random.SeedSequence
) -> Results:
    """Simulate one data set and search it by both criteria, in both ways."""
    rng = np.random.default_rng(seed)
    tiers = Tiers.from_sizes(SIZES, range(1, sum(SIZES) + 1))
    data = Counts.of(ClusteredMallows(tiers, THETA, distance).sample(settings.rankings, rng))
    start = merge_even_pairs(data).sizes
    row: Results = {}
    for name, criterion, moves in SEARCHES:
        started = process_time()
        found = search(
            data,
            distance,
            criterion=criterion,
            method=Greedy(moves=moves),
            progress="off",
        )
        row[name] = {
            "top": [one.sizes for one in found.contenders[:3]],
            "seconds": process_time() - started,
        }
    started = process_time()
    annealed = climb(start, lambda sizes: agreement_as_in_the_paper(data, sizes, distance, rng))
    row["agreement_paper"] = {"top": annealed.best(3), "seconds": process_time() - started}
    if distance == "hamming" and number < settings.data_sets_by_paper:
        started = process_time()
        noisy = climb(
            start,
            lambda sizes: fit_as_in_the_paper(data, sizes, distance, settings.draws, rng).criterion,
        )
        row["likelihood_paper"] = {"top": noisy.best(3), "seconds": process_time() - started}
    two_tiers = {
        sizes: agreement_as_in_the_paper(data, sizes, distance, rng) for sizes in ((14, 1), (1, 14))
    }
    row["two_tiers"] = max(two_tiers.values())
    row["true_agreement"] = agreement_as_in_the_paper(data, SIZES, distance, rng)
    return row


def iterations(settings: Settings, distance: str) -> Results:
    """Let the paper's iteration find theta from the true mean distance."""
    partition = partition_function(SIZES, distance)
    mean, variance = float(partition.mean(THETA)), float(partition.variance(THETA))
    seeds = np.random.SeedSequence([settings.seed, 1]).spawn(settings.theta_runs)
    ends = [
        iterate_theta(partition, mean, settings.rankings, rng=np.random.default_rng(seed)).value
        for seed in seeds
    ]
    estimated = partition_function(
        SIZES, distance, method="importance", draws=settings.draws, rng=seeds[0]
    )
    return {
        "slope": 1 - THETA * variance / mean,
        "ends": ends,
        "log_partition": float(partition.log_value(THETA)),
        "estimated": float(estimated.log_value(THETA)),
        "estimated_error": estimated.log_value(THETA).standard_error,
    }


def shifts_from_truth() -> dict[tuple[int, ...], int]:
    """Size vectors up to two one-adjacent shifts away from the true ones."""
    shifts: dict[tuple[int, ...], int] = {SIZES: 0}
    for away in (1, 2):
        for sizes in [known for known, number in shifts.items() if number == away - 1]:
            for near in adjacent_shifts(sizes):
                shifts.setdefault(near, away)
    return shifts


def shares_by_shifts(tops: list[list[list[int]]], position: int) -> list[float]:
    """Share of the sizes in one place of the searches that are 0, 1, 2, or 3 and more away."""
    known = shifts_from_truth()
    away = Tally(known.get(tuple(top[position]), 3) for top in tops if len(top) > position)
    return [away[number] / len(tops) for number in range(4)]


def draw(results: Results, place: Place | None) -> dict[str, Figure]:  # noqa: ARG001
    from matplotlib import pyplot as plt

    from tierwise.plots.style import CATEGORIES

    drawn, axes = plt.subplots(3, 2, figsize=(9.5, 7.0), layout="constrained", sharey=True)
    names = ["agreement_paper", "agreement", "likelihood"]
    for column, distance in enumerate(DISTANCES):
        for position, ax in enumerate(axes[:, column]):
            for number, name in enumerate(names):
                shares = shares_by_shifts(results[f"{distance}_{name}"]["top"], position)
                places = [away + (number - 1) * 0.27 for away in range(4)]
                ax.bar(places, shares, width=0.25, color=CATEGORIES[number], label=METHODS[name])
            ax.set_xticks(range(4), ["0", "1", "2", "3 or more"])
            ax.set_title(f"{distance}, {('best', 'second', 'third')[position]}", fontsize=10)
        axes[2, column].set_xlabel("one-adjacent shifts from the true sizes")
    axes[1, 0].set_ylabel("share of data sets")
    axes[0, 1].legend(frameon=False, fontsize=8)
    return {"simulation-3": drawn}


def share_right(results: Results, distance: str, method: str) -> float:
    """Share of data sets whose best sizes are the true ones."""
    return shares_by_shifts(results[f"{distance}_{method}"]["top"], 0)[0]


def claims(results: Results) -> list[Claim]:
    return [
        text_claim(
            f"study 3, {distance}: the true sizes are found with I at least as often as with D",
            "yes",
            "yes"
            if share_right(results, distance, "likelihood")
            >= share_right(results, distance, "agreement")
            else "no",
        )
        for distance in DISTANCES
    ]


def tell(results: Results, settings: Settings) -> str:
    rows = []
    for distance in DISTANCES:
        for method, label in METHODS.items():
            one = results.get(f"{distance}_{method}")
            if one is None:
                continue
            shares = shares_by_shifts(one["top"], 0)
            rows.append(
                [
                    f"{distance}: {label}",
                    str(len(one["top"])),
                    *(percent(share) for share in shares),
                    duration(one["seconds"]),
                ]
            )
    degenerate = {
        distance: fmean(
            two > true
            for two, true in zip(
                results[f"{distance}_two_tiers"],
                results[f"{distance}_true_agreement"],
                strict=True,
            )
        )
        for distance in DISTANCES
    }
    kendall, hamming = results["iterations"]["kendall"], results["iterations"]["hamming"]
    return paragraphs(
        f"{settings.data_sets} data sets from sizes {sizes_text(SIZES)} and theta {THETA:g}. The "
        "paper gives neither the distance nor the number of rankings; we take both distances and "
        f"{settings.rankings} rankings. All searches climb by one-adjacent shifts, but for one "
        "that may also split and merge tiers, from the merged preference matrix. The table says "
        "how many shifts the best sizes are away from the true ones.",
        table(["search", "data sets", "0", "1", "2", "3 or more", "time"], rows),
        figure("simulation-3", "How far the best, second and third sizes are from the truth."),
        "Where a greedy search for I misses the true sizes, it stops at a local optimum: if it may "
        "also split and merge tiers, it finds them in "
        f"{percent(share_right(results, 'kendall', 'likelihood_wider'))} (Kendall) and "
        f"{percent(share_right(results, 'hamming', 'likelihood_wider'))} (Hamming) of the data "
        "sets.",
        f"D is no measure of fit by itself. All items but one against the last, or the first "
        f"against the rest, has a higher D than the true sizes (all annealed) in "
        f"{percent(degenerate['hamming'])} of the Hamming and "
        f"{percent(degenerate['kendall'])} of the Kendall data sets. A greedy search only hides "
        "this, by stopping before it gets there.",
        f"Two of the paper's methods do not reach this setting. The iteration for theta multiplies "
        f"by simulated over observed mean distance; near the solution, an error is multiplied by "
        f"1 - theta Var(d)/E(d), which is {hamming['slope']:.2f} for Hamming but "
        f"{kendall['slope']:.2f} for Kendall, so there it cannot settle: of "
        f"{len(kendall['ends'])} runs, {_near(kendall['ends'])} end within 0.1 of {THETA:g} "
        f"(Hamming: {_near(hamming['ends'])} of {len(hamming['ends'])}). And importance sampling "
        f"from {settings.draws:,} draws gives log Psi = {hamming['estimated']:.2f} (said error "
        f"{hamming['estimated_error']:.3f}) for Hamming where {hamming['log_partition']:.2f} is "
        f"exact, and {kendall['estimated']:.2f} (said error {kendall['estimated_error']:.3f}) for "
        f"Kendall where {kendall['log_partition']:.2f} is exact. The paper's choice of D for "
        "fifteen items is understandable; with the exact partition function it is not needed.",
    )


def _near(thetas: list[float]) -> int:
    return sum(abs(theta - THETA) < 0.1 for theta in thetas)


STUDY = Study(
    name="simulation-3",
    title="Simulation study 3: the data criterion D (section 6.3)",
    full=Settings(),
    quick=Settings(data_sets=2, data_sets_by_paper=0, draws=5_000, theta_runs=2),
    compute=compute,
    tell=tell,
    draw=draw,
    claims=claims,
)
