"""Tiers of all sizes, under Luce's choice model: neighbours are joined, then local search.

All tiers of one item give an order, and a normal approximation of the likelihood. Under it the
price of joining two neighbours is known, and so is what is left when they are joined, so one pass
from as many tiers as items to a single one costs no more than to invert a matrix. The best tiers on
that way are then improved with the likelihood itself: single items move to other tiers or to tiers
of their own, tiers are joined and cut, as long as that is better.

What is maximised is the log evidence of the tiers (worths averaged over, Laplace's approximation)
plus their log prior.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, lgamma, log, pi
from typing import TYPE_CHECKING

import numpy as np

from tierwise.luce.worths import SHAPE, Worths, best_worths, log_prior_constant
from tierwise.tiers import log_number_of_tiers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tierwise.answers.races import Floats, Integers, Races
    from tierwise.tiers import Sizes

    LogPrior = Callable[[Sizes], float]

# How many changes that look best are tried with the likelihood itself before giving up.
_TRIALS = 12
_MOST_ROUNDS = 300
# Levels of the way from strict tiers to one that are looked at with the likelihood itself.
_LEVELS = 5


@dataclass(frozen=True, eq=False)
class Found:
    """Tiers that a search met, with their worths.

    Attributes
    ----------
    worths
        The most probable worths of the tiers, in decreasing order.
    score
        Log evidence of the tiers plus their log prior.
    """

    worths: Worths
    score: float

    @property
    def labels(self) -> Integers:
        """Tier of each item, counted from 0."""
        return self.worths.labels

    @property
    def sizes(self) -> Sizes:
        """Sizes of the tiers."""
        return sizes_of(self.labels)


def sizes_of(labels: Integers) -> Sizes:
    """Count the items of each tier."""
    return tuple(np.bincount(labels).tolist())


@dataclass(frozen=True, eq=False)
class TierSearch:
    """What tiers are searched by, and those that were met.

    Attributes
    ----------
    races
        The answers.
    log_prior
        Log prior probability of sizes; tiers of the same sizes are equally probable.
    most_tiers
        Most tiers that are allowed.
    met
        All tiers that were evaluated, by their labels as bytes.
    """

    races: Races
    log_prior: LogPrior
    most_tiers: int
    shape: float = SHAPE
    met: dict[bytes, Found] = field(default_factory=dict)

    def evaluate(self, labels: Integers, start: Floats | None = None) -> Found:
        """Find worths of tiers and their score; tiers are put into the order of their worths."""
        key = labels.tobytes()
        if key in self.met:
            return self.met[key]
        worths = _in_order(best_worths(self.races, labels, start, self.shape))
        sorted_key = worths.labels.tobytes()
        if sorted_key not in self.met:
            sizes = sizes_of(worths.labels)
            score = worths.log_evidence - log_number_of_tiers(sizes) + self.log_prior(sizes)
            self.met[sorted_key] = Found(worths, score)
        found = self.met[sorted_key]
        self.met[key] = found
        return found

    @property
    def ranked(self) -> list[Found]:
        """All tiers that were met, the best first."""
        distinct = {id(found): found for found in self.met.values()}
        return sorted(distinct.values(), key=lambda found: -found.score)


def _in_order(worths: Worths) -> Worths:
    """Return the same tiers in decreasing order of their worths."""
    order = np.argsort(-worths.logs, kind="stable")
    if (order == np.arange(len(order))).all():
        return worths
    place = np.argsort(order)
    return Worths(
        place[worths.labels],
        worths.logs[order],
        worths.log_likelihood,
        worths.log_density,
        worths.precision[np.ix_(order, order)],
        worths.shape,
    )


def search_tiers(
    races: Races, log_prior: LogPrior, most_tiers: int | None = None, shape: float = SHAPE
) -> list[Found]:
    """Search the tiers of all sizes that are most probable.

    Parameters
    ----------
    races
        The answers.
    log_prior
        Log prior probability of sizes.
    most_tiers
        Most tiers that are allowed; as many as there are items if None.
    shape
        Shape of the Gamma prior of worths.

    Returns
    -------
    list of Found
        All tiers that were evaluated, the best first; strict tiers and the single tier are among
        them.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise.answers.races import races_of
    >>> races = races_of(tw.load_political_goals())
    >>> found = search_tiers(races, lambda sizes: 0.0)[0]
    >>> found.sizes, found.worths.logs.round(2).tolist()
    ((1, 1, 1, 1), [0.61, 0.5, -0.45, -0.66])
    """
    n_items = races.n_items
    limit = n_items if most_tiers is None else min(most_tiers, n_items)
    search = TierSearch(races, log_prior, limit, shape)
    search.evaluate(np.zeros(n_items, dtype=np.int64))
    strict = search.evaluate(np.arange(n_items)).worths
    levels = sorted(_join_neighbours(search, strict), key=lambda level: -level[0])
    candidates = [search.evaluate(labels, logs) for _, labels, logs in levels[:_LEVELS]]
    if candidates:
        _climb(search, max(candidates, key=lambda found: found.score))
    return [found for found in search.ranked if _is_allowed(found, limit, n_items)]


def _is_allowed(found: Found, most_tiers: int, n_items: int) -> bool:
    """Whether tiers are few enough; strict ones are always shown for comparison."""
    return found.worths.n_tiers <= most_tiers or found.worths.n_tiers == n_items


def _join_neighbours(
    search: TierSearch, strict: Worths
) -> Iterator[tuple[float, Integers, Floats]]:
    """Join neighbouring tiers, always those that lose least, from strict tiers to two.

    Yields
    ------
    tuple
        About the score of the tiers at each level; their labels; about their log worths.
    """
    n_items = strict.n_tiers
    labels, logs, covariance = strict.labels.copy(), strict.logs.copy(), strict.covariance.copy()
    runs = [np.flatnonzero(labels == tier) for tier in range(n_items)]
    # What is left of the strict log density when tiers are joined, without the prior of worths.
    loss, log_determinant = 0.0, strict.log_determinant
    base = strict.log_likelihood
    while len(runs) > 1:
        n_tiers = len(runs)
        if n_tiers <= search.most_tiers:
            sizes = tuple(len(run) for run in runs)
            score = base - loss + _log_prior_at(logs, search.shape)
            score += 0.5 * ((n_tiers - 1) * log(2.0 * pi) - log_determinant)
            score += search.log_prior(sizes) - log_number_of_tiers(sizes)
            now = np.empty(n_items, dtype=np.int64)
            for tier, run in enumerate(runs):
                now[run] = tier
            yield score, now, logs.copy()
        gaps = logs[:-1] - logs[1:]
        spread = np.diag(covariance)
        variances = spread[:-1] + spread[1:] - 2.0 * np.diag(covariance, 1)
        prices = 0.5 * gaps**2 / variances
        counts = np.array([len(run) for run in runs], dtype=np.float64)
        joined = _log_factorials(counts[:-1] + counts[1:])
        joined -= _log_factorials(counts[:-1]) + _log_factorials(counts[1:])
        # Fewer arrangements and one worth less, against what the answers lose.
        at = int(np.argmax(joined - prices - 0.5 * np.log(variances)))
        direction = covariance[:, at] - covariance[:, at + 1]
        loss += float(prices[at])
        log_determinant += _change_of_determinant(float(variances[at]), n_tiers)
        logs = logs - direction * (gaps[at] / variances[at])
        covariance = covariance - np.outer(direction, direction) / variances[at]
        runs[at : at + 2] = [np.concatenate((runs[at], runs[at + 1]))]
        keep = np.arange(n_tiers) != at + 1
        logs, covariance = logs[keep], covariance[np.ix_(keep, keep)]
        logs, covariance = _centred(logs, covariance)


def _change_of_determinant(variance: float, n_tiers: int) -> float:
    """Log of the factor by which joining two tiers changes the determinant of the precision.

    Without the common scale: the determinant in log worths that sum to 0 is that with one worth
    held fixed, divided by the number of tiers.
    """
    return log(variance) + log(n_tiers) - log(n_tiers - 1)


def _centred(logs: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Let log worths of fewer tiers sum to 0 again."""
    centred = covariance - covariance.mean(axis=0)
    return logs - logs.mean(), centred - centred.mean(axis=1)[:, None]


def _log_prior_at(logs: Floats, shape: float) -> float:
    from scipy.special import logsumexp

    weight = shape * len(logs)
    return log_prior_constant(len(logs), shape) - weight * float(logsumexp(logs - logs.mean()))


def _log_factorials(numbers: Floats) -> Floats:
    from scipy.special import gammaln

    factorials: Floats = gammaln(numbers + 1.0)
    return factorials


def _climb(search: TierSearch, start: Found) -> Found:
    """Change tiers as long as one of the changes that look best is better."""
    current = start
    for _ in range(_MOST_ROUNDS):
        better = None
        for labels, logs in _likely_changes(search, current):
            found = search.evaluate(labels, logs)
            if found.score > current.score + 1e-9:
                better = found
                break
        if better is None:
            return current
        current = better
    return current


def _likely_changes(search: TierSearch, current: Found) -> list[tuple[Integers, Floats]]:
    """Tiers that differ by one change, those that look best first.

    What a change gains is judged by the likelihood to second order in the log worth of the single
    item, or of the part that is cut off; two tiers are joined at the price of their gap.
    """
    races, worths = search.races, current.worths
    n_items, n_tiers = races.n_items, worths.n_tiers
    item_logs = worths.logs[worths.labels]
    _, gradient, hessian = races.derivatives(np.arange(n_items), item_logs)
    stiffness = np.maximum(-np.diag(hessian), 1e-12)
    sizes = np.bincount(worths.labels).astype(np.float64)
    factorials = _log_factorials(np.arange(n_items + 1.0))
    prior_now = search.log_prior(current.sizes) - log_number_of_tiers(current.sizes)
    changes: list[tuple[float, Integers, Floats]] = []

    def add(gain: float, labels: Integers, logs: Floats) -> None:
        changes.append((gain, labels, logs))

    def prior_of(new: Sizes) -> float:
        return search.log_prior(new) - log_number_of_tiers(new) - prior_now

    # An item to a neighbouring tier.
    for tier in range(n_tiers):
        members = np.flatnonzero(worths.labels == tier)
        for other in (tier - 1, tier + 1):
            if not 0 <= other < n_tiers or (sizes[tier] == 1 and n_tiers == 2):
                continue
            step = worths.logs[other] - worths.logs[tier]
            gains = gradient[members] * step - 0.5 * stiffness[members] * step**2
            for place in np.argsort(-gains)[:3].tolist():
                labels = worths.labels.copy()
                labels[members[place]] = other
                if sizes[tier] == 1:
                    continue  # joining covers it
                new = sizes.copy()
                new[tier] -= 1
                new[other] += 1
                change = factorials[int(sizes[tier])] + factorials[int(sizes[other])]
                change = factorials[int(new[tier])] + factorials[int(new[other])] - change
                add(float(gains[place]) + float(change), labels, worths.logs)
    # Two neighbouring tiers joined.
    if n_tiers > 1:
        spread = np.diag(worths.covariance)
        variances = spread[:-1] + spread[1:] - 2.0 * np.diag(worths.covariance, 1)
        gaps = worths.logs[:-1] - worths.logs[1:]
        for tier in range(n_tiers - 1):
            labels = worths.labels - (worths.labels > tier)
            gain = -0.5 * gaps[tier] ** 2 / variances[tier] - 0.5 * log(variances[tier])
            gain += 0.5 * log(2.0 * pi) + prior_of(sizes_of(labels))
            weight = sizes[tier] + sizes[tier + 1]
            logs = np.delete(worths.logs, tier + 1)
            logs[tier] = (
                sizes[tier] * worths.logs[tier] + sizes[tier + 1] * worths.logs[tier + 1]
            ) / weight
            add(float(gain), labels, logs)
    # A tier cut in two, along what its items would gain.
    if n_tiers < search.most_tiers:
        for tier in range(n_tiers):
            members = np.flatnonzero(worths.labels == tier)
            if len(members) < 2:
                continue
            order = members[np.argsort(-gradient[members] / stiffness[members], kind="stable")]
            for cut, gain, apart in _best_cuts(order, gradient, hessian):
                labels = worths.labels + (worths.labels > tier)
                labels[order[cut:]] = tier + 1
                gain += prior_of(sizes_of(labels)) + _occam(n_tiers, search.shape)
                logs = np.insert(worths.logs, tier, worths.logs[tier])
                logs[tier] += apart[0]
                logs[tier + 1] += apart[1]
                add(gain, labels, logs)
    changes.sort(key=lambda one: -one[0])
    return [(labels, logs) for gain, labels, logs in changes[:_TRIALS] if gain > -inf]


def _occam(n_tiers: int, shape: float) -> float:
    """About what the prior density of worths gains by one more tier."""
    return log_prior_constant(n_tiers + 1, shape) - log_prior_constant(n_tiers, shape) - 1.0


def _best_cuts(
    order: Integers, gradient: Floats, hessian: Floats
) -> list[tuple[int, float, tuple[float, float]]]:
    """Where to cut a tier: place, gain to second order, and how far each part then moves."""
    slopes = np.cumsum(gradient[order])
    block = hessian[np.ix_(order, order)]
    rows = block.cumsum(axis=0).cumsum(axis=1)
    total = float(rows[-1, -1])
    found = []
    for cut in range(1, len(order)):
        first = -float(rows[cut - 1, cut - 1])
        cross = -(float(rows[cut - 1, -1]) - float(rows[cut - 1, cut - 1]))
        second = -total - first - 2.0 * cross
        slope = np.array([slopes[cut - 1], slopes[-1] - slopes[cut - 1]])
        matrix = np.array([[first, cross], [cross, second]])
        matrix += 1e-9 * np.eye(2) * max(first, second, 1e-9)
        steps = np.linalg.solve(matrix, slope)
        gain = 0.5 * float(slope @ steps)
        precision = first * second - cross**2
        scale = max((first + second + 2.0 * cross), 1e-12)
        gain -= 0.5 * log(max(precision / scale, 1e-12)) - 0.5 * log(2.0 * pi)
        found.append((cut, gain, (float(steps[0]), float(steps[1]))))
    found.sort(key=lambda one: -one[1])
    return found[:2]
