"""How many groups: the criteria, and answers that were held out."""

from dataclasses import dataclass
from math import hypot, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise.distances import Distance
from tierwise.fit_result import plain_number
from tierwise.mixture.answers import Answers
from tierwise.mixture.components import workshop_for
from tierwise.mixture.em import Climb, memberships_of
from tierwise.mixture.workshop import Workshop
from tierwise.rankings import Rankings


@dataclass(frozen=True)
class Scores:
    """How well a number of groups describes the rankings.

    Attributes
    ----------
    n_groups
        The number of groups, without a uniform one.
    n_parameters
        Free numbers: shares (one less than groups, a uniform one included) and the theta of every
        group that has more than one tier.
    log_likelihood
        Log probability of the rankings.
    log_likelihood_error
        Its standard error; 0 where all partition functions are exact.
    criterion
        The paper's I for several groups: the log-likelihood less, for each group, the log number of
        tiers of its sizes.
    bic
        ``-2 criterion + n_parameters log(n_rankings)``: lower is better. The tiers, which are no
        numbers, are paid for in the criterion.
    entropy
        Doubt about who belongs where, summed over rankings: 0 if there is none.
    icl
        ``bic + 2 entropy``: as BIC, but groups that cannot be told apart cost more.
    held_out
        Mean log probability of rankings under groups that were fitted without them; higher is
        better. None where it was not asked for.
    held_out_error
        Its standard error.
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

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON; None stands for infinity."""
        return {
            name: plain_number(value) if isinstance(value, float) else value
            for name, value in vars(self).items()
        }


def score(workshop: Workshop, run: Climb, n_groups: int) -> Scores:
    """Compute the criteria of groups on the answers they were fitted to."""
    weights = workshop.answers.weights
    memberships, _ = memberships_of(workshop, run.components, run.shares)
    n_thetas = sum(len(component.sizes) > 1 for component in run.components)
    n_parameters = len(run.components) - 1 + n_thetas
    bic = -2 * run.criterion + n_parameters * log(workshop.answers.n_rankings)
    errors = [
        float(weights @ own) * workshop.partition(group.sizes).log_value(group.theta).standard_error
        for own, group in zip(memberships.T, run.components, strict=True)
    ]
    certain = np.where(memberships > 0, memberships, 1.0)
    entropy = max(0.0, -float(weights @ (certain * np.log(certain)).sum(axis=1)))
    return Scores(
        n_groups=n_groups,
        n_parameters=n_parameters,
        log_likelihood=run.log_likelihood,
        log_likelihood_error=hypot(*errors),
        criterion=run.criterion,
        bic=bic,
        entropy=entropy,
        icl=bic + 2 * entropy,
    )


def fold_weights(rankings: Rankings, n_folds: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Divide the rankings at random into folds: ``weights[fold, pattern]``.

    An answer that counts for several rankings is divided too; one with a broken weight is not.
    """
    if rankings.pattern_weights.dtype.kind == "i":
        single = np.repeat(np.arange(len(rankings.patterns)), rankings.pattern_weights)
        worth = np.ones(len(single))
    else:
        single, worth = rankings.pattern_of, rankings.weights
    fold = rng.permutation(np.arange(len(single)) % n_folds)
    weights = np.zeros((n_folds, len(rankings.patterns)))
    np.add.at(weights, (fold, single), worth)
    return weights


def held_out_score(
    answers: Answers, distance: Distance, folds: NDArray[np.float64], runs: list[Climb]
) -> tuple[float, float]:
    """Mean log probability of each fold's rankings without it, and its standard error."""
    workshop = workshop_for(answers, distance)
    log_probabilities = np.array(
        [memberships_of(workshop, run.components, run.shares)[1] for run in runs]
    )
    counted = folds > 0
    values, weights = log_probabilities[counted], folds[counted]
    mean = float(weights @ values / weights.sum())
    if not np.isfinite(mean):
        return mean, float("nan")
    variance = float(weights @ (values - mean) ** 2 / weights.sum())
    return mean, sqrt(variance / weights.sum())
