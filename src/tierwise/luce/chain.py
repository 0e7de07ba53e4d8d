"""A Markov chain over tiers and their worths, sizes open or held.

Rankings have latent times (Gibbs); where items only meet in pairs, counts of meetings are enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lgamma
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from tierwise._kernels.luce_chain import run_sweeps
from tierwise._kernels.luce_meetings import run_sweeps_of_meetings
from tierwise._kernels.luce_worths import Effects
from tierwise.answers.meetings import ROW_OF_EFFECT
from tierwise.luce.effects import PRIORS
from tierwise.luce.worths import SHAPE, best_worths, lower_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tierwise.answers.races import Floats, Integers, Races

Held: TypeAlias = Literal["nothing", "sizes", "tiers"]
"""What a chain leaves as it is."""

# Exchanges of items that a sweep tries for each item, where sizes are held.
_EXCHANGES_PER_ITEM = 4
# Those that it tries given worths alone: each costs about as much as the sweep.
_EXCHANGES_WITHOUT_TIMES = 2


@dataclass(frozen=True, eq=False)
class RaceChain:
    """A chain over tiers and worths, given races.

    Attributes
    ----------
    races
        The answers.
    log_prior_of_number
        Log prior probability of any sizes with so many tiers, by their number, from 1.
    shape
        Shape of the Gamma prior of worths.
    held
        "nothing": tiers of all sizes are drawn. "sizes": tiers of the sizes that the chain begins
        with; "tiers": worths alone. The prior of sizes then plays no part.
    """

    races: Races
    log_prior_of_number: Sequence[float] = ()
    shape: float = SHAPE
    held: Held = "nothing"

    @cached_property
    def _log_priors(self) -> Floats:
        """By number of tiers, from 0: log prior of tiers without an order.

        Tiers are in the order of their worths, and each of so many factorial orders is as probable.
        """
        ordered = [
            value + lgamma(number + 1.0)
            for number, value in enumerate(self.log_prior_of_number, start=1)
        ]
        return np.array([-np.inf, *ordered, -np.inf])

    @cached_property
    def _steps_of_effects(self) -> Floats:
        """Root of the covariance of steps of log effects: theirs given worths, as far as is best.

        Optimal for normal variables is 2.38 over the root of their number (Roberts et al. 1997).
        """
        names, n_items = self.races.meetings.effects, self.races.n_items
        steps = np.zeros((2, 2))
        if names:
            precision = best_worths(self.races, np.arange(n_items), shape=self.shape).precision
            rows = [ROW_OF_EFFECT[name] for name in names]
            covariance = np.asarray(np.linalg.inv(precision[n_items:, n_items:]), dtype=np.float64)
            steps[np.ix_(rows, rows)] = 2.38 / len(names) ** 0.5 * lower_root(covariance)
        return steps

    def run(
        self,
        labels: Integers,
        log_worths: Floats,
        n_draws: int,
        rng: np.random.Generator,
        sweeps_per_draw: int = 1,
        log_effects: Floats | None = None,
    ) -> tuple[Integers, Floats, Floats]:
        """Return tiers, counted from 0, log worths by item, and log effects, one row per draw.

        Parameters
        ----------
        labels, log_worths
            Where the chain begins: tier of each item, and log worth of each item. Where something
            is held, log worths decrease from tier to tier.
        n_draws, sweeps_per_draw
            Number of draws, and of sweeps for each.
        rng
            Generator.
        log_effects
            Effects beside worths that the chain begins with, if there are any.
        """
        if self.held != "sizes" or not self.races.n_answers:
            return self._sweep(labels, log_worths, n_draws, rng, sweeps_per_draw, log_effects)
        parts = []
        for _ in range(n_draws):
            labels, log_worths = self._exchange(labels, log_worths, rng)
            drawn = self._sweep(labels, log_worths, 1, rng, sweeps_per_draw, log_effects)
            labels, log_worths, log_effects = drawn[0][0], drawn[1][0], drawn[2][0]
            parts.append(drawn)
        all_labels, all_logs, all_effects = (
            np.concatenate(one) for one in zip(*parts, strict=True)
        )
        return all_labels, all_logs, all_effects

    def _exchange(
        self,
        labels: Integers,
        log_worths: Floats,
        rng: np.random.Generator,
    ) -> tuple[Integers, Floats]:
        """Let items of neighbouring tiers trade places, no times being given: Metropolis.

        Given the times that were drawn for them, items seldom trade places where answers are many
        and each of two items would do as well.
        """
        races = self.races
        _, firsts = np.unique(labels, return_index=True)
        point = log_worths[firsts]
        if len(firsts) == 1:
            return labels, log_worths
        value = races.value(labels, point)
        for _ in range(_EXCHANGES_WITHOUT_TIMES):
            tier = int(rng.integers(len(firsts) - 1))
            one = rng.choice(np.flatnonzero(labels == tier))
            other = rng.choice(np.flatnonzero(labels == tier + 1))
            tried = labels.copy()
            tried[one], tried[other] = tier + 1, tier
            found = races.value(tried, point)
            if np.log(1.0 - rng.random()) < found - value:
                labels, value = tried, found
        return labels, point[labels]

    def _sweep(
        self,
        labels: Integers,
        log_worths: Floats,
        n_draws: int,
        rng: np.random.Generator,
        sweeps_per_draw: int,
        log_effects: Floats | None,
    ) -> tuple[Integers, Floats, Floats]:
        """Make sweeps in a kernel; see `run`.

        Where items only meet in pairs, no latent times are needed.
        """
        races = self.races
        n_items, names = races.n_items, races.meetings.effects
        effects = np.array([1.0, 0.0])
        effect_draws = np.empty((n_draws, 2)) if names else None
        shapes, middles, successes = np.zeros(2), np.ones(2), np.zeros(2)
        for number, name in enumerate(names):
            row = ROW_OF_EFFECT[name]
            effects[row] = 1.0 if log_effects is None else np.exp(log_effects[number])
            shapes[row], middles[row] = PRIORS[name]
            successes[row] = races.meetings.successes[number]
        worths = np.ones(n_items + 1)
        worths[labels] = np.exp(log_worths)
        # Draws do not hold the common scale, so it is drawn again.
        n_tiers = int(labels.max()) + 1
        worths *= rng.standard_gamma(self.shape * n_tiers) / worths[:n_tiers].sum()
        label_draws = np.empty((n_draws, n_items), dtype=np.int64)
        log_worth_draws = np.empty((n_draws, n_items))
        met, arrivals = races.meetings.met, races.arrivals
        begin = labels.copy(), worths, self.shape, self._log_priors
        n_exchanges = {"nothing": None, "sizes": _EXCHANGES_PER_ITEM * n_items, "tiers": 0}
        sweeps, draws = (n_exchanges[self.held], sweeps_per_draw), (label_draws, log_worth_draws)
        if races.n_answers:
            run_sweeps(races.answers, arrivals, *begin, *sweeps, *draws, rng)
        else:
            between = met + met.T
            if "position" in names:
                between = np.stack((met.T, met), axis=2).reshape(n_items, -1)
            totals = 1.0 + between.sum(axis=1)
            of_effects = Effects(effects, shapes, middles, successes, self._steps_of_effects)
            run_sweeps_of_meetings(
                between, arrivals, totals, of_effects, *begin, *sweeps, *draws, effect_draws, rng
            )
        log_effect_draws = np.empty((n_draws, 0))
        if effect_draws is not None:
            log_effect_draws = np.log(effect_draws[:, [ROW_OF_EFFECT[name] for name in names]])
        return label_draws, log_worth_draws, log_effect_draws
