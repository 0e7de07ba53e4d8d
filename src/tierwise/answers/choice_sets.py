"""Sets that items are chosen from: all that answers without ties say about worths.

Under Luce's choice model an answer without ties is a row of choices: its first item out of all that
it holds, the next out of those that are left, and so on. What counts is how often each item was
chosen, and how often each set was chosen from. Few items have few sets, however many answers there
are: twelve items of which five are listed have 794.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tierwise._kernels.choice_sets import count_choices, log_probabilities_of_choices
from tierwise._kernels.luce_worths import TierChoices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Unsigned = NDArray[np.uint32]

# A set is a word, with a bit for each item.
_MOST_ITEMS = 63
# Sets are worth collecting where each is chosen from so often, on the average.
_LEAST_SHARED = 4
# Sets times items, beyond which they would take too much memory.
_MOST_MEMBERS = 2_000_000


class ChoiceTree(NamedTuple):
    """Choices of all distinct answers, each after those before it; answers share beginnings."""

    before: Unsigned
    """The choice before each, which has a smaller number; number 0 stands for no choice yet."""
    sets: Unsigned
    """The set that each choice is made from."""
    items: Unsigned
    """The item that is chosen."""
    ends: Unsigned
    """The last choice of each answer."""


@dataclass(frozen=True, eq=False)
class ChoiceSets:
    """Choices of all distinct answers, and the distinct sets that they are made from.

    Attributes
    ----------
    members
        ``[set, item]``: 1 where a set holds an item.
    tree
        The choices; answers that begin with the same ones share them.
    """

    members: Floats
    tree: ChoiceTree

    def log_probabilities(self, labels: Integers, log_worths: Floats) -> Floats:
        """Log probability of each distinct answer."""
        logs = log_worths[labels]
        log_totals = np.log(self.members @ np.exp(logs))
        return log_probabilities_of_choices(*self.tree, log_totals, logs)

    def count(self, weights: Floats) -> CountedChoices:
        """Count choices, given the weight of each distinct answer."""
        return CountedChoices(self, *count_choices(*self.tree, weights, *self.members.shape))

    @cached_property
    def _known(self) -> dict[tuple[bytes, int], Floats]:
        """Sets by tier, for the tiers that were asked for last."""
        return {}

    def by_tier(self, labels: Integers, n_tiers: int) -> Floats:
        """``[set, tier]``: how many items of a tier a set holds."""
        key = labels.tobytes(), n_tiers
        if key not in self._known:
            if len(self._known) * self.members.size > _MOST_MEMBERS:
                self._known.clear()
            self._known[key] = self.members @ np.eye(n_tiers)[labels]
        return self._known[key]


@dataclass(frozen=True, eq=False)
class CountedChoices:
    """How often each set was chosen from, and each item was chosen.

    Attributes
    ----------
    choice_sets
        The sets.
    sets, items
        How often each was chosen from, or chosen.
    """

    choice_sets: ChoiceSets
    sets: Floats
    items: Floats

    def value(self, labels: Integers, log_worths: Floats) -> float:
        """Log-likelihood of tiers with given log worths."""
        totals = self.choice_sets.by_tier(labels, len(log_worths)) @ np.exp(log_worths)
        return float(self.items @ log_worths[labels] - self.sets @ np.log(totals))

    def of_tiers(self, labels: Integers, n_tiers: int) -> TierChoices:
        """Add up choices by tier."""
        members = self.choice_sets.by_tier(labels, n_tiers)
        chosen: Floats = np.bincount(labels, self.items, n_tiers).astype(np.float64, copy=False)
        return TierChoices(members, self.sets, chosen)


def choice_sets_of(
    n_items: int, order: Integers, block_starts: Integers, first_blocks: Integers
) -> ChoiceSets | None:
    """Collect the sets that are chosen from; None where answers have ties, or hardly share sets.

    Parameters
    ----------
    n_items
        Number of items.
    order, block_starts, first_blocks
        The answers, as for `tierwise._kernels.luce`.

    Examples
    --------
    >>> from tierwise.answers.races import blocks_of_places
    >>> places = np.array([[0, 1, 2], [0, 2, 1], [2, 0, 1], [2, 1, 0], [1, 2, 0]])
    >>> found = choice_sets_of(3, *blocks_of_places(places, rest_is_below=True))
    >>> found is None
    True
    >>> found = choice_sets_of(3, *blocks_of_places(np.repeat(places, 2, 0), rest_is_below=True))
    >>> found.members.tolist()
    [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    n_answers = len(first_blocks) - 1
    if n_items > _MOST_ITEMS or not n_answers:
        return None
    is_last = np.zeros(len(block_starts) - 1, dtype=bool)
    is_last[first_blocks[1:] - 1] = True
    if (np.diff(block_starts)[~is_last] > 1).any():
        return None
    starts = block_starts[:-1][~is_last]
    answer_of = np.repeat(np.arange(n_answers), np.maximum(np.diff(first_blocks) - 1, 0))
    # Sums of bits from each place to the end of the answer: those of all, less those before.
    bits = np.uint64(1) << order.astype(np.uint64)
    before = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(bits, dtype=np.uint64)))
    ends = block_starts[first_blocks[1:]]
    sets, set_of = np.unique(before[ends][answer_of] - before[starts], return_inverse=True)
    if len(sets) * _LEAST_SHARED > len(starts) or len(sets) * n_items > _MOST_MEMBERS:
        return None
    members = (sets[:, None] >> np.arange(n_items, dtype=np.uint64)) & np.uint64(1)
    tree = _tree_of_choices(n_answers, answer_of, set_of, order[starts], (len(sets), n_items))
    return ChoiceSets(members.astype(np.float64), tree)


def _tree_of_choices(
    n_answers: int,
    answer_of: Integers,
    set_of: Integers,
    chosen: Integers,
    shape: tuple[int, int],
) -> ChoiceTree:
    """Put choices, which follow each other answer by answer, into a tree, level by level."""
    n_choices = np.bincount(answer_of, minlength=n_answers)
    first = np.cumsum(n_choices) - n_choices
    ends = np.zeros(n_answers, dtype=np.int64)
    levels, n_known = [np.zeros((3, 1), dtype=np.int64)], 1
    for level in range(int(n_choices.max(initial=0))):
        longer = np.flatnonzero(n_choices > level)
        here = first[longer] + level
        columns = np.ravel_multi_index((set_of[here], chosen[here]), shape)
        keys, place = np.unique(ends[longer] * shape[0] * shape[1] + columns, return_inverse=True)
        ends[longer] = n_known + place
        before, columns = np.divmod(keys, shape[0] * shape[1])
        levels.append(np.array([before, *np.unravel_index(columns, shape)]))
        n_known += len(keys)
    before, sets, items = np.concatenate(levels, axis=1).astype(np.uint32)
    return ChoiceTree(before, sets, items, ends.astype(np.uint32))
