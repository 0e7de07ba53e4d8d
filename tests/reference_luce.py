"""Luce's choice model by its definition, over all orderings; shares no code with tierwise."""

from itertools import permutations, product
from math import factorial, inf, log

import numpy as np
from scipy.special import roots_jacobi


def probability_of_ordering(ordering, worths):
    """Of the items left, the next is each with probability proportional to its worth."""
    probability = 1.0
    for place, item in enumerate(ordering):
        probability *= worths[item] / sum(worths[other] for other in ordering[place:])
    return probability


def agrees(ordering, places, rest_is_below):
    """Whether an ordering of all items is one that an answer may stand for.

    ``places[item]``: tied items share a place, None is not listed.
    """
    rank = {item: number for number, item in enumerate(ordering)}
    listed = [item for item, place in enumerate(places) if place is not None]
    missing = [item for item, place in enumerate(places) if place is None]
    return all(rank[a] < rank[b] for a in listed for b in listed if places[a] < places[b]) and (
        not rest_is_below or all(rank[a] < rank[b] for a in listed for b in missing)
    )


def probability_of_answer(places, worths, rest_is_below):
    """Sum over all orderings of all items that agree with an answer."""
    return sum(
        probability_of_ordering(ordering, worths)
        for ordering in permutations(range(len(worths)))
        if agrees(ordering, places, rest_is_below)
    )


def log_likelihood(answers, weights, worths, rest_is_below):
    """Log-likelihood of answers with weights."""
    return sum(
        weight * log(probability_of_answer(places, worths, rest_is_below))
        for places, weight in zip(answers, weights, strict=True)
    )


def log_likelihood_of_wins(wins, worths):
    """Log-likelihood of battles."""
    return sum(
        wins[a][b] * log(worths[a] / (worths[a] + worths[b]))
        for a in range(len(worths))
        for b in range(len(worths))
        if a != b
    )


def log_probability_of_block(worths, counts, rest):
    """Log probability that a block of so many items of each worth comes before a rest.

    Over the numbers of items of each worth that have come: of the items left, the next is one of
    them with probability proportional to its worth.
    """
    counts = np.asarray(counts)
    logs = {(0,) * len(counts): 0.0}
    for came in product(*(range(count + 1) for count in counts)):
        left = counts - came
        total = sum(number * worth for number, worth in zip(left, worths, strict=True)) + rest
        for tier, worth in enumerate(worths):
            if left[tier]:
                after = (*came[:tier], came[tier] + 1, *came[tier + 1 :])
                step = logs[came] + log(left[tier] * worth / total)
                logs[after] = np.logaddexp(logs.get(after, -inf), step)
    return logs[tuple(counts.tolist())]


def ordered_partitions(n_items):
    """Every tuple of labels from 0 in which no number is left out."""
    for labels in product(range(n_items), repeat=n_items):
        if set(labels) == set(range(max(labels) + 1)):
            yield labels


class Likelihood:
    """Log-likelihood of answers and battles at many worths of few items, one row each."""

    def __init__(self, n_items, answers=(), weights=(), *, rest_is_below=False, wins=None):
        self.orderings = np.array(list(permutations(range(n_items))))
        self.weights = np.array(weights, dtype=float)
        self.agreeing = np.array(
            [
                [agrees(ordering, places, rest_is_below) for ordering in self.orderings.tolist()]
                for places in answers
            ]
        ).reshape(len(answers), len(self.orderings))
        self.wins = wins

    def __call__(self, worths):
        values = np.zeros(len(worths), dtype=worths.dtype)
        if len(self.weights):
            of_ordering = np.ones((len(worths), len(self.orderings)), dtype=worths.dtype)
            for column, ordering in enumerate(self.orderings):
                left = 0.0
                for item in ordering[::-1]:
                    left = left + worths[:, item]
                    of_ordering[:, column] *= worths[:, item] / left
            values += np.log(of_ordering @ self.agreeing.T) @ self.weights
        if self.wins is not None:
            for a, b in permutations(range(worths.shape[1]), 2):
                if self.wins[a][b]:
                    values += self.wins[a][b] * np.log(worths[:, a] / (worths[:, a] + worths[:, b]))
        return values

    def gradient(self, labels, log_worths):
        """Derivatives in the log worths of tiers, by a step that is imaginary."""
        n_tiers = len(log_worths)
        logs = np.asarray(log_worths, dtype=float) + 1e-30j * np.eye(n_tiers)
        return self(np.exp(logs)[:, list(labels)]).imag / 1e-30

    def hessian(self, labels, log_worths, step=3e-5):
        """Differences of the gradient."""
        logs = np.asarray(log_worths, dtype=float)
        return np.array(
            [
                self.gradient(labels, logs + move) - self.gradient(labels, logs - move)
                for move in step * np.eye(len(logs))
            ]
        ) / (2 * step)


def probabilities_of_outcomes(one, other, first_factor=1.0, draw_factor=0.0):
    """How probable it is that the first of two items wins, loses and draws."""
    weights = [first_factor * one, other, draw_factor * (one * other) ** 0.5]
    return [weight / sum(weights) for weight in weights]


class BattlesWithEffects:
    """Log-likelihood of battles with draws and an advantage of the first place.

    ``outcomes[outcome][first][second]`` says how often the first won, lost and drew. An effect that
    is not given is averaged over: the share of battles between equals that the first wins is
    Beta(5, 5), and the share of draws between equals is uniform.
    """

    def __init__(self, outcomes, first_factor=None, draw_factor=None, n_nodes=50):
        self.outcomes = np.asarray(outcomes, dtype=float)
        self.firsts, self.first_masses = self._nodes(first_factor, 5, 1.0, n_nodes)
        self.draws, self.draw_masses = self._nodes(draw_factor, 1, 2.0, n_nodes)

    @staticmethod
    def _nodes(factor, shape, middle, n_nodes):
        if factor is not None:
            return np.array([factor]), np.ones(1)
        nodes, masses = roots_jacobi(n_nodes, shape - 1, shape - 1)
        shares = 0.5 * (1 + nodes)
        return middle * shares / (1 - shares), masses / masses.sum()

    def table(self, worths):
        """Log-likelihoods by row of worths, factor of the first place, and factor of draws."""
        values = np.zeros((len(worths), len(self.firsts), len(self.draws)), dtype=worths.dtype)
        for a, b in permutations(range(worths.shape[1]), 2):
            if not self.outcomes[:, a, b].any():
                continue
            shares = probabilities_of_outcomes(
                worths[:, a, None, None],
                worths[:, b, None, None],
                self.firsts[None, :, None],
                self.draws[None, None, :],
            )
            for count, share in zip(self.outcomes[:, a, b], shares, strict=True):
                if count:
                    values += count * np.log(share)
        return values

    def __call__(self, worths):
        values = self.table(worths)
        tops = values.max(axis=(1, 2))
        shares = np.exp(values - tops[:, None, None])
        return tops + np.log(shares @ self.draw_masses @ self.first_masses)


def ordered_worths(n_tiers, n_nodes):
    """Worths that are exponential a priori, in decreasing order, and the mass of each row.

    Differences of exponential variables in order are independent and exponential, the ``k``-th from
    above with rate ``k`` (Renyi). So the worths follow from as many numbers that are uniform on the
    simplex, the scale playing no part; each stick that is broken off is a Beta variable, with its
    own rule of Gauss and Jacobi.
    """
    spacings, masses, left = np.ones((1, 0)), np.ones(1), np.ones(1)
    for later in range(n_tiers - 1, 0, -1):
        nodes, weights = roots_jacobi(n_nodes, later - 1, 0)
        sticks = 0.5 * (1 + nodes)
        spacings = np.column_stack(
            (np.repeat(spacings, n_nodes, axis=0), np.outer(left, sticks).ravel())
        )
        masses = np.outer(masses, weights / weights.sum()).ravel()
        left = np.outer(left, 1 - sticks).ravel()
    spacings = np.column_stack((spacings, left)) / np.arange(1, n_tiers + 1)
    return spacings[:, ::-1].cumsum(axis=1)[:, ::-1], masses


def log_evidence(likelihood, labels, n_nodes=40):
    """Average the likelihood over worths that are exponential a priori, in decreasing order."""
    worths, masses = ordered_worths(max(labels) + 1, n_nodes)
    values = likelihood(worths[:, list(labels)])
    return values.max() + log(masses @ np.exp(values - values.max()))


def moments_of_log_worths(likelihood, labels, n_nodes=40):
    """Means of the log worths of items, whose mean is 0, and of their squares, given the tiers."""
    worths, masses = ordered_worths(max(labels) + 1, n_nodes)
    values = likelihood(worths[:, list(labels)])
    shares = masses * np.exp(values - values.max())
    logs = np.log(worths[:, list(labels)])
    logs -= logs.mean(axis=1)[:, None]
    return shares @ logs / shares.sum(), shares @ logs**2 / shares.sum()


def posterior(likelihood, n_items, probability_of_number=None, n_nodes=40):
    """All ordered partitions, their probabilities, and log evidence plus log prior of each.

    ``probability_of_number[k - 1]`` is how probable each composition of ``k`` sizes is; tiers of
    the same sizes are equally probable.
    """
    partitions = list(ordered_partitions(n_items))
    logs = []
    for labels in partitions:
        sizes = [labels.count(tier) for tier in range(max(labels) + 1)]
        ways = factorial(n_items)
        for size in sizes:
            ways //= factorial(size)
        prior = 1.0 if probability_of_number is None else probability_of_number[len(sizes) - 1]
        log_prior = log(prior) if prior else -inf
        logs.append(log_evidence(likelihood, labels, n_nodes) + log_prior - log(ways))
    logs = np.array(logs)
    shares = np.exp(logs - logs.max())
    return partitions, shares / shares.sum(), logs
