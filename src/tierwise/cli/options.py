"""Options that commands share, and how what people type in them is read."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from tierwise._util.resources import VARIABLE, check_can_be_written
from tierwise._util.tables import TABLE_ENDINGS, check_ending
from tierwise.distances import DistanceName
from tierwise.errors import InputError, quoted

if TYPE_CHECKING:
    from tierwise._util.types import Item


FIGURE_ENDINGS = (".png", ".svg", ".pdf")
READING = "How to read the file"
BATTLES = "How to read battles"
BEST_WORST = "How to read choices of the best and the worst"
SCORES = "How to read scores"
MODEL = "The model"
COMPUTING = "How to compute"
OUTPUT = "What to print"


def option(panel: str, says: str, metavar: str | None = None, **limits: Any) -> Any:
    """Make an option in a panel of the help."""
    return typer.Option(metavar=metavar, help=says, rich_help_panel=panel, **limits)


def column(says: str, panel: str = READING) -> Any:
    """Make an option that names a column."""
    return option(panel, says, "COLUMN")


def file_to_write(
    says: str, endings: tuple[str, ...], *, name: str = "--out", panel: str = OUTPUT
) -> Any:
    """Make an option for a file to write; an impossible name is refused before any work."""

    def checked(context: typer.Context, path: Path | None) -> Path | None:
        if path is not None:
            # With --json any file name is fine.
            if not context.params.get("json"):
                check_ending(path, endings)
            check_can_be_written(path)
        return path

    names = (name, "-o") if name == "--out" else (name,)
    return typer.Option(*names, metavar="FILE", help=says, rich_help_panel=panel, callback=checked)


def figure_to_write(panel: str, says: str) -> Any:
    """Make an option that names a file for a figure."""
    return option(panel, f"{says[:-1]}, .png, .svg or .pdf.", "FILE", callback=_check_figure)


def _check_figure(path: Path | None) -> Path | None:
    if path is not None:
        check_ending(path, FIGURE_ENDINGS)
        check_can_be_written(path)
    return path


File: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, Excel, Parquet, PrefLib, BLT or sushi file with rankings, pairs, battles, "
        "scores (add --better) or choices of the best and the worst. Use - for standard input.",
        show_default=False,
    ),
]
BoardFile: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, Excel, Parquet or JSON lines with one battle per row (model_a, model_b, winner; "
        "left, right, winner; or winner, loser), with scores (add --better), or a file with "
        "rankings. Use - for standard input.",
        show_default=False,
    ),
]
Format: TypeAlias = Annotated[
    Literal["auto", "csv", "parquet", "xlsx", "jsonl", "preflib", "blt", "sushi", "lines"],
    option(READING, "The format of the file."),
]
Layout: TypeAlias = Annotated[
    Literal["auto", "orderings", "ranks", "long", "pairs"],
    option(
        READING,
        "How a table is laid out: one column per place, one column per item, one row per item "
        "of an answer, or one row per comparison of two items.",
    ),
]
Unranked: TypeAlias = Annotated[
    Literal["below", "anywhere"] | None,
    option(READING, "What it means if an answer does not list an item."),
]
Ties: TypeAlias = Annotated[
    Literal["error", "allow"],
    option(READING, "Whether equal ranks in an answer are allowed or an error."),
]
Weights: TypeAlias = Annotated[
    str | None,
    column("The column that says how often an answer counts (detected: weight, count)."),
]
WeightsAre: TypeAlias = Annotated[
    Literal["counts", "survey"] | None,
    option(
        READING,
        "Whether weights count people who gave the same answer, or are survey weights, which "
        "are scaled to the effective number of answers.",
    ),
]
Assessor: TypeAlias = Annotated[
    list[str] | None,
    column(
        "The column that says whose answer it is (detected: voter, name, id and similar). You "
        "can give several, such as year and round for a race."
    ),
]
ItemColumn: TypeAlias = Annotated[
    str | None,
    column("The column of items, with one row per item (detected: item, candidate)."),
]
RankColumn: TypeAlias = Annotated[
    str | None,
    column("The column of ranks, with one row per item (detected: rank, place, position)."),
]
Preferred: TypeAlias = Annotated[
    str | None,
    column("The column of preferred items, with one row per pair (detected: preferred, winner)."),
]
Other: TypeAlias = Annotated[
    str | None, column("The column of the items that lost (detected: other, loser).")
]
Items: TypeAlias = Annotated[
    str | None,
    option(
        READING,
        'The columns that are items, such as "tea,coffee,milk" or "Q1_*"; others are set '
        "aside. In a table of places: the complete list of items.",
        "NAMES",
    ),
]
Without: TypeAlias = Annotated[
    list[str] | None,
    option(READING, "Remove this item from every answer. Can be repeated.", "ITEM"),
]
Rename: TypeAlias = Annotated[
    list[str] | None,
    option(READING, "Rename an item. Can be repeated.", "OLD=NEW"),
]
Better: TypeAlias = Annotated[
    Literal["higher", "lower"] | None,
    option(SCORES, "The cells are scores, not ranks, and higher (or lower) is better."),
]
Order: TypeAlias = Annotated[
    str | None,
    option(READING, "The grades that cells hold, best first.", '"S,A,B,C,D"'),
]
Empty: TypeAlias = Annotated[
    Literal["error", "skip"],
    option(READING, "Whether rows without any item are set aside or an error."),
]
ItemsIn: TypeAlias = Annotated[
    Literal["auto", "rows", "columns"],
    option(SCORES, "Whether the items of a table of scores are in rows or in columns."),
]
Tasks: TypeAlias = Annotated[
    str | None,
    option(
        SCORES,
        "The tasks of a table of scores. If not given, columns such as parameters, latency and "
        "price are set aside.",
        "NAMES",
    ),
]
Lower: TypeAlias = Annotated[
    str | None,
    option(
        SCORES,
        "Tasks in which lower scores are better, if higher ones are better in the others.",
        "NAMES",
    ),
]
TaskColumn: TypeAlias = Annotated[
    str | None,
    column("The column of tasks, with one row per task and item (detected: task, dataset)."),
]
ScoreColumn: TypeAlias = Annotated[
    str | None,
    column("The column of scores, with one row per task and item (detected: score, accuracy)."),
]
Tolerance: TypeAlias = Annotated[
    float,
    option(SCORES, "Scores within this distance of the best of a group are tied."),
]
Decimal: TypeAlias = Annotated[
    str | None, option(SCORES, "Decimal separator, if ambiguous.", ".|,")
]
First: TypeAlias = Annotated[str | None, column("The column of the first model.", BATTLES)]
Second: TypeAlias = Annotated[str | None, column("The column of the second model.", BATTLES)]
Winner: TypeAlias = Annotated[str | None, column("The column of the winner.", BATTLES)]
Loser: TypeAlias = Annotated[
    str | None,
    column("The column of the loser, if only winner and loser are named.", BATTLES),
]
Points: TypeAlias = Annotated[
    str | None,
    option(
        BATTLES,
        "The two columns of the points of the first and the second model, if no column says who "
        "won.",
        "NAMES",
    ),
]
Judge: TypeAlias = Annotated[str | None, column("The column of the judge.", BATTLES)]
Drawn: TypeAlias = Annotated[
    Literal["half", "drop", "model"],
    option(
        BATTLES,
        "How a drawn battle counts: half a win for each side, not at all, or as a separate "
        "outcome that is more likely the closer the two are (Davidson's model).",
    ),
]
Position: TypeAlias = Annotated[
    Literal["ignore", "model"],
    option(BATTLES, "Whether to estimate the advantage of being shown first."),
]
Shown: TypeAlias = Annotated[
    str | None,
    option(
        BEST_WORST,
        "The columns of the items shown, or the one column that lists them (detected: item1, "
        "item2, ..., shown).",
        "NAMES",
    ),
]
Best: TypeAlias = Annotated[
    str | None, column("The column of the best item (detected: best, most).", BEST_WORST)
]
Worst: TypeAlias = Annotated[
    str | None, column("The column of the worst item (detected: worst, least).", BEST_WORST)
]
ChoiceSet: TypeAlias = Annotated[
    str | None,
    option(
        BEST_WORST,
        "With one row per item shown: the columns that say which rows belong together, such as "
        '"person,question".',
        "NAMES",
    ),
]
Spellings: TypeAlias = Annotated[
    Literal["ask", "keep"],
    option(READING, "Whether names that differ only in case, spaces or punctuation are an error."),
]
Overvotes: TypeAlias = Annotated[
    Literal["end", "skip"],
    option(READING, "Whether an overvote ends a ballot or is skipped."),
]
Repeats: TypeAlias = Annotated[
    Literal["error", "first"] | None,
    option(
        READING,
        "Whether an item named twice in an answer is an error, or counts where it is named "
        "first. The default for ballots with skipped or overvote cells is the latter.",
    ),
]
Broken: TypeAlias = Annotated[
    Literal["error", "skip"],
    option(READING, "Whether invalid answers are left out or an error."),
]
Missing: TypeAlias = Annotated[
    str | None,
    option(
        READING,
        'Codes for missing answers, such as "99,-1", in addition to words such as NA. Use '
        '"nothing" if all cells are answers, "99,nothing" if words such as NA are answers.',
        "CODES",
    ),
]
Encoding: TypeAlias = Annotated[
    str | None,
    option(
        READING,
        "Encoding of a CSV file, such as latin-1 or utf-16; detected if not given.",
        "NAME",
    ),
]
Sheet: TypeAlias = Annotated[
    str | None,
    option(
        READING, "The sheet of an Excel file, by name or number; the first if not given.", "SHEET"
    ),
]
Cycles: TypeAlias = Annotated[
    Literal["error", "keep"],
    option(
        READING,
        "Whether contradictory comparisons are an error, or are kept as answers that may "
        "contain mistakes.",
    ),
]
Memory: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        envvar=VARIABLE,
        help="Memory limit of a step, such as 2GB; a quarter of the free memory if not given.",
        rich_help_panel=COMPUTING,
    ),
]
Sizes: TypeAlias = Annotated[
    str | None,
    option(
        MODEL,
        "How many items each tier holds, best tier first; searched for if not given.",
        "1,2,2",
    ),
]
Distance: TypeAlias = Annotated[
    Literal["auto", DistanceName],
    option(
        MODEL,
        "How to measure the distance from the tiers. With auto the data choose if sizes are "
        "searched for; given sizes imply kendall.",
    ),
]
Family: TypeAlias = Annotated[
    Literal["auto", "mallows", "luce"],
    option(
        MODEL,
        "mallows: a distance from the tiers and theta; luce: one worth per tier, which shows "
        "how far apart the tiers are; auto: the data choose.",
    ),
]
FamilyOfGroups: TypeAlias = Annotated[
    Literal["auto", "mallows", "luce"],
    option(
        MODEL,
        "mallows: a distance from the tiers and theta; luce: one worth per tier; auto: the one "
        "that describes the answers of all people best.",
    ),
]
MaxTiers: TypeAlias = Annotated[
    int | None,
    option(MODEL, "For luce: at most N tiers, for a list that is easy to read.", "N", min=1),
]
TiersToPublish: TypeAlias = Annotated[
    Literal["best", "leader", "sure"],
    option(
        MODEL,
        "Which tiers to publish: the most probable ones; tiers whose items are not clearly "
        "different from the first item; or tiers in which no two items are clearly "
        "different.",
    ),
]
Certainty: TypeAlias = Annotated[
    float,
    option(
        MODEL, "Two items are clearly different if one is better with at least this probability."
    ),
]
Margin: TypeAlias = Annotated[
    float,
    option(
        MODEL,
        "For luce: an item of a tier must beat one of the next with more than this "
        "probability, such as 0.52.",
    ),
]
Concentration: TypeAlias = Annotated[
    Literal["single", "tier", "place", "auto"] | None,
    option(
        MODEL,
        "Whether people agree equally everywhere: one theta, one per tier (tastes), one per "
        "place (races), or whichever fits best. If not given: one theta if you give sizes or a "
        "distance, otherwise whichever fits best among the models whose tiers can be "
        "drawn.",
    ),
]
Seconds: TypeAlias = Annotated[
    float | None,
    option(
        COMPUTING,
        "Time limit for comparing a distance with other models (5 if not given), and for "
        "chains that have not converged (60). The output lists what was left out.",
        "S",
        min=0,
    ),
]
Seed: TypeAlias = Annotated[
    int | None,
    option(COMPUTING, "Random seed; the same seed gives the same result."),
]
Workers: TypeAlias = Annotated[
    int | None,
    option(COMPUTING, "Number of processes; -1 means one per core."),
]
Json: TypeAlias = Annotated[
    bool,
    # Eager: known before the name of a file is checked.
    typer.Option("--json", help="Print only JSON.", rich_help_panel=OUTPUT, is_eager=True),
]
Quiet: TypeAlias = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print no notes on stderr.", rich_help_panel=OUTPUT),
]
Out: TypeAlias = Annotated[
    Path | None,
    file_to_write(
        "Write to a file instead of the terminal. Its extension sets the format: .txt, .md, "
        ".csv, .json, .tex, .html or .xlsx.",
        TABLE_ENDINGS,
    ),
]


def for_given_sizes(distance: str) -> str | None:
    """Return the distance for given sizes: by default that of the data."""
    return None if distance == "auto" else distance


def parse_tiers(text: str, items: "tuple[Item, ...]") -> "list[list[Item]]":
    """Parse tiers in the printed form, such as a > b ~ c."""
    known = {str(item): item for item in items}
    named = [[name.strip() for name in tier.split("~")] for tier in text.split(">")]
    for name in (name for tier in named for name in tier):
        if name not in known:
            shown = " > ".join([*known][:3] + ["..."] * (len(known) > 3))
            raise InputError(
                f"--tiers names {quoted(name)}, which is not an item: write the items as {shown}, "
                "with ~ between items of the same tier"
            )
    return [[known[name] for name in tier] for tier in named]


def parse_sizes(text: str) -> tuple[int, ...]:
    """Read sizes as people type them, such as 1,2,2."""
    try:
        return tuple(int(size) for size in text.split(","))
    except ValueError:
        raise InputError(f"sizes {text!r} are not whole numbers such as 1,2,2") from None


def parse_groups(text: str) -> list[int]:
    """Read numbers of groups as people type them: 3, or 1-6, or 2,4."""
    try:
        numbers: list[int] = []
        for part in text.split(","):
            first, _, last = part.partition("-")
            numbers += range(int(first), int(last or first) + 1)
    except ValueError:
        raise InputError(f"groups {text!r} are not numbers such as 3, 1-6 or 2,4") from None
    return numbers
