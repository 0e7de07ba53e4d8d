"""What a comparison says about tiers, written from the definition of mutual information."""

from math import log


def order_of(tiers, one, other):
    """Return whether an item is above (1), tied with (0) or below (-1) another."""
    return (tiers[one] < tiers[other]) - (tiers[one] > tiers[other])


def mutual_information(draws, chances, unknown):
    """Return the information of a winner, in bits, about a function of the tiers.

    Each draw of tiers is as probable; ``chances`` holds the chance of winning under each.
    """
    total = len(draws)
    joint = {}
    for tiers, chance in zip(draws, chances, strict=True):
        state = unknown(tiers)
        joint[state, True] = joint.get((state, True), 0.0) + chance / total
        joint[state, False] = joint.get((state, False), 0.0) + (1 - chance) / total
    of_state, of_winner = {}, {}
    for (state, won), probability in joint.items():
        of_state[state] = of_state.get(state, 0.0) + probability
        of_winner[won] = of_winner.get(won, 0.0) + probability
    return sum(
        probability * log(probability / (of_state[state] * of_winner[won]), 2)
        for (state, won), probability in joint.items()
        if probability > 0
    )


def gain_of_pair(draws, chances, one, other):
    """Return the information about all orders of two items that hold one of those asked about.

    What as many draws would give by chance, to first order, is taken off each.
    """
    n_items, n_draws = len(draws[0]), len(draws)
    pairs = {
        tuple(sorted((item, third)))
        for item in (one, other)
        for third in range(n_items)
        if third != item
    }
    mean = sum(chances) / n_draws
    variance = sum((chance - mean) ** 2 for chance in chances) / n_draws
    gain = 0.0
    for first, second in pairs:
        states = {order_of(tiers, first, second) for tiers in draws}
        by_chance = (len(states) - 1) * variance / (2 * mean * (1 - mean) * n_draws) / log(2)
        information = mutual_information(
            draws, chances, lambda tiers, a=first, b=second: order_of(tiers, a, b)
        )
        gain += max(information - by_chance, 0.0)
    return gain
