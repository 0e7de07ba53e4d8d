"""What published tiers claim, and how probable that is: boundaries and ties.

As everywhere, that items differ is claimed under the prior of sizes as it is, and that they are
tied or nearly tied under the "uniform" one (`tierwise.posterior.ties`). A claim is ruled out if its
contrary could be claimed: so neither a claim nor its contrary repeats the prior.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from tierwise.posterior.run import DrawnTiers
from tierwise.posterior.ties import LOG_ODDS_OF_NEARLY, share_of_all, weights_for_sameness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tierwise.posterior.result import Posterior

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

Settle: TypeAlias = Literal["differences", "tiers"]
"""What to settle: the published differences, or the ties too."""
Kind: TypeAlias = Literal["boundary", "tie"]
State: TypeAlias = Literal["settled", "ruled out", "open"]
KindOfClaim: TypeAlias = tuple[Kind, int]
"""The kind, and the number of the tier, counted from 0."""


class Chances(NamedTuple):
    """Probability of each claim, and of its contrary; they need not sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> Chances(np.array([0.97, 0.6, 0.01]), np.array([0.02, 0.3, 0.98])).states(0.95)
    ['settled', 'open', 'ruled out']
    """

    holds: Floats
    contrary: Floats

    def states(self, certainty: float) -> list[State]:
        """Say of each claim whether it is settled, ruled out, or open."""
        return [
            "settled" if holds >= certainty else "ruled out" if contrary >= certainty else "open"
            for holds, contrary in zip(self.holds.tolist(), self.contrary.tolist(), strict=True)
        ]


def kinds_of_claims(labels: Integers, settle: Settle) -> list[KindOfClaim]:
    """List what tiers claim, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> kinds_of_claims(np.array([0, 1, 1]), "differences")
    [('boundary', 0)]
    >>> kinds_of_claims(np.array([0, 1, 1]), "tiers")
    [('boundary', 0), ('tie', 1)]
    """
    sizes = np.bincount(labels).tolist()
    kinds: list[KindOfClaim] = []
    for tier, size in enumerate(sizes):
        if size > 1 and (settle == "tiers" or len(sizes) == 1):
            kinds.append(("tie", tier))
        if tier + 1 < len(sizes):
            kinds.append(("boundary", tier))
    return kinds


def claims_hold(
    labels: Integers, kinds: Sequence[KindOfClaim], draws: DrawnTiers
) -> NDArray[np.bool_]:
    """Whether claims of given tiers hold in each draw of other tiers, ``[draw, claim]``.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.posterior.run import DrawnTiers
    >>> kinds, drawn = [("boundary", 0), ("tie", 1)], np.array([[1, 2, 3], [1, 1, 1], [1, 2, 2]])
    >>> claims_hold(np.array([0, 1, 1]), kinds, DrawnTiers(drawn)).tolist()
    [[True, False], [False, True], [True, True]]
    >>> logs = np.array([[1.0, 0.1, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    >>> claims_hold(np.array([0, 1, 1]), kinds, DrawnTiers(drawn, logs))[0].tolist()
    [True, True]
    """
    columns = []
    for kind, tier in kinds:
        members = draws.labels[:, labels == tier]
        if kind == "boundary":
            after = draws.labels[:, labels == tier + 1]
            columns.append(members.max(axis=1) < after.min(axis=1))
            continue
        held = members.max(axis=1) == members.min(axis=1)
        if draws.log_worths is not None:
            held |= np.ptp(draws.log_worths[:, labels == tier], axis=1) <= LOG_ODDS_OF_NEARLY
        columns.append(held)
    return np.stack(columns, axis=1)


def chances_of_claims(labels: Integers, kinds: Sequence[KindOfClaim], draws: DrawnTiers) -> Chances:
    """Find how probable claims are, and how probable their contraries.

    Parameters
    ----------
    labels
        Tier of each item in the tiers that make the claims, counted from 0.
    kinds
        The claims.
    draws
        Draws of tiers given the answers.

    Examples
    --------
    >>> import numpy as np
    >>> from tierwise.posterior.run import DrawnTiers
    >>> drawn = DrawnTiers(np.array([[1, 1, 1], [1, 2, 2]] * 200), prior_sizes="sceptical")
    >>> found = chances_of_claims(np.array([0, 1, 1]), [("boundary", 0)], drawn)
    >>> found.holds.tolist(), found.contrary.round(3).tolist()
    ([0.5], [0.297])
    """
    held = claims_hold(labels, kinds, draws)
    # That a boundary does not hold says that items are the same, as a tie does.
    are_ties = np.array([kind == "tie" for kind, _ in kinds])
    same = np.where(are_ties, held, ~held)
    weights = weights_for_sameness(draws.labels, draws.prior_sizes)
    for_sameness = np.where(
        same.all(axis=0), share_of_all(weights), (weights @ same).clip(0.0, 1.0)
    )
    for_difference = (~same).mean(axis=0)
    return Chances(
        np.where(are_ties, for_sameness, for_difference),
        np.where(are_ties, for_difference, for_sameness),
    )


def drawn_tiers(posterior: Posterior) -> DrawnTiers:
    """Return the draws of a posterior as claims look at them."""
    logs = posterior.log_worths if posterior.family == "luce" else None
    return DrawnTiers(posterior.labels, logs, posterior.prior_sizes)
