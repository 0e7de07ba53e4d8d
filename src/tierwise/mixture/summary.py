"""The text that a mixture prints."""

import textwrap
from math import isinf, isnan
from typing import TYPE_CHECKING

from tierwise._util.wording import counted

if TYPE_CHECKING:
    from tierwise.mixture.result import Group, Mixture
    from tierwise.mixture.scores import Scores


def who_said_what(n_rankings: float, n_items: int, *, pairwise: bool) -> str:
    """Say how many answers there are, of which kind."""
    if pairwise:
        people = counted(n_rankings, "assessor")
        return f"{people} who compared pairs of {counted(n_items, 'item')}"
    return f"{counted(n_rankings, 'ranking')} of {counted(n_items, 'item')}"


def summarise(mixture: "Mixture", width: int) -> str:
    """Write a mixture as lines for people."""
    n_items = len(mixture.groups[0].tiers.items)
    lines = [
        f"{who_said_what(mixture.n_rankings, n_items, pairwise=mixture.pairwise)} in "
        f"{counted(mixture.n_groups, 'group')}, {mixture.distance} distance",
        "",
    ]
    for name, group in zip(mixture.names(), mixture.groups, strict=True):
        lines += [*_group_lines(name, group, width), ""]
    lines += textwrap.wrap(_how_sure(mixture), width)
    if len(mixture.comparison) > 1:
        lines += ["", *_comparison_lines(mixture, width)]
    return "\n".join(lines)


def _group_lines(name: str, group: "Group", width: int) -> list[str]:
    head = f"{name}: {group.share:.1%}{_plus_minus(100 * group.share_error, 1)}"
    if group.kind == "uniform":
        return [f"{head}, all orderings equally probable"]
    theta = "infinite" if isinf(group.theta) else f"{group.theta:.4f}"
    head += f", theta {theta}{_plus_minus(group.theta_error, 4)}"
    return [
        head,
        *textwrap.wrap(
            str(group.tiers),
            width,
            initial_indent="  ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        ),
    ]


def _plus_minus(error: float, digits: int) -> str:
    return "" if isnan(error) or error == 0 else f" ± {error:.{digits}f}"


def _how_sure(mixture: "Mixture") -> str:
    text = (
        f"Log-likelihood {mixture.log_likelihood:.2f}, criterion {mixture.criterion:.2f}, "
        f"BIC {mixture.bic:.2f}, ICL {mixture.icl:.2f}. "
    )
    if mixture.scores.log_likelihood_error > 0:
        text += f"They are estimates, standard error {mixture.scores.log_likelihood_error:.2g}. "
    if len(mixture.groups) > 1:
        times = "once" if mixture.n_runs == 1 else f"{mixture.n_runs} times"
        text += (
            f"The groups are told apart to {mixture.separation:.0%}. EM was followed to the end "
            f"{times}, and ended here {mixture.n_agreeing} of {mixture.n_runs}."
        )
    if not mixture.converged:
        text += " It had NOT CONVERGED: allow more steps."
    return text


def behind_in_words(scores: "Scores") -> str:
    """Return how far a number of groups is behind the best one on rankings held out."""
    behind, error = scores.held_out_behind, scores.held_out_behind_error
    if behind is None or error is None:
        return "-"
    return "best" if behind == 0 else f"{behind:.4f}{_plus_minus(error, 4)}"


def _comparison_lines(mixture: "Mixture", width: int) -> list[str]:
    was_held_out = all(scores.held_out is not None for scores in mixture.comparison)
    lines = [f"{'groups':>6}{'log-likelihood':>16}{'BIC':>12}{'ICL':>12}"]
    if was_held_out:
        lines[0] += f"{'held-out':>11}{'behind the best':>19}"
    for scores in mixture.comparison:
        line = (
            f"{scores.n_groups:>6}{scores.log_likelihood:>16.2f}{scores.bic:>12.2f}"
            f"{scores.icl:>12.2f}"
        )
        if was_held_out:
            line += f"{scores.held_out:>11.4f}{behind_in_words(scores):>19}"
        lines.append(line + ("  chosen" if scores.n_groups == mixture.n_groups else ""))
    explained = "BIC and ICL: lower is better"
    if was_held_out:
        explained += (
            "; held-out: mean log probability of a ranking that was not fitted, higher is better, "
            "and how far it is behind the best, ± the standard error of that difference"
        )
    lines += textwrap.wrap(f"{explained}.", width)
    if mixture.n_groups == mixture.comparison[-1].n_groups:
        lines.append("The largest number that was tried was chosen: try larger ones too.")
    return lines
