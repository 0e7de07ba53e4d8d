"""Figures of groups of people: tiers, memberships, and trees."""

from __future__ import annotations

import textwrap
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from tierwise.errors import share_in_words
from tierwise.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tierwise.groups.tree import GroupTree, Node
    from tierwise.mixture.result import Group, Mixture

# Heights in font sizes, widths in letters: lists of tiers side by side.
_HEADING_LINE = 1.3
_HEADING = 3 * _HEADING_LINE + 0.7
_LINE = 1.7
_GAP_BETWEEN_TIERS = 0.3
_NUMBER = 4.0
_GAP_BETWEEN_GROUPS = 2.0
_LEAST_WIDTH = 20.0  # a theta with its error
# The same of the tree.
_TREE_LINE = 1.4
_GAP_BETWEEN_LEAVES = 1.2
_GAP_BETWEEN_COLUMNS = 3.0
_TREE_LABEL = 24
_NAMES_OF_A_LINE = 46
_TREE_NUMBER = 3.0

_BINS_OF_ALL = 20
_LEGEND_HANDLE = 4.0  # the patch of colour before a label, and the space around it


def group_tier_lists(mixture: Mixture, *, ax: Axes | None = None) -> Axes:
    """Draw the tiers of the groups side by side, best on top, with the share and theta of each.

    Parameters
    ----------
    mixture
        A mixture.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> found = tw.fit_mixture(tw.load_political_goals(), 2, (2, 2), "kendall", starts=5, rng=1)
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
    """Draw how certain it is that people belong to their most probable group.

    Bars far to the right are people who clearly belong to one group. The legend gives the mean
    certainty and the separation of the groups; 100% means no doubt.

    Parameters
    ----------
    mixture
        A mixture.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> found = tw.fit_mixture(tw.load_political_goals(), 2, (2, 2), "kendall", starts=5, rng=1)
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
        title=f"separation {mixture.separation:.0%}",
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
    return name, share, group.parameters(3)


def _plus_minus(error: float, digits: int) -> str:
    return "" if isnan(error) or error == 0 else f" ± {error:.{digits}f}"


def _draw_tiers(ax: Axes, group: Group, left: float, width: float, font_size: float) -> None:
    """Draw the tiers of a group below each other, one line per item."""
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
    return f"{name}, {share_in_words(float(np.average(sure, weights=weights)))} sure"


def group_tree(tree: GroupTree, *, ax: Axes | None = None) -> Axes:
    r"""Draw a tree of people from left to right, with the tiers of its leaves.

    Parameters
    ----------
    tree
        The tree, from `tierwise.group_tree`.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> answers = tw.Rankings.from_orderings([["a", "b", "c"]] * 20 + [["c", "b", "a"]] * 20)
    >>> answers = answers.with_people(pa.table({"sex": ["f"] * 20 + ["m"] * 20}))
    >>> ax = plots.group_tree(tw.group_tree(answers, by="sex"))
    >>> [text.get_text() for text in ax.texts[:4]]
    ['sex = f\n50.0%, theta infinite', '1', 'a', '2']
    """
    depth = _depth(tree.root)
    lines_of = {id(leaf): _tier_lines(leaf) for leaf in tree.leaves()}
    heights = {
        id(leaf): _TREE_LINE * max(len(lines_of[id(leaf)]), _label_of_node(leaf).count("\n") + 1)
        for leaf in tree.leaves()
    }
    height = sum(heights.values()) + _GAP_BETWEEN_LEAVES * (len(heights) - 1)
    column = _TREE_LABEL + _GAP_BETWEEN_COLUMNS
    letters = (depth + 1) * column + _TREE_NUMBER + _NAMES_OF_A_LINE
    ax = style.new_axes(ax, style.inches_across(letters) + 0.1, style.inches_for(height) + 0.1)
    ax.set_axis_off()
    font_size = style.font_size_that_fits(ax, letters, height)
    top = 0.0
    middle_of: dict[int, float] = {}
    for leaf in tree.leaves():
        middle_of[id(leaf)] = top + heights[id(leaf)] / 2
        top += heights[id(leaf)] + _GAP_BETWEEN_LEAVES

    def draw(node: Node, level: int) -> float:
        middles = [draw(branch, level + 1) for branch in node.branches]
        middle = sum(middles) / len(middles) if middles else middle_of[id(node)]
        left = level * column
        for end in middles:
            start = left + _TREE_LABEL
            ax.plot(
                [start, start + _GAP_BETWEEN_COLUMNS / 2, left + column - 0.5],
                [middle, end, end],
                color=style.MUTED,
                linewidth=1,
            )
        ax.text(
            left, middle, _label_of_node(node), fontsize=font_size, va="center", parse_math=False
        )
        if not middles:
            at = (depth + 1) * column
            ax.plot(
                [left + _TREE_LABEL, at - 0.5],
                [middle, middle],
                color=style.MUTED,
                linewidth=1,
                ls=":",
            )
            _draw_leaf(ax, lines_of[id(node)], at, middle, font_size)
        return middle

    draw(tree.root, 0)
    ax.set_xlim(0, letters)
    ax.set_ylim(height, 0)
    return ax


def _depth(node: Node) -> int:
    return max((1 + _depth(branch) for branch in node.branches), default=0)


def _label_of_node(node: Node) -> str:
    """Say who they are, and how many."""
    group = node.group
    who = textwrap.wrap(node.condition or group.name, _TREE_LABEL)
    numbers = group.parameters(3) if len(group.tiers) > 1 else "no tiers"
    about = textwrap.wrap(f"{group.share:.1%}, {numbers}", _TREE_LABEL)
    return "\n".join([*who[:4], *about])


def _tier_lines(leaf: Node) -> list[tuple[int, int, str]]:
    """Return the number of a tier (0 if the tier goes on), the tier, and names, line by line."""
    lines = []
    for number, tier in enumerate(leaf.group.tiers, start=1):
        names = ", ".join(style.short_names(tier))
        for part, text in enumerate(textwrap.wrap(names, _NAMES_OF_A_LINE)):
            lines.append((number if part == 0 else 0, number, text))
    return lines


def _draw_leaf(
    ax: Axes, lines: list[tuple[int, int, str]], left: float, middle: float, font_size: float
) -> None:
    """Write the tiers of a leaf, each with its number on its colour."""
    from matplotlib.patches import Rectangle

    colours = style.tier_colours(lines[-1][1])
    top = middle - _TREE_LINE * len(lines) / 2
    for number, tier, text in lines:
        colour = colours[tier - 1]
        ax.add_patch(
            Rectangle((left, top), _TREE_NUMBER - 0.7, _TREE_LINE, color=colour, linewidth=0)
        )
        if number:
            ax.text(
                left + (_TREE_NUMBER - 0.7) / 2,
                top + _TREE_LINE / 2,
                str(number),
                fontsize=font_size,
                color=style.readable_on(colour),
                ha="center",
                va="center",
            )
        ax.text(
            left + _TREE_NUMBER,
            top + _TREE_LINE / 2,
            text,
            fontsize=font_size,
            va="center",
            parse_math=False,
        )
        top += _TREE_LINE
