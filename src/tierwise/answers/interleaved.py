"""Some items in order, all others anywhere: under inversions, and common beginnings once.

Of many answers, what they share is summed over once. Sums over completions are exact then, too;
expected costs are averages over completions drawn independently of each other, as probable as they
are: of so many answers they hardly differ from exact ones.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tierwise._kernels.counting import add_block_pair_counts, add_place_counts
from tierwise._kernels.inversions_interleaving import (
    add_expected_precedence_of_chains,
    value_answers_by_inversions,
    weigh_answers_at_thetas,
)
from tierwise._kernels.prefixes import (
    Answers,
    draw_blocks,
    make_tables,
    read_sequences,
    value_sequences,
)
from tierwise._util.types import NOT_LISTED
from tierwise.answers.base import Floats, Labels, add_costs
from tierwise.answers.blockwise import BlockwiseAnswers, most_splits
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._kernels.interleaving import Setting
    from tierwise._kernels.prefixes import Sequences, Tables
    from tierwise._util.types import Places
    from tierwise.distances import Costs, Distance
    from tierwise.tiers import Sizes


def work_under_inversions(first: Places, sizes: Sizes) -> Floats:
    """Return how many numbers an evaluation of each answer goes through, at most."""
    n_free = (first == NOT_LISTED).sum(axis=1)
    n_met = first.shape[1] - n_free + 1
    work: Floats = most_splits(sizes)[n_free] * n_met * (len(sizes) + 1)
    return work


class InterleavedInversions(BlockwiseAnswers):
    """Answers whose listed items have no ties, others being anywhere, under inversions.

    Parameters
    ----------
    first, weights, sizes, distance
        As in `BlockwiseAnswers`.
    """

    seconds_of_a_number = 6e-9

    def __init__(self, first: Places, weights: Floats, sizes: Sizes, distance: Distance) -> None:
        super().__init__(first, weights, sizes, distance)
        self._work = float(work_under_inversions(first, sizes).sum())

    def _in_units(self, setting: Setting) -> Floats:
        return value_answers_by_inversions(setting, self._sequences, self._n_listed)

    def log_weights_at(self, labels: Labels, thetas: Floats) -> Floats:
        """Sum of the log weights of all answers at each of many thetas, in one pass."""
        setting, unit = self._setting(labels, 0.0), self.rule.unit
        return weigh_answers_at_thetas(
            setting, thetas * unit, self._sequences, self._n_listed, self.weights
        )

    def _add_expected(
        self,
        setting: Setting,
        membership: Floats,  # noqa: ARG002 - inversions do not ask for places
        precedence: Floats,
    ) -> None:
        add_expected_precedence_of_chains(
            setting, self._sequences, self._n_listed, self.weights, precedence
        )


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
    """Return whether answers that list some items in order can be summed over together."""
    return (
        prod(size + 1 for size in sizes) <= MOST_CODES and work_of_shared(first, sizes) <= MOST_WORK
    )


def work_of_shared(first: Places, sizes: Sizes) -> float:
    """Return how many numbers an evaluation of all answers goes through, at most."""
    n_items = first.shape[1]
    numbers = np.bincount((first == NOT_LISTED).sum(axis=1), minlength=n_items + 1)
    splits = most_splits(sizes)
    return float(sum(n * splits[free] for free, n in enumerate(numbers) if n))


class SharedInterleavings(BlockwiseAnswers):
    """Answers whose listed items have no ties, and whose other items may be anywhere: many of them.

    Parameters
    ----------
    first, weights, sizes, distance
        As in `BlockwiseAnswers`.
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

    def _subset(self, rows: npt.NDArray[np.bool_]) -> BlockwiseAnswers:
        """Return some of the answers, to be summed over one by one, on a logarithmic scale."""
        return BlockwiseAnswers(self._first[rows], self.weights[rows], self.sizes, self.distance)

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
