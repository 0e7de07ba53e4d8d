"""Which items were compared with each other, directly or through others.

Answers say nothing about items of different parts, because no chain of comparisons connects them.
"""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.data.battles import Battles
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tierwise._util.types import Item
    from tierwise.data.kinds import KnownData

_MOST_NAMED = 6


def numbers_of_parts(compared: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of the part of each item, from 0, the largest part first.

    Parameters
    ----------
    compared
        ``compared[a, b]``: whether two items were compared.

    Examples
    --------
    >>> met = np.zeros((5, 5), dtype=bool)
    >>> met[0, 3] = met[1, 2] = met[2, 4] = True
    >>> numbers_of_parts(met).tolist()
    [1, 0, 0, 1, 0]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    found = connected_components(csr_array(compared), directed=False)[1]
    order = np.argsort(-np.bincount(found), kind="stable")
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.arange(len(order))
    parts: NDArray[np.int64] = numbers[found]
    return parts


def parts_of(data: KnownData) -> tuple[tuple[Item, ...], ...]:
    """Return the parts of items that never met, the largest first; one part if all are connected.

    Examples
    --------
    >>> parts_of(Battles.from_rows([("x", "y", "x"), ("z", "w", "z"), ("w", "v", "tie")]))
    (('v', 'w', 'z'), ('x', 'y'))
    """
    compared = _compared(data)
    if compared is None:
        return (tuple(data.items),)
    numbers = numbers_of_parts(compared)
    return tuple(
        tuple(item for item, number in zip(data.items, numbers, strict=True) if number == part)
        for part in range(int(numbers.max()) + 1)
    )


@singledispatch
def _compared(_data: KnownData) -> NDArray[np.bool_] | None:
    """Return which items were compared; None if all were."""
    return None


@_compared.register(Battles)
def _compared_in_battles(battles: Battles) -> NDArray[np.bool_]:
    return (battles.decided > 0) | (battles.drawn > 0)


@_compared.register(Preferences)
def _compared_in_pairs(preferences: Preferences) -> NDArray[np.bool_]:
    return preferences.pair_counts > 0


@_compared.register(Rankings)
def _compared_in_rankings(rankings: Rankings) -> NDArray[np.bool_] | None:
    if rankings.unranked != "anywhere":
        return None
    there = rankings.patterns[rankings.pattern_weights > 0] != NOT_LISTED
    together: NDArray[np.bool_] = (there.T.astype(np.float32) @ there.astype(np.float32)) > 0
    return together


def parts_in_words(parts: Sequence[Sequence[Item]]) -> str:
    """Say which parts never met; nothing if there is one part only.

    Examples
    --------
    >>> parts_in_words([["x", "y"], ["z"]])
    'Never compared, not even indirectly: x and y; z. The answers say nothing across these groups.'
    """
    if len(parts) < 2:
        return ""
    named = [_named(part) for part in parts[:_MOST_NAMED]]
    if len(parts) > _MOST_NAMED:
        named.append(counted(len(parts) - _MOST_NAMED, "more group"))
    groups = "; ".join(named)
    return (
        f"Never compared, not even indirectly: {groups}. The answers say nothing across these "
        "groups."
    )


def _named(part: Sequence[Item]) -> str:
    if len(part) <= _MOST_NAMED:
        return listed(part)
    return listed([*part[: _MOST_NAMED - 1], counted(len(part) - _MOST_NAMED + 1, "other")])


def stack_parts(
    labels: NDArray[np.int64], part_of: NDArray[np.int64], rng: np.random.Generator | None = None
) -> NDArray[np.int64]:
    """Keep the order of tiers within parts, and put whole parts above each other.

    Draws say nothing across parts if these are in an order that is drawn for each of them: every
    item is above every other of another part in half of the draws.

    Parameters
    ----------
    labels
        The tier of each item, one row per draw; the better the less.
    part_of
        The part of each item, from 0.
    rng
        Draws the order of parts; they are in the order of their numbers if there is none.

    Examples
    --------
    >>> stack_parts(np.array([[1, 2, 1, 3]]), np.array([0, 0, 1, 1])).tolist()
    [[1, 2, 3, 4]]
    """
    n_draws, n_parts = len(labels), int(part_of.max()) + 1
    order = np.tile(np.arange(n_parts), (n_draws, 1))
    if rng is not None:
        order = rng.permuted(order, axis=1)
    width = int(labels.max()) + 1
    keys = order[:, part_of] * width + labels
    stacked = np.empty_like(labels)
    for row, values in enumerate(keys):
        stacked[row] = np.unique(values, return_inverse=True)[1].reshape(-1) + 1
    return stacked
