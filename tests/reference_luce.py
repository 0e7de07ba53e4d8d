"""Luce's choice model by its definition, over all orderings: nothing here is shared with tierwise."""

from itertools import permutations
from math import exp, log

import numpy as np


def probability_of_ordering(ordering, worths):
    """Of the items left, the next is each with probability proportional to its worth."""
    probability, left = 1.0, sum(worths[item] for item in ordering)
    for item in ordering:
        probability *= worths[item] / left
        left -= worths[item]
    return probability


def probability_of_answer(places, worths, rest_is_below):
    """Sum over all orderings of all items that agree with an answer.

    ``places[item]``: tied items share a place, None is not listed.
    """
    listed = [item for item, place in enumerate(places) if place is not None]
    total = 0.0
    for ordering in permutations(range(len(worths))):
        rank = {item: number for number, item in enumerate(ordering)}
        agrees = all(
            rank[a] < rank[b] for a in listed for b in listed if places[a] < places[b]
        )
        if rest_is_below:
            agrees = agrees and all(
                rank[a] < rank[b] for a in listed for b in range(len(worths)) if places[b] is None
            )
        if agrees:
            total += probability_of_ordering(ordering, worths)
    return total


def log_likelihood(answers, weights, worths, rest_is_below):
    return sum(
        weight * log(probability_of_answer(places, worths, rest_is_below))
        for places, weight in zip(answers, weights, strict=True)
    )


def log_likelihood_of_wins(wins, worths):
    return sum(
        wins[a][b] * log(worths[a] / (worths[a] + worths[b]))
        for a in range(len(worths))
        for b in range(len(worths))
        if a != b
    )


def ordered_partitions(n_items):
    """Every tuple of labels from 0 in which no number is left out."""
    def grow(labels):
        if len(labels) == n_items:
            if set(labels) == set(range(max(labels) + 1)):
                yield tuple(labels)
            return
        for label in range(n_items):
            yield from grow([*labels, label])

    yield from grow([])


def log_evidence(log_likelihood_at, labels, n_nodes=60):
    """Integrate over ordered worths that are exponential a priori, their total being Gamma.

    The share of the total that goes to each tier is uniform on the simplex; with so many factorial
    the worths are in order. Stick breaking makes it a product of Beta variables, integrated by
    Gauss-Legendre in the logit of each stick.
    """
    n_tiers = max(labels) + 1
    if n_tiers == 1:
        return log_likelihood_at([1.0] * len(labels))
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    reach = 9.0
    logits, steps = reach * nodes, reach * weights
    sticks = 1.0 / (1.0 + np.exp(-logits))
    total = []
    for index in np.ndindex(*(n_nodes,) * (n_tiers - 1)):
        left, shares, log_weight = 1.0, [], 0.0
        for number, place in enumerate(index):
            stick = sticks[place]
            later = n_tiers - 1 - number
            # Beta(1, later) density, times the derivative of the logit, times the node's weight.
            log_weight += log(later) + (later - 1) * log(1 - stick)
            log_weight += log(stick) + log(1 - stick) + log(steps[place])
            shares.append(left * stick)
            left *= 1 - stick
        shares.append(left)
        if all(one > other for one, other in zip(shares, shares[1:], strict=False)):
            total.append(log_weight + log_likelihood_at([shares[label] for label in labels]))
    top = max(total)
    factorial = sum(log(number) for number in range(2, n_tiers + 1))
    return top + log(sum(exp(one - top) for one in total)) + factorial
