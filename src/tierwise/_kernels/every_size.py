"""Best tiers and theta of all size vectors, or of the best: dynamic programming, branch and bound.

For a size vector the least total distance of the data from tiers of these sizes is found by the
recursion over sets of items of `tierwise._kernels.subsets`; theta then solves the likelihood
equation, by Newton steps within a bracket. A bound of the total, pair by pair, says which size
vectors cannot be among the best, for which nothing else is computed (Land and Doig, 1960).
"""

from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_if_many, compiled_part, inlined
from tierwise._kernels.consensus import total_cost
from tierwise._kernels.orderings import order_of
from tierwise._kernels.subsets import find_optima, least_costs, n_choices
from tierwise._kernels.theta import top_of_curve

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# The root is found to this much of where the first step leads.
_PRECISION = 1e-9
# Totals that differ by less, relative to all costs, differ by rounding only.
_RELATIVE_TOLERANCE = 1e-12


class SizeVectors(NamedTuple):
    """All size vectors of some items, and the distance from tiers of these sizes."""

    sizes: _Integers
    """``[size vector, tier]``: sizes of the tiers, then zeros."""
    blocks: _Integers
    """``[size vector, block]``: sizes of the blocks, then zeros."""
    log_numbers: _Floats
    """``[size vector]``: log number of tiers."""
    shares: _Floats
    """``[size vector, units]``: orderings at each distance, relative to those at distance 0."""
    log_orders: _Floats
    """``[size vector]``: log number of orderings at distance 0."""
    unit: float
    """The distance that a unit is."""


class CountedAnswers(NamedTuple):
    """What answers cost in tiers, as in `tierwise.distances.Costs`."""

    linear: _Floats
    """``[size vector, item, tier]``, or empty."""
    ahead: _Floats
    """``[start, end, b, a]``: cost of a between two places and b behind both, or empty."""
    n_rankings: float


class _SizedCosts(NamedTuple):
    """What tiers of given sizes cost."""

    linear: _Floats
    pairs_transposed: _Floats
    sizes: _Integers
    slack: float
    """Totals that differ by less differ by rounding only."""


@compiled_part
def _sum_of_sizes(numbers: _Floats) -> float:
    """Sum of numbers, whatever their sign."""
    total = 0.0
    for row in range(numbers.shape[0]):
        for column in range(numbers.shape[1]):
            total += abs(numbers[row, column])
    return total


@inlined
def _sized(linear: _Floats, pairs_transposed: _Floats, sizes: _Integers) -> _SizedCosts:
    """Put costs together, with how far they can be rounded."""
    slack = _RELATIVE_TOLERANCE * (_sum_of_sizes(linear) + _sum_of_sizes(pairs_transposed))
    return _SizedCosts(linear, pairs_transposed, sizes, slack)


@compiled_part
def _costs(vectors: SizeVectors, answers: CountedAnswers, row: int) -> _SizedCosts:
    """Put together what tiers of one size vector cost."""
    n_items = vectors.sizes.shape[1]
    n_tiers = 0
    while n_tiers < n_items and vectors.sizes[row, n_tiers] > 0:
        n_tiers += 1
    linear = np.empty((0, 0))
    if answers.linear.shape[0] > 0:
        linear = answers.linear[row, :, :n_tiers].copy()
    n_compared = n_items if answers.ahead.shape[0] > 0 else 0
    pairs = np.zeros((n_compared, n_compared))
    start = 0
    for block in range(vectors.blocks.shape[1] if n_compared > 0 else 0):
        end = start + vectors.blocks[row, block]
        for behind in range(n_items if end > start else 0):
            for item in range(n_items):
                pairs[behind, item] += answers.ahead[start, end, behind, item]
        start = end
    return _sized(linear, pairs, vectors.sizes[row, :n_tiers])


@compiled_part
def _least_total(costs: _SizedCosts) -> float:
    """Return a bound of the total: every item in its cheapest tier, every pair in cheaper order.

    As many pairs as the sizes tie cost both orders: at least those do that are cheapest to tie.
    """
    bound = 0.0
    for item in range(costs.linear.shape[0]):
        cheapest = np.inf
        for tier in range(costs.linear.shape[1]):
            cheapest = min(cheapest, costs.linear[item, tier])
        bound += cheapest
    n_items = costs.pairs_transposed.shape[0]
    dearer = np.empty(n_items * (n_items - 1) // 2)
    n_pairs = 0
    for item in range(n_items):
        for other in range(item):
            one, opposite = costs.pairs_transposed[item, other], costs.pairs_transposed[other, item]
            bound += min(one, opposite)
            dearer[n_pairs] = max(one, opposite)
            n_pairs += 1
    n_tied = 0
    for size in costs.sizes:
        n_tied += size * (size - 1) // 2
    cheapest_first = order_of(dearer)
    for number in range(min(n_tied, n_pairs)):
        bound += dearer[cheapest_first[number]]
    return bound


@compiled_part
def _moments(shares: _Floats, theta: float) -> tuple[float, float, float]:
    """Sum of the weights of all orderings, mean and variance of their distance, in units."""
    decay = np.exp(-theta)
    power, total, first, second = 1.0, 0.0, 0.0, 0.0
    for units in range(shares.shape[0]):
        weight = shares[units] * power
        total += weight
        first += weight * units
        second += weight * units * units
        power *= decay
    mean = first / total
    return total, mean, second / total - mean * mean


class _Distances(NamedTuple):
    """Orderings at each distance, in units, relative to those at 0, and the mean of answers."""

    shares: _Floats
    mean: float


@inlined
def _derivatives(distances: _Distances, theta: float) -> tuple[float, float]:
    """Return the derivatives of the log-likelihood, per answer."""
    _, expected, variance = _moments(distances.shares, theta)
    return expected - distances.mean, -variance


@compiled_part
def _solve_likelihood_equation(shares: _Floats, mean: float) -> float:
    """Return the theta at which the expected distance is the mean one, in units."""
    _, expected, variance = _moments(shares, 0.0)
    if expected <= mean:
        return 0.0
    if mean <= 0.0:
        return np.inf
    start = (expected - mean) / variance
    curve = _Distances(shares, mean)
    return float(top_of_curve(_derivatives, curve, start, 0.0, np.inf, _PRECISION * start))


@compiled_part
def _theta_and_value(
    vectors: SizeVectors, n_rankings: float, row: int, units: float
) -> tuple[float, float]:
    """Theta, and the log-likelihood, at a total distance in units."""
    shares = vectors.shares[row]
    theta = _solve_likelihood_equation(shares, units / n_rankings)
    value = -n_rankings * vectors.log_orders[row]
    if not np.isinf(theta):
        value -= n_rankings * np.log(_moments(shares, theta)[0]) + theta * units
    return theta / vectors.unit, value


@compiled_part
def _units(total: float, slack: float, unit: float) -> float:
    """Return a total in units; it may be above 0 by rounding only."""
    return 0.0 if total <= slack else total / unit


@compiled_if_many(
    lambda vectors, answers, rows, n_listed: (
        sum(n_choices(vectors.sizes[row]) for row in rows) if vectors.sizes.shape[1] < 8 else inf
    )
)
def fit_size_vectors(
    vectors: SizeVectors, answers: CountedAnswers, rows: _Integers, n_listed: int
) -> tuple[_Integers, _Floats, _Floats, _Floats]:
    """Find the closest tiers of some size vectors, and theta.

    Returned are the labels of each, theta, the total distance, and the log-likelihood. Of several
    closest tiers those are taken that come first where ``n_listed`` are listed.
    """
    labels = np.empty((rows.shape[0], vectors.sizes.shape[1]), np.int64)
    thetas, totals = np.empty(rows.shape[0]), np.empty(rows.shape[0])
    log_likelihoods = np.empty(rows.shape[0])
    for place in range(rows.shape[0]):
        row = rows[place]
        linear, pairs, sizes, slack = _costs(vectors, answers, row)
        values = least_costs(linear, pairs, sizes)
        closest = find_optima(linear, pairs, sizes, values, slack, n_listed)[1][0]
        # A row assigned as a whole would have the words of an error compiled, for two seconds.
        for item in range(closest.shape[0]):
            labels[place, item] = closest[item]
        units = _units(values[-1], slack, vectors.unit)
        totals[place] = units * vectors.unit
        thetas[place], log_likelihoods[place] = _theta_and_value(
            vectors, answers.n_rankings, row, units
        )
    return labels, thetas, totals, log_likelihoods


@compiled_part
def _criterion(
    vectors: SizeVectors, answers: CountedAnswers, row: int, total: float, slack: float
) -> float:
    """Return the log-likelihood at a total distance, less the log number of tiers."""
    units = _units(total, slack, vectors.unit)
    value = _theta_and_value(vectors, answers.n_rankings, row, units)[1]
    return float(value - vectors.log_numbers[row])


@compiled
def bound_size_vectors(
    vectors: SizeVectors, answers: CountedAnswers, rows: _Integers
) -> tuple[_Floats, _Floats]:
    """Bound the total distance of some size vectors from below, and their log-likelihood above."""
    totals, log_likelihoods = np.empty(rows.shape[0]), np.empty(rows.shape[0])
    for place in range(rows.shape[0]):
        costs = _costs(vectors, answers, rows[place])
        units = _units(_least_total(costs) - costs.slack, costs.slack, vectors.unit)
        totals[place] = units * vectors.unit
        log_likelihoods[place] = _theta_and_value(vectors, answers.n_rankings, rows[place], units)[
            1
        ]
    return totals, log_likelihoods


@compiled
def best_size_vectors(
    vectors: SizeVectors, answers: CountedAnswers, number: int
) -> tuple[_Integers, _Floats]:
    """Return the rows of the size vectors of the largest criterion, and it, the largest first.

    The criterion is the log-likelihood less the log number of tiers.
    """
    n_vectors = vectors.sizes.shape[0]
    bounds = bound_size_vectors(vectors, answers, np.arange(n_vectors))[1] - vectors.log_numbers
    number = min(number, n_vectors)
    rows = np.zeros(number, np.int64)
    criteria = np.full(number, -np.inf)
    for row in order_of(-bounds):
        if bounds[row] < criteria[-1]:
            break
        linear, pairs, sizes, slack = _costs(vectors, answers, row)
        total = least_costs(linear, pairs, sizes)[-1]
        criterion = _criterion(vectors, answers, row, total, slack)
        place = number
        while place > 0 and criteria[place - 1] < criterion:
            place -= 1
            if place + 1 < number:
                rows[place + 1], criteria[place + 1] = rows[place], criteria[place]
        if place < number:
            rows[place], criteria[place] = row, criterion
    return rows, criteria


@compiled
def fit_size_vector(
    linear: _Floats,
    pairs: _Floats,
    sizes: _Integers,
    labels: _Integers,
    shares: _Floats,
    unit: float,
    n_rankings: float,
) -> tuple[_Integers, float, float, float]:
    """Find the best tiers of one size vector, and theta.

    Parameters
    ----------
    linear, pairs, sizes
        Costs, as in `tierwise.distances.Costs`, and the sizes.
    labels
        Tiers at hand, which stay unless others are better.
    shares, unit
        As in `SizeVectors`, for these sizes.
    n_rankings
        The number of rankings.

    Returns
    -------
    tuple
        Labels, theta, their total distance, and the log of the sum of the weights of all orderings
        relative to those at distance 0.
    """
    transposed = np.ascontiguousarray(pairs.T)
    for item in range(transposed.shape[0]):
        transposed[item, item] = 0.0
    slack = _sized(linear, transposed, sizes).slack
    values = least_costs(linear, transposed, sizes)
    total = total_cost(labels, linear, pairs)
    if values[-1] < total - slack:
        labels = find_optima(linear, transposed, sizes, values, slack, 1)[1][0]
        total = total_cost(labels, linear, pairs)
    theta = _solve_likelihood_equation(shares, _units(total, slack, unit) / n_rankings)
    log_sum = 0.0 if np.isinf(theta) else np.log(_moments(shares, theta)[0])
    return labels, theta / unit, total, log_sum
