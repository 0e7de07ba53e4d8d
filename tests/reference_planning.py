"""What a comparison says about tiers, written from the definition of mutual information."""

from math import comb, erf, exp, log, pi, sqrt


def truncated_means(mean, deviation):
    """Return the means of a normal variable above 0 and below 0."""
    score = mean / deviation
    density = exp(-0.5 * score * score) / sqrt(2 * pi)
    below = 0.5 * (1 - erf(score / sqrt(2)))
    return mean + deviation * density / (1 - below), mean - deviation * density / below


def gain_of_pair(means, covariance, one, other):
    """Return the information of a comparison about the orders of all pairs, in bits.

    The order of a pair expects a difference of strengths; the information is half the variance of
    what it expects of the difference that is observed, times the precision of the observation.
    """
    n_items = len(means)
    chance = 1 / (1 + exp(means[other] - means[one]))
    precision = chance * (1 - chance)

    def covary(first, second, third, fourth):
        """Covariance of the differences of two pairs."""
        return (
            covariance[first][third]
            - covariance[first][fourth]
            - covariance[second][third]
            + covariance[second][fourth]
        )

    precision /= 1 + precision * covary(one, other, one, other)
    gain, n_pairs = 0.0, 0
    for first in range(n_items):
        for second in range(first + 1, n_items):
            n_pairs += 1
            variance = covary(first, second, first, second)
            mean = means[first] - means[second]
            if_above, if_below = truncated_means(mean, sqrt(variance))
            slope = covary(one, other, first, second) / variance
            expected = [slope * if_above, slope * if_below]
            above = 0.5 * (1 + erf(mean / sqrt(2 * variance)))
            shares = [above, 1 - above]
            middle = sum(share * value for share, value in zip(shares, expected, strict=True))
            spread = sum(
                share * (value - middle) ** 2 for share, value in zip(shares, expected, strict=True)
            )
            gain += 0.5 * precision * spread / log(2)
    assert n_pairs == comb(n_items, 2)
    return gain


def order_of(draw, first, second):
    """Return -1, 0 or 1: above, tied, below."""
    return (draw[first] > draw[second]) - (draw[first] < draw[second])


def gain_in_draws(draws, worths, one, other):
    """Return the information of a comparison about the orders of all pairs, in bits, from draws.

    Half of the squared covariance of the chance with each order, over the share of the order and
    the variance of the answer. What a draw has in common with itself does not count.
    """
    number, n_items = len(draws), len(draws[0])
    chances = [draw[one] / (draw[one] + draw[other]) for draw in worths]
    mean = sum(chances) / number
    away = [chance - mean for chance in chances]
    total = 0.0
    for first in range(n_items):
        for second in range(first + 1, n_items):
            for order in (-1, 0, 1):
                there = [float(order_of(draw, first, second) == order) for draw in draws]
                share = sum(there) / number
                if share == 0:
                    continue
                products = [a * (t - share) for a, t in zip(away, there, strict=True)]
                own = sum(product**2 for product in products)
                total += (sum(products) ** 2 - own) / number**2 / share
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
