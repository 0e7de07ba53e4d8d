"""One group with worths fitted to answers that belong to it in part: the M step of EM.

Given tiers, worths are those of greatest probability, by Newton's method; items of neighbouring
tiers trade places, and tiers of all sizes are searched, as for one group. Each worth but the first
costs half the log number of rankings (BIC), so tiers are not cut for nothing; their prior keeps
worths finite where an item is never beaten.

References
----------
Varadhan, R. and Roland, C. (2008). Simple and globally convergent methods for accelerating the
convergence of any EM algorithm. Scandinavian Journal of Statistics 35, 335-353.
"""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, nan
from typing import TYPE_CHECKING, Literal

import numpy as np

from tierwise.answers.races import races_of
from tierwise.fitting.luce import sceptical
from tierwise.luce.search import (
    TierSearch,
    climb_from,
    cut_by_strength,
    likely_exchanges,
    search_tiers,
    sizes_of,
    tiers_of_sizes,
)
from tierwise.luce.worths import SHAPE, best_worths, decreasing
from tierwise.mixture.groups import RIVALS, Component, Fitter, moved_items
from tierwise.tiers import log_number_of_tiers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.answers.races import Races
    from tierwise.luce.search import Found
    from tierwise.mixture.groups import Components, DistinctAnswers, SearchOfSizes
    from tierwise.tiers import Sizes

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

# Step of the difference quotients that give derivatives in log worths.
_STEP = 1e-4
# What a step of EM may leave to gain in the worths of a group, in units of log-likelihood.
_GAIN_LEFT = 1e-6
# The share of a group's answers that may have changed, and a search is not made again.
_NEARLY_EQUAL = 0.005
# What a join or a cut of a group's tiers must seem to gain to be tried: those that lose more are
# not among the tiers that all groups together may make the best.
_LEAST_PROMISE = -3.0
# How many steps of EM one extrapolation may stand for, about.
_LONGEST_LEAP = 32.0


class WorthFitter(Fitter):
    """Fits groups with one worth per tier to weighted answers.

    Parameters
    ----------
    answers
        The answers.
    """

    def __init__(self, answers: DistinctAnswers) -> None:
        self.answers = answers
        self.races = races_of(answers.data)
        # Tiers for which a search found none better: the weights then, and what came closest.
        self._settled: dict[tuple[str, bytes], tuple[Floats, list[Component]]] = {}
        self._log_priors: dict[Sizes, float] = {}
        self._price = log(max(answers.n_rankings, 1.0)) / 2

    def _component(self, labels: Integers, logs: Floats) -> Component:
        return Component(sizes_of(labels), labels, nan, 0.0, logs)

    def log_probabilities(self, component: Component) -> Floats:
        """Log probability of each answer in a group."""
        return self.races.log_probabilities(component.labels, log_worths_of(component))

    def penalty(self, component: Component) -> float:
        """Log number of tiers of these sizes, the price of worths, and what their prior takes."""
        # There are few of them: NumPy would take longer.
        logs: list[float] = log_worths_of(component).tolist()
        n_tiers, peak = len(logs), max(logs)
        total = peak + log(sum(exp(one - peak) for one in logs) / n_tiers) - sum(logs) / n_tiers
        price = (n_tiers - 1) * self._price + SHAPE * n_tiers * total
        return log_number_of_tiers(component.sizes) + price

    def n_parameters(self, component: Component) -> int:
        """Count the worths that are free."""
        return len(component.sizes) - 1

    def error_of_log_likelihood(self, component: Component, weight: float) -> float:  # noqa: ARG002
        """Probabilities are exact: 0."""
        return 0.0

    def fit(
        self, weights: Floats, sizes: Sizes, current: Component | None
    ) -> tuple[Component, float]:
        """Fit a group of given sizes: no worse than the current one, where there is one.

        Returned are the group, and its answers' log-likelihood less the penalty.
        """
        races = self.races.reweighted(weights)
        if current is None:
            found = tiers_of_sizes(races, sizes).worths
            labels = found.labels
            if sizes_of(labels) != sizes:
                # Worths of the best tiers go against their sizes: begin with the order of items.
                labels = cut_by_strength(races, sizes)
                found = best_worths(races, labels)
            candidates = [self._component(labels, decreasing(found.logs))]
        else:
            # The next step of EM begins here: what is left to gain is gained there.
            found = best_worths(
                races, current.labels, log_worths_of(current), least_gain=_GAIN_LEFT
            )
            if (found.logs[:-1] >= found.logs[1:]).all():
                # Newton's method went uphill from the current one.
                fitted = self._component(current.labels, found.logs)
                return fitted, found.log_likelihood - self.penalty(fitted)
            order = np.argsort(-found.logs, kind="stable")
            labels = np.argsort(order)[current.labels]
            candidates = [current, self._component(current.labels, decreasing(found.logs))]
            if sizes_of(labels) == sizes:
                candidates.append(self._component(labels, found.logs[order]))
        best = max(candidates, key=lambda one: self._value(races, one))
        return best, self._value(races, best)

    def _value(self, races: Races, component: Component) -> float:
        return races.value(component.labels, log_worths_of(component)) - self.penalty(component)

    @property
    def searches(self) -> tuple[SearchOfSizes, ...]:
        """Change a group's own tiers; where that is no better, search from the beginning."""
        return self.search_nearby, self.search

    def search_nearby(
        self, weights: Floats, component: Component
    ) -> tuple[Component, list[Component]]:
        """Change the tiers of a group, and their number, as long as that is better."""
        return self._search(weights, component, "nearby")

    def search(self, weights: Floats, component: Component) -> tuple[Component, list[Component]]:
        """Search tiers of all sizes for a group.

        Returned are the best group, and other tiers that come closest to it.
        """
        return self._search(weights, component, "everywhere")

    def _search(
        self, weights: Floats, component: Component, where: Literal["nearby", "everywhere"]
    ) -> tuple[Component, list[Component]]:
        """Search unless nothing better was found for the same tiers with nearly these weights."""
        fitted, _ = self.fit(weights, component.sizes, component)
        known = self._settled.get((where, fitted.labels.tobytes()))
        if known is not None and _nearly_equal(weights, known[0]):
            return fitted, known[1]
        races = self.races.reweighted(weights)
        search = TierSearch(races, sceptical, least_promise=_LEAST_PROMISE, priors=self._log_priors)
        if where == "nearby":
            found = climb_from(search, fitted.labels, log_worths_of(fitted))
        else:
            found = search_tiers(search)
        best, rivals = self._ranked(races, fitted, found)
        if best is fitted:
            self._settled[where, fitted.labels.tobytes()] = weights, rivals
        return best, rivals

    def _ranked(
        self, races: Races, fitted: Component, found: list[Found]
    ) -> tuple[Component, list[Component]]:
        """Return the best of a group and tiers that were found for it, and the others."""
        known = [
            self._component(one.labels, one.worths.logs)
            for one in found[: RIVALS + 1]
            if (one.labels != fitted.labels).any()
        ]
        known = sorted([fitted, *known], key=lambda one: self._value(races, one), reverse=True)
        return known[0], known[1:]

    def extrapolated(
        self, first: Components, second: Components, third: Components
    ) -> Components | None:
        """Go on in the direction of two steps of EM, as far as these tell how they slow down.

        This is the squared extrapolation of Varadhan and Roland (2008), in log worths and log
        shares; None where tiers changed meanwhile, or where steps do not slow down.
        """
        labels = [
            b"".join(one.labels.tobytes() for one in groups) for groups, _ in (first, second, third)
        ]
        if len(set(labels)) > 1 or not (third[1] > 0.0).all():
            return None
        points = [
            np.concatenate([*(log_worths_of(one) for one in groups), np.log(shares)])
            for groups, shares in (first, second, third)
        ]
        step, bend = points[1] - points[0], points[2] - 2.0 * points[1] + points[0]
        length = float(np.linalg.norm(bend))
        if length == 0.0:
            return None
        factor = min(float(np.linalg.norm(step)) / length, _LONGEST_LEAP)
        if factor <= 1.0:
            return None
        point = points[0] + 2.0 * factor * step + factor**2 * bend
        groups, place = [], 0
        for one in third[0]:
            logs = point[place : place + len(one.sizes)]
            groups.append(self._component(one.labels, decreasing(logs)))
            place += len(one.sizes)
        shares = np.exp(point[place:] - point[place:].max())
        return tuple(groups), shares / shares.sum()

    def best_swap(self, memberships: Floats, component: Component) -> tuple[Component, float]:
        """Swap the two items of neighbouring tiers for which a mixture's log-likelihood gains most.

        Returned are the group after the swap, and the gain, which may be negative.
        """
        weights = self.answers.weights
        races = self.races.reweighted(np.ascontiguousarray(weights * memberships))
        swapped = [
            replace(component, labels=labels)
            for labels in likely_exchanges(races, component.labels, log_worths_of(component))
        ]
        if not swapped:
            return component, 0.0
        before = self.log_probabilities(component)
        changes = np.array([self.log_probabilities(one) - before for one in swapped])
        gains = np.log1p(memberships * np.expm1(changes)) @ weights
        best = int(gains.argmax())
        return swapped[best], float(gains[best])

    def altered(self, component: Component, *, resize: bool) -> list[Component]:  # noqa: ARG002
        """List groups in which an item was taken out and put back elsewhere."""
        return moved_items(component)

    def scores(self, component: Component) -> Floats:
        """Return derivatives of each answer's log probability, in log worths but the last."""
        logs = log_worths_of(component)
        columns = []
        for tier in range(len(logs) - 1):
            step = np.zeros(len(logs))
            step[tier] = _STEP
            up, down = (
                self.races.log_probabilities(component.labels, logs + sign * step)
                for sign in (1.0, -1.0)
            )
            columns.append((up - down) / (2 * _STEP))
        return np.column_stack(columns)

    def bends(self, component: Component, own: Floats) -> Floats:  # noqa: ARG002
        """Return 0: squares of scores alone give the information, as many answers do."""
        return np.zeros(len(component.sizes) - 1)


def _nearly_equal(weights: Floats, others: Floats) -> bool:
    """Return whether few answers, by weight, have gone from a group or come to it."""
    return float(np.abs(weights - others).sum()) <= _NEARLY_EQUAL * float(weights.sum())


def log_worths_of(component: Component) -> Floats:
    """Log worths of the tiers of a group."""
    assert component.log_worths is not None
    return component.log_worths
