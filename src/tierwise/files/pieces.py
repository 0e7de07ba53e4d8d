"""Files larger than memory, cut into pieces that are read on their own and side by side."""

from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob
from os import PathLike, fspath
from pathlib import Path

from tierwise._util.checks import check_path
from tierwise._util.types import Item
from tierwise.errors import InputError
from tierwise.files.layouts import Roles
from tierwise.files.notes import ReadingNotes
from tierwise.files.options import TableOptions
from tierwise.files.places import EncodedRankings
from tierwise.files.source import FileFormat, Format, errors_name, find_source, recognise_format
from tierwise.files.table_file import TableFile
from tierwise.files.tables import in_order_of_appearance

# Long enough to outweigh handing a piece over, short enough that a lost one is soon done again.
_ROWS_OF_A_PIECE = 1 << 20
_ROWS_OF_A_CHUNK = 1 << 16
_SUFFIXES = ("*.parquet", "*.pq", "*.csv", "*.tsv")


@dataclass(frozen=True)
class Piece:
    """A file with one row per answer, or some of the row groups of a Parquet file.

    Attributes
    ----------
    path
        The file.
    file_format
        Its format.
    groups
        The row groups; None is the whole file.
    """

    path: Path
    file_format: FileFormat
    groups: range | None = None

    def chunks(self, options: TableOptions) -> Iterator[EncodedRankings]:
        """Read rankings, of which only a chunk is in memory at a time."""
        with errors_name(self.path.name):
            table = self._open()
            yield from table.chunks(options, table.roles(options), _ROWS_OF_A_CHUNK)

    def layout(self, options: TableOptions) -> Roles:
        """Tell what the columns are for."""
        with errors_name(self.path.name):
            table = self._open()
            return table.roles(options)

    def notes(self, options: TableOptions) -> ReadingNotes:
        """Note how the first rows were understood."""
        with errors_name(self.path.name):
            return self._open().notes(options)

    def items(self, options: TableOptions) -> tuple[Item, ...]:
        """Find the items of orderings, in order of appearance."""
        with errors_name(self.path.name):
            table = self._open()
            first_cells = table.first_cells(table.roles(options), _ROWS_OF_A_CHUNK)
        return in_order_of_appearance(first_cells)

    def _open(self) -> TableFile:
        source = find_source(self.path)
        if self.file_format == "csv":
            from tierwise.files.csv import open_csv

            return open_csv(source)
        from tierwise.files.table_file import open_parquet

        return open_parquet(source, self.groups)


def find_pieces(path: str | PathLike[str], file_format: Format) -> tuple[Piece, ...]:
    """Find the files that a path, a folder or a pattern means, and cut them into pieces."""
    pieces = tuple(piece for file in _find_files(path) for piece in _cut(file, file_format))
    if not pieces:
        raise InputError(f"{fspath(path)} holds no rankings: it must have at least one row")
    return pieces


def _find_files(path: str | PathLike[str]) -> list[Path]:
    given = check_path(path)
    if given.is_dir():
        found = {file for suffix in _SUFFIXES for file in given.rglob(suffix)}
        # Writers of datasets put their own notes beside the data, under names like _metadata.
        files = sorted(file for file in found if not file.name.startswith(("_", ".")))
        if not files:
            raise InputError(
                f"the folder {given} holds no file of rankings: put some in it whose names end in "
                + ", ".join(suffix.removeprefix("*") for suffix in _SUFFIXES)
            )
        return files
    if given.exists():
        return [given]
    files = sorted(Path(file) for file in glob(fspath(path), recursive=True))  # noqa: PTH207 - takes whole paths
    if not files:
        raise InputError(f"no file is called {fspath(path)}: check the name and the folder")
    return files


def _cut(file: Path, file_format: Format) -> list[Piece]:
    source = find_source(file)
    known = recognise_format(source) if file_format == "auto" else file_format
    if known == "csv":
        return [Piece(file, known)]
    if known != "parquet":
        raise InputError(f"{source.name}: the {known} format is read whole: use read_rankings")
    from tierwise.files.table_file import rows_of_groups

    pieces: list[Piece] = []
    first, n_rows = 0, 0
    rows = rows_of_groups(source)
    for group, rows_of_group in enumerate(rows, start=1):
        n_rows += rows_of_group
        if n_rows >= _ROWS_OF_A_PIECE or (group == len(rows) and n_rows):
            pieces.append(Piece(file, known, range(first, group)))
            first, n_rows = group, 0
    return pieces
