"""Methods along an axis of mean ranks or strengths, with a bar for each tier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from tierwise._util.checks import check_choice
from tierwise.errors import InputError, percent, use
from tierwise.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tierwise.comparing.result import Comparison

AxisOfMethods: TypeAlias = Literal["ranks", "strengths"]

# In inches: the axis, a row of names, what stands above the axis, and the bar of a tier.
_AXIS, _ROW, _HEAD, _BAR = 3.6, 0.2, 0.5, 0.13
_SMALLEST_FONT, _LARGEST_FONT = 7.0, 9.0
# Width of a letter in units of the font size, on average and with room to spare.
_LETTER = 0.62
_POINTS_PER_INCH = 72.0
_LONGEST_NAME = 32
# With up to so many methods the axis has all ranks.
_FEW = 12


def rank_diagram(
    compared: Comparison, along: AxisOfMethods = "ranks", *, ax: Axes | None = None
) -> Axes:
    """Draw methods along an axis, names on both sides, and a bar for each tier.

    It reads like a critical-difference diagram, but bars do not overlap: each method is in one
    tier. A pale line through the end of a method's line is the interval of its mean rank or
    strength. Save it as PDF, SVG or PNG: ``rank_diagram(compared).figure.savefig("methods.pdf")``.

    Parameters
    ----------
    compared
        The result of `compare`.
    along
        "ranks": mean ranks over data sets, with bootstrap intervals. "strengths": on the Elo scale,
        with posterior intervals, if tiers have worths.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import pandas as pd, tierwise as tw
    >>> from tierwise import plots
    >>> table = pd.DataFrame({"x": [9, 8, 9, 7, 9, 8], "y": [5, 6, 5, 4, 5, 6]})
    >>> ax = plots.rank_diagram(tw.compare(table, rng=1))
    >>> [text.get_text() for text in ax.texts if text.get_text() in "xy"]
    ['x', 'y']
    """
    check_choice("along", along, get_args(AxisOfMethods))
    values = _values(compared, along)
    n_methods = len(values)
    labels = np.array([row.tier for row in compared.board.rows]) - 1
    n_tiers = len(compared.tiers)
    bars = _lanes(values[:, 0], labels)
    n_lanes = max(bars) + 1
    # By place on the axis: the left half has its names on the left.
    order = np.argsort(values[:, 0] if along == "ranks" else -values[:, 0], kind="stable")
    n_left = (n_methods + 1) // 2
    font = min(_LARGEST_FONT, max(_SMALLEST_FONT, 11.0 - n_methods / 20.0))
    names = [style.short_name(method, _LONGEST_NAME) for method in compared.methods]
    beside = 0.3 + max(map(len, names)) * font * _LETTER / _POINTS_PER_INCH
    below = _BAR * (n_lanes + 1) + _ROW * (n_left + 0.5)
    ax = style.new_axes(ax, _AXIS + 2.0 * beside, _HEAD + below)
    low, high = _ends(values, along, n_methods)
    room = (high - low) * beside / _AXIS
    ax.set_xlim(low - room, high + room)
    ax.set_ylim(-below, _HEAD)
    if along == "strengths":
        ax.invert_xaxis()
        room = -room
        low, high = high, low
    away = 0.15 * room / beside
    ax.set_axis_off()
    _draw_axis(ax, low, high, along, compared.board.level)
    colours = style.tier_colours(n_tiers)
    for tier, lane in enumerate(bars):
        ends = values[labels == tier, 0]
        reach = 0.006 * abs(high - low)
        ax.plot(
            [ends.min() - reach, ends.max() + reach],
            [-_BAR * (lane + 0.7)] * 2,
            color=colours[tier],
            linewidth=4.5,
            solid_capstyle="butt",
            zorder=4,
            gid=f"tier {tier + 1}",
        )
    for place, method in enumerate(order.tolist()):
        left = place < n_left
        # Half a row lower on the right, so that intervals from both sides do not hide each other.
        row = place if left else n_methods - place - 0.5
        depth = -(_BAR * (n_lanes + 1) + _ROW * (row + 0.3))
        edge = low - away if left else high + away
        middle, first, last = values[method]
        colour = colours[labels[method]]
        ax.plot([middle, middle, edge], [0.0, depth, depth], color=colour, linewidth=0.9, zorder=2)
        ax.plot(
            [first, last],
            [depth, depth],
            color=colour,
            linewidth=4.0,
            alpha=0.3,
            solid_capstyle="butt",
            zorder=1,
        )
        ax.text(
            edge - away / 4.0 if left else edge + away / 4.0,
            depth,
            names[method],
            ha="right" if left else "left",
            va="center",
            fontsize=font,
            color=style.DARK,
            parse_math=False,
        )
    return ax


def _values(compared: Comparison, along: AxisOfMethods) -> NDArray[np.float64]:
    """Return where each method stands, and the ends of its interval."""
    if along == "ranks":
        return compared.mean_ranks
    rows = compared.board.rows
    if rows[0].strength is None:
        raise InputError(
            "the model that describes these data has no strengths", [use(along="ranks")]
        )
    return np.array([(row.strength, *(row.strength_interval or (0.0, 0.0))) for row in rows])


def _ends(values: NDArray[np.float64], along: AxisOfMethods, n_methods: int) -> tuple[float, float]:
    """Return the ends of the axis: all ranks where methods are few, else what is taken up."""
    low, high = float(values[:, 1].min()), float(values[:, 2].max())
    if along == "ranks" and n_methods <= _FEW:
        return 1.0, float(n_methods)
    if along == "ranks":
        return max(1.0, float(np.floor(low))), min(float(n_methods), float(np.ceil(high)))
    gap = 0.02 * max(high - low, 1.0)
    return low - gap, high + gap


def _lanes(places: NDArray[np.float64], labels: NDArray[np.int64]) -> list[int]:
    """Give each tier a lane for its bar, so that bars that would touch are below each other."""
    free: list[float] = []
    lanes = [0] * (int(labels.max()) + 1)
    spans = [
        (places[labels == tier].min(), places[labels == tier].max()) for tier in range(len(lanes))
    ]
    gap = 0.02 * max(float(np.ptp(places)), 1e-9)
    for tier in sorted(range(len(lanes)), key=lambda one: spans[one][0]):
        start, end = spans[tier]
        lane = next((lane for lane, until in enumerate(free) if until + gap < start), len(free))
        if lane == len(free):
            free.append(end)
        free[lane] = end
        lanes[tier] = lane
    return lanes


def _draw_axis(ax: Axes, low: float, high: float, along: AxisOfMethods, level: float) -> None:
    """Draw the axis above the names, with its ticks and what it says."""
    from matplotlib.ticker import MaxNLocator

    ax.plot([low, high], [0.0, 0.0], color=style.DARK, linewidth=1.0, zorder=3)
    locator = MaxNLocator(nbins=10, integer=along == "ranks", steps=[1, 2, 5, 10])
    for tick in np.asarray(locator.tick_values(min(low, high), max(low, high))).tolist():
        if min(low, high) - 1e-9 <= tick <= max(low, high) + 1e-9:
            ax.plot([tick, tick], [0.0, 0.06], color=style.DARK, linewidth=1.0)
            ax.text(tick, 0.1, f"{tick:g}", ha="center", va="bottom", fontsize=8)
    said = "mean rank" if along == "ranks" else "strength (Elo)"
    ax.text(
        (low + high) / 2,
        _HEAD,
        f"{said}, with {percent(level)} interval; one bar per tier",
        ha="center",
        va="top",
        fontsize=9,
    )
