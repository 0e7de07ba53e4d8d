"""fit: the best tiers and theta for given sizes, with a proof where possible."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isinf, lgamma
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._util.provenance import Stopwatch
from tierwise._util.random import RandomSource, as_generator
from tierwise._util.types import Item
from tierwise.consensus.find import find_consensus
from tierwise.consensus.result import Consensus
from tierwise.consensus.subsets import subset_work
from tierwise.data.counts import BlockCounts, Counts, block_counts, blocks_are_known, pair_counts
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.data.scan import RankingScan
from tierwise.distances.base import Distance
from tierwise.distances.named import get_distance
from tierwise.errors import InputError
from tierwise.fitting.agreement import agreement_of_counts
from tierwise.fitting.result import Fit, Reference
from tierwise.partition.base import PartitionFunction
from tierwise.partition.choose import DEFAULT_BUDGET, partition_function
from tierwise.partition.choose import Method as PartitionMethod
from tierwise.theta.estimate import (
    ThetaEstimate,
    ThetaMethod,
    check_confidence,
    check_theta_method,
    estimate_theta,
    iterate_theta,
)
from tierwise.tiers.ordered_partition import Tiers
from tierwise.tiers.sizes import Sizes, check_sizes, log_number_of_tiers

Likelihood: TypeAlias = Literal["exact", "pseudo"]

# The strict consensus is there for comparison: it must not take much longer than the fit itself.
MOST_WORK_FOR_COMPARISON = 50_000_000


@dataclass(frozen=True)
class Settings:
    """How to fit: everything that `fit` takes besides data, sizes and distance.

    Where many sizes are compared, ``partition_seed`` makes the errors of their estimated partition
    functions go together, and ``partition_budget`` says how soon these are estimated.
    """

    method: str = "auto"
    theta_method: ThetaMethod = "exact"
    partition_method: PartitionMethod = "auto"
    likelihood: Likelihood = "exact"
    time_limit: float = 60.0
    confidence: float = 0.95
    partition_seed: int | None = None
    partition_budget: float = DEFAULT_BUDGET

    def __post_init__(self) -> None:
        check_theta_method(self.theta_method)
        check_confidence(self.confidence)
        if self.likelihood not in ("exact", "pseudo"):
            raise InputError(f'likelihood must be "exact" or "pseudo"; got {self.likelihood!r}')


@dataclass(frozen=True)
class Solution:
    """The best tiers and theta for given sizes, before they get their names back."""

    consensus: Consensus
    theta: ThetaEstimate
    log_likelihood: float
    log_likelihood_error: float
    partition_method: str
    log_completions: float = 0.0
    mistake_probability: float | None = None
    mistake_interval: tuple[float, float] | None = None


def fit(
    data: Rankings | RankingScan | Counts | Preferences,
    sizes: Iterable[int],
    distance: str | Distance = "kendall",
    *,
    method: str = "auto",
    theta_method: ThetaMethod = "exact",
    partition_method: PartitionMethod = "auto",
    likelihood: Likelihood = "exact",
    time_limit: float = 60.0,
    confidence: float = 0.95,
    rng: RandomSource = None,
) -> Fit:
    """Find the tiers of given sizes, and theta, that make the rankings most probable.

    Parameters
    ----------
    data
        The rankings, in memory or in files (`Rankings.scan`), or counts of them, or pairwise
        preferences. Where answers leave open which items lie in which tier-sized block of places,
        the likelihood is that of all complete orderings that agree with them: summed over exactly
        where that is affordable, as for lists of the best items, and drawn at random elsewhere.
    sizes
        How many items each tier holds, best tier first.
    distance
        "kendall", "hamming", "footrule" or "spearman".
    method
        How to find the tiers: "assignment" (additive distances), "subsets", "milp", "annealing",
        or "auto", which takes one that proves its answer where that is affordable.
    theta_method
        "exact" solves the likelihood equation; "monte-carlo" is the paper's iteration.
    partition_method
        How to find the partition function; see `log_partition`. "importance" is the paper's.
    likelihood
        "pseudo" maximises the paper's pseudo-likelihood, a cheap approximation, instead.
    time_limit
        Seconds that the integer program may take.
    confidence
        Level of the confidence interval of theta.
    rng
        Seed or generator, for the methods that draw.

    Returns
    -------
    Fit
        Tiers, theta, how good they are, whether that is proved, and the strict consensus and no
        tiers at all for comparison.

    Examples
    --------
    >>> import tierwise as tw
    >>> found = tw.fit(tw.load_political_goals(), sizes=(2, 2))
    >>> found
    Fit('order ~ prices > say ~ speech', theta=0.5345, distance='kendall', criterion=-6430.90)
    >>> found.optimal
    True
    """
    watch = Stopwatch()
    checked = check_sizes(sizes, len(data.items))
    measure = get_distance(distance)
    if isinstance(data, RankingScan):
        data = data.condensed()
    settings = Settings(method, theta_method, partition_method, likelihood, time_limit, confidence)
    generator = as_generator(rng)
    solution = solve_sizes(data, checked, measure, settings, generator)
    consensus = solution.consensus
    shares = agreement_of_counts(pair_counts(data), consensus.labels)
    return Fit(
        tiers=named_tiers(consensus.labels, data.items),
        sizes=checked,
        theta=solution.theta.value,
        theta_estimate=solution.theta,
        distance=measure.name,
        likelihood=likelihood,
        total_distance=consensus.total,
        log_likelihood=solution.log_likelihood,
        log_likelihood_error=solution.log_likelihood_error,
        criterion=solution.log_likelihood - log_number_of_tiers(checked),
        agreement=shares.overall,
        agreement_by_tier=shares,
        n_rankings=data.n_rankings,
        log_completions=solution.log_completions,
        method=consensus.method,
        partition_method=solution.partition_method,
        optimal=consensus.optimal,
        gap=consensus.gap,
        alternatives=tuple(named_tiers(labels, data.items) for labels in consensus.alternatives),
        n_optima=consensus.n_optima,
        references=_references(data, checked, measure, settings, generator),
        mistake_probability=solution.mistake_probability,
        mistake_interval=solution.mistake_interval,
        pairwise=isinstance(data, Preferences),
        provenance=watch.provenance(rng),
    )


def solve_sizes(
    data: Rankings | Counts | Preferences,
    sizes: Sizes,
    distance: Distance,
    settings: Settings,
    rng: np.random.Generator,
) -> Solution:
    """Find the best tiers and theta for given sizes, whatever the answers leave open."""
    if isinstance(data, Counts) or blocks_are_known(data, sizes):
        return solve(data, block_counts(data, sizes), distance, settings, rng)
    from tierwise.fitting.solve import solve_incomplete

    return solve_incomplete(data, sizes, distance, settings, rng)


def solve(
    data: Rankings | Counts,
    blocks: BlockCounts,
    distance: Distance,
    settings: Settings,
    rng: np.random.Generator,
) -> Solution:
    """Find the best tiers and theta for the sizes that the blocks have."""
    consensus = find_consensus(
        distance.costs(blocks),
        blocks.sizes,
        method=settings.method,
        rng=rng,
        time_limit=settings.time_limit,
    )
    if settings.likelihood == "pseudo":
        from tierwise.fitting.pseudo import solve_pseudo

        return solve_pseudo(data, blocks, distance, consensus, settings.confidence)
    partition = make_partition(blocks.sizes, distance, settings, rng)
    return solve_theta(blocks, consensus, partition, settings, rng)


def make_partition(
    sizes: Sizes, distance: Distance, settings: Settings, rng: np.random.Generator
) -> PartitionFunction:
    """Return the partition function that the settings ask for."""
    seed = settings.partition_seed
    return partition_function(
        sizes,
        distance,
        method=settings.partition_method,
        budget=settings.partition_budget,
        rng=rng if seed is None else seed,
    )


def solve_theta(
    blocks: BlockCounts,
    consensus: Consensus,
    partition: PartitionFunction,
    settings: Settings,
    rng: np.random.Generator,
) -> Solution:
    """Find theta for the tiers of a consensus, and the log-likelihood of both."""
    mean_distance = consensus.total / blocks.n_rankings
    if settings.theta_method == "exact":
        theta = estimate_theta(
            partition, mean_distance, blocks.n_rankings, confidence=settings.confidence
        )
    else:
        theta = iterate_theta(
            partition, mean_distance, blocks.n_rankings, confidence=settings.confidence, rng=rng
        )
    if isinf(theta.value):
        # All orderings that agree with the tiers are equally probable, all others impossible.
        log_partition, error = sum(lgamma(size + 1) for size in blocks.sizes), 0.0
        weighted_distance = 0.0
    else:
        estimate = partition.log_value(theta.value)
        log_partition, error = float(estimate), estimate.standard_error
        weighted_distance = theta.value * consensus.total
    return Solution(
        consensus=consensus,
        theta=theta,
        log_likelihood=(
            blocks.log_completions - weighted_distance - blocks.n_rankings * log_partition
        ),
        log_likelihood_error=blocks.n_rankings * error,
        partition_method=partition.method,
        log_completions=blocks.log_completions,
    )


def named_tiers(labels: NDArray[np.int64], items: tuple[Item, ...]) -> Tiers:
    """Give tiers counted from 0 the names of their items."""
    return Tiers.from_labels((labels + 1).tolist(), items)


def _references(
    data: Rankings | Counts | Preferences,
    sizes: Sizes,
    distance: Distance,
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[Reference, ...]:
    """Fit what tiers must be compared to: the strict consensus, and no tiers at all."""
    strict_sizes = (1,) * len(data.items)
    costly = subset_work(strict_sizes).transitions > MOST_WORK_FOR_COMPARISON
    by_annealing = costly and not distance.rule(strict_sizes).additive
    method = "annealing" if by_annealing else "auto"
    named_sizes = {"strict consensus": strict_sizes, "no tiers": (len(data.items),)}
    return tuple(
        _reference(name, data, compared, distance, _with_method(settings, method), rng)
        for name, compared in named_sizes.items()
        if compared != sizes or name == "no tiers"
    )


def _reference(
    name: str,
    data: Rankings | Counts | Preferences,
    sizes: Sizes,
    distance: Distance,
    settings: Settings,
    rng: np.random.Generator,
) -> Reference:
    solution = solve_sizes(data, sizes, distance, settings, rng)
    return Reference(
        name=name,
        tiers=named_tiers(solution.consensus.labels, data.items),
        theta=solution.theta.value,
        log_likelihood=solution.log_likelihood,
        log_likelihood_error=solution.log_likelihood_error,
        criterion=solution.log_likelihood - log_number_of_tiers(sizes),
        optimal=solution.consensus.optimal,
    )


def _with_method(settings: Settings, method: str) -> Settings:
    from dataclasses import replace

    return replace(settings, method=method, partition_method="auto", theta_method="exact")
