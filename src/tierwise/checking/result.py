"""FitCheck: the data compared with what the model expects.

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
from math import exp, isnan, log, nan
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from tierwise._util.cards import Card
from tierwise._util.columns import within
from tierwise._util.results import Result
from tierwise._util.types import plain_item, plain_number
from tierwise.data.frames import make_frame
from tierwise.fitting.summary import names_of_tiers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from tierwise._util.provenance import Provenance
    from tierwise._util.types import Item
    from tierwise.checking.expected import PairShares
    from tierwise.data.frames import Backend
    from tierwise.fitting.result import Fit

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
    """Judge the largest of many differences with Bonferroni's correction."""
    if not len(scores):
        return Finding(name, 1.0, 0.0, f"the answers say nothing about {noun}.")
    from scipy.special import log_ndtr, ndtri_exp

    log_p_values = log(2.0 * len(scores)) + log_ndtr(-scores)
    log_p_value = min(0.0, float(log_p_values.min()))
    n_off = int((log_p_values < log(FALSE_ALARMS)).sum())
    statement = f"{n_off} of {len(scores)} {noun} differ by more than chance allows."
    return Finding(name, exp(log_p_value), max(0.0, -float(ndtri_exp(log_p_value))), statement)


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


def binomial_scores(
    observed: NDArray[np.float64],
    expected: NDArray[np.float64],
    numbers: NDArray[np.float64],
    least: float,
) -> NDArray[np.float64]:
    """Return how surprising shares are, as normal scores, however few answers there are.

    A binomial tail is a beta function, which takes numbers of answers that are not whole.
    """
    from scipy.special import betainc, ndtri

    known = np.where(numbers > 0, numbers, np.nan)
    chances = np.clip(expected, max(least, 1e-12), 1 - max(least, 1e-12))
    won, lost = observed * known, (1 - observed) * known
    at_least = np.where(won > 0, betainc(np.maximum(won, 1e-12), lost + 1, chances), 1.0)
    at_most = np.where(lost > 0, betainc(np.maximum(lost, 1e-12), won + 1, 1 - chances), 1.0)
    tails = np.clip(np.minimum(at_least, at_most), 1e-300, 0.5)
    scores: NDArray[np.float64] = np.sign(observed - expected) * -ndtri(tails)
    return np.where(np.isnan(known), np.nan, scores)


def standard_score(chi_square: float, freedom: int) -> float:
    """Turn a chi-square value into a standard normal score (Wilson and Hilferty)."""
    if freedom == 0:
        return 0.0
    spread = 2.0 / (9.0 * freedom)
    return float(((chi_square / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5)


def tail(score: float) -> float:
    """Return the probability of a standard normal score at least as large."""
    return NormalDist().cdf(-score)


def verdict_in_words(check: FitCheck) -> str:
    """Return a few sentences on whether the model fits, and if not, how it differs."""
    if check.verdict == "fits":
        opening = (
            "The model fits: no check differs from its expectation by more than chance allows."
        )
    else:
        explain = {
            "theta varies": _about_lines,
            "mixture suspected": _about_groups,
            "differs": _about_pairs,
        }
        opening = explain[check.verdict](check)
    return f"{opening} {_about_size(check)}".strip()


def _about_lines(check: FitCheck) -> str:
    low = min(check.lines, key=lambda line: line.score)
    high = max(check.lines, key=lambda line: line.score)
    names = names_of_tiers(check.fit)
    if check.pairwise:
        return (
            "Agreement differs along the ranking: answers contradict the tiers less often than "
            f"expected between {sides(low, names)}, and more often between "
            f"{sides(high, names)}.{_remedy(check)}"
        )
    return (
        f"Agreement differs along the ranking: items cross the line between {sides(low, names)} "
        f"less often than expected{_theta(low)}, and the line between "
        f"{sides(high, names)} more often{_theta(high)}.{_remedy(check)}"
    )


def sides(line: Line, names: Sequence[str]) -> str:
    """Name the two sides of a line between tiers.

    Examples
    --------
    >>> sides(Line(1, 2, 0.5, 0.6, -1.0, 0.4), ["tier 1", "tier 2"])
    'tiers 1 and 2'
    >>> sides(Line(1, 2, 0.5, 0.6, -1.0, 0.4), ["liquorice", "tier 1"])
    'liquorice and tier 1'
    """
    above, below = names[line.above - 1], names[line.below - 1]
    if above.startswith("tier ") and below.startswith("tier "):
        return f"tiers {above.removeprefix('tier ')} and {below.removeprefix('tier ')}"
    return f"{above} and {below}"


def _remedy(check: FitCheck) -> str:
    """Name the option that lets theta vary, unless it is used already."""
    if check.fit.concentration != "single":
        return f" One theta per {check.fit.concentration} does not explain all of it."
    average = " One theta for the whole ranking is an average"
    if check.pairwise:
        return f"{average}."
    return f'{average}: fit with concentration="tier" or "place" to let it vary.'


def _theta(line: Line) -> str:
    return "" if np.isnan(line.theta) else f" (theta {line.theta:.2f} there)"


def _about_groups(check: FitCheck) -> str:
    telling = [finding for finding in check.findings if finding.name in ("spread", "direction")]
    worst = max(telling, key=lambda finding: finding.score)
    return (
        f"A mixture of groups is suspected: {worst.statement} Separate tiers for several groups "
        f"may describe the {_noun(check)} better."
    )


def _about_pairs(check: FitCheck) -> str:
    opening = (
        "The model does not fit everywhere: some proportions differ from what it expects by more "
        "than chance allows."
    )
    worst = check.differing_pairs(1)
    if worst and check.fit.tiers.tied(worst[0].above, worst[0].below):
        return f"{opening} Opinion within a tier is not evenly split: finer tiers may fit better."
    return (
        f"{opening} Other sizes may fit better, or the answers depend on more than tiers, such as "
        "different kinds of people or tasks."
    )


def spread_of_distances(ratio: float, *, surprising: bool) -> str:
    """Say how much the distances of answers from the tiers vary."""
    return _spread_statement("distances of answers from the tiers", ratio, surprising=surprising)


def spread_of_log_probabilities(ratio: float, *, surprising: bool) -> str:
    """Say how much the log probabilities of answers vary."""
    return _spread_statement("log probabilities of answers", ratio, surprising=surprising)


def spread_of_answers(ratio: float, *, surprising: bool) -> str:
    """Say how much the number of a person's answers in tier order varies."""
    what = "the number of a person's answers in tier order"
    return _spread_statement(what, ratio, surprising=surprising)


def _spread_statement(what: str, ratio: float, *, surprising: bool) -> str:
    if np.isnan(ratio):
        return f"{what} should not vary at all."
    meaning = ", so some people agree with the tiers more than others." if surprising else "."
    return f"the variance of {what} is {ratio:.2f} times the expected one{meaning}"


def direction_statement(items: tuple[Item, ...], direction: NDArray[np.float64]) -> str:
    """Say which items answers set against each other."""
    order = np.argsort(direction, kind="stable")
    high, low = items[int(order[0])], items[int(order[-1])]
    return (
        f"answers that rank {high} high tend to rank {low} low, and vice versa, more than in a "
        "single group."
    )


def _noun(check: FitCheck) -> str:
    return "answers" if check.pairwise else "rankings"


def _about_size(check: FitCheck) -> str:
    if isnan(check.pairs_off_by):
        return ""
    opening = (
        f"Pairwise proportions are off by {100 * check.pairs_off_by:.1f} percentage points on "
        f"average (by chance alone: {100 * check.pairs_off_by_chance:.1f})"
    )
    clearest = check.differing_pairs(1)
    if not clearest:
        return f"{opening}."
    [pair] = clearest
    above = "over" if check.pairwise else "above"
    return (
        f"{opening}; most clearly for {pair.above} {above} {pair.below}: "
        f"{pair.observed:.0%} of {_noun(check)}, {pair.expected:.0%} expected."
    )


Verdict: TypeAlias = Literal["fits", "theta varies", "mixture suspected", "differs"]


@dataclass(frozen=True, eq=False)
class Finding(Result):
    """One way in which rankings may differ from what a model expects.

    Attributes
    ----------
    name
        "pairs": proportions of pairs. "ranks": how often an item has a rank. "lines": how often
        the lines between tiers are crossed. "spread": distances from the tiers, or log
        probabilities, vary more than expected. "direction": answers vary more than expected along
        one direction. For battles, "items": items of a tier against each other; "lines" (with
        worths, "tiers"): tiers against each other.
    p_value
        The probability of a difference this large if the model were true.
    score
        The same as a standard normal score; larger is more surprising. Where the largest of many
        differences is judged, 0 if it is no larger than usual.
    statement
        What was found, in words.
    """

    name: str
    p_value: float
    score: float
    statement: str

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON."""
        return {
            "name": self.name,
            "p_value": plain_number(self.p_value),
            "score": plain_number(self.score),
            "statement": self.statement,
        }


@dataclass(frozen=True, eq=False)
class Line(Result):
    """The line between two neighbouring tiers, and how many items cross it.

    Attributes
    ----------
    above, below
        The numbers of the two tiers.
    observed, expected
        Mean number of items per ranking that belong above it and are ranked below; or the share of
        answers about two items on either side of it that go against the tiers.
    score
        The difference in standard errors.
    theta
        The theta that would make observed and expected equal; NaN if too costly, and for pairwise
        answers.
    """

    above: int
    below: int
    observed: float
    expected: float
    score: float
    theta: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON."""
        return {
            name: plain_number(value) if isinstance(value, float) else value
            for name, value in vars(self).items()
        }


@dataclass(frozen=True, eq=False)
class PairDifference(Result):
    """Two items, how often the first is above the second, and how often it should be."""

    above: Item
    below: Item
    observed: float
    expected: float
    score: float

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON."""
        return {
            "above": plain_item(self.above),
            "below": plain_item(self.below),
            "observed": plain_number(self.observed),
            "expected": plain_number(self.expected),
            "score": plain_number(self.score),
        }


@dataclass(frozen=True, eq=False, repr=False)
class FitCheck(Result):
    """Data compared with what a fitted model expects; `check_fit` makes it.

    Attributes
    ----------
    fit : Fit
        The fit that was checked.
    items : tuple
        The items of rows and columns.
    verdict : str
        "fits"; "theta varies" (along the ranking); "mixture suspected"; or "differs" (otherwise).
    pair_numbers : numpy.ndarray
        ``[a, b]``: how many rankings, or answers, order items a and b.
    pairs_observed, pairs_expected : numpy.ndarray
        ``[a, b]``: share of rankings with item a above item b, among those that order the two; NaN
        if none does. For pairwise answers, only direct answers count.
    pair_scores : numpy.ndarray
        Their differences in standard errors, or as normal scores if answers are few.
    ranks_observed, ranks_expected : numpy.ndarray
        ``[a, r]``: share of rankings with item a in place r, counted from 0; NaN for places that
        not every answer fills.
    lines : tuple of Line
        The lines between tiers; empty if the answers do not show which items cross them.
    distance_spread : float
        Variance of the distances from the tiers, observed divided by expected; NaN if unknown. With
        worths, of the log probabilities of answers; for pairwise answers, of the number of a
        person's answers in tier order.
    direction : numpy.ndarray
        The weight of each item in the direction in which answers vary more than expected.
    findings : tuple of Finding
        The checks and their results.
    exact : bool
        Whether the expected pairwise proportions are exact; otherwise they have an error of at
        most ``monte_carlo_error``.
    monte_carlo_error : float
        Largest standard error of an expected proportion.
    provenance : Provenance
        Version, seed and time.
    pairwise : bool
        Whether people compared pairs; then shares are of answers, not of rankings.
    """

    fit: Fit
    items: tuple[Item, ...]
    verdict: Verdict
    pair_numbers: NDArray[np.float64]
    pairs_observed: NDArray[np.float64]
    pairs_expected: NDArray[np.float64]
    pair_scores: NDArray[np.float64]
    ranks_observed: NDArray[np.float64]
    ranks_expected: NDArray[np.float64]
    lines: tuple[Line, ...]
    distance_spread: float
    direction: NDArray[np.float64]
    findings: tuple[Finding, ...]
    exact: bool
    monte_carlo_error: float
    provenance: Provenance
    pairwise: bool = False

    def __repr__(self) -> str:
        return f"FitCheck({self.verdict!r}, pairs off by {self.pairs_off_by:.3f})"

    @property
    def pairs_off_by(self) -> float:
        """Root mean square of observed minus expected pairwise proportions.

        A pair counts as often as answers order it.
        """
        return self._over_pairs((self.pairs_observed - self.pairs_expected) ** 2)

    @property
    def pairs_off_by_chance(self) -> float:
        """What `pairs_off_by` would be on average if the model were true."""
        with np.errstate(divide="ignore", invalid="ignore"):
            variances = self.pairs_expected * (1 - self.pairs_expected) / self.pair_numbers
        return self._over_pairs(variances)

    def _over_pairs(self, squares: NDArray[np.float64]) -> float:
        """Return the root of the mean of squares over all answers about pairs."""
        upper = np.triu_indices(len(self.items), k=1)
        numbers = np.where(np.isnan(self.pairs_observed), 0.0, self.pair_numbers)[upper]
        known = numbers > 0
        if not known.any():
            return nan
        return float(np.sqrt(np.average(squares[upper][known], weights=numbers[known])))

    def differing_pairs(self, count: int = 10) -> list[PairDifference]:
        """Return the pairs that differ most, in standard errors, the first above the second.

        Parameters
        ----------
        count
            The most pairs to return.
        """
        first, second = np.triu_indices(len(self.items), k=1)
        scores = np.nan_to_num(np.abs(self.pair_scores[first, second]), nan=-1.0)
        found = []
        for pair in np.argsort(-scores, kind="stable")[:count].tolist():
            if scores[pair] < 0:
                break
            above, below = int(first[pair]), int(second[pair])
            if self.pairs_observed[above, below] < 0.5:
                above, below = below, above
            found.append(
                PairDifference(
                    self.items[above],
                    self.items[below],
                    float(self.pairs_observed[above, below]),
                    float(self.pairs_expected[above, below]),
                    float(self.pair_scores[above, below]),
                )
            )
        return found

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return a data frame with one row per pair of items.

        It has the observed and expected share of answers with the first item above the second, and
        their difference in standard errors.

        Parameters
        ----------
        backend
            The library of the data frame: "pandas", "polars" or "pyarrow".

        """
        first, second = np.triu_indices(len(self.items), k=1)
        return make_frame(
            {
                "above": [plain_item(self.items[item]) for item in first.tolist()],
                "below": [plain_item(self.items[item]) for item in second.tolist()],
                "observed": self.pairs_observed[first, second],
                "expected": self.pairs_expected[first, second],
                "score": self.pair_scores[first, second],
            },
            backend,
        )

    def _card(self) -> Card:
        header = ("finding", "p", "")
        cells = [(one.name, _p_value(one.p_value), one.statement) for one in self.findings]
        facts = [("pairs off by", f"{self.pairs_off_by:.1%}")]
        return Card(
            f"Does the model fit? {self.verdict}",
            facts,
            table=(header, cells),
            note=self.verdict_in_words(),
        )

    def summary(self, width: int = 88) -> str:
        """Return the verdict and the checks as text.

        Parameters
        ----------
        width
            The width of the text, in characters.
        """
        lines = [self.verdict_in_words(), ""]
        lines += [
            f"{one.name:<10} p {_p_value(one.p_value):<9} {one.statement}" for one in self.findings
        ]
        if self.lines:
            crossing = "against" if self.pairwise else "crossing"
            names = self._names_of_lines()
            longest = max(20, *(len(name) + 2 for name in names))
            header = f"{'line between tiers':<{longest}}{crossing:>9}{'expected':>10}{'theta':>8}"
            lines += ["", header]
            lines += [
                f"{name:<{longest}}{line.observed:>9.3f}"
                f"{line.expected:>10.3f}{'-' if isnan(line.theta) else f'{line.theta:.3f}':>8}"
                for name, line in zip(names, self.lines, strict=True)
            ]
        return within("\n".join(lines), width)

    def _names_of_lines(self) -> list[str]:
        names = names_of_tiers(self.fit)
        return [sides(line, names).removeprefix("tiers ") for line in self.lines]

    def caution(self) -> str:
        """Return a caution for the top of a page if the model does not fit; empty if it does.

        Examples
        --------
        >>> import tierwise as tw
        >>> goals = tw.load_political_goals()
        >>> tw.check_fit(goals, tw.fit(goals, (2, 2))).caution()[:41]
        'Careful: the model does not describe all '
        """
        if self.verdict == "fits":
            return ""
        return (
            "Careful: the model does not describe all features of the data. "
            f"{verdict_in_words(self)}"
        )

    def verdict_in_words(self) -> str:
        """Return a few sentences on whether the model fits, and if not, how it differs."""
        return verdict_in_words(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON; None stands for NaN and infinity."""
        return {
            "verdict": self.verdict,
            "verdict_in_words": self.verdict_in_words(),
            "items": [plain_item(item) for item in self.items],
            "pair_numbers": _plain_table(self.pair_numbers),
            "pairs_observed": _plain_table(self.pairs_observed),
            "pairs_expected": _plain_table(self.pairs_expected),
            "pairs_off_by": plain_number(self.pairs_off_by),
            "pairs_off_by_chance": plain_number(self.pairs_off_by_chance),
            "ranks_observed": _plain_table(self.ranks_observed),
            "ranks_expected": _plain_table(self.ranks_expected),
            "differing_pairs": [pair.to_dict() for pair in self.differing_pairs()],
            "lines": [line.to_dict() for line in self.lines],
            "distance_spread": plain_number(self.distance_spread),
            "direction": [plain_number(part) for part in self.direction.tolist()],
            "findings": [finding.to_dict() for finding in self.findings],
            "exact": self.exact,
            "monte_carlo_error": plain_number(self.monte_carlo_error),
            "pairwise": self.pairwise,
            "provenance": self.provenance.to_dict(),
        }


def _plain_table(table: NDArray[np.float64]) -> list[list[float | None]]:
    return [[plain_number(number) for number in row] for row in table.tolist()]


def _p_value(p_value: float) -> str:
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.4f}"
