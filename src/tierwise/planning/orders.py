"""What a comparison would say about the order of items, as draws of their orders have it.

In each draw every pair of items is above, tied or below, and one wins with some probability.
An answer says something about an order as far as the two go together from draw to draw. To second
order, the information about an order is half the variance of the chance that it explains, over the
variance of the answer. So a pair is also worth asking about if its answer says that there are any
tiers at all: that is open of all pairs at once, and items far apart show it best.

Draws have weights: those of tiers have most of it, and those of strengths without ties have the
rest. A few hundred draws of tiers cannot show what is improbable but not impossible. With few
answers they may all have a single tier, and would say that there is nothing to ask.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DrawnOrders:
    """Chances of comparisons and orders of items, draw by draw, given what was asked before.

    Pairs of items are those of `numpy.triu_indices`.

    Attributes
    ----------
    n_items
        Number of items.
    chances
        Chance that the first item of each pair wins, less its mean, times the root of the weight of
        the draw, ``[draw, pair]``: products of columns are covariances.
    seen, slopes
        Answers to the questions before, ``[draw, question]``, and how much the chance of each pair
        changes with each of them, ``[question, pair]``: ``chances - seen @ slopes`` is left open.
    noise
        Variance of an answer that is chance in each draw, by pair.
    alike
        In how many orders each pair of draws agree, each over its share; less what is expected,
        and times the roots of their weights.
    explained
        Variance of each chance that orders explain, summed over the orders of all pairs.
    variances
        Variance of each chance.
    """

    n_items: int
    chances: Floats
    seen: Floats
    slopes: Floats
    noise: Floats
    alike: Floats
    explained: Floats
    variances: Floats

    def gains(self) -> Floats:
        """Information of one comparison of each pair of items about the orders of all, in bits."""
        gains = np.zeros((self.n_items, self.n_items))
        information = np.maximum(self.explained, 0.0) / (self.variances + self.noise)
        gains[np.triu_indices(self.n_items, k=1)] = 0.5 / np.log(2.0) * information
        return np.asarray(gains + gains.T)

    def observe(self, one: int, other: int, share: float = 1.0) -> DrawnOrders:
        """Return what is open after a comparison, whoever wins; it may count for less than one.

        Covariances change as those of normal variables do when one of them is observed.
        """
        one, other = min(one, other), max(one, other)
        pair = one * self.n_items - one * (one + 1) // 2 + other - one - 1
        seen = self.chances[:, pair] - self.seen @ self.slopes[:, pair]
        alike = self.alike @ seen
        # Both products at once: reading the chances is what takes time.
        with_seen, with_alike = np.stack([seen, alike]) @ self.chances
        with_alike -= (alike @ self.seen) @ self.slopes
        variance = self.variances[pair] + self.noise[pair] / share
        slopes = with_seen / variance
        return replace(
            self,
            seen=np.column_stack([self.seen, seen]),
            slopes=np.vstack([self.slopes, slopes]),
            explained=self.explained - 2.0 * slopes * with_alike + slopes**2 * float(seen @ alike),
            variances=self.variances - slopes**2 * variance,
        )


def drawn_orders(labels: Integers, log_worths: Floats, weights: Floats) -> DrawnOrders:
    """Look at draws of tiers as questions do.

    Parameters
    ----------
    labels
        Tier of each item (column) in each draw (row).
    log_worths
        Log worth of each item in each draw.
    weights
        Weight of each draw; they sum to 1.

    Examples
    --------
    Whether there are two tiers is open, and the items that are apart would show it.

    >>> import numpy as np
    >>> labels = np.array([[1, 1, 1, 1], [1, 1, 2, 2]] * 50)
    >>> logs = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -1.0, -1.0]] * 50)
    >>> drawn_orders(labels, logs, np.full(100, 0.01)).gains()[0].round(2).tolist()
    [0.0, 0.0, 0.48, 0.48]
    """
    n_draws, n_items = labels.shape
    first, second = np.triu_indices(n_items, k=1)
    chances = 1.0 / (1.0 + np.exp(log_worths[:, second] - log_worths[:, first]))
    roots = np.sqrt(weights)[:, None]
    centred = roots * (chances - weights @ chances)
    above = labels[:, first] < labels[:, second]
    below = labels[:, first] > labels[:, second]
    alike = np.zeros((n_draws, n_draws))
    for order in (above, below, ~(above | below)):
        # Single precision is precise enough for counts of agreement, and twice as fast.
        there = order.astype(np.float32)
        shares = weights.astype(np.float32) @ there
        there = there[:, shares > 0.0]
        alike += (there / shares[shares > 0.0]) @ there.T
    alike -= weights @ alike
    alike -= (alike @ weights)[:, None]
    # A draw agrees with itself: that alone would make chance look like information.
    np.fill_diagonal(alike, 0.0)
    alike *= roots * roots.T
    return DrawnOrders(
        n_items=n_items,
        chances=centred,
        seen=np.zeros((n_draws, 0)),
        slopes=np.zeros((0, len(first))),
        noise=np.asarray(weights @ (chances * (1.0 - chances))),
        alike=alike,
        explained=np.asarray(((alike @ centred) * centred).sum(axis=0)),
        variances=np.asarray((centred**2).sum(axis=0)),
    )
