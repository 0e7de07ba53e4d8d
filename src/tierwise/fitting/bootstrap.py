"""bootstrap: how much tiers, theta or worths would vary with other rankings of the same kind."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.cards import Card
from tierwise._util.checks import RandomSource, check_choice, check_count, check_level, spawn_seeds
from tierwise._util.columns import within
from tierwise._util.provenance import Provenance, Stopwatch
from tierwise._util.results import Result
from tierwise._util.tasks import Progress, run_tasks
from tierwise._util.types import NOT_LISTED, Item, item_coordinate, plain, plain_item
from tierwise.answers.likelihood import source_of
from tierwise.answers.races import races_of
from tierwise.data.battles import Battles, Resampling
from tierwise.data.connection import stack_parts
from tierwise.data.frames import Backend, make_frame, table_of_items
from tierwise.data.kinds import check_data
from tierwise.data.people import MISSING, find_columns
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.data.scan import RankingScan
from tierwise.data.weights import answers_in_words
from tierwise.errors import InputError, counted, drop, percent, quoted, use
from tierwise.fitting.luce import sceptical
from tierwise.fitting.result import Fit
from tierwise.fitting.several_thetas import solve_several_thetas
from tierwise.fitting.solve import Settings, solve, solve_known
from tierwise.luce.estimates import ELO
from tierwise.luce.judges import at_effective_number
from tierwise.luce.search import TierSearch, search_tiers
from tierwise.model.clustered_luce import ClusteredLuce
from tierwise.model.clustered_mallows import ClusteredMallows
from tierwise.partition.base import PartitionFunction
from tierwise.partition.choose import partition_function
from tierwise.partition.generalised import GeneralisedPartition, generalised_partition

if TYPE_CHECKING:
    from xarray import DataArray

BootstrapKind: TypeAlias = Literal["nonparametric", "parametric"]

# Replicates that one task makes: enough to outweigh the cost of handing over a task.
REPLICATES_PER_TASK = 25
_FEW_REPLICATES = 40


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(Result):
    """Fits to resampled rankings.

    Attributes
    ----------
    fit : Fit
        The fit that was resampled.
    kind : str
        "nonparametric" (the answers were resampled) or "parametric" (new ones from the model).
    thetas : numpy.ndarray
        Theta of each replicate; ``thetas[replicate, part]`` where the fit has several, or none.
    labels : numpy.ndarray
        ``labels[replicate, item]``: the tier of each item, 1 being the best.
    resampled : str
        What was resampled: answers, people with their weights, or clusters of people.
    provenance : Provenance
        Version, seed and time.
    log_worths : numpy.ndarray or None
        ``log_worths[replicate, item]`` where tiers have worths; the mean over items is 0.
    """

    fit: Fit
    kind: BootstrapKind
    thetas: NDArray[np.float64]
    labels: NDArray[np.int64]
    provenance: Provenance
    resampled: str = "answers"
    log_worths: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        """Return the number of replicates."""
        return len(self.labels)

    def __repr__(self) -> str:
        if self.log_worths is not None:
            return f"Bootstrap({len(self)} {self.kind} replicates, {self._numbers_of_tiers()})"
        ranges = ", ".join(f"{low:.4g} to {high:.4g}" for low, high in self.theta_intervals())
        return f"Bootstrap({len(self)} {self.kind} replicates, theta {ranges})"

    @property
    def items(self) -> tuple[Item, ...]:
        """The items that the columns of ``labels`` stand for."""
        return self.fit.tiers.items

    def theta_interval(self, level: float | None = None) -> tuple[float, float]:
        """Return the interval that holds theta in a share of the replicates.

        Parameters
        ----------
        level
            That share; None is the level of the fit.
        """
        intervals = self.theta_intervals(level)
        if not intervals:
            raise InputError("there is no theta, but a worth per tier: use strength_intervals")
        if len(intervals) != 1:
            raise InputError(
                f"there are {len(intervals)} thetas, one per {self.fit.concentration}: "
                "use theta_intervals"
            )
        return intervals[0]

    def theta_intervals(self, level: float | None = None) -> tuple[tuple[float, float], ...]:
        """Return, for each theta, the interval that holds it in a share of the replicates.

        Parameters
        ----------
        level
            That share; None is the level of the fit.
        """
        return self._intervals(self.thetas.reshape(len(self), -1), level)

    def strength_intervals(self, level: float | None = None) -> tuple[tuple[float, float], ...]:
        """Return, for each item, the interval that holds its strength in a share of replicates.

        Strengths are worths on the Elo scale, ``400 log10(worth)``, with a mean over items of 0.

        Parameters
        ----------
        level
            That share; None is the level of the fit.
        """
        if self.log_worths is None:
            raise InputError("there are no worths, but theta: use theta_intervals")
        return self._intervals(ELO * self.log_worths, level)

    def _intervals(
        self, columns: NDArray[np.float64], level: float | None
    ) -> tuple[tuple[float, float], ...]:
        tail = (1 - check_level(self.fit.level if level is None else level)) / 2
        # Order statistics, not interpolation: a replicate's theta may be infinite.
        ends = np.quantile(columns, [tail, 1 - tail], axis=0, method="inverted_cdf")
        return tuple((float(low), float(high)) for low, high in ends.T)

    def tier_probabilities(self) -> "DataArray":
        """Return the share of replicates in which each item (row) is of each tier (column).

        Where tiers of all sizes are searched, there may be more columns than the fit has tiers.
        """
        numbers = np.arange(1, max(len(self.fit.sizes), int(self.labels.max())) + 1)
        shares = (self.labels[:, :, None] == numbers).mean(axis=0)
        return table_of_items(self.items, shares, "tier", numbers)

    def co_tier_probabilities(self) -> "DataArray":
        """Return the share of replicates in which each two items are tied."""
        tied = np.zeros((len(self.items), len(self.items)))
        for labels in self.labels:
            tied += labels[:, None] == labels
        return table_of_items(self.items, tied / len(self), "other", item_coordinate(self.items))

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return a data frame with one row per item, best first: its tier, and shares of tiers.

        With worths there is an interval of its strength, too.

        Parameters
        ----------
        backend
            The library whose data frame is wanted: "pandas", "polars" or "pyarrow".

        """
        items, shares = self.items, self.tier_probabilities().to_numpy()
        order = sorted(range(len(items)), key=lambda item: self.fit.tiers[items[item]])
        columns: dict[str, list[Any]] = {
            "item": [plain_item(items[item]) for item in order],
            "tier": [self.fit.tiers[items[item]] for item in order],
        }
        if self.log_worths is not None:
            intervals = self.strength_intervals()
            columns["strength_low"] = [intervals[item][0] for item in order]
            columns["strength_high"] = [intervals[item][1] for item in order]
        for tier in range(shares.shape[1]):
            columns[f"p_tier_{tier + 1}"] = shares[order, tier].tolist()
        return make_frame(columns, backend)

    def _card(self) -> Card:
        shares = self.tier_probabilities().to_numpy()
        sure = {
            item: float(shares[place, self.fit.tiers[item] - 1])
            for place, item in enumerate(self.items)
        }
        facts = [("", line) for line in self._parameter_lines()]
        title = f"{len(self)} {self.kind} replicates{self.of_what()}"
        return Card(title, facts, [self.fit.tier_section()], sure)

    def summary(self, width: int = 88) -> str:
        """Return a table for people: each item's tier and how often it came out so.

        Parameters
        ----------
        width
            How many columns there are to write in.
        """
        shares = self.tier_probabilities().to_numpy()
        items = self.fit.tiers.items
        longest = max(len(str(item)) for item in items)
        order = sorted(range(len(items)), key=lambda item: self.fit.tiers[items[item]])
        strengths = [""] * (len(items) + 1)
        if self.log_worths is not None:
            strengths = [f"{'strength':>16}  "] + [
                f"{f'{low:.0f} to {high:.0f}':>16}  " for low, high in self.strength_intervals()
            ]
        text = "\n".join(
            [
                f"{len(self)} {self.kind} replicates{self.of_what()}",
                *self._parameter_lines(),
                "",
                f"{'item':<{longest}}  tier  {strengths[0]}same in  other tiers",
                *(
                    f"{items[item]!s:<{longest}}  {self.fit.tiers[items[item]]:>4}  "
                    + strengths[item + 1]
                    + _shares(shares[item], self.fit.tiers[items[item]])
                    for item in order
                ),
            ]
        )
        return within(text, width)

    def of_what(self) -> str:
        """Say what was drawn, if it is not simply answers."""
        return "" if self.resampled == "answers" else f", drawing {self.resampled}"

    def sizes_in_words(self) -> str:
        """Say what became of the sizes of tiers in the replicates."""
        return "sizes held fixed" if self.log_worths is None else "sizes searched again in each"

    def _numbers_of_tiers(self) -> str:
        """Say how many tiers the replicates have."""
        fewest, most = int(self.labels.max(axis=1).min()), int(self.labels.max())
        return counted(most, "tier") if fewest == most else f"{fewest} to {most} tiers"

    def _parameter_lines(self) -> list[str]:
        if self.log_worths is not None:
            same = float((self.labels.max(axis=1) == len(self.fit.sizes)).mean())
            return [
                f"tiers of all sizes searched again in each: {self._numbers_of_tiers()}, in "
                f"{same:.0%} as many as in the fit ({len(self.fit.sizes)})",
                f"strength: {percent(self.fit.level)} of replicates, on the Elo scale",
            ]
        of = [""] if self.fit.concentration == "single" else self.fit.part_names
        parts = zip(of, self.fit.thetas, self.theta_intervals(), strict=True)
        return [
            f"theta {name + ' ' if name else ''}{theta:.4f}, {percent(self.fit.level)} of "
            f"replicates between {low:.4f} and {high:.4f}"
            for name, theta, (low, high) in parts
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        items = self.fit.tiers.items
        return {
            "kind": self.kind,
            "resampled": self.resampled,
            "replicates": len(self),
            "sizes": "held" if self.log_worths is None else "searched",
            **self._plain_parameters(),
            "level": self.fit.level,
            "items": [plain_item(item) for item in items],
            "tier_probabilities": self.tier_probabilities().to_numpy().tolist(),
            "co_tier_probabilities": self.co_tier_probabilities().to_numpy().tolist(),
            "provenance": self.provenance.to_dict(),
        }

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the intervals of thetas, or of strengths, as plain values."""
        if self.log_worths is not None:
            strengths = self.fit.strengths
            numbers = self.labels.max(axis=1)
            return {
                "strengths": [strengths[self.fit.tiers[item] - 1] for item in self.items],
                "strength_intervals": plain(self.strength_intervals()),
                "numbers_of_tiers": {
                    str(number): float((numbers == number).mean())
                    for number in np.unique(numbers).tolist()
                },
            }
        intervals = self.theta_intervals()
        single = self.fit.concentration == "single"
        return {
            "theta": plain(self.fit.theta),
            "theta_interval": plain(intervals[0] if single else intervals),
        }


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
    """Fit resampled rankings with the sizes of a fit, to see how sure its tiers and theta are.

    Where tiers have worths (family "luce"), tiers of all sizes are searched again for each of them,
    with the prior of sizes that a search takes by default.

    Parameters
    ----------
    data
        The rankings, preferences or battles that were fitted.
    fit
        The fit, from which sizes and distance, or the family, are taken.
    replicates
        Number of resampled data sets.
    kind
        "nonparametric" draws as many answers, with replacement, from those given; "parametric"
        draws new rankings from the fitted model, of which it hides what the answers hide, and makes
        as many mistakes if answers may be mistaken. Answers whose weights are no whole numbers keep
        their weights when they are drawn, as people of a weighted survey do.
    cluster
        A column of `Rankings.people`, such as the school or the village where people were asked:
        then not people are drawn with replacement but whole clusters, because people of one cluster
        may be alike (Davison and Hinkley, Bootstrap Methods and their Application, 1997, 3.8). Who
        has no value is a cluster of their own.
    unit
        For battles, what is drawn: "battle", or "judge" with all that each decided; "auto" draws
        judges where some decided several battles.
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
            "bootstrap needs a fit by the exact likelihood",
            [use("when fitting", likelihood="exact")],
        )
    if set(fit.tiers.items) != set(known.items):
        raise InputError("the fit is of other items than the data: fit these data first")
    design = _design(known, kind, cluster, unit, fit)
    refit = _refit(fit, fit.tiers.label_array(known.items))
    seeds = spawn_seeds(rng, replicates)
    # Few replicates are asked for where each takes long: people want to see how far it is.
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


def _design(
    data: Rankings | Preferences | Battles,
    kind: BootstrapKind,
    cluster: str | None,
    unit: Resampling,
    fit: Fit,
) -> _Design:
    """Decide how answers are resampled, or say what cannot be had of these data."""
    if isinstance(data, Battles):
        if kind != "nonparametric":
            raise InputError("battles have the nonparametric bootstrap only", [drop("kind")])
        if cluster is not None:
            raise InputError(
                "the clusters of battles are judges", [drop("cluster"), use(unit="judge")]
            )
        drawn = data.unit_of_resampling(unit)
        return _Design(partial(data.resampled, unit=drawn), f"{drawn}s")
    if kind == "parametric" and not np.isfinite(fit.thetas).all():
        raise InputError(
            "theta is infinite, so the model draws only rankings that agree with the tiers: "
            "use the nonparametric bootstrap"
        )
    if cluster is not None and (kind == "parametric" or data.pairwise):
        raise InputError(
            "clusters of people are drawn by the nonparametric bootstrap of rankings only",
            [drop("cluster"), use(kind="nonparametric")],
        )
    if not isinstance(data, Rankings):
        if kind == "nonparametric":
            return _Design(data.resampled)
        return _Design(partial(_answer_by_model, data, fit.model(), fit.mistake_probability))
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
            f"all people are of one cluster by {quoted(cluster)}, so there is nothing to draw: "
            "name a column that has several values"
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
    if fit.concentration == "single":
        return partial(_fit_one_theta, partition_function(fit.sizes, fit.distance))
    partition = generalised_partition(fit.sizes, fit.distance, fit.concentration)
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
    partition: GeneralisedPartition,
    start: NDArray[np.int64],
    sample: Rankings | Preferences | Battles,
    _rng: np.random.Generator,
) -> _Found:
    """Fit tiers of given sizes with several thetas."""
    found = solve_several_thetas(sample, partition, starts=[start], most_work=0.0)
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
        # Scaled already, if they are weights of a survey.
        weights_are="counts",
    )


def _shares(shares: NDArray[np.float64], tier: int) -> str:
    others = [
        f"{number} ({share:.0%})"
        for number, share in enumerate(shares.tolist(), start=1)
        if number != tier and share > 0
    ]
    return f"{shares[tier - 1]:>7.0%}  {', '.join(others)}".rstrip()


def observe_like(complete: Rankings, observed: Rankings) -> Rankings:
    """Hide of each complete ranking what one of the observed answers hides.

    Where items that are not listed come below, as many of the best are kept as were listed; where
    they may be anywhere, the items that were listed are. Ties are where they were.

    Parameters
    ----------
    complete
        As many complete rankings as there were observed ones, answers of weight 7 being 7.
    observed
        The answers.

    Examples
    --------
    >>> complete = Rankings.from_orderings([["a", "b", "c"], ["c", "b", "a"]])
    >>> observed = Rankings.from_orderings([["b"], ["a", "c", "b"]], unranked="below")
    >>> observe_like(complete, observed).to_orderings()
    [['a'], ['c', 'b', 'a']]
    """
    if observed.pattern_weights.dtype != np.int64:
        raise InputError("answers with fractional weights cannot be resampled: use whole weights")
    pattern_of = np.repeat(observed.pattern_of, observed.weights)
    if len(pattern_of) != len(complete):
        raise InputError(f"{len(pattern_of)} rankings are needed; got {len(complete)}")
    order = [complete.items.index(item) for item in observed.items]
    places = complete.patterns[complete.pattern_of][:, order].astype(np.int64)
    patterns = observed.patterns[pattern_of]
    listed = patterns != NOT_LISTED
    n_items = patterns.shape[1]
    # The places that are written down, best first, behind which comes what is not listed.
    written = np.sort(np.where(listed, patterns, n_items), axis=1)
    written[written == n_items] = NOT_LISTED
    if observed.unranked == "anywhere":
        places = _ranks(np.where(listed, places, n_items + places))
    hidden = np.take_along_axis(written, places, axis=1).astype(np.int32)
    return Rankings(observed.items, hidden, unranked=observed.unranked)


def answer_like(
    complete: Rankings,
    observed: Preferences,
    mistake_probability: float | None,
    rng: np.random.Generator,
) -> Preferences:
    """Let complete rankings compare the pairs of items that were compared, as often.

    Parameters
    ----------
    complete
        As many complete rankings as there are assessors.
    observed
        Pairwise answers.
    mistake_probability
        Probability that an answer is mistaken, if any may be.
    rng
        Generator, for mistakes.

    Examples
    --------
    >>> from tierwise import Preferences
    >>> complete = Rankings.from_orderings([["c", "b", "a"]])
    >>> observed = Preferences.from_pairs([("Ann", "a", "b"), ("Ann", "c", "a")], items="abc")
    >>> answer_like(complete, observed, None, np.random.default_rng(1)).pairs(0)
    [('b', 'a'), ('c', 'a')]
    """
    if len(observed) != len(complete):
        raise InputError(f"{len(observed)} rankings are needed; got {len(complete)}")
    order = [complete.items.index(item) for item in observed.items]
    places = complete.patterns[complete.pattern_of][:, order]
    times = observed.direct.astype(np.int32) if observed.times is None else observed.times
    # Of both orders of a pair, one agrees with the ranking: all answers are right at first.
    right = (times + times.transpose(0, 2, 1)) * (places[:, :, None] < places[:, None, :])
    wrong = np.zeros_like(right)
    if mistake_probability is not None:
        wrong = rng.binomial(right, mistake_probability).astype(np.int32)
    return observed.with_answers(right - wrong + wrong.transpose(0, 2, 1))


def _ranks(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rank of each entry of each row, counted from 0."""
    return np.argsort(np.argsort(values, axis=1), axis=1)
