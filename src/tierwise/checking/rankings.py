"""Rankings beside what the model expects: pairs, ranks, lines between tiers, spread, direction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.checking.expected import (
    PairShares,
    expected_wins,
    share_listing,
    shares_of_places,
    shares_won,
    weight_of_pairs,
)
from tierwise.checking.measures import Distances
from tierwise.checking.result import (
    FALSE_ALARMS,
    Finding,
    Found,
    Line,
    binomial_scores,
    chi_square_score,
    direction_statement,
    finding_of_pairs,
    largest_of_many,
    sides,
    standard_score,
    tail,
)
from tierwise.partition.base import ExactPartition
from tierwise.partition.choose import partition_function

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tierwise.checking.expected import Orderings
    from tierwise.checking.measures import LogProbabilities
    from tierwise.data.rankings import Rankings
    from tierwise.model.clustered_mallows import ClusteredMallows
    from tierwise.partition.base import PartitionFunction
    from tierwise.tiers import Sizes


# Theta is found line by line only where an expectation takes milliseconds.
_MOST_STEPS = 2e6
_LARGEST_THETA = 50.0
# Standard errors below this are those of numbers that cannot deviate.
_ROUNDING = 1e-9
_REPLICATES = 200
_MOST_ROWS_OF_A_REPLICATE = 1000
# Covariances of more items than this are not written down one by one where rows are few.
_MOST_ITEMS_FOR_ALL = 100
_ROWS_ARE_FEW = 4


def check_rankings(
    rankings: Rankings,
    measure: Distances | LogProbabilities,
    orderings: Orderings,
    alike: NDArray[np.int64] | None,
    ranks_expected: NDArray[np.float64],
    tier_names: Sequence[str],
    rng: np.random.Generator,
) -> Found:
    """Compare rankings with orderings from the model.

    Parameters
    ----------
    rankings
        The data.
    measure
        What answers are measured by, and what the model was fitted to.
    orderings
        Orderings from the model, or from a posterior.
    alike
        The labels again if items of a tier are alike in the orderings; None if not.
    ranks_expected
        How often each item should have each rank.
    tier_names
        What tiers are called.
    rng
        Random generator.
    """
    n_effective = float(rankings.n_rankings)
    pairs = _compare_pairs(rankings, orderings, measure, alike, n_effective)
    ranks_observed = _rank_shares(rankings)
    findings = [
        finding_of_pairs(pairs.scores),
        _finding_of_ranks(ranks_observed, ranks_expected, n_effective, 1 / orderings.n_draws),
    ]
    lines: tuple[Line, ...] = ()
    spread, direction = nan, np.zeros(len(measure.labels))
    shares = rankings.pattern_weights / rankings.n_rankings
    precision = 1 / (1 / n_effective + 1 / orderings.n_draws)
    given = measure.of_answers(rankings) if len(measure.model.tiers) > 1 else None
    if given is not None:
        if isinstance(measure, Distances):
            lines, finding = _check_lines(
                measure, rankings, shares, orderings.weights, precision, tier_names
            )
            # A single line cannot differ from others.
            findings += [finding] if len(lines) > 1 else []
        spread, finding = _check_spread(
            (given, shares), (measure.values, orderings.weights), measure, precision
        )
        findings.append(finding)
    if rankings.is_complete or (rankings.unranked == "anywhere" and not rankings.has_ties):
        direction, finding = _check_direction(rankings, orderings, n_effective, rng)
        findings.append(finding)
    return Found(pairs, ranks_observed, lines, spread, direction, tuple(findings))


def _rank_shares(rankings: Rankings) -> NDArray[np.float64]:
    """Return how often each item has each rank; NaN for ranks that not every answer gives."""
    n_filled = 0
    if rankings.unranked != "anywhere" and not rankings.has_ties:
        n_filled = int((rankings.patterns != NOT_LISTED).sum(axis=1).min())
    shares = rankings.pattern_weights / rankings.n_rankings
    return shares_of_places(rankings.patterns, shares, n_filled)


def _compare_pairs(
    rankings: Rankings,
    orderings: Orderings,
    measure: Distances | LogProbabilities,
    labels: NDArray[np.int64] | None,
    n_effective: float,
) -> PairShares:
    """Compare pairwise proportions with those of orderings from the model.

    Parameters
    ----------
    rankings
        The data.
    orderings
        Orderings from the model.
    measure
        Knows what the model was fitted to.
    labels
        The tier of each item, counted from 0; None if the orderings come from several tiers.
    n_effective
        The number of rankings.
    """
    observed, met = shares_won(rankings.pair_counts.astype(np.float64))
    expected, told_expected = shares_won(expected_wins(orderings, share_listing(rankings), labels))
    binomial = expected * (1 - expected)
    variances = binomial
    if rankings.is_complete:
        variances = binomial - _explained(orderings, measure.fitted)
    with np.errstate(divide="ignore", invalid="ignore"):
        told_expected *= orderings.n_draws
        monte_carlo = np.divide(binomial, told_expected, out=told_expected)
        # In place: with thousands of items such a table takes dozens of megabytes.
        errors = np.maximum(variances, 0.0)
        errors *= rankings.n_rankings / n_effective
        errors /= met
        errors += monte_carlo
        np.sqrt(errors, out=errors)
        # Where chance is all but excluded, a score in standard errors has no meaning.
        errors[~(errors > 1e-9)] = np.nan
        scores = observed - expected
        scores /= errors
    error = 0.0 if orderings.exact else float(np.sqrt(np.nanmax(monte_carlo)))
    return PairShares(met, observed, expected, scores, error)


def _explained(orderings: Orderings, fitted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variance of "row above column" that goes with what the model was fitted to.

    This part of the variance cannot show up.
    """
    places, weights = orderings.places, orderings.weights
    deviations = fitted - weights @ fitted
    weighted = (weights[:, None] * deviations).T
    inverse = np.linalg.pinv(weighted @ deviations, hermitian=True)
    n_items = places.shape[1]
    # A single tier may have no parameter at all.
    covariances = np.empty((len(weighted), n_items, n_items))
    for part, covariance in zip(weighted, covariances, strict=True):
        covariance[:] = weight_of_pairs(places, part)
    explained: NDArray[np.float64] = np.einsum("pab,pq,qab->ab", covariances, inverse, covariances)
    return explained


def _finding_of_ranks(
    observed: NDArray[np.float64],
    expected: NDArray[np.float64],
    n_effective: float,
    least: float,
) -> Finding:
    """Judge how often items have each rank, against how often they should.

    Many ranks of an item are improbable, so tails are those of the binomial distribution.

    Parameters
    ----------
    observed, expected
        Share of each item (row) in each rank.
    n_effective
        The number of rankings.
    least
        The least probability that a sample of orderings can tell from 0.
    """
    known = ~np.isnan(observed)
    numbers = np.full(int(known.sum()), n_effective)
    scores = np.abs(binomial_scores(observed[known], expected[known], numbers, least))
    return largest_of_many("ranks", scores[~np.isnan(scores)], "shares of an item in a rank")


def _check_lines(
    measure: Distances,
    rankings: Rankings,
    shares: NDArray[np.float64],
    weights: NDArray[np.float64],
    precision: float,
    tier_names: Sequence[str],
) -> tuple[tuple[Line, ...], Finding]:
    """Compare how many items cross each line between tiers with what the model expects.

    Parameters
    ----------
    measure
        The model, and orderings from it.
    rankings, shares
        The answers, which tell the tier of each place, and their weights, which sum to 1.
    weights
        Weights of the orderings, likewise.
    precision
        The number of rankings whose means vary as much as the differences do.
    tier_names
        What tiers are called.
    """
    model, given = measure.model, measure.sequences_of(rankings)
    assert given is not None
    sizes = model.tiers.sizes
    observed = shares @ _crossings(given, sizes)
    moments = moments_given_fitted(_crossings(measure.sequences, sizes), measure.fitted, weights)
    deviations = observed - moments.means
    covariances = moments.covariances / precision
    errors = np.sqrt(np.diag(covariances))
    scores = np.divide(deviations, errors, out=np.zeros_like(deviations), where=errors > _ROUNDING)
    thetas = _thetas(model, observed)
    lines = tuple(
        Line(number, number + 1, *values)
        for number, values in enumerate(
            zip(observed.tolist(), moments.means.tolist(), scores.tolist(), thetas, strict=True),
            start=1,
        )
    )
    score = standard_score(*chi_square_score(deviations, covariances))
    worst = max(lines, key=lambda line: abs(line.score))
    statement = (
        f"the line between {sides(worst, tier_names)} is crossed by "
        f"{worst.observed:.2f} items per ranking, {worst.expected:.2f} expected."
    )
    return lines, Finding("lines", tail(score), score, statement)


def _thetas(model: ClusteredMallows, observed: NDArray[np.float64]) -> list[float]:
    """Return, for each line, the theta at which the model expects what was observed."""
    partition = partition_function(model.tiers.sizes, model.distance, budget=_MOST_STEPS)
    if not isinstance(partition, ExactPartition):
        return [nan] * len(observed)
    from scipy.optimize import brentq

    known: dict[float, NDArray[np.float64]] = {}

    def expected(theta: float) -> NDArray[np.float64]:
        if theta not in known:
            known[theta] = _expected_crossings(partition.expected_table(theta), partition)
        return known[theta]

    thetas = []
    for line, mean in enumerate(observed.tolist()):
        if mean >= expected(0.0)[line]:
            thetas.append(0.0)
        elif mean <= expected(_LARGEST_THETA)[line]:
            thetas.append(inf)
        else:
            thetas.append(
                float(
                    brentq(
                        lambda theta, line=line, mean=mean: expected(theta)[line] - mean,
                        0.0,
                        _LARGEST_THETA,
                        xtol=1e-5,
                    )
                )
            )
    return thetas


def _expected_crossings(
    table: NDArray[np.float64], partition: PartitionFunction
) -> NDArray[np.float64]:
    """Return the expected number of items of later tiers in the places above each line."""
    # Lines lie between blocks, whether blocks are as large as tiers or of one place each.
    ends_of_blocks = np.cumsum(partition.distance.blocks(partition.sizes))
    above = np.searchsorted(ends_of_blocks, np.cumsum(partition.sizes)[:-1], side="right")
    return np.array([table[:end, line + 1 :].sum() for line, end in enumerate(above.tolist())])


def _crossings(sequences: NDArray[np.int64], sizes: Sizes) -> NDArray[np.float64]:
    """Count the items that cross each line between tiers, from above to below.

    Parameters
    ----------
    sequences
        ``sequences[row, place]`` is the tier, counted from 0, of the item in a place.
    sizes
        Sizes of the tiers.
    """
    counts = [
        (sequences[:, :end] > tier).sum(axis=1)
        for tier, end in enumerate(np.cumsum(sizes)[:-1].tolist())
    ]
    if not counts:
        return np.zeros((len(sequences), 0))
    return np.column_stack(counts).astype(np.float64)


@dataclass(frozen=True)
class Moments:
    """Means of some numbers of an ordering, and covariances of what was not fitted to."""

    means: NDArray[np.float64]
    covariances: NDArray[np.float64]


def moments_given_fitted(
    values: NDArray[np.float64], fitted: NDArray[np.float64], weights: NDArray[np.float64]
) -> Moments:
    """Return means, and covariances of what the columns of ``fitted`` do not explain.

    Theta is fitted so that the mean distance is what it should be; where there are several thetas,
    so is each part, and where there are worths, so are their scores. What varies with these columns
    therefore cannot deviate, and only the rest may count as evidence against the model.
    """
    means = weights @ values
    centred = values - means
    deviations = fitted - weights @ fitted
    weighted = (weights[:, None] * deviations).T
    slopes = np.linalg.pinv(weighted @ deviations, hermitian=True) @ (weighted @ centred)
    centred = centred - deviations @ slopes
    return Moments(means, (weights[:, None] * centred).T @ centred)


def _check_spread(
    given: tuple[NDArray[np.float64], NDArray[Any]],
    drawn: tuple[NDArray[np.float64], NDArray[np.float64]],
    measure: Distances | LogProbabilities,
    precision: float,
) -> tuple[float, Finding]:
    """Compare the variance of what answers are measured by with what the model expects."""
    values, weights = drawn
    squares = (values - weights @ values) ** 2
    moments = moments_given_fitted(squares[:, None], measure.fitted, weights)
    expected, error = float(moments.means[0]), float(moments.covariances[0, 0] / precision) ** 0.5
    mean = given[1] @ given[0]
    observed = float(given[1] @ (given[0] - mean) ** 2)
    ratio = observed / expected if expected > 0 else nan
    # If there are two distances only, their mean fixes their variance, up to rounding.
    score = (observed - expected) / error if error > _ROUNDING * expected else 0.0
    p_value = tail(score)
    statement = measure.spread_statement(ratio, surprising=p_value < FALSE_ALARMS)
    return ratio, Finding("spread", p_value, score, statement)


def _check_direction(
    rankings: Rankings, orderings: Orderings, n_effective: float, rng: np.random.Generator
) -> tuple[NDArray[np.float64], Finding]:
    """Look for a direction in which answers vary more than the model expects."""
    shares = rankings.pattern_weights / rankings.n_rankings
    if rankings.is_complete:
        expected = _place_covariances(orderings.places, orderings.weights)
        excess, direction = _excess_direction(rankings.patterns, shares, expected)
        score = _score_of_excess(excess, orderings, expected, n_effective, rng)
    else:
        excess, direction, score = _excess_with_gaps(rankings, orderings, n_effective, rng)
    p_value = tail(score)
    statement = "answers do not vary more than expected in any direction."
    if p_value < FALSE_ALARMS:
        statement = direction_statement(rankings.items, direction)
    return direction, Finding("direction", p_value, score, statement)


def _excess_with_gaps(
    rankings: Rankings, orderings: Orderings, n_rankings: float, rng: np.random.Generator
) -> tuple[float, NDArray[np.float64], float]:
    """Return the same for answers with gaps: excess, its direction, and how unusual it is.

    Orderings from the model are shown with the gaps that the answers have.
    """
    listed = rankings.patterns != NOT_LISTED
    shares = rankings.pattern_weights / rankings.n_rankings
    n_rows = max(2, round(min(n_rankings, _MOST_ROWS_OF_A_REPLICATE)))
    even = np.full(n_rows, 1.0 / n_rows)
    n_items = listed.shape[1]
    few = n_items > _MOST_ITEMS_FOR_ALL and _ROWS_ARE_FEW * n_rows < n_items
    replicates = _FewRows(n_items) if few else _AllCovariances(n_items)
    for _ in range(_REPLICATES):
        drawn = rng.choice(len(orderings.places), size=n_rows, p=orderings.weights)
        shown = listed[rng.choice(len(shares), size=n_rows, p=shares)]
        replicates.add(_ranks_of_listed(orderings.places[drawn], shown), even)
    excess, direction = replicates.excess(_ranks_of_listed(rankings.patterns, listed), shares)
    values = replicates.excesses()
    shrink, spread = (n_rows / n_rankings) ** 0.5, float(values.std(ddof=1))
    score = (excess - shrink * values.mean()) / (shrink * spread) if spread > 0 else 0.0
    return excess, direction, float(score)


class _AllCovariances:
    """Covariances of the places of replicates, and how far each exceeds their mean."""

    def __init__(self, n_items: int) -> None:
        self._covariances = np.empty((_REPLICATES, n_items, n_items))
        self._number = 0

    @cached_property
    def _mean(self) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = self._covariances.mean(axis=0)
        return mean

    def add(self, places: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """Take a replicate in."""
        self._covariances[self._number] = _place_covariances(places, weights)
        self._number += 1

    def excess(
        self, places: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the largest variance of places beyond the mean, and its direction."""
        return _excess_direction(places, weights, self._mean)

    def excesses(self) -> NDArray[np.float64]:
        """Return the largest variance of each replicate beyond the mean."""
        from scipy.linalg import eigh

        last = (len(self._mean) - 1,) * 2
        return np.array(
            [
                eigh(covariance - self._mean, eigvals_only=True, subset_by_index=last)[0]
                for covariance in self._covariances
            ]
        )


class _FewRows:
    """The same for replicates of few rows of many items, whose covariances have a low rank.

    With the eigenvalues ``e`` and eigenvectors of the mean, in which a replicate has the rows
    ``W``, a positive ``x`` is an eigenvalue of the difference where ``W diag(1 / (x + e)) W'``,
    which has as many rows as the replicate, has the eigenvalue 1. Its largest eigenvalue falls with
    ``x``.
    """

    def __init__(self, n_items: int) -> None:
        self._n_items = n_items
        self._rows: list[NDArray[np.float64]] = []

    @cached_property
    def _spectrum(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Eigenvalues and eigenvectors of the mean of the covariances."""
        from scipy.linalg import eigh

        rows = np.concatenate(self._rows) / np.sqrt(len(self._rows))
        values, vectors = eigh(rows.T @ rows, overwrite_a=True, driver="evr")
        return np.maximum(values, 0.0), vectors

    def add(self, places: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """Take a replicate in."""
        self._rows.append(_rows_of_covariance(places, weights))

    def excess(
        self, places: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the largest variance of places beyond the mean, and its direction."""
        values, vectors = self._spectrum
        rows = _rows_of_covariance(places, weights) @ vectors
        excess = self._largest(rows)
        divided = rows / (max(excess, 1e-9 * float(values[-1])) + values)
        top = np.linalg.eigh(divided @ rows.T)[1][:, -1]
        direction = vectors @ (divided.T @ top)
        length = float(np.linalg.norm(direction))
        # Where nothing varies, in the direction that is expected to vary least.
        return excess, direction / length if length > 0.0 else vectors[:, 0]

    def excesses(self) -> NDArray[np.float64]:
        """Return the largest variance of each replicate beyond the mean."""
        vectors = self._spectrum[1]
        return np.array([self._largest(rows @ vectors) for rows in self._rows])

    def _largest(self, rows: NDArray[np.float64]) -> float:
        """Return the largest eigenvalue of the covariance of rows less the mean; 0 at least."""
        from scipy.optimize import brentq

        values = self._spectrum[0]

        def above_one(excess: float) -> float:
            return float(np.linalg.eigvalsh((rows / (excess + values)) @ rows.T)[-1]) - 1.0

        # Without the mean it would be no larger than this.
        most = float(np.linalg.eigvalsh(rows @ rows.T)[-1])
        least = 1e-9 * most
        if most <= 0.0 or above_one(least) <= 0.0:
            return 0.0
        return float(brentq(above_one, least, 1.001 * most, rtol=1e-10))


def _rows_of_covariance(
    places: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return rows whose products with each other are the covariances of the places."""
    rows: NDArray[np.float64] = np.sqrt(weights)[:, None] * (places - weights @ places)
    return rows


def _ranks_of_listed(places: NDArray[Any], listed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Rank the listed items of each row among themselves, around 0; 0 for those not listed."""
    behind = np.where(listed, places, places.shape[1] + 1)
    ranks = np.argsort(np.argsort(behind, axis=1, kind="stable"), axis=1)
    middles = (listed.sum(axis=1, keepdims=True) - 1) / 2
    return np.where(listed, ranks - middles, 0.0)


def _excess_direction(
    places: NDArray[Any], weights: NDArray[np.float64], expected: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return the largest variance of ranks beyond the expected one, and its direction.

    Parameters
    ----------
    places
        ``places[row, item]``.
    weights
        Weights that sum to 1.
    expected
        The covariances of the places that the model expects.
    """
    values, vectors = np.linalg.eigh(_place_covariances(places, weights) - expected)
    return float(values[-1]), vectors[:, -1]


def _place_covariances(places: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the covariances of the places of the items."""
    centred = places - weights @ places
    covariances: NDArray[np.float64] = (weights[:, None] * centred).T @ centred
    return covariances


def _score_of_excess(
    excess: float,
    orderings: Orderings,
    expected: NDArray[np.float64],
    n_rankings: float,
    rng: np.random.Generator,
) -> float:
    """Return how unusual an excess of variance is, in standard deviations, if the model holds."""
    from scipy.linalg import eigh

    n_rows = max(2, round(min(n_rankings, _MOST_ROWS_OF_A_REPLICATE)))
    even = np.full(n_rows, 1.0 / n_rows)
    replicates = np.empty(_REPLICATES)
    last = (len(expected) - 1,) * 2
    for number in range(_REPLICATES):
        rows = rng.choice(len(orderings.places), size=n_rows, p=orderings.weights)
        differences = _place_covariances(orderings.places[rows], even) - expected
        # The largest eigenvalue alone takes a tenth of the time of all of them.
        (replicates[number],) = eigh(differences, eigvals_only=True, subset_by_index=last)
    # The largest eigenvalue of noise shrinks with the square root of the number of rankings.
    shrink = (n_rows / n_rankings) ** 0.5
    spread = float(replicates.std(ddof=1))
    return float((excess - shrink * replicates.mean()) / (shrink * spread)) if spread > 0 else 0.0
