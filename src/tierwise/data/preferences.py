"""Preferences: pairwise answers."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, ClassVar, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.cards import Card
from tierwise._util.checks import check_choice, check_counts, check_items, check_iterable
from tierwise._util.provenance import MultisetHash, digest, names_of
from tierwise._util.resources import check_memory
from tierwise._util.types import Cycles, Item, python_item
from tierwise.data.showing import how_read
from tierwise.errors import InputError, counted, quoted, use
from tierwise.files.places import unknown_item

if TYPE_CHECKING:
    from tierwise.files.options import ReadingNotes
    from tierwise.files.table_file import EncodedPairs

Assessor: TypeAlias = Hashable
Pair: TypeAlias = tuple[Item, Item]


class Preferences:
    """Pairwise answers per assessor, with what follows from them. Immutable.

    If an assessor prefers a to b and b to c, then a to c follows. Contradictory answers (a over b
    over a) raise an error that names the assessor and the cycle. With ``cycles="keep"`` any answer
    may be a mistake: then nothing follows from answers, and an answer given twice counts twice.

    Attributes
    ----------
    items : tuple
        The items, by their own names.
    assessors : tuple
        The assessors, in order of first appearance.
    closure : numpy.ndarray
        ``closure[s, a, b]`` says whether assessor ``s`` prefers item ``a`` to item ``b``, directly
        or by transitivity; only directly if answers may be mistaken.
    direct : numpy.ndarray
        The same for direct answers only.
    times : numpy.ndarray or None
        ``times[s, a, b]`` says how often assessor ``s`` put item ``a`` above item ``b``, if answers
        may be mistaken.
    cycles : {"error", "keep"}
        Whether contradictory answers are an error, or are kept as possible mistakes.
    reading : ReadingNotes or None
        How the file was read, if the answers come from one.

    Examples
    --------
    >>> answers = Preferences.from_pairs([("Ann", "a", "b"), ("Ann", "b", "c"), ("Bob", "c", "a")])
    >>> answers
    Preferences(2 assessors, 3 items, 4 ordered pairs, 1 by transitivity)
    >>> answers.pairs("Ann")
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """

    # What the data are called, whether pairs of items were compared, the one distance there is for
    # them, if only one, and the families of models.
    kind: ClassVar[str] = "pairs"
    pairwise: ClassVar[bool] = True
    only_distance: ClassVar[str | None] = None
    above_in_words: ClassVar[str] = "preferred to"
    families: ClassVar[tuple[str, ...]] = ("mallows", "luce")
    unit: ClassVar[str] = "answers"
    # Each comparison is not an answer of its own: people have all of theirs in mind at once.
    wins: ClassVar[None] = None

    items: tuple[Item, ...]
    assessors: tuple[Assessor, ...]
    closure: NDArray[np.bool_]
    direct: NDArray[np.bool_]
    times: NDArray[np.int32] | None
    cycles: Cycles
    reading: "ReadingNotes | None" = None

    def __init__(
        self,
        answers: Mapping[Assessor, Iterable[Pair]],
        items: Iterable[Item] | None = None,
        *,
        cycles: Cycles = "error",
    ) -> None:
        check_choice("cycles", cycles, get_args(Cycles))
        self.cycles = cycles
        given = {assessor: [tuple(pair) for pair in pairs] for assessor, pairs in answers.items()}
        if not any(given.values()):
            raise InputError("there are no preferences: pass at least one pair")
        for assessor, pairs in given.items():
            for pair in pairs:
                if len(pair) != 2:
                    raise InputError(
                        f"assessor {quoted(assessor)}: {quoted(pair)} is not a pair "
                        "(preferred, other)"
                    )
        mentioned = dict.fromkeys(
            item for pairs in given.values() for pair in pairs for item in pair
        )
        self.items = check_items(mentioned if items is None else items)
        numbers = {item: number for number, item in enumerate(self.items)}
        self.assessors = tuple(given)
        check_memory(
            # How often each pair was answered, whether it was, and what follows.
            len(given) * len(self.items) ** 2 * (np.dtype(np.int32).itemsize + 3),
            f"the pairs of {counted(len(self.items), 'item')} by {counted(len(given), 'assessor')}",
            "use fewer items or assessors",
        )
        times = np.zeros((len(given), len(self.items), len(self.items)), dtype=np.int32)
        for row, (assessor, pairs) in enumerate(given.items()):
            for preferred, other in pairs:
                for item in (preferred, other):
                    if item not in numbers:
                        raise unknown_item(item, self.items, f"assessor {quoted(assessor)}")
                if numbers[preferred] == numbers[other]:
                    raise InputError(
                        f"assessor {quoted(assessor)} compares item {quoted(preferred)} with "
                        "itself: leave out this answer"
                    )
                times[row, numbers[preferred], numbers[other]] += 1
        self._set_answers(times)

    def _set_answers(self, times: NDArray[np.int32]) -> None:
        """Take the answers as they were given, and what follows from them."""
        self.direct = times > 0
        self.times = None
        if self.cycles == "keep":
            self.closure = self.direct
            self.times = times
            self.times.flags.writeable = False
        else:
            self.closure = transitive_closure(self.direct)
            self._refuse_cycles()
        self.closure.flags.writeable = False
        self.direct.flags.writeable = False

    def with_answers(self, times: NDArray[np.int32]) -> "Preferences":
        """Return other answers about the same items, by assessors who are numbered from 0.

        Parameters
        ----------
        times
            ``times[s, a, b]`` says how often assessor ``s`` puts item ``a`` above item ``b``.
        """
        check_counts("times", times, (len(times), len(self.items), len(self.items)))
        other = copy(self)
        other.reading = None
        other.assessors = tuple(range(len(times)))
        other._set_answers(times)
        return other

    @classmethod
    def from_encoded(
        cls, encoded: "EncodedPairs", items: Iterable[Item] | None, cycles: Cycles
    ) -> "Preferences":
        """Make preferences from the comparisons of a file."""
        made = cls.from_pairs(encoded.rows, items, cycles=cycles)
        made.reading = encoded.notes
        return made

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
            One comparison per row; repeated rows count once, unless answers may be mistaken.
        items
            The complete list of items; by default those that appear in the rows.
        cycles
            "keep" accepts contradictory answers: any of them may be a mistake.
        """
        answers: defaultdict[Assessor, list[Pair]] = defaultdict(list)
        for number, row in enumerate(check_iterable("rows", rows, "comparisons"), start=1):
            if not isinstance(row, Sequence) or len(row) != 3:
                raise InputError(
                    f"row {number} must be (assessor, preferred, other); got {quoted(row)}"
                )
            if not isinstance(row[0], Hashable):
                raise InputError(
                    f"row {number}: {quoted(row[0])} cannot be the name of an assessor"
                )
            preferred, other = map(python_item, row[1:])
            if preferred == other:
                raise InputError(
                    f"row {number}: assessor {quoted(row[0])} compares item {quoted(preferred)} "
                    "with itself: leave out this answer"
                )
            answers[row[0]].append((preferred, other))
        return cls(answers, items, cycles=cycles)

    def resampled(self, rng: np.random.Generator) -> "Preferences":
        """Resample assessors with all their answers, with replacement."""
        said = self.direct.astype(np.int32) if self.times is None else self.times
        return self.with_answers(said[rng.integers(len(said), size=len(said))])

    def _refuse_cycles(self) -> None:
        in_cycle = np.diagonal(self.closure, axis1=1, axis2=2)
        if not in_cycle.any():
            return
        row, start = (int(position) for position in np.argwhere(in_cycle)[0])
        cycle = " > ".join(
            quoted(self.items[item]) for item in shortest_cycle(self.direct[row], start)
        )
        raise InputError(
            f"assessor {quoted(self.assessors[row])} contradicts themselves: {cycle}",
            [
                "correct or delete one of these answers",
                use("if answers may be mistaken", cycles="keep"),
            ],
        )

    def pairs(self, assessor: Assessor) -> list[Pair]:
        """Return all pairs (preferred, other) of an assessor, including those that follow.

        If answers may be mistaken, each appears as often as it was given.
        """
        if assessor not in self.assessors:
            raise InputError(f"there is no assessor {quoted(assessor)}")
        row = self.assessors.index(assessor)
        said = self.closure[row] if self.times is None else self.times[row]
        return [
            (self.items[a], self.items[b])
            for a, b in np.argwhere(said).tolist()
            for _ in range(int(said[a, b]))
        ]

    def __len__(self) -> int:
        """Return the number of assessors."""
        return len(self.assessors)

    @property
    def n_rankings(self) -> int:
        """The number of assessors: each has one ranking, known by its pairs."""
        return len(self)

    @property
    def pair_counts(self) -> NDArray[np.int64]:
        """How often each item is preferred to each other, including what follows."""
        said = self.closure if self.times is None else self.times
        counted: NDArray[np.int64] = said.sum(axis=0)
        return counted

    @property
    def n_answers_of_items(self) -> NDArray[np.int64]:
        """The number of comparisons of each item."""
        met = self.pair_counts + self.pair_counts.T
        return np.asarray(met.sum(axis=0))

    @property
    def n_given(self) -> int:
        """Number of assessors."""
        return len(self)

    @property
    def n_distinct(self) -> int:
        """Number of assessors, each of whom is taken to have answered differently."""
        return len(self)

    @property
    def holds_single_pairs(self) -> bool:
        """Whether nobody compared more than one pair of items."""
        return bool((self.direct.sum(axis=(1, 2)) <= 1).all())

    @property
    def includes_what_follows(self) -> bool:
        """Whether pairs that follow from others, as answers are right, count as well."""
        return self.times is None

    def as_read(self) -> str:
        """Say how many people compared how many items."""
        return f"{counted(len(self), 'assessor')} about {counted(len(self.items), 'item')}"

    def fingerprint(self) -> str:
        """Return a sha256 hex digest of all that a likelihood depends on.

        It is the same for the same assessors in another order.

        Examples
        --------
        >>> one = Preferences.from_pairs([(1, "a", "b"), (2, "b", "a")])
        >>> other = Preferences.from_pairs([(1, "b", "a"), (2, "a", "b")], items="ab")
        >>> one.fingerprint() == other.fingerprint()
        True
        """
        said = self.closure if self.times is None else self.times
        answers = MultisetHash()
        answers.add(said.reshape(len(said), -1), np.ones(len(said), dtype=np.int64))
        return digest("preferences", names_of(self.items), self.cycles, answers.total)

    def __eq__(self, other: object) -> bool:
        """Compare items, assessors and what they prefer, in order."""
        if not isinstance(other, Preferences):
            return NotImplemented
        return (
            self.items == other.items
            and self.assessors == other.assessors
            and self.cycles == other.cycles
            and np.array_equal(self.closure, other.closure)
            and (
                self.times is None or other.times is None or np.array_equal(self.times, other.times)
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Preferences({self.in_words()})"

    def in_words(self) -> str:
        """Return the number of assessors, items and pairs in words."""
        who = f"{counted(len(self), 'assessor')}, {counted(len(self.items), 'item')}"
        if self.times is not None:
            answers = counted(int(self.times.sum()), "answer")
            return f"{who}, {answers}, any of which may be mistaken"
        total = int(self.closure.sum())
        follow = total - int(self.direct.sum())
        pairs = counted(total, "ordered pair")
        return f"{who}, {pairs}, {follow} by transitivity"

    def _repr_html_(self) -> str:
        """Show how many answers there are, and how they were read, in a notebook."""
        return Card(self.in_words(), note=how_read(self.reading)).to_html()


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
