"""The tree of a posterior: how the draws of all chains are laid out, for ArviZ and for files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise.fitting.result import plain_item
from tierwise.posterior.storage import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from xarray import DataTree

    from tierwise._util.provenance import Provenance
    from tierwise._util.types import Item
    from tierwise.posterior.chain import Trace
    from tierwise.posterior.options import SamplingOptions

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
        "posterior/theta": (("chain", "draw", "line?"), "f"),
        "posterior/tier": (("chain", "draw", "item"), "i"),
        "posterior/n_tiers": (("chain", "draw"), "i"),
        "posterior/total_distance": (("chain", "draw"), "f"),
    },
    facts={
        "items": (list,),
        "sizes": (list, type(None)),
        "method": (str,),
        "distance": (str,),
        "n_rankings": (int, float),
        "provenance": (dict,),
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
    """Make a tree of the draws of chains, and of what is known besides."""
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
    posterior = Dataset(
        {
            **_per_draw(draws),
            "tier": (("chain", "draw", "item"), (labels + 1).astype(np.int32)),
        },
        coords={**coordinates, "item": coordinate(names)},
    )
    statistics = Dataset(
        _per_draw({name: numbers[name] for name in _STATISTICS}), coords=coordinates
    )
    facts = {
        "items": names,
        "sizes": options.sizes,
        "method": options.method,
        "n_rankings": n_rankings,
        **options.plain(),
        **known,
        "provenance": provenance.to_dict(),
    }
    groups = {"posterior": posterior, "sample_stats": statistics}
    tree = Tree.from_dict(groups)
    tree.attrs["tierwise"] = json.dumps(facts, default=float)
    return tree


def _per_draw(values: dict[str, NDArray[Any]]) -> dict[str, tuple[tuple[str, ...], NDArray[Any]]]:
    """Name the dimensions of numbers; what no move wrote down is left out."""
    return {
        name: (("chain", "draw", "line")[: numbers.ndim], numbers)
        for name, numbers in values.items()
        if not np.isnan(numbers).all()
    }


def coordinate(names: list[str | int]) -> NDArray[Any]:
    """Return names as one kind of value, which a file can hold."""
    if all(isinstance(name, int) for name in names):
        return np.array(names, dtype=np.int64)
    return np.array([str(name) for name in names], dtype=object)
