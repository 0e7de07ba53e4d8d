"""Battles, one per row, counted while the file is read in chunks.

A battle is three columns: two models and the winner, which is one of the words below, or the name
of one of the two; or two columns, winner and loser. Nothing is kept of a battle but its count, and
who judged it where a column says so.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_choice
from tierwise._util.resources import check_memory
from tierwise._util.types import Codes, RowNamer
from tierwise.errors import InputError, has_control_characters, quoted, use
from tierwise.files.cells import ABSENT, check_cells, encode, first_rows, numbers
from tierwise.files.options import Aside, ReadingNotes
from tierwise.files.spellings import Spellings, refuse_spellings
from tierwise.files.table_file import TableFile

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


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

_TIES = frozenset({"tie", "draw", "tie(bothbad)", "bothbad"})
_FIRST_WINS, _SECOND_WINS, _DRAW = 0, 1, 2
_LETTERS = {"a": _FIRST_WINS, "b": _SECOND_WINS}
# A result as games have it: 1-0, 1/2-1/2, 3:1. The points of the first stand first.
_POINTS = re.compile(r"(\d{1,3}|1/2|½)\s*[-\u2013:]\s*(\d{1,3}|1/2|½)")
_HALVES = ("1/2", "½")
_ROWS_PER_PIECE = 1 << 17


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


@dataclass(frozen=True, eq=False)
class BattleVotes:
    """Battles by judge, each distinct one once.

    Attributes
    ----------
    judges
        Names of the judges.
    judge, first, second
        For each row: the number of the judge, of the winner and of the loser, or of the two models
        in any order if the battle was drawn.
    drawn
        Whether the battle was drawn.
    weight
        How often this was decided.
    won_second
        Whether the winner was shown second. In drawn battles ``first`` was shown first. All
        False if it is not known who was shown first.
    """

    judges: tuple[str, ...]
    judge: _Integers
    first: _Integers
    second: _Integers
    drawn: NDArray[np.bool_]
    weight: _Floats
    won_second: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ShownFirst:
    """Battles by who was shown first.

    Attributes
    ----------
    won
        ``won[a, b]``: how often ``a`` was shown first and won against ``b``.
    drawn
        ``drawn[a, b]``: how often ``a`` was shown first and drew with ``b``.
    """

    won: _Floats
    drawn: _Floats

    def __add__(self, other: "ShownFirst") -> "ShownFirst":
        """Add counts of the same items."""
        return ShownFirst(self.won + other.won, self.drawn + other.drawn)

    def rearranged(self, places: _Integers, n_items: int) -> "ShownFirst":
        """Put items into other places, among more of them."""
        tables = np.zeros((2, n_items, n_items))
        tables[0][np.ix_(places, places)] = self.won
        tables[1][np.ix_(places, places)] = self.drawn
        return ShownFirst(tables[0], tables[1])


@dataclass
class WeightsOfRows:
    """What is kept of the weights of battles: how many there are, their sum and that of squares."""

    n_rows: int = 0
    total: float = 0.0
    squares: float = 0.0
    are_counts: bool = True

    def add(self, weights: _Floats) -> None:
        """Add the weights of some rows; halves are counts, too: of drawn battles in two rows."""
        self.n_rows += int(np.count_nonzero(weights))
        self.total += float(weights.sum())
        self.squares += float((weights**2).sum())
        self.are_counts &= not bool((weights % 0.5).any())


@dataclass(frozen=True, eq=False)
class CountedBattles:
    """Battles counted: models in the order of their names, ``wins[a, b]``, ``draws[a, b]``."""

    items: tuple[str, ...]
    wins: _Floats
    draws: _Floats
    votes: BattleVotes | None
    shown: ShownFirst | None = None
    weights: WeightsOfRows | None = None


def count_battles(
    table: TableFile,
    columns: BattleColumns,
    rename: Mapping[str, str] | None = None,
    spellings: Spellings = "ask",
) -> tuple[CountedBattles, ReadingNotes]:
    """Count the battles of a table, one piece in memory at a time, and note how it was read."""
    names = [str(name) for name in table.columns]
    roles = roles_of(names, columns)
    tally = Tally(roles, dict(rename or {}))
    start = 0
    for piece in table.batches(_ROWS_PER_PIECE):
        tally.add(piece, partial(_row_of_piece, table.name_row, start))
        start += piece.num_rows
    notes = _notes(names, roles, start)
    if tally.result:
        said = (
            f"Results such as {quoted(tally.result)} are the points of the two: who has more wins."
        )
        notes = replace(notes, remarks=(said,))
    return tally.counted(spellings), notes.about(table.form)


def are_battles(names: Iterable[object]) -> bool:
    """Return whether there are columns for two models and for the winner.

    Examples
    --------
    >>> are_battles(["Model A", "Model B", "winner"]), are_battles(["winner", "loser"])
    (True, False)
    """
    known = {_normal(str(name)) for name in names}
    return "winner" in known and any(
        all(_normal(name) in known for name in pair) for pair in _CONTESTANTS
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
    known = {_normal(str(name)) for name in names}
    pairs = [*_CONTESTANTS, *_WINNER_AND_LOSER]
    return "winner" in known or any(all(_normal(one) in known for one in pair) for pair in pairs)


def _row_of_piece(name_row: RowNamer, start: int, row: int) -> str:
    return name_row(start + row)


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
            if all(_normal(name) in place for name in pair):
                winner, loser = (place[_normal(name)] for name in pair)
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
    place = {_normal(str(name)): number for number, name in enumerate(names)}

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
        return next((place[_normal(word)] for word in words if _normal(word) in place), None)

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
        if all(_normal(name) in place and place[_normal(name)] != outcome for name in pair)
    ]
    if first is None and loser is None and pairs:
        if len(pairs) > 1 and outcome is not None:
            named = " and ".join("/".join(pair) for pair in pairs)
            raise InputError(
                f"there are two pairs of columns for models ({named})",
                [use("to choose a pair", first=..., second=...)],
            )
        first, second = (place[_normal(name)] for name in pairs[0])
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
        frozenset({"modela", "left", _normal(str(names[first]))}),
        frozenset({"modelb", "right", _normal(str(names[second]))}),
        outcome is not None and _normal(str(names[first])) != _WITHOUT_ORDER[0],
    )


def _notes(names: Sequence[str], roles: Roles, n_rows: int) -> ReadingNotes:
    """Note which columns were read."""
    used = [roles.first, roles.second, roles.outcome, roles.judge, roles.weight]
    read = [number for number in used if number is not None]
    return ReadingNotes(
        layout="battles" if roles.outcome is not None else "won and lost",
        columns=tuple(names[number] for number in read if number != roles.weight),
        weights="" if roles.weight is None else names[roles.weight],
        aside=tuple(
            Aside(name, "does not say who won")
            for number, name in enumerate(names)
            if number not in read
        ),
        n_answers=n_rows,
    )


def _free(column: int | None, used: set[int | None]) -> int | None:
    return None if column in used else column


def _points(word: str) -> int | None:
    """Return who won by points, as in 1-0 or 3:1; None if these are not points."""
    found = _POINTS.fullmatch(word)
    if found is None:
        return None
    first, second = (0.5 if one in _HALVES else float(one) for one in found.groups())
    if first == second:
        return _DRAW
    return _FIRST_WINS if first > second else _SECOND_WINS


def _normal(word: str) -> str:
    """Return a word without case, spaces, underscores and hyphens."""
    return "".join(word.casefold().replace("_", " ").replace("-", " ").split())


@dataclass(eq=False)
class Tally:
    """Counts while they grow."""

    roles: Roles
    rename: dict[str, str]
    letter: str = ""  # A or B, where the winner is called so and no model is
    result: str = ""  # the first result that is written as points, such as 1-0
    code_of: dict[str, int] = field(default_factory=dict)
    first_seen: list[Callable[[], str]] = field(default_factory=list)
    judge_code_of: dict[str, int] = field(default_factory=dict)
    wins: _Floats = field(default_factory=lambda: np.zeros((0, 0)))
    wins_of_first: _Floats = field(default_factory=lambda: np.zeros((0, 0)))
    draws: _Floats = field(default_factory=lambda: np.zeros((0, 0)))
    pieces: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    weights: WeightsOfRows = field(default_factory=WeightsOfRows)

    def add(self, piece: Any, name_row: RowNamer) -> None:
        """Count a piece of a table."""
        if piece.num_rows == 0:
            return
        roles = self.roles
        for column in (roles.first, roles.second, roles.outcome, roles.judge, roles.weight):
            if column is not None:
                check_cells(piece.column_names[column], piece.column(column))
        first = self._models(piece.column(roles.first), name_row)
        second = self._models(piece.column(roles.second), name_row)
        same = first == second
        if same.any():
            row = int(same.argmax())
            name = list(self.code_of)[first[row]]
            raise InputError(
                f"{name_row(row)}: {quoted(name)} is compared with itself: delete the row, or "
                "correct one of the names"
            )
        drawn = np.zeros(len(first), dtype=bool)
        swapped = np.zeros(len(first), dtype=bool)
        if roles.outcome is not None:
            outcome = self._outcomes(piece.column(roles.outcome), first, second, name_row)
            drawn = outcome == _DRAW
            swapped = outcome == _SECOND_WINS
            first, second = np.where(swapped, second, first), np.where(swapped, first, second)
        weight = np.ones(len(first))
        if roles.weight is not None:
            weight = _weights(piece.column(roles.weight), name_row)
        self.weights.add(weight)
        self._grow()
        size = len(self.code_of)
        pairs = first * size + second
        n_pairs = size * size
        for table, rows in (
            (self.wins, ~drawn),
            (self.wins_of_first, ~(drawn | swapped)),
            (self.draws, drawn),
        ):
            counts = np.bincount(pairs[rows], weights=weight[rows], minlength=n_pairs)
            np.add(table, counts.reshape(size, size), out=table)
        if roles.judge is not None:
            judge = self._judges(piece.column(roles.judge), name_row)
            self.pieces.append((judge, first.astype(np.int32), second.astype(np.int32), drawn))
            self.pieces[-1] += (weight, swapped)

    def _models(self, column: Any, name_row: RowNamer) -> _Integers:
        """Return the number of the model in each cell, new ones being added."""
        codes, labels = encode(column)
        _refuse_empty(codes, "the name of a model", name_row)
        rows = None
        numbers_of_labels = np.zeros(len(labels), dtype=np.int64)
        used = np.unique(codes).tolist()
        for code in used:
            name = str(labels[code]).strip()
            name = self.rename.get(name, name)
            if name not in self.code_of:
                rows = first_rows(codes, len(labels)) if rows is None else rows
                # To name a row may take a pass over the file: that is for messages alone.
                where = partial(name_row, int(rows[code]))
                if has_control_characters(name):
                    raise InputError(
                        f"{where()}: {quoted(name)} contains a control character: "
                        "remove it from the name"
                    )
                self.code_of[name] = len(self.code_of)
                self.first_seen.append(where)
            numbers_of_labels[code] = self.code_of[name]
        return numbers_of_labels[codes]

    def _judges(self, column: Any, name_row: RowNamer) -> Codes:
        codes, labels = encode(column)
        _refuse_empty(codes, "the judge", name_row)
        known = self.judge_code_of
        found = [known.setdefault(str(label), len(known)) for label in labels]
        return np.asarray(found, dtype=np.int32)[codes]

    def _outcomes(
        self, column: Any, first: _Integers, second: _Integers, name_row: RowNamer
    ) -> _Integers:
        """Tell of each row whether the first won, the second, or nobody."""
        codes, labels = encode(column)
        _refuse_empty(codes, "the winner", name_row)
        outcome = np.full(len(codes), -1, dtype=np.int64)
        for code in np.unique(codes).tolist():
            rows = codes == code
            word = str(labels[code]).strip()
            name = self.rename.get(word, word)
            meaning = self._meaning(word)
            number = self.code_of.get(name)
            if meaning is None and number is None and _normal(word) in _LETTERS:
                meaning, self.letter = _LETTERS[_normal(word)], word
            if meaning is not None and number is not None:
                raise InputError(
                    f"{name_row(int(rows.argmax()))}: the winner {quoted(word)} may be the "
                    "model with this name, or an outcome",
                    [use("to rename the model", rename={word: f"{word} (model)"})],
                )
            if meaning is None and number is None and (points := _points(word)) is not None:
                meaning, self.result = points, self.result or word
            if meaning is not None:
                outcome[rows] = meaning
                continue
            if number is None:
                raise InputError(
                    f"{name_row(int(rows.argmax()))}: the winner is {quoted(word)}, which is "
                    'neither of the two models nor a word for an outcome: write "model_a", '
                    '"model_b", "tie", "both_bad", the name of the winner, or points such as 1-0'
                )
            outcome[rows & (first == number)] = _FIRST_WINS
            outcome[rows & (second == number)] = _SECOND_WINS
        called = [name for name in self.code_of if self.letter and _normal(name) in _LETTERS]
        if called:
            raise InputError(
                f"the winner {quoted(self.letter)} may be the model {quoted(called[0])} or one of "
                "the two columns",
                [
                    use(
                        "to rename the models",
                        rename={one: f"{one} (model)" for one in called},
                    )
                ],
            )
        if (outcome < 0).any():
            row = int((outcome < 0).argmax())
            names = list(self.code_of)
            raise InputError(
                f"{name_row(row)}: the winner is {quoted(labels[codes[row]])}, but the two models "
                f"are {quoted(names[first[row]])} and {quoted(names[second[row]])}: correct or "
                "delete the row"
            )
        return outcome

    def _meaning(self, word: str) -> int | None:
        normal = _normal(word)
        if normal in self.roles.first_words:
            return _FIRST_WINS
        if normal in self.roles.second_words:
            return _SECOND_WINS
        return _DRAW if normal in _TIES else None

    def _grow(self) -> None:
        """Make room for models that were not there before."""
        more = len(self.code_of) - len(self.wins)
        if more:
            n_items = len(self.code_of)
            check_memory(6 * 8 * n_items**2, f"the wins of {n_items:,} models", "use fewer models")
            self.wins = np.pad(self.wins, (0, more))
            self.wins_of_first = np.pad(self.wins_of_first, (0, more))
            self.draws = np.pad(self.draws, (0, more))

    def counted(self, spellings: Spellings) -> CountedBattles:
        """Return all counts, models in the order of their names."""
        check_choice("spellings", spellings, ("ask", "keep"))
        names = list(self.code_of)
        if not names:
            raise InputError("there are no battles: add at least one row")
        if spellings == "ask":
            refuse_spellings(names, "model", self.first_seen)
        if not (self.wins.any() or self.draws.any()):
            raise InputError("all weights are 0: at least one battle must count")
        order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        draws = self.draws + self.draws.T
        shown = ShownFirst(self.wins_of_first, self.draws).rearranged(rank, len(rank))
        return CountedBattles(
            tuple(names[number] for number in order.tolist()),
            self.wins[np.ix_(order, order)],
            draws[np.ix_(order, order)],
            self._votes(rank),
            shown if self.roles.ordered else None,
            self.weights,
        )

    def _votes(self, rank: _Integers) -> BattleVotes | None:
        if self.roles.judge is None:
            return None
        judge, first, second, drawn, weight, swapped = (
            np.concatenate(parts) for parts in zip(*self.pieces, strict=True)
        )
        return condensed_votes(
            tuple(self.judge_code_of),
            judge.astype(np.int64),
            rank[first],
            rank[second],
            drawn,
            weight,
            swapped if self.roles.ordered else None,
        )


def condensed_votes(
    judges: tuple[str, ...],
    judge: _Integers,
    first: _Integers,
    second: _Integers,
    drawn: NDArray[np.bool_],
    weight: _Floats,
    won_second: NDArray[np.bool_] | None = None,
) -> BattleVotes:
    """Keep each distinct vote once.

    ``won_second`` is None if it is not known who was shown first: then the two models of a drawn
    battle are put into one order.
    """
    if won_second is None:
        swapped = drawn & (first > second)
        first, second = np.where(swapped, second, first), np.where(swapped, first, second)
        won_second = np.zeros(len(first), dtype=bool)
    size = int(max(first.max(), second.max())) + 1
    outcome = np.where(drawn, 2, won_second.astype(np.int64))
    keys = ((judge * size + first) * size + second) * 3 + outcome
    distinct, which = np.unique(keys, return_inverse=True)
    pairs, outcomes = np.divmod(distinct, 3)
    of_judge, other = np.divmod(pairs, size)
    of_judge, one = np.divmod(of_judge, size)
    return BattleVotes(
        judges,
        of_judge,
        one,
        other,
        outcomes == 2,
        np.bincount(which.ravel(), weights=weight, minlength=len(distinct)).astype(np.float64),
        outcomes == 1,
    )


def _refuse_empty(codes: Codes, what: str, name_row: RowNamer) -> None:
    empty = codes == ABSENT
    if empty.any():
        raise InputError(
            f"{name_row(int(empty.argmax()))}: {what} is missing: fill in the cell, or delete "
            "the row"
        )


def _weights(column: Any, name_row: RowNamer) -> _Floats:
    weight = numbers(column, "the weight", name_row)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(bad.argmax())
        said = "missing" if np.isnan(weight[row]) else f"{weight[row]:g}"
        raise InputError(
            f"{name_row(row)}: the weight is {said}: it must be a finite number of 0 or more"
        )
    return weight
