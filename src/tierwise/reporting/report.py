"""report: everything about rankings on one page, to send to a colleague."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tierwise._util.resources import whole_file
from tierwise.reporting.analysis import Analysis, Uncertainty, analyse
from tierwise.reporting.page import render

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from tierwise._util.checks import RandomSource
    from tierwise._util.tasks import Progress
    from tierwise.data.preferences import Preferences
    from tierwise.data.rankings import Rankings


def report(
    data: Rankings | Preferences,
    path: str | PathLike[str],
    *,
    sizes: Iterable[int] | None = None,
    distance: str = "auto",
    uncertainty: Uncertainty = "bootstrap",
    replicates: int | None = None,
    groups: int | Iterable[int] | None = None,
    title: str | None = None,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Analysis:
    """Find the tiers of rankings and write a page about them.

    The page is one HTML file without any links to the outside. From top to bottom: the tiers and
    how sure they are, the data, the evidence for the sizes, items and pairs, whether the model
    fits, whether there are several groups of people (if asked for), diagnostics, and how it was
    computed.

    Parameters
    ----------
    data
        The rankings, or pairwise answers.
    path
        The file to write; it is there whole or not at all.
    sizes
        How many items each tier holds, best tier first; searched for where none are given.
    distance
        As for `search`, and for given sizes as for `fit`; "auto" lets the data choose where sizes
        are searched for, and is "kendall" for given sizes.
    uncertainty
        How sure the tiers are is found from resampled rankings, "bootstrap", or from draws from
        the "posterior".
    replicates
        How many resampled data sets, or draws from each of four chains; where None, 1000 draws, or
        as many data sets as take some seconds, between 40 and 200; fewer, at least 10, if what the
        answers leave open has to be drawn at random.
    groups
        Numbers of groups of people, each with tiers of its own, to compare with one group for all:
        3, or ``range(2, 5)``. The page shows the groups of the best number by BIC, or of the one
        number that is given, and says whether several groups are supported. None leaves it out.
    title
        The title of the page.
    workers
        Number of processes; see `tierwise._util.tasks.run_tasks`. The page does not depend on it.
    progress
        "auto", "off" or a function; see `tierwise._util.tasks.track`.
    rng
        Seed or generator.

    Returns
    -------
    Analysis
        What the page shows: ``search``, ``fit``, ``sampled``, ``check`` and ``groups``.

    Examples
    --------
    >>> import tierwise as tw
    >>> shown = tw.report(tw.load_political_goals(), "goals.html", rng=1)  # doctest: +SKIP
    >>> shown.fit.tiers  # doctest: +SKIP
    Tiers('order ~ prices > say ~ speech')
    """
    with whole_file(Path(path)) as partial:
        analysis = analyse(
            data,
            sizes,
            distance,
            uncertainty,
            replicates,
            groups,
            workers,
            progress,
            rng,
        )
        partial.write_text(render(analysis, title), encoding="utf-8")
    return analysis
