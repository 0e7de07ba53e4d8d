"""Size vectors: how many items each tier holds, and which size vectors lie next to each other."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import lgamma
from operator import index

from tierwise._util.checks import check_count
from tierwise.errors import InputError, quoted

Sizes = tuple[int, ...]

# Of so many items there are more size vectors than anybody waits for.
MOST_ITEMS = 10_000


def check_sizes(sizes: Iterable[int], n_items: int | None = None) -> Sizes:
    """Return the sizes as a tuple of positive integers, or say what is wrong with them.

    Parameters
    ----------
    sizes
        Number of items in each tier, best tier first.
    n_items
        What they must sum to, where that is known.

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
        raise InputError("sizes are empty: give at least one tier, such as (1, 2, 2)")
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
    """Log of the number of different tiers with these sizes, ``n! / (n_1! ... n_L!)``.

    Examples
    --------
    >>> from math import exp
    >>> round(exp(log_number_of_tiers((2, 2))))
    6
    """
    return lgamma(sum(sizes) + 1) - sum(lgamma(size + 1) for size in sizes)


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
    both ends, an item may also leave its tier to form a new one of its own.

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
