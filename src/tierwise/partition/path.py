"""Path sampling (thermodynamic integration), for sizes that are too many for the recursion.

Gelman and Meng, Simulating normalizing constants: from importance sampling to bridge sampling to
path sampling, Statistical Science 13 (1998).

``log Psi(theta) = log n! - integral of E_t[d] over t from 0 to theta``. Chains walk up a ladder of
thetas, each rung a fraction of a standard deviation of the distance above the last, and estimate
mean and variance on every rung. The variance is the slope of the mean, so a cubic spline through
both has next to no error of its own. The chains are independent: their spread gives the standard
error.
"""

from __future__ import annotations

from functools import cached_property
from math import lgamma
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.checks import RandomSource, as_generator
from tierwise._util.estimate import Estimate
from tierwise.partition.base import Moments, PartitionFunction

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.distances.base import Distance
    from tierwise.tiers.sizes import Sizes

N_CHAINS = 16
# Transpositions of each chain on a rung: so many for each item, and at least so many in all.
SWEEPS = 400
FEWEST_STEPS = 20_000
# Share of the sweeps that is left out while a chain settles on its rung.
SETTLING = 0.2


class PathPartition(PartitionFunction):
    """Partition function estimated along a path of thetas.

    The path is extended as larger thetas are asked for, and answers all smaller ones.
    """

    method = "path"

    def __init__(
        self,
        sizes: Sizes,
        distance: Distance,
        *,
        sweeps: int | None = None,
        rng: RandomSource = None,
    ) -> None:
        super().__init__(sizes, distance)
        self._rng = as_generator(rng)
        least = max(SWEEPS * self.n_items, FEWEST_STEPS)
        self._steps = least if sweeps is None else sweeps * self.n_items
        self._rungs: list[float] = []
        self._means: list[npt.NDArray[np.float64]] = []
        self._variances: list[npt.NDArray[np.float64]] = []

    @cached_property
    def _chains(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Label sequences of the chains and their distances in units, from a uniform start."""
        from tierwise._kernels.orderings import sequence_units

        sizes = np.array(self.sizes, dtype=np.int64)
        labels = np.repeat(np.arange(len(sizes)), sizes)
        sequences = self._rng.permuted(np.tile(labels, (N_CHAINS, 1)), axis=1)
        blocks = np.array(self.distance.blocks(self.sizes), dtype=np.int64)
        rule = self.rule
        units = sequence_units(sequences, blocks, rule.misplaced, rule.tied, rule.placing)
        return sequences, units

    def _climb(self) -> None:
        """Add a rung: theta is per unit here."""
        from tierwise._kernels.orderings import walk

        if not self._rungs:
            theta = 0.0
        else:
            spread = float(np.sqrt(self._variances[-1].mean()))
            theta = self._rungs[-1] + 1.0 / (1.0 + 2.0 * spread)
        sequences, units = self._chains
        blocks = np.array(self.distance.blocks(self.sizes), dtype=np.int64)
        for length in (round(SETTLING * self._steps), self._steps):
            sums = walk(
                sequences,
                blocks,
                theta,
                self.rule.misplaced,
                self.rule.placing,
                length,
                units,
                self._rng,
            )
        means = sums[:, 0] / self._steps
        self._rungs.append(theta)
        self._means.append(means)
        self._variances.append(np.maximum(sums[:, 1] / self._steps - means**2, 0.0))

    def _is_frozen(self) -> bool:
        """Whether no chain left distance 0 on the last rung."""
        return bool(self._means) and not self._means[-1].any()

    def by_chain(
        self, theta: float
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Integral of the mean distance up to theta, mean and variance there, chain by chain."""
        from scipy.interpolate import CubicHermiteSpline

        per_unit = theta * self.rule.unit
        while (not self._rungs or self._rungs[-1] < per_unit) and not self._is_frozen():
            self._climb()
        reached = min(per_unit, self._rungs[-1])
        if len(self._rungs) == 1:
            areas, means, variances = np.zeros(N_CHAINS), self._means[0], self._variances[0]
        else:
            spline = CubicHermiteSpline(
                self._rungs, np.array(self._means), -np.array(self._variances), axis=0
            )
            areas = spline.integrate(0.0, reached)
            # Where the chains all but stand still, rounding could take these below 0.
            means = np.maximum(spline(reached), 0.0)
            variances = -spline(reached, 1)
        unit = self.rule.unit
        return areas, unit * means, unit**2 * variances

    def _moments(self, theta: float) -> Moments:
        areas, means, variances = self.by_chain(theta)
        return Moments(
            self._average(lgamma(self.n_items + 1) - areas),
            self._average(means),
            self._average(variances),
        )

    def _average(self, values: npt.NDArray[np.float64]) -> Estimate:
        """Average over the chains, with its standard error."""
        error = float(values.std(ddof=1)) / N_CHAINS**0.5
        return Estimate(float(values.mean()), standard_error=error, method=self.method)
