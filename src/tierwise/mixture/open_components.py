"""Groups of answers that leave blocks open: all completions of an answer are summed over."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tierwise.answers.base import ExactCompletions
from tierwise.answers.dispatch import Answers as OpenAnswers
from tierwise.answers.dispatch import answers_of as open_answers_of
from tierwise.answers.likelihood import Likelihood
from tierwise.consensus.problem import make_problem
from tierwise.data.rankings import Rankings
from tierwise.distances.base import Distance
from tierwise.errors import TooLargeError
from tierwise.mixture.answers import Answers
from tierwise.mixture.components import better_labels
from tierwise.mixture.workshop import Component, Workshop
from tierwise.tiers.sizes import Sizes, log_number_of_tiers

# Rounds of completing the answers on the average when a group is fitted from nothing.
_FIRST_ROUNDS = 3
# Step of the difference quotients that give moments of the distance.
_STEP = 1e-3


class OpenWorkshop(Workshop):
    """Fits groups to answers whose completions can be summed over.

    An update completes each answer on the average, under the group at hand, and takes the tiers
    that are closest to that; then theta is set to its best value. Neither makes the group's
    answers less probable.
    """

    def __init__(self, answers: Answers, distance: Distance) -> None:
        super().__init__(answers, distance)
        self._by_sizes: dict[Sizes, OpenAnswers] = {}

    def _open_answers(self, sizes: Sizes) -> OpenAnswers:
        if sizes not in self._by_sizes:
            given = self.answers
            distinct = Rankings(given.items, given.patterns, given.weights, unranked=given.unranked)
            found = open_answers_of(distinct, sizes, self.distance, np.random.default_rng(0))
            if found.drawn is not None:
                raise TooLargeError(
                    f"some answers leave too much open to sum over all that they may mean, for "
                    f"sizes {sizes}: restrict the rankings to fewer items, or give sizes of fewer "
                    "tiers"
                )
            self._by_sizes[sizes] = found
        return self._by_sizes[sizes]

    def _likelihood(self, weights: NDArray[np.float64], sizes: Sizes) -> Likelihood:
        parts = [
            part.completions.reweighted(weights[part.rows])
            for part in self._open_answers(sizes).parts
            if isinstance(part.completions, ExactCompletions)
        ]
        return Likelihood(tuple(parts), self.partition(sizes))

    def _finite(self, theta: float, sizes: Sizes) -> float:
        """Return theta, or one that is as good as infinite."""
        return min(theta, Likelihood((), self.partition(sizes)).largest_theta)

    def log_probabilities(self, component: Component) -> NDArray[np.float64]:
        """Log probability of each answer in a group."""
        theta = self._finite(component.theta, component.sizes)
        return self._log_weights(component, theta) - component.log_partition

    def _log_weights(self, component: Component, theta: float) -> NDArray[np.float64]:
        return self._open_answers(component.sizes).log_weights(component.labels, theta)

    def distance_moments(
        self, component: Component
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of the distance over completions: derivatives of the log weights."""
        step = min(_STEP, component.theta / 2) or _STEP
        theta = max(component.theta, step)
        before, here, after = (
            self._log_weights(component, point) for point in (theta - step, theta, theta + step)
        )
        return (before - after) / (2 * step), (before - 2 * here + after) / step**2

    def fit(
        self, weights: NDArray[np.float64], sizes: Sizes, current: Component | None
    ) -> tuple[Component, float]:
        """Fit a group of given sizes by one round, or by some if there is no group yet."""
        likelihood = self._likelihood(weights, sizes)
        labels = None if current is None else current.labels
        theta = 0.0 if current is None else current.theta
        for _ in range(1 if current is not None else _FIRST_ROUNDS):
            # At a theta of 0 all completions are equally probable, whatever the tiers.
            under = np.repeat(np.arange(len(sizes)), sizes) if labels is None else labels
            problem = make_problem(likelihood.expected_costs(under, theta), sizes)
            labels = better_labels(problem, labels)
            theta = likelihood.best_theta(labels, start=theta)
        log_partition = float(likelihood.partition.log_value(self._finite(theta, sizes)))
        found = Component(sizes, labels, theta, log_partition)  # type: ignore[arg-type]
        return found, likelihood.value(found.labels, theta) - log_number_of_tiers(sizes)

    def gains_of_swaps(
        self,
        memberships: NDArray[np.float64],
        component: Component,
        swaps: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return what a mixture's log-likelihood gains by each swap of two items of a group."""
        before = self.log_probabilities(component)
        gains = np.empty(len(swaps))
        for number, swap in enumerate(swaps):
            labels = component.labels.copy()
            labels[swap] = labels[swap[::-1]]
            changes = self.log_probabilities(replace(component, labels=labels)) - before
            gains[number] = self.answers.weights @ np.log1p(memberships * np.expm1(changes))
        return gains
