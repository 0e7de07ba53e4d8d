"""Monte Carlo estimates of the partition function: importance sampling and path sampling.

Importance sampling draws from the pseudo-likelihood: the paper's estimator (Piancastelli and Friel,
Clustered Mallows Model). Path sampling, or thermodynamic integration, is for sizes that are too
many for the recursion (Gelman and Meng, Simulating normalizing constants: from importance sampling
to bridge sampling to path sampling, Statistical Science 13, 1998):
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

from tierwise._util.checks import RandomSource, as_generator, spawn_seeds
from tierwise._util.resources import check_memory
from tierwise._util.types import Estimate
from tierwise.partition.base import Moments, PartitionFunction, check_theta, decay_by_units

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.distances import Distance
    from tierwise.tiers import Sizes

DEFAULT_DRAWS = 100_000
# Labels drawn at a time: 64 MB.
LABELS_AT_A_TIME = 8_000_000
N_CHAINS = 16
# Transpositions of each chain on a rung: so many for each item, and at least so many in all.
SWEEPS = 400
FEWEST_STEPS = 20_000
# Share of the sweeps that is left out while a chain settles on its rung.
SETTLING = 0.2


class ImportancePartition(PartitionFunction):
    """Partition function estimated from draws of the pseudo-likelihood.

    Every theta uses the same seed, so that the estimate changes smoothly with theta.
    """

    method = "importance"

    def __init__(
        self,
        sizes: Sizes,
        distance: Distance,
        *,
        draws: int | None = None,
        rng: RandomSource = None,
    ) -> None:
        super().__init__(sizes, distance)
        self._draws = DEFAULT_DRAWS if draws is None else draws
        self._seed = spawn_seeds(rng, 1)[0]

    def _draw(self, theta: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Log weights and distances of the draws."""
        from tierwise._kernels.orderings import draw_pseudo, log_pseudo

        rng = np.random.default_rng(self._seed)
        sizes = np.array(self.sizes, dtype=np.int64)
        decay = decay_by_units(theta, 1.0, max(self.sizes))
        log_weights, distances = [], []
        rows_at_a_time = max(1, LABELS_AT_A_TIME // self.n_items)
        for start in range(0, self._draws, rows_at_a_time):
            n_rows = min(rows_at_a_time, self._draws - start)
            sequences = draw_pseudo(sizes, decay, n_rows, rng)
            found = self.distance.between(sequences, self.sizes)
            log_weights.append(-theta * found - log_pseudo(sequences, sizes, decay, theta)[0])
            distances.append(found)
        return np.concatenate(log_weights), np.concatenate(distances)

    def _moments(self, theta: float) -> Moments:
        log_weights, distances = self._draw(theta)
        peak = float(log_weights.max())
        weights = np.exp(log_weights - peak)
        average = float(weights.mean())
        shares = weights / weights.sum()
        mean = float(shares @ distances)
        centred = distances - mean
        variance = float(shares @ centred**2)
        # Delta method for the logarithm and for the self-normalised averages.
        error = float(weights.std(ddof=1)) / average / self._draws**0.5
        return Moments(
            self._estimate(peak + float(np.log(average)), error),
            self._estimate(mean, _error_of_average(shares, centred)),
            self._estimate(variance, _error_of_average(shares, centred**2 - variance)),
        )

    def _estimate(self, value: float, error: float) -> Estimate:
        return Estimate(value, standard_error=error, method=self.method)

    def effective_sample_size(self, theta: float) -> float:
        """How many independent draws from the model itself the draws are worth."""
        log_weights, _ = self._draw(check_theta(theta, infinite="refused"))
        weights = np.exp(log_weights - log_weights.max())
        return float(weights.sum() ** 2 / (weights**2).sum())


def _error_of_average(shares: npt.NDArray[np.float64], centred: npt.NDArray[np.float64]) -> float:
    return float(np.sqrt((shares**2) @ (centred**2)))


class PathPartition(PartitionFunction):
    """Partition function estimated along a path of thetas.

    The path is extended as larger thetas are requested, and answers all smaller ones.
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
        check_memory(
            # The chains, their places, and what is drawn while they are shuffled.
            3 * N_CHAINS * self.n_items * np.dtype(np.int64).itemsize,
            f"{N_CHAINS} orderings of {self.n_items:,} items",
            "use fewer items",
        )
        sizes = np.array(self.sizes, dtype=np.int64)
        labels = np.repeat(np.arange(len(sizes)), sizes)
        sequences = self._rng.permuted(np.tile(labels, (N_CHAINS, 1)), axis=1)
        blocks = self.distance.block_of_place(self.sizes)[None]
        return sequences, self.rule.units(blocks, sequences)

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
