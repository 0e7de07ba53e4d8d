"""How many rankings find tiers: a table of power, made by plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from studies.harness import Place, Results, Study
from studies.writing import paragraphs, percent, table
from tierwise import ClusteredMallows, Tiers, plan

if TYPE_CHECKING:
    from typing import Any

# The numbers of rankings that have a column of their own.
SHOWN = (20, 100, 1_000)


@dataclass(frozen=True)
class Settings:
    """How much is simulated."""

    sizes: tuple[tuple[int, ...], ...] = ((1, 2, 1), (2, 2, 2))
    thetas: tuple[float, ...] = (0.1, 0.3, 1.0)
    answers: tuple[int, ...] = (20, 50, 100, 200, 500, 1_000)
    sets: int = 12
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
        "found": found.found.mean(axis=1).tolist(),
        "wrong": found.wrong.mean(axis=1).tolist(),
        "needed": list(found.needed(of="differences")),
    }


def compute(settings: Settings, place: Place) -> Results:
    """Plan for each supposed truth."""
    return {
        "rows": [
            planned(sizes, theta, settings, place.workers)
            for sizes in settings.sizes
            for theta in settings.thetas
        ]
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
        "them, with a 90% interval. Separated although they are tied, or in the wrong order, are "
        f"at most {percent(worst)} of all pairs in any row.",
        table(HEADER, [cells_of(row) for row in results["rows"]]),
    )


STUDY = Study(
    name="power",
    title="How many rankings are needed?",
    full=Settings(),
    quick=Settings(sizes=((1, 2, 1),), thetas=(1.0,), answers=(20, 100), sets=2),
    compute=compute,
    tell=tell,
    page="simulations",
)
