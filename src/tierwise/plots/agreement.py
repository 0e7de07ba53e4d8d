"""A figure of agreement along the tiers, for readers who have never heard of theta."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.wording import percent
from tierwise.fitting.neighbours import neighbour_agreement
from tierwise.plots import style
from tierwise.plots.tiers import shown_tiers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tierwise.fitting.neighbours import NeighbourAgreement
    from tierwise.fitting.result import Fit

# Where the scale begins, unless something is less probable than that.
_LEFT = 0.45
_LONGEST_LABEL = 30


def agreement_along_tiers(fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Draw how probable it is that somebody ranks an item of a tier above one of the next.

    A dot is what the fitted model says, and its line is the confidence interval, at the level of
    the fit; a diamond is how often the answers have it so. 50% is a coin toss. Grey rows are items
    that people are divided about, each compared with all items that the fit places below it.

    How probable it is depends on theta, and on how far tiers are apart: items of large tiers are
    further from those of the next one than items of small tiers.

    Parameters
    ----------
    fit
        A fit with at least two tiers: one theta, or one for each tier or place.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> goals = tw.load_political_goals()
    >>> fit = tw.fit(goals, (1, 1, 2), "inversions", concentration="tier")
    >>> ax = plots.agreement_along_tiers(fit)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['tier 1 above tier 2', 'tier 2 above tier 3']
    """
    return draw_agreement(neighbour_agreement(fit), fit, ax)


def height_of_rows(n_rows: int) -> float:
    """Return the inches that rows need, with the legend above them."""
    return style.height_for(n_rows) + 0.65


def draw_agreement(found: tuple[NeighbourAgreement, ...], fit: Fit, ax: Axes | None) -> Axes:
    """Draw what is known of neighbouring tiers already."""
    from matplotlib.ticker import PercentFormatter

    shown = shown_tiers(fit)
    ax = style.new_axes(ax, 6.4, height_of_rows(len(found)))
    lowest = min(_LEFT, *(min(one.interval[0], one.observed) - 0.03 for one in found))
    ax.axvline(0.5, color=style.MUTED, linestyle="--", linewidth=1.0, zorder=0)
    for row, one in enumerate(found):
        number = one.above.number
        colour = style.MUTED if number is None else shown.colours[number - 1]
        ax.plot(one.interval, [row, row], color=colour, linewidth=2.5, solid_capstyle="butt")
        ax.plot([one.probability], [row], "o", color=colour, markersize=7)
        ax.text(
            1.02,
            row,
            f"{one.probability:.0%}",
            transform=ax.get_yaxis_transform(),
            ha="left",
            va="center",
        )
    observed = [one.observed for one in found]
    ax.plot(
        observed,
        np.arange(len(found)),
        linestyle="none",
        marker="D",
        markersize=4.5,
        markerfacecolor="none",
        markeredgecolor=style.ORANGE,
        label="share in the data",
    )
    ax.plot([], [], "o-", color=style.MUTED, label=f"model, with {percent(fit.level)} interval")
    style.name_rows(ax, [style.short_name(one.name, _LONGEST_LABEL) for one in found])
    ax.set_xlim(lowest, 1.005)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xlabel("probability of this order\n(50% is a coin toss)")
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        reverse=True,
        frameon=False,
        fontsize="small",
        borderaxespad=0.2,
    )
    style.without_frame(ax, "bottom")
    return ax
