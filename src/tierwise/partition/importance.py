"""Importance sampling with the pseudo-likelihood as proposal: the paper's estimator.

See Piancastelli and Friel, Clustered Mallows Model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.checks import RandomSource, spawn_seeds
from tierwise._util.estimate import Estimate
from tierwise.partition.base import Moments, PartitionFunction, check_theta, decay_by_units

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.distances.base import Distance
    from tierwise.tiers.sizes import Sizes

DEFAULT_DRAWS = 100_000
# Labels drawn at a time: 64 MB.
LABELS_AT_A_TIME = 8_000_000


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
            log_weights.append(-theta * found - log_pseudo(sequences, sizes, decay, theta))
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
