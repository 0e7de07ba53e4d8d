"""Independent draws from the posterior, without a chain: forward filtering, backward sampling.

Sizes are drawn by their evidence, theta from its distribution given the sizes, and tiers given both
by the recursion over sets of items: forwards it sums, backwards a last tier is drawn and taken away
until nothing remains (as in Carter and Kohn, On Gibbs sampling for state space models, Biometrika
81, 1994).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._kernels.subsets import draw_tiers
from tierwise.consensus.subsets import subset_work
from tierwise.errors import InputError, TooLargeError, grouped, use
from tierwise.evidence.exact import NODES, SumOverTiers, sum_over_tiers
from tierwise.posterior.target import summed_over
from tierwise.tiers import Sizes, compositions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tierwise.posterior.chain import State, Trace
    from tierwise.posterior.target import SizedTarget, Target

# Steps of the recursion over sets that take about a second, some seconds, and some minutes. A chain
# over tiers of given sizes is one kernel, which in a second gives more than these draws do beyond.
AFFORDABLE_STEPS = 1e8
AFFORDABLE_STEPS_OF_ALL_SIZES = 1e9
MOST_STEPS = 1e11
_MOST_ITEMS_WITHOUT_SIZES = 14
_LARGEST_MEMORY = 2**30


@dataclass(frozen=True, eq=False)
class SizedPosterior:
    """The exact posterior for tiers of given sizes.

    Attributes
    ----------
    sized
        The posterior for these sizes.
    summed
        Theta with all tiers summed over.
    """

    sized: SizedTarget
    summed: SumOverTiers

    def draw_tiers(
        self, thetas: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw tiers at each theta, one row of labels for each."""
        problem = self.sized.problem
        order = np.argsort(thetas)
        labels = np.empty((len(thetas), problem.n_items), dtype=np.int64)
        labels[order] = draw_tiers(
            problem.linear,
            problem.pairs_transposed,
            self.sized.sizes_array,
            self.summed.least,
            thetas[order],
            rng,
        )
        return labels


@dataclass(frozen=True, eq=False)
class ExactPosterior:
    """The exact posterior: one entry for each size vector that is possible.

    Attributes
    ----------
    entries
        The posterior for each size vector.
    probabilities
        Posterior probability of each of them.
    known
        Other facts about the draws.
    """

    entries: tuple[SizedPosterior, ...]
    probabilities: NDArray[np.float64]
    known: Mapping[str, Any]

    @classmethod
    def of(cls, target: Target, sizes: Sizes | None) -> ExactPosterior:
        """Sum over all tiers of given sizes, or over all tiers."""
        vectors = list(compositions(target.n_items)) if sizes is None else [sizes]
        possible = (target.at(vector) for vector in vectors)
        entries = [
            SizedPosterior(sized, _sum(target, sized))
            for sized in possible
            if np.isfinite(sized.log_prior_of_sizes)
        ]
        if not entries:
            raise InputError(
                "the prior of sizes is -inf for all sizes: use a prior that allows some"
            )
        logs = np.array(
            [entry.summed.log_evidence + entry.sized.log_prior_of_sizes for entry in entries]
        )
        weights = np.exp(logs - logs.max())
        known = {} if target.source.is_known(vectors[0]) else summed_over(target.source)
        return cls(tuple(entries), weights / weights.sum(), known)

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
            return {**self.known, "log_evidence": self.entries[0].summed.log_evidence}
        probable = [
            [list(sizes), share] for sizes, share in self.sizes_probabilities().items() if share > 0
        ]
        return {
            **self.known,
            "sizes_probabilities": probable,
            "log_evidence": self._log_evidence(),
        }

    def _log_evidence(self) -> float:
        """Log probability of the answers, summed over all sizes by their prior probabilities."""
        priors = np.array([entry.sized.log_prior_of_sizes for entry in self.entries])
        logs = priors + [float(entry.summed.log_evidence) for entry in self.entries]
        return float(np.logaddexp.reduce(logs) - np.logaddexp.reduce(priors))

    def __call__(
        self, state: State, kept: NDArray[np.bool_], trace: Trace, rng: np.random.Generator
    ) -> State:
        """Draw sizes, theta and tiers for each entry of ``kept``, whatever the state was before.

        The more draws are made together the less each of them takes: tiers at thetas close to each
        other share their sums.
        """
        n_draws = len(kept)
        cumulative = self._cumulative
        places = np.searchsorted(cumulative, rng.random(n_draws) * cumulative[-1], side="right")
        places = np.minimum(places, len(self.entries) - 1)
        thetas = rng.random(n_draws)
        labels = np.empty((n_draws, len(state.labels)), dtype=np.int64)
        totals, log_posteriors = np.empty((2, n_draws))
        for place in np.unique(places).tolist():
            rows = places == place
            entry = self.entries[place]
            thetas[rows] = entry.summed.theta.quantile(thetas[rows])
            labels[rows] = drawn = entry.draw_tiers(thetas[rows], rng)
            problem = entry.sized.problem
            distances = np.array([problem.total(row) for row in drawn])
            log_posteriors[rows] = entry.sized.log_posteriors(distances)
            totals[rows] = entry.sized.distances(distances, thetas[rows])
        trace.extend(
            labels[kept],
            total=totals[kept],
            theta=thetas[kept],
            log_posterior=log_posteriors[kept],
        )
        return state._replace(
            labels=labels[-1],
            sizes=self.entries[places[-1]].sized.sizes,
            total=float(totals[-1]),
            theta=float(thetas[-1]),
            log_posterior=float(log_posteriors[-1]),
            iteration=state.iteration + n_draws,
        )


def _sum(target: Target, sized: SizedTarget) -> SumOverTiers:
    log_completions = target.likelihood(sized.sizes).log_completions
    return sum_over_tiers(sized.problem, sized.theta, log_completions)


def is_affordable(sizes: Sizes | None, n_items: int, n_draws: int, limit: float) -> bool:
    """Whether exact draws stay within a number of steps; about 1e8 are done in a second.

    Draws share their sums over tiers, so the work grows with the square root of their number.
    """
    n_sums = 2.0 * n_draws**0.5
    if sizes is None and n_items > _MOST_ITEMS_WITHOUT_SIZES:
        return False
    vectors = compositions(n_items) if sizes is None else [sizes]
    work = [subset_work(vector) for vector in vectors]
    steps = [entry.steps for entry in work]
    in_memory = max(entry.memory for entry in work) <= _LARGEST_MEMORY
    return in_memory and NODES * sum(steps) + n_sums * max(steps) <= limit


def refuse_too_many_steps(sizes: Sizes | None, n_items: int, n_draws: int) -> None:
    """Raise if exact draws are infeasible."""
    if not is_affordable(sizes, n_items, n_draws, MOST_STEPS):
        what = "all sizes" if sizes is None else f"sizes {sizes}"
        raise TooLargeError(
            f"exact draws for {what} sum over too many tiers of {n_items} items",
            [use(sampler=grouped("Sampler", method="mcmc")), "use fewer draws"],
        )


def _by_share(pair: tuple[Sizes, float]) -> float:
    return -pair[1]
