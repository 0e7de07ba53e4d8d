"""The consensus problem as a linear program over relations between items.

Unknowns, all between 0 and 1: ``before[a, l]`` says that item ``a`` is in a tier better than ``l``
(``l`` from 0 to the number of tiers), ``above[a, b]`` that ``a`` is in a strictly better tier than
``b``. The sizes fix how many items are above and below each item of a tier, which ties the two
together. What is left to require is large in number and seldom matters: it is added when violated.

- links ``above[a, b] <= before[a, l] + 1 - before[b, l + 1]``: if ``b`` is in tier ``l`` or better,
  then ``a`` is above it only if better than ``l``;
- triangles ``above[a, c] <= above[a, b] + above[b, c]``: if ``a`` is above ``c``, then any third
  item is below ``a`` or above ``c``.

With ``before`` whole and all links satisfied, ``above`` is the relation of the tiers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, vstack

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise.consensus.problem import Problem

_VIOLATION = 1e-5
_MOST_CUTS_OF_A_KIND = 1000


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise ``objective @ x + constant`` under equalities, inequalities and bounds.

    Attributes
    ----------
    n_items, n_tiers
        What the unknowns are made of: ``before``, row by row, and then ``above``.
    objective, constant
        What is minimised.
    equal, equal_to
        ``equal @ x == equal_to``.
    at_most, limits
        ``at_most @ x <= limits``.
    lowest, highest
        ``lowest <= x <= highest``.
    """

    n_items: int
    n_tiers: int
    objective: npt.NDArray[np.float64]
    constant: float
    equal: csr_array
    equal_to: npt.NDArray[np.float64]
    at_most: csr_array
    limits: npt.NDArray[np.float64]
    lowest: npt.NDArray[np.float64]
    highest: npt.NDArray[np.float64]

    @property
    def n_before(self) -> int:
        """Number of unknowns that come first, and that must be whole."""
        return self.n_items * (self.n_tiers + 1)

    def unpack(
        self, x: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Split a solution into ``before`` and ``above``."""
        before = x[: self.n_before].reshape(self.n_items, self.n_tiers + 1)
        return before, x[self.n_before :].reshape(self.n_items, self.n_items)

    def labels(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Tier of each item in a solution whose ``before`` is whole."""
        before, _ = self.unpack(x)
        n_worse_tiers = np.rint(before).sum(axis=1, dtype=np.int64)
        labels: npt.NDArray[np.int64] = self.n_tiers - n_worse_tiers
        return labels

    def with_limits(self, rows: csr_array, limits: npt.NDArray[np.float64]) -> Program:
        """Return the same program with more inequalities."""
        return replace(
            self,
            at_most=vstack([self.at_most, rows], format="csr"),
            limits=np.concatenate([self.limits, limits]),
        )

    def without_tiers(self, labels: npt.NDArray[np.int64]) -> Program:
        """Return the same program, but for tiers that are no longer allowed."""
        before, _ = _columns(self.n_items, self.n_tiers)
        items = np.arange(self.n_items)
        # Other tiers of the same sizes put at least two items elsewhere.
        columns = np.concatenate([before[items, labels + 1], before[items, labels]])
        values = np.repeat([1.0, -1.0], self.n_items)
        rows = _rows(columns[None, :], values, len(self.objective))
        return self.with_limits(rows, np.array([self.n_items - 2.0]))

    def violated(self, x: npt.NDArray[np.float64]) -> tuple[csr_array, npt.NDArray[np.float64]]:
        """Links and triangles that a solution violates most, and their limits."""
        before, above = self.unpack(x)
        before_at, above_at = _columns(self.n_items, self.n_tiers)
        excess = above[:, :, None] - before[:, None, :-1] + before[None, :, 1:] - 1.0
        first, second, tier = _largest(excess)
        links = np.column_stack(
            [above_at[first, second], before_at[first, tier], before_at[second, tier + 1]]
        )
        # [a, c, b]; a triangle with two corners in one place is never violated.
        excess = above[:, :, None] - above[:, None, :] - above.T[None, :, :]
        first, last, middle = _largest(excess)
        triangles = np.column_stack(
            [above_at[first, last], above_at[first, middle], above_at[middle, last]]
        )
        width = len(self.objective)
        rows = vstack(
            [
                _rows(links, np.array([1.0, -1.0, 1.0]), width),
                _rows(triangles, np.array([1.0, -1.0, -1.0]), width),
            ],
            format="csr",
        )
        return rows, np.repeat([1.0, 0.0], [len(links), len(triangles)])


def make_program(problem: Problem) -> Program:
    """Write down a consensus problem, without any of the links and triangles."""
    n_items, n_tiers = problem.n_items, len(problem.sizes)
    sizes = np.array(problem.sizes, dtype=np.float64)
    n_better = np.concatenate([[0.0], np.cumsum(sizes)])
    before, above = _columns(n_items, n_tiers)
    width = before.size + above.size

    objective = np.zeros(width)
    constant = 0.0
    if problem.linear.size:
        objective[before] += _on_before(problem.linear)
    if problem.pairs.size:
        objective[above] -= problem.pairs
        constant += float(problem.pairs.sum())

    lowest, highest = np.zeros(width), np.ones(width)
    highest[before[:, 0]] = 0.0
    lowest[before[:, -1]] = 1.0
    highest[np.diagonal(above)] = 0.0

    ones = np.ones(n_items)
    n_below = _on_before(n_items - n_better[None, 1:])[0]
    n_above = _on_before(n_better[None, :-1])[0]
    equal = [
        _rows(before.T, ones, width),
        _rows(np.hstack([above, before]), np.concatenate([ones, -n_below]), width),
        _rows(np.hstack([above.T, before]), np.concatenate([ones, -n_above]), width),
    ]
    first, second = np.triu_indices(n_items, k=1)
    rising = np.column_stack([before[:, :-1].ravel(), before[:, 1:].ravel()])
    both = np.column_stack([above[first, second], above[second, first]])
    at_most = [_rows(rising, np.array([1.0, -1.0]), width), _rows(both, np.ones(2), width)]
    return Program(
        n_items=n_items,
        n_tiers=n_tiers,
        objective=objective,
        constant=constant,
        equal=vstack(equal, format="csr"),
        equal_to=np.concatenate([n_better, np.zeros(2 * n_items)]),
        at_most=vstack(at_most, format="csr"),
        limits=np.repeat([0.0, 1.0], [len(rising), len(both)]),
        lowest=lowest,
        highest=highest,
    )


def _columns(n_items: int, n_tiers: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where the unknowns ``before[a, l]`` and ``above[a, b]`` are."""
    n_before = n_items * (n_tiers + 1)
    before = np.arange(n_before).reshape(n_items, n_tiers + 1)
    return before, n_before + np.arange(n_items * n_items).reshape(n_items, n_items)


def _on_before(by_tier: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Turn coefficients on being in a tier into coefficients on ``before``."""
    return -np.diff(by_tier, axis=1, prepend=0.0, append=0.0)


def _rows(columns: npt.NDArray[np.int64], values: npt.NDArray[np.float64], width: int) -> csr_array:
    """Rows of a sparse matrix that have the same values, each at its own columns."""
    n_rows, n_values = columns.shape
    starts = np.arange(n_rows + 1) * n_values
    return csr_array((np.tile(values, n_rows), columns.ravel(), starts), shape=(n_rows, width))


def _largest(
    excess: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where the excess is largest, if it is a violation at all."""
    flat = np.flatnonzero(excess > _VIOLATION)
    if len(flat) > _MOST_CUTS_OF_A_KIND:
        by_size = np.argpartition(-excess.ravel()[flat], _MOST_CUTS_OF_A_KIND)
        flat = flat[by_size[:_MOST_CUTS_OF_A_KIND]]
    first, second, third = np.unravel_index(flat, excess.shape)
    return first, second, third
