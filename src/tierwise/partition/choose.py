"""The partition function by the best method: the sum of ``exp(-theta d)`` over all orderings.

======================  =================================================================
``"closed"``            strict consensus, Kendall: any number of items
``"lines"``             inversions: any sizes, any number of items
``"rook"``              Hamming: any sizes, thousands of items
``"recursion"``         any distance; work grows with ``(n_1 + 1) ... (n_L + 1)``
``"anchored"``          Kendall, any sizes; an estimate with its standard error, a good one for
                        many small tiers
``"path"``              any distance and sizes; an estimate with its standard error
``"importance"``        the paper's estimator; an estimate with its standard error
======================  =================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from tierwise._util.checks import check_choice, check_count, check_number
from tierwise.distances import get_distance
from tierwise.errors import InputError, use
from tierwise.partition import anchored, closed, gaussian, monte_carlo, recursion, rook
from tierwise.partition.base import (
    DEFAULT_BUDGET,
    Concentration,
    DistanceDistribution,
    ExactPartition,
    Moments,
    PartitionFunction,
)
from tierwise.partition.generalised import generalised_partition
from tierwise.partition.scope import SCOPES, is_for
from tierwise.tiers import check_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tierwise._util.checks import RandomSource
    from tierwise._util.types import Estimate
    from tierwise.distances import Distance

__all__ = [
    "DEFAULT_BUDGET",
    "DistanceDistribution",
    "Method",
    "Moments",
    "PartitionFunction",
    "log_partition",
    "partition_function",
]

Method: TypeAlias = Literal[
    "auto", "closed", "lines", "rook", "recursion", "anchored", "path", "importance"
]

_EXACT: dict[str, type[ExactPartition]] = {
    "closed": closed.ClosedPartition,
    "lines": gaussian.LinesPartition,
    "rook": rook.RookPartition,
    "recursion": recursion.RecursionPartition,
}


def partition_function(
    sizes: Iterable[int],
    distance: str | Distance = "kendall",
    *,
    concentration: Concentration = "single",
    method: Method = "auto",
    budget: float = DEFAULT_BUDGET,
    draws: int | None = None,
    rng: RandomSource = None,
) -> PartitionFunction:
    """Partition function of given sizes and distance, ready for many thetas.

    Parameters
    ----------
    sizes
        Sizes of the tiers, best tier first.
    distance
        Name of a distance, or a distance.
    concentration
        "single" for one theta. "tier" or "place" for one theta for each tier or block of places,
        with "kendall" or "inversions". Inversions have no blocks: by place they are for tiers of
        one item each. With several thetas all methods are exact, and chosen by the sizes.
    method
        "auto" uses an exact method if feasible, otherwise "anchored" for small tiers and the
        kendall distance, otherwise "path". This is decided from the sizes, before anything is
        computed.
    budget
        Most steps that the recursion may take for one theta, some nanoseconds each.
    draws
        For "importance" the number of draws; for "anchored" that of each of 16 batches; for "path"
        the number of sweeps over the items that each chain makes at each theta of the path.
    rng
        Seed for what is estimated.

    Examples
    --------
    >>> psi = partition_function((1, 1, 1, 2, 3, 2))
    >>> psi
    <partition function of sizes (1, 1, 1, 2, 3, 2), kendall distance, by recursion (exact)>
    >>> round(psi.log_value(0.25), 6)
    10.445639
    >>> round(psi.mean(0.25), 3), round(psi.variance(0.25), 3)
    (15.223, 25.332)
    >>> psi = partition_function((1, 2, 1), concentration="place")
    >>> moments = psi.part_moments((1.0, 0.5))
    >>> round(moments.log_value, 4), moments.means.round(4)
    (1.5471, array([0.5556, 0.8225]))
    """
    checked = check_sizes(sizes)
    chosen = get_distance(distance)
    check_choice("concentration", concentration, get_args(Concentration))
    check_choice("method", method, get_args(Method))
    check_number("budget", budget, above=0.0)
    if concentration != "single":
        if method != "auto":
            raise InputError(
                f"with one theta per {concentration} the method follows from the sizes",
                [use(method="auto"), use(concentration="single")],
            )
        return generalised_partition(checked, chosen, concentration, budget=budget)
    if draws is not None:
        draws = check_count("draws", draws, least=2)
    chosen.checked_rule(checked)
    if method == "auto":
        method = choose_method(checked, chosen, budget)
    for special, scope in SCOPES.items():
        if method == special and not is_for(special, checked, chosen):
            raise InputError(
                f'the method "{method}" needs {scope}; got {chosen.name} and sizes {checked}',
                [use(method="auto")],
            )
    if method == "recursion" and (too_large := recursion.excess(checked, budget)):
        raise too_large
    if method == "anchored":
        return anchored.AnchoredPartition(checked, chosen, batch=draws, rng=rng)
    if method == "path":
        return monte_carlo.PathPartition(checked, chosen, sweeps=draws, rng=rng)
    if method == "importance":
        return monte_carlo.ImportancePartition(checked, chosen, draws=draws, rng=rng)
    return _EXACT[method](checked, chosen)


def choose_method(sizes: tuple[int, ...], distance: Distance, budget: float) -> Method:
    """Return the method that "auto" stands for, from the sizes alone."""
    exact: tuple[Literal["closed", "lines", "rook"], ...] = ("closed", "lines", "rook")
    for method in exact:
        if is_for(method, sizes, distance):
            return method
    if recursion.is_affordable(sizes, budget):
        return "recursion"
    return "anchored" if anchored.is_worthwhile(sizes, distance) else "path"


def log_partition(
    sizes: Iterable[int],
    theta: float,
    distance: str | Distance = "kendall",
    *,
    method: Method = "auto",
    budget: float = DEFAULT_BUDGET,
    draws: int | None = None,
    rng: RandomSource = None,
) -> Estimate:
    """Log partition function: the log of the sum of ``exp(-theta d)`` over all orderings.

    Parameters
    ----------
    sizes, distance, method, budget, draws, rng
        As in `partition_function`, which is the better choice if many thetas are wanted.
    theta
        Concentration, 0 or more.

    Examples
    --------
    >>> log_partition((3, 3, 3, 3, 3), theta=0.25)
    17.894449969153... (exact, recursion)
    """
    psi = partition_function(sizes, distance, method=method, budget=budget, draws=draws, rng=rng)
    return psi.log_value(theta)
