"""Dynamic programming over subsets of items: the best tiers of given sizes, sums over all, draws.

A layer is all sets of one size. A set's place in it is its rank in the combinatorial number system,
``sum_i C(u_i, i + 1)`` over its items ``u_0 < u_1 < ...``: a layer is exactly as long as it has
sets, and stepping through it visits the sets in order.

The last tier ``T`` of a set ``U`` costs the sum over ``a`` in ``T`` of a weight that depends on
``U`` only. The rank of what remains, ``U`` without ``T``, is likewise a sum over the items of ``T``
(or over the items that remain, where these are fewer) of a key that depends on the item's position
in ``U`` and on how many of the chosen items lie below it. So each way to choose ``T`` costs one
addition and one look-up. `fold_choices` is the loop over them; what is made of each of them, a
minimum, a number, a sum or a draw, is a function that it takes.

For the best tiers, layer ``l`` holds, for every set of ``n_1 + ... + n_l`` items, the least cost of
making it the first ``l`` tiers. The diagonal of ``pairs_transposed`` must be zero throughout.

The recursion for sums over all tiers has sums instead of minima. Everything is relative to the
least cost, so that nothing overflows and nothing that matters vanishes: the weight of a set is the
sum of ``exp(-theta e)`` over all ways to make it the first tiers, ``e`` being what a way costs
above the least cost of the set. Draws are made by forward filtering and backward sampling: from the
set of all items, a last tier is drawn and taken away until nothing remains.
"""

from collections.abc import Callable
from math import comb
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_if_many, compiled_part, inlined

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]
_Value = TypeVar("_Value")
_Context = TypeVar("_Context")


class _Sets(NamedTuple):
    """What tiers cost, and where each set of items is found."""

    linear: _Floats
    pairs_transposed: _Floats
    sizes: _Integers
    binomials: _Integers
    """Pascal's triangle: entry ``[a, b]`` is ``a`` choose ``b``."""
    starts: _Integers
    """Where each layer begins when all are laid end to end, and where the last one ends."""


def n_choices(sizes: _Integers) -> float:
    """Return how many sets can be the first tiers, with all choices of the last of these tiers."""
    n_items, number, first = int(sizes.sum()), 0.0, 0
    for size in sizes.tolist():
        first += size
        number += comb(n_items, first) * (n_items + comb(first, size))
    return number


class Layer(NamedTuple):
    """Everything that is held while the sets of one layer are visited."""

    tier: int
    size: int
    """Number of items in each set."""
    n_remaining: int
    """Number of items that remain when the last tier is taken away."""
    n_chosen: int
    """Number of items that are chosen: those of the last tier or, if fewer, those that remain."""
    linear: _Floats
    pairs_transposed: _Floats
    binomials: _Integers
    members: _Integers
    """The items of the set, ascending, and the number of all items as a sentinel."""
    row_sums: _Floats
    """``[p, a]``: what ``a`` pays for the members from position ``p`` upward."""
    suffixes: _Integers
    """``[c, p]``: rank of the members from position ``p`` upward when ``c`` lower ones are gone."""
    keys: _Integers
    """``[c, p]``: what the ``c``-th chosen item adds to the rank of the remaining set."""
    weights: _Floats
    """``[p]``: what choosing position ``p`` adds to the cost."""
    chosen: _Integers
    """The chosen positions, ascending, and the number of positions as a sentinel."""
    ranks: _Integers
    """``[c]``: rank so far, of the chosen positions from the ``c``-th upward."""
    costs: _Floats
    """``[c]``: cost so far, of the chosen positions from the ``c``-th upward."""


@compiled_part
def _lay_out(linear: _Floats, pairs_transposed: _Floats, sizes: _Integers) -> _Sets:
    """Lay all layers end to end."""
    n_items = 0
    for size in sizes:
        n_items += size
    binomials = np.zeros((n_items + 1, n_items + 1), np.int64)
    for row in range(n_items + 1):
        binomials[row, 0] = 1
        for column in range(1, row + 1):
            binomials[row, column] = binomials[row - 1, column - 1] + binomials[row - 1, column]
    starts = np.zeros(sizes.shape[0] + 2, np.int64)
    n_members = 0
    for layer in range(sizes.shape[0] + 1):
        starts[layer + 1] = starts[layer] + binomials[n_items, n_members]
        if layer < sizes.shape[0]:
            n_members += sizes[layer]
    return _Sets(linear, pairs_transposed, sizes, binomials, starts)


@compiled_part
def start_layer(sets: _Sets, tier: int) -> Layer:
    """Room for visiting the sets made of tiers 0 to ``tier``; the first of them is current."""
    n_items = sets.binomials.shape[0] - 1
    n_remaining = 0
    for better in range(tier):
        n_remaining += sets.sizes[better]
    size = n_remaining + sets.sizes[tier]
    n_chosen = min(n_remaining, sets.sizes[tier])
    members = np.zeros(size + 1, np.int64)
    members[size] = n_items
    layer = Layer(
        tier,
        size,
        n_remaining,
        n_chosen,
        sets.linear,
        sets.pairs_transposed,
        sets.binomials,
        members,
        np.zeros((size + 1, n_items)),
        np.zeros((n_chosen + 1, size + 1), np.int64),
        np.zeros((n_chosen + 1, size), np.int64),
        np.zeros(size),
        np.zeros(n_chosen + 2, np.int64),
        np.zeros(n_chosen + 2, np.int64),
        np.zeros(n_chosen + 2),
    )
    go_to_set(layer, np.int64(0))
    return layer


@compiled_part
def next_set(members: _Integers) -> int:
    """Step to the set that is next by rank and return the highest position that changed."""
    position = 0
    while members[position] + 1 == members[position + 1]:
        members[position] = position
        position += 1
    members[position] += 1
    return position


@compiled_part
def go_to_set(layer: Layer, rank: int | np.int64) -> None:
    """Make the set of this rank the current one."""
    item = layer.binomials.shape[0] - 2
    for position in range(layer.size - 1, -1, -1):
        while layer.binomials[item, position + 1] > rank:
            item -= 1
        layer.members[position] = item
        rank -= layer.binomials[item, position + 1]
    enter_set(layer, layer.size - 1)


@compiled_part
def enter_set(layer: Layer, highest: int) -> None:
    """Bring weights and keys up to date after members up to position ``highest`` changed."""
    tier_is_chosen = layer.n_chosen < layer.n_remaining
    for position in range(highest, -1, -1):
        member = layer.members[position]
        if layer.pairs_transposed.shape[0] > 0:
            for item in range(layer.row_sums.shape[1]):
                layer.row_sums[position, item] = (
                    layer.row_sums[position + 1, item] + layer.pairs_transposed[member, item]
                )
        if tier_is_chosen:
            for below in range(min(position, layer.n_chosen) + 1):
                layer.suffixes[below, position] = (
                    layer.suffixes[below, position + 1]
                    + layer.binomials[member, position + 1 - below]
                )
            for below in range(min(position + 1, layer.n_chosen)):
                layer.keys[below, position] = (
                    layer.suffixes[below + 1, position + 1] - layer.suffixes[below, position]
                )
        else:
            for below in range(min(position + 1, layer.n_chosen)):
                layer.keys[below, position] = layer.binomials[member, below + 1]
    sign = 1.0 if tier_is_chosen else -1.0
    sum_of_weights = 0.0
    for position in range(layer.size):
        member = layer.members[position]
        weight = layer.row_sums[0, member]
        if layer.linear.shape[0] > 0:
            weight += layer.linear[member, layer.tier]
        sum_of_weights += weight
        layer.weights[position] = sign * weight
    _first_choice(layer, 0.0 if tier_is_chosen else sum_of_weights)


@compiled_part
def _first_choice(layer: Layer, cost_of_none: float) -> None:
    """Choose the lowest positions; the lowest chosen one is left to the caller's loop."""
    top = max(layer.n_chosen, 1)
    layer.chosen[top] = layer.size
    # The rank of the whole set if items are taken from it; 0 if the remaining ones are collected.
    layer.ranks[top] = layer.suffixes[0, 0]
    layer.costs[top] = cost_of_none
    if layer.n_chosen == 0:
        # Nothing remains: there is one way only, which the caller's loop takes as position 0.
        layer.chosen[top] = 1
        layer.weights[0] = 0.0
    for level in range(layer.n_chosen - 1, 0, -1):
        _choose(layer, level, level)


@compiled_part
def _choose(layer: Layer, level: int, position: int) -> None:
    """Let the chosen item number ``level`` be the one at a position."""
    layer.chosen[level] = position
    layer.ranks[level] = layer.ranks[level + 1] + layer.keys[level, position]
    layer.costs[level] = layer.costs[level + 1] + layer.weights[position]


@compiled_part
def next_choice(layer: Layer) -> bool:
    """Step all chosen positions but the lowest; False when there are no more."""
    level = 1
    while level < layer.n_chosen and layer.chosen[level] + 1 == layer.chosen[level + 1]:
        level += 1
    if level >= layer.n_chosen:
        return False
    _choose(layer, level, layer.chosen[level] + 1)
    for lower in range(level - 1, 0, -1):
        _choose(layer, lower, lower)
    return True


@inlined
def fold_choices(
    layer: Layer, value: _Value, step: Callable[..., _Value], context: _Context
) -> _Value:
    """Go through all choices of a last tier of the current set; return the last value.

    ``step(context, value, before, cost)`` returns the next value. ``before`` is the rank of what
    remains, ``cost`` that of the tier. Both functions are copied into the kernel that calls this.
    """
    keys, weights = layer.keys[0], layer.weights
    going = True
    while going:
        rank, cost = layer.ranks[1], layer.costs[1]
        for position in range(layer.chosen[1]):
            value = step(context, value, rank + keys[position], cost + weights[position])
        going = next_choice(layer)
    return value


@inlined
def _cheaper(values: _Floats, least: float, before: int | np.int64, cost: float) -> float:
    """Step of the least cost."""
    cheapest: float = min(least, values[before] + cost)
    return cheapest


@compiled_if_many(lambda linear, pairs, sizes: n_choices(sizes))
def least_costs(linear: _Floats, pairs_transposed: _Floats, sizes: _Integers) -> _Floats:
    """Least cost of every set that can be the first tiers, all layers laid end to end.

    The last entry is the cost of the best tiers.
    """
    sets = _lay_out(linear, pairs_transposed, sizes)
    starts = sets.starts
    values = np.zeros(starts[-1])
    for tier in range(sizes.shape[0]):
        previous = values[starts[tier] : starts[tier + 1]]
        current = values[starts[tier + 1] : starts[tier + 2]]
        layer = start_layer(sets, tier)
        for rank in range(current.shape[0]):
            if rank > 0:
                enter_set(layer, next_set(layer.members))
            current[rank] = fold_choices(layer, np.inf, _cheaper, previous)
    return values


class _Optima(NamedTuple):
    """The best tiers that are listed, from the last tier to one of them."""

    labels: _Integers
    ranks: _Integers
    """Of what remains when the tiers that have their labels are taken away."""


class _OptimaOfSet(NamedTuple):
    """What is known of a set that the best tiers make, and of the sets that remain."""

    rank: int
    ways: float
    most: float
    """What the best tiers of the set cost, with a tolerance."""
    values: _Floats
    ways_before: _Floats
    found: _Optima
    found_before: _Optima


@inlined
def _follow_optima(
    here: _OptimaOfSet,
    n_found: int | np.int64,
    before: int | np.int64,
    cost: float,
) -> int | np.int64:
    """Step that counts the ways to the best tiers, and lists some."""
    if here.values[before] + cost <= here.most:
        here.ways_before[before] += here.ways
        # Every set on the way has a best choice, so the limit leaves no loose ends.
        for row in range(here.found.ranks.shape[0]):
            if here.found.ranks[row] == here.rank and n_found < here.found_before.ranks.shape[0]:
                for item in range(here.found.labels.shape[1]):
                    here.found_before.labels[n_found, item] = here.found.labels[row, item]
                here.found_before.ranks[n_found] = before
                n_found += 1
    return n_found


@compiled_part
def _label_members(layer: Layer, labels: _Integers, row: int) -> None:
    """Let all items of the current set be in the last tier: those that remain get others later."""
    for position in range(layer.size):
        labels[row, layer.members[position]] = layer.tier


@compiled_if_many(lambda linear, pairs, sizes, *_: n_choices(sizes))
def find_optima(
    linear: _Floats,
    pairs_transposed: _Floats,
    sizes: _Integers,
    values: _Floats,
    tolerance: float,
    limit: int,
) -> tuple[float, _Integers]:
    """Count the tiers whose cost is the least, and list the labels of up to ``limit``, one a row.

    The number is exact up to ``2 ** 53``.
    """
    sets = _lay_out(linear, pairs_transposed, sizes)
    starts, n_items = sets.starts, sets.binomials.shape[0] - 1
    ways = np.ones(1)
    found = _Optima(np.zeros((1, n_items), np.int64), np.zeros(1, np.int64))
    for tier in range(sizes.shape[0] - 1, -1, -1):
        layer = start_layer(sets, tier)
        least_before = values[starts[tier] : starts[tier + 1]]
        ways_before = np.zeros(least_before.shape[0])
        before = _Optima(np.zeros((limit, n_items), np.int64), np.zeros(limit, np.int64))
        # A Python int would trigger a second specialisation.
        n_found: int | np.int64 = np.int64(0)
        for rank in range(ways.shape[0]):
            if ways[rank] == 0.0:
                continue
            go_to_set(layer, rank)
            for row in range(found.ranks.shape[0]):
                if found.ranks[row] == rank:
                    _label_members(layer, found.labels, row)
            most = values[starts[tier + 1] + rank] + tolerance
            here = _OptimaOfSet(rank, ways[rank], most, least_before, ways_before, found, before)
            n_found = fold_choices(layer, n_found, _follow_optima, here)
        ways = ways_before
        found = _Optima(before.labels[:n_found], before.ranks[:n_found])
    return float(ways[0]), found.labels


# What weighs less than the best by this logarithm is lost in rounding.
_NEGLIGIBLE = 100.0


class _Sum(NamedTuple):
    """The sums over all ways to make a set the first tiers, one for each theta, as they grow."""

    thetas: _Floats
    weights: _Floats
    least: float
    """Least cost of the set."""
    before: _Floats
    """``[set, theta]``: the sums of the sets that remain, and their least costs."""
    least_before: _Floats
    largest_excess: float


@inlined
def _add_weights(here: _Sum, n_added: int, before: int | np.int64, cost: float) -> int:
    """Step of sums, which counts what is not left out."""
    excess = here.least_before[before] + cost - here.least
    if excess > here.largest_excess:
        return n_added
    for node in range(here.thetas.shape[0]):
        weight = np.exp(-here.thetas[node] * excess)
        here.weights[node] += here.before[before, node] * weight
    return n_added + 1


@compiled_part
def _weigh_layer(
    layer: Layer,
    least: tuple[_Floats, _Floats],
    before: _Floats,
    weights: _Floats,
    thetas: _Floats,
    largest_excess: float,
) -> None:
    """Sum over all ways to make each set of a layer the first tiers: ``weights[set, theta]``.

    ``before`` has the same for the sets that remain when the last tier is taken away, and ``least``
    has the least costs of these, and of the sets of the layer.
    """
    least_before, least_here = least
    for rank in range(least_here.shape[0]):
        if rank > 0:
            enter_set(layer, next_set(layer.members))
        here = _Sum(thetas, weights[rank], least_here[rank], before, least_before, largest_excess)
        fold_choices(layer, 0, _add_weights, here)


@compiled
def weigh_tiers(
    linear: _Floats,
    pairs_transposed: _Floats,
    sizes: _Integers,
    least: _Floats,
    thetas: _Floats,
    largest_excess: float,
) -> _Floats:
    """Sum over all tiers of ``exp(-theta e)``, at each theta.

    ``least`` is what `least_costs` gave for the same costs and sizes. Steps that cost more than
    ``largest_excess`` above the least are left out: they must be known not to matter.
    """
    sets = _lay_out(linear, pairs_transposed, sizes)
    starts = sets.starts
    before = np.ones((1, thetas.shape[0]))
    for tier in range(sizes.shape[0]):
        here = least[starts[tier + 1] : starts[tier + 2]]
        layer = start_layer(sets, tier)
        weights = np.zeros((here.shape[0], thetas.shape[0]))
        costs = least[starts[tier] : starts[tier + 1]], here
        _weigh_layer(layer, costs, before, weights, thetas, largest_excess)
        before = weights
    everything: _Floats = before[0]
    return everything


# Tiers that are proposed from the sums at a nearby theta before the sums are made again: a proposal
# takes a small part of the time that the sums take.
_MOST_PROPOSALS = 4


class _Drawing(NamedTuple):
    """What a last tier is drawn by."""

    threshold: float
    """Share of all choices before a point in the drawn one, as a sum of weights."""
    theta: float
    least: float
    """Least cost of the set."""
    before: _Floats
    """The sums of the sets that remain, and their least costs."""
    least_before: _Floats


class _Drawn(NamedTuple):
    """The choice that is drawn once the sum of weights reaches the threshold."""

    reached: float
    before: int | np.int64
    excess: float


@inlined
def _draw_choice(here: _Drawing, drawn: _Drawn, before: int | np.int64, cost: float) -> _Drawn:
    """Step of draws. Should rounding keep the sum below the threshold, the last choice stands."""
    if drawn.reached > here.threshold:
        return drawn
    excess = here.least_before[before] + cost - here.least
    if here.theta * excess > _NEGLIGIBLE:
        return drawn
    weight = here.before[before] * np.exp(-here.theta * excess)
    return _Drawn(drawn.reached + weight, before, excess)


@compiled_part
def _take_tiers_away(
    sets: _Sets,
    layers: list[Layer],
    least: _Floats,
    weights: _Floats,
    theta: float,
    labels: _Integers,
    row: int,
    rng: np.random.Generator,
) -> float:
    """Draw a row of labels by the weights of all sets; return its cost above the least."""
    rank: int | np.int64 = np.int64(0)
    excess_of_all = 0.0
    for tier in range(len(layers) - 1, -1, -1):
        layer = layers[tier]
        go_to_set(layer, rank)
        _label_members(layer, labels, row)
        start, end, here = sets.starts[tier], sets.starts[tier + 1], sets.starts[tier + 1] + rank
        threshold = rng.random() * weights[here, 0]
        drawing = _Drawing(threshold, theta, least[here], weights[start:end, 0], least[start:end])
        drawn = fold_choices(layer, _Drawn(0.0, rank, 0.0), _draw_choice, drawing)
        rank = drawn.before
        excess_of_all += drawn.excess
    return excess_of_all


@compiled
def draw_tiers(
    linear: _Floats,
    pairs_transposed: _Floats,
    sizes: _Integers,
    least: _Floats,
    thetas: _Floats,
    rng: np.random.Generator,
) -> _Integers:
    """Draw labels by the recursion over sets, one row for each of some ascending thetas.

    Their probabilities fall by ``exp(-theta)`` with every unit of distance.

    The sums over tiers at one theta serve the following ones by rejection: tiers that they propose
    are accepted with what the larger theta makes of them, relative to the best. Where all of a few
    proposals are rejected the sums are made again, and what is drawn from them needs no rejection:
    so all draws are exact and independent.

    ``least`` is what ``least_costs`` gave for the same costs and sizes.
    """
    sets = _lay_out(linear, pairs_transposed, sizes)
    starts = sets.starts
    labels = np.zeros((thetas.shape[0], sets.binomials.shape[0] - 1), np.int64)
    layers = [start_layer(sets, tier) for tier in range(sizes.shape[0])]
    theta_of_sums = -np.inf
    weights = np.zeros((starts[-1], 1))
    for row in range(thetas.shape[0]):
        theta = thetas[row]
        accepted = False
        for _ in range(_MOST_PROPOSALS if theta_of_sums >= 0.0 else 0):
            excess = _take_tiers_away(sets, layers, least, weights, theta_of_sums, labels, row, rng)
            if theta == theta_of_sums or rng.random() < np.exp((theta_of_sums - theta) * excess):
                accepted = True
                break
        if not accepted:
            theta_of_sums = theta
            weights[:] = 0.0
            weights[0] = 1.0
            for tier in range(sizes.shape[0]):
                before, here, end = starts[tier], starts[tier + 1], starts[tier + 2]
                costs = least[before:here], least[here:end]
                sums = weights[before:here], weights[here:end]
                excess = _NEGLIGIBLE / theta if theta > 0.0 else np.inf
                go_to_set(layers[tier], np.int64(0))
                _weigh_layer(layers[tier], costs, sums[0], sums[1], np.full(1, theta), excess)
            _take_tiers_away(sets, layers, least, weights, theta, labels, row, rng)
    return labels
