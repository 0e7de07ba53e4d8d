"""What is compared, and for how long, where the model is left open."""

import numpy as np
import pytest

import tierwise as tw
from tierwise.answers.likelihood import source_of
from tierwise.searching.evaluate import Judge
from tierwise.searching.search import _choose
from tierwise.searching.size_space import SizeSpace
from tierwise.searching.strategies import Greedy


def tastes():
    """People who agree about all items but the last, which some love and others do not."""
    rng = np.random.default_rng(1)
    liking = np.array([3.0, 2.0, 1.0, 1.0, 0.0, 0.5]) + rng.gumbel(size=(300, 6))
    liking[:, 5] += np.where(rng.random(300) < 0.5, 3.0, -3.0)
    return tw.Rankings.from_order_array(np.argsort(-liking, axis=1), list("abcdef"))


def test_worths_and_several_thetas_are_compared_where_both_are_open():
    choice = tw.choose(tastes(), concentration="auto", progress="off", rng=1)
    names = [family.name for family in choice.search.families]
    assert {"one worth per tier", "inversions", "kendall"} < set(names)
    assert names[0] == "inversions with a theta per tier"
    assert choice.concentration == "tier"
    by_default = tw.choose(tastes(), progress="off", rng=1)
    assert {family.concentration for family in by_default.search.families} == {"single"}


@pytest.mark.parametrize("concentration", ["tier", "auto"])
def test_who_names_a_distance_does_not_ask_for_worths(concentration):
    found = tw.search(tastes(), "inversions", concentration=concentration, progress="off", rng=1)
    assert {family.family for family in found.families} == {"mallows"}


def test_a_search_takes_no_longer_than_it_may():
    orders = np.random.default_rng(1).permuted(np.tile(np.arange(14), (9, 1)), axis=1)
    source = source_of(tw.Rankings.from_order_array(orders, range(14)), "kendall")
    depth = Judge("posterior", "sceptical", 0.25).depth
    assert _choose(SizeSpace(14), depth, source, 100.0) == "exhaustive"
    assert _choose(SizeSpace(14), depth, source, 5.0) == Greedy()
