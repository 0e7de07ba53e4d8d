"""Strict Kendall: orderings by repeated insertion, and where each item ends up."""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled


@compiled
def draw_by_insertion(
    n_items: int, theta: float, n_rows: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw orderings of 0, 1, ..., the best first in the tiers, by repeated insertion.

    The next item passes ``v`` of the items before it with probability proportional to
    ``exp(-theta v)``: a truncated geometric variable, drawn by inversion.
    """
    orderings = np.empty((n_rows, n_items), dtype=np.int64)
    for row in range(n_rows):
        ordering = orderings[row]
        for item in range(n_items):
            uniform = rng.random()
            if theta == 0.0:
                passed = int(uniform * (item + 1))
            else:
                passed = int(np.log1p(uniform * np.expm1(-theta * (item + 1))) / -theta)
            place = item - min(passed, item)
            for later in range(item, place, -1):
                ordering[later] = ordering[later - 1]
            ordering[place] = item
    return orderings


@compiled
def place_probabilities(decay: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Probability of each place for each item (column); ``decay[v]`` is ``exp(-theta v)``."""
    n_items = decay.shape[0]
    probabilities = np.zeros((n_items, n_items))
    for item in range(n_items):
        total = decay[: item + 1].sum()
        # Chances that the new item enters before a place, and behind it.
        behind = 0.0
        for place in range(item, -1, -1):
            enters = decay[item - place] / total
            before = decay[item - place + 1 : item + 1].sum() / total
            for other in range(item):
                stays = probabilities[place, other] * behind
                comes = probabilities[place - 1, other] * before if place > 0 else 0.0
                probabilities[place, other] = stays + comes
            probabilities[place, item] = enters
            behind += enters
    return probabilities
