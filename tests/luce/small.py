"""Data of few items, made from given worths, and their likelihood by enumeration."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import tierwise as tw
from tests import reference_luce as reference
from tierwise.answers.races import races_of

KINDS = ("complete", "top lists", "gaps", "ties", "ties and gaps", "battles")


@dataclass(frozen=True)
class Small:
    """Data, the same as races, and their likelihood from the definition of the model."""

    data: Any
    races: Any
    likelihood: reference.Likelihood


def small(kind, worths, n_answers, seed):
    """Draw answers of a kind, by items of given worths."""
    rng = np.random.default_rng(seed)
    n_items = len(worths)
    if kind == "battles":
        wins = np.zeros((n_items, n_items))
        for _ in range(n_answers):
            first, second = rng.permutation(n_items)[:2]
            if rng.random() > worths[first] / (worths[first] + worths[second]):
                first, second = second, first
            wins[first, second] += 1
        items = tuple(f"m{number}" for number in range(n_items))
        battles = tw.Battles(items, wins, np.zeros_like(wins))
        likelihood = reference.Likelihood(n_items, wins=wins.tolist())
        return Small(battles, races_of(battles), likelihood)
    rows, answers = [], []
    for _ in range(n_answers):
        order = np.argsort(rng.exponential(size=n_items) / worths).tolist()
        if kind in ("top lists", "gaps", "ties and gaps"):
            shown = rng.integers(1 if kind == "top lists" else 2, n_items + 1)
            kept = range(n_items) if kind == "top lists" else rng.permutation(n_items)[:shown]
            order = [item for item in order if item in kept][:shown]
        ends = np.arange(len(order))
        if kind in ("ties", "ties and gaps"):
            ends = np.cumsum(rng.random(len(order)) < 0.5)
        rows.append(
            [[o for o, e in zip(order, ends, strict=True) if e == end] for end in set(ends)]
        )
        places = [None] * n_items
        for item, end in zip(order, ends, strict=True):
            places[item] = int(end)
        answers.append(places)
    below = kind == "top lists"
    rankings = tw.Rankings.from_orderings(
        rows, items=range(n_items), unranked="below" if below else "anywhere"
    )
    likelihood = reference.Likelihood(n_items, answers, [1] * n_answers, rest_is_below=below)
    return Small(rankings, races_of(rankings), likelihood)
