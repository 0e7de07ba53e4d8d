"""ThetaCurve: a log-likelihood given tiers as it depends on theta, or on several thetas.

Whatever the answers and the distance, and whether there is one theta or several, all that is asked
of theta is asked of a curve: its value, gradient and Hessian.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np

from tierwise._kernels.inversions_weak_orders import block_histograms, count_inversions_by_line
from tierwise.partition.generalised import coefficients_of_lines
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.answers.base import Floats, GivenTiers, Labels, Sums
    from tierwise.answers.given_sizes import Likelihood
    from tierwise.data.counts import WeakOrderCounts
    from tierwise.partition.base import PartitionFunction


class Derivatives(NamedTuple):
    """The value of a curve at a point, its gradient, and its Hessian."""

    value: float
    gradient: Floats
    hessian: Floats


class ThetaCurve(Protocol):
    """The log-likelihood of given tiers as it depends on their thetas, one or several."""

    @property
    def n_thetas(self) -> int:
        """Number of thetas."""

    def derivatives(self, thetas: Floats) -> Derivatives:
        """Value, gradient and Hessian at thetas of 0 or more."""


@dataclass(frozen=True, eq=False)
class CurveOfAnswers:
    """Answers of any kind whose completions are summed over, given tiers.

    Attributes
    ----------
    given
        The parts of the answers, given tiers.
    partition
        The partition function of the model.
    n_rankings
        Sum of the weights of all answers.
    largest_theta
        A theta that is as good as infinite.
    """

    given: tuple[GivenTiers, ...]
    partition: PartitionFunction
    n_rankings: float
    largest_theta: float
    n_thetas: ClassVar[int] = 1

    @classmethod
    def of(cls, likelihood: Likelihood, labels: Labels) -> CurveOfAnswers:
        """Return the curve of the answers of a likelihood, but for those that are drawn."""
        given = tuple(part.given(labels) for part in likelihood.parts)
        partition = likelihood.partition
        return cls(given, partition, likelihood.n_rankings, likelihood.largest_theta)

    def sums(self, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers."""
        finite = min(theta, self.largest_theta)
        return reduce(add, (one.sums(finite) for one in self.given))

    def value(self, theta: float) -> float:
        """Log-likelihood."""
        finite = np.array([min(theta, self.largest_theta)])
        log_weight = sum(float(one.log_weights_at(finite)[0]) for one in self.given)
        return log_weight - self.n_rankings * float(self.partition.log_value(theta))

    def derivatives(self, thetas: Floats) -> Derivatives:
        """Log-likelihood, slope and curvature."""
        theta = float(thetas[0])
        sums, moments = self.sums(theta), self.partition.moments(theta)
        value = sums.log_weight - self.n_rankings * float(moments.log_value)
        slope = self.n_rankings * float(moments.mean) - sums.mean
        bend = sums.variance - self.n_rankings * float(moments.variance)
        return Derivatives(value, np.array([slope]), np.array([[bend]]))


@dataclass(frozen=True, eq=False)
class CurveOfParts:
    """Answers that leave nothing open, with a theta for each part of the distance, or for all."""

    partition: PartitionFunction
    totals: Floats
    log_orders: float
    n_rankings: float

    @property
    def n_thetas(self) -> int:
        """Number of parts."""
        return len(self.totals)

    def derivatives(self, thetas: Floats) -> Derivatives:
        """Log-likelihood, gradient and Hessian; a theta may be infinite if its total is 0."""
        moments = self.partition.part_moments(thetas)
        finite = np.where(np.isinf(thetas), 0.0, thetas)
        value = self.log_orders - float(finite @ self.totals)
        return Derivatives(
            value - self.n_rankings * moments.log_value,
            self.n_rankings * moments.means - self.totals,
            -self.n_rankings * moments.covariances,
        )


@dataclass(frozen=True, eq=False)
class CurveOfLines:
    """Answers with a theta for each part of the distance, the parts being independent.

    Attributes
    ----------
    totals, coefficients
        The log-likelihood of a part is ``coefficients[part] @ log [k]_q! - theta * totals[part]``.
    log_orders
        What does not depend on theta.
    """

    totals: Floats
    coefficients: Floats
    log_orders: float

    @classmethod
    def of(cls, counts: WeakOrderCounts, labels: Labels) -> CurveOfLines:
        """Return the curve of weak orders under inversions, with a theta per tier but the last.

        Inversions of lines are counted, and tied groups by how many items of the lines they hold.

        Examples
        --------
        >>> from tierwise.data.counts import WeakOrderCounts
        >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2], [0, 1, 1]]))
        >>> curve = CurveOfLines.of(counts, np.array([0, 1, 1]))
        >>> round(curve.derivatives(np.array([1.0])).value, 4)
        -1.5084
        """
        sizes = np.bincount(labels)
        n_tiers, width = len(sizes), counts.largest_block + 1
        totals = count_inversions_by_line(counts.above, labels, n_tiers)[:-1]
        of_tier, of_tail = block_histograms(
            counts.block_offsets, counts.block_members, counts.block_weights, labels, n_tiers, width
        )
        logs = log_factorials(counts.n_items)
        log_orders = float((of_tier @ logs[:width]).sum()) - counts.n_rankings * float(
            logs[sizes].sum()
        )
        coefficients = -counts.n_rankings * coefficients_of_lines(tuple(sizes.tolist()))
        coefficients[:, :width] += of_tail[: n_tiers - 1] - of_tier[:-1] - of_tail[1:n_tiers]
        return cls(np.array(totals), coefficients, log_orders)

    @property
    def n_thetas(self) -> int:
        """Number of parts."""
        return len(self.totals)

    def with_one_theta(self) -> CurveOfLines:
        """Return the curve of the same answers where all parts have the same theta."""
        return CurveOfLines(
            self.totals.sum(keepdims=True),
            self.coefficients.sum(axis=0, keepdims=True),
            self.log_orders,
        )

    def says_nothing(self, part: int) -> bool:
        """Return whether the answers say nothing about the theta of a part."""
        return self.totals[part] == 0.0 and not self.coefficients[part, 2:].any()

    def derivatives(self, thetas: Floats) -> Derivatives:
        """Log-likelihood, gradient, and Hessian, which is diagonal."""
        from tierwise._kernels.inversions_lines import theta_derivatives

        parts = zip(self.totals.tolist(), self.coefficients, thetas.tolist(), strict=True)
        found = np.array([theta_derivatives(*part) for part in parts]).reshape(-1, 3)
        value, gradient, bends = found.T
        return Derivatives(self.log_orders + float(value.sum()), gradient, np.diag(bends))


CurveOfThetas: TypeAlias = CurveOfParts | CurveOfLines
"""A curve over several thetas."""


@dataclass(frozen=True, eq=False)
class HeldCurve:
    """A curve over some of its thetas, the others being held."""

    curve: ThetaCurve
    free: NDArray[np.bool_]
    thetas: Floats

    @property
    def n_thetas(self) -> int:
        """Number of thetas that are free."""
        return int(self.free.sum())

    def derivatives(self, thetas: Floats) -> Derivatives:
        """Log-likelihood, and gradient and Hessian in the free thetas."""
        every = self.thetas.copy()
        every[self.free] = thetas
        value, gradient, hessian = self.curve.derivatives(every)
        return Derivatives(value, gradient[self.free], hessian[np.ix_(self.free, self.free)])
