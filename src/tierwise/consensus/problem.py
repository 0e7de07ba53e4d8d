"""The problem that every consensus method solves, checked once and laid out for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.consensus import TierCosts, total_cost
from tierwise.errors import InputError
from tierwise.tiers import Sizes, check_sizes

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.distances import Costs

_LARGEST_EXACT_INTEGER = 2.0**53
_RELATIVE_TOLERANCE = 1e-12
MAX_ALTERNATIVES = 10


@dataclass(frozen=True, eq=False)
class Problem:
    """Find the labels with these tier sizes that make the total distance least.

    Attributes
    ----------
    linear, pairs
        As in ``Costs``, but for a diagonal of zeros in ``pairs``.
    pairs_transposed
        The transpose of ``pairs``, laid out row by row.
    sizes
        Number of items in each tier, best tier first.
    magnitude
        Sum of all costs, whatever their sign.
    tolerance
        Totals that differ by no more are the same: 0 if all sums are exact.
    """

    linear: npt.NDArray[np.float64]
    pairs: npt.NDArray[np.float64]
    pairs_transposed: npt.NDArray[np.float64]
    sizes: Sizes
    magnitude: float
    tolerance: float

    @property
    def n_items(self) -> int:
        """Number of items."""
        return sum(self.sizes)

    @property
    def costs(self) -> TierCosts:
        """All costs, as the kernels take them."""
        return TierCosts(self.linear, self.pairs, self.pairs_transposed)

    @property
    def sizes_array(self) -> npt.NDArray[np.int64]:
        """The sizes as the kernels take them."""
        return np.array(self.sizes, dtype=np.int64)

    @property
    def sorted_labels(self) -> npt.NDArray[np.int64]:
        """Labels 0, ..., 0, 1, ..., as often as the sizes say."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.int64), self.sizes_array)

    def total(self, labels: npt.NDArray[np.int64]) -> float:
        """Total distance of the data from tiers with these labels."""
        return float(total_cost(labels, self.linear, self.pairs))


def make_problem(costs: Costs, sizes: Sizes) -> Problem:
    """Check costs and sizes against each other and lay them out for the kernels."""
    checked = check_sizes(sizes, n_items=costs.n_items)
    n_items, n_tiers = costs.n_items, len(checked)
    linear = np.ascontiguousarray(costs.linear, dtype=np.float64)
    pairs = np.array(costs.pairs, dtype=np.float64, order="C")
    if linear.shape not in {(0, 0), (n_items, n_tiers)}:
        raise InputError(
            f"costs.linear has shape {linear.shape}, but {n_items} items and sizes {checked} need "
            f"({n_items}, {n_tiers}): compute the costs for these sizes"
        )
    if pairs.shape not in {(0, 0), (n_items, n_items)}:
        raise InputError(
            f"costs.pairs has shape {pairs.shape}, but {n_items} items need ({n_items}, {n_items})"
        )
    np.fill_diagonal(pairs, 0.0)
    magnitude = float(np.abs(linear).sum() + np.abs(pairs).sum())
    if not np.isfinite(magnitude):
        raise InputError("costs hold a value that is not a finite number: check the weights")
    whole = magnitude < _LARGEST_EXACT_INTEGER and all(
        bool((part == np.floor(part)).all()) for part in (linear, pairs)
    )
    return Problem(
        linear=linear,
        pairs=pairs,
        pairs_transposed=np.ascontiguousarray(pairs.T),
        sizes=checked,
        magnitude=magnitude,
        tolerance=0.0 if whole else _RELATIVE_TOLERANCE * magnitude,
    )


@dataclass(frozen=True, eq=False)
class Consensus:
    """The best tiers that were found for given sizes.

    Attributes
    ----------
    labels
        Tier of each item, counted from 0.
    total
        Total distance of the data from these tiers.
    method
        Which method found them: "assignment", "subsets", "milp" or "annealing".
    optimal
        Whether it is proved that no tiers of these sizes have a smaller total.
    bound
        No tiers of these sizes have a total below this; equals ``total`` when proved.
    alternatives
        Labels of other tiers with the same total that were found, at most ten.
    n_optima
        How many tiers have the least total, if that is known exactly.

    Examples
    --------
    >>> import numpy as np
    >>> found = Consensus(
    ...     labels=np.array([0, 1]), total=100.0, method="milp", optimal=False, bound=98.0
    ... )
    >>> found.gap
    0.02
    """

    labels: npt.NDArray[np.int64]
    total: float
    method: str
    optimal: bool
    bound: float
    alternatives: tuple[npt.NDArray[np.int64], ...] = ()
    n_optima: int | None = None

    @property
    def gap(self) -> float:
        """How far the total may be above the least possible, as a share of the total."""
        if self.total in (0.0, self.bound):
            # No distance is below 0.
            return 0.0
        return (self.total - self.bound) / abs(self.total)
