"""Whether there are enough answers: claims, forecasts, and how often the rule errs."""

import json
import pickle

import numpy as np
import pytest

import tierwise as tw
from tierwise.planning.asking import Design
from tierwise.planning.claims import chances_of_claims, claims_hold, drawn_tiers
from tierwise.planning.plan import add_answers, short_chains
from tierwise.planning.stopping import _state_of_draw
from tierwise.posterior.estimates import share_above
from tierwise.posterior.run import DrawnTiers, draw_tiers_from

pytestmark = pytest.mark.thorough

TIERS = tw.Tiers([["a"], ["b", "c"]])


def test_claims_by_their_definition():
    rng = np.random.default_rng(1)
    draws = rng.integers(1, 5, size=(200, 5))
    labels = np.array([0, 1, 1, 2, 2])
    kinds = [("boundary", 0), ("tie", 1), ("boundary", 1), ("tie", 2)]
    held = claims_hold(labels, kinds, DrawnTiers(draws))
    for draw, row in zip(draws.tolist(), held.tolist(), strict=True):
        a, b, c, d, e = draw
        assert row == [
            a < b and a < c,
            b == c,
            b < d and b < e and c < d and c < e,
            d == e,
        ]


def test_near_ties_hold_by_their_definition():
    """Nobody in the tier would be preferred to another by more than 55%."""
    rng = np.random.default_rng(2)
    logs = np.sort(rng.normal(scale=0.2, size=(200, 4)), axis=1)[:, ::-1]
    draws = np.tile(np.arange(1, 5), (200, 1))
    held = claims_hold(np.array([0, 1, 1, 1]), [("tie", 1)], DrawnTiers(draws, logs))
    preferred = 1.0 / (1.0 + np.exp(logs[:, 3] - logs[:, 1]))
    assert held[:, 0].tolist() == (preferred <= 0.55).tolist()
    assert held.any()
    assert not held.all()


def test_claims_are_as_probable_as_the_posterior_says():
    """Two items: the tie and the difference are those of the tables of the posterior."""
    data = tw.ClusteredLuce(tw.Tiers([["a"], ["b"]]), (1.4, 1.0)).sample(60, rng=3)
    posterior = tw.sample_posterior(data, family="luce", rng=1)
    draws, labels = drawn_tiers(posterior), np.array([0, 1])
    boundary = chances_of_claims(labels, [("boundary", 0)], draws)
    assert boundary.holds[0] == posterior.above_probabilities().to_numpy()[0, 1]
    tie = chances_of_claims(np.array([0, 0]), [("tie", 0)], draws)
    near = posterior.tied_or_nearly_probabilities().to_numpy()[0, 1]
    assert tie.holds[0] == pytest.approx(near, abs=1e-12)
    strict = 1.0 - share_above(posterior.labels)[0, 1] - share_above(posterior.labels)[1, 0]
    assert abs(tie.holds[0] - strict) > 0.05


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
        if claim.state == "open" and claim.further is not None:
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


def test_claims_that_are_ruled_out_get_no_forecast():
    """Their contrary is as sure as was asked for: more answers will not settle them."""
    names = list("abcdef")
    ladder = tw.ClusteredLuce(tw.Tiers([[name] for name in names]), (243, 81, 27, 9, 3, 1))
    choice = tw.choose(ladder.sample(100, rng=1), family="luce", rng=1)
    # Later answers have the last three items in the contrary order.
    turned = tw.ClusteredLuce(tw.Tiers([[name] for name in "abcfed"]), (36, 18, 9, 6, 3, 1))
    data = turned.sample(40, rng=4)
    found = tw.enough(data, choice=choice, futures=3, streams=0, rng=1)
    states = {claim.state for claim in found.claims}
    assert "ruled out" in states
    for claim in found.claims:
        # The contrary is given under the other prior, so only nearly the complement.
        assert (claim.state == "ruled out") <= (claim.probability <= 0.1)
        assert bool(claim.shares) == (claim.state == "open")
    assert not found.settled
    if states == {"ruled out"}:
        assert "does not hold for all items" in found.sentence()


def test_forecasts_count_the_futures_that_stay_open(unclear):
    for claim in unclear.claims:
        if claim.state != "open":
            continue
        assert len(claim.shares) == len(unclear.further_tried)
        # Six futures, and the one that comes.
        assert all(share in {number / 7 for number in range(7)} for share in claim.shares)
        reached = [
            number
            for number, share in zip(unclear.further_tried, claim.shares, strict=True)
            if share >= 0.8
        ]
        assert (claim.further is None) == (not reached)


def test_without_futures_nothing_is_forecast():
    model = tw.ClusteredLuce(tw.Tiers([["a"], ["b"], ["c"]]), (3.0, 1.4, 1.0))
    found = tw.enough(model.sample(40, rng=8), settle="tiers", futures=0, streams=0, rng=1)
    assert found.further_tried == ()
    assert "futures" not in found.sentence()
    assert "holds with a probability of" in found.sentence()


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        ("complete", {"family": "luce"}),
        ("pairs", {"family": "luce"}),
        ("pairs", {"family": "mallows"}),
        ("complete", {"distance": "inversions"}),
        pytest.param("subsets", {"distance": "inversions"}, marks=pytest.mark.slow),
    ],
)
def test_chains_that_begin_at_the_truth_draw_from_the_posterior(ask, named):
    """They agree with long chains that begin elsewhere and are warmed up."""
    model = tw.ClusteredLuce(tw.Tiers([["a"], ["b"], ["c", "d"]]), (4.0, 2.0, 1.0))
    rng = np.random.default_rng(3)
    data = Design(ask, 3 if ask == "subsets" else None).answers(model, 120, rng)
    choice = tw.choose(data, progress="off", rng=1, **named)
    sweeps = 8 if ask == "subsets" else 1
    with short_chains():
        long = tw.sample_posterior(data, choice=choice, sampler=tw.Sampler(thin=sweeps), rng=5)
    truth = _state_of_draw(long, 17)
    short = draw_tiers_from(data, choice, truth, 4000, np.random.SeedSequence(2), sweeps)
    assert share_above(short.labels) == pytest.approx(share_above(long.labels), abs=0.06)


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


def test_numbers_of_numpy_beside_tuples_as_items():
    places = np.argsort(np.random.default_rng(3).random((20, 3)), axis=1).astype(np.int32)
    data = tw.Rankings((("a", 1), np.int64(70), ""), places)
    found = tw.enough(data, futures=2, streams=1, rng=np.random.SeedSequence(67))
    assert set(found.tiers.items) == {("a", 1), 70, ""}


def test_items_in_any_order_have_the_same_forecast():
    """Further battles are added in the order of the items: sums of battles sort them."""
    items = ("d", "a", "c", "b")
    decided = np.array([[0, 7, 14, 15], [7, 0, 12, 13], [5, 7, 0, 9], [4, 6, 9, 0]], dtype=float)
    as_given = tw.Battles(items, decided, np.zeros((4, 4)))
    joined = add_answers(as_given, as_given)
    assert joined.items == items
    assert (joined.decided == 2 * decided).all()
    order = np.argsort(items)
    sorted_items = tuple(sorted(items))
    in_order = tw.Battles(sorted_items, decided[np.ix_(order, order)], np.zeros((4, 4)))
    options = {"futures": 20, "streams": 0, "rng": 1, "workers": 1, "progress": "off"}
    claims = [tw.enough(one, **options).claims for one in (as_given, in_order)]
    [(one, other)] = zip(*claims, strict=True)
    assert one.state == other.state == "open"
    # With an eighth as many answers again, little changes.
    assert one.shares[0] < 0.5
    assert other.shares[0] < 0.5
