import json

import numpy as np
import pytest

import tierwise as tw
from tierwise import InputError, Rankings


@pytest.fixture(scope="module")
def goals():
    return tw.load_political_goals()


@pytest.fixture(scope="module")
def fitted(goals):
    return tw.fit(goals, (2, 2))


@pytest.mark.parametrize("kind", ["nonparametric", "parametric"])
def test_spread_of_theta_is_its_standard_error(goals, fitted, kind):
    again = tw.bootstrap(goals, fitted, replicates=400, kind=kind, rng=1)
    low, high = again.theta_interval()
    assert low < fitted.theta < high
    # The model fits these data well enough for both to be near the Fisher information.
    ratio = again.thetas.std() / fitted.theta_estimate.standard_error
    assert 0.75 < ratio < 1.35
    assert again.kind == kind
    assert len(again) == 400


@pytest.mark.thorough
def test_the_answer_does_not_depend_on_workers_or_batches(goals, fitted):
    one = tw.bootstrap(goals, fitted, replicates=60, rng=7)
    two = tw.bootstrap(goals, fitted, replicates=60, workers=2, rng=7)
    np.testing.assert_array_equal(one.thetas, two.thetas)
    np.testing.assert_array_equal(one.labels, two.labels)
    fewer = tw.bootstrap(goals, fitted, replicates=30, rng=7)
    np.testing.assert_array_equal(one.thetas[:30], fewer.thetas)
    other = tw.bootstrap(goals, fitted, replicates=30, rng=8)
    assert not np.array_equal(other.thetas, fewer.thetas)


def test_probabilities_count_replicates():
    rng = np.random.default_rng(2)
    rankings = Rankings.from_order_array(rng.permuted([range(4)] * 25, axis=1), "abcd")
    fitted = tw.fit(rankings, (1, 2, 1))
    again = tw.bootstrap(rankings, fitted, replicates=200, rng=3)
    shares = again.tier_probabilities()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares.sum(axis=0), [1, 2, 1])
    tied = again.co_tier_probabilities()
    np.testing.assert_allclose(np.diag(tied), 1)
    np.testing.assert_allclose(tied, tied.T)
    # Each replicate ties exactly one pair.
    assert np.triu(tied, k=1).sum() == pytest.approx(1)
    first, second = again.labels[:, 0], again.labels[:, 1]
    assert tied[0, 1] == pytest.approx((first == second).mean())
    assert shares[0, 0] == pytest.approx((first == 1).mean())


def test_items_keep_their_names_when_the_orders_differ(goals, fitted):
    shuffled = goals.restrict(["speech", "prices", "order", "say"])
    again = tw.bootstrap(shuffled, fitted, replicates=20, rng=1)
    np.testing.assert_allclose(again.tier_probabilities()[:, 0], np.array(fitted.tiers.labels) == 1)


def test_fractional_weights_are_resampled_with_their_answers():
    rankings = Rankings.from_orderings([["a", "b"], ["b", "a"], ["a", "b"]], weights=[0.5, 1, 2.5])
    again = tw.bootstrap(rankings, tw.fit(rankings, (1, 1)), replicates=50, rng=1)
    assert len(np.unique(again.thetas)) > 3


def test_progress_is_told(goals, fitted):
    reports = []
    tw.bootstrap(goals, fitted, replicates=60, rng=1, progress=lambda *what: reports.append(what))
    assert reports[-1] == ("bootstrap", 3, 3)


def test_shown_and_stored(goals, fitted):
    again = tw.bootstrap(goals, fitted, replicates=20, rng=1)
    assert "20 nonparametric replicates" in again.summary()
    assert "prices" in again.summary()
    document = json.loads(json.dumps(again.to_dict(), allow_nan=False))
    assert document["replicates"] == 20
    assert document["provenance"]["seed"] == 1
    assert "20 nonparametric" in repr(again)
    assert again.theta_interval(0.5)[1] < again.theta_interval(0.99)[1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"replicates": 0}, "at least 1"),
        ({"kind": "magic"}, "nonparametric"),
        ({"workers": 0}, "workers"),
    ],
)
def test_bad_arguments_are_refused(goals, fitted, arguments, complaint):
    with pytest.raises(InputError, match=complaint):
        tw.bootstrap(goals, fitted, **arguments)


def test_other_items_and_infinite_theta_are_refused(fitted):
    other = Rankings.from_orderings([["a", "b"]])
    with pytest.raises(InputError, match="other items"):
        tw.bootstrap(other, fitted)
    perfect = tw.fit(other, (1, 1))
    with pytest.raises(InputError, match="infinite"):
        tw.bootstrap(other, perfect, kind="parametric")
    assert np.isinf(tw.bootstrap(other, perfect, replicates=3).thetas).all()
