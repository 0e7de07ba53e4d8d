"""Diagnostics and the warnings that come from them."""

import numpy as np
import pytest

import tierwise as tw
from tests.posterior.small import SIZES, small_rankings
from tierwise.posterior.run import sample_posterior
from tierwise.posterior.summary import _diagnose, _diagnose_indicators, diagnose


def labels_of(n_chains, n_draws):
    return np.tile(np.array([1, 1, 2]), (n_chains, n_draws, 1))


def test_mean_and_deviation_are_those_of_all_draws():
    values = np.random.default_rng(1).normal(size=(4, 300)).cumsum(axis=1) * 0.1
    row = diagnose({"x": values}, labels_of(4, 300), ["a", "b", "c"]).numbers[0]
    assert row.mean == values.mean()
    assert row.sd == values.std()


def test_chains_that_agree_have_no_problems():
    values = np.random.default_rng(1).normal(size=(4, 500))
    found = diagnose({"x": values}, labels_of(4, 500), ["a", "b", "c"])
    assert found.problems == ()
    assert [tie.name for tie in found.ties] == ["a ~ b", "a ~ c", "b ~ c"]
    assert [tie.mean for tie in found.ties] == [1.0, 0.0, 0.0]
    assert all(tie.r_hat == 1.0 for tie in found.ties)


def test_chains_that_are_stuck_are_found_out():
    stuck = np.repeat([[0.0], [0.0], [1.0], [1.0]], 500, axis=1)
    found = diagnose({"x": stuck}, labels_of(4, 500), ["a", "b", "c"])
    assert found.worst_r_hat.r_hat == np.inf
    assert any("R-hat of x is inf" in problem for problem in found.problems)
    assert any("is only 0" in problem for problem in found.problems)
    labels = labels_of(4, 500)
    labels[2:, :, 1] = 2
    found = diagnose({"x": np.random.default_rng(1).normal(size=(4, 500))}, labels, list("abc"))
    assert found.worst_r_hat.name == "a ~ b"
    assert len(found.problems) == 2


def test_warning_says_what_to_do():
    with pytest.warns(tw.TierwiseWarning) as message:
        sample_posterior(
            small_rankings(),
            SIZES,
            sampler=tw.Sampler(method="mcmc"),
            draws=50,
            chains=2,
            rng=1,
            progress="off",
        )
    said = [str(warning.message) for warning in message]
    assert any("use more draws or chains, or a larger thin" in text for text in said)
    assert message[0].filename == __file__


def test_exact_draws_need_no_warning():
    sample_posterior(
        small_rankings(), SIZES, sampler=tw.Sampler(method="exact"), draws=20, chains=1, rng=1
    )


def test_one_chain_and_one_draw_are_enough_to_ask():
    with pytest.warns(tw.TierwiseWarning):
        posterior = sample_posterior(
            small_rankings(),
            SIZES,
            sampler=tw.Sampler(method="mcmc"),
            draws=1,
            chains=1,
            rng=1,
            progress="off",
        )
    assert len(posterior) == 1
    assert "theta" in posterior.summary()


def test_single_chain_is_compared_with_itself():
    rng = np.random.default_rng(1)
    settled = rng.normal(size=(1, 2001))
    moving = settled + np.linspace(0, 5, 2001)
    rows = diagnose({"a": settled, "b": moving}, labels_of(1, 2001), list("abc")).numbers
    assert rows[0].r_hat < 1.01 < 1.1 < rows[1].r_hat


def test_plain_values_hold_all_rows():
    values = np.random.default_rng(1).normal(size=(2, 500))
    plain = diagnose({"x": values}, labels_of(2, 500), ["a", "b", "c"]).to_dict()
    assert set(plain) == {"x", "a ~ b", "a ~ c", "b ~ c"}
    assert set(plain["x"]) == {"mean", "sd", "standard_error", "r_hat", "ess_bulk", "ess_tail"}


@pytest.mark.parametrize("n_chains", [1, 4])
@pytest.mark.parametrize("stay", [0.0, 0.5, 0.97])
def test_indicators_are_diagnosed_as_any_number(n_chains, stay):
    """All at once gives what arviz gives one by one."""
    rng = np.random.default_rng(1)
    n_draws = 201
    indicators = np.empty((5, n_chains, n_draws), dtype=bool)
    for share, rows in zip((0.03, 0.2, 0.5, 0.8, 0.97), indicators, strict=True):
        for chain in rows:
            chain[0] = rng.random() < share
            for draw in range(1, n_draws):
                kept = rng.random() < stay
                chain[draw] = chain[draw - 1] if kept else rng.random() < share
    names = list("abcde")
    for name, values, found in zip(
        names, indicators, _diagnose_indicators(names, indicators), strict=True
    ):
        one = _diagnose(name, values.astype(np.float64))
        assert found.name == name
        for number in ("mean", "sd", "standard_error", "r_hat", "ess_bulk", "ess_tail"):
            assert getattr(found, number) == pytest.approx(getattr(one, number), rel=1e-6)


@pytest.mark.parametrize("n_chains", [1, 2, 4])
@pytest.mark.parametrize("n_draws", [40, 101, 1000])
def test_numbers_are_diagnosed_as_arviz_does(n_chains, n_draws):
    array_stats = vars(pytest.importorskip("arviz_stats.base"))["array_stats"]
    rng = np.random.default_rng(n_chains * n_draws)
    noise = rng.normal(size=(n_chains, n_draws))
    slow = noise.copy()
    for draw in range(1, n_draws):
        slow[:, draw] = 0.9 * slow[:, draw - 1] + noise[:, draw]
    axes = {"chain_axis": 0, "draw_axis": 1}
    for values in (noise, slow, np.round(noise), np.round(slow), (noise > 1.2).astype(float)):
        found = _diagnose("x", values)
        half = n_draws // 2
        compared = values if n_chains > 1 else values[:, : 2 * half].reshape(2, half)
        assert found.r_hat == pytest.approx(array_stats.rhat(compared, **axes), rel=1e-10)
        assert found.ess_bulk == pytest.approx(
            array_stats.ess(values, method="bulk", **axes), rel=1e-10
        )
        assert found.ess_tail == pytest.approx(
            array_stats.ess(values, method="tail", prob=(0.05, 0.95), **axes), rel=1e-10
        )
        assert found.standard_error == pytest.approx(array_stats.mcse(values, **axes), rel=1e-10)


def test_three_draws_say_nothing():
    found = _diagnose("x", np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]]))
    assert (found.r_hat, found.ess_bulk) == (np.inf, 0.0)
