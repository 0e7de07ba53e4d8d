"""Checks whether a fitted model predicts the rankings it was fitted to, and if not, what."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._encoding import NOT_LISTED
from tierwise._random import RandomSource, as_generator
from tierwise.checking.expected import orderings_of, orderings_of_posterior
from tierwise.checking.findings import (
    check_direction,
    check_spread,
    finding_of_pairs,
    finding_of_ranks,
    verdict_of,
)
from tierwise.checking.lines import check_lines
from tierwise.checking.pairs import compare_pairs
from tierwise.checking.result import Finding, FitCheck, Line, PairDifference, Verdict
from tierwise.counts import block_counts
from tierwise.distances import get_distance
from tierwise.errors import InputError
from tierwise.model import ClusteredMallows
from tierwise.provenance import Stopwatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.fit_result import Fit
    from tierwise.posterior import Posterior
    from tierwise.rankings import Rankings
    from tierwise.sizes import Sizes

__all__ = ["Finding", "FitCheck", "Line", "PairDifference", "Verdict", "check_fit"]

# No ranking can tell an infinite theta from this one.
_LARGEST_THETA = 50.0
_SEED = 0


def check_fit(
    rankings: Rankings,
    fit: Fit,
    *,
    posterior: Posterior | None = None,
    draws: int = 20_000,
    rng: RandomSource = None,
) -> FitCheck:
    """Compare rankings with what a fitted model expects, and say in what they differ.

    Five things are looked at: proportions of pairs, how often items have each rank, how often the
    lines between tiers are crossed (more at one end of the ranking than at the other: theta
    varies), how various the distances of answers from the tiers are, and whether answers vary in
    one direction more than they should (both: a mixture of groups is suspected). What the answers
    leave open because they are incomplete is left out.

    Parameters
    ----------
    rankings
        The rankings that were fitted.
    fit
        The fit. Its model says what to expect, unless there is a posterior.
    posterior
        A posterior of the same items: then what to expect is averaged over its draws, as in a
        posterior predictive check; lines and distances are still those of the tiers of the fit.
    draws
        Rankings to draw from the model. Up to eight items none are needed: all orderings are
        looked at.
    rng
        Seed or generator.

    Examples
    --------
    >>> import tierwise as tw
    >>> model = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"], ["d"]]), theta=0.5)
    >>> rankings = model.sample(500, rng=1)
    >>> tw.check_fit(rankings, tw.fit(rankings, (1, 2, 1))).verdict
    'fits'
    """
    watch = Stopwatch()
    if draws < 100:
        raise InputError(f"draws must be at least 100; got {draws}")
    labels = fit.tiers.label_array(rankings.items)
    generator = as_generator(rng)
    model = ClusteredMallows(fit.tiers, min(fit.theta, _LARGEST_THETA), fit.distance)
    if posterior is None:
        orderings = orderings_of(model, rankings.items, draws, generator)
    else:
        orderings = orderings_of_posterior(posterior, rankings.items, draws, generator)
    sequences = labels[np.argsort(orderings.places, axis=1)]
    distances = get_distance(fit.distance).between(sequences, fit.sizes)
    n_effective = _effective_number(rankings)

    alike = labels if posterior is None else None
    pairs = compare_pairs(rankings, orderings, distances, alike, n_effective)
    ranks_observed = _rank_shares(rankings)
    if posterior is None:
        ranks_expected = _expected_ranks(model, labels)
    else:
        ranks_expected = _shares_of_places(orderings.places, orderings.weights, len(labels))
    findings = [
        finding_of_pairs(pairs.scores),
        finding_of_ranks(ranks_observed, ranks_expected, n_effective),
    ]
    lines: tuple[Line, ...] = ()
    spread, direction = nan, np.zeros(len(labels))
    given = _sequences_if_known(rankings, labels, fit.sizes)
    shares = rankings.pattern_weights / rankings.n_rankings
    precision = 1 / (1 / n_effective + 1 / orderings.n_draws)
    if given is not None and len(fit.sizes) > 1:
        lines, finding = check_lines(
            model, (given, shares), (sequences, orderings.weights), distances, precision
        )
        # A single line cannot differ from others.
        findings += [finding] if len(lines) > 1 else []
        given_distances = get_distance(fit.distance).between(given, fit.sizes)
        spread, finding = check_spread(
            (given_distances, shares), (distances, orderings.weights), precision
        )
        findings.append(finding)
    if rankings.is_complete:
        direction, finding = check_direction(rankings, orderings, n_effective, generator)
        findings.append(finding)
    return FitCheck(
        fit=fit,
        items=rankings.items,
        verdict=verdict_of(findings),
        pairs_observed=pairs.observed,
        pairs_expected=pairs.expected,
        pair_scores=pairs.scores,
        ranks_observed=ranks_observed,
        ranks_expected=ranks_expected,
        lines=lines,
        distance_spread=spread,
        direction=direction,
        findings=tuple(findings),
        exact=orderings.exact,
        monte_carlo_error=pairs.monte_carlo_error,
        provenance=watch.provenance(rng),
    )


def _effective_number(rankings: Rankings) -> float:
    """Return how many rankings there are; fractional weights make up for fewer."""
    if rankings.weights.dtype == np.int64:
        return float(rankings.n_rankings)
    return float(rankings.weights.sum() ** 2 / (rankings.weights**2).sum())


def _expected_ranks(model: ClusteredMallows, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how often each item should have each rank: items of a tier are alike."""
    by_place = model.rank_tier_probabilities(rng=_SEED).probabilities / np.array(model.tiers.sizes)
    return np.ascontiguousarray(by_place[:, labels].T)


def _rank_shares(rankings: Rankings) -> NDArray[np.float64]:
    """Return how often each item has each rank; NaN for ranks that not every answer gives."""
    n_filled = 0
    if rankings.unranked != "anywhere" and not rankings.has_ties:
        n_filled = int((rankings.patterns != NOT_LISTED).sum(axis=1).min())
    shares = rankings.pattern_weights / rankings.n_rankings
    return _shares_of_places(rankings.patterns, shares, n_filled)


def _shares_of_places(
    places: NDArray[Any], weights: NDArray[Any], n_filled: int
) -> NDArray[np.float64]:
    shares = np.full((places.shape[1],) * 2, nan)
    for place in range(n_filled):
        shares[:, place] = weights @ (places == place)
    return shares


def _sequences_if_known(
    rankings: Rankings, labels: NDArray[np.int64], sizes: Sizes
) -> NDArray[np.int64] | None:
    """Return the tiers of the items of each distinct answer, place by place.

    Items that are not listed stand behind, in any order: that is all the same if they lie in one
    block. None where the answers leave open which items lie in which block.
    """
    try:
        block_counts(rankings, sizes)
    except InputError:
        return None
    last = np.where(rankings.patterns == NOT_LISTED, len(labels), rankings.patterns)
    return labels[np.argsort(last, axis=1, kind="stable")]
