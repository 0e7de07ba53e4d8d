"""bootstrap: how much tiers, theta or worths vary over resampled data."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, singledispatch
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import RandomSource, check_choice, check_count, spawn_seeds
from tierwise._util.provenance import Stopwatch
from tierwise._util.tasks import Progress, run_tasks
from tierwise.answers.likelihood import source_of
from tierwise.answers.races import races_of
from tierwise.data.battles import Battles, Resampling
from tierwise.data.connection import stack_parts
from tierwise.data.kinds import KnownData, check_data
from tierwise.data.people import MISSING, find_columns
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.data.scan import RankingScan
from tierwise.data.weights import answers_in_words
from tierwise.errors import InputError, counted, drop, quoted, use
from tierwise.fitting.luce import sceptical
from tierwise.fitting.observe import answer_like, observe_like
from tierwise.fitting.resampled import Bootstrap, BootstrapKind
from tierwise.fitting.result import Fit
from tierwise.fitting.several_thetas import solve_several_thetas
from tierwise.fitting.solve import Settings, solve, solve_known
from tierwise.luce.judges import at_effective_number
from tierwise.luce.search import TierSearch, search_tiers
from tierwise.model.clustered_luce import ClusteredLuce
from tierwise.model.clustered_mallows import ClusteredMallows
from tierwise.partition.base import PartitionFunction
from tierwise.partition.choose import partition_function

# Replicates that one task makes: enough to outweigh the cost of handing over a task.
REPLICATES_PER_TASK = 25
_FEW_REPLICATES = 40


def bootstrap(
    data: Rankings | RankingScan | Preferences | Battles,
    fit: Fit,
    *,
    replicates: int = 500,
    kind: BootstrapKind = "nonparametric",
    cluster: str | None = None,
    unit: Resampling = "auto",
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Bootstrap:
    """Fit resampled data with the sizes of a fit, to see how certain its tiers and theta are.

    If tiers have worths (family "luce"), each resampled data set is searched again over all sizes,
    with the default prior of sizes of a search.

    Parameters
    ----------
    data
        The rankings, preferences or battles that were fitted.
    fit
        The fit, which gives sizes and distance, or the family.
    replicates
        Number of resampled data sets.
    kind
        "nonparametric" resamples the answers with replacement. "parametric" draws new rankings from
        the fitted model, which are as incomplete as the answers, with as many mistakes if answers
        may be mistaken. Answers with fractional weights keep their weights when drawn, like people
        of a weighted survey.
    cluster
        A column of `Rankings.people`, such as the school or village where people were asked. Whole
        clusters are then resampled instead of people, because people of one cluster may be alike
        (Davison and Hinkley, Bootstrap Methods and their Application, 1997, 3.8). Each person
        without a value is a separate cluster.
    unit
        For battles, what to resample: "battle", or "judge" with all battles of the judge; "auto"
        resamples judges if some decided several battles.
    workers
        Number of processes; see `tierwise._util.tasks.run_tasks`. The answer does not depend on it.
    progress
        "auto", "off" or a function; see `tierwise._util.tasks.track`.
    rng
        Seed or generator.

    Examples
    --------
    >>> import tierwise as tw
    >>> goals = tw.load_political_goals()
    >>> again = tw.bootstrap(goals, tw.fit(goals, (2, 2)), replicates=50, rng=1)
    >>> again.tier_probabilities().sel(item="prices").to_numpy().tolist()
    [1.0, 0.0]
    """
    watch = Stopwatch()
    known = at_effective_number(
        check_data(data, "bootstrap", Rankings, Preferences, Battles, weights="effective")
    )
    if not isinstance(fit, Fit):
        raise InputError(f"bootstrap needs a Fit, from tierwise.fit; got {quoted(fit)}")
    replicates = check_count("replicates", replicates)
    check_choice("kind", kind, get_args(BootstrapKind))
    check_choice("unit", unit, get_args(Resampling))
    if fit.likelihood == "pseudo":
        raise InputError(
            "bootstrap needs a fit with the exact likelihood",
            [use("when fitting", likelihood="exact")],
        )
    if set(fit.tiers.items) != set(known.items):
        raise InputError("the fit has other items than the data: fit these data first")
    design = _design(known, kind, cluster, unit, fit)
    refit = _refit(fit, fit.tiers.label_array(known.items))
    seeds = spawn_seeds(rng, replicates)
    # Few replicates are requested where each takes long: people want to see how far it is.
    per_task = REPLICATES_PER_TASK if replicates > _FEW_REPLICATES else 1
    batches = [seeds[first : first + per_task] for first in range(0, replicates, per_task)]
    results = run_tasks(
        _fit_replicates,
        [(design.draw, refit, batch) for batch in batches],
        description="bootstrap",
        workers=workers,
        progress=progress,
    )
    parameters = np.concatenate([found.parameters for found in results])
    labels = np.concatenate([found.labels for found in results])
    # Columns follow the items of the fit, which may stand in another order than those of the data.
    position = {item: number for number, item in enumerate(known.items)}
    order = [position[item] for item in fit.tiers.items]
    has_worths = fit.family == "luce"
    labels = labels[:, order] + 1
    if len(fit.parts) > 1 and has_worths:
        number_of = {item: number for number, part in enumerate(fit.parts) for item in part}
        part_of = np.array([number_of[item] for item in fit.tiers.items])
        labels = stack_parts(labels, part_of, np.random.default_rng(seeds[0]))
    return Bootstrap(
        fit,
        kind,
        np.empty((replicates, 0)) if has_worths else parameters,
        labels,
        watch.provenance(rng),
        design.resampled,
        parameters[:, order] if has_worths else None,
    )


@dataclass(frozen=True, eq=False)
class _Design:
    """How answers are resampled, and what is drawn, in words."""

    draw: Callable[[np.random.Generator], Rankings | Preferences | Battles]
    resampled: str = "answers"


@singledispatch
def _design(
    data: KnownData, _kind: BootstrapKind, _cluster: str | None, _unit: Resampling, _fit: Fit
) -> _Design:
    """Decide how answers are resampled, or say what cannot be had of these data."""
    raise TypeError(f"{data.unit} are not resampled")


@_design.register(Battles)
def _design_of_battles(
    data: Battles, kind: BootstrapKind, cluster: str | None, unit: Resampling, _fit: Fit
) -> _Design:
    if kind != "nonparametric":
        raise InputError("battles have only the nonparametric bootstrap", [drop("kind")])
    if cluster is not None:
        raise InputError(
            "for battles, the clusters are judges", [drop("cluster"), use(unit="judge")]
        )
    drawn = data.unit_of_resampling(unit)
    return _Design(partial(data.resampled, unit=drawn), f"{drawn}s")


@_design.register(Preferences)
def _design_of_pairs(
    data: Preferences, kind: BootstrapKind, cluster: str | None, _unit: Resampling, fit: Fit
) -> _Design:
    _refuse_infinite_theta(kind, fit)
    if cluster is not None:
        raise _no_clusters()
    if kind == "nonparametric":
        return _Design(data.resampled)
    return _Design(partial(_answer_by_model, data, fit.model(), fit.mistake_probability))


@_design.register(Rankings)
def _design_of_rankings(
    data: Rankings, kind: BootstrapKind, cluster: str | None, _unit: Resampling, fit: Fit
) -> _Design:
    _refuse_infinite_theta(kind, fit)
    if cluster is not None and kind == "parametric":
        raise _no_clusters()
    # Nothing else is needed of people, and processes get what they need only.
    alone = data.with_people(None)
    if kind == "parametric":
        return _Design(partial(_rank_by_model, alone, fit.model()))
    cluster_of, resampled = None, "answers"
    if cluster is not None:
        cluster_of, number = _clusters(data, cluster)
        resampled = f"{counted(number, 'cluster')} by {quoted(cluster)}, people with their weights"
    elif data.weights.dtype.kind == "f":
        resampled = f"people with their weights: {answers_in_words(data.n_rankings, 'answer')}"
    return _Design(partial(_draw_rankings, alone, cluster_of), resampled)


def _refuse_infinite_theta(kind: BootstrapKind, fit: Fit) -> None:
    if kind == "parametric" and not np.isfinite(fit.thetas).all():
        raise InputError(
            "theta is infinite, so the model draws only rankings that agree with the tiers: "
            "use the nonparametric bootstrap"
        )


def _no_clusters() -> InputError:
    return InputError(
        "clusters of people need the nonparametric bootstrap of rankings",
        [drop("cluster"), use(kind="nonparametric")],
    )


def _answer_by_model(
    data: Preferences,
    model: ClusteredMallows | ClusteredLuce,
    mistake_probability: float | None,
    rng: np.random.Generator,
) -> Preferences:
    """Let the model answer what people were asked, with as many mistakes."""
    if isinstance(model, ClusteredLuce) and data.times is not None:
        return _race_by_race(data, model, rng)
    complete = model.sample(data.n_rankings, rng).restrict(data.items)
    return answer_like(complete, data, mistake_probability, rng)


def _race_by_race(data: Preferences, model: ClusteredLuce, rng: np.random.Generator) -> Preferences:
    """Let worths decide each comparison by itself, where people contradict themselves."""
    assert data.times is not None
    labels = model.tiers.label_array(data.items)
    chances = model.pair_probabilities().probabilities[np.ix_(labels, labels)]
    asked = np.triu(data.times + data.times.transpose(0, 2, 1), k=1)
    won = rng.binomial(asked, chances).astype(np.int32)
    return data.with_answers(won + (asked - won).transpose(0, 2, 1))


def _rank_by_model(
    data: Rankings, model: ClusteredMallows | ClusteredLuce, rng: np.random.Generator
) -> Rankings:
    """Draw as many rankings from the model, and hide of them what the answers hide."""
    complete = model.sample(round(data.n_rankings), rng).restrict(data.items)
    return complete if data.is_complete else observe_like(complete, data)


def _clusters(data: Rankings, cluster: str) -> tuple[NDArray[np.int64], int]:
    """Return the number of the cluster of each answer, and how many there are."""
    (column,) = find_columns(data, cluster, "bootstrap", "cluster")
    codes = column.codes.copy()
    alone = np.flatnonzero(codes == MISSING)
    codes[alone] = len(column.values) + np.arange(len(alone))
    number = len(column.values) + len(alone)
    if number < 2:
        raise InputError(
            f"all people belong to one cluster of {quoted(cluster)}, so there is nothing to "
            "resample: choose a column with several values"
        )
    return codes, number


class _Found(NamedTuple):
    """Tiers, counted from 0, and thetas or log worths of items; or all these, row by row."""

    labels: NDArray[np.int64]
    parameters: NDArray[np.float64]


def _fit_replicates(
    draw: Callable[[np.random.Generator], Rankings | Preferences | Battles],
    refit: Callable[[Rankings | Preferences | Battles, np.random.Generator], _Found],
    seeds: list[np.random.SeedSequence],
) -> _Found:
    """Fit one resampled data set per seed."""
    generators = [np.random.default_rng(seed) for seed in seeds]
    found = [refit(draw(rng), rng) for rng in generators]
    return _Found(
        np.array([one.labels for one in found]), np.array([one.parameters for one in found])
    )


def _refit(
    fit: Fit, start: NDArray[np.int64]
) -> Callable[[Rankings | Preferences | Battles, np.random.Generator], _Found]:
    """Return what fits a resampled data set as the given data were fitted."""
    if fit.family == "luce":
        return _search_worths
    partition = partition_function(fit.sizes, fit.distance, concentration=fit.concentration)
    if fit.concentration == "single":
        return partial(_fit_one_theta, partition)
    return partial(_fit_thetas, partition, start)


def _fit_one_theta(
    partition: PartitionFunction,
    sample: Rankings | Preferences | Battles,
    rng: np.random.Generator,
) -> _Found:
    """Fit tiers of given sizes with one theta."""
    source = source_of(sample, partition.distance)
    if source.is_known(partition.sizes):
        # The partition function is computed once for all replicates.
        likelihood = source.at(partition.sizes, partition=partition)
        solution = solve_known(likelihood, Settings(), rng)
    else:
        solution = solve(source, partition.sizes, Settings(), rng)
    return _Found(solution.consensus.labels, np.array(solution.theta.value))


def _fit_thetas(
    partition: PartitionFunction,
    start: NDArray[np.int64],
    sample: Rankings | Preferences | Battles,
    _rng: np.random.Generator,
) -> _Found:
    """Fit tiers of given sizes with several thetas."""
    source = source_of(sample, partition.distance)
    found = solve_several_thetas(source, partition, starts=[start], most_work=0.0)
    return _Found(found.consensus.labels, np.array([one.value for one in found.thetas]))


def _search_worths(sample: Rankings | Preferences | Battles, _rng: np.random.Generator) -> _Found:
    """Search tiers of all sizes with their worths."""
    worths = search_tiers(TierSearch(races_of(sample), sceptical))[0].worths
    logs = worths.logs[worths.labels]
    return _Found(worths.labels, logs - logs.mean())


def _draw_rankings(
    rankings: Rankings, cluster_of: NDArray[np.int64] | None, rng: np.random.Generator
) -> Rankings:
    """Draw answers, or clusters of them, with replacement, as many as there are."""
    if cluster_of is not None:
        number = int(cluster_of.max()) + 1
        times = rng.multinomial(number, np.full(number, 1 / number))[cluster_of]
        drawn = np.zeros(len(rankings.patterns), dtype=rankings.weights.dtype)
        np.add.at(drawn, rankings.pattern_of, times * rankings.weights)
    elif rankings.weights.dtype == np.int64:
        total = int(rankings.n_rankings)
        drawn = rng.multinomial(total, rankings.pattern_weights / total)
    else:
        # Fractional weights belong to answers, so answers are drawn and keep theirs.
        times = rng.multinomial(len(rankings), np.full(len(rankings), 1 / len(rankings)))
        drawn = np.bincount(
            rankings.pattern_of,
            weights=times * rankings.weights,
            minlength=len(rankings.patterns),
        )
    kept = drawn > 0
    return Rankings(
        rankings.items,
        rankings.patterns[kept],
        drawn[kept],
        unranked=rankings.unranked,
        # Scaled already, if they are survey weights.
        weights_are="counts",
    )
