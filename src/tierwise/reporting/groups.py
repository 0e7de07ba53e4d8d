"""The sections about groups: found in the answers, or given by columns such as region or age."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan
from typing import TYPE_CHECKING

from tierwise.errors import counted
from tierwise.mixture.result import below_in_words
from tierwise.reporting.tables import (
    UNKNOWN,
    Cell,
    ShownTier,
    Table,
    decimal,
    percent,
    tier_list,
)

if TYPE_CHECKING:
    from tierwise.groups.compare import GroupComparison
    from tierwise.groups.tree import GroupTree
    from tierwise.mixture.result import Group, Mixture
    from tierwise.mixture.scores import Scores


@dataclass(frozen=True)
class ShownGroup:
    """The tiers of a group under their heading."""

    heading: str
    about: str
    tiers: list[ShownTier]


@dataclass(frozen=True)
class GroupsSection:
    """The section about groups; it has no lists if one group is best."""

    verdict: str
    lists: list[ShownGroup]
    scores: Table
    remarks: list[str]


def describe_groups(mixture: Mixture) -> GroupsSection:
    """Return the section about groups."""
    lists = []
    if mixture.n_groups > 1:
        lists = [
            ShownGroup(_heading(name, group), _about(group), tier_list(group.tiers))
            for name, group in zip(mixture.names(), mixture.groups, strict=True)
        ]
    return GroupsSection(whether_several(mixture), lists, _scores_table(mixture), _remarks(mixture))


@dataclass(frozen=True)
class PeopleSection:
    """The section on whether people differ by region, age and other columns."""

    verdicts: list[str]
    leaves: Table
    how: str


def describe_people(compared: GroupComparison, tree: GroupTree) -> PeopleSection:
    """Return the section on whether people differ by region, age and other columns."""
    named = "worths" if tree.family == "luce" else "theta"
    rows = tuple(
        (
            Cell(leaf.group.name),
            percent(leaf.group.share),
            Cell(leaf.group.parameters().removeprefix(f"{named} "))
            if tree.family == "luce"
            else decimal(leaf.group.theta, 4),
            Cell(str(leaf.group.tiers) if len(leaf.group.tiers) > 1 else "no tiers"),
        )
        for leaf in tree.leaves()
    )
    table = Table("Who differs, and how", ("people", "share", named, "tiers"), rows)
    return PeopleSection([one.verdict() for one in compared.columns], table, tree.how())


def whether_several(mixture: Mixture) -> str:
    """Return one or two sentences on whether the rankings support several groups.

    Parameters
    ----------
    mixture
        A mixture whose number of groups was compared with one group.
    """
    preferred = _preferred(mixture.comparison)
    bic, icl = preferred["BIC"].n_groups, preferred["ICL"].n_groups
    others = [scores.n_groups for name, scores in preferred.items() if name != "ICL"]
    if all(scores.n_groups == 1 for scores in preferred.values()):
        return f"Several groups are not supported: {_preferences(preferred)}."
    if min(others) > 1:
        gain = mixture.comparison[0].bic - preferred["BIC"].bic
        ahead = f"BIC with {_count(bic)} is {gain:,.1f} lower than with one"
        if icl > 1:
            return f"Several groups are supported: {_preferences(preferred)}. {ahead}."
        return (
            f"Several groups describe the {_noun(mixture)} better than one, but overlap: "
            f"{_preferences(preferred)}. {ahead}. ICL also asks who belongs where, which is "
            "uncertain here: read the groups as shades of opinion, not as camps."
        )
    return f"It is not clear whether there are several groups: {_preferences(preferred)}."


def _preferred(comparison: tuple[Scores, ...]) -> dict[str, Scores]:
    """Return what each criterion prefers; the smaller number of equals."""
    preferred = {
        "BIC": min(comparison, key=lambda scores: scores.bic),
        "ICL": min(comparison, key=lambda scores: scores.icl),
    }
    if all(scores.held_out is not None for scores in comparison):
        preferred["the held-out score"] = max(
            comparison, key=lambda scores: -inf if scores.held_out is None else scores.held_out
        )
    return preferred


def _preferences(preferred: dict[str, Scores]) -> str:
    """Say which number of groups each criterion prefers."""
    counts = {name: _count(scores.n_groups) for name, scores in preferred.items()}
    if len(set(counts.values())) == 1:
        *names, last = counts
        return f"{', '.join(names)} and {last} prefer {counts[last]}"
    *parts, last = [f"{name} prefers {count}" for name, count in counts.items()]
    return f"{', '.join(parts)} and {last}"


def _noun(mixture: Mixture) -> str:
    return "answers" if mixture.pairwise else "rankings"


def _count(n_groups: int) -> str:
    return "one group" if n_groups == 1 else f"{n_groups} groups"


def _heading(name: str, group: Group) -> str:
    return (
        f"{name[0].upper()}{name[1:]}: {group.share:.1%}{_plus_minus(100 * group.share_error, 1)}"
    )


def _about(group: Group) -> str:
    """Say how closely a group keeps to its tiers."""
    if len(group.tiers) == 1:
        return "No tiers."
    numbers = group.parameters(3)
    return (
        f"{numbers[0].upper()}{numbers[1:]}; {group.agreement:.0%} of pairs from different tiers "
        "are ranked in tier order."
    )


def _whether_one_is_worse(one_group: Scores, noun: str) -> str:
    """Say whether one group predicts what was held out worse than the best number."""
    behind, error = one_group.held_out_behind, one_group.held_out_behind_error
    if behind is None or error is None or isnan(behind):
        return ""
    if behind == 0:
        return f"One group predicts these {noun} best."
    if behind > 2 * error:
        return f"One group predicts them clearly worse: {below_in_words(one_group)}."
    return f"One group predicts them about as well: {below_in_words(one_group)}."


def _plus_minus(error: float, digits: int) -> str:
    return "" if isnan(error) or error == 0 else f" ± {error:.{digits}f}"


def _scores_table(mixture: Mixture) -> Table:
    """Return the scores of each number of groups."""
    rows = []
    for scores in mixture.comparison:
        shown = " (shown)" if scores.n_groups == mixture.n_groups > 1 else ""
        held_out, behind = UNKNOWN, UNKNOWN
        if scores.held_out is not None:
            held_out = decimal(scores.held_out, digits=4)
            behind = Cell(below_in_words(scores), scores.held_out_behind)
        rows.append(
            (
                Cell(f"{scores.n_groups}{shown}", scores.n_groups),
                decimal(scores.log_likelihood, digits=1),
                decimal(scores.bic, digits=1),
                decimal(scores.icl, digits=1),
                held_out,
                behind,
            )
        )
    return Table(
        "Comparison of the numbers of groups: lower is better for BIC and ICL, higher for the "
        "held-out score",
        ("groups", "log-likelihood", "BIC", "ICL", "held-out", "below the best"),
        tuple(rows),
    )


def _remarks(mixture: Mixture) -> list[str]:
    """Say what the scores mean, and what to know before trusting the groups."""
    sentences = [
        f"BIC weighs how probable the {_noun(mixture)} are against the number of groups and tiers; "
        "ICL also asks how clearly people belong to a group."
    ]
    if mixture.comparison[0].held_out is not None:
        sentences.append(
            f"The held-out score is the mean log probability of {_noun(mixture)} under groups that "
            "were fitted without them; 'below the best' is the difference, ± its standard error. "
            f"{_whether_one_is_worse(mixture.comparison[0], _noun(mixture))}"
        )
    if mixture.scores.log_likelihood_error > 0:
        sentences.append(
            "The log-likelihood is estimated, with a standard error of "
            f"{mixture.scores.log_likelihood_error:.2g}."
        )
    if mixture.n_groups > 1:
        sentences.append(
            f"Separation of the groups: {mixture.separation:.0%} (100% would leave no doubt). "
            f"They are the best result of {counted(mixture.n_runs, 'run')} of EM, "
            f"and {mixture.n_agreeing} of them ended there"
            + (": a better division may exist." if mixture.n_agreeing == 1 else ".")
        )
    if not mixture.converged:
        sentences.append("EM has NOT CONVERGED.")
    if mixture.selected_by is not None and mixture.n_groups == mixture.comparison[-1].n_groups:
        sentences.append("The best number of groups is the largest one tried: try larger ones too.")
    return sentences
