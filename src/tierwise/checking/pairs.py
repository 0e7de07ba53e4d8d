"""Pairwise proportions: how often one item is above another, and how often it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise.checking.expected import share_listing
from tierwise.data.counts import pair_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.checking.comparisons import Comparisons
    from tierwise.checking.expected import Orderings
    from tierwise.data.rankings import Rankings


@dataclass(frozen=True, eq=False)
class PairShares:
    """Pairwise proportions, those expected, and their differences in standard errors."""

    observed: NDArray[np.float64]
    expected: NDArray[np.float64]
    scores: NDArray[np.float64]
    monte_carlo_error: float


def compare_pairs(
    rankings: Rankings,
    orderings: Orderings,
    distances: NDArray[np.float64],
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
    distances
        Their distances from the tiers.
    labels
        The tier of each item, counted from 0; None where the orderings come from several tiers.
    n_effective
        The number of rankings.
    """
    won = pair_counts(rankings).astype(np.float64)
    observed, told = _shares(won)
    wins = _expected_wins(orderings, share_listing(rankings))
    if labels is not None:
        wins = _averaged_over_tiers(wins, labels)
    expected, told_expected = _shares(wins)
    binomial = expected * (1 - expected)
    variances = binomial
    if rankings.is_complete:
        variances = binomial - _explained_by_distance(orderings, distances)
    with np.errstate(divide="ignore", invalid="ignore"):
        monte_carlo = binomial / (told_expected * orderings.n_draws)
        sampling = np.maximum(variances, 0.0) * rankings.n_rankings / (told * n_effective)
        errors = np.sqrt(sampling + monte_carlo)
        # Where chance is all but excluded, a score in standard errors has no meaning.
        scores = np.where(errors > 1e-9, (observed - expected) / errors, np.nan)
    error = 0.0 if orderings.exact else float(np.sqrt(np.nanmax(monte_carlo)))
    return PairShares(observed, expected, scores, error)


def compare_answers(
    asked: Comparisons,
    orderings: Orderings,
    labels: NDArray[np.int64] | None,
    mistake_probability: float | None,
) -> PairShares:
    """Compare pairwise answers with those of orderings from the model to the same questions.

    Parameters
    ----------
    asked
        Who compared what.
    orderings
        Orderings from the model.
    labels
        The tier of each item, counted from 0; None where the orderings come from several tiers.
    mistake_probability
        Probability that an answer is mistaken, if any may be.
    """
    n_items = orderings.places.shape[1]
    wins = _expected_wins(orderings, np.ones(n_items))
    if labels is not None:
        wins = _averaged_over_tiers(wins, labels)
    opinions, _ = _shares(wins)
    mistakes = mistake_probability or 0.0
    expected = mistakes + (1 - 2 * mistakes) * opinions
    won, times, squares = (np.zeros((n_items, n_items)) for _ in range(3))
    np.add.at(won, (asked.first, asked.second), asked.wins)
    np.add.at(won, (asked.second, asked.first), asked.times - asked.wins)
    np.add.at(times, (asked.first, asked.second), asked.times)
    np.add.at(squares, (asked.first, asked.second), asked.times**2)
    times, squares = times + times.T, squares + squares.T
    observed, _ = _shares(won)
    # Answers of one person to one question go together, but for mistakes.
    variances = times * expected * (1 - expected)
    together = (squares - times) * (1 - 2 * mistakes) ** 2 * opinions * (1 - opinions)
    n_effective = times * np.divide(
        variances, variances + together, out=np.ones_like(times), where=variances > 0
    )
    error = 0.0
    if not orderings.exact:
        error = float(np.sqrt(np.nanmax(opinions * (1 - opinions)) / orderings.n_draws))
    scores = _binomial_scores(observed, expected, n_effective, 1 / orderings.n_draws)
    return PairShares(observed, expected, scores, error)


def _binomial_scores(
    observed: NDArray[np.float64],
    expected: NDArray[np.float64],
    numbers: NDArray[np.float64],
    least: float,
) -> NDArray[np.float64]:
    """Return how surprising shares are, as normal scores; there may be few answers to a pair.

    A binomial tail is a beta function, which takes numbers of answers that are not whole.
    """
    from scipy.special import betainc, ndtri

    known = np.where(numbers > 0, numbers, np.nan)
    chances = np.clip(expected, max(least, 1e-12), 1 - max(least, 1e-12))
    won, lost = observed * known, (1 - observed) * known
    at_least = np.where(won > 0, betainc(np.maximum(won, 1e-12), lost + 1, chances), 1.0)
    at_most = np.where(lost > 0, betainc(np.maximum(lost, 1e-12), won + 1, 1 - chances), 1.0)
    tails = np.clip(np.minimum(at_least, at_most), 1e-300, 0.5)
    scores: NDArray[np.float64] = np.sign(observed - expected) * -ndtri(tails)
    return np.where(np.isnan(known), np.nan, scores)


def _shares(won: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share that the row wins, and the weight of the rankings that tell."""
    told = won + won.T
    return np.divide(won, told, out=np.full_like(won, np.nan), where=told > 0), told


def _expected_wins(orderings: Orderings, listing: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how often the row's item is listed above the column's."""
    places, weights = orderings.places, orderings.weights
    return np.array(
        [
            (weights * listing[places[:, item]]) @ (places[:, [item]] < places)
            for item in range(places.shape[1])
        ]
    )


def _averaged_over_tiers(
    wins: NDArray[np.float64], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Give pairs of items from the same two tiers, which are alike, their common mean."""
    member = np.eye(int(labels.max()) + 1)[labels]
    sizes = member.sum(axis=0)
    n_pairs = np.outer(sizes, sizes) - np.diag(sizes)
    means = np.divide(
        member.T @ wins @ member, n_pairs, out=np.zeros_like(n_pairs), where=n_pairs > 0
    )
    averaged: NDArray[np.float64] = means[np.ix_(labels, labels)]
    np.fill_diagonal(averaged, 0.0)
    return averaged


def _explained_by_distance(
    orderings: Orderings, distances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the variance of "row above column" that goes with the distance.

    Theta was fitted to the mean distance, so this part of the variance cannot show up.
    """
    places, weights = orderings.places, orderings.weights
    deviations = distances - weights @ distances
    variance = float(weights @ deviations**2)
    if variance == 0:
        return np.zeros((places.shape[1],) * 2)
    covariances = np.array(
        [(weights * deviations) @ (places[:, [item]] < places) for item in range(places.shape[1])]
    )
    return covariances**2 / variance
