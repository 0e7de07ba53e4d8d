"""Figures of the model: its distances, and what it expects in each place."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from tierwise.errors import InputError
from tierwise.partition.choose import partition_function
from tierwise.plots import style
from tierwise.tiers.sizes import check_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from tierwise.distances.base import Distance
    from tierwise.model.clustered_mallows import ClusteredMallows
    from tierwise.tiers.sizes import Sizes

# With more places than this, not every one has its number under it.
_MOST_NUMBERED_PLACES = 15
# Longer runs of equal sizes are written as one.
_LONGEST_RUN = 4


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
        Size vectors, each a line.
    distance
        The distance.
    theta
        Concentration; 0 takes all orderings as equally probable.
    ax
        Where to draw; a new figure where none is given.

    Examples
    --------
    >>> from tierwise import plots
    >>> ax = plots.distance_distributions([(1, 2), (1, 1, 1)])
    >>> [line.get_label() for line in ax.lines]
    ['(1, 2)', '(1, 1, 1)']
    """
    vectors = [check_sizes(one) for one in sizes]
    if not vectors:
        raise InputError("there are no sizes to draw: give at least one size vector")
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


def rank_tier_bars(model: ClusteredMallows, *, ax: Axes | None = None) -> Axes:
    """Draw how probable an item of each tier is in each place, as a bar a place.

    Parameters
    ----------
    model
        The model.
    ax
        Where to draw; a new figure where none is given.

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

    found = model.rank_tier_probabilities()
    shares = found.probabilities
    n_places, n_tiers = shares.shape
    ax = style.new_axes(ax, 6.4, 3.6)
    places = np.arange(1, n_places + 1)
    below = np.zeros(n_places)
    for tier, colour in enumerate(style.tier_colours(n_tiers)):
        ax.bar(
            places,
            shares[:, tier],
            bottom=below,
            width=0.85,
            color=colour,
            edgecolor="white",
            linewidth=0.5,
            label=str(tier + 1),
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
