"""Meetings of two items: won, lost or drawn, and who was shown first.

With worths ``w``, the item that was shown first wins, loses and draws with probabilities that are
proportional to ``gamma w_a``, ``w_b`` and ``nu sqrt(w_a w_b)`` (Davidson 1970; with the factor of
the first place, Davidson and Beaver 1977). In log worths, log gamma and log nu this is a
multinomial logit model, so its log-likelihood is concave. Without draws nu is 0, and without an
advantage of the first place gamma is 1: Bradley-Terry.

References
----------
R. R. Davidson (1970). On extending the Bradley-Terry model to accommodate ties in paired comparison
experiments. Journal of the American Statistical Association 65, 317-328.
R. R. Davidson and R. J. Beaver (1977). On extending the Bradley-Terry model to incorporate
within-pair order effects. Biometrics 33, 693-702.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from tierwise._kernels.luce_worths import TierMeetings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.data.battles import Battles

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

EffectName: TypeAlias = Literal["position", "draws"]
"""What is estimated beside worths: the advantage of the first place, and the chance of a draw."""
ROW_OF_EFFECT = {"position": 0, "draws": 1}
"""Where kernels have each of them."""


@dataclass(frozen=True, eq=False)
class Meetings:
    """How two items did against each other, counted.

    Attributes
    ----------
    won
        ``won[a, b]``: how often ``a`` won against ``b``; ``a`` being shown first, where that plays
        a part.
    lost
        ``lost[a, b]``: how often ``a`` was shown first and lost against ``b``; None if it plays
        no part who was shown first.
    drawn
        ``drawn[a, b]``: how often they drew, ``a`` being shown first where that plays a part; None
        where a draw is not an outcome of its own.
    """

    won: Floats
    lost: Floats | None = None
    drawn: Floats | None = None

    @property
    def effects(self) -> tuple[EffectName, ...]:
        """What is estimated beside worths, in the order of the parameters."""
        names: list[EffectName] = []
        if self.lost is not None:
            names.append("position")
        if self.drawn is not None:
            names.append("draws")
        return tuple(names)

    @property
    def _tables(self) -> tuple[Floats | None, ...]:
        return self.won, self.lost, self.drawn

    @cached_property
    def met(self) -> Floats:
        """``met[a, b]``: how often two items met, ``a`` as in ``won``."""
        tables = [table for table in self._tables if table is not None]
        return np.asarray(sum(tables[1:], start=tables[0]))

    @property
    def draws(self) -> Floats:
        """How often two items drew; never, where a draw is not an outcome of its own."""
        return np.zeros_like(self.won) if self.drawn is None else self.drawn

    @cached_property
    def any(self) -> bool:
        """Whether any two items met."""
        return bool(self.met.any())

    def without(self, effect: EffectName) -> Meetings:
        """Return the same meetings, an effect not being estimated; draws are then left out."""
        drawn = None if effect == "draws" else self.drawn
        if effect == "draws" or self.lost is None:
            return Meetings(self.won, self.lost, drawn)
        return Meetings(self.won + self.lost.T, None, drawn)

    def reweighted(self, rng: np.random.Generator) -> Meetings:
        """Return the same meetings, each with a weight that is exponential (Bayesian bootstrap)."""
        others = [
            None if table is None else table * rng.standard_exponential(table.shape)
            for table in self._tables
        ]
        assert others[0] is not None
        return Meetings(others[0], others[1], others[2])

    def of_tiers(self, labels: Integers, n_tiers: int) -> Meetings:
        """Add up the meetings of items to those of their tiers."""
        added = [
            None if table is None else _added(table, labels, n_tiers) for table in self._tables
        ]
        assert added[0] is not None
        return Meetings(added[0], added[1], added[2])

    def by_tier(self, labels: Integers, n_tiers: int) -> TierMeetings:
        """Add up all that kernels know of meetings."""
        met = _added(self.met, labels, n_tiers)
        if self.lost is None:
            # It does not matter who was shown first: all meetings of two tiers go to one cell.
            met = np.triu(met) + np.tril(met, -1).T
        factors, rows, successes = np.array([1.0, 0.0]), np.full(2, -1), np.zeros(2)
        for number, name in enumerate(self.effects):
            effect = ROW_OF_EFFECT[name]
            rows[effect], successes[effect] = n_tiers + number, self.successes[number]
        won: Floats = np.bincount(labels, self.arrivals, n_tiers).astype(np.float64, copy=False)
        return TierMeetings(np.ascontiguousarray(met), won, factors, rows, successes)

    @cached_property
    def arrivals(self) -> Floats:
        """How often each item won, drawn meetings counting half."""
        counts: Floats = self.won.sum(axis=1)
        if self.lost is not None:
            counts = counts + self.lost.sum(axis=0)
        if self.drawn is not None:
            counts = counts + 0.5 * (self.drawn.sum(axis=0) + self.drawn.sum(axis=1))
        return counts

    @cached_property
    def successes(self) -> Floats:
        """How often the outcome occurred that each effect makes more probable."""
        counts = {"position": self.won.sum()}
        if self.drawn is not None:
            counts["draws"] = self.drawn.sum()
        return np.array([float(counts[name]) for name in self.effects])

    def log_probabilities(self, log_worths: Floats, effects: Floats) -> list[Floats]:
        """Log probabilities of won, lost and, if it can be, drawn, by row and column."""
        added = dict(zip(self.effects, effects.tolist(), strict=True))
        return log_probabilities_of_outcomes(
            log_worths, added.get("position", 0.0), added.get("draws")
        )

    def value(self, log_worths: Floats, effects: Floats) -> float:
        """Log-likelihood, given log worths and log effects."""
        logs = self.log_probabilities(log_worths, effects)
        return sum(
            float((table * log).sum())
            for table, log in zip(self._outcomes(), logs, strict=True)
            if table is not None
        )

    def _outcomes(self) -> tuple[Floats | None, ...]:
        return self._tables if self.drawn is not None else self._tables[:2]


def _added(table: Floats, labels: Integers, n_tiers: int) -> Floats:
    """Add up a table of items to one of their tiers."""
    if n_tiers == len(labels) and (labels == np.arange(n_tiers)).all():
        return table
    # Sums over runs of sorted items: products of matrices this small keep other cores waiting.
    order = np.argsort(labels, kind="stable")
    present, starts = np.unique(labels[order], return_index=True)
    rows = np.add.reduceat(table[order], starts, axis=0)
    sums: Floats = np.zeros((n_tiers, n_tiers))
    sums[np.ix_(present, present)] = np.add.reduceat(rows[:, order], starts, axis=1)
    return sums


def log_probabilities_of_outcomes(
    log_worths: Floats, log_first: float = 0.0, log_draw: float | None = None
) -> list[Floats]:
    """Log probabilities that the row wins, loses and draws against the column, being shown first.

    Parameters
    ----------
    log_worths
        Log worths of the rows, which are those of the columns.
    log_first
        Log of the factor of the first place.
    log_draw
        Log of Davidson's factor of draws; None if there are no draws.

    Examples
    --------
    >>> won, lost, drawn = log_probabilities_of_outcomes(np.log([4.0, 1.0]), log_draw=0.0)
    >>> np.exp([won[0, 1], lost[0, 1], drawn[0, 1]]).round(3).tolist()
    [0.571, 0.143, 0.286]
    """
    above = log_first + log_worths[:, None] - log_worths[None, :]
    if log_draw is None:
        return [-np.logaddexp(0.0, -above), -np.logaddexp(0.0, above)]
    drawn = log_draw + 0.5 * (above - log_first)
    total = np.logaddexp(np.logaddexp(0.0, above), drawn)
    return [above - total, -total, drawn - total]


def meetings_of_battles(battles: Battles) -> Meetings:
    """Take battles as meetings, with draws and the first place as the battles say."""
    has_draws = battles.drawn_as == "model"
    if battles.position == "ignore" and not has_draws:
        return Meetings(battles.wins)
    counted = 1.0 if battles.design_effect is None else 1.0 / battles.design_effect
    if battles.position == "ignore":
        return Meetings(counted * battles.decided, None, counted * np.triu(battles.drawn, k=1))
    shown = battles.shown
    assert shown is not None  # battles refuse to be so without it
    won, lost = shown.won, (battles.decided - shown.won).T
    if battles.drawn_as == "half":
        won, lost = won + shown.drawn / 2, lost + shown.drawn / 2
    return Meetings(counted * won, counted * lost, counted * shown.drawn if has_draws else None)
