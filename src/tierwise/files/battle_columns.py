"""Which columns of a table are those of battles: two models and who won, or winner and loser."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tierwise.errors import InputError, quoted, use

# Names of columns that are recognised, in this order; case, spaces and underscores do not matter.
_CONTESTANTS = (
    *(
        (f"{what}_{one}", f"{what}_{other}")
        for what in (
            *("model", "player", "team", "response", "system", "generator", "assistant"),
            *("candidate", "option", "fighter", "competitor", "opponent", "participant", "agent"),
        )
        for one, other in (("a", "b"), ("1", "2"))
    ),
    ("item_a", "item_b"),
    ("left", "right"),
    ("first", "second"),
    ("home", "away"),
    ("white", "black"),
    ("home_team", "away_team"),
    ("r_fighter", "b_fighter"),
    ("red_fighter", "blue_fighter"),
    ("a", "b"),
    ("one", "other"),
)
# Names that columns of other tables have, too: only a column "winner" says that these are battles.
_OF_ANY_TABLE = (("left", "right"), ("first", "second"), ("a", "b"), ("one", "other"))
# Two columns whose order says nothing: who was shown first is not known.
_WITHOUT_ORDER = ("one", "other")
_WINNER_AND_LOSER = (
    *(("winner", "loser"), ("preferred", "other"), ("better", "worse"), ("chosen", "rejected")),
    *(("winner_name", "loser_name"), ("winner_model", "loser_model"), ("winner_id", "loser_id")),
    *(("chosen_model", "rejected_model"), ("winning_team", "losing_team")),
)
# The points of the two, where these say who won.
_POINTS = (
    *(
        pair
        for what in ("goals", "score", "points")
        for pair in (
            (f"home_{what}", f"away_{what}"),
            (f"{what}_home", f"{what}_away"),
            (f"{what}_a", f"{what}_b"),
            (f"{what}_1", f"{what}_2"),
            (f"{what}_left", f"{what}_right"),
        )
    ),
    ("fthg", "ftag"),
    ("winner_model_a", "winner_model_b"),
    ("winner_a", "winner_b"),
)
# How often each of the two has won, and how often nobody.
_WINS = (
    *(("wins_a", "wins_b"), ("wins_1", "wins_2"), ("win_a", "win_b"), ("win_1", "win_2")),
    *(("model_a_wins", "model_b_wins"), ("a_wins", "b_wins"), ("home_wins", "away_wins")),
    *(("wins_model_a", "wins_model_b"),),
)
_DRAWS = ("ties", "draws", "tie", "draw", "drawn")
_WINNERS = (
    *("winner", "outcome", "result", "vote", "verdict", "ftr", "preference", "decision"),
    *("judgment", "judgement", "score"),
)
# What nobody has won.
_DRAWN = frozenset(
    {"tie", "tied", "draw", "drawn", "equal", "same", "both", "neither", "=", "nul", "remis"}
    | {"bothbad", "bothgood", "bothequal", "bothequallygood", "bothequallybad", "bothareequal"}
    | {"botharebad", "botharegood", "arebothbad", "empate", "unentschieden"}
    | {f"tie({which})" for which in ("bothbad", "bothgood", "allbad")}
)
# Of the first of the two, where both are named in an order.
_WON, _LOST = frozenset({"win", "won"}), frozenset({"loss", "lost", "lose"})
_RED = ("rfighter", "redfighter")
NOT_PLAYED = frozenset(
    {"*", "nc", "nocontest", "notplayed", "postponed", "cancelled", "canceled", "abandoned"}
)
"""Words in place of a result that say that there was none."""
# What results of matches are called where one of the two is at home.
_AT_HOME, _AWAY = ("home", "hometeam"), ("away", "awayteam")
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
    points
        The points of the first and of the second model, if no column says who won.
    judge, weight
        Who decided, and how often the row counts.
    """

    first: str | None = None
    second: str | None = None
    winner: str | None = None
    loser: str | None = None
    points: tuple[str, str] | None = None
    judge: str | None = None
    weight: str | None = None


def are_battles(names: Iterable[object]) -> bool:
    """Return whether there are columns for two models, and for the result or the points of both.

    Examples
    --------
    >>> are_battles(["Model A", "Model B", "winner"]), are_battles(["winner", "loser"])
    (True, False)
    >>> are_battles(["home", "away", "home_goals", "away_goals"])
    True
    >>> are_battles(["model_1", "model_2", "verdict"]), are_battles(["model 1", "model 2"])
    (True, False)
    >>> are_battles(["home", "away", "result"]), are_battles(["first", "second", "result"])
    (True, False)
    >>> are_battles(["home", "score", "away"]), are_battles(["model_a", "model_b", "score"])
    (True, True)
    """
    known = {plain_word(str(name)) for name in names}
    pair = _pair_in(_CONTESTANTS, known)
    if pair is None:
        return False
    words = ("winner",) if pair in _OF_ANY_TABLE else _WINNERS
    counted = _pair_in((*_POINTS, *_WINS), known) is not None
    return any(word in known for word in words) or counted


def _pair_in(pairs: Iterable[tuple[str, str]], known: Container[str]) -> tuple[str, str] | None:
    """Return the first pair of names that are both known."""
    return next((pair for pair in pairs if all(plain_word(name) in known for name in pair)), None)


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


def battles_without_winner(names: Sequence[object]) -> InputError | None:
    """Make the error for a table with columns of two models and none that says who won.

    Examples
    --------
    >>> print(battles_without_winner(["id", "model_a", "model_b", "g1"]).problem)
    'model_a' and 'model_b' look like the two models of battles, but no column says who won
    """
    place = {plain_word(str(name)): str(name) for name in names}
    pair = _pair_in([one for one in _CONTESTANTS if one not in _OF_ANY_TABLE], place)
    if pair is None or are_battles(names):
        return None
    first, second = (place[plain_word(name)] for name in pair)
    return InputError(
        f"{quoted(first)} and {quoted(second)} look like the two models of battles, but no column "
        "says who won",
        [
            use("to name the column of the winner", winner=...),
            use("to name the columns of the points of both", points=...),
        ],
    )


def have_columns_of_battles(names: Iterable[object]) -> bool:
    """Return whether there is any column for two models, for the winner, or for who lost.

    Examples
    --------
    >>> have_columns_of_battles(["left", "right"]), have_columns_of_battles(["model", "score"])
    (True, False)
    """
    known = {plain_word(str(name)) for name in names}
    return "winner" in known or _pair_in([*_CONTESTANTS, *_WINNER_AND_LOSER], known) is not None


@dataclass(frozen=True)
class Roles:
    """The numbers of the columns, and what is called who won.

    Attributes
    ----------
    first, second, outcome, points, wins, judge, weight
        Numbers of columns; ``outcome`` is None if the first model is the winner, or if ``points``
        are the columns that say who won, or if ``wins`` say how often either did, and nobody.
    first_words, second_words, drawn_words
        What the outcome is called if the first model won, the second, or nobody.
    letters
        Whether the two models may also be called A and B.
    matches
        Whether the rows are matches, which may not have been played yet.
    ordered
        Whether the first column holds the model that was shown first.
    """

    first: int
    second: int
    outcome: int | None
    points: tuple[int, int] | None
    wins: tuple[int, ...] | None
    judge: int | None
    weight: int | None
    first_words: frozenset[str]
    second_words: frozenset[str]
    drawn_words: frozenset[str]
    letters: bool
    matches: bool
    ordered: bool

    @property
    def answers(self) -> tuple[int, ...]:
        """The columns that say who met whom, who won and who decided."""
        counts = (*(self.points or ()), *(self.wins or ()))
        used = (self.first, self.second, self.outcome, *counts, self.judge)
        return tuple(number for number in used if number is not None)


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
                use(
                    "to name the columns of the two models and of their points",
                    first=...,
                    second=...,
                    points=...,
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
    >>> roles_of(["home", "away", "home goals", "away goals"], BattleColumns()).points
    (2, 3)
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
    points = _points_of(place, columns.points, said)
    pair = _pair_in(_WINS, place) if columns.points is None else None
    wins = None if pair is None else tuple(place[plain_word(name)] for name in pair)
    outcome = known(_WINNERS) if winner is None and columns.points is None else winner
    if first is None and loser is None:
        decided = points is not None or wins is not None
        first, second = _contestants(place, outcome, decided=decided)
    if first is None or second is None:
        if loser is not None and winner is None:
            winner = outcome
        first, second = _winner_and_loser(place, winner, loser)
        outcome = points = wins = None
    elif outcome is not None:
        points = wins = None
    elif wins is not None:
        draws = known(_DRAWS)
        points, wins = None, wins if draws is None else (*wins, draws)
    elif points is None:
        raise InputError(
            "no column says who won",
            [
                use("to name the column of the winner", winner=...),
                use("to name the columns of the points of both", points=...),
            ],
        )
    used = {first, second, outcome, *(points or ()), *(wins or ())}
    judge = _free(known(_JUDGES), used) if judge is None else judge
    weight = _free(known(_WEIGHTS), used) if weight is None else weight
    own = plain_word(str(names[first])), plain_word(str(names[second]))
    at_home = own[0] in _AT_HOME and own[1] in _AWAY
    ordered = (outcome, points, wins) != (None, None, None) and own[0] != _WITHOUT_ORDER[0]
    return Roles(
        first,
        second,
        outcome,
        points,
        wins,
        judge,
        weight,
        *_words_for_outcomes(own, at_home=at_home, ordered=ordered),
        letters=not at_home,
        matches=at_home or own == ("white", "black"),
        ordered=ordered,
    )


def _words_for_outcomes(
    own: tuple[str, str], *, at_home: bool, ordered: bool
) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return what the outcome is called if the first of two won, the second, or nobody."""
    first, second, drawn = {"modela", "left", own[0]}, {"modelb", "right", own[1]}, set(_DRAWN)
    if at_home:
        first |= {"h", "home"}
        second |= {"a", "away"}
        drawn |= {"d"}
    if ordered:
        first |= _WON
        second |= _LOST
    if (own[0][-1], own[1][-1]) == ("1", "2"):
        first |= {"1"}
        second |= {"2"}
    if own[0] in _RED:
        first |= {"red"}
        second |= {"blue"}
    return frozenset(first), frozenset(second), frozenset(drawn)


def _points_of(
    place: Mapping[str, int],
    named: tuple[str, str] | None,
    said: Callable[[str | None, str], int | None],
) -> tuple[int, int] | None:
    """Return the columns of points, as said or by their names; None if there are none."""
    if named is None:
        pair = _pair_in(_POINTS, place)
        return None if pair is None else (place[plain_word(pair[0])], place[plain_word(pair[1])])
    if isinstance(named, str) or len(named) != 2:
        raise InputError(
            "points needs two columns, those of the first and of the second model",
            [use(points=["home_goals", "away_goals"])],
        )
    first, second = (said(str(name), "the points") for name in named)
    assert first is not None
    assert second is not None
    return first, second


def _contestants(
    place: Mapping[str, int], outcome: int | None, *, decided: bool
) -> tuple[int | None, int | None]:
    """Return the columns of the two models by their names; None if there are none."""
    pairs = [
        pair
        for pair in _CONTESTANTS
        if all(plain_word(name) in place and place[plain_word(name)] != outcome for name in pair)
    ]
    # What models said stands beside their names.
    names = [pair for pair in pairs if not pair[0].startswith("response")]
    pairs = names or pairs
    if not pairs:
        return None, None
    if len(pairs) > 1 and (decided or outcome is not None):
        named = " and ".join("/".join(pair) for pair in pairs)
        raise InputError(
            f"there are two pairs of columns for models ({named})",
            [use("to choose a pair", first=..., second=...)],
        )
    return place[plain_word(pairs[0][0])], place[plain_word(pairs[0][1])]


def _free(column: int | None, used: set[int | None]) -> int | None:
    return None if column in used else column


def plain_word(word: str) -> str:
    """Return a word without case, spaces, underscores and hyphens."""
    return "".join(word.casefold().replace("_", " ").replace("-", " ").split())
