"""How sure shares and thetas are, given the tiers."""

from math import inf, nan

import numpy as np
from numpy.typing import NDArray

from tierwise.mixture.em import Climb
from tierwise.mixture.workshop import Workshop

# Where the log-likelihood bends less than this in some direction, it does not bend.
_LEAST_INFORMATION = 1e-9


def standard_errors(
    workshop: Workshop, run: Climb, memberships: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the standard errors of all shares and thetas.

    They come from the observed information, by which the log-likelihood bends at its maximum, so
    that doubt about memberships is in them; doubt about the tiers is not. NaN stands for what has
    no such error: the theta of a single tier or of perfect agreement, and everything where groups
    cannot be told apart.
    """
    n_groups = len(run.shares)
    share_errors, theta_errors = np.full(n_groups, nan), np.full(n_groups, nan)
    present = np.flatnonzero(run.shares > 0)
    free = [
        group
        for group in present
        if len(run.components[group].sizes) > 1 and run.components[group].theta < inf
    ]
    *others, last = present.tolist()
    columns = [
        memberships[:, group] / run.shares[group] - memberships[:, last] / run.shares[last]
        for group in others
    ]
    # A probability f is linear in the shares. In a theta, f'' / f is (E d - m)^2 + v - Var d, where
    # m and v are mean and variance of the distance given the answer.
    bend = [0.0] * len(others)
    weights = workshop.answers.weights
    for group in free:
        component = run.components[group]
        moments = workshop.partition(component.sizes).moments(component.theta)
        means, variances = workshop.distance_moments(component)
        excess = float(moments.mean) - means
        columns.append(memberships[:, group] * excess)
        own = weights * memberships[:, group]
        bend.append(float(own @ (excess**2 + variances - float(moments.variance))))
    if not columns:
        share_errors[last] = 0.0
        return share_errors, theta_errors
    scores = np.column_stack(columns)
    information = scores.T @ (weights[:, None] * scores) - np.diag(bend)
    if np.linalg.eigvalsh(information)[0] <= _LEAST_INFORMATION:
        return share_errors, theta_errors
    covariance = np.linalg.inv(information)
    errors = np.sqrt(np.diag(covariance))
    share_errors[others] = errors[: len(others)]
    share_errors[last] = np.sqrt(covariance[: len(others), : len(others)].sum())
    theta_errors[free] = errors[len(others) :]
    return share_errors, theta_errors
