"""Fits of Luce's model: tiers with worths, beside the strict order and no tiers."""

from __future__ import annotations

from math import lgamma, nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import Estimate
from tierwise.answers.races import races_of
from tierwise.data.connection import parts_of
from tierwise.errors import InputError
from tierwise.fitting.result import Fit, Reference, agreement_of_counts
from tierwise.fitting.solve import named_tiers
from tierwise.luce.estimates import estimate_effects, estimate_worths
from tierwise.luce.search import Found, TierSearch, tiers_of_sizes
from tierwise.luce.worths import log_evidence
from tierwise.model.priors import log_prior_of_sizes
from tierwise.tiers import log_number_of_tiers

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise._util.provenance import Provenance
    from tierwise.answers.races import Integers, Races
    from tierwise.data.kinds import KnownData
    from tierwise.luce.search import LogPrior
    from tierwise.tiers import Sizes


# Evidence without Laplace's error: so many draws, if they need at most so many steps.
_DRAWS, _MOST_STEPS = 1000, 2e9
_SEED = 0


def refuse_options_of_mallows(**given: tuple[object, object]) -> None:
    """Refuse what has no meaning for races: each option with what it is where nothing is named."""
    named = [name for name, (value, default) in given.items() if value != default]
    verb = "is" if len(named) == 1 else "are"
    if named:
        raise InputError(
            f'{" and ".join(named)} {verb} for Mallows models, but the family "luce" has no theta '
            'and no distance: leave them out, or use the family "mallows"'
        )


def sceptical(sizes: Sizes) -> float:
    """Log prior probability of sizes: half of it belongs to no tiers."""
    return log_prior_of_sizes("sceptical", sizes)


def fit_luce(
    data: KnownData,
    sizes: Sizes | None,
    labels: Integers | None,
    level: float,
    provenance: Callable[[], Provenance],
    log_prior: LogPrior = sceptical,
) -> Fit:
    """Fit worths to the best tiers of given sizes, or to given tiers.

    Parameters
    ----------
    data
        Answers of any kind but counts, which do not hold orderings.
    sizes
        Sizes of the tiers; None if the tiers are given.
    labels
        The tiers, counted from 0, if they are given.
    level
        Level of the intervals.
    provenance
        Tells version, seed and time when all is done.
    log_prior
        Log prior probability of sizes, for the comparison with other tiers.
    """
    races = races_of(data)  # type: ignore[arg-type]
    search = TierSearch(races, log_prior)
    if labels is not None:
        found, method = search.evaluate(labels), "given"
    else:
        assert sizes is not None
        found, method = tiers_of_sizes(races, sizes), "exchanges"
        found = search.evaluate(found.labels, found.worths.logs)
    evidence = evidence_of_found(races, found)
    return fit_of_found(data, races, found, evidence, search, method, level, provenance)


def evidence_of_found(races: Races, found: Found) -> Estimate:
    """Return the log evidence of tiers: by importance sampling, or Laplace's where that is long.

    The same answers have the same evidence every time, at every door.
    """
    if races.n_steps * _DRAWS > _MOST_STEPS:
        return Estimate(found.worths.log_evidence, method="Laplace")
    return log_evidence(races, found.worths, np.random.default_rng(_SEED), _DRAWS)


def fit_of_found(
    data: KnownData,
    races: Races,
    found: Found,
    evidence: Estimate,
    search: TierSearch,
    method: str,
    level: float,
    provenance: Callable[[], Provenance],
) -> Fit:
    """Make a fit of tiers that were found, with what they are compared to.

    Parameters
    ----------
    data, races
        The answers.
    found
        Tiers and worths.
    evidence
        Log evidence of the tiers, as `evidence_of_found` gives it.
    search
        What they were found by; it knows strict tiers and the single tier already, or finds them.
    method
        How they were found.
    level, provenance
        As in `fit_luce`.
    """
    n_items, items = races.n_items, races.items
    strict = search.evaluate(np.arange(n_items))
    none = search.evaluate(np.zeros(n_items, dtype=np.int64))
    shares = agreement_of_counts(data.pair_counts, found.labels)
    named = {"strict consensus": strict, "no tiers": none}
    references = tuple(
        Reference(
            name=name,
            tiers=named_tiers(other.labels, items),
            theta=nan,
            log_likelihood=other.worths.log_likelihood,
            log_likelihood_error=0.0,
            criterion=other.worths.log_likelihood - log_number_of_tiers(other.sizes),
            optimal=len(other.sizes) == 1,
            log_posterior=other.score,
        )
        for name, other in named.items()
        if other is not found or name == "no tiers"
    )
    sizes = found.sizes
    return Fit(
        tiers=named_tiers(found.labels, items),
        sizes=sizes,
        theta=nan,
        theta_estimates=(),
        distance="",
        likelihood=races.likelihood,
        level=level,
        total_distance=nan,
        log_likelihood=found.worths.log_likelihood,
        log_likelihood_error=0.0,
        criterion=found.worths.log_likelihood - log_number_of_tiers(sizes),
        agreement=shares.overall,
        agreement_by_tier=shares,
        n_rankings=data.n_rankings,
        log_completions=none.worths.log_likelihood + data.n_rankings * lgamma(n_items + 1),
        method="one tier" if len(sizes) == 1 else method,
        partition_method="closed form",
        optimal=len(sizes) == 1,
        gap=0.0,
        alternatives=(),
        n_optima=1 if len(sizes) == 1 else None,
        references=references,
        pairwise=data.pairwise,
        provenance=provenance(),
        family="luce",
        worth_estimates=estimate_worths(found.worths, level),
        effect_estimates=estimate_effects(races, found.worths, level),
        log_posterior=found.score + float(evidence) - found.worths.log_evidence,
        parts=parts_of(data),
    )
