"""Independent draws from the posterior, without a chain, by summing over all tiers.

Sizes are drawn by their evidence, theta from its distribution given the sizes, and tiers given both
by the recursion over sets of items.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._kernels.evidence import weigh_tiers
from tierwise._kernels.subset_draws import draw_tiers
from tierwise._kernels.subsets import least_costs
from tierwise.consensus.subsets import subset_work
from tierwise.errors import InputError, TooLargeError
from tierwise.theta.series import ThetaSeries
from tierwise.tiers.sizes import Sizes, compositions, log_number_of_tiers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.posterior.state import State
    from tierwise.posterior.target import SizedTarget, Target
    from tierwise.theta.density import ThetaDensity

# Thetas at which all tiers are summed, at first; what lies between is interpolated.
_NODES = 32
_TOLERANCE = 1e-11
# What a tier at a larger excess distance adds is below the rounding error.
_NEGLIGIBLE = 40.0
# Steps of the recursion over sets that take some seconds, and some minutes.
AFFORDABLE_STEPS = 1e9
MOST_STEPS = 1e11
_MOST_ITEMS_WITHOUT_SIZES = 14
_LARGEST_MEMORY = 2**30


@dataclass(frozen=True, eq=False)
class SizedPosterior:
    """The exact posterior for tiers of given sizes: theta with all tiers summed over.

    Attributes
    ----------
    sized
        The posterior for these sizes.
    theta
        Density of theta.
    log_evidence
        Log of prior probability of the sizes times probability of the rankings given the sizes.
    """

    sized: SizedTarget
    least: NDArray[np.float64]
    theta: ThetaDensity
    log_evidence: float


def sum_over_tiers(sized: SizedTarget) -> SizedPosterior:
    """Sum over all tiers of given sizes, and integrate over theta."""
    problem = sized.problem
    sizes = sized.sizes_array
    least = least_costs(problem.linear, problem.pairs_transposed, sizes)
    log_tiers = log_number_of_tiers(sized.sizes)

    def log_sum(thetas: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log of the sum over tiers, relative to the best: between 0 and log of their number."""
        largest_excess = (_NEGLIGIBLE + log_tiers) / float(thetas[-1])
        weights = weigh_tiers(
            problem.linear, problem.pairs_transposed, sizes, least, thetas, largest_excess
        )
        log_weights: NDArray[np.float64] = np.log(weights)
        return log_weights

    def interpolated(thetas: NDArray[np.float64]) -> NDArray[np.float64]:
        low, high = float(thetas[0]), float(thetas[-1])
        series = ThetaSeries(log_sum, low, high, first_degree=_NODES, tolerance=_TOLERANCE)
        return series(thetas)

    theta = sized.theta.weighed_density(float(least[-1]), log_tiers, interpolated)
    return SizedPosterior(sized, least, theta, theta.log_integral + sized.log_prior)


@dataclass(frozen=True, eq=False)
class ExactPosterior:
    """The exact posterior: one entry a size vector that is possible."""

    entries: tuple[SizedPosterior, ...]
    probabilities: NDArray[np.float64]

    @classmethod
    def of(cls, target: Target, sizes: Sizes | None) -> ExactPosterior:
        """Sum over all tiers of given sizes, or over all tiers."""
        vectors = list(compositions(target.n_items)) if sizes is None else [sizes]
        possible = (target.at(vector) for vector in vectors)
        entries = [sum_over_tiers(sized) for sized in possible if np.isfinite(sized.log_prior)]
        if not entries:
            raise InputError("prior_sizes is -inf for all sizes: it must allow some")
        log_evidence = np.array([entry.log_evidence for entry in entries])
        weights = np.exp(log_evidence - log_evidence.max())
        return cls(tuple(entries), weights / weights.sum())

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        return np.cumsum(self.probabilities)

    def sizes_probabilities(self) -> dict[Sizes, float]:
        """Posterior probability of each size vector, the most probable first."""
        pairs = zip((entry.sized.sizes for entry in self.entries), self.probabilities, strict=True)
        return dict(sorted(((sizes, float(share)) for sizes, share in pairs), key=_by_share))

    def facts(self) -> dict[str, Any]:
        """Return what is known exactly, as plain values."""
        if len(self.entries) == 1:
            return {"log_evidence": self.entries[0].log_evidence}
        probable = [
            [list(sizes), share] for sizes, share in self.sizes_probabilities().items() if share > 0
        ]
        return {"sizes_probabilities": probable}

    def __call__(self, state: State, rng: np.random.Generator) -> State:
        """Draw sizes, theta and tiers, whatever the state was before."""
        cumulative = self._cumulative
        place = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
        entry = self.entries[min(int(place), len(self.entries) - 1)]
        sized, problem = entry.sized, entry.sized.problem
        theta = entry.theta.draw(rng)
        labels = draw_tiers(
            problem.linear,
            problem.pairs_transposed,
            sized.sizes_array,
            entry.least,
            np.array([theta]),
            rng,
        )[0]
        total = problem.total(labels)
        return state._replace(
            labels=labels,
            sizes=sized.sizes,
            total=total,
            theta=theta,
            log_posterior=sized.log_posterior(total),
        )


def is_affordable(sizes: Sizes | None, n_items: int, n_draws: int, limit: float) -> bool:
    """Whether exact draws stay within a number of steps; about 1e8 are done in a second."""
    if sizes is None and n_items > _MOST_ITEMS_WITHOUT_SIZES:
        return False
    vectors = compositions(n_items) if sizes is None else [sizes]
    work = [subset_work(vector) for vector in vectors]
    steps = [entry.steps for entry in work]
    in_memory = max(entry.memory for entry in work) <= _LARGEST_MEMORY
    return in_memory and _NODES * sum(steps) + n_draws * max(steps) <= limit


def refuse_too_many_steps(sizes: Sizes | None, n_items: int, n_draws: int) -> None:
    """Raise if exact draws are beyond reach."""
    if not is_affordable(sizes, n_items, n_draws, MOST_STEPS):
        what = "all sizes" if sizes is None else f"sizes {sizes}"
        raise TooLargeError(
            f"exact draws for {what} sum over too many tiers of {n_items} items: use "
            'method="mcmc", or fewer draws'
        )


def _by_share(pair: tuple[Sizes, float]) -> float:
    return -pair[1]
