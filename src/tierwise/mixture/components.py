"""Groups of answers that leave no doubt about blocks: all work is done on counts."""

from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.descent import descend
from tierwise._kernels.groups import gains_of_swaps
from tierwise.consensus.problem import Problem, make_problem
from tierwise.consensus.subsets import best_labels, subset_work
from tierwise.data.counts import BlockCounts
from tierwise.distances.base import Distance
from tierwise.mixture.answers import Answers
from tierwise.mixture.workshop import Component, Workshop
from tierwise.theta.estimate import estimate_theta
from tierwise.tiers.sizes import Sizes, log_number_of_tiers

# Steps of the subset recursion that one update of a group's tiers may take: a hundredth of a
# second. Beyond, items trade tiers as long as that helps.
_MOST_STEPS_OF_AN_UPDATE = 3_000_000


def workshop_for(answers: Answers, distance: Distance) -> Workshop:
    """Return a workshop that suits the answers."""
    if not answers.open:
        return CountingWorkshop(answers, distance)
    from tierwise.mixture.open_components import OpenWorkshop

    return OpenWorkshop(answers, distance)


class CountingWorkshop(Workshop):
    """Fits groups to answers with known blocks, from weighted counts of these."""

    def log_probabilities(self, component: Component) -> NDArray[np.float64]:
        """Log probability of each answer in a group."""
        distances = self._distances(component)
        if component.theta == inf:
            exponents = np.where(distances == 0.0, 0.0, -inf)
        else:
            exponents = -component.theta * distances
        return exponents - component.log_partition + self.answers.log_completions

    def distance_moments(
        self, component: Component
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of the distance, which is known."""
        distances = self._distances(component)
        return distances, np.zeros_like(distances)

    def _distances(self, component: Component) -> NDArray[np.float64]:
        return self.answers.distances(component.labels, component.sizes, self.distance)

    def fit(
        self, weights: NDArray[np.float64], sizes: Sizes, current: Component | None
    ) -> tuple[Component, float]:
        """Fit a group of given sizes, from counts for these sizes."""
        return self._solve(self.answers.block_counts(weights, sizes), current)

    def fitter(
        self, weights: NDArray[np.float64]
    ) -> Callable[[Sizes, Component | None], tuple[Component, float]]:
        """Return `fit` for many sizes, from counts that do for all of them."""
        counts = self.answers.joint_counts(weights)
        return lambda sizes, current: self._solve(counts.blocks(sizes), current)

    def _solve(self, blocks: BlockCounts, current: Component | None) -> tuple[Component, float]:
        problem = make_problem(self.distance.costs(blocks, blocks.sizes), blocks.sizes)
        labels = better_labels(problem, None if current is None else current.labels)
        total = max(problem.total(labels), 0.0)
        partition = self.partition(blocks.sizes)
        theta = estimate_theta(partition, total / blocks.n_rankings, blocks.n_rankings).value
        log_partition = float(partition.log_value(theta))
        log_likelihood = -blocks.n_rankings * log_partition
        log_likelihood -= 0.0 if theta == inf else theta * total
        found = Component(blocks.sizes, labels, theta, log_partition)
        return found, log_likelihood - log_number_of_tiers(blocks.sizes)

    def gains_of_swaps(
        self,
        memberships: NDArray[np.float64],
        component: Component,
        swaps: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return what a mixture's log-likelihood gains by each swap of two items of a group."""
        rule = self.distance.rule(component.sizes)
        return gains_of_swaps(
            self.answers.blocks(component.sizes),
            component.labels,
            swaps,
            rule.misplaced,
            rule.placing,
            component.theta * rule.unit,
            memberships,
            self.answers.weights,
        )


def better_labels(problem: Problem, current: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return labels that are better than the current ones, or these if none are found."""
    if len(problem.sizes) == 1:
        return problem.sorted_labels
    if not problem.pairs.size:
        found = _assigned(problem)
    elif subset_work(problem.sizes).steps <= _MOST_STEPS_OF_AN_UPDATE:
        found, _ = best_labels(problem)
    else:
        found = _descended(problem, current)
    if current is not None and problem.total(found) >= problem.total(current) - problem.tolerance:
        return current
    return found


def _assigned(problem: Problem) -> NDArray[np.int64]:
    """Best labels for an additive distance."""
    from scipy.optimize import linear_sum_assignment

    tier_of_place = problem.sorted_labels
    _, places = linear_sum_assignment(problem.linear[:, tier_of_place])
    labels: NDArray[np.int64] = tier_of_place[places]
    return labels


def _descended(problem: Problem, current: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Labels that no swap of two improves, near the current ones or near the mean ranks."""
    if current is None:
        wins = problem.pairs.sum(axis=1) - problem.pairs_transposed.sum(axis=1)
        labels = np.empty(problem.n_items, dtype=np.int64)
        labels[np.argsort(-wins, kind="stable")] = problem.sorted_labels
    else:
        labels = current.copy()
    descend(
        labels,
        problem.linear,
        problem.pairs,
        problem.pairs_transposed,
        len(problem.sizes),
        problem.tolerance,
    )
    return labels
