"""What is kept of battles: counts by pair, by who was shown first, and by judge."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BattleVotes:
    """Battles by judge, each distinct one once.

    Attributes
    ----------
    judges
        Names of the judges.
    judge, first, second
        For each row: the number of the judge, of the winner and of the loser, or of the two models
        in any order if the battle was drawn.
    drawn
        Whether the battle was drawn.
    weight
        How often this was decided.
    won_second
        Whether the winner was shown second. In drawn battles ``first`` was shown first. All
        False if it is not known who was shown first.
    """

    judges: tuple[str, ...]
    judge: _Integers
    first: _Integers
    second: _Integers
    drawn: NDArray[np.bool_]
    weight: _Floats
    won_second: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ShownFirst:
    """Battles by who was shown first.

    Attributes
    ----------
    won
        ``won[a, b]``: how often ``a`` was shown first and won against ``b``.
    drawn
        ``drawn[a, b]``: how often ``a`` was shown first and drew with ``b``.
    """

    won: _Floats
    drawn: _Floats

    def __add__(self, other: "ShownFirst") -> "ShownFirst":
        """Add counts of the same items."""
        return ShownFirst(self.won + other.won, self.drawn + other.drawn)

    def rearranged(self, places: _Integers, n_items: int) -> "ShownFirst":
        """Put items into other places, among more of them."""
        tables = np.zeros((2, n_items, n_items))
        tables[0][np.ix_(places, places)] = self.won
        tables[1][np.ix_(places, places)] = self.drawn
        return ShownFirst(tables[0], tables[1])


@dataclass
class WeightsOfRows:
    """What is kept of the weights of battles: how many there are, their sum and that of squares."""

    n_rows: int = 0
    total: float = 0.0
    squares: float = 0.0
    are_counts: bool = True

    def add(self, weights: _Floats) -> None:
        """Add the weights of some rows; halves are counts, too: of drawn battles in two rows."""
        self.n_rows += int(np.count_nonzero(weights))
        self.total += float(weights.sum())
        self.squares += float((weights**2).sum())
        self.are_counts &= not bool((weights % 0.5).any())


@dataclass(frozen=True, eq=False)
class CountedBattles:
    """Battles counted: models in the order of their names, ``wins[a, b]``, ``draws[a, b]``."""

    items: tuple[str, ...]
    wins: _Floats
    draws: _Floats
    votes: BattleVotes | None
    shown: ShownFirst | None = None
    weights: WeightsOfRows | None = None


def condensed_votes(
    judges: tuple[str, ...],
    judge: _Integers,
    first: _Integers,
    second: _Integers,
    drawn: NDArray[np.bool_],
    weight: _Floats,
    won_second: NDArray[np.bool_] | None = None,
) -> BattleVotes:
    """Keep each distinct vote once.

    ``won_second`` is None if it is not known who was shown first: then the two models of a drawn
    battle are put into one order.
    """
    if won_second is None:
        swapped = drawn & (first > second)
        first, second = np.where(swapped, second, first), np.where(swapped, first, second)
        won_second = np.zeros(len(first), dtype=bool)
    size = int(max(first.max(), second.max())) + 1
    outcome = np.where(drawn, 2, won_second.astype(np.int64))
    keys = ((judge * size + first) * size + second) * 3 + outcome
    distinct, which = np.unique(keys, return_inverse=True)
    pairs, outcomes = np.divmod(distinct, 3)
    of_judge, other = np.divmod(pairs, size)
    of_judge, one = np.divmod(of_judge, size)
    return BattleVotes(
        judges,
        of_judge,
        one,
        other,
        outcomes == 2,
        np.bincount(which.ravel(), weights=weight, minlength=len(distinct)).astype(np.float64),
        outcomes == 1,
    )
