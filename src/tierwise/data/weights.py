"""The meaning of weights: how often an answer was given, or survey weights.

Counts add up. Survey weights correct for people who were sampled too rarely. They do not say how
many people answered, so they are scaled to the effective number of answers (Kish, Survey Sampling,
1965, 11.7).
"""

from __future__ import annotations

from math import perm
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.errors import InputError, use

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise._util.types import Places, WeightsAre

# A table of counts with so many rows has rare answers among them, unless it holds most answers
# that are possible.
_MANY_ROWS = 20
_RARE = 10


class EffectiveNumber(float):
    """The effective number of answers: equally weighted ones with the same information.

    Attributes
    ----------
    n_answers
        How many answers there are.
    n_judges
        How many judges gave them, if that is why they count as fewer; None for survey weights.
    unit
        What they are, if it is known: "battle".

    Examples
    --------
    >>> EffectiveNumber(48.25, 60).in_words("answers")
    '60 answers with survey weights (as 48.2 of equal weight, Kish)'
    >>> answers_in_words(2262, about=" of 4 items")
    '2,262 rankings of 4 items'
    >>> EffectiveNumber(812.5, 2000, 40).in_words("battles")
    '2,000 battles by 40 judges (as 812.5 independent ones, because judges differ)'
    """

    __slots__ = ("n_answers", "n_judges", "unit")

    n_answers: int
    n_judges: int | None
    unit: str | None

    def __new__(
        cls, value: float, n_answers: int, n_judges: int | None = None, unit: str | None = None
    ) -> EffectiveNumber:
        """Make a float, and remember how many answers it stands for."""
        made = super().__new__(cls, value)
        made.n_answers = int(n_answers)
        made.n_judges = n_judges
        made.unit = unit if n_judges is None else "battle"
        return made

    def __getnewargs__(  # type: ignore[override]
        self,
    ) -> tuple[float, int, int | None, str | None]:
        """Support copying and pickling."""
        return float(self), self.n_answers, self.n_judges, self.unit

    def in_words(self, noun: str) -> str:
        """Say how many answers there are, and how many they count as."""
        if self.n_judges == 1:
            return f"{self.n_answers:,} {noun} by 1 judge (who may differ from others)"
        if self.n_judges is not None and self > self.n_answers - 0.5:
            by = f"{self.n_answers:,} {noun} by {self.n_judges:,} judges"
            return f"{by} (who differ no more than by chance)"
        if self.n_judges is not None:
            counted_as = f"as {float(self):,.1f} independent ones, because judges differ"
            return f"{self.n_answers:,} {noun} by {self.n_judges:,} judges ({counted_as})"
        counted_as = f"as {float(self):,.1f} of equal weight, Kish"
        return f"{self.n_answers:,} {noun} with survey weights ({counted_as})"


def answers_in_words(number: float, noun: str = "ranking", about: str = "") -> str:
    """Say how many answers there are, and how many they count as where they have survey weights.

    What they are about follows the noun.

    Examples
    --------
    >>> answers_in_words(1.0), answers_in_words(2262)
    ('1 ranking', '2,262 rankings')
    >>> answers_in_words(EffectiveNumber(48.25, 60), "answer")
    '60 answers with survey weights (as 48.2 of equal weight, Kish)'
    >>> answers_in_words(2262, about=" of 4 items")
    '2,262 rankings of 4 items'
    """
    if isinstance(number, EffectiveNumber):
        shown = number.unit or noun
        return number.in_words(f"{shown}{'' if number.n_answers == 1 else 's'}{about}")
    return f"{number:,.10g} {noun}{'' if number == 1 else 's'}{about}"


def effective_number(weights: NDArray[Any]) -> EffectiveNumber:
    """Return Kish's effective sample size, ``sum(w) ** 2 / sum(w ** 2)``.

    Examples
    --------
    >>> float(effective_number(np.array([1.5, 0.5])))
    1.6
    """
    # Divided by a power of two: squares neither overflow nor vanish, and nothing is rounded.
    shares = np.ldexp(weights.astype(np.float64), -int(np.frexp(weights.max())[1]))
    value = float(shares.sum() ** 2 / (shares**2).sum())
    return EffectiveNumber(value, int(np.count_nonzero(weights)))


def tell_weights(weights: NDArray[Any], patterns: Places, pattern_of: NDArray[Any]) -> WeightsAre:
    """Tell what weights are, or ask.

    Weights that are not whole numbers are survey weights. Whole numbers are counts, unless no
    table of counts would look like that: many rows, none of them rare, although the same answer
    stands in several rows, or most answers that are possible were given by nobody.

    Parameters
    ----------
    weights
        The weight of each answer.
    patterns, pattern_of
        The distinct answers, and which of them each answer is.
    """
    if weights.dtype.kind == "f" and (weights % 1.0).any():
        return "survey"
    counting = weights[weights > 0]
    if len(counting) < _MANY_ROWS or counting.min() < _RARE:
        return "counts"
    repeated = len(patterns) < len(pattern_of)
    if not repeated and 2 * len(patterns) >= _n_possible(patterns):
        return "counts"
    least, most = (f"{value:,.10g}" for value in (counting.min(), counting.max()))
    raise InputError(
        f"the weights of {len(counting):,} answers are whole numbers from {least} to {most}, "
        "which may be counts of people who gave the same answer, or survey weights",
        [
            use("if the weight is the number of people who gave this answer", weights_are="counts"),
            use("if each row is one person with a survey weight", weights_are="survey"),
        ],
    )


def _n_possible(patterns: Places) -> int:
    """Return how many different answers list as many items as these do, without ties."""
    n_items = patterns.shape[1]
    lengths = set((patterns != NOT_LISTED).sum(axis=1).tolist())
    return sum(perm(n_items, length) for length in lengths)
