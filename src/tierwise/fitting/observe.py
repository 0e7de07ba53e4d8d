"""Complete rankings of a model, made incomplete as the answers at hand are."""

import numpy as np
from numpy.typing import NDArray

from tierwise._util.types import NOT_LISTED
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError


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
        raise InputError("answers with fractional weights cannot be resampled: use whole weights")
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


def _ranks(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rank of each entry of each row, counted from 0."""
    return np.argsort(np.argsort(values, axis=1), axis=1)
