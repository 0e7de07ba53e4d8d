"""``tierwise sample``: new rankings from the model that fits a file."""

import sys
from math import isinf
from typing import Annotated

import typer

from tierwise.cli import options, printing, reading

_DRAWING = "What to draw"

EXAMPLES = """
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
        typer.Option(
            help="Concentration to draw with, in place of the fitted one.",
            show_default=False,
            rich_help_panel=_DRAWING,
        ),
    ] = None,
    sizes: options.Sizes = None,
    distance: options.AnyDistance = "auto",
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit tiers to rankings and draw new rankings from the fitted model, exactly if affordable."""
    from tierwise.data.write import write_csv, write_rankings
    from tierwise.errors import InputError
    from tierwise.fitting.fit import fit
    from tierwise.fitting.result import plain_item
    from tierwise.model.clustered_mallows import ClusteredMallows
    from tierwise.searching.search import search

    if sizes is None:
        progress = printing.progress(quiet=quiet)
        fitted = search(answers, distance, workers=workers, progress=progress, rng=seed).best
    else:
        with printing.working("finding the tiers", quiet=quiet):
            measure = options.for_given_sizes(distance)
            fitted = fit(answers, options.parse_sizes(sizes), measure, rng=seed)
    if theta is None and any(isinf(one) for one in fitted.thetas):
        raise InputError("every ranking agrees with the tiers, so theta is infinite: pass --theta")
    model = (
        fitted.model() if theta is None else ClusteredMallows(fitted.tiers, theta, fitted.distance)
    )
    with printing.working("drawing", quiet=quiet):
        drawn = model.sample(number, rng=seed)
    if json:
        printing.print_json(
            {
                "tiers": fitted.to_dict()["tiers"],
                "theta": model.theta,
                "distance": fitted.distance,
                "rankings": [[plain_item(item) for item in row] for row in drawn.to_orderings()],
            },
            out,
        )
    elif out is None:
        write_csv(drawn, sys.stdout)
    else:
        write_rankings(drawn, out)
