"""A Markov chain over tiers of all sizes and their worths: Gibbs sampling with latent times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lgamma
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.luce_chain import run_sweeps
from tierwise.luce.effects import PRIORS
from tierwise.luce.worths import SHAPE, best_worths, lower_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tierwise.answers.races import Floats, Integers, Races

# Where the kernel has each effect.
_ROW_OF_EFFECT = {"position": 0, "draws": 1}


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
    """

    races: Races
    log_prior_of_number: Sequence[float]
    shape: float = SHAPE

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
            rows = [_ROW_OF_EFFECT[name] for name in names]
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
            Where the chain begins: tier of each item, and log worth of each item.
        n_draws, sweeps_per_draw
            Number of draws, and of sweeps for each.
        rng
            Generator.
        log_effects
            Effects beside worths that the chain begins with, if there are any.
        """
        races = self.races
        n_items, names = races.n_items, races.meetings.effects
        met = races.meetings.met
        if "position" not in names:
            met = np.triu(met + met.T, k=1)
        firsts, seconds = np.nonzero(met)
        effects = np.array([1.0, 0.0])
        effect_draws = np.empty((n_draws, 2))
        shapes, middles, successes = np.zeros(2), np.ones(2), np.zeros(2)
        for number, name in enumerate(names):
            row = _ROW_OF_EFFECT[name]
            effects[row] = 1.0 if log_effects is None else np.exp(log_effects[number])
            shapes[row], middles[row] = PRIORS[name]
            successes[row] = races.meetings.successes[number]
        arrivals = races.arrivals.copy()
        if "draws" in names:
            # The latent ratio of a pair leaves the root of the worth of its second item.
            np.add.at(arrivals, seconds, 0.5)
        worths = np.ones(n_items + 1)
        worths[labels] = np.exp(log_worths)
        label_draws = np.empty((n_draws, n_items), dtype=np.int64)
        log_worth_draws = np.empty((n_draws, n_items))
        run_sweeps(
            races.order,
            races.block_starts,
            races.first_blocks,
            races.weights,
            firsts,
            seconds,
            met[firsts, seconds],
            arrivals,
            effects,
            shapes,
            middles,
            successes,
            self._steps_of_effects,
            labels.copy(),
            worths,
            self.shape,
            self._log_priors,
            sweeps_per_draw,
            label_draws,
            log_worth_draws,
            effect_draws,
            rng,
        )
        rows = [_ROW_OF_EFFECT[name] for name in names]
        return label_draws, log_worth_draws, np.log(effect_draws[:, rows])
