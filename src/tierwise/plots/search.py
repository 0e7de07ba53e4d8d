"""Figures of the search for sizes, and of repeated fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.errors import BEHIND_IS, InputError
from tierwise.plots import style
from tierwise.plots.model import name_of_sizes
from tierwise.searching.merging import Merging

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from tierwise._util.types import Item
    from tierwise.searching.result import Candidate, Search


# More numbers than this below an axis would touch.
_MOST_STEPS_NUMBERED = 12


def leaderboard(search: Search, *, rows: int = 10, ax: Axes | None = None) -> Axes:
    """Draw how far other sizes are behind the best, including the strict consensus.

    Parameters
    ----------
    search
        A search.
    rows
        The number of size vectors to show; the strict consensus and no tiers are added below.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> ax = plots.leaderboard(tw.search(tw.load_political_goals()), rows=2)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['(2, 1, 1)', '(2, 2)', 'strict consensus', 'no tiers']
    """
    if rows < 1:
        raise InputError(f"rows must be at least 1; got {rows}")
    shown = candidates_to_show(search, rows)
    behind = np.array([search.behind(one) for one in shown])
    ax = style.new_axes(ax, 6.4, style.height_for(len(shown)))
    numbers = np.arange(len(shown))
    # What is far behind would squeeze all others together: its bar is cut, its number is not.
    reach = _reach(behind)
    ax.barh(
        numbers,
        np.clip(behind, -reach, reach),
        height=0.6,
        color=[style.ORANGE if one.name else style.BLUE for one in shown],
    )
    errors = [one.criterion_error for one in shown]
    for number, (gap, error) in enumerate(zip(behind, errors, strict=True)):
        text = "best" if gap == 0 else f"{gap:,.1f}"
        if error > 0:
            text += f" ± {2 * error:.2g}"
        if gap > reach:
            text += " (cut)"
        ax.annotate(
            text,
            (min(max(gap, 0.0), reach), number),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    style.name_rows(ax, [name_of_candidate(search, one) for one in shown])
    ax.set_xlim(min(0.0, float(behind.min())), reach * 1.25)
    ax.set_xlabel(f"behind the best ({_unit(search)})")
    style.without_frame(ax, "bottom")
    return ax


def candidates_to_show(search: Search, rows: int) -> list[Candidate]:
    """Return the head of the leaderboard, and what must stand beside it for comparison."""
    compared = [one for one in search.leaderboard if np.isfinite(one.score)]
    head = compared[:rows]
    return head + [one for one in compared[rows:] if one.name]


def name_of_candidate(search: Search, one: Candidate) -> str:
    """Return what sizes are called; those that have several thetas, unlike others, say so."""
    name = one.name or name_of_sizes(one.sizes)
    kind = search.best.concentration
    several = kind != "single" and one is search.leaderboard[0] and search.method != "all sizes"
    return f"{name}, one theta per {kind}" if several else name


def merging_steps(merging: Merging | Search, *, ax: Axes | None = None) -> Axes:
    """Draw which items are merged, step by step, because opinion between them is nearly even.

    Each merge is labelled with the share of the majority between the two groups.

    Parameters
    ----------
    merging
        The merging, or a search that began with one.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise import plots
    >>> from tierwise import merge_even_pairs
    >>> ax = plots.merging_steps(merge_even_pairs(tw.load_political_goals(), tolerance=0.1))
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['0', '1', '2']
    """
    steps = merging if isinstance(merging, Merging) else merging.start
    items = [item for group in steps.groups for item in group]
    ax = style.new_axes(ax, 6.4, style.height_for(len(items)))
    # A group lies at the middle of its items; items of a group stand together in the end.
    height: dict[Item, float] = {item: float(row) for row, item in enumerate(items)}
    end = len(steps.steps) + 0.5
    began = dict.fromkeys(items, 0)
    line = {"color": style.BLUE, "linewidth": 1.5}
    for number, step in enumerate(steps.steps, start=1):
        first, second = height[step.first[0]], height[step.second[0]]
        for group, level in ((step.first, first), (step.second, second)):
            ax.plot([began[group[0]], number], [level, level], **line)  # type: ignore[arg-type]
        ax.plot([number, number], [first, second], **line)  # type: ignore[arg-type]
        middle = (first + second) / 2
        ax.annotate(
            f"{max(step.share, 1 - step.share):.1%}",
            (number, middle),
            (3, 2),
            textcoords="offset points",
            va="bottom",
            fontsize=8,
        )
        for item in (*step.first, *step.second):
            height[item], began[item] = middle, number
    for group in steps.groups:
        level = height[group[0]]
        ax.plot([began[group[0]], end], [level, level], **line)  # type: ignore[arg-type]
    style.name_rows(ax, style.short_names(items))
    every = 1 + len(steps.steps) // _MOST_STEPS_NUMBERED
    ax.set_xticks(range(0, len(steps.steps) + 1, every))
    ax.set_xlim(0, end)
    ax.set_xlabel("step")
    style.without_frame(ax, "bottom")
    return ax


def criterion_histogram(values: Mapping[str, ArrayLike], *, ax: Axes | None = None) -> Axes:
    """Draw histograms of the criterion over many data sets or fits, one per name.

    Parameters
    ----------
    values
        Values of the criterion, by name, such as that of a distance.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> from tierwise import plots
    >>> ax = plots.criterion_histogram({"kendall": [-5.0, -6.0], "hamming": [-7.0, -9.0]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['kendall', 'hamming']
    """
    samples = _samples(values)
    ax = style.new_axes(ax, 6.4, 3.6)
    edges = np.histogram_bin_edges(np.concatenate(list(samples.values())), bins=40)
    for (name, sample), colour in zip(samples.items(), _repeated_colours(), strict=False):
        ax.hist(sample, bins=edges.tolist(), color=colour, alpha=0.65, label=name)
    ax.set_xlabel("criterion")
    ax.set_ylabel("fits")
    ax.legend(frameon=False)
    style.without_frame(ax, "bottom", "left")
    return ax


def theta_histogram(
    thetas: ArrayLike, *, truth: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a histogram of theta over replicates, draws or data sets.

    Parameters
    ----------
    thetas
        The values, such as ``bootstrap.thetas``. Infinite ones are left out, and the axis label
        says so.
    truth
        A value to mark, such as the estimate or the true value of a simulation; an infinite one is
        not drawn.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> from tierwise import plots
    >>> ax = plots.theta_histogram([0.38, 0.4, 0.41, 0.44], truth=0.4)
    >>> int(sum(bar.get_height() for bar in ax.patches))
    4
    """
    (given,) = _samples({"theta": thetas}).values()
    finite = given[np.isfinite(given)]
    ax = style.new_axes(ax, 6.4, 3.6)
    ax.hist(finite, bins=min(40, max(5, round(len(given) ** 0.5))), color=style.BLUE)
    if truth is not None and np.isfinite(truth):
        ax.axvline(truth, color=style.ORANGE, linestyle="--", linewidth=2.0)
    n_infinite = len(given) - len(finite)
    ax.set_xlabel(f"theta ({n_infinite} infinite left out)" if n_infinite else "theta")
    ax.set_ylabel("count")
    style.without_frame(ax, "bottom", "left")
    return ax


def criterion_replicates(values: Mapping[str, ArrayLike], *, ax: Axes | None = None) -> Axes:
    """Draw how an estimated criterion varies over repetitions, one box per candidate.

    Parameters
    ----------
    values
        Replicates of the criterion by the name of the candidate.
    ax
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> from tierwise import plots
    >>> ax = plots.criterion_replicates({"(2, 2)": [-5.0, -6.0, -5.5], "(1, 3)": [-7.0, -9.0]})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['(2, 2)', '(1, 3)']
    """
    samples = _samples(values)
    ax = style.new_axes(ax, 6.4, style.height_for(len(samples)))
    drawn = ax.boxplot(
        list(samples.values()),
        positions=range(len(samples)),
        orientation="horizontal",
        widths=0.6,
        patch_artist=True,
        manage_ticks=False,
        medianprops={"color": "black", "linewidth": 1.6},
        flierprops={"markersize": 3},
    )
    for box in drawn["boxes"]:
        box.set_facecolor(style.CATEGORIES[-1])
    style.name_rows(ax, list(samples))
    ax.set_xlabel("criterion")
    ax.grid(axis="x", color=style.MUTED, alpha=0.3)
    style.without_frame(ax, "bottom")
    return ax


def _samples(values: Mapping[str, ArrayLike]) -> dict[str, NDArray[np.float64]]:
    samples = {name: np.asarray(some, dtype=np.float64).ravel() for name, some in values.items()}
    if not samples:
        raise InputError("there is nothing to draw: pass at least one named collection of values")
    for name, sample in samples.items():
        if not len(sample):
            raise InputError(f"there are no values of {name!r} to draw")
    return samples


def _repeated_colours() -> Sequence[str]:
    return style.CATEGORIES * 20


def _reach(behind: NDArray[np.float64]) -> float:
    """Return how long a bar may be: what is more than five times as far as the rest is cut."""
    gaps = np.sort(behind[behind > 0])
    if not len(gaps):
        return 1.0
    steep = np.flatnonzero(gaps[1:] > 5 * gaps[:-1].clip(min=1.0))
    return float(gaps[steep[0]] * 1.5 if len(steep) else gaps[-1])


def _unit(search: Search) -> str:
    names = {"posterior": BEHIND_IS, "evidence": "log evidence", "agreement": "agreement"}
    return names.get(search.criterion, "criterion")
