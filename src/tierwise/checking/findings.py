"""What a check finds: differences, how surprising they are, and what the worst of them means."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise.checking import statistics, wording
from tierwise.checking.result import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tierwise.checking.expected import Orderings
    from tierwise.checking.pairs import PairShares
    from tierwise.checking.result import Line
    from tierwise.data.rankings import Rankings

# All findings together raise a false alarm about once in a hundred checks.
FALSE_ALARMS = 0.01


@dataclass(frozen=True, eq=False)
class Found:
    """What a check finds in data; the fields are as those of a `FitCheck`."""

    pairs: PairShares
    ranks_observed: NDArray[np.float64]
    lines: tuple[Line, ...]
    spread: float
    direction: NDArray[np.float64]
    findings: tuple[Finding, ...]


def finding_of_pairs(scores: NDArray[np.float64]) -> Finding:
    """Judge the differences of pairwise proportions, given in standard errors."""
    upper = np.abs(scores[np.triu_indices(len(scores), k=1)])
    return _largest_of_many("pairs", upper[~np.isnan(upper)], "pairwise proportions")


def _largest_of_many(name: str, scores: NDArray[np.float64], noun: str) -> Finding:
    """Judge the largest of many differences as one of so many (Bonferroni)."""
    if not len(scores):
        return Finding(name, 1.0, 0.0, f"the answers tell no {noun}.")
    p_values = 2.0 * len(scores) * np.array([statistics.tail(float(score)) for score in scores])
    p_value = min(1.0, float(p_values.min()))
    n_off = int((p_values < FALSE_ALARMS).sum())
    statement = f"{n_off} of {len(scores)} {noun} differ by more than chance allows."
    return Finding(name, p_value, float(scores.max()), statement)


def finding_of_ranks(
    observed: NDArray[np.float64], expected: NDArray[np.float64], n_effective: float
) -> Finding:
    """Judge how often items have each rank, against how often they should."""
    errors = np.sqrt(expected * (1 - expected) / n_effective)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(errors > 1e-9, np.abs(observed - expected) / errors, nan)
    return _largest_of_many("ranks", scores[~np.isnan(scores)], "shares of an item in a rank")


def check_spread(
    given: tuple[NDArray[np.float64], NDArray[Any]],
    drawn: tuple[NDArray[np.float64], NDArray[np.float64]],
    precision: float,
) -> tuple[float, Finding]:
    """Compare the variance of the distances from the tiers with what the model expects."""
    distances, weights = drawn
    squares = (distances - weights @ distances) ** 2
    moments = statistics.moments_given_distance(squares[:, None], distances, weights)
    expected, error = float(moments.means[0]), float(moments.covariances[0, 0] / precision) ** 0.5
    mean = given[1] @ given[0]
    observed = float(given[1] @ (given[0] - mean) ** 2)
    ratio = observed / expected if expected > 0 else nan
    score = (observed - expected) / error if error > 0 else 0.0
    p_value = statistics.tail(score)
    statement = wording.spread_statement(ratio, surprising=p_value < FALSE_ALARMS)
    return ratio, Finding("spread", p_value, score, statement)


def check_direction(
    rankings: Rankings, orderings: Orderings, n_effective: float, rng: np.random.Generator
) -> tuple[NDArray[np.float64], Finding]:
    """Look for a direction in which answers vary more than the model expects."""
    expected = statistics.place_covariances(orderings.places, orderings.weights)
    shares = rankings.pattern_weights / rankings.n_rankings
    excess, direction = statistics.excess_direction(rankings.patterns, shares, expected)
    score = statistics.score_of_excess(excess, orderings, expected, n_effective, rng)
    p_value = statistics.tail(score)
    statement = "answers vary in no direction by more than expected."
    if p_value < FALSE_ALARMS:
        statement = wording.direction_statement(rankings.items, direction)
    return direction, Finding("direction", p_value, score, statement)


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """Name what is most surprising."""
    given = list(findings)
    surprising = {
        finding.name: finding.score
        for finding in given
        if finding.p_value < FALSE_ALARMS / len(given)
    }
    if not surprising:
        return "fits"
    # Ranks differ whenever anything does, so they tell nothing about what it is.
    telling: dict[str, Verdict] = {
        "pairs": "differs",
        "lines": "theta varies",
        "spread": "mixture suspected",
        "direction": "mixture suspected",
    }
    named = [name for name in surprising if name in telling]
    return telling[max(named, key=surprising.__getitem__)] if named else "differs"
