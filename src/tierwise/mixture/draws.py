"""sample_mixture: the posterior of shares, tiers and thetas of several groups."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise._random import RandomSource, spawn_seeds
from tierwise.distances import Distance, get_distance
from tierwise.errors import InputError
from tierwise.fit_result import plain_tiers
from tierwise.fitting import named_tiers
from tierwise.mixture.answers import answers_of
from tierwise.mixture.components import CountingWorkshop
from tierwise.mixture.estimation import fit_mixture
from tierwise.mixture.gibbs import Chain, run_chain
from tierwise.mixture.plans import Noise, SizesOfGroups, plans_of
from tierwise.mixture.result import Mixture
from tierwise.mixture.workshop import Component
from tierwise.parallel import run_tasks
from tierwise.priors import Gamma, ThetaPrior, as_theta_prior
from tierwise.progress import Progress
from tierwise.provenance import Provenance, Stopwatch
from tierwise.rankings import Rankings
from tierwise.tiers import Tiers

if TYPE_CHECKING:
    from tierwise.posterior.diagnostics import Diagnostics

# A group in perfect agreement has an infinite theta by maximum likelihood; a chain starts here.
_LARGEST_START = 5.0


@dataclass(frozen=True, eq=False, repr=False)
class MixtureDraws:
    """Draws from the posterior of several groups, each with the same meaning in all draws.

    Attributes
    ----------
    shares, thetas : numpy.ndarray
        ``[chain, draw, group]``; theta of a single tier has no meaning.
    labels : numpy.ndarray
        ``[chain, draw, group, item]``: tier of each item, 1 being the best.
    log_likelihood : numpy.ndarray
        ``[chain, draw]``.
    pattern_memberships : numpy.ndarray
        Posterior probability of each group for each distinct answer.
    n_switches : int
        How often groups traded places in a chain and were put back.
    start : Mixture
        The maximum, from which the chains started and from which the groups have their order.
    provenance : Provenance
        Version, seed and time.
    """

    shares: NDArray[np.float64]
    thetas: NDArray[np.float64]
    labels: NDArray[np.int64]
    log_likelihood: NDArray[np.float64]
    pattern_memberships: NDArray[np.float64]
    n_switches: int
    start: Mixture
    provenance: Provenance

    @property
    def memberships(self) -> NDArray[np.float64]:
        """Posterior probability that each answer (row) belongs to each group (column)."""
        return self.pattern_memberships[self.start.pattern_of]

    def tier_probabilities(self, group: int) -> NDArray[np.float64]:
        """Return the probability that each item (row) is of each tier (column) of a group.

        Parameters
        ----------
        group
            The number of the group, 1 being the first.
        """
        labels = self._labels(group)
        numbers = np.arange(1, len(self.start.groups[group - 1].sizes) + 1)
        shares: NDArray[np.float64] = (labels[:, :, None] == numbers).mean(axis=0)
        return shares

    def tiers(self, group: int) -> tuple[Tiers, float]:
        """Return the most frequent tiers of a group, and their share of the draws.

        Parameters
        ----------
        group
            The number of the group, 1 being the first.
        """
        distinct, counts = np.unique(self._labels(group), axis=0, return_counts=True)
        best = int(counts.argmax())
        items = self.start.groups[group - 1].tiers.items
        return named_tiers(distinct[best] - 1, items), float(counts[best] / counts.sum())

    def _labels(self, group: int) -> NDArray[np.int64]:
        if not 1 <= group <= len(self.start.groups):
            raise InputError(f"there is no group {group}: they are 1 to {len(self.start.groups)}")
        return self.labels[:, :, group - 1].reshape(-1, self.labels.shape[-1])

    def diagnostics(self) -> "Diagnostics":
        """Tell whether the chains agree, and how many independent draws theirs are worth."""
        from tierwise.posterior.diagnostics import diagnose

        numbers = {"log-likelihood": self.log_likelihood}
        for position, (name, group) in enumerate(
            zip(self.start.names(), self.start.groups, strict=True)
        ):
            numbers[f"share of {name}"] = self.shares[:, :, position]
            if len(group.sizes) > 1:
                numbers[f"theta of {name}"] = self.thetas[:, :, position]
        return diagnose(numbers, np.empty((*self.log_likelihood.shape, 0), dtype=np.int64), [])

    def interval(
        self, values: NDArray[np.float64], probability: float = 0.95
    ) -> NDArray[np.float64]:
        """Return the central interval of ``shares`` or ``thetas``: ``[end, group]``."""
        if not 0 < probability < 1:
            raise InputError(f"probability must lie between 0 and 1; got {probability:g}")
        tail = (1 - probability) / 2
        ends: NDArray[np.float64] = np.quantile(
            values.reshape(-1, values.shape[-1]), [tail, 1 - tail], axis=0
        )
        return ends

    def summary(self) -> str:
        """Return shares, thetas and tiers of the groups as text for people."""
        n_chains, n_draws = self.log_likelihood.shape
        lines = [f"{n_draws:,} draws from each of {n_chains} chains; intervals hold 95%", ""]
        shares, thetas = self.interval(self.shares), self.interval(self.thetas)
        for position, (name, group) in enumerate(
            zip(self.start.names(), self.start.groups, strict=True)
        ):
            share = self.shares[:, :, position].mean()
            low, high = shares[:, position]
            text = f"{name}: {share:.1%} ({low:.1%} to {high:.1%})"
            if len(group.sizes) > 1:
                theta = self.thetas[:, :, position].mean()
                tiers, frequency = self.tiers(position + 1)
                text += (
                    f", theta {theta:.4f} ({thetas[0, position]:.4f} to {thetas[1, position]:.4f})"
                )
                text += f"\n  {tiers}  ({frequency:.0%} of draws)"
            lines.append(text)
        if n_chains == 1:
            return "\n".join([*lines, "", "One chain has nothing to be compared with: run more."])
        found = self.diagnostics()
        verdict = f"largest R-hat {found.worst_r_hat.r_hat:.3f} ({found.worst_r_hat.name})"
        return "\n".join([*lines, "", verdict, *(f"Beware: {text}." for text in found.problems)])

    def __repr__(self) -> str:
        n_chains, n_draws = self.log_likelihood.shape
        return (
            f"MixtureDraws({self.start.n_groups} groups, {n_chains} chains of {n_draws} draws, "
            f"mean shares {self.shares.mean(axis=(0, 1)).round(3).tolist()})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what the draws say as plain values, as in JSON."""
        shares, thetas = self.interval(self.shares), self.interval(self.thetas)
        groups = []
        for position, group in enumerate(self.start.groups):
            tiers, frequency = self.tiers(position + 1)
            groups.append(
                {
                    "kind": group.kind,
                    "share": float(self.shares[:, :, position].mean()),
                    "share_interval": shares[:, position].tolist(),
                    "theta": float(self.thetas[:, :, position].mean()),
                    "theta_interval": thetas[:, position].tolist(),
                    "tiers": plain_tiers(tiers),
                    "tiers_probability": frequency,
                    "tier_probabilities": self.tier_probabilities(position + 1).tolist(),
                }
            )
        return {
            "n_groups": self.start.n_groups,
            "groups": groups,
            "memberships": self.memberships.tolist(),
            "diagnostics": self.diagnostics().to_dict(),
            "n_switches": self.n_switches,
            "provenance": self.provenance.to_dict(),
        }


def sample_mixture(
    rankings: Rankings,
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
    rankings
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

    Examples
    --------
    >>> import tierwise as tw
    >>> drawn = sample_mixture(
    ...     tw.load_political_goals(), 2, sizes=(2, 2), chains=2, draws=200, rng=1
    ... )
    >>> drawn.tiers(1)
    (Tiers('order ~ prices > say ~ speech'), 1.0)
    """
    watch = Stopwatch()
    for name, value, least in (("chains", chains, 1), ("draws", draws, 1), ("warmup", warmup, 0)):
        if value < least:
            raise InputError(f"{name} must be at least {least}; got {value}")
    if not 0 < concentration < inf:
        raise InputError(f"concentration must be a positive number; got {concentration}")
    if rankings.weights.dtype.kind != "i":
        raise InputError("sampling memberships needs whole weights: each ranking is in one group")
    if isinstance(n_groups, Iterable):
        raise InputError(f"n_groups must be one number; got {n_groups!r}: compare by fit_mixture")
    (plans,) = plans_of(len(rankings.items), n_groups, sizes, noise).values()
    if answers_of(rankings, plans).open:
        raise InputError(
            "sampling needs answers that say which items lie in which tier-sized block: complete "
            "ones, or sizes whose last tier holds all items that any answer leaves out"
        )
    measure, prior = get_distance(distance), as_theta_prior(prior_theta)
    start_seed, chain_seed = spawn_seeds(rng, 2)
    start = fit_mixture(
        rankings,
        n_groups,
        sizes,
        measure,
        noise=noise,
        starts=starts,
        workers=workers,
        progress=progress,
        rng=start_seed,
    )
    answers = answers_of(rankings, {group.sizes for group in start.groups})
    workshop = CountingWorkshop(answers, measure)
    components = []
    for group in start.groups:
        theta = min(group.theta, _LARGEST_START)
        log_partition = float(workshop.partition(group.sizes).log_value(theta))
        labels = group.tiers.label_array(rankings.items)
        components.append(Component(group.sizes, labels, theta, log_partition))
    chain = Chain(
        answers, measure, tuple(components), start.shares, prior, concentration, warmup, draws
    )
    traces = run_tasks(
        run_chain,
        [(chain, seed) for seed in spawn_seeds(chain_seed, chains)],
        description="Sampling groups",
        workers=workers,
        progress=progress,
    )
    return MixtureDraws(
        shares=np.array([trace.shares for trace in traces]),
        thetas=np.array([trace.thetas for trace in traces]),
        labels=np.array([trace.labels for trace in traces]) + 1,
        log_likelihood=np.array([trace.log_likelihood for trace in traces]),
        pattern_memberships=np.mean([trace.memberships for trace in traces], axis=0),
        n_switches=sum(trace.n_switches for trace in traces),
        start=start,
        provenance=watch.provenance(rng),
    )
