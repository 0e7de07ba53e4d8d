"""How few reversed votes would change the first place or a tier.

For the first place, strengths are those of Bradley and Terry, drawn to the middle by half a
comparison so that they are finite. Reversing votes between two items does not change the wins of
the others, nor the total of the two. So the best strengths with equal strength for the two do not
change either, and because the log-likelihood is concave, its slope there gives the number of votes.
The number is exact for votes between the two items. Other votes could need fewer only if items met
others unequally often, so it is then a bound. If the two met too rarely, votes of either with third
items are reversed too, and strengths computed again.

For a tier, votes between the two items whose order is least certain are reversed, and tiers are
searched again. The number found is enough; fewer may be enough too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.results import Result
from tierwise._util.types import plain_item
from tierwise.data.battles import Battles
from tierwise.errors import counted
from tierwise.leaderboards.resampling import searched_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tierwise._util.types import Item
    from tierwise.fitting.result import Family

# Half an added comparison with an average item, as in the strengths that searches begin with.
_PSEUDO_COMPARISONS = 0.5
_MOST_ROUNDS = 100
_SETTLED = 1e-11
# What is nearer to a whole number of votes is on it.
_ROUNDING = 1e-7
# Pairs whose votes are reversed to change a tier, and rivals that met the first too seldom.
_PAIRS_TRIED = 3
_RIVALS_TRIED = 5


@dataclass(frozen=True, eq=False)
class Flip(Result):
    """A number of votes that change something if they are reversed.

    Attributes
    ----------
    votes
        How many reversed votes are enough.
    item, other
        The two: votes are for the item.
    exact
        Whether the number is minimal; otherwise it is an upper bound.
    between_two
        Whether all of them are for the item against the other; otherwise some are for the item, or
        against the other, in battles with third items.
    """

    votes: int
    item: Item
    other: Item
    exact: bool
    between_two: bool = True


@dataclass(frozen=True, eq=False)
class Flips(Result):
    """How few reversed votes change a leaderboard; `Leaderboard.flips` makes it.

    Attributes
    ----------
    first
        Reversed votes that put another item first; None if none were found.
    tier
        Reversed votes that change the most probable tiers; None if none were found.
    n_votes
        Number of votes in all.
    """

    first: Flip | None
    tier: Flip | None
    n_votes: float

    def summary(self) -> str:
        """Return the result in words."""
        return " ".join(
            (
                _sentence(self.first, "put {other} first", "No other item can be put first"),
                _sentence(self.tier, "change a tier", "No tier can be changed"),
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""

        def plain(flip: Flip | None) -> dict[str, Any] | None:
            if flip is None:
                return None
            named = {"item": plain_item(flip.item), "other": plain_item(flip.other)}
            how = {"exact": flip.exact, "between_two": flip.between_two}
            return {"votes": flip.votes, **named, **how}

        return {"first": plain(self.first), "tier": plain(self.tier), "n_votes": self.n_votes}


def _sentence(flip: Flip | None, does: str, otherwise: str) -> str:
    if flip is None:
        return f"{otherwise} by reversing votes between two items."
    votes = counted(flip.votes, "vote")
    how = "" if flip.exact else " at most"
    which = f"for {flip.item} against {flip.other}"
    if not flip.between_two:
        which = f"for {flip.item} or against {flip.other}"
    return f"Reversing{how} {votes} {which} would {does.format(other=flip.other)}."


def flips_of(
    items: Sequence[Item],
    wins: NDArray[np.float64],
    above: NDArray[np.float64],
    tiers: Sequence[int],
    family: Family,
) -> Flips:
    """Find how few votes change the first place, and a tier.

    Parameters
    ----------
    items, wins
        The items, and how often each won against each other.
    above, tiers
        Probability that an item is in a better tier than another, and the tiers.
    family
        The family of models that tiers are searched with.
    """
    return Flips(
        first=_first(items, wins),
        tier=_tier(items, wins, above, np.asarray(tiers), family),
        n_votes=float(wins.sum()),
    )


def _first(items: Sequence[Item], wins: NDArray[np.float64]) -> Flip | None:
    strengths = _strengths(wins)
    leader, *rivals = np.argsort(-strengths, kind="stable").tolist()
    met = (wins + wins.T)[~np.eye(len(wins), dtype=bool)]
    found: Flip | None = None
    seldom_met = []
    for rival in rivals:
        votes = floor(_lead(wins, leader, rival) + _ROUNDING) + 1
        if votes > wins[leader, rival]:
            seldom_met.append(rival)
        elif found is None or votes < found.votes:
            exact = votes == 1 or bool((met == met[0]).all())
            found = Flip(votes, items[leader], items[rival], exact)
    for rival in seldom_met[:_RIVALS_TRIED]:
        most = None if found is None else found.votes - 1
        fewest = _fewest_with_others(wins, leader, rival, most)
        if fewest is not None:
            found = Flip(fewest, items[leader], items[rival], fewest == 1, between_two=False)
    return found


def _fewest_with_others(
    wins: NDArray[np.float64], leader: int, rival: int, most: int | None
) -> int | None:
    """Find how many reversed votes between two items put the second above the first and first.

    First their own votes, then those for the first and those against the second.
    """
    others = [one for one in range(len(wins)) if one not in (leader, rival)]
    pairs = [(leader, rival)]
    pairs += [pair for one in others for pair in ((leader, one), (one, rival))]
    # A vote after the other, one of each pair in turn, but those between the two at once.
    votes = [(0, pair) for _ in range(floor(wins[leader, rival])) for pair in pairs[:1]]
    votes += [(turn, pair) for pair in pairs[1:] for turn in range(floor(wins[pair]))]
    order = [pair for _, pair in sorted(votes, key=lambda one: one[0])]

    def is_first(number: int) -> bool:
        turned = wins.copy()
        for better, worse in order[:number]:
            turned[better, worse] -= 1.0
            turned[worse, better] += 1.0
        return int(_strengths(turned).argmax()) == rival

    limit = len(order) if most is None else min(most, len(order))
    return _bisected(is_first, limit)


def _lead(wins: NDArray[np.float64], one: int, other: int) -> float:
    """Wins that the first has beyond what it would be expected to have if both were as strong."""
    tied = _strengths(wins, (one, other))
    return float(_slopes(wins, tied)[one])


def _slopes(wins: NDArray[np.float64], logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the slope of the log-likelihood in each log strength: wins beyond those expected."""
    expected = ((wins + wins.T) * _winning(logs)).sum(axis=1)
    middling = _PSEUDO_COMPARISONS * (0.5 - 1.0 / (1.0 + np.exp(-logs)))
    return np.asarray(wins.sum(axis=1) - expected + middling)


def _winning(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(logs - logs[:, None])))


def _strengths(
    wins: NDArray[np.float64], tied: tuple[int, int] | None = None
) -> NDArray[np.float64]:
    """Log strengths of Bradley and Terry by Newton's method, two of them equal if so wanted."""
    n_items = len(wins)
    label = np.arange(n_items)
    if tied is not None:
        label[tied[1]] = tied[0]
        label = np.unique(label, return_inverse=True)[1]
    sums = np.zeros((int(label.max()) + 1, n_items))
    sums[label, np.arange(n_items)] = 1.0
    met = wins + wins.T
    free = np.zeros(len(sums))
    for _ in range(_MOST_ROUNDS):
        logs = free[label]
        winning = _winning(logs)
        weights = met * winning * (1.0 - winning)
        middling = 1.0 / (1.0 + np.exp(-logs))
        own = _PSEUDO_COMPARISONS * middling * (1.0 - middling)
        curvature = np.diag(weights.sum(axis=1) + own) - weights
        step = np.linalg.solve(sums @ curvature @ sums.T, sums @ _slopes(wins, logs))
        # The log-likelihood is concave; steps longer than this may overshoot.
        free += step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < _SETTLED:
            break
    return np.asarray(free[label])


def _tier(
    items: Sequence[Item],
    wins: NDArray[np.float64],
    above: NDArray[np.float64],
    tiers: NDArray[np.int64],
    family: Family,
) -> Flip | None:
    before = _searched(wins, family)
    tied = 1.0 - above - above.T
    # How probable it is that two items stand to each other as published.
    standing = np.where(tiers[:, None] == tiers, tied, above)
    one, other = np.nonzero((tiers[:, None] <= tiers) & (wins >= 1.0))
    order = np.argsort(standing[one, other], kind="stable")[:_PAIRS_TRIED]
    found: Flip | None = None
    for better, worse in zip(one[order].tolist(), other[order].tolist(), strict=True):
        most = floor(wins[better, worse]) if found is None else found.votes - 1
        votes = _fewest(wins, (better, worse), most, before, family)
        if votes is not None:
            found = Flip(votes, items[better], items[worse], votes == 1)
    return found


def _fewest(
    wins: NDArray[np.float64],
    pair: tuple[int, int],
    most: int,
    before: NDArray[np.int64],
    family: Family,
) -> int | None:
    """Find by bisection a number of votes that, if reversed, change the best tiers."""

    def changes(votes: int) -> bool:
        turned = wins.copy()
        turned[pair] -= votes
        turned[pair[::-1]] += votes
        return not np.array_equal(_searched(turned, family), before)

    return _bisected(changes, min(most, floor(wins[pair])))


def _bisected(does: Callable[[int], bool], most: int) -> int | None:
    """Find a number of votes that does it by bisection; None if as many as there are do not."""
    if most < 1 or not does(most):
        return None
    least = 0
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if does(middle) else (middle, most)
    return most


def _searched(wins: NDArray[np.float64], family: Family) -> NDArray[np.int64]:
    """Return the most probable tiers, as a search finds them, counted from 0."""
    names = tuple(map(str, range(len(wins))))
    battles = Battles(names, wins.copy(), np.zeros_like(wins))
    return searched_labels(battles, family, "sceptical", np.random.default_rng(0))
