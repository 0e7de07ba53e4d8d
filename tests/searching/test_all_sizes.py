"""Search by posterior probability, all sizes at once, and the distance that the data choose."""

from math import exp

import numpy as np
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tierwise.answers.likelihood import source_of
from tierwise.data.counts import WeakOrderCounts
from tierwise.errors import InputError
from tierwise.evidence.given_tiers import log_integrated_likelihood, log_integrated_thetas
from tierwise.inversions.searching import search_tiers
from tierwise.model.priors import as_theta_prior, log_prior_of_sizes
from tierwise.partition.choose import partition_function
from tierwise.searching import all_sizes
from tierwise.tiers import log_number_of_tiers


def simulated(sizes, theta, n_rankings, seed, distance="inversions"):
    tiers = tw.Tiers.from_sizes(sizes, range(sum(sizes)))
    return tw.ClusteredMallows(tiers, theta, distance).sample(n_rankings, rng=seed)


def noise(n_items, n_rankings, seed):
    rng = np.random.default_rng(seed)
    orders = np.array([rng.permutation(n_items) for _ in range(n_rankings)])
    return tw.Rankings.from_order_array(orders, range(n_items))


@pytest.mark.parametrize("n_items", [2, 5, 9])
def test_half_of_the_sceptical_prior_is_for_no_tiers(n_items):
    weights = {
        sizes: exp(log_prior_of_sizes("sceptical", sizes)) for sizes in tw.compositions(n_items)
    }
    assert weights[(n_items,)] / sum(weights.values()) == pytest.approx(0.5)
    if n_items > 2:
        assert weights[(1, n_items - 1)] / weights[(1, 1, n_items - 2)] == pytest.approx(exp(1))


def test_the_score_is_the_posterior_probability():
    rankings = simulated((2, 2, 1), 0.8, 60, seed=1)
    found = tw.search(
        rankings, "inversions", priors=tw.Priors(sizes="penalised", theta=tw.Gamma(3, 2))
    )
    for one in found.leaderboard[:6]:
        source = source_of(rankings, "inversions")
        fitted = tw.fit(rankings, one.sizes, "inversions")
        integrated = log_integrated_likelihood(
            source.at(one.sizes),
            one.tiers.label_array(rankings.items),
            fitted.theta_estimate,
            tw.Gamma(3, 2),
        )
        expected = float(integrated) - log_number_of_tiers(one.sizes) - len(one.sizes)
        assert one.score == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    "criterion", [pytest.param("posterior", marks=pytest.mark.slow), "likelihood"]
)
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
)
def test_all_sizes_at_once_finds_what_one_by_one_finds(criterion, seed):
    rankings = simulated((1, 3, 3, 2, 2), 0.25, 40, seed)
    at_once = tw.search(rankings, "inversions", criterion=criterion, rng=1)
    one_by_one = tw.search(
        rankings, "inversions", criterion=criterion, method="exhaustive", workers=1
    )
    assert at_once.method == "all sizes"
    assert at_once.exhaustive
    assert at_once.best.optimal
    assert at_once.best.tiers == one_by_one.best.tiers
    assert at_once.leaderboard[0].score == pytest.approx(one_by_one.leaderboard[0].score)
    names = {one.name for one in at_once.leaderboard}
    assert {"strict consensus", "no tiers"} <= names


def test_ties_and_short_lists_go_the_same_way():
    complete = simulated((2, 4, 3), 0.5, 60, seed=3)
    lists = [order[:4] for order in complete.to_orderings()]
    top = tw.Rankings.from_orderings(lists, items=complete.items, unranked="below")
    at_once = tw.search(top, "inversions", rng=1)
    assert at_once.method == "all sizes"
    near = tw.fit(top, at_once.best.sizes, "inversions", rng=1)
    assert at_once.best.log_likelihood >= near.log_likelihood - 1e-6


@pytest.mark.thorough
def test_many_items():
    rankings = simulated((8, 15, 12, 5), 0.15, 150, seed=5)
    found = tw.search(rankings)
    assert found.best.distance == "inversions"
    assert found.best.sizes == (8, 15, 12, 5)
    names = ["inversions", "inversions with a theta per tier", "one worth per tier"]
    assert [one.name for one in found.families] == names
    assert set(found.left_out) == {"kendall"}
    assert not found.exhaustive
    assert "searched at once" in found.summary()
    again = tw.search(tw.Counts.of(rankings), "inversions")
    assert again.best.tiers == found.best.tiers


def test_the_data_choose_the_distance():
    for distance, sizes in (("kendall", (2, 3)), ("inversions", (1, 3, 1))):
        rankings = simulated(sizes, 1.0, 300, 7, distance)
        found = tw.search(rankings, family="mallows")
        assert found.best.distance == distance
        assert found.best.sizes == sizes
        assert found.families[0].behind == 0.0
        assert {one.distance for one in found.families} == {"kendall", "inversions"}
        assert f"{distance} describes the data best" in found.summary()
        assert found.to_dict()["families"][0]["distance"] == distance
        named = tw.search(rankings, distance)
        # What a model says does not depend on which others it is compared with.
        assert named.leaderboard[0].score == pytest.approx(found.families[0].score, abs=1e-9)


def test_no_distance_is_best_where_there_are_no_tiers():
    found = tw.search(noise(5, 20, seed=0))
    assert found.best.sizes == (5,)
    assert "describes the data best" not in found.summary()
    assert "That holds for all models compared: " in found.summary()


@pytest.mark.thorough
def test_noise_is_called_no_tiers():
    found = [tw.search(noise(5, 20, seed)).best.sizes for seed in range(40)]
    # The paper's criterion finds tiers in about half of such data sets.
    assert sum(sizes == (5,) for sizes in found) >= 37


def test_the_sushi_of_tohoku():
    rankings = tw.load_sushi(shared_data("sushi"), region="Tohoku")
    found = tw.search(rankings, concentration="single")
    assert found.best.distance == "inversions"
    assert found.best.sizes == (1, 5, 2, 1, 1)
    assert found.best.criterion == pytest.approx(-3948.02, abs=0.005)
    assert found.best.theta == pytest.approx(0.3006, abs=5e-5)
    assert found.best.optimal
    assert str(found.best.tiers).startswith("fatty tuna > ")


def test_people_of_tohoku_are_divided_about_some_sushi():
    found = tw.search(tw.load_sushi(shared_data("sushi"), region="Tohoku"))
    assert found.best.concentration == "tier"
    assert set(found.best.divided) == {"sea eel", "sea urchin", "salmon roe"}
    assert "people are divided about" in " ".join(found.summary().split())
    assert found.best.agreed_tiers.items[0] == "fatty tuna"
    one_theta = next(one for one in found.families if one.name == "inversions")
    assert one_theta.behind > 3.0


def test_the_leaderboard_of_several_thetas_is_by_their_own_evidence():
    tiers = tw.Tiers([["a"], ["b", "c"], ["d", "e"]])
    answers = tw.ClusteredMallows(tiers, (1.2, 0.3), "inversions", "tier").sample(200, rng=1)
    found = tw.search(answers, "inversions", concentration="tier", rng=1)
    assert "theta" not in found.summary().split("\n\n")[1]
    for one in found.leaderboard[:5]:
        partition = partition_function(one.sizes, "inversions", concentration="tier")
        value = log_integrated_thetas(
            source_of(answers, "inversions").with_thetas(partition),
            one.tiers.label_array(answers.items),
            as_theta_prior(tw.Priors().theta),
        )
        expected = float(value) - log_number_of_tiers(one.sizes)
        expected += log_prior_of_sizes("sceptical", one.sizes)
        assert one.score == pytest.approx(expected, abs=1e-6)
    # Draws find the same tiers second best as the leaderboard does.
    posterior = tw.sample_posterior(answers, distance="inversions", concentration="tier", rng=1)
    first, second = list(posterior.sizes_probabilities())[:2]
    assert {first, second} == {one.sizes for one in found.contenders[:2]}


def test_errors_of_fits_with_several_thetas_are_not_taken_for_a_missing_kind(monkeypatch):
    def fail(*_arguments):
        raise InputError("this is not about the kind")

    monkeypatch.setattr(all_sizes, "fit_several_thetas", fail)
    with pytest.raises(InputError, match="not about the kind"):
        tw.search(tw.load_political_goals(), "kendall", concentration="auto")


def test_kinds_that_cannot_be_used_are_left_out_or_refused():
    gaps = tw.Rankings.from_orderings([["a", "b"], ["c", "b"], ["a", "c"]], unranked="anywhere")
    source = source_of(gaps, "kendall")
    assert all_sizes.kinds_of(source, "auto") == []
    with pytest.raises(InputError, match="too incomplete"):
        all_sizes.kinds_of(source, "place")
    assert all_sizes.kinds_of(source_of(tw.load_political_goals(), "hamming"), "auto") == []


def test_many_items_begin_from_the_tiers_of_one_theta():
    """The order that stands for all starts is that of the tiers, and within them Borda's."""
    counts = WeakOrderCounts.of(
        tw.ClusteredMallows(tw.Tiers.from_sizes((20,) * 6, range(120)), 0.1, "inversions").sample(
            30, rng=1
        )
    )
    labels = np.repeat(np.arange(6), 20)
    order = all_sizes._order_to_begin_with(labels, counts)
    assert (np.diff(labels[order[0]]) >= 0).all()
    place = np.argsort(counts.borda_order())
    assert (np.diff(place[order[0][:20]]) > 0).all()
    found = search_tiers(counts, "tier", orders=order, rng=np.random.default_rng(1))
    several = search_tiers(counts, "tier", rng=np.random.default_rng(1))
    assert found.criterion > several.criterion - 1.0
    few = WeakOrderCounts.of(tw.Rankings.from_orderings([list(range(120))]))
    assert all_sizes._order_to_begin_with(labels, few) is None
