"""Battles of the clustered Luce model: probabilities, draws, and everything that is fitted."""

import json

import numpy as np
import pytest

import tierwise as tw
from tests import reference_luce as reference
from tests.inversions.small import chi_square_p_value
from tierwise import InputError

TIERS = tw.Tiers([["x"], ["y", "z"]])
MODEL = tw.ClusteredLuce(TIERS, (2.0, 0.7), first_factor=1.5, draw_factor=0.8)


def test_probabilities_are_those_of_the_definition():
    found = MODEL.battle_probabilities()
    for first, one in enumerate(MODEL.worths):
        for second, other in enumerate(MODEL.worths):
            expected = reference.probabilities_of_outcomes(one, other, 1.5, 0.8)
            assert [table[first, second] for table in found] == pytest.approx(expected)
    plain = tw.ClusteredLuce(TIERS, (2.0, 0.7)).battle_probabilities()
    assert plain.won == pytest.approx(MODEL.pair_probabilities().probabilities)
    assert not plain.drawn.any()


def test_battles_are_drawn_with_these_probabilities():
    battles = MODEL.sample_battles(30_000, rng=1)
    assert battles.n_battles == 30_000
    shown = battles.shown
    lost = (battles.decided - shown.won).T
    for a, b in ((0, 1), (1, 0), (1, 2), (2, 0)):
        worths = [MODEL.worths[tier] for tier in (0, 1, 1)]
        counts = np.array([shown.won[a, b], lost[a, b], shown.drawn[a, b]])
        chances = np.array(reference.probabilities_of_outcomes(worths[a], worths[b], 1.5, 0.8))
        assert chi_square_p_value(counts, counts.sum() * chances) > 1e-3
    assert MODEL.sample_battles(50, rng=1) == MODEL.sample_battles(50, rng=1)
    assert MODEL.sample_battles(50, rng=1) != MODEL.sample_battles(50, rng=2)


def test_log_likelihood_adds_up_over_battles():
    rows = [("x", "y", "x"), ("y", "x", "tie"), ("z", "x", "z"), ("y", "z", "z")]
    battles = tw.Battles.from_rows(rows, drawn="model", position="model")
    worth = {"x": 2.0, "y": 0.7, "z": 0.7}
    expected = 0.0
    for one, other, winner in rows:
        shares = reference.probabilities_of_outcomes(worth[one], worth[other], 1.5, 0.8)
        expected += np.log(shares[[one, other, "tie"].index(winner)])
    assert MODEL.log_likelihood(battles) == pytest.approx(expected)
    with pytest.raises(InputError, match="draw_factor"):
        tw.ClusteredLuce(TIERS, (2.0, 0.7)).log_likelihood(battles)
    with pytest.raises(InputError, match="the battles do not use them"):
        MODEL.log_likelihood(battles.with_drawn("half").with_position("ignore"))


@pytest.mark.parametrize("factor", [0.0, -1.0, np.inf, "much"])
def test_factors_that_are_none_are_refused(factor):
    with pytest.raises(InputError, match="first_factor"):
        tw.ClusteredLuce(TIERS, (2.0, 1.0), first_factor=factor)
    if factor != 0.0:
        with pytest.raises(InputError, match="draw_factor"):
            tw.ClusteredLuce(TIERS, (2.0, 1.0), draw_factor=factor)


@pytest.fixture(scope="module")
def battles():
    """Battles in which the first place helps, and equals draw more often."""
    model = tw.ClusteredLuce(
        tw.Tiers([["v"], ["w", "x"], ["y", "z"]]), (6, 2, 0.4), first_factor=1.4, draw_factor=1.0
    )
    return model.sample_battles(6000, rng=3)


def test_what_is_true_is_found_and_said(battles):
    fit = tw.search(battles).best
    assert str(fit.tiers) == "v > w ~ x > y ~ z"
    position, draws = fit.effect_estimates
    assert (position.name, draws.name) == ("position", "draws")
    assert position.interval[0] < 1.4 < position.interval[1]
    assert draws.interval[0] < 1.0 < draws.interval[1]
    assert position.share == pytest.approx(position.value / (1 + position.value))
    assert draws.share == pytest.approx(draws.value / (1 + position.value + draws.value))
    assert position.log_evidence_gain > 10
    assert draws.log_evidence_gain > 10
    text = fit.summary()
    assert "shown first wins" in text
    assert "are drawn" in text
    values = json.loads(json.dumps(fit.to_dict()))["effect_estimates"]
    assert [effect["name"] for effect in values] == ["position", "draws"]
    model = fit.model()
    assert (model.first_factor, model.draw_factor) == (position.value, draws.value)
    assert model.log_likelihood(battles) == pytest.approx(fit.log_likelihood)
    assert tw.check_fit(battles, fit).verdict == "fits"


def test_evidence_speaks_against_what_is_not_there():
    # Draws that do not depend on worths, and a first place that does not help.
    rng = np.random.default_rng(1)
    rows = []
    for _ in range(4000):
        one, other = rng.permutation(["a", "b", "c"])[:2]
        worth = {"a": 9.0, "b": 1.0, "c": 0.1}
        won = one if rng.random() < worth[one] / (worth[one] + worth[other]) else other
        rows.append((one, other, "tie" if rng.random() < 0.3 else won))
    fit = tw.search(tw.Battles.from_rows(rows, drawn="model", position="model")).best
    position, draws = fit.effect_estimates
    assert position.log_evidence_gain < 0
    assert "against such an advantage" in position.sentence()
    assert draws.log_evidence_gain < -10
    assert "worse in log evidence" in draws.sentence()
    assert tw.check_fit(tw.Battles.from_rows(rows, drawn="model"), fit).verdict == "differs"


def test_worths_are_corrected_for_the_first_place():
    # x is always shown first: it wins 60% of the time only because of that, as others do.
    rng = np.random.default_rng(2)
    rows = [("x", "y", "x" if rng.random() < 0.6 else "y") for _ in range(1000)]
    rows += [("y", "z", "y" if rng.random() < 0.6 else "z") for _ in range(1000)]
    rows += [("z", "y", "z" if rng.random() < 0.6 else "y") for _ in range(1000)]
    battles = tw.Battles.from_rows(rows)
    before = tw.search(battles, family="luce").best
    after = tw.search(battles.with_position("model")).best
    assert len(before.tiers) > 1
    assert len(after.tiers) == 1
    assert after.effect_estimates[0].share == pytest.approx(0.6, abs=0.02)


@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")
def test_a_posterior_draws_the_effects(battles, tmp_path):
    posterior = tw.sample_posterior(battles, chains=2, draws=400, rng=1, progress="off")
    assert posterior.family == "luce"
    fit = tw.search(battles).best
    for draws, effect in zip(
        (posterior.first_factors, posterior.draw_factors), fit.effect_estimates, strict=True
    ):
        assert draws.shape == (800,)
        assert np.log(draws).mean() == pytest.approx(
            np.log(effect.value), abs=0.5 * effect.log_standard_error
        )
        assert np.log(draws).std() == pytest.approx(effect.log_standard_error, rel=0.2)
    assert "of decided battles between equals" in posterior.summary()
    posterior.save(tmp_path / "draws.nc")
    again = tw.Posterior.load(tmp_path / "draws.nc")
    assert np.array_equal(again.draw_factors, posterior.draw_factors)
    plain = tw.sample_posterior(
        battles.with_drawn("half").with_position("ignore"),
        family="luce",
        chains=1,
        draws=50,
        rng=1,
        progress="off",
    )
    assert plain.first_factors is None
    assert plain.draw_factors is None


@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")
def test_a_chain_goes_on_where_it_was(battles, tmp_path):
    options = {"chains": 1, "draws": 60, "rng": 1, "progress": "off"}
    once = tw.sample_posterior(battles, checkpoint=tmp_path, **options)
    again = tw.sample_posterior(battles, checkpoint=tmp_path, **options)
    assert np.array_equal(once.draw_factors, again.draw_factors)


@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")
def test_leaderboards_say_it(battles):
    board = tw.leaderboard(battles, draws=200, chains=2, rng=1, progress="off")
    assert "shown first wins" in board.note()
    assert [effect["name"] for effect in board.to_dict()["effects"]] == ["position", "draws"]
    boot = tw.leaderboard(battles, uncertainty="bootstrap", replicates=5, rng=1, progress="off")
    assert boot.fit.effect_estimates


def test_other_families_have_neither(battles):
    with pytest.raises(InputError, match="only models with worths"):
        tw.fit(battles, (1, 2, 2))
    with pytest.raises(InputError, match="only models with worths"):
        tw.search(battles, family="mallows")
    assert tw.fit(battles, (1, 2, 2), family="luce").effect_estimates
    assert "neither draws nor the first place" in tw.choose(battles).sentence()
