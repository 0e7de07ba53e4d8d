"""Tiers of all sizes for battles: greedy merging, then local search, from several starts."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise.errors import InputError
from tierwise.fitting.agreement import agreement_of_counts
from tierwise.fitting.battles import fit_of_labels, settle_resampling
from tierwise.fitting.solution import named_tiers
from tierwise.inversions.comparisons import (
    ThetaTable,
    TiersPriorNumbers,
    best_tiers_of_sizes,
    estimate_theta_of_wins,
    log_integrated_likelihood,
    log_likelihood_at_best,
    search_tiers_of_wins,
)
from tierwise.model.priors import log_prior_of_sizes
from tierwise.searching.merging import merge_even_pairs
from tierwise.searching.result import Candidate, Family, Search
from tierwise.tiers.sizes import log_number_of_tiers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise._util.checks import RandomSource
    from tierwise._util.provenance import Stopwatch
    from tierwise.data.battles import Battles
    from tierwise.model.priors import SizesPrior, ThetaPrior
    from tierwise.searching.criteria import Criterion


def best_tiers(
    data: Battles,
    rng: np.random.Generator,
    prior_sizes: SizesPrior = "sceptical",
    starts: int = 4,
) -> list[NDArray[np.int64]]:
    """Find good tiers of all sizes, counted from 0, the best first, from so many starts."""
    how = settle_resampling(data, "auto")
    whole = bool((data.decided == np.round(data.decided)).all())
    prior = TiersPriorNumbers.of(prior_sizes, len(data.items))

    def resample(generator: np.random.Generator) -> NDArray[np.float64]:
        return data.resampled(generator, by=how).wins

    can_resample = how == "judge" or (whole and bool((data.drawn == np.round(data.drawn)).all()))
    return search_tiers_of_wins(data.wins, rng, prior, resample if can_resample else None, starts)


def search_battles(
    data: Battles,
    criterion: Criterion,
    prior_theta: ThetaPrior,
    prior_sizes: SizesPrior,
    watch: Stopwatch,
    rng: RandomSource,
) -> Search:
    """Search tiers of all sizes at once; see `tierwise.search`."""
    if criterion not in ("posterior", "likelihood"):
        raise InputError(
            f'battles are compared by criterion="posterior" or "likelihood", not "{criterion}"'
        )
    generator = np.random.default_rng(rng)
    n_items = len(data.items)
    found = best_tiers(data, generator, prior_sizes if criterion == "posterior" else "uniform")
    found.append(best_tiers_of_sizes(data.wins, (1,) * n_items, generator))
    found.append(np.zeros(n_items, dtype=np.int64))
    table = ThetaTable.of(prior_theta)
    candidates: dict[tuple[int, ...], Candidate] = {}
    labels_of = {}
    for labels in found:
        one = _candidate(data, labels, criterion, table, prior_sizes)
        if one.sizes not in candidates or one.score > candidates[one.sizes].score:
            candidates[one.sizes] = one
            labels_of[one.sizes] = labels
    leaderboard = tuple(sorted(candidates.values(), key=lambda one: -one.score))
    winner = leaderboard[0]
    best = fit_of_labels(
        data,
        labels_of[winner.sizes],
        "local search",
        0.95,
        generator,
        lambda: watch.provenance(rng),
    )
    family = Family(
        "inversions", "single", winner.sizes, winner.tiers, winner.criterion, winner.score, 0.0
    )
    return Search(
        best=best,
        leaderboard=leaderboard,
        criterion=criterion,
        method="all sizes",
        exhaustive=False,
        path=(),
        start=merge_even_pairs(data),
        doubtful=(),
        interrupted=False,
        provenance=watch.provenance(rng),
        families=(family,),
    )


def _candidate(
    data: Battles,
    labels: NDArray[np.int64],
    criterion: Criterion,
    table: ThetaTable,
    prior_sizes: SizesPrior,
) -> Candidate:
    wins = data.wins
    sizes = tuple(np.bincount(labels).tolist())
    theta = estimate_theta_of_wins(wins, labels).value
    likely = log_likelihood_at_best(wins, labels, theta) - log_number_of_tiers(sizes)
    score = likely
    if criterion == "posterior":
        integrated = log_integrated_likelihood(wins, labels, table)
        score = integrated - log_number_of_tiers(sizes) + log_prior_of_sizes(prior_sizes, sizes)
    return Candidate(
        sizes=sizes,
        tiers=named_tiers(labels, data.items),
        score=-inf if np.isnan(score) else score,
        criterion=likely,
        criterion_error=0.0,
        agreement=agreement_of_counts(wins, labels).overall,
        theta=theta,
        log_evidence=nan,
        log_evidence_error=0.0,
        probability=nan,
        optimal=len(sizes) == 1,
        allowed=True,
    )
