"""The counts that models need, which are as small for a million rankings as for ten.

`Counts` are sufficient statistics of complete rankings. `WeakOrderCounts` are those of weak orders
under the distance ``inversions``: a weak order is a sequence of blocks, best first. A complete
ranking has blocks of one item, a tie is a block of several, and items that are not listed are the
last block. The likelihood needs how often each item is ranked above each other one, and the blocks
that hold several items, as sets.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_counts, check_items, check_number, check_path
from tierwise._util.provenance import digest, names_of
from tierwise._util.saved import file_to_save, open_arrays, save_arrays
from tierwise._util.types import NOT_LISTED, Item, Places, Weights
from tierwise.errors import InputError, TooLargeError, quoted, use
from tierwise.files.places import first_places, sizes_of_groups
from tierwise.tiers import Sizes, check_sizes, log_factorials

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from tierwise.data.rankings import Rankings

# int64 where all weights are whole numbers, float64 otherwise.
Numbers: TypeAlias = NDArray[Any]

# Joint counts take n^4 numbers: 50 MB at this many items.
MOST_ITEMS_FOR_JOINT_COUNTS = 50
_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BlockCounts:
    """What the data say once places are cut into blocks of given sizes.

    Attributes
    ----------
    items
        The items that rows and columns stand for.
    sizes
        The sizes of the blocks, which are those of the tiers.
    membership
        ``membership[a, l]`` is how often item ``a`` lies in block ``l``.
    precedence
        ``precedence[a, b]`` is how often item ``a`` lies in an earlier block than item ``b``.
    n_rankings
        The number of rankings, the sum of their weights.
    log_completions
        Sum over rankings of the log number of complete orderings that agree with the answer: 0 for
        complete rankings. All of them have the same blocks, so the same probability.
    """

    items: tuple[Item, ...]
    sizes: Sizes
    membership: Numbers
    precedence: Numbers
    n_rankings: int | float
    log_completions: float = 0.0


@dataclass(frozen=True, eq=False)
class Counts:
    """Place counts and joint counts of complete rankings. Counts of the same items can be added.

    Attributes
    ----------
    items
        The items of the axes.
    places
        ``places[a, r]`` is how often item ``a`` has place ``r``.
    joint
        ``joint[a, r, b, s]`` is how often item ``a`` has place ``r`` and item ``b`` place ``s``.
        Block counts of any sizes are sums over it.
    n_rankings
        The number of rankings, the sum of their weights.

    Examples
    --------
    >>> from tierwise import Rankings
    >>> counts = Counts.of(Rankings.from_orderings([["a", "b", "c"], ["b", "a", "c"]]))
    >>> counts.places.tolist()
    [[1, 1, 0], [1, 1, 0], [0, 0, 2]]
    >>> (counts + counts).n_rankings
    4
    >>> counts.blocks((2, 1)).precedence.tolist()
    [[0, 0, 2], [0, 0, 2], [0, 0, 0]]
    """

    # Whether pairs of items were compared, the one distance there is for them, if only one, and the
    # families of models.
    pairwise: ClassVar[bool] = False
    only_distance: ClassVar[str | None] = None
    families: ClassVar[tuple[str, ...]] = ("mallows",)
    unit: ClassVar[str] = "answers"
    n_answers_of_items: ClassVar[None] = None
    wins: ClassVar[None] = None

    items: tuple[Item, ...]
    places: Numbers
    joint: Numbers
    n_rankings: int | float

    def __post_init__(self) -> None:
        n_items = len(check_items(self.items))
        check_counts("places", self.places, (n_items,) * 2)
        check_counts("joint", self.joint, (n_items,) * 4)
        check_number("n_rankings", self.n_rankings, above=0.0)

    @classmethod
    def of(cls, rankings: Rankings) -> Counts:
        """Count complete rankings."""
        return cls.from_chunks([rankings])

    @classmethod
    def from_chunks(cls, chunks: Iterable[Rankings]) -> Counts:
        """Count rankings that come in chunks, with one chunk in memory at a time."""
        tally: _Tally | None = None
        for chunk in chunks:
            if not isinstance(getattr(chunk, "places", None), np.ndarray):
                raise InputError(
                    f"counts need complete Rankings; got {quoted(chunk)}: make rankings first, "
                    "for example with Rankings.from_orderings"
                )
            tally = _Tally(chunk.items) if tally is None else tally
            tally.add(chunk)
        if tally is None:
            raise InputError("there are no rankings to count: pass at least one chunk")
        return tally.counts()

    @classmethod
    def of_places(cls, items: tuple[Item, ...], places: Places, weights: Weights) -> Counts:
        """Count complete orderings that are given as the place of each item, one row each."""
        tally = _Tally(items)
        tally.add_places(places, weights)
        return tally.counts()

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.items != other.items:
            raise InputError(
                "counts of different items, or of items in a different order, cannot be added"
            )
        return Counts(
            self.items,
            self.places + other.places,
            self.joint + other.joint,
            self.n_rankings + other.n_rankings,
        )

    def __eq__(self, other: object) -> bool:
        """Compare items and all counts."""
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            self.items == other.items
            and self.n_rankings == other.n_rankings
            and np.array_equal(self.joint, other.joint)
        )

    __hash__ = None  # type: ignore[assignment]

    def fingerprint(self) -> str:
        """Return a sha256 hex digest of all that a likelihood depends on.

        Examples
        --------
        >>> from tierwise import Rankings
        >>> counts = Counts.of(Rankings.from_orderings([["a", "b", "c"], ["b", "a", "c"]]))
        >>> (counts + counts).fingerprint() == counts.fingerprint()
        False
        """
        return digest("counts", names_of(self.items), self.joint)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the counts to a file, .npz, with a checksum; `load` reads it.

        An update counts only the new rankings: ``Counts.load("counts.npz") + Counts.of(today)``.
        """
        wanted = file_to_save(path, "counts", self.items)
        texts = {
            "items": json.dumps(self.items, ensure_ascii=False),
            "n_rankings": json.dumps(self.n_rankings),
        }
        checksum = digest(*texts.values(), self.fingerprint())
        save_arrays(wanted, joint=self.joint, checksum=checksum, **texts)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Counts:
        """Read a file that `save` wrote; a damaged file is an error."""
        wanted = check_path(path)
        with open_arrays(wanted, "counts") as saved:
            texts = saved.text("items"), saved.text("n_rankings")
            checksum = saved.text("checksum")
            items = tuple(json.loads(texts[0]))
            n_rankings = json.loads(texts[1])
            _refuse_too_many(len(items))
            joint = saved.array("joint", (len(items),) * 4, "if")
        item, place = np.indices(joint.shape[:2])
        counts = cls(items, joint[item, place, item, place], joint, n_rankings)
        if checksum != digest(*texts, counts.fingerprint()):
            raise InputError(
                f"{wanted} is damaged (its checksum does not match): count the rankings again"
            )
        return counts

    @property
    def pair_counts(self) -> Numbers:
        """How often each item is ranked above each other."""
        return self.blocks((1,) * len(self.items)).precedence

    def blocks(self, sizes: Iterable[int]) -> BlockCounts:
        """Return the counts for places cut into blocks of given sizes."""
        checked = check_sizes(sizes, len(self.items))
        ends = np.cumsum(checked)
        starts = np.concatenate([[0], ends[:-1]])
        membership = np.add.reduceat(self.places, starts, axis=1)
        precedence = self._ahead[starts, ends].sum(axis=0)
        return BlockCounts(self.items, checked, membership, precedence, self.n_rankings)

    @cached_property
    def _ahead(self) -> Numbers:
        """``_ahead[start, end, a, b]``: item ``a`` lies between the places, and ``b`` behind."""
        n_items = len(self.items)
        ahead = np.zeros((n_items + 1, n_items + 1, n_items, n_items), dtype=self.joint.dtype)
        by_places = self.joint.transpose(1, 3, 0, 2)
        for end in range(1, n_items):
            behind = by_places[:end, end:].sum(axis=1)
            ahead[:end, end] = np.cumsum(behind[::-1], axis=0)[::-1]
        return ahead


def _refuse_too_many(n_items: int) -> None:
    """Refuse so many items that their joint counts take too much memory."""
    if n_items > MOST_ITEMS_FOR_JOINT_COUNTS:
        raise TooLargeError(
            f"joint counts of {n_items} items need {n_items**4 * 8 / 2**30:.1f} GB, and the "
            f"limit is {MOST_ITEMS_FOR_JOINT_COUNTS} items: pass the rankings themselves, "
            "with given sizes"
        )


class _Tally:
    """Counts while they grow: only half of the joint counts, the other half mirrors it."""

    def __init__(self, items: tuple[Item, ...]) -> None:
        n_items = len(items)
        _refuse_too_many(n_items)
        self.items = items
        self.n_rankings: int | float = 0
        self.half: Numbers = np.zeros((n_items,) * 4, dtype=np.int64)

    def add(self, chunk: Rankings) -> None:
        if chunk.items != self.items:
            raise InputError("all chunks must have the same items in the same order")
        if not chunk.is_complete:
            raise InputError(
                "place counts need complete rankings without ties: use "
                "block_counts(rankings, sizes) or leave out the incomplete answers"
            )
        self.add_places(chunk.places, chunk.weights)

    def add_places(self, places: Places, weights: Weights) -> None:
        from tierwise._kernels import counting

        if weights.dtype != self.half.dtype:
            self.half = self.half.astype(float)
        counting.add_joint_counts(places, weights.astype(self.half.dtype, copy=False), self.half)
        self.n_rankings += weights.sum().item()

    def counts(self) -> Counts:
        joint = self.half + self.half.transpose(2, 3, 0, 1)
        n_items = len(self.items)
        item, place = np.indices((n_items, n_items))
        # Wherever an item is, every other item is somewhere.
        places = joint[item, place, (item + 1) % n_items].sum(axis=-1)
        joint[item, place, item, place] = places
        return Counts(self.items, places, joint, self.n_rankings)


def block_counts(data: Rankings | Counts, sizes: Iterable[int]) -> BlockCounts:
    """Count how often items lie in the blocks of given sizes, and in an earlier block than others.

    Answers may be incomplete or tied as long as they leave no doubt about the blocks: a list of the
    best ten does, if the last tier holds all other items.

    Examples
    --------
    >>> from tierwise import Rankings
    >>> top = Rankings.from_orderings([["a"], ["b"]], items="abc", unranked="below")
    >>> block_counts(top, (1, 2)).membership.tolist()
    [[1, 1], [1, 1], [0, 2]]
    """
    if isinstance(data, Counts):
        return data.blocks(sizes)
    from tierwise._kernels import counting

    checked = check_sizes(sizes, len(data.items))
    blocks, group_sizes = _blocks_of_patterns(data, checked)
    weights: Weights = data.pattern_weights
    membership: Numbers = np.zeros((len(data.items), len(checked)), dtype=weights.dtype)
    precedence: Numbers = np.zeros((len(data.items),) * 2, dtype=weights.dtype)
    counting.add_place_counts(blocks, weights, membership)
    counting.add_block_pair_counts(blocks, weights, precedence)
    # A group of g items in unknown order has g! orders; each member carries its share of log g!.
    shares = log_factorials(len(data.items))[group_sizes] / np.maximum(group_sizes, 1)
    log_completions = float(weights @ shares.sum(axis=1))
    return BlockCounts(
        data.items, checked, membership, precedence, data.n_rankings, log_completions
    )


def blocks_are_known(data: Rankings, sizes: Sizes) -> bool:
    """Return whether all answers say which items lie in which of the blocks of given sizes.

    Examples
    --------
    >>> from tierwise import Rankings
    >>> top = Rankings.from_orderings([["a"], ["b"]], items="abc", unranked="below")
    >>> blocks_are_known(top, (1, 2)), blocks_are_known(top, (2, 1))
    (True, False)
    """
    if data.unranked == "anywhere":
        return False
    if data.is_complete:
        return True
    first = first_places(data.patterns)
    block_of_place = np.repeat(np.arange(len(sizes)), sizes)
    last = first + sizes_of_groups(first) - 1
    return bool((block_of_place[first] == block_of_place[last]).all())


def count_open_answers(data: Rankings) -> int:
    """Count the distinct answers that agree with several complete orderings.

    Examples
    --------
    >>> from tierwise import Rankings
    >>> count_open_answers(Rankings.from_orderings([["a"], ["c", "b", "a"]], unranked="below"))
    1
    """
    if data.is_complete:
        return 0
    ascending = np.sort(data.patterns, axis=1)
    tied = (ascending[:, 1:] == ascending[:, :-1]).any(axis=1)
    return int((tied | (ascending[:, 0] == NOT_LISTED)).sum())


def _blocks_of_patterns(rankings: Rankings, sizes: Sizes) -> tuple[Places, NDArray[np.int64]]:
    """Return the block of each item in each pattern, and the size of the group it is tied in."""
    patterns = rankings.patterns
    if rankings.unranked == "anywhere":
        raise InputError(
            "if the rank of items not listed is unknown, answers do not say which items lie in "
            "which tier-sized block",
            [
                "give complete rankings",
                use("and a last tier that holds all items not listed", unranked="below"),
            ],
        )
    first = first_places(patterns)
    group_sizes = sizes_of_groups(first)
    block_of_place = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    blocks = block_of_place[first]
    doubtful = blocks != block_of_place[first + group_sizes - 1]
    if doubtful.any():
        row = int(np.argmax(doubtful.any(axis=1)[rankings.pattern_of]))
        raise InputError(
            f"row {row + 1} does not say which items lie in which tier-sized block for sizes "
            f"{sizes}: use complete answers, or a last tier large enough to hold all items that "
            "any answer leaves out"
        )
    return np.ascontiguousarray(blocks), group_sizes


@dataclass(frozen=True, eq=False)
class WeakOrderCounts:
    """What the distance ``inversions`` needs of weak orders; two of them add.

    Attributes
    ----------
    n_items
        Number of items.
    n_rankings
        Number of rankings, the sum of their weights.
    above
        ``above[a, b]`` is how often ``a`` is ranked above ``b``; ties do not count.
    block_offsets, block_members
        The distinct blocks that tie two items or more: block ``i`` holds
        ``block_members[block_offsets[i] : block_offsets[i + 1]]``, ascending.
    block_weights
        How often each of these blocks occurs.

    Examples
    --------
    >>> import numpy as np
    >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2], [0, 1, 1]]))
    >>> counts.above.tolist()
    [[0.0, 2.0, 2.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    >>> counts.block_members.tolist(), counts.block_weights.tolist()
    ([1, 2], [1.0])
    >>> (counts + counts).n_rankings
    4.0
    """

    n_items: int
    n_rankings: float
    above: _Floats
    block_offsets: _Integers
    block_members: _Integers
    block_weights: _Floats

    @classmethod
    def of(cls, rankings: Rankings) -> WeakOrderCounts:
        """Count rankings; what is not listed must be complete or mean "below"."""
        if rankings.unranked == "anywhere":
            raise InputError(
                "weak orders say for every pair of items which is above or that they are tied, "
                "but in these rankings the rank of items not listed is unknown"
            )
        return cls.from_patterns(rankings.patterns, rankings.pattern_weights)

    @classmethod
    def from_patterns(
        cls, patterns: NDArray[Any], weights: NDArray[Any] | None = None
    ) -> WeakOrderCounts:
        """Count weak orders given as places, one row per answer.

        Parameters
        ----------
        patterns
            ``patterns[row, item]`` is the place of the item, counted from 0; tied items share the
            first place they take up; -1 is not listed, which is below all that are listed.
        weights
            How often each row counts; once where none are given.
        """
        from tierwise._kernels import counting
        from tierwise._kernels import inversions_weak_orders as kernels

        first = np.ascontiguousarray(first_places(np.asarray(patterns, dtype=np.int32)))
        n_rows, n_items = first.shape
        row_weights = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
        above = np.zeros((n_items, n_items))
        counting.add_block_pair_counts(first, row_weights, above)
        n_blocks, _ = kernels.count_tied_blocks(first)
        words = np.zeros((n_blocks, _n_words(n_items)), dtype=np.uint64)
        block_weights = np.zeros(n_blocks)
        kernels.list_tied_blocks(first, row_weights, words, block_weights)
        return cls._from_words(n_items, float(row_weights.sum()), above, words, block_weights)

    @classmethod
    def without_ties(cls, above: NDArray[Any], n_rankings: float) -> WeakOrderCounts:
        """Use given counts of complete rankings.

        Parameters
        ----------
        above
            ``above[a, b]`` is how often ``a`` is ranked above ``b``.
        n_rankings
            Number of rankings.
        """
        nothing = np.zeros(0, dtype=np.int64)
        counts = np.asarray(above, dtype=np.float64)
        return cls(
            len(counts), n_rankings, counts, np.zeros(1, dtype=np.int64), nothing, np.zeros(0)
        )

    @classmethod
    def _from_words(
        cls,
        n_items: int,
        n_rankings: float,
        above: _Floats,
        words: NDArray[np.uint64],
        weights: _Floats,
    ) -> WeakOrderCounts:
        """Merge blocks that are equal."""
        from tierwise._kernels import inversions_weak_orders as kernels

        kept = weights > 0.0
        words, weights = np.ascontiguousarray(words[kept]), weights[kept]
        if words.shape[1] == 1:
            distinct, which = np.unique(words[:, 0], return_inverse=True)
            distinct = distinct[:, None]
        else:
            rows = words.view(np.dtype((np.void, words.shape[1] * 8)))[:, 0]
            _, first, which = np.unique(rows, return_index=True, return_inverse=True)
            distinct = words[first]
        merged = np.bincount(which.ravel(), weights, minlength=len(distinct)).astype(np.float64)
        bits = np.unpackbits(np.ascontiguousarray(distinct).view(np.uint8), axis=1)
        sizes = bits.sum(axis=1, dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        members = np.zeros(int(offsets[-1]), dtype=np.int64)
        kernels.members_of_words(np.ascontiguousarray(distinct), n_items, offsets, members)
        return cls(n_items, n_rankings, above, offsets, members, merged)

    def __add__(self, other: WeakOrderCounts) -> WeakOrderCounts:
        if self.n_items != other.n_items:
            raise InputError("counts of different items cannot be added")
        return self._from_words(
            self.n_items,
            self.n_rankings + other.n_rankings,
            self.above + other.above,
            np.concatenate([self._words(), other._words()]),
            np.concatenate([self.block_weights, other.block_weights]),
        )

    def _words(self) -> NDArray[np.uint64]:
        from tierwise._kernels import inversions_weak_orders as kernels

        words = np.zeros((self.n_blocks, _n_words(self.n_items)), dtype=np.uint64)
        kernels.words_of_members(self.block_offsets, self.block_members, words)
        return words

    @property
    def n_blocks(self) -> int:
        """Number of distinct blocks that tie two items or more."""
        return len(self.block_weights)

    @cached_property
    def largest_block(self) -> int:
        """Number of items in the largest tied block; 1 if there is none."""
        return int(np.diff(self.block_offsets).max()) if self.n_blocks else 1

    @cached_property
    def has_whole_weights(self) -> bool:
        """Whether all counts are whole numbers."""
        return bool((self.above == np.floor(self.above)).all())

    @cached_property
    def blocks_of_items(self) -> tuple[_Integers, _Integers]:
        """The blocks that hold each item, as offsets and blocks laid end to end."""
        block_of = np.repeat(np.arange(self.n_blocks), np.diff(self.block_offsets))
        order = np.argsort(self.block_members, kind="stable")
        counts = np.bincount(self.block_members, minlength=self.n_items)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return offsets, np.ascontiguousarray(block_of[order]).astype(np.int64)

    def borda_order(self) -> _Integers:
        """Items by how much more often they are ranked above others than below, best first."""
        lead = self.above.sum(axis=1) - self.above.sum(axis=0)
        return np.argsort(-lead, kind="stable").astype(np.int64)


def _n_words(n_items: int) -> int:
    return max((n_items + 63) // 64, 1)
