"""A Markov chain over tiers of all sizes and their worths: Gibbs sampling with latent times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lgamma
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.luce_chain import run_sweeps
from tierwise.luce.worths import SHAPE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tierwise.answers.races import Floats, Integers, Races


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

    def run(
        self,
        labels: Integers,
        log_worths: Floats,
        n_draws: int,
        rng: np.random.Generator,
        sweeps_per_draw: int = 1,
    ) -> tuple[Integers, Floats]:
        """Return tiers, counted from 0, and log worths by item, one row per draw.

        Parameters
        ----------
        labels, log_worths
            Where the chain begins: tier of each item, and log worth of each item.
        n_draws, sweeps_per_draw
            Number of draws, and of sweeps for each.
        rng
            Generator.
        """
        races = self.races
        n_items = races.n_items
        met = np.triu(races.wins + races.wins.T, k=1)
        firsts, seconds = np.nonzero(met)
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
            races.arrivals,
            labels.copy(),
            worths,
            self.shape,
            self._log_priors,
            sweeps_per_draw,
            label_draws,
            log_worth_draws,
            rng,
        )
        return label_draws, log_worth_draws
