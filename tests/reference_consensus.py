"""Consensus by brute force: every assignment of items to tiers, from the definition."""

from itertools import permutations

import numpy as np


def all_labels(sizes):
    """Every label vector with these tier sizes, once each."""
    sorted_labels = [tier for tier, size in enumerate(sizes) for _ in range(size)]
    return sorted(set(permutations(sorted_labels)))


def total_of(linear, pairs, labels):
    """Total cost of labels; an empty part costs nothing."""
    total = 0.0
    for a, tier in enumerate(labels):
        if len(linear):
            total += linear[a][tier]
        for b, other in enumerate(labels):
            if len(pairs) and a != b and other <= tier:
                total += pairs[a][b]
    return total


def brute_force(linear, pairs, sizes, tolerance=0.0):
    """Least total and the set of all label vectors that have it."""
    totals = {labels: total_of(linear, pairs, labels) for labels in all_labels(sizes)}
    least = min(totals.values())
    return least, {labels for labels, total in totals.items() if total <= least + tolerance}


def random_parts(sizes, kind, largest, seed):
    """Random costs, whole numbers from 0 to ``largest``: pairs only, linear only, or both."""
    rng = np.random.default_rng(seed)
    n_items = sum(sizes)
    pairs = rng.integers(0, largest + 1, (n_items, n_items)).astype(float)
    linear = rng.integers(0, largest + 1, (n_items, len(sizes))).astype(float)
    empty = np.empty((0, 0))
    return {"pairs": (empty, pairs), "linear": (linear, empty), "both": (linear, pairs)}[kind]
