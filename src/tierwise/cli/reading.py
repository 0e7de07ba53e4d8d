"""How commands read the answers from the argument FILE, as options say."""

import inspect
import os
import sys
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeAlias

from tierwise._compiling.beforehand import compile_beside
from tierwise._compiling.kernel import silent_compiling
from tierwise._util.names import split_names
from tierwise._util.resources import VARIABLE, parse_size
from tierwise.cli import options, printing
from tierwise.cli.remedies import Shell
from tierwise.errors import InputError, use

if TYPE_CHECKING:
    from tierwise.data import kinds


# Loaded when files are read, and not before.
Answers: TypeAlias = "kinds.Answers"
_Options = ParamSpec("_Options")
# Options that name columns of what is known of people, which are set aside as answers only.
_COLUMNS_OF_PEOPLE = ("by", "cluster")


def read_file(
    file: options.File,
    format: options.Format = "auto",  # noqa: A002 - becomes the option --format
    layout: options.Layout = "auto",
    unranked: options.Unranked = None,
    ties: options.Ties = "error",
    items: options.Items = None,
    without: options.Without = None,
    rename: options.Rename = None,
    better: options.Better = None,
    order: options.Order = None,
    items_in: options.ItemsIn = "auto",
    tasks: options.Tasks = None,
    lower: options.Lower = None,
    tolerance: options.Tolerance = 0.0,
    decimal: options.Decimal = None,
    first: options.First = None,
    second: options.Second = None,
    winner: options.Winner = None,
    loser: options.Loser = None,
    points: options.Points = None,
    judge: options.Judge = None,
    drawn: options.Drawn = "half",
    position: options.Position = "ignore",
    shown: options.Shown = None,
    best: options.Best = None,
    worst: options.Worst = None,
    choice_set: options.ChoiceSet = None,
    spellings: options.Spellings = "ask",
    empty: options.Empty = "error",
    missing: options.Missing = None,
    overvotes: options.Overvotes = "end",
    repeats: options.Repeats = None,
    broken: options.Broken = "error",
    encoding: options.Encoding = None,
    sheet: options.Sheet = None,
    weights: options.Weights = None,
    weights_are: options.WeightsAre = None,
    assessor: options.Assessor = None,
    item: options.ItemColumn = None,
    rank: options.RankColumn = None,
    task: options.TaskColumn = None,
    score: options.ScoreColumn = None,
    preferred: options.Preferred = None,
    other: options.Other = None,
    cycles: options.Cycles = "error",
    memory: options.Memory = None,
    *,
    for_board: Literal["yes", "no"] = "no",
) -> Answers:
    """Read the answers of a command; a leaderboard reads winners and losers as battles."""
    from tierwise.data.read import leave_out, read

    if memory is not None:
        parse_size(memory, "--memory")
        # In the environment, so child processes see it.
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
        "points": None if points is None else split_names(points),
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
        "task": task,
        "score": score,
        "preferred": preferred,
        "other": other,
        "cycles": None if cycles == "error" else cycles,
    }
    # Readers get only the options that were given.
    answers = read(
        sys.stdin.buffer if file == "-" else file,
        format=format,
        purpose="leaderboard" if for_board == "yes" else "any",
        **{name: value for name, value in said.items() if value is not None},
    )
    return leave_out(answers, without or ())


def _parse_items(text: str | None) -> "str | list[str] | None":
    """Read names of columns as people type them; a pattern such as Q1_* stays as typed."""
    return text if text is None or "*" in text else split_names(text)


def parse_rename(words: list[str]) -> dict[str, str]:
    """Read old=new as people type it."""
    new_names = {}
    for word in words:
        old, mark, new = word.partition("=")
        if not mark or not old.strip() or not new.strip():
            raise InputError(
                f"{word!r} does not have the form OLD=NEW",
                [use("to call Q1_1 tea, for example", rename={"Q1_1": "tea"})],
            )
        new_names[old.strip()] = new.strip()
    return new_names


def say_what_was_read(
    answers: Answers, file: str, *, in_full: bool, used: Collection[str] = ()
) -> None:
    """Print how many answers were read, and what was set aside and is not used."""
    notes = answers.reading
    if notes is not None:
        notes = replace(notes, aside=tuple(one for one in notes.aside if one.column not in used))
    name = "standard input" if file == "-" else Path(file).name
    printing.note(f"Read {answers.as_read()} from {name}.")
    for sentence in notes.set_aside(Shell().says) if notes is not None and in_full else ():
        printing.note(sentence)


def reads_file(
    command: Callable[Concatenate[Answers, _Options], None],
    *,
    says_what_was_set_aside: bool = True,
    for_board: Literal["yes", "no"] = "no",
) -> Callable[..., None]:
    """Replace a command's first parameter by the argument FILE and the options of `read_file`.

    So these options are written once, and every command has all of them, before the keyword-only
    options for printing. A note on stderr says how many answers were read, and what was set aside
    unless the command says so itself.
    """
    file, *reading = inspect.signature(read_file).parameters.values()
    reading = [one for one in reading if one.name != "for_board"]
    if for_board == "yes":
        file = file.replace(annotation=options.BoardFile)
    _, *own = inspect.signature(command).parameters.values()
    before = [one for one in own if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    after = [one for one in own if one.kind is inspect.Parameter.KEYWORD_ONLY]
    names = [file.name, *(one.name for one in reading)]

    def run(**given: Any) -> None:
        from tierwise.data.kinds import use_of

        how = {name: given.pop(name) for name in names}
        answers = read_file(**how, for_board=for_board)
        compile_beside(use_of(command.__name__.removesuffix("_command"), answers))
        if not (given.get("quiet") or given.get("json")):
            named = [given.get(key) or "" for key in _COLUMNS_OF_PEOPLE]
            used = {*named, *(name for text in named for name in split_names(text))}
            say_what_was_read(answers, how["file"], in_full=says_what_was_set_aside, used=used)
        with silent_compiling() if given.get("quiet") else nullcontext():
            command(answers, **given)  # type: ignore[call-arg]

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature([file, *before, *reading, *after])  # type: ignore[attr-defined]
    return run
