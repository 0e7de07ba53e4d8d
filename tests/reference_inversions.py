"""The distance ``inversions`` by brute force, written from definitions; no code of the package.

Orderings are tuples of items, best first; tiers are a tuple of labels, 0 being the best; a weak
order is a tuple of blocks, best first, each a tuple of items.
"""

from collections import Counter
from functools import cache, lru_cache
from itertools import pairwise, permutations, product
from math import exp, factorial, fsum, lgamma, log, prod

import numpy as np


def compositions(n_items):
    """All ways to write a number as a sum of positive numbers, in order."""
    if n_items == 0:
        yield ()
    for first in range(1, n_items + 1):
        for rest in compositions(n_items - first):
            yield (first, *rest)


def all_tiers(n_items):
    """All ordered partitions of the items."""
    return [
        labels
        for labels in product(range(n_items), repeat=n_items)
        if set(labels) == set(range(max(labels) + 1))
    ]


def sizes_of(labels):
    return tuple(labels.count(tier) for tier in range(max(labels) + 1))


def labels_of(sizes):
    return tuple(tier for tier, size in enumerate(sizes) for _ in range(size))


def inversions_by_line(ordering, labels):
    """Pairs of different tiers in the wrong order, by the better tier of the pair."""
    totals = [0] * (max(labels) + 1)
    for place, item in enumerate(ordering):
        for later in ordering[place + 1 :]:
            if labels[later] < labels[item]:
                totals[labels[later]] += 1
    return totals


def weight(ordering, labels, thetas):
    """Probability up to a constant; one theta for each tier but the last."""
    totals = inversions_by_line(ordering, labels)
    return exp(-fsum(theta * total for theta, total in zip(thetas, totals, strict=False)))


def agrees(ordering, blocks):
    """Whether a complete ordering keeps to the order of the blocks."""
    block_of = {item: number for number, block in enumerate(blocks) for item in block}
    numbers = [block_of[item] for item in ordering]
    return numbers == sorted(numbers)


class Model:
    """Everything about tiers from a list of all orderings."""

    def __init__(self, labels, thetas):
        n_lines = max(labels)
        self.labels = labels
        self.thetas = [thetas] * n_lines if np.ndim(thetas) == 0 else list(thetas)
        self.orderings = list(permutations(range(len(labels))))
        self.weights = [weight(ordering, labels, self.thetas) for ordering in self.orderings]
        self.total = fsum(self.weights)
        self.probabilities = [one / self.total for one in self.weights]
        self.lines = np.array(
            [inversions_by_line(ordering, labels) for ordering in self.orderings], dtype=float
        )

    def log_partition(self):
        return log(self.total)

    def line_means(self):
        return (np.array(self.probabilities) @ self.lines)[:-1]

    def line_variances(self):
        probabilities = np.array(self.probabilities)
        return (probabilities @ self.lines**2 - (probabilities @ self.lines) ** 2)[:-1]

    def log_probability(self, blocks):
        terms = [
            one
            for ordering, one in zip(self.orderings, self.probabilities, strict=True)
            if agrees(ordering, blocks)
        ]
        return log(fsum(terms))

    def rank_tiers(self):
        table = np.zeros((len(self.labels), max(self.labels) + 1))
        for ordering, one in zip(self.orderings, self.probabilities, strict=True):
            for place, item in enumerate(ordering):
                table[place, self.labels[item]] += one
        return table

    def pairs(self):
        """Probability that an item of a tier precedes one of another."""
        sizes = sizes_of(self.labels)
        table = np.zeros((len(sizes), len(sizes)))
        for ordering, one in zip(self.orderings, self.probabilities, strict=True):
            for place, item in enumerate(ordering):
                for later in ordering[place + 1 :]:
                    table[self.labels[item], self.labels[later]] += one
        table /= np.outer(sizes, sizes)
        np.fill_diagonal(table, 0.5)
        return table


def random_weak_order(n_items, rng):
    """Some order of the items, cut into blocks at random."""
    order = [int(item) for item in rng.permutation(n_items)]
    cuts = [0, *(place for place in range(1, n_items) if rng.random() < 0.6), n_items]
    return tuple(tuple(order[begin:end]) for begin, end in pairwise(cuts))


def pattern_of(blocks, n_items):
    """Place of each item; tied items share the first place they take up."""
    places = [0] * n_items
    place = 0
    for block in blocks:
        for item in block:
            places[item] = place
        place += len(block)
    return places


def gauss_factorial(number, theta):
    """Product of 1 + q + ... + q^(i-1), q = exp(-theta), for arrays of theta."""
    value = np.ones_like(theta)
    for size in range(2, number + 1):
        value = value * sum(np.exp(-theta * power) for power in range(size))
    return value


@cache
def log_gauss_binomial(size, n_worse, theta_bytes):
    """Log of the Gaussian binomial coefficient, kept for every grid of thetas."""
    thetas = np.frombuffer(theta_bytes)
    return (
        np.log(gauss_factorial(size + n_worse, thetas))
        - np.log(gauss_factorial(size, thetas))
        - np.log(gauss_factorial(n_worse, thetas))
    )


def log_line(answers, labels, tier, thetas):
    """Log-likelihood of one line over an array of thetas, block by block.

    ``answers`` is a list of weak orders with weights.
    """
    grid = np.asarray(thetas, dtype=float).tobytes()

    def log_binomial(size, n_worse):
        return log_gauss_binomial(size, n_worse, grid).reshape(np.shape(thetas))

    whole = labels.count(tier), sum(label > tier for label in labels)
    factors, n_inversions = Counter(), 0.0
    for blocks, times in answers:
        seen = 0
        for block in blocks:
            size = sum(labels[item] == tier for item in block)
            n_worse = sum(labels[item] > tier for item in block)
            factors[size, n_worse] += times
            n_inversions += times * size * seen
            seen += n_worse
        factors[whole] -= times
    value = -thetas * n_inversions
    for (size, n_worse), times in factors.items():
        value = value + times * log_binomial(size, n_worse)
    return value


def log_orders(answers, labels):
    """What of the log-likelihood does not depend on theta."""
    value = 0.0
    for blocks, times in answers:
        for tier, size in enumerate(sizes_of(labels)):
            value -= times * log(factorial(size))
            for block in blocks:
                value += times * log(factorial(sum(labels[item] == tier for item in block)))
    return value


def log_number_of_tiers(labels):
    sizes = sizes_of(labels)
    return log(factorial(len(labels)) / prod(factorial(size) for size in sizes))


LOG_THETAS = np.linspace(-20.0, 4.5, 2451)
THETAS = np.exp(LOG_THETAS)
LOG_PRIOR = np.log(4.0) + 2.0 * LOG_THETAS - 2.0 * THETAS  # Gamma(2, 2), of log theta


def log_integral(log_heights):
    peak = log_heights.max()
    return peak + log(np.exp(log_heights - peak).sum() * (LOG_THETAS[1] - LOG_THETAS[0]))


class Posterior:
    """Posterior of all tiers by enumeration; thetas are integrated on a grid."""

    def __init__(self, answers, n_items, by_line=False, penalised=False):
        self.tiers = all_tiers(n_items)
        prior = {sizes: exp(-len(sizes)) if penalised else 1.0 for sizes in compositions(n_items)}
        total = sum(prior.values())
        self.log_weights = np.array(
            [
                log(prior[sizes_of(labels)] / total)
                - log_number_of_tiers(labels)
                + log_orders(answers, labels)
                + self._integrated(answers, labels, by_line)
                for labels in self.tiers
            ]
        )
        peak = self.log_weights.max()
        weights = np.exp(self.log_weights - peak)
        self.log_evidence = peak + log(weights.sum())
        self.probabilities = weights / weights.sum()

    @staticmethod
    def _integrated(answers, labels, by_line):
        lines = [log_line(answers, labels, tier, THETAS) for tier in range(max(labels))]
        if by_line:
            return sum(log_integral(line + LOG_PRIOR) for line in lines)
        return log_integral(sum(lines) + LOG_PRIOR)

    def number_of_tiers(self):
        shares = np.zeros(len(self.tiers[0]) + 1)
        for labels, one in zip(self.tiers, self.probabilities, strict=True):
            shares[max(labels) + 1] += one
        return shares


def largest_over_thetas(log_height):
    """Largest value of a function of theta: on a grid, then on finer ones about its best point."""
    log_thetas = LOG_THETAS
    for _ in range(3):
        heights = log_height(np.exp(log_thetas))
        place = int(heights.argmax())
        low, high = max(place - 1, 0), min(place + 1, len(log_thetas) - 1)
        log_thetas = np.linspace(log_thetas[low], log_thetas[high], 101)
    return float(heights.max())


def best_criterion(answers, labels, by_line):
    """Criterion of tiers with the best theta of fine grids, 0 and infinity included."""
    tiers = range(max(labels))
    limits = [_limit(answers, labels, tier) for tier in tiers]

    def height_of(*some):
        return lambda thetas: sum(
            (log_line(answers, labels, tier, thetas) for tier in some), np.zeros_like(thetas)
        )

    if by_line:
        best = sum(max(largest_over_thetas(height_of(tier)), limits[tier]) for tier in tiers)
    else:
        best = max(largest_over_thetas(height_of(*tiers)), sum(limits))
    return best + log_orders(answers, labels) - log_number_of_tiers(labels)


def _limit(answers, labels, tier):
    """Log-likelihood of a line as theta grows: 0 without inversions, else minus infinity."""
    for blocks, times in answers:
        seen = 0
        for block in blocks:
            if times and seen and any(labels[item] == tier for item in block):
                return -np.inf
            seen += sum(labels[item] > tier for item in block)
    return 0.0


def all_label_rows(n_items):
    """All ordered partitions as rows of labels, grown item by item: into a tier, or alone."""
    rows = {1: np.zeros((1, 1), dtype=np.int64)}
    for _ in range(1, n_items):
        grown = {}
        for n_tiers, labels in rows.items():
            for tier in range(n_tiers):
                joined = np.column_stack([labels, np.full(len(labels), tier)])
                grown.setdefault(n_tiers, []).append(joined)
            for place in range(n_tiers + 1):
                moved = labels + (labels >= place)
                alone = np.column_stack([moved, np.full(len(labels), place)])
                grown.setdefault(n_tiers + 1, []).append(alone)
        rows = {n_tiers: np.concatenate(parts) for n_tiers, parts in grown.items()}
    return np.concatenate(list(rows.values())) if n_items > 1 else rows[1]


class CompleteRankingTwin:
    """Criterion of all ordered partitions at once, for complete rankings and their counts.

    ``precedes[a, b]`` is how often a is ranked before b, ``n_rankings`` how many rankings there
    are. The inversions of a line decide its likelihood, so that every different triple of size,
    number of worse items and inversions is maximised over theta once.
    """

    def __init__(self, precedes, n_rankings):
        self.n_items, self.n_rankings = len(precedes), n_rankings
        self.rows = all_label_rows(self.n_items)
        n_tiers = self.rows.max() + 1
        self.sizes = np.stack([(self.rows == tier).sum(axis=1) for tier in range(n_tiers)], axis=1)
        self.worse = self.n_items - np.cumsum(self.sizes, axis=1)
        self.inversions = np.zeros(self.sizes.shape)
        for tier in range(n_tiers):
            for better in range(self.n_items):
                for lower in range(self.n_items):
                    between = (self.rows[:, better] == tier) & (self.rows[:, lower] > tier)
                    self.inversions[:, tier] += precedes[lower, better] * between
        factorials = np.array([lgamma(size + 1) for size in range(self.n_items + 1)])
        log_factorials = factorials[self.sizes].sum(axis=1)
        # Orders within the tiers of each ranking, less the log number of tiers of these sizes.
        self.constants = (1 - n_rankings) * log_factorials - factorials[self.n_items]

    def _curve(self, thetas, size, worse):
        ratio = gauss_factorial(size, thetas) * gauss_factorial(worse, thetas)
        return self.n_rankings * np.log(ratio / gauss_factorial(size + worse, thetas))

    def _largest(self, size, worse, total):
        if total == 0:
            return 0.0
        return largest_over_thetas(lambda t: self._curve(t, size, worse) - t * total)

    def by_line(self):
        """Criterion with a theta for each tier but the last, each the best."""
        values = self.constants.copy()
        largest = lru_cache(maxsize=None)(self._largest)
        for size in range(1, self.n_items):
            for worse in range(1, self.n_items + 1 - size):
                for tier in range(self.sizes.shape[1] - 1):
                    chosen = (self.sizes[:, tier] == size) & (self.worse[:, tier] == worse)
                    totals, places = np.unique(self.inversions[chosen, tier], return_inverse=True)
                    best = np.array([largest(size, worse, total) for total in totals.tolist()])
                    values[chosen] += best[places.ravel()] if len(best) else 0.0
        return values

    def single(self):
        """Criterion with one theta, the best, of the best tiers of each sizes, with their rows."""
        totals = self.inversions.sum(axis=1)
        values, rows = [], []
        shapes, groups = np.unique(self.sizes, axis=0, return_inverse=True)
        for number, sizes in enumerate(shapes):
            members = np.flatnonzero(groups.ravel() == number)
            place = members[totals[members].argmin()]
            lines = [(int(s), int(w)) for s, w in zip(sizes, self.worse[place], strict=True) if s]

            def height(thetas, lines=lines, total=totals[place]):
                return sum(self._curve(thetas, *line) for line in lines) - thetas * total

            best = 0.0 if totals[place] == 0 else largest_over_thetas(height)
            values.append(best + self.constants[place])
            rows.append(self.rows[place])
        return np.array(values), np.array(rows)
