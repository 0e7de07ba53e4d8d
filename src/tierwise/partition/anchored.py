"""Sequential Monte Carlo from the strict model, Kendall distance: for many small tiers.

Many small tiers make too many states, but then the model is close to the strict one, which has a
closed form and exact draws. These are weighed by how much more probable they are under the tiers:
the mean weight is the ratio of the partition functions.

Where the weights are too uneven, boundaries between tiers are taken away from the strict model some
at a time: each time orderings are weighed, resampled, and moved by a few transpositions (a
sequential Monte Carlo sampler; Del Moral, Doucet and Jasra, Journal of the Royal Statistical
Society B 68, 2006). That is done for some thetas, the anchors; from an anchor to thetas nearby it
is a short way along the path of `tierwise.partition.monte_carlo`.

Draws come in batches that are independent of each other: their spread gives the standard error.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, isinf, lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.checks import RandomSource, as_generator
from tierwise._util.types import Estimate
from tierwise.partition.base import Moments, PartitionFunction, check_theta
from tierwise.partition.closed import ClosedPartition, nearby_theta, strict_draws
from tierwise.partition.monte_carlo import PathPartition
from tierwise.partition.scope import is_for

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.distances import Distance
    from tierwise.tiers import Sizes

N_BATCHES = 16
BATCH = 1500
# Draws of the strict model are enough if this share of them is effective.
LEAST_SHARE = 0.2
# Else as many boundaries are taken away at a time as leave this share of the orderings effective.
WANTED_SHARE = 0.6
# Transpositions of each ordering after each resampling, for each item.
SWEEPS = 4
# If the strict model is so far away that this is not enough, the path is as good for less work.
MOST_STAGES = 4
LARGEST_TIER = 10
MOST_ITEMS = 200
# Number of anchors in addition to the exact one at theta 0.
MOST_ANCHORS = 4
# Labels that are held at a time: 32 MB.
MOST_LABELS = 4_000_000
# Errors below which a theta needs no anchor of its own: so large, or so large a share of the
# error of the anchor nearby.
SMALL_ERROR = 0.002
SMALL_SHARE = 0.5


@dataclass(frozen=True)
class _Anchor:
    """The log partition function at one theta, and the path up to there, chain by chain."""

    theta: float
    log_value: float
    error: float
    areas: npt.NDArray[np.float64]


class Orderings:
    """Orderings as label sequences, weighed by tiers that get coarser and coarser."""

    def __init__(self, sequences: npt.NDArray[np.int64], sizes: Sizes, distance: Distance) -> None:
        self.sequences = sequences
        self.sizes = sizes
        self._distance = distance
        self._sizes_array = np.array(sizes, dtype=np.int64)
        self._rule = distance.rule(sizes).in_largest_units()
        self._units = self._rule.units(distance.block_of_place(sizes)[None], sequences)

    @property
    def distances(self) -> npt.NDArray[np.float64]:
        """Distance of each ordering from the tiers."""
        return self._units.astype(np.float64) * float(self._rule.unit)

    def within(self, boundaries: list[int]) -> Orderings:
        """Return the same orderings for fewer boundaries, given as the number of items before."""
        n_items = self.sequences.shape[1]
        edges = np.array([0, *sorted(boundaries), n_items])
        starts = np.cumsum((0, *self.sizes[:-1]))
        coarser = np.searchsorted(edges, starts, side="right") - 1
        return Orderings(coarser[self.sequences], tuple(np.diff(edges).tolist()), self._distance)

    def resample(self, weights: npt.NDArray[np.float64], rng: np.random.Generator) -> None:
        """Draw orderings by their weights, evenly spaced, one row of weights for each batch."""
        n_batches, batch = weights.shape
        marks = (rng.random((n_batches, 1)) + np.arange(batch)) / batch
        cumulative = np.cumsum(weights, axis=1)
        cumulative /= cumulative[:, -1:]
        rows = np.concatenate(
            [
                np.minimum(np.searchsorted(cumulative[number], marks[number]), batch - 1)
                + number * batch
                for number in range(n_batches)
            ]
        )
        self.sequences = self.sequences[rows]
        self._units = self._units[rows]

    def move(self, theta: float, steps: int, rng: np.random.Generator) -> None:
        """Let places trade their items."""
        from tierwise._kernels.orderings import walk

        rule = self._rule
        walk(
            self.sequences,
            self._sizes_array,
            theta * rule.unit,
            rule.misplaced,
            rule.placing,
            steps,
            self._units,
            rng,
        )


class AnchoredPartition(PartitionFunction):
    """Partition function of the Kendall distance, estimated from the strict model.

    Parameters
    ----------
    sizes, distance
        Of the model.
    batch
        Number of orderings in each of the batches that are drawn.
    rng
        Seed or generator.
    """

    method = "anchored"

    def __init__(
        self,
        sizes: Sizes,
        distance: Distance,
        *,
        batch: int | None = None,
        rng: RandomSource = None,
    ) -> None:
        super().__init__(sizes, distance)
        # The same seed means the same draws for all sizes, so that their errors go together.
        generator = as_generator(rng)
        self._seed = rng if isinstance(rng, int) else int(generator.integers(2**63))
        self._rng = as_generator(self._seed)
        affordable = max(MOST_LABELS // (N_BATCHES * self.n_items), 2)
        self._batch = min(BATCH, affordable) if batch is None else batch
        self._path = PathPartition(sizes, distance, rng=self._rng)
        self._anchors: list[_Anchor] = []
        self._n_attempts = 0
        self._distances: dict[float, npt.NDArray[np.float64]] = {}

    def mean(self, theta: npt.ArrayLike) -> Estimate:
        """Mean of the distance, for which a path is good enough."""
        return self._of_draws_or_path(theta).mean

    def variance(self, theta: npt.ArrayLike) -> Estimate:
        """Variance of the distance, for which a path is good enough."""
        return self._of_draws_or_path(theta).variance

    def _of_draws_or_path(self, theta: npt.ArrayLike) -> Moments:
        theta = check_theta(theta)
        moments = None if isinf(theta) else self._of_strict_draws(theta)
        return self._path.moments(theta) if moments is None else moments

    def _moments(self, theta: float) -> Moments:
        moments = self._of_strict_draws(theta)
        if moments is not None:
            return moments
        return Moments(self._log_value(theta), self._path.mean(theta), self._path.variance(theta))

    def _of_strict_draws(self, theta: float) -> Moments | None:
        """Weigh draws of the strict model at a theta nearby; None if these are too uneven."""
        draws = strict_draws(self.n_items, nearby_theta(self.n_items, theta), *self._draws)
        if draws.theta not in self._distances:
            labels = np.repeat(np.arange(len(self.sizes)), self.sizes)[draws.sequences]
            self._distances[draws.theta] = Orderings(labels, self.sizes, self.distance).distances
        distances = self._distances[draws.theta]
        logs = draws.theta * draws.distances - theta * distances
        peak = float(logs.max())
        weights = np.exp(logs - peak).reshape(N_BATCHES, -1)
        if effective_share(weights) < LEAST_SHARE:
            return None
        sums = weights.sum(axis=1)
        by_batch = distances.reshape(N_BATCHES, -1)
        overall = float((weights * by_batch).sum() / sums.sum())
        squares = (by_batch - overall) ** 2
        log_means = np.log(weights.mean(axis=1)) + peak + draws.log_partition
        return Moments(
            _log_average(log_means),
            _average((weights * by_batch).sum(axis=1) / sums),
            _average((weights * squares).sum(axis=1) / sums),
        )

    @property
    def _draws(self) -> tuple[int, int]:
        return N_BATCHES * self._batch, self._seed

    def _log_value(self, theta: float) -> Estimate:
        areas, _, _ = self._path.by_chain(theta)
        if not self._anchors:
            exact = lgamma(self.n_items + 1)
            self._anchors.append(_Anchor(0.0, exact, 0.0, np.zeros_like(areas)))
        nearest = min(self._anchors, key=lambda anchor: abs(anchor.theta - theta))
        best = _from_anchor(nearest, theta, areas)
        far = _way_from(nearest, areas) > SMALL_SHARE * nearest.error
        if far and best.error > SMALL_ERROR and self._n_attempts < MOST_ANCHORS:
            self._n_attempts += 1
            estimate = self._estimate(theta)
            if estimate is None:
                # Nor will it do for other thetas that are requested.
                self._n_attempts = MOST_ANCHORS
            elif estimate.standard_error < best.error:
                best = _Anchor(theta, float(estimate), estimate.standard_error, areas)
                self._anchors.append(best)
        return Estimate(best.log_value, standard_error=best.error, method=self.method)

    def _estimate(self, theta: float) -> Estimate | None:
        """Take the boundaries within tiers away from a strict consensus, some at a time.

        None if that takes too many stages.
        """
        strict = ClosedPartition((1,) * self.n_items, self.distance)
        n_rows = N_BATCHES * self._batch
        orderings = Orderings(
            strict.draw_sequences(theta, n_rows, self._rng),
            (1,) * self.n_items,
            self.distance,
        )
        logs = np.full(N_BATCHES, float(strict.log_value(theta)))
        kept = np.cumsum(self.sizes)[:-1].tolist()
        boundaries = [*kept, *_removals(self.sizes)]
        for stage in range(MOST_STAGES):
            coarser, left = self._coarsen(orderings, boundaries, len(kept), theta)
            if (left - len(kept)) > (MOST_STAGES - stage - 1) * (len(boundaries) - left):
                # At this rate it takes too many.
                return None
            weights = np.exp(-theta * (coarser.distances - orderings.distances))
            by_batch = weights.reshape(N_BATCHES, -1)
            logs += np.log(by_batch.mean(axis=1))
            coarser.resample(by_batch, self._rng)
            boundaries = boundaries[:left]
            if left == len(kept):
                return _log_average(logs)
            coarser.move(theta, SWEEPS * self.n_items, self._rng)
            orderings = coarser
        return None

    def _coarsen(
        self, orderings: Orderings, boundaries: list[int], fewest: int, theta: float
    ) -> tuple[Orderings, int]:
        """Take away as many boundaries, from the end of the list, as leave weights even enough."""
        left = fewest
        while True:
            coarser = orderings.within(boundaries[:left])
            logs = -theta * (coarser.distances - orderings.distances)
            weights = np.exp(logs - logs.max())
            if effective_share(weights) >= WANTED_SHARE or left == len(boundaries) - 1:
                return coarser, left
            left = (left + len(boundaries)) // 2


def is_worthwhile(sizes: Sizes, distance: Distance) -> bool:
    """Whether the strict model may be close enough to begin with."""
    small = max(sizes) <= LARGEST_TIER and sum(sizes) <= MOST_ITEMS
    return small and is_for("anchored", sizes, distance)


def _removals(sizes: Sizes) -> list[int]:
    """Boundaries within tiers, by the items before them, those to be taken away first at the end.

    First every second one goes, which leaves pairs, then every second of the rest, and so on: so
    tiers grow evenly.
    """
    starts = np.cumsum((0, *sizes[:-1])).tolist()
    inner = [
        (within & -within, start + within)
        for start, size in zip(starts, sizes, strict=True)
        for within in range(1, size)
    ]
    return [boundary for _, boundary in sorted(inner, key=lambda one: -one[0])]


def effective_share(weights: npt.NDArray[np.float64]) -> float:
    """Return how many draws of equal weight would be worth as much, as a share of all.

    Examples
    --------
    >>> effective_share(np.array([1.0, 1.0, 0.0, 0.0]))
    0.5
    """
    return float(weights.sum() ** 2 / (weights**2).sum()) / weights.size


def _average(values: npt.NDArray[np.float64]) -> Estimate:
    """Mean of estimates that are independent of each other."""
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    return Estimate(float(values.mean()), standard_error=error, method="anchored")


def _log_average(logs: npt.NDArray[np.float64]) -> Estimate:
    """Log of the mean of estimates that are independent of each other, given their logs."""
    peak = float(logs.max())
    shares = np.exp(logs - peak)
    error = float(shares.std(ddof=1) / shares.mean() / np.sqrt(len(shares)))
    return Estimate(peak + log(float(shares.mean())), standard_error=error, method="anchored")


def _way_from(anchor: _Anchor, areas: npt.NDArray[np.float64]) -> float:
    """Return the error of the path from an anchor."""
    return float((areas - anchor.areas).std(ddof=1) / np.sqrt(len(areas)))


def _from_anchor(anchor: _Anchor, theta: float, areas: npt.NDArray[np.float64]) -> _Anchor:
    """Go along the path from an anchor to a theta."""
    log_value = anchor.log_value - float((areas - anchor.areas).mean())
    return _Anchor(theta, log_value, hypot(anchor.error, _way_from(anchor, areas)), areas)
