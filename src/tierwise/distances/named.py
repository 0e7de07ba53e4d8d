"""Distances by their names.

A distance is found by the name it gives itself: a new file in this folder is all that a new
distance needs.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from tierwise import distances
from tierwise.distances.base import Costs, Distance, Rule
from tierwise.errors import InputError

__all__ = ["Costs", "Distance", "Rule", "distance_names", "get_distance"]


@cache
def _known() -> dict[str, Distance]:
    """One object for each distance in this package."""
    homes = {f"{distances.__name__}.{module.name}" for module in iter_modules(distances.__path__)}
    for home in homes:
        import_module(home)
    return {kind.name: kind() for kind in Distance.__subclasses__() if kind.__module__ in homes}


def distance_names() -> tuple[str, ...]:
    """Names of the distances there are.

    Examples
    --------
    >>> distance_names()
    ('footrule', 'hamming', 'inversions', 'kendall', 'spearman')
    """
    return tuple(sorted(_known()))


def get_distance(distance: str | Distance) -> Distance:
    """Return the distance of this name; a distance is returned as it is.

    Examples
    --------
    >>> get_distance("kendall")
    <distance kendall: pairs in different blocks that are reversed or tied in the tiers>
    """
    if isinstance(distance, Distance):
        return distance
    known = _known()
    if not isinstance(distance, str) or distance not in known:
        raise InputError(
            f"there is no distance {distance!r}: use one of " + ", ".join(distance_names())
        )
    return known[distance]
