"""Evidence from answers whose completions are drawn, by Chib's identity.

The evidence is likelihood times prior over posterior, at any tiers and theta. The posterior there
is an average over chains of what is known exactly given the completed answers: first the
probability of the tiers, then, the tiers being held fixed, the density of theta, and last, where
answers may be mistaken, that of the mistake probability (Chib, Marginal Likelihood from the Gibbs
Output, Journal of the American Statistical Association 90, 1995).
"""

from __future__ import annotations

from math import hypot, log
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.estimate import Estimate
from tierwise.answers.votes import DrawnVotes
from tierwise.consensus.problem import make_problem
from tierwise.evidence.exact import log_share_of_tiers
from tierwise.model.priors import Beta
from tierwise.posterior.augmented import Augmented
from tierwise.posterior.open_target import OpenTarget
from tierwise.posterior.state import random_state
from tierwise.tiers.sizes import log_number_of_tiers

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.base import Labels
    from tierwise.answers.drawn import DrawnCompletions
    from tierwise.data.preferences import Preferences
    from tierwise.data.rankings import Rankings
    from tierwise.distances.base import Distance
    from tierwise.model.priors import ThetaPrior
    from tierwise.posterior.state import State
    from tierwise.tiers.sizes import Sizes

# Draws of all completions together that each average is taken over.
_WORK = 40_000_000
_FEWEST_DRAWS, _MOST_DRAWS = 100, 2000
_BATCHES = 20


def estimate_log_evidence(
    data: Rankings | Preferences,
    distance: Distance,
    prior: ThetaPrior,
    best: Labels,
    rng: np.random.Generator,
) -> Estimate:
    """Estimate the log probability of answers given the sizes of the tiers only.

    Parameters
    ----------
    data
        The answers.
    distance
        The distance.
    prior
        The prior of theta; tiers of these sizes are equally probable beforehand.
    best
        Tiers of these sizes that are as probable as any.
    rng
        Generator.
    """
    sizes: Sizes = tuple(np.bincount(best).tolist())
    chain = _Chain(OpenTarget(data, distance, prior, "uniform"), sizes, best, rng)
    log_share_of_tiers = chain.share_of_tiers()
    theta = chain.theta
    log_density_of_theta = chain.density_of_theta()
    log_prior = float(prior.log_density(np.array([theta]))[0]) + log(theta)
    log_prior -= log_number_of_tiers(sizes)
    log_likelihood = chain.log_likelihood()
    parts = [log_share_of_tiers, log_density_of_theta]
    if chain.votes is not None:
        parts.append(chain.density_of_mistakes())
        log_prior += chain.prior_mistakes.log_density(chain.mistake_probability)
    variance = sum(part.standard_error**2 for part in (log_likelihood, *parts))
    return Estimate(
        float(log_likelihood) + log_prior - sum(map(float, parts)),
        standard_error=variance**0.5,
        method="Chib",
    )


class _Chain:
    """A chain over completions, tiers and theta, of which more and more is held fixed."""

    prior_mistakes = Beta()

    def __init__(
        self, target: OpenTarget, sizes: Sizes, best: Labels, rng: np.random.Generator
    ) -> None:
        self._target = target
        self._best = best
        self._rng = rng
        self._augmented = Augmented(target, sizes, "reinsert", self.prior_mistakes)
        self._state: State = random_state(target, sizes, rng)._replace(labels=best)
        self._drawn: DrawnCompletions = self._augmented.begin(self._state, rng)
        n_rows, n_items = self._drawn.places.shape
        affordable = _WORK // (n_rows * n_items**2)
        self._n_draws = int(np.clip(affordable, _FEWEST_DRAWS, _MOST_DRAWS))
        self.theta = 0.0
        self.mistake_probability = 0.0

    @property
    def votes(self) -> DrawnVotes | None:
        """The answers, if they may be mistaken."""
        return self._drawn if isinstance(self._drawn, DrawnVotes) else None

    def share_of_tiers(self) -> Estimate:
        """Log probability of the best tiers; settles at which theta all else is taken."""
        logs, thetas, mistakes = [], [], []
        for number in range(self._n_draws + self._n_draws // 4):
            self._state = self._augmented.iterate(self._drawn, self._state, self._rng)
            if number >= self._n_draws // 4:
                logs.append(self._log_share(self._state.theta))
                thetas.append(self._state.theta)
                mistakes.append(self._state.mistake_probability)
        self.theta = float(np.mean(thetas))
        self.mistake_probability = float(np.mean(mistakes))
        return _log_mean(np.array(logs))

    def _log_share(self, theta: float) -> float:
        """Log probability of the best tiers given theta and all completions."""
        problem = make_problem(self._drawn.costs(), self._drawn.sizes)
        return log_share_of_tiers(problem, self._best, theta)

    def density_of_theta(self) -> Estimate:
        """Log density of log theta, the tiers being the best ones."""
        given = self._target.model(self._drawn.sizes).theta
        logs = []
        theta = self._state.theta
        for _ in range(self._n_draws):
            self._drawn.sweep(self._best, theta)
            self._change_mistakes()
            total = float(self._drawn.distances(self._best).sum())
            theta = given.density(total).draw(self._rng)
            logs.append(given.log_density(self.theta, total))
        return _log_mean(np.array(logs))

    def density_of_mistakes(self) -> Estimate:
        """Log density of the mistake probability, tiers and theta being fixed."""
        logs = []
        for _ in range(self._n_draws):
            self._drawn.sweep(self._best, self.theta)
            mistakes, answers = self._change_mistakes()
            logs.append(
                self.prior_mistakes.log_density(self.mistake_probability, mistakes, answers)
            )
        return _log_mean(np.array(logs))

    def _change_mistakes(self) -> tuple[float, float]:
        """Draw the mistake probability, where there is one; return what it was drawn from."""
        if self.votes is None:
            return 0.0, 0.0
        counted = float(self.votes.mistakes().sum()), self.votes.n_votes
        self.votes.mistake_probability = self.prior_mistakes.draw(*counted, self._rng)
        return counted

    def log_likelihood(self) -> Estimate:
        """Log probability of the answers at the tiers and theta that were settled on."""
        sizes = self._drawn.sizes
        known = 0.0
        drawn: DrawnCompletions | None = self.votes
        if self.votes is not None:
            self.votes.mistake_probability = self.mistake_probability
        else:
            answers = self._target.answers(sizes)
            drawn = answers.drawn
            known = sum(part.sums(self._best, self.theta).log_weight for part in answers.exact)
        log_weight = Estimate(0.0, method="sum")
        if drawn is not None:
            log_weight = drawn.log_weight(self._best, self.theta)
        model = self._target.model(sizes)
        log_partition = model.partition.log_value(self.theta)
        error = hypot(log_weight.standard_error, model.n_rankings * log_partition.standard_error)
        value = known + float(log_weight) - model.n_rankings * float(log_partition)
        return Estimate(value, standard_error=error, method=log_weight.method)


def _log_mean(logs: npt.NDArray[np.float64]) -> Estimate:
    """Log of the mean of numbers that a chain gave one after the other, with its error."""
    value = _log_average(logs)
    batches = [_log_average(batch) for batch in np.array_split(logs, _BATCHES)]
    error = float(np.exp(np.array(batches) - value).std(ddof=1)) / len(batches) ** 0.5
    return Estimate(value, standard_error=error, method="chain")


def _log_average(logs: npt.NDArray[np.float64]) -> float:
    return float(np.logaddexp.reduce(logs)) - log(len(logs))
