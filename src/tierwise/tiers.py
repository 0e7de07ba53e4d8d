"""Tiers: ordered partitions of the items, best tier first, and their size vectors."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from math import lgamma
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise._util.cards import Card, Section, rows_of
from tierwise._util.checks import check_count, check_iterable
from tierwise._util.types import Item, plain_item, python_item
from tierwise.errors import InputError, counted, drop, quoted

Sizes = tuple[int, ...]

# Of so many items there are more size vectors than anybody waits for.
MOST_ITEMS = 10_000


def check_sizes(sizes: Iterable[int], n_items: int | None = None) -> Sizes:
    """Return the sizes as a tuple of positive integers, or raise an error.

    Parameters
    ----------
    sizes
        Number of items in each tier, best tier first.
    n_items
        The sum that they must have, if known.

    Examples
    --------
    >>> check_sizes([1, 2, 2], n_items=5)
    (1, 2, 2)
    """
    try:
        checked = tuple(index(size) for size in sizes)
    except TypeError:
        raise InputError(
            f"sizes must be whole numbers, one per tier, such as (1, 2, 2); got {quoted(sizes)}"
        ) from None
    if not checked:
        raise InputError("sizes are empty: pass at least one tier, such as (1, 2, 2)")
    if min(checked) < 1:
        raise InputError(f"every tier needs at least one item; got sizes {checked}")
    if n_items is not None and sum(checked) != n_items:
        raise InputError(
            f"sizes {checked} sum to {sum(checked)}, but there are {n_items} items: "
            "the sizes must add up to the number of items"
        )
    return checked


@lru_cache(maxsize=2**14)
def log_number_of_tiers(sizes: Sizes) -> float:
    """Log of the number of tier lists with these sizes, ``n! / (n_1! ... n_L!)``.

    Examples
    --------
    >>> from math import exp
    >>> round(exp(log_number_of_tiers((2, 2))))
    6
    """
    return lgamma(sum(sizes) + 1) - sum(lgamma(size + 1) for size in sizes)


def log_factorials(largest: int) -> NDArray[np.float64]:
    """Log factorials of 0, 1, ..., ``largest``.

    Examples
    --------
    >>> np.exp(log_factorials(3)).round(6).tolist()
    [1.0, 1.0, 2.0, 6.0]
    """
    logs = np.zeros(largest + 1)
    np.cumsum(np.log(np.arange(1, largest + 1)), out=logs[1:])
    return logs


def compositions(n_items: int) -> Iterator[Sizes]:
    """Yield every size vector for a number of items, all ``2 ** (n_items - 1)`` of them.

    Examples
    --------
    >>> list(compositions(3))
    [(1, 1, 1), (1, 2), (2, 1), (3,)]
    """
    check_count("n_items", n_items, most=MOST_ITEMS)
    for cuts in range(2 ** (n_items - 1) - 1, -1, -1):
        sizes, run = [], 1
        for place in range(n_items - 2, -1, -1):
            if cuts >> place & 1:
                sizes.append(run)
                run = 1
            else:
                run += 1
        yield (*sizes, run)


def adjacent_shifts(sizes: Iterable[int]) -> list[Sizes]:
    """Size vectors reached by moving one item to a neighbouring tier.

    These are the paper's one-adjacent shifts. A tier that loses its only item disappears; at
    both ends, an item may also leave its tier to form a new tier.

    Examples
    --------
    >>> for neighbour in adjacent_shifts((1, 3, 3, 3)):
    ...     print(neighbour)
    (4, 3, 3)
    (2, 2, 3, 3)
    (1, 2, 4, 3)
    (1, 4, 2, 3)
    (1, 3, 2, 4)
    (1, 3, 4, 2)
    (1, 3, 3, 2, 1)
    """
    current = check_sizes(sizes)
    # An empty tier at each end lets the same rule also open new tiers there.
    padded = (0, *current, 0)
    found: dict[Sizes, None] = {}
    for left in range(len(padded) - 1):
        for giver, taker in ((left, left + 1), (left + 1, left)):
            if padded[giver] == 0:
                continue
            moved = list(padded)
            moved[giver] -= 1
            moved[taker] += 1
            found[tuple(size for size in moved if size)] = None
    found.pop(current, None)
    return list(found)


def splits_and_merges(sizes: Iterable[int]) -> list[Sizes]:
    """Size vectors reached by cutting one tier in two or joining two neighbouring tiers.

    Examples
    --------
    >>> splits_and_merges((1, 2))
    [(1, 1, 1), (3,)]
    """
    current = check_sizes(sizes)
    found: dict[Sizes, None] = {}
    for tier, size in enumerate(current):
        for first in range(1, size):
            found[(*current[:tier], first, size - first, *current[tier + 1 :])] = None
    for tier in range(len(current) - 1):
        joined = current[tier] + current[tier + 1]
        found[(*current[:tier], joined, *current[tier + 2 :])] = None
    return list(found)


def neighbours(sizes: Iterable[int]) -> list[Sizes]:
    """Size vectors reached by a split, a merge or a one-adjacent shift.

    Examples
    --------
    >>> neighbours((1, 2))
    [(1, 1, 1), (3,), (2, 1)]
    """
    current = check_sizes(sizes)
    return list(dict.fromkeys([*splits_and_merges(current), *adjacent_shifts(current)]))


class Tiers:
    """An ordered partition of items; items of one tier are tied.

    Parameters
    ----------
    tiers
        The items of each tier, best tier first. Items can be any hashable labels.

    Examples
    --------
    >>> tiers = Tiers([["fatty tuna"], ["tuna", "shrimp"]])
    >>> tiers
    Tiers('fatty tuna > tuna ~ shrimp')
    >>> tiers.sizes
    (1, 2)
    >>> tiers["shrimp"]
    2
    """

    __slots__ = ("__dict__", "_items", "_tier_of")

    def __init__(self, tiers: Iterable[Iterable[Item]]) -> None:
        if isinstance(tiers, str):
            raise InputError('tiers must be a list of lists of items, such as [["a"], ["b", "c"]]')
        tier_of: dict[Item, int] = {}
        for number, tier in enumerate(check_iterable("tiers", tiers, "tiers"), start=1):
            if not isinstance(tier, Iterable):
                raise InputError(f"tier {number} is {quoted(tier)}: a tier must be a list of items")
            if isinstance(tier, str):
                text = quoted(tier)
                raise InputError(
                    f"tier {number} is the text {text}: write [{text}] for a tier of one item"
                )
            members = list(map(python_item, tier))
            if not members:
                raise InputError(f"tier {number} is empty: every tier needs at least one item")
            for item in members:
                if item in tier_of:
                    raise InputError(
                        f"item {quoted(item)} is in tier {tier_of[item]} and again in tier "
                        f"{number}: list each item once"
                    )
                tier_of[item] = number
        if not tier_of:
            raise InputError("there are no tiers: pass at least one tier with one item")
        self._tier_of = tier_of
        self._items = tuple(tier_of)

    @classmethod
    def from_labels(
        cls, labels: Mapping[Any, int] | Iterable[int], items: Iterable[Item] | None = None
    ) -> "Tiers":
        """Make tiers from the tier number of each item, 1 being the best.

        Parameters
        ----------
        labels
            A tier number for each item, in the order of ``items``; or a mapping from items.
        items
            The items; by default 1, 2, ...

        Examples
        --------
        >>> Tiers.from_labels([2, 1, 1, 2, 3])
        Tiers('2 ~ 3 > 1 ~ 4 > 5')
        >>> Tiers.from_labels({"tuna": 2, "egg": 3, "fatty tuna": 1})
        Tiers('fatty tuna > tuna > egg')
        """
        if isinstance(labels, Mapping):
            if items is not None:
                raise InputError(
                    "labels are a mapping, which already names the items", [drop("items")]
                )
            names, given = list(labels), list(labels.values())
        else:
            given = list(check_iterable("labels", labels, "tier numbers"))
            names = list(range(1, len(given) + 1)) if items is None else list(items)
        try:
            numbers = [index(label) for label in given]
        except TypeError:
            raise InputError(
                f"labels must be whole numbers 1, 2, ...; got {quoted(given)}"
            ) from None
        if len(numbers) != len(names):
            raise InputError(f"{len(numbers)} labels were given for {len(names)} items")
        if not numbers:
            raise InputError("there are no labels: pass one for each item")
        used = sorted(set(numbers))
        if used != list(range(1, len(used) + 1)):
            raise InputError(
                "labels must use every number from 1 (best) to the number of tiers; got "
                + ", ".join(str(number) for number in used)
            )
        tiers: list[list[Item]] = [[] for _ in used]
        for item, number in zip(names, numbers, strict=True):
            tiers[number - 1].append(item)
        made = cls(tiers)
        made._items = tuple(map(python_item, names))
        return made

    @classmethod
    def from_sizes(cls, sizes: Iterable[int], items: Iterable[Item]) -> "Tiers":
        """Cut an order of the items, best first, into tiers of given sizes.

        Examples
        --------
        >>> Tiers.from_sizes((1, 2), ["a", "b", "c"])
        Tiers('a > b ~ c')
        """
        order = list(items)
        checked = check_sizes(sizes, n_items=len(order))
        ends = np.cumsum(checked)
        return cls(
            order[end - size : end] for size, end in zip(checked, ends.tolist(), strict=True)
        )

    @property
    def items(self) -> tuple[Item, ...]:
        """The items: in the order they were given, which is that of ``labels``."""
        return self._items

    @property
    def labels(self) -> tuple[int, ...]:
        """The tier number of each of ``items``, 1 being the best."""
        return tuple(self._tier_of[item] for item in self._items)

    @cached_property
    def sizes(self) -> Sizes:
        """The number of items in each tier, best tier first."""
        return tuple(len(tier) for tier in self)

    @cached_property
    def _tiers(self) -> tuple[tuple[Item, ...], ...]:
        tiers: list[list[Item]] = [[] for _ in range(max(self._tier_of.values()))]
        for item, number in self._tier_of.items():
            tiers[number - 1].append(item)
        return tuple(tuple(tier) for tier in tiers)

    def label_array(self, items: Sequence[Item]) -> NDArray[np.int64]:
        """Tier of each of the given items, counted from 0, for kernels.

        Parameters
        ----------
        items
            All items of these tiers, in any order.
        """
        if len(items) != len(self._items) or not all(item in self._tier_of for item in items):
            unknown = [item for item in items if item not in self._tier_of]
            absent = [item for item in self._items if item not in set(items)]
            raise InputError(
                "the tiers have different items: "
                + "; ".join(
                    [f"not in the tiers: {quoted(item)}" for item in unknown[:3]]
                    + [f"only in the tiers: {quoted(item)}" for item in absent[:3]]
                )
                + ". Use Rankings.restrict, or tiers with the same items"
            )
        return np.array([self._tier_of[item] - 1 for item in items], dtype=np.int64)

    def to_lists(self) -> list[list[Item]]:
        """Return the tiers as plain lists, as in JSON.

        Examples
        --------
        >>> Tiers([["a"], ["b", "c"]]).to_lists()
        [['a'], ['b', 'c']]
        """
        return [list(tier) for tier in self]

    def tied(self, first: Item, second: Item) -> bool:
        """Return whether two items are in the same tier.

        Examples
        --------
        >>> Tiers([["a"], ["b", "c"]]).tied("b", "c")
        True
        """
        return self[first] == self[second]

    def __getitem__(self, item: Item) -> int:
        """Return the tier number of an item, 1 being the best."""
        try:
            return self._tier_of[item]
        except KeyError:
            raise InputError(f"item {quoted(item)} is not in the tiers: {self}") from None

    def __iter__(self) -> Iterator[tuple[Item, ...]]:
        """Go through the tiers, best first, each a tuple of items."""
        return iter(self._tiers)

    def __len__(self) -> int:
        """Return the number of tiers."""
        return len(self._tiers)

    def __contains__(self, item: object) -> bool:
        """Return whether an item is in any of the tiers."""
        return item in self._tier_of

    def __eq__(self, other: object) -> bool:
        """Compare as ordered partitions: the order of items within a tier does not count."""
        return self._tier_of == other._tier_of if isinstance(other, Tiers) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._tier_of.items()))

    def __str__(self) -> str:
        return " > ".join(" ~ ".join(str(item) for item in tier) for tier in self)

    def __repr__(self) -> str:
        return f"Tiers({str(self)!r})"

    def _repr_html_(self) -> str:
        """Show the tiers as coloured rows, in a notebook."""
        title = f"{counted(len(self._items), 'item')} in {counted(len(self), 'tier')}"
        return Card(title, sections=[Section(rows_of(self))]).to_html()


def plain_tiers(tiers: Tiers) -> list[list[str | int | float]]:
    """Return tiers as lists of names that JSON can hold.

    Examples
    --------
    >>> plain_tiers(Tiers([[np.int64(3)], [1, 2.5]]))
    [[3], [1, 2.5]]
    """
    return [[plain_item(item) for item in tier] for tier in tiers]


def check_labels(labels: NDArray[Any], n_items: int) -> NDArray[np.int64]:
    """Return the tier of each item as whole numbers, or say what is wrong with them."""
    given = np.asarray(labels)
    if given.shape != (n_items,):
        raise InputError(f"labels must say the tier of each of {n_items} items")
    checked = given.astype(np.int64)
    if checked.min() != 0 or (np.bincount(checked) == 0).any():
        raise InputError("labels must use every number from 0 (best) up to the last tier")
    return checked
