"""The partition function: exact against importance sampling, and growth with the sizes."""

from benchmarks.floors import seconds_to_read
from benchmarks.rows import Row, best_time, show_sizes
from tierwise.partition.choose import log_partition, partition_function
from tierwise.partition.recursion import n_states

THETA = 0.25


def exact_against_importance_sampling() -> list[Row]:
    """The paper's sizes for its sushi data, by recursion and by its own estimator."""
    sizes = (1, 1, 1, 2, 3, 2)
    exact_time, exact = best_time(lambda: log_partition(sizes, THETA), repeats=200)
    draws = 100_000
    estimate_time, estimate = best_time(
        lambda: log_partition(sizes, THETA, method="importance", draws=draws, rng=1)
    )
    case = f"kendall {show_sizes(sizes)}"
    error = f"error {abs(exact - 10.445639342627):.0e}"
    return [
        Row("log partition, exact", case, exact_time, error),
        Row(
            f"log partition, importance sampling, M = {draws:,}",
            case,
            estimate_time,
            f"error {abs(estimate - exact):.0e}, standard error {estimate.standard_error:.0e}, "
            f"{estimate_time / exact_time:.0f} times slower",
        ),
    ]


def growth_with_items() -> list[Row]:
    """Strict Kendall and Hamming, which do not depend on the number of states."""
    rows = []
    for n_items in (10, 100, 1000):
        for name, sizes in (("kendall", (1,) * n_items), ("hamming", (n_items // 10,) * 10)):
            seconds, value = _time(sizes, name)
            case = f"{name} {show_sizes(sizes)}"
            rows.append(Row("log partition, mean, variance", case, seconds, value.method))
    return rows


def growth_with_states() -> list[Row]:
    """The recursion, from hundreds to millions of states."""
    rows = []
    for sizes in ((3,) * 5, (2,) * 10, (4,) * 8, (1,) * 13 + (2,), (2,) * 13):
        seconds, value = _time(sizes, "kendall", repeats=2)
        states = n_states(sizes)
        rows.append(
            Row(
                "log partition, mean, variance",
                f"kendall {show_sizes(sizes)}",
                seconds,
                f"{value.method}, {states:,} states",
                floor_seconds=seconds_to_read(8 * states),
            )
        )
    return rows


def path_sampling() -> list[Row]:
    """Sizes beyond the recursion."""
    sizes = (5,) * 20
    seconds, value = _time(sizes, "kendall", repeats=1)
    remark = f"{value.method}, standard error {value.standard_error:.1g}"
    return [Row("log partition, mean, variance", f"kendall {show_sizes(sizes)}", seconds, remark)]


def _time(sizes, name, repeats=5):
    return best_time(lambda: partition_function(sizes, name, rng=1).log_value(THETA), repeats)
