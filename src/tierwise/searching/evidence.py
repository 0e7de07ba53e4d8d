"""Evidence: how probable the rankings are under given sizes, whatever the tiers and theta.

``p(data | sizes)`` is the integral over theta of its prior times the mean probability of the data
over all tiers of these sizes. The mean is exact, by a recursion over sets of items; the integral is
taken in ``u = log theta`` by the trapezoidal rule, which for such a bump converges exponentially
fast.
"""

from math import exp, inf, isfinite, log, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tierwise.consensus.problem import make_problem
from tierwise.consensus.subsets import subset_work
from tierwise.errors import TooLargeError
from tierwise.model.priors import Gamma
from tierwise.theta.quadrature import NEGLIGIBLE, covering_nodes, log_integral
from tierwise.tiers.sizes import log_number_of_tiers

if TYPE_CHECKING:
    from tierwise.consensus.problem import Problem
    from tierwise.data.counts import BlockCounts
    from tierwise.distances.base import Distance
    from tierwise.partition.base import PartitionFunction

# Transitions of the recursion over sets: some seconds for a few dozen nodes.
MOST_TRANSITIONS = 50_000_000


def log_evidence(
    blocks: "BlockCounts",
    distance: "Distance",
    partition: "PartitionFunction",
    prior: Gamma | None = None,
) -> float:
    """Log probability of the rankings given the sizes of the tiers only.

    Tiers of these sizes are equally probable beforehand, and theta has a Gamma prior.

    Parameters
    ----------
    blocks
        Counts of the rankings for these sizes.
    distance
        The distance.
    partition
        The partition function of the sizes and distance.
    prior
        The prior of theta; its default is ``Gamma(2, 2)``.

    Examples
    --------
    >>> from tierwise import Rankings
    >>> from tierwise.data.counts import block_counts
    >>> from tierwise.distances.named import get_distance
    >>> from tierwise.partition.choose import partition_function
    >>> rankings = Rankings.from_orderings([["a", "b", "c"]] * 3)
    >>> blocks = block_counts(rankings, (1, 2))
    >>> round(log_evidence(blocks, get_distance("kendall"), partition_function((1, 2))), 6)
    -3.967295
    """
    refuse_too_many_tiers(blocks.sizes)
    integrand = _Integrand(
        make_problem(distance.costs(blocks), blocks.sizes), partition, blocks, prior
    )
    mode = integrand.mode()
    step = min(0.25, 0.6 * integrand.width(mode))
    # The sum over tiers, relative to the best, falls from their number to their share as theta
    # grows: so it can lift the left side of the peak, but not the right one.
    nodes = covering_nodes(integrand.height, mode, step, log_number_of_tiers(blocks.sizes))
    return log_integral(integrand, nodes)


def refuse_too_many_tiers(sizes: tuple[int, ...]) -> None:
    """Raise if the sum over all tiers of these sizes is beyond reach."""
    transitions = subset_work(sizes).transitions
    if transitions > MOST_TRANSITIONS:
        raise TooLargeError(
            f"the evidence of sizes {sizes} is a sum over tiers that takes {transitions:.2g} "
            f"steps, and more than {MOST_TRANSITIONS:.2g} are too many: evidence is for up to "
            'about 16 items; use criterion="likelihood", or fewer items'
        )


class _Integrand:
    """Log of what is integrated over ``u = log theta``, for given data and sizes."""

    def __init__(
        self,
        problem: "Problem",
        partition: "PartitionFunction",
        blocks: "BlockCounts",
        prior: Gamma | None,
    ) -> None:
        from tierwise._kernels.subsets import least_costs

        self._problem = problem
        self._partition = partition
        self._blocks = blocks
        self._prior = prior or Gamma()
        self._least = least_costs(problem.linear, problem.pairs_transposed, problem.sizes_array)
        self._log_tiers = log_number_of_tiers(problem.sizes)

    def __call__(self, nodes: NDArray[np.float64]) -> NDArray[np.float64]:
        from tierwise._kernels.evidence import weigh_tiers

        thetas = np.exp(nodes)
        negligible = NEGLIGIBLE + self._log_tiers
        weights = weigh_tiers(
            self._problem.linear,
            self._problem.pairs_transposed,
            self._problem.sizes_array,
            self._least,
            thetas,
            negligible / float(thetas.min()),
        )
        terms: NDArray[np.float64] = (
            self.of_best_tiers(nodes)
            + np.log(weights)
            - self._log_tiers
            + self._blocks.log_completions
        )
        return terms

    def of_best_tiers(self, nodes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log integrand if all tiers but the best ones had no probability at all."""
        thetas = np.exp(nodes)
        log_partition = [float(self._partition.log_value(theta)) for theta in thetas.tolist()]
        terms: NDArray[np.float64] = (
            self._prior.log_density(thetas)
            + nodes
            - thetas * float(self._least[-1])
            - self._blocks.n_rankings * np.array(log_partition)
        )
        return terms

    def mode(self) -> float:
        """Where the integrand of the best tiers peaks, to a fraction of its width.

        It is concave in theta, so its slope in ``u`` changes sign once.
        """
        low, high = -inf, inf
        node = log(self._prior.shape / self._prior.rate)
        for _ in range(200):
            theta = exp(node)
            slope = self._prior.shape + theta * (
                self._blocks.n_rankings * float(self._partition.mean(theta))
                - self._prior.rate
                - float(self._least[-1])
            )
            low, high = (node, high) if slope > 0 else (low, node)
            width = self.width(node)
            step = min(max(slope * width * width, -1.0), 1.0)
            if abs(step) < 0.1 * width:
                break
            following = node + step
            if not low < following < high and isfinite(low) and isfinite(high):
                following = (low + high) / 2
            node = following
        return node

    def width(self, node: float) -> float:
        """Return the standard deviation that the peak has if it lies here."""
        theta = exp(node)
        variance = self._blocks.n_rankings * float(self._partition.variance(theta))
        return 1 / sqrt(self._prior.shape + theta * theta * variance)

    def height(self, node: float) -> float:
        """Log integrand of the best tiers alone at one node."""
        return float(self.of_best_tiers(np.array([node]))[0])
