"""Tiers of all sizes at once, for the distance inversions.

The criterion is a sum over tiers and over pairs of tiers, whatever their sizes. So one recursion
over subsets of subsets finds the best tiers of all sizes, with a proof, for few items; for many,
the best cuts of good orders are improved by moving items and tiers until nothing helps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.consensus.problem import Consensus
from tierwise.data.counts import Counts, WeakOrderCounts
from tierwise.data.rankings import Rankings
from tierwise.fitting.solve import solution_at
from tierwise.inversions.best import find_best_tiers
from tierwise.inversions.searching import search_tiers, starting_orders
from tierwise.partition import gaussian

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.likelihood import AnswerSource
    from tierwise.fitting.solution import Settings, Solution
    from tierwise.inversions.objective import SizesPriorName

# The recursion takes 3^n steps for each of some dozens of thetas: some seconds at so many items.
MOST_ITEMS_FOR_PROOF = 12
# Orders that the local search begins with; fewer where items are many.
_STARTS, _ITEMS_OF_ALL_STARTS = 8, 1200


def applies(source: AnswerSource) -> bool:
    """Whether the answers are weak orders, and the distance inversions.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise.answers.likelihood import source_of
    >>> rankings = tw.load_political_goals()
    >>> applies(source_of(rankings, "inversions")), applies(source_of(rankings, "kendall"))
    (True, False)
    """
    n_items = len(source.items)
    if not gaussian.applies((1,) * n_items, source.distance):
        return False
    data = source.data
    if isinstance(data, Counts):
        return True
    return isinstance(data, Rankings) and data.unranked != "anywhere"


def weak_order_counts(source: AnswerSource) -> WeakOrderCounts:
    """Count how often items are above others, and which are tied."""
    if isinstance(source.data, Rankings):
        return WeakOrderCounts.of(source.data)
    return WeakOrderCounts.without_ties(source.pair_counts, float(source.n_rankings))


def search_all_sizes(
    source: AnswerSource,
    prior_sizes: SizesPriorName,
    settings: Settings,
    rng: np.random.Generator,
) -> list[Solution]:
    """Find the best tiers of all sizes, and what they are to be compared to.

    Parameters
    ----------
    source
        Weak orders, with the distance inversions.
    prior_sizes
        "uniform" maximises the paper's criterion I; "penalised" less 1 for each tier.
    settings
        How a fit is made of tiers.
    rng
        Generator, for where the local search begins.

    Returns
    -------
    list of Solution
        The best tiers first, then the strict consensus and the single tier, and others that the
        search ended in.
    """
    counts = weak_order_counts(source)
    n_items = counts.n_items
    optimal, n_optima = False, None
    alternatives: tuple[npt.NDArray[np.int64], ...] = ()
    if n_items <= MOST_ITEMS_FOR_PROOF:
        best = find_best_tiers(counts, prior_sizes=prior_sizes)
        labels, optimal, n_optima = best.labels, best.gap == 0.0, best.n_optima
        alternatives = tuple(best.alternatives)
        method = "subsets of subsets"
    else:
        n_starts = int(np.clip(_ITEMS_OF_ALL_STARTS // n_items, 2, _STARTS))
        found = search_tiers(counts, prior_sizes=prior_sizes, n_starts=n_starts, rng=rng)
        labels, method = found.labels, "local search over ordered partitions"
    candidates = [(labels, method, optimal, n_optima, alternatives)]
    strict = _strict_labels(counts, rng)
    candidates.append((strict, "insertion", False, None, ()))
    candidates.append((np.zeros(n_items, dtype=np.int64), "one tier", True, 1, ()))
    solutions = []
    seen = set()
    for tiers, how, proved, number, others in candidates:
        if tiers.tobytes() in seen:
            continue
        seen.add(tiers.tobytes())
        consensus = Consensus(
            labels=tiers,
            total=_total(counts, tiers),
            method=how,
            optimal=proved,
            bound=_total(counts, tiers),
            n_optima=number,
            alternatives=others,
        )
        solutions.append(solution_at(source, consensus, settings))
    return solutions


def _total(counts: WeakOrderCounts, labels: npt.NDArray[np.int64]) -> float:
    """Count the inversions; pairs that an answer ties do not count."""
    return float((counts.above.T * (labels[:, None] < labels[None, :])).sum())


def _strict_labels(counts: WeakOrderCounts, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return the best strict order that insertion finds from some starts."""
    orders = starting_orders(counts, 4, rng)
    labels = np.empty(orders.shape, dtype=np.int64)
    np.put_along_axis(labels, orders, np.arange(counts.n_items)[None, :], axis=1)
    return min(labels, key=lambda one: _total(counts, one))
