"""Ordered partitions, whatever they are valued by: items move, tiers are cut, joined and dealt.

Tiers have slots, which stay while others come and go. Without an item, so many tiers leave it twice
as many places and one: an even place ``2 p`` is a new tier before that at ``p``, an odd one
``2 p + 1`` is the tier at ``p`` itself.

What tiers are worth is asked of functions, which are copied into the kernel that calls. A tier is
cut in two, joined to the next, or dealt again with it by one Metropolis step (split and merge,
Green 1995): sides of the members are drawn, and as many ways lead back.

References
----------
P. J. Green (1995). Reversible jump Markov chain Monte Carlo computation and Bayesian model
determination. Biometrika 82, 711-732.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled_if_many, compiled_part, inlined

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Board = TypeVar("_Board")

# Rows of the places of tiers.
SLOT_OF, POSITION_OF, ORDER, SIZES, N_TIERS = 0, 1, 2, 3, 4
ABOVE, BELOW = 0, 1
# What is done to tiers, and the sides on which members of two tiers are.
CUT, JOIN, DEAL = 0, 1, 2
PRESENT, PROPOSED = 0, 1


class Tiers(NamedTuple):
    """Tiers, and how often their members are above and below others."""

    places: _Integers
    """By rows: slot of each item; position of each slot; slots from the best tier to the worst, and
    behind them those that are free; number of items of each slot; the number of tiers."""
    pairs: _Floats
    """``[ABOVE, a, b]``: how often a is above b; ``[BELOW, a, b]``: how often a is below b."""
    sums: _Floats
    """``[ABOVE, slot, a]``: how often members of the tier are above a, and likewise below a."""
    between: _Floats
    """``[slot, other]``: how often members of the one tier are above members of the other."""


def make_tiers(above: _Floats) -> Tiers:
    """Room for tiers of the items; `load_tiers` fills it."""
    n_items = len(above)
    # One slot more than items: a tier may be made before another one is gone.
    return Tiers(
        np.zeros((5, n_items + 1), np.int64),
        np.stack([above, above.T]),
        np.zeros((2, n_items + 1, n_items)),
        np.zeros((n_items + 1, n_items + 1)),
    )


def labels_of(tiers: Tiers) -> _Integers:
    """Return the tier of each item, counted from 0."""
    places = tiers.places
    labels: _Integers = places[POSITION_OF][places[SLOT_OF, :-1]]
    return labels


# Loops in place of array expressions, each of which takes a second to compile.


@compiled_if_many(lambda tiers, labels: 3.0 * len(labels) ** 2)
def load_tiers(tiers: Tiers, labels: _Integers) -> None:
    """Make these the tiers; labels count from 0 without gaps."""
    places, pairs, sums, between = tiers
    n_items = len(labels)
    count = 0
    for item in range(n_items):
        count = max(count, labels[item] + 1)
    for slot in range(n_items + 1):
        if places[SIZES, slot] > 0:
            sums[:, slot] = 0.0
            between[slot] = 0.0
            between[:, slot] = 0.0
        places[ORDER, slot] = places[POSITION_OF, slot] = slot
        places[SIZES, slot] = 0
    places[N_TIERS, 0] = count
    for item in range(n_items):
        slot = labels[item]
        places[SLOT_OF, item] = slot
        places[SIZES, slot] += 1
        for side in range(2):
            for other in range(n_items):
                sums[side, slot, other] += pairs[side, item, other]
    for item in range(n_items):
        for slot in range(count):
            between[labels[item], slot] += sums[BELOW, slot, item]


@compiled_part
def write_labels(places: _Integers, labels: _Integers) -> None:
    """Write the tier of each item, counted from 0."""
    for item in range(len(labels)):
        labels[item] = places[POSITION_OF, places[SLOT_OF, item]]


@compiled_part
def open_tier(places: _Integers, position: int | np.int64) -> int:
    """Put an empty tier before that at a position; return its slot."""
    n_tiers = places[N_TIERS, 0]
    slot = places[ORDER, n_tiers]
    for later in range(n_tiers, position, -1):
        places[ORDER, later] = places[ORDER, later - 1]
        places[POSITION_OF, places[ORDER, later]] = later
    places[ORDER, position] = slot
    places[POSITION_OF, slot] = position
    places[N_TIERS, 0] += 1
    return int(slot)


@compiled_part
def close_if_empty(places: _Integers, slot: int | np.int64) -> None:
    """Take out the tier of a slot if it has no items; then the slot is free."""
    if places[SIZES, slot] > 0:
        return
    places[N_TIERS, 0] -= 1
    for later in range(places[POSITION_OF, slot], places[N_TIERS, 0]):
        places[ORDER, later] = places[ORDER, later + 1]
        places[POSITION_OF, places[ORDER, later]] = later
    places[ORDER, places[N_TIERS, 0]] = slot
    places[POSITION_OF, slot] = places[N_TIERS, 0]


@compiled_part
def place_of(places: _Integers, item: int) -> tuple[int, int]:
    """Return how many places an item can have, and the place where it is."""
    slot = places[SLOT_OF, item]
    alone = 1 if places[SIZES, slot] == 1 else 0
    return (
        int(2 * (places[N_TIERS, 0] - alone) + 1),
        int(2 * places[POSITION_OF, slot] + 1 - alone),
    )


@compiled_part
def open_place(places: _Integers, item: int, place: int) -> int:
    """Return the slot of another place of an item, which is that of a new tier if it is even."""
    slot = places[SLOT_OF, item]
    position = place // 2
    # Places are numbered as if the item were taken out.
    if places[SIZES, slot] == 1 and position >= places[POSITION_OF, slot]:
        position += 1
    if place % 2 == 0:
        return open_tier(places, position)
    return int(places[ORDER, position])


@compiled_part
def move(tiers: Tiers, item: int, target: int | np.int64) -> None:
    """Move an item to a slot; both slots must be among the tiers, and may be or become empty."""
    places, pairs, sums, between = tiers
    source = places[SLOT_OF, item]
    for position in range(places[N_TIERS, 0]):
        slot = places[ORDER, position]
        # Within a slot these add up to the same, whichever way round.
        between[source, slot] -= sums[BELOW, slot, item]
        between[slot, source] -= sums[ABOVE, slot, item]
    for side in range(2):
        for other in range(pairs.shape[1]):
            sums[side, source, other] -= pairs[side, item, other]
            sums[side, target, other] += pairs[side, item, other]
    for position in range(places[N_TIERS, 0]):
        slot = places[ORDER, position]
        between[target, slot] += sums[BELOW, slot, item]
        between[slot, target] += sums[ABOVE, slot, item]
    places[SLOT_OF, item] = target
    places[SIZES, source] -= 1
    places[SIZES, target] += 1


@compiled_part
def join(tiers: Tiers, position: int | np.int64) -> None:
    """Join the tier at a position with the next."""
    places, pairs, sums, between = tiers
    upper, lower = places[ORDER, position], places[ORDER, position + 1]
    for item in range(pairs.shape[1]):
        if places[SLOT_OF, item] == lower:
            places[SLOT_OF, item] = upper
        for side in range(2):
            sums[side, upper, item] += sums[side, lower, item]
            sums[side, lower, item] = 0.0
    for tier in range(places[N_TIERS, 0]):
        slot = places[ORDER, tier]
        between[upper, slot] += between[lower, slot]
        between[lower, slot] = 0.0
    for tier in range(places[N_TIERS, 0]):
        slot = places[ORDER, tier]
        between[slot, upper] += between[slot, lower]
        between[slot, lower] = 0.0
    places[SIZES, upper] += places[SIZES, lower]
    places[SIZES, lower] = 0
    close_if_empty(places, lower)


@compiled_part
def list_members(
    places: _Integers, first: int | np.int64, last: int | np.int64, members: _Integers
) -> int:
    """List the items of the tiers from one position to another; return their number."""
    count = 0
    for item in range(places.shape[1] - 1):
        if first <= places[POSITION_OF, places[SLOT_OF, item]] <= last:
            members[count] = item
            count += 1
    return count


class Dealing(NamedTuple):
    """Room to send the members of one tier or of two neighbours up or down."""

    members: _Integers
    sides: _Integers
    """``[PRESENT or PROPOSED, number]``: whether a member is in the better tier (0) or not (1)."""
    odds: _Floats
    """Log odds of each member to be in the better tier, where they do not depend on others."""
    values: _Floats
    """What the sides are worth, where that is known as soon as they are dealt."""


def make_dealing(n_items: int) -> Dealing:
    """Room for so many items."""
    return Dealing(
        np.empty(n_items, np.int64),
        np.zeros((2, n_items), np.int64),
        np.empty(n_items),
        np.zeros(2),
    )


@inlined
def cut_join_or_deal(
    begin: Callable[..., int],
    deal: Callable[..., tuple[float, int]],
    gain_of: Callable[..., float],
    finish: Callable[..., None],
    board: _Board,
    places: _Integers,
    room: Dealing,
    single_bonus: float,
    rng: np.random.Generator,
) -> None:
    """Cut a tier in two, join two neighbours, or deal them again, by a Metropolis step.

    A tier to cut is chosen among as many as the joining back is among pairs of neighbours.

    Parameters
    ----------
    begin
        ``begin(board, room, first, last, rng)`` lists the members of tiers, and returns their
        number; what it draws must be as probable there and back.
    deal
        ``deal(board, room, n_members, which, rng)`` returns the log probability of the present
        sides, or draws the proposed ones, and how many are up.
    gain_of
        ``gain_of(board, room, position, kind, n_members)`` is what the log posterior gains.
    finish
        ``finish(board, room, position, kind, n_members, accepted)`` makes the tiers those proposed,
        or leaves them as they were.
    board, places
        The tiers with all that they are valued by, and their places.
    room
        Room to work in.
    single_bonus
        What a single tier adds to the log prior besides.
    rng
        Randomness.
    """
    n_items, n_tiers = places.shape[1] - 1, places[N_TIERS, 0]
    kind = int(3 * rng.random())
    if kind == CUT or n_tiers > 1:
        position = int((n_tiers if kind == CUT else n_tiers - 1) * rng.random())
        n_members = begin(board, room, position, position if kind == CUT else position + 1, rng)
        ratio, n_up = 0.0, 1
        for which in range(2):
            if kind == (CUT if which == PRESENT else JOIN):
                continue
            if which == PRESENT:
                for number in range(n_members):
                    slot = places[SLOT_OF, room.members[number]]
                    room.sides[PRESENT, number] = places[POSITION_OF, slot] - position
            log_chance, n_dealt = deal(board, room, n_members, which, rng)
            if which == PRESENT:
                ratio += log_chance
            else:
                ratio -= log_chance
                n_up = n_dealt
        if n_up * (n_members - n_up) > 0:
            gain = gain_of(board, room, position, kind, n_members)
            if n_members == n_items and kind != DEAL:
                gain += single_bonus if kind == JOIN else -single_bonus
            accepted = 1 if np.log(1.0 - rng.random()) < gain + ratio else 0
            finish(board, room, position, kind, n_members, accepted)


@inlined
def deal_by_odds(
    _board: _Board, room: Dealing, n_members: int, which: int, rng: np.random.Generator
) -> tuple[float, int]:
    """Send each member up or down by its own odds; return the log probability, and how many up."""
    log_chance, n_up = 0.0, 0
    for number in range(n_members):
        odds = room.odds[number]
        up = log_share(odds)
        if which == PROPOSED:
            room.sides[which, number] = 0 if np.log(1.0 - rng.random()) < up else 1
        side = room.sides[which, number]
        log_chance += up if side == 0 else up - odds
        n_up += 1 - side
    return log_chance, n_up


@inlined
def send_members(
    move_item: Callable[..., None],
    board: _Board,
    places: _Integers,
    room: Dealing,
    position: int,
    n_members: int,
    which: int,
) -> None:
    """Move the members of two neighbouring tiers to their sides."""
    for number in range(n_members):
        slot = places[ORDER, position + room.sides[which, number]]
        if places[SLOT_OF, room.members[number]] != slot:
            move_item(board, room.members[number], slot)


@inlined
def gain_by_moving(
    move_item: Callable[..., None],
    gain_of_joining: Callable[..., float],
    board: _Board,
    places: _Integers,
    room: Dealing,
    position: int,
    kind: int,
    n_members: int,
) -> float:
    """Return what is gained by a cut, a join or a deal; but for a join, the tiers are changed."""
    gain = 0.0
    if kind != CUT:
        gain += gain_of_joining(board, position)
    else:
        open_tier(places, position)
    if kind != JOIN:
        send_members(move_item, board, places, room, position, n_members, PROPOSED)
        gain -= gain_of_joining(board, position)
    return gain


@inlined
def finish_by_moving(
    move_item: Callable[..., None],
    join_tiers: Callable[..., None],
    board: _Board,
    places: _Integers,
    room: Dealing,
    position: int,
    kind: int,
    n_members: int,
    accepted: int,
) -> None:
    """Join what is to be joined, or undo what `gain_by_moving` has changed."""
    if accepted == (1 if kind == JOIN else 0):
        if kind == DEAL:
            send_members(move_item, board, places, room, position, n_members, PRESENT)
        else:
            join_tiers(board, position)


@inlined
def cut_where_best(
    move_item: Callable[..., None],
    gain_of_joining: Callable[..., float],
    board: _Board,
    places: _Integers,
    position: int | np.int64,
    ordered: _Integers,
    count: int,
    least_gain: float,
) -> float:
    """Cut a tier along an order of its members where that gains most; return what is gained."""
    lower = places[ORDER, position]
    upper = open_tier(places, position)
    best_gain, n_upper = least_gain, 0
    for number in range(count - 1):
        move_item(board, ordered[number], upper)
        gain = -gain_of_joining(board, position)
        if gain > best_gain:
            best_gain, n_upper = gain, number + 1
    for number in range(count - 2, n_upper - 1, -1):
        move_item(board, ordered[number], lower)
    close_if_empty(places, upper)
    return best_gain if n_upper > 0 else 0.0


@compiled_part
def choose(logs: _Floats, first: int, last: int, uniform: float) -> int:
    """Choose one of a range of numbers with probabilities proportional to exponentials.

    ``uniform`` is the share of all probabilities before a point in the chosen number. Logarithms of
    the range become probabilities, up to a factor.
    """
    top = logs[first]
    for number in range(first + 1, last + 1):
        top = max(top, logs[number])
    total, before, weight = 0.0, np.nan, 0.0
    for number in range(first, last + 1):
        # Places of one block are equally likely, and so are those about which nobody was asked.
        if logs[number] != before:
            before = logs[number]
            weight = np.exp(before - top)
        logs[number] = weight
        total += weight
    left = uniform * total
    # Where rounding leaves a remainder behind the last number, the last possible one stands.
    chosen = first
    for number in range(first, last + 1):
        if logs[number] > 0.0:
            chosen = number
            left -= logs[number]
        if left < 0.0:
            break
    return chosen


@compiled_part
def log_share(odds: float) -> float:
    """Log of the probability that has these log odds."""
    return float(-np.log1p(np.exp(-odds)) if odds >= -30.0 else odds)


@compiled_part
def label_last_as(tier: int, last: int, labels: _Integers) -> None:
    """Let the items of the last of some tiers without an order be those of an empty one."""
    if tier != last:
        for item in range(len(labels)):
            if labels[item] == last:
                labels[item] = tier


@compiled_part
def list_by_tier(labels: _Integers, sizes: _Floats, count: int, members: _Integers) -> _Integers:
    """List items tier by tier; return where each tier begins, and where the last one ends."""
    starts = np.zeros(count + 1, dtype=np.int64)
    for tier in range(count):
        starts[tier + 1] = starts[tier] + int(sizes[tier])
    ends = starts[:count].copy()
    for item in range(len(labels)):
        members[ends[labels[item]]] = item
        ends[labels[item]] += 1
    return starts


@compiled_part
def draw_two(starts: _Integers, apart: int, rng: np.random.Generator) -> tuple[int, int]:
    """Draw two places of a list tier by tier: of tiers so far apart, or, given 0, any two."""
    count = len(starts) - 1
    if apart == 0:
        return int(starts[count] * rng.random()), int(starts[count] * rng.random())
    one = int((count - apart) * rng.random())
    place = starts[one] + int((starts[one + 1] - starts[one]) * rng.random())
    other = one + apart
    return place, starts[other] + int((starts[other + 1] - starts[other]) * rng.random())
