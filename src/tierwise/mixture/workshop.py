"""Where groups are made: their tiers and theta, from answers that belong to them in part."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tierwise.distances.base import Distance
from tierwise.mixture.answers import Answers
from tierwise.mixture.plans import Plan
from tierwise.partition.base import PartitionFunction
from tierwise.partition.choose import partition_function
from tierwise.tiers.sizes import Sizes, neighbours

# Fits of neighbouring sizes that are looked at twice.
_RIVALS = 5
# Where the partition function has to be estimated, the same sizes give the same estimate.
_SEED = 0


@dataclass(frozen=True, eq=False)
class Component:
    """Tiers and theta of a group.

    Attributes
    ----------
    sizes, labels, theta
        The tiers, counted from 0, their sizes, and the concentration around them.
    log_partition
        Log of the partition function at theta.
    """

    sizes: Sizes
    labels: NDArray[np.int64]
    theta: float
    log_partition: float


class Workshop(ABC):
    """Fits groups to weighted answers; remembers the partition functions it has met."""

    def __init__(self, answers: Answers, distance: Distance) -> None:
        self.answers = answers
        self.distance = distance
        self._partitions: dict[Sizes, PartitionFunction] = {}

    def partition(self, sizes: Sizes) -> PartitionFunction:
        """Return the partition function of given sizes."""
        if sizes not in self._partitions:
            self._partitions[sizes] = partition_function(sizes, self.distance, rng=_SEED)
        return self._partitions[sizes]

    @abstractmethod
    def log_probabilities(self, component: Component) -> NDArray[np.float64]:
        """Log probability of each answer in a group."""

    @abstractmethod
    def distance_moments(
        self, component: Component
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and variance of the distance from a group's tiers, given each answer."""

    @abstractmethod
    def fit(
        self, weights: NDArray[np.float64], sizes: Sizes, current: Component | None
    ) -> tuple[Component, float]:
        """Fit a group of given sizes: no worse than the current one, where there is one.

        Returned are the group, and its answers' log-likelihood less the log number of tiers.
        """

    def fitter(
        self, weights: NDArray[np.float64]
    ) -> Callable[[Sizes, Component | None], tuple[Component, float]]:
        """Return `fit` for many sizes and the same weights."""
        return lambda sizes, current: self.fit(weights, sizes, current)

    def begin(self, weights: NDArray[np.float64], plan: Plan) -> Component:
        """Fit a group from nothing; a search begins with tiers of one item each."""
        sizes = (1,) * self.answers.n_items if plan == "search" else plan
        return self.fit(weights, sizes, None)[0]

    def update(self, weights: NDArray[np.float64], component: Component) -> Component:
        """Fit a group anew with the sizes it has; its answers become no less probable."""
        return self.fit(weights, component.sizes, component)[0]

    def search(
        self, weights: NDArray[np.float64], component: Component
    ) -> tuple[Component, list[Component]]:
        """Fit a group anew, and go to neighbouring sizes as long as that is better.

        Returned are the best group, and the fits of neighbouring sizes that come closest to it.
        """
        fit = self.fitter(weights)
        known = {component.sizes: fit(component.sizes, component)}
        best = component.sizes
        while True:
            around = neighbours(best)
            for sizes in around:
                if sizes not in known:
                    known[sizes] = fit(sizes, None)
            ranked = sorted(around, key=lambda sizes: known[sizes][1], reverse=True)
            if not ranked or known[ranked[0]][1] <= known[best][1]:
                return known[best][0], [known[sizes][0] for sizes in ranked[:_RIVALS]]
            best = ranked[0]

    def best_swap(
        self, memberships: NDArray[np.float64], component: Component
    ) -> tuple[Component, float]:
        """Swap the two items of neighbouring tiers for which a mixture's log-likelihood gains most.

        Returned are the group after the swap, and the gain, which may be negative.
        """
        labels = component.labels
        swaps = np.argwhere(labels[:, None] + 1 == labels)
        if not len(swaps) or np.isinf(component.theta):
            return component, 0.0
        gains = self.gains_of_swaps(memberships, component, swaps)
        best = int(gains.argmax())
        swapped = labels.copy()
        swapped[swaps[best]] = labels[swaps[best, ::-1]]
        return replace(component, labels=swapped), float(gains[best])

    @abstractmethod
    def gains_of_swaps(
        self,
        memberships: NDArray[np.float64],
        component: Component,
        swaps: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return what a mixture's log-likelihood gains by each swap of two items of a group."""
