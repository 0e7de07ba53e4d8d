"""Evidence from answers that leave something open, by summing over the tiers that matter.

No recursion sums over tiers here, because the probability of an answer is itself a sum over its
completions. But where the data say much, few tiers have any weight: from the best ones the search
goes on to their neighbours, as long as these have a share worth mentioning.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import exp, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.estimate import Estimate
from tierwise.answers.dispatch import answers_of
from tierwise.answers.likelihood import Likelihood
from tierwise.data.preferences import Preferences
from tierwise.fitting.em import neighbouring_swaps
from tierwise.searching.chib import estimate_log_evidence
from tierwise.theta.quadrature import covering_nodes, log_integral, log_sum
from tierwise.tiers.sizes import log_number_of_tiers

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.answers.base import Labels
    from tierwise.data.rankings import Rankings
    from tierwise.distances.base import Distance
    from tierwise.model.priors import Gamma
    from tierwise.partition.base import PartitionFunction

# Tiers that are less probable than the best by this logarithm have no neighbours that matter.
_DEPTH = 20.0
# Tiers that are even less probable are not worth integrating over theta.
_NOTHING = 45.0
# Seconds that a size vector may take, about.
_SECONDS = 3.0
_FEWEST_TIERS = 25


def log_evidence_of_answers(
    data: Rankings | Preferences,
    distance: Distance,
    partition: PartitionFunction,
    prior: Gamma,
    best: Labels,
    rng: np.random.Generator,
) -> Estimate:
    """Log probability of answers given the sizes of the tiers only.

    Summed over where that is possible, else estimated.

    Parameters
    ----------
    data
        The answers.
    distance
        The distance.
    partition
        The partition function of the sizes and distance.
    prior
        The prior of theta; tiers of these sizes are equally probable beforehand.
    best
        The most probable tiers, so far as they are known.
    rng
        Generator, for what is estimated.
    """
    mistaken = isinstance(data, Preferences) and data.cycles == "keep"
    answers = None if mistaken else answers_of(data, partition.sizes, distance, rng)
    if answers is not None and answers.drawn is None:
        value = sum_over_likely_tiers(Likelihood(answers.exact, partition), prior, best)
        if value is not None:
            return Estimate(value, method="sum over likely tiers")
    return estimate_log_evidence(data, distance, prior, best, rng)


def sum_over_likely_tiers(likelihood: Likelihood, prior: Gamma, best: Labels) -> float | None:
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
    integrand = _Integrand(likelihood, prior)
    mode, width = integrand.peak(best)
    log_tiers = log_number_of_tiers(likelihood.partition.sizes)
    nodes = covering_nodes(
        lambda node: integrand.at(best, node), mode, min(0.25, 0.5 * width), log_tiers
    )
    n_affordable = _SECONDS / sum(part.seconds for part in likelihood.parts) / len(nodes)
    likely = _likely_tiers(integrand, best, nodes, mode, max(int(n_affordable), _FEWEST_TIERS))
    if likely is None:
        return None
    return log_integral(lambda nodes: _log_terms(integrand, likely, nodes), nodes) - log_tiers


class _Integrand:
    """Log of what is integrated over ``log theta``, for any tiers; what was computed is kept."""

    def __init__(self, likelihood: Likelihood, prior: Gamma) -> None:
        self._likelihood = likelihood
        self._prior = prior
        self._known: dict[tuple[bytes, float], float] = {}

    def at(self, labels: Labels, node: float) -> float:
        """Return it for some tiers at one node."""
        key = (labels.tobytes(), node)
        if key not in self._known:
            theta = exp(node)
            log_prior = float(self._prior.log_density(np.array([theta]))[0]) + node
            self._known[key] = self._likelihood.value(labels, theta) + log_prior
        return self._known[key]

    def peak(self, labels: Labels) -> tuple[float, float]:
        """Where it peaks for some tiers, to a fraction of the width, and the width."""
        largest = log(self._likelihood.largest_theta)
        node = log(self._prior.shape / self._prior.rate)
        for _ in range(100):
            theta = exp(node)
            sums = self._likelihood.sums(labels, theta)
            moments = self._likelihood.partition.moments(theta)
            n_rankings = self._likelihood.n_rankings
            slope = n_rankings * float(moments.mean) - sums.mean - self._prior.rate
            slope = self._prior.shape + theta * slope
            information = n_rankings * float(moments.variance) - sums.variance
            width = 1 / sqrt(self._prior.shape + theta * theta * max(information, 0.0))
            step = min(max(slope * width * width, -1.0), 1.0)
            if abs(step) < 0.1 * width:
                break
            node = min(node + step, largest)
        return node, width


def _likely_tiers(
    integrand: _Integrand,
    best: Labels,
    nodes: npt.NDArray[np.float64],
    mode: float,
    most: int,
) -> list[Labels] | None:
    """Go from tiers to their neighbours as long as these matter; None if there are too many."""
    likely = [best]
    known = {best.tobytes()}
    top = _log_weight(integrand, best, nodes)
    waiting = [(-top, 0, best)]
    while waiting:
        below, _, labels = heappop(waiting)
        top = max(top, -below)
        if -below < top - _DEPTH:
            break
        for neighbour in neighbouring_swaps(labels):
            if neighbour.tobytes() in known:
                continue
            if len(likely) == most:
                return None
            known.add(neighbour.tobytes())
            if integrand.at(neighbour, mode) < integrand.at(best, mode) - _NOTHING:
                continue
            weight = _log_weight(integrand, neighbour, nodes)
            heappush(waiting, (-weight, len(known), neighbour))
            likely.append(neighbour)
    return likely


def _log_weight(integrand: _Integrand, labels: Labels, nodes: npt.NDArray[np.float64]) -> float:
    return log_sum(np.array([integrand.at(labels, node) for node in nodes.tolist()]))


def _log_terms(
    integrand: _Integrand, likely: list[Labels], nodes: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Log of the sum over tiers at each node."""
    return np.array(
        [
            log_sum(np.array([integrand.at(labels, node) for labels in likely]))
            for node in nodes.tolist()
        ]
    )
