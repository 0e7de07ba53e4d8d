"""Pairwise answers and battles beside what the model expects: parametric bootstrap, chi-square.

Of pairwise answers, lines, spread and direction are judged by parametric bootstrap: the model
answers the same questions, asked of as many people as often, many times over.

Of battles, the model says that a win depends on the rank gap alone, or on two worths. Three ways in
which that may be wrong: a pair of items goes its own way (rock, paper, scissors); items of one tier
are not alike; two tiers are further apart than their ranks or worths say. Drawn battles that count
half vary less than the binomial distribution says, so these checks err on the side of no finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise.answers.meetings import meetings_of_battles
from tierwise.checking.expected import PairShares, expected_wins, shares_won
from tierwise.checking.result import (
    FALSE_ALARMS,
    Finding,
    Found,
    Line,
    binomial_scores,
    chi_square_score,
    direction_statement,
    finding_of_pairs,
    spread_of_answers,
    standard_score,
    tail,
)
from tierwise.errors import InputError
from tierwise.model.clustered_luce import ClusteredLuce
from tierwise.partition.gaussian import pair_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise._util.types import Item
    from tierwise.checking.expected import Orderings
    from tierwise.data.battles import Battles
    from tierwise.data.preferences import Preferences
    from tierwise.fitting.result import Fit
    from tierwise.model.clustered_mallows import ClusteredMallows

_REPLICATES = 400
# A pair says something if so many wins and losses are expected, as for chi-square tests.
_LEAST_EXPECTED = 5.0


def check_pairs(
    preferences: Preferences,
    fit: Fit,
    labels: NDArray[np.int64],
    orderings: Orderings,
    alike: NDArray[np.int64] | None,
    rng: np.random.Generator,
) -> Found:
    """Compare pairwise answers with what orderings from the model answer to the same questions.

    Parameters
    ----------
    preferences
        The answers.
    fit
        The fit.
    labels
        The tier of each item, counted from 0.
    orderings
        Orderings from the model, or from a posterior.
    alike
        The labels again if items of a tier are alike in the orderings; None if not.
    rng
        Random generator.
    """
    asked = _comparisons_of(preferences, labels)
    respondent = _respondent(preferences, fit)
    pairs = _compare_answers(asked, orderings, alike, respondent)
    answered = _summarise(asked, asked.wins, pairs.expected)
    drawn = _draw_summaries(asked, orderings, pairs.expected, respondent, rng)
    findings = [
        finding_of_pairs(pairs.scores),
        Finding("ranks", 1.0, 0.0, "pairwise comparisons say nothing about ranks."),
    ]
    lines: tuple[Line, ...] = ()
    spread = nan
    if (asked.above < asked.below).any():
        if fit.family == "mallows":
            lines, finding = _check_lines(answered, drawn)
            # A single line cannot differ from others.
            findings += [finding] if len(lines) > 1 else []
        spread, finding = _check_spread(answered, drawn)
        findings.append(finding)
    direction, finding = _check_direction(preferences.items, answered, drawn)
    findings.append(finding)
    unknown = np.full((len(labels), len(labels)), nan)
    return Found(pairs, unknown, lines, spread, direction, tuple(findings))


@dataclass(frozen=True)
class Respondent:
    """How a person answers.

    Attributes
    ----------
    mistakes
        Probability that an answer goes against the person's own ordering.
    keeps_an_ordering
        Whether all answers of a person come from one ordering; otherwise each is a separate race.
    """

    mistakes: float
    keeps_an_ordering: bool


def _respondent(preferences: Preferences, fit: Fit) -> Respondent:
    """Say how people answer according to the fit, or that it was fitted to other answers."""
    may_be_mistaken = preferences.times is not None
    if fit.family == "luce":
        # Where people contradict themselves, their comparisons are taken as independent.
        return Respondent(0.0, keeps_an_ordering=not may_be_mistaken)
    if (fit.mistake_probability is not None) != may_be_mistaken:
        raise InputError("only one of fit and answers allows mistakes: fit these answers")
    return Respondent(fit.mistake_probability or 0.0, keeps_an_ordering=True)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Who compared what: an entry for each pair of items of each assessor.

    Attributes
    ----------
    assessors
        Who compared, counted from 0.
    first, second
        The two items; the first is in the better tier, if they are in different tiers.
    times
        How often they compared them.
    wins
        How often they preferred the first.
    above, below
        The tiers of the two items, counted from 0.
    """

    assessors: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    times: NDArray[np.int64]
    wins: NDArray[np.int64]
    above: NDArray[np.int64]
    below: NDArray[np.int64]


def _comparisons_of(preferences: Preferences, labels: NDArray[np.int64]) -> Comparisons:
    """Return who compared what; only what was asked, for what follows depends on the answers."""
    given = preferences.direct if preferences.times is None else preferences.times
    by_tier = np.argsort(labels, kind="stable")
    said = given[:, by_tier][:, :, by_tier].astype(np.int64)
    times = np.triu(said + said.transpose(0, 2, 1), k=1)
    assessors, first, second = np.nonzero(times)
    return Comparisons(
        assessors,
        by_tier[first],
        by_tier[second],
        times[assessors, first, second],
        said[assessors, first, second],
        labels[by_tier[first]],
        labels[by_tier[second]],
    )


def _compare_answers(
    asked: Comparisons,
    orderings: Orderings,
    labels: NDArray[np.int64] | None,
    respondent: Respondent,
) -> PairShares:
    """Compare pairwise answers with those of orderings from the model to the same questions.

    Parameters
    ----------
    asked
        Who compared what.
    orderings
        Orderings from the model.
    labels
        The tier of each item, counted from 0; None if the orderings come from several tiers.
    respondent
        How people answer.
    """
    n_items = orderings.places.shape[1]
    opinions, _ = shares_won(expected_wins(orderings, np.ones(n_items), labels))
    mistakes = respondent.mistakes
    expected = mistakes + (1 - 2 * mistakes) * opinions
    won, times, squares = (np.zeros((n_items, n_items)) for _ in range(3))
    np.add.at(won, (asked.first, asked.second), asked.wins)
    np.add.at(won, (asked.second, asked.first), asked.times - asked.wins)
    np.add.at(times, (asked.first, asked.second), asked.times)
    np.add.at(squares, (asked.first, asked.second), asked.times**2)
    times, squares = times + times.T, squares + squares.T
    observed, _ = shares_won(won)
    # Answers of one person to one question go together, but for mistakes.
    variances = times * expected * (1 - expected)
    together = (squares - times) * (1 - 2 * mistakes) ** 2 * opinions * (1 - opinions)
    if not respondent.keeps_an_ordering:
        together = np.zeros_like(times)
    n_effective = times * np.divide(
        variances, variances + together, out=np.ones_like(times), where=variances > 0
    )
    error = 0.0
    if not orderings.exact:
        error = float(np.sqrt(np.nanmax(opinions * (1 - opinions)) / orderings.n_draws))
    scores = binomial_scores(observed, expected, n_effective, 1 / orderings.n_draws)
    return PairShares(times, observed, expected, scores, error)


@dataclass(frozen=True, eq=False)
class Summary:
    """What is compared between the answers and their replicates; or of all these, row by row.

    Attributes
    ----------
    agreement
        Share of answers about items of different tiers that are in tier order.
    against
        For each line between tiers, the share of answers about items on both sides of it that go
        against the tiers.
    spread
        Sum over assessors of the squared excess of their answers in tier order.
    products
        For each pair of items, the mean product over assessors of the excess of their wins.
    """

    agreement: NDArray[np.float64]
    against: NDArray[np.float64]
    spread: NDArray[np.float64]
    products: NDArray[np.float64]


def _summarise(
    asked: Comparisons, wins: NDArray[np.int64], expected: NDArray[np.float64]
) -> Summary:
    """Summarise answers to what was asked.

    Parameters
    ----------
    asked
        Who compared what.
    wins
        How often the first item was preferred, an entry each.
    expected
        The share of answers that should prefer the row to the column.
    """
    n_items, n_tiers = len(expected), int(asked.below.max()) + 1
    n_assessors = int(asked.assessors.max()) + 1
    apart = asked.above < asked.below
    excess = wins - asked.times * expected[asked.first, asked.second]
    lines = np.arange(n_tiers - 1)
    across = (asked.above <= lines[:, None]) & (lines[:, None] < asked.below)
    n_across = across @ asked.times
    lost = across @ (asked.times - wins)
    of_assessor = np.bincount(asked.assessors[apart], weights=excess[apart])
    by_item = np.zeros((n_assessors, n_items))
    np.add.at(by_item, (asked.assessors, asked.first), excess)
    np.subtract.at(by_item, (asked.assessors, asked.second), excess)
    return Summary(
        agreement=np.array(wins[apart].sum() / max(1, int(asked.times[apart].sum()))),
        against=lost / np.maximum(n_across, 1),
        spread=np.array((of_assessor**2).sum()),
        products=by_item.T @ by_item / n_assessors,
    )


def _draw_summaries(
    asked: Comparisons,
    orderings: Orderings,
    expected: NDArray[np.float64],
    respondent: Respondent,
    rng: np.random.Generator,
) -> Summary:
    """Let the model answer what was asked, many times over.

    Parameters
    ----------
    asked
        Who compared what.
    orderings
        Orderings from the model.
    expected
        The share of answers that should prefer the row to the column.
    respondent
        How people answer.
    rng
        Random generator.
    """
    n_assessors = int(asked.assessors.max()) + 1
    summaries = []
    for _ in range(_REPLICATES):
        chances = expected[asked.first, asked.second]
        if respondent.keeps_an_ordering:
            rows = rng.choice(len(orderings.places), size=n_assessors, p=orderings.weights)
            drawn = rows[asked.assessors]
            right = orderings.places[drawn, asked.first] < orderings.places[drawn, asked.second]
            chances = np.where(right, 1 - respondent.mistakes, respondent.mistakes)
        wins = rng.binomial(asked.times, chances)
        summaries.append(_summarise(asked, wins, expected))
    return Summary(
        *(
            np.array([getattr(one, name) for one in summaries])
            for name in ("agreement", "against", "spread", "products")
        )
    )


@dataclass(frozen=True, eq=False)
class _Deviation:
    """How far numbers are from what replicates with the same agreement lead to expect."""

    expected: NDArray[np.float64]
    deviations: NDArray[np.float64]
    covariances: NDArray[np.float64]


def _deviation(
    observed: NDArray[np.float64],
    replicates: NDArray[np.float64],
    agreement: float,
    agreements: NDArray[np.float64],
) -> _Deviation:
    """Compare numbers with their replicates, given the agreement with the tiers.

    Theta was fitted to it, so what goes with it is no evidence against the model.
    """
    centred = replicates - replicates.mean(axis=0)
    shifts = agreements - agreements.mean()
    variance = float(shifts @ shifts)
    slopes = shifts @ centred / variance if variance > 0 else np.zeros(centred.shape[1])
    expected = replicates.mean(axis=0) + slopes * (agreement - agreements.mean())
    left = centred - np.outer(shifts, slopes)
    return _Deviation(expected, observed - expected, left.T @ left / len(left))


def _check_lines(answered: Summary, drawn: Summary) -> tuple[tuple[Line, ...], Finding]:
    """Compare how often answers go against the tiers, line by line."""
    found = _deviation(answered.against, drawn.against, float(answered.agreement), drawn.agreement)
    errors = np.sqrt(np.diag(found.covariances))
    scores = np.divide(
        found.deviations, errors, out=np.zeros_like(found.deviations), where=errors > 1e-9
    )
    lines = tuple(
        Line(number, number + 1, *values, theta=float("nan"))
        for number, values in enumerate(
            zip(answered.against.tolist(), found.expected.tolist(), scores.tolist(), strict=True),
            start=1,
        )
    )
    chi_square, freedom = chi_square_score(found.deviations, found.covariances)
    # The covariances are estimated, which makes chance deviations look larger than they are.
    chi_square *= (_REPLICATES - freedom - 2) / (_REPLICATES - 1)
    score = standard_score(chi_square, freedom)
    worst = max(lines, key=lambda line: abs(line.score))
    statement = (
        f"across the line between tiers {worst.above} and {worst.below}, {worst.observed:.0%} of "
        f"answers go against the tiers, {worst.expected:.0%} expected."
    )
    return lines, Finding("lines", tail(score), score, statement)


def _check_spread(answered: Summary, drawn: Summary) -> tuple[float, Finding]:
    """Compare how various assessors are in how often they answer in tier order."""
    # Cube roots of sums of squares are nearly normal (Wilson and Hilferty).
    found = _deviation(
        np.cbrt(answered.spread)[None],
        np.cbrt(drawn.spread)[:, None],
        float(answered.agreement),
        drawn.agreement,
    )
    expected = float(drawn.spread.mean())
    ratio = float(answered.spread) / expected if expected > 0 else float("nan")
    error = float(found.covariances[0, 0]) ** 0.5
    score = float(found.deviations[0]) / error if error > 1e-9 else 0.0
    p_value = tail(score)
    statement = spread_of_answers(ratio, surprising=p_value < FALSE_ALARMS)
    return ratio, Finding("spread", p_value, score, statement)


def _check_direction(
    items: tuple[Item, ...], answered: Summary, drawn: Summary
) -> tuple[NDArray[np.float64], Finding]:
    """Look for a direction in which assessors differ more than the model expects."""
    expected = drawn.products.mean(axis=0)
    values, vectors = np.linalg.eigh(answered.products - expected)
    largest = np.linalg.eigvalsh(drawn.products - expected)[:, -1]
    error = float(largest.std(ddof=1))
    score = float(values[-1] - largest.mean()) / error if error > 1e-9 else 0.0
    p_value = tail(score)
    statement = "assessors do not differ more than expected in any direction."
    # Who wins more has a smaller rank, as other directions are in ranks.
    direction = -vectors[:, -1]
    if p_value < FALSE_ALARMS:
        statement = direction_statement(items, direction)
    return direction, Finding("direction", p_value, score, statement)


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
    wins = data.wins
    met = wins + wins.T
    model = fit.model()
    if isinstance(model, ClusteredLuce):
        expected, variance = _expected_wins(data, model, labels)
    else:
        expected = pair_probabilities(fit.sizes, fit.thetas[0])[np.ix_(labels, labels)]
        variance = met * expected * (1.0 - expected)
    tested = met * np.minimum(expected, 1.0 - expected) >= _LEAST_EXPECTED
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.where(met > 0, wins / met, np.nan)
        scores = np.where(tested, (wins - met * expected) / np.sqrt(variance), np.nan)
    n_items = len(labels)
    off = ~np.eye(n_items, dtype=bool)
    scores[~off] = np.nan
    lines, between = _between_tiers(wins, expected, variance, labels, fit)
    return Found(
        pairs=PairShares(
            numbers=met,
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
            *(_draws_between_tiers(data, model, labels) if data.drawn_as == "model" else ()),
        ),
    )


def _expected_wins(
    data: Battles, model: ClusteredLuce, labels: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Share of its meetings with each other that an item is expected to win, and their variance.

    The share is a mean over both orders of showing, and the variance that of the number of wins. A
    drawn battle counts half, as in ``data.wins``.
    """
    rows = np.ix_(labels, labels)
    won, _, drawn = (share[rows] for share in model.battle_probabilities())
    chance = won + drawn / 2
    spread = won + drawn / 4 - chance**2
    met = meetings_of_battles(data).met
    both = met + met.T
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (met * chance + met.T * (1.0 - chance.T)) / both
    # Items that never met would meet in either order.
    expected = np.where(both > 0, mean, (chance + 1.0 - chance.T) / 2)
    return expected, met * spread + (met * spread).T


def _draws_between_tiers(
    data: Battles, model: ClusteredMallows | ClusteredLuce, labels: NDArray[np.int64]
) -> tuple[Finding, ...]:
    """Judge whether tiers draw with each other as often as Davidson's model says (chi-square)."""
    if not isinstance(model, ClusteredLuce):
        return ()
    meetings = meetings_of_battles(data).of_tiers(labels, len(model.tiers))
    chance = model.battle_probabilities().drawn

    def both_ways(table: NDArray[np.float64]) -> NDArray[np.float64]:
        # Each pair of tiers once, including a tier with itself.
        return np.asarray((table + table.T - np.diag(np.diag(table)))[np.triu_indices(len(table))])

    surplus = both_ways(meetings.draws - meetings.met * chance)
    spread = both_ways(meetings.met * chance * (1.0 - chance))
    tested = spread >= _LEAST_EXPECTED
    return (
        _finding(
            "draws",
            float((surplus[tested] ** 2 / spread[tested]).sum()),
            max(int(tested.sum()) - 1, 0),  # the factor of draws was fitted
            fits="tiers draw with each other as often as their worths predict.",
            differs="tiers do not draw with each other as often as their worths predict.",
        ),
    )


def _within_tiers(
    wins: NDArray[np.float64],
    expected: NDArray[np.float64],
    variance: NDArray[np.float64],
    labels: NDArray[np.int64],
) -> Finding:
    """Judge whether items win as often as others of their tier (chi-square).

    What a tier wins in all says nothing about that, so surpluses are taken given their sums.
    """
    tested = variance.sum(axis=1) >= _LEAST_EXPECTED
    surplus = (wins - (wins + wins.T) * expected).sum(axis=1)
    covariances = np.diag(variance.sum(axis=1)) - variance
    member = np.eye(int(labels.max()) + 1)[labels]
    slopes = covariances @ member @ np.linalg.pinv(member.T @ covariances @ member, hermitian=True)
    surplus = surplus - slopes @ (member.T @ surplus)
    covariances = covariances - slopes @ member.T @ covariances
    return _finding(
        "items",
        *chi_square_score(surplus[tested], covariances[np.ix_(tested, tested)]),
        fits="items of a tier win equally often, apart from chance.",
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
    fit: Fit,
) -> tuple[tuple[Line, ...], Finding]:
    """Judge whether two tiers are as far apart as the rank gap or worths say (chi-square)."""
    member = np.eye(int(labels.max()) + 1)[labels]

    def by_tiers(table: NDArray[np.float64]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = member.T @ table @ member
        return sums

    met = by_tiers(wins + wins.T)
    surplus = by_tiers(wins - (wins + wins.T) * expected)
    spread = by_tiers(variance)
    upper = np.triu_indices(len(member[0]), k=1)
    tested = spread[upper] >= _LEAST_EXPECTED
    value = float((surplus[upper][tested] ** 2 / spread[upper][tested]).sum())
    if fit.family == "luce":
        return (), _finding(
            "tiers",
            value,
            int(tested.sum()) - _number_fitted(upper[0][tested], upper[1][tested]),
            fits="tiers win against each other as often as their worths predict.",
            differs="tiers do not win against each other as often as their worths predict.",
        )
    freedom = max(int(tested.sum()) - 1, 0)  # theta was fitted
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
        fits="tiers win against each other as often as the rank gap predicts.",
        differs="tiers do not win against each other as often as the rank gap predicts.",
    )


def _number_fitted(first: NDArray[np.int64], second: NDArray[np.int64]) -> int:
    """Return how many ratios of worths are fitted to the pairs of tiers that met."""
    if not len(first):
        return 0
    rows = np.arange(len(first))
    incidence = np.zeros((len(first), int(second.max()) + 1))
    incidence[rows, first], incidence[rows, second] = 1.0, -1.0
    return int(np.linalg.matrix_rank(incidence))
