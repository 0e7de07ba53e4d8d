"""Figures for planning a data collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.errors import percent
from tierwise.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tierwise.planning.plan import Plan


def power_curves(plan: Plan, *, ax: Axes | None = None) -> Axes:
    """Draw how much each number of answers would find, with the error of the simulation.

    A dotted line marks the required power, and a tick on it the number of answers needed.

    Parameters
    ----------
    plan
        A plan.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), (6.0, 1.0))
    >>> ax = plots.power_curves(tw.plan(model, answers=(5, 20), sets=4, rng=1))
    >>> ax.get_xlabel()
    'rankings of all items'
    """
    ax = style.new_axes(ax, 6.4, 4.0)
    shown = {
        "pairs that differ are separated": ("differences", plan.separated, style.BLUE, "o"),
        "all tiers are found": ("tiers", plan.found, style.ORANGE, "s"),
    }
    ax.axhline(plan.power, color=style.MUTED, linewidth=0.8, linestyle=":", zorder=1)
    for name, (goal, table, colour, marker) in shown.items():
        errors = table.std(axis=1, ddof=1) / np.sqrt(plan.n_sets)
        ax.errorbar(
            plan.n_answers,
            table.mean(axis=1),
            errors,
            color=colour,
            marker=marker,
            capsize=2,
            label=name,
        )
        number = plan.needed(of=goal).n_answers  # type: ignore[arg-type]
        if number is not None:
            ax.plot([number], [plan.power], "|", color=colour, markersize=14, zorder=3)
    ax.set_xscale("log")
    ax.set_xticks(plan.n_answers, [f"{number:,}" for number in plan.n_answers])
    ax.set_xticks([], minor=True)
    ax.set_ylim(-0.02, 1.02)
    ax.yaxis.set_major_formatter(lambda share, _: percent(share))
    ax.set_xlabel(plan.asked)
    ax.set_ylabel("probability, or share of pairs")
    ax.legend(frameon=False, loc="best")
    style.without_frame(ax, "bottom", "left")
    return ax
