"""Small sets of battles, and their likelihood."""

import numpy as np

import tierwise as tw
from tierwise.answers.likelihood import source_of
from tierwise.fitting.solve import Settings, solution_at, unproved
from tierwise.partition.gaussian import pair_probabilities


def battles_of(wins):
    """Make battles of a table of wins."""
    items = tuple(f"m{number:03}" for number in range(len(wins)))
    return tw.Battles(items, np.asarray(wins, dtype=float), np.zeros((len(wins), len(wins))))


def some_wins(n_items, seed, scale=6):
    """Draw a table of wins, whatever the items."""
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, scale, (n_items, n_items)).astype(float)
    np.fill_diagonal(wins, 0)
    return wins


def simulated(sizes, theta, n_battles, seed):
    """Draw battles from the model; return them and the tier of each item."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    n_items = len(labels)
    pairs = np.triu_indices(n_items, k=1)
    met = rng.multinomial(n_battles, np.full(len(pairs[0]), 1 / len(pairs[0])))
    shares = pair_probabilities(sizes, theta)[labels[pairs[0]], labels[pairs[1]]]
    won = rng.binomial(met, shares)
    wins = np.zeros((n_items, n_items))
    wins[pairs] = won
    wins.T[pairs] = met - won
    return battles_of(wins), labels


def value_at(wins, labels, theta):
    """Log-likelihood of battles at given tiers and theta."""
    sizes = tuple(np.bincount(labels).tolist())
    source = source_of(battles_of(wins), None)
    return float(source.at(sizes).value(labels, theta))


def fitted(wins, labels):
    """Fit theta to given tiers of battles."""
    return solution_at(
        source_of(battles_of(wins), None), unproved(labels, 0.0, "given"), Settings()
    )
