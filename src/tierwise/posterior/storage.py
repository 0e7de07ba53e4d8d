"""The tree of a posterior's draws, in memory and as netCDF files.

A file ends with a checksum of its content, which HDF5 ignores. So a damaged file is detected before
a library reads it that might crash or hang.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tierwise._util.provenance import Provenance
from tierwise._util.resources import whole_file
from tierwise._util.results import Result
from tierwise._util.types import item_coordinate, plain_item
from tierwise.data.weights import EffectiveNumber
from tierwise.errors import InputError
from tierwise.posterior.chain import EFFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray
    from xarray import DataTree

    from tierwise._util.types import Item
    from tierwise.posterior.chain import Trace
    from tierwise.posterior.samplers import SamplingOptions

FORMAT = 2
_MARK = b"\ntierwise sha256 "
_LENGTH_OF_TRAILER = len(_MARK) + 64
# How netCDF begins the name of a dimension that has no values.
_BARE = b"This is a netCDF dim"
# What HDF5 and xarray raise where a file is not what it says.
_OF_DAMAGE = (
    *(OSError, ValueError, KeyError, IndexError, RuntimeError, AttributeError, TypeError),
    *(NotImplementedError, AssertionError, OverflowError, StopIteration),
)


@dataclass(frozen=True)
class Schema:
    """What a tree of draws must hold.

    Attributes
    ----------
    what
        What such a tree is called.
    variables
        Dimensions of each variable, and what it may hold, by ``group/name``: "f" for floats, "s"
        for shares, from 0 to 1, "i" for whole numbers, and the name of a dimension, of a variable
        before, for numbers along it. A variable or a dimension with a question mark may be missing.
    facts
        Types of what else must be known.
    variables_of_family
        Further variables by the family of models; "mallows" where the description names none.
    """

    what: str
    variables: Mapping[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    facts: Mapping[str, tuple[type, ...]] = field(default_factory=dict)
    variables_of_family: Mapping[str, Mapping[str, tuple[tuple[str, ...], str]]] = field(
        default_factory=dict
    )

    def problem(self, data: DataTree) -> str | None:
        """Return what is wrong with a tree, if anything is."""
        return next(self._problems(data), None)

    def _problems(self, data: DataTree) -> Iterator[str]:
        try:
            facts: Any = json.loads(data.attrs["tierwise"])
        except (KeyError, TypeError, ValueError, RecursionError):
            yield "its description is missing"
            return
        for name, types in self.facts.items():
            if not isinstance(facts, dict) or not isinstance(facts.get(name), types):
                yield f"{name} is missing from its description"
        sizes = {"item": len(facts["items"])}
        further = self.variables_of_family.get(str(facts.get("family", "mallows")), {})
        for path, (dimensions, kind) in {**self.variables, **further}.items():
            group, name = path.split("/")
            if group not in data or name.rstrip("?") not in data[group]:
                if not name.endswith("?"):
                    yield f"{name} is missing"
                continue
            values = data[group][name.rstrip("?")]
            if not _are(tuple(values.dims), dimensions) or not _hold(values, kind, sizes):
                yield f"{name.rstrip('?')} has wrong values"
            for dimension, size in values.sizes.items():
                if sizes.setdefault(str(dimension), size) != size:
                    yield f"{name} has a different number of {dimension}s"
        if not _are_tiers(data["posterior"]["tier"].to_numpy()):
            yield "tier has wrong values"


def _hold(values: Any, kind: str, sizes: Mapping[str, int]) -> bool:
    """Whether there are values, and of this kind, given the sizes of dimensions."""
    if values.size == 0 or values.dtype.kind != {"f": "f", "s": "f"}.get(kind, "i"):
        return False
    if kind in ("f", "i"):
        return True
    largest = 1 if kind == "s" else sizes[kind] - 1
    return bool(((values >= 0) & (values <= largest)).all())


def _are_tiers(labels: NDArray[Any]) -> bool:
    """Whether labels count from 1, with an item in every tier."""
    ordered = np.sort(labels, axis=-1)
    steps = np.diff(ordered, axis=-1, prepend=0)
    return bool((ordered[..., 0] == 1).all() and ((steps == 0) | (steps == 1)).all())


def _are(dimensions: tuple[object, ...], wanted: tuple[str, ...]) -> bool:
    """Whether dimensions are as wanted, with those that may be missing or without."""
    required = tuple(name for name in wanted if not name.endswith("?"))
    return dimensions in (required, tuple(name.rstrip("?") for name in wanted))


def save(data: DataTree, path: str | PathLike[str]) -> None:
    """Write draws to a file. A failure leaves no partial file."""
    versioned = data.copy()
    versioned.attrs["tierwise_format"] = FORMAT
    # In memory first: where a disk is full, HDF5 does not raise an error but crashes.
    content = bytes(versioned.to_netcdf(engine="h5netcdf"))
    with whole_file(path) as partial:
        partial.write_bytes(content + _MARK + sha256(content).hexdigest().encode())


def load(path: str | PathLike[str], schema: Schema) -> DataTree:
    """Read draws from a file, or say why that cannot be done."""
    from xarray import open_datatree

    source = Path(path)
    try:
        is_file = source.is_file()
        content = source.read_bytes() if is_file else b""
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror or error}") from None
    if not is_file:
        raise InputError(f"the file {source} does not exist: use one that {schema.what}.save wrote")
    if not _is_whole(content):
        raise InputError(
            f"{source} is damaged, was changed, or holds no {schema.what.lower()} of this "
            f"version: use a file that {schema.what}.save wrote"
        )
    try:
        _refuse_unstored(source)
        # Dimensions without names are another's; so named, they differ from what there should be.
        with open_datatree(source, engine="h5netcdf", phony_dims="sort") as opened:
            data = opened.load()
        version = int(data.attrs.pop("tierwise_format"))
        problem = schema.problem(data)
    except _OF_DAMAGE:
        raise InputError(
            f"{source} is damaged, or is not a netCDF file: use one that {schema.what}.save wrote"
        ) from None
    if version > FORMAT:
        raise InputError(
            f"{source} was written by a newer version of tierwise (format {version}, this one "
            f"reads up to {FORMAT}): install that version"
        )
    if problem is not None:
        raise InputError(
            f"{source} is damaged, or was not written by {schema.what}.save: parts of the "
            f"{schema.what.lower()} are missing ({problem})"
        )
    return data


def _refuse_unstored(path: Path) -> None:
    """Raise if any array holds more numbers than the file does.

    What `save` writes is not compressed. So a small file takes little memory, whatever its arrays
    should be, judging by their headers.
    """
    import h5py

    def check(name: str, stored: Any) -> None:
        # A dimension without values has a name only.
        has_values = isinstance(stored, h5py.Dataset) and not _is_bare_dimension(stored)
        if has_values and stored.id.get_storage_size() < stored.nbytes:
            raise ValueError(f"{name} is not stored in full")

    with h5py.File(path, "r") as file:
        file.visititems(check)


def _is_bare_dimension(stored: Any) -> bool:
    name = stored.attrs.get("NAME", b"")
    return isinstance(name, bytes | str) and name[:20] in (_BARE, _BARE.decode())


def _is_whole(content: bytes) -> bool:
    """Whether the checksum at the end is that of what comes before."""
    body, trailer = content[:-_LENGTH_OF_TRAILER], content[-_LENGTH_OF_TRAILER:]
    return trailer == _MARK + sha256(body).hexdigest().encode()


_NAMES = {
    "theta": "theta",
    "total": "total_distance",
    "mistake_probability": "mistake_probability",
    "log_posterior": "log_posterior",
}
_STATISTICS = ("accepted_tiers", "accepted_theta", "accepted_sizes")


SCHEMA = Schema(
    "Posterior",
    variables={
        "posterior/tier": (("chain", "draw", "item"), "i"),
        "posterior/n_tiers": (("chain", "draw"), "i"),
        "posterior/log_posterior?": (("chain", "draw"), "f"),
        "posterior/mistake_probability?": (("chain", "draw"), "s"),
    },
    facts={
        "items": (list,),
        "sizes": (list, type(None)),
        "method": (str,),
        "distance": (str,),
        "n_rankings": (int, float),
        "provenance": (dict,),
    },
    variables_of_family={
        "mallows": {
            "posterior/theta": (("chain", "draw", "line?"), "f"),
            "posterior/total_distance": (("chain", "draw"), "f"),
        },
        "luce": {
            "posterior/log_worth": (("chain", "draw", "item"), "f"),
            "posterior/first_factor?": (("chain", "draw"), "f"),
            "posterior/draw_factor?": (("chain", "draw"), "f"),
        },
    },
)
"""What must be in the tree of a posterior."""


def assemble(
    traces: Sequence[Trace],
    items: tuple[Item, ...],
    options: SamplingOptions,
    known: dict[str, Any],
    n_rankings: float,
    provenance: Provenance,
) -> DataTree:
    """Make a tree of the draws of chains, and of what else is known."""
    from xarray import Dataset
    from xarray import DataTree as Tree

    names = [plain_item(item) for item in items]
    labels = np.stack([trace.labels for trace in traces])
    numbers = {
        name: np.stack([trace.numbers[name] for trace in traces]) for name in traces[0].numbers
    }
    coordinates = {"chain": np.arange(len(traces)), "draw": np.arange(labels.shape[1])}
    draws = {shown: numbers[name] for name, shown in _NAMES.items()} | {
        "n_tiers": labels.max(axis=2) + 1
    }
    draws |= {name: numbers[name] for name in EFFECTS if name in numbers}
    posterior = Dataset(
        {
            **_per_draw(draws),
            "tier": (("chain", "draw", "item"), (labels + 1).astype(np.int32)),
            **_log_worths(numbers),
        },
        coords={**coordinates, "item": item_coordinate(items)},
    )
    statistics = Dataset(
        _per_draw({name: numbers[name] for name in _STATISTICS}), coords=coordinates
    )
    facts = {
        "items": names,
        "sizes": options.sizes,
        "method": options.sampler.method,
        "n_rankings": n_rankings,
        **_what_it_counts(n_rankings),
        **options.plain(),
        **known,
        "provenance": provenance.to_dict(),
    }
    groups = {"posterior": posterior, "sample_stats": statistics}
    tree = Tree.from_dict(groups)
    tree.attrs["tierwise"] = json.dumps(facts, default=float)
    return tree


def _what_it_counts(number: float) -> dict[str, Any]:
    """Say how many answers there are, if they count as fewer."""
    if not isinstance(number, EffectiveNumber):
        return {}
    said = {"n_answers": number.n_answers, "n_judges": number.n_judges}
    return said | ({"unit": "battle"} if number.unit and number.n_judges is None else {})


def _log_worths(numbers: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Name the dimensions of log worths, if there are any."""
    if "log_worth" not in numbers:
        return {}
    return {"log_worth": (("chain", "draw", "item"), numbers["log_worth"])}


def _per_draw(values: dict[str, NDArray[Any]]) -> dict[str, tuple[tuple[str, ...], NDArray[Any]]]:
    """Name the dimensions of numbers; what no move wrote down is left out.

    Thetas of tiers stay, also where no draw has two tiers.
    """
    return {
        name: (("chain", "draw", "line")[: numbers.ndim], numbers)
        for name, numbers in values.items()
        if numbers.ndim > 2 or not np.isnan(numbers).all()
    }


@dataclass(frozen=True, eq=False, repr=False)
class StoredDraws(Result):
    """Draws in a tree, which knows what it holds and can be written and read."""

    data: DataTree
    named_items: tuple[Item, ...] | None = None

    schema: ClassVar[Schema]

    @classmethod
    def of_items(cls, data: DataTree, items: Sequence[Item]) -> Self:
        """Return draws that call items by names which a file may not be able to hold."""
        stored = [plain_item(item) for item in items]
        return cls(data, None if stored == list(items) else tuple(items))

    @cached_property
    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.data.attrs["tierwise"])
        return facts

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The items."""
        return self.named_items or tuple(self._facts["items"])

    @property
    def provenance(self) -> Provenance:
        """Version, seed and time."""
        return Provenance.from_dict(self._facts["provenance"])

    def to_arviz(self) -> Any:
        """Return the draws in the format of the installed version of ArviZ.

        This is the tree ``data`` from ArviZ 1.0 on, or without ArviZ; for older versions, an
        ``InferenceData`` with the same groups.

        Examples
        --------
        >>> import tierwise as tw
        >>> drawn = tw.sample_posterior(tw.load_political_goals(), sizes=(2, 2), draws=50, rng=1)
        >>> sorted(drawn.to_arviz().posterior.data_vars)
        ['log_posterior', 'n_tiers', 'theta', 'tier', 'total_distance']
        """
        from importlib import import_module
        from importlib.metadata import PackageNotFoundError, version

        try:
            before_trees = int(version("arviz").split(".")[0]) < 1
        except PackageNotFoundError:
            before_trees = False
        return import_module("arviz").from_datatree(self.data) if before_trees else self.data

    def save(self, path: str | PathLike[str]) -> None:
        """Write the draws to a netCDF file. A failure leaves no partial file."""
        save(self.data, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a file that `save` wrote."""
        return cls(load(path, cls.schema))
