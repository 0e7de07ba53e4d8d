"""Steps of Gibbs sampling in a mixture: who belongs where, and theta by the inverse of its CDF."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.consensus import anneal, total_cost
from tierwise._kernels.theta import grid_quantiles

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Below this a sum of exponentials may have lost some of them.
_LEAST_TOTAL = 1e-250
# Products of factors above the one are taken as long as they stay above the other.
_LEAST_FACTOR, _LEAST_PRODUCT = 1e-100, 1e-150
# Where the log density is this far below its peak, nothing is left.
_DEPTH = 37.0
# Points between the ends of what is left: a few dozen for each standard deviation.
_FEWEST_POINTS, _WANTED_POINTS = 200, 400


class ThetaPoints(NamedTuple):
    """Thetas that are equidistant on the scale of their logarithm, and what is known there."""

    log_thetas: _Floats
    thetas: _Floats
    log_weights: _Floats
    """Log of the prior density of ``log theta``."""
    log_partition: _Floats
    """Log of the partition function."""


@compiled
def multiply_rows(rows: npt.NDArray[np.uint8], costs: _Integers) -> _Integers:
    """Sum of each row of zeros and ones times the costs."""
    sums = np.zeros(rows.shape[0], np.int64)
    for row in range(rows.shape[0]):
        for cell in range(rows.shape[1]):
            sums[row] += rows[row, cell] * costs[cell]
    return sums


@compiled
def add_rows(
    rows: npt.NDArray[np.uint8], members: _Integers, groups: _Integers, sums: npt.NDArray[Any]
) -> None:
    """Add to ``sums[place, cell]`` each row as often as the group of this place has members."""
    for row in range(rows.shape[0]):
        for place in range(groups.shape[0]):
            number = sums.dtype.type(members[row, groups[place]])
            if number > 0:
                for cell in range(rows.shape[1]):
                    sums[place, cell] += number * rows[row, cell]


@compiled
def _weigh_groups(
    units: _Integers, decays: _Floats, log_factors: _Floats, weights: _Floats
) -> tuple[float, float]:
    """Fill in the weight of each group for an answer; return the log of its unit, and the sum."""
    peak = -np.inf
    for group in range(units.shape[0]):
        weights[group] = log_factors[group] - decays[group] * units[group]
        peak = max(peak, weights[group])
    total = 0.0
    for group in range(units.shape[0]):
        weights[group] = np.exp(weights[group] - peak)
        total += weights[group]
    return peak, total


@compiled
def draw_members(  # noqa: PLR0912 - one pass over the answers, without calls that copy
    units: _Integers,
    decays: _Floats,
    log_factors: _Floats,
    weights: _Integers,
    most_weight: int,
    pivot: _Floats,
    uniforms: _Floats,
) -> tuple[_Floats, _Integers, _Integers, _Floats, float]:
    """Draw the group of everybody who gave an answer, from its exact probabilities.

    Parameters
    ----------
    units
        ``[answer, group]``: distance of each distinct answer from the tiers of each group, in
        units.
    decays, log_factors
        Of each group: theta times the unit, and the log of its share over its partition function.
    weights
        How many people gave each answer.
    most_weight
        Answers that more people gave are left to the caller.
    pivot
        ``[answer, group]``: memberships in other groups, which may be none.
    uniforms
        Random numbers between 0 and 1, one for each person whose group is drawn here.

    Returns
    -------
    tuple
        ``[answer, group]``: the probability of each group, and how many are drawn to be in it;
        how many those are in all answers; ``[group of the pivot, group]``: how many members they
        have in common; and the log-likelihood of all answers.
    """
    n_answers, n_groups = units.shape
    probabilities = np.empty((n_answers, n_groups))
    members = np.zeros((n_answers, n_groups), np.int64)
    numbers = np.zeros(n_groups, np.int64)
    common = np.zeros((pivot.shape[1], n_groups))
    log_likelihood = 0.0
    highest = log_factors.max()
    # Where answers are more than distances, each exponential is computed once.
    n_units = units.max() + 1
    n_kept = n_units if n_units < n_answers else 0
    kept = np.empty((n_units if n_kept > 0 else 0, n_groups))
    for distance in range(n_kept):
        for group in range(n_groups):
            kept[distance, group] = np.exp(log_factors[group] - highest - decays[group] * distance)
    # One logarithm of a product stands for those of many sums.
    product = 1.0
    person = 0
    for answer in range(n_answers):
        total = 0.0
        peak = highest
        if n_kept > 0:
            for group in range(n_groups):
                share = kept[np.uint64(units[answer, group]), group]
                probabilities[answer, group] = share
                total += share
        if total < _LEAST_TOTAL:
            peak, total = _weigh_groups(units[answer], decays, log_factors, probabilities[answer])
        weight = weights[answer]
        log_likelihood += weight * peak
        if weight == 1 and total > _LEAST_FACTOR:
            product *= total
            if product < _LEAST_PRODUCT or product > 1.0 / _LEAST_PRODUCT:
                log_likelihood += np.log(product)
                product = 1.0
        else:
            log_likelihood += weight * np.log(total)
        scale = 1.0 / total
        for group in range(n_groups):
            probabilities[answer, group] *= scale
        if weight > most_weight:
            continue
        for _ in range(weight):
            # Adding up comparisons needs no branches, which could not be foreseen.
            cumulative = 0.0
            chosen = 0
            for group in range(n_groups - 1):
                cumulative += probabilities[answer, group]
                chosen += uniforms[person] >= cumulative
            person += 1
            members[answer, chosen] += 1
            numbers[chosen] += 1
            for other in range(pivot.shape[1]):
                common[other, chosen] += pivot[answer, other]
    return probabilities, members, numbers, common, log_likelihood + np.log(product)


@compiled
def move_groups(
    labels: npt.NDArray[np.int64],
    linear: _Floats,
    pairs: _Floats,
    thetas: _Floats,
    n_steps: int,
    rng: np.random.Generator,
) -> _Floats:
    """Swap labels of each group, one row each, by Metropolis steps; return the total distances."""
    totals = np.empty(labels.shape[0])
    for group in range(labels.shape[0]):
        own, of_group = labels[group].copy(), pairs[group]
        transposed = np.ascontiguousarray(of_group.T)
        anneal(own, linear[group], of_group, transposed, np.full(n_steps, thetas[group]), 2, rng)
        totals[group] = total_cost(own, linear[group], of_group)
        labels[group] = own
    return totals


@compiled
def _height(
    points: ThetaPoints,
    number: float,
    total: float,
    at: int | np.int64,
) -> float:
    """Log density at a point."""
    height: float = (
        points.log_weights[at] - number * points.log_partition[at] - total * points.thetas[at]
    )
    return height


@compiled
def _find_peak(
    points: ThetaPoints,
    number: float,
    total: float,
    at: int | np.int64,
) -> int | np.int64:
    """Climb to the point of the largest density, by steps that are halved."""
    peak = _height(points, number, total, at)
    step = 1024
    while step > 0:
        moved = False
        for candidate in (at - step, at + step):
            if 0 <= candidate < points.thetas.shape[0]:
                height = _height(points, number, total, candidate)
                if height > peak:
                    at, peak, moved = candidate, height, True
                    break
        if not moved:
            step //= 2
    return at


@compiled
def _find_end(
    points: ThetaPoints,
    number: float,
    total: float,
    at: int | np.int64,
    sign: int,
) -> int | np.int64:
    """Go from the peak to the first point where nothing is left; -1 where there is none."""
    least = _height(points, number, total, at) - _DEPTH
    high = 1
    while True:
        end = at + sign * high
        if not 0 <= end < points.thetas.shape[0]:
            return -1
        if _height(points, number, total, end) < least:
            break
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        end = at + sign * middle
        if _height(points, number, total, end) < least:
            high = middle
        else:
            low = middle
    return at + sign * high


@compiled
def draw_theta(
    points: ThetaPoints,
    number: float,
    total: float,
    start: float,
    share: float,
) -> float:
    """Return the theta below which a share of its distribution lies; see `draw_thetas`."""
    nearest = min(np.searchsorted(points.thetas, start), points.thetas.shape[0] - 1)
    at = _find_peak(points, number, total, nearest)
    peak = _height(points, number, total, at)
    first = _find_end(points, number, total, at, -1)
    last = _find_end(points, number, total, at, 1)
    span = last - first
    if first < 0 or span < _FEWEST_POINTS:
        return np.nan
    stride = max(span // _WANTED_POINTS, 1)
    n_points = span // stride + 1
    chosen, heights, cumulative = np.empty(n_points), np.empty(n_points), np.zeros(n_points)
    for point in range(n_points):
        place = first + point * stride
        chosen[point] = points.log_thetas[place]
        heights[point] = np.exp(_height(points, number, total, place) - peak)
    for cell in range(n_points - 1):
        before = heights[cell - 1] if cell > 0 else 0.0
        after = heights[cell + 2] if cell + 2 < n_points else 0.0
        inner = 13.0 * (heights[cell] + heights[cell + 1])
        cumulative[cell + 1] = cumulative[cell] + max((inner - before - after) / 24.0, 0.0)
    return float(np.exp(grid_quantiles(chosen, heights, cumulative, np.array([share]))[0]))


@compiled
def draw_thetas(
    points: ThetaPoints, numbers: _Floats, totals: _Floats, starts: _Floats, shares: _Floats
) -> _Floats:
    """Return the theta of each group below which a share of its distribution lies.

    The density of ``log theta`` must have one peak. Not a number stands where the points are too
    few, or end too soon.

    Parameters
    ----------
    points
        Thetas, and what is known there.
    numbers, totals
        Number of rankings of each group, and their total distance.
    starts
        Thetas that are not far from the peaks.
    shares
        The shares, between 0 and 1.
    """
    thetas = np.empty(numbers.shape[0])
    for group in range(numbers.shape[0]):
        thetas[group] = draw_theta(
            points, numbers[group], totals[group], starts[group], shares[group]
        )
    return thetas
