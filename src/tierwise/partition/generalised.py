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

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import lgamma, log
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tierwise._util.checks import check_choice
from tierwise.distances import get_distance
from tierwise.errors import InputError, TooLargeError, use
from tierwise.partition import recursion
from tierwise.partition.choose import DEFAULT_BUDGET
from tierwise.partition.gaussian import pair_probabilities, rank_tier_probabilities
from tierwise.tiers import check_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tierwise._kernels.recursion import States
    from tierwise.distances import Distance
    from tierwise.tiers import Sizes

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

Concentration: TypeAlias = Literal["single", "tier", "place"]
"""Whether there is one theta, one per tier or one per block of places."""

# Sums that the recursion may hold at the same time: 800 MB.
_MOST_SUMS = 100_000_000


@dataclass(frozen=True, eq=False)
class PartMoments:
    """Log partition function, and mean and covariance of the parts of the distance.

    Attributes
    ----------
    log_value
        Log of the sum of ``exp(-thetas @ parts)`` over all orderings.
    means
        Mean of each part: minus the gradient of the log value.
    covariances
        Covariances of the parts: the Hessian of the log value.
    """

    log_value: float
    means: _Floats
    covariances: _Floats


class GeneralisedPartition(ABC):
    """The partition function of given sizes and distance, for any theta of each part.

    Made by `generalised_partition`. Thetas may be 0 or infinite.

    Attributes
    ----------
    sizes, distance
        Sizes of the tiers, and the distance.
    concentration
        "tier" or "place": what has a theta of its own.
    method
        How it is computed; all ways are exact.
    """

    method: ClassVar[str]

    def __init__(self, sizes: Sizes, distance: Distance, concentration: Concentration) -> None:
        self.sizes = sizes
        self.distance = distance
        self.concentration: Concentration = concentration

    @property
    def n_items(self) -> int:
        """Number of items."""
        return sum(self.sizes)

    @property
    def n_parts(self) -> int:
        """Number of parts, each of which has a theta.

        One for each tier, or block, but the last. Kendall by tier has one for the last tier, too,
        if it holds several items: they may lie in different blocks.
        """
        n_tiers = len(self.sizes)
        last = self.concentration == "tier" and self.distance.rule(self.sizes).tied > 0
        return n_tiers - (0 if last and n_tiers > 1 and self.sizes[-1] > 1 else 1)

    def check_thetas(self, thetas: ArrayLike) -> _Floats:
        """Return thetas as an array with one for each part, or say what is wrong."""
        try:
            values = np.array(thetas, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"theta must be numbers of 0 or more; got {thetas!r}") from None
        if values.shape != (self.n_parts,):
            what = "block of places but the last" if self.concentration == "place" else "tier"
            if self.concentration == "tier" and self.n_parts < len(self.sizes):
                what += " but the last"
            raise InputError(
                f"with sizes {self.sizes} there are {self.n_parts} thetas, one for each {what}; "
                f"got {thetas!r}"
            )
        if np.isnan(values).any() or (values < 0.0).any():
            raise InputError(f"theta must be 0 or more; got {thetas!r}")
        return values

    def log_value(self, thetas: ArrayLike) -> float:
        """Log of the sum of ``exp(-thetas @ parts)`` over all orderings."""
        return self.part_moments(thetas).log_value

    @abstractmethod
    def part_moments(self, thetas: ArrayLike) -> PartMoments:
        """Log value, means of all parts and their covariances."""

    @abstractmethod
    def draw_sequences(self, thetas: ArrayLike, n_rows: int, rng: np.random.Generator) -> _Integers:
        """Draw orderings, as the labels, counted from 0, of the items place by place."""

    @abstractmethod
    def expected_table(self, thetas: ArrayLike) -> _Floats:
        """Return the expected number of items of each label (column) in each block (row)."""

    def pair_probabilities(self, thetas: ArrayLike) -> _Floats | None:
        """Probability that an item of one tier (row) precedes one of another, if it is known."""
        self.check_thetas(thetas)
        return None

    def part_distances(self, blocks: NDArray[np.int32], labels: _Integers) -> _Floats:
        """Distance of each row from tiers, by parts.

        Parameters
        ----------
        blocks
            ``blocks[row, item]`` is the block of each item, counted from 0.
        labels
            Tier of each item, counted from 0.
        """
        from tierwise._kernels.counting import BETTER_TIER, EARLIER_BLOCK, part_distances

        tied = self.distance.rule(self.sizes).tied
        by_place = self.concentration == "place"
        charged = EARLIER_BLOCK if by_place else BETTER_TIER
        n_blocks = len(self.distance.blocks(self.sizes))
        distances = np.zeros((len(blocks), max(n_blocks, len(self.sizes))))
        part_distances(
            np.ascontiguousarray(blocks, dtype=np.int32),
            np.ascontiguousarray(labels, dtype=np.int64),
            charged,
            tied,
            distances,
        )
        return distances[:, : self.n_parts]

    def __repr__(self) -> str:
        return (
            f"<partition function of sizes {self.sizes}, {self.distance.name} distance, a theta "
            f"per {self.concentration}, by {self.method}>"
        )


class ClosedParts(GeneralisedPartition):
    """Independent parts, each with a ratio of Gaussian factorials as generating function."""

    @cached_property
    @abstractmethod
    def coefficients(self) -> _Floats:
        """``coefficients[part, k]``: power of ``[k]_q!`` in the generating function of a part."""

    def part_moments(self, thetas: ArrayLike) -> PartMoments:
        """Log value, means of all parts and their covariances."""
        from tierwise._kernels.inversions_lines import q_factorial_derivatives

        values = self.check_thetas(thetas)
        found = np.zeros((3, self.n_parts))
        for part, theta in enumerate(values.tolist()):
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

    def draw_sequences(self, thetas: ArrayLike, n_rows: int, rng: np.random.Generator) -> _Integers:
        """Draw the places of each tier among those of it and all worse ones."""
        labels = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return labels[draw_lines(self.sizes, self.check_thetas(thetas), n_rows, rng)]

    def expected_table(self, thetas: ArrayLike) -> _Floats:
        """Probability of each tier in each place."""
        return rank_tier_probabilities(self.sizes, self.check_thetas(thetas))

    def pair_probabilities(self, thetas: ArrayLike) -> _Floats:
        """Probability that an item of one tier (row) precedes one of another."""
        return pair_probabilities(self.sizes, self.check_thetas(thetas))


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

    def draw_sequences(self, thetas: ArrayLike, n_rows: int, rng: np.random.Generator) -> _Integers:
        """Draw the place of each item, and sort."""
        drawn = draw_lines(self.sizes, self.check_thetas(thetas), n_rows, rng)
        return np.argsort(drawn, axis=1).astype(np.int64)

    def expected_table(self, thetas: ArrayLike) -> _Floats:
        """Probability of each item in each place."""
        return rank_tier_probabilities(self.sizes, self.check_thetas(thetas)).T


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

    def _decay(self, thetas: ArrayLike) -> _Floats:
        """``decay[part, units]``; a last part that cannot be charged has any theta."""
        values = np.zeros(len(self.sizes))
        values[: self.n_parts] = self.check_thetas(thetas)
        rates = np.arange(self.n_items + 1)
        with np.errstate(invalid="ignore"):
            exponents = np.where(rates == 0, 0.0, -np.outer(values, rates))
        return np.exp(exponents)

    def part_moments(self, thetas: ArrayLike) -> PartMoments:
        """Log value, means of all parts and their covariances."""
        from tierwise._kernels.recursion import weight_and_part_moments

        weight, first, second = weight_and_part_moments(
            self._states, self._parts, self._decay(thetas)
        )
        means = first[: self.n_parts] / weight
        lower = second[: self.n_parts, : self.n_parts] / weight
        products = np.tril(lower) + np.tril(lower, -1).T
        log_orders = sum(lgamma(size + 1) for size in self.sizes)
        return PartMoments(log(weight) + log_orders, means, products - np.outer(means, means))

    def _filter(self, thetas: ArrayLike) -> tuple[_Integers, _Floats, _Floats]:
        """Parts, decay, and weights of all states, label by label."""
        from tierwise._kernels.recursion import filter_weights

        decay = self._decay(thetas)
        return self._parts, decay, filter_weights(*self._model, self._parts, decay)

    @property
    def _model(self) -> tuple[States, int, _Integers]:
        rule = self.distance.rule(self.sizes)
        return self._states, rule.misplaced, rule.placing

    def draw_sequences(self, thetas: ArrayLike, n_rows: int, rng: np.random.Generator) -> _Integers:
        """Filter forward, draw the table backward, and order the labels in each block at random."""
        from tierwise._kernels.orderings import shuffle_within_blocks
        from tierwise._kernels.recursion import draw_sequences

        sequences = draw_sequences(*self._model, *self._filter(thetas), n_rows, rng)
        shuffle_within_blocks(sequences, self._states.sizes, rng)
        if self._turned:
            return np.ascontiguousarray(len(self.sizes) - 1 - sequences[:, ::-1])
        return sequences

    def expected_table(self, thetas: ArrayLike) -> _Floats:
        """Return the expected table by a pass forward and one back."""
        from tierwise._kernels.recursion import expected_table

        table = expected_table(*self._model, *self._filter(thetas))
        return table[::-1, ::-1] if self._turned else table


def draw_lines(sizes: Sizes, thetas: _Floats, n_rows: int, rng: np.random.Generator) -> _Integers:
    """Draw orderings of items numbered tier by tier, with a theta for each tier but the last."""
    from tierwise._kernels.inversions_weak_orders import draw_line_by_line

    values = np.ascontiguousarray(thetas)
    return draw_line_by_line(np.array(sizes, dtype=np.int64), values, n_rows, rng)


def generalised_partition(
    sizes: Iterable[int],
    distance: str | Distance = "kendall",
    concentration: Concentration = "tier",
    *,
    budget: float = DEFAULT_BUDGET,
) -> GeneralisedPartition:
    """Return the partition function with a theta for each tier, or for each block of places.

    Parameters
    ----------
    sizes
        How many items each tier holds, best tier first.
    distance
        "kendall" or "inversions".
    concentration
        "tier" or "place". Inversions have no blocks: by place they are for tiers of one item each.
    budget
        Most steps that the recursion may take for one vector of thetas, some nanoseconds each.

    Examples
    --------
    >>> psi = generalised_partition((1, 2, 1), "kendall", "place")
    >>> moments = psi.part_moments((1.0, 0.5))
    >>> round(moments.log_value, 4), moments.means.round(4)
    (1.5471, array([0.5556, 0.8225]))
    """
    checked = check_sizes(sizes)
    chosen = get_distance(distance)
    check_choice("concentration", concentration, ("tier", "place"))
    if obstacle := obstacle_of_model(checked, chosen, concentration, budget=budget):
        raise obstacle
    strict = max(checked) == 1
    if concentration == "tier" and (strict or chosen.name == "inversions"):
        return LineParts(checked, chosen, concentration)
    if strict:
        return StrictPlaceParts(checked, chosen, concentration)
    return RecursionParts(checked, chosen, concentration)


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
        As for `generalised_partition`.
    """
    if distance.name not in ("kendall", "inversions"):
        return InputError(
            f"a theta per {concentration} is for the distances kendall and inversions, not "
            f"{distance.name}",
            [use(distance="kendall"), use(distance="inversions"), use(concentration="single")],
        )
    if max(sizes) == 1 or (concentration == "tier" and distance.name == "inversions"):
        return None
    if distance.name == "inversions":
        return InputError(
            "inversions do not cut places into blocks, so they have a theta per place only where "
            "every tier has one item",
            [use(concentration="tier"), use(distance="kendall")],
        )
    n_sums = RecursionParts(sizes, distance, concentration).n_parts + 1
    if too_large := recursion.excess(sizes, budget / n_sums):
        return too_large
    if recursion.n_states(sizes) * n_sums**2 > _MOST_SUMS:
        return TooLargeError(
            f"sizes {sizes} with a theta per {concentration} need too much memory",
            [
                "give fewer or smaller tiers",
                use(distance="inversions"),
                use(concentration="single"),
            ],
        )
    return None
