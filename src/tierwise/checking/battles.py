"""Does the model predict the battles? Residuals of pairs, of items within tiers, and between tiers.

The model says that a win depends on the rank gap alone. Three ways in which that may be wrong: a
pair of items goes its own way (rock, paper, scissors); items of one tier are not alike; two tiers
are further apart than their ranks say. Drawn battles that count half vary less than the binomial
distribution says, so that these checks err on the side of no finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.checking.expected import PairShares
from tierwise.checking.result import (
    FALSE_ALARMS,
    Finding,
    Found,
    Line,
    finding_of_pairs,
    standard_score,
    tail,
)
from tierwise.partition.gaussian import pair_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.data.battles import Battles
    from tierwise.fitting.result import Fit

# A pair says something if so many wins and losses are expected, as for chi-square tests.
_LEAST_EXPECTED = 5.0


def check_battles(data: Battles, fit: Fit, labels: NDArray[np.int64]) -> Found:
    """Compare how often items and tiers won with what the fitted model expects.

    Parameters
    ----------
    data
        The battles.
    fit
        Their fit.
    labels
        The tier of each item, counted from 0.
    """
    expected = pair_probabilities(fit.sizes, fit.thetas[0])[np.ix_(labels, labels)]
    wins = data.wins
    met = wins + wins.T
    variance = met * expected * (1.0 - expected)
    told = met * np.minimum(expected, 1.0 - expected) >= _LEAST_EXPECTED
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.where(met > 0, wins / met, np.nan)
        scores = np.where(told, (wins - met * expected) / np.sqrt(variance), np.nan)
    n_items = len(labels)
    off = ~np.eye(n_items, dtype=bool)
    scores[~off] = np.nan
    lines, between = _between_tiers(wins, expected, variance, labels)
    return Found(
        pairs=PairShares(
            observed=np.where(off, observed, np.nan),
            expected=np.where(off, expected, np.nan),
            scores=scores,
            monte_carlo_error=0.0,
        ),
        ranks_observed=np.full((n_items, n_items), np.nan),
        lines=lines,
        spread=np.nan,
        direction=np.zeros(n_items),
        findings=(
            finding_of_pairs(scores),
            _within_tiers(wins, expected, variance, labels),
            between,
        ),
    )


def _within_tiers(
    wins: NDArray[np.float64],
    expected: NDArray[np.float64],
    variance: NDArray[np.float64],
    labels: NDArray[np.int64],
) -> Finding:
    """Judge whether items win as often as others of their tier (chi-square)."""
    surplus = (wins - (wins + wins.T) * expected).sum(axis=1)
    spread = variance.sum(axis=1)
    told = spread >= _LEAST_EXPECTED
    value = float((surplus[told] ** 2 / spread[told]).sum())
    # The tiers were chosen after the items: each tier but one has used up a degree of freedom.
    freedom = max(int(told.sum()) - int(labels.max()) - 1, 0)
    return _finding(
        "items",
        value,
        freedom,
        fits="items of a tier win as often as each other, but for chance.",
        differs="items of a tier do not all win equally often.",
    )


def _finding(name: str, chi_square: float, freedom: int, *, fits: str, differs: str) -> Finding:
    """Judge a chi-square value; without any degree of freedom nothing can differ."""
    score = standard_score(chi_square, freedom)
    p_value = tail(score) if freedom else 1.0
    return Finding(name, p_value, score, fits if p_value > FALSE_ALARMS else differs)


def _between_tiers(
    wins: NDArray[np.float64],
    expected: NDArray[np.float64],
    variance: NDArray[np.float64],
    labels: NDArray[np.int64],
) -> tuple[tuple[Line, ...], Finding]:
    """Judge whether two tiers are as far apart as the rank gap says (chi-square)."""
    member = np.eye(int(labels.max()) + 1)[labels]

    def by_tiers(table: NDArray[np.float64]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = member.T @ table @ member
        return sums

    met = by_tiers(wins + wins.T)
    surplus = by_tiers(wins - (wins + wins.T) * expected)
    spread = by_tiers(variance)
    upper = np.triu_indices(len(member[0]), k=1)
    told = spread[upper] >= _LEAST_EXPECTED
    value = float((surplus[upper][told] ** 2 / spread[upper][told]).sum())
    freedom = max(int(told.sum()) - 1, 0)  # theta was fitted
    lines = []
    for tier in range(len(member[0]) - 1):
        total = met[tier, tier + 1]
        if total == 0:
            continue
        lost = by_tiers(wins)[tier + 1, tier] / total
        wanted = by_tiers((wins + wins.T) * expected)[tier + 1, tier] / total
        deviation = -surplus[tier, tier + 1] / np.sqrt(max(spread[tier, tier + 1], 1e-300))
        lines.append(Line(tier + 1, tier + 2, lost, wanted, float(deviation), float("nan")))
    return tuple(lines), _finding(
        "lines",
        value,
        freedom,
        fits="tiers win against each other as often as the rank gap says.",
        differs="how often tiers win against each other does not follow from the rank gap alone.",
    )
