"""The chain for incomplete rankings, against the posterior summed over everything."""

from itertools import permutations
from math import exp

import numpy as np
import pytest
from studies.augmented_chain import run_augmented_chain

from tierwise import Rankings, Tiers

ITEMS = ("a", "b", "c")
ANSWERS = [["a"], ["b", "c"], ["c", "a"], ["a", "b", "c"]]
THETAS = np.arange(0.005, 8.0, 0.01)


def agrees(ordering, answer, unranked):
    listed = [item for item in ordering if item in answer]
    if listed != answer:
        return False
    return unranked == "anywhere" or list(ordering[: len(answer)]) == answer


def kendall(ordering, order):
    """Strict tiers: pairs that the ordering has the other way round."""
    place = {item: number for number, item in enumerate(ordering)}
    return sum(
        place[second] < place[first]
        for number, first in enumerate(order)
        for second in order[number + 1 :]
    )


def posterior(unranked):
    """Probability of each strict order of the items, theta summed over on a grid."""
    orderings = list(permutations(ITEMS))
    weights = {}
    for order in orderings:
        distances = np.array([kendall(ordering, order) for ordering in orderings])
        total = 0.0
        for theta in THETAS:
            probabilities = np.exp(-theta * distances)
            probabilities /= probabilities.sum()
            likelihood = 1.0
            for answer in ANSWERS:
                chosen = [agrees(ordering, answer, unranked) for ordering in orderings]
                likelihood *= probabilities[chosen].sum()
            total += likelihood * theta * exp(-2 * theta)
        weights[order] = total
    return {order: weight / sum(weights.values()) for order, weight in weights.items()}


@pytest.mark.slow
@pytest.mark.parametrize("unranked", ["below", "anywhere"])
@pytest.mark.parametrize("proposal", ["reinsert", "refill"])
def test_tiers_are_visited_as_often_as_they_are_probable(unranked, proposal):
    rankings = Rankings.from_orderings(ANSWERS, items=ITEMS, unranked=unranked)
    draws = run_augmented_chain(
        rankings,
        Tiers([["a"], ["b"], ["c"]]),
        iterations=20_500,
        warmup=500,
        proposal=proposal,
        rng=np.random.default_rng(5),
    )
    assert len(draws.thetas) == len(draws.labels) == len(draws.criteria) == 20_000
    for order, probability in posterior(unranked).items():
        wanted = [order.index(item) for item in ITEMS]
        visits = (draws.labels == wanted).all(axis=1).astype(float)
        # Batches of draws are nearly independent of each other.
        batches = visits.reshape(40, -1).mean(axis=1)
        error = batches.std(ddof=1) / np.sqrt(len(batches))
        assert abs(visits.mean() - probability) < 5.5 * error + 1e-3


def test_the_most_frequent_tiers_are_counted():
    rankings = Rankings.from_orderings([["a", "b", "c"]] * 30)
    draws = run_augmented_chain(
        rankings,
        Tiers([["c"], ["b"], ["a"]]),
        iterations=200,
        warmup=50,
        proposal="reinsert",
        rng=np.random.default_rng(1),
    )
    assert draws.most_frequent == [0, 1, 2]
    assert draws.criteria.max() <= 0.0
