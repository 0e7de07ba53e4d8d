"""The paper's chain for incomplete rankings: complete them, switch tiers, draw theta; in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from tierwise._kernels.consensus import LogWeights, switch_labels
from tierwise.answers.dispatch import answered_places
from tierwise.answers.drawn import DrawnCompletions
from tierwise.answers.partial import orders_of_places
from tierwise.consensus.problem import make_problem
from tierwise.distances import get_distance
from tierwise.model.priors import Gamma
from tierwise.partition.choose import partition_function
from tierwise.partition.interpolated import LogPartition
from tierwise.theta.density import ThetaGivenDistance
from tierwise.tiers import log_number_of_tiers

if TYPE_CHECKING:
    from tierwise import Rankings, Tiers

# Switches of two or three items that an iteration tries, for each item.
SWITCHES_PER_ITEM = 5


@dataclass(frozen=True)
class AugmentedDraws:
    """What the chain visited.

    Attributes
    ----------
    labels, thetas
        Tiers, counted from 0, and theta of each iteration that is kept.
    criteria
        The paper's criterion at these, with the rankings as they were completed then.
    """

    labels: np.ndarray
    thetas: np.ndarray
    criteria: np.ndarray

    @property
    def most_frequent(self) -> list[int]:
        """Return the tiers that were visited most often."""
        rows, counts = np.unique(self.labels, axis=0, return_counts=True)
        labels: list[int] = rows[counts.argmax()].tolist()
        return labels


def run_augmented_chain(
    rankings: Rankings,
    start: Tiers,
    *,
    iterations: int,
    warmup: int,
    proposal: Literal["reinsert", "refill"],
    rng: np.random.Generator,
) -> AugmentedDraws:
    """Run the chain from given tiers, with the Kendall distance and theta ~ Gamma(2, 2)."""
    sizes, distance = start.sizes, get_distance("kendall")
    orders = orders_of_places(answered_places(rankings), rankings.pattern_weights.astype(float))
    completions = DrawnCompletions(orders, sizes, distance, rng, proposal=proposal)
    partition = partition_function(sizes, distance)
    n_rankings = float(rankings.n_rankings)
    given_distance = ThetaGivenDistance(LogPartition(partition), n_rankings, Gamma(2.0, 2.0))
    penalty = log_number_of_tiers(sizes)
    labels = start.label_array(rankings.items).astype(np.int64)
    sizes_array = np.array(sizes, dtype=np.int64)
    theta = 0.1
    kept: list[tuple[list[int], float, float]] = []
    for iteration in range(iterations):
        completions.sweep(labels, theta)
        problem = make_problem(completions.costs(), sizes)
        total, _ = switch_labels(
            labels,
            sizes_array,
            problem.costs,
            LogWeights.at(theta),
            SWITCHES_PER_ITEM * len(labels),
            rng,
        )
        theta = given_distance.density(total).draw(rng)
        if iteration >= warmup:
            log_likelihood = -theta * total - n_rankings * float(partition.log_value(theta))
            kept.append((labels.tolist(), theta, log_likelihood - penalty))
    visited, thetas, criteria = zip(*kept, strict=True)
    return AugmentedDraws(np.array(visited), np.array(thetas), np.array(criteria))
