"""The table that a search prints."""

from math import isinf, isnan
from typing import TYPE_CHECKING

from tierwise.fitting.summary import tiers_in_words

if TYPE_CHECKING:
    from tierwise.searching.result import Candidate, Search

CRITERIA = {
    "posterior": "posterior probability of the tiers",
    "likelihood": "criterion I (log-likelihood less log number of tiers)",
    "evidence": "evidence (probability of the rankings given the sizes)",
    "agreement": "agreement D, which drifts to degenerate tiers: use it to narrow a search only",
    "both": "criterion I among the sizes that agreement D likes best",
}


def summarise(search: "Search", rows: int) -> str:
    """Write a search as lines for people."""
    shown = list(search.leaderboard[:rows])
    shown += [one for one in search.leaderboard[rows:] if one.name]
    cells = [header(search), *(row(search, one) for one in shown)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    table = [
        "  ".join(
            # Numbers stand right, sizes (the first) and names (the last) left.
            text.ljust(width) if column in (0, len(widths) - 1) else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    left_out = search.evaluated - len(shown)
    if left_out:
        table.append(f"... and {left_out:,} more")
    return "\n".join(
        [
            f"{search.evaluated:,} size vectors evaluated; best by {CRITERIA[search.criterion]}",
            "",
            *table,
            "",
            tiers_in_words(search.best),
            "",
            *remarks(search),
        ]
    )


def header(search: "Search") -> list[str]:
    """Return the names of the columns."""
    evidence = ["log evidence", "probability"] if search.criterion == "evidence" else []
    return ["sizes", "tiers", "theta", "agreement", "criterion", *evidence, "behind", ""]


def row(search: "Search", one: "Candidate") -> list[str]:
    """Return a size vector's cells, as text."""
    criterion = _number(one.criterion, ".2f")
    if one.criterion_error:
        criterion += f" ± {one.criterion_error:.2g}"
    evidence = []
    if search.criterion == "evidence":
        evidence = [_number(one.log_evidence, ".2f"), _number(one.probability, ".4f")]
        if one.log_evidence_error:
            evidence[0] += f" ± {one.log_evidence_error:.2g}"
    places = ".4f" if search.criterion == "agreement" else ".2f"
    name = one.name if one.allowed else f"{one.name}, for comparison only"
    return [
        " ".join(map(str, one.sizes)),
        str(len(one.sizes)),
        _number(one.theta, ".4f"),
        _number(one.agreement, ".4f"),
        criterion,
        *evidence,
        _number(search.behind(one), places),
        name,
    ]


def remarks(search: "Search") -> list[str]:
    """Say how far the answer can be trusted."""
    lines = []
    if search.interrupted:
        lines.append("The search was interrupted: better sizes may be among those not tried.")
    elif search.exhaustive:
        proved = all(
            one.optimal and not one.criterion_error and not one.log_evidence_error
            for one in search.contenders
        )
        lines.append(
            "All sizes that were allowed were compared: there are no better ones."
            if proved
            else "All sizes that were allowed were compared, some by tiers or numbers that are not "
            "proved exact."
        )
    elif search.method == "all sizes":
        lines.append(
            "Tiers of all sizes were searched at once, from several starts, until no move of an "
            "item or a tier helped: better ones may exist."
        )
    elif search.method == "exhaustive":
        lines.append("Only sizes that agreement likes were compared: better ones may exist.")
    else:
        lines.append(
            f"Found by {search.method} search, which does not compare all sizes: better ones may "
            "exist."
        )
    if not isinf(search.runner_up_gap):
        lines.append(_verdict(search))
    lines += _families(search)
    if search.doubtful:
        one = len(search.doubtful) == 1
        others = "another size vector is" if one else f"{len(search.doubtful)} others are"
        lines.append(f"Monte Carlo error leaves open whether {others} better.")
    return lines


def _families(search: "Search") -> list[str]:
    """Say which distance describes the data best, and by how much."""
    if len(search.families) < 2:
        return []
    best, *others = search.families
    # Without tiers all families are the same model.
    if len(best.sizes) == 1:
        names = ", ".join(family.name for family in search.families)
        return [f"That holds for all that was compared: {names}."]
    behind = ", ".join(f"{other.name} is {other.behind:.1f} behind" for other in others)
    return [f"Of what was compared, {best.name} describes the data best: {behind}."]


def _verdict(search: "Search") -> str:
    gap = search.runner_up_gap
    if search.criterion == "agreement":
        return f"The runner-up is {gap:.4f} behind."
    if search.probabilities is not None:
        share = search.probabilities[search.best.sizes]
        return f"The best sizes have a posterior probability of {share:.3f}."
    firmness = "close" if gap < 3 else "clear"
    return f"The runner-up is {gap:.2f} behind, which is {firmness}."


def _number(value: float, how: str) -> str:
    return "" if isnan(value) or isinf(value) else format(value, how)
