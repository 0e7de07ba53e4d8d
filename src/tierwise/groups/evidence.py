"""A group of people and the evidence of its answers, averaged over tiers, sizes and theta.

Evidence is the log probability of the answers. For few items it is summed over all tiers of all
sizes (`tierwise.inversions.evidence`). For more it is that of the best tiers that are found, with
theta integrated out: less than the sum, for all groups alike. Half of the prior probability belongs
to no tiers, so noise is seldom mistaken for tiers; survey weights are
scaled to Kish's effective sample size, so they do not overstate the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import exp, isinf, log, sqrt
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_choice
from tierwise._util.results import Result
from tierwise._util.types import Estimate, plain_number
from tierwise.data.counts import WeakOrderCounts
from tierwise.data.kinds import check_data
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError
from tierwise.inversions.best import find_best_tiers
from tierwise.inversions.evidence import lines_of_tiers, sum_evidence
from tierwise.inversions.objective import line_objective, tiers_prior
from tierwise.inversions.searching import search_tiers
from tierwise.model.priors import Gamma
from tierwise.searching.choice import choose
from tierwise.searching.compared import FamilyChoice
from tierwise.theta.estimate import best_theta_of_lines
from tierwise.tiers import Tiers, plain_tiers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tierwise._util.types import Item
    from tierwise.fitting.result import Family
    from tierwise.groups.worths import WorthAnswers
    from tierwise.inversions.evidence import Evidence
    from tierwise.searching.choice import Choice

_Integers = NDArray[np.int64]
_Floats = NDArray[np.float64]
Method: TypeAlias = Literal["sum over all tiers", "best tiers", "tiers that were visited"]

PRIOR_THETA = Gamma(2, 2)
# A sum over all tiers takes 3^n steps for each of some dozens of thetas: 0.03 s at 10 items, 8 s
# at 16. The best tiers are proved to be the best where that takes less than a second.
_MOST_ITEMS_WITH_PROOF = 12
# So many items have few enough tiers (75) to go through all of them.
MOST_ITEMS_TO_LIST = 4


@dataclass(frozen=True, eq=False)
class GroupAnswers:
    """What a group of people said, and what it says about tiers.

    Attributes
    ----------
    items
        The items.
    counts
        What the likelihood needs of the answers.
    method
        Whether the evidence is summed over all tiers, or that of the best tiers.
    """

    items: tuple[Item, ...]
    counts: WeakOrderCounts
    method: Method

    @cached_property
    def _sum(self) -> Evidence:
        return sum_evidence(self.counts, prior_theta=PRIOR_THETA, prior_sizes="sceptical")

    @cached_property
    def log_evidence(self) -> float:
        """Log probability of the answers."""
        if self.method == "sum over all tiers":
            return self._sum.log_evidence
        return self.log_joint(self.labels)

    @cached_property
    def labels(self) -> _Integers:
        """The tier of each item, from 0, in the tiers that are most probable."""
        n_items = self.counts.n_items
        if n_items <= _MOST_ITEMS_WITH_PROOF:
            found = find_best_tiers(self.counts, prior_sizes="penalised").labels
        else:
            found = search_tiers(self.counts, prior_sizes="penalised").labels
        no_tiers = np.zeros(n_items, dtype=np.int64)
        return max(found, no_tiers, key=self.log_joint)

    @property
    def tiers(self) -> Tiers:
        """The most probable tiers."""
        return Tiers.from_labels(self.labels + 1, self.items)

    @property
    def estimate(self) -> Estimate:
        """Log probability of the answers, and how it was found."""
        return Estimate(self.log_evidence, method=self.method)

    @property
    def worths(self) -> tuple[float, ...]:
        """There are none: empty."""
        return ()

    @cached_property
    def theta(self) -> float:
        """Theta of greatest likelihood at these tiers; 0 if there is one tier only."""
        if self.labels.max() == 0:
            return 0.0
        return best_theta_of_lines(self.counts, self.labels)

    def log_integrated(self, labels: _Integers) -> float:
        """Log probability of the answers given tiers, with theta averaged over."""
        lines = lines_of_tiers(self.counts, labels, line_objective(self.counts, PRIOR_THETA))
        if labels.max() == 0:
            return lines.log_orders
        return lines.log_likelihood("single")

    def log_joint(self, labels: _Integers) -> float:
        """Log of the prior probability of tiers times the probability of the answers."""
        return log_prior_of_tiers(labels) + self.log_integrated(labels)

    def draw_labels(self, n_draws: int, rng: np.random.Generator) -> _Integers:
        """Draw tiers from their posterior, one row each; the best tiers if that is too costly."""
        if self.method == "sum over all tiers":
            return self._sum.draw(n_draws, rng).labels
        return self.labels[None, :]


@dataclass(frozen=True, eq=False, repr=False)
class PeopleGroup(Result):
    """The people who have one value of a column, or everybody.

    Attributes
    ----------
    name : str
        The value, or "missing".
    n_rankings : float
        Number of rankings, the sum of their weights.
    share : float
        Their share of all rankings.
    tiers : Tiers
        Their most probable tiers.
    theta : float
        How closely they agree with the tiers; NaN if tiers have worths.
    log_evidence : float
        Log probability of their answers, averaged over tiers and theta or worths.
    worths : tuple of float
        Worth of each tier, with geometric mean 1 over items; empty if the model has theta.
    """

    name: str
    n_rankings: float
    share: float
    tiers: Tiers
    theta: float
    log_evidence: float
    worths: tuple[float, ...] = ()

    def __repr__(self) -> str:
        numbers = self.parameters() if self.worths else f"theta={self.theta:.4g}"
        return f"PeopleGroup({self.name}: {self.share:.1%}, {self.tiers}, {numbers})"

    def parameters(self, digits: int = 4) -> str:
        """Return theta, with a number of decimals, or worths, as text."""
        if self.worths:
            return f"worths {', '.join(format(worth, '.3g') for worth in self.worths)}"
        return "theta infinite" if isinf(self.theta) else f"theta {self.theta:.{digits}f}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON; None stands for infinity."""
        return {
            "name": self.name,
            "n_rankings": self.n_rankings,
            "share": self.share,
            "tiers": plain_tiers(self.tiers),
            "theta": plain_number(self.theta),
            "worths": list(self.worths),
            "log_evidence": self.log_evidence,
        }


def people_group(
    name: str, answers: GroupAnswers | WorthAnswers, share: float, n_rankings: float
) -> PeopleGroup:
    """Describe a group of people."""
    return PeopleGroup(
        name=name,
        n_rankings=n_rankings,
        share=share,
        tiers=answers.tiers,
        theta=answers.theta,
        log_evidence=answers.log_evidence,
        worths=answers.worths,
    )


def columns_of_parameters(groups: Sequence[PeopleGroup], family: Family) -> dict[str, list[Any]]:
    """Return the column of a data frame that holds theta, or worths."""
    if family == "luce":
        return {"worths": [group.parameters().removeprefix("worths ") for group in groups]}
    return {"theta": [group.theta for group in groups]}


def check_answers(
    data: Any, taker: str, *, with_gaps: bool = False
) -> tuple[Rankings, NDArray[np.int64]]:
    """Return rankings whose evidence is known, less those without weight, and their numbers."""
    rankings = check_data(data, taker, Rankings, weights="effective")
    if rankings.unranked == "anywhere" and not with_gaps:
        raise InputError(
            f"{taker} takes complete rankings, ties and top lists, but in these data the rank "
            "of items not listed is unknown: keep the items that everybody ranked with "
            "restrict, or fill in the others with impute"
        )
    counting = np.flatnonzero(rankings.weights > 0)
    kept = rankings if len(counting) == len(rankings) else rankings.subset(counting)
    return kept, counting


def family_of_groups(
    data: Rankings, family: FamilyChoice, choice: Choice | None, taker: str
) -> Family:
    """Return the family that was named, or the one that describes everybody's answers best.

    A distance is inversions here, whichever of them describes the answers best. Where no
    differences are seen, all families are the same, and the one is taken whose evidence is exact.
    """
    check_choice("family", family, get_args(FamilyChoice))
    if family != "auto":
        return family
    rankings = check_data(data, taker, Rankings, weights="effective")
    if choice is None:
        if rankings.unranked == "anywhere":
            return "luce"
        choice = choose(rankings, progress="off", rng=0)
    if set(choice.fit.tiers.items) != set(rankings.items):
        raise InputError("the choice was made for other items: call choose with these data")
    one_tier = len(choice.fit.tiers) == 1 and rankings.unranked != "anywhere"
    return "mallows" if one_tier else choice.family


def answers_of(
    rankings: Rankings,
    rows: NDArray[np.bool_] | _Integers | None = None,
    *,
    most_items_to_sum: int,
) -> GroupAnswers:
    """Collect what some people said; everybody if no rows are given.

    Parameters
    ----------
    rankings
        The answers of everybody.
    rows
        Which of them are meant.
    most_items_to_sum
        The largest number of items for which the evidence is summed over all tiers.
    """
    places = rankings.places if rows is None else rankings.places[rows]
    weights = rankings.weights if rows is None else rankings.weights[rows]
    method: Method = (
        "sum over all tiers" if len(rankings.items) <= most_items_to_sum else "best tiers"
    )
    return GroupAnswers(rankings.items, WeakOrderCounts.from_patterns(places, weights), method)


def log_prior_of_tiers(labels: _Integers) -> float:
    """Log prior probability of tiers; half of it belongs to no tiers.

    Examples
    --------
    >>> all_tiers = [[0, 0], [0, 1], [1, 0]]
    >>> [round(exp(log_prior_of_tiers(np.array(labels))), 3) for labels in all_tiers]
    [0.5, 0.25, 0.25]
    """
    return tiers_prior("sceptical", len(labels)).log_probability(np.bincount(labels))


@lru_cache(maxsize=4)
def all_tiers(n_items: int) -> tuple[_Integers, ...]:
    """List all tiers of a few items, as labels from 0."""
    return tuple(
        np.array(labels, dtype=np.int64)
        for labels in product(range(n_items), repeat=n_items)
        if len(set(labels)) == max(labels) + 1
    )


def log_evidence_of_thetas(
    together: GroupAnswers,
    groups: Sequence[GroupAnswers],
    rng: np.random.Generator,
    n_draws: int = 500,
) -> Estimate:
    """Log evidence of the same tiers for all groups, each with its own theta.

    It is a sum over all tiers of their prior times the product of what each group says about them.
    For up to four items all tiers are enumerated. For more the sum is estimated by importance
    sampling: tiers are drawn, exactly and independently, from the posterior for one theta, and
    weighted by how much more probable separate thetas make the answers.

    Parameters
    ----------
    together
        The answers of everybody.
    groups
        The answers of each group.
    rng
        Generator.
    n_draws
        Number of tiers drawn.
    """

    def by_group(labels: _Integers) -> float:
        return sum(group.log_integrated(labels) for group in groups)

    if together.method == "best tiers":
        candidates = [together.labels, *(group.labels for group in groups)]
        value = max(log_prior_of_tiers(labels) + by_group(labels) for labels in candidates)
        return Estimate(value, method="best tiers")
    if len(together.items) <= MOST_ITEMS_TO_LIST:
        listed = all_tiers(len(together.items))
        values = [log_prior_of_tiers(labels) + by_group(labels) for labels in listed]
        return Estimate(log_sum(values), method="sum over all tiers")
    draws = together.draw_labels(n_draws, rng)
    distinct, which = np.unique(draws, axis=0, return_inverse=True)
    gain_of = [by_group(labels) - together.log_integrated(labels) for labels in distinct]
    gains = np.array(gain_of)[which.ravel()]
    top = float(gains.max())
    weights = np.exp(gains - top)
    mean = float(weights.mean())
    error = float(weights.std(ddof=1)) / sqrt(n_draws) / mean if len(distinct) > 1 else 0.0
    value = together.log_evidence + top + log(mean)
    # All draws the same: others are too rare to be drawn, but they are there.
    return Estimate(value, standard_error=max(error, 1.0 / n_draws), method="importance sampling")


def log_sum(values: Sequence[float] | _Floats) -> float:
    """Log of a sum of exponentials."""
    array = np.asarray(values, dtype=np.float64)
    top = float(array.max())
    return top + log(float(np.exp(array - top).sum()))


def bayes_factor_in_words(log_factor: float) -> str:
    """Say how much a Bayes factor means, on the scale of Kass and Raftery (JASA 90, 1995).

    Examples
    --------
    >>> [bayes_factor_in_words(log(factor)) for factor in (2, 10, 100, 1000)]
    ['hardly any evidence', 'positive evidence', 'strong evidence', 'very strong evidence']
    """
    for limit, words in ((3, "hardly any"), (20, "positive"), (150, "strong")):
        if abs(log_factor) < log(limit):
            return f"{words} evidence"
    return "very strong evidence"


def factor_in_digits(log_factor: float) -> str:
    """Write a Bayes factor that may be too large to read.

    Examples
    --------
    >>> factor_in_digits(log(12.3)), factor_in_digits(log(54321)), factor_in_digits(230.3)
    ('12', '54,321', 'more than a million')
    """
    if log_factor > log(1e6):
        return "more than a million"
    value = exp(log_factor)
    return f"{value:.2g}" if value < 100 else f"{value:,.0f}"
