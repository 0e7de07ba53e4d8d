"""Gibbs sampling and split-merge over ordered partitions under inversions, given weak orders.

A sweep draws the place of every item given all others, and cuts, joins and deals tiers. With one
theta, members are dealt by sequential allocation (Dahl 2005), and theta is drawn by slice sampling
(Neal 2003). With a theta per line the thetas are integrated out; members are dealt with
probabilities that grow with how they are preferred to the others, and items and tiers are exchanged
with their neighbours, too.

References
----------
D. B. Dahl (2005). Sequentially-allocated merge-split sampler for conjugate and nonconjugate
Dirichlet process mixture models. Technical report, Texas A&M University.
"""

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_part, inlined
from tierwise._kernels.inversions_partition import (
    FACTORIALS,
    N_RANKINGS,
    ORDERS,
    RISES,
    ROOM,
    THETA,
    VALUES,
    Board,
    Lines,
    exchange_tiers,
    gain_of_exchanging,
    gain_of_joining,
    join_tiers,
    move_item,
    put_at,
    value_neighbours,
    value_of_row,
    value_places,
    write_factorials,
    write_theta,
)
from tierwise._kernels.ordered_partition import (
    ABOVE,
    BELOW,
    CUT,
    JOIN,
    N_TIERS,
    ORDER,
    PRESENT,
    PROPOSED,
    SIZES,
    Dealing,
    choose,
    cut_join_or_deal,
    deal_by_odds,
    finish_by_moving,
    gain_by_moving,
    list_members,
    open_tier,
    place_of,
    send_members,
    write_labels,
)
from tierwise._kernels.theta import ACCEPTED, SLICE_WIDTH, PriorTable, log_prior, next_point
from tierwise._kernels.tied_blocks import (
    BOTH,
    SIDES,
    add_meets,
    clear_row,
    count_item,
    join_rows,
    rise,
    take_from_ties,
)

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# With ties it takes long to value a place: most sweeps draw among so many that lie around an item.
_WINDOW = 13
_SHARE_OF_WINDOWS = 0.95
# With a theta per line, a member goes to neither part with a probability below that of this logit.
_LARGEST_LOGIT = 3.0


@inlined
def _draw_place(
    board: Board,
    item: int,
    windowed: int,
    single_bonus: float,
    values: _Floats,
    rng: np.random.Generator,
) -> None:
    """Draw the tier of an item given those of all others: one of theirs, or a new one anywhere.

    Where ``windowed`` is 1, among places around its own. A window that lies anywhere around that of
    the item lies as probably around any other place in it.
    """
    places = board.tiers.places
    n_places, here = place_of(places, item)
    # A Python int would trigger a second specialisation.
    first: int | np.int64 = np.int64(0)
    last: int | np.int64 = np.int64(n_places - 1)
    if windowed == 1:
        first = here - int(_WINDOW * rng.random())
        last = min(int(first) + _WINDOW - 1, int(last))
        first = max(int(first), 0)
    if len(board.ties.weights) > 0:
        take_from_ties(board.ties, places, item)
    value_places(board, board.lines, item, first, last, values)
    if n_places == 3:
        values[1] += single_bonus
    put_at(board, item, here, choose(values, int(first), int(last), rng.random()))


@compiled
def run_sweeps(
    board: Board,
    lines: Lines | None,
    prior: PriorTable | None,
    single_bonus: float,
    room: Dealing,
    labels: _Integers,
    numbers: _Floats,
    rng: np.random.Generator,
) -> None:
    """Move all items and some tiers, and draw one theta, for each draw that there is room for.

    Parameters
    ----------
    board
        The tiers, which are changed.
    lines, prior
        The lines of the board, where each has a theta, which is integrated out; else the prior of
        theta. What is None is known when this is compiled, and what needs it is left out.
    single_bonus
        What a single tier adds to the log prior besides.
    room
        Room to work in.
    labels, numbers
        Where the draws are written, one row per draw: the tier of each item, counted from 0; one
        theta, inversions and log-likelihood.
    rng
        Randomness.
    """
    places, n_items = board.tiers.places, labels.shape[1]
    values = np.empty(2 * n_items + 1)
    for sweep in range(len(labels)):
        write_theta(board, board.numbers[THETA])
        windowed = 0
        if lines is None and len(board.ties.weights) > 0:
            windowed = 1 if rng.random() < _SHARE_OF_WINDOWS else 0
        for item in range(n_items):
            _draw_place(board, item, windowed, single_bonus, values, rng)
        if lines is not None:
            for _ in range(1 + n_items // 2):
                _exchange_items_at_random(board, room, rng)
        for _ in range(4 + n_items // 8):
            if lines is not None:
                _exchange_tiers_at_random(board, rng)
                cut_join_or_deal(
                    _write_odds,
                    deal_by_odds,
                    _gain,
                    _finish,
                    board,
                    places,
                    room,
                    single_bonus,
                    rng,
                )
            if prior is not None:
                cut_join_or_deal(
                    _shuffle_members,
                    _deal_in_turn,
                    _gain_of_dealing,
                    _finish_dealing,
                    board,
                    places,
                    room,
                    single_bonus,
                    rng,
                )
        if prior is not None:
            numbers[sweep, 0], numbers[sweep, 1], numbers[sweep, 2] = _draw_theta(board, prior, rng)
        write_labels(places, labels[sweep])


# One theta.


@compiled_part
def _shuffle_members(
    board: Board, room: Dealing, first: int, last: int, rng: np.random.Generator
) -> int:
    """List the items of a range of tiers in random order; return how many there are."""
    members = room.members
    count = list_members(board.tiers.places, first, last, members)
    for number in range(count):
        place = int((number + 1) * rng.random())
        members[number], members[place] = members[place], members[number]
    return count


@compiled_part
def _deal_in_turn(
    board: Board, room: Dealing, n_members: int, which: int, rng: np.random.Generator
) -> tuple[float, int]:
    """Send members up (0) or down (1), one after the other, each given those before.

    Present sides are taken as they are. Returns the log probability of the sides, and how many are
    up; what two such tiers are worth is written down.
    """
    above, ties, members, sides = board.tiers.pairs[ABOVE], board.ties, room.members, room.sides
    worth, theta, rises = board.by_size[VALUES], board.numbers[THETA], board.by_size[RISES]
    log_chance, value = 0.0, 0.0
    n_up, n_down = 0, 0
    has_ties, row = len(ties.weights) > 0, len(above) + SIDES
    if has_ties:
        clear_row(ties, row)
        clear_row(ties, row + 1)
    for number in range(n_members):
        item = members[number]
        cost_up, cost_down = 0.0, 0.0
        for before in range(number):
            other = members[before]
            if sides[which, before] == 1:
                cost_up += above[other, item]
            else:
                cost_down += above[item, other]
        up = worth[n_up + 1] - worth[n_up] - theta * cost_up
        down = worth[n_down + 1] - worth[n_down] - theta * cost_down
        if has_ties:
            up += rise(ties, item, row, rises)
            down += rise(ties, item, row + 1, rises)
        if which == PROPOSED:
            sides[which, number] = 0 if rng.random() * (1.0 + np.exp(down - up)) < 1.0 else 1
        if sides[which, number] == 0:
            n_up += 1
            value += up
            log_chance -= np.logaddexp(0.0, down - up)
        else:
            n_down += 1
            value += down
            log_chance -= np.logaddexp(0.0, up - down)
        if has_ties:
            count_item(ties, item, row + sides[which, number])
    room.values[which] = value
    return log_chance, n_up


@compiled_part
def _gain_of_dealing(
    board: Board, room: Dealing, position: int, kind: int, n_members: int
) -> float:
    """Return what the log posterior gains, of which the dealt sides are known."""
    places = board.tiers.places
    gain = 0.0
    if kind != JOIN:
        gain += room.values[PROPOSED]
    if kind != CUT:
        gain -= room.values[PRESENT]
    if kind in (CUT, JOIN):
        row = places[ORDER, position]
        if kind == JOIN and len(board.ties.weights) > 0:
            both = places.shape[1] - 1 + BOTH
            join_rows(board.ties, row, places[ORDER, position + 1], both)
            row = np.int64(both)
        whole = value_of_row(board, row, n_members)
        gain += whole if kind == JOIN else -whole
    return gain


@compiled_part
def _finish_dealing(
    board: Board, room: Dealing, position: int, kind: int, n_members: int, accepted: int
) -> None:
    """Make the tiers those proposed, if they are accepted."""
    if accepted == 1:
        if kind == JOIN:
            join_tiers(board, position)
        else:
            places = board.tiers.places
            if kind == CUT:
                open_tier(places, position)
            send_members(move_item, board, places, room, position, n_members, PROPOSED)


@compiled_part
def _draw_theta(
    board: Board, prior: PriorTable, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Draw theta given the tiers; return it, the number of inversions, and the log-likelihood."""
    places, _, _, between = board.tiers
    ties, by_size, n_rankings = board.ties, board.by_size, board.numbers[N_RANKINGS]
    n_tiers, inversions, orders = places[N_TIERS, 0], 0.0, 0.0
    # How often Gaussian factorials occur: of all items and blocks, less of what tiers hold of them.
    apart = by_size[ROOM]
    apart[:] = 0.0
    for position in range(n_tiers):
        slot = places[ORDER, position]
        if len(ties.weights) > 0:
            add_meets(ties, slot, -1.0, apart)
        for better in range(position):
            inversions += between[slot, places[ORDER, better]]
    for number in range(len(apart)):
        orders -= apart[number] * by_size[ORDERS, number]
    for number in range(len(ties.whole)):
        apart[number] += ties.whole[number]
    apart[len(apart) - 1] -= n_rankings
    for position in range(n_tiers):
        size = places[SIZES, places[ORDER, position]]
        apart[size] += n_rankings
        orders -= n_rankings * by_size[ORDERS, size]
    here = np.log(board.numbers[THETA])
    low = here - SLICE_WIDTH * rng.random()
    high = low + SLICE_WIDTH
    stage, at, height, log_likelihood = 0, here, np.inf, 0.0
    while stage != ACCEPTED:
        value = log_prior(prior, at, np.exp(at))
        if value > -np.inf:
            write_factorials(np.exp(at), by_size)
            log_likelihood = orders - np.exp(at) * inversions
            for size in range(2, len(apart)):
                log_likelihood += apart[size] * by_size[FACTORIALS, size]
            value += log_likelihood
        stage, at, height, low, high = next_point(
            stage, here, at, value, height, low, high, SLICE_WIDTH, rng
        )
    board.numbers[THETA] = np.exp(at)
    return float(np.exp(at)), inversions, log_likelihood


# A theta per line.


@compiled_part
def _exchange_items_at_random(board: Board, room: Dealing, rng: np.random.Generator) -> None:
    """Let two items of neighbouring tiers change places, by a Metropolis step."""
    places, members = board.tiers.places, room.members
    n_pairs = places[N_TIERS, 0] - 1
    if n_pairs == 0:
        return
    position = int(n_pairs * rng.random())
    upper, lower = places[ORDER, position], places[ORDER, position + 1]
    if places[SIZES, upper] * places[SIZES, lower] == 1:
        # That is an exchange of tiers, which another step proposes.
        return
    first = members[int(list_members(places, position, position, members) * rng.random())]
    count = list_members(places, position + 1, position + 1, members)
    second = members[int(count * rng.random())]
    before = value_neighbours(board, position)
    move_item(board, first, lower)
    move_item(board, second, upper)
    if np.log(1.0 - rng.random()) >= value_neighbours(board, position) - before:
        move_item(board, first, upper)
        move_item(board, second, lower)


@compiled_part
def _exchange_tiers_at_random(board: Board, rng: np.random.Generator) -> None:
    """Let two neighbouring tiers change places, by a Metropolis step."""
    n_pairs = board.tiers.places[N_TIERS, 0] - 1
    if n_pairs > 0:
        position = int(n_pairs * rng.random())
        gain = gain_of_exchanging(board, board.lines, position)
        if np.log(1.0 - rng.random()) < gain:
            exchange_tiers(board, position)


@compiled_part
def _write_odds(
    board: Board, room: Dealing, first: int, last: int, _rng: np.random.Generator
) -> int:
    """List the members of tiers, and write the log odds of each to go up; return their number.

    They grow with how a member is preferred to the others, and are scaled to a few units.
    """
    places, _, sums, _ = board.tiers
    n_items = places.shape[1] - 1
    scale = 2.0 / np.sqrt(max(board.numbers[N_RANKINGS], 1.0) * n_items)
    count = list_members(places, first, last, room.members)
    for number in range(count):
        item, lead = room.members[number], 0.0
        for position in range(first, last + 1):
            slot = places[ORDER, position]
            lead += sums[BELOW, slot, item] - sums[ABOVE, slot, item]
        room.odds[number] = min(max(lead * scale, -_LARGEST_LOGIT), _LARGEST_LOGIT)
    return count


@compiled_part
def _gain(board: Board, room: Dealing, position: int, kind: int, n_members: int) -> float:
    """Return what the log posterior gains by a cut, a join or a deal."""
    return gain_by_moving(
        move_item,
        gain_of_joining,
        board,
        board.tiers.places,
        room,
        position,
        kind,
        n_members,
    )


@compiled_part
def _finish(
    board: Board, room: Dealing, position: int, kind: int, n_members: int, accepted: int
) -> None:
    """Leave the tiers as they were, or as they are proposed."""
    finish_by_moving(
        move_item,
        join_tiers,
        board,
        board.tiers.places,
        room,
        position,
        kind,
        n_members,
        accepted,
    )
