"""Options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

if TYPE_CHECKING:
    from tierwise.rankings import Rankings

_INPUT = "How to read the file"
_MODEL = "The model"
_COMPUTING = "How to compute"
_OUTPUT = "What to print"

File: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, Parquet, PrefLib or sushi file with rankings; - is standard input.",
        show_default=False,
    ),
]
Format: TypeAlias = Annotated[
    Literal["auto", "csv", "parquet", "preflib", "sushi"],
    typer.Option(help="The format of the file.", rich_help_panel=_INPUT),
]
Layout: TypeAlias = Annotated[
    Literal["auto", "orderings", "ranks", "long"],
    typer.Option(
        help="How a table is laid out: a column a place, a column an item, or a row an item.",
        rich_help_panel=_INPUT,
    ),
]
Unranked: TypeAlias = Annotated[
    Literal["below", "anywhere"] | None,
    typer.Option(
        help="What it means that an answer does not list an item.",
        show_default=False,
        rich_help_panel=_INPUT,
    ),
]
Ties: TypeAlias = Annotated[
    Literal["error", "allow"],
    typer.Option(help="Whether equal ranks in an answer are an error.", rich_help_panel=_INPUT),
]
Weights: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that says how often an answer counts (recognised: weight, count).",
        show_default=False,
        rich_help_panel=_INPUT,
    ),
]
Sizes: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="1,2,2",
        help="How many items each tier holds, best tier first; searched for if not given.",
        show_default=False,
        rich_help_panel=_MODEL,
    ),
]
Distance: TypeAlias = Annotated[
    Literal["kendall", "hamming", "footrule", "spearman"],
    typer.Option(help="How the distance from tiers is measured.", rich_help_panel=_MODEL),
]
Seed: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Seed of all randomness, for the same answer again.",
        show_default=False,
        rich_help_panel=_COMPUTING,
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Number of processes; -1 is one a core.",
        show_default=False,
        rich_help_panel=_COMPUTING,
    ),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON, and nothing else.", rich_help_panel=_OUTPUT)
]
Quiet: TypeAlias = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Leave out notes on stderr.", rich_help_panel=_OUTPUT),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write to a file instead of the terminal.",
        show_default=False,
        rich_help_panel=_OUTPUT,
    ),
]


def parse_sizes(text: str) -> tuple[int, ...]:
    """Read sizes as people type them, such as 1,2,2."""
    from tierwise.errors import InputError

    try:
        return tuple(int(size) for size in text.split(","))
    except ValueError:
        raise InputError(f"sizes {text!r} are not whole numbers such as 1,2,2") from None


def parse_groups(text: str) -> list[int]:
    """Read numbers of groups as people type them: 3, or 1-6, or 2,4."""
    from tierwise.errors import InputError

    try:
        numbers: list[int] = []
        for part in text.split(","):
            first, _, last = part.partition("-")
            numbers += range(int(first), int(last or first) + 1)
    except ValueError:
        raise InputError(f"groups {text!r} are not numbers such as 3, 1-6 or 2,4") from None
    return numbers


def read_file(
    file: str, file_format: Format, layout: Layout, unranked: Unranked, ties: Ties, weights: Weights
) -> "Rankings":
    """Read the rankings that a command is about."""
    import sys

    from tierwise.readers import read_rankings

    return read_rankings(
        sys.stdin.buffer if file == "-" else file,
        format=file_format,
        layout=layout,
        unranked=unranked,
        ties=ties,
        weights=weights,
    )
