"""Rankings from several groups, and who belongs where."""

import numpy as np

import tierwise as tw


def from_groups(groups, numbers, seed):
    """Draw rankings from (orders tier by tier, theta) of each group, as many as the numbers say."""
    rng = np.random.default_rng(seed)
    parts = [
        tw.ClusteredMallows(tw.Tiers(tiers), theta).sample(number, rng=rng)
        for (tiers, theta), number in zip(groups, numbers, strict=True)
    ]
    return tw.Rankings.concat(parts), np.repeat(np.arange(len(numbers)), numbers)


def random_tiers(sizes, seed):
    """Put the items 0, 1, ... into tiers at random."""
    order = np.random.default_rng(seed).permutation(sum(sizes)).tolist()
    ends = np.cumsum(sizes)
    return [order[end - size : end] for size, end in zip(sizes, ends, strict=True)]
