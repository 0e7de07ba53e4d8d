"""Answers that list the best items, Hamming distance: any sizes, by rectangular boards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tierwise._kernels.boards import expect_boards, value_boards
from tierwise._kernels.roles import LEFT, add_expected_places
from tierwise.answers.base import Floats, Labels, log_factorials
from tierwise.answers.top import TopAnswers
from tierwise.partition.rook import applies

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["BoardTopAnswers", "applies"]


class BoardTopAnswers(TopAnswers):
    """Answers that list the best items, for the Hamming distance."""

    def _boards(self, labels: Labels) -> tuple[npt.NDArray[np.int64], ...]:
        """Return items left by tier and the open block of distinct boards, and each row's board."""
        member = np.eye(len(self.sizes), dtype=np.int64)[labels]
        counts = (self._roles == LEFT).astype(np.int64) @ member
        items, first, which = np.unique(counts, axis=0, return_index=True, return_inverse=True)
        return items, self._block_and_free[first], which.ravel()

    def _open_values(self, labels: Labels, theta: float) -> Floats:
        sizes = np.array(self.sizes, dtype=np.int64)
        items, blocks_and_free, which = self._boards(labels)
        unit = self.rule.unit
        values = value_boards(items, blocks_and_free, sizes, theta * unit)
        # Boards tell places apart, which the order of places within blocks does already.
        logs = log_factorials(len(labels))
        later = np.append(np.cumsum(logs[sizes][::-1])[::-1], 0.0)[blocks_and_free[:, 0] + 1]
        values[:, 0] -= logs[blocks_and_free[:, 1]] + later
        scaled: Floats = values * [1.0, unit, unit**2]
        return scaled[which]

    def _add_open(
        self,
        labels: Labels,
        theta: float,
        membership: Floats,
        precedence: Floats,  # noqa: ARG002 - costs of the Hamming distance come from places alone
    ) -> None:
        sizes = np.array(self.sizes, dtype=np.int64)
        items, blocks_and_free, which = self._boards(labels)
        tables = expect_boards(items, blocks_and_free, sizes, theta * self.rule.unit)
        add_expected_places(self._roles, self._role_weights, labels, which, tables, membership)
