"""Whether the chains agree with each other, and how many independent draws theirs are worth."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from math import inf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_R_HAT = 1.01
LEAST_ESS = 400.0
# Of pairs that are nearly always or nearly never tied, chains cannot tell more than that.
_RARE = 0.05
# All pairs of more items would take longer than a minute.
_MOST_ITEMS_FOR_ALL_PAIRS = 60


@dataclass(frozen=True)
class Diagnostic:
    """How well one quantity is known from the chains.

    Attributes
    ----------
    name
        What it is; ``a ~ b`` for whether two items are tied.
    mean, sd
        Posterior mean and standard deviation.
    standard_error
        Monte Carlo error of the mean.
    r_hat
        Rank-normalised split R-hat; 1 where all chains agree, infinite where none moves and they
        stand at different values.
    ess_bulk, ess_tail
        Effective number of draws, for the middle and for the tails.
    """

    name: str
    mean: float
    sd: float
    standard_error: float
    r_hat: float
    ess_bulk: float
    ess_tail: float


@dataclass(frozen=True)
class Diagnostics:
    """Diagnostics of theta, total distance, number of tiers, and of who is tied with whom.

    Labels have none of their own: in tiers of other sizes the same label means something else.

    Attributes
    ----------
    numbers, ties
        The quantities.
    to_settle, to_gain_draws
        What to do about chains that disagree, and about draws that are worth too little.
    """

    numbers: tuple[Diagnostic, ...]
    ties: tuple[Diagnostic, ...]
    to_settle: str = (
        "Use a longer warmup, and a larger thin or more draws; if it stays, the posterior has "
        "several modes"
    )
    to_gain_draws: str = "use more draws or chains, or a larger thin"

    @property
    def judged(self) -> tuple[Diagnostic, ...]:
        """What warnings go by: all numbers, and the ties that are neither rare nor nearly sure."""
        return self.numbers + tuple(tie for tie in self.ties if _RARE <= tie.mean <= 1 - _RARE)

    @property
    def worst_r_hat(self) -> Diagnostic:
        """The quantity on which the chains agree least."""
        return max(self.judged, key=lambda row: row.r_hat)

    @property
    def least_ess(self) -> Diagnostic:
        """The quantity about which the chains say least."""
        return min(self.judged, key=lambda row: min(row.ess_bulk, row.ess_tail))

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, each with what to do about it; empty if all is well."""
        found = []
        worst, least = self.worst_r_hat, self.least_ess
        if worst.r_hat > MOST_R_HAT:
            found.append(
                f"the chains have not settled: R-hat of {worst.name} is {worst.r_hat:.3f}, and "
                f"should be at most {MOST_R_HAT}. {self.to_settle}"
            )
        ess = min(least.ess_bulk, least.ess_tail)
        if ess < LEAST_ESS:
            found.append(
                f"the draws are worth only {ess:.0f} independent ones for {least.name}, and should "
                f"be worth at least {LEAST_ESS:.0f}: {self.to_gain_draws}"
            )
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON; None stands for NaN and infinity."""
        from tierwise.fitting.result import plain_number

        return {
            row.name: {
                name: plain_number(value) if isinstance(value, float) else value
                for name, value in vars(row).items()
                if name != "name"
            }
            for row in self.numbers + self.ties
        }


def diagnose(
    numbers: dict[str, NDArray[np.float64]], labels: NDArray[np.int64], names: list[str]
) -> Diagnostics:
    """Diagnose numbers, ``[chain, draw]``, and ties of items, ``labels[chain, draw, item]``.

    Of many items, only those that follow each other by their mean tier are looked at.
    """
    n_items = labels.shape[2]
    pairs = list(combinations(range(n_items), 2))
    if n_items > _MOST_ITEMS_FOR_ALL_PAIRS:
        order = np.argsort(labels.mean(axis=(0, 1)), kind="stable").tolist()
        pairs = [(min(pair), max(pair)) for pair in pairwise(order)]
    ties = (
        _diagnose(
            f"{names[first]} ~ {names[second]}",
            (labels[:, :, first] == labels[:, :, second]).astype(np.float64),
        )
        for first, second in pairs
    )
    rows = (_diagnose(name, values) for name, values in numbers.items())
    return Diagnostics(tuple(rows), tuple(ties))


def _diagnose(name: str, values: NDArray[np.float64]) -> Diagnostic:
    """Diagnose one quantity, ``values[chain, draw]``."""
    import arviz_stats.base

    array_stats: Any = vars(arviz_stats.base)["array_stats"]  # its functions have no types
    mean, sd = float(values.mean()), float(values.std())
    if (values == values[:, :1]).all():
        # No chain ever moves: either they all agree, or there is no telling.
        agreed = bool((values == values[0, 0]).all())
        r_hat, ess = (1.0, float(values.size)) if agreed else (inf, 0.0)
        return Diagnostic(name, mean, sd, 0.0 if agreed else inf, r_hat, ess, ess)
    # A single chain is compared with itself, its first half with its second.
    half = values.shape[1] // 2
    compared = values if len(values) > 1 else values[:, : 2 * half].reshape(2, half)
    with np.errstate(all="ignore"):
        r_hat = float(array_stats.rhat(compared, chain_axis=0, draw_axis=1))
        bulk = float(array_stats.ess(values, chain_axis=0, draw_axis=1, method="bulk"))
        tail = float(
            array_stats.ess(values, chain_axis=0, draw_axis=1, method="tail", prob=(0.05, 0.95))
        )
        error = float(array_stats.mcse(values, chain_axis=0, draw_axis=1))
    if isnan(r_hat) or isnan(bulk):  # too few draws to tell
        return Diagnostic(name, mean, sd, inf, inf, 0.0, 0.0)
    # The tails of a number with few values are its ends, which may not vary at all.
    return Diagnostic(name, mean, sd, error, r_hat, bulk, bulk if isnan(tail) else tail)
