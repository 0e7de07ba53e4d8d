"""Data augmentation: completed answers of assessors; and complete rankings made incomplete.

Data augmentation: the completed answer of each assessor, and a move that renames items.

For chains that draw completions together with tiers and theta (Tanner and Wong, The Calculation of
Posterior Distributions by Data Augmentation, Journal of the American Statistical Association 82,
1987).

Making complete rankings incomplete in the way that others are.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.answers.drawn import DrawnCompletions, Proposal
from tierwise.answers.votes import DrawnVotes
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.likelihood import AnswerSource
    from tierwise.data.preferences import Preferences
    from tierwise.tiers import Sizes

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


def observe_like(complete: Rankings, observed: Rankings) -> Rankings:
    """Hide of each complete ranking what one of the observed answers hides.

    Where items that are not listed come below, as many of the best are kept as were listed; where
    they may be anywhere, the items that were listed are. Ties are where they were.

    Parameters
    ----------
    complete
        As many complete rankings as there were observed ones, answers of weight 7 being 7.
    observed
        The answers.

    Examples
    --------
    >>> complete = Rankings.from_orderings([["a", "b", "c"], ["c", "b", "a"]])
    >>> observed = Rankings.from_orderings([["b"], ["a", "c", "b"]], unranked="below")
    >>> observe_like(complete, observed).to_orderings()
    [['a'], ['c', 'b', 'a']]
    """
    if observed.pattern_weights.dtype != np.int64:
        raise InputError("answers with fractional weights cannot be drawn anew: use whole weights")
    pattern_of = np.repeat(observed.pattern_of, observed.weights)
    if len(pattern_of) != len(complete):
        raise InputError(f"{len(pattern_of)} rankings are needed; got {len(complete)}")
    order = [complete.items.index(item) for item in observed.items]
    places = complete.patterns[complete.pattern_of][:, order].astype(np.int64)
    patterns = observed.patterns[pattern_of]
    listed = patterns != NOT_LISTED
    n_items = patterns.shape[1]
    # The places that are written down, best first, behind which comes what is not listed.
    written = np.sort(np.where(listed, patterns, n_items), axis=1)
    written[written == n_items] = NOT_LISTED
    if observed.unranked == "anywhere":
        places = _ranks(np.where(listed, places, n_items + places))
    hidden = np.take_along_axis(written, places, axis=1).astype(np.int32)
    return Rankings(observed.items, hidden, unranked=observed.unranked)


def answer_like(
    complete: Rankings,
    observed: Preferences,
    mistake_probability: float | None,
    rng: np.random.Generator,
) -> Preferences:
    """Let complete rankings compare the pairs of items that were compared, as often.

    Parameters
    ----------
    complete
        As many complete rankings as there are assessors.
    observed
        Pairwise answers.
    mistake_probability
        Probability that an answer is mistaken, if any may be.
    rng
        Generator, for mistakes.

    Examples
    --------
    >>> from tierwise import Preferences
    >>> complete = Rankings.from_orderings([["c", "b", "a"]])
    >>> observed = Preferences.from_pairs([("Ann", "a", "b"), ("Ann", "c", "a")], items="abc")
    >>> answer_like(complete, observed, None, np.random.default_rng(1)).pairs(0)
    [('b', 'a'), ('c', 'a')]
    """
    if len(observed) != len(complete):
        raise InputError(f"{len(observed)} rankings are needed; got {len(complete)}")
    order = [complete.items.index(item) for item in observed.items]
    places = complete.patterns[complete.pattern_of][:, order]
    times = observed.direct.astype(np.int32) if observed.times is None else observed.times
    # Of both orders of a pair, one agrees with the ranking: all answers are right at first.
    right = (times + times.transpose(0, 2, 1)) * (places[:, :, None] < places[:, None, :])
    wrong = np.zeros_like(right)
    if mistake_probability is not None:
        wrong = rng.binomial(right, mistake_probability).astype(np.int32)
    return observed.with_answers(right - wrong + wrong.transpose(0, 2, 1))


def _ranks(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Rank of each entry of each row, counted from 0."""
    return np.argsort(np.argsort(values, axis=1), axis=1)
