"""EM: memberships given the groups, the groups given the memberships, and so on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tierwise.mixture.plans import Plan
from tierwise.mixture.workshop import Component, Workshop
from tierwise.tiers.sizes import log_number_of_tiers

# A group with less weight than this keeps its tiers and theta: nothing is there to fit them to.
_LEAST_WEIGHT = 1e-8
# A gain of a step, in units of log-likelihood, after which other tiers are worth a look.
_SETTLED = 0.05
# A look around must gain this much to count, so that it comes to an end.
_LEAST_GAIN = 1e-3


@dataclass(frozen=True, eq=False)
class Climb:
    """Where EM led to from one start.

    Attributes
    ----------
    components
        The groups.
    shares
        Their shares.
    log_likelihood
        Log-likelihood of all answers.
    history
        Log-likelihood less the log number of tiers of each group, after each step: never falling.
    converged
        Whether it stopped because a step gained next to nothing.
    """

    components: tuple[Component, ...]
    shares: NDArray[np.float64]
    log_likelihood: float
    history: tuple[float, ...]
    converged: bool

    @property
    def criterion(self) -> float:
        """What was climbed: the log-likelihood less the log number of tiers of each group."""
        return self.history[-1]


def begin(
    workshop: Workshop, plans: tuple[Plan, ...], memberships: NDArray[np.float64]
) -> tuple[tuple[Component, ...], NDArray[np.float64]]:
    """Fit groups and shares to first memberships."""
    weights = workshop.answers.weights
    components = []
    for plan, own in zip(plans, (weights[:, None] * memberships).T, strict=True):
        # A group without answers begins as that of everybody.
        enough = own.sum() > _LEAST_WEIGHT
        components.append(workshop.begin(np.ascontiguousarray(own) if enough else weights, plan))
    return tuple(components), weights @ memberships / weights.sum()


def climb(
    workshop: Workshop,
    plans: tuple[Plan, ...],
    components: tuple[Component, ...],
    shares: NDArray[np.float64],
    *,
    tolerance: float,
    most_steps: int,
) -> Climb:
    """Repeat E and M steps until a step gains less than the tolerance.

    Whenever little is left to gain in this way, look around for better tiers, and for better sizes
    where they are to be found. Neither a step nor what is found there lowers the criterion.
    """
    weights = workshop.answers.weights
    history: list[float] = []
    looked = False
    while True:
        memberships, log_totals = memberships_of(workshop, components, shares)
        log_likelihood = float(weights @ log_totals)
        history.append(log_likelihood - sum(_penalty(component) for component in components))
        gain = history[-1] - history[-2] if len(history) > 1 else np.inf
        converged = looked and gain < tolerance
        if converged or len(history) > most_steps:
            return Climb(components, shares, log_likelihood, tuple(history), converged)
        if gain < max(_SETTLED, tolerance) and not looked:
            better = look_around(workshop, plans, components, shares)
            if better is not None:
                components = better
                continue
            looked = True
        components = tuple(
            _update(workshop, weights * own, component)
            for own, component in zip(memberships.T, components, strict=True)
        )
        shares = weights @ memberships / weights.sum()


def _penalty(component: Component) -> float:
    return log_number_of_tiers(component.sizes)


def _update(workshop: Workshop, own: NDArray[np.float64], component: Component) -> Component:
    return component if own.sum() <= _LEAST_WEIGHT else workshop.update(own, component)


def look_around(
    workshop: Workshop,
    plans: tuple[Plan, ...],
    components: tuple[Component, ...],
    shares: NDArray[np.float64],
) -> tuple[Component, ...] | None:
    """Exchange groups for similar ones that make the answers more probable, if there are any.

    EM does not leave tiers that are best for the memberships they imply, though other tiers, with
    the memberships that those imply, may be better still. So these are tried on the likelihood
    itself: swaps of two items, and other sizes where no swap helps.
    """
    better = list(components)
    for group, plan in enumerate(plans):
        joint = log_joint(workshop, tuple(better), shares)
        swapped = _swap(workshop, better[group], divide(joint)[0][:, group])
        if swapped is not None:
            better[group] = swapped
        elif plan == "search":
            better[group] = _resize(workshop, better[group], joint, group, float(shares[group]))
    changed = any(new is not old for new, old in zip(better, components, strict=True))
    return tuple(better) if changed else None


def _swap(
    workshop: Workshop, component: Component, memberships: NDArray[np.float64]
) -> Component | None:
    """Return the group after the best swap of two items, if that gains anything."""
    swapped, gain = workshop.best_swap(np.ascontiguousarray(memberships), component)
    return swapped if gain > _LEAST_GAIN else None


def _resize(
    workshop: Workshop,
    component: Component,
    joint: NDArray[np.float64],
    group: int,
    share: float,
) -> Component:
    """Return the group with better sizes, or the group itself if none are found."""
    weights = workshop.answers.weights
    own = weights * divide(joint)[0][:, group]
    if own.sum() <= _LEAST_WEIGHT:
        return component
    best, rivals = workshop.search(own, component)
    if best.sizes != component.sizes:
        return best
    others = divide(np.delete(joint, group, axis=1))[1]

    def value(candidate: Component) -> float:
        column = np.log(share) + workshop.log_probabilities(candidate)
        return float(weights @ np.logaddexp(others, column)) - _penalty(candidate)

    winner = max(rivals, key=value, default=component)
    return winner if value(winner) > value(component) + _LEAST_GAIN else component


def memberships_of(
    workshop: Workshop, components: tuple[Component, ...], shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probability of each group for each answer, and each answer's log probability."""
    return divide(log_joint(workshop, components, shares))


def log_joint(
    workshop: Workshop, components: tuple[Component, ...], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log of share times probability: ``[answer, group]``."""
    with np.errstate(divide="ignore"):
        log_shares = np.log(shares)
    columns = [workshop.log_probabilities(component) for component in components]
    joint: NDArray[np.float64] = np.column_stack(columns) + log_shares
    return joint


def divide(joint: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share of each column in each row's total, and the log totals, from logarithms."""
    peak = joint.max(axis=1, initial=-np.inf)[:, None]
    # An answer that no group can give keeps log probability -inf, and belongs to none.
    peak = np.where(np.isfinite(peak), peak, 0.0)
    scaled = np.exp(joint - peak)
    total = scaled.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_totals = (np.log(total) + peak)[:, 0]
    return scaled / np.where(total > 0, total, 1.0), log_totals
