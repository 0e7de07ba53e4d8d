"""Tiers of independent comparisons: merging, local search, a Metropolis chain, theta integrated.

The likelihood is in ``answers/given_sizes.py``: a closed form in how often each item has won
against each other one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.comparisons import (
    LARGEST_THETA,
    LEAST_THETA,
    Board,
    climb,
    merge_neighbours,
)
from tierwise._kernels.comparisons_chain import run_sweeps
from tierwise._kernels.ordered_partition import (
    N_TIERS,
    ORDER,
    SIZES,
    labels_of,
    load_tiers,
    make_dealing,
    make_tiers,
)
from tierwise._kernels.theta import SLICE_WIDTH
from tierwise.answers.given_sizes import derivatives_of_wins, tier_wins, values_at_thetas
from tierwise.theta.density import ThetaGivenDistance, prior_table
from tierwise.theta.estimate import best_theta_of_wins

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tierwise._kernels.theta import PriorTable
    from tierwise.inversions.objective import TiersPrior
    from tierwise.model.priors import ThetaPrior

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

# Orders of more items are first cut into so many runs.
_MOST_RUNS = 150
_MOST_ROUNDS = 60
# Number of added comparisons with an average item in Bradley-Terry strengths.
_PSEUDO_COMPARISONS = 0.5
_STRENGTH_ROUNDS = 300


def strengths(wins: _Floats) -> tuple[_Floats, _Floats]:
    """Bradley-Terry strengths by Hunter's MM algorithm, and about how precise they are.

    They order the items to begin with; nothing else depends on them. Strengths are drawn to the
    middle by half a comparison, so that they are finite.

    References
    ----------
    D. R. Hunter (2004). MM algorithms for generalized Bradley-Terry models. Annals of Statistics
    32, 384-406.
    """
    met = wins + wins.T
    won = wins.sum(axis=1) + _PSEUDO_COMPARISONS / 2
    worth = np.ones(len(wins))
    for _ in range(_STRENGTH_ROUNDS):
        sums = (met / (worth[:, None] + worth[None, :])).sum(axis=1)
        new = won / (sums + _PSEUDO_COMPARISONS / (worth + 1.0))
        new /= np.exp(np.log(new).mean())
        settled = np.abs(np.log(new / worth)).max() < 1e-9
        worth = new
        if settled:
            break
    logs: _Floats = np.log(worth)
    return logs, (met.sum(axis=1) + _PSEUDO_COMPARISONS) / 4.0


def log_integrated_likelihood(wins: _Floats, labels: _Integers, prior: ThetaPrior) -> float:
    """Log probability of comparisons given tiers, theta being integrated out.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.model.priors import Gamma
    >>> wins = np.array([[0.0, 3], [1, 0]])
    >>> round(log_integrated_likelihood(wins, np.array([0, 1]), Gamma(2, 2)), 3)
    -2.398
    """
    between, sizes = tier_wins(wins, labels)
    if len(sizes) == 1:
        return float(between.sum() * np.log(0.5))

    def minus_values(thetas: _Floats) -> _Floats:
        return -values_at_thetas(np.clip(thetas, LEAST_THETA, LARGEST_THETA), between, sizes)

    return ThetaGivenDistance(minus_values, 1.0, prior).log_integral(0.0)


def make_board(wins: _Floats, labels: _Integers, tier_values: _Floats) -> Board:
    """Lay out tiers, counted from 0, and what a tier of each size adds to the log prior."""
    tiers = make_tiers(wins)
    load_tiers(tiers, labels)
    n_slots = len(wins) + 1
    return Board(tiers, np.empty(len(wins) + 3), tier_values, np.zeros((2, n_slots, n_slots)))


def _between(board: Board) -> tuple[_Floats, _Integers]:
    """Wins between tiers, and sizes, best tier first."""
    places = board.tiers.places
    slots = places[ORDER, : places[N_TIERS, 0]]
    return board.tiers.between[np.ix_(slots, slots)], places[SIZES, slots]


def _runs(logs: _Floats) -> _Integers:
    """Tiers of items that follow each other by strength: of one each, unless items are many."""
    n_items = len(logs)
    labels = np.empty(n_items, dtype=np.int64)
    labels[np.argsort(-logs, kind="stable")] = (
        np.arange(n_items) * min(n_items, _MOST_RUNS) // n_items
    )
    return labels


def merged_runs(wins: _Floats, prior: TiersPrior) -> _Integers:
    """Tiers by greedy merging of neighbours, along the order of Bradley-Terry strengths.

    Neighbours are joined, whichever gains most, down to one tier; the best tiers on the way are
    returned.
    """
    n_items = len(wins)
    labels = _runs(strengths(wins)[0])
    n_runs = int(labels.max()) + 1
    tier_values = prior.tier_values(n_items)
    board = make_board(wins, labels, tier_values)
    best, best_value = labels, -np.inf
    theta, known, since = 1.0, None, n_runs
    for count in range(n_runs, 0, -1):
        between, sizes = _between(board)
        if since * 20 >= count > 1:
            # A few tiers were joined since the last time: the best theta is not far from there.
            known, since = best_theta_of_wins(between, sizes, known), 0
            theta = known
        value = float(values_at_thetas(np.array([theta]), between, sizes)[0])
        value += float(tier_values[sizes].sum())
        if value > best_value:
            best, best_value = labels_of(board.tiers), value
        merge_neighbours(board, theta, max(count - 1, 1))
        since += 1
    return best


def search_tiers_of_wins(
    wins: _Floats,
    rng: np.random.Generator,
    prior: TiersPrior,
    resample: Callable[[np.random.Generator], _Floats] | None = None,
    n_starts: int = 4,
) -> list[_Integers]:
    """Find good tiers of all sizes: greedy merging, then local search, from several starts.

    Items move to other tiers or make tiers of their own, change places with items of the next
    tier, tiers are joined and cut, and theta is fitted again, until nothing gains.

    Parameters
    ----------
    wins
        Wins of each item (row) against each other (column).
    rng
        Randomness.
    prior
        What tiers are worth before any comparison.
    resample
        Makes wins of comparisons drawn again, from which further starts are merged.
    n_starts
        Number of starts, where there can be several.

    Returns
    -------
    list of numpy.ndarray
        Tiers, counted from 0, the best first.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.inversions.objective import tiers_prior
    >>> wins = np.array([[0.0, 50, 90], [50, 0, 90], [10, 10, 0]])
    >>> penalised = tiers_prior("penalised", 3)
    >>> search_tiers_of_wins(wins, np.random.default_rng(1), penalised)[0]
    array([0, 0, 1])
    """
    starts = [merged_runs(wins, prior)]
    if resample is not None:
        starts += [merged_runs(resample(rng), prior) for _ in range(n_starts - 1)]
    found: dict[bytes, tuple[float, _Integers]] = {}
    for start in starts:
        labels, value = _climb(wins, start, prior, rng)
        found[labels.tobytes()] = (value, labels)
    ranked = sorted(found.values(), key=lambda one: -one[0])
    return [labels for _, labels in ranked]


def _climb(
    wins: _Floats, start: _Integers, prior: TiersPrior, rng: np.random.Generator
) -> tuple[_Integers, float]:
    n_items = len(wins)
    tier_values = prior.tier_values(n_items)
    ranking = np.argsort(-strengths(wins)[0], kind="stable").astype(np.int64)
    board = make_board(wins, start, tier_values)
    for _ in range(_MOST_ROUNDS):
        items = rng.permutation(n_items)
        gained = climb(board, _theta_to_go_on(board), items, items, ranking)
        if gained < 1e-6:
            break
    between, sizes = _between(board)
    theta = np.array([_theta_to_go_on(board)])
    value = float(values_at_thetas(theta, between, sizes)[0] + tier_values[sizes].sum())
    return labels_of(board.tiers), value + (prior.single_tier_bonus if len(sizes) == 1 else 0.0)


def _theta_to_go_on(board: Board) -> float:
    """Return the best theta of tiers; any, where there is a single one."""
    between, sizes = _between(board)
    return best_theta_of_wins(between, sizes) if len(sizes) > 1 else 1.0


def best_tiers_of_sizes(wins: _Floats, sizes: Sequence[int], rng: np.random.Generator) -> _Integers:
    """Find good tiers of given sizes: the order of strengths, then exchanges until none gains."""
    n_items = len(wins)
    labels = np.empty(n_items, dtype=np.int64)
    order = np.argsort(-strengths(wins)[0], kind="stable")
    labels[order] = np.repeat(np.arange(len(sizes)), sizes)
    if len(sizes) == 1:
        return labels
    board, none = make_board(wins, labels, np.zeros(n_items + 1)), np.empty(0, dtype=np.int64)
    for _ in range(_MOST_ROUNDS):
        items = rng.permutation(n_items)
        gained = climb(board, _theta_to_go_on(board), none, items, none)
        if gained < 1e-6:
            break
    return labels_of(board.tiers)


@dataclass(frozen=True, eq=False)
class ComparisonsChain:
    """A Metropolis chain over ordered partitions and theta, given wins.

    Attributes
    ----------
    wins
        Wins of each item (row) against each other (column).
    prior_theta, prior_tiers
        The priors.
    sweeps_per_draw
        Number of sweeps over all items for each draw.
    """

    wins: _Floats
    prior_theta: ThetaPrior
    prior_tiers: TiersPrior
    sweeps_per_draw: int = 1

    @cached_property
    def _items(self) -> _Floats:
        """Strengths and precisions, by which tiers are cut."""
        return np.stack(strengths(self.wins))

    @cached_property
    def _prior_table(self) -> PriorTable:
        return prior_table(self.prior_theta, within=(LEAST_THETA, LARGEST_THETA))

    @cached_property
    def _slice_width(self) -> float:
        """Four standard deviations of log theta, about: those of items in order of strength."""
        between, sizes = tier_wins(self.wins, _runs(self._items[0]))
        if len(sizes) == 1:
            return SLICE_WIDTH
        theta = best_theta_of_wins(between, sizes)
        information = -(theta**2) * derivatives_of_wins(between, sizes, theta)[2]
        return min(SLICE_WIDTH, 4.0 / float(np.sqrt(max(information, 1.0))))

    def _board(self, labels: _Integers) -> Board:
        return make_board(self.wins, labels, self.prior_tiers.tier_values(len(labels)))

    def theta_to_begin(self, labels: _Integers) -> float:
        """Theta of greatest likelihood given tiers, within bounds."""
        theta = _theta_to_go_on(self._board(labels))
        return float(min(max(theta, 10 * LEAST_THETA), LARGEST_THETA / 4))

    def run(
        self, labels: _Integers, theta: float, n_draws: int, rng: np.random.Generator
    ) -> tuple[_Integers, _Floats]:
        """Go on from tiers, counted from 0, and a theta.

        Returns the draws of tiers, and of theta with the number of comparisons that the better tier
        lost and the log posterior, one row per draw.
        """
        drawn = np.empty((n_draws, len(labels)), dtype=np.int64)
        numbers = np.empty((n_draws, 3))
        run_sweeps(
            self._board(labels),
            self._items,
            theta,
            self.prior_tiers.single_tier_bonus,
            self._prior_table,
            self._slice_width,
            make_dealing(len(labels)),
            np.empty((2, 2 * len(labels) + 1)),
            drawn,
            numbers,
            self.sweeps_per_draw,
            rng,
        )
        return drawn, numbers
