"""Figures of groups of people: the tiers of each, and how surely people belong to one."""

from __future__ import annotations

from math import isinf, isnan
from typing import TYPE_CHECKING

import numpy as np

from tierwise.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tierwise.mixture.result import Group, Mixture

# Heights in font sizes, widths in letters.
_HEADING_LINE = 1.3
_HEADING = 3 * _HEADING_LINE + 0.7
_LINE = 1.7
_GAP_BETWEEN_TIERS = 0.3
_NUMBER = 4.0
_GAP_BETWEEN_GROUPS = 2.0
_LEAST_WIDTH = 20.0  # a theta with its error

_BINS_OF_ALL = 20
_LEGEND_HANDLE = 4.0  # the patch of colour before a label, and the space around it


def group_tier_lists(mixture: Mixture, *, ax: Axes | None = None) -> Axes:
    """Draw the tiers of the groups side by side, best on top, with share and theta of each.

    Parameters
    ----------
    mixture
        A mixture.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> found = tw.fit_mixture(tw.load_political_goals(), 2, sizes=(2, 2), starts=5, rng=1)
    >>> [text.get_text() for text in plots.group_tier_lists(found).texts[3:9]]
    ['1', 'order', 'prices', '2', 'say', 'speech']
    """
    names = style.short_names(mixture.groups[0].tiers.items)
    width = max(_LEAST_WIDTH, _NUMBER + max(map(len, names)) + 2.0)
    letters = len(mixture.groups) * (width + _GAP_BETWEEN_GROUPS) - _GAP_BETWEEN_GROUPS
    most_tiers = max(len(group.tiers) for group in mixture.groups)
    height = _HEADING + len(names) * _LINE + (most_tiers - 1) * _GAP_BETWEEN_TIERS
    ax = style.new_axes(ax, style.inches_across(letters) + 0.1, style.inches_for(height) + 0.1)
    ax.set_axis_off()
    font_size = style.font_size_that_fits(ax, letters, height)
    for position, (name, group) in enumerate(zip(mixture.names(), mixture.groups, strict=True)):
        left = position * (width + _GAP_BETWEEN_GROUPS)
        for line, text in enumerate(_heading(name, group), start=1):
            ax.text(left, line * _HEADING_LINE, text, fontsize=font_size)
        if group.kind == "tiers":
            _draw_tiers(ax, group, left, width, font_size)
    ax.set_xlim(0, letters)
    ax.set_ylim(height, 0)
    return ax


def memberships(mixture: Mixture, *, ax: Axes | None = None) -> Axes:
    """Draw how surely people belong to the group that they most probably belong to.

    Bars far to the right are people who clearly belong to one group. The legend says how sure it
    is on average, and how well the groups are told apart: 100% is without any doubt.

    Parameters
    ----------
    mixture
        A mixture.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> found = tw.fit_mixture(tw.load_political_goals(), 2, sizes=(2, 2), starts=5, rng=1)
    >>> ax = plots.memberships(found)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['group 1, 88% sure', 'group 2, 75% sure']
    """
    from matplotlib.ticker import PercentFormatter

    belongs = mixture.pattern_memberships.argmax(axis=1)
    sure = mixture.pattern_memberships.max(axis=1)
    weights = np.bincount(mixture.pattern_of, weights=mixture.weights, minlength=len(sure))
    n_groups = len(mixture.groups)
    # Whoever most probably belongs to a group does so with at least an equal share.
    least = min(_BINS_OF_ALL // n_groups, _BINS_OF_ALL - 1)
    edges = np.arange(least, _BINS_OF_ALL + 1) / _BINS_OF_ALL
    ax = style.new_axes(ax, 6.4, 3.6)
    below = np.zeros(len(edges) - 1)
    for number, (name, group) in enumerate(zip(mixture.names(), mixture.groups, strict=True)):
        own = belongs == number
        # Rounding must not carry anybody beyond the ends.
        counts, _ = np.histogram(
            sure[own].clip(edges[0], 1.0), bins=edges.tolist(), weights=weights[own]
        )
        ax.bar(
            edges[:-1],
            counts,
            bottom=below,
            width=np.diff(edges),
            align="edge",
            color=_colour(number, group),
            linewidth=0,
            label=_label(name, sure[own], weights[own]),
        )
        below += counts
    ax.set_xlim(edges[0], 1.0)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel("probability of the most probable group")
    ax.set_ylabel("people" if mixture.pairwise else "rankings")
    longest = max(len(label) for label in ax.get_legend_handles_labels()[1])
    ax.legend(
        title=f"told apart to {mixture.separation:.0%}",
        frameon=False,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=2 if style.letters_across(ax) >= 2 * (longest + _LEGEND_HANDLE) else 1,
        alignment="left",
    )
    style.without_frame(ax, "bottom", "left")
    return ax


def _colour(number: int, group: Group) -> str:
    """Return the colour of a group, counted from 0; those who follow no tiers are grey."""
    return (
        style.MUTED if group.kind == "uniform" else style.CATEGORIES[number % len(style.CATEGORIES)]
    )


def _heading(name: str, group: Group) -> tuple[str, str, str]:
    """Write what a group is called, how large it is, and how closely it keeps to its tiers."""
    share = f"{group.share:.1%}{_plus_minus(100 * group.share_error, 1)}"
    if len(group.tiers) == 1:
        return name, share, "no tiers"
    theta = "infinite" if isinf(group.theta) else f"{group.theta:.3f}"
    return name, share, f"theta {theta}{_plus_minus(group.theta_error, 3)}"


def _plus_minus(error: float, digits: int) -> str:
    return "" if isnan(error) or error == 0 else f" ± {error:.{digits}f}"


def _draw_tiers(ax: Axes, group: Group, left: float, width: float, font_size: float) -> None:
    """Draw the tiers of a group below each other, a line an item."""
    from matplotlib.patches import Rectangle

    top = _HEADING
    colours = style.tier_colours(len(group.tiers))
    for number, (tier, colour) in enumerate(zip(group.tiers, colours, strict=True), start=1):
        height = len(tier) * _LINE
        ink = style.readable_on(colour)
        ax.add_patch(Rectangle((left, top), width, height, facecolor=colour))
        ax.text(
            left + _NUMBER / 2,
            top + height / 2,
            str(number),
            ha="center",
            va="center",
            fontsize=font_size * 1.2,
            fontweight="bold",
            color=ink,
        )
        for line, item in enumerate(tier):
            ax.text(
                left + _NUMBER,
                top + (line + 0.5) * _LINE,
                style.short_name(item),
                va="center",
                fontsize=font_size,
                color=ink,
                parse_math=False,
            )
        top += height + _GAP_BETWEEN_TIERS


def _label(name: str, sure: NDArray[np.float64], weights: NDArray[np.float64]) -> str:
    """Say how surely, on average, those who most probably belong to a group do."""
    if not weights.sum():
        return f"{name}, nobody"
    return f"{name}, {np.average(sure, weights=weights):.0%} sure"
