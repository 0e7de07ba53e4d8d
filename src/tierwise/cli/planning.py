"""Commands for collecting answers: ``tierwise plan``, ``next`` and ``enough``."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tierwise.cli import options, printing, reading
from tierwise.distances import DistanceName

if TYPE_CHECKING:
    from tierwise.planning.asking import Model

_TRUTH = "The assumed model"
_ASKING = "The questions"

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
        float | None,
        options.option(_TRUTH, "Concentration (theta) of a Mallows model, instead of worths."),
    ] = None,
    distance: Annotated[
        DistanceName,
        options.option(_TRUTH, "Distance of a Mallows model."),
    ] = "inversions",
    ask: Annotated[
        Literal["complete", "top", "subsets", "pairs", "best-worst"],
        options.option(
            _ASKING,
            "What one answer is: a ranking of all items, of the best ones, or of a random "
            "subset, a comparison of two, or the best and the worst of a subset.",
        ),
    ] = "complete",
    size: Annotated[
        int | None,
        options.option(_ASKING, "Number of items listed (top) or shown.", min=1),
    ] = None,
    answers: Annotated[
        str | None,
        options.option(
            _ASKING,
            "Numbers of answers to try; if not given, the number is doubled until it is enough.",
            "50,100",
        ),
    ] = None,
    power: Annotated[float, options.option(_ASKING, "The required probability of success.")] = 0.8,
    certainty: Annotated[
        float,
        options.option(
            _ASKING, "Two items are separated if one is better with at least this probability."
        ),
    ] = 0.95,
    sets: Annotated[
        int,
        options.option(
            options.COMPUTING, "Number of simulated data sets for each number of answers.", min=2
        ),
    ] = 60,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Estimate by simulation how many answers are needed to find assumed tiers."""
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
    """Make the assumed model, with numbered items."""
    from tierwise.errors import InputError, use
    from tierwise.model.clustered_luce import ClusteredLuce
    from tierwise.model.clustered_mallows import ClusteredMallows
    from tierwise.tiers import Tiers

    if (worths is None) == (theta is None):
        raise InputError(
            "the assumed tiers need either one worth each or one theta",
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


@reading.reads_file
def next_command(
    answers: reading.Answers,
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
        int | None, options.option(_ASKING, "Number of items in a subset.", min=2)
    ] = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """List the questions whose answers would be most informative."""
    from tierwise.planning.questions import next_questions

    with printing.working("looking for questions", quiet=quiet):
        found = next_questions(answers, number, ask, size=size, rng=seed)
    printing.give(printing.given(found), out, json=json, quiet=quiet)


@reading.reads_file
def enough_command(
    answers: reading.Answers,
    settle: Annotated[
        Literal["differences", "tiers"],
        options.option(
            options.MODEL, "Settle only the differences between tiers, or the ties too."
        ),
    ] = "differences",
    certainty: Annotated[
        float,
        options.option(
            options.MODEL, "The published tiers are settled if they hold with this probability."
        ),
    ] = 0.95,
    futures: Annotated[
        int, options.option(options.COMPUTING, "Number of simulated continuations.", min=0)
    ] = 100,
    streams: Annotated[
        int,
        options.option(
            options.COMPUTING,
            "Number of simulated data collections, to estimate how often the stopping rule errs.",
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
    """Say whether the tiers are settled, and how many more answers would settle them."""
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
