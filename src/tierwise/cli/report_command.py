"""``tierwise report``: tiers, how sure they are, and whether the model fits, on one page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tierwise.cli import options, printing, reading

if TYPE_CHECKING:
    from tierwise.reporting.analysis import Analysis

_REPORT = "What the report shows"

EXAMPLES = """
Examples:

tierwise report survey.csv -o report.html

tierwise report ballots.csv --unranked below --sizes 1,2,3 --title "Spring election"

tierwise report survey.parquet --uncertainty posterior --seed 1

tierwise report survey.csv --groups 2-4

tierwise report survey.csv --concentration auto
"""


@reading.reads_file
def report_command(
    answers: reading.Answers,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="The page to write."),
    ] = Path("report.html"),
    sizes: options.Sizes = None,
    distance: options.AnyDistance = "auto",
    concentration: options.Concentration = "single",
    title: Annotated[
        str | None,
        typer.Option(help="The title of the page.", show_default=False, rich_help_panel=_REPORT),
    ] = None,
    uncertainty: Annotated[
        Literal["bootstrap", "posterior"],
        typer.Option(
            help="How sure the tiers are: from resampled answers, or draws from the posterior.",
            rich_help_panel=_REPORT,
        ),
    ] = "bootstrap",
    replicates: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            help="How many resampled data sets, or draws per chain.",
            show_default=False,
            rich_help_panel=_REPORT,
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="3|2-4|2,4",
            help="Also divide people into so many groups, and say whether that is supported.",
            show_default=False,
            rich_help_panel=_REPORT,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS",
            help="Also say whether people differ by what is known of them, such as age,region.",
            show_default=False,
            rich_help_panel=_REPORT,
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Where people were asked, such as a school: then whole schools are resampled.",
            show_default=False,
            rich_help_panel=_REPORT,
        ),
    ] = None,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a page with tiers, how sure they are, and whether the model fits: one HTML file."""
    from tierwise.reporting.report import report

    analysis = report(
        answers,
        out,
        sizes=options.parse_sizes(sizes) if sizes else None,
        distance=distance,
        concentration=concentration,
        uncertainty=uncertainty,
        replicates=replicates,
        groups=options.parse_groups(groups) if groups else None,
        by=options.parse_names(by) if by else None,
        cluster=cluster,
        title=title,
        workers=workers,
        progress=printing.progress(quiet=quiet),
        rng=seed,
    )
    if json:
        printing.print_json({"report": str(out), **analysis.to_dict()}, None)
    else:
        print_analysis(analysis, out)


def print_analysis(analysis: "Analysis", out: Path) -> None:
    """Print the gist of a report, and where it is."""
    from tierwise.fitting.summary import tiers_in_words
    from tierwise.reporting.groups import whether_several

    parts: list[Any] = [
        tiers_in_words(analysis.fit),
        "",
        analysis.check.verdict_in_words(),
        "",
    ]
    if analysis.groups is not None:
        parts += [whether_several(analysis.groups), ""]
    parts.append(f"The report is in {out}")
    printing.print_result(parts, None)
