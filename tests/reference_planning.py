"""What a comparison says about tiers, written from the definition of mutual information."""

from math import log


def order_of(draw, first, second):
    """Return -1, 0 or 1: above, tied, below."""
    return (draw[first] > draw[second]) - (draw[first] < draw[second])


def gain_in_draws(draws, worths, weights, one, other):
    """Return the information of a comparison about the orders of all pairs, in bits, from draws.

    Half of the squared covariance of the chance with each order, over the share of the order and
    the variance of the answer. What a draw has in common with itself does not count.
    """
    n_items = len(draws[0])
    chances = [draw[one] / (draw[one] + draw[other]) for draw in worths]
    mean = sum(weight * chance for weight, chance in zip(weights, chances, strict=True))
    away = [chance - mean for chance in chances]
    total = 0.0
    for first in range(n_items):
        for second in range(first + 1, n_items):
            for order in (-1, 0, 1):
                there = [float(order_of(draw, first, second) == order) for draw in draws]
                share = sum(w * t for w, t in zip(weights, there, strict=True))
                if share == 0:
                    continue
                products = [
                    w * a * (t - share) for w, a, t in zip(weights, away, there, strict=True)
                ]
                own = sum(product**2 for product in products)
                total += (sum(products) ** 2 - own) / share
    return max(total, 0.0) / (2 * log(2) * mean * (1 - mean))


def information_of_ranking(size):
    """Return how much a ranking of equal items says of each pair, beside a comparison of the two.

    Stage by stage one of the items left is chosen; two items are still there together with a
    probability, and the choice between so many then says 1 / number ** 2 of their difference.
    """
    total = 0.0
    for left in range(2, size + 1):
        both_there = left * (left - 1) / (size * (size - 1))
        total += both_there / left**2
    return total / 0.25
