"""Consensus with a proof, by linear and integer programming.

Annealing supplies the candidate; the program supplies the bound. Most often the linear program,
with the inequalities that matter added round by round, already proves the candidate best. If not,
HiGHS branches.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, isfinite
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from tierwise.consensus.annealing import Annealing, simple_bound, solve_by_annealing
from tierwise.consensus.formulation import Program, make_program
from tierwise.consensus.problem import MAX_ALTERNATIVES, Consensus
from tierwise.errors import TooLargeError

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._util.random import RandomSource
    from tierwise.consensus.problem import Problem

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
            f'method="milp" takes up to {MOST_ITEMS} items, not {problem.n_items}: '
            'use method="annealing"'
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
