"""Figures of the rankings themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.files.places import first_places, sizes_of_groups
from tierwise.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tierwise._util.types import Item
    from tierwise.data.rankings import Rankings
    from tierwise.tiers.ordered_partition import Tiers


def rank_boxes(rankings: Rankings, tiers: Tiers | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the distribution of each item's ranks: who is liked, and on whom opinion is split.

    A box holds the middle half of the ranks and is cut at the median, its whiskers hold 90% of
    them, and a dot is the mean. Tied items share the mean of the ranks they take up. An item that
    an answer leaves out counts as the middle of the ranks that are left where such items are ranked
    below; otherwise that answer does not count.

    Parameters
    ----------
    rankings
        The rankings.
    tiers
        Tiers to group and colour the items by; without, items are in order of mean rank.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> ax = plots.rank_boxes(tw.load_political_goals())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['prices', 'order', 'say', 'speech']
    """
    items = items_in_order(rankings, tiers)
    ranks = _ranks_by_item(rankings)
    groups = [([ranks[rankings.items.index(item)]]) for item in items]
    colours = item_colours(items, tiers)
    ax = style.new_axes(ax, 6.4, style.height_for(len(items)))
    _draw_boxes(ax, groups, rankings.pattern_weights, colours)
    style.name_rows(ax, style.short_names(items))
    _finish_ranks(ax, len(rankings.items))
    return ax


def tier_rank_boxes(rankings: Rankings, tiers: Tiers, *, ax: Axes | None = None) -> Axes:
    """Draw the distribution of the ranks of each tier's items, all items of a tier together.

    Parameters
    ----------
    rankings
        The rankings.
    tiers
        Tiers of their items.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> tiers = tw.Tiers([["order", "prices"], ["say", "speech"]])
    >>> ax = plots.tier_rank_boxes(tw.load_political_goals(), tiers)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['tier 1', 'tier 2']
    """
    labels = tiers.label_array(rankings.items)
    ranks = _ranks_by_item(rankings)
    groups = [ranks[labels == tier] for tier in range(len(tiers))]
    ax = style.new_axes(ax, 6.4, style.height_for(len(tiers)))
    _draw_boxes(ax, groups, rankings.pattern_weights, style.tier_colours(len(tiers)))
    style.name_rows(ax, [f"tier {number}" for number in range(1, len(tiers) + 1)])
    _finish_ranks(ax, len(rankings.items))
    return ax


def items_in_order(rankings: Rankings, tiers: Tiers | None) -> list[Item]:
    """Return the items tier by tier, within a tier (or without tiers) by mean rank."""
    ranks = _ranks_by_item(rankings)
    listed = ~np.isnan(ranks)
    counts = listed @ rankings.pattern_weights
    totals = np.where(listed, ranks, 0.0) @ rankings.pattern_weights
    means = np.divide(totals, counts, out=np.full(len(ranks), np.inf), where=counts > 0)
    by_mean_rank = [rankings.items[item] for item in np.argsort(means, kind="stable").tolist()]
    if tiers is None:
        return by_mean_rank
    tiers.label_array(rankings.items)  # says what is wrong if the items differ
    return sorted(by_mean_rank, key=lambda item: tiers[item])


def _ranks_by_item(rankings: Rankings) -> NDArray[np.float64]:
    """Return the rank of each item (row) in each distinct answer; NaN where it has none.

    Tied items share the mean of the ranks they take up, as do items that come below the others.
    """
    first = first_places(rankings.patterns)
    ranks = first + (sizes_of_groups(first) + 1) / 2
    if rankings.unranked == "anywhere":
        ranks[rankings.patterns == NOT_LISTED] = np.nan
    return np.ascontiguousarray(ranks.T)


def _draw_boxes(
    ax: Axes,
    groups: Sequence[Sequence[NDArray[np.float64]] | NDArray[np.float64]],
    weights: NDArray[Any],
    colours: Sequence[str],
) -> None:
    """Draw a box a group of ranks, the first on top."""
    summaries = [_box_summary(np.asarray(group), weights) for group in groups]
    drawn = ax.bxp(
        summaries,
        positions=range(len(groups)),
        orientation="horizontal",
        widths=0.6,
        showfliers=False,
        showmeans=True,
        patch_artist=True,
        manage_ticks=False,
        meanprops={
            "marker": "o",
            "markerfacecolor": "white",
            "markeredgecolor": style.DARK,
            "markersize": 4,
        },
    )
    for box, median, colour in zip(drawn["boxes"], drawn["medians"], colours, strict=True):
        box.set_facecolor(colour)
        median.set(color=style.readable_on(colour), linewidth=1.6)


def _box_summary(ranks: NDArray[np.float64], weights: NDArray[Any]) -> dict[str, Any]:
    """Return the quantiles that a box shows; all ranks of a group count alike."""
    values = ranks.ravel()
    counts = np.tile(np.asarray(weights, dtype=np.float64), len(ranks))
    known = ~np.isnan(values)
    values, counts = values[known], counts[known]
    if not len(values):
        return dict.fromkeys(("whislo", "q1", "med", "q3", "whishi", "mean"), np.nan)
    order = np.argsort(values)
    below = np.cumsum(counts[order]) / counts.sum()
    reached = np.searchsorted(below, np.array([0.05, 0.25, 0.5, 0.75, 0.95]) - 1e-12)
    low, first, middle, third, high = values[order][reached].tolist()
    return {
        "whislo": low,
        "q1": first,
        "med": middle,
        "q3": third,
        "whishi": high,
        "mean": float(np.average(values, weights=counts)),
    }


def item_colours(items: Sequence[Item], tiers: Tiers | None) -> list[str]:
    """Return the colour of the tier of each item; the same for all without tiers."""
    if tiers is None:
        return [style.CATEGORIES[-1]] * len(items)
    colours = style.tier_colours(len(tiers))
    return [colours[tiers[item] - 1] for item in items]


def _finish_ranks(ax: Axes, n_items: int) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.set_xlim(0.5, n_items + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=2))
    ax.set_xlabel("rank (1 is best)")
    ax.grid(axis="x", color=style.MUTED, alpha=0.3)
    ax.set_axisbelow(True)
    style.without_frame(ax, "bottom")
