"""Consensus for any number of items: simulated annealing, then descent, from many starts."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Literal

import numpy as np

from tierwise._kernels.consensus import anneal, descend, insert_items
from tierwise._util.checks import RandomSource, as_generator
from tierwise.consensus.problem import MAX_ALTERNATIVES, Consensus
from tierwise.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.consensus.problem import Problem

# Changes of the total that are looked at, while it is still hot, to learn their usual size.
_WARM_UP_STEPS = 200
# By default a start makes this many steps per item, and there are this many starts; where tiers are
# strict, insertions make up for shorter runs, and more of them find better tiers ...
_STEPS_PER_ITEM, _MOST_RESTARTS = 1000, 20
_STEPS_PER_STRICT_ITEM, _MOST_STRICT_RESTARTS = 300, 60
# ... of which no more are made once so many ended in the best tiers that were known, or in others
# that are as good ...
_ENOUGH_REPEATS, _ENOUGH_HITS = 4, 10
# ... but no more of either than amounts to this many comparisons of items: a few seconds.
_MOST_COMPARISONS = 4e9


@dataclass(frozen=True)
class Annealing:
    """How to anneal.

    Attributes
    ----------
    switched
        Number of items whose labels are permuted in a step.
    schedule
        How the inverse temperature grows: by a fixed amount per step ("linear") or by a fixed
        factor ("geometric"). It starts and ends at values that suit the size of the costs.
    steps
        Number of steps from each start; None adapts it to the number of items.
    restarts
        Number of random starts; None adapts it to the number of items, and stops early if several
        end in the same total.

    Examples
    --------
    >>> Annealing(schedule="geometric", restarts=50).switched
    2
    """

    switched: int = 2
    schedule: Literal["linear", "geometric"] = "linear"
    steps: int | None = None
    restarts: int | None = None

    def __post_init__(self) -> None:
        """Refuse values that cannot be used."""
        if self.switched < 2:
            raise InputError(f"switched must be at least 2 items; got {self.switched}")
        if self.schedule not in {"linear", "geometric"}:
            raise InputError(f'schedule must be "linear" or "geometric"; got {self.schedule!r}')
        for name in ("steps", "restarts"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, or None; got {value}")


def solve_by_annealing(
    problem: Problem, annealing: Annealing, *, rng: RandomSource = None
) -> Consensus:
    """Anneal and descend from random starts and keep the best tiers seen.

    Nothing is proved about them; the bound is a simple one and may be far below.

    Parameters
    ----------
    problem
        Costs and sizes.
    annealing
        Steps, starts and schedule.
    rng
        Seed or generator.
    """
    n_items = problem.n_items
    if annealing.switched > max(n_items, 2):
        raise InputError(
            f"switched is {annealing.switched}, but there are {n_items} items: switch fewer"
        )
    strict = _is_strict(problem)
    per_item = _STEPS_PER_STRICT_ITEM if strict else _STEPS_PER_ITEM
    most_restarts = _MOST_STRICT_RESTARTS if strict else _MOST_RESTARTS
    steps = annealing.steps or min(per_item * n_items, int(_MOST_COMPARISONS) // n_items)
    restarts = annealing.restarts or int(
        np.clip(_MOST_COMPARISONS // (steps * n_items), 1, most_restarts)
    )
    generator = as_generator(rng)
    best: list[npt.NDArray[np.int64]] = []
    least, n_hits, n_repeats = np.inf, 0, 0
    for _ in range(restarts):
        labels = _descend_from_random_start(problem, annealing, steps, generator)
        total = problem.total(labels)
        if total < least - problem.tolerance:
            best, least, n_hits, n_repeats = [labels], total, 1, 0
        elif total <= least + problem.tolerance:
            n_hits += 1
            if _is_among(labels, best):
                n_repeats += 1
            else:
                best.append(labels)
        enough = n_repeats == _ENOUGH_REPEATS or n_hits == _ENOUGH_HITS
        if enough and annealing.restarts is None:
            break
    return Consensus(
        labels=best[0],
        total=least,
        method="annealing",
        optimal=False,
        bound=min(simple_bound(problem), least),
        alternatives=tuple(best[1 : MAX_ALTERNATIVES + 1]),
    )


def _is_strict(problem: Problem) -> bool:
    """Whether each tier holds one item, and pairs of items are all that costs anything."""
    return len(problem.sizes) == problem.n_items and not problem.linear.any()


def _is_among(labels: npt.NDArray[np.int64], known: list[npt.NDArray[np.int64]]) -> bool:
    """Whether the same labels were found before."""
    return any(np.array_equal(labels, other) for other in known)


def _descend_from_random_start(
    problem: Problem, annealing: Annealing, steps: int, generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Labels that no swap of two improves, nor another place of one where tiers are strict."""
    n_items = problem.n_items
    labels = generator.permutation(problem.sorted_labels)
    costs = problem.costs
    switched = min(annealing.switched, n_items)
    usual_change = anneal(labels, costs, np.zeros(_WARM_UP_STEPS), switched, generator)
    if usual_change > 0.0:
        # At the end only changes that are small even between neighbouring tiers are accepted.
        start, end = 1.0 / usual_change, max(200.0, 2.0 * n_items) / usual_change
        space = np.linspace if annealing.schedule == "linear" else np.geomspace
        anneal(labels, costs, space(start, end, steps), switched, generator)
        descend(labels, costs, len(problem.sizes), problem.tolerance)
        if _is_strict(problem):
            insert_items(labels, problem.pairs, problem.pairs_transposed, problem.tolerance)
    return labels


def simple_bound(problem: Problem) -> float:
    """Sum up every item and every pair at its cheapest: no tiers have a smaller total.

    A pair costs the smaller of its two entries when it is in the better order, and the larger one
    in addition when it is tied; how many pairs are tied is known from the sizes.
    """
    bound = float(problem.linear.min(axis=1).sum()) if problem.linear.size else 0.0
    if problem.pairs.size:
        upper = np.triu_indices(problem.n_items, k=1)
        one, other = problem.pairs[upper], problem.pairs_transposed[upper]
        n_tied = sum(comb(size, 2) for size in problem.sizes)
        dearer = np.partition(np.maximum(one, other), n_tied - 1)[:n_tied] if n_tied else 0.0
        bound += float(np.minimum(one, other).sum() + np.sum(dearer))
    return bound
