"""Answers with ties, and with items anywhere or below: summed over block by block.

An answer lists groups of items in order, the order within each group being unknown, and leaves the
others anywhere; where nothing is left anywhere, its last group is what comes below the others.
Blocks are as large as the tiers, or single places under inversions. The work for an answer grows
with the ways to split by tiers its free items, and its groups where a block ends within them, and
not with the number of its completions. Of many answers, what they share is summed over once.
"""

from __future__ import annotations

from functools import cache
from math import inf, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tierwise._kernels.interleaving import (
    Answers,
    Sequences,
    Setting,
    Wanted,
    add_expected_counts,
    find_limits,
    order_by_label,
    read_sequences,
    share_by_units,
    value_sequences,
)
from tierwise._util.types import NOT_LISTED
from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums, log_numbers_of_groups
from tierwise.answers.by_distance import MOST_NUMBERS, MOST_UNITS, CountedByDistance
from tierwise.files.places import sizes_of_groups
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._util.types import Places
    from tierwise.answers.base import GivenTiers
    from tierwise.distances import Costs, Distance
    from tierwise.tiers import Sizes

# States of one answer at the end of a block.
MOST_STATES = 100_000


def most_splits(sizes: Sizes) -> Floats:
    """Count in how many ways 0, 1, ..., n free items can be split by tiers, at most.

    That is for the free items that make them most: one more of a tier that has few multiplies the
    number most, so that every tier gets one, then every tier that has room a second one.

    Examples
    --------
    >>> most_splits((1, 2))
    array([1., 2., 4., 6.])
    """
    room = np.asarray(sizes)
    factors = [
        np.full(np.count_nonzero(room > held), (held + 2) / (held + 1))
        for held in range(int(room.max()))
    ]
    with np.errstate(over="ignore"):
        splits: Floats = np.cumprod(np.concatenate([[1.0], *factors]), dtype=np.float64).round()
    return splits


def have_ties(first: Places) -> npt.NDArray[np.bool_]:
    """Tell which answers have ties among the listed items."""
    ascending = np.sort(first, axis=1)
    tied = (ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] != NOT_LISTED)
    ties: npt.NDArray[np.bool_] = tied.any(axis=1)
    return ties


def in_groups(first: Places) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the items of each answer group by group, and where the group of each begins.

    Free items follow the listed ones, each as a group of its own.
    """
    n_items = first.shape[1]
    in_order = np.where(first == NOT_LISTED, n_items, first)
    sequences = np.argsort(in_order, axis=1, kind="stable").astype(np.int64)
    ordered = np.take_along_axis(first, sequences, axis=1)
    starts = np.where(ordered == NOT_LISTED, np.arange(n_items), ordered).astype(np.int64)
    return sequences, starts


def work_of(first: Places, sizes: Sizes) -> Floats:
    """Return how many choices an evaluation of each answer goes through, at most.

    Infinite where an answer has too many states.

    Examples
    --------
    >>> import numpy as np
    >>> work_of(np.array([[0, 0, 0], [0, 1, 2]], dtype=np.int32), (1, 2))
    array([6., 2.])
    """
    from scipy.special import comb

    n_free = (first == NOT_LISTED).sum(axis=1)
    splits = most_splits(sizes)
    work: Floats = splits[n_free] * len(sizes) ** 2
    # Where there are both, any of the groups may straddle the end of any block.
    groups = in_groups(first)[1].astype(np.int32)
    largest = sizes_of_groups(groups).max(axis=1)
    of_groups = np.minimum(comb(largest, largest // 2), splits[largest])
    tied = have_ties(first)
    work[tied] *= of_groups[tied] ** 2
    work[tied & (splits[n_free] * of_groups > MOST_STATES)] = inf
    weak = n_free == 0
    work[weak] = _work_of_weak_orders(first[weak], sizes)
    return work


def _work_of_weak_orders(first: Places, sizes: Sizes) -> Floats:
    """Return how many choices there are, where all items are in groups."""
    from scipy.special import comb

    n_items = first.shape[1]
    splits = most_splits(sizes)
    order = np.argsort(first, axis=1, kind="stable")
    starts = np.take_along_axis(first, order, axis=1).astype(np.int64)
    ends = starts + np.take_along_axis(sizes_of_groups(first), order, axis=1)
    work = np.zeros(len(first))
    states = np.ones(len(first))
    bottom = 0
    for size in sizes:
        top, bottom = bottom, bottom + size
        place = min(bottom, n_items - 1)
        straddles = (starts[:, place] < bottom) & (bottom < n_items)
        start, end = starts[:, place], ends[:, place]
        # From what is left of a group that began before the block, or from a whole group.
        available = np.where(straddles, end - np.maximum(start, top), 0)
        taken = np.where(straddles, bottom - np.maximum(start, top), 0)
        work += states * np.minimum(comb(available, taken), splits[available])
        number = np.where(straddles, end - start, 0)
        states = np.minimum(comb(number, np.where(straddles, end - bottom, 0)), splits[number])
        work[splits[number] > MOST_STATES] = np.inf
    return work


def work_in_single_places(first: Places, sizes: Sizes) -> Floats:
    """Return how many choices there are if every place is a block: any group may be begun anywhere.

    Infinite where an answer has too many states.

    Examples
    --------
    >>> import numpy as np
    >>> work_in_single_places(np.array([[0, 0, -1], [0, 1, -1]], dtype=np.int32), (1, 2))
    array([40., 24.])
    """
    n_free = (first == NOT_LISTED).sum(axis=1)
    splits = most_splits(sizes)
    group_sizes = sizes_of_groups(in_groups(first)[1].astype(np.int32))
    tied = group_sizes > 1
    # Each item of a group brings its share of what may be left of the group, and has room for all.
    states = np.where(tied, splits[group_sizes] / group_sizes, 1.0).sum(axis=1) - n_free + 1.0
    room = np.where(tied, splits[group_sizes], 0.0).sum(axis=1) * splits[n_free]
    work: Floats = states * splits[n_free] * (2.0 * len(sizes))
    work[room > MOST_STATES] = inf
    return work


def work_of_shared(first: Places, sizes: Sizes) -> float:
    """Return how many numbers an evaluation of lists without ties goes through together, at most.

    Infinite if there are ties, or too much that they could have in common.
    """
    if prod(size + 1 for size in sizes) > MOST_CODES or have_ties(first).any():
        return inf
    numbers = np.bincount((first == NOT_LISTED).sum(axis=1), minlength=first.shape[1] + 1)
    return float(numbers @ most_splits(sizes))


# Weights are looked up by units as far as they are numbers, and as there is room: 8 MB.
_LARGEST_EXPONENT, _MOST_POWERS = 750.0, 1_000_000
# Binomial coefficients of more items could overflow.
_MOST_BINOMIALS = 1000
# Numbers of free items by tier that answers may have in common.
MOST_CODES = 100_000


@cache
def _binomials(n_items: int) -> Floats:
    """Binomial coefficients; none where there are too many items for them to be numbers."""
    if n_items > _MOST_BINOMIALS:
        return np.zeros((0, 0))
    binomials = np.zeros((n_items + 1, n_items + 1))
    binomials[:, 0] = 1.0
    for number in range(1, n_items + 1):
        binomials[number, 1:] = binomials[number - 1, 1:] + binomials[number - 1, :-1]
    return binomials


class _Labelled(NamedTuple):
    """Answers by the labels of their items.

    Attributes
    ----------
    sequences
        The distinct ones.
    which
        The one of each answer.
    answers, starts
        The answers of each one, laid end to end.
    items
        Of answers, ordered by label where their order is open.
    """

    sequences: Sequences
    which: npt.NDArray[np.int64]
    answers: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    items: npt.NDArray[np.int64]


class Walk:
    """The walk over the blocks of answers, at any tiers and theta.

    Parameters
    ----------
    answers
        The answers.
    sizes, distance
        Of the model.

    Attributes
    ----------
    width
        Beyond the largest number of units that is counted.
    """

    def __init__(self, answers: Answers, sizes: Sizes, distance: Distance) -> None:
        self._answers = answers
        self._rule = rule = distance.rule(sizes).in_largest_units()
        # Likelihoods are evaluated thousands of times.
        self._sizes = np.array(sizes, dtype=np.int64)
        n_items = int(self._sizes.sum())
        # The walk charges pairs that are tied in the tiers as if they were reversed. Where they
        # cost nothing, every place is a block, so that all of them are charged: that is taken off.
        n_tied = int(self._sizes @ (self._sizes - 1)) // 2
        self._overcharged = (rule.misplaced - rule.tied) * n_tied
        self.width = rule.largest(sizes) + self._overcharged + 1
        blocks = np.array(distance.blocks(sizes), dtype=np.int64)
        self._block_at = np.full((n_items + 1, 2), [-1, 0], dtype=np.int64)
        begins = np.cumsum(blocks) - blocks
        self._block_at[begins] = np.column_stack([np.arange(len(blocks)), blocks])
        self._log_factorials = log_factorials(n_items)
        self._latest: tuple[bytes, _Labelled] | None = None
        self._rng = np.random.default_rng(0)

    def _labelled(self, labels: Labels) -> _Labelled:
        """Return the answers by labels; the latest are kept, for many thetas."""
        known = labels.tobytes()
        if self._latest is None or self._latest[0] != known:
            self._latest = known, self._read(labels)
        return self._latest[1]

    def _read(self, labels: Labels) -> _Labelled:
        answers, n_tiers = self._answers, len(self._sizes)
        longest = int(answers.n_listed.max())
        # A digit for each listed item, and for each tier where what is below may differ.
        n_bits = max(2 * n_tiers, int(self._sizes.max())).bit_length()
        n_words = -(-(1 + n_tiers + longest) // (63 // n_bits))
        words = np.zeros((len(answers.below), n_words), dtype=np.int64)
        items = answers.items.copy()
        order_by_label(answers, labels, n_bits, items, words)
        order = np.lexsort(words.T[::-1])
        n_answers = len(order)
        numbers, tops = np.zeros((2, n_answers, longest + 1), dtype=np.int64)
        free = np.zeros((n_answers, n_tiers), dtype=np.int64)
        lengths, below, shared, which = np.zeros((4, n_answers), dtype=np.int64)
        starts = np.zeros(n_answers + 1, dtype=np.int64)
        room = Sequences(numbers, tops, lengths, free, below, shared, free[:, None])
        n_rows, is_shared = read_sequences(
            answers, items, labels, words, order, room, which, starts, MOST_CODES
        )
        sequences = Sequences(*(each[:n_rows] for each in room))
        if is_shared:
            limits = np.repeat(sequences.limits, max(int(shared.max()), 0) + 1, axis=1)
            sequences = sequences._replace(limits=limits)
            find_limits(sequences)
        return _Labelled(sequences, which, order, starts, items)

    def _setting(self, theta: float) -> Setting:
        rule, own = self._rule, theta * self._rule.unit
        n_powers = min(self.width - 1, _MOST_POWERS)
        if own * n_powers > _LARGEST_EXPONENT:
            n_powers = int(_LARGEST_EXPONENT / own)
        return Setting(
            self._sizes,
            self._block_at,
            rule.misplaced,
            rule.placing,
            own,
            np.exp(-own * np.arange(n_powers + 1)),
            _binomials(len(self._log_factorials) - 1),
            self._log_factorials,
        )

    def values(self, labels: Labels, theta: float) -> Floats:
        """Return the log of the average of ``exp(-theta d)``, mean and variance of the distance.

        They are over the completions of each answer, one row each.
        """
        labelled = self._labelled(labels)
        unit = self._rule.unit
        values = value_sequences(self._setting(theta), labelled.sequences)
        if self._overcharged:
            values[:, :2] += [theta * unit * self._overcharged, -self._overcharged]
        scaled: Floats = (values * [1.0, unit, unit**2])[labelled.which]
        return scaled

    def shares(self, labels: Labels) -> tuple[npt.NDArray[np.int64], Floats, npt.NDArray[np.int64]]:
        """Return how many completions have each distance, for all thetas.

        These are the fewest units of distinct answers, the shares of completions with so many more,
        and which of them each answer is.
        """
        labelled = self._labelled(labels)
        fewest, shares = share_by_units(self._setting(0.0), labelled.sequences, self.width)
        return fewest - self._overcharged, shares, labelled.which

    def add_expected(
        self,
        labels: Labels,
        theta: float,
        weights: Floats,
        counts: tuple[Floats, Floats],
        n_drawn: int,
    ) -> None:
        """Add how often items are expected in blocks, and in earlier blocks than others.

        Parameters
        ----------
        labels, theta
            Tiers and theta.
        weights
            Weight of each answer.
        counts
            ``membership[item, block]`` and ``precedence[item, other]``.
        n_drawn
            How many completions are drawn, shared out by weight; 0 to sum over all of them.
        """
        total = float(weights.sum())
        if total == 0.0:
            # A group of people may have none of these answers.
            return
        labelled = self._labelled(labels)
        membership, precedence = counts
        nothing = np.zeros((0, 0))
        of_rows = np.bincount(labelled.which, weights)
        wanted = Wanted(
            labelled.answers,
            labelled.starts,
            labelled.items,
            self._answers.n_present,
            weights,
            np.ceil(of_rows * (n_drawn / total)).astype(np.int64),
            membership if self._rule.additive or self._rule.placing.any() else nothing,
            nothing if self._rule.additive else precedence,
        )
        # The same draws for the same question.
        rng = np.random.default_rng(0) if n_drawn > 0 else self._rng
        add_expected_counts(self._setting(theta), labelled.sequences, wanted, rng)


# Completions that expected costs are averaged over where there are too many steps to count all.
DRAWS = 20_000
# Steps up to which all are counted: a second.
MOST_COUNTED = 20_000_000


class BlockwiseAnswers(ExactCompletions):
    """Answers that list groups of items in order, all other items being anywhere.

    Parameters
    ----------
    first
        First place of the group of each listed item among the listed; -1 for the others.
    weights
        Weight of each answer.
    sizes, distance
        Of the model.
    """

    seconds_of_a_number = 5e-8

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        super().__init__(sizes, distance, weights, log_numbers_of_groups(first))
        n_rows, n_items = first.shape
        n_listed = (first != NOT_LISTED).sum(axis=1).astype(np.int64)
        items, starts = in_groups(first)
        # Where nothing is anywhere, the last group is below the others.
        below = n_listed == n_items
        n_listed[below] = starts[below, -1]
        n_present = np.full(n_rows, n_items, dtype=np.int64)
        answers = Answers(items, starts, n_listed, n_present, below.astype(np.int64))
        self._walk = Walk(answers, sizes, distance)
        if distance.blocks(sizes) == sizes:
            work = float(work_of(first, sizes).sum())
            self._work = min(work, work_of_shared(first, sizes))
        else:
            work = self._work = float(work_in_single_places(first, sizes).sum())
        self._n_drawn = DRAWS if work > MOST_COUNTED else 0
        width = self._walk.width
        self._is_narrow = width <= MOST_UNITS and self._work * width <= MOST_NUMBERS

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return self._work

    def _values(self, labels: Labels, theta: float) -> Floats:
        """Log weight, mean and variance of the distance, of each answer."""
        values = self._walk.values(labels, theta)
        values[:, 0] += self.log_numbers
        return values

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each answer."""
        return self._values(labels, theta)[:, 0]

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        return Sums(*(self.weights @ self._values(labels, theta)).tolist())

    def given(self, labels: Labels) -> GivenTiers:
        """Return the answers given tiers, for many thetas."""
        if not self._is_narrow:
            return super().given(labels)
        fewest, shares, which = self._walk.shares(labels)
        log_factors = float(self.weights @ self.log_numbers)
        weights = np.bincount(which, self.weights, len(fewest)).astype(np.float64, copy=False)
        return CountedByDistance.of(fewest, shares, log_factors, weights, self.rule.unit)

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""
        counts = self._no_counts()
        self._walk.add_expected(labels, theta, self.weights, counts, self._n_drawn)
        return self._costs(*counts)
