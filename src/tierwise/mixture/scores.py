"""Scores of a mixture: BIC, ICL and the likelihood of rankings that were held out; its precision.

References
----------
Biernacki, C., Celeux, G. and Govaert, G. (2000). Assessing a mixture model for clustering with the
integrated completed likelihood. IEEE Transactions on Pattern Analysis and Machine Intelligence 22,
719-725.
"""

from dataclasses import dataclass, replace
from math import hypot, isinf, log, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.results import Result
from tierwise._util.types import plain_number
from tierwise.mixture.em import EMRun, e_step
from tierwise.mixture.groups import Fitter
from tierwise.tiers import log_number_of_tiers

# Where the log-likelihood bends less than this in some direction, it does not bend.
_LEAST_INFORMATION = 1e-9


@dataclass(frozen=True, eq=False)
class Scores(Result):
    """How well a number of groups describes the rankings.

    Attributes
    ----------
    n_groups
        The number of groups, without a uniform one.
    n_parameters
        Free numbers: shares (one less than groups, a uniform one included) and the theta of every
        group that has more than one tier, or all worths of its tiers but one.
    log_likelihood
        Log probability of the rankings.
    log_likelihood_error
        Its standard error; 0 if all partition functions are exact.
    criterion
        The paper's I for several groups: the log-likelihood less, for each group, the log number of
        tiers of its sizes.
    bic
        ``-2 criterion + n_parameters log(n_rankings)``: lower is better. The tiers, which are no
        numbers, are paid for in the criterion.
    entropy
        Doubt about who belongs where, summed over rankings: 0 if there is none.
    icl
        ``bic + 2 entropy``: as BIC, but groups that cannot be distinguished cost more.
    held_out
        Mean log probability of rankings under groups that were fitted without them; higher is
        better. None if it was not asked for.
    held_out_error
        Its standard error.
    held_out_behind
        How far it is behind the best number of groups; 0 for the best.
    held_out_behind_error
        Standard error of that difference, ranking by ranking: what makes a ranking improbable
        under any number of groups cancels out, so that it says more than the two errors apart.
    """

    n_groups: int
    n_parameters: int
    log_likelihood: float
    log_likelihood_error: float
    criterion: float
    bic: float
    entropy: float
    icl: float
    held_out: float | None = None
    held_out_error: float | None = None
    held_out_behind: float | None = None
    held_out_behind_error: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON; None stands for infinity."""
        return {
            name: plain_number(value) if isinstance(value, float) else value
            for name, value in vars(self).items()
        }


def score(fitter: Fitter, run: EMRun, n_groups: int) -> Scores:
    """Compute the criteria of groups on the answers they were fitted to."""
    weights = fitter.answers.weights
    memberships, _ = e_step(fitter, run.components, run.shares)
    n_parameters = len(run.components) - 1 + sum(map(fitter.n_parameters, run.components))
    criterion = run.log_likelihood - sum(
        log_number_of_tiers(component.sizes) for component in run.components
    )
    bic = -2 * criterion + n_parameters * log(fitter.answers.n_rankings)
    errors = [
        fitter.error_of_log_likelihood(group, float(weights @ own))
        for own, group in zip(memberships.T, run.components, strict=True)
    ]
    certain = np.where(memberships > 0, memberships, 1.0)
    entropy = max(0.0, -float(weights @ (certain * np.log(certain)).sum(axis=1)))
    return Scores(
        n_groups=n_groups,
        n_parameters=n_parameters,
        log_likelihood=run.log_likelihood,
        log_likelihood_error=hypot(*errors),
        criterion=criterion,
        bic=bic,
        entropy=entropy,
        icl=bic + 2 * entropy,
    )


def held_out_values(
    fitter: Fitter, folds: NDArray[np.float64], runs: list[EMRun]
) -> NDArray[np.float64]:
    """Log probability of the answers of each fold under groups that were fitted without it.

    Folds follow each other, as the weights ``folds[folds > 0]`` do.
    """
    log_probabilities = np.array([e_step(fitter, run.components, run.shares)[1] for run in runs])
    values: NDArray[np.float64] = log_probabilities[folds > 0]
    return values


def with_held_out(
    comparison: list[Scores], values: list[NDArray[np.float64]], weights: NDArray[np.float64]
) -> list[Scores]:
    """Add to scores how probable rankings are that were held out, and who is behind the best."""
    means = [float(weights @ own / weights.sum()) for own in values]
    best = values[int(np.argmax(means))]
    completed = []
    for scores, own, mean in zip(comparison, values, means, strict=True):
        behind = 0.0 if own is best else max(means) - mean
        completed.append(
            replace(
                scores,
                held_out=mean,
                held_out_error=_error_of_mean(own, weights),
                held_out_behind=behind,
                held_out_behind_error=0.0 if own is best else _error_of_gap(best, own, weights),
            )
        )
    return completed


def _error_of_mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the standard error of a weighted mean; NaN if it is infinite."""
    if not np.isfinite(values).all():
        return float("nan")
    total = float(weights.sum())
    mean = float(weights @ values / total)
    return sqrt(float(weights @ (values - mean) ** 2 / total) / total)


def _error_of_gap(
    best: NDArray[np.float64], other: NDArray[np.float64], weights: NDArray[np.float64]
) -> float:
    """Return the standard error of the mean difference; NaN if a value is infinite."""
    if not (np.isfinite(best).all() and np.isfinite(other).all()):
        return float("nan")
    return _error_of_mean(best - other, weights)


def standard_errors(
    fitter: Fitter, run: EMRun, memberships: NDArray[np.float64]
) -> tuple[NDArray[np.float64], list[NDArray[np.float64] | None]]:
    """Return the standard errors of all shares, and covariances of each group's parameters.

    They come from the observed information, by which the log-likelihood bends at its maximum, so
    doubt about memberships is in them; doubt about the tiers is not. NaN and None stand for what
    has no such error: the theta of a single tier or of perfect agreement, and everything where
    groups cannot be distinguished.
    """
    n_groups = len(run.shares)
    share_errors = np.full(n_groups, nan)
    covariances: list[NDArray[np.float64] | None] = [None] * n_groups
    present = np.flatnonzero(run.shares > 0)
    free = [
        group
        for group in present.tolist()
        if len(run.components[group].sizes) > 1 and not isinf(run.components[group].theta)
    ]
    *others, last = present.tolist()
    columns = [
        memberships[:, group] / run.shares[group] - memberships[:, last] / run.shares[last]
        for group in others
    ]
    # A probability is linear in the shares, so it bends in the parameters of groups alone.
    bend = [0.0] * len(others)
    weights = fitter.answers.weights
    ends = {}
    for group in free:
        component = run.components[group]
        scores = fitter.scores(component)
        first = len(columns)
        columns += list((memberships[:, [group]] * scores).T)
        ends[group] = slice(first, len(columns))
        bend += fitter.bends(component, weights * memberships[:, group]).tolist()
    if not columns:
        share_errors[last] = 0.0
        return share_errors, covariances
    table = np.column_stack(columns)
    information = table.T @ (weights[:, None] * table) - np.diag(bend)
    if np.linalg.eigvalsh(information)[0] <= _LEAST_INFORMATION:
        return share_errors, covariances
    covariance = np.linalg.inv(information)
    share_errors[others] = np.sqrt(np.diag(covariance))[: len(others)]
    share_errors[last] = np.sqrt(covariance[: len(others), : len(others)].sum())
    for group, own in ends.items():
        covariances[group] = covariance[own, own]
    return share_errors, covariances
