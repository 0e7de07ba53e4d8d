"""What ordered partitions are worth under inversions: with one theta, and with a theta per line.

Either way tiers are worth a sum over tiers, each with its line, and moves are valued by the lines
that they change. With one theta a line costs its inversions and nothing else: what lines say of a
tied block telescopes, and only how many of its members each tier holds is left. With a theta per
line, the value of a line is maximised or integrated over its theta, and depends on what tied blocks
have in common with its tier, and with all worse ones; what tiers are worth besides is what they are
worth with one theta that is infinite, where all Gaussian factorials are 1.

Which of both it is says an argument that is None with one theta: that is known when a function is
compiled, and the rest is then left out.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_part, inlined
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
_NET, _IN_TIER, _IN_TAIL, _IN_NEXT = 0, 1, 2, 3


class Lines(NamedTuple):
    """How lines are valued that have a theta each."""

    objective: LineObjective
    curve: _Floats
    """Room for the line at hand as a curve over theta."""


class Board(NamedTuple):
    """Tiers, and what they are valued by."""

    tiers: Tiers
    """Pairs are how often each item is ranked above each other."""
    ties: Ties
    by_size: _Floats
    """``[row, number of items]``."""
    numbers: _Floats
    """Theta, infinite where each line has its own, and the number of rankings."""
    meets: _Floats
    """Room for tied blocks by numbers of members: of the line at hand, and how the item that is
    taken out would change those of a tier, of the tier with all worse ones, and of these."""
    lines: Lines | None
    """None with one theta."""


def make_board(
    tiers: Tiers,
    ties: Ties,
    tier_values: _Floats,
    n_rankings: float,
    objective: LineObjective | None = None,
    theta: float = np.inf,
) -> Board:
    """Set up tiers with one theta, or, given an objective of lines, with a theta per line.

    ``tier_values`` is the log prior by size.
    """
    n_items = len(tier_values) - 1
    by_size = np.zeros((_N_ROWS, n_items + 1))
    by_size[ORDERS, 1:] = np.log(np.arange(1, n_items + 1)).cumsum()
    by_size[PRIOR] = tier_values
    lines = None
    if objective is not None:
        lines = Lines(objective, np.zeros(objective.grid.factorials.shape[1:]))
    meets = np.zeros((4, len(ties.whole)))
    return Board(tiers, ties, by_size, np.array([theta, n_rankings]), meets, lines)


@compiled
def load(tiers: Tiers, ties: Ties, labels: _Integers) -> None:
    """Make these the tiers; labels count from 0 without gaps."""
    load_tiers(tiers, labels)
    if len(ties.weights) > 0:
        load_ties(ties, tiers.places)


@compiled_part
def move_item(board: Board, item: int, slot: int | np.int64) -> None:
    """Move an item to a slot; both slots must be among the tiers, and may be or become empty."""
    if len(board.ties.weights) > 0:
        take_from_ties(board.ties, board.tiers.places, item)
        put_in_ties(board.ties, board.tiers.places, item, slot)
    move(board.tiers, item, slot)


@inlined
def put_at(board: Board, item: int, here: int, place: int) -> None:
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
def join_tiers(board: Board, position: int | np.int64) -> None:
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
def exchange_tiers(board: Board, position: int | np.int64) -> None:
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


@compiled_part
def write_theta(board: Board, theta: float) -> None:
    """Value tiers at this theta from now on; an infinite one where each line has its own."""
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


@inlined
def value_of_row(board: Board, row: int | np.int64, size: int | np.int64) -> float:
    """Value a tier of so many items, given the row that counts its blocks."""
    value = board.by_size[VALUES, size]
    if len(board.ties.weights) > 0:
        value += value_of_blocks(board.ties, row, board.by_size[HELD], board.by_size[ROOM])
    return float(value)


@inlined
def _write_net(
    board: Board,
    meets: _Floats,
    whole: int | np.int64,
    tier: int | np.int64,
    rest: int | np.int64,
) -> None:
    """Write the tied blocks of a line, given the rows of its tier, of all worse ones, and both."""
    for number in range(2, meets.shape[1]):
        board.meets[_NET, number] = meets[whole, number] - meets[tier, number] - meets[rest, number]


@compiled_part
def _value_line(
    lines: Lines | None,
    theta: float,
    meets: _Floats,
    size: int | np.int64,
    n_worse: int | np.int64,
    total: float,
) -> float:
    """Value of a line, given its inversions, and what it has of tied blocks."""
    if lines is None:
        return -theta * total
    if n_worse == 0:
        return 0.0
    objective, curve = lines
    table = objective.grid.factorials
    curve_of_sizes(objective, size, n_worse, curve)
    for number in range(2, meets.shape[1]):
        times = meets[_NET, number]
        if times != 0.0:
            for node in range(curve.shape[0]):
                for order in range(curve.shape[1]):
                    curve[node, order] += times * table[number, node, order]
    return line_value(objective, curve, max(total, 0.0))


@compiled_part
def _tail_at(board: Board, position: int | np.int64) -> int:
    """Return the row of the tier at a position with all worse ones; behind the last, an empty one.

    Members are not dealt to sides here, so these stay empty.
    """
    places = board.tiers.places
    n_items = places.shape[1] - 1
    if board.ties.meets.shape[1] == 0:
        return int(n_items + SIDES)
    if position < places[N_TIERS, 0]:
        return int(n_items + TAILS + places[ORDER, position])
    return int(n_items + SIDES)


@compiled_part
def _total_at(tiers: Tiers, position: int | np.int64, beyond: int | np.int64) -> tuple[float, int]:
    """Inversions of a line with worse tiers before a position, and the number of their items."""
    places, between = tiers.places, tiers.between
    slot, total, n_worse = places[ORDER, position], 0.0, 0
    for worse in range(position + 1, beyond):
        total += between[places[ORDER, worse], slot]
        n_worse += places[SIZES, places[ORDER, worse]]
    return total, n_worse


@inlined
def _value_tier(
    board: Board, row: int | np.int64, size: int | np.int64, n_worse: int | np.int64, total: float
) -> float:
    """Value a tier, given the row that counts its blocks, and its line."""
    line = _value_line(board.lines, board.numbers[THETA], board.meets, size, n_worse, total)
    return value_of_row(board, row, size) + line


@compiled_part
def _line_at(board: Board, position: int | np.int64, beyond: int | np.int64) -> float:
    """Value of the tier at a position, and of its line with worse tiers before another one."""
    places, meets = board.tiers.places, board.ties.meets
    slot = places[ORDER, position]
    tail, rest = _tail_at(board, position), _tail_at(board, position + 1)
    total, n_worse = _total_at(board.tiers, position, beyond)
    _write_net(board, meets, tail, slot, rest)
    return _value_tier(board, slot, places[SIZES, slot], n_worse, total)


@compiled
def value_tiers(board: Board, theta: float) -> float:
    """Value of the tiers at a theta, at which they are valued from now on.

    That is infinite where each line has its own.
    """
    write_theta(board, theta)
    factorials = board.by_size[FACTORIALS]
    value = -board.numbers[N_RANKINGS] * factorials[-1]
    for number in range(len(board.ties.whole)):
        value += board.ties.whole[number] * factorials[number]
    n_tiers = board.tiers.places[N_TIERS, 0]
    for position in range(n_tiers):
        value += _line_at(board, position, n_tiers)
    return float(value)


@inlined
def _beyond(board: Board, position: int | np.int64) -> int | np.int64:
    """Return up to where worse tiers matter to changes of the tier at a position and the next."""
    by_line = board.numbers[THETA] == np.inf
    return board.tiers.places[N_TIERS, 0] if by_line else position + 2


@compiled_part
def value_neighbours(board: Board, position: int | np.int64) -> float:
    """Value of two neighbouring tiers, as far as it changes where they exchange items."""
    beyond = _beyond(board, position)
    return _line_at(board, position, beyond) + _line_at(board, position + 1, beyond)


@compiled_part
def gain_of_joining(board: Board, position: int | np.int64) -> float:
    """Return what is gained if the tier at a position is joined with the next."""
    places, ties = board.tiers.places, board.ties
    upper, lower = places[ORDER, position], places[ORDER, position + 1]
    both = places.shape[1] - 1 + BOTH
    gain = -value_neighbours(board, position)
    if len(ties.weights) > 0:
        join_rows(ties, upper, lower, both)
    tail, rest = _tail_at(board, position), _tail_at(board, position + 2)
    _write_net(board, ties.meets, tail, both, rest)
    size = places[SIZES, upper] + places[SIZES, lower]
    beyond = _beyond(board, position)
    total, _ = _total_at(board.tiers, position, beyond)
    further, n_worse = _total_at(board.tiers, position + 1, beyond)
    total += further - board.tiers.between[lower, upper]
    return gain + _value_tier(board, both, size, n_worse, total)


@compiled_part
def gain_of_exchanging(board: Board, lines: Lines | None, position: int | np.int64) -> float:
    """Return what is gained if the tier at a position and the next change places."""
    if lines is None:
        places, between = board.tiers.places, board.tiers.between
        upper, lower = places[ORDER, position], places[ORDER, position + 1]
        return float(board.numbers[THETA] * (between[lower, upper] - between[upper, lower]))
    before = value_neighbours(board, position)
    exchange_tiers(board, position)
    after = value_neighbours(board, position)
    exchange_tiers(board, position)
    return after - before


@inlined
def value_run(board: Board, size: int, n_worse: int, total: float, meets: _Floats) -> float:
    """Value of a tier that is a run of an order, given its inversions and tied blocks.

    Rows of these are of all from its first item on, of the run, and of what follows it.
    """
    _write_net(board, meets, 0, 1, 2)
    value = board.by_size[VALUES, size]
    for number in range(2, meets.shape[1]):
        value += meets[1, number] * board.by_size[HELD, number]
    return float(
        value + _value_line(board.lines, board.numbers[THETA], board.meets, size, n_worse, total)
    )


@compiled_part
def value_places(
    board: Board,
    lines: Lines | None,
    item: int,
    first: int | np.int64,
    last: int | np.int64,
    values: _Floats,
) -> None:
    """Value all places of an item, which is taken out of tied blocks.

    With one theta, what tied blocks add is left out of the values of places beyond the first and
    the last.
    """
    if lines is not None:
        _value_places_by_line(board, item, values)
        return
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
def _find_changes(board: Board, item: int, slot: int, tail: int) -> None:
    """Write how the item would change what tied blocks meet of a tier, and of its tail."""
    ties, meets = board.ties, board.meets
    for number in range(meets.shape[1]):
        meets[_IN_NEXT, number] = meets[_IN_TAIL, number]
        meets[_IN_TIER, number] = meets[_IN_TAIL, number] = 0.0
    add_change(ties, item, slot, 1.0, meets[_IN_TIER])
    add_change(ties, item, tail, 1.0, meets[_IN_TAIL])


@inlined
def _write_net_of_role(board: Board, role: int) -> None:
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
    total, _ = _total_at(tiers, position, places[N_TIERS, 0])
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
def _value_places_by_line(board: Board, item: int, values: _Floats) -> None:
    """Value all places of an item with a theta per line."""
    places, _, sums, _ = board.tiers
    meets, worth, theta = board.meets, board.by_size[VALUES], board.numbers[THETA]
    # With a theta per line nothing else needs this room.
    passed = board.by_size[ROOM]
    has_ties = len(board.ties.weights) > 0
    source = places[SLOT_OF, item]
    n_places, _ = place_of(places, item)
    n_worse, into_worse, rest, below = np.int64(0), 0.0, 0.0, places.shape[1] - 1 + SIDES
    for number in range(meets.shape[1]):
        meets[_IN_TAIL, number] = 0.0
    # From the worst tier up: what lies below a place is not changed by the item.
    place = n_places - 1
    values[place] = worth[1]
    for position in range(places[N_TIERS, 0] - 1, -1, -1):
        slot = places[ORDER, position]
        size = places[SIZES, slot] - (1 if slot == source else 0)
        if size == 0:
            continue
        total = _total_without(board.tiers, item, position, into_worse)
        tail = _tail_at(board, position)
        if has_ties:
            _find_changes(board, item, slot, tail)
        own, more = value_of_row(board, slot, size), worth[size + 1] - worth[size]
        for number in range(2, meets.shape[1]):
            more += meets[_IN_TIER, number] * board.by_size[HELD, number]
        # The item in this tier, in a worse one, in a better one, and alone before this one.
        for role in range(4):
            if has_ties:
                _write_net(board, board.ties.meets, tail, slot, below)
                _write_net_of_role(board, role)
            out_of, into = sums[BELOW, slot, item], sums[ABOVE, slot, item]
            own_size, own_worse, own_total = _line_of_role(
                role, size, n_worse, total, out_of, into, into_worse
            )
            value = _value_line(board.lines, theta, meets, own_size, own_worse, own_total)
            if role == 0:
                values[place - 1] = rest + own + more + value
            elif role == 1:
                passed[place // 2 - 1] = own + value
            elif role == 2:
                rest += own + value
            else:
                values[place - 2] = rest + worth[1] + value
        place -= 2
        n_worse += size
        into_worse += sums[ABOVE, slot, item]
        below = tail
    # From the best tier down: above a place the item is among what is worse.
    better = 0.0
    for place in range(0, n_places - 1, 2):
        values[place] += better
        values[place + 1] += better
        better += passed[place // 2]
    values[n_places - 1] += better
