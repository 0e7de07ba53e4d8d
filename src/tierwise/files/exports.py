"""Tables as survey programs export them, in CSV text or sheets of Excel files.

They have several header rows, titles above the header, and codes for names, and are small enough to
be held in memory as rows of text. What is recognised is the form of the first rows, not the
program's name, so that exports in other languages are read as well: Qualtrics (a third row of
``ImportId``), SurveyMonkey (a second row that names the items), and Google Forms and LimeSurvey
(``Question [item]``, cells of several lines).
"""

import csv
import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from tierwise.errors import (
    InputError,
    Remark,
    counted,
    has_control_characters,
    listed,
    quoted,
    use,
)
from tierwise.files.cells import split_question
from tierwise.files.csv import DELIMITERS, in_utf8, open_csv, refused
from tierwise.files.excel import read_sheet
from tierwise.files.marked_up import MarkedUp, marked_up_table, may_be_marked_up
from tierwise.files.options import Aside, ReadingNotes, say_blank
from tierwise.files.sentences import cut_at_commas
from tierwise.files.source import Source
from tierwise.files.table_file import TableFile

_FIRST_RECORDS = 30
_MOST_SHEETS = 5
_QUALTRICS_CODE = re.compile(r"(?P<question>Q\w*?|[A-Za-z]\w*?)_(?P<number>\d+)")
_QUALTRICS = ", exported by Qualtrics"
# The columns that say which rows are previews or tests, and what they say then.
_STATUS = ("Status", "Response Type", "DistributionChannel", "Distribution Channel")
_PREVIEWS = frozenset({"survey preview", "survey test", "preview", "test"})
_CODES_OF_PREVIEWS = ("1", "2", "9", "17")
_CODES_OF_STATUS = frozenset({"0", "4", "8", "12", "16", "32", "40", "48", *_CODES_OF_PREVIEWS})
# What Qualtrics calls columns that stand beside the status.
_BESIDE_STATUS = frozenset(
    {"StartDate", "EndDate", "RecordedDate", "ResponseId", "Progress", "Finished", "IPAddress"}
)
_DISPLAY_ORDER = re.compile(r".*_DO(_.*)?")


@dataclass(frozen=True)
class Record:
    """A row of cells, and the line it begins on."""

    line: int
    cells: tuple[str, ...]

    @property
    def n_filled(self) -> int:
        """The number of cells that are not empty."""
        return sum(1 for cell in self.cells if cell)


def _records(text: str, delimiter: str) -> Iterator[Record]:
    """Read CSV text, in which quoted cells may go on over several lines.

    Raises
    ------
    csv.Error
        If a quote is opened and not closed.
    """
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    line = 1
    for cells in reader:
        yield Record(line, tuple(" ".join(cell.split()) for cell in cells))
        line = reader.line_num + 1


def _without_blank(records: Sequence[Record], unit: str) -> tuple[list[Record], tuple[str, ...]]:
    """Leave out records that hold nothing, and say so of those above the last that is filled."""
    filled = [record for record in records if record.n_filled]
    last = filled[-1].line if filled else 0
    blank = [record.line for record in records if not record.n_filled and record.line < last]
    return filled, say_blank(blank, unit)


def _open_grid(
    header: Sequence[str],
    rows: Sequence[Record],
    source: Source,
    form: ReadingNotes,
    *,
    unit: str = "line",
) -> TableFile:
    """Make a table of records under a header.

    Parameters
    ----------
    header
        The names of the columns; one without a name is left out if it is empty.
    rows
        The records.
    source
        Where they come from.
    form
        What is known of the file.
    unit
        What messages call a record of the source.
    """
    import pyarrow as pa

    def where(row: int) -> str:
        return f"{source.name}, {unit} {rows[row].line}"

    width = len(header)
    for number, record in enumerate(rows):
        if any(record.cells[width:]):
            raise InputError(
                f"{where(number)} has {counted(len(record.cells), 'cell')}, but the header has "
                f"{width} columns: give every line the same number of cells (empty cells count)"
            )
    columns: dict[str, list[str | None]] = {}
    for position, name in enumerate(header):
        cells = [row.cells[position] if position < len(row.cells) else "" for row in rows]
        if not name and not any(cells):
            continue
        _check_title(name, position, header, source)
        columns[name] = [cell or None for cell in cells]
    table = pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})

    def read() -> Any:
        return table

    def batches(most_rows: int) -> Iterator[Any]:
        for first in range(0, table.num_rows, most_rows):
            yield table.slice(first, most_rows)

    return TableFile(tuple(columns), read, batches, where, form)


def _check_title(name: str, position: int, header: Sequence[str], source: Source) -> None:
    if not name:
        raise InputError(
            f"{source.name}: column {position + 1} has no name: the header must name every "
            "column (an item, a place, or something else)"
        )
    if Counter(header)[name] > 1:
        raise InputError(
            f"{source.name}: column {quoted(name)} occurs twice: give each column its own name"
        )
    if has_control_characters(name):
        raise InputError(
            f"{source.name}: column {quoted(name)} contains a control character: "
            "remove it from the name"
        )


@dataclass(frozen=True)
class Export:
    """A table whose header is one row again: titles, records and remarks."""

    program: str
    header: tuple[str, ...]
    rows: tuple[Record, ...]
    aside: tuple[Aside, ...] = ()
    remarks: tuple[str, ...] = ()


_NO_HEADER = "No line names the columns: the first line is read as an answer, best item first."
_Rewrite: TypeAlias = Callable[[list[Record]], Export | None]


def open_text_table(source: Source, encoding: str | None = None) -> TableFile:
    """Open a CSV file, as a survey program exports it or plain."""
    source, written = in_utf8(source, encoding)
    form = ReadingNotes(file=source.name, format="CSV", encoding=written)
    head = source.head().decode("utf-8-sig", errors="ignore")
    found = marked_up_table(_whole_text(source), source.name) if may_be_marked_up(head) else None
    if found is not None:
        return _open_marked_up(found, source, form)
    try:
        delimiter = _delimiter(head)
        first = _first_records(head, delimiter)
    except csv.Error:
        first, delimiter = [], ","
    if first and (_may_be_ballots(first) or recognise(first) is not None):
        by_line = _may_be_ballots(first)
        records, blank = _one_per_line(source) if by_line else _all_records(source, delimiter)
        export = recognise(records)
        if export is not None:
            if delimiter == "," and _NO_HEADER in export.remarks:
                _refuse_cut_names(export)
            form = replace(form, separator=DELIMITERS[delimiter], remarks=blank)
            return open_export(export, source, form)
    plain = open_csv(source)
    return replace(plain, form=replace(form, separator=plain.form.separator))


def _whole_text(source: Source) -> str:
    return "\n".join(source.text_lines())


def _open_marked_up(found: MarkedUp, source: Source, form: ReadingNotes) -> TableFile:
    """Make a table of one in Markdown or LaTeX."""
    rows = [Record(line, tuple(cells)) for line, cells in found.rows]
    form = replace(
        form,
        format=found.language,
        remarks=() if found.is_only else ("Only the first table of the text is read.",),
    )
    export = recognise([Record(1, tuple(found.header)), *rows])
    if export is not None:
        return open_export(export, source, form)
    return _open_grid(found.header, rows, source, form)


def open_export(
    export: Export, source: Source, form: ReadingNotes, *, unit: str = "line"
) -> TableFile:
    """Make a table of an export that was recognised."""
    form = replace(
        form,
        format=f"{form.format}{export.program}",
        aside=export.aside,
        remarks=(*form.remarks, *export.remarks),
    )
    table = _open_grid(export.header, export.rows, source, form, unit=unit)
    # People who opened a survey and left it are rows without an answer.
    return replace(table, empty="skip")


def recognise(records: list[Record]) -> Export | None:
    """Return what a survey program exported, with one header row; None if it is a plain table."""
    for rewrite in _REWRITES:
        export = rewrite(records)
        if export is not None:
            return _without_previews(export)
    return None


def _without_previews(export: Export) -> Export:
    """Leave out rows that are previews or tests of the survey, and say so."""
    by_qualtrics = export.program == _QUALTRICS
    status = [at for at, title in enumerate(export.header) if title in _STATUS]
    answers = tuple(
        row
        for row in export.rows
        if not any(
            _is_preview(row.cells[at], by_qualtrics=by_qualtrics)
            for at in status
            if at < len(row.cells)
        )
    )
    n_previews = len(export.rows) - len(answers)
    if not n_previews:
        return export
    what = "is a preview or test" if n_previews == 1 else "are previews or tests"
    remark = f"{counted(n_previews, 'row')} {what} of the survey, not answers: left out."
    return replace(export, rows=answers, remarks=(*export.remarks, remark))


def _is_preview(cell: str, *, by_qualtrics: bool) -> bool:
    """Return whether a status is that of a preview; exported codes have numbers for it."""
    return cell.casefold() in _PREVIEWS or (by_qualtrics and cell in _CODES_OF_PREVIEWS)


def _from_status(records: list[Record]) -> Export | None:
    """Read a table with a column that says which rows are previews, under a plain header."""
    header, *rows = records
    for at, title in enumerate(header.cells):
        if title in _STATUS:
            said = {row.cells[at].casefold() for row in rows if at < len(row.cells)} - {""}
            if said & _PREVIEWS or said & {"ip address", "anonymous"}:
                return Export(", of a survey program", header.cells, tuple(rows))
            if title == "Status" and "0" in said and said <= _CODES_OF_STATUS:
                return _with_codes_of_status(header.cells, tuple(rows), said)
    return None


def _with_codes_of_status(
    header: tuple[str, ...], rows: tuple[Record, ...], said: set[str]
) -> Export | None:
    """Read a table whose column Status holds numbers: codes of Qualtrics, or of somebody else."""
    export = Export("", header, rows)
    if len(_BESIDE_STATUS & set(header)) > 1:
        export = _without_previews(replace(export, program=_QUALTRICS))
    elif said & set(_CODES_OF_PREVIEWS):
        remark = (
            "Column 'Status' holds 0 and other codes, with which survey programs mark previews "
            "and tests. All rows are read as answers."
        )
        export = replace(export, remarks=(remark,))
    else:
        return None
    at = header.index("Status")
    kept = tuple(Record(row.line, (*row.cells[:at], *row.cells[at + 1 :])) for row in export.rows)
    aside = (Aside("Status", "says whether a row is an answer"),)
    return replace(export, header=(*header[:at], *header[at + 1 :]), rows=kept, aside=aside)


def _from_qualtrics(records: list[Record]) -> Export | None:
    """Read three header rows: codes of questions, their texts, and ``ImportId`` in braces."""
    if len(records) < 3 or not any("ImportId" in cell for cell in records[2].cells):
        return None
    codes, texts = records[0].cells, records[1].cells
    if len(texts) != len(codes):
        return None
    titles = []
    for code, text in zip(codes, texts, strict=True):
        found, parts = _QUALTRICS_CODE.fullmatch(code), split_question(text)
        about = text.rpartition(" - ")[2].strip() if parts else ""
        titles.append(f"{found['question']}_{about}" if found and about else code)
    times = Counter(titles)
    titles = [
        title if times[title] == 1 else code for title, code in zip(titles, codes, strict=True)
    ]
    shown = [position for position, code in enumerate(codes) if not _DISPLAY_ORDER.fullmatch(code)]
    aside = tuple(
        Aside(code, "says in which order items were shown")
        for code in codes
        if _DISPLAY_ORDER.fullmatch(code)
    )
    rows = tuple(
        Record(one.line, tuple(one.cells[at] if at < len(one.cells) else "" for at in shown))
        for one in records[3:]
    )
    remark = "The second and third row are headers too: the second names the items."
    header = tuple(titles[position] for position in shown)
    return Export(_QUALTRICS, header, rows, aside, (remark,))


def _from_two_headers(records: list[Record]) -> Export | None:
    """Read a header whose titles stand above several columns, which a second row names."""
    if len(records) < 3:
        return None
    above, below = records[0].cells, records[1].cells
    under_gaps = [name for title, name in zip(above, below, strict=False) if not title and name]
    if not under_gaps or below[0] or any(_is_number(cell) for cell in below if cell):
        return None
    titles, question = [], ""
    for position, name in enumerate(below):
        question = above[position] if position < len(above) and above[position] else question
        titles.append(f"{question} - {name}" if name and question else question)
    titles = [
        above[position] if position < len(above) and above[position] and not below[position] else t
        for position, t in enumerate(titles)
    ]
    remark = "The second row is a header too: it names the items of the columns."
    return Export(", with two header rows", tuple(titles), tuple(records[2:]), (), (remark,))


def _with_titles_above(records: list[Record]) -> Export | None:
    """Read a table below lines that say what it is about."""
    n_above = 0
    while n_above < len(records) and records[n_above].n_filled == 1:
        n_above += 1
    if not 0 < n_above < min(10, len(records) - 1) or records[n_above].n_filled < 3:
        return None
    # The column of names may have no title of its own.
    width = records[n_above].n_filled + (not records[n_above].cells[0])
    below = records[n_above + 1 : n_above + 1 + _FIRST_RECORDS]
    if sum(1 for one in below if 2 <= one.n_filled <= width) < len(below) / 2:
        return None
    remark = (
        f"{counted(n_above, 'row')} above the header {'was' if n_above == 1 else 'were'} left out."
    )
    nested = recognise(records[n_above:])
    if nested is not None:
        return replace(nested, remarks=(remark, *nested.remarks))
    header, *rows = records[n_above:]
    return Export("", header.cells, tuple(rows), (), (remark,))


def _from_forms(records: list[Record]) -> Export | None:
    """Read a table in which several titles are a question with an item, or a place, in brackets."""
    if len(records) < 2:
        return None
    asked = [title for title in records[0].cells if title.endswith("]") and split_question(title)]
    if len(asked) < 2:
        return None
    header, *rows = records
    return Export(", exported by a survey program", header.cells, tuple(rows))


def _from_ballots(records: list[Record]) -> Export | None:
    """Read ballots as collections of Scottish council elections hold them.

    A line of the numbers of candidates and seats, lines of how many ballots list which candidates
    by number, and then the candidates: ``"Candidate 1","Ann Baird","Independent"``.
    """
    if not _may_be_ballots(records):
        return None
    names: dict[str, str] = {}
    ballots = []
    for record in records[1:]:
        candidate = re.fullmatch(r"Candidate (\d+)", record.cells[0])
        if candidate and len(record.cells) < 2:
            return None
        if candidate:
            party = record.cells[2] if len(record.cells) > 2 else ""
            names[candidate[1]] = record.cells[1] + (f" ({party})" if party else "")
        elif not names:
            ballots.append(record)
    if len(names) != int(records[0].cells[0]) or len(set(names.values())) < len(names):
        return None
    if not all(record.n_filled for record in ballots):
        return None
    rows = []
    for record in ballots:
        count, *listed = [cell for cell in record.cells if cell]
        if not all(number in names for number in listed):
            return None
        rows.append(Record(record.line, (count, *(names[number] for number in listed))))
    width = max(len(row.cells) for row in rows) - 1
    header = ("count", *(f"place {place}" for place in range(1, width + 1)))
    remark = "The ballots list candidates by number; their names follow below."
    return Export(", ballots of a Scottish council election", header, tuple(rows), (), (remark,))


def _may_be_ballots(records: list[Record]) -> bool:
    """Return whether a table begins with the numbers of candidates and seats, and then ballots."""
    return (
        len(records) > 1
        and records[0].n_filled == 2
        and all(records[0].cells[:2])
        and all(cell.isdecimal() for record in records[:2] for cell in record.cells if cell)
    )


def _without_header(records: list[Record]) -> Export | None:
    """Read answers that all order the same items, from the first line on: there is no header."""
    first = records[0].cells
    items = set(first)
    if (
        len(records) < 2
        or len(items) < max(2, len(first))
        or "" in items
        or any(_is_number(cell) for cell in items)
        or not all(set(one.cells) == items and len(one.cells) == len(first) for one in records)
    ):
        return None
    header = tuple(f"place {place}" for place in range(1, len(first) + 1))
    return Export("", header, tuple(records), (), (_NO_HEADER,))


def _refuse_cut_names(export: Export) -> None:
    """Refuse lines whose items may be halves of names that hold a comma."""
    name = cut_at_commas(record.cells for record in export.rows)
    if name:
        raise InputError(
            f"the same two words follow each other in every line, as in {quoted(name)}, so a "
            "comma may be part of a name: put such names in quotes, or separate items "
            "with semicolons; if each is an item, put a line "
            f"{quoted(','.join(export.header))} before the others"
        )


def _from_data_frame(records: list[Record]) -> Export | None:
    """Read what a data frame wrote with its index, which has no name; turned, if items are rows."""
    header, *rows = records
    first, *others = header.cells
    if first or len(others) < 2 or not all(others) or not rows:
        return None
    names = [row.cells[0] for row in rows]
    if not all(names) or len(set(names)) < len(names):
        return None
    turned = _turned(others, rows)
    if turned is not None:
        return turned
    title = next(name for name in ("id", "row", "index of rows") if name not in others)
    remark = "The first column has no name: it is read as the names of the rows."
    return Export("", (title, *others), tuple(rows), (), (remark,))


def _turned(titles: list[str], rows: list[Record]) -> Export | None:
    """Turn a table with one column per answer, numbered, and one row per item, with ranks."""
    names = [row.cells[0] for row in rows]
    numbered = titles == [str(number) for number in range(len(titles))]
    cells = [[*row.cells[1:], *[""] * (len(titles) + 1 - len(row.cells))] for row in rows]
    if not numbered or any(_is_number(name) for name in names):
        return None
    if any(len(row) != len(titles) for row in cells):
        return None
    columns = list(zip(*cells, strict=True))
    if not all(_are_ranks(column) for column in columns):
        return None
    if all(_are_ranks(row) for row in cells) and len(titles) == len(names):
        raise InputError(
            "both rows and columns look like rankings, so the items may be either: give the "
            "first column a name"
        )
    answers = tuple(Record(rows[0].line - 1, tuple(column)) for column in columns)
    remark = "The table is transposed: it has one row per item and one column per answer."
    return Export("", tuple(names), answers, (), (remark,))


def _are_ranks(cells: Sequence[str]) -> bool:
    """Return whether cells are the ranks 1, 2, 3 and so on, each once; some may be empty."""
    filled = sorted(cell for cell in cells if cell)
    return bool(filled) and sorted(filled) == sorted(str(n) for n in range(1, len(filled) + 1))


_REWRITES: tuple[_Rewrite, ...] = (
    _from_ballots,
    _from_qualtrics,
    _from_two_headers,
    _from_forms,
    _with_titles_above,
    _from_status,
    _without_header,
    _from_data_frame,
)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _delimiter(head: str) -> str:
    """Return what parts cells: that which makes most of them in the first line with several."""
    every = [
        {mark: len(next(csv.reader([line], delimiter=mark), [])) for mark in DELIMITERS}
        for line in head.splitlines()[:10]
        if line.strip()
    ]
    in_header = [mark for mark in DELIMITERS if every and every[0][mark] > 1]
    # Commas in the cells of a second column make more of them, but not in the header.
    if len(in_header) == 1 and len({counts[in_header[0]] for counts in every}) == 1 < len(every):
        return in_header[0]
    for counts in every:
        best = max(counts, key=counts.__getitem__)
        if counts[best] > 2 or (counts[best] > 1 and "\n" not in head.strip()):
            return best
    return ","


def _first_records(head: str, delimiter: str) -> list[Record]:
    """Return the first records; the last one may be cut short, and is left out."""
    lines = head.splitlines(keepends=True)[: 4 * _FIRST_RECORDS]
    found: list[Record] = []
    try:
        for record in _records("".join(lines), delimiter):
            if record.n_filled:
                found.append(record)
            if len(found) == _FIRST_RECORDS:
                break
    except csv.Error:
        pass
    return found


def _one_per_line(source: Source) -> tuple[list[Record], tuple[str, ...]]:
    """Return a record per line of ballots, in which the name of the ward is quoted twice."""
    records = []
    for number, line in enumerate(source.text_lines(), start=1):
        try:
            cells = next(csv.reader([line]), [])
        except csv.Error as error:
            raise refused(error, source.line(number)) from None
        records.append(Record(number, tuple(map(str.strip, cells))))
    return _without_blank(records, "line")


def _all_records(source: Source, delimiter: str) -> tuple[list[Record], tuple[str, ...]]:
    lines = source.text_lines()
    try:
        return _without_blank(list(_records("\n".join(lines), delimiter)), "line")
    except csv.Error as error:
        raise refused(error, source.name) from None


def open_excel(source: Source, sheet: str | int | None = None) -> TableFile:
    """Open a sheet of an Excel file, as a survey program exports it or plain.

    Parameters
    ----------
    source
        The file.
    sheet
        The sheet, by name or by number from 1; the first if None.
    """
    found = read_sheet(source, sheet)
    every = [
        Record(number, tuple(map(_text, row))) for number, row in enumerate(found.rows, start=1)
    ]
    records, blank = _without_blank(every, "row")
    form = ReadingNotes(
        file=source.name,
        format=f"Excel, sheet {quoted(found.name)}",
        remarks=(*blank, *_say_unread(found.unread)),
    )
    if not records:
        raise InputError(
            f"{source.name}: sheet {quoted(found.name)} is empty",
            [use(sheet=one) for one in found.names if one != found.name],
        )
    if found.unread and all(record.n_filled == 1 for record in records):
        raise InputError(
            f"sheet {quoted(found.name)} holds a single column, and there are others",
            [
                *(use("if it holds the answers", sheet=one) for one in found.unread),
                use("if this one does", sheet=found.name),
            ],
        )
    export = recognise(records)
    if export is not None:
        return open_export(export, source, form, unit="row")
    header, *below = records
    return _open_grid(header.cells, below, source, form, unit="row")


def _say_unread(sheets: Sequence[str]) -> tuple[Remark, ...]:
    """Say which other sheets a file has."""
    if not sheets:
        return ()
    shown = listed([quoted(one) for one in sheets[:_MOST_SHEETS]])
    more = ", ..." if len(sheets) > _MOST_SHEETS else ""
    one = len(sheets) == 1
    said = f"Sheet{'' if one else 's'} {shown}{more} {'was' if one else 'were'} not read"
    remedies = tuple(use("to read that sheet", sheet=one) for one in sheets[:_MOST_SHEETS])
    return (Remark(said, remedies),)


def _text(cell: Any) -> str:
    """Write a cell as text, as a CSV file would hold it."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return f"{cell:.15g}"
    if isinstance(cell, dt.date | dt.time | dt.timedelta):
        return str(cell)
    return " ".join(str(cell).split())
