"""Metropolis within Gibbs over ordered partitions and theta, given independent comparisons.

Items move to other tiers or to tiers of their own, two items change places, tiers are cut and
joined (split and merge, Green 1995), two neighbouring tiers are dealt again, and theta is drawn by
slice sampling (Neal 2003).

What a move is worth takes long to compute where tiers are many, so strengths of the items, known
about, say beforehand which moves are likely. An item is proposed any tier, or any gap between two,
with about the probability that it has given its strength and those of the others. Two items change
places if that survives a first test by their strengths (delayed acceptance, Christen and Fox 2005),
which the second one makes up for. A cut sends each item up or down by how far it lies from a random
point among the members, in the logarithm of the odds that its comparisons give for the upper part.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_part
from tierwise._kernels.comparisons import (
    Board,
    end_exchange,
    end_step,
    gain_of_change,
    gain_of_exchange,
    gain_of_joining,
    gain_of_step,
    join_on_board,
    keep_change,
    known_value,
    move_on_board,
    value_board,
)
from tierwise._kernels.ordered_partition import (
    CUT,
    DEAL,
    JOIN,
    N_TIERS,
    ORDER,
    POSITION_OF,
    PRESENT,
    PROPOSED,
    SIZES,
    SLOT_OF,
    Dealing,
    choose,
    cut_join_or_deal,
    deal_by_odds,
    join,
    list_members,
    open_tier,
    send_members,
    write_labels,
)
from tierwise._kernels.theta import ACCEPTED, PriorTable, log_prior, next_point

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# How many tiers apart two items may be that change places.
_REACH = 4
# Log of the least probability that is given to a place, relative to the best one.
_LEAST_LOG_SHARE = -9.0
# The odds of a cut are sharpened by a random factor between these.
_LEAST_SHARPNESS, _LARGEST_SHARPNESS = 0.3, 1.5
_MOST_ODDS = 30.0


@compiled
def run_sweeps(
    board: Board,
    items: _Floats,
    theta: float,
    single_bonus: float,
    prior: PriorTable,
    width: float,
    room: Dealing,
    shares: _Floats,
    labels: _Integers,
    numbers: _Floats,
    sweeps_per_draw: int,
    rng: np.random.Generator,
) -> None:
    """Make sweeps of Metropolis steps over items and tiers, and write down tiers and theta.

    Parameters
    ----------
    board
        The tiers, which are changed.
    items
        Strength of each item (first row), and its precision (second row).
    theta
        The theta to begin with.
    single_bonus
        What a single tier adds to the log prior besides.
    prior
        Prior of theta.
    width
        About how far log theta goes in one step; see `next_point`.
    room, shares
        Room to work in; ``shares`` has two rows of one more entry than twice the items.
    labels, numbers
        Where the draws are written, one row per draw: the tier of each item, counted from 0; theta,
        the comparisons lost by the better tier, and the log posterior.
    sweeps_per_draw
        Number of sweeps for each draw.
    rng
        Randomness.
    """
    places, wins = board.tiers.places, board.tiers.between
    n_items = places.shape[1] - 1
    value_board(board, theta)
    for number in range(len(numbers) * sweeps_per_draw):
        for _ in range(1 + n_items // 2):
            _move_by_strength(board, items, single_bonus, shares, rng)
        for _ in range(n_items // 4):
            _exchange_at_random(board, items, rng)
        for _ in range(4 + n_items):
            _cut_join_or_deal(board, items, theta, room, single_bonus, rng)
        theta, value = _draw_theta(board, theta, prior, width, rng)
        if (number + 1) % sweeps_per_draw > 0:
            continue
        draw = number // sweeps_per_draw
        count, lost = places[N_TIERS, 0], 0.0
        for tier in range(count):
            for better in range(tier):
                lost += wins[places[ORDER, tier], places[ORDER, better]]
        write_labels(places, labels[draw])
        numbers[draw, 0] = theta
        numbers[draw, 1] = lost
        numbers[draw, 2] = value + (single_bonus if count == 1 else 0.0)


@compiled_part
def _below(limit: int, rng: np.random.Generator) -> int:
    """Draw a whole number below a limit; numba's own way takes long to compile."""
    return int(limit * rng.random())


@compiled_part
def _write_log_shares(board: Board, items: _Floats, item: int, shares: _Floats) -> tuple[int, int]:
    """Write about the log probability of each place of an item, given where all others are.

    Without the item there are tiers at the odd places, and gaps at the even ones. The strength of a
    tier is the mean of its items, that of a gap is between those of its neighbours.

    Returns the number of places, and the place where the item is; the first row of ``shares`` then
    has the log probabilities, up to a constant, none far below the largest.
    """
    places, tier_values = board.tiers.places, board.tier_values
    source = places[SLOT_OF, item]
    logs, means = shares[0], shares[1]
    means[: places.shape[1]] = 0.0
    for other in range(places.shape[1] - 1):
        if other != item:
            means[places[SLOT_OF, other]] += items[0, other]
    own, precision = items[0, item], items[1, item]
    n_places, here, first, before = 1, 0, own, own
    for tier in range(places[N_TIERS, 0]):
        slot = places[ORDER, tier]
        size = places[SIZES, slot]
        if slot == source:
            size -= 1
            here = n_places if size > 0 else n_places - 1
        if size == 0:
            continue
        strength = means[slot] / size
        if n_places == 1:
            first = strength
        else:
            between = 0.5 * (before + strength)
            logs[n_places - 1] = tier_values[1] - 0.5 * precision * (between - own) ** 2
        logs[n_places] = tier_values[size + 1] - tier_values[size]
        logs[n_places] -= 0.5 * precision * (strength - own) ** 2
        before = strength
        n_places += 2
    # Beyond the first tier and the last one an item may be as strong or as weak as it is.
    logs[n_places - 1] = tier_values[1] - 0.5 * precision * max(own - before, 0.0) ** 2
    logs[0] = tier_values[1] - 0.5 * precision * max(first - own, 0.0) ** 2
    top = logs[0]
    for place in range(1, n_places):
        top = max(top, logs[place])
    for place in range(n_places):
        logs[place] = max(logs[place] - top, _LEAST_LOG_SHARE)
    return n_places, here


@compiled_part
def _move_by_strength(
    board: Board, items: _Floats, single_bonus: float, shares: _Floats, rng: np.random.Generator
) -> None:
    """Move an item to a place that is likely by its strength, by a Metropolis step."""
    places = board.tiers.places
    item = _below(places.shape[1] - 1, rng)
    n_places, here = _write_log_shares(board, items, item, shares)
    for place in range(n_places):
        shares[1, place] = shares[0, place]
    there = choose(shares[1], 0, n_places - 1, rng.random())
    if there == here:
        return
    was_single = places[N_TIERS, 0] == 1
    gain, source, target = gain_of_step(board, item, there - here)
    if source < 0:
        return
    becomes_single = places[SIZES, target] == places.shape[1] - 1
    if becomes_single:
        gain += single_bonus
    if was_single:
        gain -= single_bonus
    gain += shares[0, here] - shares[0, there]
    accepted = 1 if np.log(1.0 - rng.random()) < gain else 0
    end_step(board, item, source, target, accepted)


@compiled_part
def _mean_strength(board: Board, items: _Floats, slot: int, left_out: int) -> float:
    """Mean strength of the items of a slot but one, of which there must be others."""
    places = board.tiers.places
    total = 0.0
    for item in range(places.shape[1] - 1):
        if places[SLOT_OF, item] == slot and item != left_out:
            total += items[0, item]
    return float(total / (places[SIZES, slot] - 1))


@compiled_part
def _exchange_at_random(board: Board, items: _Floats, rng: np.random.Generator) -> None:
    """Let two items of different tiers change places, by a Metropolis step with a first test."""
    places = board.tiers.places
    item, other = _below(places.shape[1] - 1, rng), _below(places.shape[1] - 1, rng)
    here, there = places[SLOT_OF, item], places[SLOT_OF, other]
    one, two = places[POSITION_OF, here], places[POSITION_OF, there]
    if one == two or abs(one - two) > _REACH:
        return
    likely = 0.0
    if places[SIZES, here] > 1 and places[SIZES, there] > 1:
        # Those who stay where they are say the same before and after.
        apart = _mean_strength(board, items, there, other)
        middle = _mean_strength(board, items, here, item)
        apart, middle = apart - middle, 0.5 * (apart + middle)
        likely = items[1, item] * apart * (items[0, item] - middle)
        likely -= items[1, other] * apart * (items[0, other] - middle)
        if np.log(1.0 - rng.random()) >= likely:
            return
    gain = gain_of_exchange(board, item, other)
    accepted = 1 if np.log(1.0 - rng.random()) < gain - likely else 0
    end_exchange(board, item, other, accepted)


class _Table(NamedTuple):
    """A board with what sends members of its tiers up or down."""

    board: Board
    items: _Floats
    theta: float


@compiled_part
def _write_odds(
    table: _Table, room: Dealing, first: int, last: int, rng: np.random.Generator
) -> int:
    """Write the log odds of each member of tiers to go up, by a random cut; return their number.

    The cut depends on the union of the tiers alone, so that it is as probable there and back.
    """
    items, odds = table.items, room.odds
    count = list_members(table.board.tiers.places, first, last, room.members)
    cut = items[0, room.members[_below(count, rng)]]
    sharpness = _LEAST_SHARPNESS + (_LARGEST_SHARPNESS - _LEAST_SHARPNESS) * rng.random()
    # Half of the tier apart, items differ by a third of theta for each member, if theta is small.
    scale = sharpness * min(table.theta * count / 3.0, 4.0)
    for number in range(count):
        item = room.members[number]
        value = scale * items[1, item] * (items[0, item] - cut)
        odds[number] = min(max(value, -_MOST_ODDS), _MOST_ODDS)
    return count


@compiled_part
def _gain(table: _Table, room: Dealing, position: int, kind: int, n_members: int) -> float:
    """Return what the log posterior gains; but for a join, the tiers are changed."""
    board = table.board
    places = board.tiers.places
    if kind == JOIN:
        return gain_of_joining(board, position)
    if kind == CUT:
        open_tier(places, position + 1)
    send_members(move_on_board, board, places, room, position, n_members, PROPOSED)
    return gain_of_change(board, position, position + 1)


@compiled_part
def _finish(
    table: _Table, room: Dealing, position: int, kind: int, n_members: int, accepted: int
) -> None:
    """Leave the tiers as they were, or as they are proposed."""
    board = table.board
    if accepted and kind == JOIN:
        join_on_board(board, position)
    elif accepted:
        keep_change(board, position, position + 1)
    elif kind == CUT:
        join(board.tiers, position)
    elif kind == DEAL:
        send_members(move_on_board, board, board.tiers.places, room, position, n_members, PRESENT)


@compiled_part
def _cut_join_or_deal(
    board: Board,
    items: _Floats,
    theta: float,
    room: Dealing,
    single_bonus: float,
    rng: np.random.Generator,
) -> None:
    """Cut a tier in two, join two neighbours, or deal them again, by a Metropolis step."""
    table = _Table(board, items, theta)
    cut_join_or_deal(
        _write_odds,
        deal_by_odds,
        _gain,
        _finish,
        table,
        board.tiers.places,
        room,
        single_bonus,
        rng,
    )


@compiled_part
def _draw_theta(
    board: Board, theta: float, prior: PriorTable, width: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Draw theta given the tiers; return it and the log posterior."""
    here = np.log(theta)
    low = here - width * rng.random()
    high = low + width
    value = log_prior(prior, here, theta)
    value += known_value(board, 0, board.tiers.places[N_TIERS, 0] - 1)
    stage, at, height = 0, here, np.inf
    while stage != ACCEPTED:
        stage, at, height, low, high = next_point(
            stage, here, at, value, height, low, high, width, rng
        )
        if stage != ACCEPTED:
            value = log_prior(prior, at, np.exp(at))
            if value > -np.inf:
                value += value_board(board, np.exp(at))
    return float(np.exp(at)), value
