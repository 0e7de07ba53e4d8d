"""Samplers against exact probabilities, with seeds and bounds that chance alone hardly breaks."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from tests import reference
from tierwise import Tiers
from tierwise.model.clustered_mallows import ClusteredMallows

NAMES = sorted(reference.DISTANCES)
# A right sampler fails one of these once in a million times.
SMALLEST_P = 1e-4


def make(sizes, theta, distance="kendall", labels=None):
    if labels is None:
        labels = reference.labels_of(sizes)
    tiers = Tiers.from_labels([label + 1 for label in labels], items=range(len(labels)))
    return ClusteredMallows(tiers, theta, distance)


def p_value(rankings, orderings, probabilities):
    """Chi-square test of samples against the probabilities of all orderings."""
    places = rankings.patterns[rankings.pattern_of]
    counts = Counter(map(tuple, np.argsort(places, axis=1).tolist()))
    observed = np.array([counts[ordering] for ordering in orderings], dtype=float)
    expected = len(rankings) * np.array(probabilities)
    # Rare orderings are put together, so that the chi-square distribution is a good description.
    order = np.argsort(expected)
    observed, expected = observed[order], expected[order]
    groups = (np.cumsum(expected) // 8).astype(int)
    groups = np.unique(groups, return_inverse=True)[1]
    observed = np.bincount(groups, observed)
    expected = np.bincount(groups, expected)
    if expected[-1] < 8:
        observed = np.append(observed[:-2], observed[-2:].sum())
        expected = np.append(expected[:-2], expected[-2:].sum())
    statistic = ((observed - expected) ** 2 / expected).sum()
    return stats.chi2.sf(statistic, len(observed) - 1)


CASES = [
    ((1, 1, 1, 1), None),
    ((1, 1, 1, 1, 1), (3, 0, 2, 4, 1)),
    ((2, 2), (1, 0, 1, 0)),
    ((1, 2, 2), (1, 2, 0, 1, 2)),
    ((3, 1, 1), None),
    ((2, 3), None),
    ((1, 1, 2, 1), None),
    ((4,), None),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("sizes", "labels"), CASES)
@pytest.mark.parametrize(
    ("theta", "method"),
    [
        (0.9, "exact"),
        (0.9, "mcmc"),
        *(pytest.param(0.0, method, marks=pytest.mark.slow) for method in ("exact", "mcmc")),
    ],
)
def test_samples_follow_the_model(name, sizes, labels, theta, method):
    brute = reference.BruteForce(sizes, name, labels)
    model = make(sizes, theta, name, labels)
    rankings = model.sample(10_000, rng=11, method=method, steps=200)
    assert len(rankings) == 10_000
    assert p_value(rankings, brute.orderings, brute.probabilities(theta)) > SMALLEST_P


@pytest.mark.parametrize("name", ["hamming", "kendall"])
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (1, 1, 1, 1, 1)])
def test_the_general_sampler_on_strict_tiers(name, sizes):
    # "auto" has faster ways for these two.
    from tierwise._kernels.orderings import deal_items
    from tierwise.data.rankings import Rankings
    from tierwise.partition.choose import partition_function

    brute = reference.BruteForce(sizes, name)
    rng = np.random.default_rng(3)
    sequences = partition_function(sizes, name, method="recursion").draw_sequences(0.7, 10_000, rng)
    n_items = len(sizes)
    orderings = deal_items(sequences, np.array(sizes), np.arange(n_items), rng)
    rankings = Rankings.from_order_array(orderings, range(n_items))
    assert p_value(rankings, brute.orderings, brute.probabilities(0.7)) > SMALLEST_P


@pytest.mark.parametrize(("sizes", "labels"), CASES)
@pytest.mark.parametrize("theta", [0.0, 0.8])
def test_samples_of_the_pseudo_likelihood(sizes, labels, theta):
    brute = reference.BruteForce(sizes, "kendall", labels)
    model = make(sizes, theta, labels=labels)
    probabilities = [
        reference.pseudo_likelihood(ordering, brute.labels, theta) for ordering in brute.orderings
    ]
    rankings = model.sample_pseudo(10_000, rng=7)
    assert p_value(rankings, brute.orderings, probabilities) > SMALLEST_P


@pytest.mark.parametrize(
    ("sizes", "name", "theta"),
    [
        ((1,) * 30, "kendall", 0.4),
        ((3, 7, 20), "hamming", 1.0),
        ((5, 10, 15), "footrule", 0.2),
        pytest.param((1,) * 30, "hamming", 2.0, marks=pytest.mark.slow),
        pytest.param((10, 10, 10), "kendall", 0.05, marks=pytest.mark.slow),
        pytest.param((3,) * 10, "kendall", 0.3, marks=pytest.mark.slow),
        pytest.param((10, 5, 15), "spearman", 0.02, marks=pytest.mark.slow),
    ],
)
def test_exact_and_metropolis_samples_of_thirty_items_agree(sizes, name, theta):
    model = make(sizes, theta, name)
    n_draws = 1500
    exact = model.distances(model.sample(n_draws, rng=1, method="exact"))
    chains = model.distances(model.sample(n_draws, rng=2, method="mcmc"))
    error = float(model.var_distance() / n_draws) ** 0.5
    assert abs(exact.mean() - model.mean_distance()) < 5.5 * error
    assert abs(chains.mean() - model.mean_distance()) < 5.5 * error
    values = np.union1d(exact, chains)
    tables = np.array([[np.sum(draws == value) for value in values] for draws in (exact, chains)])
    groups = np.cumsum(tables.sum(axis=0)) // 60
    grouped = [np.bincount(np.unique(groups, return_inverse=True)[1], row) for row in tables]
    assert stats.chi2_contingency(grouped).pvalue > SMALLEST_P


def test_many_items():
    model = make((50,) * 20, 3.0, "hamming")
    rankings = model.sample(200, rng=1)
    distances = model.distances(rankings)
    error = float(model.var_distance() / 200) ** 0.5
    assert abs(distances.mean() - model.mean_distance()) < 5.5 * error
    strict = make((1,) * 400, 0.1)
    distances = strict.distances(strict.sample(200, rng=1))
    error = float(strict.var_distance() / 200) ** 0.5
    assert abs(distances.mean() - strict.mean_distance()) < 5.5 * error


def test_seeds_and_steps():
    model = make((2, 2, 2), 0.6)
    for options in ({"method": "exact"}, {"method": "mcmc"}):
        assert model.sample(20, rng=1, **options) == model.sample(20, rng=1, **options)
        assert model.sample(20, rng=1, **options) != model.sample(20, rng=2, **options)
    assert model.sample_pseudo(20, rng=1) == model.sample_pseudo(20, rng=1)
    assert model.sample_pseudo(20, rng=1) != model.sample_pseudo(20, rng=2)
    one_step = model.sample(50, rng=1, method="mcmc", steps=1)
    assert (model.distances(one_step) == 0).mean() > 0.3
    assert model.sample(20, rng=1) == model.sample(20, rng=1, method="exact")


def test_items_keep_their_names():
    model = ClusteredMallows(Tiers([["b"], ["c", "a"]]), 50.0)
    for ordering in model.sample(10, rng=1).to_orderings():
        assert ordering[0] == "b"
        assert set(ordering) == {"a", "b", "c"}
