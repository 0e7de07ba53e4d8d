"""Data augmentation: the completed answer of each assessor, and a move that renames items.

For chains that draw completions together with tiers and theta (Tanner and Wong, The Calculation of
Posterior Distributions by Data Augmentation, Journal of the American Statistical Association 82,
1987).
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from tierwise.answers.drawn import DrawnCompletions, Proposal
from tierwise.answers.votes import DrawnVotes
from tierwise.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tierwise.answers.likelihood import AnswerSource
    from tierwise.tiers.sizes import Sizes

FIRST_MISTAKE_PROBABILITY = 0.1
# Assessors beyond which a change of names in all their orderings is hardly ever accepted.
_MOST_ROWS_TO_RENAME = 200


def completions_of_assessors(
    source: AnswerSource, sizes: Sizes, proposal: Proposal, rng: np.random.Generator
) -> DrawnCompletions:
    """Complete the answer of each assessor in some way.

    Parameters
    ----------
    source
        The answers.
    sizes
        Sizes of the tiers.
    proposal
        How completions are drawn, as for `DrawnCompletions`.
    rng
        Generator.
    """
    if source.votes is None:
        orders = source.partial_orders()
        if (orders.weights % 1.0).any():
            raise InputError(
                "completions are drawn for each assessor, and fractional weights leave open how "
                "many there are: use whole weights"
            )
        return DrawnCompletions(
            orders, sizes, source.distance, rng, proposal=proposal, each="assessor"
        )
    if proposal == "refill":
        raise InputError(
            'completions="refill" needs rankings: preferences pair by pair have no places '
            'to refill; use completions="reinsert"'
        )
    return DrawnVotes(
        source.votes, sizes, source.distance, rng, FIRST_MISTAKE_PROBABILITY, each="assessor"
    )


def rename_items(
    drawn: DrawnVotes, labels: npt.NDArray[np.int64], rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Let two items trade names, in the tiers and in all completed answers, some times.

    That leaves all distances as they are, so only the number of mistakes decides. Where few answers
    say little, tiers and completions keep each other where they are, and this moves both.
    """
    n_rows, n_items = drawn.places.shape
    if n_rows > _MOST_ROWS_TO_RENAME:
        return labels
    mistakes = float(drawn.mistakes().sum())
    for _ in range(n_items):
        pair = rng.choice(n_items, size=2, replace=False)
        if labels[pair[0]] == labels[pair[1]]:
            continue
        drawn.places[:, pair] = drawn.places[:, pair[::-1]]
        proposed = float(drawn.mistakes().sum())
        if rng.random() < exp(min(drawn.penalty * (mistakes - proposed), 0.0)):
            labels, mistakes = labels.copy(), proposed
            labels[pair] = labels[pair[::-1]]
        else:
            drawn.places[:, pair] = drawn.places[:, pair[::-1]]
    return labels
