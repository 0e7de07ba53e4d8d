"""BLT files: ballots of elections by single transferable vote, with candidates by number."""

import re

from tierwise._util.types import Unranked
from tierwise._util.wording import counted, quoted
from tierwise.errors import InputError
from tierwise.files.notes import ReadingNotes
from tierwise.files.places import EncodedRankings, check_item, encode_orderings, encode_weights
from tierwise.files.source import Source

_BALLOT = re.compile(r"(?:\([^)]*\)\s*)?(\d+(?:\.\d+)?)((?:\s+(?:\d+(?:=\d+)*|-))*)\s+0")
_MOST_DIGITS = 9


def read_blt(source: Source, unranked: Unranked | None) -> EncodedRankings:
    """Read a BLT file: "candidates seats", a ballot per line that ends in 0, a 0, and the names."""
    lines = [
        (number, line.split("#")[0].strip() if '"' not in line else line.strip())
        for number, line in enumerate(source.text_lines(), start=1)
    ]
    lines = [(number, line) for number, line in lines if line]
    first, announced = lines[0]
    numbers = re.fullmatch(r"(\d{1,9})\s+(\d{1,9})", announced)
    if numbers is None:
        raise InputError(
            f"{source.line(first)}: {quoted(announced)} is not a number of candidates and a number "
            "of seats, with which BLT files begin: say format= if the file is of another kind"
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
        if re.fullmatch(r"(-\d{1,9}\s*)+", line):
            withdrawn |= {-int(one) for one in line.split()}
            continue
        row, weight = _read_ballot(line, source.line(number))
        if row:
            rows.append(row)
            weights.append(weight)
            line_of_row.append(number)
        else:
            remarks.append(
                f"Line {number} lists no candidate ({counted(weight, 'ballot')}): it is set aside."
            )

    def name_row(row: int) -> str:
        return source.line(line_of_row[row])

    names = _names(lines[position:], n_candidates, source)
    if withdrawn:
        remarks.append(
            "Withdrawn, but kept as they stand on the ballots: "
            + ", ".join(quoted(names[one - 1]) for one in sorted(withdrawn) if one <= len(names))
            + "."
        )
    _, places = encode_orderings(rows, range(1, n_candidates + 1), name_row)
    notes = ReadingNotes(
        file=source.name,
        format="BLT",
        layout="orderings",
        remarks=tuple(remarks),
        n_answers=len(places),
    )
    checked = encode_weights(weights, len(rows), name_row)
    return EncodedRankings(names, places, checked, unranked, name_row, notes)


def _read_ballot(line: str, where: str) -> tuple[list[int | list[int]], float]:
    """Read ``28 4 1=2 0``: how many ballots say so, and whom they list; - is a place left empty."""
    ballot = _BALLOT.fullmatch(line)
    if ballot is None or any(len(digits) > _MOST_DIGITS for digits in re.findall(r"\d+", line)):
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
            f"{source.name} announces {counted(n_candidates, 'candidate')}, but {len(found)} names "
            "stand in quotes below the ballots (the last one may be the title): make them agree"
        )
    names = tuple(name.strip() for _, name in found[:n_candidates])
    line_of = {name: number for (number, _), name in zip(found, names, strict=False)}
    for name in names:
        check_item(name, lambda name: source.line(line_of[str(name)]))
    return names
