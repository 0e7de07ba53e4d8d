"""Weak orders under tiers: log probabilities, and draws line by line from q-binomial words.

The places of a tier among those of it and all worse tiers form a word of two letters, S and R. The
next letter is S with probability ``[s]_q / [s + r]_q`` when ``s`` and ``r`` letters are left.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@compiled
def log_weights_of_weak_orders(
    first: npt.NDArray[np.int32],
    labels: _Integers,
    thetas: _Floats,
    tables: _Floats,
    log_factorials: _Floats,
) -> _Floats:
    """Log of the sum of the weights of all orderings that agree with each weak order.

    ``first[row, item]`` is the first place of the item's block; ``tables[line]`` are the logarithms
    of Gaussian factorials at the theta of the line; there is a line for each tier but the last.
    """
    n_rows, n_items = first.shape
    n_lines = thetas.shape[0]
    values = np.zeros(n_rows)
    order = np.zeros(n_items, np.int64)
    starts = np.zeros(n_items + 1, np.int64)
    here = np.zeros(n_lines + 1, np.int64)
    seen = np.zeros(n_lines + 1, np.int64)
    for row in range(n_rows):
        starts[:] = 0
        for item in range(n_items):
            starts[first[row, item] + 1] += 1
        for place in range(n_items):
            starts[place + 1] += starts[place]
        # Items by block: a block's first place is where its items begin.
        for item in range(n_items - 1, -1, -1):
            starts[first[row, item] + 1] -= 1
            order[starts[first[row, item] + 1]] = item
        seen[:] = 0
        value = 0.0
        begin = 0
        while begin < n_items:
            end = begin + 1
            while end < n_items and first[row, order[end]] == first[row, order[begin]]:
                end += 1
            here[:] = 0
            for place in range(begin, end):
                here[labels[order[place]]] += 1
            worse_here, worse_seen = 0, 0
            for tier in range(n_lines, -1, -1):
                number = here[tier]
                if number > 0:
                    value += log_factorials[number]
                    if tier < n_lines:
                        inversions = number * worse_seen
                        if inversions > 0:
                            value -= thetas[tier] * inversions
                        table = tables[tier]
                        value += table[number + worse_here] - table[number] - table[worse_here]
                worse_here += number
                worse_seen += seen[tier]
            for tier in range(n_lines + 1):
                seen[tier] += here[tier]
            begin = end
        values[row] = value
    return values


@compiled
def draw_line_by_line(
    sizes: _Integers, thetas: _Floats, n_rows: int, rng: np.random.Generator
) -> _Integers:
    """Draw orderings of items numbered tier by tier, with one theta for each tier but the last."""
    n_items = 0
    for size in sizes:
        n_items += size
    orderings = np.empty((n_rows, n_items), np.int64)
    for row in range(n_rows):
        ordering = orderings[row]
        begin = n_items
        for tier in range(sizes.shape[0] - 1, -1, -1):
            size = sizes[tier]
            n_worse = n_items - begin
            begin -= size
            # Shuffle the tier at the head of the free places; what is worse stands behind it.
            for place in range(size):
                ordering[begin + place] = begin + place
            for place in range(size - 1, 0, -1):
                other = int(rng.random() * (place + 1))
                ordering[begin + place], ordering[begin + other] = (
                    ordering[begin + other],
                    ordering[begin + place],
                )
            if n_worse == 0:
                continue
            own = ordering[begin : begin + size].copy()
            worse = ordering[begin + size :].copy()
            theta = thetas[tier]
            taken, passed = 0, 0
            for place in range(begin, n_items):
                left = size - taken
                remaining = n_items - place
                if theta == 0.0:
                    share = left / remaining
                elif theta == np.inf:
                    share = 1.0 if left > 0 else 0.0
                else:
                    share = np.expm1(-theta * left) / np.expm1(-theta * remaining)
                if left > 0 and (passed == n_worse or rng.random() < share):
                    ordering[place] = own[taken]
                    taken += 1
                else:
                    ordering[place] = worse[passed]
                    passed += 1
    return orderings


@compiled
def draw_by_insertion_and_shuffle(
    sizes: _Integers, theta: float, n_rows: int, rng: np.random.Generator
) -> _Integers:
    """Draw orderings with one theta: repeated insertion, then a shuffle of each tier's items."""
    n_items = 0
    for size in sizes:
        n_items += size
    orderings = np.empty((n_rows, n_items), np.int64)
    names = np.empty(n_items, np.int64)
    for row in range(n_rows):
        ordering = orderings[row]
        for item in range(n_items):
            uniform = rng.random()
            if theta == 0.0:
                passed = int(uniform * (item + 1))
            elif theta == np.inf:
                passed = 0
            else:
                passed = int(np.log1p(uniform * np.expm1(-theta * (item + 1))) / -theta)
            place = item - min(passed, item)
            for later in range(item, place, -1):
                ordering[later] = ordering[later - 1]
            ordering[place] = item
        begin = 0
        for size in sizes:
            for place in range(begin, begin + size):
                names[place] = place
            for place in range(begin + size - 1, begin, -1):
                other = begin + int(rng.random() * (place - begin + 1))
                names[place], names[other] = names[other], names[place]
            begin += size
        for place in range(n_items):
            ordering[place] = names[ordering[place]]
    return orderings
