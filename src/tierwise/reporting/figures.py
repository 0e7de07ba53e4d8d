"""The figures of a report as SVG, with descriptions for readers who cannot see them.

They use the colours of the page.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import singledispatch
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tierwise import plots
from tierwise._util.tasks import track
from tierwise.checking.result import sides
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import listed, percent, share_in_words
from tierwise.fitting.summary import names_of_tiers, tiers_in_words
from tierwise.plots.data import height_of_bars
from tierwise.plots.model import draw_agreement, height_of_rows
from tierwise.plots.style import MOST_NUMBERED_CELLS, height_for, short_name
from tierwise.plots.tiers import of_how_many
from tierwise.reporting.tables import sameness_in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markupsafe import Markup
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tierwise._util.tasks import Progress
    from tierwise._util.types import Item
    from tierwise.fitting.result import Fit
    from tierwise.groups.tree import GroupTree
    from tierwise.reporting.analysis import Analysis

# Stands for the colour of the page's text, which depends on the reader's settings.
_INK = "#123457"
_PIXELS_PER_INCH = 96
FONT_SIZE = 9.0
_INKED = (
    "text.color",
    "axes.labelcolor",
    "axes.edgecolor",
    "xtick.color",
    "ytick.color",
    "boxplot.boxprops.color",
    "boxplot.whiskerprops.color",
    "boxplot.capprops.color",
)
# Narrow enough for a phone to show them without making the text too small.
_WIDTH = 4.6
# Cells of a matrix with room for a number, and with room for a name beside them only.
_WIDE_CELL, _NARROW_CELL = 0.26, 0.14
_LETTER = 0.07


@dataclass(frozen=True)
class Picture:
    """A figure as SVG, and its caption."""

    svg: Markup
    caption: str


def matrix_size(items: Sequence[Item]) -> tuple[float, float]:
    """Return the size in inches at which the names of an item-by-item matrix do not overlap."""
    n_items = len(items)
    cell = _WIDE_CELL if n_items <= MOST_NUMBERED_CELLS else _NARROW_CELL
    names = _LETTER * max(len(short_name(item)) for item in items)
    side = max(1.6, cell * n_items) + names + 0.2
    return side + 0.7, side


def draw_figures(analysis: Analysis, progress: Progress = "off") -> dict[str, Picture]:
    """Draw all figures for which there are data, by name."""
    plans = plan_figures(analysis)
    steps = track(plans.items(), "figures", len(plans), progress)
    return {name: plan() for name, plan in steps}


class _Draw(Protocol):
    """Plans a figure of some size, with its name, caption and description."""

    def __call__(
        self,
        name: str,
        function: Callable[[Axes], object],
        caption: str,
        *,
        size: tuple[float, float],
        description: str,
    ) -> None: ...


@singledispatch
def _draw_answers(data: Rankings | Preferences, _fit: Fit, _draw: _Draw) -> None:
    """Plan the figures of what people said, which depend on how they were asked."""
    raise TypeError(f"no figures are drawn of {data.unit}")


@_draw_answers.register(Preferences)
def _draw_preferences(data: Preferences, fit: Fit, draw: _Draw) -> None:
    draw(
        "preferred",
        lambda ax: plots.preferred_shares(data, fit, ax=ax),
        "How often each item is preferred when it is compared; colours are the tiers.",
        size=(_WIDTH, height_for(len(fit.tiers.items))),
        description="Bars of the share of comparisons that each item wins; the table of items "
        "has the same numbers.",
    )
    draw(
        "compared",
        lambda ax: plots.times_compared(data, fit, ax=ax),
        "How often each pair of items was compared. Lines separate the tiers.",
        size=matrix_size(fit.tiers.items),
        description="Matrix of the number of answers about each pair of items.",
    )


@_draw_answers.register(Rankings)
def _draw_rankings(data: Rankings, fit: Fit, draw: _Draw) -> None:
    draw(
        "ranks",
        lambda ax: plots.rank_boxes(data, fit, ax=ax),
        "The ranks of each item. A box holds the middle half and is cut at the median, its "
        "whiskers hold 90%, the dot is the mean; colours are the tiers.",
        size=(_WIDTH, height_for(len(fit.tiers.items))),
        description=f"Box plots of ranks by item, tier by tier: {tiers_in_words(fit)}.",
    )
    n_rows = len(fit.tier_rows())
    draw(
        "tier-ranks",
        lambda ax: plots.tier_rank_boxes(data, fit, ax=ax),
        "The same for tiers: all items of a tier together.",
        size=(_WIDTH, height_for(n_rows)),
        description=f"Box plots of ranks for the {n_rows} rows of the tier list; ranks rise "
        "from tier to tier.",
    )


def plan_figures(analysis: Analysis) -> dict[str, Callable[[], Picture]]:
    """Return what draws each of the figures for which there are data, by name."""
    fit, data, check = analysis.fit, analysis.data, analysis.check
    items = fit.tiers.items
    n_items, n_tiers = len(items), len(fit.tier_rows())
    by_item = height_for(n_items)
    above = data.above_in_words
    following = ", including what follows from other answers" if data.includes_what_follows else ""
    planned: dict[str, Callable[[], Picture]] = {}

    def draw(
        name: str,
        function: Callable[[Axes], object],
        caption: str,
        *,
        size: tuple[float, float],
        description: str,
    ) -> None:
        def plan() -> Picture:
            svg = figure_as_svg(
                function, name=name, width=size[0], height=size[1], description=description
            )
            return Picture(svg, caption)

        planned[name] = plan

    _draw_answers(data, fit, draw)
    draw(
        "pairs",
        lambda ax: plots.pairwise_matrix(data, fit, ax=ax),
        f"How often the item of the row is {above} that of the column, in percent{following}. "
        "Lines separate the tiers.",
        size=matrix_size(items),
        description="Matrix of pairwise shares; the table of pairs below has "
        + ("those of the answers alone." if following else "the same numbers."),
    )
    if analysis.search is not None:
        found = analysis.search
        draw(
            "leaderboard",
            lambda ax: plots.leaderboard(found, ax=ax),
            "How far other sizes are behind the best. Orange: strict order and no tiers.",
            size=(_WIDTH, height_for(12)),
            description="Bars of how far the criterion is behind that of the best sizes, "
            f"{fit.sizes}; "
            "the table has the same numbers.",
        )
        if found.start.steps:
            draw(
                "merging",
                lambda ax: plots.merging_steps(found, ax=ax),
                "Where the search starts: items are merged while opinion between them is "
                f"nearly even (within {found.start.tolerance:.1%} of a half). Percentages "
                "are majorities.",
                size=(_WIDTH, by_item),
                description=f"Tree of {len(found.start.steps)} merges; it ends with groups of "
                f"sizes {found.start.sizes}.",
            )
    if analysis.shows_agreement:
        neighbours = analysis.neighbours
        draw(
            "agreement",
            lambda ax: draw_agreement(neighbours, fit, ax),
            "The probability that a person ranks an item of a tier above one of the next. Dot "
            f"and line: the model, with {percent(fit.level)} interval; diamond: the share in "
            "the data."
            + (
                " Grey: items that people are divided about, against all items that the model "
                "places below them."
                if fit.divided
                else ""
            ),
            size=(_WIDTH, height_of_rows(len(neighbours))),
            description="Probability of the order of neighbouring tiers: "
            + "; ".join(f"{one.name} {share_in_words(one.probability)}" for one in neighbours)
            + "; the table has the same numbers.",
        )
    if fit.divided:
        rankings = check_data(data, "a figure of ranks", Rankings)
        draw(
            "divided",
            lambda ax: plots.rank_shares(rankings, fit.divided, ax=ax),
            f"People are divided: the percentage of people who give {listed(fit.divided)} each "
            "rank.",
            size=(_WIDTH, height_of_bars(len(fit.divided))),
            description=f"Bars of how many rankings give each rank to {listed(fit.divided)}.",
        )
    sampled = analysis.sampled
    if n_tiers > 1:
        draw(
            "tier-probabilities",
            lambda ax: plots.tier_probabilities(fit, sampled, ax=ax),
            f"Probability of each tier for each item, in percent: {of_how_many(sampled)}.",
            size=(min(5.2, 2.8 + 0.3 * n_tiers), by_item),
            description="Heat map of tier probabilities; the table of items has the same numbers.",
        )
    draw(
        "co-tiers",
        lambda ax: plots.co_tier_matrix(fit, sampled, ax=ax),
        f"Probability that two items are {sameness_in_words(sampled)}, in percent.",
        size=matrix_size(items),
        description="Matrix of the probability that two items are the same; "
        "the table of pairs has the same numbers.",
    )
    planned |= _plan_parameters(analysis)
    draw(
        "places",
        lambda ax: plots.rank_tier_bars(fit, ax=ax),
        "What the model expects: the probability of each tier in each place.",
        size=(_WIDTH, 2.8),
        description="Stacked bars of the probability of each tier in each place.",
    )
    draw(
        "expected-pairs",
        lambda ax: plots.expected_pairs(check, ax=ax),
        "Each dot is a pair of items. On the diagonal, the model predicts how often the first is "
        f"{above} the second.",
        size=(4.0, 3.8),
        description="Scatter of observed against expected pairwise shares, which differ by "
        f"{100 * check.pairs_off_by:.1f} percentage points on average.",
    )
    planned |= _plan_people(analysis)
    groups = analysis.groups
    if groups is not None and len(groups.groups) > 1:
        draw(
            "memberships",
            lambda ax: plots.memberships(groups, ax=ax),
            "How certain it is that people belong to their most probable group.",
            size=(4.0, 3.0),
            description="Histogram of the probability of each person's most probable group; the "
            f"separation of the groups is {groups.separation:.0%}.",
        )
    if (check.ranks_observed >= 0).any():
        draw(
            "expected-ranks",
            lambda ax: plots.expected_ranks(check, ax=ax),
            "Purple: the item has this rank more often than the model expects; orange: less often.",
            size=(_WIDTH, by_item),
            description="Heat map of observed minus expected shares of items in ranks.",
        )
    if len(check.lines) > 1 and any(line.theta > 0 for line in check.lines):
        names = names_of_tiers(fit)
        draw(
            "theta-along",
            lambda ax: plots.theta_along_ranking(check, ax=ax),
            "Where along the ranking people agree: theta estimated at each boundary between tiers."
            + (" If the model holds, all are similar." if fit.concentration == "single" else ""),
            size=(_WIDTH, 2.6),
            description="Theta by line between tiers: "
            + "; ".join(f"{sides(line, names)} {line.theta:.2f}" for line in check.lines),
        )
    return planned


def _plan_parameters(analysis: Analysis) -> dict[str, Callable[[], Picture]]:
    """Return what draws the strengths of tiers, or theta many times over."""
    fit, sampled = analysis.fit, analysis.sampled
    if fit.family == "luce":
        return {"strengths": lambda: _draw_strengths(fit)} if len(fit.tiers) > 1 else {}
    if fit.concentration != "single" or not np.isfinite(sampled.thetas).any():
        return {}
    return {"theta": lambda: _draw_thetas(fit, sampled.thetas)}


def _draw_strengths(fit: Fit) -> Picture:
    """Draw how far tiers are apart."""
    svg = figure_as_svg(
        lambda ax: plots.strengths(fit, ax=ax),
        name="strengths",
        width=_WIDTH,
        height=height_for(len(fit.tiers)),
        description="Strengths of tiers: "
        + ", ".join(f"{strength:+.0f}" for strength in fit.strengths)
        + "; the table has the same numbers.",
    )
    caption = (
        f"How far apart the tiers are: strength on the Elo scale, with {percent(fit.level)} "
        "intervals. "
        "400 points mean odds of ten to one."
    )
    return Picture(svg, caption)


def _draw_thetas(fit: Fit, thetas: NDArray[np.float64]) -> Picture:
    """Draw theta over resampled data sets or draws."""
    svg = figure_as_svg(
        lambda ax: plots.theta_histogram(thetas, truth=fit.thetas[0], ax=ax),
        name="theta",
        width=_WIDTH,
        height=2.6,
        description=f"Histogram of theta around {fit.theta_text('.3g')}.",
    )
    caption = "Theta over resampled data sets or draws; the dashed line is the estimate."
    return Picture(svg, caption)


def _plan_people(analysis: Analysis) -> dict[str, Callable[[], Picture]]:
    """Return what draws how people are split, if that was requested."""
    if analysis.people is None:
        return {}
    tree = analysis.people[1]
    return {"people": lambda: _draw_people(tree)}


def _draw_people(tree: GroupTree) -> Picture:
    """Draw how people are split."""
    leaves = tree.leaves()
    n_lines = sum(len(leaf.group.tiers) + 1 for leaf in leaves)
    svg = figure_as_svg(
        lambda ax: plots.group_tree(tree, ax=ax),
        name="people",
        width=2 * _WIDTH,
        height=max(1.6, 0.22 * n_lines),
        description=f"Tree of people with {len(leaves)} leaves; the table below has the same "
        "content.",
    )
    caption = "People, split wherever their tiers differ; on the right, the tiers of each part."
    return Picture(svg, caption)


def figure_as_svg(
    draw: Callable[[Axes], object], *, name: str, width: float, height: float, description: str
) -> Markup:
    """Draw a figure and return it as SVG for a page.

    Parameters
    ----------
    draw
        Draws on the axes it is given.
    name
        A name that is unique on the page.
    width, height
        The size in inches; on narrow screens the figure shrinks.
    description
        A description for readers who cannot see the figure.
    """
    import matplotlib as mpl
    from markupsafe import Markup
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = {
        "font.size": FONT_SIZE,
        "svg.fonttype": "none",  # text stays text: it can be read aloud, searched, and is small
        "svg.hashsalt": name,
        **dict.fromkeys(_INKED, _INK),
    }
    buffer = StringIO()
    with mpl.rc_context(settings), warnings.catch_warnings():
        # The reader's browser chooses the font, so what the font here lacks is no matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(
            buffer,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    drawing = buffer.getvalue()
    body = drawing[drawing.index(">", drawing.index("<svg")) + 1 :]
    (view,) = re.findall(r'viewBox="([^"]*)"', drawing)[:1]
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{view}" role="img" aria-labelledby="{name}-title" '
        f'style="width:{width * _PIXELS_PER_INCH:.0f}px">'
        f'<title id="{name}-title">{escape(description)}</title>'
    )
    # Groups and the like, patch_1, have the same names in every figure; nobody refers to them.
    body = re.sub(r'<(\w+) id="[A-Za-z0-9.]+_\d+"', r"<\1", body)
    # The font is that of the page.
    body = re.sub(r"; font-family: 'DejaVu Sans'[^;\"]*", "", body)
    body = re.sub(rf"(fill|stroke): {_INK}", r"\1: currentColor", body)
    return Markup(opening + body)
