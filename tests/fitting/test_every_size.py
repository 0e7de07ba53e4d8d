"""All size vectors compared at once, against fits of each by itself."""

import numpy as np
import pytest

import tierwise as tw
from tests.reference import DISTANCES
from tierwise.answers.likelihood import source_of
from tierwise.data.counts import Counts
from tierwise.distances import get_distance
from tierwise.fitting.every_size import EverySize
from tierwise.model.priors import Gamma
from tierwise.partition.choose import partition_function
from tierwise.searching.evaluate import Setting, evaluate_sizes


@pytest.mark.parametrize("name", DISTANCES)
@pytest.mark.parametrize("n_items", [2, 3, 6])
def test_fits_are_those_of_each_size_vector_by_itself(name, n_items):
    rng, distance = np.random.default_rng(n_items), get_distance(name)
    orders = rng.permuted(np.tile(np.arange(n_items), (40, 1)), axis=1)
    orders[::3] = np.arange(n_items)
    rankings = tw.Rankings.from_order_array(orders, range(n_items))
    weights = rng.random(len(rankings.patterns))
    counts = Counts.of_places(rankings.items, rankings.patterns, weights)
    every = EverySize(n_items, distance)
    found = every.best(counts, number=1000)
    source = source_of(rankings, distance).reweighted(weights)
    setting = Setting(source, Gamma(2.0, 2.0), entropy=0)
    criteria = []
    for row, labels, theta, _, log_likelihood in zip(*found, strict=True):
        expected = evaluate_sizes(setting, every.sizes[row], "likelihood")
        assert log_likelihood == pytest.approx(expected.log_likelihood, abs=1e-7)
        assert theta == pytest.approx(expected.theta, abs=1e-6)
        assert np.array_equal(labels, expected.labels)
        criteria.append(expected.criterion)
    assert criteria == sorted(criteria, reverse=True)
    assert sorted(found.rows) == list(range(len(every.sizes)))
    # What is left out by a bound is not among the best.
    assert every.best(counts, number=5).rows.tolist() == found.rows[:5].tolist()


@pytest.mark.parametrize("name", DISTANCES)
def test_perfect_agreement_has_an_infinite_theta(name):
    rankings = tw.Rankings.from_orderings([["a", "b", "c"]], weights=[7])
    every = EverySize(3, get_distance(name))
    best = every.best(Counts.of(rankings), number=4)
    assert every.sizes[best.rows[0]] == (1, 1, 1)
    assert best.labels[0].tolist() == [0, 1, 2]
    assert np.isinf(best.thetas[0])


@pytest.mark.parametrize("name", DISTANCES)
def test_numbers_of_orderings_are_those_of_each_size_vector(name):
    distance = get_distance(name)
    every = EverySize(6, distance)
    for row, sizes in enumerate(every.sizes):
        known = partition_function(sizes, distance).distribution()
        units = np.rint(known.distances / every.vectors.unit).astype(int)
        expected = np.zeros(every.vectors.shares.shape[1])
        expected[units] = np.exp(known.log_counts - known.log_counts[0])
        assert every.vectors.shares[row] == pytest.approx(expected, rel=1e-12)
        assert every.vectors.log_orders[row] == known.log_counts[0]
