"""Options that commands share, and how commands get what people said from the argument FILE."""

import inspect
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Literal, ParamSpec, TypeAlias

import typer

from tierwise._kernels.compiling import silent_compiling
from tierwise._util.names import split_names
from tierwise._util.resources import VARIABLE, check_can_be_written, parse_size
from tierwise._util.tables import TABLE_ENDINGS, check_ending
from tierwise.cli import printing
from tierwise.cli.remedies import Shell
from tierwise.errors import InputError, counted, instead, quoted, use

if TYPE_CHECKING:
    from tierwise._util.types import Item
    from tierwise.data.battles import Battles
    from tierwise.data.preferences import Preferences
    from tierwise.data.rankings import Rankings

Answers: TypeAlias = "Rankings | Preferences | Battles"

_Options = ParamSpec("_Options")

# Layouts of scores in which each answer is a task.
_OF_TASKS = ("scores by item", "long scores")
FIGURE_ENDINGS = (".png", ".svg", ".pdf")
READING = "How to read the file"
BATTLES = "How to read battles"
BEST_WORST = "How to read choices of the best and the worst"
SCORES = "How to read scores"
MODEL = "The model"
COMPUTING = "How to compute"
OUTPUT = "What to print"


def option(panel: str, says: str, metavar: str | None = None, **limits: Any) -> Any:
    """Make an option that stands in a panel of the help."""
    return typer.Option(metavar=metavar, help=says, rich_help_panel=panel, **limits)


def column(says: str, panel: str = READING) -> Any:
    """Make an option that names a column."""
    return option(panel, says, "COLUMN")


def file_to_write(
    says: str, endings: tuple[str, ...], *, name: str = "--out", panel: str = OUTPUT
) -> Any:
    """Make an option that names a file to write; an impossible one is refused before the work."""

    def checked(context: typer.Context, path: Path | None) -> Path | None:
        if path is not None:
            # Whoever asks for JSON gets it under any name.
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
        help="CSV, Excel, Parquet, PrefLib, BLT or sushi file with rankings; - is standard input.",
        show_default=False,
    ),
]
BoardFile: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, Excel, Parquet or JSON lines with one battle per row (model_a, model_b, winner; "
        "left, right, winner; or winner, loser), with scores (say --better), or a file with "
        "rankings; - is standard input.",
        show_default=False,
    ),
]
Format: TypeAlias = Annotated[
    Literal["auto", "csv", "parquet", "xlsx", "preflib", "blt", "sushi", "lines"],
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
    option(READING, "What it means that an answer does not list an item."),
]
Ties: TypeAlias = Annotated[
    Literal["error", "allow"],
    option(READING, "Whether equal ranks in an answer are an error."),
]
Weights: TypeAlias = Annotated[
    str | None,
    column("The column that says how often an answer counts (recognised: weight, count)."),
]
WeightsAre: TypeAlias = Annotated[
    Literal["counts", "survey"] | None,
    option(
        READING,
        "Whether weights count people who gave the same answer, or are weights of a survey, which "
        "count as the effective number of answers.",
    ),
]
Assessor: TypeAlias = Annotated[
    list[str] | None,
    column(
        "The column that says whose answer it is (recognised: voter, name, id and the like); "
        "give several to name a race by year and round."
    ),
]
ItemColumn: TypeAlias = Annotated[
    str | None,
    column("The column of items, with one row per item (recognised: item, candidate)."),
]
RankColumn: TypeAlias = Annotated[
    str | None,
    column("The column of ranks, with one row per item (recognised: rank, place, position)."),
]
Preferred: TypeAlias = Annotated[
    str | None,
    column("The column of items preferred, with one row per pair (recognised: preferred, winner)."),
]
Other: TypeAlias = Annotated[
    str | None, column("The column of items they were preferred to (recognised: other, loser).")
]
Items: TypeAlias = Annotated[
    str | None,
    option(
        READING,
        'The columns that are items, such as "tea,coffee,milk" or "Q1_*"; others are set '
        "aside. In a table of places: all items there are.",
        "NAMES",
    ),
]
Without: TypeAlias = Annotated[
    list[str] | None,
    option(READING, "An item to strike from every answer; may be given several times.", "ITEM"),
]
Rename: TypeAlias = Annotated[
    list[str] | None,
    option(READING, "Another name for an item; may be given several times.", "OLD=NEW"),
]
Better: TypeAlias = Annotated[
    Literal["higher", "lower"] | None,
    option(SCORES, "The cells are scores, of which higher (or lower) is better, not ranks."),
]
Order: TypeAlias = Annotated[
    str | None,
    option(READING, "The grades that cells hold, best first.", '"S,A,B,C,D"'),
]
Empty: TypeAlias = Annotated[
    Literal["error", "skip"],
    option(READING, "Whether rows that list no item are an error, or set aside."),
]
ItemsIn: TypeAlias = Annotated[
    Literal["auto", "rows", "columns"],
    option(SCORES, "Whether the items of a table of scores are in rows or in columns."),
]
Tasks: TypeAlias = Annotated[
    str | None,
    option(
        SCORES,
        "The tasks of a table of scores; otherwise parameters, latency, price and the like are "
        "set aside.",
        "NAMES",
    ),
]
Lower: TypeAlias = Annotated[
    str | None,
    option(
        SCORES,
        "Tasks in which lower scores are better, where higher ones are in the others.",
        "NAMES",
    ),
]
Tolerance: TypeAlias = Annotated[
    float,
    option(SCORES, "Scores no further than this from the best of a group are tied."),
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
Judge: TypeAlias = Annotated[str | None, column("The column of who judged.", BATTLES)]
Drawn: TypeAlias = Annotated[
    Literal["half", "drop", "model"],
    option(
        BATTLES,
        "Whether a drawn battle counts half to each side, not at all, or as an outcome of its own "
        "that is the more probable the closer the two are (Davidson's model).",
    ),
]
Position: TypeAlias = Annotated[
    Literal["ignore", "model"],
    option(BATTLES, "Whether to estimate how much it helps to be shown first."),
]
Shown: TypeAlias = Annotated[
    str | None,
    option(
        BEST_WORST,
        "The columns of the items shown, or the one column that lists them (recognised: item1, "
        "item2, ..., shown).",
        "NAMES",
    ),
]
Best: TypeAlias = Annotated[
    str | None, column("The column of the best item (recognised: best, most).", BEST_WORST)
]
Worst: TypeAlias = Annotated[
    str | None, column("The column of the worst item (recognised: worst, least).", BEST_WORST)
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
    option(BATTLES, "Whether names that differ by case, space or punctuation alone are an error."),
]
Overvotes: TypeAlias = Annotated[
    Literal["end", "skip"],
    option(READING, "Whether an overvote ends a ballot, or is passed over."),
]
Repeats: TypeAlias = Annotated[
    Literal["error", "first"] | None,
    option(
        READING,
        "Whether an item that an answer names twice is an error, or counts where it is first "
        "named; the latter on ballots that say skipped or overvote.",
    ),
]
Broken: TypeAlias = Annotated[
    Literal["error", "skip"],
    option(READING, "Whether answers that cannot be right are an error, or left out."),
]
Missing: TypeAlias = Annotated[
    str | None,
    option(
        READING,
        'Codes for missing answers, such as "99,-1", besides words such as NA; "nothing" if all '
        'cells are answers, "99,nothing" if words are.',
        "CODES",
    ),
]
Encoding: TypeAlias = Annotated[
    str | None,
    option(
        READING,
        "How the text of a CSV file is written, such as latin-1 or utf-16; recognised otherwise.",
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
        "Whether comparisons that contradict each other are an error, or kept as answers of "
        "which any may be mistaken.",
    ),
]
Memory: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        envvar=VARIABLE,
        help="The most memory that a step may take, such as 2GB; a quarter of what is free if not "
        "given.",
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
    Literal["kendall", "inversions", "hamming", "footrule", "spearman"],
    option(MODEL, "How the distance from tiers is measured."),
]
AnyDistance: TypeAlias = Annotated[
    Literal["auto", "kendall", "inversions", "hamming", "footrule", "spearman"],
    option(
        MODEL,
        "How the distance from tiers is measured; auto lets the data choose where sizes are "
        "searched for, and is kendall for given sizes.",
    ),
]
Family: TypeAlias = Annotated[
    Literal["auto", "mallows", "luce"],
    option(
        MODEL,
        "mallows: a distance from the tiers and theta; luce: one worth per tier, which says how "
        "far tiers are apart; auto lets the data choose.",
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
    option(MODEL, "For luce: at most so many tiers, for a list that is easy to read.", "N", min=1),
]
TiersToPublish: TypeAlias = Annotated[
    Literal["best", "leader", "sure"],
    option(
        MODEL,
        "Which tiers to publish: the most probable ones; tiers of items that do not surely differ "
        "from their first; or tiers in which no two items surely differ.",
    ),
]
Certainty: TypeAlias = Annotated[
    float,
    option(MODEL, "Two items surely differ if one is better with at least this probability."),
]
Margin: TypeAlias = Annotated[
    float,
    option(
        MODEL,
        "For luce: items of neighbouring tiers must differ so much that the better one wins with "
        "more than this probability, such as 0.52.",
    ),
]
Concentration: TypeAlias = Annotated[
    Literal["single", "tier", "place", "auto"] | None,
    option(
        MODEL,
        "Whether people agree equally everywhere: one theta, one per tier (tastes), one per "
        "place (races), or whichever fits best. If not given: one theta where sizes or a distance "
        "are; elsewhere what fits best and has draws of its tiers.",
    ),
]
Seconds: TypeAlias = Annotated[
    float | None,
    option(
        COMPUTING,
        "How long a distance may take to be compared with other models (5 if not given), and how "
        "long chains that have not settled may go on (60); what is left out is said.",
        "S",
        min=0,
    ),
]
Seed: TypeAlias = Annotated[
    int | None,
    option(COMPUTING, "Seed of the random numbers, to get the same answer again."),
]
Workers: TypeAlias = Annotated[
    int | None,
    option(COMPUTING, "Number of processes; -1 is one per core."),
]
Json: TypeAlias = Annotated[
    bool,
    # Eager: known before the name of a file is checked.
    typer.Option(
        "--json", help="Print JSON, and nothing else.", rich_help_panel=OUTPUT, is_eager=True
    ),
]
Quiet: TypeAlias = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Leave out notes on stderr.", rich_help_panel=OUTPUT),
]
Out: TypeAlias = Annotated[
    Path | None,
    file_to_write(
        "Write to a file instead of the terminal; its ending says how: .txt, .md, .csv, .json, "
        ".tex, .html or .xlsx.",
        TABLE_ENDINGS,
    ),
]


def read_file(
    file: File,
    format: Format = "auto",  # noqa: A002 - becomes the option --format
    layout: Layout = "auto",
    unranked: Unranked = None,
    ties: Ties = "error",
    items: Items = None,
    without: Without = None,
    rename: Rename = None,
    better: Better = None,
    order: Order = None,
    items_in: ItemsIn = "auto",
    tasks: Tasks = None,
    lower: Lower = None,
    tolerance: Tolerance = 0.0,
    decimal: Decimal = None,
    first: First = None,
    second: Second = None,
    winner: Winner = None,
    loser: Loser = None,
    judge: Judge = None,
    drawn: Drawn = "half",
    position: Position = "ignore",
    shown: Shown = None,
    best: Best = None,
    worst: Worst = None,
    choice_set: ChoiceSet = None,
    spellings: Spellings = "ask",
    empty: Empty = "error",
    missing: Missing = None,
    overvotes: Overvotes = "end",
    repeats: Repeats = None,
    broken: Broken = "error",
    encoding: Encoding = None,
    sheet: Sheet = None,
    weights: Weights = None,
    weights_are: WeightsAre = None,
    assessor: Assessor = None,
    item: ItemColumn = None,
    rank: RankColumn = None,
    preferred: Preferred = None,
    other: Other = None,
    cycles: Cycles = "error",
    memory: Memory = None,
    *,
    for_board: Literal["yes", "no"] = "no",
) -> Answers:
    """Read what a command is about; a leaderboard takes winners and losers for battles."""
    from tierwise.data.read import leave_out, read

    if memory is not None:
        parse_size(memory, "--memory")
        # In the environment, so that processes that this one starts see it.
        os.environ[VARIABLE] = memory
    said: dict[str, Any] = {
        "better": better,
        "order": order,
        "items_in": None if items_in == "auto" else items_in,
        "tasks": None if tasks is None else split_names(tasks),
        "lower": None if lower is None else split_names(lower),
        "tolerance": tolerance or None,
        "decimal": decimal,
        "first": first,
        "second": second,
        "winner": winner,
        "loser": loser,
        "judge": judge,
        "drawn": None if drawn == "half" else drawn,
        "position": None if position == "ignore" else position,
        "shown": _parse_items(shown),
        "best": best,
        "worst": worst,
        "choice_set": _parse_items(choice_set),
        "spellings": None if spellings == "ask" else spellings,
        "encoding": encoding,
        "sheet": sheet,
        "layout": None if layout == "auto" else layout,
        "unranked": unranked,
        "ties": None if ties == "error" else ties,
        "items": _parse_items(items),
        "rename": parse_rename(rename or []) or None,
        "empty": None if empty == "error" else empty,
        "missing": missing,
        "overvotes": None if overvotes == "end" else overvotes,
        "repeats": repeats,
        "broken": None if broken == "error" else broken,
        "weights": weights,
        "weights_are": weights_are,
        "assessor": assessor or None,
        "item": item,
        "rank": rank,
        "preferred": preferred,
        "other": other,
        "cycles": None if cycles == "error" else cycles,
    }
    # What is not said is not asked of a reader that has no such option.
    answers = read(
        sys.stdin.buffer if file == "-" else file,
        format=format,
        purpose="leaderboard" if for_board == "yes" else "any",
        **{name: value for name, value in said.items() if value is not None},
    )
    return leave_out(answers, without or ())


def _parse_items(text: str | None) -> "str | list[str] | None":
    """Read names of columns as people type them; a pattern such as Q1_* is left as it is."""
    return text if text is None or "*" in text else split_names(text)


def parse_rename(words: list[str]) -> dict[str, str]:
    """Read old=new as people type it."""
    new_names = {}
    for word in words:
        old, mark, new = word.partition("=")
        if not mark or not old.strip() or not new.strip():
            raise InputError(
                f"{word!r} is not the old name, an equals sign and the new name of an item",
                [use("to call Q1_1 tea, for example", rename={"Q1_1": "tea"})],
            )
        new_names[old.strip()] = new.strip()
    return new_names


def say_what_was_read(answers: Answers, file: str, *, in_full: bool) -> None:
    """Tell people how many answers were read, and what was set aside."""
    from tierwise.data.battles import Battles
    from tierwise.data.rankings import Rankings

    notes = answers.reading
    about = f" about {counted(len(answers.items), 'item')}"
    if isinstance(answers, Battles):
        read = f"{answers.in_words()},"
    elif isinstance(answers, Rankings):
        many = answers.n_rankings != len(answers)
        rows = f" in {counted(len(answers), 'row')}" if many else ""
        noun = "task" if notes is not None and notes.layout in _OF_TASKS else "answer"
        read = counted(answers.n_rankings, noun) + rows + about
    else:
        read = counted(len(answers), "assessor") + about
    name = "standard input" if file == "-" else Path(file).name
    printing.note(f"Read {read} from {name}.")
    for sentence in notes.set_aside(Shell().says) if notes is not None and in_full else ():
        printing.note(sentence)


def reads_file(
    command: Callable[Concatenate[Answers, _Options], None],
    *,
    says_what_was_set_aside: bool = True,
    for_board: Literal["yes", "no"] = "no",
) -> Callable[..., None]:
    """Give a command the argument FILE and the options of `read_file` for its first parameter.

    So they are written once, and every command has all of them; they stand before the options that
    say what to print, which are keyword-only. On stderr they say how many answers were read, and
    what was set aside unless the command does so itself.
    """
    file, *reading = inspect.signature(read_file).parameters.values()
    reading = [one for one in reading if one.name != "for_board"]
    if for_board == "yes":
        file = file.replace(annotation=BoardFile)
    _, *own = inspect.signature(command).parameters.values()
    before = [one for one in own if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    after = [one for one in own if one.kind is inspect.Parameter.KEYWORD_ONLY]
    names = [file.name, *(one.name for one in reading)]

    def run(**options: Any) -> None:
        how = {name: options.pop(name) for name in names}
        answers = read_file(**how, for_board=for_board)
        if not (options.get("quiet") or options.get("json")):
            say_what_was_read(answers, how["file"], in_full=says_what_was_set_aside)
        with silent_compiling() if options.get("quiet") else nullcontext():
            command(answers, **options)  # type: ignore[call-arg]

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature([file, *before, *reading, *after])  # type: ignore[attr-defined]
    return run


def for_given_sizes(distance: str) -> str | None:
    """Return the distance for sizes that are given: the default of the data if none is named."""
    return None if distance == "auto" else distance


def not_battles(answers: Answers, command: str) -> "Rankings | Preferences":
    """Return answers as a command takes them that has nothing to say about battles."""
    from tierwise.data.battles import Battles

    if isinstance(answers, Battles):
        raise InputError(
            f"these are battles, which tierwise {command} does not take",
            [instead("leaderboard", "for tiers and rank intervals", command="leaderboard")],
        )
    return answers


def parse_tiers(text: str, items: "tuple[Item, ...]") -> "list[list[Item]]":
    """Read tiers as they are printed, such as a > b ~ c; items are known by their names."""
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
