"""Bootstrap of fits with one worth per tier: tiers of all sizes are searched again."""

import json

import numpy as np
import pytest

import tierwise as tw
from tests.checking.test_luce import battles_of, comparisons_of, model_of
from tierwise import Battles, Rankings
from tierwise.luce.estimates import ELO


@pytest.fixture(scope="module")
def rankings():
    return model_of((1, 2, 2), (5.0, 2.0, 1.0)).sample(200, rng=1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nonparametric", "parametric"])
def test_spread_of_strengths_is_their_standard_error(rankings, kind):
    fit = tw.search(rankings, family="luce").best
    assert fit.sizes == (1, 2, 2)
    again = tw.bootstrap(rankings, fit, replicates=200, kind=kind, rng=2)
    assert again.log_worths.shape == again.labels.shape == (200, 5)
    np.testing.assert_allclose(again.log_worths.mean(axis=1), 0.0, atol=1e-9)
    # Where the tiers are the same, worths vary as much as the fit says.
    same = (again.labels == [fit.tiers[item] for item in again.items]).all(axis=1)
    assert same.mean() > 0.3
    for tier, estimate in enumerate(fit.worth_estimates, start=1):
        item = [fit.tiers[item] for item in again.items].index(tier)
        spread = again.log_worths[same, item].std()
        assert spread == pytest.approx(estimate.log_standard_error, rel=0.35)


def test_each_replicate_is_searched_again(rankings):
    fit = tw.search(rankings, family="luce").best
    again = tw.bootstrap(rankings, fit, replicates=60, rng=3)
    numbers = again.labels.max(axis=1)
    assert len(set(numbers.tolist())) > 1
    shares = again.tier_probabilities()
    # Replicates have other numbers of tiers; asked is for the ranks of those that were fitted.
    assert shares.shape == (5, len(fit.sizes))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    tied = again.co_tier_probabilities()
    assert tied[0, 1] == pytest.approx((again.labels[:, 0] == again.labels[:, 1]).mean())
    # Items of a tier have the same worth, and better tiers a higher one.
    for labels, logs in zip(again.labels, again.log_worths, strict=True):
        for first in range(5):
            for second in range(5):
                assert np.sign(labels[first] - labels[second]) == -np.sign(
                    round(logs[first] - logs[second], 9)
                )


def test_a_replicate_is_what_a_search_of_the_same_answers_finds(rankings):
    # All answers are the same, so all resampled data sets are.
    agreed = Rankings.from_orderings([["a", "b", "c"]] * 30)
    fit = tw.search(agreed, family="luce").best
    again = tw.bootstrap(agreed, fit, replicates=3, rng=1)
    own = np.log([fit.worths[fit.tiers[item] - 1] for item in again.items])
    np.testing.assert_allclose(again.log_worths, np.tile(own, (3, 1)), atol=1e-6)


def test_shown_and_stored(rankings):
    fit = tw.search(rankings, family="luce").best
    again = tw.bootstrap(rankings, fit, replicates=50, rng=1)
    intervals = again.strength_intervals()
    low, high = np.quantile(ELO * again.log_worths[:, 0], [0.025, 0.975], method="inverted_cdf")
    assert intervals[0] == (low, high)
    text = again.summary()
    assert "tiers of all sizes searched again in each" in text
    assert "strength" in text
    plain = json.loads(json.dumps(again.to_dict(), allow_nan=False))
    assert plain["sizes"] == "searched"
    assert len(plain["strength_intervals"]) == 5
    assert sum(plain["numbers_of_tiers"].values()) == pytest.approx(1.0)
    assert "theta" not in plain
    assert "strength_low" in again.to_frame().columns
    assert "tiers" in repr(again)
    assert again._repr_html_()
    with pytest.raises(tw.InputError, match="use strength_intervals"):
        again.theta_interval()
    with pytest.raises(tw.InputError, match="use theta_intervals"):
        tw.bootstrap(rankings, tw.fit(rankings, (2, 3)), replicates=2).strength_intervals()


def test_judges_are_drawn_with_all_their_battles():
    rng = np.random.default_rng(1)
    rows = []
    for judge in range(30):
        for _ in range(8):
            first, second = rng.choice(4, 2, replace=False).tolist()
            winner = min(first, second) if rng.random() < 0.8 else max(first, second)
            rows.append((f"m{first}", f"m{second}", f"m{winner}", f"judge {judge}"))
    battles = Battles.from_rows(rows)
    fit = tw.search(battles, family="luce").best
    again = tw.bootstrap(battles, fit, replicates=10, rng=1)
    assert again.resampled == "judges"
    assert tw.bootstrap(battles, fit, replicates=10, unit="battle", rng=1).resampled == "battles"


@pytest.mark.parametrize("cycles", ["error", "keep"])
def test_the_model_answers_what_people_were_asked(cycles):
    model = model_of((1, 3), (4.0, 1.0))
    data = comparisons_of(model, 40, 5, np.random.default_rng(2), cycles)
    fit = tw.fit(data, (1, 3), family="luce")
    again = tw.bootstrap(data, fit, kind="parametric", replicates=30, rng=1)
    first = again.items.index("item 0")
    # The best item stays so in most replicates, and its strength is near that of the fit.
    assert np.median(again.log_worths[:, first]) == pytest.approx(np.log(fit.worths[0]), abs=0.35)


@pytest.mark.thorough
def test_workers_do_not_matter():
    battles = battles_of(model_of((2, 2), (3.0, 1.0)), 300, np.random.default_rng(1))
    fit = tw.search(battles, family="luce").best
    one, two = (
        tw.bootstrap(battles, fit, replicates=50, workers=workers, rng=5) for workers in (1, 2)
    )
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_allclose(one.log_worths, two.log_worths)
