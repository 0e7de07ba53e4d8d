"""Battles: who won against whom, counted; nothing depends on how many battles there were."""

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
from tierwise.files.battles import (
    BattleColumns,
    BattleVotes,
    CountedBattles,
    ShownFirst,
    count_battles,
    have_columns_of_battles,
)
from tierwise.files.source import errors_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

    from tierwise.data.frames import Backend
    from tierwise.files.options import ReadingNotes
    from tierwise.files.spellings import Spellings
    from tierwise.files.table_file import TableFile

Resampling: TypeAlias = Literal["auto", "battle", "judge"]
"""What is drawn again: battles, or judges with all that they decided."""
DrawnAs: TypeAlias = Literal["half", "drop", "model"]
"""Whether a drawn battle counts half to each side, not at all, or is an outcome of its own."""
Position: TypeAlias = Literal["ignore", "model"]
"""Whether being shown first may help an item: not considered, or estimated."""


# Outcomes of a battle, in this order: the first won, the second won, they drew.
_WON_SECOND, _DRAWN = 1, 2
_DRAWN_IN_WORDS = {
    "half": "half to each side",
    "drop": "left out",
    "model": "an outcome of their own",
}


@dataclass(frozen=True, eq=False, repr=False)
class Battles:
    """Battles between two items each, counted; they never change, and they add.

    Attributes
    ----------
    items : tuple of str
        The items, in the order of their names.
    decided : numpy.ndarray
        ``decided[a, b]`` says how often ``a`` won against ``b``.
    drawn : numpy.ndarray
        ``drawn[a, b]`` says how often the two drew; the table is symmetric.
    drawn_as : {"half", "drop", "model"}
        Whether a drawn battle counts half to each side, not at all, or is an outcome of its own,
        whose probability is estimated (Davidson's model; with worths alone).
    votes : BattleVotes or None
        The same by judge, where it is known who judged.
    reading : ReadingNotes or None
        How a table was understood, where the battles were read from one.
    design_effect : float or None
        How many battles say as much as one independent battle: because judges decided several
        each, which models estimate, or because of weights of a survey. ``wins`` are divided by it.
        None where battles count as they are.
    shown : ShownFirst or None
        The same by who was shown first, where that is known.
    position : {"ignore", "model"}
        Whether it is estimated how much it helps an item to be shown first (with worths alone).
    n_rows : int or None
        How many battles there are, where these have weights of a survey.

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

    # Whether pairs of items were compared, the one distance there is for them, if only one, and the
    # families of models.
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
                f"there is only one model, {quoted(self.items[0])}: a battle takes two"
                if self.items
                else "there are no battles: give at least one"
            )
        for name in ("decided", "drawn"):
            table = getattr(self, name)
            check_counts(name, table, (len(self.items),) * 2)
            if table.diagonal().any():
                item = self.items[int(np.argmax(table.diagonal()))]
                raise InputError(f"{quoted(item)} is compared with itself: a battle takes two")
        if not np.array_equal(self.drawn, self.drawn.T):
            raise InputError("drawn must be symmetric: who drew with whom has no order")
        if self.position == "model" and self.shown is None:
            raise InputError(
                "it is not known who was shown first, so the advantage of the first place cannot "
                "be estimated: give the two models in two columns, in the order shown",
                [use("to leave it out", position="ignore")],
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
        """Take battles as they were counted from a file."""
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
        """Make battles of rows (first, second, winner), or (first, second, winner, judge).

        Parameters
        ----------
        rows
            One battle each, the item that was shown first before the other; the winner is one of
            the two, or "tie".
        drawn, position, spellings
            As for `read_battles`.
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
        judge: str | None = None,
        weights: str | None = None,
        weights_are: WeightsAre | None = None,
        drawn: DrawnAs = "half",
        position: Position = "ignore",
        rename: Mapping[str, str] | None = None,
        spellings: Spellings = "ask",
    ) -> Battles:
        """Take battles as the readers of tables give them; options are as for `read_battles`."""
        check_choice("drawn", drawn, get_args(DrawnAs))
        check_choice("position", position, get_args(Position))
        columns = BattleColumns(
            first=first, second=second, winner=winner, loser=loser, judge=judge, weight=weights
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

        What is estimated of draws and of the first place goes with worths: with a theta, battles
        are won or lost.
        """
        return ("luce",) if "model" in (self.drawn_as, self.position) else ("mallows", "luce")

    @property
    def wins(self) -> NDArray[np.float64]:
        """``wins[a, b]``: battles that ``a`` won against ``b``, and half of those that were drawn.

        Without the drawn ones where ``drawn_as`` is "drop"; divided by ``design_effect``, if any.
        """
        wins = self.decided if self.drawn_as == "drop" else self.decided + self.drawn / 2
        return wins if self.design_effect is None else wins / self.design_effect

    @property
    def pair_counts(self) -> NDArray[np.float64]:
        """The same: how often each item is put above each other."""
        return self.wins

    @property
    def n_answers_of_items(self) -> NDArray[np.float64]:
        """In how many battles each item is."""
        met = self.pair_counts + self.pair_counts.T
        return np.asarray(met.sum(axis=0))

    @property
    def n_battles(self) -> float:
        """Number of battles that count; the sum of their weights."""
        total = float(self.wins.sum())
        if self.n_rows is not None:
            return EffectiveNumber(total, self.n_rows, unit="battle")
        if self.design_effect is None or self.votes is None:
            return total
        n_battles = round(total * self.design_effect)
        return EffectiveNumber(total, n_battles, len(self.votes.judges))

    @property
    def n_rankings(self) -> float:
        """The same: each battle is an answer of its own."""
        return self.n_battles

    @property
    def n_drawn(self) -> float:
        """Number of drawn battles, whether they count or not."""
        return float(self.drawn.sum()) / 2

    @property
    def n_judges(self) -> int | None:
        """Number of judges; None where it is not known who judged."""
        return None if self.votes is None else len(self.votes.judges)

    @property
    def composite(self) -> bool:
        """Whether some judge decided several battles.

        These depend on each other under the model. To take them as independent is a composite
        likelihood: estimates are right, but intervals are too narrow if judges differ, and the
        bootstrap over judges is the remedy.
        """
        if self.votes is None:
            return False
        per_judge = np.bincount(self.votes.judge, weights=self.votes.weight)
        return bool((per_judge > 1).any())

    def with_drawn(self, drawn: DrawnAs) -> Battles:
        """Return the same battles, drawn ones counting in another way; see ``drawn_as``."""
        return replace(self, drawn_as=drawn)

    def with_position(self, position: Position) -> Battles:
        """Return the same battles, the first place being estimated, or ignored.

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
        """Return what is drawn again: judges where they decide several battles each, if "auto"."""
        if unit == "auto":
            return "judge" if self.composite else "battle"
        return unit

    @property
    def can_be_resampled(self) -> bool:
        """Whether it is known what to draw: judges, or battles by whole weights."""
        counts = (self.decided, self.drawn)
        whole = all(bool((one == np.round(one)).all()) for one in counts)
        return whole or self.unit_of_resampling() == "judge"

    def resampled(self, rng: np.random.Generator, *, unit: Resampling = "auto") -> Battles:
        """Draw as many battles, or judges with all their battles, with replacement.

        Parameters
        ----------
        rng
            Generator.
        unit
            What is drawn; "auto" draws judges where they decide several battles each. Weights that
            are no whole numbers need judges.
        """
        draw = draw_judges if self.unit_of_resampling(unit) == "judge" else draw_battles
        decided, drawn, shown = draw(self, rng)
        return replace(self, decided=decided, drawn=drawn, votes=None, reading=None, shown=shown)

    def __add__(self, other: Battles) -> Battles:
        """Add battles; items, and judges by their names, may be new."""
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

        Judges do not matter, nor does who was shown first unless that is estimated.
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

    def in_words(self) -> str:
        """Say how many battles there are, of how many items, by how many judges."""
        total = float(self.decided.sum()) + self.n_drawn
        battles = counted(_whole(total), "battle")
        if self.n_rows is not None:
            battles = answers_in_words(self.n_battles)
        text = f"{battles} of {counted(len(self.items), 'item')}"
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
        """Return the battles as a data frame, each distinct one once with its weight.

        Its columns are those that `read_battles` knows.
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

        An update then reads what is new and adds it: ``read_battles("counts.parquet") +
        read_battles("today.csv")``. A .parquet file also says how draws and the first place count.
        """
        import pyarrow as pa
        from pyarrow import csv, parquet

        wanted = check_path(path)
        suffix = wanted.suffix.lower()
        if suffix not in (".csv", ".parquet"):
            raise InputError(
                f"battles are saved as .csv or .parquet, not as {quoted(wanted.name)}: choose one "
                "of these endings"
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
        """Read what `save` wrote.

        Parameters
        ----------
        path
            The file.
        drawn, position
            How draws and the first place count; as when they were saved if not given. A .csv file
            does not say: there draws count half, and the first place does not matter.
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

    Tables of counts often have the winner first, or each two models in the order of their names.
    """
    if battles.position == "ignore" or battles.shown is None:
        return
    order = ""
    met = battles._cells.sum(axis=0)
    if not np.tril(met).any() or not np.triu(met).any():
        order = "in every battle the two models are in the order of their names"
    if battles.decided.any() and np.array_equal(battles.shown.won, battles.decided):
        order = "the model in the first column won every battle"
    if order:
        raise InputError(
            f"{order}, so the columns do not seem to say who was shown first",
            [use("to leave it out", position="ignore")],
        )


def _same_order(one: ShownFirst | None, other: ShownFirst | None) -> bool:
    """Whether two battles know the same about who was shown first."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one.won, other.won) and np.array_equal(one.drawn, other.drawn)


def _whole(number: float) -> float:
    return int(number) if number == int(number) else number
