"""Incomplete answers by brute force, written from the definitions; nothing here uses the package.

A partial order is a set of pairs (a, b): item a comes before item b. Orderings are tuples of items
0..n-1, best first; tiers are a tuple of labels, 0 being the best.
"""

from itertools import combinations, permutations
from math import exp, log

from tests.reference import DISTANCES


def pairs_of_groups(groups):
    """The pairs that tied groups, best first, say something about."""
    return {
        (first, second)
        for upper, lower in combinations(range(len(groups)), 2)
        for first in groups[upper]
        for second in groups[lower]
    }


def completions(pairs, n_items):
    """All orderings that agree with a partial order."""
    return [
        ordering
        for ordering in permutations(range(n_items))
        if all(ordering.index(first) < ordering.index(second) for first, second in pairs)
    ]


class Answer:
    """One incomplete answer under a model."""

    def __init__(self, pairs, sizes, distance, labels, theta):
        self.sizes = sizes
        self.distance = DISTANCES[distance]
        self.orderings = completions(pairs, sum(sizes))
        self.distances = [self.distance(ordering, labels, sizes) for ordering in self.orderings]
        self.weights = [exp(-theta * value) for value in self.distances]

    def log_weight(self):
        return log(sum(self.weights))

    def mean(self):
        return self.expectation(self.distances)

    def variance(self):
        mean = self.mean()
        return self.expectation([(value - mean) ** 2 for value in self.distances])

    def expectation(self, values):
        """Average over completions, as probable as the model makes them."""
        total = sum(weight * value for weight, value in zip(self.weights, values, strict=True))
        return total / sum(self.weights)

    def mean_distance_from(self, labels):
        """Expected distance from other tiers than those that the completions are drawn under."""
        return self.expectation(
            [self.distance(ordering, labels, self.sizes) for ordering in self.orderings]
        )
