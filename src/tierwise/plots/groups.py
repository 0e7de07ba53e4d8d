"""The figure of a tree of people: how they are split, and the tiers of each part."""

from __future__ import annotations

import textwrap
from math import isinf
from typing import TYPE_CHECKING

from tierwise.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tierwise.groups.tree import GroupTree, Node

# Heights in font sizes, widths in letters.
_LINE = 1.4
_GAP_BETWEEN_LEAVES = 1.2
_GAP_BETWEEN_COLUMNS = 3.0
_LABEL = 24
_NAMES_OF_A_LINE = 46
_NUMBER = 3.0


def group_tree(tree: GroupTree, *, ax: Axes | None = None) -> Axes:
    r"""Draw a tree of people from left to right, and the tiers of those who are not split further.

    Parameters
    ----------
    tree
        The tree, from `tierwise.group_tree`.
    ax
        Where to draw; a new figure where none is given.

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
        id(leaf): _LINE * max(len(lines_of[id(leaf)]), _label(leaf).count("\n") + 1)
        for leaf in tree.leaves()
    }
    height = sum(heights.values()) + _GAP_BETWEEN_LEAVES * (len(heights) - 1)
    column = _LABEL + _GAP_BETWEEN_COLUMNS
    letters = (depth + 1) * column + _NUMBER + _NAMES_OF_A_LINE
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
            start = left + _LABEL
            ax.plot(
                [start, start + _GAP_BETWEEN_COLUMNS / 2, left + column - 0.5],
                [middle, end, end],
                color=style.MUTED,
                linewidth=1,
            )
        ax.text(left, middle, _label(node), fontsize=font_size, va="center", parse_math=False)
        if not middles:
            at = (depth + 1) * column
            ax.plot(
                [left + _LABEL, at - 0.5], [middle, middle], color=style.MUTED, linewidth=1, ls=":"
            )
            _draw_tiers(ax, lines_of[id(node)], at, middle, font_size)
        return middle

    draw(tree.root, 0)
    ax.set_xlim(0, letters)
    ax.set_ylim(height, 0)
    return ax


def _depth(node: Node) -> int:
    return max((1 + _depth(branch) for branch in node.branches), default=0)


def _label(node: Node) -> str:
    """Say who they are, and how many."""
    group = node.group
    who = textwrap.wrap(node.condition or group.name, _LABEL)
    theta = "infinite" if isinf(group.theta) else f"{group.theta:.3f}"
    about = f"{group.share:.1%}" + (f", theta {theta}" if len(group.tiers) > 1 else ", no tiers")
    return "\n".join([*who[:4], about])


def _tier_lines(leaf: Node) -> list[tuple[int, int, str]]:
    """Return the number of a tier (0 where the tier goes on), the tier, and names, line by line."""
    lines = []
    for number, tier in enumerate(leaf.group.tiers, start=1):
        names = ", ".join(style.short_names(tier))
        for part, text in enumerate(textwrap.wrap(names, _NAMES_OF_A_LINE)):
            lines.append((number if part == 0 else 0, number, text))
    return lines


def _draw_tiers(
    ax: Axes, lines: list[tuple[int, int, str]], left: float, middle: float, font_size: float
) -> None:
    """Write the tiers of a leaf, each with its number on its colour."""
    from matplotlib.patches import Rectangle

    colours = style.tier_colours(lines[-1][1])
    top = middle - _LINE * len(lines) / 2
    for number, tier, text in lines:
        colour = colours[tier - 1]
        ax.add_patch(Rectangle((left, top), _NUMBER - 0.7, _LINE, color=colour, linewidth=0))
        if number:
            ax.text(
                left + (_NUMBER - 0.7) / 2,
                top + _LINE / 2,
                str(number),
                fontsize=font_size,
                color=style.readable_on(colour),
                ha="center",
                va="center",
            )
        ax.text(
            left + _NUMBER, top + _LINE / 2, text, fontsize=font_size, va="center", parse_math=False
        )
        top += _LINE
