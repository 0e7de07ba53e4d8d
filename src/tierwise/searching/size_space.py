"""Which size vectors a search may consider, and which of them lie next to each other."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import comb
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_count
from tierwise.errors import InputError
from tierwise.tiers import Sizes, adjacent_shifts, check_sizes, compositions, neighbours

Moves: TypeAlias = Literal["split-merge-shift", "adjacent"]

# Up to so many tiers any number of neighbours is joined in a leap, beyond only so many.
_FEW_TIERS = 12
_MOST_JOINED = 4
# Of so many items tiers that differ by the move of a single item are neighbours, too.
_MOST_ITEMS_TO_MOVE = 40


def check_moves(moves: str) -> None:
    """Refuse an unknown kind of neighbours."""
    if moves not in get_args(Moves):
        known = " or ".join(f'"{name}"' for name in get_args(Moves))
        raise InputError(f"moves must be {known}; got {moves!r}")


@dataclass(frozen=True)
class SizeSpace:
    """All size vectors that start and end as given and have as many tiers as given.

    Attributes
    ----------
    n_items
        What the sizes sum to.
    n_tiers
        The number of tiers; None if it is free.
    top, bottom
        Sizes of the first and of the last tiers; empty if they are free.

    Examples
    --------
    >>> list(SizeSpace(5, top=(1,), n_tiers=3))
    [(1, 1, 3), (1, 2, 2), (1, 3, 1)]
    >>> SizeSpace(10).n_sizes
    512
    """

    n_items: int
    n_tiers: int | None = None
    top: Sizes = ()
    bottom: Sizes = ()

    def __post_init__(self) -> None:
        for name, sizes in (("top", self.top), ("bottom", self.bottom)):
            if sizes:
                object.__setattr__(self, name, check_sizes(sizes))
        if self.n_free < 0:
            raise InputError(
                f"top {self.top} and bottom {self.bottom} hold {self.n_items - self.n_free} items, "
                f"but there are only {self.n_items}"
            )
        if self.n_tiers is None:
            return
        least = len(self.top) + len(self.bottom) + (self.n_free > 0)
        most = len(self.top) + len(self.bottom) + self.n_free
        if not least <= self.n_tiers <= most:
            raise InputError(
                f"{self.n_items} items allow {least} to {most} tiers"
                + (" with these top and bottom sizes" if self.top or self.bottom else "")
                + f"; got {self.n_tiers}"
            )

    @property
    def n_free(self) -> int:
        """Number of items that belong neither to the top nor to the bottom."""
        return self.n_items - sum(self.top) - sum(self.bottom)

    @property
    def n_free_tiers(self) -> int | None:
        """Number of tiers between top and bottom; None if it is free."""
        return None if self.n_tiers is None else self.n_tiers - len(self.top) - len(self.bottom)

    @property
    def n_sizes(self) -> int:
        """Number of size vectors."""
        if self.n_free == 0:
            return 1
        if self.n_free_tiers is None:
            return 1 << (self.n_free - 1)
        return comb(self.n_free - 1, self.n_free_tiers - 1)

    def __iter__(self) -> Iterator[Sizes]:
        """Go through all size vectors."""
        if self.n_free == 0:
            yield self.with_middle(())
        elif self.n_free_tiers is None:
            yield from map(self.with_middle, compositions(self.n_free))
        else:
            for cuts in combinations(range(1, self.n_free), self.n_free_tiers - 1):
                yield self.with_middle(between_cuts(cuts, self.n_free))

    def __contains__(self, sizes: Sizes) -> bool:
        """Return whether a size vector is among them."""
        n_top, n_bottom = len(self.top), len(self.bottom)
        return (
            sum(sizes) == self.n_items
            and (self.n_tiers is None or len(sizes) == self.n_tiers)
            and len(sizes) >= n_top + n_bottom
            and sizes[:n_top] == self.top
            and sizes[len(sizes) - n_bottom :] == self.bottom
        )

    def middle(self, sizes: Sizes) -> Sizes:
        """Return the sizes of the tiers between top and bottom."""
        return sizes[len(self.top) : len(sizes) - len(self.bottom)]

    def with_middle(self, middle: Sizes) -> Sizes:
        """Put top and bottom around the sizes between them."""
        return (*self.top, *middle, *self.bottom)

    def neighbours(self, sizes: Sizes, moves: Moves) -> list[Sizes]:
        """Size vectors of this space that are one move away.

        Examples
        --------
        >>> SizeSpace(5, top=(1,)).neighbours((1, 2, 2), "adjacent")
        [(1, 1, 1, 2), (1, 1, 3), (1, 3, 1), (1, 2, 1, 1)]
        """
        if self.n_free == 0:
            return []
        near = neighbours if moves == "split-merge-shift" else adjacent_shifts
        moved = map(self.with_middle, near(self.middle(sizes)))
        return [candidate for candidate in moved if candidate in self]

    def leaps(self, sizes: Sizes) -> list[Sizes]:
        """Size vectors of this space that take several moves, none of which need be a gain.

        Three or more neighbouring tiers are joined, or a tier of three or more is taken apart: of
        three equal items, two in a tier and one apart can be worse than both all and none. Of many
        tiers only three or four are joined, because there are too many ways to join more.

        Examples
        --------
        >>> SizeSpace(6).leaps((1, 1, 1, 3))
        [(3, 3), (1, 5), (6,), (1, 1, 1, 1, 1, 1)]
        """
        middle = self.middle(sizes)
        most_joined = len(middle) if len(middle) <= _FEW_TIERS else _MOST_JOINED
        joined = [
            (*middle[:first], sum(middle[first:last]), *middle[last:])
            for n_joined in range(3, most_joined + 1)
            for first in range(len(middle) - n_joined + 1)
            for last in [first + n_joined]
        ]
        apart = [
            (*middle[:tier], *(1,) * size, *middle[tier + 1 :])
            for tier, size in enumerate(middle)
            if size >= 3
        ]
        found = map(self.with_middle, joined + apart)
        return [candidate for candidate in found if candidate in self]

    def nearest(self, sizes: Sizes) -> Sizes:
        """Fit a size vector into this space: keep the cuts that may stay.

        Where there are too many tiers the smallest neighbours are joined, where there are too few
        the largest is halved.

        Examples
        --------
        >>> SizeSpace(10, top=(1, 1), n_tiers=5).nearest((1, 2, 3, 2, 1, 1))
        (1, 1, 4, 2, 2)
        """
        if self.n_free == 0:
            return self.with_middle(())
        first = sum(self.top)
        cuts = [sum(sizes[:tier]) - first for tier in range(1, len(sizes))]
        kept = [cut for cut in cuts if 0 < cut < self.n_free]
        return self.with_middle(self.with_right_number(between_cuts(kept, self.n_free)))

    def with_right_number(self, middle: Sizes) -> Sizes:
        """Join or halve tiers until there are as many as there must be."""
        wanted = self.n_free_tiers
        tiers = list(middle)
        while wanted is not None and len(tiers) > wanted:
            joined = [left + right for left, right in pairwise(tiers)]
            smallest = joined.index(min(joined))
            tiers[smallest : smallest + 2] = [joined[smallest]]
        while wanted is not None and len(tiers) < wanted:
            largest = tiers.index(max(tiers))
            half = tiers[largest] // 2
            tiers[largest : largest + 1] = [half, tiers[largest] - half]
        return tuple(tiers)


def make_space(
    n_items: int, n_tiers: int | None, top: Iterable[int] | None, bottom: Iterable[int] | None
) -> SizeSpace:
    """Make the space of size vectors from what the user said."""
    if n_tiers is not None:
        n_tiers = check_count("n_tiers", n_tiers)
    return SizeSpace(n_items, n_tiers, tuple(top or ()), tuple(bottom or ()))


def between_cuts(cuts: Sequence[int], n_items: int) -> Sizes:
    """Sizes of the runs that ascending cuts make of a number of items.

    Examples
    --------
    >>> between_cuts([1, 3], 7)
    (1, 2, 4)
    """
    return tuple(right - left for left, right in pairwise((0, *cuts, n_items)))


def neighbouring_tiers(labels: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Join tiers that follow each other; of few items, move one to a tier beside its own."""
    n_tiers = int(labels.max()) + 1
    for tier in range(n_tiers - 1):
        yield np.where(labels > tier, labels - 1, labels)
    if len(labels) > _MOST_ITEMS_TO_MOVE:
        return
    for item, tier in enumerate(labels.tolist()):
        alone = int((labels == tier).sum()) == 1
        # Tiers have even numbers now, and room for a new one between them.
        places = [2 * tier - 2, 2 * tier - 1, 2 * tier + 1, 2 * tier + 2]
        if alone:
            places = [2 * tier - 2, 2 * tier - 3, 2 * tier + 3, 2 * tier + 2]
        for place in places:
            if -1 <= place <= 2 * n_tiers - 1:
                moved = 2 * labels
                moved[item] = place
                yield np.unique(moved, return_inverse=True)[1].astype(np.int64)
