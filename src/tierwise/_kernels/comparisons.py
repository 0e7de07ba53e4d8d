"""Independent comparisons under tiers: likelihood in closed form, greedy merging, local search.

An item of tier ``l`` loses against one of a worse tier ``m`` with probability the mean, over the
places ``i`` of tier ``l`` and ``j`` of tier ``m``, of ``f(j - i) - f(j - i + 1)``, where
``f(x) = x / (exp(theta x) - 1)``. The sum over ``j`` telescopes, and that over ``i`` is a
difference of sums of ``f``: a pair of tiers takes four entries of a table, whatever the sizes.

Tiers lie in slots, which do not change when tiers come and go. All that their likelihood needs is
packed into two arrays, since each array that a kernel takes adds to the time to compile it:

- ``places``: by rows the slot of each item, the slot of each tier from the best (behind the last
  tier, slots that are free), the number of items of each slot, and the number of tiers;
- ``tables``: wins of each item against the items of each slot, losses likewise, wins of the items
  of each slot against those of each other, and wins of each item against each other.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part
from tierwise._kernels.ordered_partition import close_tier, open_tier

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

LOG_HALF = np.log(0.5)
LEAST_THETA, LARGEST_THETA = 1e-7, 50.0
# Below this theta ``f`` is near 1 / theta, which is taken off so that differences stay exact.
_SMALL_THETA = 0.05
_LEAST_PROBABILITY = 1e-300


@compiled_part
def write_loss_sums(theta: float, n_items: int, sums: _Floats) -> None:
    """Add up ``f`` over all gaps from ``k`` to one more than the number of items.

    Parameters
    ----------
    theta, n_items
        The one theta, and the number of items.
    sums
        Where the sums are written, three numbers more than items.
    """
    sums[n_items + 2] = 0.0
    for gap in range(n_items + 1, -1, -1):
        product = theta * gap
        if theta >= _SMALL_THETA:
            value = 1.0 / theta if gap == 0 else gap / np.expm1(product)
        else:
            half = product / 2.0
            square = half * half
            if half < 0.05:
                curved = square / 3.0 - square * square * (1.0 / 45.0 - 2.0 * square / 945.0)
            else:
                curved = half / np.tanh(half) - 1.0
            value = curved / theta - gap / 2.0
        sums[gap] = sums[gap + 1] + value


@compiled_part
def pair_value(
    sums: _Floats, wins: float, losses: float, better: int, worse: int, span: int
) -> float:
    """Log-likelihood of all comparisons of two tiers.

    Parameters
    ----------
    sums
        From `write_loss_sums`.
    wins, losses
        How often items of the better tier won and lost.
    better, worse
        Sizes of the two tiers.
    span
        Number of items in both and in all tiers between them.
    """
    if wins + losses == 0.0:
        return 0.0
    near = sums[span - better - worse + 1] - sums[span - worse + 1]
    far = sums[span - better + 1] - sums[span + 1]
    loss = max((near - far) / (better * worse), _LEAST_PROBABILITY)
    value = 0.0
    if wins > 0.0:
        value += wins * float(np.log1p(-loss))
    if losses > 0.0:
        value += losses * float(np.log(loss))
    return value


@compiled_part
def value_of_tiers(
    sums: _Floats, between: _Floats, sizes: _Integers, order: _Integers, count: int
) -> float:
    """Log-likelihood of wins between so many tiers (row against column).

    Tier ``t``, the best being 0, has row, column and size number ``order[t]``.
    """
    value = 0.0
    for tier in range(count):
        upper = order[tier]
        value += LOG_HALF * between[upper, upper]
        span = sizes[upper]
        for worse in range(tier + 1, count):
            lower = order[worse]
            span += sizes[lower]
            value += pair_value(
                sums, between[upper, lower], between[lower, upper], sizes[upper], sizes[lower], span
            )
    return value


@compiled
def write_values_at_thetas(
    thetas: _Floats,
    between: _Floats,
    sizes: _Integers,
    order: _Integers,
    sums: _Floats,
    values: _Floats,
) -> None:
    """Write the log-likelihood at each of many thetas; ``sums`` is room to work in."""
    for number in range(len(thetas)):
        write_loss_sums(thetas[number], len(sums) - 3, sums)
        values[number] = value_of_tiers(sums, between, sizes, order, len(order))


SLOT_OF, ORDER, SIZES, N_TIERS = 0, 1, 2, 3
WON, LOST, BETWEEN, WINS = 0, 1, 2, 3
# How far, in tiers and the gaps between them, an item is tried.
_SEARCHED_REACH = 8
_LEAST_GAIN = 1e-9


class Board(NamedTuple):
    """Tiers, and what they are valued by."""

    places: _Integers
    tables: _Floats
    sums: _Floats
    """From `write_loss_sums`, at the theta at hand."""
    tier_values: _Floats
    """What a tier of each size adds to the log prior."""


@compiled_part
def move(board: Board, item: int, target: int) -> None:
    """Move an item to a slot; both slots must be among the tiers, and may be or become empty."""
    places, tables = board.places, board.tables
    source = places[SLOT_OF, item]
    for tier in range(places[N_TIERS, 0]):
        slot = places[ORDER, tier]
        won, lost = tables[WON, item, slot], tables[LOST, item, slot]
        # Within a slot these add up to the same, whichever way round.
        tables[BETWEEN, source, slot] -= won
        tables[BETWEEN, slot, source] -= lost
    places[SLOT_OF, item] = target
    for other in range(places.shape[1] - 1):
        won, lost = tables[WINS, other, item], tables[WINS, item, other]
        tables[WON, other, source] -= won
        tables[WON, other, target] += won
        tables[LOST, other, source] -= lost
        tables[LOST, other, target] += lost
    for tier in range(places[N_TIERS, 0]):
        slot = places[ORDER, tier]
        tables[BETWEEN, target, slot] += tables[WON, item, slot]
        tables[BETWEEN, slot, target] += tables[LOST, item, slot]
    places[SIZES, source] -= 1
    places[SIZES, target] += 1


@compiled_part
def open_empty(board: Board, tier: int) -> int:
    """Put an empty tier before a tier; return its slot."""
    places = board.places
    slot = open_tier(places[ORDER], places[N_TIERS, 0], tier)
    places[N_TIERS, 0] += 1
    return slot


@compiled_part
def tier_of(board: Board, slot: int) -> int:
    """Return the tier in a slot, counted from 0."""
    places = board.places
    tier = 0
    while places[ORDER, tier] != slot:
        tier += 1
    return tier


@compiled_part
def close_if_empty(board: Board, slot: int) -> None:
    """Take out the tier of a slot if it has no items; then the slot is free."""
    places = board.places
    if places[SIZES, slot] > 0:
        return
    close_tier(places[ORDER], places[N_TIERS, 0], tier_of(board, slot))
    places[N_TIERS, 0] -= 1


@compiled_part
def value_of_range(board: Board, first: int, last: int) -> float:
    """Log posterior of all pairs with a tier between two tiers, and of these tiers.

    Empty tiers add nothing.
    """
    places, tables, sums, tier_values = board.places, board.tables, board.sums, board.tier_values
    value = 0.0
    for better in range(last + 1):
        upper = places[ORDER, better]
        size = places[SIZES, upper]
        inside = better >= first
        if size == 0:
            continue
        if inside:
            value += LOG_HALF * tables[BETWEEN, upper, upper] + tier_values[size]
        span = size
        for worse in range(better + 1, places[N_TIERS, 0]):
            lower = places[ORDER, worse]
            span += places[SIZES, lower]
            if places[SIZES, lower] > 0 and (inside or first <= worse <= last):
                value += pair_value(
                    sums,
                    tables[BETWEEN, upper, lower],
                    tables[BETWEEN, lower, upper],
                    size,
                    places[SIZES, lower],
                    span,
                )
    return value


@compiled_part
def gain_of_step(board: Board, item: int, step: int) -> tuple[float, int, int]:
    """Move an item by a number of places, gaps between tiers being places of new tiers.

    Returns what the log posterior gains, and the slots it left and went to; slots of -1 say that
    there is no such place, and that nothing is changed. A tier that is left empty is not closed.
    """
    places = board.places
    source = places[SLOT_OF, item]
    tier = tier_of(board, source)
    alone = 1 if places[SIZES, source] == 1 else 0
    n_others = places[N_TIERS, 0] - alone
    # Without the item there are tiers at the odd places, and gaps at the even ones.
    wanted = 2 * tier + 1 - alone + step
    if wanted < 0 or wanted > 2 * n_others:
        return -np.inf, -1, -1
    goal = wanted // 2
    if alone == 1 and goal >= tier:
        goal += 1
    low, high = min(tier, goal), max(tier, goal)
    if wanted % 2 == 1:
        target = places[ORDER, goal]
    else:
        target = open_empty(board, goal)
        if goal <= tier:
            high += 1
    old = value_of_range(board, low, high)
    move(board, item, target)
    gain = value_of_range(board, low, high) - old
    return gain, int(source), int(target)


@compiled_part
def gain_of_joining(board: Board, tier: int) -> float:
    """Return what the log posterior gains if a tier is joined with the next."""
    places, tables, sums, tier_values = board.places, board.tables, board.sums, board.tier_values
    one, other = places[ORDER, tier], places[ORDER, tier + 1]
    upper_size, lower_size = places[SIZES, one], places[SIZES, other]
    joined = upper_size + lower_size
    gain: float = tier_values[joined] - tier_values[upper_size] - tier_values[lower_size]
    won, lost = tables[BETWEEN, one, other], tables[BETWEEN, other, one]
    gain += LOG_HALF * (won + lost) - pair_value(sums, won, lost, upper_size, lower_size, joined)
    for direction in (-1, 1):
        span = joined
        third = tier - 1 if direction == -1 else tier + 2
        while 0 <= third < places[N_TIERS, 0]:
            slot = places[ORDER, third]
            size = places[SIZES, slot]
            span += size
            upper_won, upper_lost = tables[BETWEEN, one, slot], tables[BETWEEN, slot, one]
            lower_won, lower_lost = tables[BETWEEN, other, slot], tables[BETWEEN, slot, other]
            upper_span, lower_span = span, span - upper_size
            if direction == -1:
                # The third tier is the better one.
                upper_won, upper_lost = upper_lost, upper_won
                lower_won, lower_lost = lower_lost, lower_won
                upper_span, lower_span = span - lower_size, span
            # The probability is the same whichever of the two sizes is that of the better tier.
            gain += pair_value(
                sums, upper_won + lower_won, upper_lost + lower_lost, size, joined, span
            )
            gain -= pair_value(sums, upper_won, upper_lost, size, upper_size, upper_span)
            gain -= pair_value(sums, lower_won, lower_lost, size, lower_size, lower_span)
            third += direction
    return gain


@compiled_part
def join(board: Board, tier: int) -> None:
    """Join a tier with the next."""
    places, tables = board.places, board.tables
    upper, lower = places[ORDER, tier], places[ORDER, tier + 1]
    for item in range(places.shape[1] - 1):
        if places[SLOT_OF, item] == lower:
            places[SLOT_OF, item] = upper
        for table in (WON, LOST):
            tables[table, item, upper] += tables[table, item, lower]
            tables[table, item, lower] = 0.0
    for place in range(places[N_TIERS, 0]):
        slot = places[ORDER, place]
        tables[BETWEEN, upper, slot] += tables[BETWEEN, lower, slot]
        tables[BETWEEN, lower, slot] = 0.0
    for place in range(places[N_TIERS, 0]):
        slot = places[ORDER, place]
        tables[BETWEEN, slot, upper] += tables[BETWEEN, slot, lower]
        tables[BETWEEN, slot, lower] = 0.0
    places[SIZES, upper] += places[SIZES, lower]
    places[SIZES, lower] = 0
    close_if_empty(board, lower)


@compiled
def merge_neighbours(board: Board, theta: float, n_wanted: int) -> None:
    """Join neighbouring tiers, whichever gains most at a theta, until so many are left."""
    places, sums = board.places, board.sums
    write_loss_sums(theta, places.shape[1] - 1, sums)
    while places[N_TIERS, 0] > n_wanted:
        best_tier, best_gain = places[N_TIERS, 0] - 2, -np.inf
        for tier in range(places[N_TIERS, 0] - 1):
            gain = gain_of_joining(board, tier)
            if gain > best_gain:
                best_gain, best_tier = gain, tier
        join(board, best_tier)


@compiled
def climb(
    board: Board, theta: float, moved: _Integers, exchanged: _Integers, ranking: _Integers
) -> float:
    """Move and exchange items, then join and cut tiers, where that gains; return what was gained.

    Parameters
    ----------
    board
        The tiers, which are changed.
    theta
        The theta at which they are valued.
    moved, exchanged
        The items that are moved, and those that are exchanged, in the order of trying.
    ranking
        The items, best first; tiers are cut in this order. If it is empty, none is joined or cut.
    """
    places, sums = board.places, board.sums
    write_loss_sums(theta, places.shape[1] - 1, sums)
    total = 0.0
    for number in range(len(moved)):
        item = moved[number]
        best_step, best_gain = 0, _LEAST_GAIN
        for step in range(-_SEARCHED_REACH, _SEARCHED_REACH + 2):
            # The last step is the best one, and is not undone.
            last = step == _SEARCHED_REACH + 1
            wanted = best_step if last else step
            if wanted == 0:
                continue
            gain, source, target = gain_of_step(board, item, wanted)
            if source < 0:
                continue
            if last:
                total += gain
                close_if_empty(board, source)
                continue
            move(board, item, source)
            close_if_empty(board, target)
            if gain > best_gain:
                best_gain, best_step = gain, step
    total += _exchange_neighbours(board, exchanged)
    if len(ranking) > 0:
        total += _join_neighbours(board)
        total += _cut_tiers(board, ranking)
    return total


@compiled_part
def _exchange_neighbours(board: Board, items: _Integers) -> float:
    """Let two items of neighbouring tiers change places wherever that gains."""
    places = board.places
    total = 0.0
    for number in range(len(items)):
        item = items[number]
        here = places[SLOT_OF, item]
        tier = tier_of(board, here)
        if tier + 1 >= places[N_TIERS, 0]:
            continue
        there = places[ORDER, tier + 1]
        for second in range(len(items)):
            other = items[second]
            if places[SLOT_OF, other] != there:
                continue
            old = value_of_range(board, tier, tier + 1)
            move(board, item, there)
            move(board, other, here)
            gain = value_of_range(board, tier, tier + 1) - old
            if gain > _LEAST_GAIN:
                total += gain
                break
            move(board, other, there)
            move(board, item, here)
    return total


@compiled_part
def _join_neighbours(board: Board) -> float:
    """Join neighbouring tiers where that gains."""
    places = board.places
    total = 0.0
    for tier in range(places[N_TIERS, 0] - 2, -1, -1):
        gain = gain_of_joining(board, tier)
        if gain > _LEAST_GAIN:
            join(board, tier)
            total += gain
    return total


@compiled_part
def _cut_tiers(board: Board, ranking: _Integers) -> float:
    """Cut tiers, in the order of a ranking, where that gains most."""
    places = board.places
    total = 0.0
    for tier in range(places[N_TIERS, 0] - 1, -1, -1):
        slot = places[ORDER, tier]
        upper = open_empty(board, tier)
        best_left, best_gain = 0, _LEAST_GAIN
        for place in range(len(ranking)):
            if places[SLOT_OF, ranking[place]] != slot or places[SIZES, slot] == 1:
                continue
            move(board, ranking[place], upper)
            gain = -gain_of_joining(board, tier)
            if gain > best_gain:
                best_gain, best_left = gain, places[SIZES, slot]
        for place in range(len(ranking) - 1, -1, -1):
            wanted = best_left if best_left > 0 else places.shape[1]
            if places[SLOT_OF, ranking[place]] == upper and places[SIZES, slot] < wanted:
                move(board, ranking[place], slot)
        close_if_empty(board, upper)
        if best_left > 0:
            total += best_gain
    return total
