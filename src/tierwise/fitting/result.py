"""Fit: the tiers and theta that describe data best, with references for comparison.

It includes how often the data agree with the order of the tiers, the paper's criterion D.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import hypot, log, nan
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._util.cards import Card, Row, Section
from tierwise._util.provenance import Provenance
from tierwise._util.results import Result
from tierwise._util.types import Item, plain, plain_item, plain_number
from tierwise.data.counts import Numbers
from tierwise.data.frames import Backend, make_frame
from tierwise.data.kinds import Data, check_data
from tierwise.errors import BEHIND_IS, InputError, behind_in_words, quoted
from tierwise.luce.estimates import EffectEstimate, WorthEstimate
from tierwise.partition.base import Concentration
from tierwise.theta.estimate import ThetaEstimate, price_of_thetas
from tierwise.tiers import Sizes, Tiers, plain_tiers

if TYPE_CHECKING:
    from tierwise.model.clustered_luce import ClusteredLuce
    from tierwise.model.clustered_mallows import ClusteredMallows

Family: TypeAlias = Literal["mallows", "luce"]
"""Orderings scattered around tiers at a distance, or races of items with worths."""

# A factor of 20. In 360 sets of answers made at random, no strict order was further ahead than 2.4.
_CHANCE_LEAD = 3.0


@dataclass(frozen=True, eq=False)
class Agreement(Result):
    """Share of pairs of items that the rankings order as the tiers do.

    Attributes
    ----------
    overall
        Over all pairs of items of different tiers: the paper's D. NaN if there is only one tier.
    by_pair
        ``by_pair[k, l]``, k < l, counted from 0: over the items of two tiers. NaN elsewhere.
    against_worse
        Each tier but the last against all worse tiers together, as in the paper's table.
    """

    overall: float
    by_pair: NDArray[np.float64]
    against_worse: NDArray[np.float64]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON; None stands for NaN."""
        return {
            "overall": plain_number(self.overall),
            "by_pair": [[plain_number(share) for share in row] for row in self.by_pair.tolist()],
            "against_worse": [plain_number(share) for share in self.against_worse.tolist()],
        }


def agreement(data: Data, tiers: Tiers) -> Agreement:
    """Compare rankings with the order of tiers, pair by pair.

    This describes tiers, and can narrow a search. It does not say how many tiers there are: alone
    it prefers degenerate tiers, such as one item that everybody dislikes against all others.

    Examples
    --------
    >>> from tierwise import Rankings, Tiers
    >>> rankings = Rankings.from_orderings([["a", "b", "c"], ["b", "c", "a"]])
    >>> agreement(rankings, Tiers([["b"], ["a", "c"]])).overall
    0.75
    """
    known = check_data(data, "agreement")
    if not isinstance(tiers, Tiers):
        raise InputError(f"tiers must be Tiers, such as Tiers([['a'], ['b']]); got {quoted(tiers)}")
    return agreement_of_counts(known.pair_counts, tiers.label_array(known.items))


def agreement_of_counts(pairs: Numbers, labels: NDArray[np.int64]) -> Agreement:
    """Compute the agreement from how often each item is above each other."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(int(labels.max()) + 1))
    by_row = np.add.reduceat(pairs[order], starts, axis=0)
    won = np.add.reduceat(by_row[:, order], starts, axis=1)
    better = np.triu(won, k=1)
    total = better + np.triu(won.T, k=1)
    with np.errstate(invalid="ignore"):
        return Agreement(
            overall=float(np.divide(better.sum(), total.sum())),
            by_pair=better / total,
            against_worse=(better.sum(axis=1) / total.sum(axis=1))[:-1],
        )


# A theta that is less than this share of the largest says that opinion is divided.
DIVIDED = 0.2


@dataclass(frozen=True, eq=False)
class Reference(Result):
    """A reference for tiers on the same data: the strict consensus, no tiers, or better ones.

    Attributes
    ----------
    name
        "strict consensus", "no tiers" or "best of these sizes".
    tiers
        The tiers.
    theta, log_likelihood, log_likelihood_error, criterion
        As in `Fit`.
    optimal
        Whether its tiers are proved to be the best with these sizes.
    log_posterior
        As in `Fit`.
    """

    name: str
    tiers: Tiers
    theta: float
    log_likelihood: float
    log_likelihood_error: float
    criterion: float
    optimal: bool
    log_posterior: float = nan

    @property
    def in_words(self) -> str:
        """The name as it stands in a sentence."""
        said = {"strict consensus": "the strict consensus", "no tiers": "a single tier"}
        return said.get(self.name, self.name)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON; None stands for NaN and infinity."""
        fields = {**vars(self), "tiers": plain_tiers(self.tiers)}
        return {name: plain(value) for name, value in fields.items()}


@dataclass(frozen=True, eq=False)
class TierRow(Result):
    """A row of a tier list.

    Attributes
    ----------
    number
        Its number among the tiers that people agree about, 1 being the best; None for the items
        that people are divided about, which are neither better nor worse than others.
    items
        Its items.
    """

    number: int | None
    items: tuple[Item, ...]

    @property
    def divided(self) -> bool:
        """Whether people are divided about these items."""
        return self.number is None


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Result):
    """The tiers of given sizes, and theta, under which the rankings are most probable.

    Attributes
    ----------
    tiers : Tiers
        The best tiers.
    sizes : tuple of int
        Their sizes.
    theta : float or tuple of float
        Concentration: 0 is no agreement, infinity is perfect agreement. One number, or one
        for each tier or block of places, as ``concentration`` says.
    theta_estimates : tuple of ThetaEstimate
        Each theta with standard error, confidence interval and method.
    distance : str
        Name of the distance.
    level : float
        Level of the intervals of theta and of the mistake probability.
    likelihood : str
        "exact", or "pseudo" for the paper's pseudo-likelihood.
    total_distance : float
        Sum of the distances of all rankings from the tiers; its expectation if answers are
        incomplete.
    log_likelihood : float
        Log probability of the rankings.
    log_likelihood_error : float
        Its standard error; 0 if the partition function is exact.
    criterion : float
        The paper's I: log-likelihood minus the log number of tier lists with these sizes.
    agreement : float
        The paper's D: share of pairs of items of different tiers that the rankings order in the
        same way.
    agreement_by_tier : Agreement
        The same by pair of tiers.
    n_rankings : int or float
        Number of rankings, the sum of their weights.
    log_completions : float
        Sum over answers of the log number of complete orderings that agree with each: up to a
        constant, the log-likelihood if all orderings were equally probable.
    method : str
        How the tiers were found.
    partition_method : str
        How the partition function was found.
    optimal : bool
        Whether the tiers are proved to be the best with these sizes.
    gap : float
        How much smaller the total distance might be, as a share of it; 0 if optimal.
    alternatives : tuple of Tiers
        Other tiers that are exactly as good, at most ten.
    n_optima : int or None
        How many tier lists are equally best, if known.
    references : tuple of Reference
        The strict consensus (if it could be computed) and no tiers, on the same data.
    provenance : Provenance
        Version, seed and time.
    mistake_probability : float or None
        Share of pairwise answers that are mistaken, if `Preferences` allow mistakes.
    mistake_interval : tuple of float or None
        Its confidence interval, from the profile likelihood. A wide one means that the answers
        hardly distinguish mistakes from differing opinions: only contradictions do.
    pairwise : bool
        Whether answers are pairwise; ``n_rankings`` is then the number of people.
    concentration : str
        "single" for one theta, "tier" for one per tier (inversions: per tier but the last), "place"
        for one per block of places but the last.
    concentration_reason : str
        Why this was chosen, if the fit chose.
    family : str
        "mallows": orderings scattered around the tiers, with theta and a distance. "luce": races,
        with one worth per tier; theta is then NaN, and the distance empty.
    worth_estimates : tuple of WorthEstimate
        For "luce": the worth of each tier, with an interval.
    effect_estimates : tuple of EffectEstimate
        For battles with estimated draws or position: how often equals draw, and the advantage of
        being shown first, with intervals and evidence.
    log_posterior : float
        For "luce": joint log probability of tiers and answers, up to a constant, with worths
        integrated out; otherwise NaN.
    best_of_sizes : Reference or None
        The best tiers with the same sizes, if you gave your own tiers.
    parts : tuple of tuple
        Groups of items that comparisons connect, directly or through others, largest first. If
        there are several, the data say nothing about items of different groups.
    divided_tiers : tuple of int
        The tiers, counted from 0, whose items people are divided about; see ``divided``.
    """

    tiers: Tiers
    sizes: Sizes
    theta: float | tuple[float, ...]
    theta_estimates: tuple[ThetaEstimate, ...]
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
    concentration: Concentration = "single"
    concentration_reason: str = ""
    family: Family = "mallows"
    worth_estimates: tuple[WorthEstimate, ...] = ()
    effect_estimates: tuple[EffectEstimate, ...] = ()
    log_posterior: float = nan
    best_of_sizes: Reference | None = None
    parts: tuple[tuple[Item, ...], ...] = ()
    divided_tiers: tuple[int, ...] = ()

    def __repr__(self) -> str:
        if self.family == "luce":
            worths = ", ".join(format(worth, ".3g") for worth in self.worths)
            return f"Fit({str(self.tiers)!r}, worths=({worths}), criterion={self.criterion:.2f})"
        thetas = "" if self.concentration == "single" else f"concentration={self.concentration!r}, "
        return (
            f"Fit({str(self.tiers)!r}, theta={self.theta_text('.4g')}, distance={self.distance!r}, "
            f"{thetas}criterion={self.criterion:.2f})"
        )

    @property
    def worths(self) -> tuple[float, ...]:
        """Worth of each tier, decreasing, with geometric mean 1 over items; empty if none."""
        return tuple(estimate.value for estimate in self.worth_estimates)

    @property
    def strengths(self) -> tuple[float, ...]:
        """Worth of each tier on the Elo scale, ``400 log10(worth)``: 400 points are odds of 10."""
        return tuple(estimate.strength for estimate in self.worth_estimates)

    @property
    def next_tier_probabilities(self) -> tuple[float, ...]:
        """For "luce": the probability that an item of a tier is ranked before one of the next.

        One entry for each tier but the last.
        """
        return tuple(worth / (worth + other) for worth, other in pairwise(self.worths))

    @property
    def thetas(self) -> tuple[float, ...]:
        """All thetas; one if ``concentration`` is "single", none if there are worths."""
        if self.family == "luce":
            return ()
        return self.theta if isinstance(self.theta, tuple) else (self.theta,)

    @property
    def theta_estimate(self) -> ThetaEstimate:
        """The one theta with standard error, confidence interval and method."""
        if len(self.theta_estimates) != 1:
            raise InputError(
                f"this fit has {len(self.theta_estimates)} thetas, one per {self.concentration}: "
                "see theta_estimates"
            )
        return self.theta_estimates[0]

    def theta_text(self, form: str = ".4f") -> str:
        """Return theta, or all of them in parentheses, as text."""
        numbers = [format(theta, form) for theta in self.thetas]
        return f"({', '.join(numbers)})" if isinstance(self.theta, tuple) else numbers[0]

    def model(self) -> "ClusteredMallows | ClusteredLuce":
        """Return the fitted model.

        Examples
        --------
        >>> import tierwise as tw
        >>> tw.fit(tw.load_political_goals(), (2, 2)).model()
        ClusteredMallows(order ~ prices > say ~ speech, theta=0.534..., distance='kendall')
        """
        from tierwise.model.clustered_luce import ClusteredLuce
        from tierwise.model.clustered_mallows import ClusteredMallows

        if self.family == "luce":
            effects = {effect.name: effect.value for effect in self.effect_estimates}
            return ClusteredLuce(
                self.tiers,
                self.worths,
                first_factor=effects.get("position", 1.0),
                draw_factor=effects.get("draws", 0.0),
            )
        return ClusteredMallows(self.tiers, self.theta, self.distance, self.concentration)

    @property
    def part_names(self) -> tuple[str, ...]:
        """The name of each theta: "tier 1" (the first of ``tiers``), "place 2", "places 3-5"."""
        if self.concentration == "single":
            return ("all",)
        if self.concentration == "tier":
            return tuple(f"tier {number}" for number in range(1, len(self.thetas) + 1))
        ends = np.cumsum(self.sizes).tolist()
        return tuple(
            f"place {end}" if size == 1 else f"places {end - size + 1}-{end}"
            for size, end in zip(self.sizes[:-1], ends[:-1], strict=True)
        )

    @property
    def penalised_criterion(self) -> float:
        """The criterion minus half the log number of rankings for each parameter beyond the first.

        Parameters are thetas, or the worths of tiers (the first follows from the others).
        """
        price = price_of_thetas(self.theta_estimates, self.n_rankings)
        if self.family == "luce":
            freedom = max(len(self.tiers) - 1, 0) + len(self.effect_estimates)
            price = freedom * log(max(self.n_rankings, 1.0)) / 2
        return self.criterion - price

    @property
    def divided(self) -> tuple[Item, ...]:
        """Items that people are divided about, if there is one theta per tier.

        Their tiers are not part of the order: they are not ahead of all later tiers together by
        more than chance, or the majority of pairs contradicts their position relative to another
        tier. People rank these items anywhere; that their tier comes first does not mean that they
        are better.
        """
        return tuple(item for tier in self.divided_tiers for item in tuple(self.tiers)[tier])

    @property
    def agreed_tiers(self) -> Tiers:
        """The tiers, best first, without those whose items people are divided about."""
        divided = set(self.divided_tiers)
        return Tiers([tier for number, tier in enumerate(self.tiers) if number not in divided])

    def tier_rows(self) -> tuple[TierRow, ...]:
        """Return the rows of the tier list; items that people are divided about come last.

        Examples
        --------
        >>> import tierwise as tw
        >>> tw.fit(tw.load_political_goals(), (2, 2)).tier_rows()[0]
        TierRow(number=1, items=('order', 'prices'))
        """
        divided = set(self.divided_tiers)
        agreed = [tuple(tier) for number, tier in enumerate(self.tiers) if number not in divided]
        rows = [TierRow(number, items) for number, items in enumerate(agreed, start=1)]
        return (*rows, TierRow(None, self.divided)) if divided else tuple(rows)

    @property
    def behind(self) -> float | None:
        """How far the criterion is below that of the best tiers with the same sizes.

        The log-likelihood is behind by the same amount. None if these tiers were found, not given.
        """
        if self.best_of_sizes is None:
            return None
        return self.best_of_sizes.criterion - self.criterion

    def as_reference(self, name: str) -> Reference:
        """Return this fit as a reference for other tiers."""
        return Reference(
            name=name,
            tiers=self.tiers,
            theta=self.thetas[0] if self.thetas else nan,
            log_likelihood=self.log_likelihood,
            log_likelihood_error=self.log_likelihood_error,
            criterion=self.criterion,
            optimal=self.optimal,
            log_posterior=self.log_posterior,
        )

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return a data frame with one row per item, best first: its tier, and its strength.

        Parameters
        ----------
        backend
            The library of the data frame: "pandas", "polars" or "pyarrow".

        Examples
        --------
        >>> import tierwise as tw
        >>> tw.fit(tw.load_political_goals(), (2, 2)).to_frame(backend="pyarrow").to_pydict()
        {'item': ['order', 'prices', 'say', 'speech'], 'tier': [1, 1, 2, 2]}
        """
        places = [(item, number) for number, tier in enumerate(self.tiers, 1) for item in tier]
        columns: dict[str, list[Any]] = {
            "item": [plain_item(item) for item, _ in places],
            "tier": [number for _, number in places],
        }
        if self.divided:
            columns["divided"] = [item in self.divided for item, _ in places]
        if self.family == "luce":
            columns["worth"] = [self.worths[number - 1] for _, number in places]
            columns["strength"] = [self.strengths[number - 1] for _, number in places]
        return make_frame(columns, backend)

    def tier_section(self) -> Section:
        """Return the tiers as a notebook shows them."""
        return Section(
            [
                Row("" if row.number is None else str(row.number), row.items)
                for row in self.tier_rows()
            ]
        )

    def _card(self) -> Card:
        from tierwise.fitting.summary import who_said_what

        facts = [("criterion", f"{self.criterion:,.2f}")]
        if self.agreement == self.agreement:
            facts.append(("agreement", f"{self.agreement:.1%}"))
        if self.family == "luce":
            title = f"{who_said_what(self)}, one worth per tier"
            words = ", ".join(f"{strength:+.0f}" for strength in self.strengths)
            facts.insert(0, ("strengths (Elo)", words))
        else:
            title = f"{who_said_what(self)}, {self.distance} distance"
            facts.insert(0, ("theta", self.theta_text(".3f")))
        return Card(title, facts, [self.tier_section()], note=self.verdict())

    def summary(self, width: int = 88) -> str:
        """Return the fit as text, with the strict consensus and no tiers for comparison.

        Parameters
        ----------
        width
            The width of the text, in characters.
        """
        from tierwise.fitting.summary import summarise

        return summarise(self, width)

    def verdict(self) -> str:
        """Return a sentence on whether these tiers are worth reporting."""
        what = "answers" if self.pairwise else "rankings"
        said = (
            self._verdict_by_evidence(what)
            if self.family == "luce"
            else self._verdict_by_criterion(what)
        )
        return f"{self._verdict_of_own()} {said}".strip()

    def _verdict_of_own(self) -> str:
        """Say how far the reader's own tiers are behind the best of the same sizes."""
        if self.best_of_sizes is None or self.behind is None:
            return ""
        if self.best_of_sizes.tiers == self.tiers:
            known = "proved best" if self.best_of_sizes.optimal else "the best found"
            return f"Of all tiers with these sizes, yours are {known}."
        return (
            f"The best tiers with these sizes, {self.best_of_sizes.tiers}, are ahead of yours by "
            f"{self.behind:.2f} in log-likelihood."
        )

    def _verdict_by_criterion(self, what: str) -> str:
        """Compare tiers with others by the paper's criterion."""
        rival = max(self.references, key=lambda other: other.criterion)
        own = self.penalised_criterion
        lead = own - rival.criterion
        error = hypot(self.log_likelihood_error, rival.log_likelihood_error)
        if error > 0 and abs(lead) < 2 * error:
            return (
                f"It is undecided whether these tiers or {rival.in_words} describe the {what} "
                f"better: the criteria differ by {lead:.2f}, with a standard error of "
                f"{error:.2g}."
            )
        if lead >= 0 and len(self.tiers) == 1:
            return f"All items are in one tier: a strict order does not describe the {what} better."
        if lead >= 0:
            names = " and ".join(other.in_words for other in self.references)
            return f"These tiers describe the {what} at least as well as {names}."
        if len(self.tiers) == 1 and lead > -_CHANCE_LEAD:
            return (
                f"All items are in one tier. The criterion of {rival.in_words} is higher "
                f"({rival.criterion:.2f} against {own:.2f}), but this may be chance: a search "
                "takes that into account."
            )
        better = (
            f"{rival.in_words} describes the {what} better "
            f"(criterion {rival.criterion:.2f} against {own:.2f})"
        )
        if any(other.criterion > own for other in self.references[-1:]):
            return f"Do not report these tiers, because they are worse than none: {better}."
        return f"{better[0].upper()}{better[1:]}: search for better sizes."

    def _verdict_by_evidence(self, what: str) -> str:
        """Compare tiers with others by what averages over worths."""
        rivals = [other for other in self.references if other.tiers != self.tiers]
        if not rivals:
            return f"All items are in one tier: the {what} show no differences."
        rival = max(rivals, key=lambda other: other.log_posterior)
        lead = self.log_posterior - rival.log_posterior
        if lead >= 0 and len(self.tiers) == 1:
            return (
                f"All items are in one tier: {rival.in_words} is {behind_in_words(lead)} in "
                f"{BEHIND_IS}."
            )
        if lead >= 0:
            return (
                f"These tiers describe the {what} better than {rival.in_words}, which is "
                f"{behind_in_words(lead)} in {BEHIND_IS}."
            )
        said = (
            f"{rival.in_words} describes the {what} better: these tiers are "
            f"{behind_in_words(-lead)} in {BEHIND_IS}"
        )
        if rival.name == "no tiers":
            return f"Do not report these tiers, because they are worse than none: {said}."
        return f"{said[0].upper()}{said[1:]}: search for better sizes."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON; None stands for NaN and infinity."""
        fields = {
            "tiers": plain_tiers(self.tiers),
            "sizes": list(self.sizes),
            "family": self.family,
            **self._plain_worths(),
            **self._plain_thetas(),
            "level": self.level,
            "concentration": self.concentration,
            "concentration_reason": self.concentration_reason,
            "theta_method": self.theta_estimates[0].method if self.theta_estimates else "exact",
            "theta_converged": all(estimate.converged for estimate in self.theta_estimates),
            "distance": self.distance or None,
            "likelihood": self.likelihood,
            "total_distance": self.total_distance,
            "log_likelihood": self.log_likelihood,
            "log_likelihood_error": self.log_likelihood_error,
            "criterion": self.criterion,
            "penalised_criterion": self.penalised_criterion,
            "divided": [plain_item(item) for item in self.divided],
            "agreement": plain_number(self.agreement),
            "agreement_by_tier": self.agreement_by_tier.to_dict(),
            "n_rankings": self.n_rankings,
            "parts": [[plain_item(item) for item in part] for part in self.parts],
            "log_completions": self.log_completions,
            "method": self.method,
            "partition_method": self.partition_method,
            "optimal": self.optimal,
            "gap": self.gap,
            "alternatives": [plain_tiers(tiers) for tiers in self.alternatives],
            "n_optima": self.n_optima,
            "references": [reference.to_dict() for reference in self.references],
            "best_of_sizes": None if self.best_of_sizes is None else self.best_of_sizes.to_dict(),
            "behind": self.behind,
            "mistake_probability": self.mistake_probability,
            "mistake_interval": list(self.mistake_interval) if self.mistake_interval else None,
            "verdict": self.verdict(),
            "provenance": self.provenance.to_dict(),
        }
        return {name: plain(value) for name, value in fields.items()}

    def _plain_worths(self) -> dict[str, Any]:
        """Return worths with intervals, on both scales; nothing where there is a theta."""
        if self.family != "luce":
            return {}
        return {
            "worths": self.worths,
            "strengths": self.strengths,
            "worth_estimates": [estimate.to_dict() for estimate in self.worth_estimates],
            "effect_estimates": [estimate.to_dict() for estimate in self.effect_estimates],
            "next_tier_probabilities": self.next_tier_probabilities,
            "log_posterior": self.log_posterior,
        }

    def _plain_thetas(self) -> dict[str, Any]:
        """Return theta with error and interval; lists of them where there are several."""
        if self.family == "luce":
            return {"theta": None, "theta_standard_error": None, "theta_interval": None}
        errors = [estimate.standard_error for estimate in self.theta_estimates]
        intervals = [estimate.interval for estimate in self.theta_estimates]
        if self.concentration == "single":
            return {
                "theta": self.theta,
                "theta_standard_error": errors[0],
                "theta_interval": intervals[0],
            }
        return {
            "theta": self.thetas,
            "theta_standard_error": errors,
            "theta_interval": intervals,
            "theta_of": self.part_names,
        }
