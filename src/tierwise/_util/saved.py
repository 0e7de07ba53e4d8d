"""Arrays in files, .npz: what they hold is decided from headers, before any memory is taken."""

from __future__ import annotations

import struct
import zlib
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.lib import format as npy

from tierwise._util.checks import check_path
from tierwise._util.resources import check_memory, whole_file
from tierwise.errors import InputError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

    from tierwise._util.types import Item

# What zip archives, arrays in them and texts of JSON raise if they are not whole.
_OF_DAMAGE = (
    *(OSError, EOFError, BadZipFile, zlib.error, struct.error, NotImplementedError, RuntimeError),
    *(ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError),
)


class SavedArrays:
    """The arrays of a file, each read when it is requested; made by `open_arrays`."""

    def __init__(self, archive: ZipFile, path: Path) -> None:
        self._archive = archive
        self._path = path

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        return [name.removesuffix(".npy") for name in self._archive.namelist()]

    def text(self, name: str) -> str:
        """Return a text."""
        return str(self.array(name, (), "U"))

    def array(self, name: str, shape: tuple[int | None, ...], kinds: str) -> NDArray[Any]:
        """Return an array, or say that the file is damaged if it has another shape or kind.

        Parameters
        ----------
        name
            Name of the array.
        shape
            Its shape; None is any number.
        kinds
            What it may hold: "i" for whole numbers, "f" for floats, "U" for text.
        """
        with self._archive.open(f"{name}.npy") as file:
            version = npy.read_magic(file)
            read_header = {
                (1, 0): npy.read_array_header_1_0,
                (2, 0): npy.read_array_header_2_0,
            }[version]
            found, _, dtype = read_header(file)
            fits = len(found) == len(shape) and all(
                wanted in (None, size) for size, wanted in zip(found, shape, strict=True)
            )
            if not fits or dtype.kind not in kinds:
                raise ValueError(f"{name} is {dtype} of shape {found}")
            check_memory(
                prod(found) * dtype.itemsize, f"the {name} in {self._path}", "take another file"
            )
        with self._archive.open(f"{name}.npy") as file:
            return npy.read_array(file, allow_pickle=False)


def file_to_save(path: str | PathLike[str], what: str, items: Sequence[Item]) -> Path:
    """Return the file that arrays are saved in, or say what cannot be saved and read back.

    Parameters
    ----------
    path
        The file, .npz.
    what
        What it is to hold, for messages.
    items
        Names of items.
    """
    wanted = check_path(path)
    if wanted.suffix.lower() != ".npz":
        raise InputError(
            f"{what} are saved as .npz, not as {quoted(wanted.name)}: let the name end in .npz"
        )
    if not all(isinstance(item, str) or type(item) is int for item in items):
        raise InputError(f"{what} are saved if items are texts or whole numbers: rename them")
    return wanted


def save_arrays(path: Path, **arrays: Any) -> None:
    """Write arrays and texts to a file, which appears whole or not at all."""
    with whole_file(path) as partial, partial.open("wb") as file:
        np.savez_compressed(file, **arrays)


@contextmanager
def open_arrays(path: Path, what: str) -> Iterator[SavedArrays]:
    """Open a file of arrays, and turn whatever goes wrong inside the block into a refusal.

    Parameters
    ----------
    path
        The file.
    what
        What it should hold, for messages.
    """
    try:
        with path.open("rb") as file, ZipFile(file) as archive:
            yield SavedArrays(archive, path)
    except FileNotFoundError:
        raise InputError(f"there is no file {quoted(str(path))}") from None
    except InputError:
        raise
    except _OF_DAMAGE:
        raise InputError(f"{path} is not a file of {what}, or is damaged") from None
