"""Whether there are enough answers: claims, forecasts, and how often the rule errs."""

import json
import pickle

import numpy as np
import pytest

import tierwise as tw
from tierwise.planning.stopping import _crossing, claims_hold

TIERS = tw.Tiers([["a"], ["b", "c"]])


def test_claims_by_their_definition():
    rng = np.random.default_rng(1)
    draws = rng.integers(1, 5, size=(200, 5))
    labels = np.array([0, 1, 1, 2, 2])
    kinds = [("boundary", 0), ("tie", 1), ("boundary", 1), ("tie", 2)]
    held = claims_hold(labels, kinds, draws)
    for draw, row in zip(draws.tolist(), held.tolist(), strict=True):
        a, b, c, d, e = draw
        assert row == [
            a < b and a < c,
            b == c,
            b < d and b < e and c < d and c < e,
            d == e,
        ]


@pytest.fixture(scope="module")
def clear():
    model = tw.ClusteredLuce(TIERS, (9.0, 1.0))
    return tw.enough(model.sample(100, rng=1), futures=4, streams=3, rng=1)


@pytest.fixture(scope="module")
def unclear():
    model = tw.ClusteredLuce(tw.Tiers([["a"], ["b"], ["c"]]), (3.0, 1.4, 1.0))
    data = model.sample(40, rng=8)
    return tw.enough(data, settle="tiers", futures=6, streams=0, rng=1)


def test_clear_differences_are_settled(clear):
    assert clear.settled
    assert clear.further == 0
    assert clear.sentence().startswith("Enough: each boundary holds")
    assert clear.n_stopped == 3
    assert clear.n_wrong == 0
    assert "3 of 3 simulated collections" in clear.caution()
    # Three streams without an error do not prove much: 1 - 0.05 ** (1 / 3).
    assert clear.most_wrong == pytest.approx(1 - 0.05 ** (1 / 3))


def test_what_is_open_has_a_forecast(unclear):
    assert not unclear.settled
    for claim in unclear.claims:
        assert claim.settled == (claim.probability >= 0.95)
        if not claim.settled and claim.further is not None:
            assert 0 < claim.further <= 8 * 40
            low, high = claim.interval
            assert low is not None
            assert low <= claim.further
            assert high is None or claim.further <= high
    assert "not simulated" in unclear.caution()


def test_ties_are_claims_only_on_request(clear):
    assert [claim.kind for claim in clear.claims] == ["boundary"]
    model = tw.ClusteredLuce(TIERS, (9.0, 1.0))
    asked = tw.enough(model.sample(100, rng=1), settle="tiers", futures=0, streams=0, rng=1)
    assert [claim.kind for claim in asked.claims] == ["boundary", "tie"]


def test_battles_are_taken_with_their_judges():
    rows = [("a", "b", "a", f"judge {number % 5}") for number in range(40)]
    rows += [("b", "c", "c", "judge 1"), ("b", "c", "b", "judge 2")]
    found = tw.enough(tw.Battles.from_rows(rows), futures=2, streams=2, rng=1)
    assert found.n_answers == 42
    assert found.claims


def test_judges_who_repeat_need_more_answers():
    """Judges who always say the same are worth one battle each, so each step is larger."""
    rows = [("a", "b", "a" if judge % 3 else "b", f"judge {judge}") for judge in range(6)] * 20
    rows += [("b", "c", "b" if judge % 2 else "c", f"judge {judge}") for judge in range(6)] * 20
    found = tw.enough(tw.Battles.from_rows(rows), futures=4, streams=0, rng=1)
    assert found.n_answers == pytest.approx(240)
    wanted = [claim.further for claim in found.claims if claim.further]
    assert all(number > 60 for number in wanted)


def test_survey_weights_are_counted_as_people():
    model = tw.ClusteredLuce(TIERS, (2.0, 1.0))
    orderings = model.sample(30, rng=1).to_orderings()
    weights = np.random.default_rng(1).lognormal(7.0, 0.8, size=30)
    data = tw.Rankings.from_orderings(orderings, weights=weights)
    found = tw.enough(data, futures=3, streams=2, rng=1)
    assert found.n_answers == pytest.approx(30)


def test_noise_has_one_claim_the_tie_of_all():
    data = tw.ClusteredLuce(tw.Tiers([["a", "b", "c"]]), (1.0,)).sample(60, rng=2)
    found = tw.enough(data, futures=0, streams=0, rng=1)
    assert [(claim.kind, claim.tier) for claim in found.claims] == [("tie", 1)]


def test_crossings_lie_where_log_odds_pass_the_certainty():
    even, later = 0.5, 1 / (1 + np.exp(-2 * np.log(19)))
    assert _crossing(10, even, 30, later, 0.95) == pytest.approx(20)
    assert _crossing(0, None, 30, 0.99, 0.95) == 30
    assert _crossing(10, even, 30, 1 - later, 0.95) == pytest.approx(20)


def test_answers_are_shown_and_kept(unclear):
    assert json.loads(json.dumps(unclear.to_dict(), allow_nan=False))["futures"] == 6
    assert pickle.loads(pickle.dumps(unclear)) == unclear
    assert "simulated future" in unclear.summary()


@pytest.mark.parametrize(
    "options", [{"certainty": 1.0}, {"settle": "all"}, {"futures": -1}, {"streams": 1.5}]
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(tw.InputError):
        tw.enough(tw.load_political_goals(), **options)
