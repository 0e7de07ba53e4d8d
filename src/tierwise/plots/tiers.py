"""Figures of tiers and their certainty; items that people are divided about are separate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from tierwise._util.checks import check_choice
from tierwise._util.columns import display_width
from tierwise.errors import InputError, share_in_words
from tierwise.fitting.result import Fit
from tierwise.leaderboards.result import Leaderboard
from tierwise.model.ranks import rank_shares, shares_of_tiers, tiers_among
from tierwise.plots import style
from tierwise.posterior.result import Posterior
from tierwise.tiers import Tiers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from tierwise._util.types import Item

DIVIDED = "divided"
PEOPLE_ARE_DIVIDED = "people are divided about"
# Stands where other rows have their number: these items are placed high and low.
DIVIDED_SIGN = "\N{UP DOWN ARROW}"
_LINE_HEIGHT = 2.8  # in font sizes, for a name with a percentage below it
_HEADING = 1.8  # in font sizes, for the words above the row of divided items
_FOOT = 1.4  # in font sizes, for the words below the tiers
_GAP_BETWEEN_TIERS = 0.25
_LETTERS_OF_A_LINE = 62
_LONGEST_NAME = 48
_HEAD = 4.0  # room for the number of the tier, in letters


class Sampled(Protocol):
    """Tiers many times over: a bootstrap, or draws from a posterior."""

    @property
    def items(self) -> tuple[Item, ...]:
        """The items that rows stand for."""

    @property
    def labels(self) -> NDArray[np.int64]:
        """The tier of each item (column) each time (row)."""

    def co_tier_probabilities(self) -> ArrayLike:
        """Probability that two items are in one tier."""


@dataclass(frozen=True)
class ShownTiers:
    """The rows of a tier list; items that people are divided about are a separate last row.

    Attributes
    ----------
    tiers
        The rows, best first, as if they were tiers.
    names
        "1", "2", ..., and "divided".
    colours
        A colour for each row.
    parts
        Which tiers of the fit, counted from 0, each row consists of.
    """

    tiers: Tiers
    names: tuple[str, ...]
    colours: tuple[str, ...]
    parts: tuple[tuple[int, ...], ...]

    @property
    def rows_with_name(self) -> list[str]:
        """The names as they stand alone: "tier 1", "divided"."""
        return [name if name == DIVIDED else f"tier {name}" for name in self.names]

    @property
    def has_divided(self) -> bool:
        """Whether there are items that people are divided about."""
        return self.names[-1] == DIVIDED

    def gathered(self, by_tier: ArrayLike) -> NDArray[np.float64]:
        """Add up the columns of tiers that belong to the same row."""
        columns = np.asarray(by_tier, dtype=np.float64)
        # Draws from a posterior may have fewer or more tiers than the fit.
        n_tiers = sum(map(len, self.parts))
        columns = np.pad(columns, ((0, 0), (0, max(0, n_tiers - columns.shape[1]))))
        further = tuple((tier,) for tier in range(n_tiers, columns.shape[1]))
        parts = (*self.parts, *further)
        return np.column_stack([columns[:, list(part)].sum(axis=1) for part in parts])


def shown_tiers(tiers: Tiers | Fit | Leaderboard) -> ShownTiers:
    """Return tiers, or those of a fit or of a leaderboard, as they are shown.

    Examples
    --------
    >>> import tierwise as tw
    >>> shown_tiers(tw.Tiers([["tuna"], ["egg", "squid"]])).rows_with_name
    ['tier 1', 'tier 2']
    """
    if isinstance(tiers, Leaderboard):
        by_rank = {row.item: place for place, row in enumerate(tiers.rows)}
        tiers = Tiers([sorted(tier, key=by_rank.__getitem__) for tier in tiers.tiers])
    if not isinstance(tiers, Fit):
        n_tiers = len(tiers)
        names = tuple(str(number) for number in range(1, n_tiers + 1))
        parts = tuple((tier,) for tier in range(n_tiers))
        return ShownTiers(tiers, names, tuple(style.tier_colours(n_tiers)), parts)
    rows = tiers.tier_rows()
    n_agreed = sum(not row.divided for row in rows)
    return ShownTiers(
        tiers=Tiers([row.items for row in rows]),
        names=tuple(DIVIDED if row.divided else str(row.number) for row in rows),
        colours=(*style.tier_colours(n_agreed), *[style.MUTED] * (len(rows) - n_agreed)),
        parts=tuple(tuple(sorted({tiers.tiers[item] - 1 for item in row.items})) for row in rows),
    )


def tier_list(
    tiers: Tiers | Fit | Leaderboard,
    sampled: Sampled | None = None,
    *,
    signs: Literal["numbers", "letters"] = "numbers",
    ax: Axes | None = None,
) -> Axes:
    """Draw the tiers as a tier list, best on top, each item with the certainty of its tier.

    Items of a fit that people are divided about are in a separate row below the tiers. Items of a
    tier are sorted by rank, if that is known from the leaderboard or from ``sampled``.

    Parameters
    ----------
    tiers
        The tiers, a fit, or a leaderboard.
    sampled
        A bootstrap or a posterior of the same items, which gives the percentages.
    signs
        The labels of the tiers: "numbers" from 1, or the "letters" S, A, B, C, D and so on.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> ax = plots.tier_list(tw.Tiers([["tuna"], ["egg", "squid"]]))
    >>> [text.get_text() for text in ax.texts]
    ['1', 'tuna', '2', 'egg', 'squid']
    >>> ax = plots.tier_list(tw.Tiers([["tuna"], ["egg", "squid"]]), signs="letters")
    >>> [text.get_text() for text in ax.texts]
    ['S', 'tuna', 'A', 'egg', 'squid']
    """
    check_choice("signs", signs, ("numbers", "letters"))
    shown = shown_tiers(tiers)
    sure, rows = None, list(shown.tiers)
    if sampled is not None:
        sure = _probability_of_own_row(shown, sampled)
        ranks = rank_shares(sampled.labels) @ np.arange(1, len(sampled.items) + 1)
        mean_rank = dict(zip(sampled.items, ranks.tolist(), strict=True))
        rows = [tuple(sorted(row, key=mean_rank.__getitem__)) for row in rows]
    items = [item for row in rows for item in row]
    names = dict(zip(items, style.short_names(items, _LONGEST_NAME), strict=True))
    lines_of_row = [_broken_into_lines(row, names) for row in rows]
    n_lines = sum(len(lines) for lines in lines_of_row)
    heading = _HEADING if shown.has_divided else 0.0
    height = n_lines * _LINE_HEIGHT + _GAP_BETWEEN_TIERS * len(lines_of_row) + heading
    height += 0.0 if sampled is None else _FOOT
    ax = style.new_axes(ax, 7.0, style.inches_for(height) + 0.1)
    ax.set_axis_off()
    font_size = style.font_size_that_fits(ax, _LETTERS_OF_A_LINE, height)
    top = 0.0
    for name, lines, colour in zip(shown.names, lines_of_row, shown.colours, strict=True):
        if name == DIVIDED:
            middle = top + heading / 2
            ax.text(_HEAD, middle, PEOPLE_ARE_DIVIDED, va="center", fontsize=font_size)
            top += heading
        bottom = top + len(lines) * _LINE_HEIGHT
        number = name if signs == "numbers" else letter_of_tier(name)
        sign = DIVIDED_SIGN if name == DIVIDED else number
        _draw_tier(ax, sign, lines, (top, bottom), colour, font_size, sure, names)
        top = bottom + _GAP_BETWEEN_TIERS
    if sampled is not None:
        words = f"percentages: {of_how_many(sampled)}"
        ax.text(_HEAD, top, words, va="top", fontsize=0.8 * font_size, color=style.MUTED)
        top += _FOOT
    ax.set_xlim(0, _LETTERS_OF_A_LINE)
    ax.set_ylim(top - _GAP_BETWEEN_TIERS, 0)
    return ax


def tier_probabilities(tiers: Tiers | Fit, sampled: Sampled, *, ax: Axes | None = None) -> Axes:
    """Draw the probability of each tier (column) for each item (row).

    Parameters
    ----------
    tiers
        The tiers, or a fit, that define the order of the items.
    sampled
        A bootstrap or a posterior.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> goals = tw.load_political_goals()
    >>> fit = tw.fit(goals, (2, 2))
    >>> ax = plots.tier_probabilities(fit, tw.bootstrap(goals, fit, replicates=20, rng=1))
    >>> [text.get_text() for text in ax.texts[:2]]
    ['100', '0']
    """
    from matplotlib import colormaps

    shown = shown_tiers(tiers)
    items = [item for row in shown.tiers for item in row]
    shares = shares_of_rows(shown, sampled)
    n_tiers = shares.shape[1]
    ax = style.new_axes(ax, 3.4 + 0.45 * n_tiers, style.height_for(len(items)))
    style.draw_cells(
        ax, shares, colormaps["Blues"], label=of_how_many(sampled), rows=style.short_names(items)
    )
    style.separate_tiers(ax, shown.tiers.sizes, columns=False)
    ax.set_xticks(range(n_tiers), [DIVIDED_SIGN if one == DIVIDED else one for one in shown.names])
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel(f"tier ({DIVIDED_SIGN} {DIVIDED})" if shown.has_divided else "tier")
    return ax


def co_tier_matrix(tiers: Tiers | Fit, sampled: Sampled, *, ax: Axes | None = None) -> Axes:
    """Draw the probability that two items are tied or nearly tied.

    "Nearly" means that neither would be preferred by more than 55%. For a bootstrap, it is the
    share of replicates in which they are in one tier.

    Parameters
    ----------
    tiers
        The tiers, or a fit, that define the order of the items.
    sampled
        A bootstrap or a posterior.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> goals = tw.load_political_goals()
    >>> fit = tw.fit(goals, (2, 2))
    >>> ax = plots.co_tier_matrix(fit, tw.bootstrap(goals, fit, replicates=20, rng=1))
    >>> [text.get_text() for text in ax.texts[:4]]
    ['100', '0', '0', '100']
    """
    from matplotlib import colormaps

    shown = shown_tiers(tiers).tiers
    items = [item for row in shown for item in row]
    order = _positions(items, sampled)
    found, label = sameness_of(sampled)
    shares = np.array(found)[np.ix_(order, order)]
    shares[np.diag_indices(len(items))] = np.nan
    names = style.short_names(items)
    return style.draw_square(
        ax,
        shares,
        colormaps["Blues"],
        label=f"{label}, {of_how_many(sampled)}",
        names=names,
        sizes=shown.sizes,
    )


def sameness_of(sampled: Sampled) -> tuple[ArrayLike, str]:
    """Return how probable it is that two items are the same, and what that means."""
    if isinstance(sampled, Posterior):
        return sampled.tied_or_nearly_probabilities(), "tied or nearly tied"
    return sampled.co_tier_probabilities(), "in one tier"


def of_how_many(sampled: Sampled) -> str:
    """Say what shares are shares of: 100% is all of these."""
    what = "draws" if isinstance(sampled, Posterior) else "replicates"
    return f"share of {len(sampled.labels):,} {what}"


def _positions(items: Sequence[Item], sampled: Sampled) -> list[int]:
    """Return where a bootstrap or posterior has each of the items."""
    known = sampled.items
    missing = [item for item in items if item not in known]
    if missing or len(known) != len(items):
        raise InputError(
            f"the tiers and the {type(sampled).__name__.lower()} have different items: both "
            "must come from the same rankings"
        )
    return [known.index(item) for item in items]


def letter_of_tier(number: str) -> str:
    """Return the letter of a tier as tier lists have it: S is above A.

    Examples
    --------
    >>> [letter_of_tier(number) for number in ("1", "2", "3", "40")]
    ['S', 'A', 'B', '40']
    """
    letters = "SABCDEFGHIJKLMNOPQR"
    known = number.isdigit() and int(number) <= len(letters)
    return letters[int(number) - 1] if known else number


def shares_of_rows(shown: ShownTiers, sampled: Sampled) -> NDArray[np.float64]:
    """Return how probable each row (column) is for each item, items in the order of the rows.

    That is whether the rank of the item is among those of the row. Items that people are divided
    about have no rank, and all others are ranked among themselves.
    """
    items = [item for row in shown.tiers for item in row]
    labels = sampled.labels[:, _positions(items, sampled)]
    rows = shown.tiers.sizes
    if not shown.has_divided:
        return shares_of_tiers(labels, rows)
    n_ranked = sum(rows[:-1])
    shares = np.full((len(items), len(rows)), np.nan)
    ranked = np.arange(len(items)) < n_ranked
    shares[:n_ranked, :-1] = shares_of_tiers(tiers_among(labels, ranked), rows[:-1])
    return shares


def _probability_of_own_row(shown: ShownTiers, sampled: Sampled) -> dict[Item, float]:
    """Return how probable it is that the rank of each item is among those of its row."""
    items = [item for row in shown.tiers for item in row]
    shares = shares_of_rows(shown, sampled)
    return {
        item: float(row[shown.tiers[item] - 1])
        for item, row in zip(items, shares, strict=True)
        if not np.isnan(row[shown.tiers[item] - 1])
    }


def _broken_into_lines(
    tier: Sequence[Item], names: Mapping[Item, str]
) -> list[list[tuple[Item, float]]]:
    """Give each item a width, in letters, and break the tier into lines that are not too long."""
    lines: list[list[tuple[Item, float]]] = [[]]
    used = _HEAD
    for item in tier:
        width = max(display_width(names[item]), 4) + 2.0
        if lines[-1] and used + width > _LETTERS_OF_A_LINE:
            lines.append([])
            used = _HEAD
        lines[-1].append((item, width))
        used += width
    return lines


def _draw_tier(
    ax: Axes,
    sign: str,
    lines: list[list[tuple[Item, float]]],
    extent: tuple[float, float],
    colour: str,
    font_size: float,
    sure: dict[Item, float] | None,
    names: Mapping[Item, str],
) -> None:
    """Draw one tier: its number or sign, and its items line by line."""
    from matplotlib.patches import Rectangle

    top, bottom = extent
    ink = style.readable_on(colour)
    ax.add_patch(Rectangle((0, top), _HEAD - 0.4, bottom - top, facecolor=colour))
    ax.text(
        (_HEAD - 0.4) / 2,
        (top + bottom) / 2,
        sign,
        ha="center",
        va="center",
        fontsize=font_size * 1.2,
        fontweight="bold",
        color=ink,
    )
    for line, entries in enumerate(lines):
        middle = top + (line + 0.5) * _LINE_HEIGHT
        left = _HEAD
        for item, width in entries:
            ax.add_patch(
                Rectangle(
                    (left, middle - _LINE_HEIGHT / 2 + 0.06),
                    width - 0.3,
                    _LINE_HEIGHT - 0.12,
                    facecolor=colour,
                )
            )
            text = names[item]
            if sure is not None and item in sure:
                text += f"\n{share_in_words(sure[item])}"
            ax.text(
                left + (width - 0.3) / 2,
                middle,
                text,
                ha="center",
                va="center",
                fontsize=font_size,
                linespacing=1.05,
                color=ink,
                parse_math=False,
            )
            left += width
