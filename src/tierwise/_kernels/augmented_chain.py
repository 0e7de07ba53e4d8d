"""Data augmentation in one kernel: completions, tiers and theta in turn, where places are blocks.

Every place is a block of its own for strict tiers, and for inversions. To put an item one place
further then changes the distance by the pair of neighbours that it passes, so that the weights of
all places that an answer leaves to an item are found on the way there.

Theta and the completions depend on each other, so that both would walk at random by small steps. In
most iterations they are therefore overrelaxed: a new draw comes to lie on the other side of its
distribution. The uniform number by which the present value would have been drawn is found, and
one less that number taken instead; this leaves every conditional distribution as it is.

Tanner, M. A. and Wong, W. H. (1987). The calculation of posterior distributions by data
augmentation. Journal of the American Statistical Association 82, 528-540.

Neal, R. M. (1998). Suppressing random walks in Markov chain Monte Carlo using ordered
overrelaxation. In: Jordan, M. I. (ed.), Learning in Graphical Models, 205-228.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.augmentation import (
    Completion,
    reflect_item,
    reinsert_item,
    weights_of_reversals,
)
from tierwise._kernels.compiling import compiled, compiled_part
from tierwise._kernels.consensus import LogWeights, TierCosts, switch_labels
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


@compiled_part
def _complete(
    places: npt.NDArray[np.int32],
    answers: OpenAnswers,
    labels: _Integers,
    energy: float,
    pairs: _Floats,
    rng: np.random.Generator,
) -> bool:
    """Take out every item of every completion once and put it back; then count pairs again.

    ``energy`` is what a reversed pair costs, times theta. ``pairs[a, b]`` becomes what it costs, in
    all completions, that b is not in a worse tier than a. Returns whether everything was
    overrelaxed.
    """
    n_items = places.shape[1]
    order, weights = np.empty(n_items, dtype=np.int64), np.empty(n_items)
    powers = weights_of_reversals(energy, n_items)
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
        energy = theta * answers.misplaced
        overrelaxed = _complete(places, answers, labels, energy, pairs, rng)
        costs = TierCosts(answers.linear, pairs, np.ascontiguousarray(pairs.T))
        weights = LogWeights(nothing, nothing, np.array([-theta]))
        total, n_accepted = switch_labels(labels, answers.sizes, costs, weights, n_switches, rng)
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
