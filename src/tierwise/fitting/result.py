"""Fit: the tiers and theta that describe rankings best, with what they are to be compared to."""

from collections.abc import Hashable
from dataclasses import dataclass
from math import hypot, isinf, isnan
from typing import Any

import numpy as np

from tierwise._util.provenance import Provenance
from tierwise.fitting.agreement import Agreement
from tierwise.theta.estimate import ThetaEstimate
from tierwise.tiers.ordered_partition import Tiers
from tierwise.tiers.sizes import Sizes


@dataclass(frozen=True)
class Reference:
    """What tiers are compared to, on the same data: the strict consensus, or no tiers at all.

    Attributes
    ----------
    name
        "strict consensus" or "no tiers".
    tiers
        The tiers: all of size 1, or a single one.
    theta, log_likelihood, log_likelihood_error, criterion
        As of a `Fit`.
    optimal
        Whether its tiers are proved to be the best of their sizes.
    """

    name: str
    tiers: Tiers
    theta: float
    log_likelihood: float
    log_likelihood_error: float
    criterion: float
    optimal: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON; None stands for NaN and infinity."""
        fields = {**vars(self), "tiers": plain_tiers(self.tiers)}
        return {name: plain(value) for name, value in fields.items()}


@dataclass(frozen=True, repr=False)
class Fit:
    """The tiers of given sizes, and theta, under which the rankings are most probable.

    Attributes
    ----------
    tiers : Tiers
        The best tiers.
    sizes : tuple of int
        Their sizes.
    theta : float
        Concentration: 0 is no agreement at all, infinity is perfect agreement.
    theta_estimate : ThetaEstimate
        Theta with standard error, confidence interval and method.
    distance : str
        Name of the distance.
    level : float
        Level of the intervals of theta and of the mistake probability.
    likelihood : str
        "exact", or "pseudo" for the paper's pseudo-likelihood.
    total_distance : float
        Sum of the distances of all rankings from the tiers; its expectation where answers leave it
        open.
    log_likelihood : float
        Log probability of the rankings.
    log_likelihood_error : float
        Its standard error; 0 where the partition function is exact.
    criterion : float
        The paper's I: log-likelihood plus the log of 1 over the number of tiers of these sizes.
    agreement : float
        The paper's D: share of pairs of items of different tiers that the rankings order likewise.
    agreement_by_tier : Agreement
        The same by pair of tiers.
    n_rankings : int or float
        Number of rankings, the sum of their weights.
    log_completions : float
        Sum over answers of the log number of complete orderings that agree with each: what the
        log-likelihood would be, but for a constant, if all orderings were equally probable.
    method : str
        How the tiers were found.
    partition_method : str
        How the partition function was found.
    optimal : bool
        Whether it is proved that no tiers of these sizes are better.
    gap : float
        How much smaller the total distance might be, as a share of it; 0 where optimal.
    alternatives : tuple of Tiers
        Other tiers that are exactly as good, at most ten.
    n_optima : int or None
        How many tiers are equally best, where that is known.
    references : tuple of Reference
        The strict consensus (where it could be computed) and no tiers at all, on the same data.
    provenance : Provenance
        Version, seed and time.
    mistake_probability : float or None
        Share of pairwise answers that are mistaken, where `Preferences` say that they may be.
    mistake_interval : tuple of float or None
        Confidence interval of it, from the profile likelihood. A wide one means that the answers
        hardly tell mistakes from differing opinions: only contradictions do.
    pairwise : bool
        Whether people compared pairs; then ``n_rankings`` is the number of people.
    """

    tiers: Tiers
    sizes: Sizes
    theta: float
    theta_estimate: ThetaEstimate
    distance: str
    likelihood: str
    total_distance: float
    log_likelihood: float
    log_likelihood_error: float
    criterion: float
    agreement: float
    agreement_by_tier: Agreement
    n_rankings: int | float
    log_completions: float
    method: str
    partition_method: str
    optimal: bool
    gap: float
    alternatives: tuple[Tiers, ...]
    n_optima: int | None
    references: tuple[Reference, ...]
    provenance: Provenance
    mistake_probability: float | None = None
    mistake_interval: tuple[float, float] | None = None
    pairwise: bool = False
    level: float = 0.95

    def __repr__(self) -> str:
        return (
            f"Fit({str(self.tiers)!r}, theta={self.theta:.4g}, distance={self.distance!r}, "
            f"criterion={self.criterion:.2f})"
        )

    def summary(self, width: int = 88) -> str:
        """Return the fit as a table for people, beside the strict consensus and no tiers at all.

        Parameters
        ----------
        width
            How many columns there are to write in.
        """
        from tierwise.fitting.summary import summarise

        return summarise(self, width)

    def verdict(self) -> str:
        """Say in a sentence whether these tiers are worth reporting."""
        what = "answers" if self.pairwise else "rankings"
        rival = max(self.references, key=lambda other: other.criterion)
        lead = self.criterion - rival.criterion
        error = hypot(self.log_likelihood_error, rival.log_likelihood_error)
        if error > 0 and abs(lead) < 2 * error:
            return (
                f"Whether these tiers or {rival.name} describe the {what} better is open: the "
                f"criteria differ by {lead:.2f}, with a standard error of {error:.2g}."
            )
        if lead >= 0 and len(self.tiers) == 1:
            return f"All items are in one tier: a strict order describes the {what} no better."
        if lead >= 0:
            names = " and ".join(other.name for other in self.references)
            return f"These tiers describe the {what} at least as well as {names}."
        better = (
            f"{rival.name} describes the {what} better "
            f"(criterion {rival.criterion:.2f} against {self.criterion:.2f})"
        )
        if any(other.criterion > self.criterion for other in self.references[-1:]):
            return f"Do not report these tiers, they are worse than none: {better}."
        return f"{better[0].upper()}{better[1:]}: look for better sizes."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON; None stands for NaN and infinity."""
        fields = {
            "tiers": plain_tiers(self.tiers),
            "sizes": list(self.sizes),
            "theta": plain_number(self.theta),
            "theta_standard_error": plain_number(self.theta_estimate.standard_error),
            "theta_interval": [plain_number(end) for end in self.theta_estimate.interval],
            "level": self.level,
            "theta_method": self.theta_estimate.method,
            "theta_converged": self.theta_estimate.converged,
            "distance": self.distance,
            "likelihood": self.likelihood,
            "total_distance": self.total_distance,
            "log_likelihood": self.log_likelihood,
            "log_likelihood_error": self.log_likelihood_error,
            "criterion": self.criterion,
            "agreement": plain_number(self.agreement),
            "agreement_by_tier": self.agreement_by_tier.to_dict(),
            "n_rankings": self.n_rankings,
            "log_completions": self.log_completions,
            "method": self.method,
            "partition_method": self.partition_method,
            "optimal": self.optimal,
            "gap": self.gap,
            "alternatives": [plain_tiers(tiers) for tiers in self.alternatives],
            "n_optima": self.n_optima,
            "references": [reference.to_dict() for reference in self.references],
            "mistake_probability": self.mistake_probability,
            "mistake_interval": list(self.mistake_interval) if self.mistake_interval else None,
            "verdict": self.verdict(),
            "provenance": self.provenance.to_dict(),
        }
        return {name: plain(value) for name, value in fields.items()}


def plain_tiers(tiers: Tiers) -> list[list[str | int]]:
    """Return tiers as lists of names, which JSON can hold."""
    return [[plain_item(item) for item in tier] for tier in tiers]


def plain_item(item: Hashable) -> str | int:
    """Return an item as JSON can hold it: text and whole numbers as they are, the rest as text."""
    return item if isinstance(item, str | int) else str(item)


def plain_number(number: float) -> float | None:
    """Return a number as JSON can hold it: None stands for NaN and infinity."""
    return None if isnan(number) or isinf(number) else number


def plain(value: Any) -> Any:
    """Return a value, and all that it holds, as JSON can hold it: None for NaN and infinity.

    Examples
    --------
    >>> plain({"theta": float("inf"), "sizes": (2, 3)})
    {'theta': None, 'sizes': [2, 3]}
    """
    if isinstance(value, dict):
        return {name: plain(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [plain(held) for held in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    return plain_number(value) if isinstance(value, float) else value
