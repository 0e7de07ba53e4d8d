"""Tiers of all sizes at once under inversions, and searches with several thetas.

With one theta the criterion is a sum over tiers and over pairs of tiers, whatever their sizes. So
one recursion over subsets of subsets finds the best tiers of all sizes, with a proof, for few
items; for many, the best cuts of good orders are improved by moving items and tiers until nothing
helps. What answers leave open is averaged over, again and again. Of battles, neighbours along the
order of strengths are merged, and what results is improved in the same way.

Agreement may not be the same everywhere. Under inversions with a theta per tier the likelihood
separates into lines, each theta is averaged over, and tiers of all sizes are searched at once.
Elsewhere the best sizes with one theta are fitted, and the thetas are then integrated out too, so
all kinds are compared by the same measure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from tierwise.consensus.problem import Consensus
from tierwise.evidence.given_tiers import log_integrated_thetas
from tierwise.fitting.fit import ConcentrationChoice, fit_of_solution, fit_several_thetas
from tierwise.fitting.result import agreement_of_counts
from tierwise.fitting.several_thetas import several_thetas_of
from tierwise.fitting.solve import Settings, named_tiers, solution_at, unproved, unproved_at
from tierwise.inversions.best import find_best_tiers
from tierwise.inversions.comparisons import best_tiers_of_sizes, search_tiers_of_wins
from tierwise.inversions.evidence import lines_of_tiers
from tierwise.inversions.objective import line_objective, tiers_prior
from tierwise.inversions.searching import search_tiers, starting_orders
from tierwise.model.priors import log_prior_of_sizes
from tierwise.partition.choose import partition_function
from tierwise.searching.result import Candidate, Search
from tierwise.searching.size_space import SizeSpace, neighbouring_tiers
from tierwise.searching.structural_em import MOST_WORK, StructuralSearch
from tierwise.tiers import log_number_of_tiers

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tierwise._kernels.inversions_lines import LineObjective
    from tierwise.answers.capabilities import AllSizes
    from tierwise.answers.likelihood import AnswerSource
    from tierwise.data.counts import WeakOrderCounts
    from tierwise.fitting.result import Fit
    from tierwise.fitting.solve import Solution
    from tierwise.inversions.objective import SizesPriorName
    from tierwise.model.priors import SizesPrior
    from tierwise.partition.base import Concentration
    from tierwise.searching.evaluate import Judge, Setting
    from tierwise.tiers import Sizes

ComparedThetas: TypeAlias = ConcentrationChoice | Literal["drawn"]
"""The kinds that are compared: the named one, or one theta and those with draws."""

# The recursion takes 3^n steps for each of some dozens of thetas: some seconds at so many items.
MOST_ITEMS_FOR_PROOF = 12
# With a theta per tier all tiers of so many items are enumerated, in 0.3 to 0.7 seconds. Local
# search takes a hundredth of one, but its kernels took ten seconds more to compile.
_MOST_ITEMS_OF_LINES = 10
# With more items and at least so many answers, one start leads about where others do: to the same
# tiers in four data sets of 134 to 300 items, and 0.3 log units behind with 30 answers about 120.
# With 8 answers about 150 items it ended five log units behind the best.
_MOST_ITEMS_WITH_STARTS, _FEWEST_FOR_ONE_START = 100, 20
# Orders that the local search begins with; fewer where items are many.
_STARTS, _ITEMS_OF_ALL_STARTS = 8, 1200


# Structural EM values some hundred tiers. By the criterion itself so many are compared, because
# what it maximises is about the same.
_MOST_KEPT = 12


def can_be_proved(source: AnswerSource) -> bool:
    """Whether the best tiers of all sizes can be proved to be the best."""
    weak_orders = source.capabilities.all_sizes == "weak orders"
    return weak_orders and len(source.items) <= MOST_ITEMS_FOR_PROOF


def search_all_sizes(
    source: AnswerSource, judge: Judge, settings: Settings, rng: np.random.Generator
) -> list[Solution]:
    """Find the best tiers of all sizes, and the tiers to compare them with.

    Parameters
    ----------
    source
        The answers, with the distance inversions.
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
    can = source.capabilities
    assert can.all_sizes is not None
    found = _ENGINES[can.all_sizes](source, judge, rng)
    settings = replace(settings, most_work=MOST_WORK)
    distinct = {one.labels.tobytes(): one for one in reversed(found)}
    return [
        solution_at(source, one, settings) for one in found if one is distinct[one.labels.tobytes()]
    ]


def _tiers_of_weak_orders(
    source: AnswerSource, judge: Judge, rng: np.random.Generator
) -> list[Consensus]:
    """Find the best tiers, with a proof where items are few; then what they are compared to."""
    counts = source.weak_orders
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
    source: AnswerSource, judge: Judge, rng: np.random.Generator
) -> list[Consensus]:
    """Find good tiers, the best first; then what they are compared to."""
    n_items = len(source.items)
    prior_sizes = judge.prior_sizes if judge.criterion == "posterior" else "uniform"
    found = [(labels, "local search") for labels in best_tiers_of_battles(source, rng, prior_sizes)]
    found.append((best_tiers_of_sizes(source.wins, (1,) * n_items, rng), "exchanges"))
    found.append((np.zeros(n_items, dtype=np.int64), "one tier"))
    return [unproved_at(source, labels, method) for labels, method in found]


def _tiers_of_completions(
    source: AnswerSource, judge: Judge, rng: np.random.Generator
) -> list[Consensus]:
    """Find good tiers by structural EM, the best first; then what they are compared to."""
    prior_sizes: SizesPriorName = "uniform" if judge.criterion == "likelihood" else "penalised"
    search = StructuralSearch(source, prior_sizes, rng)
    found = [search.consensus(one, "structural EM") for one in search.run()[:_MOST_KEPT]]
    found.append(search.consensus(search.strict(), "insertion"))
    return [*found, search.consensus(search.single(), "one tier")]


# What searches tiers of all sizes at once: a further engine is a further entry.
_ENGINES: dict[AllSizes, Callable[[AnswerSource, Judge, np.random.Generator], list[Consensus]]] = {
    "weak orders": _tiers_of_weak_orders,
    "comparisons": _tiers_of_battles,
    "completions": _tiers_of_completions,
}


def best_tiers_of_battles(
    source: AnswerSource,
    rng: np.random.Generator,
    prior_sizes: SizesPrior = "sceptical",
    starts: int = 4,
) -> list[npt.NDArray[np.int64]]:
    """Find good tiers of all sizes, counted from 0, the best first, from several starts.

    Parameters
    ----------
    source
        The battles.
    rng
        Generator; further starts are merged from battles that are drawn again.
    prior_sizes
        "uniform", "penalised" or "sceptical".
    starts
        Number of starts, where battles can be drawn again.
    """
    prior = tiers_prior(prior_sizes, len(source.items))
    return search_tiers_of_wins(source.wins, rng, prior, source.resampled_wins, starts)


def _total(counts: WeakOrderCounts, labels: npt.NDArray[np.int64]) -> float:
    """Count the inversions; pairs that an answer ties do not count."""
    return float((counts.above.T * (labels[:, None] < labels[None, :])).sum())


def _strict_labels(counts: WeakOrderCounts, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return the best strict order that insertion finds from some starts."""
    orders = starting_orders(counts, 4, rng)
    labels = np.empty(orders.shape, dtype=np.int64)
    np.put_along_axis(labels, orders, np.arange(counts.n_items)[None, :], axis=1)
    return min(labels, key=lambda one: _total(counts, one))


def kinds_of(source: AnswerSource, concentration: ComparedThetas) -> list[Concentration]:
    """Return the kinds of concentration to compare with one theta.

    A kind requested by name raises an error if it cannot be used; "auto" leaves it out, and "drawn"
    also leaves out kinds without draws for open sizes.
    """
    if concentration == "single":
        return []
    if concentration == "drawn":
        # Of two items there is one line at most.
        has_draws = source.capabilities.all_sizes == "weak orders" and len(source.items) > 2
        return ["tier"] if has_draws else []
    asked: tuple[Concentration, ...] = (
        ("tier", "place") if concentration == "auto" else (concentration,)
    )
    n_items = len(source.items)
    some = (1, n_items - 1) if n_items > 1 else (1,)
    possible = []
    for kind in asked:
        obstacle = source.obstacle_to_thetas(some, kind)
        if obstacle is None:
            possible.append(kind)
        elif concentration != "auto":
            raise obstacle
    return possible


def search_several_thetas(
    single: Search,
    source: AnswerSource,
    setting: Setting,
    judge: Judge,
    kind: Concentration,
    space: SizeSpace,
) -> list[Search]:
    """Search with a theta for each part; an empty list if that cannot be done for these sizes.

    Parameters
    ----------
    single
        The search with one theta.
    source, setting, judge, space
        The answers, and how tiers are compared.
    kind
        "tier" or "place".
    """
    unconstrained = space == SizeSpace(space.n_items)
    if kind == "tier" and unconstrained and source.capabilities.all_sizes == "weak orders":
        return [_search_lines(single, source, setting, judge)]
    sizes = single.best.sizes
    if len(sizes) == 1 or source.obstacle_to_thetas(sizes, kind):
        return []
    best = _refitted(source, single.best, kind, setting.entropy)
    answers = source.with_thetas(
        partition_function(best.sizes, source.distance, concentration=kind)
    )
    labels = best.tiers.label_array(source.items)
    value = float(log_integrated_thetas(answers, labels, setting.prior_theta))
    score = value - log_number_of_tiers(best.sizes)
    score += log_prior_of_sizes(judge.prior_sizes, best.sizes)
    return [_with_best(single, best, score, "coordinate ascent")]


def _refitted(source: AnswerSource, single: Fit, kind: Concentration, entropy: int) -> Fit:
    rng = np.random.default_rng(entropy)
    return fit_several_thetas(source, single, kind, Settings(), rng, lambda: single.provenance)


def _search_lines(single: Search, source: AnswerSource, setting: Setting, judge: Judge) -> Search:
    """Search all sizes at once with a theta per tier, each of them averaged over.

    The leaderboard has the best tiers, and those that differ from them by a single move.
    """
    counts = source.weak_orders
    rng = np.random.default_rng(setting.entropy)
    prior = setting.prior_theta
    if counts.n_items <= _MOST_ITEMS_OF_LINES:
        best = find_best_tiers(counts, "tier", prior_theta=prior, prior_sizes="penalised")
        labels, method = best.labels, "subsets of subsets"
    else:
        found = search_tiers(
            counts,
            "tier",
            prior_theta=prior,
            prior_sizes="penalised",
            orders=_order_to_begin_with(single.best.tiers.label_array(source.items), counts),
            rng=rng,
        )
        labels, method = found.labels, "local search over ordered partitions"
    scorer = _ScoreOfLines(source, line_objective(counts, prior), judge)
    board = {tuple(np.bincount(labels).tolist()): (scorer(labels), labels)}
    for other in neighbouring_tiers(labels):
        score, sizes = scorer(other), tuple(np.bincount(other).tolist())
        if sizes not in board or score > board[sizes][0]:
            board[sizes] = score, other
    for name in ("strict consensus", "no tiers"):
        known = next((one for one in single.leaderboard if one.name == name), None)
        if known is not None and known.sizes not in board:
            other = known.tiers.label_array(source.items)
            board[known.sizes] = scorer(other), other
    # The recursion has a prior of sizes of its own: with the one in use a neighbour may be better.
    ranked = sorted(board.values(), key=lambda one: -one[0])
    fitted = _fit_of_lines(source, ranked[0][1], single, method)
    candidates = [
        Candidate(
            sizes=tuple(np.bincount(other).tolist()),
            tiers=named_tiers(other, source.items),
            score=score,
            criterion=fitted.criterion if place == 0 else nan,
            criterion_error=0.0,
            agreement=agreement_of_counts(source.pair_counts, other).overall,
            theta=nan,
            log_evidence=nan,
            log_evidence_error=0.0,
            probability=nan,
            optimal=False,
            allowed=True,
        )
        for place, (score, other) in enumerate(ranked)
    ]
    return replace(
        single, best=fitted, leaderboard=tuple(candidates), method="all sizes", exhaustive=False
    )


def _order_to_begin_with(
    labels: npt.NDArray[np.int64], counts: WeakOrderCounts
) -> npt.NDArray[np.int64] | None:
    """Return the order of tiers with one theta; None if other orders may lead to better tiers."""
    if counts.n_items <= _MOST_ITEMS_WITH_STARTS or counts.n_rankings < _FEWEST_FOR_ONE_START:
        return None
    place = np.argsort(counts.borda_order())
    return np.lexsort((place, labels))[None, :]


@dataclass(frozen=True, eq=False)
class _ScoreOfLines:
    """The log posterior probability of tiers with a theta per tier, up to a constant."""

    source: AnswerSource
    objective: LineObjective
    judge: Judge

    def __call__(self, labels: npt.NDArray[np.int64]) -> float:
        sizes: Sizes = tuple(np.bincount(labels).tolist())
        lines = lines_of_tiers(self.source.weak_orders, labels, self.objective)
        score = lines.log_likelihood("tier") - log_number_of_tiers(sizes)
        return score + log_prior_of_sizes(self.judge.prior_sizes, sizes)


def _fit_of_lines(
    source: AnswerSource, labels: npt.NDArray[np.int64], single: Search, method: str
) -> Fit:
    """Return the fit of given tiers with a theta for each; with one, if they are a single tier."""
    sizes: Sizes = tuple(np.bincount(labels).tolist())
    consensus = unproved(labels, _total(source.weak_orders, labels), method)
    settings = Settings()
    if len(sizes) == 1:
        solution = solution_at(source, consensus, settings)
    else:
        partition = partition_function(sizes, source.distance, concentration="tier")
        solution = several_thetas_of(source, partition, consensus, settings.level)
    return fit_of_solution(source, solution, settings, lambda: single.provenance)


def _with_best(single: Search, best: Fit, score: float, method: str) -> Search:
    """Put the fit with several thetas at the head of the leaderboard."""
    head = Candidate(
        sizes=best.sizes,
        tiers=best.tiers,
        score=score,
        criterion=best.criterion,
        criterion_error=best.log_likelihood_error,
        agreement=best.agreement,
        theta=float("nan"),
        log_evidence=float("nan"),
        log_evidence_error=0.0,
        probability=float("nan"),
        optimal=best.optimal,
        allowed=True,
    )
    return replace(
        single,
        best=best,
        leaderboard=(head, *single.leaderboard),
        method=method,
        exhaustive=False,
    )
