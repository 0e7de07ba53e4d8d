"""The curves over theta of all kinds of answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tierwise.answers.given_sizes import derivatives_of_wins
from tierwise.theta.curve import Derivatives, Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.answers.base import Labels
    from tierwise.answers.given_sizes import Likelihood
    from tierwise.partition.base import PartitionFunction
    from tierwise.partition.parts import PartedPartition
    from tierwise.theta.curve import ThetaCurve


@dataclass(frozen=True, eq=False)
class CurveOfDistance:
    """Answers that leave nothing open, at a total distance from the tiers."""

    partition: PartitionFunction
    total: float
    n_rankings: float
    n_thetas: ClassVar[int] = 1

    def derivatives(self, thetas: Floats) -> Derivatives:
        """Log-likelihood, slope and curvature."""
        theta = float(thetas[0])
        moments = self.partition.moments(theta)
        return Derivatives(
            -theta * self.total - self.n_rankings * float(moments.log_value),
            np.array([self.n_rankings * float(moments.mean) - self.total]),
            np.array([[-self.n_rankings * float(moments.variance)]]),
        )


@dataclass(frozen=True, eq=False)
class CurveOfAnswers:
    """Answers of any kind whose completions are summed over, given tiers."""

    likelihood: Likelihood
    labels: Labels
    n_thetas: ClassVar[int] = 1

    def derivatives(self, thetas: Floats) -> Derivatives:
        """Log-likelihood, slope and curvature."""
        value, slope, bend = self.likelihood.derivatives(self.labels, float(thetas[0]))
        return Derivatives(value, np.array([slope]), np.array([[bend]]))


@dataclass(frozen=True, eq=False)
class CurveOfWins:
    """Wins between tiers, the best tier first."""

    between: Floats
    sizes: NDArray[np.int64]
    n_thetas: ClassVar[int] = 1

    def derivatives(self, thetas: Floats) -> Derivatives:
        """Log-likelihood, slope and curvature."""
        value, slope, bend = derivatives_of_wins(self.between, self.sizes, float(thetas[0]))
        return Derivatives(value, np.array([slope]), np.array([[bend]]))


@dataclass(frozen=True, eq=False)
class CurveOfParts:
    """Answers that leave nothing open, with a theta for each part of the distance."""

    partition: PartedPartition
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
