"""Probabilities of ties and near ties, under a prior that does not favour them.

A claim that items are the same needs more care than a claim that they differ. The "sceptical" prior
gives half of all probability to no tiers, and makes sizes less probable with every further tier, so
chance is not mistaken for tiers. With few answers, a high probability of a tie would only repeat
that prior. So probabilities of sameness use the "uniform" prior of sizes, where a line between
two neighbours is as probable as none: draws get weights. And items may differ by less than any
number of answers would show: they are *tied or nearly tied* if neither would be preferred by more
than 55%.
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from tierwise.errors import listed
from tierwise.model.priors import LOG_SHARES, log_prior_of_sizes, log_total_of_several

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.tiers import Sizes

    _Floats = NDArray[np.float64]
    _Integers = NDArray[np.int64]

# Two items are nearly tied if neither would be preferred by a larger share.
NEARLY = 0.55
NEARLY_IN_WORDS = f"tied or nearly tied: neither would be preferred by more than {NEARLY:.0%}"
LOG_ODDS_OF_NEARLY = log(NEARLY / (1.0 - NEARLY))
# How much more probable a further tier is under the "uniform" prior of sizes than under the others.
_LOG_ODDS_OF_A_TIER = LOG_SHARES["uniform"] - LOG_SHARES["penalised"]
# Weights are made more even until so many draws (of equal weight, Kish) count.
_LEAST_DRAWS = 100.0
_POWERS = np.linspace(1.0, 0.0, 11)
# A draw that was not seen is ignored if it would have less than this share of all weight.
_IGNORED = 0.01


def weights_for_sameness(labels: _Integers, prior_sizes: str | None) -> _Floats:
    """Return the weight of each draw in claims that items are the same; they sum to at most 1.

    It is the "uniform" prior probability of the number of tiers divided by that of the prior of the
    draws. If a few draws would get nearly all of the weight, because there are many items, the
    weights are tempered.

    If no draw has several tiers, that may be the work of the sceptical prior alone: with 59 items
    one such draw has the weight of millions of draws with a single tier. So weights leave room for
    one more draw, of two tiers, that happened not to be seen. It matters only if draws of several
    tiers are rare and items are many; then the weights sum to less than 1, and nothing is claimed.

    Parameters
    ----------
    labels
        Tier of each item (column) in each draw (row), 1 being the best.
    prior_sizes
        Name of the prior of sizes; an unnamed prior gives equal weights.

    Examples
    --------
    >>> weights_for_sameness(np.array([[1, 1], [1, 2]]), "uniform")
    array([0.5, 0.5])
    >>> weights_for_sameness(np.array([[1, 1], [1, 2]]), "penalised").round(3)
    array([0.269, 0.731])
    >>> few, many = np.ones((1000, 4), dtype=int), np.ones((1000, 59), dtype=int)
    >>> weights_for_sameness(few, "sceptical").sum().round(3).item()
    1.0
    >>> weights_for_sameness(many, "sceptical").sum().round(3).item()
    0.0
    """
    n_tiers = labels.max(axis=1)
    if prior_sizes not in ("penalised", "sceptical"):
        return np.full(len(labels), 1.0 / len(labels))
    log_odds = _LOG_ODDS_OF_A_TIER * _evenness(n_tiers)
    logs = log_odds * n_tiers
    log_unseen = -np.inf
    if prior_sizes == "sceptical" and labels.shape[1] > 1:
        logs = logs - (1.0 + log_total_of_several(labels.shape[1])) * (n_tiers == 1)
        log_unseen = 2.0 * log_odds
    log_largest = max(logs.max(), log_unseen)
    weights: _Floats = np.exp(logs - log_largest)
    total, unseen = weights.sum(), np.exp(log_unseen - log_largest)
    return np.asarray(weights / (total + unseen * (unseen > _IGNORED * (total + unseen))))


def sizes_for_sameness(shares: dict[Sizes, float], prior_sizes: str | None) -> dict[Sizes, float]:
    """Return probabilities of sizes for claims of sameness, the most probable first.

    Parameters
    ----------
    shares
        Exact probabilities under the chosen prior.
    prior_sizes
        Name of that prior; an unnamed prior changes nothing.

    Examples
    --------
    >>> found = sizes_for_sameness({(3,): 0.5, (1, 2): 0.5}, "sceptical")
    >>> {sizes: round(share, 3) for sizes, share in found.items()}
    {(1, 2): 0.703, (3,): 0.297}
    """
    if prior_sizes not in ("penalised", "sceptical"):
        return shares
    weighted = {
        sizes: share * exp(-log_prior_of_sizes(prior_sizes, sizes))  # type: ignore[arg-type]
        for sizes, share in shares.items()
    }
    total = sum(weighted.values())
    ordered = sorted(weighted.items(), key=lambda one: -one[1])
    return {sizes: share / total for sizes, share in ordered}


def _evenness(n_tiers: _Integers) -> float:
    """Return the power, at most 1, of weights such that enough draws of several tiers count."""
    several = n_tiers[n_tiers > 1].astype(np.float64)
    wanted = min(_LEAST_DRAWS, len(several) / 4)
    for power in _POWERS:
        weights = np.exp(_LOG_ODDS_OF_A_TIER * power * (several - several.max(initial=0.0)))
        if weights.sum() ** 2 >= wanted * (weights**2).sum():
            return float(power)
    return 0.0


def share_nearly_tied(labels: _Integers, log_worths: _Floats | None, weights: _Floats) -> _Floats:
    """Return the probability that each pair of items is tied or nearly tied.

    If tiers have worths, these say how often an item would be preferred. Under a distance there are
    no small differences: items of one tier are tied.

    Parameters
    ----------
    labels
        Tier of each item (column) in each draw (row).
    log_worths
        Log worth of each item in each draw, if there are worths.
    weights
        Weight of each draw, of `weights_for_sameness`.

    Examples
    --------
    >>> labels, logs = np.array([[1, 2, 2], [1, 2, 3]]), np.array([[1.0, 0.0, 0.0], [0.1, 0.0, -2]])
    >>> share_nearly_tied(labels, None, np.array([0.5, 0.5]))[1, 2].item()
    0.5
    >>> share_nearly_tied(labels, logs, np.array([0.5, 0.5]))
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    n_items = labels.shape[1]
    shares = np.empty((n_items, n_items))
    in_all = share_of_all(weights)
    for item in range(n_items):
        near = are_near(labels, log_worths, item)
        shares[item] = np.where(near.all(axis=0), in_all, (weights @ near).clip(0.0, 1.0))
        shares[item, item] = 1.0
    return shares


def share_of_all(weights: _Floats) -> float:
    """Return the probability of what holds in all draws: 1, however weights are rounded, or less.

    It is less where weights leave room for a draw that was not seen.
    """
    total = float(weights.sum())
    return 1.0 if total > 1.0 - 0.5 * _IGNORED else total


def are_near(labels: _Integers, log_worths: _Floats | None, item: int) -> NDArray[np.bool_]:
    """Tell of each draw (row) and item (column) whether it is tied or nearly tied with one item."""
    near: NDArray[np.bool_] = labels[:, item, None] == labels
    if log_worths is not None:
        near |= np.abs(log_worths[:, item, None] - log_worths) <= LOG_ODDS_OF_NEARLY
    return near


def share_all_near(labels: _Integers, log_worths: _Floats | None, weights: _Floats) -> float:
    """Return the probability that all items are tied or nearly tied.

    Examples
    --------
    >>> share_all_near(np.array([[1, 1], [1, 2]]), None, np.array([0.25, 0.75]))
    0.25
    """
    near = labels.max(axis=1) == 1
    if log_worths is not None:
        near |= np.ptp(log_worths, axis=1) <= LOG_ODDS_OF_NEARLY
    return share_of_all(weights) if near.all() else float(weights @ near)


def verdicts_in_words(better: list[float], near: list[float], certainty: float) -> str:
    """Say how many neighbouring rows differ, are tied, or are undecided.

    Parameters
    ----------
    better, near
        Probability that a row is better than the next, and that both are tied or nearly tied.
    certainty
        A claim counts as decided with this probability or more.

    Examples
    --------
    >>> verdicts_in_words([0.99, 0.1, 0.3], [0.0, 0.97, 0.6], 0.95)
    'Of 3 neighbouring pairs, 1 differs, 1 is tied or nearly tied and 1 is undecided.'
    """
    differs = sum(share >= certainty for share in better)
    tied = sum(
        other >= certainty for share, other in zip(better, near, strict=True) if share < certainty
    )
    counts = {
        "differs": (differs, "differ"),
        "is tied or nearly tied": (tied, "are tied or nearly tied"),
        "is undecided": (len(better) - differs - tied, "are undecided"),
    }
    said = [
        f"{number} {one if number == 1 else several}"
        for one, (number, several) in counts.items()
        if number
    ]
    pairs = "pair" if len(better) == 1 else "pairs"
    return f"Of {len(better)} neighbouring {pairs}, {listed(said)}."
