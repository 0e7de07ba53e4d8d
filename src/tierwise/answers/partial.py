"""Answers as partial orders: which items come before which, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import NOT_LISTED
from tierwise.answers.base import log_factorials
from tierwise.answers.extensions import log_number_of_extensions
from tierwise.data.encoding import collapse

if TYPE_CHECKING:
    import numpy.typing as npt

    from tierwise._util.types import Places
    from tierwise.answers.base import Floats
    from tierwise.data.preferences import Preferences


@dataclass(frozen=True, eq=False)
class PartialOrders:
    """Distinct partial orders with their weights.

    Attributes
    ----------
    relations
        ``relations[row, a, b]`` says that item a comes before item b; transitive.
    weights
        Weight of each.
    log_numbers
        Log number of complete orderings that agree with each.
    first
        For answers that are rankings, the first place of the tied group of each item, counted among
        the items listed; -1 where the item may be anywhere. None for pairwise preferences.
    """

    relations: npt.NDArray[np.bool_]
    weights: Floats
    log_numbers: Floats
    first: Places | None

    def some_completions(self) -> Places:
        """Return the places of all items in a complete ordering that agrees with each."""
        # Whoever comes before another has fewer items before it.
        order = np.argsort(self.relations.sum(axis=1), axis=1, kind="stable")
        places = np.empty(order.shape, dtype=np.int32)
        np.put_along_axis(places, order, np.arange(order.shape[1], dtype=np.int32)[None], axis=1)
        return places

    def subset(self, rows: npt.NDArray[np.bool_]) -> PartialOrders:
        """Keep some of the answers."""
        first = None if self.first is None else self.first[rows]
        return PartialOrders(
            self.relations[rows], self.weights[rows], self.log_numbers[rows], first
        )


def orders_of_places(first: Places, weights: Floats) -> PartialOrders:
    """Return rankings as partial orders, given the first place of each item's tied group."""
    listed = first != NOT_LISTED
    before = first[:, :, None] < first[:, None, :]
    relations = before & listed[:, :, None] & listed[:, None, :]
    n_items = first.shape[1]
    logs = log_factorials(n_items)
    tied = (first[:, :, None] == first[:, None, :]).sum(axis=2)
    # Each member of a tied group carries its share of the log number of its orders.
    log_orders = np.where(listed, logs[tied] / tied, 0.0).sum(axis=1)
    log_numbers = log_orders + logs[-1] - logs[listed.sum(axis=1)]
    return PartialOrders(relations, weights, log_numbers, first)


def orders_of_preferences(
    preferences: Preferences,
) -> tuple[PartialOrders, npt.NDArray[np.int64]]:
    """Return pairwise preferences as distinct partial orders, and the one of each assessor."""
    n_items = len(preferences.items)
    flat = preferences.closure.reshape(len(preferences), -1)
    distinct, which = collapse(flat)  # type: ignore[arg-type]
    relations = np.ascontiguousarray(distinct).view(np.bool_).reshape(-1, n_items, n_items)
    log_numbers = np.array([float(log_number_of_extensions(relation)) for relation in relations])
    weights = np.bincount(which).astype(np.float64)
    return PartialOrders(relations, weights, log_numbers, first=None), which
