"""Run every benchmark and print one markdown table."""

from collections.abc import Callable

from benchmarks.partition import (
    exact_against_importance_sampling,
    growth_with_items,
    growth_with_states,
    path_sampling,
)
from benchmarks.rows import Row, show_time
from benchmarks.sampling import exact_against_metropolis

# To add one, write a function that returns rows and list it here.
BENCHMARKS: list[Callable[[], list[Row]]] = [
    exact_against_importance_sampling,
    growth_with_items,
    growth_with_states,
    path_sampling,
    exact_against_metropolis,
]


def main() -> None:
    print("| what | case | time | remark |")
    print("|---|---|---|---|")
    for benchmark in BENCHMARKS:
        for row in benchmark():
            time = show_time(row.seconds)
            print(f"| {row.what} | {row.case} | {time} | {row.remark} |", flush=True)


if __name__ == "__main__":
    main()
