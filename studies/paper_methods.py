"""The paper's own way to fit and to search: annealing, Monte Carlo theta, importance sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tierwise.consensus.annealing import Annealing
from tierwise.consensus.find import find_consensus
from tierwise.data.counts import Counts, block_counts
from tierwise.distances import get_distance
from tierwise.fitting.result import agreement_of_counts
from tierwise.partition.choose import partition_function
from tierwise.theta.estimate import iterate_theta
from tierwise.tiers import Sizes, adjacent_shifts, log_number_of_tiers

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from tierwise.consensus.problem import Consensus

# One run from one start, in which two items trade tiers at a time.
ANNEALING = Annealing(switched=2, schedule="linear", restarts=1)


@dataclass(frozen=True)
class PaperFit:
    """What the paper's methods give for given sizes."""

    labels: tuple[int, ...]
    theta: float
    criterion: float
    criterion_error: float


def anneal(
    data: Counts, sizes: Sizes, distance: str, rng: np.random.Generator
) -> tuple[Consensus, float]:
    """Tiers by simulated annealing, and the mean distance of the data from them."""
    blocks = block_counts(data, sizes)
    costs = get_distance(distance).costs(blocks, sizes)
    found = find_consensus(costs, sizes, method="annealing", annealing=ANNEALING, rng=rng)
    return found, found.total / blocks.n_rankings


def fit_as_in_the_paper(
    data: Counts, sizes: Sizes, distance: str, draws: int, rng: np.random.Generator
) -> PaperFit:
    """Anneal the tiers, iterate theta, estimate the partition function; one after the other."""
    found, mean_distance = anneal(data, sizes, distance, rng)
    n_rankings = float(data.n_rankings)
    if len(sizes) == 1:
        theta = 0.0
    else:
        exact = partition_function(sizes, distance)
        theta = iterate_theta(exact, mean_distance, n_rankings, rng=rng).value
    estimated = partition_function(sizes, distance, method="importance", draws=draws, rng=rng)
    log_partition = estimated.log_value(theta)
    log_likelihood = -n_rankings * (theta * mean_distance + log_partition)
    return PaperFit(
        labels=tuple(found.labels.tolist()),
        theta=theta,
        criterion=log_likelihood - log_number_of_tiers(sizes),
        criterion_error=n_rankings * log_partition.standard_error,
    )


def agreement_as_in_the_paper(
    data: Counts, sizes: Sizes, distance: str, rng: np.random.Generator
) -> float:
    """Anneal the tiers and return the data criterion D."""
    if len(sizes) == 1:
        return 0.0
    found, _ = anneal(data, sizes, distance, rng)
    return agreement_of_counts(data.pair_counts, found.labels).overall


@dataclass(frozen=True)
class Climb:
    """A greedy search: the sizes it went through, and the score of all that it looked at."""

    path: tuple[Sizes, ...]
    scores: dict[Sizes, float]

    def best(self, count: int) -> list[Sizes]:
        """Return the sizes with the highest scores."""
        return sorted(self.scores, key=lambda sizes: -self.scores[sizes])[:count]


def climb(start: Sizes, score: Callable[[Sizes], float]) -> Climb:
    """Move by one-adjacent shifts to the best neighbour as long as it scores higher."""
    scores = {start: score(start)}
    path = [start]
    while True:
        near = adjacent_shifts(path[-1])
        for sizes in near:
            if sizes not in scores:
                scores[sizes] = score(sizes)
        best = max(near, key=scores.__getitem__)
        if scores[best] <= scores[path[-1]]:
            return Climb(tuple(path), scores)
        path.append(best)
