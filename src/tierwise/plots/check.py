"""Figures of a check: what the model expects beside what the rankings are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.errors import InputError
from tierwise.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tierwise.checking.result import FitCheck


def expected_pairs(check: FitCheck, *, ax: Axes | None = None) -> Axes:
    """Draw pairwise proportions against those that the model expects, a dot a pair.

    Dots on the diagonal are pairs that the model predicts. Each pair is drawn once, the item of
    the better tier (or the one that is more often ahead) first.

    Parameters
    ----------
    check
        A check of a fit.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> goals = tw.load_political_goals()
    >>> ax = plots.expected_pairs(tw.check_fit(goals, tw.fit(goals, (2, 2))))
    >>> len(ax.collections[0].get_offsets())
    6
    """
    from matplotlib.ticker import PercentFormatter

    pairs = check.differing_pairs(count=len(check.items) ** 2)
    expected = np.array([pair.expected for pair in pairs])
    observed = np.array([pair.observed for pair in pairs])
    turned = expected < 0.5 - 1e-9
    expected, observed = (np.where(turned, 1 - share, share) for share in (expected, observed))
    ax = style.new_axes(ax, 4.6, 4.4)
    lowest = min(0.45, float(observed.min(initial=1.0)) - 0.05)
    ax.plot([lowest, 1.0], [lowest, 1.0], color=style.MUTED, linewidth=1.0, zorder=1)
    ax.scatter(expected, observed, s=22, color=style.BLUE, alpha=0.9, linewidths=0, zorder=2)
    ax.set_xlim(lowest, 1.02)
    ax.set_ylim(lowest, 1.02)
    ax.set_aspect("equal")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xlabel("expected share, first above second")
    ax.set_ylabel("share of answers" if check.pairwise else "share of rankings")
    style.without_frame(ax, "bottom", "left")
    return ax


def expected_ranks(check: FitCheck, *, ax: Axes | None = None) -> Axes:
    """Draw by how much more, or less, often than expected each item has each rank.

    Parameters
    ----------
    check
        A check of a fit.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> goals = tw.load_political_goals()
    >>> ax = plots.expected_ranks(tw.check_fit(goals, tw.fit(goals, (2, 2))))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['order', 'prices', 'say', 'speech']
    """
    from matplotlib import colormaps
    from matplotlib.ticker import MaxNLocator

    tiers = check.fit.tiers
    items = [item for tier in tiers for item in tier]
    order = [check.items.index(item) for item in items]
    excess = (check.ranks_observed - check.ranks_expected)[order]
    if np.isnan(excess).all():
        raise InputError("the answers are incomplete and fill no place: there are no ranks to draw")
    # Places that not every answer fills are left out: they are the last ones.
    excess = excess[:, ~np.isnan(excess).any(axis=0)]
    reach = float(np.abs(excess).max())
    n_items, n_ranks = excess.shape
    ax = style.new_axes(ax, 3.4 + 0.3 * n_ranks, style.height_for(n_items))
    mesh = ax.pcolormesh(
        np.arange(n_ranks + 1) + 0.5,
        np.arange(n_items + 1) - 0.5,
        excess,
        cmap=colormaps["PuOr"],
        vmin=-reach,
        vmax=reach,
    )
    style.name_rows(ax, style.short_names(items))
    style.separate_tiers(ax, tiers.sizes, columns=False)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=2))
    ax.set_xlabel("rank (1 is best)")
    ticks = {-reach: f"{-100 * reach:.0f}", 0.0: "0", reach: f"{100 * reach:+.0f}"}
    style.add_colour_bar(ax, mesh, ticks, "observed - expected, percentage points")
    style.without_frame(ax)
    return ax


def theta_along_ranking(check: FitCheck, *, ax: Axes | None = None) -> Axes:
    """Draw theta at each line between tiers, beside the one theta of the fit.

    Parameters
    ----------
    check
        A check of a fit.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> goals = tw.load_political_goals()
    >>> ax = plots.theta_along_ranking(tw.check_fit(goals, tw.fit(goals, (1, 1, 2))))
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['1|2', '2|3']
    """
    if not check.lines:
        raise InputError("there are no lines between tiers whose crossings the answers tell")
    thetas = np.array([line.theta for line in check.lines])
    numbers = np.arange(len(thetas))
    ax = style.new_axes(ax, 6.4, 3.2)
    if check.fit.concentration == "single":
        theta = check.fit.thetas[0]
        ax.axhline(theta, color=style.ORANGE, linestyle="--", label="theta of the fit")
    ax.plot(numbers, np.where(np.isfinite(thetas), thetas, np.nan), "o-", color=style.BLUE)
    ax.set_xticks(numbers, [f"{line.above}|{line.below}" for line in check.lines])
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel("line between tiers")
    ax.set_ylabel("theta that its crossings suggest")
    ax.legend(frameon=False)
    style.without_frame(ax, "bottom", "left")
    return ax
