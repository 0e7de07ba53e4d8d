"""How long the best tiers take, method by method.

Run ``python benchmarks/consensus.py``. Data are Plackett-Luce rankings with a seed: ``spread`` is
the difference in log-worth between neighbouring items, 0 for pure noise, the hardest case.
"""

from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

from tierwise.consensus.find import find_consensus
from tierwise.consensus.problem import make_problem
from tierwise.consensus.subsets import best_labels
from tierwise.distances import Costs
from tierwise.tiers import Sizes, compositions

CASES: list[tuple[str, Sizes, float]] = [
    ("subsets", (1, 1, 1, 2, 3, 2), 0.1),
    ("subsets", (1,) * 20, 0.1),
    ("subsets", (4,) * 5, 0.1),
    ("subsets", (1, 1, 1, 2, 3, 2, 15), 0.1),
    ("milp", (1, 1, 1, 2, 3, 2, 15), 0.1),
    ("milp", (4,) * 5, 0.0),
    ("milp", (1,) * 40, 0.05),
    ("milp", (10,) * 6, 0.05),
    ("annealing", (1, 1, 1, 2, 3, 2, 15), 0.1),
    ("annealing", (20,) * 5, 0.05),
    ("annealing", (1,) * 500, 0.01),
    ("annealing", (400,) * 5, 0.01),
]


def kendall_costs(sizes: Sizes, spread: float, seed: int = 1, n_rankings: int = 50) -> Costs:
    """Count how often each item is in a better block than another."""
    rng = np.random.default_rng(seed)
    n_items = sum(sizes)
    worth = spread * np.arange(n_items) + rng.gumbel(size=(n_rankings, n_items))
    block_of_place = np.repeat(np.arange(len(sizes)), sizes)
    pairs = np.zeros((n_items, n_items))
    for places in worth.argsort(axis=1).argsort(axis=1):
        blocks = block_of_place[places]
        pairs += blocks[:, None] < blocks[None, :]
    return Costs(linear=np.empty((0, 0)), pairs=pairs)


def short(sizes: Sizes) -> str:
    """Write equal sizes as a product."""
    return f"{len(sizes)} x {sizes[0]}" if len(set(sizes)) == 1 else ",".join(map(str, sizes))


def main() -> None:
    """Time every case once compiled, and all size vectors of ten items together."""
    table = Table("method", "items", "sizes", "spread", "seconds", "total", "gap", "optima")
    for method in ("subsets", "milp", "annealing"):
        find_consensus(kendall_costs((2, 2), 0.1), (2, 2), method=method, rng=1)
    for method, sizes, spread in CASES:
        costs = kendall_costs(sizes, spread)
        start = perf_counter()
        found = find_consensus(costs, sizes, method=method, rng=1)
        seconds = perf_counter() - start
        row = (method, sum(sizes), short(sizes), spread, f"{seconds:.3f}", f"{found.total:.0f}")
        table.add_row(*map(str, row), f"{found.gap:.2%}", str(found.n_optima or "?"))
    Console().print(table)
    for n_items, every in [(10, 1), (15, 64)]:
        chosen = list(compositions(n_items))[::every]
        problems = [make_problem(kendall_costs(sizes, 0.1), sizes) for sizes in chosen]
        start = perf_counter()
        for problem in problems:
            best_labels(problem)
        seconds = perf_counter() - start
        print(
            f"{len(chosen)} size vectors of {n_items} items: {seconds:.3f} s together, "
            f"{1e3 * seconds / len(chosen):.2f} ms each"
        )


if __name__ == "__main__":
    main()
