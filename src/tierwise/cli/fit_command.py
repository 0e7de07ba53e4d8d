"""``tierwise fit``: the best tiers and theta, for given sizes or the best ones."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tierwise.cli import options, printing, reading

if TYPE_CHECKING:
    from pathlib import Path

    from tierwise.fitting.bootstrap import Bootstrap
    from tierwise.fitting.result import Fit

_FIT = "How to fit"

EXAMPLES = """
Examples:

tierwise fit survey.csv

tierwise fit ballots.csv --sizes 1,2,3 --unranked below

tierwise fit survey.parquet --sizes 2,2 --bootstrap 500 --seed 1

tierwise fit races.csv --sizes 1,2,7 --concentration auto
"""


@reading.reads_file
def fit_command(
    answers: reading.Answers,
    sizes: options.Sizes = None,
    distance: options.AnyDistance = "auto",
    method: Annotated[
        Literal["auto", "assignment", "subsets", "milp", "annealing"],
        typer.Option(help="How to find the tiers.", rich_help_panel=_FIT),
    ] = "auto",
    likelihood: Annotated[
        Literal["exact", "pseudo"],
        typer.Option(help="The likelihood, or its cheap approximation.", rich_help_panel=_FIT),
    ] = "exact",
    concentration: options.Concentration = "single",
    time_limit: Annotated[
        float,
        typer.Option(help="Seconds that the integer program may take.", rich_help_panel=_FIT),
    ] = 60.0,
    bootstrap: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Resample the rankings N times.", rich_help_panel=_FIT
        ),
    ] = 0,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Where people were asked, such as a school: then --bootstrap draws whole schools.",
            show_default=False,
            rich_help_panel=_FIT,
        ),
    ] = None,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Find the best tiers, how concentrated opinion is around them, and how sure that is.

    Without --sizes the best ones are searched for first; tierwise search shows the others.
    """
    from tierwise.errors import InputError
    from tierwise.fitting.bootstrap import bootstrap as resample
    from tierwise.fitting.fit import fit

    progress = printing.progress(quiet=quiet)
    fitted = None
    if sizes is None:
        from tierwise.searching.search import search

        found = search(
            answers,
            distance,
            concentration=concentration,
            workers=workers,
            progress=progress,
            rng=seed,
        ).best
        chosen, measure, concentration = found.sizes, found.distance, found.concentration
        # Annealing proves nothing: a fit takes the time to do better.
        done = method == "auto" and likelihood == "exact" and found.method != "annealing"
        fitted = found if done else None
    else:
        chosen, fitted = options.parse_sizes(sizes), None
        measure = options.for_given_sizes(distance)
    if fitted is None:
        with printing.working("finding the tiers", quiet=quiet):
            fitted = fit(
                answers,
                chosen,
                measure,
                method=method,
                likelihood=likelihood,
                concentration=concentration,
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
            "--cluster says how to resample: say how often with --bootstrap, such as 500"
        )
    if json:
        result = fitted.to_dict()
        if resampled is not None:
            result["bootstrap"] = resampled.to_dict()
        printing.print_json(result, out)
    else:
        print_fit(fitted, resampled, out)


def print_fit(fitted: "Fit", resampled: "Bootstrap | None", out: "Path | None") -> None:
    """Print a fit, and how it varies, for people."""
    parts = [fitted.summary(printing.width_of_output(out))]
    if resampled is not None:
        parts += ["", resampled.summary()]
    printing.print_result(list(parts), out)
