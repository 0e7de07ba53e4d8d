"""search: which sizes describe the rankings best."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from tierwise._util.checks import (
    RandomSource,
    as_generator,
    check_choice,
    check_count,
    check_number,
    spawn_seeds,
)
from tierwise._util.provenance import Stopwatch
from tierwise._util.tasks import Progress
from tierwise.answers.likelihood import AnswerSource, source_of
from tierwise.consensus.subsets import subset_work
from tierwise.data.battles import Battles
from tierwise.data.counts import Counts
from tierwise.data.kinds import KnownData, check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.data.scan import RankingScan
from tierwise.distances import Distance
from tierwise.errors import InputError, TierwiseWarning, drop, instead, use
from tierwise.evidence.exact import refuse_too_many_tiers
from tierwise.fitting.every_size import MOST_ITEMS as MOST_ITEMS_TOGETHER
from tierwise.fitting.fit import (
    MOST_WORK_FOR_COMPARISON,
    ConcentrationChoice,
    fit_of_solution,
    references_of,
)
from tierwise.fitting.result import Reference
from tierwise.fitting.solve import Settings as FitSettings
from tierwise.fitting.solve import Solution, solution_at, solve, unproved_at
from tierwise.luce.judges import at_effective_number
from tierwise.luce.search import Limits
from tierwise.model.priors import (
    DEFAULT_PRIORS,
    Priors,
    as_theta_prior,
    check_priors,
    log_prior_of_sizes,
)
from tierwise.searching import all_sizes
from tierwise.searching.evaluate import (
    Criterion,
    Depth,
    Evaluator,
    Judge,
    Setting,
    consensus_method,
    evaluate_solution,
    seconds_of,
    seconds_of_answers,
)
from tierwise.searching.luce import RaceSearch, search_races
from tierwise.searching.merging import Merging, merge_even_pairs
from tierwise.searching.order import are_an_order
from tierwise.searching.result import Family, Search
from tierwise.searching.size_space import SizeSpace, make_space
from tierwise.searching.strategies import (
    Exploration,
    Greedy,
    Strategy,
    doubtful_sizes,
    explore,
    name_of,
    rank,
    strategy_of,
)
from tierwise.tiers import Sizes, check_sizes

SearchMethod: TypeAlias = Literal["auto", "exhaustive", "greedy", "tabu", "genetic"]
FamilyChoice: TypeAlias = Literal["mallows", "luce", "auto"]
"""Which family of models is searched, or "auto", which compares them."""

_DIVIDED = (
    "its tiers are not an order, because as many answers go against them as with them: people seem "
    "to be divided, so look for groups"
)
# A distance that is so far behind with the tiers that are best for worths is not searched.
_FAR_BEHIND = 200.0
# A distance is taken before worths if it is so far ahead, a factor of 20 in probability. With one
# theta items either differ by a whole step or are tied, so where answers are few it calls items
# tied that worths would leave open.
_CLEARLY_AHEAD = 3.0

# "auto" compares all sizes if that takes, on one core, about half a minute at most.
_MOST_SECONDS = 30.0
_MOST_SIZES = 2**14
_SIZES_TO_JUDGE_BY = 16
# Beside inversions, of which all sizes are searched at once, a distance may take so long.
_MOST_SECONDS_OF_COMPARISON = 5.0
# What "auto" compares, if that takes seconds. Hamming is not among them: it goes by who is in which
# block of places, whatever lies between, so two opposed halves of people get tiers by it.
COMPARED_DISTANCES = ("kendall", "inversions")
# A greedy search compares about so many sizes for each item.
_SIZES_OF_A_GREEDY_STEP = 20
# For so few items all sizes are fitted one by one, so that the leaderboard is complete; where
# answers leave nothing open, for as many as can be evaluated together.
_MOST_ITEMS_ONE_BY_ONE = 8


def search(
    data: Rankings | RankingScan | Counts | Preferences | Battles,
    distance: str | Distance = "auto",
    *,
    family: FamilyChoice = "auto",
    concentration: ConcentrationChoice = "single",
    criterion: Criterion = "posterior",
    method: SearchMethod | Strategy = "auto",
    n_tiers: int | None = None,
    max_tiers: int | None = None,
    margin: float = 0.5,
    top: Iterable[int] | None = None,
    bottom: Iterable[int] | None = None,
    shortlist: float = 0.25,
    priors: Priors = DEFAULT_PRIORS,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Search:
    """Find out how many tiers there are, and how large: compare tiers of many sizes.

    Interrupting it (Ctrl-C) returns what was found so far.

    Parameters
    ----------
    data
        The rankings, in memory or in files (`Rankings.scan`), or counts of them, or preferences,
        or battles.
    distance
        "kendall", "inversions", "hamming", "footrule" or "spearman". "auto" compares the first
        two, those of them that take seconds, by the criterion; beyond some 20 items that is
        inversions alone. The result says what was compared, and by how much the best is better.
    family
        "mallows": orderings scattered around the tiers, with a distance and theta. "luce": one
        worth per tier, as in Plackett-Luce and Bradley-Terry models; tiers of all sizes are
        searched at once, for answers of every kind, those with gaps, too. "auto" compares both by
        the posterior probability of the best tiers, and says by how much one is better; it is
        "mallows" if a distance, a concentration or another criterion is named.
    concentration
        "single" is one theta. "tier" and "place" give each tier, or each block of places, a theta
        of its own, so that agreement may differ from top to bottom; "auto" compares what there is
        for each distance. Under inversions with a theta per tier all sizes are searched at once,
        each theta being averaged over; elsewhere the best sizes with one theta are fitted, and
        their thetas then averaged over.
    criterion
        What makes tiers better. "posterior" is the log posterior probability of tiers, up to a
        constant: theta is averaged over, and half of the prior probability belongs to no tiers at
        all, so that noise is seldom taken for tiers. "likelihood" is the paper's I: the
        log-likelihood at the best tiers and theta, less the log of the number of tiers of these
        sizes. "evidence" is the probability of the rankings given the sizes, tiers and theta being
        averaged over, for up to 19 items; it gives posterior probabilities, and is estimated where
        answers leave too much open. "agreement" is the paper's D, the share of pairs that the
        rankings order as the tiers do. Alone it drifts to degenerate tiers, such as all items but
        one against the last: it is for narrowing only. "both" does that: D to narrow, I to decide.
    method
        "exhaustive" compares all ``2 ** (n - 1)`` sizes. "greedy" moves to the best neighbour as
        long as that is better; "tabu" goes on for a while when it is not; "genetic" crosses and
        mutates. `Greedy`, `Tabu` and `Genetic` are these with choices of their own, such as where
        to start. "auto" is exhaustive where that takes seconds (to about 13 items), else greedy;
        for inversions it finds the best tiers of all sizes at once, for any number of items.
    n_tiers
        Consider this number of tiers only.
    max_tiers
        For "luce": at most so many tiers, for a list that people can read.
    margin
        For "luce": neighbouring tiers must differ so much that the better one wins with more than
        this probability, such as 0.52, however sure a smaller difference may be.
    top, bottom
        Sizes that the first or last tiers must have, such as ``top=(1, 1, 1)``.
    shortlist
        For "both": the share of sizes that D passes on to I, of those with equally many tiers.
    priors
        For "posterior" and "evidence": priors of theta and of sizes; see `Priors`. By default the
        prior of sizes is "sceptical" for "posterior" and "uniform" for "evidence".
    workers
        Number of processes; see `tierwise._util.tasks.run_tasks`. The answer does not depend on it.
    progress
        "auto", "off" or a function; see `tierwise._util.tasks.track`.
    rng
        Seed or generator, for what is drawn or estimated.

    Returns
    -------
    Search
        The fit with the best sizes, and the leaderboard, on which the strict consensus and the
        single tier always are.

    Examples
    --------
    >>> import tierwise as tw
    >>> found = tw.search(tw.load_political_goals())
    >>> found
    Search(best=(2, 2), distance='kendall', criterion='posterior', method='exhaustive', ...)
    >>> found.best.tiers
    Tiers('order ~ prices > say ~ speech')
    >>> [(one.name, round(one.behind, 1)) for one in found.families]
    [('kendall', 0.0), ('inversions', 4.0), ('one worth per tier', 6.1)]
    >>> weighed = tw.search(tw.load_political_goals(), "kendall", criterion="evidence")
    >>> round(weighed.probabilities[(2, 2)], 6)
    1.0
    """
    watch = Stopwatch()
    known = at_effective_number(
        check_data(data, "search", Rankings, Counts, Preferences, Battles, weights="effective")
    )
    space = make_space(len(known.items), n_tiers, top, bottom)
    check_choice("criterion", criterion, get_args(Criterion))
    check_priors(priors)
    prior_sizes = priors.sizes_or("sceptical" if criterion == "posterior" else "uniform")
    judge = Judge(criterion, prior_sizes, shortlist)
    strategy = strategy_of(method)
    asked = Greedy() if isinstance(strategy, str) else strategy
    merging = merge_even_pairs(known, asked.tolerance)
    beginning = _beginning(space, asked.start, merging)
    log_prior_of_sizes(prior_sizes, beginning)  # refuses what is no prior
    check_choice("concentration", concentration, get_args(ConcentrationChoice))
    if concentration != "single" and criterion != "posterior":
        raise InputError(
            "several thetas are compared by the posterior only",
            [use(criterion="posterior"), instead("fit", "for given sizes", command="fit")],
        )
    limits = _limits(space, max_tiers, margin)
    plan = _plan(
        _family_of(family, distance, concentration),
        known,
        space,
        criterion,
        strategy,
        limits,
    )
    entropy = int(spawn_seeds(rng, 1)[0].generate_state(2).view("uint64")[0])
    races = (
        search_races(known, partial(log_prior_of_sizes, prior_sizes), limits) if plan.luce else None
    )
    sources = _sources(known, distance, judge.depth, beginning) if plan.mallows else []
    left_out = _not_compared(known, distance, sources, plan)
    if races is not None:
        sources, far_behind = _worth_comparing(sources, races, judge.depth, beginning)
        left_out |= far_behind
    if criterion == "evidence":
        _refuse_without_evidence(sources)
        refuse_too_many_tiers(_sizes_of_most_work(space.n_items))
    kinds = [all_sizes.kinds_of(source, concentration) for source in sources]
    n_families = len(sources) * (concentration in ("single", "auto")) + sum(map(len, kinds))
    n_families += plan.luce
    judge = replace(judge, n_families=max(n_families, 1))
    searches: list[_Searched] = []
    for source, further in zip(sources, kinds, strict=True):
        setting = Setting(source.counted(), as_theta_prior(priors.theta), entropy)
        exploration = Exploration(
            space,
            Evaluator(setting, workers, progress),
            judge,
            asked if isinstance(asked, Greedy) else Greedy(),
            # Battles are searched once: they draw from the seed itself.
            as_generator(rng if source.capabilities.engine == "comparisons" else entropy),
        )
        interrupted, how = _run(exploration, strategy, beginning)
        single = _conclude(exploration, how, merging, watch, rng, interrupted=interrupted)
        found = [single] if concentration in ("single", "auto") or not further else []
        for kind in further:
            found += all_sizes.search_several_thetas(single, source, setting, judge, kind, space)
        if not (searches or found):
            # Without tiers there is nothing that further thetas could be about.
            found.append(single)
        compare = partial(_references, exploration)
        searches += [_Searched(one, compare) for one in found]
        if interrupted:
            break
    if races is not None:
        conclude = partial(
            RaceSearch.conclude,
            merging=merging,
            n_families=judge.n_families,
            provenance=lambda: watch.provenance(rng),
        )
        searches = _orders([*searches, _with_worths(conclude(races))], known, left_out)
        searches = searches or [_with_worths(conclude(races.without_tiers()))]
    return replace(_best_family(searches), left_out=left_out)


class _Searched(NamedTuple):
    """What was found with a kind of models."""

    search: Search
    compare: Callable[[Sizes], tuple[Reference, ...]]
    """Fits what the best tiers are compared to, which is needed of the best kind only."""


def _with_worths(found: Search) -> _Searched:
    """Return a search with worths, whose references are known already."""
    return _Searched(found, lambda _: found.best.references)


def _orders(
    searches: list[_Searched], data: KnownData, left_out: dict[str, str]
) -> list[_Searched]:
    """Keep the kinds of models whose tiers are an order, and write down the others."""
    kept = []
    for one in searches:
        best = one.search.best
        if are_an_order(data, best.tiers):
            kept.append(one)
        else:
            left_out[best.distance or "one worth per tier"] = _DIVIDED
    return kept


@dataclass(frozen=True)
class _Plan:
    """Which families of models are compared."""

    mallows: bool
    luce: bool


def _family_of(
    family: FamilyChoice, distance: str | Distance, concentration: ConcentrationChoice
) -> FamilyChoice:
    """Return the family that was asked for; who names a distance or thetas asks for Mallows."""
    check_choice("family", family, get_args(FamilyChoice))
    named = not (isinstance(distance, str) and distance == "auto") or concentration != "single"
    return "mallows" if family == "auto" and named else family


def _plan(
    family: FamilyChoice,
    data: KnownData,
    space: SizeSpace,
    criterion: Criterion,
    strategy: Strategy | Literal["auto", "exhaustive"],
    limits: Limits,
) -> _Plan:
    """Decide which families are compared, and refuse what one of them alone cannot do."""
    limited = limits.margin > 0.5 or (limits.most is not None and space.n_tiers is None)
    if family == "auto" and "mallows" not in data.families:
        family = "luce"
    if family == "mallows" or (family == "auto" and "luce" not in data.families):
        if limited:
            raise InputError(
                "limits of the tiers are for worths",
                [use(family="luce"), drop("max_tiers", "margin")],
            )
        return _Plan(mallows=True, luce=False)
    possible = criterion == "posterior" and strategy == "auto" and not (space.top or space.bottom)
    if not possible and family == "luce":
        raise InputError(
            'family "luce" is searched at once over all sizes by criterion "posterior": leave '
            "criterion, method, top and bottom as they are"
        )
    if not possible and limited:
        raise InputError(
            "limits of the tiers are for worths, which are searched at once over all sizes by the "
            "posterior",
            [drop("max_tiers", "margin"), drop("criterion", "method", "top", "bottom")],
        )
    if "luce" not in data.families:
        raise InputError(
            'counts do not hold the orderings that family "luce" needs: give the rankings that '
            "they were made of"
        )
    return _Plan(mallows=family == "auto" and not limited, luce=possible)


def _limits(space: SizeSpace, max_tiers: int | None, margin: float) -> Limits:
    """Check and collect what tiers with worths must be like."""
    if not 0.5 <= check_number("margin", margin) < 1.0:
        raise InputError(f"margin must be at least one half, and below 1; got {margin}")
    most = None if max_tiers is None else check_count("max_tiers", max_tiers)
    if space.n_tiers is not None:
        return Limits(space.n_tiers, space.n_tiers, margin)
    return Limits(1, most, margin)


def _not_compared(
    data: KnownData, distance: str | Distance, sources: list[AnswerSource], plan: _Plan
) -> dict[str, str]:
    """Return the distances that would be compared if they could be, and why they are not."""
    if "mallows" not in data.families and data.only_distance is not None:
        return {data.only_distance: "it has neither draws nor a first place"}
    if not plan.mallows:
        return {}
    if not (isinstance(distance, str) and distance == "auto") or data.only_distance is not None:
        return {}
    compared = {source.distance.name for source in sources}
    return {name: "it would take too long" for name in COMPARED_DISTANCES if name not in compared}


def _worth_comparing(
    sources: list[AnswerSource], races: RaceSearch, depth: Depth, start: Sizes
) -> tuple[list[AnswerSource], dict[str, str]]:
    """Leave out distances that take longer than some seconds, or are far behind, and say why.

    With the tiers that are best for worths a distance has a theta that is found at once. It may
    gain by other tiers, but not what it is behind where that is hundreds of log units.
    """
    kept, left_out = [], {}
    for source in sources:
        name = source.distance.name
        if not source.capabilities.searched_at_once:
            if _seconds_of_search(source, depth, start) <= _MOST_SECONDS_OF_COMPARISON:
                kept.append(source)
            else:
                left_out[name] = "it would take too long"
            continue
        behind = _behind_with_same_tiers(source, races)
        if behind > _FAR_BEHIND and len(source.items) > MOST_ITEMS_TOGETHER:
            left_out[name] = f"with the same tiers it is {behind:,.0f} behind"
        else:
            kept.append(source)
    return kept, left_out


def _behind_with_same_tiers(source: AnswerSource, races: RaceSearch) -> float:
    """Return how much less probable answers are under a distance, with the best tiers of races."""
    best = races.best.worths
    solution = solution_at(source, unproved_at(source, best.labels, "given"), FitSettings())
    return best.log_likelihood - solution.log_likelihood


def _refuse_without_evidence(sources: list[AnswerSource]) -> None:
    """Raise if the evidence of some answers is not known."""
    for can in (source.capabilities for source in sources):
        if not can.evidence:
            raise InputError(
                f"the evidence of {can.answers} is not known",
                [use(criterion=one) for one in can.criteria],
            )


def _sources(
    data: KnownData, distance: str | Distance, depth: Depth, start: Sizes
) -> list[AnswerSource]:
    """Return the answers under each distance that is to be compared.

    Distances are left out if a search with them would take longer than some seconds, told from
    what a step near the start costs, but for inversions where all sizes are searched at once.
    """
    if not (isinstance(distance, str) and distance == "auto") or data.only_distance is not None:
        return [source_of(data, distance)]
    every = [source_of(data, name) for name in COMPARED_DISTANCES]
    at_once = [source for source in every if source.capabilities.searched_at_once]
    budget = _MOST_SECONDS_OF_COMPARISON if at_once else _MOST_SECONDS
    affordable = [
        source
        for source in every
        if source in at_once or _seconds_of_search(source, depth, start) <= budget
    ]
    return affordable or every[:1]


def _seconds_of_search(source: AnswerSource, depth: Depth, start: Sizes) -> float:
    """Estimate how long a search takes, all sizes or as many as a greedy one compares."""
    n_items = len(source.items)
    n_compared = float(min(2 ** (n_items - 1), _SIZES_OF_A_GREEDY_STEP * n_items))
    if not source.is_known(start):
        return n_compared * seconds_of_answers(source, start, depth)
    strict = seconds_of((1,) * n_items, source.distance, depth)
    return n_compared * max(seconds_of(start, source.distance, depth), strict)


def _run(
    exploration: Exploration, strategy: Strategy | Literal["auto", "exhaustive"], start: Sizes
) -> tuple[bool, str]:
    """Search; return whether the user interrupted it, and how it was searched."""
    space, setting = exploration.space, exploration.evaluator.setting
    at_once = (
        strategy == "auto"
        and space == SizeSpace(space.n_items)
        and space.n_items > _most_items_one_by_one(setting.source)
        and exploration.judge.criterion in ("posterior", "likelihood")
        and setting.source.capabilities.searched_at_once
    )
    chosen = strategy
    if chosen == "auto":
        chosen = _choose(space, exploration.judge.depth, setting.source)
    name = "all sizes" if at_once else name_of(chosen)
    if not at_once:
        _evaluate_references(exploration)
    try:
        if at_once:
            _search_at_once(exploration)
        else:
            explore(exploration, chosen, start)
    except KeyboardInterrupt:
        if exploration.n_compared == 0:
            raise
        return True, name
    return False, name


def _most_items_one_by_one(source: AnswerSource) -> int:
    """Return the number of items up to which all sizes are fitted one by one."""
    if source.capabilities.engine == "comparisons":
        return 0
    return MOST_ITEMS_TOGETHER if source.capabilities.complete else _MOST_ITEMS_ONE_BY_ONE


def _search_at_once(exploration: Exploration) -> None:
    """Search all sizes at once, then look at the neighbours of the best, where that is cheap.

    The search maximises the likelihood with a price for each tier; the posterior probability of its
    neighbours may be a little higher.
    """
    setting, judge = exploration.evaluator.setting, exploration.judge
    rng = exploration.rng
    solutions = all_sizes.search_all_sizes(setting.source, judge, FitSettings(), rng)
    known = exploration.evaluator.known
    for solution in solutions:
        evaluation = evaluate_solution(setting, solution, judge.depth, rng)
        sizes = evaluation.sizes
        if sizes not in known or judge.score(evaluation) > judge.score(known[sizes]):
            known[sizes] = evaluation
    if all_sizes.can_be_proved(setting.source):
        explore(exploration, Greedy(), exploration.best_of(known))


def _best_family(searches: list[_Searched]) -> Search:
    """Return the search whose best tiers are best, with what the others found.

    Worths come first unless another model is clearly ahead: they assume less.
    """
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


def _sizes_of_most_work(n_items: int) -> Sizes:
    """Three tiers that are as equal as can be: no sizes have more tiers to sum over at once."""
    third = n_items // 3
    return tuple(size for size in (third, n_items - 2 * third, third) if size)


def _beginning(space: SizeSpace, start: str | Iterable[int], merging: Merging) -> Sizes:
    """Sizes to start from, within what is allowed."""
    if not isinstance(start, str):
        given = check_sizes(start, space.n_items)
        if given not in space:
            raise InputError(
                f"start {given} does not have the number of tiers, top or bottom asked for"
            )
        return given
    return space.nearest(merging.sizes if start == "merging" else merging.sizes_by_size)


def _choose(space: SizeSpace, depth: Depth, source: AnswerSource) -> Greedy | Literal["exhaustive"]:
    """Compare all sizes if that is a matter of seconds."""
    if space.n_sizes > _MOST_SIZES:
        return Greedy()
    complete = source.capabilities.complete
    if complete and space.n_items <= MOST_ITEMS_TOGETHER:
        return "exhaustive"
    if not complete:
        some = list(islice(space, 0, None, max(space.n_sizes // _SIZES_TO_JUDGE_BY, 1)))
        some_seconds = sum(seconds_of_answers(source, sizes, depth) for sizes in some)
        seconds = some_seconds * space.n_sizes / len(some)
        return Greedy() if seconds > _MOST_SECONDS else "exhaustive"
    seconds = 0.0
    for sizes in space:
        seconds += seconds_of(sizes, source.distance, depth)
        if seconds > _MOST_SECONDS:
            return Greedy()
    return "exhaustive"


def _evaluate_references(exploration: Exploration) -> None:
    """Evaluate the strict consensus and the single tier, to which tiers must be compared."""
    n_items = exploration.space.n_items
    for sizes in ((1,) * n_items, (n_items,)):
        try:
            exploration.evaluator.evaluate([sizes], exploration.judge.depth, "comparison")
        except InputError:
            # Incomplete answers leave these sizes open. If they must be considered, that is said
            # when their turn comes.
            continue


def _conclude(
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
            f"the search was interrupted after {len(leaderboard)} size vectors: better ones may be "
            "among those not tried",
            TierwiseWarning,
            stacklevel=3,
        )
    if doubtful:
        more = len(doubtful) - 1
        others = f" and {more} {'other' if more == 1 else 'others'}" if more else ""
        warnings.warn(
            "some sizes had to be compared by estimates, whose error could change the winner: "
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
        exhaustive=exploration.n_compared == space.n_sizes or proved,
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


def _references(exploration: Exploration, best: Sizes) -> tuple[Reference, ...]:
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
