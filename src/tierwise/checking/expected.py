"""What the model expects of ranks and pairs, over all orderings or a sample of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import ceil, factorial, inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.types import NOT_LISTED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise._util.types import Item
    from tierwise.data.rankings import Rankings
    from tierwise.model.clustered_luce import ClusteredLuce
    from tierwise.model.clustered_mallows import ClusteredMallows
    from tierwise.posterior.result import Posterior

# Up to eight items all orderings are looked at, and nothing is left to chance.
MOST_ORDERINGS = factorial(8)
# Draws from a posterior that orderings are drawn for: each needs a partition function of its own.
MOST_MODELS = 100
_SEED = 0
# So many items of a tier, on the average, for wins to be counted tier by tier.
_ITEMS_OF_A_TIER = 8
_NUMBERS_AT_A_TIME = 1_000_000


@dataclass(frozen=True, eq=False)
class Orderings:
    """Orderings with weights that sum to 1; expectations are weighted means over them.

    Attributes
    ----------
    places
        ``places[row, item]``, counted from 0.
    weights
        Probabilities; all the same in a sample.
    n_draws
        Size of the sample; infinite if all orderings are there.
    """

    places: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_draws: float

    @property
    def exact(self) -> bool:
        """Whether expectations over them have no Monte Carlo error."""
        return self.n_draws == inf

    def shares_of_places(self) -> NDArray[np.float64]:
        """Return how often each item (row) has each place (column)."""
        return shares_of_places(self.places, self.weights, self.places.shape[1])


def orderings_of(
    model: ClusteredMallows | ClusteredLuce,
    items: tuple[Item, ...],
    draws: int,
    rng: np.random.Generator,
) -> Orderings:
    """Return all orderings of the items with their probabilities, or draw some where they are many.

    Parameters
    ----------
    model
        The model.
    items
        Its items, in the order of the columns wanted.
    draws
        How many to draw where they are many.
    rng
        Random generator.
    """
    from tierwise.data.rankings import Rankings

    if factorial(len(items)) > MOST_ORDERINGS:
        drawn = model.sample(draws, rng)
        columns = {item: column for column, item in enumerate(drawn.items)}
        places = drawn.places[:, [columns[item] for item in items]]
        return Orderings(places.astype(np.int64), np.full(draws, 1.0 / draws), float(draws))
    every = np.array(list(permutations(range(len(items)))), dtype=np.int64)
    rankings = Rankings.from_order_array(every, items)
    weights = np.exp(model.log_prob(rankings))
    return Orderings(rankings.places.astype(np.int64), weights / weights.sum(), inf)


def orderings_of_posterior(
    posterior: Posterior, items: tuple[Item, ...], draws: int, rng: np.random.Generator
) -> Orderings:
    """Draw orderings from models that are themselves drawn from a posterior.

    Parameters
    ----------
    posterior
        The posterior.
    items
        Its items, in the order of the columns wanted.
    draws
        How many orderings to draw, at least.
    rng
        Random generator.
    """
    from tierwise.data.rankings import Rankings
    from tierwise.model.clustered_mallows import ClusteredMallows
    from tierwise.tiers import Tiers

    if posterior.family == "luce":
        return _races_of_posterior(posterior, items, draws, rng)
    posterior.require_one_theta("check_fit")
    n_models = min(len(posterior), MOST_MODELS)
    chosen = rng.choice(len(posterior), size=n_models, replace=False)
    each = ceil(draws / n_models)
    drawn = Rankings.concat(
        ClusteredMallows(
            Tiers.from_labels(posterior.labels[draw].tolist(), posterior.items),
            float(posterior.thetas[draw]),
            posterior.distance,
        )
        .sample(each, rng)
        .restrict(items)
        for draw in chosen.tolist()
    )
    return Orderings(
        drawn.places.astype(np.int64), np.full(len(drawn), 1.0 / len(drawn)), float(len(drawn))
    )


def _races_of_posterior(
    posterior: Posterior, items: tuple[Item, ...], draws: int, rng: np.random.Generator
) -> Orderings:
    """Let the items race with worths from the posterior, going through its draws evenly."""
    chosen = np.linspace(0, len(posterior) - 1, draws).round().astype(np.int64)
    columns = [posterior.items.index(item) for item in items]
    rates = np.exp(posterior.log_worths[chosen][:, columns])
    times = rng.standard_exponential(rates.shape) / rates
    places = np.argsort(np.argsort(times, axis=1), axis=1)
    return Orderings(places, np.full(draws, 1.0 / draws), float(draws))


def expected_ranks(
    model: ClusteredMallows | ClusteredLuce, labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how often each item should have each rank: items of a tier are alike."""
    from tierwise.model.clustered_luce import ClusteredLuce

    if isinstance(model, ClusteredLuce):
        return model.rank_probabilities()[labels]
    by_place = model.rank_tier_probabilities(rng=_SEED).probabilities / np.array(model.tiers.sizes)
    return np.ascontiguousarray(by_place[:, labels].T)


def shares_of_places(
    places: NDArray[Any], weights: NDArray[Any], n_filled: int
) -> NDArray[np.float64]:
    """Return how often each item (row) has each place (column); NaN except in the first ones."""
    shares = np.full((places.shape[1],) * 2, nan)
    for place in range(n_filled):
        shares[:, place] = weights @ (places == place)
    return shares


def share_listing(rankings: Rankings) -> NDArray[np.float64]:
    """Return the share of answers that fill each place; all of them where none is cut short.

    Where items not listed come below, an answer of k items is the head of an ordering. How long the
    answers are is taken from the data, and taken to be independent of what they say.
    """
    n_items = len(rankings.items)
    if rankings.unranked != "below":
        return np.ones(n_items)
    lengths = (rankings.patterns != NOT_LISTED).sum(axis=1)
    at_length = np.bincount(lengths, weights=rankings.pattern_weights, minlength=n_items + 1)
    shares: NDArray[np.float64] = 1 - np.cumsum(at_length)[:n_items] / rankings.n_rankings
    return shares


@dataclass(frozen=True, eq=False)
class PairShares:
    """Pairwise proportions, those expected, and their differences in standard errors.

    ``numbers`` has how many answers order each pair.
    """

    numbers: NDArray[np.float64]
    observed: NDArray[np.float64]
    expected: NDArray[np.float64]
    scores: NDArray[np.float64]
    monte_carlo_error: float


def expected_wins(
    orderings: Orderings, listing: NDArray[np.float64], labels: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Return how often the row's item should be listed above the column's.

    Parameters
    ----------
    orderings
        Orderings from the model.
    listing
        The share of answers that fill each place.
    labels
        The tier of each item, counted from 0; None if the orderings come from several tiers.
    """
    places, weights = orderings.places, orderings.weights
    if (listing == 1.0).all():
        if labels is not None and _ITEMS_OF_A_TIER * (int(labels.max()) + 1) <= len(labels):
            return _alike_in_tiers(_wins_between_tiers(places, weights, labels), labels)
        wins = weight_of_pairs(places, weights)
    else:
        wins = np.array(
            [
                (weights * listing[places[:, item]]) @ (places[:, [item]] < places)
                for item in range(places.shape[1])
            ]
        )
    return wins if labels is None else _averaged_over_tiers(wins, labels)


def weight_of_pairs(places: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of the orderings in which the row's item stands before the column's."""
    from tierwise._kernels.counting import add_block_pair_counts

    above = np.zeros((places.shape[1],) * 2)
    add_block_pair_counts(
        np.ascontiguousarray(places, dtype=np.int32), np.ascontiguousarray(weights), above
    )
    return above


def shares_won(won: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share that the row wins, and the weight of the rankings that tell."""
    met = won + won.T
    return np.divide(won, met, out=np.full_like(won, np.nan), where=met > 0), met


def _averaged_over_tiers(
    wins: NDArray[np.float64], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Give pairs of items from the same two tiers, which are alike, their common mean."""
    member = np.eye(int(labels.max()) + 1)[labels]
    return _alike_in_tiers(member.T @ wins @ member, labels)


def _alike_in_tiers(between: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Share what tiers (row) win against others (column) among their pairs of items."""
    sizes = np.bincount(labels).astype(np.float64)
    n_pairs = np.outer(sizes, sizes) - np.diag(sizes)
    means = np.divide(between, n_pairs, out=np.zeros_like(n_pairs), where=n_pairs > 0)
    averaged: NDArray[np.float64] = means[np.ix_(labels, labels)]
    np.fill_diagonal(averaged, 0.0)
    return averaged


def _wins_between_tiers(
    places: NDArray[np.int64], weights: NDArray[np.float64], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Weight of the pairs of items in which that of a tier (row) stands before the other.

    Items of each tier are counted from the best place on, so that it takes as many steps as there
    are places and tiers, and not as many as pairs of items.
    """
    n_tiers = int(labels.max()) + 1
    between = np.zeros((n_tiers, n_tiers))
    rows_at_a_time = max(1, _NUMBERS_AT_A_TIME // len(labels))
    for start in range(0, len(places), rows_at_a_time):
        rows = slice(start, start + rows_at_a_time)
        by_place = labels[np.argsort(places[rows], axis=1)]
        own = weights[rows, None]
        for tier in range(n_tiers):
            before = np.cumsum(by_place == tier, axis=1)
            between[tier] += np.bincount(by_place.ravel(), (own * before).ravel(), n_tiers)
        # An item does not stand before itself.
        between -= np.diag(weights[rows].sum() * np.bincount(labels))
    return between
