"""How often the data agree with the order of the tiers: the paper's criterion D."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tierwise.data.battles import Battles
from tierwise.data.counts import Counts, Numbers
from tierwise.data.kinds import check_data, pair_counts
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.data.scan import RankingScan
from tierwise.errors import InputError, quoted
from tierwise.tiers.ordered_partition import Tiers


@dataclass(frozen=True, eq=False)
class Agreement:
    """Share of pairs of items that the rankings order as the tiers do.

    Attributes
    ----------
    overall
        Over all pairs of items of different tiers: the paper's D. NaN if there is only one tier.
    by_pair
        ``by_pair[k, l]``, k < l, counted from 0: over the items of two tiers. NaN elsewhere.
    against_worse
        Each tier but the last against all worse tiers together, as in the paper's table.
    """

    overall: float
    by_pair: NDArray[np.float64]
    against_worse: NDArray[np.float64]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON; None stands for NaN."""
        return {
            "overall": _or_none(self.overall),
            "by_pair": [[_or_none(share) for share in row] for row in self.by_pair.tolist()],
            "against_worse": [_or_none(share) for share in self.against_worse.tolist()],
        }


def agreement(
    data: Rankings | RankingScan | Counts | Preferences | Battles, tiers: Tiers
) -> Agreement:
    """Compare rankings with the order of tiers, pair by pair.

    This describes tiers, and can narrow a search. It does not tell how many tiers there are: alone
    it prefers degenerate tiers, such as one item that everybody dislikes against all others.

    Examples
    --------
    >>> from tierwise import Rankings, Tiers
    >>> rankings = Rankings.from_orderings([["a", "b", "c"], ["b", "c", "a"]])
    >>> agreement(rankings, Tiers([["b"], ["a", "c"]])).overall
    0.75
    """
    known = check_data(data, "agreement", Rankings, Counts, Preferences, Battles)
    if not isinstance(tiers, Tiers):
        raise InputError(f"tiers must be Tiers, such as Tiers([['a'], ['b']]); got {quoted(tiers)}")
    counts = pair_counts(known)
    return agreement_of_counts(counts, tiers.label_array(known.items))


def agreement_of_counts(pairs: Numbers, labels: NDArray[np.int64]) -> Agreement:
    """Compute the agreement from how often each item is above each other."""
    member = np.eye(int(labels.max()) + 1)[labels]
    won = member.T @ pairs @ member
    better = np.triu(won, k=1)
    total = better + np.triu(won.T, k=1)
    with np.errstate(invalid="ignore"):
        return Agreement(
            overall=float(np.divide(better.sum(), total.sum())),
            by_pair=better / total,
            against_worse=(better.sum(axis=1) / total.sum(axis=1))[:-1],
        )


def _or_none(number: float) -> float | None:
    return None if np.isnan(number) else number
