"""Figures of a fitted model: expectations, data, and agreement."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from tierwise.errors import InputError, instead, percent, share_in_words
from tierwise.fitting.neighbours import neighbour_agreement
from tierwise.fitting.result import Fit
from tierwise.partition.choose import partition_function
from tierwise.plots import style
from tierwise.plots.tiers import DIVIDED, DIVIDED_SIGN, shown_tiers
from tierwise.tiers import check_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from tierwise.checking.result import FitCheck
    from tierwise.distances import Distance
    from tierwise.fitting.neighbours import NeighbourAgreement
    from tierwise.model.clustered_mallows import ClusteredMallows
    from tierwise.tiers import Sizes

# With more places than this, not every one has its number under it.
_MOST_NUMBERED_PLACES = 15
# Longer runs of equal sizes are written as one.
_LONGEST_RUN = 4
# Where the scale of agreement begins, unless something is less probable than that.
_LEFT = 0.45
_LONGEST_LABEL = 30
# Of a tier as many names are written as fit into so many letters.
_LONGEST_TIER = 44


def distance_distributions(
    sizes: Iterable[Iterable[int]],
    distance: str | Distance = "kendall",
    *,
    theta: float = 0.0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the distribution of the distance of an ordering from tiers, for several sizes.

    Parameters
    ----------
    sizes
        Size vectors, one line each.
    distance
        The distance.
    theta
        Concentration; with 0 all orderings are equally probable.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> from tierwise import plots
    >>> ax = plots.distance_distributions([(1, 2), (1, 1, 1)])
    >>> [line.get_label() for line in ax.lines]
    ['(1, 2)', '(1, 1, 1)']
    """
    vectors = [check_sizes(one) for one in sizes]
    if not vectors:
        raise InputError("there are no sizes to draw: pass at least one size vector")
    ax = style.new_axes(ax, 6.4, 3.6)
    for number, vector in enumerate(vectors):
        distribution = partition_function(vector, distance).distribution()
        ax.plot(
            distribution.distances,
            distribution.probabilities(theta),
            marker="osv^Dx"[number % 6],
            markersize=4,
            linewidth=1.2,
            color=style.CATEGORIES[number % len(style.CATEGORIES)],
            label=name_of_sizes(vector),
        )
    ax.set_xlabel("distance from the tiers")
    ax.set_ylabel("probability")
    ax.set_ylim(bottom=0.0)
    ax.legend(title="sizes", frameon=False)
    style.without_frame(ax, "bottom", "left")
    return ax


def rank_tier_bars(model: ClusteredMallows | Fit, *, ax: Axes | None = None) -> Axes:
    """Draw the probability of each tier in each place, one bar per place.

    Parameters
    ----------
    model
        The model, or a fit; items that people are divided about get a separate colour.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> model = tw.ClusteredMallows(tw.Tiers([["a"], ["b", "c"]]), theta=1.0)
    >>> ax = plots.rank_tier_bars(model)
    >>> [f"{bar.get_height():.3f}" for bar in ax.containers[0]]  # tier 1, place by place
    ['0.787', '0.107', '0.107']
    """
    from matplotlib.ticker import PercentFormatter

    shown = shown_tiers(model if isinstance(model, Fit) else model.tiers)
    found = (model.model() if isinstance(model, Fit) else model).rank_tier_probabilities()
    shares = shown.gathered(found.probabilities)
    n_places, n_tiers = shares.shape
    ax = style.new_axes(ax, 6.4, 3.6)
    places = np.arange(1, n_places + 1)
    below = np.zeros(n_places)
    for tier, (name, colour) in enumerate(zip(shown.names, shown.colours, strict=True)):
        ax.bar(
            places,
            shares[:, tier],
            bottom=below,
            width=0.85,
            color=colour,
            edgecolor="white",
            linewidth=0.5,
            label=name,
        )
        below += shares[:, tier]
    if n_places <= _MOST_NUMBERED_PLACES:
        ax.set_xticks(places)
    ax.set_xlim(0.4, n_places + 0.6)
    ax.set_ylim(0.0, 1.0)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel("place (1 is best)")
    ax.set_ylabel("probability" if found.exact else "probability (estimated)")
    ax.legend(
        title="tier",
        frameon=False,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        reverse=True,
        ncols=1 + (n_tiers - 1) // 14,
    )
    style.without_frame(ax)
    return ax


def name_of_sizes(sizes: Sizes) -> str:
    """Write sizes as people do, long runs of equal ones in short: (2, 12x1)."""
    parts: list[str] = []
    for size, run in groupby(sizes):
        length = len(list(run))
        parts += [f"{length}x{size}"] if length > _LONGEST_RUN else [str(size)] * length
    return f"({', '.join(parts)})"


def expected_pairs(check: FitCheck, *, ax: Axes | None = None) -> Axes:
    """Draw pairwise shares against those that the model expects, one dot per pair.

    Dots on the diagonal are pairs that the model predicts exactly. Each pair is drawn once, with
    the item of the better tier (or the one that is ahead more often) first.

    Parameters
    ----------
    check
        A check of a fit.
    ax
        Where to draw; a new figure if not given.

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
    ax.scatter(
        expected,
        observed,
        s=22,
        color=style.BLUE,
        alpha=0.9,
        linewidths=0,
        zorder=2,
        rasterized=len(pairs) > style.MOST_DRAWN_CELLS,
    )
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
    """Draw how much more or less often than expected each item has each rank.

    Parameters
    ----------
    check
        A check of a fit.
    ax
        Where to draw; a new figure if not given.

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

    tiers = shown_tiers(check.fit).tiers
    items = [item for row in tiers for item in row]
    order = [check.items.index(item) for item in items]
    excess = (check.ranks_observed - check.ranks_expected)[order]
    if np.isnan(excess).all():
        raise InputError("the answers are too incomplete to draw ranks: use complete answers")
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
        rasterized=excess.size > style.MOST_DRAWN_CELLS,
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
    """Draw theta at each line between tiers, with the theta of the fit.

    Tiers are numbered as they are shown; a row of items that people are divided about has an arrow
    instead of its number.

    Parameters
    ----------
    check
        A check of a fit.
    ax
        Where to draw; a new figure if not given.

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
        raise InputError(
            "the answers do not show how often items cross lines between tiers: "
            "use complete rankings, and a fit with two tiers or more"
        )
    thetas = np.array([line.theta for line in check.lines])
    numbers = np.arange(len(thetas))
    ax = style.new_axes(ax, 6.4, 3.2)
    single = check.fit.concentration == "single"
    of_fit = check.fit.thetas[0] if single else 0.0
    # What is infinite is drawn above all that is not.
    known = np.append(thetas[np.isfinite(thetas)], of_fit if np.isfinite(of_fit) else 0.0)
    top = 1.2 * float(known.max()) or 1.0
    infinite = np.isposinf(thetas)
    if single:
        name = "theta of the fit" if np.isfinite(of_fit) else "theta of the fit: infinite"
        ax.axhline(min(of_fit, top), color=style.ORANGE, linestyle="--", label=name)
    ax.plot(numbers, np.where(infinite, top, thetas), "o-", color=style.BLUE)
    if infinite.any():
        many = np.full(int(infinite.sum()), top)
        ax.plot(numbers[infinite], many, "^", color=style.BLUE, markersize=9, label="infinite")
    shown = shown_tiers(check.fit)
    signs = {
        tier + 1: DIVIDED_SIGN if name == DIVIDED else name
        for name, part in zip(shown.names, shown.parts, strict=True)
        for tier in part
    }
    ax.set_xticks(numbers, [f"{signs[line.above]}|{signs[line.below]}" for line in check.lines])
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel("line between tiers")
    ax.set_ylabel("theta estimated at the line")
    if single or infinite.any():
        ax.legend(frameon=False)
    style.without_frame(ax, "bottom", "left")
    return ax


def agreement_along_tiers(fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Draw the probability that a person ranks an item of a tier above one of the next.

    A dot is the probability under the fitted model, and its line the confidence interval at the
    level of the fit; a diamond is the share in the data. 50% is a coin toss. Grey rows are items
    that people are divided about, each compared with all items that the fit places below it.

    The probability depends on theta and on the distance between tiers: items of large tiers are
    further from those of the next tier than items of small ones.

    Parameters
    ----------
    fit
        A fit with at least two tiers: one theta, or one for each tier or place.
    ax
        Where to draw; a new figure if not given.

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


def strengths(fit: Fit, *, ax: Axes | None = None) -> Axes:
    """Draw tiers on an axis of strength, with intervals.

    Parameters
    ----------
    fit
        A fit of the family "luce", which has worths.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> ax = plots.strengths(tw.fit(tw.load_political_goals(), (2, 2), family="luce"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1  order, prices', '2  say, speech']
    """
    if fit.family != "luce":
        raise InputError(
            "strengths need worths, but this fit has theta", [instead("fit", family="luce")]
        )
    n_tiers = len(fit.tiers)
    ax = style.new_axes(ax, 7.0, style.height_for(n_tiers))
    colours = style.tier_colours(n_tiers)
    for place, estimate in enumerate(fit.worth_estimates):
        low, high = estimate.strength_interval
        ax.plot(
            [low, high], [place, place], color=colours[place], linewidth=5, solid_capstyle="round"
        )
        ax.plot([estimate.strength], [place], "o", color="white", markeredgecolor=style.DARK)
    names = [
        f"{number}  {style.several_names(tier, _LONGEST_TIER)}"
        for number, tier in enumerate(fit.tiers, start=1)
    ]
    ax.set_yticks(range(n_tiers), names, parse_math=False)
    ax.set_ylim(n_tiers - 0.4, -0.6)
    ax.set_xlabel(f"strength (Elo scale), {percent(fit.level)} interval")
    ax.grid(visible=True, axis="x", color=style.MUTED, linewidth=0.4, alpha=0.6)
    ax.set_axisbelow(True)
    style.without_frame(ax, "bottom", "left")
    return ax


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
            share_in_words(one.probability),
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
