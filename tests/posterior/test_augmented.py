"""Overrelaxed data augmentation with given sizes, against sums over all completions."""

from itertools import permutations

import numpy as np
import pytest
from arviz_stats.base import array_stats

import tierwise as tw
from tests import reference
from tierwise.distances import get_distance

PAIRS = {
    "Ann": [("a", "b"), ("c", "d")],
    "Bob": [("a", "c")],
    "Cid": [("d", "b"), ("b", "a")],
    "Dee": [("a", "b"), ("a", "c"), ("b", "d")],
    "Eve": [("c", "a"), ("b", "d")],
    "Flo": [("a", "d"), ("d", "c")],
}
ITEMS = "abcd"
THETAS = (np.arange(1200) + 0.5) / 100


def exact_posterior(sizes, distance):
    """Weight of each of all tiers, and of theta on a grid: ``{labels: weights}``."""
    orderings = list(permutations(ITEMS))
    log_partition = tw.partition_function(sizes, distance).log_values(THETAS)
    prior = THETAS * np.exp(-2 * THETAS)
    measure, weights = get_distance(distance), {}
    for labels in sorted(set(permutations(reference.labels_of(sizes)))):
        tier = dict(zip(ITEMS, labels, strict=True))
        sequences = np.array([[tier[item] for item in order] for order in orderings])
        costs = np.exp(-np.outer(THETAS, measure.between(sequences, sizes)))
        likelihood = np.exp(-len(PAIRS) * log_partition)
        for pairs in PAIRS.values():
            agrees = [all(row.index(x) < row.index(y) for x, y in pairs) for row in orderings]
            likelihood = likelihood * costs[:, agrees].sum(axis=1)
        weights[labels] = prior * likelihood
    return weights


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")
@pytest.mark.parametrize(
    ("sizes", "distance"),
    [
        pytest.param((1, 1, 1, 1), "kendall", marks=pytest.mark.slow),
        ((1, 2, 1), "inversions"),
    ],
)
def test_draws_have_the_probabilities_of_all_completions(sizes, distance):
    answers = [(person, *pair) for person, pairs in PAIRS.items() for pair in pairs]
    preferences = tw.Preferences.from_pairs(answers, items=ITEMS)
    posterior = tw.sample_posterior(
        preferences,
        sizes,
        distance,
        sampler=tw.Sampler(completions="reinsert"),
        draws=4000,
        rng=1,
        progress="off",
    )
    assert posterior.completions == "drawn by reinsert"
    exact = exact_posterior(sizes, distance)
    total = sum(weights.sum() for weights in exact.values())
    of_theta = sum(exact.values()) / total
    thetas = posterior.data["posterior"]["theta"].to_numpy()
    labels = posterior.data["posterior"]["tier"].to_numpy()
    labels = labels - labels.min()

    def compare(drawn, expected):
        error = array_stats.mcse(drawn.astype(float), chain_axis=0, draw_axis=1)
        assert abs(drawn.mean() - expected) < 5 * error
        assert error < 0.05

    compare(thetas, of_theta @ THETAS)
    compare(thetas**2, of_theta @ THETAS**2)
    compare(np.log(thetas), of_theta @ np.log(THETAS))
    for place in np.cumsum(of_theta).searchsorted([0.05, 0.5, 0.95]).tolist():
        compare(thetas < THETAS[place] + 0.005, of_theta[: place + 1].sum())
    for one, weights in exact.items():
        # Tiers and theta together: both by themselves might be right when they are not.
        same = (labels == np.array(one)).all(axis=2)
        if weights.sum() > 0.02 * total:
            compare(same, weights.sum() / total)
            compare(same * thetas, weights @ THETAS / total)
