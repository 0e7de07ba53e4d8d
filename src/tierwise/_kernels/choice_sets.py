"""Choices from sets, in a tree: answers that begin with the same choices share them.

The tree is gone through once for all answers: from its root, probabilities are products along the
way; from its leaves, numbers of answers add up.
"""

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_if_many

_Floats = npt.NDArray[np.float64]
# Where numbers cannot be negative, nothing looks whether they are: a third of the time.
_Unsigned = npt.NDArray[np.uint32]


@compiled
def log_probabilities_of_choices(
    before: _Unsigned,
    sets: _Unsigned,
    items: _Unsigned,
    ends: _Unsigned,
    log_totals: _Floats,
    log_worths: _Floats,
) -> _Floats:
    """Log probability of each answer: the product of its choices, each a share of its set.

    Parameters
    ----------
    before, sets, items, ends
        The choices, as in `tierwise.answers.choice_sets.ChoiceTree`.
    log_totals, log_worths
        Log of the worth of each set, and of each item.
    """
    so_far = np.zeros(len(before))
    for choice in range(1, len(before)):
        log_share = log_worths[items[choice]] - log_totals[sets[choice]]
        so_far[choice] = so_far[before[choice]] + log_share
    found = np.empty(len(ends))
    for answer in range(len(ends)):
        found[answer] = so_far[ends[answer]]
    return found


@compiled_if_many(lambda before, sets, items, ends, *_: len(before) + len(ends))
def count_choices(
    before: _Unsigned,
    sets: _Unsigned,
    items: _Unsigned,
    ends: _Unsigned,
    weights: _Floats,
    n_sets: int,
    n_items: int,
) -> tuple[_Floats, _Floats]:
    """How often each set is chosen from, and each item is chosen, with given weights of answers."""
    of_sets, of_items, passed = np.zeros(n_sets), np.zeros(n_items), np.zeros(len(before))
    for answer in range(len(ends)):
        passed[ends[answer]] += weights[answer]
    for choice in range(len(before) - 1, 0, -1):
        passed[before[choice]] += passed[choice]
        of_sets[sets[choice]] += passed[choice]
        of_items[items[choice]] += passed[choice]
    return of_sets, of_items
