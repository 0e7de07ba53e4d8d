"""Naive twins of what a search computes, from the definitions, sharing no code with the package."""

from itertools import permutations
from math import factorial, lgamma, log, prod

import numpy as np

from tests.reference import DISTANCES


def all_sizes(n_items):
    """All compositions of a number, by recursion on the first part."""
    if n_items == 0:
        return [()]
    return [
        (first, *rest) for first in range(1, n_items + 1) for rest in all_sizes(n_items - first)
    ]


def all_labels(sizes):
    """All different tiers of given sizes, as the tier of each item."""
    return sorted(set(permutations([tier for tier, size in enumerate(sizes) for _ in range(size)])))


def log_evidence(orderings, weights, sizes, name, shape=2.0, rate=2.0):
    """Log of the integral over theta, the mean over tiers and the product over rankings."""
    n_items = sum(sizes)
    labels = all_labels(sizes)
    totals = np.array(
        [
            sum(
                weight * DISTANCES[name](ordering, tiers, sizes)
                for ordering, weight in zip(orderings, weights, strict=True)
            )
            for tiers in labels
        ]
    )
    of_orderings = np.array(
        [DISTANCES[name](ordering, labels[0], sizes) for ordering in permutations(range(n_items))]
    )
    assert len(labels) == factorial(n_items) // prod(factorial(size) for size in sizes)
    least = totals.min()

    def log_integrand(thetas):
        log_partition = np.log(np.exp(-thetas[:, None] * of_orderings).sum(axis=1))
        sums = np.exp(-thetas[:, None] * (totals - least)).sum(axis=1)
        return (
            np.log(sums)
            - thetas * least
            - log(len(labels))
            - sum(weights) * log_partition
            + (shape - 1) * np.log(thetas)
            - rate * thetas
            + shape * log(rate)
            - lgamma(shape)
        )

    # Gauss and Legendre on many panels of theta: fine near 0, and finer still at the peak.
    grid = np.geomspace(1e-20, 400.0, 600)
    peak = grid[np.argmax(log_integrand(grid))]
    edges = np.union1d(np.concatenate([[0.0], grid]), peak * np.linspace(0.9, 1.1, 2001))
    nodes, node_weights = np.polynomial.legendre.leggauss(8)
    halves = np.diff(edges)[:, None] / 2
    terms = log_integrand(((edges[1:] + edges[:-1])[:, None] / 2 + halves * nodes).ravel())
    highest = terms.max()
    return highest + log((np.exp(terms - highest) * (halves * node_weights).ravel()).sum())


def merge(orderings, items, tolerance):
    """The paper's merging: groups at the end and the shares at which they were merged."""
    groups = [[item] for item in items]

    def share(first, second):
        won = [
            ordering.index(one) < ordering.index(other)
            for ordering in orderings
            for one in first
            for other in second
        ]
        return sum(won) / len(won)

    shares = []
    while len(groups) > 1:
        pairs = [
            (abs(share(first, second) - 0.5), row, column)
            for row, first in enumerate(groups)
            for column, second in enumerate(groups)
            if row < column
        ]
        gap, row, column = min(pairs)
        if gap >= tolerance:
            break
        shares.append(share(groups[row], groups[column]))
        groups[row] = groups[row] + groups[column]
        del groups[column]

    def mean_share(group):
        others = [item for item in items if item not in group]
        return share(group, others) if others else 1.0

    return sorted(groups, key=mean_share, reverse=True), shares
