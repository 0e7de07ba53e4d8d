"""Formats made for ballots and preference sets: PrefLib, BLT and the sushi format.

PrefLib: .soc .soi .toc .toi (strict or with ties, complete or incomplete). BLT: ballots of
elections by single transferable vote, with candidates by number. Sushi: one line per answer, items
by number from 0.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_item
from tierwise._util.types import Places, RowNamer, Unranked
from tierwise.errors import InputError, counted, quoted, use
from tierwise.files.options import Broken, ReadingNotes
from tierwise.files.places import (
    EncodedRankings,
    check_memory_of_places,
    encode_orderings,
    encode_weights,
    read_sound_rows,
)
from tierwise.files.source import Source

_FIELD = re.compile(r"#\s*([^:]+?)\s*:\s*(.*?)\s*")
_ENTRY = r"(?:\d+|\{\s*\d+(?:\s*,\s*\d+)*\s*\})"
_ANSWER = re.compile(rf"\s*(\d+)\s*:\s*({_ENTRY}(?:\s*,\s*{_ENTRY})*)\s*")

# Enough for any count, and few enough to be read at once.
_MOST_DIGITS = 30

_NAME_OF = "ALTERNATIVE NAME "
_MOST_ENCODINGS = 3
# The controls of Latin-1 beyond ASCII: what letters that were encoded twice are made of.
_SECOND_CONTROLS = re.compile("[\x80-\x9f]")
_Fields = dict[str, tuple[str, int]]
_Row = list[int | list[int]]
_BALLOT = re.compile(r"(?:\([^)]*\)\s*)?(\d+(?:\.\d+)?)((?:\s+(?:\d+(?:=\d+)*|-))*)\s+0")
_MOST_DIGITS_OF_BALLOTS = 9


def read_preflib(
    source: Source, unranked: Unranked | None, broken: Broken = "error"
) -> EncodedRankings:
    """Read a PrefLib file, and check that its body holds what its header announces."""
    lines = list(enumerate(source.text_lines(), start=1))
    fields, lines = _old_header(lines, source)
    rows: list[_Row] = []
    weights: list[int] = []
    line_of_row: list[int] = []
    for number, line in lines:
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
    fields, remarks = _with_letters_repaired(fields)
    names = _names_of_alternatives(fields, n_items, where, source)
    places, kept, left_out = _sound_places(rows, range(1, n_items + 1), name_row, broken)
    _check_kind(fields, source, rows, n_items, name_row)
    n_broken = len({str(rows[number]) for number in set(range(len(rows))).difference(kept)})
    for key, found in (
        ("NUMBER VOTERS", sum(weights)),
        ("NUMBER UNIQUE ORDERS", len({row.tobytes() for row in places}) + n_broken),
    ):
        announced, where = _announced(key, fields, source)
        if announced != found:
            raise InputError(
                f"{where} announces {key} {announced}, but the body holds {found}: "
                "correct the header, or download the file again if it was truncated"
            )
    line_of_row = [line_of_row[number] for number in kept]
    checked = encode_weights([weights[number] for number in kept], len(kept), name_row)
    remarks += left_out
    notes = ReadingNotes(
        file=source.name,
        format="PrefLib",
        layout="orderings",
        remarks=remarks,
        n_answers=len(places),
    )
    return EncodedRankings(
        tuple(names), places, checked, unranked, name_row, notes if remarks else None
    )


def _old_header(
    lines: list[tuple[int, str]], source: Source
) -> tuple[_Fields, list[tuple[int, str]]]:
    """Read the header that PrefLib files had before 2022, as today's, and write answers as today.

    It is the number of alternatives, a line such as "1,Ann" for each, and three numbers: voters,
    the sum of their counts, and different answers.
    """
    filled = [(number, line.strip()) for number, line in lines if line.strip()]
    if not filled or not filled[0][1].isdecimal():
        return {}, lines
    first, said = filled[0]
    n_items = _number(said, source.line(first))
    fields: _Fields = {"NUMBER ALTERNATIVES": (said, first)}
    for number, line in filled[1 : n_items + 1]:
        alternative, _, name = line.partition(",")
        if not alternative.strip().isdecimal() or not name.strip():
            raise InputError(
                f"{source.line(number)}: {quoted(line)} is not the number and the name of an "
                "alternative, such as 1,Ann: correct it"
            )
        fields[f"{_NAME_OF}{int(alternative)}"] = (name.strip(), number)
    answers = filled[n_items + 2 :]
    if answers:
        number, line = filled[n_items + 1]
        counts = [one.strip() for one in line.split(",")]
        if len(counts) != 3:
            raise InputError(
                f"{source.line(number)}: {quoted(line)} is not the numbers of voters, of counted "
                "voters and of different answers, such as 30,30,3: correct it"
            )
        fields["NUMBER VOTERS"] = (counts[1], number)
        fields["NUMBER UNIQUE ORDERS"] = (counts[2], number)
    return fields, [(number, line.replace(",", ": ", 1)) for number, line in answers]


def _with_letters_repaired(fields: _Fields) -> tuple[_Fields, tuple[str, ...]]:
    """Repair names whose letters were encoded twice, which real files hold, and say so.

    What cannot be repaired and would be obeyed by a terminal is escaped.
    """
    repaired = {
        key: (letters_repaired(text), line) if key.startswith(_NAME_OF) else (text, line)
        for key, (text, line) in fields.items()
    }
    changed = [key for key in fields if repaired[key] != fields[key]]
    if not changed:
        return fields, ()
    # What is escaped already is not escaped again.
    shown = ", ".join(f"'{repaired[key][0]}'" for key in changed[:3])
    more = ", ..." if len(changed) > 3 else ""
    holds, reads = ("holds", "is") if len(changed) == 1 else ("hold", "are")
    remark = (
        f"{counted(len(changed), 'name')} {holds} characters that were encoded twice or cannot "
        f"be shown, and {reads} read as {shown}{more}."
    )
    return repaired, (remark,)


def letters_repaired(name: str) -> str:
    r"""Repair text whose UTF-8 bytes were read as Latin-1 and encoded again.

    Examples
    --------
    >>> letters_repaired("Andr\u00c3\u00a9") == letters_repaired("Andr\u00e9") == "Andr\u00e9"
    True
    """
    for _ in range(_MOST_ENCODINGS):
        try:
            written = b"".join(
                bytes([ord(mark)]) if ord(mark) < 256 else mark.encode("cp1252") for mark in name
            )
            again = written.decode("utf-8")
        except UnicodeError:
            break
        if again == name:
            break
        name = again
    return _SECOND_CONTROLS.sub(lambda mark: f"\\x{ord(mark[0]):02x}", name)


def _read_answer(line: str, where: str) -> tuple[int, _Row]:
    """Read ``25: 4,{1,3},2``: how many voters say so, and what they say."""
    answer = _ANSWER.fullmatch(line)
    if answer is None:
        raise InputError(
            f"{where}: {quoted(line)} is not a number of voters, a colon, and comma-separated "
            "alternatives with ties in braces, such as '25: 4,{1,3},2'"
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
            f"{source.name} has no header line '# {key}: ...', which PrefLib files have since 2022",
            [use("if the file has another format", format=...)],
        )
    text, line = fields[key]
    if not text.isdecimal():
        raise InputError(f"{source.line(line)}: {key} is {quoted(text)}: it must be a whole number")
    return _number(text, source.line(line)), source.line(line)


def _names_of_alternatives(fields: _Fields, n_items: int, where: str, source: Source) -> list[str]:
    """Return the names of alternatives 1, 2, ...; a name that several have gets its number."""
    named = [key for key in fields if key.startswith(_NAME_OF)]
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
            f"{source.line(line)}: DATA TYPE is {quoted(kind)}: only soc, soi, toc and toi "
            "files hold rankings"
        )
    for number, row in enumerate(rows):
        n_listed = sum(len(entry) if isinstance(entry, list) else 1 for entry in row)
        if kind.endswith("c") and n_listed < n_items:
            raise InputError(
                f"{name_row(number)} lists {n_listed} of {n_items} alternatives, but the header "
                f"says {kind}, complete orders: change it to {kind[:2]}i, or complete the line"
            )
        if kind.startswith("s") and n_listed > len(row):
            raise InputError(
                f"{name_row(number)} holds a tie, but the header says {kind}, strict orders: "
                f"change it to to{kind[2]}, or correct the line"
            )


def read_blt(
    source: Source, unranked: Unranked | None, broken: Broken = "error"
) -> EncodedRankings:
    """Read a BLT file: "candidates seats", a ballot per line that ends in 0, a 0, and the names."""
    lines = [
        (number, line.split("#")[0].strip() if '"' not in line else line.strip())
        for number, line in enumerate(source.text_lines(), start=1)
    ]
    lines = [(number, line) for number, line in lines if line]
    if not lines:
        raise InputError(f"{source.name} is empty: it must hold at least one ballot")
    first, announced = lines[0]
    numbers = re.fullmatch(r"(\d{1,9})\s+(\d{1,9})", announced)
    if numbers is None:
        raise InputError(
            f"{source.line(first)}: {quoted(announced)} does not give the number of candidates "
            "and of seats, which is how BLT files begin",
            [use("if the file has another format", format=...)],
        )
    n_candidates = int(numbers[1])
    rows: list[list[int | list[int]]] = []
    weights: list[float] = []
    line_of_row: list[int] = []
    withdrawn: set[int] = set()
    remarks: list[str] = []
    position = 1
    for number, line in lines[1:]:
        position += 1
        if line == "0":
            break
        if re.fullmatch(r"-\d{1,9}(\s+-\d{1,9})*", line):
            withdrawn |= {-int(one) for one in line.split()}
            continue
        row, weight = _read_ballot(line, source.line(number))
        if row:
            rows.append(row)
            weights.append(weight)
            line_of_row.append(number)
        else:
            remarks.append(
                f"Line {number} lists no candidate and was set aside ({counted(weight, 'ballot')})."
            )

    def name_row(row: int) -> str:
        return source.line(line_of_row[row])

    names = _names(lines[position:], n_candidates, source)
    if withdrawn:
        remarks.append(
            "Withdrawn, but kept as ranked on the ballots: "
            + ", ".join(quoted(names[one - 1]) for one in sorted(withdrawn) if one <= len(names))
            + "."
        )
    places, kept, left_out = _sound_places(rows, range(1, n_candidates + 1), name_row, broken)
    line_of_row = [line_of_row[number] for number in kept]
    notes = ReadingNotes(
        file=source.name,
        format="BLT",
        layout="orderings",
        remarks=(*remarks, *left_out),
        n_answers=len(places),
    )
    checked = encode_weights([weights[number] for number in kept], len(kept), name_row)
    return EncodedRankings(names, places, checked, unranked, name_row, notes)


def _read_ballot(line: str, where: str) -> tuple[list[int | list[int]], float]:
    """Read ``28 4 1=2 0``: how many ballots say so, and whom they list; - is a place left empty."""
    ballot = _BALLOT.fullmatch(line)
    if ballot is None or any(
        len(digits) > _MOST_DIGITS_OF_BALLOTS for digits in re.findall(r"\d+", line)
    ):
        raise InputError(
            f"{where}: {quoted(line)} is not a number of ballots, then candidates by number, then "
            "0, such as '28 4 1 2 0'"
        )
    row: list[int | list[int]] = []
    for entry in ballot[2].split():
        if entry != "-":
            tied = [int(one) for one in entry.split("=")]
            row.append(tied if len(tied) > 1 else tied[0])
    weight = float(ballot[1])
    return row, int(weight) if weight.is_integer() else weight


def _names(lines: list[tuple[int, str]], n_candidates: int, source: Source) -> tuple[str, ...]:
    """Return the names of the candidates, which stand in quotes below the ballots."""
    found = [(number, name) for number, line in lines for name in re.findall(r'"([^"]*)"', line)]
    if len(found) not in (n_candidates, n_candidates + 1):
        raise InputError(
            f"{source.name} announces {counted(n_candidates, 'candidate')}, but {len(found)} "
            "quoted names follow the ballots (the last one may be the title): make them "
            "agree"
        )
    names = tuple(name.strip() for _, name in found[:n_candidates])
    line_of = {name: number for (number, _), name in zip(found, names, strict=False)}
    for name in names:
        check_item(name, lambda name: source.line(line_of[str(name)]))
    return names


def read_sushi(
    source: Source, unranked: Unranked | None, broken: Broken = "error"
) -> EncodedRankings:
    """Read orderings: first the number of items and 1, then lines ``0 k item_1 ... item_k``."""
    rows: list[list[int]] = []
    line_of_row: list[int] = []
    n_items: int | None = None
    for number, line in enumerate(source.text_lines(), start=1):
        if not line.strip():
            continue
        try:
            numbers = [int(word) for word in line.split()]
        except ValueError:
            raise InputError(
                f"{source.line(number)} contains something that is not a whole number: "
                f"{quoted(line)}"
            ) from None
        if n_items is None:
            if len(numbers) != 2 or numbers[1] != 1:
                raise InputError(
                    f"{source.line(number)}: a file in the sushi format begins with the number of "
                    f"items and 1, such as '10 1'; got {quoted(line)}"
                )
            n_items = numbers[0]
            check_memory_of_places(1, n_items)
            continue
        if len(numbers) < 2 or numbers[0] != 0 or numbers[1] != len(numbers) - 2:
            raise InputError(
                f"{source.line(number)} must be 0, the number of items listed, and the items, "
                f"best first; got {quoted(line)}"
            )
        rows.append(numbers[2:])
        line_of_row.append(number)

    def name_row(row: int) -> str:
        return source.line(line_of_row[row])

    items = tuple(range(n_items or 0))
    places, kept, left_out = _sound_places(rows, items, name_row, broken)
    line_of_row = [line_of_row[number] for number in kept]
    notes = ReadingNotes(
        file=source.name,
        format="sushi",
        layout="orderings",
        remarks=left_out,
        n_answers=len(places),
    )
    return EncodedRankings(items, places, None, unranked, name_row, notes if left_out else None)


def _sound_places(
    rows: Sequence[Sequence[object]], items: Sequence[int], name_row: RowNamer, broken: Broken
) -> tuple[Places, list[int], tuple[str, ...]]:
    """Return the places of items, the numbers of the rows that were read, and a remark."""

    def read(kept: NDArray[np.int64]) -> Places:
        some = [rows[number] for number in kept.tolist()]
        return encode_orderings(some, items, lambda row: name_row(int(kept[row])))[1]

    places, kept, remarks = read_sound_rows(read, len(rows), name_row, broken)
    return places, kept.tolist(), remarks
