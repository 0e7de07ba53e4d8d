"""Generalised Mallows models: partition functions with a theta for each part of the distance.

The distance is a sum of parts, and the probability of an ordering falls by ``exp(-theta_p)`` with
every unit of part ``p`` (Fligner and Verducci, Distance based ranking models, Journal of the Royal
Statistical Society B 48, 1986, for strict orders). Minus the gradient of the log partition function
are the expected parts, and its Hessian is their covariance.

With ``concentration="tier"`` a pair is charged to the better tier of the two, and so to the line
between it and all worse tiers; Kendall also charges pairs that are tied in the tiers and lie in
different blocks, to their tier. With ``concentration="place"`` a pair is charged to the block of
the item that is placed earlier. Where all tiers have one item, Kendall and inversions are the same.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property, lru_cache
from math import lgamma, log
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tierwise.errors import InputError, TooLargeError, use
from tierwise.partition import recursion
from tierwise.partition.base import DEFAULT_BUDGET, ExactPartition, PartMoments
from tierwise.partition.gaussian import pair_probabilities, rank_tier_probabilities

if TYPE_CHECKING:
    from tierwise._kernels.recursion import States, Steps
    from tierwise.distances import Distance
    from tierwise.partition.base import Concentration, Moments
    from tierwise.tiers import Sizes

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

Thetas: TypeAlias = tuple[float, ...]

# Sums that the recursion may hold at the same time: 800 MB.
_MOST_SUMS = 100_000_000


class GeneralisedPartition(ExactPartition):
    """A partition function with a theta for each part; thetas may be 0 or infinite."""

    @property
    def n_parts(self) -> int:
        """Number of parts, each of which has a theta.

        One for each tier, or block, but the last. Kendall by tier has one for the last tier, too,
        if it holds several items: they may lie in different blocks.
        """
        n_tiers = len(self.sizes)
        last = self.concentration == "tier" and self.distance.rule(self.sizes).tied > 0
        return n_tiers - (0 if last and n_tiers > 1 and self.sizes[-1] > 1 else 1)

    def check_theta(self, theta: ArrayLike) -> tuple[float, ...]:
        """Return one theta for each part, or say what is wrong."""
        try:
            values = np.array(theta, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"theta must be numbers of 0 or more; got {theta!r}") from None
        if values.shape != (self.n_parts,):
            what = "block of places but the last" if self.concentration == "place" else "tier"
            if self.concentration == "tier" and self.n_parts < len(self.sizes):
                what += " but the last"
            raise InputError(
                f"sizes {self.sizes} need {self.n_parts} thetas, one for each {what}; got {theta!r}"
            )
        if np.isnan(values).any() or (values < 0.0).any():
            raise InputError(f"theta must be 0 or more; got {theta!r}")
        return tuple(values.tolist())

    def part_moments(self, theta: ArrayLike) -> PartMoments:
        """Log value, means of all parts and their covariances."""
        return self._part_moments(self.check_theta(theta))

    @abstractmethod
    def _part_moments(self, thetas: Thetas) -> PartMoments:
        """Log value, means and covariances, at thetas that are checked."""

    def _moments(self, theta: Any) -> Moments:
        parts = self._part_moments(theta)
        return self._known(
            parts.log_value, float(parts.means.sum()), float(parts.covariances.sum())
        )

    def part_distances(self, blocks: NDArray[np.int32], labels: _Integers) -> _Floats:
        """Distance of each row from tiers, by parts."""
        from tierwise._kernels.orderings import BETTER_TIER, EARLIER_BLOCK, distance_units

        rule = self.distance.rule(self.sizes)
        by_place = self.concentration == "place"
        charged = EARLIER_BLOCK if by_place else BETTER_TIER
        units = np.zeros((len(blocks), max(rule.placing.shape)), dtype=np.int64)
        distance_units(
            np.ascontiguousarray(blocks, dtype=np.int32),
            np.ascontiguousarray(labels, dtype=np.int64)[None],
            rule.misplaced,
            rule.tied,
            rule.placing,
            charged,
            units,
        )
        return units[:, : self.n_parts] * rule.unit


class ClosedParts(GeneralisedPartition):
    """Independent parts, each with a ratio of Gaussian factorials as generating function."""

    @cached_property
    @abstractmethod
    def coefficients(self) -> _Floats:
        """``coefficients[part, k]``: power of ``[k]_q!`` in the generating function of a part."""

    def _part_moments(self, thetas: Thetas) -> PartMoments:
        """Log value, means of all parts and their covariances."""
        from tierwise._kernels.inversions_lines import q_factorial_derivatives

        found = np.zeros((3, self.n_parts))
        for part, theta in enumerate(thetas):
            found[:, part] = q_factorial_derivatives(theta, self.n_items) @ self.coefficients[part]
        log_orders = sum(lgamma(size + 1) for size in self.sizes)
        return PartMoments(
            log_orders + float(found[0].sum()), -found[1], np.diag(np.maximum(found[2], 0.0))
        )


@lru_cache(maxsize=256)
def coefficients_of_lines(sizes: Sizes) -> _Floats:
    """Power of ``[k]_q!`` in the Gaussian binomial of each tier but the last.

    Examples
    --------
    >>> coefficients_of_lines((1, 2))
    array([[ 0., -1., -1.,  1.]])
    """
    n_left = sum(sizes)
    table = np.zeros((len(sizes) - 1, n_left + 1))
    for line, size in enumerate(sizes[:-1]):
        table[line, n_left] += 1.0
        n_left -= size
        table[line, size] -= 1.0
        table[line, n_left] -= 1.0
    # Local searches ask for the same sizes thousands of times.
    table.flags.writeable = False
    return table


class LineParts(ClosedParts):
    """Inversions, or strict orders, by tier: a Gaussian binomial for each tier but the last."""

    method = "lines"

    @cached_property
    def coefficients(self) -> _Floats:
        """Gaussian binomials."""
        return coefficients_of_lines(self.sizes)

    def _draw_sequences(self, theta: Any, n_rows: int, rng: np.random.Generator) -> _Integers:
        """Draw the places of each tier among those of it and all worse ones."""
        labels = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return labels[draw_lines(self.sizes, theta, n_rows, rng)]

    def _expected_table(self, theta: Any) -> _Floats:
        """Probability of each tier in each place."""
        return rank_tier_probabilities(self.sizes, theta)

    def pair_probabilities(self, theta: ArrayLike) -> _Floats:
        """Probability that an item of one tier (row) precedes one of another."""
        return pair_probabilities(self.sizes, self.check_theta(theta))


class StrictPlaceParts(ClosedParts):
    """Strict orders by place: the generalised Mallows model of Fligner and Verducci.

    The place holds the best, second best, ... of the items left with probabilities that fall
    geometrically. With items and places exchanged it is the model of `LineParts`.
    """

    method = "closed"

    @cached_property
    def coefficients(self) -> _Floats:
        """Place ``i`` leaves ``n - i`` items to choose from."""
        places = np.arange(self.n_parts)
        table = np.zeros((self.n_parts, self.n_items + 1))
        table[places, self.n_items - places] += 1.0
        table[places, self.n_items - places - 1] -= 1.0
        return table

    def _draw_sequences(self, theta: Any, n_rows: int, rng: np.random.Generator) -> _Integers:
        """Draw the place of each item, and sort."""
        drawn = draw_lines(self.sizes, theta, n_rows, rng)
        return np.argsort(drawn, axis=1).astype(np.int64)

    def _expected_table(self, theta: Any) -> _Floats:
        """Probability of each item in each place."""
        return rank_tier_probabilities(self.sizes, theta).T


class RecursionParts(GeneralisedPartition):
    """Kendall, any sizes that are not too many: the recursion over items left.

    It charges a pair to the block or label of the item that is placed earlier. By tier it is
    therefore run from the last place and the worst tier: what is placed later is then earlier.
    """

    method = "recursion"

    @property
    def _turned(self) -> bool:
        return self.concentration == "tier"

    @cached_property
    def _states(self) -> States:
        from tierwise._kernels.recursion import lay_out_states

        sizes = np.array(self.sizes[::-1] if self._turned else self.sizes, dtype=np.int64)
        return lay_out_states(sizes, recursion.n_states(self.sizes))

    @cached_property
    def _parts(self) -> _Integers:
        """Return the part of each block (row) and label, as the recursion walks through them."""
        block, label = np.indices((len(self.sizes),) * 2)
        part = len(self.sizes) - 1 - label if self._turned else block
        return np.ascontiguousarray(part, dtype=np.int64)

    def _decay(self, thetas: Thetas) -> _Floats:
        """``decay[part, units]``; a last part that cannot be charged has any theta."""
        values = np.zeros(len(self.sizes))
        values[: self.n_parts] = thetas
        rates = np.arange(self.n_items + 1)
        with np.errstate(invalid="ignore"):
            exponents = np.where(rates == 0, 0.0, -np.outer(values, rates))
        return np.exp(exponents)

    def _part_moments(self, thetas: Thetas) -> PartMoments:
        """Log value, means of all parts and their covariances."""
        from tierwise._kernels.recursion import weight_and_moments

        n_tiers = len(self.sizes)
        sums = weight_and_moments(self._steps(thetas))
        weight = float(sums[0])
        means = sums[1 : 1 + self.n_parts] / weight
        lower = np.zeros((n_tiers, n_tiers))
        lower[np.tril_indices(n_tiers)] = sums[1 + n_tiers :] / weight
        products = (lower + np.tril(lower, -1).T)[: self.n_parts, : self.n_parts]
        log_orders = sum(lgamma(size + 1) for size in self.sizes)
        return PartMoments(log(weight) + log_orders, means, products - np.outer(means, means))

    def _steps(self, thetas: Thetas) -> Steps:
        """Return what steps from state to state cost."""
        from tierwise._kernels.recursion import Steps

        rule, decay = self.distance.rule(self.sizes), self._decay(thetas)
        return Steps(self._states, rule.misplaced, rule.placing, self._parts, decay)

    def _draw_sequences(self, theta: Any, n_rows: int, rng: np.random.Generator) -> _Integers:
        """Filter forward, draw the table backward, and order the labels in each block at random."""
        from tierwise._kernels.orderings import shuffle_within_blocks
        from tierwise._kernels.recursion import draw_sequences, filter_weights

        steps = self._steps(theta)
        sequences = draw_sequences(steps, filter_weights(steps), n_rows, rng)
        shuffle_within_blocks(sequences, self._states.sizes, rng)
        if self._turned:
            return np.ascontiguousarray(len(self.sizes) - 1 - sequences[:, ::-1])
        return sequences

    def _expected_table(self, theta: Any) -> _Floats:
        """Return the expected table by a pass forward and one back."""
        from tierwise._kernels.recursion import expected_table, filter_weights

        steps = self._steps(theta)
        table = expected_table(steps, filter_weights(steps))
        return table[::-1, ::-1] if self._turned else table


def draw_lines(sizes: Sizes, thetas: Thetas, n_rows: int, rng: np.random.Generator) -> _Integers:
    """Draw orderings of items numbered tier by tier, with a theta for each tier but the last."""
    from tierwise._kernels.inversions_weak_orders import draw_line_by_line

    values = np.array(thetas, dtype=np.float64)
    return draw_line_by_line(np.array(sizes, dtype=np.int64), values, n_rows, rng)


def generalised_partition(
    sizes: Sizes, distance: Distance, concentration: Concentration, *, budget: float
) -> GeneralisedPartition:
    """Return the partition function with a theta for each tier, or for each block of places.

    Parameters
    ----------
    sizes, distance, concentration, budget
        As in `tierwise.partition_function`.
    """
    if obstacle := obstacle_of_model(sizes, distance, concentration, budget=budget):
        raise obstacle
    strict = max(sizes) == 1
    if concentration == "tier" and (strict or distance.name == "inversions"):
        return LineParts(sizes, distance, concentration)
    if strict:
        return StrictPlaceParts(sizes, distance, concentration)
    return RecursionParts(sizes, distance, concentration)


def obstacle_of_model(
    sizes: Sizes,
    distance: Distance,
    concentration: Concentration,
    *,
    budget: float = DEFAULT_BUDGET,
) -> InputError | TooLargeError | None:
    """Return why there cannot be a theta for each part, if that is so.

    Parameters
    ----------
    sizes, distance, concentration, budget
        As in `generalised_partition`.
    """
    if distance.name not in ("kendall", "inversions"):
        return InputError(
            f"one theta per {concentration} needs the distance kendall or inversions, not "
            f"{distance.name}",
            [use(distance="kendall"), use(distance="inversions"), use(concentration="single")],
        )
    if max(sizes) == 1 or (concentration == "tier" and distance.name == "inversions"):
        return None
    if distance.name == "inversions":
        return InputError(
            "inversions do not cut places into blocks, so one theta per place needs tiers of "
            "one item each",
            [use(concentration="tier"), use(distance="kendall")],
        )
    n_sums = RecursionParts(sizes, distance, concentration).n_parts + 1
    if too_large := recursion.excess(sizes, budget / n_sums):
        return too_large
    if recursion.n_states(sizes) * n_sums**2 > _MOST_SUMS:
        return TooLargeError(
            f"sizes {sizes} with one theta per {concentration} need too much memory",
            [
                "use fewer or smaller tiers",
                use(distance="inversions"),
                use(concentration="single"),
            ],
        )
    return None
