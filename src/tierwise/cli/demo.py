"""``tierwise demo``: the main job on a data set that comes with the package."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tierwise.cli import options, printing

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierwise.fitting.bootstrap import Bootstrap
    from tierwise.fitting.result import Fit

_QUESTION = (
    "What should a country aim for? In a survey that M. Croon published in 1989, 2,262 people in "
    "Germany put four goals in order: maintain order, fight rising prices, give people more say, "
    "protect free speech. R. Inglehart had argued that the first two are goals of one kind and the "
    "last two of another. Nothing of that is told to the program."
)


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
    from tierwise.data.datasets import load_political_goals
    from tierwise.fitting.bootstrap import bootstrap
    from tierwise.searching.search import search

    goals = load_political_goals()
    progress = printing.progress(quiet=quiet)
    with printing.telling_of_compiling(quiet=quiet):
        found = search(goals, progress=progress, rng=1)
    resampled = bootstrap(goals, found.best, replicates=500, progress=progress, rng=1)
    if report is not None:
        from tierwise.reporting.report import report as write_report

        write_report(
            goals, report, title="Four political goals", replicates=500, progress=progress, rng=1
        )
    if json:
        printing.print_json({"search": found.to_dict(), "bootstrap": resampled.to_dict()}, None)
        return
    parts: list[RenderableType] = []
    if not quiet:
        parts += [_QUESTION, ""]
    parts += [
        _tier_picture(found.best, resampled),
        "",
        found.best.summary(printing.width_of_output(None)),
    ]
    if not quiet:
        parts += ["", _next_steps(report)]
    printing.print_result(parts, None)


def _tier_picture(fitted: "Fit", resampled: "Bootstrap") -> "RenderableType":
    """Draw the tiers, each item with how often resampled data put it there."""
    table = printing.new_table()
    table.add_column("tier", justify="right")
    table.add_column("items", style="bold")
    table.add_column("of 500 resampled surveys")
    shares = resampled.tier_probabilities()
    place = {item: number for number, item in enumerate(fitted.tiers.items)}
    for number, tier in enumerate(fitted.tiers, start=1):
        least = min(shares[place[item], number - 1] for item in tier)
        table.add_row(
            str(number), " ~ ".join(str(item) for item in tier), f"{least:.0%} agree on each"
        )
    return table


def _next_steps(report: Path | None) -> str:
    written = "tierwise demo --report goals.html" if report is None else f"open {report}"
    return "\n".join(
        [
            "Next, the same as a page with figures:",
            f"  {written}",
            "With a file of your own (one row per answer, best first):",
            "  tierwise describe answers.csv",
            "  tierwise fit answers.csv",
            "  tierwise report answers.csv -o report.html",
        ]
    )
