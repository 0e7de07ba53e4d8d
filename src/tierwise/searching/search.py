"""search: the sizes of tiers that describe the data best."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import islice
from math import isinf
from typing import Literal, TypeAlias, get_args

from tierwise._util.checks import (
    RandomSource,
    as_generator,
    check_choice,
    spawn_seeds,
)
from tierwise._util.provenance import Stopwatch
from tierwise._util.tasks import Progress
from tierwise.answers.likelihood import AnswerSource
from tierwise.data.kinds import Data, check_data
from tierwise.distances import Distance
from tierwise.errors import InputError
from tierwise.evidence.exact import refuse_too_many_tiers
from tierwise.fitting.every_size import MOST_ITEMS as MOST_ITEMS_TOGETHER
from tierwise.fitting.fit import (
    ConcentrationChoice,
)
from tierwise.fitting.solve import Settings as FitSettings
from tierwise.luce.judges import at_effective_number
from tierwise.model.priors import (
    DEFAULT_PRIORS,
    Priors,
    as_theta_prior,
    check_priors,
    log_prior_of_sizes,
)
from tierwise.searching import all_sizes, structural_em
from tierwise.searching.compared import (
    Budget,
    FamilyChoice,
    concentration_of,
    family_of,
    limits_of,
    make_plan,
    not_compared,
    refuse_without_evidence,
    sources_of,
    without_draws,
    worth_comparing,
)
from tierwise.searching.concluding import (
    Searched,
    best_family,
    conclude,
    orders_only,
    references_of_best,
    with_worths,
)
from tierwise.searching.evaluate import (
    Criterion,
    Depth,
    Evaluator,
    Judge,
    Setting,
    evaluate_solution,
    seconds_of,
    seconds_of_answers,
)
from tierwise.searching.luce import RaceSearch, search_races
from tierwise.searching.merging import Merging, merge_even_pairs
from tierwise.searching.result import Search
from tierwise.searching.size_space import SizeSpace, make_space
from tierwise.searching.strategies import (
    Exploration,
    Greedy,
    Strategy,
    compare_by_bounds,
    explore,
    name_of,
    strategy_of,
)
from tierwise.tiers import Sizes, check_sizes

SearchMethod: TypeAlias = Literal["auto", "exhaustive", "greedy", "tabu", "genetic"]


_MOST_SIZES = 2**14
_SIZES_TO_JUDGE_BY = 16
# For so few items all sizes are fitted one by one, so that the leaderboard is complete; where
# answers leave nothing open, for as many as can be evaluated together.
_MOST_ITEMS_ONE_BY_ONE = 8


def search(
    data: Data,
    distance: str | Distance = "auto",
    *,
    family: FamilyChoice = "auto",
    concentration: ConcentrationChoice | None = None,
    criterion: Criterion = "posterior",
    method: SearchMethod | Strategy = "auto",
    n_tiers: int | None = None,
    max_tiers: int | None = None,
    margin: float = 0.5,
    top: Iterable[int] | None = None,
    bottom: Iterable[int] | None = None,
    shortlist: float = 0.25,
    seconds: float | None = None,
    priors: Priors = DEFAULT_PRIORS,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Search:
    """Find how many tiers there are and how large they are.

    An interrupt (Ctrl-C) returns the best result so far.

    Parameters
    ----------
    data
        The rankings, in memory or in files (`Rankings.scan`), or counts of them, or preferences,
        or battles.
    distance
        "kendall", "inversions", "hamming", "footrule" or "spearman". "auto" compares the first two
        by the criterion if they take only seconds; beyond about 20 items only inversions is left.
        The result says what was compared, and how far the best is ahead.
    family
        "mallows": orderings scattered around the tiers, with a distance and theta. "luce": one
        worth per tier, as in Plackett-Luce and Bradley-Terry models; tiers of all sizes are
        searched at once, for answers of every kind, including incomplete ones. "auto" compares both
        by the posterior probability of the best tiers, and says how far one is ahead; it is
        "mallows" if you name a distance, several thetas, or another criterion.
    concentration
        "single" is one theta. "tier" and "place" give each tier, or each block of places, its own
        theta, so agreement may differ from top to bottom. "auto" compares all kinds available for
        each distance, and worths if the family is open. None means one theta if you name a
        distance; otherwise it also compares several thetas if `sample_posterior` can draw their
        tiers: one per tier, under inversions. These are searched over all sizes at once, with each
        theta integrated out. For other kinds the best sizes with one theta are fitted, and their
        thetas then integrated out.
    criterion
        How to compare tiers. "posterior" is the log posterior probability of tiers, up to a
        constant: theta is integrated out, and half of the prior probability belongs to no tiers, so
        noise is seldom mistaken for tiers. "likelihood" is the paper's I: the log-likelihood at the
        best tiers and theta minus the log number of tier lists with these sizes. "evidence" is the
        probability of the rankings given the sizes, averaged over tiers and theta, for up to 19
        items; it gives posterior probabilities, and is estimated if answers are too incomplete.
        "agreement" is the paper's D, the share of pairs that the rankings order as the tiers do.
        Alone it drifts to degenerate tiers, such as all items but one against the last, so use it
        only to narrow a search. "both" does that: D to narrow, I to decide.
    method
        "exhaustive" compares all ``2 ** (n - 1)`` sizes. "greedy" moves to the best neighbour while
        that is better; "tabu" continues for a while when it is not; "genetic" crosses and mutates.
        `Greedy`, `Tabu` and `Genetic` have options, such as where to start. "auto" is exhaustive if
        that takes seconds (up to about 13 items), otherwise greedy; of 11 or 12 items it fits only
        the sizes that no bound rules out. For inversions it finds the best tiers of all sizes at
        once, for any number of items; if answers have gaps, by structural EM, as long as their
        completions can be summed over.
    n_tiers
        Consider only this number of tiers.
    max_tiers
        For "luce": the largest number of tiers, for a list that people can read.
    margin
        For "luce": an item of a tier must beat one of the next with more than this probability,
        such as 0.52, even if a smaller difference is certain.
    top, bottom
        Sizes that the first or last tiers must have, such as ``top=(1, 1, 1)``.
    shortlist
        For "both": the share of sizes that D passes on to I, among those with the same number of
        tiers.
    seconds
        For "auto": a distance is compared only if its search should take at most this long; 5 if
        None. `Search.left_out` lists what was left out.
    priors
        For "posterior" and "evidence": priors of theta and of sizes; see `Priors`. By default the
        prior of sizes is "sceptical" for "posterior" and "uniform" for "evidence".
    workers
        Number of processes; see `tierwise._util.tasks.run_tasks`. The answer does not depend on it.
    progress
        "auto", "off" or a function; see `tierwise._util.tasks.track`.
    rng
        Seed or generator.

    Returns
    -------
    Search
        The fit with the best sizes, and the leaderboard, which always includes the strict consensus
        and the single tier.

    Examples
    --------
    >>> import tierwise as tw
    >>> found = tw.search(tw.load_political_goals())
    >>> found
    Search(best=(2, 1, 1), distance='inversions', criterion='posterior', method='all sizes', ...)
    >>> found.best.tiers
    Tiers('order ~ prices > say > speech')
    >>> for one in found.families:
    ...     print(f"{one.name}: {one.behind:.1f}")
    inversions with a theta per tier: 0.0
    kendall: 8.7
    inversions: 12.7
    one worth per tier: 14.8
    >>> weighed = tw.search(tw.load_political_goals(), "kendall", criterion="evidence")
    >>> round(weighed.probabilities[(2, 2)], 6)
    1.0
    """
    watch = Stopwatch()
    known = at_effective_number(check_data(data, "search", weights="effective"))
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
    thetas = concentration_of(concentration, distance, criterion, strategy, space, priors)
    limits = limits_of(space, max_tiers, margin)
    plan = make_plan(
        family_of(family, distance, thetas),
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
    limit = Budget.of(seconds)
    sources = sources_of(known, distance, judge.depth, beginning, limit) if plan.mallows else []
    left_out = not_compared(known, distance, sources, plan)
    if races is not None:
        sources, far_behind = worth_comparing(sources, races, judge.depth, beginning, thetas, limit)
        left_out |= far_behind
    if criterion == "evidence":
        refuse_without_evidence(sources)
        refuse_too_many_tiers(_sizes_of_most_work(space.n_items))
    kinds = [all_sizes.kinds_of(source, thetas) for source in sources]
    one_theta = thetas not in ("tier", "place")
    n_families = len(sources) * one_theta + sum(map(len, kinds)) + plan.luce
    # What is compared with others is not searched longer than was expected when it was let in.
    searches: list[Searched] = []
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
        interrupted, how = _run(exploration, strategy, beginning, limit.among(n_families))
        single = conclude(exploration, how, merging, watch, rng, interrupted=interrupted)
        found = [single] if one_theta or not further else []
        for kind in further:
            several = all_sizes.search_several_thetas(single, source, setting, judge, kind, space)
            # Two tiers have one line: that is what was found with one theta.
            found += [one for one in several if thetas != "drawn" or len(one.best.sizes) > 2]
        if not (searches or found):
            # Without tiers there is nothing that further thetas could be about.
            found.append(single)
        compare = partial(references_of_best, exploration)
        searches += [Searched(one, compare) for one in found]
        if interrupted:
            break
    if races is not None:
        conclude_races = partial(
            RaceSearch.conclude,
            merging=merging,
            provenance=lambda: watch.provenance(rng),
        )
        searches = orders_only([*searches, with_worths(conclude_races(races))], known, left_out)
        searches = searches or [with_worths(conclude_races(races.without_tiers()))]
    best = best_family(searches)
    return replace(best, left_out=left_out | without_draws(best, sources, thetas))


def _run(
    exploration: Exploration,
    strategy: Strategy | Literal["auto", "exhaustive"],
    start: Sizes,
    most_seconds: float,
) -> tuple[bool, str]:
    """Search; return whether the user interrupted it, and how it was searched.

    If that is open, all sizes are compared where it takes at most so many seconds.
    """
    space, setting = exploration.space, exploration.evaluator.setting
    at_once = (
        strategy == "auto"
        and space == SizeSpace(space.n_items)
        and exploration.judge.criterion in ("posterior", "likelihood")
        and _is_searched_at_once(exploration, start, most_seconds)
    )
    # Of few items all sizes are evaluated, so that the leaderboard is complete.
    by_bounds = (
        strategy == "auto"
        and not at_once
        and space.n_items > MOST_ITEMS_TOGETHER
        and exploration.can_be_bounded
    )
    chosen: Strategy | Literal["exhaustive"] = "exhaustive"
    if strategy != "auto":
        chosen = strategy
    elif not (at_once or by_bounds):
        chosen = _choose(space, exploration.judge.depth, setting.source, most_seconds)
    name = "all sizes" if at_once else name_of(chosen)
    if not at_once:
        _evaluate_references(exploration)
    try:
        if at_once:
            _search_at_once(exploration)
        elif by_bounds:
            compare_by_bounds(exploration)
        else:
            explore(exploration, chosen, start)
    except KeyboardInterrupt:
        if exploration.n_compared == 0:
            raise
        return True, name
    return False, name


def _is_searched_at_once(exploration: Exploration, start: Sizes, most_seconds: float) -> bool:
    """Whether tiers of all sizes are searched at once, and not fitted one by one."""
    source, n_items = exploration.evaluator.setting.source, exploration.space.n_items
    few = n_items <= _most_items_one_by_one(source)
    if source.capabilities.searched_in_seconds:
        return not few
    if isinf(structural_em.seconds_of_search(source, start)):
        return False
    depth = exploration.judge.depth
    return not few or _choose(exploration.space, depth, source, most_seconds) != "exhaustive"


def _most_items_one_by_one(source: AnswerSource) -> int:
    """Return the number of items up to which all sizes are fitted one by one."""
    if source.capabilities.engine == "comparisons":
        return 0
    return MOST_ITEMS_TOGETHER if source.capabilities.complete else _MOST_ITEMS_ONE_BY_ONE


def _search_at_once(exploration: Exploration) -> None:
    """Search all sizes at once, then look at the neighbours of the best, if that is cheap.

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
                f"start {given} does not have the required number of tiers, top or bottom"
            )
        return given
    return space.nearest(merging.sizes if start == "merging" else merging.sizes_by_size)


def _choose(
    space: SizeSpace, depth: Depth, source: AnswerSource, most_seconds: float
) -> Greedy | Literal["exhaustive"]:
    """Compare all sizes if that takes at most so many seconds."""
    if space.n_sizes > _MOST_SIZES:
        return Greedy()
    complete = source.capabilities.complete
    if complete and space.n_items <= MOST_ITEMS_TOGETHER:
        return "exhaustive"
    if not complete:
        some = list(islice(space, 0, None, max(space.n_sizes // _SIZES_TO_JUDGE_BY, 1)))
        some_seconds = sum(seconds_of_answers(source, sizes, depth) for sizes in some)
        seconds = some_seconds * space.n_sizes / len(some)
        return Greedy() if seconds > most_seconds else "exhaustive"
    seconds = 0.0
    for sizes in space:
        seconds += seconds_of(sizes, source.distance, depth)
        if seconds > most_seconds:
            return Greedy()
    return "exhaustive"


def _evaluate_references(exploration: Exploration) -> None:
    """Evaluate the strict consensus and the single tier, to which tiers must be compared."""
    n_items = exploration.space.n_items
    for sizes in ((1,) * n_items, (n_items,)):
        try:
            named = "a single tier" if len(sizes) == 1 else "as many tiers as items"
            exploration.evaluator.evaluate([sizes], exploration.judge.depth, named)
        except InputError:
            # The answers are too incomplete for these sizes. If the user requires them, an error
            # follows when their turn comes.
            continue
