"""Many starts: in each heat some set out, and the one ahead after a few steps goes on."""

from dataclasses import dataclass

import numpy as np

from tierwise.distances.base import Distance
from tierwise.mixture.answers import Answers
from tierwise.mixture.components import workshop_for
from tierwise.mixture.em import Climb, begin, climb
from tierwise.mixture.plans import Plan
from tierwise.mixture.starts import first_memberships

STARTS_PER_HEAT = 5
_STEPS_OF_A_HEAT = 5
# What a uniform group is given of every answer at first.
_NOISE_AT_FIRST = 0.1


@dataclass(frozen=True, eq=False)
class Task:
    """What a heat is about.

    Attributes
    ----------
    answers
        The answers to divide into groups.
    plans
        Sizes of each group's tiers, or "search".
    noise
        Whether the last of the groups is the uniform one.
    distance
        The distance.
    n_starts
        How many set out.
    tolerance, most_steps
        When EM stops.
    """

    answers: Answers
    plans: tuple[Plan, ...]
    noise: bool
    distance: Distance
    n_starts: int
    tolerance: float
    most_steps: int


def run_heat(task: Task, seed: np.random.SeedSequence) -> Climb:
    """Let EM set out from some starts and follow the best one to the end."""
    workshop = workshop_for(task.answers, task.distance)
    rng = np.random.default_rng(seed)
    runs = []
    for number in range(task.n_starts):
        # Settled centres are the better starts as a rule, but all end at the same few places.
        memberships = first_memberships(
            task.answers, len(task.plans) - task.noise, settled=number % 2 == 0, rng=rng
        )
        if task.noise:
            noise = np.full((len(memberships), 1), _NOISE_AT_FIRST)
            memberships = np.hstack([memberships * (1 - _NOISE_AT_FIRST), noise])
        components, shares = begin(workshop, task.plans, memberships)
        runs.append(
            climb(
                workshop,
                task.plans,
                components,
                shares,
                tolerance=task.tolerance,
                most_steps=min(_STEPS_OF_A_HEAT, task.most_steps),
            )
        )
    ahead = max(runs, key=lambda run: run.criterion)
    steps_left = task.most_steps - _STEPS_OF_A_HEAT
    if ahead.converged or steps_left <= 0:
        return ahead
    end = climb(
        workshop,
        task.plans,
        ahead.components,
        ahead.shares,
        tolerance=task.tolerance,
        most_steps=steps_left,
    )
    return Climb(
        components=end.components,
        shares=end.shares,
        log_likelihood=end.log_likelihood,
        # The second climb begins where the first one ended.
        history=ahead.history[:-1] + end.history,
        converged=end.converged,
    )
