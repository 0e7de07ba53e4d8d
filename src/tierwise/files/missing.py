"""Cells that say that there is no answer: codes such as 99, and words such as "don't know".

Words are taken as empty, with a remark. Codes are numbers, which may be answers as well: they are
taken as empty if the user says so, and asked about where they stand out.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise.errors import InputError, Remark, counted, listed, quoted, use
from tierwise.files.cells import can_be_encoded

if TYPE_CHECKING:
    import pyarrow as pa

Missing: TypeAlias = str | float | Iterable[str | float]
"""Codes for missing values: one, several, or text with commas between them."""

NOTHING = "nothing"
"""The word with which users say that no cell is empty."""

_WORDS = (
    *("-", "--", "\N{EN DASH}", "\N{EM DASH}"),
    *(
        "na",
        "n/a",
        "n.a.",
        "#n/a",
        "#null!",
        "no answer",
        "no response",
        "not answered",
        "not asked",
    ),
    *(
        "not applicable",
        "not ranked",
        "unranked",
        "don't know",
        "don\N{RIGHT SINGLE QUOTATION MARK}t know",
    ),
    *("dont know", "do not know", "prefer not to say", "prefer not to answer", "refused"),
    *("k.a.", "k. a.", "k.a", "keine angabe", "keine antwort", "weiß nicht", "weiss nicht"),
    *("ne sait pas", "sans réponse", "no sabe", "no contesta", "ns/nc"),
)
_NEGATIVE = (-1, -2, -7, -8, -9, -66, -77, -88, -97, -98, -99, -999, -9999)
_LARGE = (66, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 9999)
# Scales of answers end here, and these begin with 1 rather than 0.
_TOP_OF_SCALE = 20
_FROM_ONE = (5, 7)
_MOST_SHOWN = 3


def said_missing(missing: Missing | None) -> tuple[str, ...] | None:
    """Return the codes that the user gives, as text; None if there are none.

    Examples
    --------
    >>> said_missing("99, -1"), said_missing([99]), said_missing("nothing"), said_missing(None)
    (('99', '-1'), ('99',), (), None)
    >>> said_missing("nothing,99")  # 99, and no words
    ('99', 'nothing')
    """
    if missing is None:
        return None
    if isinstance(missing, str):
        missing = missing.split(",")
    given = missing if isinstance(missing, Iterable) else [missing]
    codes = tuple(f"{one:g}" if isinstance(one, float) else str(one).strip() for one in given)
    if NOTHING in codes:
        codes = (*(one for one in codes if one != NOTHING), NOTHING)
    return () if codes == (NOTHING,) else codes


def leave_blank(
    table: "pa.Table",
    missing: tuple[str, ...] | None,
    kept: frozenset[int] = frozenset(),
    items: Iterable[object] = (),
) -> tuple["pa.Table", tuple[Remark, ...]]:
    """Empty the cells that say that there is no answer, and remark how many there are.

    Parameters
    ----------
    table
        The table.
    missing
        The codes for missing answers that the user names, in addition to known words; "nothing"
        turns these words off.
    kept
        Columns that are not changed because they hold no answers.
    items
        Items that the user names: a cell with such a name is an answer.
    """
    import pyarrow as pa

    if missing is not None and not missing:
        return table, ()
    named = {str(item).strip().lower() for item in items}
    codes = tuple(one for one in missing or () if one != NOTHING)
    unnamed = [word for word in _WORDS if word not in named and NOTHING not in (missing or ())]
    words = _strings(dict.fromkeys([*unnamed, *_ways_to_write(codes)]))
    numbers = [number for one in codes if (number := _number(one)) is not None]
    n_cells, found = 0, set[str]()
    columns = []
    for position, column in enumerate(table.columns):
        emptied, hits = column, list[Any]()
        if position not in kept and can_be_encoded(column):
            emptied, hits = _emptied(column, words, numbers)
        columns.append(emptied)
        n_cells += len(hits)
        found.update(map(str, hits))
    if not n_cells:
        return table, ()
    shown = listed([quoted(word) for word in sorted(found)[:_MOST_SHOWN]], "or")
    remedies = [use("if that is an answer", missing=NOTHING)]
    if codes:
        words_found = {one.strip().lower() for one in found} & set(unnamed) - set(codes)
        alone = ",".join([*codes, NOTHING])
        remedies = [use("if words are answers", missing=alone)] if words_found else []
    remark = Remark(
        f"{counted(n_cells, 'cell')} {'says' if n_cells == 1 else 'say'} {shown} and "
        f"{'is' if n_cells == 1 else 'are'} read as empty",
        tuple(remedies),
    )
    return pa.table(columns, names=table.column_names), (remark,)


def _strings(words: Iterable[str]) -> Any:
    """Return words as arrow holds them, from buffers: its own way from lists loads pandas."""
    import pyarrow as pa

    encoded = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )


def _emptied(column: Any, words: Any, numbers: list[float]) -> tuple[Any, list[Any]]:
    """Return a column without cells that say so, and what these said."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        if kind != column.type and not _may_hold(column, words.cast(kind)):
            return column, []
        plain = column.cast(kind)
        says = pc.is_in(_normal(plain), value_set=words.cast(kind))
    elif numbers and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        plain = column.cast(kind)
        says = pc.is_in(
            plain.cast(pa.float64(), safe=False), value_set=pa.array(numbers, pa.float64())
        )
    else:
        return column, []
    said = plain.filter(says).to_pylist()
    return (pc.if_else(says, pa.scalar(None, kind), plain), said) if said else (column, [])


def _may_hold(column: Any, words: Any) -> bool:
    """Return whether a word is in the dictionary of a column, which is much shorter than it."""
    import pyarrow.compute as pc

    return any(
        pc.any(pc.is_in(_normal(chunk.dictionary), value_set=words)).as_py()
        for chunk in column.chunks
    )


def _normal(texts: Any) -> Any:
    import pyarrow.compute as pc

    return pc.utf8_lower(pc.utf8_trim_whitespace(texts))


def _ways_to_write(missing: tuple[str, ...]) -> list[str]:
    """Return a code as tables may hold it: 99 is written 99.0 beside gaps."""
    return [f"{one.casefold()}{end}" for one in missing for end in ("", ".0", ",0")]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def refuse_codes(values: NDArray[np.float64], names: Sequence[object], *, ranks: bool) -> None:
    """Ask about numbers that stand out from a short scale, as codes for missing values do.

    Parameters
    ----------
    values
        The numbers, one column per title.
    names
        The titles.
    ranks
        Whether they may be ranks, which begin with 1.
    """
    whole = np.isnan(values) | (values == np.floor(values))
    codes = np.isin(values, (*_NEGATIVE, *_LARGE))
    rest = np.where(codes, np.nan, values)
    filled = ~np.isnan(rest)
    scale = [
        column
        for column in range(values.shape[1])
        if filled[:, column].sum() >= 2
        and whole[:, column].all()
        and rest[filled[:, column], column].min() >= 0
        and rest[filled[:, column], column].max() <= _TOP_OF_SCALE
    ]
    if len(scale) < 2:
        if not ranks:
            _ask_about(_standing_out(values, codes), values, names, range(values.shape[1]))
        return
    numbers = rest[:, scale][filled[:, scale]]
    top = float(numbers.max())
    suspected = codes[:, scale] & ((values[:, scale] < 0) | (values[:, scale] > 2 * top))
    zeros = values[:, scale] == 0
    if (np.sort(values[:, scale], axis=1) == np.arange(len(scale))).all():
        zeros[:] = False  # numbered from 0 in every row: places, or items by number
    starts_with_one = top in _FROM_ONE or (ranks and top <= len(scale))
    # A single one is a slip, which is named with its line where it is read.
    few = starts_with_one and zeros.sum() < numbers.size / 4
    best_few = ranks and top > 1 and _are_ranks_but_for(values[:, scale], zeros)
    if zeros.sum() > 1 and (few or best_few):
        suspected |= zeros
    _ask_about(suspected, values, names, scale)


def _are_ranks_but_for(values: NDArray[np.float64], zeros: NDArray[np.bool_]) -> bool:
    """Tell whether all rows hold 1, 2, ..., k once each, and most of them 0 several times."""
    ranks = np.sort(np.where(zeros, np.nan, values), axis=1)
    expected = np.arange(1, values.shape[1] + 1)
    dense = (np.isnan(ranks) | (ranks == expected)).all(axis=1)
    return bool(dense.all()) and bool(2 * (zeros.sum(axis=1) > 1).sum() > len(values))


def refuse_codes_among_names(items: Sequence[object]) -> None:
    """Ask about a number among names, which is what codes for missing values are."""
    codes = [one for one in items if _number(str(one)) in (*_NEGATIVE, *_LARGE)]
    named = [one for one in items if _number(str(one)) is None]
    if codes and len(codes) + len(named) == len(items) and len(named) > len(codes):
        shown = listed(codes[:_MOST_SHOWN], "or")
        raise InputError(
            f"{shown} is among the names of items and may be a code for a missing answer",
            [
                use("if it is", missing=[str(one) for one in codes]),
                use("if it is an item", missing=NOTHING),
            ],
        )


def _standing_out(values: NDArray[np.float64], codes: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which codes lie further from all other scores than these from each other."""
    others = values[~codes & ~np.isnan(values)]
    if not others.size or codes.sum() > others.size:
        return np.zeros_like(codes)
    low, high = float(others.min()), float(others.max())
    # A single whole number among whole numbers may be a score, unless it is very far from them.
    alone = codes.sum() == 1 and bool((others == np.floor(others)).all())
    far = (2 if alone else 1) * (high - low)
    return codes & ((values > high + far) | (values < low - far)) & (high > low)


def _ask_about(
    suspected: NDArray[np.bool_],
    values: NDArray[np.float64],
    names: Sequence[object],
    scale: Sequence[int],
) -> None:
    """Ask about numbers that may be codes; nothing if there are none."""
    if not suspected.any():
        return
    found = sorted(set(values[:, scale][suspected].tolist()))
    column = scale[int(suspected.any(axis=0).argmax())]
    others = values[:, scale][~suspected & ~np.isnan(values[:, scale])]
    shown = listed([f"{code:g}" for code in found[:_MOST_SHOWN]], "or")
    raise InputError(
        f"column {quoted(names[column])} holds {shown} as well as numbers from {others.min():g} to "
        f"{others.max():g}, which may be a code for a missing answer "
        f"({counted(int(suspected.sum()), 'cell')} in all columns)",
        [
            use("if it is", missing=[f"{code:g}" for code in found]),
            use("if it is an answer", missing=NOTHING),
        ],
    )
