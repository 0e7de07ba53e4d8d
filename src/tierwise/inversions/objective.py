"""What tiers are valued by: criterion or posterior weight, with one theta or one per line.

Every objective is a sum over lines and tiers, which is what makes the searches and sums of this
package exact or cheap. For the recursion over subsets of subsets, what the data say about all
subsets is tabulated here as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb, inf, lgamma, log, sqrt
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels import inversions_subsets as kernels
from tierwise._kernels.inversions_lines import (
    PRECISION_OF_LINES,
    FactorialGrid,
    LineObjective,
    make_factorial_grid,
    make_single_theta_grid,
)
from tierwise._util.checks import check_choice
from tierwise.errors import InputError, TooLargeError, quoted
from tierwise.model.priors import (
    LOG_SHARES,
    SizesPrior,
    ThetaPrior,
    log_total_of_several,
    log_total_of_sizes,
)
from tierwise.theta.density import prior_table
from tierwise.tiers import log_factorials

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise.data.counts import WeakOrderCounts

Concentration: TypeAlias = Literal["single", "tier"]
"""One theta, or one for each tier but the last."""
SizesPriorName: TypeAlias = Literal["uniform", "penalised"]
TiersPriorName: TypeAlias = Literal["uniform", "penalised", "sceptical", "several"]

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_Number = TypeVar("_Number", np.float64, np.int64)


@lru_cache(maxsize=8)
def factorial_grid(n_items: int) -> FactorialGrid:
    """Logarithms of Gaussian factorials for so many items; made once."""
    return make_factorial_grid(n_items)


def log_prior_constant(prior_sizes: SizesPriorName, n_items: int) -> float:
    """Return what the priors of sizes and of tiers given sizes add to every objective."""
    return -log_total_of_sizes(prior_sizes, n_items) - lgamma(n_items + 1)


def fixed_objective(
    counts: WeakOrderCounts, theta: float, tier_constant: float = 0.0
) -> LineObjective:
    """Value tiers at one given theta."""
    grid = make_single_theta_grid(theta, counts.n_items)
    return LineObjective(
        None,
        None,
        grid,
        counts.n_rankings,
        log_factorials(counts.n_items),
        float(tier_constant),
    )


def line_objective(
    counts: WeakOrderCounts,
    prior: ThetaPrior | Callable[[Any], Any] | None,
    tier_constant: float = 0.0,
) -> LineObjective:
    """Value tiers with a theta per line, maximised, or integrated where there is a prior."""
    grid = factorial_grid(counts.n_items)
    return LineObjective(
        None if prior is None else prior_table(prior, nodes=grid.thetas),
        PRECISION_OF_LINES if prior is None else None,
        grid,
        counts.n_rankings,
        log_factorials(counts.n_items),
        float(tier_constant),
    )


def tier_constant_of(prior_sizes: SizesPriorName) -> float:
    """Return what each further tier adds to the log prior of sizes."""
    check_choice("prior_sizes", prior_sizes, tuple(LOG_SHARES))
    return LOG_SHARES[prior_sizes]


class TiersPrior(NamedTuple):
    """Log prior probability of tiers, as a sum over tiers except for the single tier."""

    tier_constant: float
    """What each tier adds to the log of the number of orders of its items."""
    single_tier_bonus: float
    """What is added where there is only one tier."""
    constant: float
    """What is added whatever the tiers."""

    def tier_values(self, n_items: int) -> _Floats:
        """Return what a tier of each size adds to the log prior; an empty one adds nothing."""
        logs = log_factorials(n_items)
        logs[1:] += self.tier_constant
        return logs

    def log_probability(self, sizes: _Integers) -> float:
        """Log prior probability of tiers of these sizes."""
        bonus = self.single_tier_bonus if len(sizes) == 1 else 0.0
        return self.constant + bonus + float(self.tier_values(int(sizes.sum()))[sizes].sum())

    def log_probabilities(self, labels: _Integers) -> _Floats:
        """Log prior probability of tiers, one row each, from the tier of each item."""
        n_draws, n_items = labels.shape
        cells = labels + n_items * np.arange(n_draws)[:, None]
        sizes = np.bincount(cells.ravel(), minlength=n_draws * n_items).reshape(labels.shape)
        logs: _Floats = self.constant + self.tier_values(n_items)[sizes].sum(axis=1)
        logs[sizes[:, 0] == n_items] += self.single_tier_bonus
        return logs


def tiers_prior(prior_sizes: SizesPrior | TiersPriorName, n_items: int) -> TiersPrior:
    """Return the prior of tiers that are equally probable given their sizes, by its name.

    "sceptical" is "penalised" with so much more for the single tier that it has one half;
    "several" is "penalised" without the single tier.

    Examples
    --------
    >>> import numpy as np
    >>> prior = tiers_prior("sceptical", 2)  # one tier; either order of two
    >>> logs = [prior.log_probability(np.array(sizes)) for sizes in ([2], [1, 1])]
    >>> np.exp(logs).round(4).tolist()
    [0.5, 0.25]
    """
    if prior_sizes not in get_args(TiersPriorName):
        raise InputError(
            'for tiers of all sizes the prior of sizes must be "uniform", "penalised" or '
            f'"sceptical", not probabilities by sizes or a function; got {quoted(prior_sizes)}'
        )
    if prior_sizes in ("uniform", "penalised") or n_items == 1:
        name: SizesPriorName = "uniform" if prior_sizes == "uniform" else "penalised"
        return TiersPrior(tier_constant_of(name), 0.0, log_prior_constant(name, n_items))
    # What makes a single tier as probable as all others together.
    bonus = log_total_of_several(n_items) + 1.0
    constant = 1.0 - bonus - lgamma(n_items + 1)
    if prior_sizes == "several":
        return TiersPrior(-1.0, -inf, constant)
    return TiersPrior(-1.0, bonus, constant - log(2.0))


MOST_ITEMS = 18
# With ties, every set has a curve of its own in memory.
_MOST_BYTES_OF_CURVES = 600 * 2**20
# Up to so many different lines are kept one by one. More are interpolated, in steps of a part of
# the spread of the number of inversions under the uniform distribution.
_MOST_LINES_KEPT = 6_000_000
_STEPS_IN_DEVIATION = 8.0


def _sums_over_sets(values: NDArray[_Number]) -> NDArray[_Number]:
    """Sum the values of the members of each set."""
    sums = np.zeros(1, dtype=values.dtype)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def _sums_over_pairs(values: _Floats) -> _Floats:
    """Sum the values of the pairs of members of each set; each pair has its value twice."""
    sums = np.zeros(1)
    for item, row in enumerate(values):
        sums = np.concatenate([sums, sums + _sums_over_sets(row[:item])])
    return sums


def _curves_of_sizes(objective: LineObjective) -> _Floats:
    """Curves of the lines of all sizes, for complete rankings: ``[s, r]``."""
    table = objective.grid.factorials
    curves = np.zeros((len(table), *table.shape))
    for size in range(1, len(table)):
        worse = slice(1, len(table) - size)
        curves[size, worse] = table[size] + table[worse] - table[size + 1 :]
    return objective.n_rankings * curves


@dataclass(frozen=True, eq=False)
class SubsetTables:
    """What the data say about all subsets of the items, for every theta and objective."""

    counts: WeakOrderCounts

    def __post_init__(self) -> None:
        if self.counts.n_items > MOST_ITEMS:
            raise TooLargeError(
                f"all tiers of all sizes can be enumerated for up to {MOST_ITEMS} items, but "
                f"there are {self.counts.n_items}: use the local search or the chain"
            )

    @cached_property
    def inner(self) -> _Floats:
        """How often members of each set are ranked above members."""
        return _sums_over_pairs(self.counts.above + self.counts.above.T)

    @cached_property
    def paid_by_others(self) -> _Floats:
        """How many inversions there are between each set and all other items, if it is the last."""
        # What remains without a set is found as far from the last one.
        return (_sums_over_sets(self.counts.above.sum(axis=0)) - self.inner)[::-1]

    @cached_property
    def least_within(self) -> _Floats:
        """How many inversions there are at least within each set and among all other items."""
        least = _sums_over_pairs(np.minimum(self.counts.above, self.counts.above.T))
        return least + least[::-1]

    @cached_property
    def sizes(self) -> _Integers:
        """Number of members of each set."""
        return _sums_over_sets(np.ones(self.counts.n_items, dtype=np.int64))

    @cached_property
    def meeting(self) -> _Floats:
        """Weight of the tied blocks that meet each set in so many items.

        Item by item, the bit that says whether the block holds the item becomes the bit that says
        whether the set does: ``n^2 2^n`` steps, whatever the number of blocks.
        """
        counts = self.counts
        table = np.zeros((2**counts.n_items, counts.largest_block + 1))
        if counts.n_blocks:
            bits = 1 << counts.block_members.astype(np.int64)
            codes = np.add.reduceat(bits, counts.block_offsets[:-1])
            np.add.at(table[:, 0], codes, counts.block_weights)
        for item in range(counts.n_items):
            without, held = table.reshape(-1, 2, 2**item, table.shape[1]).swapaxes(0, 1)
            met = without.copy()
            met[..., 1:] += held[..., :-1]
            without += held
            held[...] = met
        return table

    def tier_values(self, objective: LineObjective, extra: _Floats | None = None) -> _Floats:
        """Value each set as a tier; ``extra[k]`` is added for a tier of size ``k``."""
        logs = objective.log_factorials
        # Tiers of given sizes are equally probable.
        weight = 1.0 - objective.n_rankings
        by_size = objective.tier_constant + weight * logs
        if extra is not None:
            by_size = by_size + extra
        values = by_size[self.sizes]
        if self.counts.n_blocks:
            values = values + self.meeting @ logs[: self.meeting.shape[1]]
        return values

    def at_theta(self, objective: LineObjective) -> kernels.SubsetProblem:
        """Set up the recursion at a fixed theta."""
        factorials = objective.grid.factorials[:, 0, 0]
        values = self.tier_values(objective, self.counts.n_rankings * factorials)
        if self.counts.n_blocks:
            values = values - self.meeting @ factorials[: self.meeting.shape[1]]
        return self.with_values(objective, values)

    def with_values(self, objective: LineObjective, values: _Floats) -> kernels.SubsetProblem:
        """Set up the recursion at a fixed theta, with given values of all tiers."""
        return kernels.SubsetProblem(
            self.counts.n_items,
            self.counts.above,
            objective,
            self.inner,
            values + objective.grid.thetas[0] * self.inner,
            self.sizes,
            np.zeros((1, 1, 1, 1)),
            np.zeros(1),
            np.zeros((1, 1), np.int64),
            np.ones((1, 1)),
        )

    def by_line(self, objective: LineObjective) -> kernels.SubsetProblem:
        """Set up the recursion with a theta per line."""
        counts = self.counts
        n_items = counts.n_items
        offsets = np.zeros((n_items + 1, n_items + 1), np.int64)
        steps = np.ones((n_items + 1, n_items + 1))
        n_kept = 1
        if counts.n_blocks:
            n_bytes = 2**n_items * objective.grid.factorials[0].size * 8
            if n_bytes > _MOST_BYTES_OF_CURVES:
                raise TooLargeError(
                    f"a theta per line for all tiers of {n_items} items with ties needs "
                    f"{n_bytes / 2**30:.1f} GB: use the local search or the chain"
                )
            curves = self._curves_of_sets(objective)
        else:
            curves = _curves_of_sizes(objective)
            n_lines = counts.n_rankings * comb(n_items + 2, 4)
            keep_all = counts.has_whole_weights and n_lines <= _MOST_LINES_KEPT
            for size in range(1, n_items):
                for n_worse in range(1, n_items + 1 - size):
                    pairs = size * n_worse
                    spread = sqrt(counts.n_rankings * pairs * (size + n_worse + 1) / 12.0)
                    step = spread / _STEPS_IN_DEVIATION
                    whole = 1.0 if keep_all else max(float(np.floor(step)), 1.0)
                    steps[size, n_worse] = whole if counts.has_whole_weights else step
                    offsets[size, n_worse] = n_kept
                    n_kept += int(counts.n_rankings * pairs / steps[size, n_worse]) + 8
        return kernels.SubsetProblem(
            n_items,
            counts.above,
            objective,
            self.inner,
            self.tier_values(objective),
            self.sizes,
            curves,
            # Zeros take no memory until they are written to: most lines are never met.
            np.zeros(n_kept),
            offsets,
            steps,
        )

    def _curves_of_sets(self, objective: LineObjective) -> _Floats:
        """Return what each set adds to the curves of lines: tied blocks less all rankings."""
        table = objective.grid.factorials
        numbers = np.zeros((len(self.sizes), len(table)))
        numbers[:, : self.meeting.shape[1]] = self.meeting
        numbers[np.arange(len(numbers)), self.sizes] -= objective.n_rankings
        return (numbers @ table.reshape(len(table), -1)).reshape(1, -1, *table.shape[1:])

    def most_summed(self, objective: LineObjective) -> _Floats:
        """Bound the log of the sum over all tiers at a fixed theta of which each set is the last.

        Each pair of different tiers costs theta for each inversion, of which there are no fewer
        than in the better order of the two. A pair that is tied costs some share of theta for half
        of the rankings, or nothing where they tie items, too. Apart from that a tier adds what it
        has in the prior.
        """
        n_items = self.counts.n_items
        numbers = np.arange(n_items + 1)
        # All tiers of so many items, by their number: each has as many orders as all items.
        further = np.maximum(numbers - 1, 0) * np.logaddexp(0.0, objective.tier_constant)
        prior = (
            objective.log_factorials + further + np.minimum(numbers, 1) * objective.tier_constant
        )
        theta = float(objective.grid.thetas[0])
        share_of_tied = 0.0
        if n_items > 1 and not self.counts.n_blocks:
            # What the tier of so many items costs more than the tier of one item fewer, by pair.
            factorials = objective.grid.factorials[:, 0, 0]
            costs = np.diff(objective.log_factorials - factorials)[1:] / numbers[1:-1]
            share_of_tied = 2.0 * float(costs.min()) / theta
        paid = self.paid_by_others + min(share_of_tied, 1.0) * self.least_within
        most: _Floats = (prior + prior[::-1])[self.sizes] - theta * paid
        return most

    def problem(self, objective: LineObjective) -> kernels.SubsetProblem:
        """Set up the recursion for any objective."""
        return self.at_theta(objective) if objective.has_given_theta else self.by_line(objective)

    def constant(self, objective: LineObjective) -> float:
        """Return what the recursion leaves out at a fixed theta: the curve of all items."""
        if not objective.has_given_theta:
            return 0.0
        factorials = objective.grid.factorials[:, 0, 0]
        blocks = np.diff(self.counts.block_offsets)
        ties = float(self.counts.block_weights @ factorials[blocks])
        return ties - self.counts.n_rankings * float(factorials[self.counts.n_items])
