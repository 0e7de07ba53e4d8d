"""Commands that find tiers: ``tierwise fit``, ``tierwise search`` and ``tierwise sample``."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tierwise.cli import options, printing, reading

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierwise.fitting.resampled import Bootstrap
    from tierwise.fitting.result import Fit
    from tierwise.searching.search import SearchMethod
    from tierwise.searching.size_space import Moves
    from tierwise.searching.strategies import Strategy

_FIT = "How to fit"
_SEARCH = "What to search and how"
_DRAWING = "What to draw"

FIT_EXAMPLES = """
Examples:

tierwise fit survey.csv

tierwise fit ballots.csv --sizes 1,2,3 --unranked below

tierwise fit survey.parquet --sizes 2,2 --bootstrap 500 --seed 1

tierwise fit races.csv --sizes 1,2,7 --concentration auto

tierwise fit drinks.csv --tiers "tea > coffee ~ juice > milk"
"""


@reading.reads_file
def fit_command(
    answers: reading.Answers,
    sizes: options.Sizes = None,
    tiers: Annotated[
        str | None,
        options.option(
            _FIT,
            "Your own tiers: see how good they are, and how far behind the best with the same "
            "sizes.",
            '"A > B ~ C"',
        ),
    ] = None,
    family: options.Family = "auto",
    distance: options.Distance = "auto",
    max_tiers: options.MaxTiers = None,
    margin: options.Margin = 0.5,
    method: Annotated[
        Literal["auto", "assignment", "subsets", "milp", "annealing"],
        options.option(_FIT, "Algorithm that finds the tiers."),
    ] = "auto",
    likelihood: Annotated[
        Literal["exact", "pseudo"],
        options.option(_FIT, "What to maximise: the likelihood, or its fast approximation."),
    ] = "exact",
    concentration: options.Concentration = None,
    time_limit: Annotated[
        float,
        options.option(_FIT, "Time limit of the integer program, in seconds."),
    ] = 60.0,
    bootstrap: Annotated[
        int,
        options.option(
            _FIT, "Resample the rankings N times to see how certain the tiers are.", "N", min=0
        ),
    ] = 0,
    cluster: Annotated[
        str | None,
        options.option(
            _FIT,
            "The column that says where people were asked, such as school; --bootstrap then "
            "resamples whole schools.",
            "COLUMN",
        ),
    ] = None,
    seconds: options.Seconds = None,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Find the best tiers, how concentrated opinion is around them, and how certain that is.

    Without --sizes and --tiers, tierwise searches for the best sizes first; tierwise search also
    shows the others.
    """
    from tierwise.checking.check import check_fit
    from tierwise.errors import InputError, use
    from tierwise.fitting.bootstrap import bootstrap as resample
    from tierwise.fitting.fit import fit

    progress = printing.progress(quiet=quiet)
    fitted, measure, sentence = None, options.for_given_sizes(distance), ""
    own = None if tiers is None else options.parse_tiers(tiers, answers.items)
    chosen = None if sizes is None else options.parse_sizes(sizes)
    if sizes is None and own is None:
        from tierwise.searching.choice import Choice
        from tierwise.searching.search import search

        for_mallows = method != "auto" or likelihood != "exact"
        compared = search(
            answers,
            distance,
            family="mallows" if family == "auto" and for_mallows else family,
            concentration=concentration,
            max_tiers=max_tiers,
            margin=margin,
            seconds=seconds,
            workers=workers,
            progress=progress,
            rng=seed,
        )
        found = compared.best
        chosen, measure, concentration = found.sizes, found.distance, found.concentration
        # Annealing proves nothing: a fit takes the time to do better.
        fitted = None if for_mallows or found.method == "annealing" else found
        sentence = Choice(compared).sentence()
    if fitted is None:
        with printing.working("finding the tiers", quiet=quiet):
            fitted = fit(
                answers,
                chosen,
                measure,
                tiers=own,
                family="luce" if family == "luce" else "mallows",
                method=method,
                likelihood=likelihood,
                concentration=concentration or "single",
                time_limit=time_limit,
                rng=seed,
            )
    resampled = None
    if bootstrap:
        resampled = resample(
            answers,
            fitted,
            replicates=bootstrap,
            cluster=cluster,
            workers=workers,
            progress=progress,
            rng=seed,
        )
    elif cluster is not None:
        raise InputError(
            "clusters say how to resample, but you did not say how often",
            [use("for 500 times", bootstrap=500)],
        )
    if not (quiet or json):
        for said in (sentence, check_fit(answers, fitted).caution()):
            if said:
                printing.note(said)
    more = {} if resampled is None else {"bootstrap": resampled.to_dict()}
    result = printing.given(fitted, text=partial(_fit_in_words, fitted, resampled), **more)
    printing.give(result, out, json=json, quiet=quiet)


def _fit_in_words(
    fitted: "Fit", resampled: "Bootstrap | None", width: int
) -> "list[RenderableType]":
    """Write a fit, and how it varies, for people."""
    varying = [] if resampled is None else ["", resampled.summary(width)]
    return [fitted.summary(width), *varying]


SEARCH_EXAMPLES = """
Examples:

tierwise search survey.csv

tierwise search survey.csv --criterion evidence --json

tierwise search survey.csv --top 1,1,1 --method tabu --workers -1
"""


@reading.reads_file
def search_command(
    answers: reading.Answers,
    family: options.Family = "auto",
    distance: options.Distance = "auto",
    max_tiers: options.MaxTiers = None,
    margin: options.Margin = 0.5,
    concentration: options.Concentration = None,
    criterion: Annotated[
        Literal["posterior", "likelihood", "evidence", "agreement", "both"],
        options.option(
            _SEARCH,
            "The criterion: the posterior probability of tiers, the paper's I, the evidence, "
            "the paper's D (only for narrowing: alone it drifts to degenerate tiers), or "
            "D to narrow and I to decide.",
        ),
    ] = "posterior",
    method: Annotated[
        Literal["auto", "exhaustive", "greedy", "tabu", "genetic"],
        options.option(_SEARCH, "Algorithm that searches the sizes."),
    ] = "auto",
    moves: Annotated[
        Literal["split-merge-shift", "adjacent"],
        options.option(_SEARCH, "Which sizes are neighbours."),
    ] = "split-merge-shift",
    start: Annotated[
        str,
        options.option(
            _SEARCH,
            "Where a search starts, if it is not exhaustive.",
            "merging|merging-by-size|1,2,2",
        ),
    ] = "merging",
    n_tiers: Annotated[
        int | None,
        typer.Option(
            "--tiers",
            metavar="N",
            help="Consider only this number of tiers.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    top: Annotated[
        str | None,
        options.option(_SEARCH, "Sizes that the first tiers must have.", "1,1"),
    ] = None,
    bottom: Annotated[
        str | None,
        options.option(_SEARCH, "Sizes that the last tiers must have.", "1,1"),
    ] = None,
    sample_neighbours: Annotated[
        int | None,
        options.option(_SEARCH, "Try only N neighbours per move, drawn at random.", "N"),
    ] = None,
    rows: Annotated[
        int,
        options.option(_SEARCH, "Show the best N size vectors.", "N", min=1),
    ] = 10,
    seconds: options.Seconds = None,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Find how many tiers there are and how large they are: size vectors, best first."""
    from tierwise.checking.check import check_fit
    from tierwise.searching.search import search

    found = search(
        answers,
        distance,
        family=family,
        max_tiers=max_tiers,
        margin=margin,
        seconds=seconds,
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
    check = None if json else check_fit(answers, found.best)
    result = printing.given(
        found, text=lambda width: [found.summary(width, rows=rows, check=check)]
    )
    printing.give(result, out, json=json, quiet=quiet)


def _strategy(
    method: "SearchMethod", moves: "Moves", start: str, sample_neighbours: int | None
) -> "SearchMethod | Strategy":
    """Bundle the options of a strategy; without options it stays a name."""
    from tierwise.searching.strategies import Genetic, Greedy, Tabu

    begin = options.parse_sizes(start) if start[:1].isdigit() else start
    as_it_is = (moves, begin, sample_neighbours) == ("split-merge-shift", "merging", None)
    if method == "exhaustive" or as_it_is:
        return method
    if method == "genetic":
        return Genetic(start=begin)
    kind = Tabu if method == "tabu" else Greedy
    return kind(start=begin, moves=moves, sample_neighbours=sample_neighbours)


SAMPLE_EXAMPLES = """
Examples:

tierwise sample survey.csv -n 1000 --seed 1 -o simulated.csv

tierwise sample survey.csv -n 50 --sizes 2,2 --theta 1.5
"""


@reading.reads_file
def sample_command(
    answers: reading.Answers,
    number: Annotated[
        int,
        typer.Option(
            "--number", "-n", min=1, help="How many rankings to draw.", rich_help_panel=_DRAWING
        ),
    ] = 100,
    theta: Annotated[
        float | None,
        options.option(_DRAWING, "Concentration (theta) to draw with, instead of the fitted one."),
    ] = None,
    sizes: options.Sizes = None,
    family: options.Family = "auto",
    distance: options.Distance = "auto",
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: Annotated[
        Path | None,
        options.file_to_write(
            "Write to a file: .csv, .parquet, .json, or .soc, .soi, .toc and .toi of PrefLib.",
            (".csv", ".parquet", ".json", ".soc", ".soi", ".toc", ".toi"),
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit tiers to rankings and draw new rankings from the fitted model, exactly if feasible."""
    from tierwise._util.types import plain, plain_item
    from tierwise.data.write import write_csv, write_rankings
    from tierwise.errors import InputError, drop, use
    from tierwise.fitting.fit import fit
    from tierwise.model.clustered_mallows import ClusteredMallows
    from tierwise.searching.search import search

    if sizes is None:
        progress = printing.progress(quiet=quiet)
        wanted = "mallows" if family == "auto" and theta is not None else family
        fitted = search(
            answers, distance, family=wanted, workers=workers, progress=progress, rng=seed
        ).best
    else:
        with printing.working("finding the tiers", quiet=quiet):
            measure = options.for_given_sizes(distance)
            fitted = fit(
                answers,
                options.parse_sizes(sizes),
                measure,
                family="luce" if family == "luce" else "mallows",
                rng=seed,
            )
    if theta is not None and fitted.family == "luce":
        raise InputError(
            "the model with worths has no theta", [drop("theta"), use(family="mallows")]
        )
    model = (
        fitted.model() if theta is None else ClusteredMallows(fitted.tiers, theta, fitted.distance)
    )
    with printing.working("drawing", quiet=quiet):
        drawn = model.sample(number, rng=seed)
    if json or (out is not None and out.suffix.lower() == ".json"):
        printing.print_json(
            {
                "tiers": fitted.to_dict()["tiers"],
                "family": fitted.family,
                "theta": plain(model.theta) if isinstance(model, ClusteredMallows) else None,
                "worths": plain(fitted.worths) if fitted.worths else None,
                "distance": fitted.distance or None,
                "rankings": [[plain_item(item) for item in row] for row in drawn.to_orderings()],
            },
            out,
        )
    elif out is None:
        write_csv(drawn, sys.stdout)
    else:
        write_rankings(drawn, out)
    if out is not None:
        printing.said_where(out, quiet=quiet)
