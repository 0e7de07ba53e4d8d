"""Figures of a posterior: mixing of its chains, and rank intervals of a leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from tierwise.errors import InputError, percent
from tierwise.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tierwise.leaderboards.result import Leaderboard
    from tierwise.posterior.result import Posterior

Quantity: TypeAlias = Literal["theta", "total_distance", "n_tiers"]

_BINS = 20
_WORDS = {"theta": "theta", "total_distance": "total distance", "n_tiers": "number of tiers"}


def trace(posterior: Posterior, quantity: Quantity = "theta", *, ax: Axes | None = None) -> Axes:
    """Draw a quantity along each chain; chains that have mixed overlap.

    Parameters
    ----------
    posterior
        A posterior.
    quantity
        "theta", "total_distance" or "n_tiers".
    ax
        Where to draw; a new figure if not given.

    See Also
    --------
    chain_ranks : shows the same more clearly.

    Notes
    -----
    ``posterior.data`` is in the format of ArviZ, for its own plots and statistics.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> from tierwise import sample_posterior
    >>> posterior = sample_posterior(tw.load_political_goals(), (2, 2), draws=50, rng=1)
    >>> len(plots.trace(posterior).lines)  # one a chain
    4
    """
    values = _draws_of(posterior, quantity)
    ax = style.new_axes(ax, 6.4, 3.0)
    for chain, draws in enumerate(values):
        ax.plot(
            np.arange(1, len(draws) + 1),
            draws,
            linewidth=0.7,
            alpha=0.8,
            color=style.CATEGORIES[chain % len(style.CATEGORIES)],
            label=f"chain {chain + 1}",
        )
    ax.set_xlabel("draw")
    ax.set_ylabel(_WORDS[quantity])
    style.without_frame(ax, "bottom", "left")
    return ax


def chain_ranks(
    posterior: Posterior, quantity: Quantity = "theta", *, ax: Axes | None = None
) -> Axes:
    """Draw how each chain's draws rank among all draws: evenly, if the chains have mixed.

    Parameters
    ----------
    posterior
        A posterior.
    quantity
        "theta", "total_distance" or "n_tiers".
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> from tierwise import sample_posterior
    >>> posterior = sample_posterior(tw.load_political_goals(), (2, 2), draws=50, rng=1)
    >>> [patch.get_label() for patch in plots.chain_ranks(posterior).patches]
    ['chain 1', 'chain 2', 'chain 3', 'chain 4']
    """
    from scipy.stats import rankdata

    values = _draws_of(posterior, quantity)
    n_chains, n_draws = values.shape
    ranks = rankdata(values).reshape(values.shape)
    edges = np.linspace(0.5, values.size + 0.5, min(_BINS, n_draws) + 1)
    ax = style.new_axes(ax, 6.4, 3.0)
    for chain in range(n_chains):
        counts, _ = np.histogram(ranks[chain], bins=edges)
        ax.stairs(
            counts,
            edges,
            linewidth=1.4,
            color=style.CATEGORIES[chain % len(style.CATEGORIES)],
            label=f"chain {chain + 1}",
        )
    ax.axhline(n_draws / (len(edges) - 1), color=style.MUTED, linestyle="--", linewidth=1.0)
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(f"rank of {_WORDS[quantity]} among all draws")
    ax.set_ylabel("draws of the chain")
    ax.legend(frameon=False, ncols=2, fontsize="small")
    style.without_frame(ax, "bottom", "left")
    return ax


def _draws_of(posterior: Posterior, quantity: Quantity) -> NDArray[np.float64]:
    """Return the draws of a quantity, chain by chain."""
    if quantity not in get_args(Quantity):
        known = ", ".join(repr(name) for name in get_args(Quantity))
        raise InputError(f"{quantity!r} is not a quantity: choose one of {known}")
    draws: NDArray[np.float64] = posterior.data["posterior"][quantity].to_numpy()
    return draws.astype(np.float64)


def rank_intervals(board: Leaderboard, *, ax: Axes | None = None) -> Axes:
    """Draw the interval of each item's rank, in the colour of its tier, best on top.

    Parameters
    ----------
    board
        A leaderboard.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> ax = plots.rank_intervals(tw.leaderboard(tw.load_political_goals(), rng=1))
    >>> ax.get_xlabel()
    'rank, 95% interval'
    """
    from matplotlib.ticker import MaxNLocator

    rows = board.rows
    ax = style.new_axes(ax, 7.0, style.height_for(len(rows)))
    colours = style.tier_colours(len(board.tiers))
    places = np.arange(len(rows))
    for place, row in enumerate(rows):
        colour = colours[row.tier - 1]
        ax.plot(
            [row.rank_low, row.rank_high],
            [place, place],
            color=colour,
            linewidth=4,
            solid_capstyle="round",
            zorder=2,
        )
        ax.plot([row.mean_rank], [place], "o", color="white", markeredgecolor=style.DARK, zorder=3)
    tiers = np.array([row.tier for row in rows])
    for place in np.flatnonzero(np.diff(tiers)).tolist():
        ax.axhline(place + 0.5, color=style.MUTED, linewidth=0.6, linestyle=":", zorder=1)
    ax.set_yticks(places, style.short_names(row.item for row in rows), parse_math=False)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(0.5, len(rows) + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=2))
    ax.set_xlabel(f"rank, {percent(board.level)} interval")
    ax.set_ylabel("")
    style.without_frame(ax, "bottom", "left")
    return ax
