"""Weak orders under inversions: counts, log probabilities, draws, moments, expected precedence.

Answers come as the first place of each item's block, so that the places of a block are known from
its first place and its size. Given the counts of each tier in a tied block, the order of its items
is that of a smaller model with the same theta, independent of all other blocks.

Draws go line by line: the places of a tier among those of it and all worse tiers form a word of two
letters, S and R. The next letter is S with probability ``[s]_q / [s + r]_q`` when ``s`` and ``r``
letters are left.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_if_many, compiled_part, inlined
from tierwise._kernels.inversions_lines import FactorialGrid, integrate_line, theta_quantiles
from tierwise._kernels.theta import PriorTable

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# What EM asks for is asked for again and again.
_TIMES_IN_EM = 5.0


@compiled_if_many(lambda first: 0.5 * first.size)
def count_tied_blocks(first: npt.NDArray[np.int32]) -> tuple[int, int]:
    """Return the number of blocks with several items, and of the items in them."""
    n_items = first.shape[1]
    sizes = np.zeros(n_items, np.int64)
    n_blocks = 0
    n_members = 0
    for row in range(first.shape[0]):
        sizes[:] = 0
        for item in range(n_items):
            sizes[first[row, item]] += 1
        for place in range(n_items):
            if sizes[place] > 1:
                n_blocks += 1
                n_members += sizes[place]
    return n_blocks, n_members


@compiled_if_many(lambda first, *_: first.size)
def list_tied_blocks(
    first: npt.NDArray[np.int32],
    weights: _Floats,
    words: npt.NDArray[np.uint64],
    block_weights: _Floats,
) -> None:
    """Write each block with several items as a set of bits, with the weight of its answer."""
    n_items = first.shape[1]
    sizes = np.zeros(n_items, np.int64)
    block_at = np.zeros(n_items, np.int64)
    block = 0
    for row in range(first.shape[0]):
        sizes[:] = 0
        for item in range(n_items):
            sizes[first[row, item]] += 1
        for place in range(n_items):
            if sizes[place] > 1:
                block_at[place] = block
                block_weights[block] = weights[row]
                block += 1
        for item in range(n_items):
            place = first[row, item]
            if sizes[place] > 1:
                words[block_at[place], item >> 6] |= np.uint64(1) << np.uint64(item & 63)


@compiled_if_many(lambda words, n_items, *_: len(words) * n_items)
def members_of_words(
    words: npt.NDArray[np.uint64], n_items: int, offsets: _Integers, members: _Integers
) -> None:
    """Write sets of bits as lists of members, ascending, laid end to end."""
    for block in range(words.shape[0]):
        place = offsets[block]
        for item in range(n_items):
            if (words[block, item >> 6] >> np.uint64(item & 63)) & np.uint64(1):
                members[place] = item
                place += 1


@compiled
def words_of_members(offsets: _Integers, members: _Integers, words: npt.NDArray[np.uint64]) -> None:
    """Write lists of members as sets of bits."""
    for block in range(offsets.shape[0] - 1):
        for place in range(offsets[block], offsets[block + 1]):
            item = members[place]
            words[block, item >> 6] |= np.uint64(1) << np.uint64(item & 63)


@compiled_if_many(lambda above, *_: 0.3 * above.size)
def count_inversions_by_line(above: _Floats, labels: _Integers, n_tiers: int) -> _Floats:
    """Inversions of each line: ``b`` above ``a`` though ``a`` is of the line's better tier."""
    totals = np.zeros(n_tiers)
    for item in range(labels.shape[0]):
        for other in range(labels.shape[0]):
            if labels[item] < labels[other]:
                totals[labels[item]] += above[other, item]
    return totals


@compiled_if_many(
    lambda offsets, members, weights, labels, n_tiers, width: len(members) + n_tiers * len(weights)
)
def block_histograms(
    offsets: _Integers,
    members: _Integers,
    weights: _Floats,
    labels: _Integers,
    n_tiers: int,
    width: int,
) -> tuple[_Floats, _Floats]:
    """Weight of the tied blocks that meet a tier in ``k`` items, and a tier with all worse ones."""
    of_tier = np.zeros((n_tiers, width))
    of_tail = np.zeros((n_tiers + 1, width))
    tally = np.zeros(n_tiers, np.int64)
    for block in range(weights.shape[0]):
        tally[:] = 0
        for place in range(offsets[block], offsets[block + 1]):
            tally[labels[members[place]]] += 1
        running = 0
        for tier in range(n_tiers - 1, -1, -1):
            running += tally[tier]
            of_tier[tier, tally[tier]] += weights[block]
            of_tail[tier, running] += weights[block]
    return of_tier, of_tail


class OneTheta(NamedTuple):
    """What is known of tiers that have one theta.

    Attributes
    ----------
    grid
        Curves of log Gaussian factorials over log theta.
    prior
        Of theta.
    log_factorials
        By number, from 0.
    n_rankings
        Number of answers.
    above
        ``[item, other]``: how often an item is above another one.
    offsets, members, weights
        Where tied blocks begin, the items in them, and the weights of the blocks.
    """

    grid: FactorialGrid
    prior: PriorTable
    log_factorials: _Floats
    n_rankings: float
    above: _Floats
    offsets: _Integers
    members: _Integers
    weights: _Floats


@inlined
def _times_of_blocks(given: OneTheta, labels: _Integers, held: _Integers, times: _Floats) -> float:
    """Add how often tied blocks hold so many items, less how often tiers hold so many of them.

    Returned is the log number of orders of what tiers hold of blocks.
    """
    constant = 0.0
    for block in range(given.weights.shape[0]):
        begin, end, weight = given.offsets[block], given.offsets[block + 1], given.weights[block]
        times[end - begin] += weight
        held[:] = 0
        for place in range(begin, end):
            held[labels[given.members[place]]] += 1
        for place in range(begin, end):
            # Each tier once: it is empty when it is met again.
            tier = labels[given.members[place]]
            times[held[tier]] -= weight
            constant += weight * given.log_factorials[held[tier]]
            held[tier] = 0
    return constant


@inlined
def _curve_of_tiers(
    given: OneTheta, labels: _Integers, sizes: _Integers, times: _Floats, curve: _Floats
) -> tuple[float, float]:
    """Write the curve of tiers over one theta; return inversions, and what theta does not change.

    With one theta the lines of a tied block telescope: it counts once as a whole, and once less for
    each tier, by how many of its members the tier holds.
    """
    n_items = labels.shape[0]
    total, constant = 0.0, 0.0
    times[:] = 0.0
    times[n_items] = -given.n_rankings
    sizes[:] = 0
    for item in range(n_items):
        sizes[labels[item]] += 1
        for other in range(n_items):
            if labels[item] < labels[other]:
                total += given.above[other, item]
    for tier in range(n_items):
        times[sizes[tier]] += given.n_rankings
        constant -= given.n_rankings * given.log_factorials[sizes[tier]]
    constant += _times_of_blocks(given, labels, sizes, times)
    table = given.grid.factorials
    curve[:] = 0.0
    for size in range(2, n_items + 1):
        if times[size] != 0.0:
            for node in range(curve.shape[0]):
                for order in range(curve.shape[1]):
                    curve[node, order] += times[size] * table[size, node, order]
    return total, constant


@compiled
def integrate_one_theta(given: OneTheta, labels: _Integers, totals: _Floats, logs: _Floats) -> None:
    """Write the inversions of tiers, one row each, and the log of their likelihood integrated."""
    n_items, table = labels.shape[1], given.grid.factorials
    sizes = np.zeros(n_items, np.int64)
    times, curve = np.zeros(n_items + 1), np.zeros((table.shape[1], table.shape[2]))
    for row in range(labels.shape[0]):
        total, constant = _curve_of_tiers(given, labels[row], sizes, times, curve)
        totals[row] = total
        logs[row] = constant + integrate_line(given.grid, given.prior, curve, total)


@compiled_if_many(lambda _given, labels, _starts, shares: 5000.0 * len(labels) + 10.0 * len(shares))
def quantiles_of_one_theta(
    given: OneTheta, labels: _Integers, starts: _Integers, shares: _Floats
) -> _Floats:
    """Thetas below which shares of their posterior lie, given tiers, one row each.

    The shares of the tiers of a row begin where ``starts`` says, and end where the next begin.
    """
    n_items, table = labels.shape[1], given.grid.factorials
    sizes = np.zeros(n_items, np.int64)
    times, curve = np.zeros(n_items + 1), np.zeros((table.shape[1], table.shape[2]))
    thetas = np.empty(shares.shape[0])
    for row in range(labels.shape[0]):
        total, _ = _curve_of_tiers(given, labels[row], sizes, times, curve)
        own = shares[starts[row] : starts[row + 1]]
        of_row = theta_quantiles(given.grid, given.prior, curve, total, own)
        for place in range(of_row.shape[0]):
            thetas[starts[row] + place] = of_row[place]
    return thetas


@inlined
def _write_by_block(first: npt.NDArray[np.int32], starts: _Integers, order: _Integers) -> None:
    """Write items by block: a block's first place is where its items begin."""
    n_items = first.shape[0]
    starts[:] = 0
    for item in range(n_items):
        starts[first[item] + 1] += 1
    for place in range(n_items):
        starts[place + 1] += starts[place]
    for item in range(n_items - 1, -1, -1):
        starts[first[item] + 1] -= 1
        order[starts[first[item] + 1]] = item


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
        _write_by_block(first[row], starts, order)
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


@compiled_if_many(lambda sequences, *_: _TIMES_IN_EM * sequences.size)
def tally_weak_orders(
    sequences: _Integers,
    starts: npt.NDArray[np.int32],
    weights: _Floats,
    labels: _Integers,
    log_factorials: _Floats,
    coefficients: _Floats,
) -> tuple[float, float]:
    """Add up what the sums over all completions of weighted answers need, whatever theta is.

    ``sequences[row, place]`` is an item and ``starts[row, place]`` the first place of its block.
    Adds to ``coefficients[k]`` how often the Gaussian factorial of k is a factor; returns the
    inversions between blocks, and the log number of orders of tied items of one tier.
    """
    n_rows, n_items = sequences.shape
    n_tiers = 0
    for label in labels:
        n_tiers = max(n_tiers, label + 1)
    here = np.zeros(n_tiers, np.int64)
    seen = np.zeros(n_tiers, np.int64)
    all_inversions, log_orders = 0.0, 0.0
    for row in range(n_rows):
        weight = weights[row]
        seen[:] = 0
        inversions = 0
        begin = 0
        while begin < n_items:
            end = begin
            here[:] = 0
            while end < n_items and starts[row, end] == starts[row, begin]:
                here[labels[sequences[row, end]]] += 1
                end += 1
            coefficients[end - begin] += weight
            worse_seen = 0
            for tier in range(n_tiers - 1, -1, -1):
                number = here[tier]
                inversions += number * worse_seen
                if number > 1:
                    log_orders += weight * log_factorials[number]
                    coefficients[number] -= weight
                worse_seen += seen[tier]
                seen[tier] += number
            begin = end
        all_inversions += weight * inversions
    return all_inversions, log_orders


@compiled_if_many(lambda sequences, *_: _TIMES_IN_EM * sequences.size)
def add_expected_precedence(
    sequences: _Integers,
    starts: npt.NDArray[np.int32],
    weights: _Floats,
    labels: _Integers,
    summed_twice: _Floats,
    precedence: _Floats,
) -> None:
    """Add to ``precedence[a, b]`` the expected number of answers with ``a`` before ``b``.

    ``summed_twice`` is the probability that an item precedes one that is k places worse in a strict
    order, summed over k twice, each time with a leading zero.
    """
    n_rows, n_items = sequences.shape
    n_tiers = 0
    for label in labels:
        n_tiers = max(n_tiers, label + 1)
    here = np.zeros(n_tiers, np.int64)
    before = np.zeros((n_tiers, n_tiers))
    for row in range(n_rows):
        begin = 0
        while begin < n_items:
            end = begin
            here[:] = 0
            while end < n_items and starts[row, end] == starts[row, begin]:
                here[labels[sequences[row, end]]] += 1
                end += 1
            if end - begin > 1:
                _precedence_of_tiers(here, summed_twice, before)
            for place in range(begin, end):
                item = sequences[row, place]
                for other_place in range(begin, end):
                    if other_place != place:
                        other = sequences[row, other_place]
                        share = before[labels[item], labels[other]]
                        precedence[item, other] += weights[row] * share
                for later in range(end, n_items):
                    precedence[item, sequences[row, later]] += weights[row]
            begin = end


@compiled_part
def _precedence_of_tiers(here: _Integers, summed_twice: _Floats, before: _Floats) -> None:
    """Fill ``before[l, m]``: probability that an item of tier l precedes one of tier m.

    The mean over the places of both, in tier order, of what their gap says: a sum over all gaps of
    two runs of places is four differences.
    """
    for better in range(here.shape[0]):
        before[better, better] = 0.5
        first, gap = here[better], 0
        if first == 0:
            continue
        for worse in range(better + 1, here.shape[0]):
            second = here[worse]
            if second > 0:
                total = (
                    summed_twice[gap + first + second + 1]
                    - summed_twice[gap + first + 1]
                    - summed_twice[gap + second + 1]
                    + summed_twice[gap + 1]
                )
                before[better, worse] = total / (first * second)
                before[worse, better] = 1.0 - before[better, worse]
                gap += second
