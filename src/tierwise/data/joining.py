"""Answers put together: rankings of the same items, and battles of any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise.data.people import join_people
from tierwise.errors import InputError, quoted
from tierwise.files.battle_counts import BattleVotes, ShownFirst, condensed_votes
from tierwise.files.places import EncodedRankings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tierwise.data.battles import Battles
    from tierwise.data.rankings import Rankings


def joined_rankings(parts: Sequence[Rankings]) -> EncodedRankings:
    """Return the answers of all parts, one after the other; all must be of the same items."""
    items = parts[0].items
    meanings = {part.unranked for part in parts} - {None}
    if len(meanings) > 1:
        raise InputError(
            "in some rankings items not listed rank below all others, in others their rank is "
            "unknown: these rankings cannot be joined"
        )
    for part in parts:
        if set(part.items) != set(items):
            different = min(str(item) for item in set(part.items) ^ set(items))
            raise InputError(f"only some of the collections have item {quoted(different)}")
    orders = [[part.items.index(item) for item in items] for part in parts]
    said = {part.weights_are for part in parts}
    return EncodedRankings(
        items,
        np.concatenate([part.places[:, order] for part, order in zip(parts, orders, strict=True)]),
        np.concatenate([part.weights for part in parts]),
        unranked=meanings.pop() if meanings else None,
        weights_are=said.pop() if len(said) == 1 else None,
        people=join_people([(part.people, len(part)) for part in parts]),
    )


def joined_battles(one: Battles, other: Battles) -> dict[str, Any]:
    """Return what battles are made of if both are added; items and judges may be new."""
    if one.drawn_as != other.drawn_as:
        raise InputError(
            f'drawn battles count as "{one.drawn_as}" here and as "{other.drawn_as}" there: '
            "make them equal with with_drawn before adding"
        )
    if one.position != other.position:
        raise InputError(
            f'position is "{one.position}" here and "{other.position}" there: make them equal '
            "with with_position before adding"
        )
    if (one.votes is None) != (other.votes is None):
        raise InputError(
            "the judges of only some of these battles are known: read all battles with their "
            "judges, or none"
        )
    items = tuple(sorted({*one.items, *other.items}))
    number_of = {item: number for number, item in enumerate(items)}
    tables = np.zeros((2, len(items), len(items)))
    shown: list[ShownFirst] = []
    for part in (one, other):
        places = np.array([number_of[item] for item in part.items])
        tables[0][np.ix_(places, places)] += part.decided
        tables[1][np.ix_(places, places)] += part.drawn
        if part.shown is not None:
            shown.append(part.shown.rearranged(places, len(items)))
    return {
        "items": items,
        "decided": tables[0],
        "drawn": tables[1],
        "drawn_as": one.drawn_as,
        "votes": _joined_votes(one, other, number_of),
        "shown": shown[0] + shown[1] if len(shown) == 2 else None,
        "position": one.position,
        **_joined_weights(one, other),
    }


def _joined_weights(one: Battles, other: Battles) -> dict[str, Any]:
    """Return what is known of survey weights in both, or in one of them."""
    if one.n_rows is None and other.n_rows is None:
        return {}
    totals = [float(part.decided.sum() + part.drawn.sum() / 2) for part in (one, other)]
    squares = [
        total * (1.0 if part.design_effect is None else part.design_effect)
        for part, total in zip((one, other), totals, strict=True)
    ]
    rows = [
        round(total) if part.n_rows is None else part.n_rows
        for part, total in zip((one, other), totals, strict=True)
    ]
    return {"design_effect": sum(squares) / sum(totals), "n_rows": sum(rows)}


def _joined_votes(one: Battles, other: Battles, number_of: Mapping[str, int]) -> BattleVotes | None:
    if one.votes is None or other.votes is None:
        return None
    judges = tuple(dict.fromkeys((*one.votes.judges, *other.votes.judges)))
    judge_of = {name: number for number, name in enumerate(judges)}
    rows = []
    for part in (one, other):
        votes = part.votes
        assert votes is not None
        places = np.array([number_of[item] for item in part.items])
        named = np.array([judge_of[name] for name in votes.judges])
        rows.append(
            (
                named[votes.judge],
                places[votes.first],
                places[votes.second],
                votes.drawn,
                votes.weight,
                votes.won_second,
            )
        )
    judge, first, second, drawn, weight, won_second = (
        np.concatenate(parts) for parts in zip(*rows, strict=True)
    )
    ordered = one.shown is not None and other.shown is not None
    return condensed_votes(
        judges, judge, first, second, drawn, weight, won_second if ordered else None
    )
