"""Whether tiers are an order, or the mark of people who are divided.

Where two halves of people are opposed, they agree that some items are far from the others, and not
which side is better. Models may then find tiers, but as many answers go against them as with them:
their agreement differs from one half by no more than it varies from answer to answer.

With a theta per tier the same may hold of a single tier. Items that people place anywhere get a
tier with a theta near 0. It stands before others so that these need not account for it, not because
it is better.
"""

from __future__ import annotations

from functools import singledispatch
from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.data.rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.data.kinds import KnownData
    from tierwise.tiers import Tiers

    _Floats = NDArray[np.float64]
    _Integers = NDArray[np.int64]

# So many standard errors above one half, agreement is an order. The study divided-people compares
# other numbers: fewer let tiers of opposed halves through, more cost weak orders that are real.
_STANDARD_ERRORS = 3.0
# Of a single tier fewer suffice: it must be ahead of every later tier, too.
_STANDARD_ERRORS_OF_A_TIER = 2.0
# Of more items the pairs of every answer are not counted.
_MOST_ITEMS = 200


def are_an_order(data: KnownData, tiers: Tiers) -> bool:
    """Whether answers go with the tiers more often than against them, beyond chance.

    Only rankings say what one person puts above what; for other data it is taken to be so. Items
    that the tiers do not have are not asked about.

    Examples
    --------
    >>> import tierwise as tw
    >>> opposed = tw.Rankings.from_orderings([list("abcd"), list("dcba")], weights=[100, 100])
    >>> are_an_order(opposed, tw.Tiers([["a"], ["b", "c", "d"]]))
    False
    >>> are_an_order(tw.load_political_goals(), tw.Tiers([["order", "prices"], ["say", "speech"]]))
    True
    """
    answers = _single_answers(data)
    if len(tiers) == 1 or answers is None:
        return True
    return standard_errors_above_half(answers, tiers) > _STANDARD_ERRORS


@singledispatch
def _single_answers(_data: KnownData) -> Rankings | None:
    """Return rankings, if pairs of items can be counted answer by answer; otherwise None."""
    return None


@_single_answers.register(Rankings)
def _rankings_of_few_items(data: Rankings) -> Rankings | None:
    return data if len(data.items) <= _MOST_ITEMS else None


def standard_errors_above_half(data: Rankings, tiers: Tiers) -> float:
    """Return by how many standard errors more pairs of an answer go with the tiers than against.

    Infinite where no answer says anything about items of different tiers, or all say the same.
    """
    labels = np.array([tiers[item] - 1 if item in tiers.items else -1 for item in data.items])
    pairs = pairs_by_answer(data, labels)
    return _standard_errors(*pairs, data.pattern_weights.astype(np.float64))


def _standard_errors(with_tiers: _Floats, against: _Floats, weights: _Floats) -> float:
    """Return by how many standard errors the share of pairs that go with tiers is above half."""
    total = float(weights @ (with_tiers + against))
    if total == 0.0:
        return inf
    share = float(weights @ with_tiers) / total
    # Linearisation of a ratio of sums over people (Cochran, Sampling Techniques, 1977, 6.3).
    residuals = with_tiers - share * (with_tiers + against)
    error = float(np.sqrt(weights @ residuals**2)) / total
    if error == 0.0:
        return inf if share > 0.5 else -inf
    return (share - 0.5) / error


def pairs_by_answer(data: Rankings, labels: _Integers) -> tuple[_Floats, _Floats]:
    """Count, for each distinct answer, the pairs of different tiers that go with and against them.

    Items that are not listed are below all others, or say nothing, as the rankings have it.
    Negative labels leave items out.
    """
    places = data.patterns.astype(np.int64)
    below = len(data.items)
    missing = places == NOT_LISTED
    places[missing] = below
    known = np.ones_like(missing) if data.unranked == "below" else ~missing
    with_tiers, against = np.zeros(len(places)), np.zeros(len(places))
    for tier in range(int(labels.max())):
        worse = np.flatnonzero(labels > tier)
        for item in np.flatnonzero(labels == tier).tolist():
            counted = known[:, [item]] & known[:, worse]
            with_tiers += ((places[:, [item]] < places[:, worse]) & counted).sum(axis=1)
            against += ((places[:, [item]] > places[:, worse]) & counted).sum(axis=1)
    return with_tiers, against


def divided_tiers(data: KnownData, labels: _Integers) -> tuple[int, ...]:
    """Return the tiers, counted from 0, that are not part of the order.

    A tier is not if it is ahead of all later tiers together by no more than chance. Of what
    remains, every tier must be ahead of every later one by the majority of pairs: where two are
    not, the one goes that is in order with all others least.

    Parameters
    ----------
    data
        The answers. Of counts it is not known how much they vary from person to person: as much as
        they can, then.
    labels
        Tier of each item, counted from 0.

    Examples
    --------
    >>> loved_or_hated = [list("xabc"), list("abcx")]
    >>> people = Rankings.from_orderings(loved_or_hated, items="abcx", weights=[50, 50])
    >>> divided_tiers(people, np.array([1, 2, 3, 0]))
    (0,)
    """
    n_tiers = int(labels.max()) + 1
    tiers = (labels[:, None] == np.arange(n_tiers)).astype(np.float64)
    ahead = tiers.T @ data.pair_counts @ tiers
    ordered = [n_tiers - 1]
    for tier in range(n_tiers - 2, -1, -1):
        if _is_ahead(data, ahead, labels, tier, ordered):
            ordered.insert(0, tier)
    while True:
        won = np.triu(ahead[np.ix_(ordered, ordered)], k=1)
        lost = np.triu(ahead[np.ix_(ordered, ordered)].T, k=1)
        beaten = lost > won
        in_doubt = beaten.any(axis=0) | beaten.any(axis=1)
        if not in_doubt.any():
            return tuple(tier for tier in range(n_tiers) if tier not in ordered)
        with_order, against = (one.sum(axis=0) + one.sum(axis=1) for one in (won, lost))
        shares = np.where(in_doubt, with_order / (with_order + against), inf)
        del ordered[int(shares.argmin())]


def _is_ahead(
    data: KnownData, ahead: _Floats, labels: _Integers, tier: int, later: list[int]
) -> bool:
    """Whether a tier is ahead of later ones together, beyond chance."""
    answers = _single_answers(data)
    if answers is not None:
        two = np.where(labels == tier, 0, np.where(np.isin(labels, later), 1, -1))
        pairs = pairs_by_answer(answers, two)
        errors = _standard_errors(*pairs, answers.pattern_weights.astype(np.float64))
    else:
        won, lost = float(ahead[tier, later].sum()), float(ahead[later, tier].sum())
        share = won / (won + lost) if won + lost else 1.0
        errors = (share - 0.5) * 2.0 * sqrt(data.n_rankings)
    return errors > _STANDARD_ERRORS_OF_A_TIER
