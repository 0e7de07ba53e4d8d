"""How surprising differences are, what they mean, and the verdict.

Many differences of one kind are judged by the largest of them (Bonferroni), several numbers at once
by chi-square, and all are turned into standard normal scores, chi-square values as by Wilson and
Hilferty (1931).

References
----------
Wilson, E. B. and Hilferty, M. M. (1931). The distribution of chi-square. Proceedings of the
National Academy of Sciences 17, 684-688.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from tierwise.checking.result import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from tierwise.checking.expected import PairShares
    from tierwise.checking.result import Line

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
    return largest_of_many("pairs", upper[~np.isnan(upper)], "pairwise proportions")


def largest_of_many(name: str, scores: NDArray[np.float64], noun: str) -> Finding:
    """Judge the largest of many differences as one of so many (Bonferroni)."""
    if not len(scores):
        return Finding(name, 1.0, 0.0, f"the answers tell no {noun}.")
    p_values = 2.0 * len(scores) * np.array([tail(float(score)) for score in scores])
    p_value = min(1.0, float(p_values.min()))
    n_off = int((p_values < FALSE_ALARMS).sum())
    statement = f"{n_off} of {len(scores)} {noun} differ by more than chance allows."
    return Finding(name, p_value, float(scores.max()), statement)


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


def chi_square_score(
    deviations: NDArray[np.float64], covariances: NDArray[np.float64]
) -> tuple[float, int]:
    """Return how far deviations are from 0 in view of their covariances, and in how many ways."""
    if not len(deviations):
        return 0.0, 0
    values, vectors = np.linalg.eigh(covariances)
    varying = values > 1e-9 * max(float(values[-1]), 1e-300)
    parts = vectors[:, varying].T @ deviations
    return float((parts**2 / values[varying]).sum()), int(varying.sum())


def standard_score(chi_square: float, freedom: int) -> float:
    """Turn a chi-square value into a standard normal score (Wilson and Hilferty)."""
    if freedom == 0:
        return 0.0
    spread = 2.0 / (9.0 * freedom)
    return float(((chi_square / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5)


def tail(score: float) -> float:
    """Return the probability of a standard normal score at least as large."""
    return NormalDist().cdf(-score)
