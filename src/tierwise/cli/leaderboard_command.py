"""``tierwise leaderboard``: tiers, rank intervals and how sure they are, to be published."""

import sys
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tierwise.cli import options, printing, reading

if TYPE_CHECKING:
    from tierwise.data.battles import Battles
    from tierwise.data.rankings import Rankings
    from tierwise.posterior.leaderboard import Leaderboard

_INPUT = "How to read the file"
_MODEL = "The model"
_OUTPUT = "What to print"

EXAMPLES = """
Examples:

tierwise leaderboard battles.csv --seed 1 --page leaderboard.html

tierwise leaderboard scores.csv --scores higher -o leaderboard.md

tierwise leaderboard battles.jsonl --uncertainty bootstrap -o leaderboard.csv --figure ranks.svg
"""


def _said(
    panel: str, text: str, metavar: str | None = None, *, shows_default: bool = False
) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        metavar=metavar, help=text, show_default=shows_default, rich_help_panel=panel
    )
    return option


def _column(what: str) -> typer.models.OptionInfo:
    return _said(_INPUT, f"The column of {what}.", "COLUMN")


def leaderboard_command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV, Excel, Parquet or JSON lines with one battle per row (model_a, model_b, "
            "winner; left, right, winner; or winner, loser), or with scores (say --scores); - is "
            "standard input.",
            show_default=False,
        ),
    ],
    scores: reading.Scores = None,
    tolerance: Annotated[
        float,
        _said(
            _INPUT,
            "Scores no further than this from the best of a group are tied.",
            shows_default=True,
        ),
    ] = 0.0,
    items: Annotated[
        str | None, _said(_INPUT, "The columns of scores that are items.", "A,B,C")
    ] = None,
    decimal: Annotated[
        str | None, _said(_INPUT, "What stands before the decimals, where that is open.", ".|,")
    ] = None,
    first: Annotated[str | None, _column("the first model")] = None,
    second: Annotated[str | None, _column("the second model")] = None,
    winner: Annotated[str | None, _column("the winner")] = None,
    loser: Annotated[str | None, _column("the loser, if only winner and loser are named")] = None,
    judge: Annotated[str | None, _column("who judged")] = None,
    weight: Annotated[str | None, _column("how often a row counts")] = None,
    drawn: Annotated[
        Literal["half", "drop"],
        _said(
            _INPUT,
            "Whether a drawn battle counts half to each side, or not at all.",
            shows_default=True,
        ),
    ] = "half",
    spellings: Annotated[
        Literal["ask", "keep"],
        _said(
            _INPUT,
            "Whether names that differ by case or space alone are an error.",
            shows_default=True,
        ),
    ] = "ask",
    uncertainty: Annotated[
        Literal["posterior", "bootstrap"],
        _said(
            _MODEL,
            "Draws from the posterior, or battles (or judges) drawn anew.",
            shows_default=True,
        ),
    ] = "posterior",
    concentration: Annotated[
        Literal["single", "tier"],
        _said(_MODEL, "For scores: one theta, or one per tier.", shows_default=True),
    ] = "single",
    level: Annotated[
        float, _said(_MODEL, "Level of the rank intervals.", shows_default=True)
    ] = 0.95,
    certainty: Annotated[
        float,
        _said(
            _MODEL,
            "Two items of which one is better with this probability are never in one tier.",
            shows_default=True,
        ),
    ] = 0.95,
    best: Annotated[
        str,
        _said(
            _MODEL, "Probabilities to be among so many best are wanted.", "1,3", shows_default=True
        ),
    ] = "1,3",
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    page: Annotated[
        Path | None, _said(_OUTPUT, "Write a page about it, too, .html.", "FILE")
    ] = None,
    figure: Annotated[
        Path | None, _said(_OUTPUT, "Draw the rank intervals, .png or .svg.", "FILE")
    ] = None,
    tier_list: Annotated[
        Path | None, _said(_OUTPUT, "Draw the tier list, .png or .svg.", "FILE")
    ] = None,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Make a leaderboard of battles or scores: tiers, rank intervals, and how sure they are.

    The ending of the file that is written (-o) says how: .csv, .json, .md, or text.
    """
    from tierwise.posterior.leaderboard import leaderboard

    source = BytesIO(sys.stdin.buffer.read()) if file == "-" else file
    data: Battles | Rankings
    if scores is not None:
        from tierwise.data.scores import read_scores

        data = read_scores(
            source,
            scores,
            items=items,
            tolerance=tolerance,
            decimal=decimal,  # type: ignore[arg-type]
        )
    else:
        from tierwise.data.battles import read_battles

        data = read_battles(
            source,
            first=first,
            second=second,
            winner=winner,
            loser=loser,
            judge=judge,
            weight=weight,
            draws=drawn,
            spellings=spellings,
        )
    if not (quiet or json):
        printing.note(f"Read {data!r}.")
    board = leaderboard(
        data,
        level=level,
        certainty=certainty,
        k=options.parse_sizes(best),
        uncertainty=uncertainty,
        concentration=concentration,
        workers=workers,
        progress=printing.progress(quiet=quiet or json),
        rng=seed,
    )
    _print_board(board, out, json=json)
    if page is not None:
        from tierwise.reporting.leaderboard_page import check_leaderboard, write_leaderboard_page

        write_leaderboard_page(board, page, check=check_leaderboard(board, data, seed))
    if figure is not None:
        from tierwise.plots.rank_intervals import rank_intervals

        _save(rank_intervals(board), figure)
    if tier_list is not None:
        from tierwise.plots.tiers import tier_list as draw_tier_list

        _save(draw_tier_list(board.tiers), tier_list)


def _print_board(board: "Leaderboard", out: Path | None, *, json: bool) -> None:
    ending = "" if out is None else out.suffix.lower()
    if json or ending == ".json":
        printing.print_json(board.to_dict(), out)
    elif ending == ".csv":
        board.to_csv(out)
    elif ending == ".md":
        board.to_markdown(out)
    else:
        printing.print_result([board.summary()], out)


def _save(ax: object, path: Path) -> None:
    """Write a figure, which is there whole or not at all."""
    from matplotlib import pyplot as plt
    from matplotlib.axes import Axes

    from tierwise._util.resources import whole_file
    from tierwise.errors import InputError

    ending = path.suffix.lower().removeprefix(".")
    if ending not in ("png", "svg"):
        raise InputError(f"figures are written as .png or .svg, not as {path.name!r}")
    assert isinstance(ax, Axes)
    figure = ax.get_figure(root=True)
    assert figure is not None
    with whole_file(path) as partial:
        figure.savefig(partial, format=ending, dpi=200)
    plt.close(figure)
