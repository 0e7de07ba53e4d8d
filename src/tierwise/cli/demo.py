"""``tierwise demo``: the main job on a data set that comes with the package."""

from typing import TYPE_CHECKING

from tierwise.cli import options, printing

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tierwise.bootstrapping import Bootstrap
    from tierwise.fit_result import Fit

_QUESTION = (
    "What should a country aim for? In a survey that M. Croon published in 1989, 2,262 people in "
    "Germany put four goals in order: maintain order, fight rising prices, give people more say, "
    "protect free speech. R. Inglehart had argued that the first two are goals of one kind and the "
    "last two of another. Nothing of that is told to the program."
)


def demo(*, quiet: options.Quiet = False) -> None:
    """Find the tiers of real data: 2262 rankings of four political goals (Croon, 1989)."""
    from tierwise.bootstrapping import bootstrap
    from tierwise.datasets import load_political_goals
    from tierwise.fitting import fit

    goals = load_political_goals()
    fitted = fit(goals, sizes=(2, 2))
    resampled = bootstrap(
        goals, fitted, replicates=500, progress=printing.progress(quiet=quiet), rng=1
    )
    width = printing.width_of_output(None)
    parts: list[RenderableType] = []
    if not quiet:
        parts += [_QUESTION, ""]
    parts += [_tier_picture(fitted, resampled), "", fitted.summary(width)]
    if not quiet:
        parts += ["", _next_steps()]
    printing.print_result(parts, None)


def _tier_picture(fitted: "Fit", resampled: "Bootstrap") -> "RenderableType":
    """Draw the tiers, each item with how often resampled data put it there."""
    table = printing.new_table()
    table.add_column("tier", justify="right")
    table.add_column("items", style="bold")
    table.add_column("of 500 resampled surveys")
    shares = resampled.tier_probabilities()
    place = {item: number for number, item in enumerate(fitted.tiers.items)}
    for number, tier in enumerate(fitted.tiers, start=1):
        least = min(shares[place[item], number - 1] for item in tier)
        table.add_row(
            str(number), " ~ ".join(str(item) for item in tier), f"{least:.0%} agree on each"
        )
    return table


def _next_steps() -> str:
    return "\n".join(
        [
            "Next, with a file of your own (a row an answer, best first):",
            "  tierwise describe answers.csv",
            "  tierwise fit answers.csv --sizes 1,2,3",
        ]
    )
