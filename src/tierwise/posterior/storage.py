"""Posteriors as netCDF files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tierwise._util.atomic import whole_file
from tierwise.errors import InputError

if TYPE_CHECKING:
    from os import PathLike

    from xarray import DataTree

FORMAT = 1


def save(data: DataTree, path: str | PathLike[str]) -> None:
    """Write draws to a file, which is there whole or not at all."""
    versioned = data.copy()
    versioned.attrs["tierwise_format"] = FORMAT
    # In memory first: where a disk is full, HDF5 does not raise an error but crashes.
    content = versioned.to_netcdf(engine="h5netcdf")
    with whole_file(path) as partial:
        partial.write_bytes(content)


def load(path: str | PathLike[str]) -> DataTree:
    """Read draws from a file, or say why that cannot be done."""
    from xarray import open_datatree

    source = Path(path)
    if not source.is_file():
        raise InputError(f"there is no file {source}: name one that Posterior.save wrote")
    try:
        with open_datatree(source, engine="h5netcdf") as opened:
            data = opened.load()
    except (OSError, ValueError, KeyError, RuntimeError, AttributeError, TypeError):
        raise InputError(
            f"{source} is damaged, or no netCDF file: name one that Posterior.save wrote"
        ) from None
    version = data.attrs.pop("tierwise_format", None)
    if version is None:
        raise InputError(f"{source} holds no posterior: name a file that Posterior.save wrote")
    if version > FORMAT:
        raise InputError(
            f"{source} was written by a newer version of tierwise (format {int(version)}, this one "
            f"reads up to {FORMAT}): install that version"
        )
    _check(data, source)
    return data


def _check(data: DataTree, source: Path) -> None:
    """Refuse a file that opens but does not hold all that a posterior is made of."""
    try:
        json.loads(data.attrs["tierwise"])
        shape = data["posterior"]["tier"].shape
        whole = data["posterior"]["theta"].shape == shape[:2]
    except (KeyError, ValueError, TypeError):
        whole = False
    if not whole:
        raise InputError(f"{source} is damaged: parts of the posterior are missing from it")
