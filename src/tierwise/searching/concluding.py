"""From the sizes that were explored to the result: the best fit of each kind, and the best kind."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tierwise._util.checks import (
    RandomSource,
)
from tierwise._util.provenance import Stopwatch
from tierwise.consensus.subsets import subset_work
from tierwise.data.kinds import KnownData
from tierwise.errors import InputError, TierwiseWarning, use
from tierwise.fitting.fit import (
    MOST_WORK_FOR_COMPARISON,
    fit_of_solution,
    references_of,
)
from tierwise.fitting.order import are_an_order
from tierwise.fitting.result import Reference
from tierwise.fitting.solve import Settings as FitSettings
from tierwise.fitting.solve import Solution, solve
from tierwise.searching import all_sizes
from tierwise.searching.evaluate import (
    consensus_method,
)
from tierwise.searching.merging import Merging
from tierwise.searching.result import Family, Search, name_of_model
from tierwise.searching.strategies import (
    Exploration,
    doubtful_sizes,
    rank,
)
from tierwise.tiers import Sizes

_DIVIDED = (
    "the tiers found are not an order: as many answers contradict them as support them. People "
    "seem to be divided, so look for groups"
)
# A distance is taken before worths if it is so far ahead, a factor of 20 in probability. With one
# theta items either differ by a whole step or are tied, so where answers are few it calls items
# tied that worths would leave open.
_CLEARLY_AHEAD = 3.0


class Searched(NamedTuple):
    """What was found with a kind of models."""

    search: Search
    compare: Callable[[Sizes], tuple[Reference, ...]]
    """Fits what the best tiers are compared to, which is needed of the best kind only."""


def with_worths(found: Search) -> Searched:
    """Return a search with worths, whose references are known already."""
    return Searched(found, lambda _: found.best.references)


def orders_only(
    searches: list[Searched], data: KnownData, left_out: dict[str, str]
) -> list[Searched]:
    """Keep the kinds of models whose tiers are an order, and write down the others."""
    kept = []
    for one in searches:
        best = one.search.best
        agreed = best.agreed_tiers
        if are_an_order(data, agreed) and not (best.divided and len(agreed) == 1):
            kept.append(one)
        else:
            left_out[name_of_model(best.family, best.distance, best.concentration)] = _DIVIDED
    return kept


def best_family(searches: list[Searched]) -> Search:
    """Return the search whose best tiers are best, with what the others found.

    Worths come first unless another model is clearly ahead: they assume less.
    """
    if not all(one.search.contenders for one in searches):
        raise InputError(
            "no answer orders two items of different tiers, so these tiers have no agreement",
            [use(criterion="posterior")],
        )
    scores = [one.search.contenders[0].score for one in searches]
    order = sorted(range(len(searches)), key=lambda number: (-scores[number], number))
    ahead = scores[order[0]]
    worths = [number for number in order if searches[number].search.best.family == "luce"]
    order = [one for one in worths if ahead - scores[one] <= _CLEARLY_AHEAD] + order
    order = list(dict.fromkeys(order))
    ranked = [(scores[number], searches[number].search) for number in order]
    top, found = ranked[0]
    families = tuple(
        Family(
            family=search.best.family,
            distance=search.best.distance,
            concentration=search.best.concentration,
            sizes=search.best.sizes,
            tiers=search.best.tiers,
            criterion=search.best.criterion,
            score=score,
            behind=top - score,
        )
        for score, search in ranked
    )
    references = searches[order[0]].compare(found.best.sizes)
    return replace(found, best=replace(found.best, references=references), families=families)


def conclude(
    exploration: Exploration,
    method: str,
    merging: Merging,
    watch: Stopwatch,
    rng: RandomSource,
    *,
    interrupted: bool,
) -> Search:
    """Rank what was evaluated, fit the best sizes, and warn of what may be wrong with them."""
    setting, space = exploration.evaluator.setting, exploration.space
    allowed = [sizes for sizes in exploration.evaluator.known if sizes in space]
    exploration.evaluator.solve(exploration.best_of(allowed))
    leaderboard = rank(exploration, setting.source.items)
    best = next(candidate.sizes for candidate in leaderboard if candidate.allowed)
    doubtful = doubtful_sizes(exploration, best)
    if interrupted:
        warnings.warn(
            f"the search was interrupted after {len(leaderboard)} size vectors: better ones may "
            "not have been tried",
            TierwiseWarning,
            stacklevel=3,
        )
    if doubtful:
        more = len(doubtful) - 1
        others = f" and {more} {'other' if more == 1 else 'others'}" if more else ""
        warnings.warn(
            "some sizes were compared by estimates, whose error could change the winner: "
            f"{doubtful[0]}{others} may be better than {best}; the table shows the errors",
            TierwiseWarning,
            stacklevel=3,
        )
    fitted = fit_of_solution(
        setting.source,
        _solution_of(exploration, best),
        FitSettings(method=consensus_method(best, setting.source.distance)),
        lambda: watch.provenance(rng),
    )
    proved = method == "all sizes" and fitted.optimal and all_sizes.can_be_proved(setting.source)
    return Search(
        best=fitted,
        leaderboard=leaderboard,
        criterion=exploration.judge.criterion,
        method=method,
        exhaustive=exploration.n_compared + exploration.n_excluded == space.n_sizes or proved,
        path=tuple(exploration.path),
        start=merging,
        doubtful=doubtful,
        interrupted=interrupted,
        provenance=watch.provenance(rng),
    )


def _solution_of(exploration: Exploration, best: Sizes) -> Solution:
    """Return the solution of the best sizes, found again with more effort if it is an estimate."""
    setting = exploration.evaluator.setting
    settings = FitSettings(method=consensus_method(best, setting.source.distance))
    rng = np.random.default_rng(setting.seed(best))
    known = _final_solutions(exploration, best).get(best)
    return known or solve(setting.source, best, settings, rng)


def references_of_best(exploration: Exploration, best: Sizes) -> tuple[Reference, ...]:
    """Fit the strict consensus and no tiers, unless the search has done so."""
    setting = exploration.evaluator.setting
    return references_of(
        setting.source,
        best,
        FitSettings(method=consensus_method(best, setting.source.distance)),
        np.random.default_rng(setting.seed(best)),
        _final_solutions(exploration, best),
    )


def _final_solutions(exploration: Exploration, best: Sizes) -> dict[Sizes, Solution]:
    """Return solutions that a fit of these sizes would not improve: they are not found twice.

    Those with estimated likelihoods are, because a fit may take longer than a search; so are
    references whose tiers are not proved to be best, where a proof is possible.
    """
    source = exploration.evaluator.setting.source
    return {
        sizes: evaluation.solution
        for sizes, evaluation in exploration.evaluator.known.items()
        if evaluation.solution is not None
        and evaluation.log_likelihood_error == 0.0
        and (
            sizes == best
            or evaluation.optimal
            or not source.is_known(sizes)
            or subset_work(sizes).transitions > MOST_WORK_FOR_COMPARISON
        )
    }
