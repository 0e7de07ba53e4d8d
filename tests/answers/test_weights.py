"""Weights that are too large to be distinguished are refused, by every function alike."""

import numpy as np
import pytest

import tierwise as tw

ROWS = [list("abc"), list("bca"), list("acb"), list("abc")]
HUGE = [1e14, 1e16, 1e18, 1e200]
CALLS = {
    "fit": lambda data: tw.fit(data, (1, 2)),
    "search": tw.search,
    "sample_posterior": lambda data: tw.sample_posterior(data, draws=9, chains=1, rng=1),
    "leaderboard": lambda data: tw.leaderboard(data, draws=9, chains=1, rng=1),
    "fit_mixture": lambda data: tw.fit_mixture(data, 2, starts=1, rng=1, distance="kendall"),
}


@pytest.mark.parametrize("weight", HUGE)
@pytest.mark.parametrize("name", CALLS)
def test_too_large(name, weight):
    rankings = tw.Rankings.from_orderings(ROWS, weights=[1, 1, 2, weight])
    with pytest.raises(tw.InputError, match="divide all weights by the same number"):
        CALLS[name](rankings)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")  # few draws
def test_just_not_too_large(name):
    rankings = tw.Rankings.from_orderings(ROWS, weights=[1, 1e6, 2e12, 7e12])
    assert repr(CALLS[name](rankings))


def test_too_many_battles():
    wins = np.array([[0.0, 1e14], [1.0, 0.0]])
    battles = tw.Battles(("x", "y"), wins, np.zeros((2, 2)))
    with pytest.raises(tw.InputError, match="divide all weights"):
        tw.leaderboard(battles, draws=9, chains=1, rng=1)
