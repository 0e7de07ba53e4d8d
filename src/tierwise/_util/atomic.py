"""Files that are there whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from uuid import uuid4

from tierwise._util.checks import check_path
from tierwise.errors import InputError


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside the wanted one, which takes its name if all goes well."""
    wanted = check_path(path)
    if wanted.is_dir():
        raise InputError(f"{wanted} is a folder: name a file in it")
    if not wanted.parent.is_dir():
        raise InputError(f"there is no folder {wanted.parent}: create it first")
    partial = wanted.with_name(f".{wanted.name}.{uuid4().hex[:8]}.partial")
    try:
        yield partial
        partial.replace(wanted)
    except OSError as error:
        raise InputError(f"{wanted} cannot be written: {error.strerror or error}") from None
    finally:
        partial.unlink(missing_ok=True)
