"""Data augmentation: linear extensions of partial orders, redraws of completions, and chains.

Linear extensions are the complete orderings that agree with a partial order. ``relation[a, b]``
says that item a comes before item b; it is transitive and has no cycles.

An answer is completed as an ordering, ``places[row, item]``, at random, as probable as the model
makes each completion. Item by item, an item is taken out and put back anywhere between the last
item that must come before it and the first that must come after, with the probability of each place
given the order of the others. Where every place is a block of its own, as for strict tiers and for
inversions, to put an item one place further changes the distance by the pair of neighbours that it
passes, so that the weights of all places are found on the way there. There, one kernel draws
completions, tiers and theta in turn.

Theta and the completions depend on each other, so that both would walk at random by small steps. In
most iterations they are therefore overrelaxed: a new draw comes to lie on the other side of its
distribution. The uniform number by which the present value would have been drawn is found, and
one less that number taken instead; this leaves every conditional distribution as it is.

Tanner, M. A. and Wong, W. H. (1987). The calculation of posterior distributions by data
augmentation. Journal of the American Statistical Association 82, 528-540.

Neal, R. M. (1998). Suppressing random walks in Markov chain Monte Carlo using ordered
overrelaxation. In: Jordan, M. I. (ed.), Learning in Graphical Models, 205-228.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_part, inlined
from tierwise._kernels.consensus import LogWeights, TierCosts, switch_labels
from tierwise._kernels.counting import add_block_pair_counts
from tierwise._kernels.ordered_partition import choose
from tierwise._kernels.orderings import order_of, table_units
from tierwise._kernels.theta import ThetaPoints, draw_theta, reflect_theta

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Places = npt.NDArray[np.int32]
_Relation = npt.NDArray[np.bool_]

# Sums of weights up to this logarithm are numbers.
_MOST_LOG_WEIGHT = 600.0
# Share of the iterations that are overrelaxed; the others make sure that everything is reached.
_OVERRELAXED = 0.9


@compiled_part
def _count_predecessors(relation: _Relation) -> _Integers:
    """Count how many items must come before each."""
    waiting = np.zeros(relation.shape[0], dtype=np.int64)
    for item in range(relation.shape[0]):
        for other in range(relation.shape[0]):
            waiting[item] += int(relation[other, item])
    return waiting


@compiled
def list_extensions(relation: _Relation, number: int) -> npt.NDArray[np.int32]:
    """Places of all items, one row an extension; ``number`` says how many there are."""
    n_items = relation.shape[0]
    places = np.empty((number, n_items), dtype=np.int32)
    waiting = _count_predecessors(relation)
    current = np.full(n_items, -1, dtype=np.int64)
    place_of = np.full(n_items, -1, dtype=np.int32)
    found = 0
    place = 0
    while place >= 0:
        # Take back the item of this place, then try the next one that may stand there.
        item = current[place] + 1
        if current[place] >= 0:
            place_of[current[place]] = -1
            for other in range(n_items):
                waiting[other] += int(relation[current[place], other])
        while item < n_items and (place_of[item] >= 0 or waiting[item] > 0):
            item += 1
        if item == n_items:
            current[place] = -1
            place -= 1
            continue
        current[place] = item
        place_of[item] = place
        for other in range(n_items):
            waiting[other] -= int(relation[item, other])
        if place + 1 < n_items:
            place += 1
        else:
            for other in range(n_items):
                places[found, other] = place_of[other]
            found += 1
    return places


@compiled
def count_extensions(relation: _Relation) -> float:
    """Count the extensions by how many ways lead to each set of first items."""
    n_items = relation.shape[0]
    before = np.zeros(n_items, dtype=np.int64)
    for item in range(n_items):
        for other in range(n_items):
            if relation[other, item]:
                before[item] |= 1 << other
    ways = np.zeros(1 << n_items)
    ways[0] = 1.0
    for chosen in range(1 << n_items):
        if ways[chosen] == 0.0:
            continue
        for item in range(n_items):
            if not (chosen >> item) & 1 and (before[item] & ~chosen) == 0:
                ways[chosen | (1 << item)] += ways[chosen]
    return float(ways[-1])


@compiled
def draw_log_weights(relation: _Relation, draws: int, rng: np.random.Generator) -> _Floats:
    """Log weights whose exponentials average to the number of extensions.

    Each draw fills the places in turn with any item that may stand there; its weight is the product
    of the numbers of such items.
    """
    n_items = relation.shape[0]
    logs = np.zeros(draws)
    ready = np.empty(n_items, dtype=np.int64)
    start = _count_predecessors(relation)
    for draw in range(draws):
        waiting = start.copy()
        for _ in range(n_items):
            n_ready = 0
            for item in range(n_items):
                if waiting[item] == 0:
                    ready[n_ready] = item
                    n_ready += 1
            item = ready[int(rng.random() * n_ready)]
            waiting[item] = -1
            logs[draw] += np.log(n_ready)
            for other in range(n_items):
                waiting[other] -= int(relation[item, other])
    return logs


class Model(NamedTuple):
    """Tiers by label of item, blocks by place, the distance in units, and theta per unit."""

    labels: _Integers
    block_of_place: _Integers
    misplaced: int
    tied: int
    placing: _Integers
    theta: float


@compiled_part
def tabulate(places: _Places, row: int, model: Model, table: _Integers) -> None:
    """Write down the contingency table of an ordering."""
    table[:] = 0
    for item in range(model.labels.shape[0]):
        table[model.block_of_place[places[row, item]], model.labels[item]] += 1


@inlined
def _bounds(relation: npt.NDArray[np.bool_], places: _Places, item: int) -> tuple[int, int]:
    """First and last place that the partial order leaves to an item, the others keeping theirs."""
    low, high = 0, places.shape[0] - 1
    for other in range(relation.shape[0]):
        if relation[other, item]:
            low = max(low, places[other] + 1)
        elif relation[item, other]:
            high = min(high, places[other] - 1)
    return low, high


@inlined
def _starts_of_blocks(model: Model) -> _Integers:
    """First place of each block, and the number of places."""
    n_items = model.labels.shape[0]
    starts = np.full(model.placing.shape[0] + 1, n_items, dtype=np.int64)
    for place in range(n_items - 1, -1, -1):
        starts[model.block_of_place[place]] = place
    return starts


@inlined
def _units_of_crossing(
    others: _Integers, place: int, label: int, start: int, end: int, model: Model
) -> int:
    """Change in units, if an item of a label leaves the last place of a block for the next one.

    The others are in order, without the item: the one that stood behind it takes its place. The two
    blocks reach from ``start`` to before ``end``. Tied pairs cost as much as reversed ones, or else
    every block is one place, so that no tied pair is concerned.
    """
    rising = model.labels[others[place]]
    if rising == label:
        return 0
    block = model.block_of_place[place]
    change = model.placing[block + 1, label] - model.placing[block, label]
    change += model.placing[block, rising] - model.placing[block + 1, rising]
    if model.misplaced != 0:
        low, high = min(label, rising), max(label, rising)
        pairs = 1
        for position in range(start, place):
            pairs += int(low <= model.labels[others[position]] < high)
        for position in range(place + 1, end - 1):
            pairs += int(low < model.labels[others[position]] <= high)
        change += model.misplaced * (pairs if rising > label else -pairs)
    return int(change)


@compiled
def reinsert_items(
    places: _Places,
    relations: npt.NDArray[np.bool_],
    surplus: npt.NDArray[np.int32],
    penalty: float,
    which: _Integers,
    model: Model,
    rng: np.random.Generator,
) -> None:
    """Take out every item of every row once, and put it back at random; in place.

    ``relations[which[row]]`` is the partial order that a row must keep to. Answers that may be
    mistaken have ``surplus[which[row], a, b]`` instead, which says how many more of them put a
    above b than b above a, and the ``penalty`` is the log odds of a right answer against a mistaken
    one. The one that does not apply is empty. Within a block of places the distance is the same, so
    it changes only where blocks end.
    """
    n_items = model.labels.shape[0]
    starts = _starts_of_blocks(model)
    others = np.empty(n_items, dtype=np.int64)
    logs = np.empty(n_items)
    for row in range(places.shape[0]):
        current = places[row]
        for item in range(n_items):
            others[current[item]] = item
        for item in range(n_items):
            low, high = 0, n_items - 1
            if relations.shape[0] > 0:
                low, high = _bounds(relations[which[row]], current, item)
            if low == high:
                continue
            for place in range(current[item], n_items - 1):
                others[place] = others[place + 1]
            log_weight = logs[low] = 0.0
            for place in range(low, high):
                if surplus.shape[0] > 0:
                    log_weight -= penalty * surplus[which[row], item, others[place]]
                block = model.block_of_place[place]
                if place + 1 == starts[block + 1]:
                    start, end = starts[block], starts[block + 2]
                    label = model.labels[item]
                    units = _units_of_crossing(others, place, label, start, end, model)
                    log_weight -= model.theta * units
                logs[place + 1] = log_weight
            chosen = choose(logs, low, high, rng.random())
            for place in range(n_items - 1, chosen, -1):
                others[place] = others[place - 1]
            others[chosen] = item
            for place in range(min(chosen, current[item]), max(chosen, current[item]) + 1):
                current[others[place]] = place


class Completion(NamedTuple):
    """A completed answer, and what its items are put back by."""

    order: _Integers
    """The item in each place."""
    places: npt.NDArray[np.int32]
    """The place of each item."""
    relation: npt.NDArray[np.bool_]
    """Which items come before which others."""
    labels: _Integers
    """The tiers."""
    powers: _Floats
    """Weights of ``-n`` to ``n`` more reversed pairs, where there are ``n`` items."""
    weights: _Floats
    """Room for as many numbers as there are items."""


@compiled
def weights_of_reversals(energy: float, n_items: int) -> _Floats:
    """Weights of ``-n`` to ``n`` more reversed pairs, each of which costs so much energy.

    They are bounded, so that none overflows. That concerns only items in places that are less
    probable than others by as much, where no chain stays.
    """
    weights = np.empty(2 * n_items + 1)
    for more in range(-n_items, n_items + 1):
        weights[n_items + more] = np.exp(min(-energy * more, _MOST_LOG_WEIGHT))
    return weights


@inlined
def reinsert_item(
    completion: Completion,
    item: int,
    overrelaxed: bool,  # noqa: FBT001
    uniform: float,
) -> None:
    """Move an item to any place that its answer allows.

    ``uniform`` is the share of all weights before a point in the new place. Overrelaxed, it is that
    of the weight of the present place before a point, the mirror image of which is in the new one.
    """
    order, places, weights = completion.order, completion.places, completion.weights
    place, label = np.int64(places[item]), completion.labels[item]
    n_items = order.shape[0]
    total = weights[place] = 1.0
    # Adding up comparisons needs no branches, which could not be foreseen.
    low, more = place, n_items
    while low > 0 and not completion.relation[order[low - 1], item]:
        low -= 1
        other = completion.labels[order[low]]
        more += int(other < label) - int(other > label)
        weights[low] = completion.powers[more]
        total += weights[low]
    high, more = place, n_items
    while high < n_items - 1 and not completion.relation[item, order[high + 1]]:
        high += 1
        other = completion.labels[order[high]]
        more += int(other > label) - int(other < label)
        weights[high] = completion.powers[more]
        total += weights[high]
    remainder = uniform * total
    if overrelaxed:
        remainder = total - uniform * weights[place]
        for before in range(low, place):
            remainder -= weights[before]
    chosen = low
    while chosen < high and remainder >= weights[chosen]:
        remainder -= weights[chosen]
        chosen += 1
    for between in range(place, chosen):
        order[between] = order[between + 1]
        places[order[between]] = between
    for between in range(place, chosen, -1):
        order[between] = order[between - 1]
        places[order[between]] = between
    order[chosen] = item
    places[item] = chosen


@compiled
def reinsert_where_places_are_blocks(
    places: _Places,
    relations: npt.NDArray[np.bool_],
    which: _Integers,
    labels: _Integers,
    energy: float,
    overrelaxed: bool,  # noqa: FBT001
    rng: np.random.Generator,
) -> None:
    """Take out every item of every row once, and put it back, at random or overrelaxed; in place.

    As `reinsert_items` where every place is a block of its own and nothing but reversed pairs
    costs anything: each costs so much energy.
    """
    n_items = places.shape[1]
    order, weights = np.empty(n_items, dtype=np.int64), np.empty(n_items)
    powers = weights_of_reversals(energy, n_items)
    for row in range(places.shape[0]):
        relation = relations[which[row]]
        completion = Completion(order, places[row], relation, labels, powers, weights)
        for item in range(n_items):
            order[places[row, item]] = item
        for item in range(n_items):
            reinsert_item(completion, item, overrelaxed, rng.random())


@compiled
def refill_places(
    places: _Places,
    first: npt.NDArray[np.int32],
    which: _Integers,
    model: Model,
    rng: np.random.Generator,
) -> None:
    """Propose for every row any of its completions, all being equally likely; in place.

    ``first[which[row]]`` is the first place of each item's tied group among the listed items, or -1
    for items that may be anywhere. The paper's proposal.
    """
    n_items = model.labels.shape[0]
    table = np.empty(model.placing.shape, dtype=np.int64)
    proposal = np.empty((1, n_items), dtype=np.int32)
    keys = np.empty(n_items)
    for row in range(places.shape[0]):
        answer = first[which[row]]
        n_free = 0
        for item in range(n_items):
            # Listed items by their group, in random order within; free ones before all of them.
            keys[item] = answer[item] + rng.random()
            n_free += int(answer[item] < 0)
        sequence = order_of(keys)
        free, listed = 0, n_free
        for place in range(n_items):
            if rng.random() * (n_items - place) < n_free - free:
                proposal[0, sequence[free]] = place
                free += 1
            else:
                proposal[0, sequence[listed]] = place
                listed += 1
        tabulate(places, row, model, table)
        units = table_units(table, model.misplaced, model.tied, model.placing)
        tabulate(proposal, 0, model, table)
        change = table_units(table, model.misplaced, model.tied, model.placing) - units
        if change <= 0 or rng.random() < np.exp(-model.theta * change):
            for item in range(n_items):
                places[row, item] = proposal[0, item]


class OpenAnswers(NamedTuple):
    """Answers that leave orders open, and what tiers of given sizes make of them."""

    relations: npt.NDArray[np.bool_]
    """``[answer, a, b]``: whether an answer puts item a before b, directly or not."""
    which: _Integers
    """The answer that each completion is of."""
    sizes: _Integers
    """Sizes of the tiers."""
    misplaced: float
    """What a reversed pair costs."""
    linear: _Floats
    """What items cost in tiers, in all completions together, whatever these are."""


class Visited(NamedTuple):
    """Where a chain was after each iteration."""

    labels: _Integers
    totals: _Floats
    thetas: _Floats
    accepted: _Integers


@compiled
def iterate(
    places: _Places,
    labels: _Integers,
    theta: float,
    answers: OpenAnswers,
    points: ThetaPoints,
    n_switches: int,
    visited: Visited,
    rng: np.random.Generator,
) -> int:
    """Redraw completions, tiers by Metropolis switches, and theta, as often as there is room.

    Places and labels change in place. Returns how many iterations were made: it ends where theta
    cannot be drawn from the points, which is then not a number.
    """
    n_items = labels.shape[0]
    nothing, slope = np.zeros(1), np.empty(1)
    pairs, pairs_transposed = np.empty((n_items, n_items)), np.empty((n_items, n_items))
    misplaced = np.full(places.shape[0], answers.misplaced)
    for iteration in range(len(visited.totals)):
        energy, overrelaxed = theta * answers.misplaced, rng.random() < _OVERRELAXED
        reinsert_where_places_are_blocks(
            places, answers.relations, answers.which, labels, energy, overrelaxed, rng
        )
        # What it costs, in all completions, that an item is not in a worse tier than another.
        pairs[:] = 0.0
        add_block_pair_counts(places, misplaced, pairs)
        for item in range(n_items):
            for other in range(n_items):
                pairs_transposed[other, item] = pairs[item, other]
        slope[0] = -theta
        costs = TierCosts(answers.linear, pairs, pairs_transposed)
        weights = LogWeights(nothing, nothing, slope)
        total, n_accepted = switch_labels(labels, answers.sizes, costs, weights, n_switches, rng)
        n_rankings, uniform = float(places.shape[0]), rng.random()
        if overrelaxed:
            theta = reflect_theta(points, n_rankings, total, theta, uniform)
        else:
            theta = draw_theta(points, n_rankings, total, theta, uniform)
        for item in range(n_items):
            visited.labels[iteration, item] = labels[item]
        visited.totals[iteration] = total
        visited.thetas[iteration] = theta
        visited.accepted[iteration] = n_accepted
        if np.isnan(theta):
            return iteration + 1
    return len(visited.totals)
