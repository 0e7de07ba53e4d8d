"""Rows of the table of benchmarks, and how their times are taken."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

from tierwise._compiling import kernel as compiling


@dataclass(frozen=True)
class Row:
    """One line of the table.

    ``seconds`` are tierwise's; None if only the peer can be run, or the row just says something.
    ``floor_seconds`` is what the machine needs for the same in any case.
    """

    what: str
    case: str
    seconds: float | None
    remark: str
    peer: str = ""
    peer_seconds: float | None = None
    floor_seconds: float | None = None


# No call is made again once those before it took this long together.
_ENOUGH_SECONDS = 5.0


def best_time(function: Callable[[], Any], repeats: int = 5) -> tuple[float, Any]:
    """Shortest time of several calls, after one that compiles, and the last result."""
    function()
    return shortest_time(function, repeats)


def shortest_time(function: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Shortest time of several calls, and the last result; for what needs no warm-up."""
    times: list[float] = []
    result = None
    while len(times) < repeats and sum(times) < _ENOUGH_SECONDS:
        start = perf_counter()
        result = function()
        times.append(perf_counter() - start)
    return min(times), result


def compile_whatever_is_called() -> None:
    """Have kernels compiled or loaded by the call before the one that is timed, also short ones."""
    compiling._STEPS_OF_COMPILING = compiling._STEPS_OF_LOADING = 0
    compiling._STEPS_WITH_COMPILER = 0


def core_time(function: Callable[[], Any], repeats: int = 3) -> float:
    """Least time that cores work on a call, after one that compiles: others do not disturb it."""
    function()
    times = []
    for _ in range(repeats):
        start = process_time()
        function()
        times.append(process_time() - start)
    return min(times)


def show_time(seconds: float | None) -> str:
    """Write a time with three digits."""
    if seconds is None:
        return ""
    if seconds >= 1000:
        return f"{seconds:,.0f} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def show_sizes(sizes: tuple[int, ...]) -> str:
    """Write equal sizes as a product."""
    if len(sizes) > 1 and len(set(sizes)) == 1:
        return f"{len(sizes)} x {sizes[0]}"
    return ",".join(map(str, sizes))


HEADER = (
    "| what | case | tierwise | floor | peer | its time | peer / tierwise | remark |\n"
    "|---|---|--:|--:|---|--:|--:|---|"
)


def show_row(row: Row) -> str:
    """Write a row as a line of a markdown table."""
    ratio = ""
    if row.seconds is not None and row.peer_seconds is not None:
        ratio = f"{row.peer_seconds / row.seconds:.3g}"
    cells = (
        row.what,
        row.case,
        show_time(row.seconds),
        show_time(row.floor_seconds),
        row.peer,
        show_time(row.peer_seconds),
        ratio,
        row.remark,
    )
    return "| " + " | ".join(cells) + " |"


def show_table(rows: Iterable[Row]) -> str:
    """Write rows as a markdown table."""
    return "\n".join([HEADER, *map(show_row, rows)])
