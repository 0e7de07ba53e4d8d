"""Sheets of Excel files (.xlsx), read with python-calamine."""

import datetime as dt
from importlib.util import find_spec
from typing import Any

from tierwise._util.wording import quoted
from tierwise.errors import InputError
from tierwise.files.exports import open_export, recognise
from tierwise.files.grid import Record, open_grid
from tierwise.files.notes import ReadingNotes
from tierwise.files.source import Source
from tierwise.files.table_file import TableFile


def open_excel(source: Source, sheet: str | int | None = None) -> TableFile:
    """Open a sheet of an Excel file, as a survey program exports it or plain.

    Parameters
    ----------
    source
        The file.
    sheet
        The sheet, by name or by number from 1; the first if None.
    """
    if find_spec("python_calamine") is None:
        raise InputError(
            f"{source.name} is an Excel file, which python-calamine reads: install it with "
            '"pip install tierwise[xlsx]", or save the sheet as CSV'
        )
    from io import BytesIO

    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with source.open() as stream:
            book = CalamineWorkbook.from_filelike(BytesIO(stream.read()))
        name = _find_sheet(book.sheet_names, sheet)
        rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except (CalamineError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{source.name} cannot be read as an Excel file ({reason}): save it again as .xlsx or "
            "as CSV"
        ) from None
    form = ReadingNotes(file=source.name, format=f"Excel, sheet {quoted(name)}")
    records = [Record(number, tuple(map(_text, row))) for number, row in enumerate(rows, start=1)]
    records = [record for record in records if record.n_filled]
    if not records:
        raise InputError(
            f"{source.name}: sheet {quoted(name)} is empty: say which one is wanted with sheet= "
            f"(there are {', '.join(quoted(one) for one in book.sheet_names)})"
        )
    export = recognise(records)
    if export is not None:
        return open_export(export, source, form, unit="row")
    header, *below = records
    return open_grid(header.cells, below, source, form, unit="row")


def _find_sheet(names: list[str], sheet: str | int | None) -> str:
    """Return the name of the sheet that is wanted."""
    if sheet is None and names:
        return names[0]
    if isinstance(sheet, str) and sheet in names:
        return sheet
    text = str(sheet)
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    listed = ", ".join(f"{number} {quoted(name)}" for number, name in enumerate(names, start=1))
    raise InputError(f"there is no sheet {quoted(sheet)}: the sheets are {listed}")


def _text(cell: Any) -> str:
    """Write a cell as text, as a CSV file would hold it."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return f"{cell:.15g}"
    if isinstance(cell, dt.date | dt.time | dt.timedelta):
        return str(cell)
    return " ".join(str(cell).split())
