"""The tables and tier lists of a report, for readers to sort and look up."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise.data.description_of_pairs import PairsDescription
from tierwise.errors import behind_in_words, share_in_words
from tierwise.errors import percent as written_percent
from tierwise.plots import style
from tierwise.plots.model import name_of_sizes
from tierwise.plots.search import candidates_to_show, name_of_candidate
from tierwise.plots.tiers import (
    DIVIDED,
    DIVIDED_SIGN,
    of_how_many,
    sameness_of,
    shares_of_rows,
    shown_tiers,
)
from tierwise.posterior.ties import NEARLY_IN_WORDS
from tierwise.tiers import log_number_of_tiers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tierwise._util.types import Item
    from tierwise.data.description import Description
    from tierwise.fitting.resampled import Bootstrap
    from tierwise.fitting.result import Fit
    from tierwise.posterior.result import Posterior
    from tierwise.reporting.analysis import Analysis
    from tierwise.searching.result import Candidate, Search
    from tierwise.tiers import Tiers

_MOST_PAIRS = 500
_LEADERBOARD_ROWS = 10


@dataclass(frozen=True)
class Cell:
    """The text of a cell, and its number to sort by, if it has one."""

    text: str
    value: float | None = None


UNKNOWN = Cell("-")


@dataclass(frozen=True)
class Table:
    """A table with a caption; numeric columns are aligned right."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def is_numeric(self, column: int) -> bool:
        """Return whether a column holds numbers."""
        return any(row[column].value is not None for row in self.rows)


def items_table(analysis: Analysis) -> Table:
    """Return the table of items, best tier first."""
    shown = shown_tiers(analysis.fit)
    shares = probabilities_by_item(analysis)
    about = _about_items(analysis.description)
    several = len(shown.names) > 1
    columns = ["item", "tier", *(("sure", "other tiers") if several else ()), *about]
    rows = []
    for item in (item for row in shown.tiers for item in row):
        row, position = shown.tiers[item], analysis.description.items.index(item)
        own = percent(shares[item][row - 1])
        others = Cell(_other_tiers(shares[item], row, shown.names))
        rows.append(
            (
                Cell(str(item)),
                Cell(shown.names[row - 1], row),
                *((own, others) if several else ()),
                *(cells[position] for cells in about.values()),
            )
        )
    last = "; items that people are divided about come last" if shown.has_divided else ""
    sure = f"; sure: {of_how_many(analysis.sampled)}" if several else ""
    return Table(f"Items, best tier first{last}{sure}", tuple(columns), tuple(rows))


def agreement_table(analysis: Analysis) -> Table:
    """Return the probability of the order of neighbouring tiers."""
    level = written_percent(analysis.fit.level)
    rows = tuple(
        (
            Cell(one.name),
            percent(one.probability),
            Cell(" to ".join(f"{end:.0%}" for end in one.interval), round(one.interval[0], 6)),
            percent(one.observed),
        )
        for one in analysis.neighbours
    )
    return Table(
        "Probability that a person ranks an item of the first tier above one of the second",
        ("order", "probability", f"{level} interval", "in the data"),
        rows,
    )


def _about_items(description: Description | PairsDescription) -> dict[str, list[Cell]]:
    """Return what the data say of each item, by the name of the column."""
    if isinstance(description, PairsDescription):
        return {
            "preferred": [percent(share) for share in description.shares_won],
            "answers": [_whole(number) for number in description.compared.sum(axis=0).tolist()],
            "assessors": [_whole(number) for number in description.n_comparing],
        }
    columns = {"mean rank": [decimal(rank) for rank in description.mean_ranks]}
    if description.unranked is not None:
        columns["listed by"] = [_whole(number) for number in description.n_listing]
    return columns


def _whole(number: float) -> Cell:
    return Cell(f"{number:,}", float(number))


def pairs_table(analysis: Analysis) -> Table:
    """Return the pairs of items, sorted by how far they are from what the model expects."""
    check, sampled = analysis.check, analysis.sampled
    order = [sampled.items.index(item) for item in check.items]
    found, label = sameness_of(sampled)
    tied = np.asarray(found)[np.ix_(order, order)]
    rows = []
    n_items = len(check.items)
    position = {item: number for number, item in enumerate(check.items)}
    for pair in check.differing_pairs(_MOST_PAIRS):
        row = [
            Cell(str(pair.above)),
            Cell(str(pair.below)),
            percent(pair.observed),
            percent(pair.expected),
            _points(pair.observed - pair.expected),
            decimal(pair.score, digits=1),
            percent(tied[position[pair.above], position[pair.below]]),
        ]
        rows.append(tuple(row))
    n_pairs = n_items * (n_items - 1) // 2
    which = "All pairs" if len(rows) == n_pairs else f"{len(rows)} of {n_pairs} pairs"
    verb = "preferred to" if check.pairwise else "ranked above"
    return Table(
        f"{which}: how often the first is {verb} the second, and how often the model expects it; "
        f"the largest differences first. The last column: {sameness_in_words(sampled)}",
        (
            "item",
            "other item",
            "preferred" if check.pairwise else "above",
            "expected",
            "difference",
            "standard errors",
            label,
        ),
        tuple(rows),
    )


def sameness_in_words(sampled: Bootstrap | Posterior) -> str:
    """Say what "the same" means for two items here."""
    _, label = sameness_of(sampled)
    return NEARLY_IN_WORDS if NEARLY_IN_WORDS.startswith(label) else label


def sizes_table(analysis: Analysis) -> Table:
    """Return the sizes that were compared, or the given tiers with their references."""
    columns = ("sizes", "tiers", "criterion", "behind", "agreement", "theta")
    if analysis.fit.family == "luce":
        return _sizes_table_of_worths(analysis)
    if analysis.search is not None:
        found = analysis.search
        rows = [
            (
                Cell(name_of_candidate(found, one)),
                Cell(str(len(one.sizes)), len(one.sizes)),
                decimal(one.criterion),
                _difference(found, one),
                percent(one.agreement),
                _thetas(found.best) if isnan(one.theta) else decimal(one.theta, digits=4),
            )
            for one in candidates_to_show(found, _LEADERBOARD_ROWS)
        ]
        caption = f"The best of {found.evaluated:,} size vectors that were compared"
        return Table(caption, columns, tuple(rows))
    columns = ("sizes", "tiers", "criterion", "below the best", "agreement", "theta")
    fit = analysis.fit
    best = max([fit.criterion, *(other.criterion for other in fit.references)])
    rows = [
        (
            Cell(f"{name_of_sizes(fit.sizes)}, as given"),
            Cell(str(len(fit.sizes)), len(fit.sizes)),
            decimal(fit.criterion),
            decimal(best - fit.criterion),
            percent(fit.agreement),
            _thetas(fit),
        )
    ]
    rows += [
        (
            Cell(other.name),
            Cell(str(len(other.tiers)), len(other.tiers)),
            decimal(other.criterion),
            decimal(best - other.criterion),
            UNKNOWN,
            decimal(other.theta, digits=4),
        )
        for other in fit.references
    ]
    return Table(
        "The given sizes compared with a strict order and with no tiers", columns, tuple(rows)
    )


def _sizes_table_of_worths(analysis: Analysis) -> Table:
    """Return the same for one worth per tier: compared by log posterior probability."""
    columns = ("sizes", "tiers", "log-likelihood", "behind")
    fit, found = analysis.fit, analysis.search
    rows = [
        (
            Cell(name_of_sizes(fit.sizes) + (", as given" if found is None else "")),
            Cell(str(len(fit.sizes)), len(fit.sizes)),
            decimal(fit.log_likelihood),
            behind(0.0 if found is not None else _behind_the_best(fit, fit.log_posterior)),
        )
    ]
    if found is not None:
        rows += [
            (
                Cell(name_of_candidate(found, one)),
                Cell(str(len(one.sizes)), len(one.sizes)),
                decimal(one.criterion + log_number_of_tiers(one.sizes)),
                behind(found.behind(one)),
            )
            for one in candidates_to_show(found, _LEADERBOARD_ROWS)
            if one.tiers != fit.tiers
        ]
        caption = f"The best of {found.evaluated:,} size vectors that were visited"
        return Table(caption, columns, tuple(rows))
    rows += [
        (
            Cell(other.name),
            Cell(str(len(other.tiers)), len(other.tiers)),
            decimal(other.log_likelihood),
            behind(_behind_the_best(fit, other.log_posterior)),
        )
        for other in fit.references
    ]
    return Table(
        "The given sizes compared with a strict order and with no tiers", columns, tuple(rows)
    )


def _difference(found: Search, one: Candidate) -> Cell:
    """Return how far sizes are behind, or how much less what they are compared by is."""
    value = found.behind(one)
    return behind(value) if found.criterion == "posterior" else decimal(value)


def behind(value: float) -> Cell:
    """Return a cell with how far something is behind, and the odds."""
    return Cell("best" if value == 0.0 else behind_in_words(value), round(value, 6))


def _behind_the_best(fit: Fit, value: float) -> float:
    """Return how far a log posterior probability is behind the best of a fit and its references."""
    return max([fit.log_posterior, *(one.log_posterior for one in fit.references)]) - value


def strengths_table(analysis: Analysis) -> Table | None:
    """Return the strength of each tier; None if tiers have no worths."""
    fit = analysis.fit
    if fit.family != "luce" or len(fit.tiers) == 1:
        return None
    level = written_percent(fit.level)
    beats = [percent(share) for share in fit.next_tier_probabilities]
    rows = tuple(
        (
            Cell(f"tier {number}", number),
            Cell(f"{estimate.strength:+.0f}", round(estimate.strength, 6)),
            Cell("{:+.0f} to {:+.0f}".format(*estimate.strength_interval)),
            decimal(estimate.value, digits=3),
            share,
        )
        for number, (estimate, share) in enumerate(
            zip(fit.worth_estimates, [*beats, UNKNOWN], strict=True), start=1
        )
    )
    columns = ("tier", "strength (Elo)", f"{level} interval", "worth", "ranked before the next")
    return Table("How far apart the tiers are", columns, rows)


def _thetas(fit: Fit) -> Cell:
    """Theta as a number, or all of them as text."""
    single = fit.concentration == "single"
    return decimal(fit.thetas[0], digits=4) if single else Cell(fit.theta_text())


def strict_table(analysis: Analysis) -> Table | None:
    """Return the strict consensus beside the tiers; None if it is unknown or the same."""
    strict = [one for one in analysis.fit.references if one.name == "strict consensus"]
    if not strict:
        return None
    shown = shown_tiers(analysis.fit)
    rows = tuple(
        (
            Cell(str(place), place),
            Cell(str(item)),
            Cell(shown.names[shown.tiers[item] - 1], shown.tiers[item]),
        )
        for place, (item,) in enumerate(strict[0].tiers, start=1)
    )
    return Table(
        "The strict consensus, with the tier of each item", ("place", "item", "tier"), rows
    )


def findings_table(analysis: Analysis) -> Table:
    """Return what the check of the fit looked at, and what it found."""
    rows = tuple(
        (
            Cell(finding.name),
            Cell(finding.statement[0].upper() + finding.statement[1:]),
            Cell(_p_value(finding.p_value), finding.p_value),
        )
        for finding in analysis.check.findings
    )
    return Table("Checks", ("check", "finding", "p"), rows)


def probabilities_by_item(analysis: Analysis) -> dict[object, list[float]]:
    """Return how probable it is that the rank of each item is among those of each row.

    With a single row that would be certain, whatever the data say: NaN stands for it.
    """
    shown = shown_tiers(analysis.fit)
    items = [item for row in shown.tiers for item in row]
    if len(shown.names) == 1:
        return {item: [nan] for item in items}
    return dict(zip(items, shares_of_rows(shown, analysis.sampled).tolist(), strict=True))


def _known(share: float) -> float | None:
    """Return a share, or None if there is none."""
    return None if isnan(share) else share


def percent(share: float) -> Cell:
    """Return a cell with a percentage, which is never rounded to certainty."""
    return UNKNOWN if isnan(share) else Cell(share_in_words(share), round(share, 6))


def decimal(number: float, digits: int = 2) -> Cell:
    """Return a cell with a number, rounded to a number of decimals."""
    return UNKNOWN if isnan(number) else Cell(f"{number:,.{digits}f}", round(number, 6))


def _other_tiers(shares: list[float], own: int, names: Sequence[str]) -> str:
    others = [
        f"{name} ({share_in_words(share)})"
        for row, (name, share) in enumerate(zip(names, shares, strict=True), start=1)
        if row != own and share > 0
    ]
    return ", ".join(others)


def _points(difference: float) -> Cell:
    return Cell(f"{100 * difference:+.1f}", round(100 * difference, 4))


def _p_value(p_value: float) -> str:
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


@dataclass(frozen=True)
class ShownItem:
    """An item, and how sure its tier is, if that is known."""

    name: str
    sure: float | None


@dataclass(frozen=True)
class ShownTier:
    """A row of a tier list with its colour, and the colour of text on it."""

    sign: str
    divided: bool
    colour: str
    ink: str
    members: tuple[ShownItem, ...]


def tier_list(
    tiers: Tiers | Fit, probabilities: Mapping[Item, Sequence[float]] | None = None
) -> list[ShownTier]:
    """Return tiers to show, with how probable its row is for each item if that is known."""
    shown = shown_tiers(tiers)
    rows = zip(shown.names, shown.tiers, shown.colours, strict=True)
    return [
        ShownTier(
            DIVIDED_SIGN if name == DIVIDED else name,
            name == DIVIDED,
            colour,
            style.readable_on(colour),
            tuple(
                ShownItem(
                    str(item), None if probabilities is None else _known(probabilities[item][row])
                )
                for item in items
            ),
        )
        for row, (name, items, colour) in enumerate(rows)
    ]
