"""Commands for uncertainty: ``tierwise posterior`` and ``tierwise leaderboard``."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Literal

from tierwise.cli import options, printing, reading

_CHAINS = "How to sample"

POSTERIOR_EXAMPLES = """
Examples:

tierwise posterior survey.csv --sizes 1,2,2

tierwise posterior survey.csv --family luce --tiers "tea > coffee ~ juice > milk"

tierwise posterior survey.csv --draws 2000 --save draws.nc

tierwise posterior survey.csv --distance inversions --concentration tier

tierwise posterior survey.csv --method mcmc --checkpoint run --workers -1
"""


@reading.reads_file
def posterior_command(
    answers: reading.Answers,
    sizes: Annotated[
        str | None,
        options.option(
            _CHAINS,
            "Number of items in each tier, best tier first; drawn too if not given.",
            "1,2,2",
        ),
    ] = None,
    tiers: Annotated[
        str | None,
        options.option(
            _CHAINS,
            "Your own tiers, with --family luce: draws of their worths.",
            '"A > B ~ C"',
        ),
    ] = None,
    family: options.Family = "auto",
    distance: options.Distance = "auto",
    concentration: Annotated[
        Literal["single", "tier"] | None,
        options.option(
            _CHAINS,
            "One theta, or one per tier (for inversions with open sizes); whichever fits best "
            "if not given.",
        ),
    ] = None,
    chains: Annotated[int, options.option(_CHAINS, "Number of chains.", "N")] = 4,
    draws: Annotated[int, options.option(_CHAINS, "Draws kept from each chain.", "N")] = 1000,
    warmup: Annotated[
        int | None,
        options.option(_CHAINS, "Iterations before the first draw.", "N"),
    ] = None,
    thin: Annotated[
        int | None,
        options.option(
            _CHAINS,
            "Iterations between two draws; if not given, as many as the chains need to converge.",
            "N",
        ),
    ] = None,
    method: Annotated[
        Literal["auto", "exact", "mcmc"],
        options.option(
            _CHAINS,
            "Independent draws by exact summation over all tier lists, Markov chains, "
            "or the former if feasible.",
        ),
    ] = "auto",
    theta_update: Annotated[
        Literal["auto", "exact", "integrated", "exchange"],
        options.option(
            _CHAINS,
            "How chains update theta: exactly, by integrating it out, or with the exchange "
            "algorithm.",
        ),
    ] = "auto",
    prior_sizes: Annotated[
        Literal["uniform", "penalised", "sceptical"],
        options.option(_CHAINS, "Prior of the sizes, if they are open."),
    ] = "sceptical",
    save: Annotated[
        Path | None,
        options.option(_CHAINS, "Write the draws to a netCDF file for ArviZ.", "FILE.nc"),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        options.option(
            _CHAINS, "Save the chains here while they run; the same command resumes them.", "FOLDER"
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        options.option(
            _CHAINS, "Time limit for chains that have not converged; 60 if not given.", "S", min=0
        ),
    ] = None,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Sample the posterior of tiers and theta, and of the sizes unless --sizes gives them."""
    from tierwise.model.priors import Priors
    from tierwise.posterior.run import sample_posterior
    from tierwise.posterior.samplers import DEFAULT_SAMPLER, Sampler

    with _interrupts_say_what_is_kept(checkpoint):
        posterior = sample_posterior(
            answers,
            options.parse_sizes(sizes) if sizes else None,
            options.for_given_sizes(distance),
            tiers=None if tiers is None else options.parse_tiers(tiers, answers.items),
            family=family,
            concentration=concentration,
            chains=chains,
            draws=draws,
            priors=Priors(sizes=prior_sizes),
            sampler=Sampler(
                method=method,
                theta_update=theta_update,
                warmup=warmup,
                thin="auto" if thin is None else thin,
                seconds=DEFAULT_SAMPLER.seconds if seconds is None else seconds,
            ),
            workers=workers,
            progress=printing.progress(quiet=quiet),
            rng=seed,
            checkpoint=checkpoint,
        )
    if save is not None:
        posterior.save(save)
        printing.said_where(save, quiet=quiet)
    printing.give(printing.given(posterior), out, json=json, quiet=quiet)


@contextmanager
def _interrupts_say_what_is_kept(checkpoint: Path | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if checkpoint is not None and any(checkpoint.glob("chain-*.npz")):
            interrupt.add_note(
                f"the chains are saved in {checkpoint}: the same command resumes them"
            )
        raise


LEADERBOARD_EXAMPLES = """
Examples:

tierwise leaderboard battles.csv --seed 1 --page leaderboard.html

tierwise leaderboard scores.csv --better higher -o leaderboard.md

tierwise leaderboard ballots.csv --unranked below

tierwise leaderboard battles.jsonl --uncertainty bootstrap -o leaderboard.csv --figure ranks.svg
"""


@partial(reading.reads_file, for_board="yes")
def leaderboard_command(
    answers: reading.Answers,
    uncertainty: Annotated[
        Literal["posterior", "bootstrap"],
        options.option(
            options.MODEL,
            "Where intervals come from: draws from the posterior, or resampled battles (or "
            "judges).",
        ),
    ] = "posterior",
    family: options.Family = "auto",
    concentration: Annotated[
        Literal["single", "tier"] | None,
        options.option(
            options.MODEL,
            "For mallows and scores: one theta, or one per tier; whichever fits best if not given.",
        ),
    ] = None,
    tiers: options.TiersToPublish = "best",
    max_tiers: options.MaxTiers = None,
    margin: options.Margin = 0.5,
    level: Annotated[float, options.option(options.MODEL, "Level of the rank intervals.")] = 0.95,
    certainty: options.Certainty = 0.95,
    k: Annotated[
        str,
        options.option(options.MODEL, "Report the probability of being among the best K.", "1,3"),
    ] = "1,3",
    seconds: options.Seconds = None,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    page: Annotated[
        Path | None,
        options.file_to_write("Also write an .html page.", (".html",), name="--page"),
    ] = None,
    figure: Annotated[
        Path | None, options.figure_to_write(options.OUTPUT, "Draw the rank intervals.")
    ] = None,
    tier_list: Annotated[
        Path | None, options.figure_to_write(options.OUTPUT, "Draw the tier list.")
    ] = None,
    tier_signs: Annotated[
        Literal["numbers", "letters"],
        options.option(options.OUTPUT, "Tier labels: 1, 2, 3 or S, A, B."),
    ] = "numbers",
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Make a leaderboard of battles, scores or rankings: tiers, ranks, and how certain they are."""
    from tierwise._util.results import card_of
    from tierwise.checking.check import check_fit
    from tierwise.leaderboards.leaderboard import leaderboard
    from tierwise.reporting.report import (
        forecast_of_leaderboard,
        leaderboard_page,
        title_of_leaderboard,
        write_leaderboard_page,
    )

    board = leaderboard(
        answers,
        level=level,
        certainty=certainty,
        k=options.parse_sizes(k),
        uncertainty=uncertainty,
        family=family,
        concentration=concentration,
        tiers=tiers,
        max_tiers=max_tiers,
        margin=margin,
        seconds=seconds,
        workers=workers,
        progress=printing.progress(quiet=quiet or json),
        rng=seed,
    )
    check = check_fit(answers, board.fit)
    if check.caution() and not (quiet or json):
        printing.note(check.caution())
    title = title_of_leaderboard(board, answers.reading)
    # Tables do not need it.
    forecast = cache(lambda: forecast_of_leaderboard(board, answers))
    result = printing.Given(
        board.to_dict,
        lambda width: [board.summary(width)],
        [card_of(board)],
        board.as_table,
        lambda: leaderboard_page(board, check=check, title=title, forecast=forecast()),
    )
    printing.give(result, out, json=json, quiet=quiet)
    if page is not None:
        write_leaderboard_page(board, page, check=check, title=title, forecast=forecast())
        printing.said_where(page, quiet=quiet)
    if figure is not None:
        from tierwise.plots.posterior import rank_intervals

        printing.save_figure(rank_intervals(board), figure, quiet=quiet)
    if tier_list is not None:
        from tierwise.plots.tiers import tier_list as draw_tier_list

        printing.save_figure(draw_tier_list(board, signs=tier_signs), tier_list, quiet=quiet)
