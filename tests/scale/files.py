"""Files of rankings in several parts, for tests."""

import numpy as np

from tierwise import Rankings, write_rankings


def random_rankings(n_rankings, n_items, seed):
    rng = np.random.default_rng(seed)
    orders = rng.permuted(np.tile(np.arange(n_items), (n_rankings, 1)), axis=1)
    return Rankings.from_order_array(orders, [f"item {item}" for item in range(n_items)])


def write_parts(folder, rankings, n_parts, suffix="parquet", layout="orderings"):
    """Write rankings to files of about equal length, in order."""
    for part, rows in enumerate(np.array_split(np.arange(len(rankings)), n_parts)):
        write_rankings(rankings.subset(rows), folder / f"part-{part:02}.{suffix}", layout=layout)
