"""Evidence by summing over the tiers that matter, found by best-first search.

For answers that leave something open no recursion sums over tiers, because the probability of an
answer is itself a sum over its completions. But where the data say much, few tiers have any weight:
from the best ones the search goes on to their neighbours, as long as these have a share worth
mentioning. Theta is integrated over as in `tierwise.evidence.exact`.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise.fitting.em import neighbouring_swaps
from tierwise.partition.interpolated import ThetaSeries, chebyshev_thetas
from tierwise.theta.density import ThetaGivenDistance
from tierwise.tiers.sizes import log_number_of_tiers

if TYPE_CHECKING:
    from tierwise.answers.base import Labels
    from tierwise.answers.likelihood import Likelihood
    from tierwise.model.priors import ThetaPrior

Floats: TypeAlias = NDArray[np.float64]

# Tiers that are less probable than the best by this logarithm have no neighbours that matter.
_DEPTH = 20.0
# Tiers that are even less probable are not worth integrating over theta.
_NOTHING = 45.0
# Seconds that a size vector may take, about.
_SECONDS = 3.0
_FEWEST_TIERS = 25
# Degrees of the sum over tiers as a series in theta.
_FIRST_DEGREE, _LAST_DEGREE = 16, 128
_TOLERANCE = 1e-9


def sum_over_likely_tiers(likelihood: Likelihood, prior: ThetaPrior, best: Labels) -> float | None:
    """Log probability of answers given the sizes of the tiers only; None if too many tiers matter.

    Parameters
    ----------
    likelihood
        Of the answers, at given sizes.
    prior
        The prior of theta; tiers of these sizes are equally probable beforehand.
    best
        The most probable tiers.
    """
    known = _LogLikelihoods(likelihood)
    largest = likelihood.largest_theta
    # As theta grows the log-likelihood falls by the distance of the closest completions; what is
    # left when that is taken out is smooth up to infinity.
    closest = likelihood.sums(best, largest).mean

    def without_slope(thetas: Floats) -> Floats:
        finite = np.minimum(thetas, largest)
        return known.of(best, finite) + closest * finite

    of_best = ThetaSeries(without_slope, 0.0, inf, tolerance=_TOLERANCE)
    given = ThetaGivenDistance(lambda thetas: -of_best(thetas), 1.0, prior)
    log_tiers = log_number_of_tiers(likelihood.partition.sizes)
    low, high = given.range(closest, log_tiers)
    thetas = chebyshev_thetas(low, high, _FIRST_DEGREE)
    n_affordable = _SECONDS / likelihood.seconds / len(thetas)
    most = max(int(n_affordable), _FEWEST_TIERS)
    likely = _likely_tiers(known, best, thetas, prior.log_density(thetas) + np.log(thetas), most)
    if likely is None:
        return None

    def log_sum(thetas: Floats) -> Floats:
        """Log of the sum over tiers, relative to the best ones."""
        logs = np.array([known.of(labels, thetas) for labels in likely])
        relative: Floats = np.logaddexp.reduce(logs - logs[0], axis=0)
        return relative

    series = ThetaSeries(
        log_sum,
        low,
        high,
        first_degree=_FIRST_DEGREE,
        last_degree=_LAST_DEGREE,
        tolerance=_TOLERANCE,
    )
    return given.weighed_density(closest, log_tiers, series).log_integral - log_tiers


class _LogLikelihoods:
    """The log-likelihood of any tiers at any thetas; what was computed is kept."""

    def __init__(self, likelihood: Likelihood) -> None:
        self._likelihood = likelihood
        self._known: dict[tuple[bytes, float], float] = {}

    def of(self, labels: Labels, thetas: Floats) -> Floats:
        """Return it for some tiers at many thetas."""
        return np.array([self._at(labels, theta) for theta in thetas.tolist()])

    def _at(self, labels: Labels, theta: float) -> float:
        key = (labels.tobytes(), theta)
        if key not in self._known:
            self._known[key] = self._likelihood.value(labels, theta)
        return self._known[key]


def _likely_tiers(
    known: _LogLikelihoods, best: Labels, thetas: Floats, log_prior: Floats, most: int
) -> list[Labels] | None:
    """Go from tiers to their neighbours as long as these matter; None if there are too many."""
    likely = [best]
    seen = {best.tobytes()}
    heights = known.of(best, thetas) + log_prior
    mode = int(heights.argmax())
    top = of_best = float(heights[mode])
    waiting = [(-top, 0, best)]
    while waiting:
        below, _, labels = heappop(waiting)
        top = max(top, -below)
        if -below < top - _DEPTH:
            break
        for neighbour in neighbouring_swaps(labels):
            if neighbour.tobytes() in seen:
                continue
            if len(likely) == most:
                return None
            seen.add(neighbour.tobytes())
            at_mode = float(known.of(neighbour, thetas[[mode]])[0] + log_prior[mode])
            if at_mode < of_best - _NOTHING:
                continue
            height = float((known.of(neighbour, thetas) + log_prior).max())
            heappush(waiting, (-height, len(seen), neighbour))
            likely.append(neighbour)
    return likely
