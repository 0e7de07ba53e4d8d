"""Tiers of all sizes at once, for the distance inversions.

The criterion is a sum over tiers and over pairs of tiers, whatever their sizes. So one recursion
over subsets of subsets finds the best tiers of all sizes, with a proof, for few items; for many,
the best cuts of good orders are improved by moving items and tiers until nothing helps. Of battles,
neighbours along the order of strengths are merged, and what results is improved in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.consensus.problem import Consensus
from tierwise.data.battles import Battles
from tierwise.fitting.solve import solution_at, unproved_at
from tierwise.inversions.best import find_best_tiers
from tierwise.inversions.comparisons import best_tiers_of_sizes, search_tiers_of_wins
from tierwise.inversions.objective import TiersPriorNumbers
from tierwise.inversions.searching import search_tiers, starting_orders
from tierwise.partition import gaussian_orders

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.likelihood import AnswerSource
    from tierwise.data.weak_orders import WeakOrderCounts
    from tierwise.fitting.solution import Settings, Solution
    from tierwise.inversions.objective import SizesPriorName
    from tierwise.model.priors import SizesPrior
    from tierwise.searching.criteria import Judge

# The recursion takes 3^n steps for each of some dozens of thetas: some seconds at so many items.
MOST_ITEMS_FOR_PROOF = 12
# Orders that the local search begins with; fewer where items are many.
_STARTS, _ITEMS_OF_ALL_STARTS = 8, 1200


def applies(source: AnswerSource) -> bool:
    """Whether the answers are weak orders or battles, and the distance inversions.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise.answers.likelihood import source_of
    >>> rankings = tw.load_political_goals()
    >>> applies(source_of(rankings, "inversions")), applies(source_of(rankings, "kendall"))
    (True, False)
    """
    if not gaussian_orders.applies((1,) * len(source.items), source.distance):
        return False
    return source.wins is not None or source.weak_orders is not None


def can_be_proved(source: AnswerSource) -> bool:
    """Whether the best tiers of all sizes can be proved to be the best."""
    return source.wins is None and len(source.items) <= MOST_ITEMS_FOR_PROOF


def search_all_sizes(
    source: AnswerSource, judge: Judge, settings: Settings, rng: np.random.Generator
) -> list[Solution]:
    """Find the best tiers of all sizes, and what they are to be compared to.

    Parameters
    ----------
    source
        Weak orders or battles, with the distance inversions.
    judge
        What makes tiers better. For weak orders, "likelihood" maximises the paper's criterion I,
        and "posterior" the same less 1 for each tier; for battles with the prior of sizes.
    settings
        How a fit is made of tiers.
    rng
        Generator, for where the local search begins.

    Returns
    -------
    list of Solution
        The best tiers first, then others that the search ended in, the strict consensus and the
        single tier.
    """
    if source.weak_orders is not None:
        found = _tiers_of_weak_orders(source.weak_orders, judge, rng)
    else:
        assert isinstance(source.data, Battles)
        found = _tiers_of_battles(source, source.data, judge, rng)
    distinct = {one.labels.tobytes(): one for one in reversed(found)}
    return [
        solution_at(source, one, settings) for one in found if one is distinct[one.labels.tobytes()]
    ]


def _tiers_of_weak_orders(
    counts: WeakOrderCounts, judge: Judge, rng: np.random.Generator
) -> list[Consensus]:
    """Find the best tiers, with a proof where items are few; then what they are compared to."""
    n_items = counts.n_items
    prior_sizes: SizesPriorName = "uniform" if judge.criterion == "likelihood" else "penalised"

    def consensus(
        labels: npt.NDArray[np.int64],
        method: str,
        *,
        n_optima: int | None = None,
        optimal: bool = False,
        alternatives: tuple[npt.NDArray[np.int64], ...] = (),
    ) -> Consensus:
        total = _total(counts, labels)
        return Consensus(labels, total, method, optimal, total, alternatives, n_optima)

    if n_items <= MOST_ITEMS_FOR_PROOF:
        best = find_best_tiers(counts, prior_sizes=prior_sizes)
        first = consensus(
            best.labels,
            "subsets of subsets",
            n_optima=best.n_optima,
            optimal=best.gap == 0.0,
            alternatives=tuple(best.alternatives),
        )
    else:
        n_starts = int(np.clip(_ITEMS_OF_ALL_STARTS // n_items, 2, _STARTS))
        found = search_tiers(counts, prior_sizes=prior_sizes, n_starts=n_starts, rng=rng)
        first = consensus(found.labels, "local search over ordered partitions")
    strict = consensus(_strict_labels(counts, rng), "insertion")
    no_tiers = np.zeros(n_items, dtype=np.int64)
    return [first, strict, consensus(no_tiers, "one tier", n_optima=1, optimal=True)]


def _tiers_of_battles(
    source: AnswerSource, data: Battles, judge: Judge, rng: np.random.Generator
) -> list[Consensus]:
    """Find good tiers, the best first; then what they are compared to."""
    n_items = len(data.items)
    prior_sizes = judge.prior_sizes if judge.criterion == "posterior" else "uniform"
    found = [(labels, "local search") for labels in best_tiers_of_battles(data, rng, prior_sizes)]
    found.append((best_tiers_of_sizes(data.wins, (1,) * n_items, rng), "exchanges"))
    found.append((np.zeros(n_items, dtype=np.int64), "one tier"))
    return [unproved_at(source, labels, method) for labels, method in found]


def best_tiers_of_battles(
    data: Battles, rng: np.random.Generator, prior_sizes: SizesPrior = "sceptical", starts: int = 4
) -> list[npt.NDArray[np.int64]]:
    """Find good tiers of all sizes, counted from 0, the best first, from so many starts.

    Parameters
    ----------
    data
        The battles.
    rng
        Generator; further starts are merged from battles that are drawn anew.
    prior_sizes
        "uniform", "penalised" or "sceptical".
    starts
        Number of starts, where battles can be drawn anew.
    """

    def resample(generator: np.random.Generator) -> npt.NDArray[np.float64]:
        return data.resampled(generator).wins

    prior = TiersPriorNumbers.of(prior_sizes, len(data.items))
    draw = resample if data.can_be_resampled else None
    return search_tiers_of_wins(data.wins, rng, prior, draw, starts)


def _total(counts: WeakOrderCounts, labels: npt.NDArray[np.int64]) -> float:
    """Count the inversions; pairs that an answer ties do not count."""
    return float((counts.above.T * (labels[:, None] < labels[None, :])).sum())


def _strict_labels(counts: WeakOrderCounts, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return the best strict order that insertion finds from some starts."""
    orders = starting_orders(counts, 4, rng)
    labels = np.empty(orders.shape, dtype=np.int64)
    np.put_along_axis(labels, orders, np.arange(counts.n_items)[None, :], axis=1)
    return min(labels, key=lambda one: _total(counts, one))
