"""``tierwise mixture``: groups of people, each with its own tiers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tierwise.cli import options, printing, reading

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from tierwise.mixture.result import Mixture

_GROUPS = "The groups"
_FOLDS = 5

EXAMPLES = """
Examples:

tierwise mixture survey.csv --seed 1

tierwise mixture survey.csv --groups 2-4 --sizes 1,2,3 --noise uniform

tierwise mixture survey.csv --groups 3 --by region
"""


@reading.reads_file
def mixture_command(
    answers: reading.Answers,
    groups: Annotated[
        str,
        typer.Option(
            metavar="3|1-6|2,4",
            help="How many groups; several numbers are compared.",
            rich_help_panel=_GROUPS,
        ),
    ] = "1-6",
    sizes: options.Sizes = None,
    distance: options.Distance = "kendall",
    noise: Annotated[
        Literal["none", "uniform"],
        typer.Option(
            help="Whether there is a group of those who follow no tiers.", rich_help_panel=_GROUPS
        ),
    ] = "none",
    criterion: Annotated[
        Literal["bic", "icl", "held-out"],
        typer.Option(help="What chooses the number of groups.", rich_help_panel=_GROUPS),
    ] = "bic",
    starts: Annotated[
        int,
        typer.Option(min=1, help="How often to begin anew.", rich_help_panel=_GROUPS),
    ] = 20,
    covariate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A value for each answer, one per line, to relate the groups to.",
            show_default=False,
            rich_help_panel=_GROUPS,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of the file that holds no answers, to relate the groups to.",
            show_default=False,
            rich_help_panel=_GROUPS,
        ),
    ] = None,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Divide people into groups, each with its own tiers; say how many groups there are."""
    from tierwise.mixture.fit import fit_mixture

    # Fewer rankings than this cannot be held out in turn; who asks for it is told so.
    few = answers.n_rankings < _FOLDS and criterion != "held-out"
    found = fit_mixture(
        answers,
        options.parse_groups(groups),
        "search" if sizes is None else options.parse_sizes(sizes),
        distance,
        noise=noise,
        criterion=criterion,
        starts=starts,
        folds=None if few else _FOLDS,
        workers=workers,
        progress=printing.progress(quiet=quiet),
        rng=seed,
    )
    columns = None
    if by is not None:
        columns = found.to_frame(by, backend="pyarrow").to_pydict()
    elif covariate is not None:
        columns = _relate(found, covariate)
    if json:
        result = found.to_dict()
        if columns is not None:
            result["covariate"] = columns
        printing.print_json(result, out)
        return
    parts: list[RenderableType] = [found.summary(printing.width_of_output(out))]
    if columns is not None:
        parts += [printing.heading("Share of each group, by value"), _table(columns)]
    printing.print_result(parts, out)


def _relate(found: "Mixture", covariate: Path) -> dict[str, list[Any]]:
    from tierwise.errors import InputError

    try:
        values = covariate.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"cannot read {covariate}: {error.strerror}") from None
    table: dict[str, list[Any]] = found.to_frame(values, backend="pyarrow").to_pydict()
    return table


def _table(columns: dict[str, list[Any]]) -> "Table":
    table = printing.new_table()
    for name in columns:
        table.add_column(name, justify="left" if name == "value" else "right")
    for value, number, *shares in zip(*columns.values(), strict=True):
        shown = "missing" if value is None else str(value)
        table.add_row(shown, f"{number:,}", *(f"{share:.1%}" for share in shares))
    return table
