"""Data augmentation in one kernel: completions, tiers and theta in turn, where places are blocks.

Every place is a block of its own for strict tiers, and for inversions. To put an item one place
further then changes the distance by the pair of neighbours that it passes, so that the weights of
all places that an answer leaves to an item are found on the way there.

Tanner, M. A. and Wong, W. H. (1987). The calculation of posterior distributions by data
augmentation. Journal of the American Statistical Association 82, 528-540.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.consensus import switch_labels
from tierwise._kernels.mixture import ThetaPoints, draw_theta

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


class OpenAnswers(NamedTuple):
    """Answers that leave orders open, and what tiers of given sizes make of them."""

    relations: npt.NDArray[np.bool_]
    """``[answer, a, b]``: whether an answer puts item a before b, directly or not."""
    which: _Integers
    """The answer that each completion is of."""
    sizes: _Integers
    """Sizes of the tiers."""
    misplaced: float
    """What a reversed pair costs."""
    linear: _Floats
    """What items cost in tiers, in all completions together, whatever these are."""


class Visited(NamedTuple):
    """Where a chain was after each iteration."""

    labels: _Integers
    totals: _Floats
    thetas: _Floats
    accepted: _Integers


@compiled
def reinsert_item(
    order: _Integers,
    place: int,
    relation: npt.NDArray[np.bool_],
    labels: _Integers,
    decay: float,
    weights: _Floats,
    uniform: float,
) -> int:
    """Move the item in a place to one that its answer allows, at random; return where it went.

    ``decay`` is what a reversed pair multiplies the weight with; ``weights`` is room for as many
    numbers as there are items.
    """
    item = order[place]
    label = labels[item]
    rise = 1.0 / decay
    total = weights[place] = 1.0
    low = place
    while low > 0 and not relation[order[low - 1], item]:
        other = labels[order[low - 1]]
        step = decay if other < label else (rise if other > label else 1.0)
        weights[low - 1] = weights[low] * step
        low -= 1
        total += weights[low]
    high = place
    while high < order.shape[0] - 1 and not relation[item, order[high + 1]]:
        other = labels[order[high + 1]]
        step = rise if other < label else (decay if other > label else 1.0)
        weights[high + 1] = weights[high] * step
        high += 1
        total += weights[high]
    remainder = uniform * total
    chosen = low
    while chosen < high and remainder >= weights[chosen]:
        remainder -= weights[chosen]
        chosen += 1
    for between in range(place, chosen):
        order[between] = order[between + 1]
    for between in range(place, chosen, -1):
        order[between] = order[between - 1]
    order[chosen] = item
    return chosen


@compiled
def _complete(
    places: npt.NDArray[np.int32],
    answers: OpenAnswers,
    labels: _Integers,
    decay: float,
    pairs: _Floats,
    rng: np.random.Generator,
) -> None:
    """Take out every item of every completion once and put it back; then count pairs anew.

    ``pairs[a, b]`` becomes what it costs, in all completions, that b is not in a worse tier than a.
    """
    n_items = places.shape[1]
    order, weights = np.empty(n_items, dtype=np.int64), np.empty(n_items)
    pairs[:] = 0.0
    for row in range(places.shape[0]):
        relation = answers.relations[answers.which[row]]
        for item in range(n_items):
            order[places[row, item]] = item
        for item in range(n_items):
            place = 0
            while order[place] != item:
                place += 1
            reinsert_item(order, place, relation, labels, decay, weights, rng.random())
        for place in range(n_items):
            item = order[place]
            places[row, item] = place
            for later in range(place + 1, n_items):
                pairs[item, order[later]] += answers.misplaced


@compiled
def iterate(
    places: npt.NDArray[np.int32],
    labels: _Integers,
    theta: float,
    answers: OpenAnswers,
    points: ThetaPoints,
    n_switches: int,
    visited: Visited,
    rng: np.random.Generator,
) -> int:
    """Redraw completions, tiers by Metropolis switches, and theta, as often as there is room.

    Places and labels change in place. Returns how many iterations were made: it ends where theta
    cannot be drawn from the points, which is then not a number.
    """
    n_items = labels.shape[0]
    nothing = np.zeros(1)
    pairs = np.empty((n_items, n_items))
    for iteration in range(len(visited.totals)):
        _complete(places, answers, labels, np.exp(-theta * answers.misplaced), pairs, rng)
        total, n_accepted = switch_labels(
            labels,
            answers.sizes,
            answers.linear,
            pairs,
            np.ascontiguousarray(pairs.T),
            nothing,
            nothing,
            np.array([-theta]),
            n_switches,
            rng,
        )
        theta = draw_theta(points, float(places.shape[0]), total, theta, rng.random())
        visited.labels[iteration] = labels
        visited.totals[iteration] = total
        visited.thetas[iteration] = theta
        visited.accepted[iteration] = n_accepted
        if np.isnan(theta):
            return iteration + 1
    return len(visited.totals)
