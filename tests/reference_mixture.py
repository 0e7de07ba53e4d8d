"""Mixtures by brute force, written from the definitions."""

from itertools import permutations
from math import exp, fsum, log

from tests.reference import DISTANCES


def probability(ordering, labels, sizes, theta, distance):
    """Probability of an ordering in one group."""
    measure = DISTANCES[distance]
    total = fsum(
        exp(-theta * measure(other, labels, sizes)) for other in permutations(range(len(labels)))
    )
    return exp(-theta * measure(ordering, labels, sizes)) / total


def joint_probabilities(ordering, groups, shares, distance):
    """Share times probability, for each group of (labels, sizes, theta)."""
    return [
        share * probability(ordering, labels, sizes, theta, distance)
        for share, (labels, sizes, theta) in zip(shares, groups, strict=True)
    ]


def memberships(orderings, groups, shares, distance):
    """Probability of each group for each ordering."""
    rows = [joint_probabilities(ordering, groups, shares, distance) for ordering in orderings]
    return [[joint / fsum(row) for joint in row] for row in rows]


def log_likelihood(orderings, groups, shares, distance):
    """Log probability of all orderings."""
    return fsum(
        log(fsum(joint_probabilities(ordering, groups, shares, distance))) for ordering in orderings
    )
