"""Where EM begins: a first, rough division of the answers into groups."""

import numpy as np
from numpy.typing import NDArray

from tierwise.mixture.answers import Answers

_ROUNDS_OF_SETTLING = 10
# How firmly an answer belongs to its group at first: enough to tell the groups apart, not so much
# that an answer cannot change sides.
_FIRMNESS = 0.9


def first_memberships(
    answers: Answers, n_groups: int, *, settled: bool, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Divide the answers around some of them that lie far apart.

    Distances are those of Spearman, between all ranks. Where ``settled``, the centres then move to
    the mean ranks of their groups for some rounds.
    """
    ranks = answers.ranks
    centres = _scattered(ranks, answers.weights, n_groups, rng)
    groups = _nearest(ranks, centres)
    for _ in range(_ROUNDS_OF_SETTLING if settled else 0):
        for group in range(n_groups):
            weights = answers.weights * (groups == group)
            if weights.sum() > 0:
                centres[group] = weights @ ranks / weights.sum()
        groups = _nearest(ranks, centres)
    memberships = np.full((len(ranks), n_groups), (1 - _FIRMNESS) / n_groups)
    memberships[np.arange(len(ranks)), groups] += _FIRMNESS
    return memberships


def _scattered(
    ranks: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_centres: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw answers one by one, the more probable the farther from all drawn before."""
    centres = np.empty((n_centres, ranks.shape[1]))
    remoteness = np.ones(len(ranks))
    for number in range(n_centres):
        chances = weights * remoteness
        if chances.sum() <= 0:  # fewer distinct answers than groups
            chances = weights
        centres[number] = ranks[rng.choice(len(ranks), p=chances / chances.sum())]
        nearer = ((ranks - centres[number]) ** 2).sum(axis=1)
        remoteness = nearer if number == 0 else np.minimum(remoteness, nearer)
    return centres


def _nearest(ranks: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the nearest centre of each answer."""
    # |r - c|^2 without |r|^2, which is the same for all centres.
    closeness = ranks @ centres.T - 0.5 * (centres**2).sum(axis=1)
    nearest: NDArray[np.int64] = closeness.argmax(axis=1)
    return nearest
