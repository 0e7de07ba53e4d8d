"""What people said, pair by pair: Preferences."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._encoding import check_items, unknown_item
from tierwise.errors import InputError
from tierwise.tiers import Item

Assessor: TypeAlias = Hashable
Pair: TypeAlias = tuple[Item, Item]
Cycles: TypeAlias = Literal["error", "keep"]


class Preferences:
    """Pairwise answers per assessor, with what follows from them; it never changes.

    If an assessor prefers a to b and b to c, then a to c follows. Answers that contradict each
    other (a over b over a) are an error that names the assessor and the cycle, unless
    ``cycles="keep"`` says that any answer may be a mistake; then nothing follows from them.

    Attributes
    ----------
    items : tuple
        The items, by their own names.
    assessors : tuple
        The assessors, in order of first appearance.
    closure : numpy.ndarray
        ``closure[s, a, b]`` tells whether assessor ``s`` prefers item ``a`` to item ``b``, directly
        or by what follows; only directly if answers may be mistaken.
    cycles : {"error", "keep"}
        Whether answers are all right, or may be mistaken.

    Examples
    --------
    >>> answers = Preferences.from_pairs([("Ann", "a", "b"), ("Ann", "b", "c"), ("Bob", "c", "a")])
    >>> answers
    Preferences(2 assessors, 3 items, 4 ordered pairs of which 1 by transitivity)
    >>> answers.pairs("Ann")
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """

    items: tuple[Item, ...]
    assessors: tuple[Assessor, ...]
    closure: NDArray[np.bool_]
    cycles: Cycles

    def __init__(
        self,
        answers: Mapping[Assessor, Iterable[Pair]],
        items: Iterable[Item] | None = None,
        *,
        cycles: Cycles = "error",
    ) -> None:
        if cycles not in ("error", "keep"):
            raise InputError(f'cycles must be "error" or "keep"; got {cycles!r}')
        self.cycles = cycles
        given = {assessor: [tuple(pair) for pair in pairs] for assessor, pairs in answers.items()}
        if not any(given.values()):
            raise InputError("there are no preferences: give at least one pair")
        for assessor, pairs in given.items():
            for pair in pairs:
                if len(pair) != 2:
                    raise InputError(
                        f"assessor {assessor!r}: {pair!r} is not a pair (preferred, other)"
                    )
        mentioned = dict.fromkeys(
            item for pairs in given.values() for pair in pairs for item in pair
        )
        self.items = check_items(mentioned if items is None else items)
        numbers = {item: number for number, item in enumerate(self.items)}
        self.assessors = tuple(given)
        direct = np.zeros((len(given), len(self.items), len(self.items)), dtype=np.bool_)
        for row, (assessor, pairs) in enumerate(given.items()):
            for preferred, other in pairs:
                for item in (preferred, other):
                    if item not in numbers:
                        raise unknown_item(item, self.items, f"assessor {assessor!r}")
                if preferred == other:
                    raise InputError(
                        f"assessor {assessor!r} compares item {preferred!r} with itself"
                    )
                direct[row, numbers[preferred], numbers[other]] = True
        self._n_direct = int(direct.sum())
        if cycles == "keep":
            self.closure = direct
        else:
            self.closure = transitive_closure(direct)
            self._refuse_cycles(direct)
        self.closure.flags.writeable = False

    @classmethod
    def from_pairs(
        cls,
        rows: Iterable[tuple[Assessor, Item, Item]],
        items: Iterable[Item] | None = None,
        *,
        cycles: Cycles = "error",
    ) -> "Preferences":
        """Make preferences from rows (assessor, preferred item, other item).

        Parameters
        ----------
        rows
            One comparison a row; repeated rows count once.
        items
            All items there are; those that appear in the rows where none are given.
        cycles
            "keep" accepts answers that contradict each other: any of them may be a mistake.
        """
        answers: defaultdict[Assessor, list[Pair]] = defaultdict(list)
        for number, row in enumerate(rows, start=1):
            if len(row) != 3:
                raise InputError(f"row {number} must be (assessor, preferred, other); got {row!r}")
            answers[row[0]].append((row[1], row[2]))
        return cls(answers, items, cycles=cycles)

    def _refuse_cycles(self, direct: NDArray[np.bool_]) -> None:
        in_cycle = np.diagonal(self.closure, axis1=1, axis2=2)
        if not in_cycle.any():
            return
        row, start = (int(position) for position in np.argwhere(in_cycle)[0])
        cycle = " > ".join(repr(self.items[item]) for item in shortest_cycle(direct[row], start))
        raise InputError(
            f"assessor {self.assessors[row]!r} contradicts themself: {cycle}: "
            'correct or leave out one of these answers, or pass cycles="keep" if answers may be '
            "mistaken"
        )

    def pairs(self, assessor: Assessor) -> list[Pair]:
        """Return all pairs (preferred, other) of an assessor, those that follow included."""
        if assessor not in self.assessors:
            raise InputError(f"there is no assessor {assessor!r}")
        relation = self.closure[self.assessors.index(assessor)]
        return [(self.items[a], self.items[b]) for a, b in np.argwhere(relation).tolist()]

    def __len__(self) -> int:
        """Return the number of assessors."""
        return len(self.assessors)

    @property
    def n_rankings(self) -> int:
        """The number of assessors: each has one ranking, of which pairs are known."""
        return len(self)

    def __eq__(self, other: object) -> bool:
        """Compare items, assessors and what they prefer, in order."""
        if not isinstance(other, Preferences):
            return NotImplemented
        return (
            self.items == other.items
            and self.assessors == other.assessors
            and self.cycles == other.cycles
            and np.array_equal(self.closure, other.closure)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        total = int(self.closure.sum())
        remark = f"of which {total - self._n_direct} by transitivity"
        if self.cycles == "keep":
            remark = "of which any may be mistaken"
        return (
            f"Preferences({len(self)} assessors, {len(self.items)} items, {total} ordered pairs "
            f"{remark})"
        )


def transitive_closure(relations: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Close many relations at once under "a over b and b over c gives a over c"."""
    closed = relations.copy()
    for middle in range(relations.shape[1]):
        closed |= closed[:, :, middle, None] & closed[:, None, middle, :]
    return closed


def shortest_cycle(relation: NDArray[np.bool_], start: int) -> list[int]:
    """Return a shortest path of the relation from an item back to itself."""
    came_from: dict[int, int] = {}
    frontier = [start]
    while start not in came_from:
        reached = []
        for item in frontier:
            for following in np.flatnonzero(relation[item]).tolist():
                if following not in came_from:
                    came_from[following] = item
                    reached.append(following)
        frontier = reached
    path = [start]
    while len(path) == 1 or path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]
