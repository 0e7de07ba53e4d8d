"""How users describe a table, and how it was read.

Users give its layout, its columns, and the meaning of its cells. Reading notes hold its format, the
columns of items, and everything that was set aside.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Literal, TypeAlias, get_args

from tierwise._util.checks import check_choice, check_items
from tierwise._util.names import split_names
from tierwise._util.types import Item, Ties, Unranked, WeightsAre
from tierwise.errors import Remark, counted, quoted
from tierwise.files.cast_votes import Overvotes, Repeats
from tierwise.files.missing import said_missing
from tierwise.files.spellings import Spellings

TableLayout: TypeAlias = Literal["orderings", "ranks", "long", "pairs"]
Layout: TypeAlias = Literal["auto", "orderings", "ranks", "long"]
Columns: TypeAlias = str | Iterable[str]
Broken: TypeAlias = Literal["error", "skip"]
"""Whether invalid answers are an error, or left out."""
Better: TypeAlias = Literal["higher", "lower"]
"""Which scores are better."""

# Columns that a sentence names one by one; of more it says how many there are.
_MOST_NAMED = 6
_LAYOUTS = {
    "whole rankings": "one row per answer, with the whole ranking in one cell, best first",
    "orderings": "orderings, one row per answer and one column per place, with items in the cells",
    "ranks": "ranks, one row per answer and one column per item, with ranks in the cells",
    "scores": "scores, one row per answer and one column per item, turned into rankings with ties",
    "scores by item": "scores, one row per item and one column per task, turned into rankings with "
    "ties",
    "long": "long, one row for each item of each answer",
    "pairs": "pairs, one row per comparison of two items",
    "battles": "battles, one row per comparison of two models, with the winner",
    "won and lost": "battles, one row per comparison of two models, with winner and loser",
    "points": "battles, one row per comparison of two models, with the points of both",
    "wins": "battles, one row per pair of models, with how often each won",
    "lines": "lines, one answer each, best first",
    "sentences": "sentences, one answer each, best first",
    "tier lists": "tier lists, one line per tier",
    "best and worst": "best and worst, one row per choice set (MaxDiff); items shown and not "
    "chosen are tied between the two",
    "best and worst, long": "best and worst, one row per item shown (MaxDiff); items shown and "
    "not chosen are tied between the two",
    "long scores": "scores, one row per task and item, turned into one ranking per task",
}


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How the user describes a table; None means not given."""

    layout: TableLayout | Literal["auto"] = "auto"
    unranked: Unranked | None = None
    ties: Ties = "error"
    items: tuple[Item, ...] | None = None
    weights: str | None = None
    weights_are: WeightsAre | None = None
    assessor: tuple[str, ...] | None = None
    item: str | None = None
    rank: str | None = None
    preferred: str | None = None
    other: str | None = None
    pattern: str | None = None
    better: Better | None = None
    empty: Literal["error", "skip"] = "error"
    rename: tuple[tuple[str, str], ...] = ()
    spellings: Spellings = "ask"
    missing: tuple[str, ...] | None = None
    overvotes: Overvotes = "end"
    repeats: Repeats | None = None
    broken: Broken = "error"

    @classmethod
    def make(
        cls, *, items: Iterable[Item] | None, assessor: Columns | None, **others: Any
    ) -> "TableOptions":
        """Take options as users give them."""
        check_choice("layout", others.get("layout", "auto"), ("auto", *get_args(TableLayout)))
        check_choice("unranked", others.get("unranked"), (*get_args(Unranked), None))
        check_choice("ties", others.get("ties", "error"), get_args(Ties))
        check_choice("weights_are", others.get("weights_are"), (*get_args(WeightsAre), None))
        check_choice("better", others.get("better"), (*get_args(Better), None))
        check_choice("empty", others.get("empty", "error"), ("error", "skip"))
        others["rename"] = tuple(dict(others.get("rename") or {}).items())
        others["missing"] = said_missing(others.get("missing"))
        check_choice("spellings", others.get("spellings", "ask"), get_args(Spellings))
        check_choice("overvotes", others.get("overvotes", "end"), get_args(Overvotes))
        check_choice("broken", others.get("broken", "error"), get_args(Broken))
        check_choice("repeats", others.get("repeats"), (*get_args(Repeats), None))
        if isinstance(items, str) and "*" in items:
            items, others["pattern"] = None, items
        elif isinstance(items, str) and "," in items:
            items = split_names(items)
        if isinstance(assessor, str):
            assessor = (assessor,)
        return cls(
            items=None if items is None else check_items(items),
            assessor=None if assessor is None else tuple(assessor),
            **others,
        )

    @property
    def items_renamed(self) -> tuple[Item, ...] | None:
        """The items that the user lists, under their new names."""
        if self.items is None:
            return None
        new_name = dict(self.rename)
        return tuple(dict.fromkeys(new_name.get(str(item), item) for item in self.items))


@dataclass(frozen=True)
class Aside:
    """A column that is not part of the answers.

    Attributes
    ----------
    column
        Its name.
    why
        Why it was set aside, as in "holds text, not ranks".
    """

    column: str
    why: str


@dataclass(frozen=True, kw_only=True)
class ReadingNotes:
    """How a file was read; `tierwise.Rankings.reading` holds it.

    Attributes
    ----------
    file
        The name of the file; empty for a data frame.
    format
        The format, and the program that seems to have written it.
    encoding, separator
        The text encoding and the cell separator; empty if there is none.
    layout
        The layout of the table.
    columns
        The columns that hold the answers, as named in the file.
    weights
        The column that says how often each row counts; empty if there is none.
    aside
        The columns that were set aside, each with the reason.
    remarks
        Other changes: lines left out, names shortened.
    n_answers
        The number of answers that were read.
    """

    file: str = ""
    format: str = ""
    encoding: str = ""
    separator: str = ""
    layout: str = ""
    columns: tuple[str, ...] = ()
    weights: str = ""
    aside: tuple[Aside, ...] = ()
    remarks: tuple[Remark | str, ...] = ()
    n_answers: int = 0

    @property
    def name(self) -> str:
        """The name of the data: the file name without extension; empty if there is no file.

        Examples
        --------
        >>> ReadingNotes(file="survey 2024.csv").name, ReadingNotes(file="standard input").name
        ('survey 2024', '')
        """
        return PurePath(self.file).stem if "." in self.file else ""

    def about(self, form: "ReadingNotes") -> "ReadingNotes":
        """Return these notes with what is known of the file."""
        return replace(
            self,
            file=form.file,
            format=form.format,
            encoding=form.encoding,
            separator=form.separator,
            aside=(*form.aside, *self.aside),
            remarks=(*form.remarks, *self.remarks),
        )

    def set_aside(self, say: Callable[[Remark], str] = str) -> list[str]:
        """List what was set aside or changed, one sentence each; empty if nothing was.

        Parameters
        ----------
        say
            A function that words remarks with remedies.

        Examples
        --------
        >>> ReadingNotes(aside=(Aside("Age", "holds numbers that are not ranks"),)).set_aside()
        ["Column 'Age' holds numbers that are not ranks: it was set aside."]
        >>> columns = [Aside(name, "does not name a place") for name in ("Start", "End")]
        >>> ReadingNotes(aside=tuple(columns)).set_aside()
        ["Columns 'Start', 'End' do not name a place: they were set aside."]
        """
        of_reason: dict[str, list[str]] = {}
        for one in self.aside:
            of_reason.setdefault(one.why, []).append(one.column)
        sentences = []
        for why, columns in of_reason.items():
            if len(columns) == 1:
                sentences.append(f"Column {quoted(columns[0])} {why}: it was set aside.")
            else:
                sentences.append(
                    f"Columns {_listed(columns)} {_of_several(why)}: they were set aside."
                )
        return [
            *sentences,
            *(one if isinstance(one, str) else f"{say(one)}." for one in self.remarks),
        ]

    def sentences(self, say: Callable[[Remark], str] = str) -> list[str]:
        """Say how the file was read, one sentence each; see `set_aside` for ``say``."""
        form = [self.format]
        form += [f"text in {self.encoding}"] if self.encoding else []
        form += [f"{self.separator}-separated"] if self.separator else []
        sentences = [f"Format: {', '.join(part for part in form if part)}."] if any(form) else []
        if self.layout:
            sentences.append(f"Layout: {_LAYOUTS.get(self.layout, self.layout)}.")
        if self.columns:
            sentences.append(
                f"{counted(len(self.columns), 'column')} read: {_listed(self.columns)}."
            )
        if self.weights:
            sentences.append(f"Column {quoted(self.weights)} says how often each row counts.")
        return [*sentences, *self.set_aside(say)]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        return {
            "file": self.file,
            "format": self.format,
            "encoding": self.encoding,
            "separator": self.separator,
            "layout": self.layout,
            "columns": list(self.columns),
            "weights": self.weights,
            "set_aside": [{"column": one.column, "why": one.why} for one in self.aside],
            "remarks": [one if isinstance(one, str) else one.problem for one in self.remarks],
            "n_answers": self.n_answers,
        }


def _of_several(why: str) -> str:
    """Say of several columns what is said of one: put the verb into the plural."""
    verb, _, rest = why.partition(" ")
    several = {"is": "are", "does": "do", "has": "have"}.get(verb, verb.removesuffix("s"))
    return f"{several} {rest}"


def say_blank(numbers: "list[int]", unit: str) -> tuple[str, ...]:
    """Say which lines or rows are empty.

    Examples
    --------
    >>> say_blank([4, 9], "line")
    ('2 blank lines were skipped (first line 4).',)
    """
    if not numbers:
        return ()
    if len(numbers) == 1:
        return (f"1 blank {unit} was skipped ({unit} {numbers[0]}).",)
    return (f"{len(numbers)} blank {unit}s were skipped (first {unit} {numbers[0]}).",)


def _listed(names: "list[str] | tuple[str, ...]") -> str:
    """Name columns; if they are many, the first of them."""
    shown = ", ".join(quoted(name) for name in names[:_MOST_NAMED])
    if len(names) <= _MOST_NAMED:
        return shown
    return f"{shown} and {counted(len(names) - _MOST_NAMED, 'other')}"
