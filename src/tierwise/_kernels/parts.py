"""Parts of a distance that have a theta each: moments by the recursion, parts of data, descent.

A pair of items in different blocks that is reversed, or tied where ties are charged, belongs to the
part of the earlier item's block, or of the better tier, which is that of the later item.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.orderings import order_of
from tierwise._kernels.recursion import States

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

EARLIER_BLOCK, BETTER_TIER = 0, 1


@compiled
def weight_and_part_moments(
    states: States, parts: _Integers, decay: _Floats
) -> tuple[float, _Floats, _Floats]:
    """Weight of all ways together, and their sums of parts and of products of two parts.

    For Kendall, as `weight_and_moments` of the recursion: items of a label in a block belong to the
    part ``parts[block, label]``, and ``decay[part, units]`` is what that much of it multiplies the
    weight with.
    """
    sizes, strides, order, starts, left = states
    n_tiers, n_parts = sizes.shape[0], decay.shape[0]
    n_states = order.shape[0]
    weights = np.zeros(n_states)
    firsts = np.zeros((n_states, n_parts))
    seconds = np.zeros((n_states, n_parts, n_parts))
    weights[n_states - 1] = 1.0
    top = sizes.sum()
    for block in range(n_tiers):
        bottom = top - sizes[block]
        for label in range(n_tiers):
            part = parts[block, label]
            for position in range(starts[bottom], starts[top]):
                state = order[position]
                behind = left[state, label + 1]
                if behind > bottom:
                    continue
                kept = behind - left[state, label]
                most = min(sizes[label] - kept, top - left[state, n_tiers])
                factor = 1.0
                for taken in range(1, most + 1):
                    factor *= decay[part, behind] * (kept + taken) / taken
                    source = state + taken * strides[label]
                    weight = factor * weights[source]
                    if weight == 0.0:
                        continue
                    cost = float(taken * behind)
                    weights[state] += weight
                    for one in range(n_parts):
                        first = factor * firsts[source, one]
                        firsts[state, one] += first
                        for other in range(one + 1):
                            seconds[state, one, other] += factor * seconds[source, one, other]
                        # The new cost belongs to one part: only its row and column change.
                        seconds[state, max(one, part), min(one, part)] += cost * first
                    seconds[state, part, part] += cost * (
                        factor * firsts[source, part] + cost * weight
                    )
                    firsts[state, part] += cost * weight
        top = bottom
    return weights[0], firsts[0], seconds[0]


@compiled
def part_distances(
    blocks: npt.NDArray[np.int32],
    labels: _Integers,
    charged: int,
    tied: int,
    distances: _Floats,
) -> None:
    """Add to ``distances[row, part]`` the distance of each row, by parts.

    ``blocks[row, item]`` is the block of each item; items that share a block are not compared.
    """
    n_items = labels.shape[0]
    for row in range(blocks.shape[0]):
        for first in range(n_items):
            for second in range(n_items):
                if blocks[row, first] >= blocks[row, second]:
                    continue
                if labels[second] > labels[first]:
                    continue
                if labels[second] == labels[first] and tied == 0:
                    continue
                if charged == EARLIER_BLOCK:
                    distances[row, blocks[row, first]] += 1.0
                else:
                    distances[row, labels[second]] += 1.0


@compiled
def add_block_pair_counts_by_block(
    blocks: npt.NDArray[np.int32], weights: _Floats, counts: _Floats
) -> None:
    """Add to ``counts[i, a, b]`` the weight of answers with a in block i and b in a later one."""
    n_items = blocks.shape[1]
    for row in range(blocks.shape[0]):
        for first in range(n_items):
            for second in range(n_items):
                if blocks[row, first] < blocks[row, second]:
                    counts[blocks[row, first], first, second] += weights[row]


@compiled
def totals_by_label(labels: _Integers, pairs: _Floats, n_tiers: int) -> _Floats:
    """Sum ``pairs[a, b] * [z_b <= z_a]`` by the label of ``b``."""
    totals = np.zeros(n_tiers)
    for item in range(labels.shape[0]):
        for other in range(labels.shape[0]):
            if other != item and labels[other] <= labels[item]:
                totals[labels[other]] += pairs[item, other]
    return totals


@compiled
def descend_by_tier(
    labels: _Integers, pairs: _Floats, thetas: _Floats, window: int, tolerance: float
) -> _Integers:
    """Move single items in the order of the tiers as long as the weighted total falls.

    The total is the sum of ``thetas[z_b] * pairs[a, b] * [z_b <= z_a]``. Items stand in the order
    of their tiers, which are cut from it; an item is taken out and put in elsewhere, or two trade
    places, not further apart than a window.
    """
    n_items, n_tiers = labels.shape[0], thetas.shape[0]
    order = order_of(labels)
    cut = labels[order]
    best = (totals_by_label(labels, pairs, n_tiers) * thetas).sum()
    trial, found = np.empty_like(order), labels.copy()
    improved = True
    while improved:
        improved = False
        for source in range(n_items):
            for target in range(max(0, source - window), min(n_items, source + window + 1)):
                if cut[source] == cut[target]:
                    continue
                for kind in range(2):
                    trial[:] = order
                    if kind == 0:
                        trial[source], trial[target] = order[target], order[source]
                    else:
                        step = 1 if target > source else -1
                        for place in range(source, target, step):
                            trial[place] = order[place + step]
                        trial[target] = order[source]
                    for place in range(n_items):
                        found[trial[place]] = cut[place]
                    total = (totals_by_label(found, pairs, n_tiers) * thetas).sum()
                    if total < best - tolerance:
                        best = total
                        order[:] = trial
                        improved = True
    for place in range(n_items):
        found[order[place]] = cut[place]
    return found
