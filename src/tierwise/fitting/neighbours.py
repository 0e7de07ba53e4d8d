"""Delta method: how probable it is that neighbouring tiers are ranked in order, with intervals.

Theta is hard to read; that an item of the first tier is ranked above one of the second with a
probability of 72% is not. It is a function of the thetas of a fit, so its standard error is the
length of its gradient in the metric of their covariance, taken on the scale of log odds to stay
between 0 and 1 (Agresti, Categorical Data Analysis, section 3.1). Probability and gradient are
closed forms for inversions and strict orders. Elsewhere both come from draws: minus the gradient is
the covariance, under the model, of "in order" with the part of the distance that theta charges.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import exp, isinf, log
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.checks import RandomSource, as_generator
from tierwise._util.results import Result
from tierwise._util.types import plain_item, plain_number
from tierwise.distances import get_distance
from tierwise.errors import InputError, instead, listed
from tierwise.fitting.result import Fit, TierRow
from tierwise.model.clustered_mallows import ClusteredMallows

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

_STEP = 1e-4
_DRAWS = 20_000
# A theta about which nothing is known does not matter if the probability hardly depends on it.
_NO_SLOPE = 1e-6


@dataclass(frozen=True, eq=False)
class NeighbourAgreement(Result):
    """The probability that items of two neighbouring rows of a tier list are ranked in order.

    Attributes
    ----------
    above, below
        The rows. ``below`` is None for items that people are divided about: they are compared with
        the items of all tiers that the fit places below theirs.
    probability
        The probability that an item of the first is ranked above one of the second, under the
        fitted model; 1/2 is a coin toss.
    interval
        Its confidence interval, at the level of the fit.
    observed
        The share of such pairs in this order in the data.
    exact
        Whether the probability is a closed form; otherwise it was estimated from draws.
    """

    above: TierRow
    below: TierRow | None
    probability: float
    interval: tuple[float, float]
    observed: float
    exact: bool

    @property
    def name(self) -> str:
        """The comparison in words."""
        if self.below is None:
            return f"divided: {listed(self.above.items)}"
        return f"tier {self.above.number} above tier {self.below.number}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON."""
        return {
            "above": [plain_item(item) for item in self.above.items],
            "below": None if self.below is None else [plain_item(one) for one in self.below.items],
            "divided": self.above.divided,
            "probability": self.probability,
            "interval": list(self.interval),
            "observed": plain_number(self.observed),
            "exact": self.exact,
        }


def neighbour_agreement(fit: Fit, *, rng: RandomSource = 0) -> tuple[NeighbourAgreement, ...]:
    """Return the probability that an item of each tier is ranked above one of the next.

    Items that people are divided about come last.

    Parameters
    ----------
    fit
        A fit with at least two tiers and any concentration.
    rng
        Seed or generator, for what has to be drawn.

    Examples
    --------
    >>> import tierwise as tw
    >>> fit = tw.fit(tw.load_political_goals(), (2, 2), "inversions")
    >>> (found,) = neighbour_agreement(fit)
    >>> round(found.probability, 3), [round(end, 3) for end in found.interval]
    (0.757, [0.745, 0.768])
    """
    if not isinstance(fit, Fit):
        raise InputError(f"agreement of neighbours needs a Fit, from tierwise.fit; got {fit!r}")
    if len(fit.sizes) == 1:
        raise InputError(
            "there is only one tier, so there are no neighbours to compare: use a "
            "fit with two tiers or more"
        )
    if fit.family == "luce":
        raise InputError(
            "this fit has worths instead of theta: see next_tier_probabilities for the "
            "probability that neighbours are ranked in order",
            [instead("plots.strengths", "for the distances between tiers")],
        )
    pairs = _pairs(fit)
    comparison = _Comparison(fit, [(better, worse) for _, _, better, worse in pairs], rng)
    observed = fit.agreement_by_tier
    return tuple(
        NeighbourAgreement(
            above=above,
            below=below,
            probability=float(comparison.probabilities[number]),
            interval=comparison.interval(number),
            observed=float(
                observed.against_worse[better]
                if below is None
                else observed.by_pair[better, worse[0]]
            ),
            exact=comparison.exact,
        )
        for number, (above, below, better, worse) in enumerate(pairs)
    )


def _pairs(fit: Fit) -> list[tuple[TierRow, TierRow | None, int, list[int]]]:
    """Return the rows to compare, with the tiers of the fit, counted from 0, behind them."""
    rows = [row for row in fit.tier_rows() if not row.divided]
    tier_of = {item: fit.tiers[item] - 1 for item in fit.tiers.items}
    pairs: list[tuple[TierRow, TierRow | None, int, list[int]]] = [
        (above, below, tier_of[above.items[0]], [tier_of[below.items[0]]])
        for above, below in pairwise(rows)
    ]
    divided = sorted({tier_of[item] for item in fit.divided})
    for tier in divided:
        items = tuple(fit.tiers)[tier]
        pairs.append((TierRow(None, tuple(items)), None, tier, [*range(tier + 1, len(fit.sizes))]))
    return pairs


class _Comparison:
    """Probabilities of pairs of tiers, and how they change with the thetas."""

    def __init__(self, fit: Fit, pairs: list[tuple[int, list[int]]], rng: RandomSource) -> None:
        self._fit = fit
        self._pairs = pairs
        self._thetas = np.array(fit.thetas)
        model = self._model(self._thetas)
        first = model.pair_probabilities(draws=2)
        self.exact = first.exact
        if self.exact:
            self.probabilities = self._gathered(first.probabilities)
            self._gradient = self._differences()
        else:
            self.probabilities, self._gradient = self._from_draws(model, rng)

    def _model(self, thetas: Floats) -> ClusteredMallows:
        values = tuple(thetas.tolist())
        theta = values[0] if self._fit.concentration == "single" else values
        return ClusteredMallows(self._fit.tiers, theta, self._fit.distance, self._fit.concentration)

    def _gathered(self, table: Floats) -> Floats:
        """Average the table of tiers over the worse tiers of each pair, by their sizes."""
        sizes = np.array(self._fit.sizes, dtype=np.float64)
        return np.array(
            [
                np.average(table[better, worse], weights=sizes[worse])
                for better, worse in self._pairs
            ]
        )

    def _at(self, thetas: Floats) -> Floats:
        return self._gathered(self._model(thetas).pair_probabilities().probabilities)

    def _differences(self) -> Floats:
        """Return the gradient, one column for each theta, by central differences."""
        columns = []
        for part in range(len(self._thetas)):
            if isinf(self._thetas[part]):
                columns.append(np.zeros(len(self._pairs)))
                continue
            ends = np.array([self._thetas, self._thetas])
            ends[:, part] = max(0.0, self._thetas[part] - _STEP), self._thetas[part] + _STEP
            width = ends[1, part] - ends[0, part]
            columns.append((self._at(ends[1]) - self._at(ends[0])) / width)
        return np.column_stack(columns)

    def _from_draws(self, model: ClusteredMallows, rng: RandomSource) -> tuple[Floats, Floats]:
        """Estimate probabilities and gradient from the same draws."""
        sizes, distance = self._fit.sizes, get_distance(self._fit.distance)
        drawn = model.sample(_DRAWS, as_generator(rng))
        labels = self._fit.tiers.label_array(drawn.items)
        places = drawn.patterns.astype(np.int64)
        sequences = labels[np.argsort(places, axis=1)]
        weights = drawn.pattern_weights / drawn.n_rankings
        in_order = np.column_stack(
            [_share_in_order(sequences, better, worse) for better, worse in self._pairs]
        )
        parts = model.partition.part_distances(distance.block_of_place(sizes)[places], labels)
        means = weights @ in_order
        centred = parts - weights @ parts
        return means, -(weights[:, None] * (in_order - means)).T @ centred

    @property
    def _covariance(self) -> Floats:
        """Covariances of the thetas; those that are infinite, or not known, do not vary here."""
        errors = np.array([one.standard_error for one in self._fit.theta_estimates])
        known = np.isfinite(errors)
        errors = np.where(known, errors, 0.0)
        correlations = np.eye(len(errors))
        if self._fit.concentration != "single":
            moments = self._model(self._thetas).part_moments()
            inverse = np.linalg.pinv(moments.covariances[np.ix_(known, known)], hermitian=True)
            scale = np.sqrt(np.maximum(np.diag(inverse), 1e-300))
            correlations[np.ix_(known, known)] = inverse / np.outer(scale, scale)
        covariance: Floats = correlations * np.outer(errors, errors)
        return covariance

    def interval(self, number: int) -> tuple[float, float]:
        """Return the confidence interval of a probability."""
        value, gradient = float(self.probabilities[number]), self._gradient[number]
        estimates = self._fit.theta_estimates
        untold = np.array([isinf(one.standard_error) for one in estimates])
        if (np.abs(gradient[untold]) > _NO_SLOPE).any():
            return 0.5, 1.0
        low = high = value
        if 0.0 < value < 1.0:
            odds = log(value / (1.0 - value))
            error = float(gradient @ self._covariance @ gradient) ** 0.5 / (value * (1.0 - value))
            reach = error * NormalDist().inv_cdf((1 + self._fit.level) / 2)
            low, high = _share(odds - reach), _share(odds + reach)
        if any(isinf(one.value) for one in estimates):
            # Where all agree, the probability is known from below only.
            ends = zip(self._thetas.tolist(), estimates, strict=True)
            least = [one.interval[0] if isinf(one.value) else theta for theta, one in ends]
            low = min(low, float(self._at(np.array(least))[number]))
        # Theta is not negative, so neither tier is placed against the order.
        return max(low, min(0.5, value)), high


def _share_in_order(sequences: npt.NDArray[np.int64], better: int, worse: list[int]) -> Floats:
    """Share of pairs of items, one of a tier and one of worse ones, that each row has in order."""
    is_worse = np.isin(sequences, worse)
    n_later = is_worse.sum(axis=1, keepdims=True) - np.cumsum(is_worse, axis=1)
    is_better = sequences == better
    in_order = (is_better * n_later).sum(axis=1)
    shares: Floats = in_order / (is_better.sum(axis=1) * is_worse.sum(axis=1))
    return shares


def _share(log_odds: float) -> float:
    return 1.0 / (1.0 + exp(-log_odds)) if log_odds > -700 else 0.0
