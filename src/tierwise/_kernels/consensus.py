"""Tiers of given sizes: total distance, descent by trades, simulated annealing, Metropolis chains.

The target of a Metropolis chain is a function of the total distance only, given by its logarithm: a
cubic between knots, and a straight line beyond them. With a single knot it is the straight line of
a given theta.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_if_many, compiled_part, inlined
from tierwise._kernels.counting import count_up_to
from tierwise._kernels.orderings import order_of

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


class TierCosts(NamedTuple):
    """What items cost in tiers, and pairs of items; either may be empty, of shape (0, 0)."""

    linear: _Floats
    """``[item, tier]``"""
    pairs: _Floats
    """``[a, b]``: what it costs that b is not in a worse tier than a."""
    pairs_transposed: _Floats
    """The same, laid out so that both directions of a comparison are read along a row."""


class LogWeights(NamedTuple):
    """Log weight of a total distance: a cubic between knots, a straight line beyond them."""

    knots: _Floats
    values: _Floats
    slopes: _Floats

    @classmethod
    def at(cls, theta: float) -> "LogWeights":
        """Return the straight line of a given theta."""
        return cls(np.zeros(1), np.zeros(1), np.array([-theta]))


@compiled_if_many(lambda labels, *_: 0.3 * len(labels) ** 2)
def total_cost(labels: _Integers, linear: _Floats, pairs: _Floats) -> float:
    """Sum ``linear[a, z_a]`` over items and ``pairs[a, b] * [z_b <= z_a]`` over ordered pairs."""
    total = 0.0
    if linear.shape[0] > 0:
        for item in range(labels.shape[0]):
            total += linear[item, labels[item]]
    if pairs.shape[0] > 0:
        for item in range(labels.shape[0]):
            for other in range(labels.shape[0]):
                if other != item and labels[other] <= labels[item]:
                    total += pairs[item, other]
    return total


@compiled
def swap_change(labels: _Integers, costs: TierCosts, first: int, second: int) -> float:
    """Change of the total distance when two items trade their labels, in O(items)."""
    linear, pairs, pairs_transposed = costs
    if labels[first] == labels[second]:
        return 0.0
    if labels[first] < labels[second]:
        falling, rising = first, second
    else:
        falling, rising = second, first
    upper, lower = labels[falling], labels[rising]
    change = 0.0
    if linear.shape[0] > 0:
        change += linear[falling, lower] - linear[falling, upper]
        change += linear[rising, upper] - linear[rising, lower]
    if pairs.shape[0] > 0:
        for other in range(labels.shape[0]):
            label = labels[other]
            if other in (falling, rising) or label < upper or label > lower:
                continue
            if label > upper:
                change += pairs[falling, other] - pairs[rising, other]
            if label < lower:
                change += pairs_transposed[rising, other] - pairs_transposed[falling, other]
        change += pairs[falling, rising] - pairs[rising, falling]
    return change


@compiled_part
def _costs_of_items(labels: _Integers, of_tiers: TierCosts, n_tiers: int) -> _Floats:
    """Entry ``[a, l]``: all costs that involve ``a``, were it in tier ``l`` and no other moved."""
    linear, pairs, pairs_transposed = of_tiers
    n_items = labels.shape[0]
    costs = np.zeros((n_items, n_tiers))
    for item in range(n_items):
        if pairs.shape[0] > 0:
            # First by the tier of the other item, then summed over better and over worse tiers.
            from_worse = np.zeros(n_tiers)
            for other in range(n_items):
                costs[item, labels[other]] += pairs[item, other]
                from_worse[labels[other]] += pairs_transposed[item, other]
            for tier in range(1, n_tiers):
                costs[item, tier] += costs[item, tier - 1]
            running = 0.0
            for tier in range(n_tiers - 1, -1, -1):
                running += from_worse[tier]
                costs[item, tier] += running
        if linear.shape[0] > 0:
            for tier in range(n_tiers):
                costs[item, tier] += linear[item, tier]
    return costs


@compiled_part
def _move(costs: _Floats, of_tiers: TierCosts, labels: _Integers, item: int, target: int) -> None:
    """Put an item in another tier and bring the costs of all others up to date."""
    pairs, pairs_transposed = of_tiers.pairs, of_tiers.pairs_transposed
    source = labels[item]
    labels[item] = target
    upper, lower = min(source, target), max(source, target)
    sign = 1.0 if source < target else -1.0
    for other in range(pairs.shape[0]):
        for tier in range(upper, lower):
            costs[other, tier] -= sign * pairs_transposed[item, other]
            costs[other, tier + 1] += sign * pairs[item, other]


@compiled
def descend(labels: _Integers, of_tiers: TierCosts, n_tiers: int, tolerance: float) -> None:
    """Swap labels, in place, as long as a swap of two improves the total by over a tolerance."""
    n_items, pairs = labels.shape[0], of_tiers.pairs
    costs = _costs_of_items(labels, of_tiers, n_tiers)
    improved = True
    while improved:
        improved = False
        for first in range(n_items):
            for second in range(first):
                one, other = labels[first], labels[second]
                if one == other:
                    continue
                change = costs[first, other] - costs[first, one]
                change += costs[second, one] - costs[second, other]
                if pairs.shape[0] > 0:
                    # Each of the two was priced as if the other stayed where it is.
                    change -= pairs[first, second] + pairs[second, first]
                if change < -tolerance:
                    _move(costs, of_tiers, labels, first, other)
                    _move(costs, of_tiers, labels, second, one)
                    improved = True


@compiled
def best_runs(values: _Floats) -> _Integers:
    """Cut an order into runs of the greatest value in all; the number of the run at each place.

    ``values[first, end]`` is that of a run from a place to before another, minus infinity if there
    may be no such run. Of equally good cuts those are taken whose first runs are longest.
    """
    n_places = values.shape[0] - 1
    best = np.full(n_places + 1, -np.inf)
    ends = np.zeros(n_places + 1, np.int64)
    best[n_places] = 0.0
    for first in range(n_places - 1, -1, -1):
        for end in range(n_places, first, -1):
            value = values[first, end] + best[end]
            if value > best[first]:
                best[first], ends[first] = value, end
    runs = np.zeros(n_places, np.int64)
    first, run = 0, 0
    while first < n_places:
        for place in range(first, ends[first]):
            runs[place] = run
        first = ends[first]
        run += 1
    return runs


@compiled_if_many(lambda labels, *_: 3.0 * len(labels) ** 2)
def insert_items(
    labels: _Integers, pairs: _Floats, pairs_transposed: _Floats, tolerance: float
) -> None:
    """Take out items of strict tiers and put them where they cost least, as long as that helps.

    Labels change in place. All places of an item are compared in O(items), as in BioConsert
    (Cohen-Boulakia, Denise and Hamel, Using medians to generate consensus rankings for biological
    data, SSDBM 2011).
    """
    n_items = labels.shape[0]
    order = order_of(labels)
    improved = True
    while improved:
        improved = False
        for item in range(n_items):
            place = labels[item]
            best_place, least = place, -tolerance
            change = 0.0
            for other_place in range(place - 1, -1, -1):
                other = order[other_place]
                change += pairs_transposed[item, other] - pairs[item, other]
                if change < least:
                    best_place, least = other_place, change
            change = 0.0
            for other_place in range(place + 1, n_items):
                other = order[other_place]
                change += pairs[item, other] - pairs_transposed[item, other]
                if change < least:
                    best_place, least = other_place, change
            if best_place == place:
                continue
            improved = True
            step = 1 if best_place > place else -1
            for passed in range(place, best_place, step):
                order[passed] = order[passed + step]
                labels[order[passed]] = passed
            order[best_place] = item
            labels[item] = best_place


@inlined
def _switch(labels: _Integers, costs: TierCosts, switched: _Integers, number: int) -> float:
    """Pass labels round among so many items, by swaps, and return the change of the total."""
    change = 0.0
    for step in range(number - 1):
        first, second = switched[step], switched[step + 1]
        change += swap_change(labels, costs, first, second)
        labels[first], labels[second] = labels[second], labels[first]
    return change


@inlined
def _switch_back(labels: _Integers, switched: _Integers, number: int) -> None:
    """Undo what `_switch` did."""
    for step in range(number - 1, 0, -1):
        first, second = switched[step], switched[step - 1]
        labels[first], labels[second] = labels[second], labels[first]


@compiled
def anneal(
    labels: _Integers,
    costs: TierCosts,
    inverse_temperatures: _Floats,
    n_switched: int,
    rng: np.random.Generator,
) -> float:
    """One Metropolis step per inverse temperature, on labels in place.

    Each step proposes to pass the labels of ``n_switched`` different items round among them.
    Returns the mean absolute change proposed, over the proposals that would change the total.
    """
    n_items = labels.shape[0]
    order = np.arange(n_items)
    sum_of_changes, n_changes = 0.0, 0
    for inverse_temperature in inverse_temperatures:
        for position in range(n_switched):
            drawn = position + int(rng.random() * (n_items - position))
            order[position], order[drawn] = order[drawn], order[position]
        change = _switch(labels, costs, order, n_switched)
        if change != 0.0:
            sum_of_changes += abs(change)
            n_changes += 1
        if change > 0.0 and rng.random() >= np.exp(-inverse_temperature * change):
            _switch_back(labels, order, n_switched)
    return sum_of_changes / max(n_changes, 1)


# Shares of the proposals: neighbouring tiers trade an item, or three items pass their labels round.
# The others let any two items trade labels.
_LOCAL = 0.5
_ROUND = 0.1


@compiled
def log_weight(total: float, weights: LogWeights) -> float:
    """Log of the target at a total distance."""
    knots, values, slopes = weights
    last = knots.shape[0] - 1
    if total <= knots[0]:
        value: float = values[0] + slopes[0] * (total - knots[0])
    elif total >= knots[last]:
        value = values[last] + slopes[last] * (total - knots[last])
    else:
        right = count_up_to(knots, total)
        left = right - 1
        width = knots[right] - knots[left]
        part = (total - knots[left]) / width
        rest = 1.0 - part
        value = rest * rest * ((1.0 + 2.0 * part) * values[left] + part * width * slopes[left])
        value += part * part * ((1.0 + 2.0 * rest) * values[right] - rest * width * slopes[right])
    return value


@inlined
def _choose_places(ends: _Integers, chosen: _Integers, rng: np.random.Generator) -> int:
    """Choose places of a listing tier by tier whose items are to pass their labels round.

    ``ends`` says where each tier ends in the listing, after a 0.
    """
    n_tiers = ends.shape[0] - 1
    n_items = ends[n_tiers]
    kind = rng.random()
    if kind < _LOCAL:
        upper = int(rng.random() * (n_tiers - 1))
        for position in range(2):
            start, end = ends[upper + position], ends[upper + position + 1]
            chosen[position] = start + int(rng.random() * (end - start))
        return 2
    n_chosen = 3 if kind < _LOCAL + _ROUND and n_items > 2 else 2
    for position in range(n_chosen):
        fresh = False
        while not fresh:
            chosen[position] = int(rng.random() * n_items)
            fresh = True
            for earlier in range(position):
                fresh = fresh and chosen[earlier] != chosen[position]
    return n_chosen


@compiled
def switch_labels(
    labels: _Integers,
    sizes: _Integers,
    costs: TierCosts,
    weights: LogWeights,
    n_steps: int,
    rng: np.random.Generator,
) -> tuple[float, int]:
    """Make Metropolis steps on labels, in place; return the total distance and how many moved."""
    total = total_cost(labels, costs.linear, costs.pairs)
    n_accepted = 0
    if sizes.shape[0] == 1:
        return total, n_accepted
    # Items listed tier by tier: which tier a place belongs to never changes.
    listing = order_of(labels)
    ends = np.zeros(sizes.shape[0] + 1, dtype=np.int64)
    for tier in range(sizes.shape[0]):
        ends[tier + 1] = ends[tier] + sizes[tier]
    chosen, switched = np.empty(3, dtype=np.int64), np.empty(3, dtype=np.int64)
    height = log_weight(total, weights)
    for _ in range(n_steps):
        number = _choose_places(ends, chosen, rng)
        chosen[0], chosen[1] = chosen[1], chosen[0]
        for place in range(number):
            switched[place] = listing[chosen[place]]
        change = _switch(labels, costs, switched, number)
        proposed = log_weight(total + change, weights)
        if proposed >= height or rng.random() < np.exp(proposed - height):
            total += change
            height = proposed
            n_accepted += 1
            # Each item goes to the place of the next one, and the last to that of the first.
            for place in range(number):
                listing[chosen[place]] = switched[place - 1 if place > 0 else number - 1]
        else:
            _switch_back(labels, switched, number)
    return total, n_accepted


@compiled
def walk_over_tiers(
    labels: _Integers,
    sizes: _Integers,
    costs: TierCosts,
    weights: LogWeights,
    n_steps: int,
    n_rows: int,
    rng: np.random.Generator,
) -> tuple[_Integers, _Floats, _Integers]:
    """Make Metropolis steps, ``n_steps`` a row, and write down where each row ends.

    Returns labels, total distances, and how many of the steps moved.
    """
    visited = np.empty((n_rows, labels.shape[0]), dtype=np.int64)
    totals = np.empty(n_rows)
    n_accepted = np.empty(n_rows, dtype=np.int64)
    current = labels.copy()
    for row in range(n_rows):
        totals[row], n_accepted[row] = switch_labels(current, sizes, costs, weights, n_steps, rng)
        for item in range(labels.shape[0]):
            visited[row, item] = current[item]
    return visited, totals, n_accepted


@compiled_part
def _total_by_tier(labels: _Integers, pairs: _Floats, thetas: _Floats) -> float:
    """Sum ``thetas[z_b] * pairs[a, b] * [z_b <= z_a]`` over ordered pairs."""
    total = 0.0
    for item in range(labels.shape[0]):
        for other in range(labels.shape[0]):
            if other != item and labels[other] <= labels[item]:
                total += thetas[labels[other]] * pairs[item, other]
    return total


@compiled
def descend_by_tier(
    labels: _Integers, pairs: _Floats, thetas: _Floats, window: int, tolerance: float
) -> _Integers:
    """Move single items in the order of the tiers as long as the weighted total falls.

    The total is the sum of ``thetas[z_b] * pairs[a, b] * [z_b <= z_a]``. Items stand in the order
    of their tiers, which are cut from it; an item is taken out and put in elsewhere, or two trade
    places, not further apart than a window.
    """
    n_items = labels.shape[0]
    order = order_of(labels)
    cut = labels[order]
    best = _total_by_tier(labels, pairs, thetas)
    trial, found = np.empty(n_items, np.int64), np.empty(n_items, np.int64)
    improved = True
    while improved:
        improved = False
        for source in range(n_items):
            for target in range(max(0, source - window), min(n_items, source + window + 1)):
                if cut[source] == cut[target]:
                    continue
                for kind in range(2):
                    for place in range(n_items):
                        trial[place] = order[place]
                    if kind == 0:
                        trial[source], trial[target] = order[target], order[source]
                    else:
                        step = 1 if target > source else -1
                        for place in range(source, target, step):
                            trial[place] = order[place + step]
                        trial[target] = order[source]
                    for place in range(n_items):
                        found[trial[place]] = cut[place]
                    total = _total_by_tier(found, pairs, thetas)
                    if total < best - tolerance:
                        best, improved = total, True
                        order, trial = trial, order
    for place in range(n_items):
        found[order[place]] = cut[place]
    return found
