"""The posterior by brute force, written from the definitions; nothing here uses the package.

Tiers are a tuple of labels, 0 being the best; orderings are tuples of items, best first.
"""

from itertools import permutations, product
from math import exp, factorial, log, prod

import numpy as np

# Thetas so close together that all between two of them is a straight line.
FINE_GRID = np.geomspace(1e-7, 60.0, 40_001)
GRID = FINE_GRID[::2]


def all_tiers(n_items):
    """All ordered partitions of the items."""
    for labels in product(range(n_items), repeat=n_items):
        if set(labels) == set(range(max(labels) + 1)):
            yield labels


def sizes_of(labels):
    return tuple(labels.count(tier) for tier in range(max(labels) + 1))


def tiers_of_sizes(sizes):
    return [labels for labels in all_tiers(sum(sizes)) if sizes_of(labels) == tuple(sizes)]


def kendall(ordering, labels):
    """Pairs in different blocks that are reversed or tied in the tiers."""
    block_of_place = [tier for tier, size in enumerate(sizes_of(labels)) for _ in range(size)]
    return sum(
        block_of_place[first] < block_of_place[second]
        and labels[ordering[first]] >= labels[ordering[second]]
        for first in range(len(ordering))
        for second in range(first + 1, len(ordering))
    )


def hamming(ordering, labels):
    """Items outside the block of their tier."""
    block_of_place = [tier for tier, size in enumerate(sizes_of(labels)) for _ in range(size)]
    return sum(block_of_place[place] != labels[item] for place, item in enumerate(ordering))


def gamma_density(theta, shape=2.0, rate=2.0):
    return rate**shape / factorial(int(shape) - 1) * theta ** (shape - 1) * exp(-rate * theta)


class PosteriorByEnumeration:
    """Posterior of tiers and theta, by summing over all tiers and integrating over theta.

    ``data`` is a list of orderings with their weights. All sizes there are are equally probable.
    """

    def __init__(self, data, tiers, distance=kendall, prior=gamma_density):
        self.tiers = list(tiers)
        self.n_rankings = sum(weight for _, weight in data)
        self.totals = [
            sum(weight * distance(ordering, labels) for ordering, weight in data)
            for labels in self.tiers
        ]
        n_items = len(self.tiers[0])
        # The partition function depends on the sizes only: any tiers of these sizes will do.
        self.log_psi = {}
        for labels in self.tiers:
            if sizes_of(labels) not in self.log_psi:
                total = np.zeros(len(FINE_GRID))
                for ordering in permutations(range(n_items)):
                    total += np.exp(-FINE_GRID * distance(ordering, labels))
                self.log_psi[sizes_of(labels)] = np.log(total)
        self.log_prior = np.log([prior(theta) for theta in FINE_GRID])
        self.log_weights = [self._log_weight(place) for place in range(len(self.tiers))]
        peak = max(self.log_weights)
        weights = np.exp(np.array(self.log_weights) - peak)
        self.probabilities = weights / weights.sum()

    def log_densities(self, place):
        """Log of prior times likelihood, at given tiers and every theta of the fine grid."""
        labels = self.tiers[place]
        sizes = sizes_of(labels)
        n_tiers = factorial(len(labels)) / prod(factorial(size) for size in sizes)
        return (
            -FINE_GRID * self.totals[place]
            - self.n_rankings * self.log_psi[sizes]
            + self.log_prior
            - log(n_tiers)
        )

    def _log_weight(self, place):
        return log(self._running_sums(place)[-1]) + float(self.log_densities(place).max())

    def _running_sums(self, place):
        """Integral over theta up to each point of the grid, by Simpson's rule."""
        log_heights = self.log_densities(place)
        heights = np.exp(log_heights - log_heights.max()) * FINE_GRID
        step = log(GRID[1] / GRID[0])
        cells = step / 6 * (heights[:-2:2] + 4 * heights[1::2] + heights[2::2])
        return np.concatenate([[0.0], np.cumsum(cells)])

    def probability_of(self, predicate):
        return sum(
            probability
            for labels, probability in zip(self.tiers, self.probabilities, strict=True)
            if predicate(labels)
        )

    def theta_cdf(self, thetas):
        """Probability that theta is smaller than each of these."""
        total = np.zeros(len(GRID))
        for place, probability in enumerate(self.probabilities):
            if probability > 1e-14:
                sums = self._running_sums(place)
                total += probability * sums / sums[-1]
        return np.interp(thetas, GRID, total)


def disagreement(one, other):
    """Pairs that two tiers order in opposite ways, and half the pairs that only one ties."""
    total = 0.0
    for first in range(len(one)):
        for second in range(first):
            here = np.sign(one[first] - one[second])
            there = np.sign(other[first] - other[second])
            total += abs(here - there) / 2
    return total
