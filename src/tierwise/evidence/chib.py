"""The evidence of given sizes: exact if that is affordable, else by Chib's identity.

The evidence is likelihood times prior over posterior, at any tiers and theta. The posterior there
is an average over chains of what is known exactly given the completed answers: first the
probability of the tiers, then, the tiers being held fixed, the density of theta, and last, where
answers may be mistaken, that of the mistake probability.

References
----------
S. Chib (1995). Marginal likelihood from the Gibbs output. Journal of the American Statistical
Association 90, 1313-1321.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.consensus import LogWeights, switch_labels
from tierwise._util.types import Estimate
from tierwise.answers.dispatch import completions_of_assessors
from tierwise.consensus.problem import make_problem
from tierwise.evidence.exact import log_evidence, log_share_of_tiers, sum_over_likely_tiers
from tierwise.model.priors import Beta
from tierwise.partition.interpolated import LogPartition
from tierwise.theta.density import ThetaGivenDistance
from tierwise.tiers import log_number_of_tiers

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.base import Labels
    from tierwise.answers.likelihood import AnswerSource
    from tierwise.consensus.problem import Problem
    from tierwise.model.priors import ThetaPrior
    from tierwise.partition.base import PartitionFunction
# Draws of all completions together that each average is taken over.
_WORK = 40_000_000
_FEWEST_DRAWS, _MOST_DRAWS = 100, 2000
_BATCHES = 20
# Labels that an iteration tries to switch, for each item: cheap beside drawing completions.
_SWITCHES_PER_ITEM = 3
_PRIOR_OF_MISTAKES = Beta()


def find_log_evidence(
    source: AnswerSource,
    partition: PartitionFunction,
    prior: ThetaPrior,
    best: Labels,
    rng: np.random.Generator,
) -> Estimate:
    """Log probability of answers given the sizes of the tiers only.

    Summed over all tiers if that is possible, or over those that matter, else estimated.

    Parameters
    ----------
    source
        The answers.
    partition
        The partition function of the sizes.
    prior
        The prior of theta; tiers of these sizes are equally probable beforehand.
    best
        The most probable tiers, so far as they are known.
    rng
        Generator, for what is estimated.

    Examples
    --------
    >>> import numpy as np
    >>> import tierwise as tw
    >>> from tierwise.answers.likelihood import source_of
    >>> rankings = tw.Rankings.from_orderings([["a", "b", "c"]] * 3)
    >>> source, partition = source_of(rankings, "kendall"), tw.partition_function((1, 2))
    >>> best, rng = np.array([0, 1, 1]), np.random.default_rng(1)
    >>> find_log_evidence(source, partition, tw.Gamma(2, 2), best, rng)
    -3.96729... (exact, recursion)
    """
    likelihood = source.at(partition.sizes, partition=partition, rng=rng)
    if likelihood.known:
        return Estimate(log_evidence(likelihood, prior), method="recursion")
    if likelihood.exact and not source.capabilities.may_be_mistaken:
        value = sum_over_likely_tiers(likelihood, prior, best)
        if value is not None:
            return Estimate(value, method="sum over likely tiers")
    return estimate_log_evidence(source, partition, prior, best, rng)


def estimate_log_evidence(
    source: AnswerSource,
    partition: PartitionFunction,
    prior: ThetaPrior,
    best: Labels,
    rng: np.random.Generator,
) -> Estimate:
    """Estimate the log probability of answers given the sizes of the tiers only.

    Parameters
    ----------
    source, partition, prior, rng
        As in `find_log_evidence`.
    best
        Tiers of these sizes that are as probable as any.
    """
    chain = _Chain(source, partition, prior, best, rng)
    parts = [chain.share_of_tiers(), chain.density_of_theta()]
    log_likelihood = chain.log_likelihood()
    log_prior = float(prior.log_density(np.array([chain.theta]))[0]) + log(chain.theta)
    log_prior -= log_number_of_tiers(partition.sizes)
    if source.capabilities.may_be_mistaken:
        parts.append(chain.density_of_mistakes())
        log_prior += float(_PRIOR_OF_MISTAKES.log_density(chain.mistake_probability))
    variance = sum(part.standard_error**2 for part in (log_likelihood, *parts))
    return Estimate(
        float(log_likelihood) + log_prior - sum(map(float, parts)),
        standard_error=variance**0.5,
        method="Chib",
    )


class _Chain:
    """A chain over completions, tiers and theta, of which more and more is held fixed."""

    def __init__(
        self,
        source: AnswerSource,
        partition: PartitionFunction,
        prior: ThetaPrior,
        best: Labels,
        rng: np.random.Generator,
    ) -> None:
        self._source = source
        self._partition = partition
        self._given = ThetaGivenDistance(LogPartition(partition), source.n_rankings, prior)
        self._best = best
        self._rng = rng
        self._drawn = completions_of_assessors(source, partition.sizes, "reinsert", rng)
        n_rows, n_items = self._drawn.places.shape
        affordable = _WORK // (n_rows * n_items**2)
        self._n_draws = int(np.clip(affordable, _FEWEST_DRAWS, _MOST_DRAWS))
        self.theta = self._given.density(float(self._drawn.distances(best).sum())).draw(rng)
        self.mistake_probability = 0.0

    def share_of_tiers(self) -> Estimate:
        """Log probability of the best tiers; settles at which theta all else is taken."""
        logs, thetas, mistakes = [], [], []
        labels, theta = self._best, self.theta
        for number in range(self._n_draws + self._n_draws // 4):
            self._drawn.sweep(labels, theta)
            labels = self._drawn.renamed(labels, self._rng)
            self._drawn.draw_mistakes(_PRIOR_OF_MISTAKES, self._rng)
            problem = make_problem(self._drawn.costs(), self._drawn.sizes)
            labels, total = self._switch(problem, labels, theta)
            theta = self._given.density(total).draw(self._rng)
            if number >= self._n_draws // 4:
                logs.append(log_share_of_tiers(problem, self._best, theta))
                thetas.append(theta)
                mistakes.append(self._drawn.mistake_probability)
        self.theta = float(np.mean(thetas))
        self.mistake_probability = float(np.mean(mistakes))
        return _log_mean(np.array(logs))

    def _switch(self, problem: Problem, labels: Labels, theta: float) -> tuple[Labels, float]:
        """Let items trade tiers given theta and all completions; return the distance too."""
        moved = labels.copy()
        total, _ = switch_labels(
            moved,
            problem.sizes_array,
            problem.costs,
            LogWeights.at(theta),
            _SWITCHES_PER_ITEM * problem.n_items,
            self._rng,
        )
        return moved, total

    def density_of_theta(self) -> Estimate:
        """Log density of log theta, the tiers being the best ones."""
        logs = []
        theta = self.theta
        for _ in range(self._n_draws):
            self._drawn.sweep(self._best, theta)
            self._drawn.draw_mistakes(_PRIOR_OF_MISTAKES, self._rng)
            total = float(self._drawn.distances(self._best).sum())
            theta = self._given.density(total).draw(self._rng)
            logs.append(self._given.log_density(self.theta, total))
        return _log_mean(np.array(logs))

    def density_of_mistakes(self) -> Estimate:
        """Log density of the mistake probability, tiers and theta being fixed."""
        logs = []
        for _ in range(self._n_draws):
            self._drawn.sweep(self._best, self.theta)
            given = self._drawn.draw_mistakes(_PRIOR_OF_MISTAKES, self._rng)
            logs.append(float(given.log_density(self.mistake_probability)))
        return _log_mean(np.array(logs))

    def log_likelihood(self) -> Estimate:
        """Log probability of the answers at the tiers and theta that were settled on."""
        if not self._source.capabilities.may_be_mistaken:
            likelihood = self._source.at(
                self._partition.sizes, partition=self._partition, rng=self._rng
            )
            return likelihood.value(self._best, self.theta)
        self._drawn.mistake_probability = self.mistake_probability
        log_weight = self._drawn.log_weight(self._best, self.theta)
        log_partition = self._partition.log_value(self.theta)
        n_rankings = float(self._source.n_rankings)
        error = np.hypot(log_weight.standard_error, n_rankings * log_partition.standard_error)
        value = float(log_weight) - n_rankings * float(log_partition)
        return Estimate(value, standard_error=float(error), method=log_weight.method)


def _log_mean(logs: npt.NDArray[np.float64]) -> Estimate:
    """Log of the mean of numbers that a chain gave one after the other, with its error."""
    value = _log_average(logs)
    batches = [_log_average(batch) for batch in np.array_split(logs, _BATCHES)]
    error = float(np.exp(np.array(batches) - value).std(ddof=1)) / len(batches) ** 0.5
    return Estimate(value, standard_error=error, method="chain")


def _log_average(logs: npt.NDArray[np.float64]) -> float:
    return float(np.logaddexp.reduce(logs)) - log(len(logs))
