"""search: which sizes describe the rankings best."""

import warnings
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Literal, TypeAlias, get_args

from tierwise._util.progress import Progress
from tierwise._util.provenance import Stopwatch
from tierwise._util.random import RandomSource, as_generator, spawn_seeds
from tierwise.answers.likelihood import AnswerSource, source_of
from tierwise.data.counts import Counts
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.data.scan import RankingScan
from tierwise.distances.base import Distance
from tierwise.distances.named import get_distance
from tierwise.errors import InputError, TierwiseWarning
from tierwise.evidence.exact import refuse_too_many_tiers
from tierwise.fitting.fit import fit
from tierwise.model.priors import Gamma, SizesPrior, ThetaPrior, as_theta_prior, log_prior_of_sizes
from tierwise.searching.costs import Depth, consensus_method, seconds_of, seconds_of_answers
from tierwise.searching.criteria import Criterion, Judge
from tierwise.searching.evaluate import Evaluator, Setting
from tierwise.searching.exhaustive import search_all
from tierwise.searching.exploration import Exploration
from tierwise.searching.genetic import evolve
from tierwise.searching.greedy import climb
from tierwise.searching.leaderboard import doubtful_sizes, rank
from tierwise.searching.merging import Merging, merge_even_pairs
from tierwise.searching.result import Search
from tierwise.searching.size_space import Moves, SizeSpace, check_moves, make_space
from tierwise.searching.tabu import wander
from tierwise.tiers.sizes import Sizes, check_sizes

SearchMethod: TypeAlias = Literal["auto", "exhaustive", "greedy", "tabu", "genetic"]
Start: TypeAlias = Literal["merging", "merging-by-size"]

# "auto" compares all sizes if that takes, on one core, about half a minute at most.
_MOST_SECONDS = 30.0
_MOST_SIZES = 2**14
_SIZES_TO_JUDGE_BY = 16
_DEFAULT_PRIOR = Gamma(2.0, 2.0)


def search(
    data: Rankings | RankingScan | Counts | Preferences,
    distance: str | Distance = "kendall",
    *,
    criterion: Criterion = "likelihood",
    method: SearchMethod = "auto",
    moves: Moves = "split-merge-shift",
    start: str | Iterable[int] = "merging",
    tolerance: float | None = None,
    n_tiers: int | None = None,
    top: Iterable[int] | None = None,
    bottom: Iterable[int] | None = None,
    sample_neighbours: int | None = None,
    shortlist: float = 0.25,
    prior_theta: ThetaPrior | Callable[[Any], Any] = _DEFAULT_PRIOR,
    prior_sizes: SizesPrior = "uniform",
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Search:
    """Find out how many tiers there are, and how large: fit many sizes and compare them.

    Interrupting it (Ctrl-C) returns what was found so far.

    Parameters
    ----------
    data
        The rankings, in memory or in files (`Rankings.scan`), or counts of them, or preferences.
    distance
        "kendall", "hamming", "footrule" or "spearman".
    criterion
        What makes sizes better. "likelihood" is the paper's I: the log-likelihood at the best tiers
        and theta, less the log of the number of tiers of these sizes. "evidence" is the probability
        of the rankings given the sizes, tiers and theta being averaged over, for up to 19 items; it
        gives posterior probabilities, and is estimated where answers leave too much open.
        "agreement" is the paper's D, the share of pairs that the rankings order as the tiers do.
        Alone it drifts to degenerate tiers, such as all items but one against the last: it is for
        narrowing only. "both" does that: D to narrow, I to decide.
    method
        "exhaustive" compares all ``2 ** (n - 1)`` sizes. "greedy" moves to the best neighbour as
        long as that is better; "tabu" goes on for a while when it is not; "genetic" crosses and
        mutates. "auto" is exhaustive where that takes seconds (to about 13 items), else greedy.
    moves
        What neighbours are: "adjacent" is the paper's shift of one item to the next tier;
        "split-merge-shift" can also cut a tier in two or join two, and a greedy search that is
        stuck then also tries to join more tiers at once, or to take one apart.
    start
        Where searches other than the exhaustive begin: sizes; or "merging", the paper's merging of
        items that are ranked above each other about equally often, in order of preference;
        "merging-by-size" takes the smallest group first, as the paper does.
    tolerance
        How far from even pairs are merged; see `merge_even_pairs`.
    n_tiers
        Consider this number of tiers only.
    top, bottom
        Sizes that the first or last tiers must have, such as ``top=(1, 1, 1)``.
    sample_neighbours
        How many neighbours, drawn at random, to try a move; None tries all.
    shortlist
        For "both": the share of sizes that D passes on to I, of those with equally many tiers.
    prior_theta
        For "evidence": the prior of theta, a distribution such as ``Gamma(2, 2)``, the default, or
        a function that gives the log density at theta, up to a constant.
    prior_sizes
        For "evidence": "uniform"; "penalised" (``e`` times less probable with every further tier);
        probabilities by sizes, such as ``{(2, 2): 0.7, (1, 3): 0.3}``, others being impossible; or
        a function that gives the log prior probability of sizes, up to a constant.
    workers
        Number of processes; see `tierwise._util.tasks.run_tasks`. The answer does not depend on it.
    progress
        "auto", "off" or a function; see `tierwise._util.progress.track`.
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
    Search(best=(2, 2), criterion='likelihood', method='exhaustive', evaluated=8, exhaustive=True)
    >>> found.best.tiers
    Tiers('order ~ prices > say ~ speech')
    >>> round(found.runner_up_gap, 2)
    19.46
    >>> weighed = tw.search(tw.load_political_goals(), criterion="evidence")
    >>> round(weighed.probabilities[(2, 2)], 6)
    1.0
    """
    watch = Stopwatch()
    measure = get_distance(distance)
    space = make_space(len(data.items), n_tiers, top, bottom)
    judge = Judge(criterion, prior_sizes, shortlist)
    _check_choices(method, moves, sample_neighbours)
    if isinstance(data, RankingScan):
        data = data.condensed()
    merging = merge_even_pairs(data, tolerance)
    beginning = _beginning(space, start, merging)
    if criterion == "evidence":
        log_prior_of_sizes(prior_sizes, beginning)  # refuses what is no prior
        refuse_too_many_tiers(_sizes_of_most_work(space.n_items))
    source = source_of(data, measure)
    if method == "auto":
        method = _choose_method(space, judge.depth, source)
    setting = Setting(
        source=source.counted(),
        prior_theta=as_theta_prior(prior_theta),
        entropy=int(spawn_seeds(rng, 1)[0].generate_state(2).view("uint64")[0]),
    )
    exploration = Exploration(
        space,
        Evaluator(setting, workers, progress),
        judge,
        moves,
        sample_neighbours,
        as_generator(setting.entropy),
    )
    _evaluate_references(exploration)
    interrupted = False
    try:
        _explore(exploration, method, beginning)
    except KeyboardInterrupt:
        if exploration.n_compared == 0:
            raise
        interrupted = True
    return _conclude(exploration, method, merging, watch, rng, interrupted=interrupted)


def _check_choices(method: str, moves: str, sample_neighbours: int | None) -> None:
    """Refuse unknown methods and moves before anything is computed."""
    check_moves(moves)
    if method not in get_args(SearchMethod):
        known = ", ".join(f'"{name}"' for name in get_args(SearchMethod))
        raise InputError(f"method must be one of {known}; got {method!r}")
    if sample_neighbours is not None and sample_neighbours < 1:
        raise InputError(f"sample_neighbours must be at least 1; got {sample_neighbours}")


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
    if start not in get_args(Start):
        known = " or ".join(f'"{name}"' for name in get_args(Start))
        raise InputError(f"start must be sizes, {known}; got {start!r}")
    return space.nearest(merging.sizes if start == "merging" else merging.sizes_by_size)


def _choose_method(space: SizeSpace, depth: Depth, source: AnswerSource) -> SearchMethod:
    """Compare all sizes if that is a matter of seconds."""
    if space.n_sizes > _MOST_SIZES:
        return "greedy"
    if source.n_open > 0:
        some = list(islice(space, 0, None, max(space.n_sizes // _SIZES_TO_JUDGE_BY, 1)))
        some_seconds = sum(seconds_of_answers(source, sizes, depth) for sizes in some)
        seconds = some_seconds * space.n_sizes / len(some)
        return "greedy" if seconds > _MOST_SECONDS else "exhaustive"
    seconds = 0.0
    for sizes in space:
        seconds += seconds_of(sizes, source.distance, depth)
        if seconds > _MOST_SECONDS:
            return "greedy"
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


def _explore(exploration: Exploration, method: SearchMethod, start: Sizes) -> None:
    """Search by a method until it ends."""
    if method == "exhaustive":
        search_all(exploration)
    elif method == "greedy":
        climb(exploration, start)
    elif method == "tabu":
        wander(exploration, start)
    else:
        evolve(exploration, start)


def _conclude(
    exploration: Exploration,
    method: SearchMethod,
    merging: Merging,
    watch: Stopwatch,
    rng: RandomSource,
    *,
    interrupted: bool,
) -> Search:
    """Rank what was evaluated, fit the best sizes, and warn of what may be wrong with them."""
    setting, space = exploration.evaluator.setting, exploration.space
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
    fitted = fit(
        setting.source.data,
        best,
        setting.source.distance,
        method=consensus_method(best, setting.source.distance),
        rng=setting.seed(best),
    )
    return Search(
        best=fitted,
        leaderboard=leaderboard,
        criterion=exploration.judge.criterion,
        method=method,
        exhaustive=exploration.n_compared == space.n_sizes,
        path=tuple(exploration.path),
        start=merging,
        doubtful=doubtful,
        interrupted=interrupted,
        provenance=watch.provenance(rng),
    )
