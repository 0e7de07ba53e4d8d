"""How many rankings find tiers: a table of power, made by plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from studies.harness import Place, Results, Study
from studies.writing import paragraphs, percent, table
from tierwise import ClusteredMallows, Tiers, leaderboard, plan
from tierwise.planning.plan import short_chains

if TYPE_CHECKING:
    from typing import Any

# The numbers of rankings that have a column of their own.
SHOWN = (20, 100, 1_000)


@dataclass(frozen=True)
class Settings:
    """How much is simulated."""

    sizes: tuple[tuple[int, ...], ...] = ((1, 2, 1), (2, 2, 2), (2, 3, 3, 2))
    thetas: tuple[float, ...] = (0.1, 0.3, 1.0)
    answers: tuple[int, ...] = (20, 50, 100, 200, 500, 1_000)
    sets: int = 12
    # Cells of the table, chosen at random, that are simulated again without `plan`.
    cells: int = 10
    seed: int = 361


def model_of(sizes: tuple[int, ...], theta: float) -> ClusteredMallows:
    """Return tiers of given sizes with one theta."""
    return ClusteredMallows(Tiers.from_sizes(sizes, range(sum(sizes))), theta, "inversions")


def planned(
    sizes: tuple[int, ...], theta: float, settings: Settings, workers: int
) -> dict[str, Any]:
    """Return a row of the table."""
    model = model_of(sizes, theta)
    found = plan(
        model,
        answers=settings.answers,
        sets=settings.sets,
        workers=workers,
        progress="off",
        rng=np.random.SeedSequence([settings.seed, *sizes, round(100 * theta)]),
    )
    return {
        "sizes": list(sizes),
        "theta": theta,
        "ahead": float(np.asarray(model.pair_probabilities())[0, 1]),
        "answers": list(found.n_answers),
        "separated": found.separated.mean(axis=1).tolist(),
        "errors": (found.separated.std(axis=1, ddof=1) / settings.sets**0.5).tolist(),
        "found": found.found.mean(axis=1).tolist(),
        "wrong": found.wrong.mean(axis=1).tolist(),
        "needed": list(found.needed(of="differences")),
    }


def chosen_cells(settings: Settings) -> list[tuple[tuple[int, ...], float, int]]:
    """Choose cells of the table at random: sizes, theta and a number of rankings."""
    rng = np.random.default_rng(settings.seed)
    every = [
        (sizes, theta, number)
        for sizes in settings.sizes
        for theta in settings.thetas
        for number in settings.answers
    ]
    places = rng.choice(len(every), size=min(settings.cells, len(every)), replace=False)
    return [every[place] for place in np.sort(places).tolist()]


def brute_force(
    sizes: tuple[int, ...], theta: float, number: int, settings: Settings
) -> list[float]:
    """Draw rankings and look at their leaderboard, pair by pair; the share separated in each set.

    Chains are those that users get, longer than those of `plan`.
    """
    model = model_of(sizes, theta)
    root = np.random.SeedSequence([settings.seed, 1, *sizes, round(100 * theta), number])
    shares = []
    for seed in root.spawn(settings.sets):
        drawn, analysed = seed.spawn(2)
        answers = model.sample(number, np.random.default_rng(drawn))
        with short_chains():
            board = leaderboard(
                answers, distance="inversions", workers=1, progress="off", rng=analysed
            )
        tier_of = {item: tier for tier, items in enumerate(model.tiers) for item in items}
        separated = [
            board.above_probabilities[one, other] >= board.certainty
            for one, first in enumerate(board.rows)
            for other, second in enumerate(board.rows)
            if tier_of[first.item] < tier_of[second.item]
        ]
        shares.append(float(np.mean(separated)))
    return shares


def compute(settings: Settings, place: Place) -> Results:
    """Plan for each supposed truth, and simulate some cells again."""
    return {
        "rows": [
            planned(sizes, theta, settings, place.workers)
            for sizes in settings.sizes
            for theta in settings.thetas
        ],
        "again": [
            {
                "sizes": list(sizes),
                "theta": theta,
                "number": number,
                "separated": brute_force(sizes, theta, number, settings),
            }
            for sizes, theta, number in chosen_cells(settings)
        ],
    }


def cells_of(row: dict[str, Any]) -> list[str]:
    """Write a row of the table: what is supposed, shares of pairs separated, and what is needed."""
    sizes = ", ".join(map(str, row["sizes"]))
    share_at = dict(zip(row["answers"], row["separated"], strict=True))
    shares = [f"{share_at[number]:.0%}" if number in share_at else "" for number in SHOWN]
    number, low, high = row["needed"]
    fewest, most = row["answers"][0], row["answers"][-1]
    if number is None:
        needed = f"more than {most:,}"
    elif number <= fewest:
        needed = f"{fewest:,} or fewer"
    else:
        needed = f"{number:,} ({low:,} to {'more' if high is None else f'{high:,}'})"
    supposed = f"{sum(row['sizes'])} in tiers of {sizes}"
    return [supposed, f"{row['theta']:g}", f"{row['ahead']:.0%}", *shares, needed]


HEADER = [
    "items",
    "theta",
    "ahead",
    *(f"{number:,} rankings" for number in SHOWN),
    "needed for 80%",
]


def tell(results: Results, settings: Settings) -> str:
    """Write what was found."""
    worst = max(max(row["wrong"]) for row in results["rows"])
    return paragraphs(
        "`plan` supposes tiers under inversions with one theta, makes up rankings, and analyses "
        f"them as `leaderboard` does; {settings.sets} sets of rankings for each row. *Ahead* is "
        "the share of rankings in which an item of the first tier is ahead of one of the second. "
        "The table says which share of the pairs of different tiers is separated with a "
        "probability of 95% or more, in the right order, and how many rankings separate 80% of "
        "them, with a 90% interval. In any row, at most "
        f"{percent(worst)} of all pairs are separated although they are tied, or in the wrong "
        "order.",
        table(HEADER, [cells_of(row) for row in results["rows"]]),
        _told_again(results),
    )


def _told_again(results: Results) -> str:
    """Say what cells gave that were simulated again, if some were."""
    cells = results.get("again", [])
    if not cells:
        return ""
    return paragraphs(
        f"{len(cells)} cells, chosen at random among all numbers of rankings that were tried, were "
        "simulated again without `plan`: other rankings, each set analysed by `leaderboard` with "
        "the chains that users get, and pairs counted one by one. Shares of pairs separated, with "
        "their standard errors, and the difference in units of its error:",
        table(
            ["items", "theta", "rankings", "plan", "simulated again", "difference"],
            [_cell_again(one, results["rows"]) for one in cells],
        ),
    )


def _cell_again(one: dict[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    """Write a cell that was simulated twice."""
    [row] = [row for row in rows if (row["sizes"], row["theta"]) == (one["sizes"], one["theta"])]
    place = row["answers"].index(one["number"])
    planned_share, planned_error = row["separated"][place], row["errors"][place]
    shares = np.array(one["separated"])
    share, error = float(shares.mean()), float(shares.std(ddof=1) / len(shares) ** 0.5)
    both = float(np.hypot(planned_error, error))
    return [
        f"{sum(one['sizes'])} in tiers of {', '.join(map(str, one['sizes']))}",
        f"{one['theta']:g}",
        f"{one['number']:,}",
        f"{percent(planned_share)} ± {percent(planned_error)}",
        f"{percent(share)} ± {percent(error)}",
        f"{(planned_share - share) / both:+.1f}" if both else f"{planned_share - share:+.1f}",
    ]


STUDY = Study(
    name="power",
    title="How many rankings are needed?",
    full=Settings(),
    quick=Settings(sizes=((1, 2, 1),), thetas=(1.0,), answers=(20, 100), sets=2, cells=1),
    compute=compute,
    tell=tell,
    page="simulations",
)
