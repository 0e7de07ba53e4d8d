"""``tierwise posterior``: tiers, sizes and theta with their uncertainty."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from tierwise.cli import options, printing, reading

_CHAINS = "How to sample"

EXAMPLES = """
Examples:

tierwise posterior survey.csv --sizes 1,2,2

tierwise posterior survey.csv --draws 2000 --save draws.nc

tierwise posterior survey.csv --distance inversions --concentration tier

tierwise posterior survey.csv --method mcmc --checkpoint run --workers -1
"""


@reading.reads_file
def posterior_command(
    answers: reading.Answers,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="1,2,2",
            help="How many items each tier holds, best tier first; open if not given.",
            show_default=False,
            rich_help_panel=_CHAINS,
        ),
    ] = None,
    distance: Annotated[
        Literal["auto", "kendall", "inversions", "hamming", "footrule", "spearman"],
        typer.Option(
            help="How the distance from tiers is measured; auto, for open sizes, is what a search "
            "finds to describe the data best.",
            rich_help_panel=_CHAINS,
        ),
    ] = "kendall",
    concentration: Annotated[
        Literal["single", "tier"],
        typer.Option(
            help="One theta, or one per tier, for inversions with open sizes.",
            rich_help_panel=_CHAINS,
        ),
    ] = "single",
    chains: Annotated[
        int, typer.Option(metavar="N", help="Number of chains.", rich_help_panel=_CHAINS)
    ] = 4,
    draws: Annotated[
        int, typer.Option(metavar="N", help="Draws kept from each chain.", rich_help_panel=_CHAINS)
    ] = 1000,
    warmup: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Iterations before the first draw.",
            show_default=False,
            rich_help_panel=_CHAINS,
        ),
    ] = None,
    thin: Annotated[
        int,
        typer.Option(
            metavar="N", help="Iterations from one draw to the next.", rich_help_panel=_CHAINS
        ),
    ] = 1,
    method: Annotated[
        Literal["auto", "exact", "mcmc"],
        typer.Option(
            help="Independent draws by summing over all tiers, chains, or what is affordable.",
            rich_help_panel=_CHAINS,
        ),
    ] = "auto",
    theta_update: Annotated[
        Literal["auto", "exact", "integrated", "exchange"],
        typer.Option(
            help="How chains update theta: exactly, integrated out, or by the exchange algorithm.",
            rich_help_panel=_CHAINS,
        ),
    ] = "auto",
    prior_sizes: Annotated[
        Literal["uniform", "penalised", "sceptical"],
        typer.Option(help="Prior of the sizes, if they are open.", rich_help_panel=_CHAINS),
    ] = "uniform",
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.nc",
            help="Write the draws to a netCDF file, for ArviZ.",
            show_default=False,
            rich_help_panel=_CHAINS,
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep the chains here while they run; the same command resumes them.",
            show_default=False,
            rich_help_panel=_CHAINS,
        ),
    ] = None,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Say how sure tiers, sizes and theta are; without --sizes the sizes are open too."""
    from tierwise.posterior.run import sample_posterior

    posterior = sample_posterior(
        answers,
        options.parse_sizes(sizes) if sizes else None,
        distance,
        concentration=concentration,
        chains=chains,
        draws=draws,
        warmup=warmup,
        thin=thin,
        method=method,
        theta_update=theta_update,
        prior_sizes=prior_sizes,
        workers=workers,
        progress=printing.progress(quiet=quiet),
        rng=seed,
        checkpoint=checkpoint,
    )
    if save is not None:
        posterior.save(save)
    if json:
        printing.print_json(posterior.to_dict(), out)
    else:
        printing.print_result([posterior.summary()], out)
