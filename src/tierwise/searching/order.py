"""Whether tiers are an order, or the mark of people who are divided.

Where two halves of people are opposed, they agree that some items are far from the others, and not
which side is better. Models may then find tiers, but as many answers go against them as with them:
their agreement differs from one half by no more than it varies from answer to answer.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.data.rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.data.kinds import KnownData
    from tierwise.tiers import Tiers

# So many standard errors above one half, agreement is an order. The study divided-people compares
# other numbers: fewer let tiers of opposed halves through, more cost weak orders that are real.
_STANDARD_ERRORS = 3.0
# Of more items the pairs of every answer are not counted.
_MOST_ITEMS = 200


def are_an_order(data: KnownData, tiers: Tiers) -> bool:
    """Whether answers go with the tiers more often than against them, beyond chance.

    Only rankings say what one person puts above what; for other data it is taken to be so.

    Examples
    --------
    >>> import tierwise as tw
    >>> opposed = tw.Rankings.from_orderings([list("abcd"), list("dcba")], weights=[100, 100])
    >>> are_an_order(opposed, tw.Tiers([["a"], ["b", "c", "d"]]))
    False
    >>> are_an_order(tw.load_political_goals(), tw.Tiers([["order", "prices"], ["say", "speech"]]))
    True
    """
    if len(tiers) == 1 or not isinstance(data, Rankings) or len(data.items) > _MOST_ITEMS:
        return True
    return standard_errors_above_half(data, tiers) > _STANDARD_ERRORS


def standard_errors_above_half(data: Rankings, tiers: Tiers) -> float:
    """Return by how many standard errors more pairs of an answer go with the tiers than against.

    Infinite where no answer says anything about items of different tiers, or all say the same.
    """
    with_tiers, against = pairs_by_answer(data, tiers.label_array(data.items))
    weights = data.pattern_weights.astype(np.float64)
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


def pairs_by_answer(
    data: Rankings, labels: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count, for each distinct answer, the pairs of different tiers that go with and against them.

    Items that are not listed are below all others, or say nothing, as the rankings have it.
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
