"""Commands for those who collect answers: ``tierwise plan``, ``next`` and ``enough``."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tierwise.cli import options, printing

if TYPE_CHECKING:
    from tierwise.planning.asking import Model

_TRUTH = "What is supposed"
_ASKING = "What is asked"

PLAN_EXAMPLES = """
Examples:

tierwise plan --sizes 1,2,3 --worths 4,2,1

tierwise plan --sizes 2,2,2 --theta 0.5 --ask top --size 3

tierwise plan --sizes 1,1,4 --worths 3,2,1 --ask pairs --answers 500,1000,2000
"""
NEXT_EXAMPLES = """
Examples:

tierwise next votes.csv

tierwise next survey.csv --ask subsets --size 5 --number 20
"""
ENOUGH_EXAMPLES = """
Examples:

tierwise enough votes.csv

tierwise enough survey.csv --settle tiers
"""


def plan_command(
    sizes: Annotated[
        str, options.option(_TRUTH, "How many items each tier holds, best first.", "1,2,2")
    ],
    worths: Annotated[
        str | None, options.option(_TRUTH, "One worth per tier, best first.", "4,2,1")
    ] = None,
    theta: Annotated[
        float | None, options.option(_TRUTH, "Concentration of a Mallows model, if not worths.")
    ] = None,
    distance: Annotated[
        Literal["inversions", "kendall", "hamming", "footrule", "spearman"],
        options.option(_TRUTH, "Distance of a Mallows model."),
    ] = "inversions",
    ask: Annotated[
        Literal["complete", "top", "subsets", "pairs", "best-worst"],
        options.option(
            _ASKING,
            "What one answer is: a ranking of all items, of the best, of some chosen at random, a "
            "comparison of two, or the best and the worst of some.",
        ),
    ] = "complete",
    size: Annotated[
        int | None,
        options.option(_ASKING, "How many items are listed (top) or shown.", min=1),
    ] = None,
    answers: Annotated[
        str | None,
        options.option(
            _ASKING, "Numbers of answers to try; else they are doubled until enough.", "50,100"
        ),
    ] = None,
    power: Annotated[
        float, options.option(_ASKING, "The probability of success that is wanted.")
    ] = 0.8,
    certainty: Annotated[
        float,
        options.option(
            _ASKING, "Two items are separated if one is better with at least this probability."
        ),
    ] = 0.95,
    sets: Annotated[
        int, options.option(options.COMPUTING, "Simulated sets of answers per number.", min=2)
    ] = 60,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Say how many answers are needed to find tiers that are supposed, by simulation."""
    from tierwise.planning.plan import plan

    found = plan(
        _supposed(options.parse_sizes(sizes), worths, theta, distance),
        ask,
        size=size,
        answers=None if answers is None else options.parse_sizes(answers),
        power=power,
        certainty=certainty,
        sets=sets,
        workers=workers,
        progress=printing.progress(quiet=quiet),
        rng=seed,
    )
    printing.give(printing.given(found), out, json=json, quiet=quiet)


def _supposed(
    sizes: tuple[int, ...], worths: str | None, theta: float | None, distance: str
) -> "Model":
    """Make the model that is supposed, of items that are numbered."""
    from tierwise.errors import InputError, use
    from tierwise.model.clustered_luce import ClusteredLuce
    from tierwise.model.clustered_mallows import ClusteredMallows
    from tierwise.tiers import Tiers

    if (worths is None) == (theta is None):
        raise InputError(
            "tiers are supposed with one worth each, or with one theta",
            [use(worths=...), use(theta=...)],
        )
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    tiers = Tiers(
        [f"item {number}" for number in range(end - size + 1, end + 1)]
        for size, end in zip(sizes, ends, strict=True)
    )
    if worths is None:
        return ClusteredMallows(tiers, float(theta or 0.0), distance)
    try:
        values = [float(worth) for worth in worths.split(",")]
    except ValueError:
        raise InputError(f"worths {worths!r} are not numbers such as 4,2,1") from None
    return ClusteredLuce(tiers, values)


@options.reads_file
def next_command(
    answers: options.Answers,
    number: Annotated[
        int,
        typer.Option(
            "--number", "-n", min=1, help="How many questions to list.", rich_help_panel=_ASKING
        ),
    ] = 10,
    ask: Annotated[
        Literal["pairs", "subsets"],
        options.option(_ASKING, "Ask for comparisons of two items, or for rankings of some."),
    ] = "pairs",
    size: Annotated[
        int | None, options.option(_ASKING, "How many items a subset has.", min=2)
    ] = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """List the questions whose answers would say most about what is still open."""
    from tierwise.planning.questions import next_questions

    with printing.working("looking for questions", quiet=quiet):
        found = next_questions(answers, number, ask, size=size, rng=seed)
    printing.give(printing.given(found), out, json=json, quiet=quiet)


@options.reads_file
def enough_command(
    answers: options.Answers,
    settle: Annotated[
        Literal["differences", "tiers"],
        options.option(options.MODEL, "Settle the differences between tiers, or the ties, too."),
    ] = "differences",
    certainty: Annotated[
        float,
        options.option(
            options.MODEL, "What is published is settled if it holds with this probability."
        ),
    ] = 0.95,
    futures: Annotated[
        int, options.option(options.COMPUTING, "How many futures to simulate.", min=0)
    ] = 100,
    streams: Annotated[
        int,
        options.option(
            options.COMPUTING,
            "How many collections to simulate, to see how often the rule errs.",
            min=0,
        ),
    ] = 20,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Say whether the tiers have settled, and how many further answers would settle them."""
    from tierwise.planning.stopping import enough

    found = enough(
        answers,  # type: ignore[arg-type]
        settle=settle,
        certainty=certainty,
        futures=futures,
        streams=streams,
        workers=workers,
        progress=printing.progress(quiet=quiet),
        rng=seed,
    )
    printing.give(printing.given(found), out, json=json, quiet=quiet)
