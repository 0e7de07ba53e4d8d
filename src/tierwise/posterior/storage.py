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


# The dimensions of what a file of each kind must hold.
DIMENSIONS = {
    "Posterior": {"theta": ("chain", "draw"), "tier": ("chain", "draw", "item")},
    "MixtureDraws": {
        "share": ("chain", "draw", "group"),
        "theta": ("chain", "draw", "group"),
        "tier": ("chain", "draw", "group", "item"),
        "log_likelihood": ("chain", "draw"),
    },
}


def save(data: DataTree, path: str | PathLike[str], kind: str = "Posterior") -> None:
    """Write draws to a file, which is there whole or not at all."""
    versioned = data.copy()
    versioned.attrs["tierwise_format"] = FORMAT
    versioned.attrs["tierwise_kind"] = kind
    # In memory first: where a disk is full, HDF5 does not raise an error but crashes.
    content = versioned.to_netcdf(engine="h5netcdf")
    with whole_file(path) as partial:
        partial.write_bytes(content)


def load(path: str | PathLike[str], kind: str = "Posterior") -> DataTree:
    """Read draws from a file, or say why that cannot be done."""
    from xarray import open_datatree

    source = Path(path)
    if not source.is_file():
        raise InputError(f"there is no file {source}: name one that {kind}.save wrote")
    try:
        with open_datatree(source, engine="h5netcdf") as opened:
            data = opened.load()
    except (OSError, ValueError, KeyError, RuntimeError, AttributeError, TypeError):
        raise InputError(
            f"{source} is damaged, or no netCDF file: name one that {kind}.save wrote"
        ) from None
    version = data.attrs.pop("tierwise_format", None)
    if version is None:
        raise InputError(f"{source} holds no posterior: name a file that {kind}.save wrote")
    written = data.attrs.pop("tierwise_kind", "Posterior")
    if written != kind:
        raise InputError(f"{source} was written by {written}.save, not by {kind}.save")
    if version > FORMAT:
        raise InputError(
            f"{source} was written by a newer version of tierwise (format {int(version)}, this one "
            f"reads up to {FORMAT}): install that version"
        )
    _check(data, source, kind)
    return data


def _check(data: DataTree, source: Path, kind: str) -> None:
    """Refuse a file that opens but does not hold all that a posterior is made of."""
    try:
        json.loads(data.attrs["tierwise"])
        draws = data["posterior"]
        whole = all(draws[name].dims == wanted for name, wanted in DIMENSIONS[kind].items())
    except (KeyError, ValueError, TypeError):
        whole = False
    if not whole:
        raise InputError(f"{source} is damaged: parts of the posterior are missing from it")
