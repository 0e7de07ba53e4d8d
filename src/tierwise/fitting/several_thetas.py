"""Coordinate ascent: tiers of given sizes and one theta per tier or place, each given the other.

Given tiers, the thetas are those of greatest likelihood. Given thetas, the total distance weighted
by them is made smaller: by place with the consensus methods, by tier by moving items. When that
changes nothing, single items are moved with thetas found again each time, if that is cheap. No
step lowers the likelihood, and nothing is proved about the tiers that are found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.consensus import descend_by_tier
from tierwise.consensus.find import closer_labels
from tierwise.consensus.problem import make_problem
from tierwise.distances import Costs
from tierwise.fitting.solve import Solution, unproved
from tierwise.partition.generalised import ClosedParts
from tierwise.partition.recursion import n_states
from tierwise.theta.estimate import estimates_of_thetas, maximise_thetas

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tierwise.answers.generalised import GeneralisedAnswers
    from tierwise.answers.likelihood import AnswerSource
    from tierwise.consensus.problem import Consensus
    from tierwise.partition.base import PartitionFunction
    from tierwise.theta.estimate import BestThetas

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

_ROUNDS = 100
_SWEEPS = 20
_LEAST_GAIN = 1e-9
# Numbers that all trials of moves in a round may go through: about a second.
MOST_WORK = 5e8
# Times that the partition function is computed for a trial where all thetas are found together.
_STEPS_OF_A_TRIAL = 5
# Numbers that finding one theta takes for each item where they are independent.
_STEPS_OF_A_PART = 640
# Comparisons of items in a round of moves with thetas held: some tenths of a second.
_MOST_COMPARISONS = 5e7


def solve_several_thetas(
    source: AnswerSource,
    partition: PartitionFunction,
    *,
    starts: Iterable[_Integers],
    level: float = 0.95,
    most_work: float = MOST_WORK,
) -> Solution:
    """Find tiers of given sizes and the thetas of a generalised model that make answers likely.

    Parameters
    ----------
    source
        The answers; all that thetas need of them must be known.
    partition
        The partition function, which knows sizes, distance and concentration.
    starts
        Tiers to begin with, counted from 0; the best of what each leads to is returned.
    level
        Level of the intervals.
    most_work
        Numbers that a round of moves may go through with thetas found again for each, about a
        nanosecond each; with 0, items move only with thetas held.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise.answers.likelihood import source_of
    >>> from tierwise.partition.choose import partition_function
    >>> goals = tw.load_political_goals()
    >>> tiers = [goals.items.index(item) // 2 for item in goals.items]
    >>> partition = partition_function((2, 2), "inversions", concentration="tier")
    >>> source = source_of(goals, "inversions")
    >>> found = solve_several_thetas(source, partition, starts=[np.array(tiers)])
    >>> [round(one.value, 3) for one in found.thetas]
    [0.691]
    """
    answers = source.with_thetas(partition)
    ascent = _Ascent(answers, most_work)
    reached = [ascent.climb(labels) for labels in starts]
    labels, found = max(reached, key=lambda one: one[1].log_likelihood)
    total = float(answers.curve(labels).totals.sum())
    consensus = unproved(labels, total, "coordinate ascent")
    return _solution(answers, consensus, found, level)


def several_thetas_of(
    source: AnswerSource, partition: PartitionFunction, consensus: Consensus, level: float = 0.95
) -> Solution:
    """Find the thetas of a generalised model, given tiers.

    Parameters
    ----------
    source, partition, level
        As in `solve_several_thetas`.
    consensus
        The tiers.
    """
    answers = source.with_thetas(partition)
    found = maximise_thetas(answers.curve(consensus.labels))
    return _solution(answers, consensus, found, level)


def _solution(
    answers: GeneralisedAnswers, consensus: Consensus, found: BestThetas, level: float
) -> Solution:
    partition = answers.partition
    curve = answers.curve(consensus.labels)
    return Solution(
        consensus=consensus,
        thetas=estimates_of_thetas(curve, found.thetas, level),
        log_likelihood=found.log_likelihood,
        log_likelihood_error=0.0,
        partition_method=partition.method,
        log_completions=answers.log_completions,
        concentration=partition.concentration,
    )


class _Ascent:
    """Coordinate ascent for given answers."""

    def __init__(self, answers: GeneralisedAnswers, most_work: float) -> None:
        self.answers = answers
        self.most_work = most_work
        self._known: dict[bytes, tuple[float, float]] = {}
        self.partition = answers.partition
        self.sizes = self.partition.sizes

    def climb(self, labels: _Integers) -> tuple[_Integers, BestThetas]:
        """Go from tiers to better ones until nothing changes."""
        labels = np.ascontiguousarray(labels, dtype=np.int64)
        found = self._maximise(labels)
        for _ in range(_ROUNDS):
            better = self._closer(labels, found) or self._moved(labels, found)
            if better is None:
                break
            labels, found = better
        return labels, found

    def _maximise(self, labels: _Integers, start: _Floats | None = None) -> BestThetas:
        return maximise_thetas(self.answers.curve(labels), start, self._known)

    def _closer(self, labels: _Integers, found: BestThetas) -> tuple[_Integers, BestThetas] | None:
        """Tiers that are closer, given thetas."""
        if not np.isfinite(found.thetas).all():
            return None
        pairs = self.answers.pairs
        if self.partition.concentration == "place":
            weighted = np.tensordot(found.thetas, pairs, axes=1)
            problem = make_problem(Costs(np.empty((0, 0)), weighted), self.sizes)
            other = closer_labels(problem, labels)
        else:
            # How many pairs are tied follows from the sizes: that they are charged changes nothing.
            thetas = np.zeros(len(self.sizes))
            thetas[: len(found.thetas)] = found.thetas
            tolerance = 1e-12 * float(pairs.sum()) * float(thetas.max())
            window = max(1, int(_MOST_COMPARISONS / len(labels) ** 3))
            other = descend_by_tier(labels, pairs, thetas, window, tolerance)
        if np.array_equal(other, labels):
            return None
        better = self._maximise(other, found.thetas)
        return (other, better) if self._is_better(better, found) else None

    def _moved(self, labels: _Integers, found: BestThetas) -> tuple[_Integers, BestThetas] | None:
        """Tiers that differ in the place of an item or two, thetas found again."""
        n_items, n_tiers = len(labels), len(self.sizes)
        if isinstance(self.partition, ClosedParts):
            work = _STEPS_OF_A_PART * n_tiers * n_items
        else:
            work = _STEPS_OF_A_TRIAL * n_states(self.sizes) * n_tiers**3
        # There are two kinds of moves, in two directions.
        window = min(n_items, int(self.most_work / (4.0 * n_items * work)))
        begin = found
        for _ in range(_SWEEPS if window else 0):
            before = found
            for item in range(n_items):
                for other in _neighbours(labels, item, window):
                    better = self._maximise(other, found.thetas)
                    if self._is_better(better, found):
                        labels, found = other, better
            if found is before:
                break
        return None if found is begin else (labels, found)

    @staticmethod
    def _is_better(one: BestThetas, other: BestThetas) -> bool:
        least = _LEAST_GAIN * max(1.0, abs(other.log_likelihood))
        return one.log_likelihood > other.log_likelihood + least


def _neighbours(labels: _Integers, item: int, window: int) -> Iterator[_Integers]:
    """Tiers in which an item moves in the order of the tiers, or trades tiers with another."""
    n_items = len(labels)
    order = np.argsort(labels, kind="stable")
    cut = labels[order]
    source = int(np.flatnonzero(order == item)[0])
    seen = {labels.tobytes()}
    for target in range(max(0, source - window), min(n_items, source + window + 1)):
        if cut[source] == cut[target]:
            continue
        swapped = order.copy()
        swapped[[source, target]] = order[[target, source]]
        moved = np.insert(np.delete(order, source), target, item)
        for trial in (swapped, moved):
            other = np.empty(n_items, dtype=np.int64)
            other[trial] = cut
            if other.tobytes() not in seen:
                seen.add(other.tobytes())
                yield other
