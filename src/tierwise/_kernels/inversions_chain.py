"""Metropolis and Gibbs steps over ordered partitions, with the target as a sum over lines.

A sweep draws the place of every item given all others (Gibbs: all places are valued), then proposes
exchanges of items and of tiers, splits and joins. A split sends each member to the better part
with a probability that grows with how it is preferred to the tier's other members; the same
probabilities, for the joined tier, give the chance of undoing a join.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part, inlined
from tierwise._kernels.inversions_climbing import exchange_items, members_of
from tierwise._kernels.inversions_lines import LineObjective
from tierwise._kernels.inversions_partition import (
    Partition,
    line_at,
    load,
    put_in,
    take_out,
    value_of,
    value_places,
)
from tierwise._kernels.ordered_partition import choose, log_share

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

# A member goes to neither part with a probability below that of this logit.
_LARGEST_LOGIT = 3.0
_SHARE_OF_EXCHANGES = 0.2


@compiled
def draw_places(
    objective: LineObjective,
    state: Partition,
    single_tier_bonus: float,
    sequence: _Integers,
    uniforms: _Floats,
) -> None:
    """Draw the place of each item in turn, given all others."""
    n_items = sequence.shape[0]
    places = np.zeros(2 * n_items + 1)
    for step in range(n_items):
        item = sequence[step]
        take_out(state, item)
        value_places(objective, state, item, places)
        n_tiers = state.n_tiers[0]
        if n_tiers == 1:
            places[1] += single_tier_bonus
        put_in(state, item, choose(places, 0, 2 * n_tiers, uniforms[step]))


@compiled
def exchange_at_random(objective: LineObjective, state: Partition, uniforms: _Floats) -> int:
    """Propose exchanges of items of neighbouring tiers; returns how many were accepted."""
    n_items = state.slot_of.shape[0]
    upper, lower = np.zeros(n_items, np.int64), np.zeros(n_items, np.int64)
    accepted = 0
    for step in range(uniforms.shape[0]):
        n_tiers = state.n_tiers[0]
        if n_tiers < 2:
            break
        position = int(uniforms[step, 0] * (n_tiers - 1))
        n_upper = members_of(state, state.order[position], upper)
        n_lower = members_of(state, state.order[position + 1], lower)
        if n_upper == 1 and n_lower == 1:
            # That is an exchange of tiers, which another step proposes.
            continue
        first = upper[int(uniforms[step, 1] * n_upper)]
        second = lower[int(uniforms[step, 2] * n_lower)]
        before = line_at(objective, state, position) + line_at(objective, state, position + 1)
        exchange_items(state, position, first, second)
        after = line_at(objective, state, position) + line_at(objective, state, position + 1)
        if np.log(uniforms[step, 3]) < after - before:
            accepted += 1
        else:
            exchange_items(state, position, second, first)
    return accepted


@inlined
def _log_chance_to_be_upper(lead: float, strength: float) -> float:
    """Log odds that a member of a tier goes to its better part."""
    return min(max(lead * strength, -_LARGEST_LOGIT), _LARGEST_LOGIT)


@inlined
def _log_split(state: Partition, labels: _Integers, position: int, strength: float) -> float:
    """Log probability that a joined tier is split into these two neighbouring tiers."""
    log_chance = 0.0
    first, second = state.order[position], state.order[position + 1]
    for item in range(labels.shape[0]):
        if labels[item] == position or labels[item] == position + 1:
            lead = state.out_of[first, item] + state.out_of[second, item]
            lead -= state.into[first, item] + state.into[second, item]
            logit = _log_chance_to_be_upper(lead, strength)
            if labels[item] != position:
                logit = -logit
            log_chance += log_share(logit)
    return log_chance


@compiled_part
def _n_splittable(state: Partition) -> int:
    """Count the tiers with two items or more."""
    number = 0
    for position in range(state.n_tiers[0]):
        if state.sizes[state.order[position]] > 1:
            number += 1
    return number


@inlined
def _propose_exchange(state: Partition, proposed: _Integers, uniforms: _Floats) -> float:
    """Let two neighbouring tiers change places."""
    n_tiers = state.n_tiers[0]
    if n_tiers < 2:
        return -np.inf
    position = int(uniforms[1] * (n_tiers - 1))
    for item in range(proposed.shape[0]):
        if proposed[item] == position:
            proposed[item] = position + 1
        elif proposed[item] == position + 1:
            proposed[item] = position
    return 0.0


@inlined
def _splittable_at(state: Partition, number: int) -> int:
    """Find the position of a tier, given its number among those with two items or more."""
    position = 0
    while number > 0 or state.sizes[state.order[position]] == 1:
        if state.sizes[state.order[position]] > 1:
            number -= 1
        position += 1
    return position


@inlined
def _propose_split(
    state: Partition, proposed: _Integers, strength: float, uniforms: _Floats
) -> float:
    """Split a tier; each member goes to the better part with its own probability."""
    n_splittable = _n_splittable(state)
    if n_splittable == 0:
        return -np.inf
    position = _splittable_at(state, int(uniforms[1] * n_splittable))
    slot = state.order[position]
    log_chance = 0.0
    n_upper = 0
    for item in range(proposed.shape[0]):
        upper = proposed[item] < position
        if proposed[item] == position:
            lead = state.out_of[slot, item] - state.into[slot, item]
            logit = _log_chance_to_be_upper(lead, strength)
            upper = uniforms[2 + item] < 1.0 / (1.0 + np.exp(-logit))
            log_chance += log_share(logit if upper else -logit)
            n_upper += 1 if upper else 0
        if not upper:
            proposed[item] += 1
    if n_upper in (0, state.sizes[slot]):
        return -np.inf
    # Back: one of as many pairs of neighbours as there are tiers now is joined.
    return float(np.log(n_splittable / state.n_tiers[0]) - log_chance)


@inlined
def _propose_join(
    state: Partition, labels: _Integers, proposed: _Integers, strength: float, uniforms: _Floats
) -> float:
    """Join two neighbouring tiers."""
    n_tiers = state.n_tiers[0]
    if n_tiers < 2:
        return -np.inf
    position = int(uniforms[1] * (n_tiers - 1))
    for item in range(labels.shape[0]):
        if labels[item] > position:
            proposed[item] -= 1
    n_splittable = _n_splittable(state) + 1
    for slot in (state.order[position], state.order[position + 1]):
        if state.sizes[slot] > 1:
            n_splittable -= 1
    log_back = _log_split(state, labels, position, strength)
    return float(log_back + np.log((n_tiers - 1.0) / n_splittable))


@inlined
def _propose(
    state: Partition, labels: _Integers, proposed: _Integers, strength: float, uniforms: _Floats
) -> float:
    """Propose other tiers; returns the log ratio of proposals, minus infinity for none.

    The first uniform chooses the kind: an exchange of neighbouring tiers, a split or a join.
    """
    for item in range(labels.shape[0]):
        proposed[item] = labels[item]
    if uniforms[0] < _SHARE_OF_EXCHANGES:
        return _propose_exchange(state, proposed, uniforms)
    # Splits and joins undo each other: both have the same share.
    if uniforms[0] < (1.0 + _SHARE_OF_EXCHANGES) / 2.0:
        return _propose_split(state, proposed, strength, uniforms)
    return _propose_join(state, labels, proposed, strength, uniforms)


@compiled
def change_tiers(
    objective: LineObjective,
    state: Partition,
    single_tier_bonus: float,
    strength: float,
    uniforms: _Floats,
) -> int:
    """Propose exchanges, splits and joins of tiers; returns how many were accepted."""
    n_items = state.slot_of.shape[0]
    labels, proposed = np.zeros(n_items, np.int64), np.zeros(n_items, np.int64)
    accepted = 0
    for item in range(n_items):
        labels[item] = state.position_of[state.slot_of[item]]
    load(state, labels)
    value = value_of(objective, state)
    if state.n_tiers[0] == 1:
        value += single_tier_bonus
    for step in range(uniforms.shape[0]):
        log_ratio = _propose(state, labels, proposed, strength, uniforms[step])
        if log_ratio == -np.inf:
            continue
        load(state, proposed)
        other = value_of(objective, state)
        if state.n_tiers[0] == 1:
            other += single_tier_bonus
        if np.log(uniforms[step, n_items + 2]) < other - value + log_ratio:
            accepted += 1
            value = other
            for item in range(n_items):
                labels[item] = proposed[item]
        else:
            load(state, labels)
    return accepted
