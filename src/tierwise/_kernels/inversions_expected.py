"""Weak orders under inversions: moments of the distance, and expected precedence of items.

Given the counts of each tier in a tied block, the order of its items is that of a smaller model
with the same theta, independent of all other blocks.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@compiled
def weigh_weak_orders(
    sequences: _Integers,
    starts: npt.NDArray[np.int32],
    labels: _Integers,
    theta: float,
    factorials: _Floats,
    log_factorials: _Floats,
    values: _Floats,
) -> None:
    """Fill ``values[row]`` with log weight, mean and variance of the distance of each answer.

    ``sequences[row, place]`` is an item and ``starts[row, place]`` the first place of its block;
    ``factorials[k]`` are the logarithm of the Gaussian factorial of k and its two derivatives.
    """
    n_rows, n_items = sequences.shape
    n_tiers = labels.max() + 1
    here = np.zeros(n_tiers, np.int64)
    seen = np.zeros(n_tiers, np.int64)
    for row in range(n_rows):
        seen[:] = 0
        inversions = 0
        log_orders, first, second = 0.0, 0.0, 0.0
        begin = 0
        while begin < n_items:
            end = begin
            here[:] = 0
            while end < n_items and starts[row, end] == starts[row, begin]:
                here[labels[sequences[row, end]]] += 1
                end += 1
            if end - begin > 1:
                log_orders += factorials[end - begin, 0]
                first += factorials[end - begin, 1]
                second += factorials[end - begin, 2]
            worse_seen = 0
            for tier in range(n_tiers - 1, -1, -1):
                number = here[tier]
                inversions += number * worse_seen
                if number > 1:
                    log_orders += log_factorials[number] - factorials[number, 0]
                    first -= factorials[number, 1]
                    second -= factorials[number, 2]
                worse_seen += seen[tier]
                seen[tier] += number
            begin = end
        values[row, 0] = log_orders - theta * inversions
        values[row, 1] = inversions - first
        values[row, 2] = second


@compiled
def add_expected_precedence(
    sequences: _Integers,
    starts: npt.NDArray[np.int32],
    weights: _Floats,
    labels: _Integers,
    summed_twice: _Floats,
    precedence: _Floats,
) -> None:
    """Add to ``precedence[a, b]`` the expected number of answers with ``a`` before ``b``.

    ``summed_twice`` is the probability that an item precedes one that is k places worse in a strict
    order, summed over k twice, each time with a leading zero.
    """
    n_rows, n_items = sequences.shape
    n_tiers = labels.max() + 1
    here = np.zeros(n_tiers, np.int64)
    before = np.zeros((n_tiers, n_tiers))
    for row in range(n_rows):
        begin = 0
        while begin < n_items:
            end = begin
            here[:] = 0
            while end < n_items and starts[row, end] == starts[row, begin]:
                here[labels[sequences[row, end]]] += 1
                end += 1
            if end - begin > 1:
                _precedence_of_tiers(here, summed_twice, before)
            for place in range(begin, end):
                item = sequences[row, place]
                for other_place in range(begin, end):
                    if other_place != place:
                        other = sequences[row, other_place]
                        share = before[labels[item], labels[other]]
                        precedence[item, other] += weights[row] * share
                for later in range(end, n_items):
                    precedence[item, sequences[row, later]] += weights[row]
            begin = end


@compiled
def _precedence_of_tiers(here: _Integers, summed_twice: _Floats, before: _Floats) -> None:
    """Fill ``before[l, m]``: probability that an item of tier l precedes one of tier m.

    The mean over the places of both, in tier order, of what their gap says: a sum over all gaps of
    two runs of places is four differences.
    """
    for better in range(here.shape[0]):
        before[better, better] = 0.5
        first, gap = here[better], 0
        if first == 0:
            continue
        for worse in range(better + 1, here.shape[0]):
            second = here[worse]
            if second > 0:
                total = (
                    summed_twice[gap + first + second + 1]
                    - summed_twice[gap + first + 1]
                    - summed_twice[gap + second + 1]
                    + summed_twice[gap + 1]
                )
                before[better, worse] = total / (first * second)
                before[worse, better] = 1.0 - before[better, worse]
                gap += second
