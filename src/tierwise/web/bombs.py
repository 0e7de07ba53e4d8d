"""Refuse compressed files that expand to far more than is plausible, before reading them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tierwise.errors import InputError


def refuse_bombs(task: dict[str, Any]) -> None:
    """Refuse compressed files whose declared size is far too large."""
    from zipfile import BadZipFile, ZipFile

    path, most = Path(task["upload"]), task["limits"]["unpacked_bytes"]
    with path.open("rb") as file:
        start = file.read(4)
    if start == b"PK\x03\x04":
        try:
            with ZipFile(path) as packed:
                sizes = [entry.file_size for entry in packed.infolist()]
        except (BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise InputError(
                f"{task['name']} cannot be read as an Excel file ({error}): save it again as .xlsx "
                "or as CSV"
            ) from None
        _refuse_unpacked(task["name"], sum(sizes), most)
        if len(sizes) > 10_000:
            raise InputError(f"{task['name']} holds {len(sizes):,} files: save it again as CSV")
    elif start == b"PAR1":
        import pyarrow as pa
        import pyarrow.parquet as pq

        from tierwise.files.table_file import BYTES_PER_CELL

        try:
            metadata = pq.read_metadata(path)
        except (pa.ArrowException, OSError):
            return  # The reader says so better.
        groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
        # A value that is repeated takes as much as others once it is read.
        cells = BYTES_PER_CELL * metadata.num_rows * metadata.num_columns
        _refuse_unpacked(
            task["name"], max(cells, sum(group.total_byte_size for group in groups)), most
        )


def _refuse_unpacked(name: str, n_bytes: int, most: int) -> None:
    if n_bytes > most:
        raise InputError(
            f"{name} holds {n_bytes / (1 << 20):,.0f} MB when unpacked, and this server accepts "
            f"{most / (1 << 20):,.0f} MB: remove columns that are not answers, or use "
            "tierwise on the command line"
        )
