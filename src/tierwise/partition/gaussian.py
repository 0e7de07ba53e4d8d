"""Mallows model with tiers under ``inversions``: partition function, moments and distribution.

The partition function is a product of Gaussian binomials, one per line: a tier against all worse
ones. The inversions of the lines are independent, so that each line may have a theta of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial, inf, lgamma, prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tierwise.errors import InputError, TooLargeError
from tierwise.partition.base import DistanceDistribution, from_exact_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

_Floats = NDArray[np.float64]

Thetas: TypeAlias = "float | ArrayLike"
"""One theta, or one for each tier but the last."""

# A distribution over 45,000 distances as whole numbers of up to 2,000 bits takes a few seconds.
MOST_ITEMS_FOR_DISTRIBUTION = 300


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
            f"{len(sizes)} tiers have {n_lines} thetas, one for each tier but the last; "
            f"got {values.size}"
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
    if n_items > MOST_ITEMS_FOR_DISTRIBUTION:
        raise TooLargeError(
            f"the distribution of the distance is for at most {MOST_ITEMS_FOR_DISTRIBUTION} "
            f"items, not {n_items}: its mean and variance are known for any number"
        )
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


def log_factorial_table(largest: int) -> _Floats:
    """Logarithms of 0!, 1!, ..., up to a largest number."""
    return np.array([lgamma(number + 1) for number in range(largest + 1)])


def infinite_power(theta: float, exponents: _Floats) -> _Floats:
    """Return ``-theta * exponent``, taking 0 times infinity as 0."""
    if theta == inf:
        return np.where(exponents == 0.0, 0.0, -inf)
    return -theta * exponents
