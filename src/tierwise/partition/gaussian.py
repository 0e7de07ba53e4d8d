"""Inversions: the partition function is a product of Gaussian binomials, one per line.

A line is a tier against all worse ones. The inversions of the lines are independent, so that each
line may have a theta of its own. Moments, the distribution of the distance, probabilities of weak
orders, places of tiers and pairs, and draws all follow from that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import factorial, inf, lgamma, prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tierwise.errors import InputError
from tierwise.files.places import first_places
from tierwise.partition.base import (
    NUMBERS_AT_A_TIME,
    DistanceDistribution,
    ExactPartition,
    Moments,
    check_items_of_distribution,
    from_exact_counts,
)
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


_Floats = NDArray[np.float64]

Thetas: TypeAlias = "float | ArrayLike"
"""One theta, or one for each tier but the last."""

# Of so few items the numbers of orderings at each distance are few, and quickly summed.
MOST_ITEMS_BY_COUNTS = 12
_Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LineMoments:
    """Inversions of each line, which are independent of those of other lines.

    Attributes
    ----------
    log_binomials
        Log of the Gaussian binomial of each line: the normaliser of its inversions.
    means, variances
        Mean and variance of its inversions. Minus the means are the gradient of the log partition
        function in the thetas, and the variances the diagonal of its Hessian, which is diagonal.
    """

    log_binomials: _Floats
    means: _Floats
    variances: _Floats


def thetas_of_lines(sizes: Sequence[int], theta: Thetas) -> _Floats:
    """Return theta of each tier but the last, or say what is wrong.

    Examples
    --------
    >>> thetas_of_lines((2, 1, 1), 0.5)
    array([0.5, 0.5])
    """
    n_lines = len(sizes) - 1
    values = np.asarray(theta, dtype=np.float64)
    if np.isnan(values).any() or (values < 0.0).any():
        raise InputError(f"theta must be 0 or more; got {theta!r}")
    if values.ndim == 0:
        return np.full(n_lines, float(values))
    if values.shape != (n_lines,):
        raise InputError(
            f"{len(sizes)} tiers need {n_lines} thetas, one for each tier but the last; got "
            f"{values.size}"
        )
    return values


def line_moments(sizes: Sequence[int], theta: Thetas) -> LineMoments:
    """Return normaliser, mean and variance of the inversions of every line.

    Parameters
    ----------
    sizes
        Number of items in each tier, best first.
    theta
        One theta, or one for each tier but the last; 0 and infinity are possible.

    Examples
    --------
    >>> moments = line_moments((1, 1, 1), 0.0)
    >>> moments.means, moments.variances.round(4)
    (array([1. , 0.5]), array([0.6667, 0.25  ]))
    """
    from tierwise._kernels.inversions_lines import q_factorial_derivatives

    thetas = thetas_of_lines(sizes, theta)
    tails = np.cumsum(np.asarray(sizes, dtype=np.int64)[::-1])[::-1]
    found = np.zeros((3, len(thetas)))
    rows, known = np.zeros((3, 1)), -1.0
    for line, value in enumerate(thetas.tolist()):
        if value != known or rows.shape[1] <= tails[line]:
            rows, known = q_factorial_derivatives(value, int(tails[line])), value
        size, whole = sizes[line], int(tails[line])
        found[:, line] = rows[:, whole] - rows[:, size] - rows[:, whole - size]
    return LineMoments(found[0], -found[1], np.maximum(found[2], 0.0))


def log_partition(sizes: Sequence[int], theta: Thetas) -> float:
    """Log of the sum of ``exp(-theta d)`` over all orderings.

    Examples
    --------
    >>> round(log_partition((2, 2), 0.0), 6)  # log 4!
    3.178054
    >>> log_partition((1, 1), float("inf"))
    0.0
    """
    log_orders = sum(lgamma(size + 1) for size in sizes)
    return log_orders + float(line_moments(sizes, theta).log_binomials.sum())


def mean_distance(sizes: Sequence[int], theta: Thetas) -> float:
    """Mean of the distance.

    Examples
    --------
    >>> mean_distance((2, 2), 0.0)
    2.0
    """
    return float(line_moments(sizes, theta).means.sum())


def variance_of_distance(sizes: Sequence[int], theta: Thetas) -> float:
    """Variance of the distance.

    Examples
    --------
    >>> round(variance_of_distance((2, 2), 0.0), 6)
    1.666667
    """
    return float(line_moments(sizes, theta).variances.sum())


def distance_distribution(sizes: Sequence[int]) -> DistanceDistribution:
    """Return the number of orderings at each distance, as exact integers.

    Examples
    --------
    >>> list(distance_distribution((2, 1)).counts)
    [2, 2, 2]
    """
    n_items = sum(sizes)
    check_items_of_distribution(n_items)
    coefficients = np.array([prod(factorial(size) for size in sizes)], dtype=object)
    n_worse = n_items
    for size in sizes:
        n_worse -= size
        room = np.zeros(size * n_worse, dtype=object)
        coefficients = np.concatenate([coefficients, room])
        small, large = sorted((size, n_worse))
        for step in range(1, small + 1):
            # Times 1 - x^(large + step), over 1 - x^step: a polynomial again after each step.
            shift = large + step
            coefficients[shift:] -= coefficients[:-shift].copy()
            for start in range(step):
                coefficients[start::step] = np.cumsum(coefficients[start::step])
    return from_exact_counts(coefficients.tolist(), 1.0)


def infinite_power(theta: float, exponents: _Floats) -> _Floats:
    """Return ``-theta * exponent``, taking 0 times infinity as 0."""
    if theta == inf:
        return np.where(exponents == 0.0, 0.0, -inf)
    return -theta * exponents


def sizes_of_labels(labels: NDArray[Any]) -> tuple[int, ...]:
    """Count the items in each tier, given the tier of each item, counted from 0.

    Examples
    --------
    >>> import numpy as np
    >>> sizes_of_labels(np.array([1, 0, 1]))
    (1, 2)
    """
    return tuple(np.bincount(labels).tolist())


def log_probabilities(patterns: NDArray[Any], labels: NDArray[Any], theta: Thetas) -> _Floats:
    """Log probability of weak orders: the sum over all complete orderings that agree with each.

    Parameters
    ----------
    patterns
        Places, one row per answer, as in `WeakOrderCounts.from_patterns`.
    labels
        Tier of each item, counted from 0.
    theta
        One theta, or one for each tier but the last.

    Examples
    --------
    >>> import numpy as np
    >>> patterns = np.array([[0, 1, 2], [0, -1, -1]])  # a > b > c, and only a listed
    >>> np.exp(log_probabilities(patterns, np.array([0, 1, 1]), 1.0)).round(4)
    array([0.3326, 0.6652])
    """
    from tierwise._kernels.inversions_lines import log_q_factorials
    from tierwise._kernels.inversions_weak_orders import log_weights_of_weak_orders

    sizes = sizes_of_labels(labels)
    thetas = thetas_of_lines(sizes, theta)
    n_items = len(labels)
    if np.ndim(theta) == 0:
        one = log_q_factorials(float(thetas[0]) if len(thetas) else 0.0, n_items)
        tables = np.broadcast_to(one, (len(thetas), n_items + 1))
    else:
        rows = [log_q_factorials(value, n_items) for value in thetas.tolist()]
        tables = np.array(rows).reshape(len(thetas), n_items + 1)
    weights: _Floats = log_weights_of_weak_orders(
        first_places(np.asarray(patterns, dtype=np.int32)),
        np.asarray(labels, dtype=np.int64),
        thetas,
        tables,
        log_factorials(n_items),
    )
    return weights - log_partition(sizes, theta)


def draw_orderings(
    labels: NDArray[Any], theta: Thetas, n_rows: int, rng: np.random.Generator
) -> _Integers:
    """Draw complete orderings, one row each, best item first; exact and independent.

    One theta: repeated insertion and a shuffle of each tier. One theta per line: the places of each
    tier among those of it and all worse ones.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> draw_orderings(np.array([1, 0, 2]), float("inf"), 2, rng).tolist()
    [[1, 0, 2], [1, 0, 2]]
    """
    from tierwise._kernels.inversions_weak_orders import draw_line_by_line
    from tierwise._kernels.orderings import draw_by_insertion

    sizes = np.bincount(labels).astype(np.int64)
    if np.ndim(theta) == 0:
        drawn = draw_by_insertion(sizes, float(theta), n_rows, rng)  # type: ignore[arg-type]
    else:
        thetas = thetas_of_lines(sizes.tolist(), theta)
        drawn = draw_line_by_line(sizes, thetas, n_rows, rng)
    by_tier = np.argsort(labels, kind="stable").astype(np.int64)
    orderings: _Integers = by_tier[drawn]
    return orderings


def _word_places(size: int, n_worse: int, theta: float) -> _Floats:
    """Probability that ``j`` items of a tier (column) precede the i-th worse item (row)."""
    from tierwise._kernels.inversions_lines import log_q_factorials

    logs = log_q_factorials(theta, size + n_worse)

    def log_binomial(whole: _Integers, part: _Integers) -> _Floats:
        values: _Floats = logs[whole] - logs[part] - logs[whole - part]
        return values

    passed = np.arange(size + 1)[None, :]
    place = np.arange(1, n_worse + 1)[:, None]
    exponents = ((size - passed) * place).astype(np.float64)
    log_values = (
        log_binomial(place - 1 + passed, np.broadcast_to(passed, (n_worse, size + 1)))
        + infinite_power(theta, exponents)
        + log_binomial(
            size + n_worse - place - passed, np.broadcast_to(size - passed, (n_worse, size + 1))
        )
        - (logs[size + n_worse] - logs[size] - logs[n_worse])
    )
    probabilities: _Floats = np.exp(log_values)
    return probabilities


def _extend_table(words: _Floats, size: int, worse: _Floats) -> _Floats:
    """Put a tier before the table of places and tiers of all worse ones."""
    n_worse, n_tiers = worse.shape
    table = np.zeros((size + n_worse, n_tiers + 1))
    for passed in range(size + 1):
        table[passed : passed + n_worse, 1:] += words[:, passed, None] * worse
        table[passed : passed + n_worse, 0] += words[:, passed]
    table[:, 0] = np.maximum(1.0 - table[:, 0], 0.0)
    return table


def rank_tier_probabilities(sizes: Sequence[int], theta: Thetas) -> _Floats:
    """Probability that the item in each place (row) is of each tier (column), exactly.

    Examples
    --------
    >>> rank_tier_probabilities((1, 1), 1.0).round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """
    thetas = thetas_of_lines(sizes, theta)
    table = np.ones((sizes[-1], 1))
    for tier in range(len(sizes) - 2, -1, -1):
        words = _word_places(sizes[tier], len(table), float(thetas[tier]))
        table = _extend_table(words, sizes[tier], table)
    return table


def pair_probabilities(sizes: Sequence[int], theta: Thetas) -> _Floats:
    """Probability that an item of one tier (row) precedes one of another (column).

    It is one half within a tier. With one theta it is a closed form. With one per line an item of a
    tier and one of a worse tier are ordered by the better tier's word and by where the other item
    stands among all items that are worse than the better tier.

    Examples
    --------
    >>> pair_probabilities((2, 2, 2), 0.4).round(5)
    array([[0.5    , 0.65994, 0.76907],
           [0.34006, 0.5    , 0.65994],
           [0.23093, 0.34006, 0.5    ]])
    """
    thetas = thetas_of_lines(sizes, theta)
    if np.ndim(theta) == 0:
        only = float(thetas[0]) if len(thetas) else 0.0
        pairs = np.full((len(sizes), len(sizes)), 0.5)
        upper = np.triu_indices(len(sizes), k=1)
        pairs[upper] = averages_over_gaps(sizes, precedence_by_gap(only, sum(sizes)))
        pairs.T[upper] = 1.0 - pairs[upper]
        return pairs
    n_tiers = len(sizes)
    pairs = np.full((n_tiers, n_tiers), 0.5)
    table = np.ones((sizes[-1], 1))
    for tier in range(n_tiers - 2, -1, -1):
        size = sizes[tier]
        words = _word_places(size, len(table), float(thetas[tier]))
        before = words @ np.arange(size + 1) / size
        pairs[tier, tier + 1 :] = before @ table / np.asarray(sizes[tier + 1 :])
        pairs[tier + 1 :, tier] = 1.0 - pairs[tier, tier + 1 :]
        table = _extend_table(words, size, table)
    return pairs


def precedence_by_gap(theta: float, largest: int) -> _Floats:
    """Probability that one item precedes another that is ``k`` places worse in a strict order.

    Entry ``k`` is ``(k+1) / (1-q^(k+1)) - k / (1-q^k)``, written so that it holds for theta near 0.

    Examples
    --------
    >>> precedence_by_gap(1.0, 2).round(4)
    array([0.5   , 0.7311, 0.8442])
    """
    if theta == np.inf:
        return np.where(np.arange(largest + 1) == 0, 0.5, 1.0)
    values: _Floats = precedence_derivatives(theta, largest)[0]
    return values


def precedence_derivatives(theta: float, largest: int) -> _Floats:
    """Row 0: `precedence_by_gap` at a finite theta; rows 1 and 2: its derivatives in theta.

    Examples
    --------
    >>> precedence_derivatives(0.0, 2).round(4)
    array([[0.5   , 0.5   , 0.5   ],
           [0.    , 0.25  , 0.4167],
           [0.    , 0.    , 0.    ]])
    """
    rows = np.zeros((3, largest + 1))
    rows[0] = 0.5
    gaps = np.arange(largest + 2)
    if theta == 0.0:
        rows[1, 1:] = (2.0 * gaps[1:-1] + 1.0) / 12.0
        return rows
    # With f(x) = x coth(x) - 1, the excess over one half is a difference of f(theta k / 2) / theta.
    half = theta * gaps / 2.0
    square = half * half
    small = half < 0.05
    safe = np.where(small, 1.0, half)
    slanted = 1.0 / np.tanh(safe)
    with np.errstate(over="ignore"):
        steep = 1.0 / np.sinh(safe) ** 2
    series = square / 3.0 - square**2 / 45.0 + 2.0 * square**3 / 945.0 - square**4 / 4725.0
    value = np.where(small, series, safe * slanted - 1.0)
    series = half * (2.0 / 3.0 - 4.0 * square / 45.0 + 4.0 * square**2 / 315.0)
    series -= half * 8.0 * square**3 / 4725.0
    first = np.where(small, series, slanted - safe * steep) * gaps / 2.0
    series = 2.0 / 3.0 - 4.0 * square / 15.0 + 4.0 * square**2 / 63.0 - 8.0 * square**3 / 675.0
    second = np.where(small, series, 2.0 * (safe * slanted - 1.0) * steep) * gaps**2 / 4.0
    value, first, second = np.diff(value), np.diff(first), np.diff(second)
    rows[0] += value / theta
    rows[1] = first / theta - value / theta**2
    rows[2] = second / theta - 2.0 * first / theta**2 + 2.0 * value / theta**3
    rows[:, 0] = 0.5, 0.0, 0.0
    return rows


def averages_over_gaps(sizes: Sequence[int] | _Integers, by_gap: _Floats) -> _Floats:
    """Mean over the places of two tiers, in tier order, of what their gap says.

    The last axis of what is returned are the pairs of tiers, as of ``np.triu_indices(k=1)``.

    Examples
    --------
    >>> averages_over_gaps((1, 2), np.array([[0.0, 1.0, 2.0, 3.0]]))
    array([[1.5]])
    """
    # Twice summed, so that the sum over all gaps of two runs of places is four differences.
    twice = np.zeros((*by_gap.shape[:-1], by_gap.shape[-1] + 2))
    np.cumsum(np.cumsum(by_gap, axis=-1), axis=-1, out=twice[..., 2:])
    numbers = np.asarray(sizes, dtype=np.int64)
    ends = np.cumsum(numbers)
    better, worse = np.triu_indices(len(numbers), k=1)
    first, second = numbers[better], numbers[worse]
    near = ends[worse] - second - ends[better] + 1
    totals = (
        twice[..., near + first + second]
        - twice[..., near + first]
        - twice[..., near + second]
        + twice[..., near]
    )
    means: _Floats = totals / (first * second)
    return means


def expected_pair_inversions(sizes: Sequence[int], theta: Thetas) -> _Floats:
    """Return how many pairs of two tiers are expected in the wrong order; row the better tier.

    Examples
    --------
    >>> expected_pair_inversions((2, 1), 0.0)
    array([[0., 1.],
           [0., 0.]])
    """
    numbers = np.asarray(sizes, dtype=np.float64)
    wrong = 1.0 - pair_probabilities(sizes, theta)
    return np.triu(np.outer(numbers, numbers) * wrong, k=1)


def strict_moments(
    thetas: npt.NDArray[np.float64], n_items: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Log partition functions and mean distances of 0, 1, ..., ``n_items`` items, a row per theta.

    Examples
    --------
    >>> logs, means = strict_moments(np.array([0.0, np.inf]), 3)
    >>> np.exp(logs), means
    (array([[1., 1., 2., 6.],
           [1., 1., 1., 1.]]), array([[0. , 0. , 0.5, 1.5],
           [0. , 0. , 0. , 0. ]]))
    """
    logs, means = np.zeros((2, len(thetas), n_items + 1))
    rows_at_a_time = max(1, NUMBERS_AT_A_TIME // n_items)
    passed = np.arange(n_items, dtype=np.float64)
    for start in range(0, len(thetas), rows_at_a_time):
        rows = slice(start, start + rows_at_a_time)
        decay = np.ones((len(thetas[rows]), n_items))
        decay[:, 1:] = np.exp(-thetas[rows, None] * passed[1:])
        # Sums over 0, ..., v for every v at once. All terms are positive: nothing cancels.
        total = np.cumsum(decay, axis=1)
        logs[rows, 1:] = np.cumsum(np.log(total), axis=1)
        means[rows, 1:] = np.cumsum(np.cumsum(decay * passed, axis=1) / total, axis=1)
    return logs, means


class LinesPartition(ExactPartition):
    """Partition function of the distance inversions, any number of items."""

    method = "lines"

    def _moments(self, theta: float) -> Moments:
        if self.n_items <= MOST_ITEMS_BY_COUNTS:
            known = self._distribution
            return self._from_counts(known.distances, known.log_counts, theta)
        lines = line_moments(self.sizes, theta)
        log_value = float(self._limit().log_value) + float(lines.log_binomials.sum())
        return self._known(log_value, float(lines.means.sum()), float(lines.variances.sum()))

    def log_values(self, thetas: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Log values at many thetas at once: with one theta, the product is a multinomial."""
        factorials, _ = strict_moments(thetas, self.n_items)
        lines: _Floats = factorials[:, -1] - factorials[:, list(self.sizes)].sum(axis=1)
        return lines + float(self._limit().log_value)

    @cached_property
    def _labels(self) -> npt.NDArray[np.int64]:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def _distribution(self) -> DistanceDistribution:
        return distance_distribution(self.sizes)

    def distribution(self) -> DistanceDistribution:
        """Return the number of orderings at each distance."""
        return self._distribution

    def _draw_sequences(
        self, theta: float, n_rows: int, rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Draw orderings by repeated insertion; a shuffle of each tier changes no label."""
        return self._labels[draw_orderings(self._labels, theta, n_rows, rng)]

    def _expected_table(self, theta: float) -> npt.NDArray[np.float64]:
        """Probability of each tier in each place."""
        return rank_tier_probabilities(self.sizes, theta)

    def pair_probabilities(self, theta: ArrayLike) -> _Floats:
        """Probability that an item of one tier (row) precedes one of another."""
        return pair_probabilities(self.sizes, self.check_theta(theta))
