"""Evidence summed over all tiers and sizes, and exact draws, by recursion over subsets of subsets.

Summing instead of maximising gives the sum over all tiers of prior times likelihood. With one theta
that is done at the nodes of the trapezoidal rule in log theta; with a theta per line each line is
integrated by itself. Going backward through the sums draws tiers, and theta given tiers is drawn
from its density: independent draws from the full posterior, without a chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels import inversions_subsets as kernels
from tierwise._kernels.inversions_lines import (
    FactorialGrid,
    LineObjective,
    integrate_line,
    theta_quantiles,
)
from tierwise._kernels.inversions_weak_orders import (
    OneTheta,
    integrate_one_theta,
    quantiles_of_one_theta,
)
from tierwise.answers.curves import CurveOfLines
from tierwise.inversions.objective import (
    Concentration,
    SubsetTables,
    TiersPrior,
    TiersPriorName,
    fixed_objective,
    line_objective,
    tiers_prior,
)
from tierwise.model.priors import Gamma, ThetaPrior, as_theta_prior
from tierwise.theta.quadrature import few_nodes, log_trapezoid

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise._kernels.theta import PriorTable
    from tierwise.data.counts import WeakOrderCounts
    from tierwise.tiers import Sizes

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# Tiers of which a set is the last are left out where all of them together are less probable than
# this logarithm: of 2^18 sets, all of them together by 1e-14.
_DEPTH_OF_SETS = 45.0


@dataclass(frozen=True, eq=False)
class TierDraws:
    """Draws from the posterior of tiers, sizes and thetas.

    Attributes
    ----------
    labels
        Tier of each item (column) in each draw (row), counted from 0.
    thetas
        One theta per draw; or, with a theta per line, one column per tier but the last, NaN where
        a draw has fewer tiers.
    """

    labels: _Integers
    thetas: _Floats


@dataclass(frozen=True, eq=False)
class _Sums:
    """The sums of one recursion."""

    problem: kernels.SubsetProblem
    logs: _Floats
    shares: _Floats
    log_value: float
    matters: NDArray[np.bool_]
    """``[set]``: whether it may be the last tiers with a probability that is not negligible."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence of the model, summed over all tiers of all sizes and integrated over theta.

    Attributes
    ----------
    concentration
        "single" for one theta, "tier" for one per tier.
    log_evidence
        Log probability of the data.
    number_of_tiers
        ``number_of_tiers[k]`` is the posterior probability of ``k`` tiers.
    thetas, theta_weights
        With one theta: the nodes of the integral over theta and their posterior probabilities.
    """

    concentration: Concentration
    log_evidence: float
    number_of_tiers: _Floats
    thetas: _Floats
    theta_weights: _Floats
    _counts: WeakOrderCounts
    _prior: Any
    _sums: tuple[_Sums, ...]

    @property
    def probability_of_no_tiers(self) -> float:
        """Posterior probability that all items are in one tier."""
        return float(self.number_of_tiers[1])

    def sizes_probabilities(self) -> dict[Sizes, float]:
        """Posterior probability of each size vector, the most probable first.

        That takes ``4^n`` steps: some seconds for 12 items.

        Examples
        --------
        >>> import numpy as np
        >>> from tierwise.data.counts import WeakOrderCounts
        >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1], [0, 1], [1, 0]]))
        >>> shares = sum_evidence(counts).sizes_probabilities()
        >>> {sizes: round(share, 4) for sizes, share in shares.items()}
        {(2,): 0.5645, (1, 1): 0.4355}
        """
        n_items = self._counts.n_items
        # The code of sizes has bit ``m - 1`` set where ``m`` items come after the end of a tier:
        # that of the tiers that remain is the same whatever comes before them.
        bits = 2 ** np.arange(n_items + 1) // 2
        by_sizes = kernels.Grading(np.maximum(bits, 1), bits)
        shares = sum(
            weight * kernels.sum_values(sums.problem, by_sizes, sums.matters)[1]
            for weight, sums in zip(self.theta_weights.tolist(), self._sums, strict=True)
        )
        order = np.argsort(-np.asarray(shares), kind="stable").tolist()
        return {_sizes_of_code(code, n_items): float(shares[code]) for code in order}

    def draw(self, n_draws: int, rng: np.random.Generator) -> TierDraws:
        """Draw tiers and thetas from the posterior, exactly and independently.

        Examples
        --------
        >>> import numpy as np
        >>> from tierwise.data.counts import WeakOrderCounts
        >>> from tierwise.inversions.evidence import sum_evidence
        >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1, 2]] * 20))
        >>> draws = sum_evidence(counts).draw(5, np.random.default_rng(1))
        >>> draws.labels.shape, draws.thetas.shape
        ((5, 3), (5,))
        """
        n_items = self._counts.n_items
        labels = np.zeros((n_draws, n_items), dtype=np.int64)
        per_node = rng.multinomial(n_draws, self.theta_weights)
        order = rng.permutation(n_draws)
        done = 0
        for node in np.flatnonzero(per_node).tolist():
            sums = self._sums[node]
            number = int(per_node[node])
            labels[order[done : done + number]] = _draw_tiers(sums, number, rng)
            done += number
        thetas = draw_thetas(self._counts, labels, self._prior, self.concentration, rng)
        return TierDraws(labels, thetas)


def _draw_tiers(sums: _Sums, n_draws: int, rng: np.random.Generator) -> _Integers:
    """Draw tiers exactly and independently, best tier first, by what the sums say.

    What remains once a tier is chosen comes earlier among the sets: one pass over those that draws
    come to, last to first, looks at each only once, however many draws come to it.
    """
    problem, logs = sums.problem, sums.logs
    items = np.arange(problem.n_items)
    labels = np.zeros((n_draws, problem.n_items), dtype=np.int64)
    waiting = {len(logs) - 1: list(range(n_draws))}
    # The last set is the smallest of these numbers, which a heap gives first.
    still_to_come = [1 - len(logs)]
    while still_to_come:
        whole = -heappop(still_to_come)
        draws = waiting.pop(whole)[::-1]
        tiers, terms = kernels.choices_from(problem, whole)
        running = np.cumsum(np.exp(terms + logs[tiers[::-1]] - logs[whole]))
        found = np.searchsorted(running, rng.random(len(draws)) * running[-1], side="right")
        rests = whole ^ tiers[np.minimum(found, len(tiers) - 1)]
        # Whatever is not in this tier is in a later one.
        labels[draws] += (rests[:, None] >> items) & 1
        for draw, rest in zip(draws, rests.tolist(), strict=True):
            if rest in waiting:
                waiting[rest].append(draw)
            elif rest > 0:
                waiting[rest] = [draw]
                heappush(still_to_come, -rest)
    return labels


def _sizes_of_code(code: int, n_items: int) -> Sizes:
    """Sizes, from a bit for each number of items after the end of a tier."""
    after = [number for number in range(n_items - 1, 0, -1) if (code >> (number - 1)) & 1]
    return tuple((-np.diff([n_items, *after, 0])).tolist())


@dataclass(frozen=True, eq=False)
class LinesOfTiers:
    """The lines of given tiers as curves over theta: their posterior, and draws of theta.

    Attributes
    ----------
    objective
        Has the prior of theta.
    coefficients
        How often each line has the factorial of each number of items.
    totals
        Number of inversions of each line.
    log_orders
        What of the log-likelihood does not depend on theta.
    """

    objective: LineObjective
    coefficients: _Floats
    totals: _Floats
    log_orders: float

    @cached_property
    def curves(self) -> _Floats:
        """Log-likelihood of each line over theta, except for the inversions."""
        return self._curves_of(self.coefficients)

    @cached_property
    def _curve_of_all(self) -> _Floats:
        """The same for all lines together, which is as much work as for one."""
        return self._curves_of(self.coefficients.sum(axis=0))

    def _curves_of(self, coefficients: _Floats) -> _Floats:
        table = self.objective.grid.factorials
        # Few numbers of items occur.
        occur = np.flatnonzero(coefficients.reshape(-1, len(table)).any(axis=0))
        return np.ascontiguousarray(np.tensordot(coefficients[..., occur], table[occur], axes=1))

    @property
    def _grid_and_prior(self) -> tuple[FactorialGrid, PriorTable]:
        # Only where theta is fixed is there no prior.
        return self.objective.grid, cast("PriorTable", self.objective.prior)

    def log_likelihood(self, concentration: Concentration) -> float:
        """Log-likelihood of the tiers, with one theta or all thetas integrated out."""
        grid, prior = self._grid_and_prior
        if concentration == "single":
            total = float(self.totals.sum())
            lines = integrate_line(grid, prior, self._curve_of_all, total)
        else:
            lines = sum(
                integrate_line(grid, prior, curve, total)
                for curve, total in zip(self.curves, self.totals.tolist(), strict=True)
            )
        return self.log_orders + float(lines)

    def line_thetas(self, shares: _Floats) -> _Floats:
        """``[draw, line]``: thetas of each line below which shares of its posterior lie."""
        grid, prior = self._grid_and_prior
        thetas = np.empty((len(shares), len(self.totals)))
        for line, total in enumerate(self.totals.tolist()):
            of_line = np.ascontiguousarray(shares[:, line])
            thetas[:, line] = theta_quantiles(grid, prior, self.curves[line], total, of_line)
        return thetas


def lines_of_tiers(
    counts: WeakOrderCounts, labels: _Integers, objective: LineObjective
) -> LinesOfTiers:
    """Write the log-likelihood of each line of given tiers as a curve over theta.

    Parameters
    ----------
    counts, labels
        The data, and the tiers, counted from 0.
    objective
        From `line_objective` with a prior: the same for all tiers of so many items.
    """
    curve = CurveOfLines.of(counts, labels)
    return LinesOfTiers(objective, curve.coefficients, curve.totals, curve.log_orders)


def _distinct_rows(rows: _Integers) -> tuple[_Integers, _Integers]:
    """Return distinct rows, in the order in which they come, and which of them each row is.

    Of a few rows at a time this is several times as fast as sorting them.
    """
    known: dict[bytes, int] = {}
    which = [known.setdefault(row.tobytes(), len(known)) for row in rows]
    first = np.unique(np.array(which, dtype=np.int64), return_index=True)[1]
    return rows[first], np.array(which, dtype=np.int64)


def _one_theta(counts: WeakOrderCounts, objective: LineObjective) -> OneTheta:
    """Return what kernels have to know of tiers that have one theta."""
    return OneTheta(
        objective.grid,
        # Only where theta is fixed is there no prior.
        cast("PriorTable", objective.prior),
        objective.log_factorials,
        counts.n_rankings,
        counts.above,
        counts.block_offsets,
        counts.block_members,
        counts.block_weights,
    )


def integrate_tiers(
    counts: WeakOrderCounts,
    labels: _Integers,
    objective: LineObjective,
    concentration: Concentration,
) -> tuple[_Floats, _Floats]:
    """Return inversions and log-likelihood of tiers, one row each, theta being integrated out."""
    distinct, which = _distinct_rows(labels)
    totals, logs = np.empty((2, len(distinct)))
    if concentration == "single":
        integrate_one_theta(_one_theta(counts, objective), distinct, totals, logs)
    else:
        for number, row in enumerate(distinct):
            lines = lines_of_tiers(counts, row, objective)
            totals[number] = lines.totals.sum()
            logs[number] = lines.log_likelihood("tier")
    return totals[which], logs[which]


def draw_thetas(
    counts: WeakOrderCounts,
    labels: _Integers,
    prior: ThetaPrior | Callable[[Any], Any],
    concentration: Concentration,
    rng: np.random.Generator,
) -> _Floats:
    """Draw theta, or the theta of each line, given tiers, one tier list per row."""
    n_draws, n_items = labels.shape
    shares = rng.random((n_draws, 1 if concentration == "single" else n_items))
    distinct, which = _distinct_rows(labels)
    objective = line_objective(counts, prior)
    if concentration == "single":
        order = np.argsort(which, kind="stable")
        thetas = np.empty(n_draws)
        thetas[order] = quantiles_of_one_theta(
            _one_theta(counts, objective),
            distinct,
            np.searchsorted(which[order], np.arange(len(distinct) + 1)),
            shares[order, 0],
        )
        return thetas
    thetas = np.full((n_draws, max(int(labels.max(initial=0)), 1)), np.nan)
    for number, row in enumerate(distinct):
        lines = lines_of_tiers(counts, row, objective)
        draws = np.flatnonzero(which == number)
        thetas[draws, : len(lines.totals)] = lines.line_thetas(shares[draws])
    return thetas


def sum_evidence(
    counts: WeakOrderCounts,
    concentration: Concentration = "single",
    *,
    prior_theta: ThetaPrior | Callable[[Any], Any] | None = None,
    prior_sizes: TiersPriorName = "uniform",
) -> Evidence:
    """Sum prior times likelihood over all tiers of all sizes, for up to 18 items.

    Parameters
    ----------
    counts
        The data.
    concentration
        "single" for one theta, "tier" for one per tier.
    prior_theta
        Prior of theta, Gamma(2, 2) where none is given.
    prior_sizes
        "uniform" over all sizes; "penalised": ``e`` times less probable with every further tier;
        "sceptical": penalised, and half of all probability for a single tier; or "several":
        penalised, and no single tier. Tiers are equally probable given their sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.data.counts import WeakOrderCounts
    >>> counts = WeakOrderCounts.from_patterns(np.array([[0, 1], [0, 1], [1, 0]]))
    >>> evidence = sum_evidence(counts)
    >>> round(evidence.log_evidence, 4), round(evidence.probability_of_no_tiers, 4)
    (-2.2008, 0.5645)
    """
    prior = Gamma(2, 2) if prior_theta is None else prior_theta
    tables = SubsetTables(counts)
    prior_of_tiers = tiers_prior(prior_sizes, counts.n_items)
    if concentration == "tier":
        objective = line_objective(counts, prior, prior_of_tiers.tier_constant)
        sums = _sum(tables, objective, prior_of_tiers)
        return Evidence(
            "tier",
            sums.log_value,
            sums.shares,
            np.zeros(0),
            np.ones(1),
            counts,
            prior,
            (sums,),
        )
    return _with_one_theta(tables, prior, prior_of_tiers)


def _sum(tables: SubsetTables, objective: LineObjective, prior_of_tiers: TiersPrior) -> _Sums:
    problem = tables.problem(objective)
    # All items can only be a tier where there is no other.
    problem.tier_values[-1] += prior_of_tiers.single_tier_bonus
    n_members = np.arange(problem.n_items + 1)
    by_number = kernels.Grading(np.maximum(n_members, 1), np.minimum(n_members, 1))
    matters = np.ones(len(problem.sizes), dtype=np.bool_)
    if objective.has_given_theta:
        # Less than all tiers is what a good order can be cut into.
        cut = kernels.sum_values(problem, by_number, _ends_of_order(tables.counts))[0]
        matters = tables.most_summed(objective) > cut[-1] - _DEPTH_OF_SETS
        # The bound does not hold for a single tier, which the prior may favour.
        matters[-1] = True
    logs, shares = kernels.sum_values(problem, by_number, matters)
    value = float(logs[-1]) + tables.constant(objective) + prior_of_tiers.constant
    return _Sums(problem, logs, np.append(0.0, shares), value, matters)


def _ends_of_order(counts: WeakOrderCounts) -> NDArray[np.bool_]:
    """Say which sets are what a good order of the items ends with."""
    ends = np.zeros(2**counts.n_items, dtype=np.bool_)
    ends[np.cumsum(1 << counts.borda_order()[::-1])] = True
    return ends


def _with_one_theta(
    tables: SubsetTables,
    prior: ThetaPrior | Callable[[Any], Any],
    prior_of_tiers: TiersPrior,
) -> Evidence:
    """Integrate over one theta, with a recursion at each node."""
    density = as_theta_prior(prior)

    @cache
    def sums_at(log_theta: float) -> _Sums:
        theta = float(np.exp(log_theta))
        objective = fixed_objective(tables.counts, theta, prior_of_tiers.tier_constant)
        return _sum(tables, objective, prior_of_tiers)

    def height(log_theta: float) -> float:
        log_density = float(density.log_density(np.exp([log_theta]))[0])
        return sums_at(log_theta).log_value + log_density + log_theta

    nodes, step = few_nodes(height)
    heights = np.array([height(node) for node in nodes])
    weights = np.exp(heights - heights.max())
    shares = weights / weights.sum()
    sums = tuple(map(sums_at, nodes))
    return Evidence(
        "single",
        float(log_trapezoid(heights, step)),
        np.array([one.shares for one in sums]).T @ shares,
        np.exp(nodes),
        shares,
        tables.counts,
        prior,
        sums,
    )
