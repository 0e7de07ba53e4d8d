"""Independent comparisons under tiers: likelihood in closed form, greedy merging, local search.

An item of tier ``l`` loses against one of a worse tier ``m`` with probability the mean, over the
places ``i`` of tier ``l`` and ``j`` of tier ``m``, of ``f(j - i) - f(j - i + 1)``, where
``f(x) = x / (exp(theta x) - 1)``. The sum over ``j`` telescopes, and that over ``i`` is a
difference of sums of ``f``: a pair of tiers takes four entries of a table, whatever the sizes.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled_if_many, compiled_part
from tierwise._kernels.ordered_partition import (
    N_TIERS,
    ORDER,
    POSITION_OF,
    PRESENT,
    PROPOSED,
    SIZES,
    SLOT_OF,
    Tiers,
    close_if_empty,
    cut_where_best,
    join,
    move,
    open_place,
    place_of,
)

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
        # Exact up to rounding of a single comparison, in two thirds of the time of log1p.
        value += wins * float(np.log(1.0 - loss))
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


@compiled_if_many(
    lambda thetas, between, sizes, order, *_: 1.5 * len(thetas) * (len(order) ** 2 + len(between))
)
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


# How far, in tiers and the gaps between them, an item is tried.
_SEARCHED_REACH = 8
_LEAST_GAIN = 1e-9


class Board(NamedTuple):
    """Tiers, and what they are valued by."""

    tiers: Tiers
    """Pairs are wins of each item against each other."""
    sums: _Floats
    """From `write_loss_sums`, at the theta at hand."""
    tier_values: _Floats
    """What a tier of each size adds to the log prior."""
    values: _Floats
    """``[PRESENT, slot, other]``: what the battles of two tiers add to the log posterior, the slot
    of the better tier first, and ``[PRESENT, slot, slot]`` what a tier adds by itself; 0 for slots
    without items. ``[PROPOSED]`` has the same after a change that is being tried."""


@compiled_part
def move_on_board(board: Board, item: int, slot: int | np.int64) -> None:
    """Move an item to a slot."""
    move(board.tiers, item, slot)


@compiled_part
def write_values(board: Board, which: int, first: int, last: int) -> float:
    """Value all pairs with a tier between two positions, and these tiers; return the sum."""
    places, _, _, wins = board.tiers
    sums, tier_values, values = board.sums, board.tier_values, board.values
    total, before = 0.0, 0
    for tier in range(first):
        before += places[SIZES, places[ORDER, tier]]
    for better in range(last + 1):
        upper = places[ORDER, better]
        size = places[SIZES, upper]
        # Number of items from the better tier to the worse one.
        span = before if better < first else 0
        before -= size
        end = last + 1 if better < first else places[N_TIERS, 0]
        for worse in range(max(better, first), end):
            lower = places[ORDER, worse]
            other = places[SIZES, lower]
            span += other
            value = 0.0
            if size > 0 and other > 0:
                if better == worse:
                    value = LOG_HALF * wins[upper, upper] + tier_values[size]
                else:
                    value = pair_value(
                        sums, wins[upper, lower], wins[lower, upper], size, other, span
                    )
            values[which, upper, lower] = value
            total += value
    return total


@compiled_part
def known_value(board: Board, first: int, last: int) -> float:
    """Add up what is known of the present tiers between two positions, before any change."""
    places, values = board.tiers.places, board.values
    total = 0.0
    for better in range(last + 1):
        upper = places[ORDER, better]
        end = last + 1 if better < first else places[N_TIERS, 0]
        for worse in range(max(better, first), end):
            total += values[PRESENT, upper, places[ORDER, worse]]
    return total


@compiled_part
def gain_of_change(board: Board, first: int, last: int) -> float:
    """Return what the log posterior gains by what was done to the tiers between two positions."""
    return write_values(board, PROPOSED, first, last) - known_value(board, first, last)


@compiled_part
def keep_change(board: Board, first: int, last: int) -> None:
    """Make the tiers whose change was tried the present ones."""
    places, values = board.tiers.places, board.values
    for better in range(last + 1):
        upper = places[ORDER, better]
        end = last + 1 if better < first else places[N_TIERS, 0]
        for worse in range(max(better, first), end):
            lower = places[ORDER, worse]
            values[PRESENT, upper, lower] = values[PROPOSED, upper, lower]


@compiled_part
def value_board(board: Board, theta: float) -> float:
    """Value all tiers at a theta; return the log posterior, but for the prior of theta."""
    places = board.tiers.places
    write_loss_sums(theta, places.shape[1] - 1, board.sums)
    return write_values(board, PRESENT, 0, places[N_TIERS, 0] - 1)


@compiled_part
def gain_of_step(board: Board, item: int, step: int) -> tuple[float, int, int]:
    """Move an item by a number of places, gaps between tiers being places of new tiers.

    Returns what the log posterior gains, and the slots it left and went to; slots of -1 say that
    there is no such place, and that nothing is changed. `end_step` keeps the change or undoes it.
    """
    places = board.tiers.places
    source = places[SLOT_OF, item]
    n_places, here = place_of(places, item)
    wanted = here + step
    if wanted < 0 or wanted >= n_places:
        return -np.inf, -1, -1
    target = open_place(places, item, wanted)
    move(board.tiers, item, target)
    one, other = places[POSITION_OF, source], places[POSITION_OF, target]
    return gain_of_change(board, min(one, other), max(one, other)), int(source), int(target)


@compiled_part
def end_step(board: Board, item: int, source: int, target: int, accepted: int) -> None:
    """Leave an item where `gain_of_step` moved it, or move it back; close a tier left empty."""
    places = board.tiers.places
    if accepted:
        one, other = places[POSITION_OF, source], places[POSITION_OF, target]
        keep_change(board, min(one, other), max(one, other))
    else:
        move(board.tiers, item, source)
    close_if_empty(places, source)
    close_if_empty(places, target)


@compiled_part
def gain_of_exchange(board: Board, item: int, other: int) -> float:
    """Let two items of different tiers change places; return what the log posterior gains."""
    places = board.tiers.places
    here, there = places[SLOT_OF, item], places[SLOT_OF, other]
    move(board.tiers, item, there)
    move(board.tiers, other, here)
    one, two = places[POSITION_OF, here], places[POSITION_OF, there]
    return gain_of_change(board, min(one, two), max(one, two))


@compiled_part
def end_exchange(board: Board, item: int, other: int, accepted: int) -> None:
    """Leave two items where `gain_of_exchange` moved them, or move them back."""
    places = board.tiers.places
    here, there = places[SLOT_OF, item], places[SLOT_OF, other]
    if accepted:
        one, two = places[POSITION_OF, here], places[POSITION_OF, there]
        keep_change(board, min(one, two), max(one, two))
    else:
        move(board.tiers, item, there)
        move(board.tiers, other, here)


@compiled_part
def gain_of_joining(board: Board, tier: int) -> float:
    """Return what the log posterior gains if a tier is joined with the next."""
    places, _, _, wins = board.tiers
    one, other = places[ORDER, tier], places[ORDER, tier + 1]
    joined = places[SIZES, one] + places[SIZES, other]
    own = wins[one, one] + wins[one, other] + wins[other, one] + wins[other, other]
    gain: float = LOG_HALF * own + board.tier_values[joined]
    for direction in (-1, 1):
        span = joined
        third = tier - 1 if direction == -1 else tier + 2
        while 0 <= third < places[N_TIERS, 0]:
            slot = places[ORDER, third]
            size = places[SIZES, slot]
            span += size
            won, lost = wins[one, slot] + wins[other, slot], wins[slot, one] + wins[slot, other]
            if direction == -1:
                # The third tier is the better one.
                won, lost = lost, won
            # The probability is the same whichever of the two sizes is that of the better tier.
            gain += pair_value(board.sums, won, lost, size, joined, span)
            third += direction
    return gain - known_value(board, tier, tier + 1)


@compiled_part
def join_on_board(board: Board, tier: int) -> None:
    """Join a tier with the next, and value what they become."""
    places, values = board.tiers.places, board.values
    lower = places[ORDER, tier + 1]
    for slot in range(places.shape[1]):
        values[PRESENT, slot, lower] = values[PRESENT, lower, slot] = 0.0
    join(board.tiers, tier)
    write_values(board, PRESENT, tier, tier)


@compiled_part
def gain_of_joining_parts(board: Board, tier: int) -> float:
    """Return what is gained if a tier that is being cut is joined with its other part again."""
    return -gain_of_change(board, tier, tier + 1)


@compiled_if_many(lambda board, *_: 0.3 * board.tiers.places.shape[1] ** 3)
def merge_neighbours(board: Board, theta: float, n_wanted: int) -> None:
    """Join neighbouring tiers, whichever gains most at a theta, until so many are left."""
    places = board.tiers.places
    value_board(board, theta)
    while places[N_TIERS, 0] > n_wanted:
        best_tier, best_gain = places[N_TIERS, 0] - 2, -np.inf
        for tier in range(places[N_TIERS, 0] - 1):
            gain = gain_of_joining(board, tier)
            if gain > best_gain:
                best_gain, best_tier = gain, tier
        join_on_board(board, best_tier)


@compiled_if_many(
    lambda board, theta, moved, exchanged, ranking: (
        8.0 * len(moved) * board.tiers.places.shape[1] ** 2
    )
)
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
    value_board(board, theta)
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
            end_step(board, item, source, target, 1 if last else 0)
            if last:
                total += gain
            elif gain > best_gain:
                best_gain, best_step = gain, step
    total += _exchange_neighbours(board, exchanged)
    if len(ranking) > 0:
        total += _join_neighbours(board)
        total += _cut_tiers(board, ranking)
    return total


@compiled_part
def _exchange_neighbours(board: Board, items: _Integers) -> float:
    """Let two items of neighbouring tiers change places wherever that gains."""
    places = board.tiers.places
    total = 0.0
    for number in range(len(items)):
        item = items[number]
        tier = places[POSITION_OF, places[SLOT_OF, item]]
        if tier + 1 >= places[N_TIERS, 0]:
            continue
        there = places[ORDER, tier + 1]
        for second in range(len(items)):
            other = items[second]
            if places[SLOT_OF, other] != there:
                continue
            gain = gain_of_exchange(board, item, other)
            end_exchange(board, item, other, 1 if gain > _LEAST_GAIN else 0)
            if gain > _LEAST_GAIN:
                total += gain
                break
    return total


@compiled_part
def _join_neighbours(board: Board) -> float:
    """Join neighbouring tiers where that gains."""
    total = 0.0
    for tier in range(board.tiers.places[N_TIERS, 0] - 2, -1, -1):
        gain = gain_of_joining(board, tier)
        if gain > _LEAST_GAIN:
            join_on_board(board, tier)
            total += gain
    return total


@compiled_part
def _cut_tiers(board: Board, ranking: _Integers) -> float:
    """Cut tiers, in the order of a ranking, where that gains most."""
    places = board.tiers.places
    members = np.empty(len(ranking), np.int64)
    total = 0.0
    for tier in range(places[N_TIERS, 0] - 1, -1, -1):
        count = 0
        for place in range(len(ranking)):
            if places[SLOT_OF, ranking[place]] == places[ORDER, tier]:
                members[count] = ranking[place]
                count += 1
        gain = cut_where_best(
            move_on_board, gain_of_joining_parts, board, places, tier, members, count, _LEAST_GAIN
        )
        if gain > 0.0:
            write_values(board, PRESENT, tier, tier + 1)
            total += gain
    return total
