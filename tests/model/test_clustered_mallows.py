"""The model: probabilities, moments, pseudo-likelihood, and what it refuses."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import reference
from tierwise import InputError, Rankings, Tiers, TooLargeError
from tierwise.model.clustered_mallows import ClusteredMallows

NAMES = sorted(reference.DISTANCES)


def make(sizes, theta, distance="kendall", **options):
    return ClusteredMallows(Tiers.from_sizes(sizes, range(sum(sizes))), theta, distance, **options)


@pytest.mark.parametrize("name", NAMES)
@given(
    labels=st.sampled_from([(1, 0, 0, 1, 2), (0, 0, 1, 1), (2, 0, 1), (1, 1, 0, 0, 0)]),
    theta=st.floats(0, 3),
)
def test_log_prob_of_every_ordering(name, labels, theta):
    sizes = tuple(np.bincount(labels).tolist())
    brute = reference.BruteForce(sizes, name, labels)
    tiers = Tiers.from_labels([label + 1 for label in labels], items=range(len(labels)))
    model = ClusteredMallows(tiers, theta, name)
    rankings = Rankings.from_order_array(np.array(brute.orderings), range(len(labels)))
    assert model.distances(rankings).tolist() == brute.distances
    np.testing.assert_allclose(
        model.log_prob(rankings), np.log(brute.probabilities(theta)), rtol=1e-10, atol=1e-13
    )
    assert model.log_partition() == pytest.approx(brute.log_partition(theta), rel=1e-10)
    assert model.mean_distance() == pytest.approx(brute.mean(theta), rel=1e-10)
    assert model.var_distance() == pytest.approx(brute.variance(theta), rel=1e-9)
    np.testing.assert_allclose(
        model.rank_tier_probabilities().probabilities, brute.rank_tiers(theta), rtol=1e-10
    )
    distribution = model.distance_distribution()
    assert dict(zip(distribution.distances, distribution.counts, strict=True)) == brute.counts()


def test_the_papers_example():
    tiers = Tiers.from_labels([1, 1, 2, 2])
    rankings = Rankings.from_orderings([[1, 3, 2, 4]])
    kendall = ClusteredMallows(tiers, 0.5, "kendall")
    assert kendall.log_prob(rankings)[0] == pytest.approx(-3.593273, abs=5e-7)
    assert kendall.log_pseudo_likelihood(rankings)[0] == pytest.approx(-3.487, abs=5e-4)
    hamming = ClusteredMallows(tiers, 0.5, "hamming")
    assert hamming.log_prob(rankings)[0] == pytest.approx(-3.344438, abs=5e-7)


@pytest.mark.parametrize(
    ("theta", "first", "last"), [(0.244, 0.240031, 0.059465), (0.291, 0.270600, 0.044741)]
)
def test_known_rank_tier_probabilities(theta, first, last):
    found = make((1, 1, 1, 2, 3, 2), theta).rank_tier_probabilities()
    assert found.exact
    assert found.probabilities.shape == (10, 6)
    assert found.probabilities[0, 0] == pytest.approx(first, abs=5e-7)
    assert found.probabilities[0, 5] == pytest.approx(last, abs=5e-7)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1, rtol=1e-12)
    assert not found.standard_errors.any()


@pytest.mark.parametrize("name", NAMES)
def test_estimated_rank_tier_probabilities(name):
    model = make((2, 1, 3), 0.4, name)
    exact = model.rank_tier_probabilities()
    estimated = model.rank_tier_probabilities(method="monte-carlo", draws=5000, rng=4)
    assert not estimated.exact
    assert (estimated.standard_errors > 0).all()
    off = np.abs(estimated.probabilities - exact.probabilities)
    assert (off < 6 * estimated.standard_errors).all()
    # The block of one place: its errors are those of a coin.
    coin = np.sqrt(exact.probabilities[2] * (1 - exact.probabilities[2]) / 5000)
    np.testing.assert_allclose(estimated.standard_errors[2], coin, rtol=0.2)
    np.testing.assert_allclose(estimated.probabilities.sum(axis=1), 1, rtol=1e-12)


@given(
    sizes=st.sampled_from([(1, 2, 2), (2, 2), (1, 1, 1), (4,), (3, 1)]),
    theta=st.floats(0, 3),
)
def test_pseudo_likelihood_of_every_ordering(sizes, theta):
    brute = reference.BruteForce(sizes, "kendall")
    rankings = Rankings.from_order_array(np.array(brute.orderings), range(sum(sizes)))
    found = make(sizes, theta).log_pseudo_likelihood(rankings)
    expected = [
        log(reference.pseudo_likelihood(ordering, brute.labels, theta))
        for ordering in brute.orderings
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
    assert np.exp(found).sum() == pytest.approx(1)


def test_one_value_for_each_answer_in_the_order_given():
    model = ClusteredMallows(Tiers([["a"], ["b", "c"]]), 0.7)
    rows = [["c", "a", "b"], ["a", "b", "c"], ["c", "a", "b"], ["a", "c", "b"]]
    rankings = Rankings.from_orderings(rows, items=["c", "b", "a"], weights=[1, 5, 1, 2])
    assert model.distances(rankings).tolist() == [2, 0, 2, 0]
    one_by_one = [model.log_prob(Rankings.from_orderings([row]))[0] for row in rows]
    assert model.log_prob(rankings).tolist() == one_by_one


def test_theta_zero_and_very_large():
    rankings = Rankings.from_order_array(np.array([[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]]), range(5))
    for name in NAMES:
        uniform = make((2, 3), 0, name)
        assert uniform.log_prob(rankings) == pytest.approx(-log(120))
        sharp = make((2, 3), 1e6, name)
        assert sharp.log_prob(rankings)[0] == pytest.approx(-log(12))
        assert sharp.mean_distance() == 0
        np.testing.assert_allclose(
            sharp.rank_tier_probabilities().probabilities,
            [[1, 0], [1, 0], [0, 1], [0, 1], [0, 1]],
            atol=1e-12,
        )
        assert (sharp.distances(sharp.sample(50, rng=1)) == 0).all()


def test_equal_models_and_how_they_print():
    model = ClusteredMallows(Tiers([["a"], ["b", "c"]]), 1)
    assert repr(model) == "ClusteredMallows(a > b ~ c, theta=1.0, distance='kendall')"
    assert model == ClusteredMallows(Tiers([["a"], ["c", "b"]]), 1.0, "kendall")
    assert model != ClusteredMallows(Tiers([["a"], ["b", "c"]]), 1.0, "hamming")
    with pytest.raises(AttributeError):
        model.theta = 2.0


@pytest.mark.parametrize("theta", [-1, float("nan"), "x", None])
def test_bad_theta(theta):
    with pytest.raises(InputError, match="theta"):
        make((1, 2), theta)


def test_bad_tiers_and_distance():
    with pytest.raises(InputError, match="Tiers"):
        ClusteredMallows([["a"], ["b"]], 1.0)
    with pytest.raises(InputError, match="distance"):
        make((1, 2), 1.0, "euclid")


@pytest.mark.parametrize("ask", ["log_prob", "distances", "log_pseudo_likelihood"])
def test_rankings_that_do_not_fit(ask):
    model = ClusteredMallows(Tiers([["a"], ["b", "c"]]), 1.0)
    with pytest.raises(InputError, match="not in the tiers: 'x'"):
        getattr(model, ask)(Rankings.from_orderings([["a", "b", "x"]]))
    with pytest.raises(InputError, match="only in the tiers: 'c'"):
        getattr(model, ask)(Rankings.from_orderings([["a", "b"]]))


@pytest.mark.parametrize("ask", ["distances", "log_pseudo_likelihood"])
def test_incomplete_rankings_have_neither_distance_nor_pseudo_likelihood(ask):
    model = ClusteredMallows(Tiers([["a"], ["b", "c"]]), 1.0)
    with pytest.raises(InputError, match="complete"):
        getattr(model, ask)(
            Rankings.from_orderings([["a"]], items=["a", "b", "c"], unranked="below")
        )
    with pytest.raises(InputError, match="complete"):
        getattr(model, ask)(Rankings.from_orderings([["a", ["b", "c"]]]))


def test_beyond_the_budget():
    model = make((2, 2, 2), 0.5, budget=1)
    truth = make((2, 2, 2), 0.5)
    estimate = model.log_partition()
    assert estimate.method == "anchored"
    assert estimate == make((2, 2, 2), 0.5, budget=1).log_partition()
    assert abs(estimate - truth.log_partition()) < 8 * estimate.standard_error
    assert not model.rank_tier_probabilities(rng=1, draws=100).exact
    with pytest.raises(TooLargeError, match='method="monte-carlo"'):
        model.rank_tier_probabilities(method="exact")
    with pytest.raises(TooLargeError, match='method="mcmc"'):
        model.sample(3, method="exact")


@pytest.mark.parametrize(
    ("ask", "options", "message"),
    [
        ("sample", {"n_rankings": 0}, "n_rankings"),
        ("sample", {"n_rankings": 2.5}, "n_rankings"),
        ("sample", {"n_rankings": 2, "method": "gibbs"}, "method must be one of"),
        ("sample", {"n_rankings": 2, "method": "mcmc", "steps": 0}, "steps"),
        ("sample_pseudo", {"n_rankings": 0}, "n_rankings"),
        ("rank_tier_probabilities", {"method": "guess"}, "method must be one of"),
        ("rank_tier_probabilities", {"method": "monte-carlo", "draws": 1}, "draws"),
    ],
)
def test_bad_options(ask, options, message):
    with pytest.raises(InputError, match=message):
        getattr(make((1, 2), 0.5), ask)(**options)


def test_rank_tier_probabilities_pass_for_an_array():
    model = ClusteredMallows(Tiers([["a"], ["b", "c"]]), 1.0)
    found = model.rank_tier_probabilities()
    assert found[0, 0] == found.probabilities[0, 0]
    np.testing.assert_array_equal(np.asarray(found), found.probabilities)
