"""The lines between tiers: where along the ranking answers keep to the tiers, and where not."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise.checking import statistics
from tierwise.checking.result import Finding, Line
from tierwise.partition.base import ExactPartition
from tierwise.partition.choose import partition_function

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.model.clustered_mallows import ClusteredMallows

    Weighted = tuple[NDArray[np.int64], NDArray[np.float64]]

# Theta is found line by line only where an expectation takes milliseconds.
_MOST_STEPS = 2e6
_LARGEST_THETA = 50.0


def check_lines(
    model: ClusteredMallows,
    given: Weighted,
    drawn: Weighted,
    distances: NDArray[np.float64],
    precision: float,
) -> tuple[tuple[Line, ...], Finding]:
    """Compare how many items cross each line between tiers with what the model expects.

    Parameters
    ----------
    model
        The model.
    given
        The answers, as the tiers of their items place by place, and weights that sum to 1.
    drawn
        Orderings from the model, likewise.
    distances
        The distances of these orderings from the tiers.
    precision
        The number of rankings whose means vary as much as the differences do.
    """
    sizes = model.tiers.sizes
    observed = given[1] @ statistics.crossings(given[0], sizes)
    moments = statistics.moments_given_distance(
        statistics.crossings(drawn[0], sizes), distances, drawn[1]
    )
    deviations = observed - moments.means
    covariances = moments.covariances / precision
    errors = np.sqrt(np.diag(covariances))
    scores = np.divide(deviations, errors, out=np.zeros_like(deviations), where=errors > 1e-9)
    thetas = _thetas(model, observed)
    lines = tuple(
        Line(number, number + 1, *values)
        for number, values in enumerate(
            zip(observed.tolist(), moments.means.tolist(), scores.tolist(), thetas, strict=True),
            start=1,
        )
    )
    score = statistics.standard_score(*statistics.chi_square_score(deviations, covariances))
    worst = max(lines, key=lambda line: abs(line.score))
    statement = (
        f"the line between tiers {worst.above} and {worst.below} is crossed by "
        f"{worst.observed:.2f} items a ranking, {worst.expected:.2f} expected."
    )
    return lines, Finding("lines", statistics.tail(score), score, statement)


def _thetas(model: ClusteredMallows, observed: NDArray[np.float64]) -> list[float]:
    """Return, for each line, the theta at which the model expects what was observed."""
    partition = partition_function(model.tiers.sizes, model.distance, budget=_MOST_STEPS)
    if not isinstance(partition, ExactPartition):
        return [nan] * len(observed)
    from scipy.optimize import brentq

    known: dict[float, NDArray[np.float64]] = {}

    def expected(theta: float) -> NDArray[np.float64]:
        if theta not in known:
            known[theta] = _expected_crossings(partition.expected_table(theta))
        return known[theta]

    thetas = []
    for line, mean in enumerate(observed.tolist()):
        if mean >= expected(0.0)[line]:
            thetas.append(0.0)
        elif mean <= expected(_LARGEST_THETA)[line]:
            thetas.append(inf)
        else:
            thetas.append(
                float(
                    brentq(
                        lambda theta, line=line, mean=mean: expected(theta)[line] - mean,
                        0.0,
                        _LARGEST_THETA,
                        xtol=1e-5,
                    )
                )
            )
    return thetas


def _expected_crossings(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the expected number of items of later tiers in the blocks above each line."""
    n_lines = len(table) - 1
    return np.array([table[: line + 1, line + 1 :].sum() for line in range(n_lines)])
