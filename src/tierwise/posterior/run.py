"""sample_posterior: tiers, sizes and theta with their uncertainty."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from tierwise._util.checks import RandomSource, check_choice, spawn_seeds
from tierwise._util.provenance import Stopwatch
from tierwise._util.tasks import run_tasks
from tierwise.answers.likelihood import source_of
from tierwise.data.connection import parts_in_words, parts_of
from tierwise.data.kinds import Data, KnownData, check_data
from tierwise.errors import InputError, TierwiseWarning, drop, grouped, instead, use
from tierwise.fitting.fit import own_tiers
from tierwise.fitting.luce import refuse_options_of_mallows
from tierwise.fitting.order import divided_tiers
from tierwise.luce.judges import at_effective_number
from tierwise.model.priors import (
    DEFAULT_PRIORS,
    Priors,
    as_theta_prior,
    log_prior_of_sizes,
)
from tierwise.posterior import augmented, exact, listed, ordered_partitions
from tierwise.posterior.chain import (
    Chain,
    Checkpoint,
    Schedule,
    prolong_chain,
    random_state,
    run_chain,
)
from tierwise.posterior.luce import chain_over_races, log_effects_of, sampler_of_races
from tierwise.posterior.moves import are_connected
from tierwise.posterior.result import Posterior
from tierwise.posterior.samplers import (
    DEFAULT_SAMPLER,
    PosteriorConcentration,
    Sampler,
    SamplingOptions,
    make_sampler,
)
from tierwise.posterior.storage import assemble
from tierwise.posterior.summary import LEAST_ESS
from tierwise.posterior.target import Target, depends_on_distance_only
from tierwise.searching.choice import Choice, choose
from tierwise.searching.compared import FamilyChoice
from tierwise.tiers import Tiers, check_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    from numpy.typing import NDArray

    from tierwise._util.tasks import Progress
    from tierwise._util.types import Item
    from tierwise.answers.capabilities import AllSizes
    from tierwise.answers.likelihood import AnswerSource
    from tierwise.data.battles import Battles
    from tierwise.data.rankings import Rankings
    from tierwise.distances import Distance
    from tierwise.fitting.result import Family
    from tierwise.posterior.chain import State, TierSampler

# Chains that have not settled go on until draws are so many iterations apart, at most.
_LARGEST_THIN = 32
# Of few draws, this share should be worth independent ones.
_LEAST_SHARE = 0.25
# An error of the log-likelihood that is felt in the posterior.
_MOST_ERROR = 0.1
# Log odds of so many standard errors leave open which side they are on.
_DOUBTFUL_ODDS = 2.0


def sample_posterior(
    data: Data,
    sizes: Iterable[int] | None = None,
    distance: str | Distance | None = None,
    *,
    tiers: Tiers | Iterable[Iterable[Item]] | None = None,
    family: FamilyChoice = "auto",
    concentration: PosteriorConcentration | None = None,
    choice: Choice | None = None,
    chains: int = 4,
    draws: int = 1000,
    priors: Priors = DEFAULT_PRIORS,
    sampler: Sampler = DEFAULT_SAMPLER,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Posterior:
    """Sample tiers and theta, and sizes unless they are given, from their posterior.

    Parameters
    ----------
    data
        The rankings, in memory or in files (`Rankings.scan`), or counts of them, or preferences,
        or battles.
    sizes
        How many items each tier holds, best tier first. None leaves the sizes open.
    tiers
        Your own tiers instead of sizes, for the family "luce": only their worths are drawn.
    distance
        "kendall", "inversions", "hamming", "footrule" or "spearman". With open sizes, None and
        "auto" mean what `choose` finds best; with given sizes None means "kendall", or "inversions"
        for battles.
    family
        "mallows": orderings scattered around the tiers, with a distance and theta. "luce": one
        worth per tier, drawn together with the tiers, for answers of every kind. "auto" is what
        `choose` finds best if sizes are open and you name neither a distance nor another option of
        Mallows models; otherwise it is "mallows".
    concentration
        "single" is one theta. "tier" is one for each tier but the last, for weak orders with
        "inversions" and open sizes. None is what `choose` finds best if it decides, otherwise one
        theta.
    choice
        The result of `choose` for these data, to avoid comparing the models again.
    chains, draws
        Number of chains, and of draws kept from each.
    priors
        Priors of theta, sizes and mistakes; see `Priors`.
    sampler
        Options of the sampler; see `Sampler`.
    workers
        Number of processes; see `tierwise._util.tasks.run_tasks`. The answer does not depend on it.
    progress
        "auto", "off" or a function; see `tierwise._util.tasks.track`.
    rng
        Seed or generator.
    checkpoint
        A folder in which chains are saved while they run. The same call with the same folder
        resumes a run that was stopped, and gives the same draws as an uninterrupted run.

    Returns
    -------
    Posterior
        The draws, and what they say about tiers, sizes and theta.

    Examples
    --------
    >>> import tierwise as tw
    >>> posterior = sample_posterior(tw.load_political_goals(), sizes=(2, 2), rng=1)
    >>> posterior.tiers()
    Tiers('order ~ prices > say ~ speech')
    >>> posterior.method
    'exact'
    >>> [round(bound, 2) for bound in posterior.theta_interval()]
    [0.51, 0.56]
    """
    watch = Stopwatch()
    started = monotonic()
    known = at_effective_number(check_data(data, "sample_posterior", weights="effective"))
    own = None if tiers is None else _own_tiers(tiers, known.items, sizes, family)
    if own is not None:
        sizes = np.bincount(own).tolist()
    options = SamplingOptions(
        sizes=None if sizes is None else check_sizes(sizes, len(known.items)),
        tiers=None if own is None else tuple(own.tolist()),
        distance="",
        chains=chains,
        draws=draws,
        sampler=sampler,
        priors=priors,
        concentration=concentration or "single",
    )
    n_items = len(known.items)
    # Refuses what is not a prior.
    log_prior_of_sizes(options.prior_sizes, options.sizes or (1,) * n_items)
    options.refuse_too_many_draws(n_items)
    check_choice("family", family, get_args(FamilyChoice))
    model = _chosen_model(known, family, distance, concentration, choice, options)
    if model.family == "luce":
        refuse_options_of_mallows(distance=(distance or "auto", "auto"))
        walk = sampler_of_races(known, options)
        run = _Run(options.settled("mcmc"), walk.start, lambda: walk)
    else:
        source = source_of(known, model.distance)
        run = _run_of(
            replace(options, distance=source.distance.name, concentration=model.concentration),
            source,
        )
    options = run.options
    place = None if checkpoint is None else Checkpoint(Path(checkpoint))
    if place is None:
        seeds = spawn_seeds(rng, chains)
    else:
        identity = {
            "data": known.fingerprint(),
            "family": model.family,
            **options.identity(n_items),
        }
        seeds = place.seeds(identity, rng, chains)
    maker = run.make_sampler()
    # Chains that run one after the other tell how far they are; others only when they are done.
    one_by_one = workers in (None, 1)
    chains_began = monotonic()
    ran = run_tasks(
        run_chain,
        [
            (
                number,
                run.start,
                run.n_lines,
                maker,
                run.schedule,
                seed,
                place,
                progress if one_by_one else "off",
            )
            for number, seed in enumerate(seeds, start=1)
        ],
        description="chains",
        workers=workers,
        progress="off" if one_by_one else progress,
    )

    def assembled(ran: list[Chain], options: SamplingOptions) -> Posterior:
        return Posterior.of_items(
            assemble(
                [chain.trace for chain in ran],
                known.items,
                options,
                {**maker.facts(), **model.compared, "parts": parts_in_words(parts_of(known))},
                known.n_rankings,
                watch.provenance(rng),
            ),
            known.items,
        )

    posterior = assembled(ran, options)
    may_go_on = sampler.thin == "auto" and options.sampler.method == "mcmc" and place is None
    while may_go_on:
        diagnostics, now = posterior.diagnostics(), monotonic()
        wanted = min(LEAST_ESS, _LEAST_SHARE * chains * draws)
        if diagnostics.agree and diagnostics.are_worth(wanted):
            break
        # As many iterations again take as long as all so far; half as many more are needed where
        # the first half of the draws comes to be a warm-up.
        n_dropped = 0 if diagnostics.agree else draws // 2
        needed = (now - chains_began) * (1.0 if diagnostics.agree else 1.5)
        if 2 * options.thin > _LARGEST_THIN or now - started + needed > sampler.seconds:
            break
        bar = progress if one_by_one else "off"
        ran = run_tasks(
            prolong_chain,
            [(chain, maker, options.thin, n_dropped, bar) for chain in ran],
            description="continuing chains",
            workers=workers,
            progress="off" if one_by_one else progress,
        )
        options = replace(options, sampler=replace(options.sampler, thin=2 * options.thin))
        posterior = assembled(ran, options)
    _warn(posterior, run.target, options)
    if options.concentration == "tier" and not known.pairwise:
        posterior = posterior.with_divided(_divided_items(known, posterior, choice))
    return posterior


def _own_tiers(
    tiers: Tiers | Iterable[Iterable[Item]],
    items: tuple[Item, ...],
    sizes: Iterable[int] | None,
    family: FamilyChoice,
) -> NDArray[np.int64]:
    """Return the user's own tiers, counted from 0, or raise an error for conflicting options."""
    if sizes is not None:
        raise InputError("tiers already have sizes", [drop("sizes")])
    if family != "luce":
        raise InputError(
            'given tiers need worths, which only the family "luce" has',
            [use(family="luce"), use("to draw tiers of these sizes, and theta", sizes=...)],
        )
    return own_tiers(tiers, items)


class DrawnTiers(NamedTuple):
    """Draws of tiers.

    Attributes
    ----------
    labels
        Tier of each item (column) in each draw (row), 1 being the best.
    log_worths
        Log worth of each item in each draw, where tiers have worths.
    prior_sizes
        Name of the prior of sizes that they were drawn with.
    """

    labels: NDArray[np.int64]
    log_worths: NDArray[np.float64] | None = None
    prior_sizes: str | None = None


def draw_tiers_from(
    data: Rankings | Battles,
    choice: Choice,
    state: State,
    draws: int,
    seed: np.random.SeedSequence,
    sweeps_per_draw: int = 1,
) -> DrawnTiers:
    """Draw tiers by one chain that begins at a draw of the posterior, so without a warm-up.

    Answers simulated from a truth that was itself drawn given earlier answers leave that truth a
    draw of the posterior given all of them: no start is better, and none has to be searched for.

    Parameters
    ----------
    data, choice
        The answers, and the model.
    state
        Where the chain begins: tiers, with their worths or theta.
    draws, sweeps_per_draw
        Number of draws, and of iterations for each.
    seed
        Seed of the chain.
    """
    sampler = Sampler(warmup=0, thin=sweeps_per_draw)
    several: PosteriorConcentration = "tier" if choice.concentration == "tier" else "single"
    options = SamplingOptions(None, choice.distance, 1, draws, sampler, DEFAULT_PRIORS, several)
    if choice.family == "luce":
        assert state.log_worths is not None
        chain, rng = chain_over_races(data, options), np.random.default_rng(seed)
        effects = log_effects_of(chain, state)
        labels, logs, _ = chain.run(
            state.labels, state.log_worths, draws, rng, sweeps_per_draw, effects
        )
        return DrawnTiers(labels + 1, logs, str(options.prior_sizes))
    source = source_of(data, choice.distance or None)
    options = replace(options, distance=source.distance.name)
    run = _run_of(options, source)
    begins_there = run.target is None
    if not begins_there or source.capabilities.all_sizes == "completions":
        # These chains know more than tiers and theta, and have to find that first.
        # They also forget their start more slowly than chains over tiers alone.
        sampler = replace(sampler, warmup=None, thin=4 * sweeps_per_draw)
        run = _run_of(replace(options, sampler=sampler), source)
    begin = (lambda _: state) if begins_there else run.start
    ran = run_chain(1, begin, run.n_lines, run.make_sampler(), run.schedule, seed, None, "off")
    return DrawnTiers(ran.trace.labels + 1, None, str(options.prior_sizes))


def _divided_items(
    data: KnownData, posterior: Posterior, choice: Choice | None
) -> tuple[Item, ...]:
    """Return the items that people are divided about, in the tiers that were chosen or drawn."""
    if choice is not None:
        return choice.fit.divided
    tiers = posterior.tiers()
    divided = divided_tiers(data, tiers.label_array(data.items))
    return tuple(item for number in divided for item in tuple(tiers)[number])


@dataclass(frozen=True, eq=False)
class _Run:
    """How the draws are made."""

    options: SamplingOptions
    start: Callable[[np.random.Generator], State]
    make_sampler: Callable[[], TierSampler]
    n_lines: int | None = None
    target: Target | None = None

    @property
    def schedule(self) -> Schedule:
        """When the chain is where; independent draws are made all together."""
        at_once = self.options.sampler.method == "exact"
        schedule = Schedule(self.options.draws, self.options.warmup_or_default, self.options.thin)
        return replace(schedule, n_parts=1) if at_once else schedule


def _run_of(options: SamplingOptions, source: AnswerSource) -> _Run:
    """Decide how the draws are made: of all sizes at once if that is possible."""
    at_once = None if len(source.items) < 2 else source.capabilities.all_sizes
    run = None if at_once is None else _ENGINES[at_once](options, source)
    if run is not None:
        return run
    if options.concentration != "single":
        ordered_partitions.refuse_several_thetas()
    return _run_by_sizes(options, source)


def _run_of_battles(options: SamplingOptions, source: AnswerSource) -> _Run:
    walk = ordered_partitions.sampler_of_battles(options, source)
    return _Run(options.settled("mcmc"), walk.start, lambda: walk)


def _run_of_weak_orders(options: SamplingOptions, source: AnswerSource) -> _Run | None:
    if not ordered_partitions.can_draw(options):
        return None
    tiers = ordered_partitions.posterior_of(options, source)
    options = ordered_partitions.settle_method(options, tiers)
    sampler_of = partial(ordered_partitions.sampler_of, options, tiers)
    return _Run(options, tiers.start, sampler_of, tiers.n_lines)


def _run_of_completions(options: SamplingOptions, source: AnswerSource) -> _Run | None:
    if not augmented.can_draw(options):
        return None
    walk = augmented.sampler_of(options, source)
    return _Run(options.settled("mcmc"), walk.start, lambda: walk)


# What draws tiers of all sizes at once, or None where options ask for another way: a further engine
# is a further entry.
_ENGINES: dict[AllSizes, Callable[[SamplingOptions, AnswerSource], _Run | None]] = {
    "comparisons": _run_of_battles,
    "weak orders": _run_of_weak_orders,
    "completions": _run_of_completions,
}


def _run_by_sizes(options: SamplingOptions, source: AnswerSource) -> _Run:
    """Draw theta and tiers of given sizes, or of sizes that change step by step."""
    counted = source.counted() if options.sampler.likelihood == "exact" else source
    target = Target(counted, as_theta_prior(options.priors.theta), options.prior_sizes)
    options = _settled(options, source, target)
    _refuse_islands(options)
    start = partial(random_state, target, options.sizes)
    return _Run(options, start, partial(make_sampler, options, target), target=target)


@dataclass(frozen=True)
class _Model:
    """The model whose tiers are drawn, and what it was compared with, as plain values."""

    family: Family
    distance: str | Distance | None
    concentration: PosteriorConcentration
    compared: Mapping[str, Any] = field(default_factory=dict)


def _chosen_model(
    data: KnownData,
    family: FamilyChoice,
    distance: str | Distance | None,
    concentration: PosteriorConcentration | None,
    choice: Choice | None,
    options: SamplingOptions,
) -> _Model:
    """Return the model that was named, or what describes the data best where that is left open."""
    open_distance = distance is None or (isinstance(distance, str) and distance == "auto")
    if choice is not None:
        if choice.concentration == "place":
            raise InputError(
                "tiers cannot be drawn with one theta per place",
                [use(concentration="single"), use(concentration="tier")],
            )
        return _Model(
            choice.family,
            choice.distance or None,
            choice.concentration,
            _compared(choice, data.items, options),
        )
    if family == "luce" or not open_distance:
        return _Model("luce" if family == "luce" else "mallows", distance, options.concentration)
    if options.concentration == "tier":
        return _Model("mallows", data.only_distance or "inversions", "tier")
    if options.sizes is not None:
        if distance == "auto":
            raise InputError(
                "distances can be compared only with open sizes",
                [use(distance="kendall"), drop("sizes")],
            )
        return _Model("mallows", None, options.concentration)
    if options.is_for_mallows or "luce" not in data.families:
        family = "mallows"
    if family == "mallows" and distance is None:
        return _Model("mallows", None, options.concentration)
    # The seed is fixed: the draws of a run that is resumed must be those of the same model.
    found = choose(
        data,
        family=family,
        concentration=concentration if ordered_partitions.can_draw(options) else "single",
        priors=options.priors,
        progress="off",
        rng=0,
    )
    several = found.concentration == "tier"
    return _Model(
        found.family,
        found.distance or None,
        "tier" if several else "single",
        _compared(found, data.items, options),
    )


def _compared(choice: Choice, items: tuple[Item, ...], options: SamplingOptions) -> dict[str, Any]:
    """Return what was compared, how far others are behind, and the best tiers, as plain values."""
    families = choice.search.families
    facts: dict[str, Any] = {
        "compared": [[one.name, one.behind] for one in families],
        "choice": choice.sentence(),
    }
    if options.sizes is None:
        # Of many items, no draw may be as probable as the tiers that the search found.
        facts["most_probable_tiers"] = (choice.fit.tiers.label_array(items) + 1).tolist()
    return facts


def _settled(options: SamplingOptions, source: AnswerSource, target: Target) -> SamplingOptions:
    """Settle what was left to "auto", and refuse what does not go with these answers."""
    n_items, n_draws = len(source.items), options.chains * options.draws
    known = source.is_known(options.sizes or (1,) * n_items)
    if known and options.sampler.completions != "auto":
        raise InputError(
            "these answers determine their blocks, so there is nothing to complete",
            [drop("completions")],
        )
    by_distance = (
        depends_on_distance_only(source, options.sizes) and options.sampler.completions == "auto"
    )
    if not known and (
        options.sampler.exchange is not None or options.sampler.likelihood == "pseudo"
    ):
        raise InputError(
            "these answers do not determine which items lie in which tier-sized block",
            [drop("theta_update", "likelihood")],
        )
    if not by_distance:
        if _can_be_listed(options, target):
            return options.settled("exact")
        if options.sampler.needs_chain or options.sampler.method == "exact":
            raise InputError(
                "these answers do not determine which items lie in which tier-sized block",
                [drop("method", "theta_update", "likelihood")],
            )
        return options.settled("mcmc")
    if options.sampler.method == "exact":
        exact.refuse_too_many_steps(options.sizes, n_items, n_draws)
        return options.settled("exact")
    of_all_sizes = options.sizes is None
    limit = exact.AFFORDABLE_STEPS_OF_ALL_SIZES if of_all_sizes else exact.AFFORDABLE_STEPS
    affordable = exact.is_affordable(options.sizes, n_items, n_draws, limit)
    if options.sampler.method == "auto" and affordable and not options.sampler.needs_chain:
        return options.settled("exact")
    if not known:
        # The moves that are made given theta take the whole distance to be known.
        sampler = replace(options.sampler, theta_update="integrated")
        return replace(options, sampler=sampler).settled("mcmc")
    integrated = options.sizes is not None and options.sampler.method == "auto"
    return options.settled("mcmc", "integrated" if integrated else "exact")


def _can_be_listed(options: SamplingOptions, target: Target) -> bool:
    """Whether all tiers can be listed in seconds, and nothing asks for a chain."""
    sampler = options.sampler
    if sampler.completions != "auto" or sampler.method == "mcmc" or sampler.needs_chain:
        return False
    return listed.is_affordable(target, options.sizes)


def _refuse_islands(options: SamplingOptions) -> None:
    """Refuse a prior under which a chain cannot get from some sizes to others."""
    prior = options.prior_sizes
    if (
        options.sizes is not None
        or options.sampler.method == "exact"
        or not isinstance(prior, Mapping)
    ):
        return
    if not are_connected([sizes for sizes, share in prior.items() if share > 0]):
        raise InputError(
            "a chain moves single items and splits or merges tiers, and these moves do not "
            "connect all sizes that the prior allows",
            [
                "list sizes between them too",
                use(sampler=grouped("Sampler", method="exact")),
                instead("search", command="search", criterion="evidence"),
            ],
        )


def _warn(posterior: Posterior, target: Target | None, options: SamplingOptions) -> None:
    """Tell the user what to be careful with."""
    odds = posterior.single_tier_log_odds
    if odds is not None and abs(odds) < _DOUBTFUL_ODDS * odds.standard_error:
        warnings.warn(
            f"it is not clear whether there is a single tier: its log odds are {odds:.2g} with a "
            f"standard error of {odds.standard_error:.2g}",
            TierwiseWarning,
            stacklevel=3,
        )
    if options.sampler.method == "mcmc":
        for problem in posterior.diagnostics().problems:
            warnings.warn(problem, TierwiseWarning, stacklevel=3)
    if target is None or options.sizes is None or options.sampler.exchange is not None:
        return
    if options.sampler.likelihood == "pseudo":
        return
    sized = target.at(options.sizes)
    estimate = sized.partition.log_value(float(posterior.thetas.mean()))
    error = target.n_rankings * estimate.standard_error
    if error > _MOST_ERROR:
        warnings.warn(
            f"the partition function of sizes {options.sizes} is estimated, so the "
            f"log-likelihood has a standard error of {error:.2g}. Theta may be biased; "
            "tiers given theta are not. Sizes with an exact partition function avoid this",
            TierwiseWarning,
            stacklevel=3,
        )
