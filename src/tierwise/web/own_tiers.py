"""Compare the user's own tiers with those found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tierwise.data.kinds import check_data
from tierwise.data.rankings import Rankings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tierwise.data.kinds import Answers


def judged(answers: Answers, task: dict[str, Any]) -> dict[str, Any]:
    """Compare the user's own tiers with those found, under the chosen model.

    The comparison is by log evidence plus log prior, as everywhere that says "behind".
    """
    import numpy as np

    several = task.get("concentration", "single") == "tier"
    ranked = task.get("ranked", range(len(answers.items)))  # results that a folder keeps
    if len(ranked) < len(answers.items):
        rankings = check_data(answers, "tiers of some of the items", Rankings)
        answers = rankings.restrict([answers.items[item] for item in ranked])
    found = {}
    for key in ("own", "found"):
        labels = np.empty(len(answers.items), dtype=np.int64)
        for number, tier in enumerate(task[key]):
            labels[tier] = number
        if task["family"] == "luce":
            found[key] = _log_posterior(answers, labels)
        elif several and len(task[key]) > 1:
            found[key] = _log_posterior_of_lines(answers, labels)
        else:
            found[key] = _log_evidence(answers, labels, task["distance"])
    averaged = "worths" if task["family"] == "luce" else "thetas" if several else "theta"
    return {**found, "averaged": averaged, "n_answers": float(answers.n_rankings)}


def _log_posterior(answers: Answers, labels: NDArray[np.int64]) -> dict[str, float | None]:
    """Return the log posterior probability of tiers in this order, worths averaged over."""
    from tierwise.answers.races import races_of
    from tierwise.fitting.luce import sceptical
    from tierwise.luce.search import sizes_of
    from tierwise.luce.worths import best_worths
    from tierwise.tiers import log_number_of_tiers

    worths = best_worths(races_of(answers), labels)
    sizes = sizes_of(labels)
    value = worths.log_evidence + sceptical(sizes) - log_number_of_tiers(sizes)
    return {"theta": None, "log_likelihood": worths.log_likelihood, "criterion": value}


def _log_posterior_of_lines(answers: Answers, labels: NDArray[np.int64]) -> dict[str, float | None]:
    """Return the log posterior probability of tiers, a theta per tier averaged over."""
    from tierwise.answers.likelihood import source_of
    from tierwise.evidence.given_tiers import log_integrated_thetas
    from tierwise.fitting.luce import sceptical
    from tierwise.luce.search import sizes_of
    from tierwise.model.priors import DEFAULT_PRIORS, as_theta_prior
    from tierwise.partition.choose import partition_function
    from tierwise.tiers import log_number_of_tiers

    sizes = sizes_of(labels)
    partition = partition_function(sizes, "inversions", concentration="tier")
    lines = source_of(answers, "inversions").with_thetas(partition)
    value = float(log_integrated_thetas(lines, labels, as_theta_prior(DEFAULT_PRIORS.theta)))
    value += sceptical(sizes) - log_number_of_tiers(sizes)
    return {"theta": None, "log_likelihood": None, "criterion": value}


def _log_evidence(
    answers: Answers, labels: NDArray[np.int64], distance: str
) -> dict[str, float | None]:
    """Return the log posterior probability of tiers in this order, theta averaged over."""
    import numpy as np

    from tierwise.answers.likelihood import source_of
    from tierwise.evidence.given_tiers import log_integrated_likelihood
    from tierwise.fitting.luce import sceptical
    from tierwise.fitting.solve import Settings, solve
    from tierwise.model.priors import DEFAULT_PRIORS, as_theta_prior
    from tierwise.tiers import log_number_of_tiers

    sizes = tuple(np.bincount(labels).tolist())
    source = source_of(answers, distance or None)
    found = solve(source, sizes, Settings(), np.random.default_rng(1), labels)
    prior = as_theta_prior(DEFAULT_PRIORS.theta)
    integrated = log_integrated_likelihood(source.at(sizes), labels, found.theta, prior)
    return {
        "theta": found.theta.value,
        "log_likelihood": found.log_likelihood,
        "criterion": float(integrated) + sceptical(sizes) - log_number_of_tiers(sizes),
    }
