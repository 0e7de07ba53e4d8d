"""Naive twins of the checks, from all orderings one by one; nothing here uses the package."""

from math import fsum


def pair_probability(model, theta, first, second, listing):
    """Share of orderings with the first item above the second, among answers that tell.

    ``listing[k]`` is the share of answers that are the first k items of an ordering.
    """
    won = lost = 0.0
    for ordering, probability in zip(model.orderings, model.probabilities(theta), strict=True):
        for length, share in listing.items():
            listed = ordering[:length]
            if first in listed and (
                second not in listed or listed.index(first) < listed.index(second)
            ):
                won += probability * share
            elif second in listed:
                lost += probability * share
    return won / (won + lost)


def rank_probability(model, theta, item, place):
    """Probability that an item has a place."""
    pairs = zip(model.orderings, model.probabilities(theta), strict=True)
    return fsum(probability for ordering, probability in pairs if ordering[place] == item)


def crossings(ordering, labels, sizes):
    """Items that belong above each line between tiers and lie below it."""
    counts, end = [], 0
    for tier, size in enumerate(sizes[:-1]):
        end += size
        counts.append(sum(labels[item] <= tier for item in ordering[end:]))
    return counts


def mean_crossings(model, theta):
    """Expected number of items that cross each line."""
    totals = [0.0] * (len(model.sizes) - 1)
    for ordering, probability in zip(model.orderings, model.probabilities(theta), strict=True):
        for line, count in enumerate(crossings(ordering, model.labels, model.sizes)):
            totals[line] += probability * count
    return totals
