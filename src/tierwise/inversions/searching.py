"""Good tiers of many items: the best cuts of several orders, improved by local search.

With one theta, tiers and theta are found in turn until both stay. With a theta per line, lines are
maximised or integrated as they are valued, and nothing alternates.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.consensus import insert_items
from tierwise._kernels.inversions_climbing import improve, load_best_cuts
from tierwise._kernels.inversions_lines import LARGEST_GRID_THETA
from tierwise._kernels.inversions_partition import Board, load, make_board, value_tiers
from tierwise._kernels.ordered_partition import labels_of, make_tiers
from tierwise._kernels.tied_blocks import make_ties
from tierwise.answers.curves import CurveOfLines
from tierwise.inversions.objective import (
    Concentration,
    SizesPriorName,
    TiersPrior,
    line_objective,
    log_prior_constant,
    tier_constant_of,
)
from tierwise.theta.estimate import best_theta_of_lines, maximise_thetas

if TYPE_CHECKING:
    from collections.abc import Callable

    from tierwise._kernels.inversions_lines import LineObjective
    from tierwise.data.counts import WeakOrderCounts
    from tierwise.model.priors import ThetaPrior

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

_MOST_ROUNDS = 2000
_MOST_ALTERNATIONS = 50
_LEAST_THETA = 1e-6
_FACTORS_OF_THETA = (1.0, 0.5, 1.6, 2.5)
_PERTURBATIONS = (0.2, 0.5, 1.0)
_OTHER_THETAS = (1.7, 0.6)


@dataclass(frozen=True, eq=False)
class FoundTiers:
    """The best tiers that a search has found.

    Attributes
    ----------
    labels
        Tier of each item, counted from 0.
    thetas
        One theta, or one for each tier but the last: those of greatest likelihood.
    criterion
        What was maximised, as in `BestTiers`.
    log_likelihood
        Log-likelihood at the thetas.
    starts
        What was maximised, at the end of the search from each start.
    """

    labels: _Integers
    thetas: _Floats
    criterion: float
    log_likelihood: float
    starts: _Floats


def search_tiers(
    counts: WeakOrderCounts,
    concentration: Concentration = "single",
    *,
    prior_theta: ThetaPrior | Callable[[Any], Any] | None = None,
    prior_sizes: SizesPriorName = "uniform",
    n_starts: int = 4,
    orders: NDArray[Any] | None = None,
    rng: np.random.Generator | None = None,
) -> FoundTiers:
    """Search for the best tiers of all sizes, any number of items.

    No move of one item, exchange of two in neighbouring tiers, join, exchange or cut of tiers makes
    what is found better; that it is the best of all is not known.

    Parameters
    ----------
    counts
        The data.
    concentration
        "single" for one theta, "tier" for one per tier.
    prior_theta
        With one theta per line: integrate over this prior instead of maximising.
    prior_sizes
        The prior of sizes.
    n_starts
        Number of orders to begin with: that of Borda, one improved by insertion, and perturbed
        ones; with one theta per tier, every other from the fourth on is drawn at random.
    orders
        Orders to begin with in place of these, one row each, best item first.
    rng
        Randomness of the perturbed orders and of the sequence in which items are looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.data.counts import WeakOrderCounts
    >>> patterns = np.array([[0, 1, 2, 3], [1, 0, 2, 3], [0, 1, 3, 2], [1, 0, 3, 2]] * 5)
    >>> search_tiers(WeakOrderCounts.from_patterns(patterns)).labels.tolist()
    [0, 0, 1, 1]
    """
    generator = np.random.default_rng(0) if rng is None else rng
    search = _Search(counts, concentration, prior_theta, prior_sizes, generator)
    given = starting_orders(counts, n_starts, generator) if orders is None else np.asarray(orders)
    if orders is None and concentration == "tier":
        # Items on which opinion is divided may be a tier of theta 0 anywhere, far from Borda's
        # order, to which insertion leads most perturbed orders.
        given[3::2] = generator.permuted(given[3::2], axis=1)
    best: tuple[float, _Integers] | None = None
    values = []
    for order in given.astype(np.int64):
        value, labels = search.run(order)
        values.append(value)
        if best is None or value > best[0]:
            best = value, labels
    if best is None:
        raise ValueError("there is no order to begin with: give at least one")
    return search.result(best[1], np.array(values))


def starting_orders(counts: WeakOrderCounts, n_starts: int, rng: np.random.Generator) -> _Integers:
    """Orders to begin with: Borda, then improved by insertion, then from perturbed ones.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.data.counts import WeakOrderCounts
    >>> counts = WeakOrderCounts.from_patterns(np.array([[2, 0, 1]]))
    >>> starting_orders(counts, 2, np.random.default_rng(1)).tolist()
    [[1, 2, 0], [1, 2, 0]]
    """
    lead = counts.above.sum(axis=1) - counts.above.sum(axis=0)
    spread = float(lead.std()) or 1.0
    orders = [counts.borda_order()]
    below = np.ascontiguousarray(counts.above.T)
    # Less than this is rounding.
    tolerance = max(1e-9, np.finfo(np.float64).eps * counts.n_items * float(counts.above.max()))
    for start in range(1, n_starts):
        # From the second on perturbed, a little and more.
        strength = 0.0 if start == 1 else _PERTURBATIONS[start % len(_PERTURBATIONS)]
        noise = strength * spread * rng.standard_normal(counts.n_items)
        places = np.argsort(np.argsort(-(lead + noise), kind="stable"))
        insert_items(places, counts.above, below, tolerance)
        orders.append(np.argsort(places))
    return np.array(orders)


def board_of(
    counts: WeakOrderCounts,
    tier_values: _Floats,
    objective: LineObjective | None = None,
    theta: float = np.inf,
) -> Board:
    """Set up tiers with one theta, or, given an objective of lines, with a theta per line.

    ``tier_values`` is the log prior by size.
    """
    ties = make_ties(
        counts.block_offsets,
        counts.block_members,
        counts.block_weights,
        *counts.blocks_of_items,
        tails=objective is not None,
    )
    n_rankings = float(counts.n_rankings)
    return make_board(make_tiers(counts.above), ties, tier_values, n_rankings, objective, theta)


class _Search:
    """One search: the data, what is maximised, and room to work in."""

    def __init__(
        self,
        counts: WeakOrderCounts,
        concentration: Concentration,
        prior_theta: ThetaPrior | Callable[[Any], Any] | None,
        prior_sizes: SizesPriorName,
        rng: np.random.Generator,
    ) -> None:
        self.counts = counts
        self.single = concentration == "single"
        self.rng = rng
        self.constant = -lgamma(counts.n_items + 1)
        self.tier_constant = 0.0
        # That of each line is found when the line is valued.
        self.theta = 0.1 if self.single else np.inf
        objective = None
        if self.single or prior_theta is not None:
            self.tier_constant = tier_constant_of(prior_sizes)
        if not self.single:
            objective = line_objective(counts, prior_theta)
        if not self.single and prior_theta is not None:
            self.constant = log_prior_constant(prior_sizes, counts.n_items)
        tier_values = TiersPrior(self.tier_constant, 0.0, 0.0).tier_values(counts.n_items)
        self.board = board_of(counts, tier_values, objective)
        # Tiers that were searched from other thetas already, and orders that were cut.
        self.settled: set[bytes] = set()
        self.cuts: dict[bytes, _Integers] = {}
        self.tolerance = 1e-9 * (1.0 + counts.n_rankings * counts.n_items)

    def run(self, order: _Integers) -> tuple[float, _Integers]:
        """Best cuts of an order, then local search; repeated along the order that results."""
        value, labels = self._climb(self._cut(order))
        for _ in range(_MOST_ALTERNATIONS):
            again = self._cut(self._order_of(labels))
            if np.array_equal(again, labels):
                break
            new_value, new_labels = self._climb(again)
            if new_value <= value + self.tolerance:
                break
            value, labels = new_value, new_labels
        if self.single and labels.tobytes() not in self.settled:
            value, labels = self._from_other_thetas(value, labels)
        self.settled.add(labels.tobytes())
        return value, labels

    def _from_other_thetas(self, value: float, labels: _Integers) -> tuple[float, _Integers]:
        """Search again from a larger and a smaller theta, on which the best tiers depend."""
        for factor in _OTHER_THETAS:
            while True:
                theta = best_theta_of_lines(self.counts, labels) * factor
                self._set_theta(theta)
                self._load(labels)
                self._move_until_best()
                new_value, new_labels = self._climb(labels_of(self.board.tiers))
                if new_value <= value + self.tolerance:
                    break
                value, labels = new_value, new_labels
        return value, labels

    def _order_of(self, labels: _Integers) -> _Integers:
        """Items by tier, and within a tier by how they are preferred to its other members."""
        same = labels[:, None] == labels[None, :]
        lead = ((self.counts.above - self.counts.above.T) * same).sum(axis=1)
        return np.lexsort((-lead, labels)).astype(np.int64)

    def _set_theta(self, theta: float) -> bool:
        """Value tiers at this theta from now on; tell whether it changed."""
        theta = min(max(theta, _LEAST_THETA), LARGEST_GRID_THETA)
        if abs(theta - self.theta) < 1e-9 * theta:
            return False
        self.theta = theta
        return True

    def _at_theta(self, labels: _Integers) -> bool:
        """Set theta to the best of these tiers; tell whether it changed."""
        return self._set_theta(best_theta_of_lines(self.counts, labels))

    def _value_at_best_theta(self, labels: _Integers) -> float:
        self._at_theta(labels)
        return self._load(labels)

    def _load(self, labels: _Integers) -> float:
        """Make these the tiers; returns their value."""
        load(self.board.tiers, self.board.ties, labels)
        return value_tiers(self.board, self.theta)

    def _best_cuts(self, order: _Integers) -> _Integers:
        load_best_cuts(self.board, order, self.theta)
        return labels_of(self.board.tiers)

    def _cut(self, order: _Integers) -> _Integers:
        """Best runs of an order, found once: clear data lead from every start to the same."""
        known = order.tobytes()
        if known not in self.cuts:
            self.cuts[known] = self._find_cuts(order)
        return self.cuts[known]

    def _find_cuts(self, order: _Integers) -> _Integers:
        """Best runs of an order; with one theta, the best of those at several thetas."""
        if not self.single:
            return self._best_cuts(order)
        strict = np.empty(self.counts.n_items, dtype=np.int64)
        strict[order] = np.arange(self.counts.n_items)
        centre = max(best_theta_of_lines(self.counts, strict), _LEAST_THETA)
        best, found = -np.inf, strict
        for factor in _FACTORS_OF_THETA:
            self._set_theta(centre * factor)
            for _ in range(_MOST_ALTERNATIONS):
                labels = self._best_cuts(order)
                value = self._value_at_best_theta(labels)
                if value <= best + self.tolerance:
                    break
                best, found = value, labels
        return found

    def _climb(self, labels: _Integers) -> tuple[float, _Integers]:
        value = -np.inf
        found = labels.copy()
        for _ in range(_MOST_ALTERNATIONS):
            if self.single:
                self._at_theta(found)
            self._load(found)
            self._move_until_best()
            found = labels_of(self.board.tiers)
            changed = self._at_theta(found) if self.single else False
            value = self._load(found)
            if not changed:
                break
        return value, found

    def _move_until_best(self) -> None:
        """Take moves that make the tiers better until there is none."""
        for _ in range(_MOST_ROUNDS):
            sequence = self.rng.permutation(self.counts.n_items)
            if not improve(self.board, sequence, self.tolerance):
                break

    def result(self, labels: _Integers, values: _Floats) -> FoundTiers:
        constant = self.constant
        curve = CurveOfLines.of(self.counts, labels)
        thetas, likelihood = maximise_thetas(curve.with_one_theta() if self.single else curve)
        if self.single:
            sizes = np.bincount(labels).tolist()
            criterion = likelihood + constant + self.tier_constant * len(sizes)
            criterion += sum(lgamma(size + 1) for size in sizes)
        else:
            criterion = float(values.max()) + constant
        return FoundTiers(labels, thetas, criterion, likelihood, values + constant)
