"""Figures of tiers and how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from tierwise.errors import InputError
from tierwise.fitting.result import Fit
from tierwise.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from tierwise._util.types import Item
    from tierwise.tiers.ordered_partition import Tiers

_LINE_HEIGHT = 2.8  # in font sizes, for a name with a percentage below it
_GAP_BETWEEN_TIERS = 0.25
_LETTERS_OF_A_LINE = 62
_HEAD = 4.0  # room for the number of the tier, in letters


class Sampled(Protocol):
    """Tiers many times over: a bootstrap, or draws from a posterior."""

    @property
    def items(self) -> tuple[Item, ...]:
        """The items that rows stand for."""

    def tier_probabilities(self) -> ArrayLike:
        """Probability of each tier (column) for each item (row)."""

    def co_tier_probabilities(self) -> ArrayLike:
        """Probability that two items are of one tier."""


def tier_list(
    tiers: Tiers | Fit, sampled: Sampled | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw the tiers as a tier list, best on top, each item with how sure its tier is.

    Parameters
    ----------
    tiers
        The tiers, or a fit.
    sampled
        A bootstrap or a posterior of the same items, for the percentages; without, there are none.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> ax = plots.tier_list(tw.Tiers([["tuna"], ["egg", "squid"]]))
    >>> [text.get_text() for text in ax.texts]
    ['1', 'tuna', '2', 'egg', 'squid']
    """
    shown = tiers.tiers if isinstance(tiers, Fit) else tiers
    sure = None if sampled is None else _probability_of_own_tier(shown, sampled)
    lines_of_tier = [_broken_into_lines(tier) for tier in shown]
    n_lines = sum(len(lines) for lines in lines_of_tier)
    height = n_lines * _LINE_HEIGHT + _GAP_BETWEEN_TIERS * len(shown)
    ax = style.new_axes(ax, 7.0, style.inches_for(height) + 0.1)
    ax.set_axis_off()
    font_size = style.font_size_that_fits(ax, _LETTERS_OF_A_LINE, height)
    colours = style.tier_colours(len(shown))
    top = 0.0
    for number, lines in enumerate(lines_of_tier, start=1):
        bottom = top + len(lines) * _LINE_HEIGHT
        _draw_tier(ax, number, lines, (top, bottom), colours[number - 1], font_size, sure)
        top = bottom + _GAP_BETWEEN_TIERS
    ax.set_xlim(0, _LETTERS_OF_A_LINE)
    ax.set_ylim(top - _GAP_BETWEEN_TIERS, 0)
    return ax


def tier_probabilities(tiers: Tiers | Fit, sampled: Sampled, *, ax: Axes | None = None) -> Axes:
    """Draw how probable each tier (column) is for each item (row).

    Parameters
    ----------
    tiers
        The tiers, or a fit, that put the items in order.
    sampled
        A bootstrap or a posterior.
    ax
        Where to draw; a new figure where none is given.

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

    shown = tiers.tiers if isinstance(tiers, Fit) else tiers
    items = [item for tier in shown for item in tier]
    shares = np.asarray(sampled.tier_probabilities())[_positions(items, sampled)]
    n_tiers = shares.shape[1]
    ax = style.new_axes(ax, 3.4 + 0.45 * n_tiers, style.height_for(len(items)))
    style.draw_cells(
        ax, shares, colormaps["Blues"], label="probability", rows=style.short_names(items)
    )
    style.separate_tiers(ax, shown.sizes, columns=False)
    ax.set_xticks(range(n_tiers), [str(number) for number in range(1, n_tiers + 1)])
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel("tier")
    return ax


def co_tier_matrix(tiers: Tiers | Fit, sampled: Sampled, *, ax: Axes | None = None) -> Axes:
    """Draw how probable it is that two items are of one tier.

    Parameters
    ----------
    tiers
        The tiers, or a fit, that put the items in order.
    sampled
        A bootstrap or a posterior.
    ax
        Where to draw; a new figure where none is given.

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

    shown = tiers.tiers if isinstance(tiers, Fit) else tiers
    items = [item for tier in shown for item in tier]
    order = _positions(items, sampled)
    shares = np.array(sampled.co_tier_probabilities())[np.ix_(order, order)]
    shares[np.diag_indices(len(items))] = np.nan
    names = style.short_names(items)
    side = style.height_for(len(items)) + 1.2
    ax = style.new_axes(ax, side + 1.2, side)
    style.draw_square(
        ax, shares, colormaps["Blues"], label="in one tier", names=names, sizes=shown.sizes
    )
    return ax


def _positions(items: Sequence[Item], sampled: Sampled) -> list[int]:
    """Return where a bootstrap or posterior has each of the items."""
    known = sampled.items
    missing = [item for item in items if item not in known]
    if missing or len(known) != len(items):
        raise InputError(
            f"the tiers and the {type(sampled).__name__.lower()} are of different items: "
            "both must come from the same rankings"
        )
    return [known.index(item) for item in items]


def _probability_of_own_tier(tiers: Tiers, sampled: Sampled) -> dict[Item, float]:
    """Return how probable the tier is that each item is in."""
    items = [item for tier in tiers for item in tier]
    shares = np.asarray(sampled.tier_probabilities())[_positions(items, sampled)]
    return {item: float(row[tiers[item] - 1]) for item, row in zip(items, shares, strict=True)}


def _broken_into_lines(tier: tuple[Item, ...]) -> list[list[tuple[Item, float]]]:
    """Give each item a width, in letters, and break the tier into lines that are not too long."""
    lines: list[list[tuple[Item, float]]] = [[]]
    used = _HEAD
    for item in tier:
        width = max(len(style.short_name(item)), 4) + 2.0
        if lines[-1] and used + width > _LETTERS_OF_A_LINE:
            lines.append([])
            used = _HEAD
        lines[-1].append((item, width))
        used += width
    return lines


def _draw_tier(
    ax: Axes,
    number: int,
    lines: list[list[tuple[Item, float]]],
    extent: tuple[float, float],
    colour: str,
    font_size: float,
    sure: dict[Item, float] | None,
) -> None:
    """Draw one tier: its number, and its items line by line."""
    from matplotlib.patches import Rectangle

    top, bottom = extent
    ink = style.readable_on(colour)
    ax.add_patch(Rectangle((0, top), _HEAD - 0.4, bottom - top, facecolor=colour))
    ax.text(
        (_HEAD - 0.4) / 2,
        (top + bottom) / 2,
        str(number),
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
            text = style.short_name(item)
            if sure is not None:
                text += f"\n{sure[item]:.0%}"
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
