"""The words for what a check finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.fitting.summary import names_of_tiers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tierwise._util.types import Item
    from tierwise.checking.result import FitCheck, Line


def verdict_in_words(check: FitCheck) -> str:
    """Say in a few sentences whether the model fits, and if not, in what."""
    if check.verdict == "fits":
        opening = (
            "The model fits: nothing that was looked at differs from what it expects by more than "
            "chance allows."
        )
    else:
        explain = {
            "theta varies": _about_lines,
            "mixture suspected": _about_groups,
            "differs": _about_pairs,
        }
        opening = explain[check.verdict](check)
    return f"{opening} {_about_size(check)}".strip()


def _about_lines(check: FitCheck) -> str:
    low = min(check.lines, key=lambda line: line.score)
    high = max(check.lines, key=lambda line: line.score)
    names = names_of_tiers(check.fit)
    if check.pairwise:
        return (
            "Agreement differs along the ranking: answers go against the tiers less often than "
            f"expected across the line between {sides(low, names)}, more often across that "
            f"between {sides(high, names)}.{_remedy(check)}"
        )
    return (
        f"Agreement differs along the ranking: items cross the line between {sides(low, names)} "
        f"less often than expected{_theta(low)}, that between {sides(high, names)} more "
        f"often{_theta(high)}.{_remedy(check)}"
    )


def sides(line: Line, names: Sequence[str]) -> str:
    """Name the two sides of a line between tiers.

    Examples
    --------
    >>> from tierwise.checking.result import Line
    >>> sides(Line(1, 2, 0.5, 0.6, -1.0, 0.4), ["tier 1", "tier 2"])
    'tiers 1 and 2'
    >>> sides(Line(1, 2, 0.5, 0.6, -1.0, 0.4), ["liquorice", "tier 1"])
    'liquorice and tier 1'
    """
    above, below = names[line.above - 1], names[line.below - 1]
    if above.startswith("tier ") and below.startswith("tier "):
        return f"tiers {above.removeprefix('tier ')} and {below.removeprefix('tier ')}"
    return f"{above} and {below}"


def _remedy(check: FitCheck) -> str:
    """Name the option that lets theta vary, unless it is used already."""
    if check.fit.concentration != "single":
        return f" A theta per {check.fit.concentration} does not explain all of it."
    average = " One theta for the whole ranking is an average"
    if check.pairwise:
        return f"{average}."
    return f'{average}: fit with concentration="tier" or "place" to let it vary.'


def _theta(line: Line) -> str:
    return "" if np.isnan(line.theta) else f" (theta {line.theta:.2f} there)"


def _about_groups(check: FitCheck) -> str:
    telling = [finding for finding in check.findings if finding.name in ("spread", "direction")]
    worst = max(telling, key=lambda finding: finding.score)
    return (
        f"A mixture of groups is suspected: {worst.statement} Tiers for several groups may "
        f"describe the {_noun(check)} better than tiers for all."
    )


def _about_pairs(check: FitCheck) -> str:
    opening = (
        "The model does not fit everywhere: some proportions differ from what it expects by more "
        "than chance allows."
    )
    worst = check.differing_pairs(1)
    if worst and check.fit.tiers.tied(worst[0].above, worst[0].below):
        return f"{opening} Opinion within a tier is not even: finer tiers may fit better."
    return f"{opening} Other sizes may fit better."


def spread_statement(ratio: float, *, surprising: bool) -> str:
    """Say how various the distances of answers from the tiers are."""
    if np.isnan(ratio):
        return "how far answers are from the tiers should not vary at all."
    meaning = ": some people keep to the tiers more than others." if surprising else "."
    return (
        "how far answers are from the tiers varies (in variance) "
        f"{ratio:.2f} times as much as expected{meaning}"
    )


def spread_of_answers(ratio: float, *, surprising: bool) -> str:
    """Say how various people are in how many of their answers are in tier order."""
    if np.isnan(ratio):
        return "how many of a person's answers are in tier order should not vary at all."
    meaning = ": some people keep to the tiers more than others." if surprising else "."
    return (
        "how many of a person's answers are in tier order varies (in variance) "
        f"{ratio:.2f} times as much as expected{meaning}"
    )


def direction_statement(items: tuple[Item, ...], direction: NDArray[np.float64]) -> str:
    """Say which items answers set against each other."""
    order = np.argsort(direction, kind="stable")
    high, low = items[int(order[0])], items[int(order[-1])]
    return (
        f"people who rank {high} high tend to rank {low} low and the other way round, more than "
        "in one group."
    )


def _noun(check: FitCheck) -> str:
    return "answers" if check.pairwise else "rankings"


def _about_size(check: FitCheck) -> str:
    off = np.abs(check.pairs_observed - check.pairs_expected)
    off[np.tril_indices(len(off))] = np.nan
    if np.isnan(off).all():
        return ""
    first, second = np.unravel_index(int(np.nanargmax(off)), off.shape)
    if check.pairs_observed[first, second] < 0.5:
        first, second = second, first
    observed = check.pairs_observed[first, second]
    expected = check.pairs_expected[first, second]
    above = "over" if check.pairwise else "above"
    return (
        f"Pairwise proportions are off by {100 * check.pairs_off_by:.1f} percentage points on "
        f"average; most for {check.items[first]} {above} {check.items[second]}: "
        f"{observed:.0%} of {_noun(check)}, {expected:.0%} expected."
    )
