"""How long models may take to be compared."""

import pytest

import tierwise as tw
from tierwise import InputError


def test_a_distance_that_takes_longer_than_the_seconds_is_left_out_and_said():
    goals = tw.load_political_goals()
    every = {"kendall", "inversions", "inversions with a theta per tier", "one worth per tier"}
    assert {one.name for one in tw.search(goals, rng=1).families} == every
    hurried = tw.search(goals, seconds=0, rng=1)
    assert {one.name for one in hurried.families} == every - {"kendall"}
    assert "kendall" in hurried.left_out
    assert "Not compared: kendall" in tw.choose(goals, seconds=0, rng=1).sentence()


def test_a_budget_below_nothing_is_refused():
    with pytest.raises(InputError, match="seconds must be at least 0"):
        tw.search(tw.load_political_goals(), seconds=-1)
