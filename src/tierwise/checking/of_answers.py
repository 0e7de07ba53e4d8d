"""What a check looks at in pairwise answers."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise.checking import comparisons
from tierwise.checking.findings import Found, finding_of_pairs
from tierwise.checking.pairs import compare_answers
from tierwise.checking.result import Finding
from tierwise.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.checking.expected import Orderings
    from tierwise.checking.result import Line
    from tierwise.data.preferences import Preferences


def check_answers(
    preferences: Preferences,
    labels: NDArray[np.int64],
    orderings: Orderings,
    alike: NDArray[np.int64] | None,
    mistake_probability: float | None,
    rng: np.random.Generator,
) -> Found:
    """Compare pairwise answers with what orderings from the model answer to the same questions.

    Parameters
    ----------
    preferences
        The answers.
    labels
        The tier of each item, counted from 0.
    orderings
        Orderings from the model, or from a posterior.
    alike
        The labels again if items of a tier are alike in the orderings; None if not.
    mistake_probability
        Probability that an answer is mistaken, if any may be.
    rng
        Where randomness comes from.
    """
    if (mistake_probability is None) != (preferences.times is None):
        raise InputError(
            "the fit and the answers differ in whether answers may be mistaken: fit these answers"
        )
    asked = comparisons.comparisons_of(preferences, labels)
    pairs = compare_answers(asked, orderings, alike, mistake_probability)
    answered = comparisons.summarise(asked, asked.wins, pairs.expected)
    drawn = comparisons.draw_summaries(asked, orderings, pairs.expected, mistake_probability, rng)
    findings = [
        finding_of_pairs(pairs.scores),
        Finding("ranks", 1.0, 0.0, "comparisons of pairs tell no ranks."),
    ]
    lines: tuple[Line, ...] = ()
    spread = nan
    if (asked.above < asked.below).any():
        lines, finding = comparisons.check_lines(answered, drawn)
        # A single line cannot differ from others.
        findings += [finding] if len(lines) > 1 else []
        spread, finding = comparisons.check_spread(answered, drawn)
        findings.append(finding)
    direction, finding = comparisons.check_direction(preferences.items, answered, drawn)
    findings.append(finding)
    unknown = np.full((len(labels), len(labels)), nan)
    return Found(pairs, unknown, lines, spread, direction, tuple(findings))
