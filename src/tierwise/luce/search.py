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

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import inf, log, pi, sqrt
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
# What a change seems to gain, below which it is not tried: no change that was better seemed to lose
# more than 1.
_HOPELESS = -20.0
# How many items of a tier may be tried in the next one, and how many ways to cut it.
_ITEMS_OF_A_TIER = 3
_CUTS_OF_A_TIER = 2
_MOST_ROUNDS = 300
# Levels of the way from strict tiers to one that are looked at with the likelihood itself.
_LEVELS = 5
# Rows of a matrix that are in use, below which the others are taken out.
_LEAST_SHARE_OF_ROWS = 0.8
# Joins that are taken from a covariance at once.
_JOINS_AT_ONCE = 64
# Up to so many items each of these levels is improved, and the single tier; else the best of them.
_FEW_ITEMS = 12


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


@dataclass(frozen=True)
class Limits:
    """Which tiers are allowed.

    Attributes
    ----------
    fewest, most
        How many tiers there may be; ``most`` None is as many as there are items.
    margin
        Neighbouring tiers must differ so much that the better wins with more than this probability;
        one half asks for nothing.
    """

    fewest: int = 1
    most: int | None = None
    margin: float = 0.5

    @property
    def least_gap(self) -> float:
        """How far log worths of neighbouring tiers must be apart."""
        return log(self.margin / (1.0 - self.margin))

    def allow(self, worths: Worths) -> bool:
        """Whether tiers with these worths, in decreasing order, are allowed."""
        most = worths.n_tiers if self.most is None else self.most
        if not self.fewest <= worths.n_tiers <= most:
            return False
        gaps = worths.logs[:-1] - worths.logs[1:]
        return bool((gaps >= self.least_gap).all())


@dataclass(frozen=True, eq=False)
class TierSearch:
    """What tiers are searched by, and those that were met.

    Attributes
    ----------
    races
        The answers.
    log_prior
        Log prior probability of sizes; tiers of the same sizes are equally probable.
    limits
        Which tiers are allowed.
    least_promise
        What a join or a cut must seem to gain to be tried. Both seem to gain more than they do.
    met
        All tiers that were evaluated, by their labels as bytes.
    priors
        Log prior probability of one of the tiers of sizes, for all sizes that were asked for.
    climbed
        Tiers that were climbed from, as bytes: whoever comes back to them would go the same way.
    """

    races: Races
    log_prior: LogPrior
    limits: Limits = Limits()
    shape: float = SHAPE
    least_promise: float = _HOPELESS
    met: dict[bytes, Found] = field(default_factory=dict)
    priors: dict[Sizes, float] = field(default_factory=dict)
    climbed: set[bytes] = field(default_factory=set)

    def log_prior_of_tiers(self, sizes: Sizes) -> float:
        """Log prior probability of any tiers of these sizes."""
        if sizes not in self.priors:
            self.priors[sizes] = self.log_prior(sizes) - log_number_of_tiers(sizes)
        return self.priors[sizes]

    def evaluate(self, labels: Integers, start: Floats | None = None) -> Found:
        """Find worths of tiers and their score; tiers are put into the order of their worths."""
        key = labels.tobytes()
        if key in self.met:
            return self.met[key]
        worths = _in_order(best_worths(self.races, labels, start, self.shape))
        sorted_key = worths.labels.tobytes()
        if sorted_key not in self.met:
            sizes = sizes_of(worths.labels)
            score = worths.log_evidence + self.log_prior_of_tiers(sizes)
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
    rows = np.append(order, np.arange(len(order), len(worths.precision)))
    return replace(
        worths,
        labels=place[worths.labels],
        logs=worths.logs[order],
        precision=worths.precision[np.ix_(rows, rows)],
    )


def search_tiers(search: TierSearch) -> list[Found]:
    """Search the tiers of all sizes that are most probable.

    Parameters
    ----------
    search
        The answers, and what tiers are searched by; it then knows all tiers that were met.

    Returns
    -------
    list of Found
        All tiers that were evaluated, the best first. Strict tiers and the single tier are among
        them, for comparison, whether they are allowed or not.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise.answers.races import races_of
    >>> races = races_of(tw.load_political_goals())
    >>> found = search_tiers(TierSearch(races, lambda sizes: 0.0))[0]
    >>> found.sizes, found.worths.logs.round(2).tolist()
    ((1, 1, 1, 1), [0.61, 0.5, -0.45, -0.66])
    """
    n_items, limits = search.races.n_items, search.limits
    single = search.evaluate(np.zeros(n_items, dtype=np.int64))
    strict = search.evaluate(np.arange(n_items)).worths
    levels = sorted(_join_neighbours(search, strict), key=lambda level: -level[0])
    candidates = [
        search.evaluate(labels, np.append(logs, strict.effects))
        for _, labels, logs in levels[:_LEVELS]
    ]
    allowed = [found for found in (*candidates, single) if limits.allow(found.worths)]
    starts = sorted(allowed, key=lambda found: -found.score)
    for start in starts if n_items <= _FEW_ITEMS else starts[:1]:
        _climb(search, start)
    return [
        found
        for found in search.ranked
        if limits.allow(found.worths) or found.worths.n_tiers in (1, n_items)
    ]


def climb_from(search: TierSearch, labels: Integers, log_worths: Floats) -> list[Found]:
    """Change tiers as long as that is better; return all that were met, the best first.

    Parameters
    ----------
    search
        The answers, and what tiers are searched by; it then knows all tiers that were met.
    labels, log_worths
        Tiers to begin with, and about their log worths.
    """
    _climb(search, search.evaluate(labels, log_worths))
    return search.ranked


def likely_tiers(search: TierSearch, start: Floats) -> tuple[Integers, Floats, Floats]:
    """Return tiers that are about as probable as any, log worths and log effects, without a search.

    Parameters
    ----------
    search
        The answers, and what tiers are searched by.
    start
        About the log worth of each item, followed by log effects if there are any.
    """
    n_items = search.races.n_items
    strict = _in_order(best_worths(search.races, np.arange(n_items), start, search.shape))
    levels = list(_join_neighbours(search, strict))
    if not levels:
        return np.zeros(n_items, dtype=np.int64), np.zeros(1), strict.effects
    _, labels, logs = max(levels, key=lambda level: level[0])
    return labels, logs, strict.effects


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
    logs, kept = strict.logs.copy(), _TiersOfCovariance(strict.covariance)
    loss, log_determinant = 0.0, strict.log_determinant
    base = strict.log_likelihood
    limits = search.limits
    most_tiers = n_items if limits.most is None else limits.most
    now = strict.labels.copy()
    counts = np.ones(n_items)
    while len(counts) > 1:
        n_tiers = len(counts)
        if n_tiers < limits.fewest:
            return
        gaps = logs[:-1] - logs[1:]
        if n_tiers <= most_tiers and gaps.min() >= limits.least_gap:
            sizes = tuple(counts.astype(np.int64).tolist())
            score = base - loss + _log_prior_at(logs, search.shape)
            score += 0.5 * ((n_tiers - 1) * log(2.0 * pi) - log_determinant)
            score += search.log_prior_of_tiers(sizes)
            yield score, now.copy(), logs.copy()
        variances = kept.variances_of_gaps()
        prices = 0.5 * gaps**2 / variances
        joined = _log_factorials(counts[:-1] + counts[1:])
        joined -= _log_factorials(counts[:-1]) + _log_factorials(counts[1:])
        # Fewer arrangements and one worth less, against what the answers lose.
        gains = joined - prices - 0.5 * np.log(variances)
        too_close = gaps < limits.least_gap
        at = int(np.argmax(np.where(too_close, gains, -inf) if too_close.any() else gains))
        loss += float(prices[at])
        log_determinant += _change_of_determinant(float(variances[at]), n_tiers)
        # Only differences are used, so log worths need not sum to 0 again.
        direction = kept.join(at, float(variances[at]))
        logs = np.delete(logs - direction * (gaps[at] / variances[at]), at + 1)
        counts[at] += counts[at + 1]
        counts = np.delete(counts, at + 1)
        now -= now > at


class _TiersOfCovariance:
    """Covariance of the log worths of tiers that are joined one after the other.

    A join takes an outer product from the matrix. Many of them are taken at once, by one product of
    matrices, and those that are not taken yet are taken from the rows that are looked at. Rows of
    tiers that are gone are left where they are until they are many: to take them out takes longer
    than to join tiers.
    """

    def __init__(self, covariance: Floats) -> None:
        self._matrix = np.ascontiguousarray(covariance).copy()
        self._rows = np.arange(len(covariance))
        self._joins = np.empty((_JOINS_AT_ONCE, len(covariance)))
        self._n_joins = 0
        spread = np.diag(covariance)
        self._variances = spread[:-1] + spread[1:] - 2.0 * np.diag(covariance, 1)

    def variances_of_gaps(self) -> Floats:
        """Return the variances of the differences between neighbours."""
        return self._variances

    def join(self, at: int, variance: float) -> Floats:
        """Join a tier and the next, whose gap varies so much; return how all vary with the gap."""
        rows, waiting = self._rows, self._joins[: self._n_joins]
        direction = self._matrix[rows[at]] - self._matrix[rows[at + 1]]
        direction -= (waiting[:, rows[at]] - waiting[:, rows[at + 1]]) @ waiting
        found: Floats = direction[rows]
        self._variances = np.delete(self._variances - np.diff(found) ** 2 / variance, at)
        self._joins[self._n_joins] = direction / sqrt(variance)
        self._n_joins += 1
        self._rows = np.delete(rows, at + 1)
        if self._n_joins == _JOINS_AT_ONCE:
            self._take()
        return found

    def _take(self) -> None:
        """Take all joins from the matrix that wait for it."""
        from scipy.linalg.blas import dgemm

        if len(self._rows) < _LEAST_SHARE_OF_ROWS * len(self._matrix):
            self._matrix = self._matrix[np.ix_(self._rows, self._rows)]
            self._joins = np.ascontiguousarray(self._joins[:, self._rows])
            self._rows = np.arange(len(self._rows))
        # In place: the matrix is symmetric, and its transpose is in the order of Fortran.
        joins = self._joins.T
        dgemm(-1.0, joins, joins, 1.0, self._matrix.T, trans_b=1, overwrite_c=1)
        self._n_joins = 0


def _change_of_determinant(variance: float, n_tiers: int) -> float:
    """Log of the factor by which joining two tiers changes the determinant of the precision.

    Without the common scale: the determinant in log worths that sum to 0 is that with one worth
    held fixed, divided by the number of tiers.
    """
    return log(variance) + log(n_tiers) - log(n_tiers - 1)


def _log_prior_at(logs: Floats, shape: float) -> float:
    weight, peak = shape * len(logs), float(logs.max())
    total = peak - float(logs.mean()) + log(float(np.exp(logs - peak).sum()))
    return log_prior_constant(len(logs), shape) - weight * total


def _log_factorials(numbers: Floats) -> Floats:
    from scipy.special import gammaln

    factorials: Floats = gammaln(numbers + 1.0)
    return factorials


def _climb(search: TierSearch, start: Found) -> Found:
    """Change tiers as long as one of the changes that look best is better."""
    current = start
    for _ in range(_MOST_ROUNDS):
        if current.labels.tobytes() in search.climbed:
            return current
        search.climbed.add(current.labels.tobytes())
        better = None
        for labels, logs in _likely_changes(search, current):
            found = search.evaluate(labels, np.append(logs, current.worths.effects))
            if found.score > current.score + 1e-9 and search.limits.allow(found.worths):
                better = found
                break
        if better is None:
            return current
        current = better
    return current


@dataclass(frozen=True, eq=False)
class _Neighbourhood:
    """Tiers, and what the likelihood says of changing one of them, to second order.

    What a change gains is judged by the log worth of the single item that moves, or of the parts
    of the tier that is cut; two tiers are joined at the price of their gap.
    """

    search: TierSearch
    current: Found
    gradient: Floats
    hessian: Floats

    @cached_property
    def stiffness(self) -> Floats:
        """How fast the likelihood bends in the log worth of each item."""
        return np.maximum(-np.diag(self.hessian), 1e-12)

    @cached_property
    def _log_prior(self) -> float:
        return self.search.log_prior_of_tiers(self.current.sizes)

    def prior_gain(self, labels: Integers) -> float:
        """Return how much other tiers gain in log prior probability."""
        return self.search.log_prior_of_tiers(sizes_of(labels)) - self._log_prior

    def moves(self) -> Iterator[tuple[float, Integers, Floats]]:
        """Move single items to neighbouring tiers."""
        worths = self.current.worths
        for tier in range(worths.n_tiers):
            members = np.flatnonzero(worths.labels == tier)
            if len(members) == 1:
                continue  # joining covers it
            for other in (tier - 1, tier + 1):
                if not 0 <= other < worths.n_tiers:
                    continue
                step = worths.logs[other] - worths.logs[tier]
                gains = self.gradient[members] * step
                gains -= 0.5 * self.stiffness[members] * step**2
                for place in np.argsort(-gains)[:_ITEMS_OF_A_TIER].tolist():
                    labels = worths.labels.copy()
                    labels[members[place]] = other
                    yield float(gains[place]) + self.prior_gain(labels), labels, worths.logs

    def joins(self) -> Iterator[tuple[float, Integers, Floats]]:
        """Join two neighbouring tiers."""
        worths = self.current.worths
        if worths.n_tiers <= self.search.limits.fewest or worths.n_tiers == 1:
            return
        variances = worths.variances_of_gaps
        gaps = worths.logs[:-1] - worths.logs[1:]
        gains = 0.5 * np.log(2.0 * pi / variances) - 0.5 * gaps**2 / variances
        sizes = np.bincount(worths.labels)
        for tier in range(worths.n_tiers - 1):
            labels = worths.labels - (worths.labels > tier)
            share = sizes[tier] / (sizes[tier] + sizes[tier + 1])
            logs = np.delete(worths.logs, tier + 1)
            logs[tier] -= (1.0 - share) * gaps[tier]
            yield float(gains[tier]) + self.prior_gain(labels), labels, logs

    def cuts(self) -> Iterator[tuple[float, Integers, Floats]]:
        """Cut a tier in two, along how far its items would move, and how surely they would."""
        worths, search = self.current.worths, self.search
        if search.limits.most is not None and worths.n_tiers >= search.limits.most:
            return
        wanted = self.gradient / self.stiffness, self.gradient / np.sqrt(self.stiffness)
        occam = _occam(worths.n_tiers, search.shape)
        for tier in range(worths.n_tiers):
            members = np.flatnonzero(worths.labels == tier)
            if len(members) == 1:
                continue
            orders = [members[np.argsort(-by[members], kind="stable")] for by in wanted]
            if (orders[0] == orders[1]).all():
                orders.pop()
            for order in orders:
                for cut, gain, steps in _best_cuts(order, self.gradient, self.hessian):
                    labels = worths.labels + (worths.labels > tier)
                    labels[order[cut:]] = tier + 1
                    logs = np.concatenate((worths.logs[: tier + 1], worths.logs[tier:]))
                    logs[tier : tier + 2] += steps
                    yield gain + occam + self.prior_gain(labels), labels, logs


def _likely_changes(search: TierSearch, current: Found) -> list[tuple[Integers, Floats]]:
    """Tiers that differ by one change, with about their log worths, those that look best first."""
    worths = current.worths
    gradient, hessian = _derivatives_by_item(search.races, worths.labels, worths.point)
    near = _Neighbourhood(search, current, gradient, hessian)
    changes = [(*one, _HOPELESS) for one in near.moves()]
    changes += [(*one, search.least_promise) for one in (*near.joins(), *near.cuts())]
    best = sorted(changes, key=lambda one: -one[0])[:_TRIALS]
    return [(labels, logs) for gain, labels, logs, least in best if gain > least]


def _derivatives_by_item(races: Races, labels: Integers, point: Floats) -> tuple[Floats, Floats]:
    """Gradient and Hessian of the log-likelihood in the log worth of each item."""
    n_items = races.n_items
    logs, effects = races.parts(point)
    by_item = np.append(logs[labels], effects)
    _, gradient, hessian = races.derivatives(np.arange(n_items), by_item)
    return gradient[:n_items], hessian[:n_items, :n_items]


def _occam(n_tiers: int, shape: float) -> float:
    """About what the prior density of worths gains by one more tier."""
    return log_prior_constant(n_tiers + 1, shape) - log_prior_constant(n_tiers, shape) - 1.0


def _best_cuts(
    order: Integers, gradient: Floats, hessian: Floats
) -> list[tuple[int, float, Floats]]:
    """Where to cut a tier: place, gain to second order, and how far each part then moves."""
    slopes = np.cumsum(gradient[order])
    sums = hessian[np.ix_(order, order)].cumsum(axis=0).cumsum(axis=1)
    within = np.diag(sums)[:-1]
    first, cross = -within, within - sums[:-1, -1]
    second = -sums[-1, -1] - first - 2.0 * cross
    # A common step of both parts may change nothing, so the system is made regular.
    ridge = 1e-9 * np.maximum(np.maximum(first, second), 1e-9)
    determinant = (first + ridge) * (second + ridge) - cross**2
    up, down = slopes[:-1], slopes[-1] - slopes[:-1]
    steps = np.array([(second + ridge) * up - cross * down, (first + ridge) * down - cross * up])
    steps /= determinant
    gains = 0.5 * (up * steps[0] + down * steps[1])
    scale = np.maximum(first + second + 2.0 * cross, 1e-12)
    precision = np.maximum((first * second - cross**2) / scale, 1e-12)
    gains -= 0.5 * np.log(precision) - 0.5 * log(2.0 * pi)
    # Uneven cuts can be arranged in fewer ways, so each of them is more probable beforehand.
    best = np.argsort(_log_ways_to_cut(len(order)) - gains, kind="stable")[
        :_CUTS_OF_A_TIER
    ].tolist()
    return [(cut + 1, float(gains[cut]), steps[:, cut]) for cut in best]


@lru_cache(maxsize=1000)
def _log_ways_to_cut(n_items: int) -> Floats:
    """Log number of ways to choose the upper part of a tier, by its size, but for a constant."""
    sizes = np.arange(1.0, n_items)
    return -_log_factorials(sizes) - _log_factorials(n_items - sizes)


def tiers_of_sizes(races: Races, sizes: Sizes, shape: float = SHAPE) -> Found:
    """Search the tiers of given sizes that are most probable: exchanges of items.

    Parameters
    ----------
    races
        The answers.
    sizes
        Sizes of the tiers, best first.
    shape
        Shape of the Gamma prior of worths.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise.answers.races import races_of
    >>> tiers_of_sizes(races_of(tw.load_political_goals()), (2, 2)).labels
    array([0, 1, 0, 1])
    """
    search = TierSearch(races, lambda _: 0.0, shape=shape)
    current = search.evaluate(cut_by_strength(races, sizes, shape=shape))
    # Items that are alone are in the order of their worths: there is nothing to exchange.
    for _ in range(_MOST_ROUNDS if max(sizes) > 1 else 0):
        better = next(
            (
                found
                for found in (
                    search.evaluate(labels, current.worths.point)
                    for labels in likely_exchanges(races, current.labels, current.worths.point)
                )
                if found.score > current.score + 1e-9 and found.sizes == sizes
            ),
            None,
        )
        if better is None:
            break
        current = better
    return current


def cut_by_strength(
    races: Races, sizes: Sizes, start: Floats | None = None, shape: float = SHAPE
) -> Integers:
    """Return tiers of given sizes without a search: items in the order of strengths, cut.

    Parameters
    ----------
    races, sizes
        The answers, and the sizes of the tiers, best first.
    start
        About the log worth of each item, followed by log effects, if these are known.
    shape
        Shape of the Gamma prior of worths.
    """
    strict = _in_order(best_worths(races, np.arange(races.n_items), start, shape))
    return np.repeat(np.arange(len(sizes)), sizes)[strict.labels]


def likely_exchanges(races: Races, labels: Integers, point: Floats) -> list[Integers]:
    """Tiers in which two items of neighbouring tiers have changed places, likely ones first."""
    logs, _ = races.parts(point)
    gradient, hessian = _derivatives_by_item(races, labels, point)
    stiffness = np.maximum(-np.diag(hessian), 1e-12)
    changes: list[tuple[float, Integers]] = []
    for tier in range(len(logs) - 1):
        upper, lower = np.flatnonzero(labels == tier), np.flatnonzero(labels == tier + 1)
        step = logs[tier] - logs[tier + 1]
        down = -gradient[upper] * step - 0.5 * stiffness[upper] * step**2
        up = gradient[lower] * step - 0.5 * stiffness[lower] * step**2
        for first in np.argsort(-down)[:_ITEMS_OF_A_TIER].tolist():
            for second in np.argsort(-up)[:_ITEMS_OF_A_TIER].tolist():
                changed = labels.copy()
                changed[upper[first]], changed[lower[second]] = tier + 1, tier
                changes.append((float(down[first] + up[second]), changed))
    changes.sort(key=lambda one: -one[0])
    return [changed for _, changed in changes[:_TRIALS]]
