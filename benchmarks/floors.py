"""What the machine itself can do, measured in the same run."""

from functools import cache

import numpy as np

from benchmarks.rows import best_time

_BYTES = 1 << 28


@cache
def memory_bandwidth() -> float:
    """Bytes that one core reads from memory in a second."""
    numbers = np.ones(_BYTES // 8)
    seconds, _ = best_time(numbers.sum, repeats=5)
    return _BYTES / seconds


def seconds_to_read(n_bytes: float) -> float:
    """Time in which one core reads so many bytes from memory."""
    return n_bytes / memory_bandwidth()
