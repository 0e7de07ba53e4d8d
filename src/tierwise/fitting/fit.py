"""fit: the best tiers and theta for given sizes, with a proof if possible."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import RandomSource, as_generator, check_choice, check_level
from tierwise._util.provenance import Provenance, Stopwatch
from tierwise._util.types import Item
from tierwise.answers.likelihood import AnswerSource, source_of
from tierwise.consensus.subsets import subset_work
from tierwise.data.connection import parts_of
from tierwise.data.kinds import Data, check_data
from tierwise.distances import Distance
from tierwise.errors import InputError, drop, use
from tierwise.fitting.luce import fit_luce, refuse_options_of_mallows
from tierwise.fitting.order import divided_tiers
from tierwise.fitting.result import Family, Fit, Reference, agreement_of_counts
from tierwise.fitting.several_thetas import solve_several_thetas
from tierwise.fitting.solve import LikelihoodKind, Settings, Solution, named_tiers, solve
from tierwise.luce.judges import at_effective_number
from tierwise.partition.base import Concentration
from tierwise.partition.choose import Method as PartitionMethod
from tierwise.partition.choose import partition_function
from tierwise.theta.estimate import ThetaMethod
from tierwise.tiers import Sizes, Tiers, check_sizes, log_number_of_tiers

# The strict consensus is there for comparison: it must not take much longer than the fit itself.
MOST_WORK_FOR_COMPARISON = 50_000_000
# Random tiers that coordinate ascent starts from, in addition to those with one theta.
_FURTHER_STARTS = 2
BEST_OF_SIZES = "best of these sizes"
# Tiers of more items drawn at random lead nowhere near the best ones, and take long to get there.
_MOST_ITEMS_FOR_FURTHER_STARTS = 30

ConcentrationChoice: TypeAlias = Literal["single", "tier", "place", "auto"]
"""One theta, one per tier, one per block of places, or whichever fits best."""


def fit(
    data: Data,
    sizes: Iterable[int] | None = None,
    distance: str | Distance | None = None,
    *,
    tiers: Tiers | Iterable[Iterable[Item]] | None = None,
    family: Family = "mallows",
    method: str = "auto",
    theta_method: ThetaMethod = "exact",
    partition_method: PartitionMethod = "auto",
    likelihood: LikelihoodKind = "exact",
    concentration: ConcentrationChoice = "single",
    time_limit: float = 60.0,
    level: float = 0.95,
    rng: RandomSource = None,
) -> Fit:
    """Find the tiers of given sizes, and theta, that make the rankings most probable.

    If you give your own tiers instead of sizes, only theta is fitted, and `Fit.behind` says how
    much better the best tiers with the same sizes are.

    Parameters
    ----------
    data
        Rankings, in memory or in files (`Rankings.scan`), counts of rankings, pairwise preferences,
        or battles. If answers do not determine which items lie in which tier-sized block of places,
        the likelihood sums over all complete orderings that agree with them: exactly if feasible,
        as for top lists, otherwise by random draws.
    sizes
        How many items each tier holds, best tier first.
    tiers
        Your own tiers instead of sizes: `Tiers`, or a list of lists of items.
    distance
        "kendall", "inversions", "hamming", "footrule" or "spearman"; by default "kendall", and
        always "inversions" for battles.
    family
        "mallows": orderings are scattered around the tiers, with one theta (or several) and a
        distance. "luce": each tier has a worth, and of the items left the next best is drawn with
        probability proportional to its worth (Plackett-Luce and Bradley-Terry models with tied
        worths). It shows how far apart tiers are, and has a closed form for answers of every kind,
        including incomplete ones.
    method
        How to find the tiers: "assignment" (additive distances), "subsets", "milp", "annealing",
        or "auto", which uses one that proves its result if feasible.
    theta_method
        "exact" solves the likelihood equation; "monte-carlo" is the paper's iteration.
    partition_method
        How to find the partition function; see `log_partition`. "importance" is the paper's.
    likelihood
        "pseudo" maximises the paper's pseudo-likelihood, a cheap approximation, instead.
    concentration
        Whether people agree equally everywhere: "single" is one theta. "tier" is one per tier, for
        tastes: opinion may be divided about some items. "place" is one per block of places, for
        races: the front may be clear and the back chance. "auto" chooses the one with the best
        criterion minus half the log number of rankings for each theta beyond the first, and says
        so. Both work for "kendall" (complete rankings, or known blocks); "tier" also for
        "inversions" (with ties and top lists).
    time_limit
        Time limit of the integer program, in seconds.
    level
        Level of the confidence interval of theta.
    rng
        Seed or generator, for the methods that draw.

    Returns
    -------
    Fit
        Tiers, theta, how well they fit, whether they are proved best, and for comparison the strict
        consensus and no tiers.

    Examples
    --------
    >>> import tierwise as tw
    >>> found = tw.fit(tw.load_political_goals(), sizes=(2, 2))
    >>> found
    Fit('order ~ prices > say ~ speech', theta=0.5345, distance='kendall', criterion=-6430.90)
    >>> found.optimal
    True
    >>> own = tw.fit(tw.load_political_goals(), tiers=[["order"], ["prices", "say"], ["speech"]])
    >>> round(own.theta, 3), round(own.behind, 1)
    (0.378, 58.7)
    >>> own.best_of_sizes.tiers
    Tiers('prices > order ~ say > speech')
    """
    watch = Stopwatch()
    known = at_effective_number(check_data(data, "fit", weights="effective"))
    own = None if tiers is None else own_tiers(tiers, known.items)
    checked = check_sizes(_sizes_of(sizes, own), len(known.items))
    check_choice("family", family, get_args(Family))
    if family == "luce":
        refuse_options_of_mallows(
            distance=(distance, None),
            concentration=(concentration, "single"),
            likelihood=(likelihood, "exact"),
            method=(method, "auto"),
            theta_method=(theta_method, "exact"),
            partition_method=(partition_method, "auto"),
        )
        found = fit_luce(known, checked, None, check_level(level), lambda: watch.provenance(rng))
        if own is None:
            return found
        given = fit_luce(known, None, own, check_level(level), lambda: watch.provenance(rng))
        if given.tiers != named_tiers(own, known.items):
            raise InputError(
                f"the answers put these tiers in another order, {given.tiers}, and worths must "
                "decrease from tier to tier: give the tiers in that order"
            )
        return _beside_best(given, found.as_reference(BEST_OF_SIZES))
    source = source_of(known, distance)
    settings = Settings(method, theta_method, partition_method, likelihood, time_limit, level)
    generator = as_generator(rng)
    check_choice("concentration", concentration, get_args(ConcentrationChoice))
    if concentration in ("tier", "place"):
        # Refuse what cannot be fitted before a long fit with one theta.
        obstacle = source.obstacle_to_thetas(checked, concentration)
        if obstacle is not None:
            raise obstacle
    if own is not None:
        if concentration != "single":
            raise InputError(
                "several thetas are not available for given tiers",
                [use(concentration="single"), drop("tiers")],
            )
        return _fit_own(source, own, settings, generator, lambda: watch.provenance(rng))
    single = fit_source(source, checked, settings, generator, lambda: watch.provenance(rng))
    if concentration == "single":
        return single
    return fit_several_thetas(
        source, single, concentration, settings, generator, lambda: watch.provenance(rng)
    )


def own_tiers(
    tiers: Tiers | Iterable[Iterable[Item]], items: tuple[Item, ...]
) -> NDArray[np.int64]:
    """Return the user's own tiers, counted from 0."""
    named = tiers if isinstance(tiers, Tiers) else Tiers(tiers)
    return named.label_array(items)


def _sizes_of(sizes: Iterable[int] | None, own: NDArray[np.int64] | None) -> Iterable[int]:
    """Return the given sizes, or those of the user's own tiers."""
    if (sizes is None) == (own is None):
        raise InputError(
            "fit needs sizes or tiers" if own is None else "tiers already have sizes",
            [use(sizes=(1, 2, 2)), use(tiers=[["a"], ["b", "c"]])]
            if own is None
            else [drop("sizes")],
        )
    if own is not None:
        return tuple(np.bincount(own).tolist())
    return () if sizes is None else sizes


def _fit_own(
    source: AnswerSource,
    own: NDArray[np.int64],
    settings: Settings,
    rng: np.random.Generator,
    provenance: Callable[[], Provenance],
) -> Fit:
    """Fit theta to the user's own tiers, and the best tiers with the same sizes."""
    sizes: Sizes = tuple(np.bincount(own).tolist())
    best = solve(source, sizes, settings, rng)
    given = solve(source, sizes, settings, rng, own)
    if given.consensus.total <= best.consensus.total and best.consensus.optimal:
        given = replace(given, consensus=replace(given.consensus, optimal=True))
    found = fit_source(source, sizes, settings, rng, provenance, {sizes: given})
    return _beside_best(found, _reference(BEST_OF_SIZES, source, sizes, best))


def _beside_best(given: Fit, best: Reference) -> Fit:
    """Add to the fit of given tiers the best tiers of the same sizes: at least those given."""
    if best.criterion <= given.criterion:
        best = replace(given.as_reference(best.name), optimal=best.optimal)
    return replace(given, best_of_sizes=best)


def fit_several_thetas(
    source: AnswerSource,
    single: Fit,
    concentration: ConcentrationChoice,
    settings: Settings,
    rng: np.random.Generator,
    provenance: Callable[[], Provenance],
) -> Fit:
    """Fit a theta per tier or per place, starting with the tiers of a fit with one theta.

    Parameters
    ----------
    source
        The answers.
    single
        Their fit with one theta.
    concentration
        "tier", "place" or "auto", which compares both with the fit with one theta.
    settings, rng, provenance
        As in `fit_source`.
    """
    if settings.likelihood != "exact":
        raise InputError(
            "several thetas need the exact likelihood",
            [use(likelihood="exact"), use(concentration="single")],
        )
    if concentration == "single":
        return single
    if concentration != "auto":
        return _with_thetas(source, single, concentration, settings, rng, provenance)
    tried, refused = [single], []
    kinds: tuple[Concentration, ...] = ("tier", "place")
    for kind in kinds if len(single.sizes) > 1 else ():
        obstacle = source.obstacle_to_thetas(single.sizes, kind)
        if obstacle is None:
            tried.append(_with_thetas(source, single, kind, settings, rng, provenance))
        else:
            refused.append(f"{kind} cannot be used: {obstacle.problem}")
    best = max(tried, key=lambda one: one.penalised_criterion)
    values = ", ".join(f"{one.concentration} {one.penalised_criterion:.2f}" for one in tried)
    reason = f"criterion minus a penalty for each further theta: {values}"
    return replace(best, concentration_reason="; ".join([reason, *refused]))


def _with_thetas(
    source: AnswerSource,
    single: Fit,
    concentration: Concentration,
    settings: Settings,
    rng: np.random.Generator,
    provenance: Callable[[], Provenance],
) -> Fit:
    """Fit several thetas."""
    labels = single.tiers.label_array(source.items)
    n_further = _FURTHER_STARTS if len(labels) <= _MOST_ITEMS_FOR_FURTHER_STARTS else 0
    solution = solve_several_thetas(
        source,
        partition_function(single.sizes, source.distance, concentration=concentration),
        starts=[labels, *(rng.permutation(labels) for _ in range(n_further))],
        level=settings.level,
    )
    return fit_of_solution(source, solution, settings, provenance, single.references)


def fit_source(
    source: AnswerSource,
    sizes: Sizes,
    settings: Settings,
    rng: np.random.Generator,
    provenance: Callable[[], Provenance],
    solved: Mapping[Sizes, Solution] = MappingProxyType({}),
) -> Fit:
    """Fit answers of any kind.

    Parameters
    ----------
    source, sizes, settings
        What is fitted, and how.
    rng
        Generator, for what is drawn.
    provenance
        Tells version, seed and time when all is done.
    solved
        Solutions that are known already, by their sizes.
    """
    solution = solved.get(sizes) or solve(source, sizes, settings, rng)
    references = references_of(source, sizes, settings, rng, solved)
    return fit_of_solution(source, solution, settings, provenance, references)


def fit_of_solution(
    source: AnswerSource,
    solution: Solution,
    settings: Settings,
    provenance: Callable[[], Provenance],
    references: tuple[Reference, ...] = (),
) -> Fit:
    """Give tiers and theta that were found their names, and all that follows from them.

    Parameters
    ----------
    source, settings, provenance
        As in `fit_source`.
    solution
        The tiers and theta.
    references
        What they are compared to, as far as it is known yet.
    """
    sizes: Sizes = tuple(np.bincount(solution.consensus.labels).tolist())
    consensus, items = solution.consensus, source.items
    thetas = tuple(one.value for one in solution.thetas)
    shares = agreement_of_counts(source.pair_counts, consensus.labels)
    return Fit(
        tiers=named_tiers(consensus.labels, items),
        sizes=sizes,
        theta=thetas[0] if solution.concentration == "single" else thetas,
        theta_estimates=solution.thetas,
        concentration=solution.concentration,
        distance=source.distance.name,
        likelihood=settings.likelihood if source.likelihood == "exact" else source.likelihood,
        level=settings.level,
        total_distance=consensus.total,
        log_likelihood=solution.log_likelihood,
        log_likelihood_error=solution.log_likelihood_error,
        criterion=solution.log_likelihood - log_number_of_tiers(sizes),
        agreement=shares.overall,
        agreement_by_tier=shares,
        n_rankings=source.n_rankings,
        log_completions=solution.log_completions,
        method=consensus.method,
        partition_method=solution.partition_method,
        optimal=consensus.optimal,
        gap=consensus.gap,
        alternatives=tuple(named_tiers(labels, items) for labels in consensus.alternatives),
        n_optima=consensus.n_optima,
        references=references,
        mistake_probability=solution.mistake_probability,
        mistake_interval=solution.mistake_interval,
        pairwise=source.pairwise,
        provenance=provenance(),
        parts=parts_of(source.data),
        divided_tiers=(
            divided_tiers(source.data, consensus.labels) if solution.concentration == "tier" else ()
        ),
    )


def references_of(
    source: AnswerSource,
    sizes: Sizes,
    settings: Settings,
    rng: np.random.Generator,
    solved: Mapping[Sizes, Solution],
) -> tuple[Reference, ...]:
    """Fit what tiers must be compared to: the strict consensus, and no tiers.

    Parameters
    ----------
    source, settings, rng, solved
        As in `fit_source`.
    sizes
        Sizes of the tiers that are compared.
    """
    n_items = len(source.items)
    strict_sizes = (1,) * n_items
    costly = subset_work(strict_sizes).transitions > MOST_WORK_FOR_COMPARISON
    by_annealing = costly and not source.distance.rule(strict_sizes).additive
    method = "annealing" if by_annealing else "auto"
    settings = replace(settings, method=method, partition_method="auto", theta_method="exact")
    named_sizes = {"strict consensus": strict_sizes, "no tiers": (n_items,)}
    return tuple(
        _reference(
            name,
            source,
            compared,
            solved.get(compared) or solve(source, compared, settings, rng),
        )
        for name, compared in named_sizes.items()
        if compared != sizes or name == "no tiers"
    )


def _reference(name: str, source: AnswerSource, sizes: Sizes, solution: Solution) -> Reference:
    """Return a solution as what tiers are compared to."""
    return Reference(
        name=name,
        tiers=named_tiers(solution.consensus.labels, source.items),
        theta=solution.theta.value,
        log_likelihood=solution.log_likelihood,
        log_likelihood_error=solution.log_likelihood_error,
        criterion=solution.log_likelihood - log_number_of_tiers(sizes),
        optimal=solution.consensus.optimal,
    )
