"""Data augmentation in one kernel: completions, tiers and theta in turn, where places are blocks.

Every place is a block of its own for strict tiers, and for inversions. To put an item one place
further then changes the distance by the pair of neighbours that it passes, so that the weights of
all places that an answer leaves to an item are found on the way there.

Theta and the completions depend on each other, so that both would walk at random by small steps. In
most iterations they are therefore overrelaxed: what is drawn anew comes to lie on the other side of
its distribution. The uniform number by which the present value would have been drawn is found, and
one less that number taken instead; this leaves every conditional distribution as it is.

Tanner, M. A. and Wong, W. H. (1987). The calculation of posterior distributions by data
augmentation. Journal of the American Statistical Association 82, 528-540.

Neal, R. M. (1998). Suppressing random walks in Markov chain Monte Carlo using ordered
overrelaxation. In: Jordan, M. I. (ed.), Learning in Graphical Models, 205-228.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part, inlined
from tierwise._kernels.consensus import switch_labels
from tierwise._kernels.theta import ThetaPoints, draw_theta, reflect_theta

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Share of the iterations that are overrelaxed; the others make sure that everything is reached.
_OVERRELAXED = 0.9


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


class Completion(NamedTuple):
    """A completed answer, and what its items are put back by."""

    order: _Integers
    """The item in each place."""
    places: npt.NDArray[np.int32]
    """The place of each item."""
    relation: npt.NDArray[np.bool_]
    """Which items come before which others."""
    labels: _Integers
    """The tiers."""
    powers: _Floats
    """Weights of ``-n`` to ``n`` more reversed pairs, where there are ``n`` items."""
    weights: _Floats
    """Room for as many numbers as there are items."""


@inlined
def _weigh_places(completion: Completion, item: int) -> tuple[np.int64, np.int64, float]:
    """Weigh the places that an answer leaves to an item; return the first, the last, the sum."""
    order, place = completion.order, np.int64(completion.places[item])
    weights, label = completion.weights, completion.labels[item]
    n_items = order.shape[0]
    total = weights[place] = 1.0
    # Adding up comparisons needs no branches, which could not be foreseen.
    low, more = place, n_items
    while low > 0 and not completion.relation[order[low - 1], item]:
        low -= 1
        other = completion.labels[order[low]]
        more += int(other < label) - int(other > label)
        weights[low] = completion.powers[more]
        total += weights[low]
    high, more = place, n_items
    while high < n_items - 1 and not completion.relation[item, order[high + 1]]:
        high += 1
        other = completion.labels[order[high]]
        more += int(other > label) - int(other < label)
        weights[high] = completion.powers[more]
        total += weights[high]
    return low, high, total


@inlined
def _put_item(
    completion: Completion, item: int, low: np.int64, high: np.int64, remainder: float
) -> None:
    """Move an item to the place before which there is so much weight."""
    order, places, weights = completion.order, completion.places, completion.weights
    place, chosen = places[item], low
    while chosen < high and remainder >= weights[chosen]:
        remainder -= weights[chosen]
        chosen += 1
    for between in range(place, chosen):
        order[between] = order[between + 1]
        places[order[between]] = between
    for between in range(place, chosen, -1):
        order[between] = order[between - 1]
        places[order[between]] = between
    order[chosen] = item
    places[item] = chosen


@inlined
def reinsert_item(completion: Completion, item: int, uniform: float) -> None:
    """Move an item to any place that its answer allows.

    ``uniform`` is the share of all weights before a point in the new place.
    """
    low, high, total = _weigh_places(completion, item)
    _put_item(completion, item, low, high, uniform * total)


@inlined
def reflect_item(completion: Completion, item: int, uniform: float) -> None:
    """Move an item to the other side of the places that its answer allows.

    ``uniform`` is the share of the weight of the present place before a point, the mirror image of
    which is in the new place.
    """
    low, high, remainder = _weigh_places(completion, item)
    place, weights = completion.places[item], completion.weights
    remainder -= uniform * weights[place]
    for before in range(low, place):
        remainder -= weights[before]
    _put_item(completion, item, low, high, remainder)


@compiled_part
def _complete(
    places: npt.NDArray[np.int32],
    answers: OpenAnswers,
    labels: _Integers,
    decay: float,
    pairs: _Floats,
    rng: np.random.Generator,
) -> bool:
    """Take out every item of every completion once and put it back; then count pairs anew.

    ``decay`` is what a reversed pair multiplies the weight with. ``pairs[a, b]`` becomes what it
    costs, in all completions, that b is not in a worse tier than a. Returns whether everything was
    overrelaxed.
    """
    n_items = places.shape[1]
    order, weights = np.empty(n_items, dtype=np.int64), np.empty(n_items)
    powers = decay ** np.arange(-n_items, n_items + 1)
    overrelaxed = rng.random() < _OVERRELAXED
    pairs[:] = 0.0
    for row in range(places.shape[0]):
        relation = answers.relations[answers.which[row]]
        completion = Completion(order, places[row], relation, labels, powers, weights)
        for item in range(n_items):
            order[places[row, item]] = item
        for item in range(n_items):
            if overrelaxed:
                reflect_item(completion, item, rng.random())
            else:
                reinsert_item(completion, item, rng.random())
        for place in range(n_items):
            item = order[place]
            for later in range(place + 1, n_items):
                pairs[item, order[later]] += answers.misplaced
    return overrelaxed


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
        decay = np.exp(-theta * answers.misplaced)
        overrelaxed = _complete(places, answers, labels, decay, pairs, rng)
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
        n_rankings, uniform = float(places.shape[0]), rng.random()
        if overrelaxed:
            theta = reflect_theta(points, n_rankings, total, theta, uniform)
        else:
            theta = draw_theta(points, n_rankings, total, theta, uniform)
        visited.labels[iteration] = labels
        visited.totals[iteration] = total
        visited.thetas[iteration] = theta
        visited.accepted[iteration] = n_accepted
        if np.isnan(theta):
            return iteration + 1
    return len(visited.totals)
