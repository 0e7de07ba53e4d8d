"""The best tiers of all sizes with proof: recursion over subsets, branch and bound in theta.

With one theta, the recursion finds the best tiers at each theta. That no theta in between does
better is proved by bounds. On an interval of thetas every part of the log-likelihood that is convex
in theta lies below its chord, and every part that is concave below the mean of its tangents at both
ends. So each tiers' log-likelihood lies below a function that is linear in theta; the greatest of
these is convex, hence greatest at an end, where the same recursion finds it. The recursion also
gives the second best tiers, so that tiers that are best on a whole interval do not keep it open.
How large each tiers' own log-likelihood can be is found by a scan of thetas and Newton steps: for
complete rankings it is concave. With a theta per line, lines are maximised or integrated one by
one, and one recursion is the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf, lgamma, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels import inversions_subsets as kernels
from tierwise._kernels.inversions_lines import LARGEST_GRID_THETA, q_factorial_derivatives
from tierwise.answers.curves import CurveOfLines
from tierwise.inversions.objective import (
    Concentration,
    SizesPriorName,
    SubsetTables,
    fixed_objective,
    line_objective,
    log_prior_constant,
    tier_constant_of,
)
from tierwise.theta.estimate import maximise_thetas

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise._kernels.inversions_lines import LineObjective
    from tierwise.data.counts import WeakOrderCounts
    from tierwise.model.priors import ThetaPrior

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# Values nearer than this, relative to their size, are the same.
_TOLERANCE = 1e-10
_MOST_RECURSIONS = 400


@dataclass(frozen=True, eq=False)
class BestTiers:
    """The best tiers of all sizes.

    Attributes
    ----------
    labels
        Tier of each item, counted from 0.
    thetas
        One theta, or one for each tier but the last: those of greatest likelihood.
    criterion
        What was maximised: log-likelihood less the log number of tiers of these sizes, and less 1
        for each tier where sizes are penalised; or, where theta was integrated out, log prior and
        integrated likelihood of these tiers.
    log_likelihood
        Log-likelihood at the thetas.
    n_optima
        Number of tiers with the same value, these included.
    alternatives
        Labels of others of them, one row each; not more than were requested.
    gap
        By how much another value might be larger: 0 if the proof is complete.
    established
        How it is known that these are the best.
    n_recursions
        Number of recursions over all subsets that this took.
    """

    labels: _Integers
    thetas: _Floats
    criterion: float
    log_likelihood: float
    n_optima: int
    alternatives: _Integers
    gap: float
    established: str
    n_recursions: int


def find_best_tiers(
    counts: WeakOrderCounts,
    concentration: Concentration = "single",
    *,
    prior_theta: ThetaPrior | Callable[[Any], Any] | None = None,
    prior_sizes: SizesPriorName = "uniform",
    start: float | None = None,
    most_alternatives: int = 10,
) -> BestTiers:
    """Find the best tiers of all sizes, with proof, for up to 18 items.

    Parameters
    ----------
    counts
        The data.
    concentration
        "single" for one theta, "tier" for one per tier.
    prior_theta
        With one theta per line: integrate over this prior instead of maximising.
    prior_sizes
        The prior of sizes; "penalised" makes sizes ``e`` times less probable with every further
        tier.
    start
        A theta to begin with; found where none is given.
    most_alternatives
        How many other tiers of the same value are listed.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.data.counts import WeakOrderCounts
    >>> patterns = np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2]])
    >>> best = find_best_tiers(WeakOrderCounts.from_patterns(patterns))
    >>> best.labels.tolist(), best.gap
    ([0, 0, 1], 0.0)
    """
    tables = SubsetTables(counts)
    if concentration == "tier":
        return _best_by_line(tables, prior_theta, prior_sizes, most_alternatives)
    return _BranchAndBound(tables, start, tier_constant_of(prior_sizes)).run(most_alternatives)


def _best_by_line(
    tables: SubsetTables,
    prior_theta: ThetaPrior | Callable[[Any], Any] | None,
    prior_sizes: SizesPriorName,
    most_alternatives: int,
) -> BestTiers:
    counts = tables.counts
    if prior_theta is None:
        objective = line_objective(counts, None)
        constant = -lgamma(counts.n_items + 1)
    else:
        objective = line_objective(counts, prior_theta, tier_constant_of(prior_sizes))
        constant = log_prior_constant(prior_sizes, counts.n_items)
    problem = tables.by_line(objective)
    values, _ = kernels.best_values(problem)
    labels = _trace_best(problem, values)
    best = maximise_thetas(CurveOfLines.of(counts, labels))
    n_optima, alternatives = _optima(problem, values, labels, most_alternatives)
    return BestTiers(
        labels,
        best.thetas,
        float(values[-1]) + constant,
        best.log_likelihood,
        n_optima,
        alternatives,
        0.0,
        "one recursion over all subsets: lines are maximised one by one"
        if prior_theta is None
        else "one recursion over all subsets: lines are integrated one by one",
        1,
    )


def _near_best(
    problem: kernels.SubsetProblem, values: _Floats, whole: int, tolerance: float
) -> _Integers:
    """Best tiers to choose from a set that lead to the best value, up to a tolerance."""
    tiers, terms = kernels.choices_from(problem, whole)
    reached = terms + values[tiers[::-1]]
    near: _Integers = tiers[reached >= reached.max() - tolerance]
    return near


def _trace_best(problem: kernels.SubsetProblem, values: _Floats) -> _Integers:
    """Labels of the best tiers, from the value of the best way to make each set the last tiers."""
    labels = np.zeros(problem.n_items, dtype=np.int64)
    items, whole, tier = np.arange(problem.n_items), len(values) - 1, 0
    while whole > 0:
        chosen = int(_near_best(problem, values, whole, 0.0)[0])
        labels[(chosen >> items) & 1 == 1] = tier
        whole, tier = whole ^ chosen, tier + 1
    return labels


def _optima(
    problem: kernels.SubsetProblem, values: _Floats, best: _Integers, limit: int
) -> tuple[int, _Integers]:
    """Count all tiers with the value of the best, and list some others."""
    tolerance = _TOLERANCE * (1.0 + abs(float(values[-1]))) * 10.0
    whole = len(values) - 1
    choices: dict[int, list[int]] = {}
    ways: dict[int, int] = {0: 1}

    def count(code: int) -> int:
        if code not in ways:
            choices[code] = _near_best(problem, values, code, tolerance).tolist()
            ways[code] = sum(count(code ^ chosen) for chosen in choices[code])
        return ways[code]

    n_optima = count(whole)
    found: list[list[int]] = []
    labels = [0] * problem.n_items

    def collect(code: int, tier: int) -> None:
        if len(found) > limit:
            return
        if code == 0:
            found.append(labels.copy())
            return
        for chosen in choices[code]:
            for item in range(problem.n_items):
                if (chosen >> item) & 1:
                    labels[item] = tier
            collect(code ^ chosen, tier + 1)

    collect(whole, 0)
    others = [row for row in found if row != best.tolist()][:limit]
    return n_optima, np.array(others, dtype=np.int64).reshape(len(others), problem.n_items)


class _BranchAndBound:
    """The best tiers with one theta: the incumbent, and intervals of thetas still to be closed."""

    def __init__(self, tables: SubsetTables, start: float | None, tier_constant: float) -> None:
        self.tables = tables
        self.tier_constant = tier_constant
        self.counts = tables.counts
        self.n_recursions = 0
        self.labels: _Integers = np.zeros(self.counts.n_items, dtype=np.int64)
        self.theta = 0.0
        self.value = self.log_likelihood = -inf
        self._start = start
        self._derivatives: dict[float, _Floats] = {}
        self._consider(self.labels)

    def run(self, most_alternatives: int) -> BestTiers:
        self._climb(self._start if self._start is not None else 0.5)
        gap = self._close_intervals()
        theta = min(self.theta, LARGEST_GRID_THETA)
        problem = self.tables.at_theta(self._objective(theta))
        values, _ = kernels.best_values(problem)
        n_optima, alternatives = _optima(problem, values, self.labels, most_alternatives)
        return BestTiers(
            self.labels,
            np.array([self.theta]),
            self.value,
            self.log_likelihood,
            n_optima,
            alternatives,
            gap,
            "branch and bound over theta with chords and tangents; at each end a recursion over "
            "all subsets" + ("" if gap == 0.0 else f", closed up to {gap:.1e}"),
            self.n_recursions + 1,
        )

    def _consider(self, labels: _Integers) -> bool:
        """Take tiers as the best so far if they are, with their own best theta."""
        best = maximise_thetas(CurveOfLines.of(self.counts, labels).with_one_theta())
        value = best.log_likelihood - lgamma(len(labels) + 1)
        sizes = np.bincount(labels).tolist()
        value += float(sum(lgamma(size + 1) for size in sizes)) + self.tier_constant * len(sizes)
        if value <= self.value + _TOLERANCE * abs(value):
            return False
        self.labels, self.theta, self.value = labels, float(best.thetas[0]), value
        self.log_likelihood = best.log_likelihood
        return True

    def _objective(self, theta: float) -> LineObjective:
        return fixed_objective(self.counts, theta, self.tier_constant)

    def _climb(self, theta: float) -> None:
        """Alternate between the best tiers at theta and the best theta of tiers."""
        while True:
            problem = self.tables.at_theta(self._objective(min(theta, LARGEST_GRID_THETA)))
            values, _ = kernels.best_values(problem)
            self.n_recursions += 1
            if not self._consider(_trace_best(problem, values)):
                return
            theta = self.theta

    def _first_intervals(self) -> list[tuple[float, float]]:
        """Cut all thetas into intervals that grow with the distance from the best theta."""
        centre = min(self.theta, LARGEST_GRID_THETA)
        spread = 1.0 / sqrt(max(self._information(centre), 1e-6))
        points = {0.0, LARGEST_GRID_THETA}
        reach = 0.7 * spread
        while reach < LARGEST_GRID_THETA:
            points.update((max(centre - reach, 0.0), min(centre + reach, LARGEST_GRID_THETA)))
            reach *= 2.4
        ordered = sorted(points)
        return list(pairwise(ordered))

    def _information(self, theta: float) -> float:
        rows = self._rows(theta)
        return float(self.counts.n_rankings * rows[2, self.counts.n_items])

    def _rows(self, theta: float) -> _Floats:
        if theta not in self._derivatives:
            self._derivatives[theta] = q_factorial_derivatives(theta, self.counts.n_items)
        return self._derivatives[theta]

    def _close_intervals(self) -> float:
        """Show that no theta in any interval does better; return by how much one still might."""
        open_intervals = self._first_intervals()
        gap = self._bound_beyond(LARGEST_GRID_THETA) - self.value
        gap = gap if gap > self._slack() else 0.0
        while open_intervals:
            low, high = open_intervals.pop()
            last = self.n_recursions >= _MOST_RECURSIONS or high - low < 1e-9 * (1.0 + high)
            excess = self._bound(low, high, both_ends=last) - self.value
            if excess <= self._slack():
                continue
            if last:
                gap = max(gap, excess)
                continue
            middle = (low + high) / 2.0
            open_intervals += [(low, middle), (middle, high)]
        return gap

    def _slack(self) -> float:
        return max(1e-7, 20.0 * _TOLERANCE * abs(self.value))

    def _bound(self, low: float, high: float, *, both_ends: bool) -> float:
        """Bound on all tiers but the best so far, at all thetas between two.

        An interval that one end leaves open will be cut: then the other end need not be known.
        """
        ends = self._rows(low), self._rows(high)
        width = high - low
        bound = -inf
        for theta, here, there, sign in (
            (low, ends[0], ends[1], -1.0),
            (high, ends[1], ends[0], 1.0),
        ):
            # At an end the chord is exact; the tangents are that end's value and the other's line.
            tangents = (here[0] + there[0] + sign * width * there[1]) / 2.0
            bound = max(bound, self._best_other(theta, here[0], tangents))
            if not both_ends and bound > self.value + self._slack():
                break
        return bound

    def _bound_beyond(self, theta: float) -> float:
        """Bound on all tiers but the best so far, at all larger thetas."""
        rows = self._rows(theta)
        return self._best_other(theta, rows[0], np.zeros_like(rows[0]))

    def _best_other(self, theta: float, convex: _Floats, concave: _Floats) -> float:
        """Best value of other tiers, with these logarithms where they add and where they reduce."""
        counts = self.counts
        objective = self._objective(theta)
        values = self.tables.tier_values(objective, counts.n_rankings * convex)
        constant = -counts.n_rankings * float(concave[counts.n_items]) - lgamma(counts.n_items + 1)
        if counts.n_blocks:
            width = self.tables.meeting.shape[1]
            values = values - self.tables.meeting @ concave[:width]
            constant += float(counts.block_weights @ convex[np.diff(counts.block_offsets)])
        problem = self.tables.with_values(objective, values)
        first, second = kernels.best_values(problem)
        self.n_recursions += 1
        if first[-1] + constant <= self.value + self._slack():
            return float(first[-1]) + constant
        labels = _trace_best(problem, first)
        if not np.array_equal(labels, self.labels) and not self._consider(labels):
            return float(first[-1]) + constant
        return float(second[-1]) + constant
