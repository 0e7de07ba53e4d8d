"""What a comparison of two items would say about the tiers of both."""

import numpy as np
from numpy.typing import NDArray

from tierwise._kernels.compiling import compiled, compiled_part


@compiled_part
def _divergence(share: float, expected: float) -> float:
    """Divergence of one chance of winning from another, in nats."""
    value = 0.0
    share = min(max(share, 0.0), 1.0)  # a sum of shares may round beyond
    if share > 0.0:
        value += share * np.log(share / expected)
    if share < 1.0:
        value += (1.0 - share) * np.log((1.0 - share) / (1.0 - expected))
    return value


@compiled_part
def _gain_of_order(
    tiers: NDArray[np.int64],
    others: NDArray[np.int64],
    chances: NDArray[np.float64],
    mean: float,
    by_chance: float,
) -> float:
    """Information of the winner about whether an item is above, tied with or below another."""
    n_draws = len(chances)
    n_above, n_below, above, below, total = 0, 0, 0.0, 0.0, 0.0
    for draw in range(n_draws):
        is_above, is_below = others[draw] > tiers[draw], others[draw] < tiers[draw]
        n_above += is_above
        n_below += is_below
        above += is_above * chances[draw]
        below += is_below * chances[draw]
        total += chances[draw]
    n_tied = n_draws - n_above - n_below
    gain = -by_chance * ((n_above > 0) + (n_below > 0) + (n_tied > 0) - 1)
    if n_above > 0:
        gain += n_above / n_draws * _divergence(above / n_above, mean)
    if n_below > 0:
        gain += n_below / n_draws * _divergence(below / n_below, mean)
    if n_tied > 0:
        gain += n_tied / n_draws * _divergence((total - above - below) / n_tied, mean)
    return max(gain, 0.0)


@compiled
def gains_of_pairs(
    labels: NDArray[np.int64],
    log_worths: NDArray[np.float64],
    chances_of_tiers: NDArray[np.float64],
    gains: NDArray[np.float64],
) -> None:
    """Mutual information of the winner of each pair and the order of its items and each other.

    Whether an item is above another, tied with it or below is one unknown each; summed up is what
    the winner says about all unknowns that hold one of the two. What chance alone would give, with
    so few draws, is taken off.

    Parameters
    ----------
    labels
        ``[draw, item]``: tiers of the items, counted from 0.
    log_worths
        ``[draw, item]``; empty where chances of tiers are given.
    chances_of_tiers
        ``[draw, k, l]``: chance that an item of tier ``k`` beats one of tier ``l``; empty where
        worths are given.
    gains
        ``[item, item]``, filled: the information about both, in nats.
    """
    n_draws, n_items = labels.shape
    by_worths = len(log_worths) > 0
    by_item = labels.T.copy()
    chances = np.empty(n_draws)
    for one in range(n_items):
        for other in range(one + 1, n_items):
            total, square = 0.0, 0.0
            for draw in range(n_draws):
                if by_worths:
                    apart = log_worths[draw, other] - log_worths[draw, one]
                    chance = 1.0 / (1.0 + np.exp(apart))
                else:
                    chance = chances_of_tiers[draw, labels[draw, one], labels[draw, other]]
                chances[draw] = chance
                total += chance
                square += chance * chance
            mean = total / n_draws
            gain = 0.0
            if 0.0 < mean < 1.0:
                variance = max(square / n_draws - mean * mean, 0.0)
                by_chance = variance / (2.0 * mean * (1.0 - mean) * n_draws)
                for item in (one, other):
                    for third in range(n_items):
                        if third != item and not (item == other and third == one):
                            gain += _gain_of_order(
                                by_item[item], by_item[third], chances, mean, by_chance
                            )
            gains[one, other] = gains[other, one] = gain
