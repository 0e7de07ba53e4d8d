"""All size vectors compared at once, against fits of each by itself."""

import numpy as np
import pytest

import tierwise as tw
from tierwise.answers.likelihood import source_of
from tierwise.data.counts import Counts
from tierwise.distances import get_distance
from tierwise.mixture.every_size import EverySize
from tierwise.model.priors import Gamma
from tierwise.searching.evaluate import Setting, evaluate_sizes


@pytest.mark.parametrize("name", ["kendall", "inversions", "hamming", "footrule", "spearman"])
@pytest.mark.parametrize("n_items", [2, 3, 6])
def test_fits_are_those_of_each_size_vector_by_itself(name, n_items):
    rng, distance = np.random.default_rng(n_items), get_distance(name)
    orders = rng.permuted(np.tile(np.arange(n_items), (40, 1)), axis=1)
    orders[::3] = np.arange(n_items)
    rankings = tw.Rankings.from_order_array(range(n_items), orders)
    weights = rng.random(len(rankings.patterns))
    counts = Counts.of_places(rankings.items, rankings.patterns, weights)
    every = EverySize(n_items, distance)
    found = every.best(counts, number=1000)
    source = source_of(rankings, distance).reweighted(weights)
    setting = Setting(source, Gamma(2.0, 2.0), entropy=0)
    for one in found:
        expected = evaluate_sizes(setting, one.sizes, "likelihood")
        assert one.criterion == pytest.approx(expected.criterion, abs=1e-7)
        assert one.theta == pytest.approx(expected.theta, abs=1e-6)
        assert np.array_equal(one.labels, expected.labels)
    criteria = [one.criterion for one in found]
    assert criteria == sorted(criteria, reverse=True)
    assert {one.sizes for one in found} == set(every.sizes)
    # What is left out by a bound is not among the best.
    few = every.best(counts, number=5)
    assert [one.sizes for one in few] == [one.sizes for one in found[:5]]


@pytest.mark.parametrize("name", ["kendall", "inversions", "hamming", "footrule", "spearman"])
def test_perfect_agreement_has_an_infinite_theta(name):
    rankings = tw.Rankings.from_orderings([["a", "b", "c"]], weights=[7])
    best, *_ = EverySize(3, get_distance(name)).best(Counts.of(rankings), number=4)
    assert best.sizes == (1, 1, 1)
    assert best.labels.tolist() == [0, 1, 2]
    assert np.isinf(best.theta)
