"""The likelihood of independent comparisons under tiers, in closed form.

A battle says of two items which is above, and leaves all else open. Where every comparison is made
by somebody else, the answers are independent, and all that is needed of them is how often each item
has won against each other one. Several comparisons by one judge are dependent under the model; then
this is a composite likelihood (Varin, Reid and Firth 2011), and is called that.

References
----------
C. Varin, N. Reid and D. Firth (2011). An overview of composite likelihood methods. Statistica
Sinica 21, 5-42.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isinf, lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.comparisons import (
    LARGEST_THETA,
    LEAST_THETA,
    LOG_HALF,
    write_values_at_thetas,
)
from tierwise._util.types import Estimate
from tierwise.answers.base import SECONDS_OF_AN_EVALUATION
from tierwise.answers.drawn import STRETCHES
from tierwise.answers.given_sizes import Likelihood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.answers.base import Floats, Labels

# Theta is looked for among so many values, and then among so many near the best.
_N_SCANNED, _N_REFINED = 48, 9


def tier_wins(wins: Floats, labels: Labels) -> tuple[Floats, NDArray[np.int64]]:
    """Add up wins by tiers: ``[l, m]`` says how often tier ``l`` won against tier ``m``; and sizes.

    Examples
    --------
    >>> import numpy as np
    >>> tier_wins(np.array([[0, 3.0], [1, 0]]), np.array([0, 0]))[0]
    array([[4.]])
    """
    member = np.eye(int(labels.max()) + 1)[labels]
    between: Floats = member.T @ wins @ member
    return between, np.bincount(labels).astype(np.int64)


def values_at_thetas(thetas: Floats, between: Floats, sizes: NDArray[np.int64]) -> Floats:
    """Log-likelihood of wins between tiers, best tier first, at each of many thetas."""
    values = np.empty(len(thetas))
    order = np.arange(len(sizes))
    sums = np.empty(int(sizes.sum()) + 3)
    write_values_at_thetas(thetas, np.ascontiguousarray(between), sizes, order, sums, values)
    return values


def best_theta(between: Floats, sizes: NDArray[np.int64]) -> float:
    """Theta of greatest likelihood: a scan of log theta, refined by ever finer scans."""
    logs = np.linspace(np.log(LEAST_THETA), np.log(LARGEST_THETA), _N_SCANNED)
    while True:
        best = int(values_at_thetas(np.exp(logs), between, sizes).argmax())
        low, high = logs[max(best - 1, 0)], logs[min(best + 1, len(logs) - 1)]
        if high - low < 1e-9:
            return float(np.exp(logs[best]))
        logs = np.linspace(low, high, _N_REFINED)


@dataclass(frozen=True, eq=False)
class ComparisonLikelihood(Likelihood):
    """The likelihood of independent comparisons at given sizes, for any tiers and theta.

    Attributes
    ----------
    wins
        ``wins[a, b]`` is how often ``a`` was preferred to ``b``; a drawn comparison counts half to
        each side.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise import Battles
    >>> from tierwise.answers.likelihood import source_of
    >>> battles = Battles.from_rows([("x", "y", "x")] * 3 + [("x", "y", "y")])
    >>> likelihood = source_of(battles, "inversions").at((1, 1))
    >>> round(float(likelihood.value(np.array([0, 1]), theta=1.0)), 4)
    -2.253
    >>> round(likelihood.best_theta(np.array([0, 1]), start=1.0), 4)  # log(3 / 1)
    1.0986
    """

    wins: Floats = field(kw_only=True)

    @property
    def known(self) -> bool:
        """A battle leaves open where all other items are."""
        return False

    @property
    def method(self) -> str:
        """No normalising constant is needed."""
        return "closed form"

    @cached_property
    def n_rankings(self) -> float:
        """Number of comparisons."""
        return float(self.wins.sum())

    @property
    def log_completions(self) -> float:
        """Half of all orderings agree with a comparison."""
        return self.n_rankings * (lgamma(len(self.wins) + 1) - log(2))

    @property
    def seconds(self) -> float:
        """About how long an evaluation takes."""
        return SECONDS_OF_AN_EVALUATION

    @property
    def tolerance(self) -> float:
        """Evaluations cost nothing."""
        return 1e-14

    def value(
        self,
        labels: Labels,
        theta: float,
        *,
        stretches: int = STRETCHES,  # noqa: ARG002
    ) -> Estimate:
        """Log-likelihood, at a theta that may be 0 or infinite."""
        between, sizes = tier_wins(self.wins, labels)
        if len(sizes) == 1 or theta == 0.0:
            value = float(between.sum() * LOG_HALF)
        elif isinf(theta):
            lost = np.tril(between, k=-1).any()
            value = -inf if lost else float(between.trace() * LOG_HALF)
        else:
            value = float(values_at_thetas(np.array([theta]), between, sizes)[0])
        return Estimate(value, method=self.method)

    def total_distance(self, labels: Labels, theta: float) -> float:  # noqa: ARG002
        """Count the comparisons that the item of the better tier lost."""
        return float(np.tril(tier_wins(self.wins, labels)[0], k=-1).sum())

    def information(self, labels: Labels, theta: float) -> float:
        """Information about theta, by differences."""
        between, sizes = tier_wins(self.wins, labels)
        step = max(theta, 1e-3) * 1e-3
        around = np.abs(theta + step * np.array([-1.0, 0.0, 1.0]))
        values = values_at_thetas(np.maximum(around, LEAST_THETA), between, sizes)
        return -float(values[0] - 2 * values[1] + values[2]) / step**2

    def best_theta(self, labels: Labels, start: float) -> float:  # noqa: ARG002
        """Find the theta of greatest likelihood, wherever it is.

        Infinite if nobody lost against an item of a worse tier.
        """
        between, sizes = tier_wins(self.wins, labels)
        if len(sizes) == 1:
            return 0.0
        if not np.tril(between, k=-1).any():
            return inf
        theta = best_theta(between, sizes)
        return 0.0 if theta <= 2 * LEAST_THETA else theta
