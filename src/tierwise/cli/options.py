"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

_MODEL = "The model"
_COMPUTING = "How to compute"
_OUTPUT = "What to print"

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
    Literal["kendall", "inversions", "hamming", "footrule", "spearman"],
    typer.Option(help="How the distance from tiers is measured.", rich_help_panel=_MODEL),
]
AnyDistance: TypeAlias = Annotated[
    Literal["auto", "kendall", "inversions", "hamming", "footrule", "spearman"],
    typer.Option(
        help="How the distance from tiers is measured; auto lets the data choose where sizes are "
        "searched for, and is kendall for given sizes.",
        rich_help_panel=_MODEL,
    ),
]
Concentration: TypeAlias = Annotated[
    Literal["single", "tier", "place", "auto"],
    typer.Option(
        help="Whether people agree equally everywhere: one theta, one per tier (tastes), one per "
        "place (races), or what pays best.",
        rich_help_panel=_MODEL,
    ),
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
        help="Number of processes; -1 is one per core.",
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


def for_given_sizes(distance: str) -> str:
    """Return the distance for sizes that are given: kendall, the paper's, if none is named."""
    return "kendall" if distance == "auto" else distance


def parse_sizes(text: str) -> tuple[int, ...]:
    """Read sizes as people type them, such as 1,2,2."""
    from tierwise.errors import InputError

    try:
        return tuple(int(size) for size in text.split(","))
    except ValueError:
        raise InputError(f"sizes {text!r} are not whole numbers such as 1,2,2") from None


def parse_names(text: str) -> list[str]:
    """Read names of columns as people type them: age,region."""
    return [name.strip() for name in text.split(",") if name.strip()]


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
