"""Size vectors evaluated together: what is found for each of them alone."""

from itertools import product

import numpy as np
import pytest

import tierwise as tw
from tests.reference import DISTANCES
from tierwise.answers.likelihood import source_of
from tierwise.distances import get_distance
from tierwise.fitting.every_size import every_size
from tierwise.model.priors import Gamma
from tierwise.searching import evaluate
from tierwise.searching.evaluate import (
    Setting,
    bound_together,
    evaluate_sizes,
    evaluate_together,
)
from tierwise.searching.together import Distributions
from tierwise.tiers import compositions

PRIOR = Gamma(2.0, 2.0)


def setting_of(rankings, distance, prior=PRIOR):
    return Setting(source_of(rankings, distance).counted(), prior, entropy=1)


def drawn(n_items, n_rankings, theta, seed, weights=None):
    tiers = tw.Tiers.from_sizes((1,) * n_items, range(n_items))
    rankings = tw.ClusteredMallows(tiers, theta).sample(n_rankings, rng=seed)
    return tw.Rankings(rankings.items, rankings.places, weights=weights)


def assert_same(setting, depth, n_items):
    candidates = list(compositions(n_items))
    for one in evaluate_together(setting, candidates, depth):
        alone = evaluate_sizes(setting, one.sizes, depth)
        assert one.labels.tolist() == alone.labels.tolist()
        assert one.optimal == alone.optimal
        assert one.theta == pytest.approx(alone.theta, rel=1e-9, abs=1e-12)
        assert one.agreement == pytest.approx(alone.agreement, rel=1e-12, nan_ok=True)
        assert one.log_likelihood == pytest.approx(alone.log_likelihood, rel=1e-12)
        assert one.log_integrated == pytest.approx(alone.log_integrated, rel=1e-11, nan_ok=True)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("depth", ["likelihood", "posterior"])
def test_together_is_as_alone(distance, depth):
    assert_same(setting_of(drawn(6, 80, 0.4, 1), distance), depth, 6)


@pytest.mark.parametrize(
    ("n_items", "n_rankings", "theta"), [(7, 3, 0.1), (5, 5000, 0.0), (5, 40, 3.0), (2, 9, 0.2)]
)
def test_few_many_undecided_and_agreeing_rankings(n_items, n_rankings, theta):
    rankings = drawn(n_items, n_rankings, theta, 3)
    for distance in ("kendall", "inversions"):
        assert_same(setting_of(rankings, distance), "posterior", n_items)


def test_all_rankings_agree():
    setting = setting_of(tw.Rankings.from_orderings([list("abcd")] * 12), "kendall")
    assert_same(setting, "posterior", 4)


def test_weights_that_are_no_whole_numbers():
    weights = np.random.default_rng(2).random(60)
    rankings = drawn(6, 60, 0.3, 4, weights)
    for distance in ("kendall", "hamming"):
        assert_same(setting_of(rankings, distance), "posterior", 6)


def test_counts_go_the_same_way():
    rankings = drawn(5, 50, 0.5, 5)
    assert_same(setting_of(tw.Counts.of(rankings), "kendall"), "posterior", 5)


def test_an_unusual_prior_is_integrated_alone():
    rankings = drawn(4, 30, 0.5, 6)
    assert_same(setting_of(rankings, "kendall", Gamma(0.01, 2.0)), "posterior", 4)


def test_what_is_known_is_not_evaluated_again(monkeypatch):
    asked = []
    together, alone = evaluate.evaluate_together, evaluate.evaluate_sizes
    rankings = drawn(6, 30, 0.3, 8)

    def counting_many(setting, batch, depth):
        asked.extend((sizes, depth) for sizes in batch)
        monkeypatch.setattr(evaluate, "evaluate_sizes", alone)
        found = together(setting, batch, depth)
        monkeypatch.setattr(evaluate, "evaluate_sizes", counting_one)
        return found

    def counting_one(setting, sizes, depth):
        asked.append((sizes, depth))
        return alone(setting, sizes, depth)

    monkeypatch.setattr(evaluate, "evaluate_together", counting_many)
    monkeypatch.setattr(evaluate, "evaluate_sizes", counting_one)
    for method, criterion in product(("greedy", "exhaustive"), ("likelihood", "both")):
        asked.clear()
        found = tw.search(rankings, "kendall", method=method, criterion=criterion, rng=1)
        # The winner is solved once more, for the fit that is made of it.
        winner = (found.best.sizes, "likelihood")
        again = [one for one in asked if asked.count(one) > 1]
        assert set(again) <= {winner}
        assert {sizes for sizes, _ in asked} == {one.sizes for one in found.leaderboard}


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("depth", ["likelihood", "posterior"])
@pytest.mark.parametrize("theta", [0.0, 0.2, 4.0])
def test_no_evaluation_is_better_than_its_bound(distance, depth, theta):
    setting, candidates = setting_of(drawn(6, 40, theta, 2), distance), list(compositions(6))
    bounded = bound_together(setting, candidates, depth)
    for bound, one in zip(bounded, evaluate_together(setting, candidates, depth), strict=True):
        assert bound.sizes == one.sizes
        assert bound.log_likelihood >= one.log_likelihood - 1e-9
        if depth == "posterior":
            assert bound.log_integrated >= one.log_integrated - 1e-9


@pytest.mark.parametrize("distance", ["kendall", "hamming"])
@pytest.mark.parametrize("prior", [Gamma(2.0, 2.0), Gamma(1.0, 0.1), Gamma(40.0, 3.0)])
@pytest.mark.parametrize("n_rankings", [0.5, 3.0, 60.0, 1e6])
def test_few_points_integrate_as_many_do(distance, prior, n_rankings):
    vectors = every_size(7, get_distance(distance)).vectors
    rows = np.arange(len(vectors.sizes))
    of_sizes = Distributions(vectors, rows)
    # From answers that agree to those that could not disagree more.
    totals = n_rankings * vectors.unit * np.linspace(0.0, vectors.shares.shape[1] - 1, len(rows))
    values, resolved = of_sizes.log_integrals(totals, n_rankings, prior)
    quick, quickly_resolved = of_sizes.log_integrals(totals, n_rankings, prior, quickly=True)
    assert resolved.mean() > 0.4
    assert quickly_resolved.tolist() == resolved.tolist()
    assert quick == pytest.approx(values, rel=1e-12, abs=1e-9, nan_ok=True)


def test_what_is_not_resolved_has_no_bound():
    setting = setting_of(drawn(4, 30, 0.5, 6), "kendall", Gamma(0.01, 2.0))
    bounded = bound_together(setting, list(compositions(4)), "posterior")
    assert any(np.isposinf(one.log_integrated) for one in bounded)
    assert not any(np.isnan(one.log_integrated) for one in bounded)


@pytest.mark.parametrize("criterion", ["posterior", "likelihood"])
@pytest.mark.parametrize(("theta", "seed"), [(0.15, 1), (0.0, 2)])
def test_the_best_of_more_items_are_found_by_bounds(criterion, theta, seed):
    tiers = tw.Tiers.from_sizes((2, 3, 4, 2), range(11))
    rankings = tw.ClusteredMallows(tiers, theta).sample(40, rng=seed)
    found = tw.search(rankings, "kendall", criterion=criterion, progress="off", rng=1)
    every = tw.search(
        rankings, "kendall", criterion=criterion, method="exhaustive", progress="off", rng=1
    )
    assert found.exhaustive
    assert every.exhaustive
    assert found.method == every.method == "exhaustive"
    assert len(found.leaderboard) < len(every.leaderboard) == 1024
    best, expected = found.leaderboard[:10], every.leaderboard[:10]
    assert [one.sizes for one in best] == [one.sizes for one in expected]
    assert [one.tiers for one in best] == [one.tiers for one in expected]
    assert [one.score for one in best] == [one.score for one in expected]
    assert {one.name for one in found.leaderboard} >= {"strict consensus", "no tiers"}
