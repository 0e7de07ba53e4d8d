"""The page of a leaderboard: rank intervals, the table, and whether the model fits."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from math import isfinite
from typing import TYPE_CHECKING

from tierwise._util.resources import whole_file
from tierwise._util.wording import counted, percent
from tierwise.checking.check import check_fit
from tierwise.data.counts import Counts
from tierwise.plots.rank_intervals import rank_intervals
from tierwise.plots.style import height_for
from tierwise.reporting.figures import figure_as_svg

if TYPE_CHECKING:
    from os import PathLike

    from tierwise._util.checks import RandomSource
    from tierwise.checking.result import FitCheck
    from tierwise.data.battles import Battles
    from tierwise.data.preferences import Preferences
    from tierwise.data.rankings import Rankings
    from tierwise.fitting.result import Fit
    from tierwise.posterior.leaderboard import Leaderboard


@dataclass(frozen=True, eq=False)
class LeaderboardReport:
    """What the page of a leaderboard shows.

    Attributes
    ----------
    board : Leaderboard
        Tiers and rank intervals.
    check : FitCheck or None
        What the model of the most probable tiers expects beside what the data are; None for counts,
        which do not tell.
    """

    board: Leaderboard
    check: FitCheck | None

    @property
    def fit(self) -> Fit:
        """The most probable tiers."""
        return self.board.fit


def check_leaderboard(
    board: Leaderboard, data: Rankings | Counts | Preferences | Battles, rng: RandomSource
) -> FitCheck | None:
    """Check the fit of the most probable tiers, where the data are more than counts."""
    if isinstance(data, Counts) or not all(map(isfinite, board.fit.thetas)):
        return None
    return check_fit(data, board.fit, rng=rng)


def write_leaderboard_page(
    board: Leaderboard,
    path: str | PathLike[str],
    *,
    check: FitCheck | None = None,
    title: str | None = None,
) -> None:
    """Write a page about a leaderboard: one HTML file without any links to the outside.

    Parameters
    ----------
    board
        The leaderboard.
    path
        The file to write; it is there whole or not at all.
    check
        What `check_fit` found, to be told on the page.
    title
        The title of the page.
    """
    with whole_file(path) as partial:
        partial.write_text(_render(board, check, title), encoding="utf-8")


def _render(board: Leaderboard, check: FitCheck | None, title: str | None) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("tierwise.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    folder = files("tierwise.reporting") / "templates"
    header, rows = board.table()
    fit, made = board.fit, board.provenance
    what = "answers" if fit.pairwise else "rankings"
    if fit.likelihood in ("independent", "composite"):
        what = "battles"
    caption = (
        f"Interval of each item's rank at level {percent(board.level)}, in the colour of its tier; "
        "a dot is the mean rank, a dotted line parts two tiers."
    )
    figure = figure_as_svg(
        lambda ax: rank_intervals(board, ax=ax),
        name="ranks",
        width=7.0,
        height=height_for(len(board)),
        description=f"{caption} The table below has the numbers.",
    )
    items, tiers = counted(len(board), "item"), counted(len(board.tiers), "tier")
    return environment.get_template("leaderboard.html").render(
        title=title or f"Leaderboard of {items}",
        # The style is the package's own.
        style=Markup((folder / "report.css").read_text(encoding="utf-8")),
        opening=f"{fit.n_rankings:,.10g} {what} put {items} into {tiers}. {board.note_on_tiers()}",
        figure=figure,
        caption=caption,
        header=header,
        rows=rows,
        note=board.note(),
        about_fit="It was not checked." if check is None else check.verdict_in_words(),
        computed=[
            ("program", f"tierwise {made.version}"),
            ("seed", "none was given" if made.seed is None else str(made.seed)),
            ("likelihood", fit.likelihood),
            ("uncertainty", board.uncertainty),
            ("tiers", f"no sure difference within, at certainty {percent(board.certainty)}"),
            ("most probable tiers", str(fit.tiers)),
            ("time", counted(round(made.seconds, 1), "second")),
        ],
    )
