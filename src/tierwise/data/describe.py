"""Describe data before any model: completeness, mean ranks, pairwise shares."""

from functools import singledispatch
from typing import Any, overload

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.data.battles import Battles
from tierwise.data.connection import parts_of
from tierwise.data.description import Description
from tierwise.data.description_of_pairs import BattlesDescription, PairsDescription
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences, transitive_closure
from tierwise.data.rankings import Rankings
from tierwise.data.scan import RankingScan
from tierwise.data.showing import answer_in_words
from tierwise.files.places import first_places, sizes_of_groups


@overload
def describe(data: Battles) -> BattlesDescription: ...


@overload
def describe(data: Rankings | RankingScan) -> Description: ...


@overload
def describe(data: Preferences) -> PairsDescription: ...


def describe(
    data: Rankings | RankingScan | Preferences | Battles,
) -> Description | PairsDescription | BattlesDescription:
    """Summarise data: how complete answers are, mean ranks, pairwise shares.

    Parameters
    ----------
    data
        Rankings, complete or not, with or without ties, in memory or in files; or pairwise answers,
        or battles.

    Returns
    -------
    Description, PairsDescription or BattlesDescription
        The latter two are for pairwise answers and battles: how often items were compared and
        preferred, which groups of items never met, contradictions, and what the answers leave out.

    Examples
    --------
    >>> description = describe(Rankings.from_orderings([["a", "b", "c"], ["a", "c", "b"]]))
    >>> description.mean_ranks
    (1.0, 2.5, 2.5)
    >>> description.pairwise[0].tolist()
    [nan, 1.0, 1.0]
    """
    answers = check_data(data, "describe", Rankings, Preferences, Battles)
    return _describe(answers)


@singledispatch
def _describe(
    data: Rankings | Preferences | Battles,
) -> Description | PairsDescription | BattlesDescription:
    raise TypeError(f"{data.unit} are not described")


@_describe.register(Rankings)
def _describe_rankings(rankings: Rankings) -> Description:
    patterns, weights = rankings.patterns, rankings.pattern_weights
    listed = patterns != NOT_LISTED
    wins = rankings.pair_counts
    with np.errstate(invalid="ignore"):
        pairwise = wins / (wins + wins.T)
        # The rank of an item is the middle of the places that its tie takes up, counted from 1.
        tied = sizes_of_groups(first_places(patterns))
        ranks = np.where(listed, patterns + (tied + 1) / 2, 0.0)
        mean_ranks = weights @ ranks / (weights @ listed)
    return Description(
        items=rankings.items,
        n_rankings=rankings.n_rankings,
        n_distinct=len(patterns),
        n_complete=weights[listed.all(axis=1)].sum().item(),
        n_with_ties=weights[((tied > 1) & listed).any(axis=1)].sum().item(),
        mean_listed=float(weights @ listed.sum(axis=1) / rankings.n_rankings),
        unranked=rankings.unranked,
        n_listing=tuple((weights @ listed).tolist()),
        mean_ranks=tuple(mean_ranks.tolist()),
        pairwise=pairwise,
        first_answers=tuple(answer_in_words(rankings, row) for row in range(len(rankings))[:2]),
        reading=rankings.reading,
    )


@_describe.register(Preferences)
def describe_pairs(preferences: Preferences) -> PairsDescription:
    """Summarise pairwise answers."""
    direct = preferences.direct
    said = direct if preferences.times is None else preferences.times
    answers = said.sum(axis=0, dtype=np.int64)
    following = preferences.closure if preferences.times is None else transitive_closure(direct)
    wins = answers if preferences.times is not None else preferences.closure.sum(axis=0)
    compared = wins + wins.T
    return PairsDescription(
        items=preferences.items,
        n_assessors=len(preferences),
        n_distinct=len(np.unique(said.reshape(len(said), -1), axis=0)),
        n_answers=int(answers.sum()),
        n_following=int(preferences.closure.sum() - direct.sum()),
        cycles=preferences.cycles,
        n_contradicting=int(np.diagonal(following, axis1=1, axis2=2).any(axis=1).sum()),
        n_both_ways=int((direct & direct.transpose(0, 2, 1)).sum()) // 2,
        compared=answers + answers.T,
        wins=wins,
        n_comparing=tuple((direct.any(axis=2) | direct.any(axis=1)).sum(axis=0).tolist()),
        parts=parts_of(preferences),
        pairwise=np.divide(wins, compared, out=np.full(compared.shape, np.nan), where=compared > 0),
        reading=preferences.reading,
    )


@_describe.register(Battles)
def describe_battles(battles: Battles) -> BattlesDescription:
    """Summarise battles.

    Examples
    --------
    >>> rows = [("x", "y", "x"), ("x", "y", "tie"), ("z", "w", "z")]
    >>> found = describe_battles(Battles.from_rows(rows))
    >>> found.parts, found.never_lost, found.never_won
    ((('w', 'z'), ('x', 'y')), ('z',), ('w',))
    >>> found.sentences()[1]
    '1 battle (33%) ended in a draw.'
    """
    wins = battles.decided + battles.drawn / 2
    met = wins + wins.T
    n_battles = float(battles.decided.sum()) + battles.n_drawn
    return BattlesDescription(
        items=battles.items,
        n_assessors=battles.n_judges or 0,
        n_distinct=0,
        n_answers=_whole(n_battles),
        n_following=0,
        cycles="keep",
        n_contradicting=0,
        n_both_ways=0,
        compared=met,
        wins=wins,
        n_comparing=tuple(map(_whole, met.sum(axis=1).tolist())),
        parts=parts_of(battles),
        pairwise=np.divide(wins, met, out=np.full(met.shape, np.nan), where=met > 0),
        reading=battles.reading,
        n_drawn=_whole(battles.n_drawn),
    )


def _whole(number: float) -> Any:
    """Write a number without decimals if it has none."""
    return int(number) if number == int(number) else number
