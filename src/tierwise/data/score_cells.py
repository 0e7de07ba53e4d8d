r"""Cells of tables of scores as numbers: 0.91, 0.91 ± 0.02, 88.7*, \textbf{0.9}, 12 ms, 4:10:33.

Of a mean with its spread, and of a number with marks beside it, the number is the score. What was
made of such cells is said in the notes.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import time, timedelta
from decimal import Decimal as DecimalNumber
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.names import split_names
from tierwise.data.score_table import (
    CLOCK,
    Grid,
    counts_rows,
    is_moment,
    is_numeric,
)
from tierwise.errors import InputError, counted, listed, quoted, use
from tierwise.files.cells import (
    Decimal,
    can_be_encoded,
    check_cells,
    encode,
    first_rows,
    ordinal,
    read_number,
    says_no_place,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tierwise._util.types import Item, RowNamer


_Floats = NDArray[np.float64]

_EMPTY = frozenset({"", "-", "na", "nan", "n/a", "none", "null"})
# Markup of LaTeX and Markdown around a number: \textbf{0.9}, $0.9$, **0.9**.
_MARKUP = re.compile(r"\\[a-zA-Z]+\*?|\\[,;!]|[{}$~]|\*\*|__")
# The spread of a mean, or its rank: ± 0.02, +/- 0.02, (0.02), [0.89, 0.93], _0.02.
_NUMBERS = r"[\d.,]+(?:e[+-]?\d+)?"
_SPREAD = re.compile(
    rf"\s*(?:_?\s*(?:±|\+\s*/?\s*-)\s*{_NUMBERS}\s*%?|_\s*{_NUMBERS}"
    r"|\([\d\s.,;±+/%-]+\)|\[[\d\s.,;±+/%-]+\])",
    re.IGNORECASE,
)
_MARKS = re.compile(r"\s*\^?\s*[*†‡§¶•◦▲▼△▽↑↓¹²³⁴⁵⁶⁷⁸⁹]+|\s*\^\s*[a-z]{1,2}")
_WITH_UNIT = re.compile(
    r"(.*\d[.,]?)\s*(%|[nuµμm]?s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|[ckm]?m|kg|pts|x|\xd7)"
)
# Hours, minutes and seconds, or minutes and seconds.
_TIME = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d{2}(?:[.,]\d+)?)")
# Places that are shared, as golf writes them: T3, =3, 3=.
_TIED = re.compile(r"(?:[Tt]-?|=)(\d{1,4})|(\d{1,4})=")
_OUTCOMES = {
    **dict.fromkeys(("true", "pass", "passed", "solved", "success", "yes", "✅", "✓", "✔", "✔️"), 1),
    **dict.fromkeys(
        ("false", "fail", "failed", "unsolved", "failure", "no", "❌", "✗", "✘", "✖", "✖️"), 0
    ),
}
_PASSED = "passed or failed"
# What stands in place of a score where something failed, beside DNF and the like.
_FAILURES = frozenset(
    {"to", "t/o", "timeout", "time-out", "timed out", "mo", "memout", "oom", "out of memory"}
    | {"diverged", "error", "err", "crash", "crashed", "failed", "fail", "unsolved"}
)
Failures: TypeAlias = Literal["refuse", "ask", "empty"]
"""What to do with cells such as DNF: they are an error, asked about, or hold no score."""


class Written(NamedTuple):
    """A cell that holds a number.

    Attributes
    ----------
    number
        The number.
    unit
        Its unit: a percent sign, a time by the clock, ``ms`` and the like; empty if it has none.
    bare
        Whether there is nothing beside the number and its unit.
    """

    number: float
    unit: str
    bare: bool


def grid_of(names: Sequence[Item], table: Any, name_row: RowNamer) -> Grid:
    """Return a table with the columns that hold numbers marked.

    Columns that say who passed are such columns if there are no others.
    """

    def holding(number: Callable[[Any], bool]) -> tuple[int, ...]:
        columns = range(len(names))
        return tuple(one for one in columns if is_numeric(table.column(one), number, _is_empty))

    numeric = [
        one
        for one in holding(_may_be_number)
        if not (is_moment(names[one]) and CLOCK in _units_in(table.column(one)))
        and not _all_tied(table.column(one))
    ]
    if 0 in numeric and len(numeric) > 1:
        # Distances such as 100m beside times are what the rows are called.
        first, *others = (_units_in(table.column(one)) for one in numeric)
        if first and first.isdisjoint({"", "%"}) and first.isdisjoint(set().union(*others)):
            numeric.remove(0)
    scored = any(not counts_rows(names[one]) for one in numeric)
    outcomes = () if scored else holding(_is_outcome)
    return Grid(names, table, name_row, outcomes or tuple(numeric))


def _all_tied(column: Any) -> bool:
    """Return whether all cells of a column are such as T1: these are names, unless 2 is there."""
    labels = [str(label).strip() for label in encode(column)[1] if not _is_empty(label)]
    return all(map(_TIED.fullmatch, labels))


def _units_in(column: Any) -> set[str]:
    """Return the units of what is written in a column."""
    written = [_written(label, ".") for label in encode(column)[1] if not _is_empty(label)]
    return {one.unit for one in written if one is not None}


def _is_outcome(label: object) -> bool:
    return str(label).strip().casefold() in _OUTCOMES


def _may_be_number(label: object) -> bool:
    if not isinstance(label, str):
        return not isinstance(label, bool) and _written(label, None) is not None
    return any(_parsed(label, decimal) is not None for decimal in (None, *get_args(Decimal)))


def as_list(names: str | Iterable[Any] | None) -> list[Any] | None:
    """Return names as people give them: a list, or one text with commas."""
    parts = split_names(names) if isinstance(names, str) else names
    if parts is None:
        return None
    return [one.strip() if isinstance(one, str) else one for one in parts]


def _is_empty(label: Any) -> bool:
    if isinstance(label, float) and np.isnan(label):
        return True
    return label is None or (isinstance(label, str) and label.strip().casefold() in _EMPTY)


def read_numbers(
    column: Any,
    name: Any,
    decimal: Decimal | None,
    name_row: RowNamer,
    failures: Failures = "refuse",
) -> tuple[_Floats, str | None]:
    """Return a column as numbers, and their unit; None if it is empty."""
    codes, labels = encode(check_cells(name, column))
    values = np.full(len(labels) + 1, np.nan)
    units: dict[str, str] = {}
    rows = first_rows(codes, len(labels))
    for code, label in enumerate(labels):
        if _is_empty(label) or rows[code] >= len(codes):
            continue
        if failures == "empty" and _says_failed(label, decimal):
            continue
        try:
            values[code], unit, _ = _number(label, decimal, failures)
        except InputError as error:
            raise error.within(
                f"{name_row(int(rows[code]))}: the score of {quoted(name)} "
            ) from None
        units.setdefault(unit, str(label).strip())
    return values[codes], one_unit(units, f"column {quoted(name)}")


def one_unit(units: Mapping[str, str], where: str) -> str | None:
    """Return the unit of scores; None if there are none. Refuse several.

    Parameters
    ----------
    units
        The units, each with a cell that has it.
    where
        What holds the scores.
    """
    if set(units) == {"", CLOCK}:
        gap = next((cell for cell in units.values() if cell.startswith("+")), None)
        if gap is None:
            return CLOCK  # 59.80 and 1:00.21: seconds below a minute
        raise InputError(
            f"{where} has times such as {quoted(units[CLOCK])} and gaps such as {quoted(gap)}: "
            "write the time itself in every cell"
        )
    if set(units) == {"", "%"}:
        raise InputError(
            f"{where} has scores with and without a percent sign: write all scores in the same way"
        )
    if len(units) > 1:
        cells = listed([quoted(cell) for cell in units.values()][:2], "and")
        raise InputError(f"{where} has scores such as {cells}: write all of them in one unit")
    return next(iter(units), None)


def hold_more_than_numbers(column: Any) -> bool:
    """Return whether cells hold what no rank has, such as 91%, 0.91 ± 0.02 or 12 ms."""
    if not can_be_encoded(column):
        return False
    labels = [label for label in encode(column)[1] if not _is_empty(label)]
    written = [_written(label, None) for label in labels]
    return any(one is not None and not (one.bare and one.unit == "") for one in written)


def ways_of_writing(column: Any, decimal: Decimal | None) -> dict[str, str]:
    """Say how cells were read that hold more than a number: by kind, an example of each."""
    if not can_be_encoded(column):
        return {}
    said: dict[str, str] = {}
    for label in encode(column)[1]:
        written = None if _is_empty(label) else _written(label, decimal)
        if written is None or (written.bare and written.unit in ("", "%")):
            continue
        unit = " seconds" if written.unit == CLOCK else ""
        kind = written.unit if written.bare else "beside"
        said.setdefault(
            kind, f"Cells such as {quoted(label)} are read as {written.number:.10g}{unit}."
        )
    return said


def _says_failed(label: Any, decimal: Decimal | None) -> bool:
    """Return whether a cell says that an item failed, and is not a score."""
    if not isinstance(label, str) or _written(label, decimal) is not None:
        return False
    word = _without_end(label.strip())
    return says_no_place(word) or word.casefold() in _FAILURES


def failures_in(columns: Iterable[Any], decimal: Decimal | None) -> tuple[str, ...]:
    """Say how many cells say that an item failed; nothing if there are none."""
    said: Counter[str] = Counter()
    for column in columns:
        codes, labels = encode(column)
        for code, label in enumerate(labels):
            if _says_failed(label, decimal):
                said[label.strip()] += int((codes == code).sum())
    if not said:
        return ()
    n_cells = said.total()
    shown = listed([quoted(word) for word, _ in said.most_common(3)], "or")
    verbs = ("says", "is") if n_cells == 1 else ("say", "are")
    return (f"{counted(n_cells, 'cell')} {verbs[0]} {shown} and {verbs[1]} read as no score.",)


def _number(label: Any, decimal: Decimal | None, failures: Failures) -> Written:
    written = _written(label, decimal)
    if written is not None:
        return written
    if failures == "ask" and _says_failed(label, decimal):
        raise InputError(
            f"is {quoted(label)}, which is not a number",
            [
                use("if items without a score rank below all others", unranked="below"),
                use("if their rank is unknown", unranked="anywhere"),
            ],
        )
    if isinstance(label, float):
        raise InputError(f"is {label}: scores must be finite")
    if not isinstance(label, str):
        raise InputError(f"is {quoted(label)}, which is not a number: correct the cell")
    if decimal is None and _parsed(label, ".") is not None:
        raise InputError(
            f"is {quoted(label)}, which may have a decimal comma or a thousands separator",
            [
                use("if the comma is the decimal separator", decimal=","),
                use("if the point is", decimal="."),
            ],
        )
    raise InputError(
        f"is {quoted(label)}, which is not a number",
        [
            "correct the cell",
            use("if it says that there is no score", missing=label.strip()),
            "write a score that is worse than all others if it says that the item failed",
        ],
    )


def _written(label: Any, decimal: Decimal | None) -> Written | None:
    """Return the number in a cell; None if it holds none."""
    if _is_outcome(label):
        return Written(float(_OUTCOMES[str(label).strip().casefold()]), _PASSED, bare=True)
    if isinstance(label, str):
        return _parsed(label, decimal)
    if isinstance(label, timedelta):
        return Written(label.total_seconds(), CLOCK, bare=True)
    if isinstance(label, time):
        return _written(label.isoformat(), None)
    if not isinstance(label, int | float | DecimalNumber) or not np.isfinite(float(label)):
        return None
    return Written(float(label), "", bare=True)


def _parsed(label: str, decimal: Decimal | None) -> Written | None:
    """Return the number that a text is, if it is one, and what stands beside it."""
    text = label.strip()
    number = read_number(text, decimal)
    if number is not None:
        return Written(number, "", bare=True)
    plain = text.replace("\\pm", "±").replace("\\%", "%").replace("\N{MINUS SIGN}", "-")
    plain = _MARKUP.sub(" ", plain).strip()
    while (shorter := _without_end(plain)) != plain:
        plain = shorter
    bare = plain == text
    place = _TIED.fullmatch(plain)
    if place is not None:
        return Written(float(place[1] or place[2]), "", bare)
    nth = ordinal(plain) if plain[:1].isdigit() else None
    if nth is not None:
        return Written(float(nth), "", bare)
    clock = _TIME.fullmatch(plain)
    if clock is not None:
        hours, minutes = int(clock[1] or 0), int(clock[2])
        seconds = float(clock[3].replace(",", "."))
        return Written(3600 * hours + 60 * minutes + seconds, CLOCK, bare)
    united = _WITH_UNIT.fullmatch(plain)
    unit = "" if united is None else united[2].casefold()
    number = read_number(plain if united is None else united[1], decimal)
    return None if number is None else Written(number, unit, bare)


def _without_end(text: str) -> str:
    """Return a text without the spread or the mark that it ends with."""
    for pattern in (_SPREAD, _MARKS):
        for found in pattern.finditer(text):
            if found.end() == len(text) and found.start() > 0:
                return text[: found.start()].rstrip()
    return text
