"""Distinct answers, gathered from pieces of the data."""

import numpy as np

from tierwise.data.encoding import Places, Weights, collapse
from tierwise.errors import TooLargeError

MOST_BYTES = 1 << 30


class PatternTally:
    """Distinct answers and their weights, in order of first appearance.

    Pieces wait until they are as many as what is known, and are then merged with it: so every
    answer is merged only a few times, however many pieces there are.
    """

    def __init__(self, n_items: int) -> None:
        self._patterns: Places = np.empty((0, n_items), dtype=np.int32)
        self._weights: Weights = np.empty(0, dtype=np.int64)
        self._waiting: list[tuple[Places, Weights]] = []
        self._n_waiting = 0

    def add(self, patterns: Places, weights: Weights) -> None:
        """Add answers, distinct or not."""
        self._waiting.append((patterns, weights))
        self._n_waiting += len(patterns)
        if self._n_waiting > max(len(self._patterns), 1 << 16):
            self._merge()

    def result(self) -> tuple[Places, Weights]:
        """Return the distinct answers and their weights."""
        self._merge()
        return self._patterns, self._weights

    def _merge(self) -> None:
        together = [(self._patterns, self._weights), *self._waiting]
        self._patterns, pattern_of = collapse(np.concatenate([rows for rows, _ in together]))
        weights = np.concatenate([weights for _, weights in together])
        self._weights = np.zeros(len(self._patterns), dtype=weights.dtype)
        np.add.at(self._weights, pattern_of, weights)
        self._waiting, self._n_waiting = [], 0
        if self._patterns.nbytes > MOST_BYTES:
            raise TooLargeError(
                f"there are more than {len(self._patterns):,} distinct answers, which take up more "
                f"than {MOST_BYTES / 2**30:.0f} GB: read a sample of the answers, or keep fewer "
                "items or only the first places of each, so that more answers are alike"
            )
