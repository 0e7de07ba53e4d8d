"""Rows of the table of benchmarks, and how their times are taken."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    case: str
    seconds: float
    remark: str


def best_time(function: Callable[[], Any], repeats: int = 5) -> tuple[float, Any]:
    """Shortest time of several calls, after one that compiles, and the last result."""
    result = function()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        result = function()
        times.append(perf_counter() - start)
    return min(times), result


def show_time(seconds: float) -> str:
    """Write a time with three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def show_sizes(sizes: tuple[int, ...]) -> str:
    """Write equal sizes as a product."""
    if len(sizes) > 1 and len(set(sizes)) == 1:
        return f"{len(sizes)} x {sizes[0]}"
    return ",".join(map(str, sizes))
