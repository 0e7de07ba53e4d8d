"""PrefLib files: .soc .soi .toc .toi (strict or with ties, complete or incomplete)."""

import re
from collections import Counter
from collections.abc import Sequence

from tierwise._util.types import RowNamer, Unranked
from tierwise._util.wording import quoted
from tierwise.errors import InputError
from tierwise.files.places import EncodedRankings, check_item, encode_orderings, encode_weights
from tierwise.files.source import Source

_FIELD = re.compile(r"#\s*([^:]+?)\s*:\s*(.*?)\s*")
_ENTRY = r"(?:\d+|\{\s*\d+(?:\s*,\s*\d+)*\s*\})"
_ANSWER = re.compile(rf"\s*(\d+)\s*:\s*({_ENTRY}(?:\s*,\s*{_ENTRY})*)\s*")

# Enough for any count, and few enough to be read at once.
_MOST_DIGITS = 30

_Fields = dict[str, tuple[str, int]]
_Row = list[int | list[int]]


def read_preflib(source: Source, unranked: Unranked | None) -> EncodedRankings:
    """Read a PrefLib file, and check that its body holds what its header announces."""
    fields: _Fields = {}
    rows: list[_Row] = []
    weights: list[int] = []
    line_of_row: list[int] = []
    for number, line in enumerate(source.text_lines(), start=1):
        if line.startswith("#"):
            field = _FIELD.fullmatch(line)
            if field is not None:
                fields[field[1].upper()] = (field[2], number)
        elif line.strip():
            weight, row = _read_answer(line, source.line(number))
            rows.append(row)
            weights.append(weight)
            line_of_row.append(number)

    def name_row(row: int) -> str:
        return source.line(line_of_row[row])

    n_items, where = _announced("NUMBER ALTERNATIVES", fields, source)
    names = _names_of_alternatives(fields, n_items, where, source)
    _, places = encode_orderings(rows, range(1, n_items + 1), name_row)
    _check_kind(fields, source, rows, n_items, name_row)
    for key, found in (
        ("NUMBER VOTERS", sum(weights)),
        ("NUMBER UNIQUE ORDERS", len({row.tobytes() for row in places})),
    ):
        announced, where = _announced(key, fields, source)
        if announced != found:
            raise InputError(
                f"{where} announces {key} {announced}, but the body holds {found}: "
                "correct the header, or fetch the file again if it was cut short"
            )
    checked = encode_weights(weights, len(rows), name_row)
    return EncodedRankings(tuple(names), places, checked, unranked, name_row)


def _read_answer(line: str, where: str) -> tuple[int, _Row]:
    """Read ``25: 4,{1,3},2``: how many voters say so, and what they say."""
    answer = _ANSWER.fullmatch(line)
    if answer is None:
        raise InputError(
            f"{where}: {quoted(line)} is not a number of voters, a colon, and alternatives parted "
            "by commas with ties in braces, such as '25: 4,{1,3},2'"
        )
    row: _Row = []
    for entry in re.findall(_ENTRY, answer[2]):
        tied = [_number(alternative, where) for alternative in re.findall(r"\d+", entry)]
        row.append(tied if len(tied) > 1 else tied[0])
    return _number(answer[1], where), row


def _number(digits: str, where: str) -> int:
    """Read a number, unless it has more digits than any file needs."""
    if len(digits) > _MOST_DIGITS:
        raise InputError(
            f"{where}: the number {quoted(digits)} has {len(digits):,} digits: correct it"
        )
    return int(digits)


def _announced(key: str, fields: _Fields, source: Source) -> tuple[int, str]:
    """Return a number from the header, and the line that says it."""
    if key not in fields:
        raise InputError(
            f"{source.name} has no header line '# {key}: ...': PrefLib files since 2022 have one. "
            "Say format= if the file is of another kind"
        )
    text, line = fields[key]
    if not text.isdecimal():
        raise InputError(f"{source.line(line)}: {key} is {quoted(text)}: it must be a whole number")
    return _number(text, source.line(line)), source.line(line)


def _names_of_alternatives(fields: _Fields, n_items: int, where: str, source: Source) -> list[str]:
    """Return the names of alternatives 1, 2, ...; a name that several have gets its number."""
    named = [key for key in fields if key.startswith("ALTERNATIVE NAME ")]
    # No more than are named, for the number announced may be anything.
    wanted = [f"ALTERNATIVE NAME {number}" for number in range(1, len(named) + 1)]
    if len(named) != n_items or set(named) != set(wanted):
        differing = min(set(named) ^ set(wanted), default=f"ALTERNATIVE NAME {len(named) + 1}")
        raise InputError(
            f"{where} announces {n_items:,} alternatives, but the header names {len(named):,} "
            f"(see {quoted(differing)}): make them agree"
        )
    names = [fields[key][0] for key in wanted]
    line_of = {name: fields[key][1] for name, key in zip(names, wanted, strict=True)}
    for name in names:
        check_item(name, lambda name: source.line(line_of[str(name)]))
    occurrences = Counter(names)
    return [
        f"{name} ({number})" if occurrences[name] > 1 else name
        for number, name in enumerate(names, start=1)
    ]


def _check_kind(
    fields: _Fields, source: Source, rows: Sequence[_Row], n_items: int, name_row: RowNamer
) -> None:
    """Refuse ties in a file of strict orders, and gaps in one of complete orders."""
    suffix = source.name.rpartition(".")[2].lower()
    kind, line = fields.get("DATA TYPE", (suffix, 1))
    if kind not in ("soc", "soi", "toc", "toi"):
        raise InputError(
            f"{source.line(line)}: DATA TYPE is {quoted(kind)}: only soc, soi, toc and toi hold "
            "rankings"
        )
    for number, row in enumerate(rows):
        n_listed = sum(len(entry) if isinstance(entry, list) else 1 for entry in row)
        if kind.endswith("c") and n_listed < n_items:
            raise InputError(
                f"{name_row(number)} lists {n_listed} of {n_items} alternatives, but the header "
                f"says {kind}, complete orders: call it {kind[:2]}i, or complete the line"
            )
        if kind.startswith("s") and n_listed > len(row):
            raise InputError(
                f"{name_row(number)} holds a tie, but the header says {kind}, strict orders: "
                f"call it to{kind[2]}, or correct the line"
            )
