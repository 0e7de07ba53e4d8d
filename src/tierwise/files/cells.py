"""Cells and titles of a table's columns: labels become codes, text becomes numbers.

Titles say a place, or an item after the question that was asked about it. Columns become arrays
without loops over rows.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._util.types import Codes, Item, RowNamer
from tierwise.errors import InputError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

Decimal: TypeAlias = Literal[".", ","]
"""The decimal separator; the other mark separates thousands."""

ABSENT = -1
# Said instead of a rank: nothing, or why somebody was not placed in a race.
_NOT_FINISHED = ("dnf", "dns", "dnq", "dnp", "dsq", "ret", "nc")
_NOT_RANKED = ("", "na", "nan", "n/a", *_NOT_FINISHED)
# The same beside numbers, where a letter is not a name: retired, withdrawn, missed the cut, fell.
_BESIDE_PLACES = frozenset(
    {"r", "retired", "w", "wd", "withdrawn", "d", "dq", "disq", "disqualified", "e", "ex", "excl"}
    | {"n", "ns", "np", "nm", "nh", "nt", "nq", "ab", "abd", "otl", "hd", "cut", "mc", "mdf"}
    | {"pu", "f", "ur", "bd", "su", "ro", "scr", "scratched", "dnpq", "lap"}
)
# Places that are shared, as T3, =3 or 3=, and places with marks beside them.
_SHARED_PLACE = re.compile(r"(?:t-?|=)?(\d{1,4})[=*†‡§]*")
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NUMBER: dict[Decimal, re.Pattern[str]] = {
    ".": re.compile(rf"{_PLAIN.pattern}|[+-]?[1-9]\d{{0,2}}(,\d{{3}})+(\.\d+)?"),
    ",": re.compile(r"[+-]?(\d*,\d+|\d+|[1-9]\d{0,2}(\.\d{3})+(,\d+)?)"),
}
# What places are called, and how their numbers are written, in languages of survey programs.
_WORD = (
    "place|rank|position|choice|preference|pref|platz|rang|wahl|präferenz|choix|préférence|lugar|"
    "puesto|posición|preferencia|posto|posizione|scelta|plaats|keuze|位|番目|希望"
)
_PLACE = re.compile(rf"(?:{_WORD})?[ _.#-]*(\d+)")
_IN_WORDS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth",
    "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte",
    "erster zweiter dritter vierter fünfter sechster siebter achter neunter zehnter",
    "erstes zweites drittes viertes fünftes sechstes siebtes achtes neuntes zehntes",
    "premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième",
    "première seconde",
    "primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo",
    "primera segunda tercera cuarta quinta sexta séptima octava novena décima",
    "primo secondo terzo quarto quinto sesto settimo ottavo nono decimo",
    "prima seconda terza quarta quinta sesta settima ottava nona decima",
    "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende",
)
_NUMBER_OF_WORD = {
    word: number for words in _IN_WORDS for number, word in enumerate(words.split(), start=1)
}
_ORDINALS = tuple(
    re.compile(pattern)
    for pattern in (
        # 1st, 2nd choice, 1er choix, 2ème, 1º; 1. Platz, 1位; first choice; Rang 1, 第1位
        rf"(\d{{1,4}})\s*(?:st|nd|rd|th|er|ère|re|nde?|[eè]me|e|[.]?[ºª°])(?:[ _-]*(?:{_WORD}))?",
        rf"(\d{{1,4}})[. ]*(?:{_WORD})",
        rf"({'|'.join(_NUMBER_OF_WORD)})(?:[ _-]*(?:{_WORD}))?",
        rf"(?:{_WORD}|第)[ _.#-]*(\d{{1,4}})(?:{_WORD})?",
    )
)
# Places in longer titles, such as "Mayor, choice 1 of 4" and "1st choice for mayor".
_PLACE_WITHIN = re.compile(
    rf"(?<!\w)(?:(?P<before>\d{{1,3}})(?:st|nd|rd|th|[.])?[ _-]*(?:{_WORD})|"
    rf"(?:{_WORD})[ _#-]*(?P<after>\d{{1,3}}))(?!\w)",
    re.IGNORECASE,
)
# A question in front of the item or place it is asked about: "Rank these [tea]",
# "Rank these - tea" or "Q1_tea".
_QUESTIONS = (
    re.compile(r"(?P<question>.*\S)\s*\[(?P<about>[^\[\]]+)\]"),
    re.compile(r"(?P<question>.*?\S) [-\u2013\u2014] (?P<about>.*\S)"),
    re.compile(r"(?P<question>Q\d+(?:\.\d+)?)_(?P<about>.+)"),
)


def are_numbered_places(columns: Sequence[Item]) -> bool:
    """Return whether columns are called 1, 2, ... or place 1, place 2, ... or the like."""
    places = [_PLACE.fullmatch(str(column).strip().casefold()) for column in columns]
    numbers = [place[1].lstrip("0") for place in places if place]
    # Compared as text, because there may be more digits than a number can have.
    return numbers == [str(number) for number in range(1, len(columns) + 1)]


def place_in_title(title: str) -> str | None:
    """Return the number of the place that a title names; None if it names none.

    Examples
    --------
    >>> place_in_title("2nd choice"), place_in_title("Rank these [place 3]"), place_in_title("tea")
    ('2', '3', None)
    """
    asked = split_question(title)
    for text in (title, asked[1]) if asked else (title,):
        number = ordinal(text)
        if number is not None:
            return str(number)
        place = _PLACE.fullmatch(text.strip().casefold())
        if place:
            return place[1].lstrip("0")
    return None


def place_within_title(title: str) -> str | None:
    """Return the number of the place that a longer title names; None if it names none.

    Examples
    --------
    >>> place_within_title("DEM Mayor Choice 1 of 5"), place_within_title("2ND CHOICE MAYOR")
    ('1', '2')
    """
    found = _PLACE_WITHIN.search(title)
    return None if found is None else (found["before"] or found["after"]).lstrip("0")


def pattern_of_places(title: str) -> str:
    """Return a pattern for titles that differ in the place only.

    Examples
    --------
    >>> pattern_of_places("Mayor, choice 1 of 4")
    'Mayor, choice * of 4'
    """
    found = _PLACE_WITHIN.search(title)
    if found is None:
        return title
    start, end = found.span("before" if found["before"] else "after")
    return f"{title[:start]}*{title[end:]}"


def ordinal(text: str) -> int | None:
    """Read "1st", "first choice", "1. Platz" and the like; None if the text is something else.

    Examples
    --------
    >>> ordinal("1st"), ordinal("Second choice"), ordinal("1"), ordinal("best")
    (1, 2, None, None)
    >>> ordinal("3. Platz"), ordinal("Rang 2"), ordinal("2ème choix"), ordinal("第1位")
    (3, 2, 2, 1)
    """
    written = text.strip().casefold()
    for pattern in _ORDINALS:
        found = pattern.fullmatch(written)
        if found:
            return _NUMBER_OF_WORD.get(found[1]) or int(found[1])
    return None


def split_question(title: str) -> tuple[str, str] | None:
    """Split a title into the question and the item; None if it has no such parts.

    Examples
    --------
    >>> split_question("Please rank the drinks - tea"), split_question("Drinks [tea]")
    (('Please rank the drinks', 'tea'), ('Drinks', 'tea'))
    """
    for pattern in _QUESTIONS:
        found = pattern.fullmatch(title.strip())
        if found:
            return found["question"].strip(), found["about"].strip()
    return None


def questions(titles: Sequence[str]) -> dict[str, list[int]]:
    """Return the questions that several columns are about, with the positions of these columns."""
    of_question: dict[str, list[int]] = {}
    for position, title in enumerate(titles):
        parts = split_question(title)
        if parts is not None:
            of_question.setdefault(parts[0], []).append(position)
    return {asked: columns for asked, columns in of_question.items() if len(columns) > 1}


def without_question(titles: Sequence[Item]) -> tuple[str, tuple[str, ...]] | None:
    """Return the question that all titles begin with, and what is left of them.

    None if there is none, or if what is left would not name the items: numbers, or one name twice.
    """
    parts = [split_question(str(title)) for title in titles]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts) or len({asked for asked, _ in found}) != 1:
        return None
    names = tuple(name for _, name in found)
    if len(set(names)) < len(names) or all(name.isdecimal() for name in names):
        return None
    return found[0][0], names


def codes_of(encoded: "pa.DictionaryArray") -> Codes:
    """Return which entry of the dictionary each cell has; -1 is none.

    The buffers are read as they are, because arrow's own way to numpy loads pandas.
    """
    indices = encoded.indices
    cells = slice(indices.offset, indices.offset + len(indices))
    validity, values = indices.buffers()
    codes = np.frombuffer(values, dtype=str(indices.type))[cells].astype(np.int32, copy=False)
    if validity is None:
        return codes
    filled = np.unpackbits(np.frombuffer(validity, dtype=np.uint8), bitorder="little")[cells]
    return np.where(filled, codes, np.int32(-1))


def can_be_encoded(column: "pa.ChunkedArray") -> bool:
    """Return whether the cells of a column are single values, not lists, records and the like."""
    from pyarrow import types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_null(kind) or types.is_primitive(kind) or types.is_decimal(kind):
        return True
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
    )


def check_cells(name: Any, column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Return a column, or refuse one whose cells are lists, records and the like."""
    if can_be_encoded(column):
        return column
    raise InputError(
        f"column {quoted(name)} holds cells of the type {quoted(str(column.type))}, which is "
        "neither text nor numbers: convert them, or delete the column"
    )


def encode(column: "pa.ChunkedArray") -> tuple[Codes, list[Any]]:
    """Give the distinct labels of a column codes; a cell that is empty has the code ``ABSENT``."""
    import pyarrow as pa

    if pa.types.is_float16(column.type):
        # Older versions of arrow find no distinct values of these.
        column = column.cast(pa.float32())
    if pa.types.is_dictionary(column.type):
        array = column.unify_dictionaries().combine_chunks()
    else:
        array = column.dictionary_encode().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # what arrow makes of a column without chunks
        return np.empty(0, dtype=np.int32), []
    codes = codes_of(array)
    labels = [_plain(label) for label in array.dictionary.to_pylist()]
    empty = [code for code, label in enumerate(labels) if label is None or label == ""]
    if empty:
        codes = np.where(np.isin(codes, empty), np.int32(ABSENT), codes)
    return codes, labels


def _plain(label: Any) -> Any:
    """Undo what tables do to labels beside gaps: 3.0 was 3, and NaN was nothing."""
    if isinstance(label, float):
        if np.isnan(label):
            return None
        return int(label) if label.is_integer() else label
    return label


def first_rows(codes: Codes, n_labels: int) -> NDArray[np.int64]:
    """Return the first row of each code; the number of rows for a code that does not occur."""
    first = np.full(n_labels + 1, len(codes), dtype=np.int64)
    # Of several values for one code the last written stays, and rows are written last to first.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first[:n_labels]


def numbers(
    column: "pa.ChunkedArray", what: str, name_row: RowNamer, *, places: bool = False
) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where empty, or say which cell is not a number.

    Parameters
    ----------
    column
        The column.
    what
        What its cells are called in messages.
    name_row
        How rows are named there.
    places
        Whether T3, and letters such as R that say why there is no place, may stand beside numbers.
    """
    import pyarrow as pa

    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        floats = column.cast(pa.float64(), safe=False)
        return np.asarray(floats.to_numpy(), dtype=np.float64)
    codes, labels = encode(column)
    values = np.full(len(labels) + 1, np.nan)
    places = places and any(_is_number(label, None) for label in labels)
    decimal = _decimal_of(labels)
    for code, label in enumerate(labels):
        try:
            values[code] = _as_number(label, decimal)
        except (TypeError, ValueError, OverflowError):
            if places and (place := _as_place(label)) is not None:
                values[code] = place
                continue
            row = int(first_rows(codes, len(labels))[code])
            if row == len(codes):
                continue  # a part of a table may know words that stand in others only
            raise InputError(
                f"{name_row(row)}: {what} is {quoted(label)}, which is not a number",
                ["correct the cell"],
            ).about(np.flatnonzero(codes == code).tolist()) from None
    return values[codes]


def read_number(text: str, decimal: Decimal | None = None) -> float | None:
    """Read text as a number; None if it is none, or if it may be two.

    Parameters
    ----------
    text
        What somebody wrote.
    decimal
        What stands before the decimals, if that is known. Otherwise 2,5 is a number where people
        write so, but 1,000 may be a thousand.

    Examples
    --------
    >>> read_number("2,5"), read_number("1,234.5"), read_number("tea")
    (2.5, 1234.5, None)
    >>> read_number("1,000"), read_number("1,000", "."), read_number("1,000", ",")
    (None, 1000.0, 1.0)
    """
    written = (
        text.strip().replace("\N{NO-BREAK SPACE}", "").replace("\N{NARROW NO-BREAK SPACE}", "")
    )
    if decimal is None:
        possible = [mark for mark, pattern in _NUMBER.items() if pattern.fullmatch(written)]
        if not possible or (len(possible) == 2 and not _PLAIN.fullmatch(written)):
            return None
        decimal = possible[0]
    elif not _NUMBER[decimal].fullmatch(written):
        return None
    thousands = "," if decimal == "." else "."
    return float(written.replace(thousands, "").replace(decimal, "."))


def _decimal_of(labels: Sequence[Any]) -> Decimal | None:
    """Tell the decimal separator of a column from the numbers that can be read in one way only."""
    texts = [label.strip() for label in labels if isinstance(label, str)]
    marks: set[Decimal] = set()
    for text in texts:
        possible = [mark for mark, pattern in _NUMBER.items() if pattern.fullmatch(text)]
        if len(possible) == 1:
            marks.update(possible)
    return marks.pop() if len(marks) == 1 else None


def _as_number(label: Any, decimal: Decimal | None = None) -> float:
    """Read a cell as a number; NaN if it is empty or says that there is none."""
    if is_not_ranked(label):
        return np.nan
    if isinstance(label, bool):
        raise TypeError
    if not isinstance(label, str):
        return float(label)
    place = ordinal(label)
    if place is not None:
        return float(place)
    number = read_number(label)
    if number is None and decimal is not None:
        number = read_number(label, decimal)
    # Callers refuse other values that Python accepts, such as inf.
    return float(label) if number is None else number


def _as_place(label: Any) -> float | None:
    """Read a cell beside places: NaN if it says why there is none, None if it is something else."""
    text = str(label).strip().casefold()
    if text in _BESIDE_PLACES:
        return np.nan
    shared = _SHARED_PLACE.fullmatch(text)
    return None if shared is None else float(shared[1])


def says_no_place(label: Any) -> bool:
    """Return whether a cell says why somebody has no place, such as DNF or R.

    Examples
    --------
    >>> says_no_place("DNF"), says_no_place("R"), says_no_place("")
    (True, True, False)
    """
    text = str(label).strip().casefold()
    return text in _NOT_FINISHED or text in _BESIDE_PLACES


def are_not_ranked(labels: "Sequence[Any]") -> list[bool]:
    """Tell which cells of a column of ranks say that there is none.

    Examples
    --------
    >>> are_not_ranked(["1", "DNF", "R"]), are_not_ranked(["R", "Q"])
    ([False, True, True], [False, False])
    """
    beside = any(_is_number(label, None) and not is_not_ranked(label) for label in labels)
    return [
        is_not_ranked(label) or (beside and str(label).strip().casefold() in _BESIDE_PLACES)
        for label in labels
    ]


def is_not_ranked(label: Any) -> bool:
    """Return whether a cell is empty or says that there is no rank."""
    return label is None or (isinstance(label, str) and label.strip().casefold() in _NOT_RANKED)


def share_of_numbers(columns: "Iterable[pa.ChunkedArray]") -> float:
    """Return which share of the cells are numbers, of those that say anything.

    If none does, cells that say that there is no rank are as good as numbers.
    """
    n_cells, n_numbers, n_not_ranked = 0, 0, 0
    for column in columns:
        codes, labels = encode(column)
        listed = codes[codes != ABSENT]
        decimal = _decimal_of(labels)
        says = ~np.array(are_not_ranked(labels), dtype=bool)
        numeric = np.array([_is_number(label, decimal) for label in labels], dtype=bool)
        if (numeric & says).any():
            numeric = np.array([_is_place(label, decimal) for label in labels], dtype=bool)
        n_cells += int(says[listed].sum())
        n_numbers += int((numeric & says)[listed].sum())
        n_not_ranked += int((~says)[listed].sum())
    if n_cells == 0:
        return 1.0 if n_not_ranked else 0.0
    return n_numbers / n_cells


def _is_place(label: Any, decimal: Decimal | None) -> bool:
    return _is_number(label, decimal) or _as_place(label) is not None


def _is_number(label: Any, decimal: Decimal | None) -> bool:
    try:
        _as_number(label, decimal)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
