"""report: everything about rankings, or a leaderboard of battles, on one page to share."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

from tierwise._util.checks import check_choice
from tierwise._util.resources import whole_file
from tierwise._util.results import Result
from tierwise.checking.check import check_fit
from tierwise.data.battles import Battles
from tierwise.data.weights import answers_in_words
from tierwise.errors import InputError, counted, drop, percent, share_in_words
from tierwise.leaderboards.leaderboard import leaderboard
from tierwise.leaderboards.wording import note_on_tiers
from tierwise.planning.stopping import forecast_where_cheap
from tierwise.plots.posterior import rank_intervals
from tierwise.plots.style import height_for
from tierwise.reporting import tables, wording
from tierwise.reporting.analysis import Analysis, Uncertainty, analyse
from tierwise.reporting.figures import draw_figures, figure_as_svg
from tierwise.reporting.groups import describe_groups, describe_people
from tierwise.searching.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from jinja2 import Template

    from tierwise._util.checks import RandomSource
    from tierwise._util.tasks import Progress
    from tierwise.checking.result import FitCheck
    from tierwise.data.preferences import Preferences
    from tierwise.data.rankings import Rankings
    from tierwise.files.options import ReadingNotes
    from tierwise.fitting.fit import ConcentrationChoice
    from tierwise.fitting.result import Fit
    from tierwise.leaderboards.result import Leaderboard
    from tierwise.planning.stopping import Enough
    from tierwise.searching.compared import FamilyChoice

_PAPER = "Piancastelli, L. S. C. and Friel, N., Clustered Mallows Model"


@dataclass(frozen=True, eq=False)
class LeaderboardReport(Result):
    """The content of the page of a leaderboard.

    Attributes
    ----------
    board : Leaderboard
        Tiers and rank intervals.
    check : FitCheck or None
        What the model of the most probable tiers expects compared with the data; None for counts,
        which cannot be checked.
    forecast : Enough or None
        How many more answers would settle the tiers; None if that takes too long to compute.
    """

    board: Leaderboard
    check: FitCheck | None
    forecast: Enough | None = None

    @property
    def fit(self) -> Fit:
        """The most probable tiers."""
        return self.board.fit

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON; None stands for NaN and infinity."""
        check = None if self.check is None else self.check.to_dict()
        return {"board": self.board.to_dict(), "check": check}


@overload
def report(
    data: Battles,
    path: str | PathLike[str],
    *,
    family: FamilyChoice = ...,
    uncertainty: Uncertainty | Literal["auto"] = ...,
    replicates: int | None = ...,
    title: str | None = ...,
    workers: int | None = ...,
    progress: Progress = ...,
    rng: RandomSource = ...,
) -> LeaderboardReport: ...


@overload
def report(
    data: Rankings | Preferences,
    path: str | PathLike[str],
    *,
    sizes: Iterable[int] | None = ...,
    family: FamilyChoice = ...,
    distance: str = ...,
    concentration: ConcentrationChoice | None = ...,
    uncertainty: Uncertainty | Literal["auto"] = ...,
    replicates: int | None = ...,
    groups: int | Iterable[int] | None = ...,
    by: str | Iterable[str] | None = ...,
    cluster: str | None = ...,
    title: str | None = ...,
    workers: int | None = ...,
    progress: Progress = ...,
    rng: RandomSource = ...,
) -> Analysis: ...


def report(
    data: Rankings | Preferences | Battles,
    path: str | PathLike[str],
    *,
    sizes: Iterable[int] | None = None,
    family: FamilyChoice = "auto",
    distance: str = "auto",
    concentration: ConcentrationChoice | None = None,
    uncertainty: Uncertainty | Literal["auto"] = "auto",
    replicates: int | None = None,
    groups: int | Iterable[int] | None = None,
    by: str | Iterable[str] | None = None,
    cluster: str | None = None,
    title: str | None = None,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Analysis | LeaderboardReport:
    """Find the tiers of rankings and write a report page.

    The page is one HTML file without external links. From top to bottom it shows the tiers and how
    certain they are, where people agree (on request), the data, the evidence for the sizes, items
    and pairs, whether the model fits, whether there are several groups of people (on request),
    diagnostics, and how everything was computed.

    Parameters
    ----------
    data
        The rankings or pairwise answers, or battles. The page of battles shows their `leaderboard`:
        tiers, rank intervals, and whether the model fits; do not give sizes, distance,
        concentration, groups, by or cluster then.
    path
        The file to write. A failure leaves no partial file.
    sizes
        How many items each tier holds, best tier first; searched for if not given.
    family
        As in `search`: with "auto" the data choose between worths (Luce) and distances (Mallows) if
        sizes are searched for; given sizes imply "mallows".
    distance
        As in `search`, and for given sizes as in `fit`. With "auto" the data choose if sizes are
        searched for; given sizes imply "kendall".
    concentration
        Whether people agree equally everywhere ("single"), or more about some tiers ("tier") or
        places ("place") than others. "auto" compares these, and the page says which was chosen and
        why. None means the default of `search`, and one theta for given sizes. Items that people
        are divided about get a separate row.
    uncertainty
        How to find out how certain the tiers are: from draws from the "posterior", where sizes vary
        unless they were given, or from resampled rankings ("bootstrap"). "auto" is the posterior,
        or the bootstrap if clusters are resampled or the model has several thetas.
    replicates
        The number of resampled data sets, or of draws from each of four chains. None means 1000
        draws, or as many data sets as take a few seconds, between 40 and 200 (as few as 10 for
        incomplete answers that need random completions).
    groups
        Numbers of groups of people, each with its own tiers, to compare with one group for all:
        3, or ``range(2, 5)``. The page shows the groups of the number that BIC prefers, or of the
        one number given, and says whether the data support several groups. None leaves this out.
    by
        Columns of `Rankings.people`, such as region and age. The page says whether people differ by
        them, as `compare_groups` and `group_tree` do. None leaves this out.
    cluster
        A column of `Rankings.people`. Whole clusters of people are then resampled, as in
        `bootstrap`.
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
        What the page shows: ``search``, ``fit``, ``sampled``, ``check``, ``groups``, ``people``.
    LeaderboardReport
        For battles: ``board``, ``fit``, ``check``.

    Examples
    --------
    >>> import tierwise as tw
    >>> shown = tw.report(tw.load_political_goals(), "goals.html", rng=1)  # doctest: +SKIP
    >>> shown.fit.tiers  # doctest: +SKIP
    Tiers('order ~ prices > say ~ speech')
    """
    if isinstance(data, Battles):
        asked = {
            "sizes": sizes,
            "distance": None if distance == "auto" else distance,
            "concentration": None if concentration == "single" else concentration,
            "groups": groups,
            "by": by,
            "cluster": cluster,
        }
        too_much = [name for name, value in asked.items() if value is not None]
        if too_much:
            raise InputError(
                "the page of battles compares tiers of all sizes with one theta", [drop(*too_much)]
            )
        return _report_battles(
            data, path, family, uncertainty, replicates, title, workers, progress, rng
        )
    with whole_file(Path(path)) as partial:
        analysis = analyse(
            data,
            sizes,
            family,
            distance,
            concentration,
            uncertainty,
            replicates,
            groups,
            by,
            cluster,
            workers,
            progress,
            rng,
        )
        if analysis.search is not None and groups is None:
            forecast = forecast_where_cheap(analysis.data, Choice(analysis.search))
            analysis = replace(analysis, forecast=forecast)
        partial.write_text(render(analysis, title, progress), encoding="utf-8")
    return analysis


def _report_battles(
    data: Battles,
    path: str | PathLike[str],
    family: FamilyChoice,
    uncertainty: Uncertainty | Literal["auto"],
    replicates: int | None,
    title: str | None,
    workers: int | None,
    progress: Progress,
    rng: RandomSource,
) -> LeaderboardReport:
    """Write the page of a leaderboard."""
    check_choice("uncertainty", uncertainty, (*get_args(Uncertainty), "auto"))
    how: Uncertainty = "bootstrap" if uncertainty == "bootstrap" else "posterior"
    how_many = {"bootstrap": "replicates", "posterior": "draws"}[how]
    board = leaderboard(
        data,
        family=family,
        uncertainty=how,
        workers=workers,
        progress=progress,
        rng=rng,
        **({} if replicates is None else {how_many: replicates}),  # type: ignore[arg-type]
    )
    check = check_fit(data, board.fit)
    named = title or title_of_leaderboard(board, data.reading)
    forecast = forecast_of_leaderboard(board, data)
    write_leaderboard_page(board, path, check=check, title=named, forecast=forecast)
    return LeaderboardReport(board, check, forecast)


def render(
    analysis: Analysis,
    title: str | None,
    progress: Progress = "off",
) -> str:
    """Return the page as HTML."""
    from markupsafe import Markup

    script = _own_text("report.js")
    return _template("report.html").render(
        title=title or default_title(analysis),
        # The script and the style are the package's own.
        script=Markup(script),
        # Only this script may run: whatever an item is called, it stays text.
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        style=Markup(_own_text("report.css")),
        tiers=tables.tier_list(analysis.fit, tables.probabilities_by_item(analysis)),
        caution=analysis.check.caution(),
        opening=wording.opening(analysis),
        about_enough=None if analysis.forecast is None else analysis.forecast.sentence(),
        about_agreement=wording.about_agreement(analysis) if analysis.shows_agreement else None,
        agreement=tables.agreement_table(analysis) if analysis.shows_agreement else None,
        about_reading=wording.about_reading(analysis),
        about_data=wording.about_data(analysis),
        about_sizes=wording.about_sizes(analysis),
        about_fit=analysis.check.verdict_in_words(),
        diagnostics=wording.diagnostics(analysis),
        figures=draw_figures(analysis, progress),
        items=tables.items_table(analysis),
        pairs=tables.pairs_table(analysis),
        sizes=tables.sizes_table(analysis),
        strengths=tables.strengths_table(analysis),
        strict=tables.strict_table(analysis),
        findings=tables.findings_table(analysis),
        groups=None if analysis.groups is None else describe_groups(analysis.groups),
        people=None if analysis.people is None else describe_people(*analysis.people),
        computed=_computed(analysis),
        paper=_PAPER,
        version=analysis.provenance.version,
    )


def default_title(analysis: Analysis) -> str:
    """Return the default title of the page."""
    return _named(f"Tiers of {counted(len(analysis.data.items), 'item')}", analysis.data.reading)


def _named(title: str, reading: ReadingNotes | None) -> str:
    """Return a title that begins with the name of the data, where they have one."""
    return f"{reading.name}: {title[0].lower()}{title[1:]}" if reading and reading.name else title


def _computed(analysis: Analysis) -> list[tuple[str, str]]:
    """Return how the page was made: a name and a statement each."""
    made, fit, found = analysis.provenance, analysis.fit, analysis.search
    sizes = "given" if found is None else f"found by {found.method} search"
    return [
        ("program", f"tierwise {made.version}"),
        ("seed", "not given" if made.seed is None else str(made.seed)),
        *_model_facts(analysis),
        ("sizes", f"{', '.join(map(str, fit.sizes))} ({sizes})"),
        ("tiers", f"{fit.method} ({'exact' if fit.optimal else 'not proved optimal'})"),
        (
            "partition function",
            f"{fit.partition_method} ({'estimated' if fit.log_likelihood_error else 'exact'})",
        ),
        ("time", counted(round(made.seconds, 1), "second")),
    ]


def _model_facts(analysis: Analysis) -> list[tuple[str, str]]:
    """Say which model there is."""
    fit = analysis.fit
    if fit.family == "luce":
        return [("model", "one worth per tier (Luce's choice model)")]
    return [("distance", fit.distance), ("concentration", _concentration(analysis))]


def _concentration(analysis: Analysis) -> str:
    """Say how many thetas there are, and whether that was requested."""
    kind = analysis.fit.concentration
    said = "one theta" if kind == "single" else f"one theta per {kind}"
    return f"{said} ({'chosen by the data' if analysis.thetas_were_open else 'as requested'})"


def forecast_of_leaderboard(
    board: Leaderboard, data: Rankings | Preferences | Battles
) -> Enough | None:
    """Forecast how many more answers are needed, if that takes only a second or two.

    The forecast is about the most probable tiers, so there is none if the page shows others.
    """
    return forecast_where_cheap(data, board.choice) if board.tiers == board.fit.tiers else None


def write_leaderboard_page(
    board: Leaderboard,
    path: str | PathLike[str],
    *,
    check: FitCheck | None = None,
    title: str | None = None,
    forecast: Enough | None = None,
) -> None:
    """Write the page of a leaderboard: one HTML file without external links.

    Parameters
    ----------
    board
        The leaderboard.
    path
        The file to write. A failure leaves no partial file.
    check
        The result of `check_fit` to show.
    title
        The title of the page.
    forecast
        The result of `enough` to show.
    """
    with whole_file(path) as partial:
        text = leaderboard_page(board, check=check, title=title, forecast=forecast)
        partial.write_text(text, encoding="utf-8")


def title_of_leaderboard(board: Leaderboard, reading: ReadingNotes | None) -> str:
    """Return the default title of a leaderboard."""
    return _named(f"Leaderboard of {counted(len(board), 'item')}", reading)


def leaderboard_page(
    board: Leaderboard,
    *,
    check: FitCheck | None = None,
    title: str | None = None,
    forecast: Enough | None = None,
) -> str:
    """Return the page of a leaderboard as HTML."""
    from markupsafe import Markup

    header, rows = board.table()
    fit, made = board.fit, board.provenance
    what = "answer" if fit.pairwise else "ranking"
    if fit.likelihood in ("independent", "composite"):
        what = "battle"
    said = answers_in_words(fit.n_rankings, what)
    caption = (
        f"Interval of each item's rank at level {percent(board.level)}, in the colour of its tier; "
        "a dot is the mean rank, dotted lines separate tiers."
    )
    figure = figure_as_svg(
        lambda ax: rank_intervals(board, ax=ax),
        name="ranks",
        width=7.0,
        height=height_for(len(board)),
        description=f"{caption} The table below has the numbers.",
    )
    items, tiers = counted(len(board), "item"), counted(len(board.tiers), "tier")
    return _template("leaderboard.html").render(
        title=title or title_of_leaderboard(board, None),
        # The style is the package's own.
        style=Markup(_own_text("report.css")),
        opening=f"{items} in {tiers}, from {said}. {note_on_tiers(board)}",
        about_enough=None if forecast is None else forecast.sentence(),
        figure=figure,
        caption=caption,
        header=header,
        rows=rows,
        item=header.index("item"),
        wrapped=("strength", "open or tied"),
        note=board.as_table().note,
        caution="" if check is None else check.caution(),
        about_fit="Not checked." if check is None else check.verdict_in_words(),
        computed=[
            ("program", f"tierwise {made.version}"),
            ("seed", "not given" if made.seed is None else str(made.seed)),
            ("likelihood", fit.likelihood),
            ("uncertainty", board.uncertainty),
            ("model", board.choice.sentence()),
            ("tiers", note_on_tiers(board)),
            ("most probable tiers", str(fit.tiers)),
            ("time", counted(round(made.seconds, 1), "second")),
        ],
    )


def _template(name: str) -> Template:
    """Return a template in which all that is filled in stays text, and nothing may be missing."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tierwise.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["share"] = share_in_words
    return environment.get_template(name)


def _own_text(name: str) -> str:
    """Return a script or a style that comes with the package."""
    return (files("tierwise.reporting") / "templates" / name).read_text(encoding="utf-8")
