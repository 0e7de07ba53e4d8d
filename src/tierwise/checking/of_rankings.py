"""What a check looks at in rankings."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.checking.expected import shares_of_places
from tierwise.checking.findings import (
    Found,
    check_direction,
    check_spread,
    finding_of_pairs,
    finding_of_ranks,
)
from tierwise.checking.lines import check_lines
from tierwise.checking.pairs import compare_pairs
from tierwise.data.counts import block_counts
from tierwise.distances.named import get_distance
from tierwise.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.checking.expected import Orderings
    from tierwise.checking.result import Line
    from tierwise.data.rankings import Rankings
    from tierwise.model.clustered_mallows import ClusteredMallows
    from tierwise.tiers.sizes import Sizes


def check_rankings(
    rankings: Rankings,
    model: ClusteredMallows,
    labels: NDArray[np.int64],
    orderings: Orderings,
    alike: NDArray[np.int64] | None,
    ranks_expected: NDArray[np.float64],
    rng: np.random.Generator,
) -> Found:
    """Compare rankings with orderings from the model.

    Parameters
    ----------
    rankings
        The data.
    model
        The fitted model.
    labels
        The tier of each item, counted from 0.
    orderings
        Orderings from the model, or from a posterior.
    alike
        The labels again if items of a tier are alike in the orderings; None if not.
    ranks_expected
        How often each item should have each rank.
    rng
        Where randomness comes from.
    """
    sizes = model.tiers.sizes
    sequences = labels[np.argsort(orderings.places, axis=1)]
    distances = get_distance(model.distance).between(sequences, sizes)
    n_effective = _effective_number(rankings)
    pairs = compare_pairs(rankings, orderings, distances, alike, n_effective)
    ranks_observed = _rank_shares(rankings)
    findings = [
        finding_of_pairs(pairs.scores),
        finding_of_ranks(ranks_observed, ranks_expected, n_effective),
    ]
    lines: tuple[Line, ...] = ()
    spread, direction = nan, np.zeros(len(labels))
    given = _sequences_if_known(rankings, labels, sizes)
    shares = rankings.pattern_weights / rankings.n_rankings
    precision = 1 / (1 / n_effective + 1 / orderings.n_draws)
    if given is not None and len(sizes) > 1:
        lines, finding = check_lines(
            model, (given, shares), (sequences, orderings.weights), distances, precision
        )
        # A single line cannot differ from others.
        findings += [finding] if len(lines) > 1 else []
        given_distances = get_distance(model.distance).between(given, sizes)
        spread, finding = check_spread(
            (given_distances, shares), (distances, orderings.weights), precision
        )
        findings.append(finding)
    if rankings.is_complete:
        direction, finding = check_direction(rankings, orderings, n_effective, rng)
        findings.append(finding)
    return Found(pairs, ranks_observed, lines, spread, direction, tuple(findings))


def _effective_number(rankings: Rankings) -> float:
    """Return how many rankings there are; fractional weights make up for fewer."""
    if rankings.weights.dtype == np.int64:
        return float(rankings.n_rankings)
    return float(rankings.weights.sum() ** 2 / (rankings.weights**2).sum())


def _rank_shares(rankings: Rankings) -> NDArray[np.float64]:
    """Return how often each item has each rank; NaN for ranks that not every answer gives."""
    n_filled = 0
    if rankings.unranked != "anywhere" and not rankings.has_ties:
        n_filled = int((rankings.patterns != NOT_LISTED).sum(axis=1).min())
    shares = rankings.pattern_weights / rankings.n_rankings
    return shares_of_places(rankings.patterns, shares, n_filled)


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
