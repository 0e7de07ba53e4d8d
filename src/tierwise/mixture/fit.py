"""fit_mixture: how many groups there are, and the tiers of each, by EM."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import nan
from operator import index
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import RandomSource, check_choice, check_count, check_number, spawn_seeds
from tierwise._util.provenance import Stopwatch
from tierwise._util.tasks import Progress, run_tasks
from tierwise.answers.likelihood import source_of
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.distances import Distance, get_distance
from tierwise.errors import InputError, TooLargeError, counted, instead, quoted, use
from tierwise.fitting.luce import refuse_options_of_mallows
from tierwise.fitting.result import Family, agreement_of_counts
from tierwise.fitting.solve import named_tiers
from tierwise.luce.estimates import WorthEstimate, estimates_of_logs
from tierwise.mixture.em import (
    SHORT_RUNS,
    EMRun,
    EMSettings,
    GroupSizes,
    e_step,
    make_fitter,
    run_short_then_long,
    split_and_merge,
)
from tierwise.mixture.groups import Component, Fitter, distinct_answers, fold_weights
from tierwise.mixture.result import Group, Mixture
from tierwise.mixture.scores import Scores, held_out_values, score, standard_errors, with_held_out
from tierwise.searching.choice import Choice, choose
from tierwise.searching.compared import FamilyChoice
from tierwise.tiers import check_sizes

Noise: TypeAlias = Literal["none", "uniform"]
SizesOfGroups: TypeAlias = "str | Iterable[int] | Sequence[str | Iterable[int]]"
Criterion: TypeAlias = Literal["bic", "icl", "held-out"]

# More groups than anybody can look at; with more, memory would run out first.
MOST_GROUPS = 1000
_MOST_GROUPS_TRIED = 6
# A search for sizes fits every neighbour of the sizes at hand: beyond, there are too many.
_MOST_ITEMS_FOR_A_SEARCH = 50
# Runs whose criteria differ by less ended at the same groups.
_SAME_END = 0.01
# Level of the intervals of worths.
_LEVEL = 0.95
# Where the seeds for splits of groups are in the tree of seeds: behind those of all runs.
_SEED_OF_SPLITS = 2**31
# Items that a single comparison is about.
_ITEMS_OF_A_PAIR = 2
# The same answers have the same models every time.
_SEED_OF_CHOICE = 0


@dataclass(frozen=True, eq=False)
class _Best:
    """The best run of EM for a number of groups, and how many others ended as high."""

    run: EMRun
    n_runs: int
    n_agreeing: int


def fit_mixture(
    data: Rankings | Preferences,
    n_groups: int | Iterable[int] | None = None,
    sizes: SizesOfGroups = "search",
    distance: str | Distance = "auto",
    *,
    family: FamilyChoice = "auto",
    choice: Choice | None = None,
    noise: Noise = "none",
    criterion: Criterion = "bic",
    starts: int = 20,
    folds: int | None = 5,
    tolerance: float = 1e-4,
    most_steps: int = 1000,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Mixture:
    """Divide people into groups, and find the share, the tiers and theta or worths of each group.

    Every group has its own clustered Mallows or clustered Luce model. EM (Murphy and Martin, 2003)
    finds the groups that make the rankings most probable: exact memberships given the groups, then
    the best tiers, theta or worths, and share of each group given the memberships, and so on, from
    many starts.

    Parameters
    ----------
    data
        The rankings, or pairwise answers without mistakes. The completions of incomplete answers
        are summed over, which takes longer and must not be too many.
    n_groups
        The number of groups, or several numbers to compare; None compares 1 to 6.
    sizes
        "search", or how many items each tier holds: the same for all groups, or a list with one
        entry per group.
    distance
        "kendall", "inversions", "hamming", "footrule" or "spearman"; with "auto" the data choose.
    family
        "mallows": a distance and theta. "luce": one worth per tier, for rankings of every kind.
        "auto" is what `choose` finds for all people together; if these have no tiers, like two
        opposed halves, the model whose two groups have the best BIC. Pairwise answers use Kendall's
        distance.
    choice
        The result of `choose` for these data, to avoid comparing the models again.
    noise
        "uniform" adds a group of people who follow no tiers.
    criterion
        The criterion for the number of groups: "bic", "icl" or "held-out".
    starts
        The number of random starts; the best of every five is run to convergence.
    folds
        Number of parts, each held out in turn, when numbers of groups are compared; None computes
        no held-out score.
    tolerance
        EM stops when a step raises the log-likelihood by less than this.
    most_steps
        EM stops after this many steps.
    workers
        Number of processes; -1 means one per core.
    progress
        "auto", "off" or a function, as everywhere.
    rng
        Seed or generator. The same seed gives the same groups, for any number of workers and any
        other numbers of groups tried.

    Returns
    -------
    Mixture
        The groups, the probability of each group for each answer, and the criteria.

    Notes
    -----
    EM maximises the log-likelihood minus the log number of tier lists with every group's sizes,
    which is the paper's criterion I for one group. With given sizes this is maximum likelihood. EM
    finds local maxima: more starts may find a better one. Groups of the best one are then merged
    and split, and their tiers changed, while that improves the result.

    For the family "luce" each worth of a group but one also costs half the log number of rankings.

    A group that no answer supports keeps a share of 0.

    Examples
    --------
    >>> import tierwise as tw
    >>> found = fit_mixture(tw.load_political_goals(), 2, (2, 2), "kendall", rng=1)
    >>> found.shares.round(2)
    array([0.58, 0.42])
    >>> found.groups[0].tiers
    Tiers('order ~ prices > say ~ speech')
    """
    watch = Stopwatch()
    data = check_data(data, "fit_mixture", Rankings, Preferences, weights="effective")
    refuse_mistakes(data)
    check_choice("family", family, get_args(FamilyChoice))
    check_choice("noise", noise, get_args(Noise))
    wanted = sizes_of_groups(len(data.items), n_groups, sizes, noise)
    _check_search(len(data.items), wanted)
    if max(wanted) > 1:
        refuse_single_pairs(data)
    model = _model(data, distance, family, choice, workers)
    family, measure = model.family, _measure(data, model.distance, model.family)
    check_choice("criterion", criterion, get_args(Criterion))
    starts = check_count("starts", starts)
    folds = None if folds is None else check_count("folds", folds, least=2)
    tolerance = check_number("tolerance", tolerance, above=0)
    most_steps = check_count("most_steps", most_steps)
    answers = distinct_answers(data)
    if criterion == "held-out" and folds is None:
        raise InputError("the held-out likelihood needs folds", [use(folds=5)])
    compared = len(wanted) > 1 or criterion == "held-out"
    root = spawn_seeds(rng, 1)[0]
    held_out = np.empty((0, len(answers.weights)))
    if compared and folds is not None:
        if folds > data.n_rankings:
            raise InputError(
                f"{counted(data.n_rankings, 'ranking')} are too few for {folds} folds: use more "
                "rankings or fewer folds"
            )
        held_out = fold_weights(answers, folds, np.random.default_rng(_descendant(root, 0)))
    template = EMSettings(answers, (), noise == "uniform", measure, starts, tolerance, most_steps)
    found = _run_all(template, wanted, held_out, root, workers, progress)

    fitter = make_fitter(answers, measure)
    comparison = [score(fitter, found[number, 0].run, number) for number in wanted]
    if len(held_out):
        folds_held_out = range(1, len(held_out) + 1)
        values = [
            held_out_values(fitter, held_out, [found[number, fold].run for fold in folds_held_out])
            for number in wanted
        ]
        comparison = with_held_out(comparison, values, held_out[held_out > 0])
    chosen = _choose(comparison, criterion)
    best = found[chosen.n_groups, 0]
    groups, memberships = _groups(fitter, best.run, noise, "" if measure is None else measure.name)
    return Mixture(
        groups=groups,
        scores=chosen,
        comparison=tuple(comparison),
        selected_by=criterion if len(wanted) > 1 else None,
        pattern_memberships=memberships,
        pattern_of=answers.pattern_of,
        weights=answers.weights_of_rows,
        history=best.run.history,
        converged=best.run.converged,
        n_runs=best.n_runs,
        n_agreeing=best.n_agreeing,
        distance="" if measure is None else measure.name,
        family=family,
        chosen_by=model.reason,
        provenance=watch.provenance(rng),
        pairwise=data.pairwise,
        people=answers.people,
        n_answers=getattr(data.n_rankings, "n_answers", None),
    )


class _Model(NamedTuple):
    """The models of groups, and why these."""

    family: Family
    distance: str | Distance
    reason: str = ""


def _model(
    data: Rankings | Preferences,
    distance: str | Distance,
    family: FamilyChoice,
    choice: Choice | None,
    workers: int | None,
) -> _Model:
    """Decide which models groups have: what is named, or what describes the answers best."""
    is_open = isinstance(distance, str) and distance == "auto"
    if family == "luce":
        refuse_options_of_mallows(distance=(distance, "auto"))
        return _Model("luce", "")
    if not is_open:
        return _Model("mallows", distance)
    if data.pairwise:
        return _Model("mallows", "kendall")
    if choice is None:
        # Groups have one theta each: agreement that differs is a matter of who is in them.
        choice = choose(
            data,
            family=family,
            concentration="single",
            workers=workers,
            progress="off",
            rng=_SEED_OF_CHOICE,
        )
    if len(choice.fit.tiers) > 1 or _are_single_pairs(data):
        return _Model(choice.family, choice.distance, choice.sentence())
    # Without tiers all models are one and the same, so the groups decide.
    found = {
        one.name: fit_mixture(
            data,
            2,
            distance=one.distance or "auto",
            family="luce" if one.family == "luce" else "mallows",
            starts=SHORT_RUNS,
            folds=None,
            workers=workers,
            progress="off",
            rng=_SEED_OF_CHOICE,
        )
        for one in choice.search.families
    }
    name = min(found, key=lambda one: found[one].bic)
    best = found[name]
    reason = f"All people together have no tiers; of two groups, {name} has the best BIC."
    return _Model(best.family, best.distance, reason)


def _measure(
    data: Rankings | Preferences, distance: str | Distance, family: Family
) -> Distance | None:
    """Return the distance; None for worths, which have none."""
    if family == "mallows":
        return get_distance(distance)
    if data.pairwise:
        raise InputError(
            "groups with worths need rankings, but these are pairwise answers: use the family "
            "with theta"
        )
    return None


def refuse_mistakes(data: Rankings | Preferences) -> None:
    """Refuse pairwise answers that may be mistaken."""
    if source_of(data, None).capabilities.may_be_mistaken:
        raise InputError(
            "a mixture cannot distinguish groups from mistakes, but these answers may be mistaken",
            [
                use("if there are no contradictions", cycles="error"),
                instead("fit", "for one group", command="fit"),
            ],
        )


def refuse_single_pairs(data: Rankings | Preferences) -> None:
    """Refuse answers that compare two items each: one comparison tells nobody's group."""
    if _are_single_pairs(data):
        raise InputError(
            "each answer compares two items only, and one comparison does not tell which group "
            "somebody belongs to",
            [
                use("if the file says who compared them", assessor=...),
                instead("fit", "for one group", command="fit"),
            ],
        )


def _are_single_pairs(data: Rankings | Preferences) -> bool:
    """Return whether no answer says more than which of two items, of more than two, is better."""
    return len(data.items) > _ITEMS_OF_A_PAIR and data.holds_single_pairs


def _check_search(n_items: int, wanted: dict[int, tuple[GroupSizes, ...]]) -> None:
    searched = any("search" in sizes for sizes in wanted.values())
    if searched and n_items > _MOST_ITEMS_FOR_A_SEARCH:
        raise TooLargeError(
            f"sizes can be searched for up to {_MOST_ITEMS_FOR_A_SEARCH} items, but there are "
            f"{n_items}: give the sizes"
        )


def _descendant(root: np.random.SeedSequence, *path: int) -> np.random.SeedSequence:
    """Return the seed at a place in the tree of seeds."""
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, *path))


def _run_all(
    template: EMSettings,
    wanted: dict[int, tuple[GroupSizes, ...]],
    held_out: NDArray[np.float64],
    root: np.random.SeedSequence,
    workers: int | None,
    progress: Progress,
) -> dict[tuple[int, int], _Best]:
    """Run EM for each number of groups, on all answers (part 0) and without each fold."""
    everything = template.answers
    weights = [everything.weights, *(everything.weights - held_out)]
    parts = [everything.reweighted(left) for left in weights]
    tasks, keys = [], []
    # The most groups first: the longest tasks are not left for the end.
    for number in sorted(wanted, reverse=True):
        alone = len(wanted[number]) == 1
        for part, answers in enumerate(parts):
            # One group has one best fit; what is held out gets a quarter of the starts.
            starts = -(-template.n_starts // (4 if part else 1))
            starts = 1 if alone else starts
            for run, begun in enumerate(range(0, starts, SHORT_RUNS)):
                n_starts = min(SHORT_RUNS, starts - begun)
                task = replace(template, answers=answers, sizes=wanted[number], n_starts=n_starts)
                tasks.append((task, _descendant(root, number, part, run)))
                keys.append((number, part))
    runs = run_tasks(
        run_short_then_long,
        tasks,
        description="Fitting groups",
        workers=workers,
        progress=progress,
    )
    best = {
        key: _best([run for run, other in zip(runs, keys, strict=True) if other == key])
        for key in dict.fromkeys(keys)
    }
    # Runs that end at the same groups may all have missed the best ones.
    doubtful = [key for key in best if key[1] == 0 and len(wanted[key[0]]) > 1]
    if not doubtful:
        return best
    improved = run_tasks(
        split_and_merge,
        [
            (
                replace(template, answers=parts[0], sizes=wanted[number]),
                best[number, 0].run,
                _descendant(root, number, 0, _SEED_OF_SPLITS),
            )
            for number, _ in doubtful
        ],
        description="Improving groups",
        workers=workers,
        progress=progress,
    )
    for key, better in zip(doubtful, improved, strict=True):
        if better.criterion > best[key].run.criterion + _SAME_END:
            best[key] = _Best(better, n_runs=best[key].n_runs + 1, n_agreeing=1)
    return best


def _best(runs: list[EMRun]) -> _Best:
    best = max(runs, key=lambda run: run.criterion)
    agreeing = [run for run in runs if run.criterion > best.criterion - _SAME_END]
    return _Best(best, len(runs), len(agreeing))


def _choose(comparison: list[Scores], criterion: Criterion) -> Scores:
    """Return the scores of the best number of groups; the smaller of equals."""
    if criterion == "held-out":
        scored = [scores for scores in comparison if scores.held_out is not None]
        return max(scored, key=lambda scores: scores.held_out or 0.0)
    return min(comparison, key=lambda scores: scores.bic if criterion == "bic" else scores.icl)


def _groups(
    fitter: Fitter, run: EMRun, noise: Noise, distance: str
) -> tuple[tuple[Group, ...], NDArray[np.float64]]:
    """Give the groups their names back, the largest first, and return all memberships likewise."""
    answers = fitter.answers
    memberships, _ = e_step(fitter, run.components, run.shares)
    share_errors, covariances = standard_errors(fitter, run, memberships)
    n_with_tiers = len(run.shares) - (noise == "uniform")
    order = np.argsort(-run.shares[:n_with_tiers], kind="stable").tolist()
    order += range(n_with_tiers, len(run.shares))
    groups = []
    for number in order:
        component = run.components[number]
        own = np.ascontiguousarray(answers.weights * memberships[:, number])
        groups.append(
            Group(
                kind="tiers" if number < n_with_tiers else "uniform",
                share=float(run.shares[number]),
                share_error=float(share_errors[number]),
                tiers=named_tiers(component.labels, answers.items),
                sizes=component.sizes,
                theta=component.theta,
                theta_error=_theta_error(component, covariances[number]),
                distance=distance,
                worth_estimates=_worths(component, covariances[number]),
                n_rankings=float(own.sum()),
                agreement=agreement_of_counts(answers.pair_counts(own), component.labels).overall,
            )
        )
    return tuple(groups), memberships[:, order]


def _theta_error(component: Component, covariance: NDArray[np.float64] | None) -> float:
    if covariance is None or component.log_worths is not None:
        return nan
    return float(np.sqrt(covariance[0, 0]))


def _worths(
    component: Component, covariance: NDArray[np.float64] | None
) -> tuple[WorthEstimate, ...]:
    """Return the worths of a group with intervals, if it has any."""
    logs = component.log_worths
    if logs is None:
        return ()
    # The last worth is held fixed, until all are centred.
    full = np.zeros((len(logs), len(logs)))
    if len(logs) > 1:
        full[:-1, :-1] = nan if covariance is None else covariance
    return estimates_of_logs(logs, np.array(component.sizes), full, _LEVEL)


def sizes_of_groups(
    n_items: int, n_groups: int | Iterable[int] | None, sizes: SizesOfGroups, noise: Noise
) -> dict[int, tuple[GroupSizes, ...]]:
    """Return, for each number of groups to try, the sizes of each group, or "search".

    Examples
    --------
    >>> sizes_of_groups(3, 2, (1, 2), "none")
    {2: ((1, 2), (1, 2))}
    >>> sizes_of_groups(3, None, ["search", (1, 2)], "uniform")
    {2: ('search', (1, 2), (3,))}
    """
    if not isinstance(sizes, Iterable):
        raise InputError(
            f'sizes must be "search" or whole numbers, one per tier; got {quoted(sizes)}'
        )
    given: list[Any] = [sizes] if isinstance(sizes, str) else list(sizes)
    apart = not isinstance(sizes, str) and bool(given) and isinstance(given[0], str | Iterable)
    numbers = _numbers(n_groups, len(given) if apart else None)
    if apart:
        by_number = {len(given): tuple(_sizes_of_group(entry, n_items) for entry in given)}
    else:
        alike = _sizes_of_group(sizes if isinstance(sizes, str) else given, n_items)
        by_number = {number: (alike,) * number for number in numbers}
    uniform: tuple[GroupSizes, ...] = ((n_items,),) if noise == "uniform" else ()
    return {number: by_number[number] + uniform for number in numbers}


def _sizes_of_group(sizes: str | Iterable[int], n_items: int) -> GroupSizes:
    if isinstance(sizes, str):
        if sizes != "search":
            raise InputError(
                f'sizes must be "search" or whole numbers, one per tier; got {sizes!r}'
            )
        return "search"
    return check_sizes(sizes, n_items)


def _numbers(n_groups: int | Iterable[int] | None, n_given: int | None) -> list[int]:
    """Return the numbers of groups to try, in ascending order."""
    if n_groups is None:
        return list(range(1, _MOST_GROUPS_TRIED + 1)) if n_given is None else [n_given]
    try:
        listed = n_groups if isinstance(n_groups, Iterable) else [n_groups]
        numbers = sorted({index(number) for number in listed})
    except TypeError:
        raise InputError(
            f"must be whole numbers, such as 3; got {n_groups!r}", argument="n_groups"
        ) from None
    if not numbers or numbers[0] < 1:
        raise InputError(f"must be at least 1; got {n_groups!r}", argument="n_groups")
    if numbers[-1] > MOST_GROUPS:
        raise InputError(
            f"must be at most {MOST_GROUPS:,}; got {numbers[-1]:,}: each group needs its own "
            "answers",
            argument="n_groups",
        )
    if n_given is not None and numbers != [n_given]:
        raise InputError(
            f"must be {n_given:,}, because sizes are given for that number of groups; got "
            f"{n_groups!r}: give the same sizes for all groups, or sizes for each group",
            argument="n_groups",
        )
    return numbers
