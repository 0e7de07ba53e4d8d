"""``tierwise search``: which sizes describe the rankings best, as a leaderboard."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tierwise.cli import options, printing, reading

if TYPE_CHECKING:
    from tierwise.searching.search import SearchMethod
    from tierwise.searching.size_space import Moves
    from tierwise.searching.strategies import Strategy

_SEARCH = "What to search, and how"

EXAMPLES = """
Examples:

tierwise search survey.csv

tierwise search survey.csv --criterion evidence --json

tierwise search survey.csv --top 1,1,1 --method tabu --workers -1
"""


@reading.reads_file
def search_command(
    answers: reading.Answers,
    distance: options.AnyDistance = "auto",
    concentration: options.Concentration = "single",
    criterion: Annotated[
        Literal["posterior", "likelihood", "evidence", "agreement", "both"],
        typer.Option(
            help="What is compared: the posterior probability of tiers, the paper's I, the "
            "evidence, the paper's D (for narrowing only: alone it drifts to degenerate tiers), or "
            "D to narrow and I to decide.",
            rich_help_panel=_SEARCH,
        ),
    ] = "posterior",
    method: Annotated[
        Literal["auto", "exhaustive", "greedy", "tabu", "genetic"],
        typer.Option(help="How to go through the sizes.", rich_help_panel=_SEARCH),
    ] = "auto",
    moves: Annotated[
        Literal["split-merge-shift", "adjacent"],
        typer.Option(help="Which sizes are neighbours.", rich_help_panel=_SEARCH),
    ] = "split-merge-shift",
    start: Annotated[
        str,
        typer.Option(
            metavar="merging|merging-by-size|1,2,2",
            help="Where searches other than the exhaustive begin.",
            rich_help_panel=_SEARCH,
        ),
    ] = "merging",
    n_tiers: Annotated[
        int | None,
        typer.Option(
            "--tiers",
            metavar="N",
            help="Consider this number of tiers only.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    top: Annotated[
        str | None,
        typer.Option(
            metavar="1,1",
            help="Sizes that the first tiers must have.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    bottom: Annotated[
        str | None,
        typer.Option(
            metavar="1,1",
            help="Sizes that the last tiers must have.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    sample_neighbours: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Try so many neighbours per move, drawn at random.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    rows: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="How much of the leaderboard to show.", rich_help_panel=_SEARCH
        ),
    ] = 10,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Find out how many tiers there are, and how large: a leaderboard of sizes, best first."""
    from tierwise.searching.search import search

    found = search(
        answers,
        distance,
        concentration=concentration,
        criterion=criterion,
        method=_strategy(method, moves, start, sample_neighbours),
        n_tiers=n_tiers,
        top=options.parse_sizes(top) if top else None,
        bottom=options.parse_sizes(bottom) if bottom else None,
        workers=workers,
        progress=printing.progress(quiet=quiet),
        rng=seed,
    )
    if json:
        printing.print_json(found.to_dict(), out)
    else:
        printing.print_result([found.summary(rows)], out)


def _strategy(
    method: "SearchMethod", moves: "Moves", start: str, sample_neighbours: int | None
) -> "SearchMethod | Strategy":
    """Bundle the options of a strategy; what is left to itself stays a name."""
    from tierwise.searching.strategies import Genetic, Greedy, Tabu

    begin = options.parse_sizes(start) if start[:1].isdigit() else start
    as_it_is = (moves, begin, sample_neighbours) == ("split-merge-shift", "merging", None)
    if method == "exhaustive" or as_it_is:
        return method
    if method == "genetic":
        return Genetic(start=begin)
    kind = Tabu if method == "tabu" else Greedy
    return kind(start=begin, moves=moves, sample_neighbours=sample_neighbours)
