"""Battles, one per row, counted while the file is read in chunks.

A battle is three columns: two models and the winner, which is one of the words below, or the name
of one of the two; or four, two models and the points of both; or two columns, winner and loser.
Nothing is kept of a battle but its count, and who judged it where a column says so.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_choice
from tierwise._util.resources import check_memory
from tierwise._util.types import Codes, RowNamer
from tierwise.errors import InputError, counted, has_control_characters, quoted, use
from tierwise.files.battle_columns import (
    NOT_PLAYED,
    BattleColumns,
    Roles,
    plain_word,
    roles_of,
)
from tierwise.files.battle_counts import (
    BattleVotes,
    CountedBattles,
    ShownFirst,
    WeightsOfRows,
    condensed_votes,
)
from tierwise.files.cells import ABSENT, can_be_encoded, check_cells, encode, first_rows, numbers
from tierwise.files.options import Aside, ReadingNotes
from tierwise.files.spellings import Spellings, refuse_spellings, spelling
from tierwise.files.table_file import TableFile

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

_FIRST_WINS, _SECOND_WINS, _DRAW = 0, 1, 2
_LETTERS = {"a": _FIRST_WINS, "b": _SECOND_WINS}
# Verdicts as judges are asked to write them: [[A]], [[C]] for a tie, A>>B, A=B.
_VERDICT = re.compile(r"\[*\s*([AB])\s*([<>=])\2{0,2}\s*([AB])\s*\]*|\[\[?([ABC])\]\]?")
# A result as games have it: 1-0, 1/2-1/2, 3:1. The points of the first stand first.
_POINTS = re.compile(r"(\d{1,3}|1/2|½)\s*[-\u2013:]\s*(\d{1,3}|1/2|½)")
_HALVES = ("1/2", "½")
_ROWS_PER_PIECE = 1 << 17


def count_battles(
    table: TableFile,
    columns: BattleColumns,
    rename: Mapping[str, str] | None = None,
    spellings: Spellings = "ask",
) -> tuple[CountedBattles, ReadingNotes]:
    """Count the battles of a table, one piece in memory at a time, and note how it was read."""
    names = [str(name) for name in table.columns]
    roles = roles_of(names, columns)
    tally = Tally(roles, dict(rename or {}), spellings)
    start = 0
    for piece in table.batches(_ROWS_PER_PIECE):
        tally.add(piece, partial(_row_of_piece, table.name_row, start))
        start += piece.num_rows
    notes = _notes(names, roles, start)
    notes = replace(notes, remarks=tally.remarks(names), n_answers=start - tally.n_not_played)
    return tally.counted(spellings), notes.about(table.form)


def _row_of_piece(name_row: RowNamer, start: int, row: int) -> str:
    return name_row(start + row)


def _notes(names: Sequence[str], roles: Roles, n_rows: int) -> ReadingNotes:
    """Note which columns were read."""
    read = {*roles.answers, roles.weight}
    layout = "won and lost" if roles.outcome is None else "battles"
    layout = "points" if roles.points is not None else layout
    return ReadingNotes(
        layout=layout if roles.wins is None else "wins",
        columns=tuple(names[number] for number in roles.answers),
        weights="" if roles.weight is None else names[roles.weight],
        aside=tuple(
            Aside(name, "does not say who won")
            for number, name in enumerate(names)
            if number not in read
        ),
        n_answers=n_rows,
    )


def _verdict(word: str) -> int | None:
    """Return who won by a verdict such as [[A]] or A>>B; None if it is none."""
    found = _VERDICT.fullmatch(word)
    if found is None or (found[1] and found[1] == found[3]):
        return None
    if found[4]:
        return _LETTERS.get(found[4].lower(), _DRAW)
    if found[2] == "=":
        return _DRAW
    return _LETTERS[found[1 if found[2] == ">" else 3].lower()]


def _points(word: str) -> int | None:
    """Return who won by points, as in 1-0 or 3:1; None if these are not points."""
    found = _POINTS.fullmatch(word)
    if found is None:
        return None
    first, second = (0.5 if one in _HALVES else float(one) for one in found.groups())
    if first == second:
        return _DRAW
    return _FIRST_WINS if first > second else _SECOND_WINS


@dataclass(eq=False)
class Tally:
    """Counts while they grow."""

    roles: Roles
    rename: dict[str, str]
    spellings: Spellings = "ask"
    letter: str = ""  # A or B, where the winner is called so and no model is
    result: str = ""  # the first result that is written as points, such as 1-0
    n_not_played: int = 0  # rows without points
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
        roles = self.roles
        piece, name_row = self._played(piece, name_row)
        if piece.num_rows == 0:
            return
        for column in (*roles.answers, *(() if roles.weight is None else (roles.weight,))):
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
        weight = np.ones(len(first))
        if roles.weight is not None:
            weight = _weights(piece.column(roles.weight), name_row)
        rows = np.arange(len(first))
        if roles.points is not None:
            outcome = _outcomes_of_points(piece, roles.points, name_row)
        elif roles.wins is not None:
            outcome, rows, times = _outcomes_of_wins(piece, roles.wins, name_row)
            first, second, weight = first[rows], second[rows], weight[rows] * times
        elif roles.outcome is not None:
            outcome = self._outcomes(piece.column(roles.outcome), first, second, name_row)
        else:
            outcome = np.full(len(first), _FIRST_WINS)
        drawn = outcome == _DRAW
        swapped = outcome == _SECOND_WINS
        first, second = np.where(swapped, second, first), np.where(swapped, first, second)
        self.weights.add(weight)
        self._grow()
        size = len(self.code_of)
        pairs = first * size + second
        n_pairs = size * size
        for table, these in (
            (self.wins, ~drawn),
            (self.wins_of_first, ~(drawn | swapped)),
            (self.draws, drawn),
        ):
            counts = np.bincount(pairs[these], weights=weight[these], minlength=n_pairs)
            np.add(table, counts.reshape(size, size), out=table)
        if roles.judge is not None:
            judge = self._judges(piece.column(roles.judge), name_row)[rows]
            self.pieces.append((judge, first.astype(np.int32), second.astype(np.int32), drawn))
            self.pieces[-1] += (weight, swapped)

    def _played(self, piece: Any, name_row: RowNamer) -> tuple[Any, RowNamer]:
        """Leave out matches without a result, which have not been played."""
        roles = self.roles
        if roles.points is not None:
            empty = [encode(piece.column(column))[0] == ABSENT for column in roles.points]
            open_rows = empty[0] & empty[1]
        elif roles.outcome is not None and can_be_encoded(piece.column(roles.outcome)):
            codes, labels = encode(piece.column(roles.outcome))
            without = [
                code for code, label in enumerate(labels) if plain_word(str(label)) in NOT_PLAYED
            ]
            open_rows = np.isin(codes, [*without, *([ABSENT] if roles.matches else [])])
        else:
            return piece, name_row
        played = np.flatnonzero(~open_rows)
        if len(played) == piece.num_rows:
            return piece, name_row
        self.n_not_played += piece.num_rows - len(played)
        return piece.take(played), lambda row: name_row(int(played[row]))

    def remarks(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return what was made of points, and of rows without them."""
        remarks = []
        if self.result:
            remarks.append(
                f"Results such as {quoted(self.result)} are the points of the two: who has more "
                "wins."
            )
        if self.roles.points is not None:
            first, second = (quoted(names[column]) for column in self.roles.points)
            remarks.append(f"{first} and {second} are the points of the two: who has more wins.")
        if self.n_not_played:
            rows, are = counted(self.n_not_played, "row"), "is" if self.n_not_played == 1 else "are"
            what = "points" if self.roles.points is not None else "a result"
            remarks.append(f"{rows} without {what} {are} left out.")
        return tuple(remarks)

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
            lettered = self.roles.letters and plain_word(word) in _LETTERS
            if meaning is None and number is None and lettered:
                meaning, self.letter = _LETTERS[plain_word(word)], word
            verdict = _verdict(word) if self.roles.letters else None
            if meaning is None and number is None and verdict is not None:
                meaning, self.letter = verdict, word
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
        called = [name for name in self.code_of if self.letter and plain_word(name) in _LETTERS]
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
            winner, two = str(labels[codes[row]]).strip(), (names[first[row]], names[second[row]])
            same = [one for one in two if spelling(one) == spelling(winner)]
            if same and self.spellings == "ask":
                refuse_spellings(names, "model", self.first_seen)
            raise InputError(
                f"{name_row(row)}: the winner is {quoted(winner)}, but the two models are "
                f"{quoted(two[0])} and {quoted(two[1])}",
                [
                    *(use("if they are the same", rename={one: winner}) for one in same),
                    "correct or delete the row",
                ],
            )
        return outcome

    def _meaning(self, word: str) -> int | None:
        normal = plain_word(word)
        if normal in self.roles.first_words:
            return _FIRST_WINS
        if normal in self.roles.second_words:
            return _SECOND_WINS
        return _DRAW if normal in self.roles.drawn_words else None

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


def _outcomes_of_points(piece: Any, points: tuple[int, int], name_row: RowNamer) -> _Integers:
    """Tell of each row who has more points."""
    values = []
    for column in points:
        what = f"the number in column {quoted(piece.column_names[column])}"
        value = numbers(piece.column(column), what, name_row)
        bad = ~np.isfinite(value)
        if bad.any():
            row = int(bad.argmax())
            said = "missing" if np.isnan(value[row]) else "infinite"
            raise InputError(f"{name_row(row)}: {what} is {said}: correct or delete the row")
        values.append(value)
    first, second = values
    decided = np.where(first > second, _FIRST_WINS, _SECOND_WINS)
    return np.where(first == second, _DRAW, decided)


def _outcomes_of_wins(
    piece: Any, wins: tuple[int, ...], name_row: RowNamer
) -> tuple[_Integers, _Integers, _Floats]:
    """Tell the outcomes of rows that count the wins of both, the row of each, and how often."""
    counts = [
        _weights(
            piece.column(one), name_row, f"the number in column {quoted(piece.column_names[one])}"
        )
        for one in wins
    ]
    outcome, rows = np.nonzero(np.array(counts) > 0)
    return outcome, rows, np.array(counts)[outcome, rows]


def _refuse_empty(codes: Codes, what: str, name_row: RowNamer) -> None:
    empty = codes == ABSENT
    if empty.any():
        raise InputError(
            f"{name_row(int(empty.argmax()))}: {what} is missing: fill in the cell, or delete "
            "the row"
        )


def _weights(column: Any, name_row: RowNamer, what: str = "the weight") -> _Floats:
    weight = numbers(column, what, name_row)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(bad.argmax())
        said = "missing" if np.isnan(weight[row]) else f"{weight[row]:g}"
        raise InputError(
            f"{name_row(row)}: {what} is {said}: it must be a finite number of 0 or more"
        )
    return weight
