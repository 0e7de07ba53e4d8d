"""Battles: who won against whom, counted; nothing depends on how many battles there were."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from tierwise._util.cards import Card
from tierwise._util.checks import check_choice, check_counts, check_iterable, check_path
from tierwise._util.provenance import digest, names_of
from tierwise._util.resources import whole_file
from tierwise.data.frames import make_frame
from tierwise.data.scores import not_battles
from tierwise.data.showing import how_read
from tierwise.data.tables import open_frame, open_table
from tierwise.data.weights import EffectiveNumber
from tierwise.errors import InputError, counted, quoted
from tierwise.files.battles import (
    BattleColumns,
    BattleVotes,
    CountedBattles,
    condensed_votes,
    count_battles,
    have_columns_of_battles,
)
from tierwise.files.source import errors_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from tierwise.data.frames import Backend
    from tierwise.data.tables import DataSource
    from tierwise.files.battles import Spellings
    from tierwise.files.options import ReadingNotes
    from tierwise.files.table_file import TableFile

Resampling: TypeAlias = Literal["auto", "battle", "judge"]
"""What is drawn anew: battles, or judges with all that they decided."""
DrawnAs: TypeAlias = Literal["half", "drop"]
"""Whether a drawn battle counts half to each side, or not at all."""


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
    drawn_as : {"half", "drop"}
        Whether a drawn battle counts half to each side, or not at all.
    votes : BattleVotes or None
        The same by judge, where it is known who judged.
    reading : ReadingNotes or None
        How a table was understood, where the battles were read from one.
    design_effect : float or None
        How many battles say as much as one independent battle, because judges decided several
        each; models estimate it, and divide ``wins`` by it. None where battles count as they are.

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
    families: ClassVar[tuple[str, ...]] = ("mallows", "luce")

    items: tuple[str, ...]
    decided: NDArray[np.float64]
    drawn: NDArray[np.float64]
    drawn_as: DrawnAs = "half"
    votes: BattleVotes | None = None
    reading: ReadingNotes | None = None
    design_effect: float | None = None

    def __post_init__(self) -> None:
        check_choice("drawn", self.drawn_as, get_args(DrawnAs))
        if len(self.items) < 2:
            raise InputError(
                f"there is one model only, {quoted(self.items[0])}: a battle takes two"
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
        self.decided.flags.writeable = False
        self.drawn.flags.writeable = False

    @classmethod
    def from_counted(cls, counts: CountedBattles, drawn: DrawnAs = "half") -> Battles:
        """Take battles as they were counted from a file."""
        return cls(counts.items, counts.wins, counts.draws, drawn, counts.votes)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Sequence[Any]],
        *,
        drawn: DrawnAs = "half",
        spellings: Spellings = "ask",
    ) -> Battles:
        """Make battles of rows (one, other, winner), or (one, other, winner, judge).

        Parameters
        ----------
        rows
            One battle each; the winner is one of the two, or "tie".
        drawn, spellings
            As for `read_battles`.
        """
        import pyarrow as pa

        given = [tuple(row) for row in check_iterable("rows", rows, "battles")]
        lengths = {len(row) for row in given}
        if not given or not lengths <= {3, 4} or len(lengths) > 1:
            wrong = next((row for row in given if len(row) not in (3, 4)), given[:1])
            raise InputError(
                f"rows must be battles (one, other, winner), all with or all without a judge; got "
                f"{quoted(wrong)}"
            )
        names = ("first", "second", "winner", "judge")[: lengths.pop()]
        table = pa.table(
            {
                name: [str(cell) if cell is not None else None for cell in column]
                for name, column in zip(names, zip(*given, strict=True), strict=True)
            }
        )
        battles = cls.from_table(open_frame(table), drawn=drawn, spellings=spellings)
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
        drawn: DrawnAs = "half",
        rename: Mapping[str, str] | None = None,
        spellings: Spellings = "ask",
    ) -> Battles:
        """Take battles as the readers of tables give them; options are as for `read_battles`."""
        check_choice("drawn", drawn, get_args(DrawnAs))
        columns = BattleColumns(
            first=first, second=second, winner=winner, loser=loser, judge=judge, weight=weights
        )
        if columns == BattleColumns() and not have_columns_of_battles(table.columns):
            other = not_battles(table)
            if other is not None:
                raise other
        counted_battles, notes = count_battles(table, columns, rename, spellings)
        return replace(cls.from_counted(counted_battles, drawn), reading=notes)

    @property
    def wins(self) -> NDArray[np.float64]:
        """``wins[a, b]``: battles that ``a`` won against ``b``, and half of those that were drawn.

        Without the drawn ones where ``drawn_as`` is "drop"; divided by ``design_effect``, if any.
        """
        wins = self.decided + self.drawn / 2 if self.drawn_as == "half" else self.decided
        return wins if self.design_effect is None else wins / self.design_effect

    @property
    def pair_counts(self) -> NDArray[np.float64]:
        """The same: how often each item is put above each other."""
        return self.wins

    @property
    def n_battles(self) -> float:
        """Number of battles that count; the sum of their weights."""
        total = float(self.wins.sum())
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
        """Return the same battles, drawn ones counting half to each side, or not at all."""
        return replace(self, drawn_as=drawn)

    def unit_of_resampling(self, unit: Resampling = "auto") -> Literal["battle", "judge"]:
        """Return what is drawn anew: judges where they decide several battles each, if "auto"."""
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
        if self.unit_of_resampling(unit) == "judge":
            return self._resampled_judges(rng)
        upper = np.triu(self.drawn, k=1)
        weights = np.concatenate([self.decided.ravel(), upper.ravel()])
        if (weights != np.round(weights)).any():
            raise InputError(
                "the weights are not whole numbers, so they do not say how many battles there "
                "were: draw judges, or give whole weights"
            )
        total = weights.sum()
        drawn = rng.multinomial(int(total), weights / total).astype(np.float64)
        size = len(self.items)
        decided, upper = drawn.reshape(2, size, size)
        return Battles(
            self.items, decided, upper + upper.T, self.drawn_as, design_effect=self.design_effect
        )

    def _resampled_judges(self, rng: np.random.Generator) -> Battles:
        votes = self.votes
        if votes is None:
            raise InputError("it is not known who judged: read the battles with their judges")
        n_judges = len(votes.judges)
        times = np.bincount(rng.integers(n_judges, size=n_judges), minlength=n_judges)
        size = len(self.items)
        weights = votes.weight * times[votes.judge]
        pairs = votes.first * size + votes.second
        tables = [
            np.bincount(pairs[these], weights=weights[these], minlength=size * size).astype(
                np.float64
            )
            for these in (~votes.drawn, votes.drawn)
        ]
        decided, one_way = (table.reshape(size, size) for table in tables)
        return Battles(
            self.items,
            decided,
            one_way + one_way.T,
            self.drawn_as,
            design_effect=self.design_effect,
        )

    def __add__(self, other: Battles) -> Battles:
        """Add battles; items, and judges by their names, may be new."""
        if not isinstance(other, Battles):
            return NotImplemented
        if self.drawn_as != other.drawn_as:
            raise InputError(
                f'drawn battles count as "{self.drawn_as}" here and as "{other.drawn_as}" there: '
                "make them count in the same way with with_drawn before adding"
            )
        if (self.votes is None) != (other.votes is None):
            raise InputError(
                "it is known who judged some of these battles but not the others: read all of them "
                "with their judges, or none"
            )
        items = tuple(sorted({*self.items, *other.items}))
        number_of = {item: number for number, item in enumerate(items)}
        tables = np.zeros((2, len(items), len(items)))
        for part in (self, other):
            places = np.array([number_of[item] for item in part.items])
            tables[0][np.ix_(places, places)] += part.decided
            tables[1][np.ix_(places, places)] += part.drawn
        return Battles(
            items, tables[0], tables[1], self.drawn_as, _joined_votes(self, other, number_of)
        )

    def fingerprint(self) -> str:
        """Return a sha256 hex digest of all that a likelihood depends on.

        Examples
        --------
        >>> one = Battles.from_rows([("x", "y", "x"), ("y", "x", "tie")])
        >>> other = Battles.from_rows([("x", "y", "tie"), ("y", "x", "x")])
        >>> one.fingerprint() == other.fingerprint()
        True
        """
        return digest("battles", names_of(self.items), self.wins)

    def __eq__(self, other: object) -> bool:
        """Compare items and all counts; judges do not matter."""
        if not isinstance(other, Battles):
            return NotImplemented
        return (
            self.items == other.items
            and self.drawn_as == other.drawn_as
            and np.array_equal(self.decided, other.decided)
            and np.array_equal(self.drawn, other.drawn)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Battles({self.in_words()})"

    def in_words(self) -> str:
        """Say how many battles there are, of how many items, by how many judges."""
        total = float(self.decided.sum()) + self.n_drawn
        text = f"{counted(_whole(total), 'battle')} of {counted(len(self.items), 'item')}"
        if self.n_drawn:
            how = "half to each side" if self.drawn_as == "half" else "left out"
            text += f", {_whole(self.n_drawn):,} drawn: {how}"
        if self.votes is not None:
            text += f", by {counted(len(self.votes.judges), 'judge')}"
        return text

    def _repr_html_(self) -> str:
        """Show how many battles there are, and how they were read, in a notebook."""
        return Card(repr(self), note=how_read(self.reading)).to_html()

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return the battles as a data frame, each distinct one once with its weight.

        Its columns are those that `read_battles` knows.
        """
        return make_frame(self._columns(), backend)

    def _columns(self) -> dict[str, Any]:
        names = np.array(self.items, dtype=object)
        if self.votes is not None:
            votes = self.votes
            first, second, drawn = votes.first, votes.second, votes.drawn
            weight, judges = votes.weight, np.array(votes.judges, dtype=object)[votes.judge]
        else:
            upper = np.triu(self.drawn, k=1)
            won, tied = np.nonzero(self.decided), np.nonzero(upper)
            first, second = (np.concatenate(pair) for pair in zip(won, tied, strict=True))
            weight = np.concatenate([self.decided[won], upper[tied]])
            drawn = np.arange(len(weight)) >= len(won[0])
            judges = None
        columns = {
            "model_a": names[first].tolist(),
            "model_b": names[second].tolist(),
            "winner": np.where(drawn, "tie", "model_a").tolist(),
            "weight": weight,
        }
        if (weight == np.round(weight)).all():
            columns["weight"] = weight.astype(np.int64)
        return columns if judges is None else {**columns, "judge": judges.tolist()}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the counts to a file, .csv or .parquet, which `read_battles` reads.

        An update then reads what is new and adds it: ``read_battles("counts.parquet") +
        read_battles("today.csv")``.
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
                parquet.write_table(table, str(partial), compression="zstd")

    @classmethod
    def load(cls, path: str | PathLike[str], *, drawn: DrawnAs = "half") -> Battles:
        """Read what `save` wrote."""
        return read_battles(path, drawn=drawn, spellings="keep")


def _whole(number: float) -> float:
    return int(number) if number == int(number) else number


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
            )
        )
    joined = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return condensed_votes(judges, *joined)


def read_battles(
    source: DataSource,
    *,
    format: Literal["auto", "csv", "parquet", "jsonl", "xlsx"] = "auto",  # noqa: A002
    first: str | None = None,
    second: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    judge: str | None = None,
    weights: str | None = None,
    drawn: DrawnAs = "half",
    rename: Mapping[str, str] | None = None,
    spellings: Spellings = "ask",
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> Battles:
    r"""Read battles, one row each, in pieces: only counts are kept.

    Parameters
    ----------
    source
        A file's name, an open file, or a data frame of pandas, polars or pyarrow.
    format
        "csv", "parquet", "jsonl" (one JSON object per line) or "xlsx"; "auto" tells it from the end
        of the name, or how the file begins.
    first, second
        The columns of the two models; model_a and model_b, left and right, and the like are
        recognised.
    winner
        The column that says who won: "model_a", "model_b" (or "left", "right", or the column's
        name), "tie", "tie (bothbad)", "both_bad", or the name of the model.
    loser
        The column of the model that lost, where the winner's column names the model that won and
        there are no others.
    judge
        The column that says who decided; judge, worker, annotator, voter and the like are
        recognised.
    weights
        The column that says how often a row counts; weight and count are recognised.
    drawn
        "half" counts a drawn battle half to each side, "drop" leaves it out.
    rename
        Other names for models, by the names they have in the file.
    spellings
        "ask" refuses names that differ by case and space alone; "keep" takes them for different
        models.
    encoding, sheet
        As for `read_rankings`.

    Examples
    --------
    >>> from io import StringIO
    >>> read_battles(StringIO("model_a,model_b,winner\nx,y,model_a\ny,z,tie\n"))
    Battles(2 battles of 3 items, 1 drawn: half to each side)
    """
    name, table = open_table(source, format, encoding, sheet)
    with errors_name(name):
        return Battles.from_table(
            table,
            first=first,
            second=second,
            winner=winner,
            loser=loser,
            judge=judge,
            weights=weights,
            drawn=drawn,
            rename=rename,
            spellings=spellings,
        )
