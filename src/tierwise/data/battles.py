"""Battles: counts of who beat whom, whose size does not depend on the number of battles."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from tierwise._util.cards import Card
from tierwise._util.checks import check_choice, check_counts, check_iterable, check_path
from tierwise._util.provenance import digest, names_of
from tierwise._util.resources import whole_file
from tierwise._util.types import WeightsAre
from tierwise.data.frames import make_frame
from tierwise.data.joining import joined_battles
from tierwise.data.resampling import draw_battles, draw_judges
from tierwise.data.scores import not_battles
from tierwise.data.showing import how_read
from tierwise.data.tables import open_frame, open_table
from tierwise.data.weights import EffectiveNumber, answers_in_words
from tierwise.errors import InputError, counted, quoted, use
from tierwise.files.battle_columns import BattleColumns, have_columns_of_battles
from tierwise.files.battles import count_battles
from tierwise.files.source import errors_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

    from tierwise.data.frames import Backend
    from tierwise.files.battle_counts import BattleVotes, CountedBattles, ShownFirst
    from tierwise.files.options import ReadingNotes
    from tierwise.files.spellings import Spellings
    from tierwise.files.table_file import TableFile

Resampling: TypeAlias = Literal["auto", "battle", "judge"]
"""The unit of resampling: battles, or judges with all their battles."""
DrawnAs: TypeAlias = Literal["half", "drop", "model"]
"""How a drawn battle counts: half to each side, not at all, or as a separate outcome."""
Position: TypeAlias = Literal["ignore", "model"]
"""Whether the advantage of being shown first is ignored or estimated."""


# Outcomes of a battle, in this order: the first won, the second won, they drew.
_WON_SECOND, _DRAWN = 1, 2
_DRAWN_IN_WORDS = {
    "half": "half to each side",
    "drop": "left out",
    "model": "a separate outcome",
}


@dataclass(frozen=True, eq=False, repr=False)
class Battles:
    """Counts of battles between two items. They are immutable and can be added.

    Attributes
    ----------
    items : tuple of str
        The items, in the order of their names.
    decided : numpy.ndarray
        ``decided[a, b]`` is how often ``a`` beat ``b``.
    drawn : numpy.ndarray
        ``drawn[a, b]`` is how often the two drew; the table is symmetric.
    drawn_as : {"half", "drop", "model"}
        How a drawn battle counts: half to each side, not at all, or as a separate outcome whose
        probability is estimated (Davidson's model; only with worths).
    votes : BattleVotes or None
        The same counts by judge, if the judges are known.
    reading : ReadingNotes or None
        How the table was read, if the battles come from one.
    design_effect : float or None
        How many battles carry as much information as one independent battle: because judges decided
        several each (models estimate this), or because of survey weights. ``wins`` are divided by
        it. None if battles are not scaled.
    shown : ShownFirst or None
        The same counts by who was shown first, if that is known.
    position : {"ignore", "model"}
        Whether the advantage of being shown first is estimated (only with worths).
    n_rows : int or None
        The number of battles, if they have survey weights.

    Examples
    --------
    >>> battles = Battles.from_rows([("x", "y", "x"), ("y", "z", "tie"), ("x", "z", "x")])
    >>> battles
    Battles(3 battles of 3 items, 1 drawn: half to each side)
    >>> battles.wins
    array([[0. , 1. , 1. ],
           [0. , 0. , 0.5],
           [0. , 0.5, 0. ]])
    """

    # What the data are called, whether pairs of items were compared, the one distance there is for
    # them, if only one, and the families of models.
    kind: ClassVar[str] = "battles"
    pairwise: ClassVar[bool] = True
    only_distance: ClassVar[str | None] = "inversions"
    unit: ClassVar[str] = "battles"

    items: tuple[str, ...]
    decided: NDArray[np.float64]
    drawn: NDArray[np.float64]
    drawn_as: DrawnAs = "half"
    votes: BattleVotes | None = None
    reading: ReadingNotes | None = None
    design_effect: float | None = None
    shown: ShownFirst | None = None
    position: Position = "ignore"
    n_rows: int | None = None

    def __post_init__(self) -> None:
        check_choice("drawn", self.drawn_as, get_args(DrawnAs))
        check_choice("position", self.position, get_args(Position))
        if len(self.items) < 2:
            raise InputError(
                f"there is only one model, {quoted(self.items[0])}: a battle needs two items"
                if self.items
                else "there are no battles: give at least one"
            )
        for name in ("decided", "drawn"):
            table = getattr(self, name)
            check_counts(name, table, (len(self.items),) * 2)
            if table.diagonal().any():
                item = self.items[int(np.argmax(table.diagonal()))]
                raise InputError(
                    f"{quoted(item)} is compared with itself: a battle needs two items"
                )
        if not np.array_equal(self.drawn, self.drawn.T):
            raise InputError("drawn must be symmetric: a draw has no order")
        if self.position == "model" and self.shown is None:
            raise InputError(
                "it is not known who was shown first, so the advantage of the first place "
                "cannot be estimated: give the two models in two columns, in the order "
                "shown",
                [use("to ignore it", position="ignore")],
            )
        self.decided.flags.writeable = False
        self.drawn.flags.writeable = False

    @classmethod
    def from_counted(
        cls,
        counts: CountedBattles,
        drawn: DrawnAs = "half",
        position: Position = "ignore",
        weights_are: WeightsAre | None = None,
    ) -> Battles:
        """Make battles from the counts of a file."""
        battles = cls(
            counts.items,
            counts.wins,
            counts.draws,
            drawn,
            counts.votes,
            shown=counts.shown,
            position=position,
        )
        weights = counts.weights
        # Where judges repeat, models find the effective number from what these said.
        if weights is None or weights_are == "counts" or battles.composite:
            return battles
        if weights_are is None and weights.are_counts:
            return battles
        effect = weights.squares / weights.total
        return replace(battles, design_effect=effect, n_rows=weights.n_rows)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Sequence[Any]],
        *,
        drawn: DrawnAs = "half",
        position: Position = "ignore",
        spellings: Spellings = "ask",
    ) -> Battles:
        """Make battles from rows (first, second, winner) or (first, second, winner, judge).

        Parameters
        ----------
        rows
            One battle per row, with the item that was shown first in front. The winner is one of
            the two, or "tie".
        drawn, position, spellings
            As in `read_battles`.
        """
        import pyarrow as pa

        given = [tuple(row) for row in check_iterable("rows", rows, "battles")]
        lengths = {len(row) for row in given}
        if not given or not lengths <= {3, 4} or len(lengths) > 1:
            wrong = next((row for row in given if len(row) not in (3, 4)), given[:1])
            raise InputError(
                "rows must be battles (first, second, winner), all with or all without a judge; "
                f"got {quoted(wrong)}"
            )
        names = ("first", "second", "winner", "judge")[: lengths.pop()]
        table = pa.table(
            {
                name: [str(cell) if cell is not None else None for cell in column]
                for name, column in zip(names, zip(*given, strict=True), strict=True)
            }
        )
        battles = cls.from_table(
            open_frame(table), drawn=drawn, position=position, spellings=spellings
        )
        return replace(battles, reading=None)

    @classmethod
    def from_table(
        cls,
        table: TableFile,
        *,
        first: str | None = None,
        second: str | None = None,
        winner: str | None = None,
        loser: str | None = None,
        points: tuple[str, str] | None = None,
        judge: str | None = None,
        weights: str | None = None,
        weights_are: WeightsAre | None = None,
        drawn: DrawnAs = "half",
        position: Position = "ignore",
        rename: Mapping[str, str] | None = None,
        spellings: Spellings = "ask",
    ) -> Battles:
        """Make battles from a table; options as in `read_battles`."""
        check_choice("drawn", drawn, get_args(DrawnAs))
        check_choice("position", position, get_args(Position))
        columns = BattleColumns(
            first=first,
            second=second,
            winner=winner,
            loser=loser,
            points=points,
            judge=judge,
            weight=weights,
        )
        if columns == BattleColumns() and not have_columns_of_battles(table.columns):
            other = not_battles(table)
            if other is not None:
                raise other
        counted_battles, notes = count_battles(table, columns, rename, spellings)
        if weights_are is not None:
            check_choice("weights_are", weights_are, get_args(WeightsAre))
        battles = cls.from_counted(counted_battles, drawn, position, weights_are)
        _refuse_columns_without_order(battles)
        return replace(battles, reading=notes)

    @property
    def families(self) -> tuple[str, ...]:
        """The families of models that can be fitted.

        Only models with worths estimate draws and the advantage of the first place; with theta, a
        battle is won or lost.
        """
        return ("luce",) if "model" in (self.drawn_as, self.position) else ("mallows", "luce")

    @property
    def wins(self) -> NDArray[np.float64]:
        """``wins[a, b]``: battles that ``a`` won against ``b``, plus half of the drawn ones.

        Drawn battles do not count if ``drawn_as`` is "drop". The counts are divided by
        ``design_effect``, if any.
        """
        wins = self.decided if self.drawn_as == "drop" else self.decided + self.drawn / 2
        return wins if self.design_effect is None else wins / self.design_effect

    @property
    def pair_counts(self) -> NDArray[np.float64]:
        """The same as ``wins``: how often each item is put above each other."""
        return self.wins

    @property
    def n_answers_of_items(self) -> NDArray[np.float64]:
        """The number of battles of each item."""
        met = self.pair_counts + self.pair_counts.T
        return np.asarray(met.sum(axis=0))

    @property
    def n_battles(self) -> float:
        """The number of battles that count: the sum of their weights."""
        total = float(self.wins.sum())
        if self.n_rows is not None:
            return EffectiveNumber(total, self.n_rows, unit="battle")
        if self.design_effect is None or self.votes is None:
            return total
        n_battles = round(total * self.design_effect)
        return EffectiveNumber(total, n_battles, len(self.votes.judges))

    @property
    def n_rankings(self) -> float:
        """The same as ``n_battles``: each battle is one answer."""
        return self.n_battles

    @property
    def n_drawn(self) -> float:
        """The number of drawn battles, whether they count or not."""
        return float(self.drawn.sum()) / 2

    @property
    def n_judges(self) -> int | None:
        """The number of judges; None if the judges are not known."""
        return None if self.votes is None else len(self.votes.judges)

    @property
    def composite(self) -> bool:
        """Whether any judge decided several battles.

        Battles of one judge are dependent under the model. Treating them as independent gives a
        composite likelihood: estimates are right, but intervals are too narrow if judges differ.
        The remedy is to bootstrap judges.
        """
        if self.votes is None:
            return False
        per_judge = np.bincount(self.votes.judge, weights=self.votes.weight)
        return bool((per_judge > 1).any())

    def with_drawn(self, drawn: DrawnAs) -> Battles:
        """Return the same battles with drawn ones counted in another way; see ``drawn_as``."""
        return replace(self, drawn_as=drawn)

    def with_position(self, position: Position) -> Battles:
        """Return the same battles, with the advantage of the first place estimated or ignored.

        Examples
        --------
        >>> rows = [("x", "y", "x"), ("y", "x", "x"), ("x", "y", "y")]
        >>> Battles.from_rows(rows).with_position("model")
        Battles(3 battles of 2 items, advantage of the first place estimated)
        """
        battles = replace(self, position=position)
        _refuse_columns_without_order(battles)
        return battles

    def unit_of_resampling(self, unit: Resampling = "auto") -> Literal["battle", "judge"]:
        """Return the unit of resampling; "auto" is judges if they decide several battles each."""
        if unit == "auto":
            return "judge" if self.composite else "battle"
        return unit

    @property
    def can_be_resampled(self) -> bool:
        """Whether battles can be resampled: judges are known, or weights are whole numbers."""
        counts = (self.decided, self.drawn)
        whole = all(bool((one == np.round(one)).all()) for one in counts)
        return whole or self.unit_of_resampling() == "judge"

    def resampled(self, rng: np.random.Generator, *, unit: Resampling = "auto") -> Battles:
        """Resample battles, or judges with all their battles, with replacement.

        Parameters
        ----------
        rng
            Generator.
        unit
            What to resample; "auto" draws judges if they decide several battles each. Weights that
            are not whole numbers need judges.
        """
        draw = draw_judges if self.unit_of_resampling(unit) == "judge" else draw_battles
        decided, drawn, shown = draw(self, rng)
        return replace(self, decided=decided, drawn=drawn, votes=None, reading=None, shown=shown)

    def __add__(self, other: Battles) -> Battles:
        """Add battles; they may have other items and judges."""
        if not isinstance(other, Battles):
            return NotImplemented
        return Battles(**joined_battles(self, other))

    def fingerprint(self) -> str:
        """Return a sha256 hex digest of all that a likelihood depends on.

        Examples
        --------
        >>> one = Battles.from_rows([("x", "y", "x"), ("y", "x", "tie")])
        >>> other = Battles.from_rows([("x", "y", "tie"), ("y", "x", "x")])
        >>> one.fingerprint() == other.fingerprint()
        True
        """
        modelled: list[object] = []
        if self.drawn_as == "model":
            modelled.append(self.drawn)
        if self.position == "model" and self.shown is not None:
            modelled += [self.shown.won, self.shown.drawn]
        return digest("battles", names_of(self.items), self.wins, *modelled)

    def __eq__(self, other: object) -> bool:
        """Compare items and all counts.

        Judges do not matter. Who was shown first matters only if that is estimated.
        """
        if not isinstance(other, Battles):
            return NotImplemented
        return (
            self.items == other.items
            and self.drawn_as == other.drawn_as
            and self.position == other.position
            and np.array_equal(self.decided, other.decided)
            and np.array_equal(self.drawn, other.drawn)
            and (self.position == "ignore" or _same_order(self.shown, other.shown))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Battles({self.in_words()})"

    @property
    def n_given(self) -> int:
        """Number of battles, drawn ones included."""
        return int(self.decided.sum() + self.n_drawn)

    def as_read(self) -> str:
        """Say what was read, as the beginning of a sentence."""
        return f"{self.in_words()},"

    def in_words(self) -> str:
        """Return the number of battles, items and judges in words."""
        about = f" of {counted(len(self.items), 'item')}"
        if self.n_rows is not None:
            text = answers_in_words(self.n_battles, about=about)
        else:
            total = float(self.decided.sum()) + self.n_drawn
            text = counted(_whole(total), "battle") + about
        if self.n_drawn:
            text += f", {_whole(self.n_drawn):,} drawn: {_DRAWN_IN_WORDS[self.drawn_as]}"
        if self.position == "model":
            text += ", advantage of the first place estimated"
        if self.votes is not None:
            text += f", by {counted(len(self.votes.judges), 'judge')}"
        return text

    def _repr_html_(self) -> str:
        """Show how many battles there are, and how they were read, in a notebook."""
        return Card(self.in_words(), note=how_read(self.reading)).to_html()

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return the battles as a data frame, each distinct battle once with its weight.

        `read_battles` reads its columns.
        """
        return make_frame(self._columns(), backend)

    def _columns(self) -> dict[str, Any]:
        names = np.array(self.items, dtype=object)
        judges = None
        if self.votes is not None:
            votes = self.votes
            outcome = np.where(votes.drawn, _DRAWN, votes.won_second.astype(np.int64))
            swapped = outcome == _WON_SECOND
            first = np.where(swapped, votes.second, votes.first)
            second = np.where(swapped, votes.first, votes.second)
            weight, judges = votes.weight, np.array(votes.judges, dtype=object)[votes.judge]
        else:
            outcome, first, second = np.nonzero(self._cells)
            weight = self._cells[outcome, first, second]
        if self.n_rows is not None and self.design_effect is not None:
            # Sums of weights do not say how many there were: what they count as is written.
            weight = weight / self.design_effect
        # Other names of columns say that their order means nothing.
        one, other = ("one", "other") if self.shown is None else ("model_a", "model_b")
        columns = {
            one: names[first].tolist(),
            other: names[second].tolist(),
            "winner": np.array([one, other, "tie"], dtype=object)[outcome].tolist(),
            "weight": weight,
        }
        if (weight == np.round(weight)).all():
            columns["weight"] = weight.astype(np.int64)
        return columns if judges is None else {**columns, "judge": judges.tolist()}

    @property
    def _cells(self) -> NDArray[np.float64]:
        """``[outcome, first, second]``: the first won, the second won, or they drew.

        Where it is not known who was shown first, the winner is the first.
        """
        shown = self.shown
        if shown is None:
            nobody = np.zeros_like(self.decided)
            return np.stack([self.decided, nobody, np.triu(self.drawn, k=1)])
        return np.stack([shown.won, (self.decided - shown.won).T, shown.drawn])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the counts to a file, .csv or .parquet, which `read_battles` reads.

        An update reads only the new battles and adds them: ``read_battles("counts.parquet") +
        read_battles("today.csv")``. A .parquet file also stores how draws and the first place
        count.
        """
        import pyarrow as pa
        from pyarrow import csv, parquet

        wanted = check_path(path)
        suffix = wanted.suffix.lower()
        if suffix not in (".csv", ".parquet"):
            raise InputError(
                f"battles can be saved as .csv or .parquet, not as {quoted(wanted.name)}: "
                "choose one of these extensions"
            )
        table = pa.table(self._columns())
        with whole_file(wanted) as partial:
            if suffix == ".csv":
                csv.write_csv(table, str(partial))
            else:
                settings = json.dumps({"drawn": self.drawn_as, "position": self.position})
                table = table.replace_schema_metadata({_SETTINGS: settings})
                parquet.write_table(table, str(partial), compression="zstd")

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        drawn: DrawnAs | None = None,
        position: Position | None = None,
    ) -> Battles:
        """Read a file that `save` wrote.

        Parameters
        ----------
        path
            The file.
        drawn, position
            How draws and the first place count; as saved if not given. A .csv file does not store
            this: draws then count half, and the first place does not matter.
        """
        settings = _saved_settings(check_path(path))
        name, table = open_table(path)
        with errors_name(name):
            return cls.from_table(
                table,
                drawn=drawn or settings.get("drawn", "half"),
                position=position or settings.get("position", "ignore"),
                spellings="keep",
                weights_are="counts",
            )


# What the metadata of a .parquet file call how battles count.
_SETTINGS = "tierwise"


def _saved_settings(path: Path) -> dict[str, Any]:
    """Return how battles that were saved count; nothing for files that do not say."""
    from pyarrow import ArrowInvalid, parquet

    if path.suffix.lower() != ".parquet":
        return {}
    try:
        metadata = parquet.read_schema(str(path)).metadata or {}
    except (OSError, ArrowInvalid):  # reading says what is wrong with the file
        return {}
    try:
        settings = json.loads(metadata.get(_SETTINGS.encode(), b"{}"))
    except ValueError:
        return {}
    return settings if isinstance(settings, dict) else {}


def _refuse_columns_without_order(battles: Battles) -> None:
    """Refuse to estimate an advantage of the first place where columns have another order.

    Tables of counts often have the winner first, or each pair of models in alphabetical order.
    """
    if battles.position == "ignore" or battles.shown is None:
        return
    order = ""
    met = battles._cells.sum(axis=0)
    if not np.tril(met).any() or not np.triu(met).any():
        order = "in every battle the two models are in alphabetical order"
    if battles.decided.any() and np.array_equal(battles.shown.won, battles.decided):
        order = "the model in the first column won every battle"
    if order:
        raise InputError(
            f"{order}, so the columns do not seem to say who was shown first",
            [use("to ignore it", position="ignore")],
        )


def _same_order(one: ShownFirst | None, other: ShownFirst | None) -> bool:
    """Whether two battles know the same about who was shown first."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one.won, other.won) and np.array_equal(one.drawn, other.drawn)


def _whole(number: float) -> float:
    return int(number) if number == int(number) else number
