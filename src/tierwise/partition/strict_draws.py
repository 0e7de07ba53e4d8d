"""Orderings drawn from the strict Kendall model, for all who start from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import floor, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from tierwise.distances.named import get_distance
from tierwise.partition.closed import ClosedPartition

if TYPE_CHECKING:
    import numpy.typing as npt

# From one theta for which draws are kept to the next: a fraction of a standard deviation.
_RATIO = 1.15
_KEPT = 16


@dataclass(frozen=True, eq=False)
class StrictDraws:
    """Orderings of a strict consensus.

    Attributes
    ----------
    theta
        Their concentration.
    sequences
        The item, counted from 0 in order of the consensus, at each place of each ordering.
    distances
        Distance of each ordering from the consensus.
    log_partition
        Log partition function of the strict model.
    """

    theta: float
    sequences: npt.NDArray[np.int16]
    distances: npt.NDArray[np.float64]
    log_partition: float


def nearby_theta(n_items: int, theta: float) -> float:
    """Return a theta close by of which there is only one in every so many percent.

    Examples
    --------
    >>> round(nearby_theta(10, 0.3), 4), round(nearby_theta(10, 0.31), 4), nearby_theta(10, 0.0)
    (0.3129, 0.3129, 0.0)
    """
    # One standard deviation of the distance at theta 0 makes a difference of 1 there.
    first = sqrt(72.0 / (n_items * (n_items - 1) * (2 * n_items + 5)))
    if theta < first / 2:
        return 0.0
    return first * _RATIO ** floor(log(theta / first) / log(_RATIO) + 0.5)


@lru_cache(_KEPT)
def strict_draws(n_items: int, theta: float, n_rows: int, seed: int) -> StrictDraws:
    """Draw orderings from the strict model; the same seed gives the same ones.

    Examples
    --------
    >>> draws = strict_draws(4, 0.5, 1000, seed=1)
    >>> draws.sequences.shape
    (1000, 4)
    """
    from tierwise._kernels.sequences import sequence_units

    strict = ClosedPartition((1,) * n_items, get_distance("kendall"))
    sequences = strict.draw_sequences(theta, n_rows, np.random.default_rng(seed))
    sizes = np.ones(n_items, dtype=np.int64)
    rule = strict.rule
    units = sequence_units(sequences, sizes, rule.misplaced, rule.tied, rule.placing)
    distances = units.astype(np.float64) * float(rule.unit)
    log_partition = float(strict.log_value(theta))
    # Many of them are kept, so they are kept small.
    return StrictDraws(theta, sequences.astype(np.int16), distances, log_partition)
