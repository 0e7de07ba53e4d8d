"""Commands that make pages: ``tierwise report``, ``tierwise serve``; and ``tierwise demo``."""

import os
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tierwise._compiling.beforehand import compile_beside
from tierwise._compiling.kernel import silent_compiling
from tierwise._util.names import split_names
from tierwise.cli import options, printing, reading
from tierwise.errors import InputError, share_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierwise.fitting.result import Fit
    from tierwise.posterior.result import Posterior
    from tierwise.reporting.analysis import Analysis
    from tierwise.reporting.report import LeaderboardReport

_REPORT = "What the report shows"
TOKEN_VARIABLE = "TIERWISE_TOKEN"
_TEAM = "For a team, behind a proxy"
_LIMITS = "Limits"
_QUESTION = (
    "What should a country aim for? In a survey that M. Croon published in 1989, 2,262 people in "
    "Germany put four goals in order: maintain order, fight rising prices, give people more say, "
    "protect free speech. R. Inglehart had argued that the first two are goals of one kind and the "
    "last two of another. The program was not told any of this."
)

REPORT_EXAMPLES = """
Examples:

tierwise report survey.csv -o report.html

tierwise report ballots.csv --unranked below --sizes 1,2,3 --title "Spring election"

tierwise report survey.parquet --uncertainty posterior --seed 1

tierwise report survey.csv --groups 2-4

tierwise report survey.csv --concentration auto

tierwise report battles.csv
"""


@reading.reads_file
def report_command(
    answers: reading.Answers,
    out: Annotated[
        Path | None,
        options.file_to_write(
            "The .html file to write; named after the data if not given.",
            (".html",),
            panel=_REPORT,
        ),
    ] = None,
    sizes: options.Sizes = None,
    family: options.Family = "auto",
    distance: options.Distance = "auto",
    concentration: options.Concentration = None,
    title: Annotated[
        str | None,
        options.option(_REPORT, "The title of the page."),
    ] = None,
    uncertainty: Annotated[
        Literal["auto", "bootstrap", "posterior"],
        options.option(
            _REPORT,
            "How to find out how certain the tiers are: draws from the posterior, or resampled "
            "answers. auto is the posterior if there is one.",
        ),
    ] = "auto",
    replicates: Annotated[
        int | None,
        options.option(
            _REPORT, "Number of resampled data sets, or of draws per chain.", "N", min=2
        ),
    ] = None,
    groups: Annotated[
        str | None,
        options.option(
            _REPORT,
            "Also divide people into this number of groups, and say whether the data support it.",
            "3|2-4|2,4",
        ),
    ] = None,
    by: Annotated[
        str | None,
        options.option(
            _REPORT,
            "Also say whether people differ by these columns, such as age,region.",
            "COLUMNS",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        options.option(
            _REPORT,
            "The column that says where people were asked, such as school; whole schools are "
            "then resampled.",
            "COLUMN",
        ),
    ] = None,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a report as one HTML file: tiers, how certain they are, and whether the model fits."""
    from tierwise.reporting.report import report

    if out is None:
        name = "" if answers.reading is None else answers.reading.name
        out = Path(f"{name}-report.html" if name else "report.html")
    analysis = report(
        answers,  # type: ignore[misc, arg-type] # arguments that battles do not take are refused by name
        out,
        sizes=options.parse_sizes(sizes) if sizes else None,
        family=family,
        distance=distance,
        concentration=concentration,
        uncertainty=uncertainty,
        replicates=replicates,
        groups=options.parse_groups(groups) if groups else None,
        by=split_names(by) if by else None,
        cluster=cluster,
        title=title,
        workers=workers,
        progress=printing.progress(quiet=quiet),
        rng=seed,
    )
    if json:
        printing.print_json({"report": str(out), **analysis.to_dict()}, None)
    else:
        print_analysis(analysis)
    printing.said_where(out, quiet=quiet)


def print_analysis(analysis: "Analysis | LeaderboardReport") -> None:
    """Print a short version of a report."""
    from tierwise.fitting.summary import tiers_in_words
    from tierwise.reporting.analysis import Analysis
    from tierwise.reporting.groups import whether_several

    parts: list[Any] = [tiers_in_words(analysis.fit)]
    if analysis.check is not None:
        parts += ["", analysis.check.verdict_in_words()]
    if isinstance(analysis, Analysis) and analysis.groups is not None:
        parts += ["", whether_several(analysis.groups)]
    printing.print_result(parts)


SERVE_EXAMPLES = """
Examples:

tierwise serve

tierwise serve --folder results

tierwise serve --host 0.0.0.0 --port 8765 --allow-host tiers.example.org --base-path /tiers --https
"""


def serve_command(
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep files and results here. If not given, they are deleted when the server "
            "stops.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 means any free port.")
    ] = 8765,
    host: Annotated[
        str,
        options.option(_TEAM, "The address to listen on; 127.0.0.1 means this machine only."),
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        options.option(
            _TEAM,
            "A host name that browsers may use for the server, in addition to localhost. Can "
            "be repeated.",
            "NAME",
        ),
    ] = None,
    base_path: Annotated[
        str,
        options.option(_TEAM, "The path prefix of all pages, such as /tiers.", "PATH"),
    ] = "",
    jobs: Annotated[
        int | None,
        options.option(_LIMITS, "How many analyses run at once; one per core if not given.", min=1),
    ] = None,
    upload: Annotated[str, options.option(_LIMITS, "Size limit of a file.", "SIZE")] = "50MB",
    memory: Annotated[
        str,
        options.option(_LIMITS, "Memory limit of an analysis.", "SIZE"),
    ] = "4GB",
    minutes: Annotated[
        float,
        options.option(_LIMITS, "Time limit of an analysis, in minutes.", min=0.1),
    ] = 60.0,
    *,
    https: Annotated[
        bool,
        typer.Option(
            "--https",
            help="Send cookies over https only, because the proxy uses https.",
            rich_help_panel=_TEAM,
        ),
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Start a local web page that finds the tiers of the files you drop on it.

    The printed address contains a token, without which nobody gets access. The token is random
    unless you set the environment variable TIERWISE_TOKEN.
    """
    missing = [name for name in ("starlette", "uvicorn", "multipart") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"tierwise serve needs {' and '.join(missing)}: install it with "
            'pip install "tierwise[web]"'
        )
    from tierwise._util.resources import parse_size
    from tierwise.web.security import LOCAL_NAMES, Limits, Settings, host_name

    path = base_path.strip("/")
    chosen: dict[str, Any] = {} if jobs is None else {"jobs": jobs}
    limits = Limits(
        upload_bytes=parse_size(upload, "--upload"),
        memory_bytes=parse_size(memory, "--memory"),
        job_seconds=60 * minutes,
        **chosen,
    )
    secret = os.environ.get(TOKEN_VARIABLE, "")
    if secret and len(secret) < 16:
        raise InputError(
            f"{TOKEN_VARIABLE} is too short to be a secret: use at least 16 characters"
        )
    with TemporaryDirectory(prefix="tierwise-", ignore_cleanup_errors=True) as gone_at_the_end:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        settings = Settings(
            folder=(folder or Path(gone_at_the_end)).resolve(),
            hosts=(*LOCAL_NAMES, *(host_name(name) for name in allow_host or ())),
            base=f"/{path}" if path else "",
            secure=https,
            limits=limits,
            **({"token": secret} if secret else {}),
        )
        _serve(settings, host, port, open_browser=browser)


def _serve(settings: Any, host: str, port: int, *, open_browser: bool) -> None:
    from tierwise.web.app import listen, run

    with listen(host, port) as listening:
        run(settings, listening, open_browser=open_browser, say=typer.echo)


def demo(
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a report page.", show_default=False),
    ] = None,
    *,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the tiers of real data: 2262 rankings of four political goals (Croon, 1989)."""
    if report is not None:
        compile_beside("report: rankings, complete")
    from tierwise.data.datasets import load_political_goals
    from tierwise.posterior.run import sample_posterior
    from tierwise.searching.choice import choose

    goals = load_political_goals()
    progress = printing.progress(quiet=quiet)
    with silent_compiling() if quiet else nullcontext():
        choice = choose(goals, progress=progress, rng=1)
        posterior = sample_posterior(goals, choice=choice, progress=progress, rng=1)
    if report is not None:
        from tierwise.reporting.report import report as write_report

        write_report(goals, report, title="Four political goals", progress=progress, rng=1)
        printing.said_where(report, quiet=quiet)
    if json:
        printing.print_json(
            {"search": choice.search.to_dict(), "posterior": posterior.to_dict()}, None
        )
        return
    parts: list[RenderableType] = []
    if not quiet:
        parts += [_QUESTION, ""]
    parts += [
        _tier_picture(choice.fit, posterior),
        "",
        choice.sentence(),
        choice.fit.summary(printing.width_of_output()),
    ]
    if not quiet:
        parts += ["", _next_steps(report)]
    printing.print_result(parts)


def _tier_picture(fitted: "Fit", posterior: "Posterior") -> "RenderableType":
    """Draw the tiers with the certainty of their items, with open sizes."""
    table = printing.new_table()
    table.add_column("tier", justify="right")
    table.add_column("items", style="bold")
    table.add_column(f"certainty, of {len(posterior):,} draws")
    shares = posterior.tier_probabilities().to_numpy()
    place = {item: number for number, item in enumerate(posterior.items)}
    for number, tier in enumerate(fitted.tiers, start=1):
        least = float(min(shares[place[item], number - 1] for item in tier))
        said = f"all {len(posterior):,}" if least == 1.0 else share_in_words(least)
        table.add_row(str(number), " ~ ".join(str(item) for item in tier), said)
    return table


def _next_steps(report: Path | None) -> str:
    written = "tierwise demo --report goals.html" if report is None else f"open {report}"
    return "\n".join(
        [
            "Next: the same as a page with figures:",
            f"  {written}",
            "With your own file (one row per answer, best first):",
            "  tierwise describe answers.csv",
            "  tierwise fit answers.csv",
            "  tierwise report answers.csv -o report.html",
        ]
    )
