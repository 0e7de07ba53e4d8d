"""What is compared, and for how long, where the model is left open."""

import numpy as np
import pytest

import tierwise as tw
from tests.unrendered import no_forecasts, unrendered_figures
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


def test_the_default_compares_a_theta_per_tier_as_far_as_there_are_draws():
    by_default = tw.choose(tastes(), progress="off", rng=1)
    assert by_default.concentration == "tier"
    assert {family.concentration for family in by_default.search.families} == {"single", "tier"}
    assert "kendall with several thetas" in by_default.search.left_out
    named = tw.choose(tastes(), concentration="single", progress="off", rng=1)
    assert {family.concentration for family in named.search.families} == {"single"}


def up_to_five(theta):
    return np.where(theta < 5.0, 0.0, -np.inf)


@pytest.mark.parametrize(
    "named", [{"distance": "inversions"}, {"priors": tw.Priors(theta=up_to_five)}]
)
def test_who_names_a_distance_or_rules_thetas_out_means_one_theta(named):
    choice = tw.choose(tastes(), progress="off", rng=1, **named)
    assert {family.concentration for family in choice.search.families} == {"single"}


@pytest.mark.thorough
def test_what_people_are_divided_about_has_no_rank_at_any_door(tmp_path):
    data = tastes()
    choice = tw.choose(data, progress="off", rng=1)
    assert choice.fit.divided == ("f",)
    board = tw.leaderboard(data, draws=300, progress="off", rng=1)
    assert board.divided == ("f",)
    assert "f" not in [row.item for row in board.rows]
    assert board.tiers == choice.fit.agreed_tiers
    assert "People are divided about f, which has no rank" in board.note()
    posterior = tw.sample_posterior(data, draws=300, progress="off", rng=1)
    assert posterior.divided_items() == ("f",)
    assert np.isnan(posterior.above_probabilities().sel(item="f")).all()
    assert posterior.best_k_probabilities(1).sel(item="a") == pytest.approx(
        board.rows[0].best_k_probabilities[0], abs=0.05
    )
    assert "people are divided about f" in posterior.summary()
    page = tmp_path / "page.html"
    with unrendered_figures(), no_forecasts():
        shown = tw.report(data, page, replicates=100, progress="off", rng=1)
    assert shown.fit.tiers == choice.fit.tiers
    assert "People are divided about f" in page.read_text("utf-8")


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
