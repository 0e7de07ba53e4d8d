"""Strict consensus, Kendall: what the listed items leave is a strict model of fewer items.

Its partition function has a closed form, and the probability that one of two items comes before the
other depends only on how many items lie between them. So any number of items will do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.roles import LEFT, add_strict_pairs
from tierwise.answers.top import TopAnswers
from tierwise.partition.closed import ClosedPartition, applies

if TYPE_CHECKING:
    from tierwise.answers.base import Floats, Labels

__all__ = ["StrictTopAnswers", "applies"]

# Below this theta the difference of two large numbers is replaced by its first terms.
_SMALL_THETA = 1e-5


class StrictTopAnswers(TopAnswers):
    """Answers that list the best items, for tiers of one item each and the Kendall distance."""

    def _open_values(self, labels: Labels, theta: float) -> Floats:  # noqa: ARG002
        n_left = (self._roles == LEFT).sum(axis=1)
        table = np.zeros((len(self.sizes) + 1, 3))
        for number in np.unique(n_left).tolist():
            moments = ClosedPartition((1,) * number, self.distance).moments(theta)
            mean = float(moments.mean)
            table[number] = (moments.log_value, mean, moments.variance + mean * mean)
        values: Floats = table[n_left]
        return values

    def _add_open(
        self,
        labels: Labels,
        theta: float,
        membership: Floats,  # noqa: ARG002 - costs of the Kendall distance come from pairs alone
        precedence: Floats,
    ) -> None:
        in_order = np.argsort(labels)
        ahead = in_order_probabilities(theta, len(labels))
        add_strict_pairs(self._roles, self._role_weights, in_order, ahead, precedence)


def in_order_probabilities(theta: float, n_items: int) -> Floats:
    """Probability that two items come in the order of the consensus, by how far apart they are.

    Examples
    --------
    >>> in_order_probabilities(0.0, 3)
    array([0.5, 0.5, 0.5])
    """
    apart = np.arange(n_items, dtype=np.float64)
    if theta < _SMALL_THETA:
        return 0.5 + (2 * apart + 1) * theta / 12 * (apart > 0)
    numbers = np.arange(1, n_items + 2)
    scaled = numbers / -np.expm1(-theta * numbers)
    probabilities: Floats = np.empty(n_items)
    probabilities[0] = 0.5
    probabilities[1:] = np.diff(scaled)[: n_items - 1]
    return probabilities
