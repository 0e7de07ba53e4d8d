"""What ordered partitions are worth under inversions: with one theta, and with a theta per line.

With one theta the likelihood is a sum over tiers and over pairs of tiers: what lines say of a tied
block telescopes, and only how many of its members each tier holds is left. With a theta per line,
the value of a line is maximised or integrated over its theta, and depends on what tied blocks have
in common with its tier, and with all worse ones.

Values of one theta leave out what does not depend on the tiers.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part, inlined
from tierwise._kernels.inversions_lines import LineObjective, curve_of_sizes, line_value
from tierwise._kernels.ordered_partition import (
    ABOVE,
    BELOW,
    N_TIERS,
    ORDER,
    POSITION_OF,
    SIZES,
    SLOT_OF,
    Tiers,
    close_if_empty,
    join,
    load_tiers,
    move,
    open_place,
    place_of,
)
from tierwise._kernels.tied_blocks import (
    BOTH,
    SIDES,
    TAILS,
    Ties,
    add_change,
    clear_row,
    copy_row,
    join_rows,
    load_ties,
    put_in_ties,
    rise,
    take_from_ties,
    value_of_blocks,
)

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# Rows of what depends on the number of items: what a tier of so many is worth; what a block adds by
# how many of its members a tier holds, and by how much one more raises that; logarithms of Gaussian
# factorials and of factorials; what a tier adds to the log prior.
VALUES, HELD, RISES, FACTORIALS, ORDERS, PRIOR, ROOM = 0, 1, 2, 3, 4, 5, 6
_N_ROWS = 7
THETA, N_RANKINGS = 0, 1


class BoardAtTheta(NamedTuple):
    """Tiers, and what they are valued by: one theta."""

    tiers: Tiers
    """Pairs are how often each item is ranked above each other."""
    ties: Ties
    by_size: _Floats
    """``[row, number of items]``."""
    numbers: _Floats
    """Theta, and the number of rankings."""


class BoardByLine(NamedTuple):
    """Tiers, and what they are valued by: a theta per line."""

    tiers: Tiers
    ties: Ties
    objective: LineObjective
    meets: _Floats
    """Room for tied blocks by numbers of members: of the line at hand, and how the item that is
    taken out would change those of a tier, of the tier with all worse ones, and of these."""
    passed: _Floats
    curve: _Floats
    """The line at hand as a curve over theta."""


_NET, _IN_TIER, _IN_TAIL, _IN_NEXT = 0, 1, 2, 3


def make_board_at_theta(
    tiers: Tiers, ties: Ties, tier_values: _Floats, theta: float, n_rankings: float
) -> BoardAtTheta:
    """Set up tiers with one theta; ``tier_values`` is the log prior by size."""
    n_items = len(tier_values) - 1
    by_size = np.zeros((_N_ROWS, n_items + 1))
    by_size[ORDERS, 1:] = np.log(np.arange(1, n_items + 1)).cumsum()
    by_size[PRIOR] = tier_values
    return BoardAtTheta(tiers, ties, by_size, np.array([theta, n_rankings]))


def make_board_by_line(tiers: Tiers, ties: Ties, objective: LineObjective) -> BoardByLine:
    """Set up tiers with a theta per line."""
    return BoardByLine(
        tiers,
        ties,
        objective,
        np.zeros((4, len(ties.whole))),
        np.zeros(tiers.places.shape[1]),
        np.zeros(objective.grid.factorials.shape[1:]),
    )


@compiled
def load(tiers: Tiers, ties: Ties, labels: _Integers) -> None:
    """Make these the tiers; labels count from 0 without gaps."""
    load_tiers(tiers, labels)
    if len(ties.weights) > 0:
        load_ties(ties, tiers.places)


@compiled_part
def move_item(board: BoardAtTheta | BoardByLine, item: int, slot: int | np.int64) -> None:
    """Move an item to a slot; both slots must be among the tiers, and may be or become empty."""
    if len(board.ties.weights) > 0:
        take_from_ties(board.ties, board.tiers.places, item)
        put_in_ties(board.ties, board.tiers.places, item, slot)
    move(board.tiers, item, slot)


@inlined
def put_at(board: BoardAtTheta | BoardByLine, item: int, here: int, place: int) -> None:
    """Put an item, which is taken out of tied blocks only, at a place."""
    places = board.tiers.places
    source = places[SLOT_OF, item]
    target = source if place == here else open_place(places, item, place)
    if len(board.ties.weights) > 0:
        put_in_ties(board.ties, places, item, target)
    if place != here:
        move(board.tiers, item, target)
        close_if_empty(places, source)


@compiled_part
def join_tiers(board: BoardAtTheta | BoardByLine, position: int | np.int64) -> None:
    """Join the tier at a position with the next."""
    places, ties = board.tiers.places, board.ties
    if len(ties.weights) > 0:
        upper, lower = places[ORDER, position], places[ORDER, position + 1]
        both = places.shape[1] - 1 + BOTH
        join_rows(ties, upper, lower, both)
        copy_row(ties, both, upper)
        clear_row(ties, lower)
    join(board.tiers, position)


@compiled_part
def exchange_tiers(board: BoardAtTheta | BoardByLine, position: int | np.int64) -> None:
    """Let the tier at a position and the next change places."""
    places, ties = board.tiers.places, board.ties
    first, second = places[ORDER, position], places[ORDER, position + 1]
    places[ORDER, position], places[ORDER, position + 1] = second, first
    places[POSITION_OF, first], places[POSITION_OF, second] = position + 1, position
    if ties.meets.shape[1] > 0 and len(ties.weights) > 0:
        tails = places.shape[1] - 1 + TAILS
        copy_row(ties, tails + first, tails + second)
        if position + 2 < places[N_TIERS, 0]:
            join_rows(ties, first, tails + places[ORDER, position + 2], tails + first)
        else:
            copy_row(ties, first, tails + first)


# One theta.


@compiled_part
def write_theta(board: BoardAtTheta, theta: float) -> None:
    """Value tiers at this theta from now on."""
    by_size, n_rankings = board.by_size, board.numbers[N_RANKINGS]
    board.numbers[THETA] = theta
    write_factorials(theta, by_size)
    for size in range(by_size.shape[1]):
        shuffles = by_size[FACTORIALS, size] - by_size[ORDERS, size]
        by_size[VALUES, size] = by_size[PRIOR, size] + n_rankings * shuffles
        by_size[HELD, size] = -shuffles
    for size in range(by_size.shape[1] - 1):
        by_size[RISES, size] = by_size[HELD, size + 1] - by_size[HELD, size]


@compiled_part
def write_factorials(theta: float, by_size: _Floats) -> None:
    """Write the logarithms of all Gaussian factorials."""
    by_size[FACTORIALS, 0] = 0.0
    one = np.expm1(-theta)
    for size in range(1, by_size.shape[1]):
        ratio = np.expm1(-theta * size) / one
        by_size[FACTORIALS, size] = by_size[FACTORIALS, size - 1] + np.log(ratio)


@compiled_part
def value_places_at_theta(
    board: BoardAtTheta, item: int, first: int, last: int, values: _Floats
) -> None:
    """Value all places of an item, which is taken out of tied blocks.

    What tied blocks add is left out of the values of places beyond the first and the last.
    """
    places, _, sums, _ = board.tiers
    ties, worth, theta = board.ties, board.by_size[VALUES], board.numbers[THETA]
    rises = board.by_size[RISES]
    source, has_ties = places[SLOT_OF, item], len(ties.weights) > 0
    cost = 0.0
    for position in range(places[N_TIERS, 0]):
        cost += sums[ABOVE, places[ORDER, position], item]
    place = 0
    values[0] = worth[1] - theta * cost
    for position in range(places[N_TIERS, 0]):
        slot = places[ORDER, position]
        size = places[SIZES, slot] - (1 if slot == source else 0)
        if size == 0:
            continue
        cost -= sums[ABOVE, slot, item]
        value = worth[size + 1] - worth[size] - theta * cost
        if has_ties and first <= place + 1 <= last:
            value += rise(ties, item, slot, rises)
        values[place + 1] = value
        cost += sums[BELOW, slot, item]
        values[place + 2] = worth[1] - theta * cost
        place += 2


@inlined
def value_of_row(board: BoardAtTheta, row: int | np.int64, size: int | np.int64) -> float:
    """Value a tier of so many items, given the row that counts its blocks."""
    value = board.by_size[VALUES, size]
    if len(board.ties.weights) > 0:
        value += value_of_blocks(board.ties, row, board.by_size[HELD], board.by_size[ROOM])
    return float(value)


@compiled_part
def neighbours_at_theta(board: BoardAtTheta, position: int | np.int64) -> float:
    """Value of two neighbouring tiers, as far as it changes where they exchange items."""
    places = board.tiers.places
    upper, lower = places[ORDER, position], places[ORDER, position + 1]
    value = value_of_row(board, upper, places[SIZES, upper])
    value += value_of_row(board, lower, places[SIZES, lower])
    return float(value - board.numbers[THETA] * board.tiers.between[lower, upper])


@compiled_part
def gain_of_joining_at_theta(board: BoardAtTheta, position: int | np.int64) -> float:
    """Return what is gained if the tier at a position is joined with the next."""
    places = board.tiers.places
    upper, lower = places[ORDER, position], places[ORDER, position + 1]
    both = places.shape[1] - 1 + BOTH
    if len(board.ties.weights) > 0:
        join_rows(board.ties, upper, lower, both)
    joined = value_of_row(board, both, places[SIZES, upper] + places[SIZES, lower])
    return joined - neighbours_at_theta(board, position)


@compiled_part
def gain_of_exchanging_at_theta(board: BoardAtTheta, position: int | np.int64) -> float:
    """Return what is gained if the tier at a position and the next change places."""
    places, between = board.tiers.places, board.tiers.between
    upper, lower = places[ORDER, position], places[ORDER, position + 1]
    return float(board.numbers[THETA] * (between[lower, upper] - between[upper, lower]))


@inlined
def value_run_at_theta(
    board: BoardAtTheta, size: int, _n_worse: int, total: float, meets: _Floats
) -> float:
    """Value of a tier that is a run of an order, given its inversions and its tied blocks."""
    value = board.by_size[VALUES, size] - board.numbers[THETA] * total
    for number in range(2, meets.shape[1]):
        value += meets[1, number] * board.by_size[HELD, number]
    return float(value)


@compiled
def value_at_theta(board: BoardAtTheta, theta: float) -> float:
    """Value of the tiers at a theta, at which they are valued from now on."""
    places, _, _, between = board.tiers
    write_theta(board, theta)
    factorials = board.by_size[FACTORIALS]
    value = -board.numbers[N_RANKINGS] * factorials[-1]
    for number in range(len(board.ties.whole)):
        value += board.ties.whole[number] * factorials[number]
    for position in range(places[N_TIERS, 0]):
        slot = places[ORDER, position]
        value += value_of_row(board, slot, places[SIZES, slot])
        for better in range(position):
            value -= theta * between[slot, places[ORDER, better]]
    return float(value)


# A theta per line.


@compiled_part
def value_line(
    objective: LineObjective,
    net: _Floats,
    curve: _Floats,
    size: int | np.int64,
    n_worse: int | np.int64,
    total: float,
) -> float:
    """Value of a line, given what it has of tied blocks."""
    if n_worse == 0:
        return 0.0
    table = objective.grid.factorials
    curve_of_sizes(objective, size, n_worse, curve)
    for number in range(2, len(net)):
        times = net[number]
        if times != 0.0:
            for node in range(curve.shape[0]):
                for order in range(curve.shape[1]):
                    curve[node, order] += times * table[number, node, order]
    return line_value(objective, curve, max(total, 0.0))


@compiled_part
def _tier_value(objective: LineObjective, size: int | np.int64, meets: _Floats) -> float:
    """Value a tier whatever theta is, given what tied blocks it meets."""
    logs = objective.log_factorials
    value = objective.tier_constant + (objective.order_bonus - objective.n_rankings) * logs[size]
    for number in range(2, len(meets)):
        value += meets[number] * logs[number]
    return float(value)


@inlined
def _tier_change(objective: LineObjective, size: int | np.int64, meets: _Floats) -> float:
    """Return what the item adds to the value of a tier of so many items, whatever theta is."""
    logs = objective.log_factorials
    change = (objective.order_bonus - objective.n_rankings) * (logs[size + 1] - logs[size])
    for number in range(2, meets.shape[1]):
        change += meets[_IN_TIER, number] * logs[number]
    return float(change)


@inlined
def _write_net(board: BoardByLine, whole: int, tier: int, rest: int) -> None:
    """Write the tied blocks of the line of a tier with a rest, given the rows that count them."""
    net, meets = board.meets[_NET], board.ties.meets
    for number in range(2, meets.shape[1]):
        net[number] = meets[whole, number] - meets[tier, number] - meets[rest, number]


@inlined
def _tail_at(places: _Integers, position: int | np.int64) -> int:
    """Return the row of the tier at a position with all worse ones; behind the last, an empty one.

    Members are not dealt to sides here, so these stay empty.
    """
    n_items = places.shape[1] - 1
    if position < places[N_TIERS, 0]:
        return int(n_items + TAILS + places[ORDER, position])
    return int(n_items + SIDES)


@compiled_part
def _total_at(tiers: Tiers, position: int | np.int64) -> tuple[float, int]:
    """Inversions of a line, and the number of items in worse tiers."""
    places, between = tiers.places, tiers.between
    slot, total, n_worse = places[ORDER, position], 0.0, 0
    for worse in range(position + 1, places[N_TIERS, 0]):
        total += between[places[ORDER, worse], slot]
        n_worse += places[SIZES, places[ORDER, worse]]
    return total, n_worse


@compiled_part
def _line_at(board: BoardByLine, position: int | np.int64) -> float:
    """Value of the line and the tier at a position."""
    places, objective = board.tiers.places, board.objective
    slot = places[ORDER, position]
    size = places[SIZES, slot]
    total, n_worse = _total_at(board.tiers, position)
    _write_net(board, _tail_at(places, position), slot, _tail_at(places, position + 1))
    value = value_line(objective, board.meets[_NET], board.curve, size, n_worse, total)
    return value + _tier_value(objective, size, board.ties.meets[slot])


@compiled
def value_by_line(board: BoardByLine) -> float:
    """Value of the tiers."""
    value = 0.0
    for position in range(board.tiers.places[N_TIERS, 0]):
        value += _line_at(board, position)
    return value


@compiled_part
def neighbours_by_line(board: BoardByLine, position: int | np.int64) -> float:
    """Value of two neighbouring tiers, as far as it changes where they exchange items."""
    return _line_at(board, position) + _line_at(board, position + 1)


@compiled_part
def gain_of_joining_by_line(board: BoardByLine, position: int | np.int64) -> float:
    """Return what is gained if the tier at a position is joined with the next."""
    places, ties, objective = board.tiers.places, board.ties, board.objective
    upper, lower = places[ORDER, position], places[ORDER, position + 1]
    both = places.shape[1] - 1 + BOTH
    gain = -neighbours_by_line(board, position)
    if len(ties.weights) > 0:
        join_rows(ties, upper, lower, both)
    _write_net(board, _tail_at(places, position), both, _tail_at(places, position + 2))
    size = places[SIZES, upper] + places[SIZES, lower]
    total, _ = _total_at(board.tiers, position)
    further, n_worse = _total_at(board.tiers, position + 1)
    total += further - board.tiers.between[lower, upper]
    gain += _tier_value(objective, size, ties.meets[both])
    return gain + value_line(objective, board.meets[_NET], board.curve, size, n_worse, total)


@compiled_part
def gain_of_exchanging_by_line(board: BoardByLine, position: int | np.int64) -> float:
    """Return what is gained if the tier at a position and the next change places."""
    before = neighbours_by_line(board, position)
    exchange_tiers(board, position)
    after = neighbours_by_line(board, position)
    exchange_tiers(board, position)
    return after - before


@inlined
def value_run_by_line(
    board: BoardByLine, size: int, n_worse: int, total: float, meets: _Floats
) -> float:
    """Value of a tier that is a run of an order, given its inversions and its tied blocks."""
    net = board.meets[_NET]
    for number in range(2, meets.shape[1]):
        net[number] = meets[0, number] - meets[1, number] - meets[2, number]
    value = value_line(board.objective, net, board.curve, size, n_worse, total)
    return value + _tier_value(board.objective, size, meets[1])


@inlined
def _find_changes(board: BoardByLine, item: int, slot: int, tail: int) -> None:
    """Write how the item would change what tied blocks meet of a tier, and of its tail."""
    ties, meets = board.ties, board.meets
    for number in range(meets.shape[1]):
        meets[_IN_NEXT, number] = meets[_IN_TAIL, number]
        meets[_IN_TIER, number] = meets[_IN_TAIL, number] = 0.0
    add_change(ties, item, slot, 1.0, meets[_IN_TIER])
    add_change(ties, item, tail, 1.0, meets[_IN_TAIL])


@inlined
def _write_net_of_role(board: BoardByLine, role: int) -> None:
    """Add to the tied blocks of a line those of the item in its tier (0) or in a worse one (1).

    Where the role is 3, write those of the line of the item alone before the tier.
    """
    meets = board.meets
    for number in range(2, meets.shape[1]):
        if role == 0:
            meets[_NET, number] += meets[_IN_TAIL, number] - meets[_IN_TIER, number]
        elif role == 1:
            meets[_NET, number] += meets[_IN_TAIL, number] - meets[_IN_NEXT, number]
        elif role == 3:
            meets[_NET, number] = meets[_IN_TAIL, number]


@inlined
def _total_without(tiers: Tiers, item: int, position: int | np.int64, into_worse: float) -> float:
    """Inversions of a line without an item, which worse tiers precede so often."""
    places = tiers.places
    slot, source = places[ORDER, position], places[SLOT_OF, item]
    total, _ = _total_at(tiers, position)
    if slot == source:
        total -= into_worse
    elif position < places[POSITION_OF, source]:
        total -= tiers.sums[BELOW, slot, item]
    return total


@inlined
def _line_of_role(
    role: int,
    size: int | np.int64,
    n_worse: int | np.int64,
    total: float,
    out_of: float,
    into: float,
    into_worse: float,
) -> tuple[int | np.int64, int | np.int64, float]:
    """Size, number of worse items and inversions of a line, by where the item is."""
    if role == 0:
        return size + 1, n_worse, total + into_worse
    if role == 1:
        return size, n_worse + 1, total + out_of
    if role == 2:
        return size, n_worse, total
    return np.int64(1), n_worse + size, into_worse + into


@compiled_part
def value_places_by_line(
    board: BoardByLine, item: int, _first: int, _last: int, values: _Floats
) -> None:
    """Value all places of an item, which is taken out of tied blocks."""
    places, _, sums, _ = board.tiers
    objective, meets, net = board.objective, board.meets, board.meets[_NET]
    has_ties = len(board.ties.weights) > 0
    source = places[SLOT_OF, item]
    n_places, _ = place_of(places, item)
    n_worse, into_worse, rest, below = np.int64(0), 0.0, 0.0, places.shape[1] - 1 + SIDES
    for number in range(meets.shape[1]):
        meets[_IN_TAIL, number] = 0.0
    # From the worst tier up: what lies below a place is not changed by the item.
    place = n_places - 1
    values[place] = objective.tier_constant
    for position in range(places[N_TIERS, 0] - 1, -1, -1):
        slot = places[ORDER, position]
        size = places[SIZES, slot] - (1 if slot == source else 0)
        if size == 0:
            continue
        total = _total_without(board.tiers, item, position, into_worse)
        tail = _tail_at(places, position)
        if has_ties:
            _find_changes(board, item, slot, tail)
        own = _tier_value(objective, size, board.ties.meets[slot])
        # The item in this tier, in a worse one, in a better one, and alone before this one.
        for role in range(4):
            if has_ties:
                _write_net(board, tail, slot, below)
                _write_net_of_role(board, role)
            out_of, into = sums[BELOW, slot, item], sums[ABOVE, slot, item]
            own_size, own_worse, own_total = _line_of_role(
                role, size, n_worse, total, out_of, into, into_worse
            )
            value = value_line(objective, net, board.curve, own_size, own_worse, own_total)
            if role == 0:
                values[place - 1] = rest + own + _tier_change(objective, size, meets) + value
            elif role == 1:
                board.passed[place // 2 - 1] = own + value
            elif role == 2:
                rest += own + value
            else:
                values[place - 2] = rest + objective.tier_constant + value
        place -= 2
        n_worse += size
        into_worse += sums[ABOVE, slot, item]
        below = tail
    # From the best tier down: above a place the item is among what is worse.
    better = 0.0
    for place in range(0, n_places - 1, 2):
        values[place] += better
        values[place + 1] += better
        better += board.passed[place // 2]
    values[n_places - 1] += better
