"""Mean ranks, Friedman's test, Nemenyi's and Bayesian signed ranks, by their definitions."""

from itertools import product

import numpy as np


def mean_ranks(scores):
    """Mean over rows of one more than how many are better, ties sharing their ranks."""
    n_sets, n_methods = scores.shape
    total = np.zeros(n_methods)
    for row in scores:
        for one in range(n_methods):
            better = sum(other > row[one] for other in row)
            tied = sum(other == row[one] for other in row)
            total[one] += better + (tied + 1) / 2
    return total / n_sets


def friedman_statistic(scores):
    """Chi-squared of mean ranks, for tables without ties (Demsar 2006)."""
    n_sets, k = scores.shape
    squares = sum(rank**2 for rank in mean_ranks(scores))
    return 12 * n_sets / (k * (k + 1)) * (squares - k * (k + 1) ** 2 / 4)


def cliques(means, difference):
    """All largest sets of methods in which no two mean ranks differ by more than a difference."""
    n_methods = len(means)
    sets = []
    for chosen in product((False, True), repeat=n_methods):
        members = [one for one in range(n_methods) if chosen[one]]
        if members and max(means[members]) - min(means[members]) <= difference:
            sets.append(frozenset(members))
    return {one for one in sets if not any(one < other for other in sets)}


def signed_ranks(differences, rope, rng, n_draws):
    """Shares of draws in which "better", "equivalent", "worse" is the most probable of the three.

    From the definition: Dirichlet weights, the first of strength one half for a difference of 0.
    """
    values = [0.0, *differences]
    shape = [0.5] + [1.0] * len(differences)
    wins = np.zeros(3)
    for _ in range(n_draws):
        weights = rng.dirichlet(shape)
        chances = np.zeros(3)
        for (one, a), (two, b) in product(zip(weights, values, strict=True), repeat=2):
            place = 0 if a + b > 2 * rope else 2 if a + b < -2 * rope else 1
            chances[place] += one * two
        wins[chances.argmax()] += 1
    return wins / n_draws
