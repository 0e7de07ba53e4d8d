"""sample_posterior: tiers, sizes and theta with their uncertainty."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.provenance import Stopwatch
from tierwise._util.random import RandomSource, spawn_seeds
from tierwise._util.tasks import run_tasks
from tierwise.data.counts import (
    BlockCounts,
    Counts,
    block_counts,
    blocks_are_known,
    count_open_answers,
)
from tierwise.data.preferences import Preferences
from tierwise.data.scan import RankingScan
from tierwise.distances.named import get_distance
from tierwise.errors import InputError, TierwiseWarning
from tierwise.model.priors import (
    Beta,
    Gamma,
    SizesPrior,
    ThetaPrior,
    as_theta_prior,
    log_prior_of_sizes,
)
from tierwise.posterior import exact
from tierwise.posterior.assembly import assemble
from tierwise.posterior.chain import Schedule, run_chain
from tierwise.posterior.checkpoint import Checkpoint, identity_of
from tierwise.posterior.open_target import OpenTarget
from tierwise.posterior.samplers import facts_of, make_sampler
from tierwise.posterior.settings import (
    CompletionsMethod,
    PosteriorLikelihood,
    PosteriorMethod,
    Settings,
    ThetaUpdate,
)
from tierwise.posterior.sizes_moves import are_connected
from tierwise.posterior.target import Target, count_once
from tierwise.tiers.sizes import check_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    from tierwise._util.progress import Progress
    from tierwise.data.rankings import Rankings
    from tierwise.distances.base import Distance
    from tierwise.posterior.exchange import Auxiliary
    from tierwise.posterior.result import Posterior

# The paper's prior of theta.
DEFAULT_PRIOR = Gamma(2.0, 2.0)
DEFAULT_PRIOR_OF_MISTAKES = Beta(1.0, 3.0)
# An error of the log-likelihood that is felt in the posterior.
_MOST_ERROR = 0.1


def sample_posterior(
    data: Rankings | RankingScan | Counts | Preferences,
    sizes: Iterable[int] | None = None,
    distance: str | Distance = "kendall",
    *,
    chains: int = 4,
    draws: int = 1000,
    warmup: int | None = None,
    thin: int = 1,
    method: PosteriorMethod = "auto",
    theta_update: ThetaUpdate = "exact",
    auxiliary: Auxiliary = "exact",
    auxiliary_steps: int = 200,
    likelihood: PosteriorLikelihood = "exact",
    completions: CompletionsMethod = "auto",
    prior_theta: ThetaPrior | Callable[[Any], Any] = DEFAULT_PRIOR,
    prior_sizes: SizesPrior = "uniform",
    prior_mistakes: Beta = DEFAULT_PRIOR_OF_MISTAKES,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Posterior:
    """Draw tiers and theta, and sizes where they are not given, from their posterior.

    Parameters
    ----------
    data
        The rankings, in memory or in files (`Rankings.scan`), or counts of them, or preferences.
    sizes
        How many items each tier holds, best tier first. None leaves the sizes open.
    distance
        "kendall", "hamming", "footrule" or "spearman".
    chains, draws
        Number of chains, and of draws kept from each.
    warmup
        Iterations of each chain before its first draw; half the draws, and at least 500, if None.
    thin
        Iterations from one draw to the next.
    method
        "exact" draws independently, by summing over all tiers; "mcmc" runs Metropolis chains;
        "auto" is exact where affordable.
    theta_update
        How chains update theta: "exact" draws it from its conditional distribution, "integrated"
        moves tiers with theta integrated out, "exchange" is the paper's exchange algorithm.
    auxiliary, auxiliary_steps
        Where the exchange algorithm takes auxiliary rankings from: "exact" draws, or as in the
        paper the ends of Metropolis chains ("mcmc") of so many steps, which is approximate.
    likelihood
        "pseudo" puts the paper's pseudo-likelihood in the place of the likelihood.
    completions
        For answers that leave something open, what is done about the complete orderings behind
        them. "auto" sums over all of them where that is possible, and else draws them by
        "reinsert", which takes out each item and puts it back where it may be. "refill" draws them
        as in the paper, by proposing any of them.
    prior_theta
        Prior of theta: a distribution such as ``Gamma(2, 2)``, the default, or a function that
        gives the log density at theta, up to a constant.
    prior_sizes
        Prior of the sizes: "uniform"; "penalised", which makes sizes ``e`` times less probable with
        every further tier; probabilities by sizes, such as ``{(2, 2): 0.7, (1, 3): 0.3}``, others
        being impossible; or a function that gives the log prior probability of sizes. Tiers of the
        same sizes are equally probable.
    prior_mistakes
        Prior of the probability that an answer is mistaken, for preferences with ``cycles="keep"``.
    workers
        Number of processes; see `tierwise._util.tasks.run_tasks`. The answer does not depend on it.
    progress
        "auto", "off" or a function; see `tierwise._util.progress.track`.
    rng
        Seed or generator.
    checkpoint
        A folder in which the chains are kept while they run. The same call with the same folder
        resumes a run that was stopped, and gives the draws that it would have given.

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
    measure = get_distance(distance)
    settings = Settings(
        sizes=None if sizes is None else check_sizes(sizes, len(data.items)),
        distance=measure.name,
        chains=chains,
        draws=draws,
        warmup=warmup,
        thin=thin,
        method=method,
        theta_update=theta_update,
        auxiliary=auxiliary,
        auxiliary_steps=auxiliary_steps,
        likelihood=likelihood,
        completions=completions,
        prior_theta=prior_theta,
        prior_sizes=prior_sizes,
        prior_mistakes=prior_mistakes,
    )
    if isinstance(data, RankingScan):
        data = data.condensed()
    is_open = _is_open(data, settings)
    settings = _settled(settings, len(data.items), is_open=is_open)
    _refuse_islands(settings)
    target = _target(data, settings, measure, is_open=is_open)
    log_prior_of_sizes(prior_sizes, settings.sizes or (1,) * len(data.items))
    place = None if checkpoint is None else Checkpoint(Path(checkpoint))
    if place is None:
        seeds = spawn_seeds(rng, chains)
    else:
        seeds = place.seeds(_identity(settings, target), rng, chains)
    sampler = make_sampler(settings, target, data)
    schedule = Schedule(draws, settings.default_warmup, thin)
    # Chains that run one after the other tell how far they are; others only when they are done.
    one_by_one = workers in (None, 1)
    traces = run_tasks(
        run_chain,
        [
            (
                number,
                target,
                settings.sizes,
                sampler,
                schedule,
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
    posterior = assemble(
        traces,
        data.items,
        settings,
        facts_of(sampler),
        data.n_rankings,
        watch.provenance(rng),
    )
    _warn(posterior, target, settings)
    return posterior


def _is_open(data: Rankings | Counts | Preferences, settings: Settings) -> bool:
    """Tell whether the answers leave open which items lie in which block."""
    sizes = settings.sizes
    if (
        isinstance(data, Counts)
        or count_open_answers(data) == 0
        or (sizes and blocks_are_known(data, sizes))
    ):
        if settings.completions != "auto":
            raise InputError(
                "these answers leave no doubt about their blocks, so that there is nothing to "
                "complete: leave out completions"
            )
        return False
    if settings.needs_chain or settings.method == "exact":
        raise InputError(
            "these answers leave open which items lie in which tier-sized block: leave method, "
            "theta_update and likelihood as they are"
        )
    return True


def _refuse_islands(settings: Settings) -> None:
    """Refuse a prior under which a chain cannot get from some sizes to others."""
    prior = settings.prior_sizes
    if settings.sizes is not None or settings.method == "exact" or not isinstance(prior, Mapping):
        return
    if not are_connected([sizes for sizes, share in prior.items() if share > 0]):
        raise InputError(
            "a chain moves one item at a time, or cuts or joins tiers, and that does not lead from "
            "some of the sizes in prior_sizes to others: list sizes between them too, or use "
            'method="exact" or search(criterion="evidence")'
        )


def _target(
    data: Rankings | Counts | Preferences, settings: Settings, distance: Distance, *, is_open: bool
) -> Target:
    """Put together what the chains draw from."""
    priors = (as_theta_prior(settings.prior_theta), settings.prior_sizes)
    if isinstance(data, Preferences) or (is_open and not isinstance(data, Counts)):
        return OpenTarget(data, distance, *priors)
    counts = count_once(data) if settings.sizes is None else block_counts(data, settings.sizes)
    return Target(counts, distance, *priors)


def _settled(settings: Settings, n_items: int, *, is_open: bool) -> Settings:
    """Settle what was left to "auto"."""
    n_draws = settings.chains * settings.draws
    method: PosteriorMethod = "mcmc" if is_open else settings.method
    if method == "exact":
        exact.refuse_too_many_steps(settings.sizes, n_items, n_draws)
    if method == "auto":
        affordable = exact.is_affordable(settings.sizes, n_items, n_draws, exact.AFFORDABLE_STEPS)
        method = "exact" if affordable and not settings.needs_chain else "mcmc"
    if method == "exact":
        # Independent draws need neither warm-up nor thinning.
        return replace(settings, method="exact", warmup=0, thin=1)
    return replace(settings, method="mcmc", warmup=settings.default_warmup)


def _identity(settings: Settings, target: Target) -> str:
    """Return what tells one run from another, priors included."""
    thetas = np.geomspace(1e-6, 1e3, 50)
    n_items = target.n_items
    some_sizes = [(n_items,), (1,) * n_items, (1, n_items - 1), (n_items - 1, 1)]
    plain = replace(settings, prior_theta=Gamma(), prior_sizes="uniform")
    return identity_of(
        target.data.items,
        *_arrays(target.data),
        plain,
        target.prior_theta.log_density(thetas),
        [log_prior_of_sizes(target.prior_sizes, sizes) for sizes in some_sizes if min(sizes) > 0],
        sorted(target.prior_sizes.items()) if isinstance(target.prior_sizes, Mapping) else None,
    )


def _arrays(data: Rankings | Counts | BlockCounts | Preferences) -> list[np.ndarray[Any, Any]]:
    """Return what there is to know about the rankings."""
    if isinstance(data, Preferences):
        return [data.closure]
    if isinstance(data, BlockCounts):
        return [data.membership, data.precedence]
    if isinstance(data, Counts):
        return [data.joint]
    return [data.patterns, data.pattern_weights]


def _warn(posterior: Posterior, target: Target, settings: Settings) -> None:
    """Tell the user what to be careful with."""
    if settings.method == "mcmc":
        for problem in posterior.diagnostics().problems:
            warnings.warn(problem, TierwiseWarning, stacklevel=3)
    if settings.sizes is None or settings.theta_update == "exchange":
        return
    if settings.likelihood == "pseudo":
        return
    sized = target.at(settings.sizes)
    estimate = sized.partition.log_value(float(posterior.thetas.mean()))
    error = sized.n_rankings * estimate.standard_error
    if error > _MOST_ERROR:
        warnings.warn(
            f"the partition function of sizes {settings.sizes} is estimated, which gives the "
            f"log-likelihood a standard error of {error:.2g}: theta may be shifted, while tiers "
            "given theta are right; sizes for which partition_function is exact avoid this",
            TierwiseWarning,
            stacklevel=3,
        )
