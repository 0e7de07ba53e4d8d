"""``tierwise compare``: compare methods over data sets."""

import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tierwise.cli import options, printing, reading
from tierwise.cli.remedies import Shell
from tierwise.errors import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

_TESTS = "What is compared"

COMPARE_EXAMPLES = """
Examples:

tierwise compare scores.csv --seed 1 --figure methods.pdf

tierwise compare errors.xlsx --better lower --rope 0.01 -o methods.tex

tierwise compare results.csv --items-in rows --paragraph
"""


def compare_command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV, Excel, Parquet or JSON lines with scores: one row per data set, one row "
            "per method, or one row per data set and method. Use - for standard input.",
            show_default=False,
        ),
    ],
    better: Annotated[
        Literal["higher", "lower"] | None,
        options.option(options.READING, "Which scores are better; higher if not given."),
    ] = None,
    items_in: options.ItemsIn = "auto",
    items: Annotated[
        str | None, options.option(options.READING, "The methods to compare.", "NAMES")
    ] = None,
    tasks: options.Tasks = None,
    lower: options.Lower = None,
    task: Annotated[str | None, options.column("The column that names data sets.")] = None,
    item: Annotated[str | None, options.column("The column that names methods.")] = None,
    score: Annotated[str | None, options.column("The column of scores.")] = None,
    decimal: Annotated[
        Literal[".", ","] | None,
        options.option(options.READING, "Decimal separator, if ambiguous."),
    ] = None,
    missing: options.Missing = None,
    order: options.Order = None,
    rename: options.Rename = None,
    spellings: options.Spellings = "ask",
    encoding: options.Encoding = None,
    sheet: options.Sheet = None,
    rope: Annotated[
        float,
        options.option(
            _TESTS,
            "Ignore differences of scores up to this size in pairwise comparisons.",
        ),
    ] = 0.0,
    tolerance: Annotated[
        float,
        options.option(
            _TESTS, "Scores within this distance of the best of a group are tied on a data set."
        ),
    ] = 0.0,
    alpha: Annotated[
        float, options.option(_TESTS, "Significance level of the Friedman and Nemenyi tests.")
    ] = 0.05,
    family: options.Family = "auto",
    tiers: options.TiersToPublish = "best",
    level: Annotated[float, options.option(options.MODEL, "Level of the intervals.")] = 0.95,
    certainty: options.Certainty = 0.95,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    figure: Annotated[
        Path | None, options.figure_to_write(options.OUTPUT, "Draw methods along their mean ranks.")
    ] = None,
    strengths: Annotated[
        Path | None,
        options.figure_to_write(
            options.OUTPUT, "Draw methods along their strengths, if the model has them."
        ),
    ] = None,
    paragraph: Annotated[
        bool,
        typer.Option(
            "--paragraph",
            help="Print a paragraph for a paper instead of the table.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = False,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Compare methods over data sets: tiers instead of overlapping groups, and tests."""
    from tierwise.comparing.compare import compare

    compared = compare(
        BytesIO(sys.stdin.buffer.read()) if file == "-" else file,
        better,
        rope=rope,
        tolerance=tolerance,
        items_in=items_in,
        items=items,
        tasks=tasks,
        lower=lower,
        task=task,
        item=item,
        score=score,
        decimal=decimal,
        missing=missing,
        order=order,
        rename=reading.parse_rename(rename or []),
        spellings=spellings,
        encoding=encoding,
        sheet=sheet,
        alpha=alpha,
        family=family,
        tiers=tiers,
        level=level,
        certainty=certainty,
        workers=workers,
        progress=printing.progress(quiet=quiet or json),
        rng=seed,
    )
    if not (quiet or json):
        data_sets = counted(len(compared.scores), "data set")
        about = counted(len(compared.methods), "method")
        printing.note(f"Read {data_sets} about {about}.")
        notes = compared.reading
        for sentence in notes.set_aside(Shell().says) if notes is not None else ():
            printing.note(sentence)
    if out is not None and not (json or paragraph):
        compared.write(out)
        printing.said_where(out, quiet=quiet)
    else:

        def as_text(width: int) -> "list[RenderableType]":
            return [compared.paragraph() if paragraph else compared.summary(width)]

        printing.give(printing.given(compared, text=as_text), out, json=json, quiet=quiet)
    for path, along in ((figure, "ranks"), (strengths, "strengths")):
        if path is not None:
            from tierwise.plots.comparison import rank_diagram

            drawn = rank_diagram(compared, along)  # type: ignore[arg-type]
            printing.save_figure(drawn, path, quiet=quiet)
