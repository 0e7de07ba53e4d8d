"""Plans: the sizes of each group's tiers, or that they are to be found."""

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, Literal, TypeAlias

from tierwise.errors import InputError
from tierwise.tiers.sizes import Sizes, check_sizes

Plan: TypeAlias = Sizes | Literal["search"]
"""The sizes of a group's tiers, or that they are to be found."""

Noise: TypeAlias = Literal["none", "uniform"]
SizesOfGroups: TypeAlias = "str | Iterable[int] | Sequence[str | Iterable[int]]"

_MOST_GROUPS_TRIED = 6


def plans_of(
    n_items: int, n_groups: int | Iterable[int] | None, sizes: SizesOfGroups, noise: Noise
) -> dict[int, tuple[Plan, ...]]:
    """Return, for each number of groups to try, the plan of each group.

    Examples
    --------
    >>> plans_of(3, 2, (1, 2), "none")
    {2: ((1, 2), (1, 2))}
    >>> plans_of(3, None, ["search", (1, 2)], "uniform")
    {2: ('search', (1, 2), (3,))}
    """
    given: list[Any] = [sizes] if isinstance(sizes, str) else list(sizes)
    apart = not isinstance(sizes, str) and bool(given) and isinstance(given[0], str | Iterable)
    numbers = _numbers(n_groups, len(given) if apart else None)
    if apart:
        by_number = {len(given): tuple(_plan(entry, n_items) for entry in given)}
    else:
        alike = _plan(sizes if isinstance(sizes, str) else given, n_items)
        by_number = {number: (alike,) * number for number in numbers}
    uniform: tuple[Plan, ...] = ((n_items,),) if noise == "uniform" else ()
    return {number: by_number[number] + uniform for number in numbers}


def _plan(sizes: str | Iterable[int], n_items: int) -> Plan:
    if isinstance(sizes, str):
        if sizes != "search":
            raise InputError(f'sizes must be "search" or whole numbers, one a tier; got {sizes!r}')
        return "search"
    return check_sizes(sizes, n_items)


def _numbers(n_groups: int | Iterable[int] | None, n_given: int | None) -> list[int]:
    """Return the numbers of groups to try, in ascending order."""
    if n_groups is None:
        return list(range(1, _MOST_GROUPS_TRIED + 1)) if n_given is None else [n_given]
    try:
        listed = n_groups if isinstance(n_groups, Iterable) else [n_groups]
        numbers = sorted({index(number) for number in listed})
    except TypeError:
        raise InputError(f"n_groups must be whole numbers, such as 3; got {n_groups!r}") from None
    if not numbers or numbers[0] < 1:
        raise InputError(f"n_groups must be at least 1; got {n_groups!r}")
    if n_given is not None and numbers != [n_given]:
        raise InputError(
            f"sizes are given for {n_given} groups, but n_groups is {n_groups!r}: give one sizes "
            "for all groups, or as many as there are groups"
        )
    return numbers
