"""Figures of pairs of items: who is above whom, and who was compared with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.data.describe import describe
from tierwise.data.preferences import Preferences
from tierwise.plots import style
from tierwise.plots.data import item_colours, items_in_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tierwise._util.types import Item
    from tierwise.data.rankings import Rankings
    from tierwise.tiers.ordered_partition import Tiers


def pairwise_matrix(
    rankings: Rankings | Preferences, tiers: Tiers | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how often each item (row) is ranked above each other (column).

    Parameters
    ----------
    rankings
        The rankings, or pairwise answers.
    tiers
        Tiers to group the items by, with lines between them; without, items are in order of mean
        rank, or of how often they are preferred.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> ax = plots.pairwise_matrix(tw.load_political_goals())
    >>> ax.texts[0].get_text()  # prices above order, in percent
    '53'
    """
    from matplotlib import colormaps

    if isinstance(rankings, Preferences):
        items, verb = _preferred_first(rankings, tiers), "preferred to"
    else:
        items, verb = items_in_order(rankings, tiers), "ranked above"
    order = [rankings.items.index(item) for item in items]
    shares = describe(rankings).pairwise[np.ix_(order, order)]
    side = style.height_for(len(items)) + 1.2
    ax = style.new_axes(ax, side + 1.2, side)
    style.draw_square(
        ax,
        shares,
        colormaps["PuOr"],
        label=f"row is {verb} column",
        names=style.short_names(items),
        sizes=() if tiers is None else tiers.sizes,
    )
    return ax


def times_compared(
    preferences: Preferences, tiers: Tiers | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how often each two items were compared.

    Parameters
    ----------
    preferences
        Pairwise answers.
    tiers
        Tiers to group the items by, with lines between them; without, items are in order of how
        often they are preferred.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> rows = [("Ann", "a", "b"), ("Bob", "b", "a"), ("Bob", "b", "c")]
    >>> answers = tw.Preferences.from_pairs(rows)
    >>> ax = plots.times_compared(answers)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['b', 'a', 'c']
    """
    from matplotlib import colormaps

    items = _preferred_first(preferences, tiers)
    order = [preferences.items.index(item) for item in items]
    numbers = describe(preferences).compared[np.ix_(order, order)].astype(np.float64)
    np.fill_diagonal(numbers, np.nan)
    most = float(np.nanmax(numbers))
    side = style.height_for(len(items)) + 1.2
    ax = style.new_axes(ax, side + 1.2, side)
    style.draw_square(
        ax,
        numbers / most,
        colormaps["Blues"],
        label="answers",
        names=style.short_names(items),
        sizes=() if tiers is None else tiers.sizes,
        most=most,
    )
    return ax


def preferred_shares(
    preferences: Preferences, tiers: Tiers | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how often each item is preferred when it is compared.

    Parameters
    ----------
    preferences
        Pairwise answers.
    tiers
        Tiers to group and colour the items by.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> rows = [("Ann", "a", "b"), ("Bob", "b", "a"), ("Bob", "b", "c")]
    >>> answers = tw.Preferences.from_pairs(rows)
    >>> ax = plots.preferred_shares(answers)
    >>> [round(float(bar.get_width()), 2) for bar in ax.patches]
    [0.67, 0.5, 0.0]
    """
    from matplotlib.ticker import PercentFormatter

    items = _preferred_first(preferences, tiers)
    won = dict(zip(preferences.items, describe(preferences).shares_won, strict=True))
    shares = [won[item] for item in items]
    ax = style.new_axes(ax, 6.4, style.height_for(len(items)))
    ax.barh(range(len(items)), np.nan_to_num(shares), color=item_colours(items, tiers), height=0.6)
    ax.axvline(0.5, color=style.MUTED, linewidth=1.0)
    style.name_rows(ax, style.short_names(items))
    ax.set_xlim(0.0, 1.0)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xlabel("preferred when compared")
    style.without_frame(ax, "bottom")
    return ax


def _preferred_first(preferences: Preferences, tiers: Tiers | None) -> list[Item]:
    """Return the items tier by tier, within a tier those preferred most often first."""
    best_first = [preferences.items[item] for item in describe(preferences).best_first()]
    if tiers is None:
        return best_first
    tiers.label_array(preferences.items)  # says what is wrong if the items differ
    return sorted(best_first, key=lambda item: tiers[item])
