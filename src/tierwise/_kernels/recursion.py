"""Dynamic programming over how many items of each label are left: weights, moments, draws.

A state says how many items of each label are still to be placed. It is a vector of counts ``c``,
numbered as digits of a mixed radix number, the first label being the most significant. Its layer is
the sum of its counts.

Blocks are walked from best to worst, and within a block the labels in ascending order. Taking ``k``
items of a label from ``c + k`` that are left can be done in ``C(c + k, k)`` ways, and costs ``k``
times a rate that depends on the block, the label and the state reached only. So each step adds to
the weight of a state the weights of the states from which it is reached; it runs in place, layers
ascending. A state with more items of the labels done so far than may be left after the block leads
nowhere and is passed over.

Weights are numbers of ways times ``exp(-theta d)``. The tiers themselves weigh 1, so nothing that
matters can vanish, and nothing overflows as long as the number of different tiers is a float.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tierwise._compiling.kernel import compiled, compiled_if_many, compiled_part, inlined

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


class States(NamedTuple):
    """The states of given sizes.

    Attributes
    ----------
    sizes
        The sizes of the tiers.
    strides
        What one more item of a label adds to the number of a state.
    order
        The states by layer, from the empty one to the full one.
    starts
        ``order[starts[t]:starts[t + 1]]`` is layer ``t``.
    left
        ``left[state, label]`` is the number of items left that have a smaller label.
    """

    sizes: _Integers
    strides: _Integers
    order: npt.NDArray[np.int32]
    starts: _Integers
    left: npt.NDArray[np.int16]


def lay_out_states(sizes: _Integers, n_states: int) -> States:
    """Lay out the states of these sizes; there are ``n_states`` of them."""
    strides = np.ones(sizes.shape[0], dtype=np.int64)
    strides[:-1] = np.cumprod(sizes[:0:-1] + 1)[::-1]
    # Room is made here: every call of NumPy within a kernel takes long to compile.
    states = States(
        sizes,
        strides,
        order=np.empty(n_states, dtype=np.int32),
        starts=np.zeros(sizes.sum() + 2, dtype=np.int64),
        left=np.empty((n_states, sizes.shape[0] + 1), dtype=np.int16),
    )
    _fill_states(states, np.zeros_like(sizes), np.zeros_like(states.starts))
    return states


@compiled_if_many(lambda states, *_: states.left.size)
def _fill_states(states: States, counts: _Integers, filled: _Integers) -> None:
    """Fill the order, the starts (given as zeros) and the items left."""
    sizes, _, order, starts, left = states
    n_tiers = sizes.shape[0]
    n_states = order.shape[0]
    for state in range(n_states):
        total = 0
        for label in range(n_tiers):
            left[state, label] = total
            total += counts[label]
        left[state, n_tiers] = total
        starts[total + 1] += 1
        label = n_tiers - 1
        while label >= 0 and counts[label] == sizes[label]:
            counts[label] = 0
            label -= 1
        if label >= 0:
            counts[label] += 1
    for layer in range(1, starts.shape[0]):
        starts[layer] += starts[layer - 1]
        filled[layer] = starts[layer]
    for state in range(n_states):
        layer = left[state, n_tiers]
        order[filled[layer]] = state
        filled[layer] += 1


@compiled_part
def first_choice(choice: _Integers, limits: _Integers, number: int, end: int) -> None:
    """Take a number of items, of the labels before ``end``, the first as far as they go."""
    for label in range(end):
        choice[label] = min(number, limits[label])
        number -= choice[label]


@compiled_part
def next_choice(choice: _Integers, limits: _Integers) -> bool:
    """Go to the next choice of as many items; False after the last."""
    taken = 0
    for label in range(limits.shape[0] - 1):
        taken += choice[label]
        if taken > 0 and choice[label + 1] < limits[label + 1]:
            choice[label + 1] += 1
            first_choice(choice, limits, taken - 1, label + 1)
            return True
    return False


class Steps(NamedTuple):
    """What steps from state to state cost.

    Attributes
    ----------
    states
        The states.
    misplaced, placing
        The distance, in units.
    parts
        Items of a label in a block belong to the part ``parts[block, label]`` of the distance.
    decay
        ``decay[part, units]`` is what so much of a part multiplies a weight with.
    """

    states: States
    misplaced: int
    placing: _Integers
    parts: _Integers
    decay: _Floats


@inlined
def _ways_to(
    states: States, misplaced: int, placing: _Integers, block: int, label: int, state: int, top: int
) -> tuple[int, int, int]:
    """How a state is reached by taking items of a label: kept, units of each taken, most taken.

    ``top`` items are left when the block begins. If more of the labels done so far are kept than
    may be left after the block, the state leads nowhere, and fewer than none can be taken.
    """
    sizes, left = states.sizes, states.left
    behind = left[state, label + 1]
    if behind > top - sizes[block]:
        return 0, 0, -1
    kept = behind - left[state, label]
    most = min(sizes[label] - kept, top - left[state, sizes.shape[0]])
    return kept, misplaced * behind + placing[block, label], most


@compiled_if_many(
    lambda states, misplaced, placing, binomials, ways, degrees: ways.size * len(states.sizes)
)
def ways_by_distance(
    states: States,
    misplaced: int,
    placing: _Integers,
    binomials: _Floats | _Integers,
    ways: _Floats | _Integers,
    degrees: _Integers,
) -> None:
    """Fill ``ways[state, units]``, given as zeros: how many ways lead to a state at a distance.

    ``degrees[state]``, given as -1, becomes the largest distance at which a state is reached.
    ``binomials[n, k]`` are of the same kind as ``ways``: integers, or floats, which hold whole
    numbers exactly below 2 ** 53.
    """
    sizes, strides, order, starts, _ = states
    ways[ways.shape[0] - 1, 0] = 1
    degrees[ways.shape[0] - 1] = 0
    top = starts.shape[0] - 2
    for block in range(sizes.shape[0]):
        bottom = top - sizes[block]
        for label in range(sizes.shape[0]):
            for position in range(starts[bottom], starts[top]):
                state = order[position]
                kept, rate, most = _ways_to(states, misplaced, placing, block, label, state, top)
                for taken in range(1, most + 1):
                    source = state + taken * strides[label]
                    degree = degrees[source]
                    if degree < 0:
                        continue
                    factor = binomials[kept + taken, taken]
                    shift = taken * rate
                    for units in range(degree + 1):
                        ways[state, shift + units] += factor * ways[source, units]
                    degrees[state] = max(degrees[state], degree + shift)
        top = bottom


@compiled
def weight_and_moments(steps: Steps) -> _Floats:
    """Weight of all ways together; their sums of each part of the distance, and of products.

    Products of two parts are the lower triangle of a matrix, row by row.
    """
    states, misplaced, placing, parts, decay = steps
    sizes, strides, order, starts, _ = states
    n_tiers, n_parts = sizes.shape[0], decay.shape[0]
    n_states = order.shape[0]
    products = 1 + n_parts
    width = products + n_parts * (n_parts + 1) // 2
    sums = np.zeros((n_states, width))
    sums[n_states - 1, 0] = 1.0
    top = starts.shape[0] - 2
    for block in range(n_tiers):
        bottom = top - sizes[block]
        for label in range(n_tiers):
            part = parts[block, label]
            own = 1 + part
            square = products + part * (part + 1) // 2 + part
            for position in range(starts[bottom], starts[top]):
                state = order[position]
                kept, rate, most = _ways_to(states, misplaced, placing, block, label, state, top)
                if most < 1:
                    continue
                fall = decay[part, rate]
                factor = 1.0
                weight_sum = own_sum = square_sum = 0.0
                for taken in range(1, most + 1):
                    factor *= fall * (kept + taken) / taken
                    source = state + taken * strides[label]
                    weight = factor * sums[source, 0]
                    if weight == 0.0:
                        continue
                    cost = float(taken * rate)
                    first = factor * sums[source, own]
                    weight_sum += weight
                    own_sum += first + cost * weight
                    square_sum += factor * sums[source, square]
                    square_sum += cost * (2.0 * first + cost * weight)
                    if n_parts == 1:
                        continue
                    for entry in range(1, width):
                        if entry not in (own, square):
                            sums[state, entry] += factor * sums[source, entry]
                    # The new cost belongs to one part: only its products change.
                    for other in range(n_parts):
                        if other != part:
                            row, column = max(other, part), min(other, part)
                            entry = products + row * (row + 1) // 2 + column
                            sums[state, entry] += cost * factor * sums[source, 1 + other]
                sums[state, 0] += weight_sum
                sums[state, own] += own_sum
                sums[state, square] += square_sum
        top = bottom
    everything: _Floats = sums[0]
    return everything


@compiled_part
def _weight_before(
    weights: _Floats, left: npt.NDArray[np.int16], state: int, label: int, top: int
) -> float:
    """Weight of a state before this label of the block was done."""
    n_tiers = weights.shape[0]
    if left[state, n_tiers] == top:
        # Nothing of the block has been taken yet, whatever the label: it is a state between blocks.
        return float(weights[n_tiers - 1, state])
    return float(weights[label - 1, state]) if label > 0 else 0.0


@compiled
def filter_weights(steps: Steps) -> _Floats:
    """``weights[label, state]``: weight of a state once this label of its block is done.

    The last label's row holds the weights of the states between blocks.
    """
    states, misplaced, placing, parts, decay = steps
    sizes, strides, order, starts, left = states
    n_tiers = sizes.shape[0]
    n_states = order.shape[0]
    weights = np.zeros((n_tiers, n_states))
    weights[n_tiers - 1, n_states - 1] = 1.0
    top = starts.shape[0] - 2
    for block in range(n_tiers):
        bottom = top - sizes[block]
        for label in range(n_tiers):
            part = parts[block, label]
            for position in range(starts[bottom], starts[top]):
                state = order[position]
                kept, rate, most = _ways_to(states, misplaced, placing, block, label, state, top)
                if most < 0:
                    continue
                weight = _weight_before(weights, left, state, label, top)
                fall, factor = decay[part, rate], 1.0
                for taken in range(1, most + 1):
                    factor *= fall * (kept + taken) / taken
                    source = state + taken * strides[label]
                    before = _weight_before(weights, left, source, label, top)
                    if before > 0.0:
                        weight += factor * before
                weights[label, state] = weight
        top = bottom
    return weights


@compiled
def draw_sequences(
    steps: Steps, weights: _Floats, n_rows: int, rng: np.random.Generator
) -> _Integers:
    """Draw label sequences by walking the filtered weights back; labels ascend within a block."""
    states, misplaced, placing, parts, decay = steps
    sizes, strides, left = states.sizes, states.strides, states.left
    n_tiers, n_items = sizes.shape[0], states.starts.shape[0] - 2
    sequences = np.empty((n_rows, n_items), dtype=np.int64)
    for row in range(n_rows):
        state = 0
        place = n_items
        for block in range(n_tiers - 1, -1, -1):
            top = left[state, n_tiers] + sizes[block]
            for label in range(n_tiers - 1, -1, -1):
                if left[state, n_tiers] == top:
                    break
                kept, rate, most = _ways_to(states, misplaced, placing, block, label, state, top)
                fall = decay[parts[block, label], rate]
                # Taking none is the first choice; where rounding leaves a remainder after the last
                # choice, the last possible one stands.
                none = _weight_before(weights, left, state, label, top)
                remainder = rng.random() * weights[label, state] - none
                chosen = 0
                factor = 1.0
                for taken in range(1, most + 1):
                    if remainder < 0.0:
                        break
                    factor *= fall * (kept + taken) / taken
                    source = state + taken * strides[label]
                    before = _weight_before(weights, left, source, label, top)
                    if before > 0.0 and factor > 0.0:
                        chosen = taken
                        remainder -= factor * before
                for _ in range(chosen):
                    place -= 1
                    sequences[row, place] = label
                state += chosen * strides[label]
    return sequences


@compiled
def expected_table(steps: Steps, weights: _Floats) -> _Floats:
    """Return the expected contingency table, by one pass back over the filtered weights."""
    states, misplaced, placing, parts, decay = steps
    sizes, strides, order, starts, left = states
    n_tiers = sizes.shape[0]
    table = np.zeros((n_tiers, n_tiers))
    # Weight of all ways to go on from a state, as a share of the weight of everything.
    onward = np.zeros(order.shape[0])
    onward[0] = 1.0 / weights[n_tiers - 1, 0]
    bottom = 0
    for block in range(n_tiers - 1, -1, -1):
        top = bottom + sizes[block]
        for label in range(n_tiers - 1, -1, -1):
            part = parts[block, label]
            # Descending: a state passes its share on before this label adds to it.
            for position in range(starts[top] - 1, starts[bottom] - 1, -1):
                state = order[position]
                if onward[state] == 0.0:
                    continue
                kept, rate, most = _ways_to(states, misplaced, placing, block, label, state, top)
                fall, factor = decay[part, rate], 1.0
                for taken in range(1, most + 1):
                    factor *= fall * (kept + taken) / taken
                    source = state + taken * strides[label]
                    before = _weight_before(weights, left, source, label, top)
                    if before > 0.0:
                        passed = onward[state] * factor
                        onward[source] += passed
                        table[block, label] += taken * passed * before
        bottom = top
    return table
