"""Which columns of a table are those of battles: two models and the winner, or winner and loser."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tierwise.errors import InputError, quoted, use

# Names of columns that are recognised, in this order; case, spaces and underscores do not matter.
_CONTESTANTS = (
    ("model_a", "model_b"),
    ("item_a", "item_b"),
    ("player_a", "player_b"),
    ("left", "right"),
    ("first", "second"),
    ("home", "away"),
    ("white", "black"),
    ("a", "b"),
    ("one", "other"),
)
# Two columns whose order says nothing: who was shown first is not known.
_WITHOUT_ORDER = ("one", "other")
_WINNER_AND_LOSER = (("winner", "loser"), ("preferred", "other"), ("better", "worse"))
_WINNERS = ("winner", "outcome", "result", "vote")
_JUDGES = ("judge", "worker", "annotator", "assessor", "voter", "rater", "user")
_WEIGHTS = ("weight", "weights", "count")


@dataclass(frozen=True, kw_only=True)
class BattleColumns:
    """The columns that the user names; None means not named.

    Attributes
    ----------
    first, second
        The two models.
    winner
        Who won.
    loser
        Who lost, if there are no columns for the two models.
    judge, weight
        Who decided, and how often the row counts.
    """

    first: str | None = None
    second: str | None = None
    winner: str | None = None
    loser: str | None = None
    judge: str | None = None
    weight: str | None = None


def are_battles(names: Iterable[object]) -> bool:
    """Return whether there are columns for two models and for the winner.

    Examples
    --------
    >>> are_battles(["Model A", "Model B", "winner"]), are_battles(["winner", "loser"])
    (True, False)
    """
    known = {plain_word(str(name)) for name in names}
    return "winner" in known and any(
        all(plain_word(name) in known for name in pair) for pair in _CONTESTANTS
    )


def can_be_battles(names: Sequence[str]) -> bool:
    """Return whether columns can be those of battles, also if only winner and loser are named.

    Examples
    --------
    >>> can_be_battles(["winner", "loser"]), can_be_battles(["first", "second", "third"])
    (True, False)
    """
    try:
        roles_of(names, BattleColumns())
    except InputError:
        return are_battles(names)
    return True


def have_columns_of_battles(names: Iterable[object]) -> bool:
    """Return whether there is any column for two models, for the winner, or for who lost.

    Examples
    --------
    >>> have_columns_of_battles(["left", "right"]), have_columns_of_battles(["model", "score"])
    (True, False)
    """
    known = {plain_word(str(name)) for name in names}
    pairs = [*_CONTESTANTS, *_WINNER_AND_LOSER]
    return "winner" in known or any(all(plain_word(one) in known for one in pair) for pair in pairs)


@dataclass(frozen=True)
class Roles:
    """The numbers of the columns, and what is called who won.

    Attributes
    ----------
    first, second, outcome, judge, weight
        Numbers of columns; ``outcome`` is None if the first model is the winner.
    first_words, second_words
        What the outcome is called if the first or the second model won.
    ordered
        Whether the first column holds the model that was shown first.
    """

    first: int
    second: int
    outcome: int | None
    judge: int | None
    weight: int | None
    first_words: frozenset[str]
    second_words: frozenset[str]
    ordered: bool


def _winner_and_loser(
    place: Mapping[str, int], winner: int | None, loser: int | None
) -> tuple[int, int]:
    """Return the columns of the winner and the loser, as said or by their names."""
    if winner is None and loser is None:
        for pair in _WINNER_AND_LOSER:
            if all(plain_word(name) in place for name in pair):
                winner, loser = (place[plain_word(name)] for name in pair)
                break
    if winner is None or loser is None:
        raise InputError(
            "no columns of battles were found",
            [
                use(
                    "to name the columns of the two models and the winner",
                    first=...,
                    second=...,
                    winner=...,
                ),
                use("to name the columns of the winner and the loser", winner=..., loser=...),
            ],
        )
    return winner, loser


def roles_of(names: Sequence[str], columns: BattleColumns) -> Roles:
    """Tell which column is what, or say what is missing.

    Examples
    --------
    >>> roles = roles_of(["id", "left", "right", "winner", "worker"], BattleColumns())
    >>> roles.first, roles.second, roles.outcome, roles.judge
    (1, 2, 3, 4)
    """
    place = {plain_word(str(name)): number for number, name in enumerate(names)}

    def said(name: str | None, what: str) -> int | None:
        if name is None:
            return None
        if name not in names:
            listed = ", ".join(quoted(one) for one in names[:8])
            raise InputError(
                f"there is no column {quoted(name)} for {what}: the columns are {listed}"
            )
        return list(names).index(name)

    def known(words: Iterable[str]) -> int | None:
        return next((place[plain_word(word)] for word in words if plain_word(word) in place), None)

    first, second = said(columns.first, "the first model"), said(columns.second, "the second model")
    winner, loser = said(columns.winner, "the winner"), said(columns.loser, "the loser")
    judge = said(columns.judge, "the judge")
    weight = said(columns.weight, "the weight")
    if (first is None) != (second is None):
        raise InputError(
            "you named only one of the two columns of models",
            [use("to name both", first=..., second=...)],
        )
    outcome = known(_WINNERS) if winner is None else winner
    pairs = [
        pair
        for pair in _CONTESTANTS
        if all(plain_word(name) in place and place[plain_word(name)] != outcome for name in pair)
    ]
    if first is None and loser is None and pairs:
        if len(pairs) > 1 and outcome is not None:
            named = " and ".join("/".join(pair) for pair in pairs)
            raise InputError(
                f"there are two pairs of columns for models ({named})",
                [use("to choose a pair", first=..., second=...)],
            )
        first, second = (place[plain_word(name)] for name in pairs[0])
    if first is None or second is None:
        if loser is not None and winner is None:
            winner = outcome
        first, second = _winner_and_loser(place, winner, loser)
        outcome = None
    elif outcome is None:
        raise InputError(
            "no column says who won", [use("to name the column of the winner", winner=...)]
        )
    used = {first, second, outcome}
    judge = _free(known(_JUDGES), used) if judge is None else judge
    weight = _free(known(_WEIGHTS), used) if weight is None else weight
    return Roles(
        first,
        second,
        outcome,
        judge,
        weight,
        frozenset({"modela", "left", plain_word(str(names[first]))}),
        frozenset({"modelb", "right", plain_word(str(names[second]))}),
        outcome is not None and plain_word(str(names[first])) != _WITHOUT_ORDER[0],
    )


def _free(column: int | None, used: set[int | None]) -> int | None:
    return None if column in used else column


def plain_word(word: str) -> str:
    """Return a word without case, spaces, underscores and hyphens."""
    return "".join(word.casefold().replace("_", " ").replace("-", " ").split())
