"""sample_mixture: the posterior of shares, memberships, tiers and thetas of groups."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from tierwise._util.checks import RandomSource, check_count, check_number, spawn_seeds
from tierwise._util.provenance import Stopwatch
from tierwise._util.tasks import Progress, run_tasks
from tierwise.data.counts import blocks_are_known
from tierwise.data.kinds import check_data
from tierwise.data.rankings import Rankings
from tierwise.distances import Distance, get_distance
from tierwise.errors import InputError, TierwiseWarning
from tierwise.mixture.draws import MixtureDraws, assemble
from tierwise.mixture.em import GroupSizes
from tierwise.mixture.fit import Noise, SizesOfGroups, fit_mixture, sizes_of_groups
from tierwise.mixture.gibbs import MixtureTarget, run_chain
from tierwise.mixture.groups import distinct_answers
from tierwise.model.priors import Gamma, ThetaPrior, as_theta_prior

# A group in perfect agreement has an infinite theta by maximum likelihood; a chain starts here.
_LARGEST_START = 5.0


def sample_mixture(
    data: Rankings,
    n_groups: int,
    sizes: SizesOfGroups = "search",
    distance: str | Distance = "kendall",
    *,
    noise: Noise = "none",
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 500,
    prior_theta: ThetaPrior | Callable[[Any], Any] = Gamma(2.0, 2.0),  # noqa: B008 - frozen
    concentration: float = 1.0,
    starts: int = 20,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> MixtureDraws:
    """Draw shares, tiers, thetas and memberships of several groups from their posterior.

    A Gibbs sampler: who belongs where, then the shares, then each group's tiers (by Metropolis
    swaps) and theta (from its exact distribution given the tiers). Chains start at the groups that
    `fit_mixture` finds, and groups are named after those in every draw.

    Parameters
    ----------
    data
        The rankings, with whole weights. Incomplete answers must leave no doubt about which items
        lie in which tier-sized block of places.
    n_groups
        The number of groups.
    sizes
        As for `fit_mixture`; "search" keeps to the sizes that are found there.
    distance, noise, starts, workers, progress
        As for `fit_mixture`.
    chains, draws, warmup
        Number of chains, draws to keep from each, and draws to throw away before.
    prior_theta
        Prior of every theta: `Gamma`, or a function that gives the log density.
    concentration
        Parameter of the symmetric Dirichlet prior of the shares.
    rng
        Seed or generator.

    Returns
    -------
    MixtureDraws
        The draws. A `TierwiseWarning` says so, and what to do, where the chains have not settled
        or are too short.

    Examples
    --------
    >>> import tierwise as tw
    >>> one = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"]]), theta=3.0)
    >>> other = tw.ClusteredMallows(tw.Tiers([["c"], ["b", "a"]]), theta=3.0)
    >>> rankings = tw.Rankings.concat([one.sample(60, rng=1), other.sample(40, rng=2)])
    >>> drawn = sample_mixture(rankings, 2, sizes=(1, 2), draws=400, warmup=100, rng=1)
    >>> drawn.tiers(1)
    (Tiers('a > b ~ c'), 1.0)
    >>> drawn.problems
    ()
    """
    watch = Stopwatch()
    data = check_data(data, "sample_mixture", Rankings)
    chains = check_count("chains", chains)
    draws = check_count("draws", draws)
    warmup = check_count("warmup", warmup, least=0)
    concentration = check_number("concentration", concentration, above=0)
    if isinstance(n_groups, Iterable):
        raise InputError(f"n_groups must be one number; got {n_groups!r}: compare by fit_mixture")
    if data.weights.dtype.kind != "i":
        raise InputError("sampling memberships needs whole weights: each ranking is in one group")
    (wanted,) = sizes_of_groups(len(data.items), n_groups, sizes, noise).values()
    _refuse_open_answers(data, wanted)
    measure, prior = get_distance(distance), as_theta_prior(prior_theta)
    start_seed, chain_seed = spawn_seeds(rng, 2)
    start = fit_mixture(
        data,
        n_groups,
        sizes,
        measure,
        noise=noise,
        starts=starts,
        workers=workers,
        progress=progress,
        rng=start_seed,
    )
    target = MixtureTarget(distinct_answers(data), measure, prior, concentration)
    components = tuple(
        target.fitter.component(
            group.sizes, group.tiers.label_array(data.items), min(group.theta, _LARGEST_START)
        )
        for group in start.groups
    )
    traces = run_tasks(
        run_chain,
        [
            (target, components, start.shares, warmup, draws, seed)
            for seed in spawn_seeds(chain_seed, chains)
        ],
        description="Sampling groups",
        workers=workers,
        progress=progress,
    )
    settings = {
        "distance": measure.name,
        "prior_theta": str(prior),
        "concentration": concentration,
        "warmup": warmup,
    }
    drawn = assemble(traces, start, settings, watch.provenance(rng))
    for problem in drawn.problems:
        warnings.warn(problem, TierwiseWarning, stacklevel=2)
    return drawn


def _refuse_open_answers(data: Rankings, wanted: tuple[GroupSizes, ...]) -> None:
    """Refuse answers that do not say which items lie in which block, for sizes that may occur."""
    for sizes in set(wanted):
        strict = (1,) * len(data.items)
        if not blocks_are_known(data, strict if sizes == "search" else sizes):
            raise InputError(
                "sampling needs answers that say which items lie in which tier-sized block: "
                "complete ones, or sizes whose last tier holds all items that any answer leaves out"
            )
