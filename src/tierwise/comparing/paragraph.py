"""A comparison in words: a paragraph for a paper, and where tests differ from tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise.errors import BEHIND_IS, counted, listed, percent, share_in_words
from tierwise.posterior.ties import NEARLY_IN_WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.comparing.result import Comparison

_MOST_NAMED = 3
_NAMES = {
    "probability": "a probability of {certainty} or more",
    "nemenyi": "Nemenyi's test",
    "signed ranks": "Bayesian signed ranks",
}
_MODELS = {
    "mallows": (
        "the Clustered Mallows model",
        "L. S. C. Piancastelli and N. Friel (2024), Clustered Mallows Model, arXiv:2403.12880",
    ),
    "luce": (
        "the Plackett-Luce model with one worth per tier",
        "R. D. Luce (1959), Individual Choice Behavior; R. L. Plackett (1975), The analysis of "
        "permutations, Applied Statistics 24",
    ),
}

_DIVISIONS = {
    "best": "The most probable tier list has",
    "leader": "Grouping methods that are not clearly different from the first of their tier gives",
    "sure": "Allowing no two clearly different methods in a tier gives",
}


def paragraph_of(compared: Comparison) -> str:
    """Write the paragraph."""
    board = compared.board
    model, to_cite = _MODELS[board.choice.family]
    parts = [_what_was_compared(compared)]
    if len(compared.tiers) == 1:
        parts.append(_no_differences(compared))
    else:
        parts.append(
            f"Tiers and their uncertainty come from {model}, fitted to the rankings, over tiers "
            f"of all sizes{_choice(compared)}. {_DIVISIONS[board.published]} "
            f"{counted(len(compared.tiers), 'tier')}: {_tiers_in_words(compared)}."
        )
        parts.append(_how_sure(compared))
    parts.append(_what_was_checked(compared))
    if compared.friedman is not None:
        parts.append(_tests(compared))
    if compared.rope:
        parts.append(_equivalence(compared))
    parts.append(f"The analysis used tierwise {board.provenance.version}. To cite: {to_cite}.")
    return " ".join(parts)


def _no_differences(compared: Comparison) -> str:
    """Say that no differences were found, and whether that means that there are none."""
    same = compared.board.one_tier_probability or 0.0
    said = "No differences between the methods were found. "
    if same >= compared.board.certainty:
        return f"{said}All of them are {NEARLY_IN_WORDS} (probability {share_in_words(same)})."
    return (
        f"{said}This does not show that they are the same: the probability that all of them are "
        f"{NEARLY_IN_WORDS} is {share_in_words(same)}."
    )


def _what_was_compared(compared: Comparison) -> str:
    methods = counted(len(compared.methods), "method")
    said = f"We compared {methods} on {counted(len(compared.scores), 'data set')}"
    if compared.n_gaps:
        total = compared.scores.size
        said += f" ({compared.n_gaps:,} of {total:,} scores are missing)"
    said += ". On each data set, the methods were ranked by their scores"
    if compared.tolerance:
        said += f"; scores within {compared.tolerance:g} of the best of a group were "
        said += "treated as tied"
    return f"{said}."


def _choice(compared: Comparison) -> str:
    """Say what the model was compared with, if it was."""
    search = compared.board.choice.search
    _, *others = search.families
    if not others:
        return ""
    standings = listed([f"{one.name} is {one.standing}" for one in others])
    return f"; in {BEHIND_IS}, {standings}"


def _tiers_in_words(compared: Comparison) -> str:
    rows = compared.board.rows
    tiers = [
        [row.item for row in rows if row.tier == number + 1]
        for number in range(len(compared.tiers))
    ]
    return "; ".join(f"({number}) {listed(tier)}" for number, tier in enumerate(tiers, start=1))


def _how_sure(compared: Comparison) -> str:
    board = compared.board
    assert board.sure_share is not None
    said = (
        f"Of the pairs of methods in different tiers, {share_in_words(board.sure_share)} differ "
        f"with a posterior probability of {percent(board.certainty)} or more"
    )
    first = board.rows[0]
    if first.tied_with:
        return (
            f"{said}; {first.item}, which comes first, cannot be distinguished from "
            f"{counted(len(first.tied_with), 'other method')} at that level."
        )
    return f"{said}; {first.item} is better than every other method with that probability."


def _what_was_checked(compared: Comparison) -> str:
    if compared.check.verdict == "fits":
        return (
            "We checked the model's predictions of pairs and ranks against the data, and they "
            "agree."
        )
    words = compared.check.verdict_in_words()
    return f"A check against the data shows that the model does not describe them fully: {words}"


def _tests(compared: Comparison) -> str:
    test = compared.friedman
    assert test is not None
    p_value = "p < 0.001" if test.p_value < 0.001 else f"p = {test.p_value:.3f}"
    said = (
        f"For comparison, Friedman's test gives chi-squared({len(compared.methods) - 1}) = "
        f"{test.statistic:.2f}, {p_value}"
    )
    if test.n_data_sets < len(compared.scores):
        said += f" on the {test.n_data_sets:,} complete data sets"
    return (
        f"{said}, and Nemenyi's critical difference of mean ranks at {test.alpha:g} is "
        f"{test.critical_difference:.2f}."
    )


def _equivalence(compared: Comparison) -> str:
    """Say what Bayesian signed ranks say of pairs, given a region of practical equivalence."""
    certainty, signed = compared.board.certainty, compared.signed_ranks
    upper = np.triu_indices(len(compared.methods), k=1)
    alike = int((signed.equivalent[upper] >= certainty).sum())
    apart = int((signed.better >= certainty).sum())
    return (
        "By Bayesian signed ranks (Benavoli et al. 2017) with a region of practical equivalence of "
        f"{compared.rope:g}, {apart:,} of {counted(len(upper[0]), 'pair')} of methods differ by "
        f"more than that, and {alike:,} are practically equivalent, with a probability of "
        f"{percent(certainty)} or more."
    )


def verdicts_in_words(compared: Comparison) -> str:
    """Say how many pairs each method of comparison separates, and where it differs from tiers."""
    verdicts = compared.verdicts()
    n_pairs = len(compared.methods) * (len(compared.methods) - 1) // 2
    certainty = percent(compared.board.certainty)
    names = {key: name.format(certainty=certainty) for key, name in _NAMES.items()}
    tiers = verdicts.pop("tiers")
    counts = [f"{names[key]} {int(better.sum()):,}" for key, better in verdicts.items()]
    sentences = [
        f"Of {counted(n_pairs, 'pair')} of methods, tiers separate {int(tiers.sum()):,}, "
        f"{listed(counts)}."
    ]
    for key in ("nemenyi", "signed ranks"):
        if key in verdicts:
            sentences += _where_they_differ(compared, tiers, verdicts[key], names[key])
    if compared.friedman is not None:
        within = np.zeros(len(compared.methods), dtype=int)
        for clique in compared.friedman.cliques:
            within[list(clique)] += 1
        several = int((within > 1).sum())
        if several:
            sentences.append(
                f"Nemenyi's {counted(len(compared.friedman.cliques), 'group')} overlap: "
                f"{counted(several, 'method')} would be in more than one."
            )
    else:
        sentences.append(
            "The Friedman and Nemenyi tests need three methods and two complete data sets."
        )
    return " ".join(sentences)


def _where_they_differ(
    compared: Comparison, tiers: NDArray[np.bool_], other: NDArray[np.bool_], name: str
) -> list[str]:
    """Name some pairs that tiers separate and another way does not, and the other way round."""
    found = []
    subject = name[0].upper() + name[1:]
    plural = "do" if name.endswith("ranks") else "does"
    verb = "separate" if name.endswith("ranks") else "separates"
    for which, said in (
        (tiers & ~other, f"{subject} {plural} not separate"),
        (other & ~tiers, f"{subject} {verb}, and tiers do not,"),
    ):
        pairs = np.argwhere(which)
        if len(pairs):
            # Those that are furthest apart on the leaderboard are the most telling.
            far = pairs[np.argsort(pairs[:, 0] - pairs[:, 1], kind="stable")[:_MOST_NAMED]]
            named = [
                f"{compared.methods[one]} and {compared.methods[two]}" for one, two in far.tolist()
            ]
            more = len(pairs) - len(named)
            listing = "; ".join(named) + (f"; and {counted(more, 'pair')} more" if more else "")
            found.append(f"{said} {listing}.")
    return found
