"""What all figures share: colours for colour-blind readers, and labels that fit."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.columns import display_width, shortened_names
from tierwise.errors import share_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Colormap
    from matplotlib.typing import ColorType
    from numpy.typing import NDArray

    from tierwise._util.types import Item

# From the palette of Okabe and Ito; all three can be distinguished on white and on black.
BLUE = "#0072b2"
ORANGE = "#d55e00"
GREEN = "#009e73"
CATEGORIES = (BLUE, ORANGE, GREEN, "#cc79a7", "#e69f00", "#56b4e9")
MUTED = "#8a8a8a"
DARK = "#333333"

LONGEST_NAME = 22
# Width of a letter in units of the font size, on average and with room to spare.
_LETTER = 0.62
_LARGEST_FONT = 11.0
_POINTS_PER_INCH = 72
# Inches of a square of few cells: the label of the colours beside it needs them.
_LEAST_SQUARE = 1.8
# More cells than this in a row leave no room for numbers.
MOST_NUMBERED_CELLS = 14
# More cells than this make a vector drawing too large for a page: they become a picture.
MOST_DRAWN_CELLS = 1600


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or those of a new figure of this size."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def height_for(n_rows: int) -> float:
    """Return the inches that rows with a label each need."""
    return 1.2 + 0.27 * n_rows


def inches_for(font_sizes: float) -> float:
    """Return the height in inches of a number of lines."""
    return font_sizes * _LARGEST_FONT / _POINTS_PER_INCH


def inches_across(letters: float) -> float:
    """Return the width in inches of a number of letters."""
    return inches_for(letters * _LETTER)


def letters_across(ax: Axes) -> float:
    """Return how many letters of the usual size fit the width of axes, before any layout."""
    from matplotlib import rcParams

    figure = ax.get_figure(root=True)
    assert figure is not None
    points = ax.get_window_extent().width * _POINTS_PER_INCH / figure.dpi
    return float(points / (rcParams["font.size"] * _LETTER))


def font_size_that_fits(ax: Axes, letters: float, height: float) -> float:
    """Return the font size at which a number of letters and lines fit the axes."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # the layout gives the axes their size
    box = ax.get_window_extent()
    points = _POINTS_PER_INCH / figure.dpi
    across = box.width * points / (letters * _LETTER)
    down = box.height * points / height
    return float(min(across, down, _LARGEST_FONT))


def short_names(items: Iterable[Item], longest: int = LONGEST_NAME) -> list[str]:
    """Return the names of items, shortened to fit beside a figure but still distinct."""
    return shortened_names([" ".join(str(item).split()) for item in items], longest)


def short_name(item: Item, longest: int = LONGEST_NAME) -> str:
    """Return the name of an item, cut to a number of characters.

    Long ones lose their middle: names of one family often differ in their ends.
    """
    return short_names([item], longest)[0]


def several_names(items: Sequence[Item], longest: int) -> str:
    """Return as many names as fit a number of characters, and how many more there are.

    Examples
    --------
    >>> several_names(["tea", "milk", "coffee", "juice"], 23)
    'tea, milk and 2 more'
    """
    names = [" ".join(str(item).split()) for item in items]
    for n_named in range(len(names), 0, -1):
        rest = f" and {len(names) - n_named} more" if n_named < len(names) else ""
        text = ", ".join(names[:n_named]) + rest
        if display_width(text) <= longest:
            return text
    rest = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return short_name(names[0], longest - len(rest)) + rest


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Write names beside rows 0, 1, ..., the first on top."""
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def name_columns(ax: Axes, names: Sequence[str]) -> None:
    """Write names under columns 0, 1, ..., upright so that any number of them fits."""
    ax.set_xticks(range(len(names)), names, rotation=90, parse_math=False)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.tick_params(axis="x", length=0)


def without_frame(ax: Axes, *kept: str) -> None:
    """Leave out the lines around a figure but those named."""
    for side, line in ax.spines.items():
        line.set_visible(side in kept)


def tier_colours(n_tiers: int) -> list[str]:
    """Return a colour a tier, from dark (best) to light, neither end lost on white or black."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    shades = np.linspace(0.25, 0.85, n_tiers) if n_tiers > 1 else np.array([0.4])
    return [to_hex(colormaps["viridis"](float(shade))) for shade in shades]


def readable_on(colour: ColorType) -> str:
    """Return black or white, whichever reads better on a colour."""
    from matplotlib.colors import to_rgb

    # The contrast rule of the Web Content Accessibility Guidelines.
    channels = np.array(to_rgb(colour), dtype=np.float64)
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ (0.2126, 0.7152, 0.0722))
    return "black" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "white"


def draw_cells(
    ax: Axes,
    shares: NDArray[np.float64],
    colours: Colormap,
    *,
    label: str,
    rows: Sequence[str],
    most: float | None = None,
    letters_below: int = 1,
) -> None:
    """Draw shares between 0 and 1 as coloured cells, with percentages where there is room.

    Shares of a number, the most there is, are written as numbers. Upright names below the cells
    leave the colour bar less room.
    """
    n_rows, n_columns = shares.shape
    masked = np.ma.masked_invalid(shares)
    mesh = ax.pcolormesh(
        np.arange(n_columns + 1) - 0.5,
        np.arange(n_rows + 1) - 0.5,
        masked,
        cmap=colours,
        vmin=0.0,
        vmax=1.0,
        edgecolors="none",
        rasterized=shares.size > MOST_DRAWN_CELLS,
    )
    name_rows(ax, rows)
    ax.set_xlim(-0.5, n_columns - 0.5)
    if n_columns <= MOST_NUMBERED_CELLS:
        for row, column in zip(*np.nonzero(~np.ma.getmaskarray(masked)), strict=True):
            share = float(shares[row, column])
            ax.text(
                column,
                row,
                f"{most * share:.0f}" if most is not None else share_in_words(share).rstrip("%"),
                ha="center",
                va="center",
                fontsize=8,
                color=readable_on(colours(share)),
            )
    ends = ["0%", "50%", "100%"] if most is None else ["0", "", f"{most:,.0f}"]
    ticks = dict(zip((0.0, 0.5, 1.0), ends, strict=True))
    add_colour_bar(ax, mesh, ticks, label, letters_below)
    without_frame(ax)


def add_colour_bar(
    ax: Axes, mesh: QuadMesh, ticks: Mapping[float, str], label: str, letters_below: int = 1
) -> None:
    """Explain the colours beside the axes, with a label in as many lines as its length needs."""
    bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.8, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_ticks(list(ticks), labels=list(ticks.values()))
    figure = ax.get_figure(root=True)
    assert figure is not None
    points = ax.get_window_extent().height * _POINTS_PER_INCH / figure.dpi
    letters = points / (float(bar.ax.yaxis.label.get_fontsize()) * _LETTER) - letters_below + 1
    bar.set_label(textwrap.fill(label, max(int(letters), 1), break_long_words=False))


def draw_square(
    ax: Axes | None,
    shares: NDArray[np.float64],
    colours: Colormap,
    *,
    label: str,
    names: Sequence[str],
    sizes: Sequence[int],
    most: float | None = None,
) -> Axes:
    """Draw a matrix of items by items, with lines between tiers."""
    longest = max(map(len, names))
    side = max(_LEAST_SQUARE, height_for(len(names)) - 1.0) + inches_across(longest)
    ax = new_axes(ax, side + 1.7, side)
    draw_cells(ax, shares, colours, label=label, rows=names, most=most, letters_below=longest)
    name_columns(ax, names)
    separate_tiers(ax, sizes, columns=True)
    ax.set_aspect("equal")
    if len(names) > MOST_NUMBERED_CELLS:
        ax.tick_params(labelsize="small")
    return ax


def separate_tiers(ax: Axes, sizes: Sequence[int], *, columns: bool) -> None:
    """Draw lines between tiers whose items stand in rows, and perhaps in columns, in tier order."""
    for end in np.cumsum(sizes)[:-1]:
        ax.axhline(end - 0.5, color=DARK, linewidth=1.0)
        if columns:
            ax.axvline(end - 0.5, color=DARK, linewidth=1.0)
