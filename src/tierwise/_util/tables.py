"""Tables as files hold them: text, Markdown, CSV, JSON, LaTeX, HTML and Excel, by one writer."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html import escape
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import category

from tierwise._util.columns import fitted, within
from tierwise._util.resources import whole_file
from tierwise.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

TABLE_ENDINGS = (".txt", ".md", ".csv", ".json", ".tex", ".html", ".xlsx")
"""The endings of files that a table can be written to."""

_WIDTH_OF_FILES = 100
_IN_LATEX = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font-family:system-ui,sans-serif;line-height:1.45;max-width:64rem;margin:2rem auto;"
    "padding:0 1rem}"
    ".wide{overflow-x:auto}"
    "table{border-collapse:collapse;margin:1rem 0}"
    "caption{text-align:left;padding-bottom:.4rem}"
    "th,td{padding:.25rem .8rem .25rem 0;text-align:right;border-bottom:1px solid #8884;"
    "vertical-align:top}"
    "th{border-bottom:2px solid #888a}"
    ".left{text-align:left}"
    "pre{white-space:pre-wrap}"
)
_CONTROLS_IN_JSON = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# What a cell of an Excel sheet can hold.
_LONGEST_CELL = 32_767


@dataclass(frozen=True)
class Table:
    r"""A table, as people read it and as programs do.

    Attributes
    ----------
    columns
        The names of the columns.
    rows
        The cells as people read them, one for each column.
    left
        Columns, counted from 0, that stand left; numbers stand right.
    caption
        What the table is about; may be empty.
    note
        What is to be known about its numbers; may be empty.
    values
        The columns as programs read them, by name, for CSV, JSON and Excel; ``rows`` if None.
    droppable
        Columns that a narrow terminal does without, in this order.

    Examples
    --------
    >>> table = Table(("model", "held out"), [("Luce", "-1.25"), ("Mallows & co", "-1.5")])
    >>> print(table.to_text())
    model         held out
    Luce             -1.25
    Mallows & co      -1.5
    >>> print(table.to_latex())
    % needs \usepackage{booktabs}
    \begin{tabular}{lr}
    \toprule
    model & held out \\
    \midrule
    Luce & -1.25 \\
    Mallows \& co & -1.5 \\
    \bottomrule
    \end{tabular}
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Sequence[int] = (0,)
    caption: str = ""
    note: str = ""
    values: Mapping[str, Sequence[Any]] | None = None
    droppable: Sequence[int] = ()

    @classmethod
    def of(cls, values: Mapping[str, Sequence[Any]], *, caption: str = "", note: str = "") -> Table:
        """Make a table of the columns of a data frame, with numbers as people read them.

        Examples
        --------
        >>> table = Table.of({"sizes": [(1, 2), (3,)], "share": [250.30000000000004, None]})
        >>> print(table.to_text())
        sizes  share
        1, 2   250.3
        3          -
        """
        columns = {name: list(column) for name, column in values.items()}
        numeric = [
            all(cell is None or _is_number(cell) for cell in column) for column in columns.values()
        ]
        return cls(
            list(columns),
            [[in_words(cell) for cell in row] for row in zip(*columns.values(), strict=True)],
            left=[place for place, is_numeric in enumerate(numeric) if not is_numeric],
            caption=caption,
            note=note,
            values={
                name: [in_words(cell) if isinstance(cell, list | tuple) else cell for cell in cells]
                for name, cells in columns.items()
            },
        )

    def plain_columns(self) -> dict[str, list[Any]]:
        """Return the columns as programs read them."""
        if self.values is not None:
            return {name: list(column) for name, column in self.values.items()}
        return {name: [row[place] for row in self.rows] for place, name in enumerate(self.columns)}

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as programs read them, each with the names of the columns."""
        columns = self.plain_columns()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_text(self, width: int | None = None) -> str:
        """Return the table for a terminal, no wider than it; a note lists columns left out.

        Parameters
        ----------
        width
            How many columns of letters there are; as many as needed if None.
        """
        lines, left_out = fitted(
            [self.columns, *self.rows], width, left=self.left, droppable=self.droppable
        )
        parts = [self.caption] if self.caption else []
        parts += lines
        if left_out:
            parts += ["", left_out]
        if self.note:
            parts += ["", self.note]
        text = "\n".join(parts)
        return text if width is None else within(text, width)

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        marks = ["---" if place in self.left else "---:" for place in range(len(self.columns))]
        lines = [_markdown_row(self.columns), f"| {' | '.join(marks)} |"]
        lines += [_markdown_row(row) for row in self.rows]
        parts = [self.caption, "\n".join(lines), self.note]
        return "\n\n".join(part for part in parts if part)

    def to_csv(self) -> str:
        """Return the columns as programs read them, as CSV."""
        import csv
        from io import StringIO

        columns = self.plain_columns()
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return text.getvalue()

    def to_latex(self) -> str:
        """Return the table as LaTeX, with the rules of the package booktabs."""
        sides = "".join("l" if place in self.left else "r" for place in range(len(self.columns)))
        lines = [
            f"\\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            _latex_row(self.columns),
            r"\midrule",
            *map(_latex_row, self.rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
        if self.caption or self.note:
            lines = [
                r"\begin{table}",
                r"\centering",
                *([f"\\caption{{{in_latex(self.caption)}}}"] if self.caption else []),
                *lines,
                *([r"", f"\\smallskip {in_latex(self.note)}"] if self.note else []),
                r"\end{table}",
            ]
        return "\n".join([r"% needs \usepackage{booktabs}", *lines])

    def to_html(self) -> str:
        """Return the table as HTML, in which every name is text whatever it holds."""
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        head = self._html_row(self.columns, "th")
        body = "\n".join(self._html_row(row, "td") for row in self.rows)
        note = f"\n<p>{escape(self.note)}</p>" if self.note else ""
        return (
            f'<div class="wide"><table>{caption}\n<thead>\n{head}\n</thead>\n'
            f"<tbody>\n{body}\n</tbody>\n</table></div>{note}"
        )

    def to_xlsx(self) -> bytes:
        """Return the columns as programs read them, as the only sheet of an Excel file."""
        columns = self.plain_columns()
        return workbook([list(columns), *zip(*columns.values(), strict=True)])

    def _html_row(self, cells: Sequence[str], tag: str) -> str:
        sides = [' class="left"' if place in self.left else "" for place in range(len(cells))]
        written = "".join(
            f"<{tag}{side}>{escape(cell)}</{tag}>" for side, cell in zip(sides, cells, strict=True)
        )
        return f"<tr>{written}</tr>"

    def write(self, path: str | PathLike[str]) -> None:
        """Write the table to a file, in the format that its ending names.

        Examples
        --------
        >>> Table(("a",), [("1",)]).write("table.odt")
        Traceback (most recent call last):
        ...
        tierwise.errors.InputError: table.odt does not end in .txt, .md, .csv, .json, .tex, .html \
or .xlsx: give it one of these endings
        """
        ending = check_ending(path)
        write_bytes(self._written(ending), path)

    def _written(self, ending: str) -> bytes:
        if ending == ".xlsx":
            return self.to_xlsx()
        if ending == ".html":
            return page(self.caption or "Table", self.to_html()).encode()
        if ending == ".json":
            return as_json(self.records()).encode()
        if ending == ".csv":
            return self.to_csv().encode()
        if ending == ".tex":
            return (self.to_latex() + "\n").encode()
        text = self.to_markdown() if ending == ".md" else self.to_text(_WIDTH_OF_FILES)
        return (text + "\n").encode()


def in_words(value: Any) -> str:
    """Write a value of a data frame as people read it.

    Examples
    --------
    >>> [in_words(value) for value in (1234, 0.1 + 0.2, None, (1, 2), True, "tea", float("nan"))]
    ['1,234', '0.3', '-', '1, 2', 'yes', 'tea', '-']
    >>> in_words(-12345.678), in_words(3.1e-7)
    ('-12,346', '3.1e-07')
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(in_words, value))
    return _number_in_words(value) if _is_number(value) else str(value)


def _number_in_words(value: float) -> str:
    if isinstance(value, int):
        return f"{int(value):,}"
    if not isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{float(value):.4g}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_ending(
    path: str | PathLike[str],
    possible: Sequence[str] = TABLE_ENDINGS,
    *,
    argument: str = "",
) -> str:
    """Return the ending of a file that is to be written, or refuse it with the list.

    Parameters
    ----------
    path
        The file.
    possible
        The endings that are possible, each with its dot.
    argument
        The keyword by which the file was named, for the message.

    Examples
    --------
    >>> check_ending("Table.MD")
    '.md'
    """
    ending = Path(path).suffix.lower()
    ending = {".htm": ".html", ".text": ".txt", ".markdown": ".md"}.get(ending, ending)
    if ending not in possible:
        *first, last = possible
        named = f"{', '.join(first)} or {last}" if first else last
        name = printable(Path(path).name)
        raise InputError(
            f"{argument + ': ' if argument else ''}{name} does not end in {named}",
            ["give it one of these endings" if first else "give it this ending"],
        )
    return ending


def as_json(values: Any) -> str:
    """Write plain values as JSON, in which nothing is left that a terminal would obey."""
    text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False, default=str)
    # JSON escapes most of what a terminal would obey, but not all.
    return _CONTROLS_IN_JSON.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text) + "\n"


def write_bytes(data: bytes, path: str | PathLike[str]) -> None:
    """Write bytes to a file, which is there whole or not at all."""
    with whole_file(path) as partial:
        partial.write_bytes(data)


def page(title: str, body: str) -> str:
    """Return a page of HTML that needs nothing else; the body is HTML already."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n"
        "</body>\n</html>\n"
    )


def in_latex(text: str) -> str:
    r"""Escape what LaTeX would obey.

    Examples
    --------
    >>> print(in_latex("R&D_1: 50% ~ {a}"))
    R\&D\_1: 50\% \textasciitilde{} \{a\}
    """
    return "".join(_IN_LATEX.get(mark, mark) for mark in printable(text))


def in_markdown(text: str) -> str:
    r"""Escape what Markdown would take for a table, a link, code or emphasis.

    Examples
    --------
    >>> print(in_markdown("a|b *c* [d](e)"))
    a\|b \*c\* \[d](e)
    """
    marked = "".join(f"\\{mark}" if mark in "\\|*[`<" else mark for mark in printable(text))
    return marked.replace("\n", " ")


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(in_markdown, cells))} |"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(in_latex, cells)) + r" \\"


_PARTS_OF_WORKBOOK = {
    "[Content_Types].xml": (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/xl/workbook.xml" ContentType="application/'
        'vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/'
        'vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
        'relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
        'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
        '<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
        'relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
    ),
}


def workbook(rows: Sequence[Sequence[Any]]) -> bytes:
    """Return rows of cells as an Excel file with one sheet; texts are never formulas."""
    from io import BytesIO
    from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

    cells = "".join(
        f'<row r="{number}">{"".join(map(_excel_cell, row))}</row>'
        for number, row in enumerate(rows, start=1)
    )
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f"<sheetData>{cells}</sheetData></worksheet>"
    )
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for name, text in {**_PARTS_OF_WORKBOOK, "xl/worksheets/sheet1.xml": sheet}.items():
            # The same table is the same file: without the time at which it was written.
            part = ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            part.compress_type = ZIP_DEFLATED
            head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
            archive.writestr(part, (head + text).encode())
    return packed.getvalue()


def _excel_cell(value: Any) -> str:
    """Write a cell: a number, a text, or nothing."""
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return "<c/>"
    if _is_number(value):
        # A number may be of a class of its own, such as one that carries its error.
        return f"<c><v>{int(value) if isinstance(value, int) else float(value)!r}</v></c>"
    text = "".join(mark for mark in printable(str(value))[:_LONGEST_CELL] if category(mark) != "Cn")
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(text, quote=False)}</t></is></c>'
