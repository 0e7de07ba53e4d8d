"""Simulated annealing over tiers of fixed sizes."""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled
from tierwise._kernels.objective import swap_change

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@compiled
def _switch(
    labels: _Integers,
    linear: _Floats,
    pairs: _Floats,
    pairs_transposed: _Floats,
    switched: _Integers,
) -> float:
    """Pass labels round among some items, by swaps, and return the change of the total."""
    change = 0.0
    for step in range(switched.shape[0] - 1):
        first, second = switched[step], switched[step + 1]
        change += swap_change(labels, linear, pairs, pairs_transposed, first, second)
        labels[first], labels[second] = labels[second], labels[first]
    return change


@compiled
def anneal(
    labels: _Integers,
    linear: _Floats,
    pairs: _Floats,
    pairs_transposed: _Floats,
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
        change = _switch(labels, linear, pairs, pairs_transposed, order[:n_switched])
        if change != 0.0:
            sum_of_changes += abs(change)
            n_changes += 1
        if change > 0.0 and rng.random() >= np.exp(-inverse_temperature * change):
            for step in range(n_switched - 1, 0, -1):
                first, second = order[step], order[step - 1]
                labels[first], labels[second] = labels[second], labels[first]
    return sum_of_changes / max(n_changes, 1)
