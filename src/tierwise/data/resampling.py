"""Resample battles, or judges with all their battles, with replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tierwise.errors import InputError
from tierwise.files.battle_counts import ShownFirst

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.data.battles import Battles


class DrawnAgain(NamedTuple):
    """Battles that were decided, those that were drawn, and who was shown first."""

    decided: NDArray[np.float64]
    drawn: NDArray[np.float64]
    shown: ShownFirst | None


def draw_battles(battles: Battles, rng: np.random.Generator) -> DrawnAgain:
    """Draw as many battles as there are; weights must be whole numbers."""
    size = len(battles.items)
    if battles.position == "model" and battles.shown is not None:
        shown = battles.shown
        cells = np.stack([shown.won, battles.decided - shown.won, shown.drawn])
    else:
        cells = np.stack([battles.decided, np.triu(battles.drawn, k=1)])
    weights = cells.ravel()
    if (weights != np.round(weights)).any():
        raise InputError(
            "the weights are not whole numbers, so the number of battles is unknown: resample "
            "judges, or use whole weights"
        )
    total = weights.sum()
    counts = rng.multinomial(int(total), weights / total).astype(np.float64)
    *won, drawn = counts.reshape(-1, size, size)
    return DrawnAgain(
        sum(won[1:], start=won[0]),
        drawn + drawn.T,
        ShownFirst(won[0], drawn) if len(won) == 2 else None,
    )


def draw_judges(battles: Battles, rng: np.random.Generator) -> DrawnAgain:
    """Draw as many judges as there are, each with all battles."""
    votes = battles.votes
    if votes is None:
        raise InputError("the judges are not known: read the battles with their judges")
    n_judges = len(votes.judges)
    times = np.bincount(rng.integers(n_judges, size=n_judges), minlength=n_judges)
    size = len(battles.items)
    weights = votes.weight * times[votes.judge]
    pairs = votes.first * size + votes.second
    tables = [
        np.bincount(pairs[these], weights=weights[these], minlength=size * size).astype(np.float64)
        for these in (~votes.drawn, votes.drawn, ~(votes.drawn | votes.won_second))
    ]
    decided, one_way, won_first = (table.reshape(size, size) for table in tables)
    return DrawnAgain(
        decided,
        one_way + one_way.T,
        None if battles.shown is None else ShownFirst(won_first, one_way),
    )
