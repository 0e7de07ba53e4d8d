"""Some items in order, all others anywhere: summed over one by one, or common beginnings once.

The work of the recursion for an answer grows with the ways to split its free items by tiers, and
not with the number of its completions.

Of many answers, what they share is summed over once. Sums over completions are exact then, too;
expected costs are averages over completions drawn independently of each other, as probable as they
are: of so many answers they hardly differ from exact ones.
"""

from __future__ import annotations

from abc import abstractmethod
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tierwise._kernels.counting import add_block_pair_counts, add_place_counts
from tierwise._kernels.interleaving import Setting, add_expected_counts, value_answers
from tierwise._kernels.inversions_interleaving import (
    add_expected_precedence_of_chains,
    value_answers_by_inversions,
)
from tierwise._kernels.prefixes import (
    Answers,
    draw_blocks,
    make_tables,
    read_sequences,
    value_sequences,
)
from tierwise._util.types import NOT_LISTED
from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums, add_costs
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._kernels.prefixes import Sequences, Tables
    from tierwise._util.types import Places
    from tierwise.distances import Costs, Distance
    from tierwise.tiers import Sizes


class SequencedAnswers(ExactCompletions):
    """Answers whose sums and expected counts come from kernels."""

    seconds_of_a_number = 5e-8
    _work: float

    @property
    def work(self) -> float:
        """How many numbers an evaluation goes through."""
        return self._work

    @abstractmethod
    def _in_units(self, setting: Setting) -> Floats:
        """Log weight of each answer, mean and mean square of its distance in units."""

    @abstractmethod
    def _add_expected(self, setting: Setting, membership: Floats, precedence: Floats) -> None:
        """Add expected counts of items in blocks, and of items in earlier blocks than others."""

    def _setting(self, labels: Labels, theta: float) -> Setting:
        sizes = np.array(self.sizes, dtype=np.int64)
        rule = self.rule
        logs = log_factorials(len(labels))
        return Setting(labels, sizes, rule.misplaced, rule.placing, theta * rule.unit, logs)

    def _values(self, labels: Labels, theta: float) -> Floats:
        values = self._in_units(self._setting(labels, theta))
        scaled: Floats = values * [1.0, self.rule.unit, self.rule.unit**2]
        return scaled

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each answer."""
        return self._values(labels, theta)[:, 0]

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        values = self._values(labels, theta)
        values[:, 2] = np.maximum(values[:, 2] - values[:, 1] ** 2, 0.0)
        return Sums(*(self.weights[:, None] * values).sum(axis=0).tolist())

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""
        membership, precedence = self._no_counts()
        self._add_expected(self._setting(labels, theta), membership, precedence)
        return self._costs(membership, precedence)


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


def work_of(first: Places, sizes: Sizes) -> Floats:
    """Return how many numbers an evaluation of each answer goes through, at most."""
    n_free = (first == NOT_LISTED).sum(axis=1)
    work: Floats = most_splits(sizes)[n_free] * len(sizes) ** 2
    return work


class InterleavedAnswers(SequencedAnswers):
    """Answers whose listed items have no ties, and whose other items may be anywhere.

    Parameters
    ----------
    first
        Place of each listed item among the listed; -1 for the others.
    weights
        Weight of each answer.
    sizes, distance
        Of the model.
    """

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        n_items = first.shape[1]
        logs = log_factorials(n_items)
        n_listed = (first != NOT_LISTED).sum(axis=1)
        super().__init__(sizes, distance, weights, log_numbers=logs[-1] - logs[n_listed])
        self._first = first
        self._n_listed = n_listed.astype(np.int64)
        in_order = np.where(first == NOT_LISTED, n_items, first)
        self._sequences = np.argsort(in_order, axis=1, kind="stable").astype(np.int64)
        self._work = float(work_of(first, sizes).sum())

    def _in_units(self, setting: Setting) -> Floats:
        return value_answers(setting, self._sequences, self._n_listed)

    def _add_expected(self, setting: Setting, membership: Floats, precedence: Floats) -> None:
        add_expected_counts(
            setting, self._sequences, self._n_listed, self.weights, membership, precedence
        )


def work_under_inversions(first: Places, sizes: Sizes) -> Floats:
    """Return how many numbers an evaluation of each answer goes through, at most."""
    n_free = (first == NOT_LISTED).sum(axis=1)
    n_met = first.shape[1] - n_free + 1
    work: Floats = most_splits(sizes)[n_free] * n_met * (len(sizes) + 1)
    return work


class InterleavedInversions(InterleavedAnswers):
    """Answers whose listed items have no ties, others being anywhere, under inversions.

    Parameters
    ----------
    first, weights, sizes, distance
        As for `InterleavedAnswers`.
    """

    seconds_of_a_number = 6e-9

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        super().__init__(first, weights, sizes, distance)
        self._work = float(work_under_inversions(first, sizes).sum())

    def _in_units(self, setting: Setting) -> Floats:
        return value_answers_by_inversions(setting, self._sequences, self._n_listed)

    def _add_expected(
        self,
        setting: Setting,
        membership: Floats,  # noqa: ARG002 - inversions do not ask for places
        precedence: Floats,
    ) -> None:
        add_expected_precedence_of_chains(
            setting, self._sequences, self._n_listed, self.weights, precedence
        )


def have_ties(first: Places) -> npt.NDArray[np.bool_]:
    """Tell which answers have ties among the listed items."""
    ascending = np.sort(first, axis=1)
    tied = (ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] != NOT_LISTED)
    ties: npt.NDArray[np.bool_] = tied.any(axis=1)
    return ties


# Counts of placed items by tier that tables are made of, and numbers that an evaluation may go
# through: some seconds.
MOST_CODES = 100_000
MOST_WORK = 100_000_000
# Completions that expected costs are averaged over, shared out by weight.
DRAWS = 20_000
# Sums of weights below this one may lack what was too small for a number.
LEAST_WEIGHT = 1e-200


class _Listed(NamedTuple):
    """What answers list, by labels: distinct sequences, the one of each answer, logs of ways."""

    sequences: Sequences
    which: npt.NDArray[np.int64]
    log_ways: Floats


def are_affordable(first: Places, sizes: Sizes) -> bool:
    """Tell whether answers that list some items in order can be summed over together."""
    return (
        prod(size + 1 for size in sizes) <= MOST_CODES and work_of_shared(first, sizes) <= MOST_WORK
    )


def work_of_shared(first: Places, sizes: Sizes) -> float:
    """Return how many numbers an evaluation of all answers goes through, at most."""
    n_items = first.shape[1]
    numbers = np.bincount((first == NOT_LISTED).sum(axis=1), minlength=n_items + 1)
    splits = most_splits(sizes)
    return float(sum(n * splits[free] for free, n in enumerate(numbers) if n))


class SharedInterleavings(InterleavedAnswers):
    """Answers whose listed items have no ties, and whose other items may be anywhere: many of them.

    Parameters
    ----------
    first, weights, sizes, distance
        As for `InterleavedAnswers`.
    """

    seconds_of_a_number = 1e-8

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        super().__init__(first, weights, sizes, distance)
        self._work = work_of_shared(first, sizes)
        self._latest: tuple[Labels, _Listed] | None = None

    def _listed(self, labels: Labels) -> _Listed:
        """Return what the answers list, by labels; the latest is kept, for many thetas."""
        if self._latest is None or not np.array_equal(self._latest[0], labels):
            self._latest = (labels.copy(), self._read(labels))
        return self._latest[1]

    def _read(self, labels: Labels) -> _Listed:
        n_items = len(labels)
        own = labels[self._sequences]
        free = np.arange(n_items) >= self._n_listed[:, None]
        listed = np.where(free, -1, own)
        order = np.lexsort(listed.T[::-1])
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (listed[order[1:]] != listed[order[:-1]]).any(axis=1)
        which = np.empty(len(order), dtype=np.int64)
        which[order] = np.cumsum(new) - 1
        sizes = np.array(self.sizes, dtype=np.int64)
        sequences = read_sequences(np.ascontiguousarray(listed[order[new]]), sizes)
        n_free = np.stack([(free & (own == tier)).sum(axis=1) for tier in range(len(sizes))])
        # Free items of a label stand for each other.
        return _Listed(sequences, which, log_factorials(n_items)[n_free].sum(axis=0))

    def _tables(self, theta: float) -> Tables:
        sizes = np.array(self.sizes, dtype=np.int64)
        return make_tables(sizes, self.rule.misplaced, self.rule.placing, theta * self.rule.unit)

    def _values(self, labels: Labels, theta: float) -> Floats:
        listed = self._listed(labels)
        sums = value_sequences(self._tables(theta), listed.sequences)[listed.which]
        safe = sums[:, 0] > LEAST_WEIGHT
        values = np.empty_like(sums)
        values[safe, 0] = np.log(sums[safe, 0]) + listed.log_ways[safe]
        values[safe, 1:] = sums[safe, 1:] / sums[safe, :1]
        values *= [1.0, self.rule.unit, self.rule.unit**2]
        if not safe.all():
            values[~safe] = self._subset(~safe)._values(labels, theta)
        return values

    def _subset(self, rows: npt.NDArray[np.bool_]) -> InterleavedAnswers:
        """Return some of the answers, to be summed over one by one, on a logarithmic scale."""
        return InterleavedAnswers(self._first[rows], self.weights[rows], self.sizes, self.distance)

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""
        listed = self._listed(labels)
        repeats = np.ceil(self.weights * (DRAWS / self.weights.sum())).astype(np.int64)
        order = np.argsort(listed.which, kind="stable")
        starts = np.searchsorted(listed.which[order], np.arange(len(listed.sequences.lengths) + 1))
        answers = Answers(order, starts, self._sequences, repeats)
        # The same draws for the same question.
        rng = np.random.default_rng(0)
        tables = self._tables(theta)
        blocks, sums = draw_blocks(tables, listed.sequences, answers, labels, rng)
        safe = sums[listed.which] > LEAST_WEIGHT
        weights = np.repeat(np.where(safe, self.weights, 0.0) / np.maximum(repeats, 1), repeats)
        membership, precedence = self._no_counts()
        add_place_counts(blocks, weights, membership)
        add_block_pair_counts(blocks, weights, precedence)
        costs = self._costs(membership, precedence)
        if not safe.all():
            costs = add_costs(costs, self._subset(~safe).expected_costs(labels, theta))
        return costs
