"""How commands get what people said: the argument FILE and the options that say how to read it."""

import inspect
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Literal, ParamSpec, TypeAlias

import typer

from tierwise._util.memory import VARIABLE, parse_size

if TYPE_CHECKING:
    from tierwise.data.preferences import Preferences
    from tierwise.data.rankings import Rankings

Answers: TypeAlias = "Rankings | Preferences"

_Options = ParamSpec("_Options")

_INPUT = "How to read the file"

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
    Literal["auto", "orderings", "ranks", "long", "pairs"],
    typer.Option(
        help="How a table is laid out: one column per place, one column per item, one row per item "
        "of an answer, or one row per comparison of two items.",
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
Assessor: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that says whose answer it is (recognised: voter, name, id and the like); "
        "give several to name a race by year and round.",
        show_default=False,
        rich_help_panel=_INPUT,
    ),
]
ItemColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of items, with one row per item (recognised: item, candidate).",
        show_default=False,
        rich_help_panel=_INPUT,
    ),
]
RankColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of ranks, with one row per item (recognised: rank, place, position).",
        show_default=False,
        rich_help_panel=_INPUT,
    ),
]
Preferred: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of items preferred, with one row per pair (recognised: preferred, "
        "winner).",
        show_default=False,
        rich_help_panel=_INPUT,
    ),
]
Other: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of items they were preferred to (recognised: other, loser).",
        show_default=False,
        rich_help_panel=_INPUT,
    ),
]
Cycles: TypeAlias = Annotated[
    Literal["error", "keep"],
    typer.Option(
        help="Whether comparisons that contradict each other are an error, or kept as answers of "
        "which any may be mistaken.",
        rich_help_panel=_INPUT,
    ),
]
Memory: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        envvar=VARIABLE,
        help="The most memory that a step may take, such as 2GB; a quarter of what is free if not "
        "given.",
        show_default=False,
        rich_help_panel="How to compute",
    ),
]


def read_file(
    file: File,
    format: Format = "auto",  # noqa: A002 - becomes the option --format
    layout: Layout = "auto",
    unranked: Unranked = None,
    ties: Ties = "error",
    weights: Weights = None,
    assessor: Assessor = None,
    item: ItemColumn = None,
    rank: RankColumn = None,
    preferred: Preferred = None,
    other: Other = None,
    cycles: Cycles = "error",
    memory: Memory = None,
) -> Answers:
    """Read what a command is about."""
    from tierwise.data.read import read_answers

    if memory is not None:
        parse_size(memory, "--memory")
        # In the environment, so that processes that this one starts see it.
        os.environ[VARIABLE] = memory
    return read_answers(
        sys.stdin.buffer if file == "-" else file,
        format=format,
        layout=layout,
        unranked=unranked,
        ties=ties,
        weights=weights,
        assessor=assessor or None,
        item=item,
        rank=rank,
        preferred=preferred,
        other=other,
        cycles=cycles,
    )


def reads_file(
    command: Callable[Concatenate[Answers, _Options], None],
) -> Callable[..., None]:
    """Give a command the argument FILE and the options of `read_file` for its first parameter.

    So they are written once, and every command has all of them; they stand before the options that
    say what to print, which are keyword-only.
    """
    file, *reading = inspect.signature(read_file).parameters.values()
    _, *own = inspect.signature(command).parameters.values()
    before = [one for one in own if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    after = [one for one in own if one.kind is inspect.Parameter.KEYWORD_ONLY]
    names = [file.name, *(one.name for one in reading)]

    def run(**options: Any) -> None:
        how = {name: options.pop(name) for name in names}
        command(read_file(**how), **options)  # type: ignore[call-arg]

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature([file, *before, *reading, *after])  # type: ignore[attr-defined]
    return run
