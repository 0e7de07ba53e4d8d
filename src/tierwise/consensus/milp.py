"""Consensus with a proof, by linear and integer programming.

Annealing supplies the candidate; the program supplies the bound. Most often the linear program,
with the inequalities that matter added round by round, already proves the candidate best. If not,
HiGHS branches.

The linear program is over relations between items. Unknowns, all between 0 and 1: ``before[a, l]``
says that item ``a`` is in a tier better than ``l`` (``l`` from 0 to the number of tiers),
``above[a, b]`` that ``a`` is in a strictly better tier than ``b``. The sizes fix how many items are
above and below each item of a tier, which ties the two together. What is left to require is large
in number and seldom matters: it is added when violated.

- links ``above[a, b] <= before[a, l] + 1 - before[b, l + 1]``: if ``b`` is in tier ``l`` or better,
  then ``a`` is above it only if better than ``l``;
- triangles ``above[a, c] <= above[a, b] + above[b, c]``: if ``a`` is above ``c``, then any third
  item is below ``a`` or above ``c``.

With ``before`` whole and all links satisfied, ``above`` is the relation of the tiers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, isfinite
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, vstack

from tierwise.consensus.annealing import Annealing, simple_bound, solve_by_annealing
from tierwise.consensus.problem import MAX_ALTERNATIVES, Consensus
from tierwise.errors import TooLargeError, use

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._util.checks import RandomSource
    from tierwise.consensus.problem import Problem

_VIOLATION = 1e-5
_MOST_CUTS_OF_A_KIND = 1000
MOST_ITEMS = 200
# A round that closes less than this share of the gap is a sign to start branching.
_WORTHWHILE_SHARE = 0.01
# Error, as a share of all costs, allowed for in bounds from a dual solution and from branching.
_BOUND_ERROR = 1e-9
_SOLVER_ERROR = 1e-6
# In seconds.
_LEAST_TIME_FOR_TIES = 0.25
# The status of a program that no tiers satisfy any more.
_INFEASIBLE = 2


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise ``objective @ x + constant`` under equalities, inequalities and bounds.

    Attributes
    ----------
    n_items, n_tiers
        What the unknowns are made of: ``before``, row by row, and then ``above``.
    objective, constant
        What is minimised.
    equal, equal_to
        ``equal @ x == equal_to``.
    at_most, limits
        ``at_most @ x <= limits``.
    lowest, highest
        ``lowest <= x <= highest``.
    """

    n_items: int
    n_tiers: int
    objective: npt.NDArray[np.float64]
    constant: float
    equal: csr_array
    equal_to: npt.NDArray[np.float64]
    at_most: csr_array
    limits: npt.NDArray[np.float64]
    lowest: npt.NDArray[np.float64]
    highest: npt.NDArray[np.float64]

    @property
    def n_before(self) -> int:
        """Number of unknowns that come first, and that must be whole."""
        return self.n_items * (self.n_tiers + 1)

    def unpack(
        self, x: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Split a solution into ``before`` and ``above``."""
        before = x[: self.n_before].reshape(self.n_items, self.n_tiers + 1)
        return before, x[self.n_before :].reshape(self.n_items, self.n_items)

    def labels(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Tier of each item in a solution whose ``before`` is whole."""
        before, _ = self.unpack(x)
        n_worse_tiers = np.rint(before).sum(axis=1, dtype=np.int64)
        labels: npt.NDArray[np.int64] = self.n_tiers - n_worse_tiers
        return labels

    def with_limits(self, rows: csr_array, limits: npt.NDArray[np.float64]) -> Program:
        """Return the same program with more inequalities."""
        return replace(
            self,
            at_most=vstack([self.at_most, rows], format="csr"),
            limits=np.concatenate([self.limits, limits]),
        )

    def without_tiers(self, labels: npt.NDArray[np.int64]) -> Program:
        """Return the same program, but for tiers that are no longer allowed."""
        before, _ = _columns(self.n_items, self.n_tiers)
        items = np.arange(self.n_items)
        # Other tiers of the same sizes put at least two items elsewhere.
        columns = np.concatenate([before[items, labels + 1], before[items, labels]])
        values = np.repeat([1.0, -1.0], self.n_items)
        rows = _rows(columns[None, :], values, len(self.objective))
        return self.with_limits(rows, np.array([self.n_items - 2.0]))

    def violated(self, x: npt.NDArray[np.float64]) -> tuple[csr_array, npt.NDArray[np.float64]]:
        """Links and triangles that a solution violates most, and their limits."""
        before, above = self.unpack(x)
        before_at, above_at = _columns(self.n_items, self.n_tiers)
        excess = above[:, :, None] - before[:, None, :-1] + before[None, :, 1:] - 1.0
        first, second, tier = _largest(excess)
        links = np.column_stack(
            [above_at[first, second], before_at[first, tier], before_at[second, tier + 1]]
        )
        # [a, c, b]; a triangle with two corners in one place is never violated.
        excess = above[:, :, None] - above[:, None, :] - above.T[None, :, :]
        first, last, middle = _largest(excess)
        triangles = np.column_stack(
            [above_at[first, last], above_at[first, middle], above_at[middle, last]]
        )
        width = len(self.objective)
        rows = vstack(
            [
                _rows(links, np.array([1.0, -1.0, 1.0]), width),
                _rows(triangles, np.array([1.0, -1.0, -1.0]), width),
            ],
            format="csr",
        )
        return rows, np.repeat([1.0, 0.0], [len(links), len(triangles)])


def make_program(problem: Problem) -> Program:
    """Write down a consensus problem, without any of the links and triangles."""
    n_items, n_tiers = problem.n_items, len(problem.sizes)
    sizes = np.array(problem.sizes, dtype=np.float64)
    n_better = np.concatenate([[0.0], np.cumsum(sizes)])
    before, above = _columns(n_items, n_tiers)
    width = before.size + above.size

    objective = np.zeros(width)
    constant = 0.0
    if problem.linear.size:
        objective[before] += _on_before(problem.linear)
    if problem.pairs.size:
        objective[above] -= problem.pairs
        constant += float(problem.pairs.sum())

    lowest, highest = np.zeros(width), np.ones(width)
    highest[before[:, 0]] = 0.0
    lowest[before[:, -1]] = 1.0
    highest[np.diagonal(above)] = 0.0

    ones = np.ones(n_items)
    n_below = _on_before(n_items - n_better[None, 1:])[0]
    n_above = _on_before(n_better[None, :-1])[0]
    equal = [
        _rows(before.T, ones, width),
        _rows(np.hstack([above, before]), np.concatenate([ones, -n_below]), width),
        _rows(np.hstack([above.T, before]), np.concatenate([ones, -n_above]), width),
    ]
    first, second = np.triu_indices(n_items, k=1)
    rising = np.column_stack([before[:, :-1].ravel(), before[:, 1:].ravel()])
    both = np.column_stack([above[first, second], above[second, first]])
    at_most = [_rows(rising, np.array([1.0, -1.0]), width), _rows(both, np.ones(2), width)]
    return Program(
        n_items=n_items,
        n_tiers=n_tiers,
        objective=objective,
        constant=constant,
        equal=vstack(equal, format="csr"),
        equal_to=np.concatenate([n_better, np.zeros(2 * n_items)]),
        at_most=vstack(at_most, format="csr"),
        limits=np.repeat([0.0, 1.0], [len(rising), len(both)]),
        lowest=lowest,
        highest=highest,
    )


def _columns(n_items: int, n_tiers: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where the unknowns ``before[a, l]`` and ``above[a, b]`` are."""
    n_before = n_items * (n_tiers + 1)
    before = np.arange(n_before).reshape(n_items, n_tiers + 1)
    return before, n_before + np.arange(n_items * n_items).reshape(n_items, n_items)


def _on_before(by_tier: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Turn coefficients on being in a tier into coefficients on ``before``."""
    return -np.diff(by_tier, axis=1, prepend=0.0, append=0.0)


def _rows(columns: npt.NDArray[np.int64], values: npt.NDArray[np.float64], width: int) -> csr_array:
    """Rows of a sparse matrix that have the same values, each at its own columns."""
    n_rows, n_values = columns.shape
    starts = np.arange(n_rows + 1) * n_values
    return csr_array((np.tile(values, n_rows), columns.ravel(), starts), shape=(n_rows, width))


def _largest(
    excess: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where the excess is largest, if it is a violation at all."""
    flat = np.flatnonzero(excess > _VIOLATION)
    if len(flat) > _MOST_CUTS_OF_A_KIND:
        by_size = np.argpartition(-excess.ravel()[flat], _MOST_CUTS_OF_A_KIND)
        flat = flat[by_size[:_MOST_CUTS_OF_A_KIND]]
    first, second, third = np.unravel_index(flat, excess.shape)
    return first, second, third


def solve_by_milp(
    problem: Problem, annealing: Annealing, *, time_limit: float, rng: RandomSource = None
) -> Consensus:
    """Improve and prove what annealing found, until it is proved or the time is up.

    Parameters
    ----------
    problem
        Costs and sizes.
    annealing
        How to look for the candidate.
    time_limit
        Seconds; the best tiers and the best bound by then are returned.
    rng
        Seed or generator for annealing.
    """
    if problem.n_items > MOST_ITEMS:
        raise TooLargeError(
            f"integer programming takes up to {MOST_ITEMS} items, not {problem.n_items}",
            [use(method="annealing")],
        )
    start = monotonic()
    best = replace(solve_by_annealing(problem, annealing, rng=rng), method="milp")
    program = make_program(problem)
    bound = simple_bound(problem)
    while bound < best.total - problem.tolerance:
        program, new_bound, labels = _look_below(
            problem, program, best.total, deadline=start + time_limit
        )
        bound = max(bound, new_bound)
        if labels is None:
            break
        best = replace(best, labels=labels, total=problem.total(labels), alternatives=())
    if bound < best.total - problem.tolerance:
        return replace(best, bound=bound)
    best = replace(best, bound=best.total, optimal=True)
    # Whether others are as good is worth as much time again as the proof took.
    now = monotonic()
    deadline = min(start + time_limit, now + max(_LEAST_TIME_FOR_TIES, now - start))
    return _with_alternatives(problem, program, best, deadline)


def _with_alternatives(
    problem: Problem, program: Program, best: Consensus, deadline: float
) -> Consensus:
    """Look for other tiers that are as good, and count them if there is time to find them all."""
    optima = [best.labels, *best.alternatives]
    for labels in optima:
        program = program.without_tiers(labels)
    goal = best.total + (2.0 * _allowance(problem) or 1.0)
    n_optima = None
    while len(optima) <= MAX_ALTERNATIVES:
        program, bound, found = _look_below(problem, program, goal, deadline=deadline)
        if found is None:
            n_optima = len(optima) if bound >= goal else None
            break
        if problem.total(found) <= best.total + problem.tolerance:
            optima.append(found)
        program = program.without_tiers(found)
    return replace(best, alternatives=tuple(optima[1:]), n_optima=n_optima)


def _look_below(
    problem: Problem, program: Program, goal: float, *, deadline: float
) -> tuple[Program, float, npt.NDArray[np.int64] | None]:
    """Find tiers with a total below the goal, or a bound that shows that there are none.

    Returns the program with the inequalities that were added, the best bound, and the labels.
    """
    bound = -np.inf
    branching = False
    while (seconds := deadline - monotonic()) > 0.0:
        if branching:
            x, new_bound, complete = _branch(problem, program, seconds)
        else:
            x, new_bound, complete = _relax(problem, program, seconds)
        if new_bound >= goal - _allowance(problem):
            return program, max(new_bound, goal), None
        if x is None:
            return program, max(bound, new_bound), None
        stalled = new_bound - bound < _WORTHWHILE_SHARE * (goal - bound)
        bound = max(bound, new_bound)
        if branching:
            labels = program.labels(x)
            if problem.total(labels) < goal - problem.tolerance:
                return program, bound, labels
        rows, limits = program.violated(x)
        if branching and complete and len(limits) == 0:
            return program, goal, None
        branching = branching or stalled or len(limits) == 0
        program = program.with_limits(rows, limits)
    return program, bound, None


def _relax(
    problem: Problem, program: Program, seconds: float
) -> tuple[npt.NDArray[np.float64] | None, float, bool]:
    """Solve without requiring whole numbers; the bound comes from the dual solution.

    Any dual solution gives a valid bound, so that of the solver does, however inexact it is.
    """
    scale = np.abs(program.objective).max() or 1.0
    objective = program.objective / scale
    result = linprog(
        objective,
        A_ub=program.at_most,
        b_ub=program.limits,
        A_eq=program.equal,
        b_eq=program.equal_to,
        bounds=np.column_stack([program.lowest, program.highest]),
        method="highs",
        options={"time_limit": seconds},
    )
    if result.status != 0:
        return None, np.inf if result.status == _INFEASIBLE else -np.inf, False
    of_limits = np.minimum(result.ineqlin.marginals, 0.0)
    of_equal = result.eqlin.marginals
    reduced = objective - of_limits @ program.at_most - of_equal @ program.equal
    bound = of_limits @ program.limits + of_equal @ program.equal_to
    bound += np.minimum(reduced * program.lowest, reduced * program.highest).sum()
    return result.x, _round_up(problem, program.constant + scale * bound, _BOUND_ERROR), True


def _branch(
    problem: Problem, program: Program, seconds: float
) -> tuple[npt.NDArray[np.float64] | None, float, bool]:
    """Solve with ``before`` in whole numbers; the bound is that of the solver."""
    scale = np.abs(program.objective).max() or 1.0
    whole = np.zeros(len(program.objective))
    whole[: program.n_before] = 1
    result = milp(
        program.objective / scale,
        integrality=whole,
        bounds=Bounds(program.lowest, program.highest),
        constraints=[
            LinearConstraint(program.equal, program.equal_to, program.equal_to),
            LinearConstraint(program.at_most, -np.inf, program.limits),
        ],
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if result.status == _INFEASIBLE:
        return None, np.inf, True
    bound = -np.inf
    if result.mip_dual_bound is not None:
        bound = program.constant + scale * result.mip_dual_bound
    return result.x, _round_up(problem, bound, _SOLVER_ERROR), result.status == 0


def _round_up(problem: Problem, bound: float, relative_error: float) -> float:
    """Allow for an error and, where totals are whole numbers, go to the next one."""
    if not isfinite(bound):
        return bound
    safe = float(bound) - relative_error * problem.magnitude
    return float(ceil(safe)) if problem.tolerance == 0.0 else safe


def _allowance(problem: Problem) -> float:
    """How close a bound must come to a total to prove it: all the way, if sums are exact."""
    return 2.0 * _BOUND_ERROR * problem.magnitude if problem.tolerance > 0.0 else 0.0
