"""Rank intervals: one line per item of a leaderboard, in the colour of its tier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.wording import percent
from tierwise.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tierwise.posterior.leaderboard import Leaderboard


def rank_intervals(board: Leaderboard, *, ax: Axes | None = None) -> Axes:
    """Draw the interval of each item's rank, in the colour of its tier, best on top.

    Parameters
    ----------
    board
        A leaderboard.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> ax = plots.rank_intervals(tw.leaderboard(tw.load_political_goals(), rng=1))
    >>> ax.get_xlabel()
    'rank, 95% interval'
    """
    rows = board.rows
    ax = style.new_axes(ax, 7.0, style.height_for(len(rows)))
    colours = style.tier_colours(len(board.tiers))
    places = np.arange(len(rows))
    for place, row in enumerate(rows):
        colour = colours[row.tier - 1]
        ax.plot(
            [row.rank_low, row.rank_high],
            [place, place],
            color=colour,
            linewidth=4,
            solid_capstyle="round",
            zorder=2,
        )
        ax.plot([row.mean_rank], [place], "o", color="white", markeredgecolor=style.DARK, zorder=3)
    tiers = np.array([row.tier for row in rows])
    for place in np.flatnonzero(np.diff(tiers)).tolist():
        ax.axhline(place + 0.5, color=style.MUTED, linewidth=0.6, linestyle=":", zorder=1)
    ax.set_yticks(places, style.short_names(row.item for row in rows))
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(0.5, len(rows) + 0.5)
    ax.set_xlabel(f"rank, {percent(board.level)} interval")
    ax.set_ylabel("")
    style.without_frame(ax, "bottom", "left")
    return ax
