"""The likelihood at given sizes: a sum over completions; of battles, in closed form.

A complete answer is an answer with one completion, so that `Likelihood` serves answers of every
kind whose completions are summed over or drawn.

A battle says of two items which is above, and leaves all else open. Where every comparison is made
by somebody else, the answers are independent, and all that `ComparisonLikelihood` needs of them is
how often each item has won against each other one. Several comparisons by one judge are dependent
under the model; then this is a composite likelihood (Varin, Reid and Firth 2011), and is called
that.

References
----------
C. Varin, N. Reid and D. Firth (2011). An overview of composite likelihood methods. Statistica
Sinica 21, 5-42.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from math import hypot, inf, isinf, lgamma, log
from operator import add
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tierwise._kernels.comparisons import (
    LARGEST_THETA,
    LEAST_THETA,
    LOG_HALF,
    write_values_at_thetas,
)
from tierwise._kernels.consensus import total_cost
from tierwise._util.types import Estimate
from tierwise.answers.base import (
    SECONDS_OF_AN_EVALUATION,
    Completions,
    KnownAnswers,
    expected_costs_of,
)
from tierwise.answers.curves import CurveOfAnswers, Derivatives
from tierwise.answers.dispatch import MOST_COMPLETIONS
from tierwise.answers.drawn import STRETCHES
from tierwise.errors import TooLargeError
from tierwise.partition.gaussian import averages_over_gaps, precedence_derivatives

if TYPE_CHECKING:
    import numpy.typing as npt
    from numpy.typing import NDArray

    from tierwise.answers.base import ExactCompletions, Floats, Labels, Sums
    from tierwise.answers.curves import ThetaCurve
    from tierwise.answers.drawn import DrawnCompletions
    from tierwise.distances import Costs
    from tierwise.partition.base import PartitionFunction
    from tierwise.tiers import Sizes

# At this theta, per unit of distance, a completion that is not the closest weighs nothing.
LARGEST_THETA_OF_UNIT = 46.0
# A maximum beyond this is as good as an infinite theta: it would take a single deviation
# among tens of billions of rankings.
LARGEST_FINITE_THETA_OF_UNIT = 25.0
# From here on the slope may be lost in rounding: the log-likelihood is compared with that at
# infinity.
DOUBTFUL_THETA_OF_UNIT = 10.0
# Where there may be several maxima, one is looked for near the best of so many thetas.
_N_SCANNED = 48


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood at given sizes, for any tiers and theta.

    Attributes
    ----------
    parts
        Collections of answers that are summed over, each in its own way.
    partition
        The partition function of the model.
    drawn
        Answers that have too many completions to be summed over, if there are any.
    rows
        Which of the distinct answers each part holds, in the order of the parts.
    """

    parts: tuple[ExactCompletions, ...]
    partition: PartitionFunction
    drawn: DrawnCompletions | None = None
    rows: tuple[npt.NDArray[np.int64], ...] = ()

    @property
    def sizes(self) -> Sizes:
        """Sizes of the tiers."""
        return self.partition.sizes

    @property
    def known(self) -> bool:
        """Whether all answers say which items lie in which block."""
        return self.drawn is None and all(isinstance(part, KnownAnswers) for part in self.parts)

    @property
    def exact(self) -> bool:
        """Whether all completions are summed over, and none are drawn."""
        return self.drawn is None

    @property
    def method(self) -> str:
        """How the normalising constant is found."""
        return self.partition.method

    @property
    def all_parts(self) -> tuple[Completions, ...]:
        """The parts that are summed over and the one that is drawn."""
        return self.parts if self.drawn is None else (*self.parts, self.drawn)

    def part_to_draw(self) -> DrawnCompletions:
        """Return the answers whose completions are drawn."""
        if self.drawn is None:
            raise TypeError("all completions can be summed over: use EM")
        return self.drawn

    @cached_property
    def n_rankings(self) -> float:
        """Sum of the weights of all answers."""
        return sum(float(part.weights.sum()) for part in self.all_parts)

    @property
    def log_completions(self) -> float:
        """Sum over answers of the log number of orderings that agree with them."""
        return sum(float((part.weights * part.log_numbers).sum()) for part in self.all_parts)

    @property
    def seconds(self) -> float:
        """About how long a sum over all completions takes."""
        return sum(part.seconds for part in self.parts)

    @property
    def n_places_drawn(self) -> int:
        """Number of places, of all answers, that are drawn."""
        return 0 if self.drawn is None else self.drawn.places.size

    @property
    def tolerance(self) -> float:
        """How close an end of an interval of theta is to be found, as a share of it."""
        return 1e-6 if self.drawn is None else 1e-2

    @property
    def largest_theta(self) -> float:
        """A theta that is as good as infinite."""
        return LARGEST_THETA_OF_UNIT / self.partition.rule.unit

    def reweighted(self, weights: Floats) -> Likelihood:
        """Return the likelihood of the same distinct answers with other weights."""
        self._refuse_drawn()
        pairs = zip(self.parts, self.rows, strict=True)
        return replace(self, parts=tuple(part.reweighted(weights[rows]) for part, rows in pairs))

    def log_weights(self, labels: Labels, theta: float) -> Floats:
        """Log of the sum of ``exp(-theta d)`` over the completions of each distinct answer."""
        self._refuse_drawn()
        logs = self._log_weights(labels, min(theta, self.largest_theta))
        if theta == inf:
            # Answers without a completion at distance 0 lose as much again at twice the theta.
            lost = logs - self._log_weights(labels, 2.0 * self.largest_theta)
            logs = np.where(lost > LARGEST_THETA_OF_UNIT / 2.0, -inf, logs)
        return logs

    def _log_weights(self, labels: Labels, theta: float) -> Floats:
        logs = np.empty(sum(len(rows) for rows in self.rows))
        for part, rows in zip(self.parts, self.rows, strict=True):
            logs[rows] = part.log_weights(labels, theta)
        return logs

    def _refuse_drawn(self) -> None:
        if self.drawn is not None:
            raise TooLargeError(
                f"{len(self.drawn.weights)} of the answers have more than {MOST_COMPLETIONS:,} "
                "completions, too many to sum over: fit or sample the posterior, which draw "
                "completions, or restrict the rankings to fewer items"
            )

    def sums(self, labels: Labels, theta: float) -> Sums:
        """Log weights, and moments of the distance, over all answers that are summed over."""
        return reduce(add, (part.sums(labels, theta) for part in self.parts))

    def value(self, labels: Labels, theta: float, *, stretches: int = STRETCHES) -> Estimate:
        """Log-likelihood, with its error where completions or the partition function are drawn.

        Parameters
        ----------
        labels, theta
            Tiers, counted from 0, and theta.
        stretches
            Stretches of draws where completions are drawn: more make the error smaller.
        """
        log_partition = self.partition.log_value(theta)
        theta = min(theta, self.largest_theta)
        summed = self.sums(labels, theta).log_weight if self.parts else 0.0
        error = self.n_rankings * log_partition.standard_error
        method = log_partition.method
        if self.drawn is not None:
            drawn = self.drawn.log_weight(labels, theta, stretches=stretches)
            summed, error = summed + float(drawn), hypot(error, drawn.standard_error)
            method = drawn.method
        value = summed - self.n_rankings * float(log_partition)
        return Estimate(value, standard_error=error, method=method)

    def values_at(self, labels: Labels, thetas: Floats) -> Floats:
        """Log-likelihood at each of many finite thetas, where nothing is drawn."""
        self._refuse_drawn()
        finite = np.minimum(thetas, self.largest_theta)
        summed: Floats = np.sum(
            [part.given(labels).log_weights_at(finite) for part in self.parts], axis=0
        )
        return summed - self.n_rankings * self.partition.log_values(thetas)

    def expected_costs(self, labels: Labels, theta: float) -> Costs:
        """Costs of all tiers, on the average over completions drawn from the model."""
        return expected_costs_of(self.all_parts, labels, min(theta, self.largest_theta))

    def total_distance(self, labels: Labels, theta: float) -> float:
        """Distance of all answers from the tiers, on the average over their completions."""
        costs = self.expected_costs(labels, theta)
        return float(total_cost(labels, costs.linear, costs.pairs))

    def costs_at_random(self) -> Costs:
        """Costs of all tiers with all completions equally likely: where to start.

        At a theta of 0 it does not matter for which tiers that is.
        """
        labels = np.repeat(np.arange(len(self.sizes), dtype=np.int64), self.sizes)
        return self.expected_costs(labels, 0.0)

    def information(self, labels: Labels, theta: float) -> float:
        """Information about theta: minus the second derivative of the log-likelihood."""
        information = self.n_rankings * float(self.partition.variance(theta))
        if self.parts:
            information -= self.sums(labels, theta).variance
        if self.drawn is not None:
            information -= self.drawn.variance(labels, theta)
        return information

    def curve(self, labels: Labels) -> ThetaCurve:
        """Return what the answers say about theta, given tiers, but for what is drawn."""
        return CurveOfAnswers.of(self, labels)

    def first_theta(self, labels: Labels) -> float:  # noqa: ARG002
        """Return a theta to begin with."""
        return 0.1 / self.partition.rule.unit


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


def likely_theta(between: Floats, sizes: NDArray[np.int64]) -> float:
    """Return the theta of greatest likelihood among some: a scan of log theta."""
    thetas = np.exp(np.linspace(np.log(LEAST_THETA), np.log(LARGEST_THETA), _N_SCANNED))
    return float(thetas[int(values_at_thetas(thetas, between, sizes).argmax())])


def derivatives_of_wins(
    between: Floats, sizes: NDArray[np.int64], theta: float
) -> tuple[float, float, float]:
    """Log-likelihood of wins between tiers, best tier first, and its derivatives in theta."""
    rows = precedence_derivatives(theta, int(sizes.sum()))
    above, first, second = averages_over_gaps(sizes, rows)
    upper = np.triu_indices(len(sizes), k=1)
    won, lost = between[upper], between.T[upper]
    below = np.maximum(1.0 - above, 1e-30)
    value = float(between.trace() * LOG_HALF + won @ np.log(above) + lost @ np.log(below))
    slopes = won / above - lost / below
    bends = won / above**2 + lost / below**2
    return value, float(slopes @ first), float(slopes @ second - bends @ first**2)


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
    >>> value, slope, _ = likelihood.derivatives(np.array([0, 1]), theta=np.log(3))
    >>> round(value, 4), round(slope, 10)
    (-2.2493, 0.0)
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
        """Information about theta: minus the second derivative of the log-likelihood."""
        return -self.derivatives(labels, theta)[2]

    def derivatives(self, labels: Labels, theta: float) -> tuple[float, float, float]:
        """Log-likelihood and its first two derivatives in theta."""
        return derivatives_of_wins(*tier_wins(self.wins, labels), theta)

    def curve(self, labels: Labels) -> ThetaCurve:
        """Return what the answers say about theta, given tiers."""
        return CurveOfWins(*tier_wins(self.wins, labels))

    def first_theta(self, labels: Labels) -> float:
        """Return the best of some thetas: there may be more than one maximum."""
        return likely_theta(*tier_wins(self.wins, labels))
