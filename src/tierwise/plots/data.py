"""Figures of the answers: ranks of items, pairwise shares, comparisons."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.data.describe import describe
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError
from tierwise.files.places import first_places, sizes_of_groups
from tierwise.plots import style
from tierwise.plots.tiers import shown_tiers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tierwise._util.types import Item
    from tierwise.fitting.result import Fit
    from tierwise.plots.tiers import ShownTiers
    from tierwise.tiers import Tiers


def rank_boxes(
    rankings: Rankings, tiers: Tiers | Fit | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw the distribution of each item's ranks.

    A box holds the middle half of the ranks and is cut at the median, its whiskers hold 90% of
    them, and a dot is the mean. Tied items share the mean of their ranks. If an answer does not
    list an item, the item gets the middle of the remaining ranks if such items rank below;
    otherwise that answer does not count.

    Parameters
    ----------
    rankings
        The rankings.
    tiers
        Tiers, or a fit, to group and colour the items by; without them, items are sorted by mean
        rank.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> ax = plots.rank_boxes(tw.load_political_goals())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['prices', 'order', 'say', 'speech']
    """
    shown = _shown(tiers, rankings)
    items = items_in_order(rankings, shown)
    ranks = _ranks_by_item(rankings)
    groups = [([ranks[rankings.items.index(item)]]) for item in items]
    colours = item_colours(items, shown)
    ax = style.new_axes(ax, 6.4, style.height_for(len(items)))
    _draw_boxes(ax, groups, rankings.pattern_weights, colours)
    style.name_rows(ax, style.short_names(items))
    _finish_ranks(ax, len(rankings.items))
    return ax


def tier_rank_boxes(rankings: Rankings, tiers: Tiers | Fit, *, ax: Axes | None = None) -> Axes:
    """Draw the distribution of ranks for each tier, with all its items together.

    Parameters
    ----------
    rankings
        The rankings.
    tiers
        Tiers of their items, or a fit.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> tiers = tw.Tiers([["order", "prices"], ["say", "speech"]])
    >>> ax = plots.tier_rank_boxes(tw.load_political_goals(), tiers)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['tier 1', 'tier 2']
    """
    shown = shown_tiers(tiers)
    labels = shown.tiers.label_array(rankings.items)
    ranks = _ranks_by_item(rankings)
    groups = [ranks[labels == row] for row in range(len(shown.names))]
    ax = style.new_axes(ax, 6.4, style.height_for(len(groups)))
    _draw_boxes(ax, groups, rankings.pattern_weights, shown.colours)
    style.name_rows(ax, shown.rows_with_name)
    _finish_ranks(ax, len(rankings.items))
    return ax


def rank_shares(
    rankings: Rankings, items: Iterable[Item] | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how many people give an item each rank: divided opinion has two peaks.

    Each item has a row of bars. Tied items share their ranks evenly, and so do items not listed if
    these rank below; otherwise that answer does not count.

    Parameters
    ----------
    rankings
        The rankings.
    items
        The items to draw, such as ``fit.divided``; by default all.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> ax = plots.rank_shares(tw.load_political_goals(), ["order", "say"])
    >>> [round(float(bar.get_height()), 2) for bar in ax.containers[0]]  # order has ranks 1 to 4
    [0.39, 0.33, 0.15, 0.13]
    """
    from matplotlib.ticker import MaxNLocator

    chosen = list(rankings.items if items is None else items)
    unknown = [item for item in chosen if item not in rankings.items]
    if unknown or not chosen:
        what = f"{unknown[0]!r} is not among them" if unknown else "none were given"
        raise InputError(f"items must be at least one item of the rankings: {what}")
    shares = _shares_of_ranks(rankings)[[rankings.items.index(item) for item in chosen]]
    highest = float(np.nanmax(shares))
    n_items = len(rankings.items)
    ax = style.new_axes(ax, 6.4, height_of_bars(len(chosen)))
    places = np.arange(1, n_items + 1)
    step = 1.25 * highest
    for row, heights in enumerate(np.nan_to_num(shares)):
        floor = (len(chosen) - 1 - row) * step
        bars = ax.bar(places, heights, bottom=floor, width=0.85, color=style.BLUE)
        ax.axhline(floor, color=style.MUTED, linewidth=0.6)
        if n_items <= style.MOST_NUMBERED_CELLS:
            ax.bar_label(bars, [f"{100 * share:.0f}" for share in heights], fontsize=7, padding=1)
    floors = [(len(chosen) - 1 - row) * step for row in range(len(chosen))]
    middles = [floor + 0.4 * highest for floor in floors]
    ax.set_yticks(middles, style.short_names(chosen), parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.02 * step, len(chosen) * step)
    ax.set_xlim(0.4, n_items + 0.6)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=2))
    ax.set_xlabel("rank (1 is best)\nbars: percent of the rankings")
    style.without_frame(ax)
    return ax


def height_of_bars(n_rows: int) -> float:
    """Return the inches that rows of bars need."""
    return 0.95 + 0.85 * n_rows


def _shares_of_ranks(rankings: Rankings) -> NDArray[np.float64]:
    """Return the share of answers that give each item (row) each rank (column)."""
    n_items = len(rankings.items)
    first = first_places(rankings.patterns)
    sizes = sizes_of_groups(first)
    weights = rankings.pattern_weights.astype(np.float64)
    listed = np.ones(first.shape, dtype=bool)
    if rankings.unranked == "anywhere":
        listed = rankings.patterns != NOT_LISTED
    shares = np.zeros((n_items, n_items))
    for rank in range(n_items):
        holds = listed & (first <= rank) & (rank < first + sizes)
        shares[:, rank] = (weights[:, None] * holds / sizes).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return shares / (weights @ listed)[:, None]


def _shown(tiers: Tiers | Fit | None, answers: Rankings | Preferences) -> ShownTiers | None:
    """Return tiers as they are shown, or say that they are of other items."""
    if tiers is None:
        return None
    shown = shown_tiers(tiers)
    shown.tiers.label_array(answers.items)  # says what is wrong if the items differ
    return shown


@singledispatch
def items_in_order(data: Rankings | Preferences, _shown: ShownTiers | None) -> list[Item]:
    """Return the items tier by tier, within a tier (or without tiers) the best first."""
    raise TypeError(f"{data.unit} do not say which items are best")


@items_in_order.register(Rankings)
def _by_mean_rank(rankings: Rankings, shown: ShownTiers | None) -> list[Item]:
    ranks = _ranks_by_item(rankings)
    listed = ~np.isnan(ranks)
    counts = listed @ rankings.pattern_weights
    totals = np.where(listed, ranks, 0.0) @ rankings.pattern_weights
    means = np.divide(totals, counts, out=np.full(len(ranks), np.inf), where=counts > 0)
    by_mean_rank = [rankings.items[item] for item in np.argsort(means, kind="stable").tolist()]
    if shown is None:
        return by_mean_rank
    return sorted(by_mean_rank, key=lambda item: shown.tiers[item])


def _ranks_by_item(rankings: Rankings) -> NDArray[np.float64]:
    """Return the rank of each item (row) in each distinct answer; NaN if it has none.

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
    """Draw one box per group of ranks, the first on top."""
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
    parts = zip(drawn["boxes"], drawn["medians"], colours, summaries, strict=True)
    for box, median, colour, summary in parts:
        box.set_facecolor(colour)
        # A box without width is drawn on the page, whatever its colour.
        is_line = summary["q1"] == summary["q3"]
        line = box.get_edgecolor() if is_line else style.readable_on(colour)
        median.set(color=line, linewidth=1.6)


def _box_summary(ranks: NDArray[np.float64], weights: NDArray[Any]) -> dict[str, Any]:
    """Return the quantiles that a box shows; all ranks of a group count alike."""
    values = ranks.ravel()
    counts = np.tile(np.asarray(weights, dtype=np.float64), len(ranks))
    # Answers may weigh nothing, as those of other groups do.
    known = ~np.isnan(values) & (counts > 0.0)
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


def item_colours(items: Sequence[Item], shown: ShownTiers | None) -> list[str]:
    """Return the colour of the tier of each item; the same for all without tiers."""
    if shown is None:
        return [style.CATEGORIES[-1]] * len(items)
    return [shown.colours[shown.tiers[item] - 1] for item in items]


def _finish_ranks(ax: Axes, n_items: int) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.set_xlim(0.5, n_items + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=2))
    ax.set_xlabel("rank (1 is best)")
    ax.grid(axis="x", color=style.MUTED, alpha=0.3)
    ax.set_axisbelow(True)
    style.without_frame(ax, "bottom")


def pairwise_matrix(
    rankings: Rankings | Preferences, tiers: Tiers | Fit | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how often each item (row) is ranked above each other (column).

    Parameters
    ----------
    rankings
        The rankings, or pairwise answers.
    tiers
        Tiers, or a fit, to group the items by, with lines between them; without them, items are
        sorted by mean rank, or by how often they are preferred.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> ax = plots.pairwise_matrix(tw.load_political_goals())
    >>> ax.texts[0].get_text()  # prices above order, in percent
    '53'
    """
    from matplotlib import colormaps

    shown = _shown(tiers, rankings)
    items, verb = items_in_order(rankings, shown), rankings.above_in_words
    order = [rankings.items.index(item) for item in items]
    shares = describe(rankings).pairwise[np.ix_(order, order)]
    return style.draw_square(
        ax,
        shares,
        colormaps["PuOr"],
        label=f"row is {verb} column",
        names=style.short_names(items),
        sizes=() if shown is None else shown.tiers.sizes,
    )


def times_compared(
    preferences: Preferences, tiers: Tiers | Fit | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how often each pair of items was compared.

    Parameters
    ----------
    preferences
        Pairwise answers.
    tiers
        Tiers, or a fit, to group the items by, with lines between them; without them, items are
        sorted by how often they are preferred.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> rows = [("Ann", "a", "b"), ("Bob", "b", "a"), ("Bob", "b", "c")]
    >>> answers = tw.Preferences.from_pairs(rows)
    >>> ax = plots.times_compared(answers)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['b', 'a', 'c']
    """
    from matplotlib import colormaps

    shown = _shown(tiers, preferences)
    items = _preferred_first(preferences, shown)
    order = [preferences.items.index(item) for item in items]
    numbers = describe(preferences).compared[np.ix_(order, order)].astype(np.float64)
    np.fill_diagonal(numbers, np.nan)
    most = float(np.nanmax(numbers))
    return style.draw_square(
        ax,
        numbers / most,
        colormaps["Blues"],
        label="answers",
        names=style.short_names(items),
        sizes=() if shown is None else shown.tiers.sizes,
        most=most,
    )


def preferred_shares(
    preferences: Preferences, tiers: Tiers | Fit | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how often each item is preferred in its comparisons.

    Parameters
    ----------
    preferences
        Pairwise answers.
    tiers
        Tiers, or a fit, to group and colour the items by.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> rows = [("Ann", "a", "b"), ("Bob", "b", "a"), ("Bob", "b", "c")]
    >>> answers = tw.Preferences.from_pairs(rows)
    >>> ax = plots.preferred_shares(answers)
    >>> [round(float(bar.get_width()), 2) for bar in ax.patches]
    [0.67, 0.5, 0.0]
    """
    from matplotlib.ticker import PercentFormatter

    shown = _shown(tiers, preferences)
    items = _preferred_first(preferences, shown)
    won = dict(zip(preferences.items, describe(preferences).shares_won, strict=True))
    shares = [won[item] for item in items]
    ax = style.new_axes(ax, 6.4, style.height_for(len(items)))
    ax.barh(range(len(items)), np.nan_to_num(shares), color=item_colours(items, shown), height=0.6)
    ax.axvline(0.5, color=style.MUTED, linewidth=1.0)
    style.name_rows(ax, style.short_names(items))
    ax.set_xlim(0.0, 1.0)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_xlabel("share of comparisons won")
    style.without_frame(ax, "bottom")
    return ax


@items_in_order.register(Preferences)
def _preferred_first(preferences: Preferences, shown: ShownTiers | None) -> list[Item]:
    best_first = [preferences.items[item] for item in describe(preferences).best_first()]
    if shown is None:
        return best_first
    return sorted(best_first, key=lambda item: shown.tiers[item])
