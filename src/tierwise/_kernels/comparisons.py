"""Independent comparisons under tiers: their log-likelihood in closed form.

An item of tier ``l`` loses against one of a worse tier ``m`` with probability the mean, over the
places ``i`` of tier ``l`` and ``j`` of tier ``m``, of ``f(j - i) - f(j - i + 1)``, where
``f(x) = x / (exp(theta x) - 1)``. The sum over ``j`` telescopes, and that over ``i`` is a
difference of sums of ``f``: a pair of tiers takes four entries of a table, whatever the sizes.
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]

LOG_HALF = np.log(0.5)
LEAST_THETA, LARGEST_THETA = 1e-7, 50.0
# Below this theta ``f`` is near 1 / theta, which is taken off so that differences stay exact.
_SMALL_THETA = 0.05
_LEAST_PROBABILITY = 1e-300


@compiled_part
def write_loss_sums(theta: float, n_items: int, sums: _Floats) -> None:
    """Add up ``f`` over all gaps from ``k`` to one more than the number of items.

    Parameters
    ----------
    theta, n_items
        The one theta, and the number of items.
    sums
        Where the sums are written, three numbers more than items.
    """
    sums[n_items + 2] = 0.0
    for gap in range(n_items + 1, -1, -1):
        product = theta * gap
        if theta >= _SMALL_THETA:
            value = 1.0 / theta if gap == 0 else gap / np.expm1(product)
        else:
            half = product / 2.0
            square = half * half
            if half < 0.05:
                curved = square / 3.0 - square * square * (1.0 / 45.0 - 2.0 * square / 945.0)
            else:
                curved = half / np.tanh(half) - 1.0
            value = curved / theta - gap / 2.0
        sums[gap] = sums[gap + 1] + value


@compiled_part
def pair_value(
    sums: _Floats, wins: float, losses: float, better: int, worse: int, span: int
) -> float:
    """Log-likelihood of all comparisons of two tiers.

    Parameters
    ----------
    sums
        From `write_loss_sums`.
    wins, losses
        How often items of the better tier won and lost.
    better, worse
        Sizes of the two tiers.
    span
        Number of items in both and in all tiers between them.
    """
    if wins + losses == 0.0:
        return 0.0
    near = sums[span - better - worse + 1] - sums[span - worse + 1]
    far = sums[span - better + 1] - sums[span + 1]
    loss = max((near - far) / (better * worse), _LEAST_PROBABILITY)
    value = 0.0
    if wins > 0.0:
        value += wins * float(np.log1p(-loss))
    if losses > 0.0:
        value += losses * float(np.log(loss))
    return value


@compiled_part
def value_of_tiers(
    sums: _Floats, between: _Floats, sizes: _Integers, order: _Integers, count: int
) -> float:
    """Log-likelihood of wins between so many tiers (row against column).

    Tier ``t``, the best being 0, has row, column and size number ``order[t]``.
    """
    value = 0.0
    for tier in range(count):
        upper = order[tier]
        value += LOG_HALF * between[upper, upper]
        span = sizes[upper]
        for worse in range(tier + 1, count):
            lower = order[worse]
            span += sizes[lower]
            value += pair_value(
                sums, between[upper, lower], between[lower, upper], sizes[upper], sizes[lower], span
            )
    return value


@compiled
def write_values_at_thetas(
    thetas: _Floats,
    between: _Floats,
    sizes: _Integers,
    order: _Integers,
    sums: _Floats,
    values: _Floats,
) -> None:
    """Write the log-likelihood at each of many thetas; ``sums`` is room to work in."""
    for number in range(len(thetas)):
        write_loss_sums(thetas[number], len(sums) - 3, sums)
        values[number] = value_of_tiers(sums, between, sizes, order, len(order))
