"""An infinite theta is an answer: models, draws, checks, figures, JSON and reports work with it."""

import json
from itertools import permutations
from math import inf, log

import numpy as np
import pytest

import tierwise as tw
from tests import reference
from tierwise import plots
from tierwise.answers.likelihood import source_of
from tierwise.distances import get_distance
from tierwise.evidence.given_tiers import log_integrated_thetas
from tierwise.fitting.neighbours import neighbour_agreement
from tierwise.partition.choose import partition_function

SIZES = (2, 1, 2)
TIERS = tw.Tiers([["b", "d"], ["a"], ["c", "e"]])
SEVERAL = [
    ("kendall", "tier", 3),
    ("kendall", "place", 2),
    ("inversions", "tier", 2),
]


def every_ordering(items="abcde"):
    return tw.Rankings.from_orderings(list(permutations(items)), items=items)


def agreeing(rankings, tiers=TIERS):
    """Whether each ordering has the tiers one after the other."""
    labels = tiers.label_array(rankings.items)
    sequences = labels[np.argsort(rankings.places, axis=1)]
    return (np.diff(sequences, axis=1) >= 0).all(axis=1)


@pytest.mark.parametrize("distance", reference.DISTANCES)
def test_orderings_that_agree_are_equally_probable_and_all_others_impossible(distance):
    model = tw.ClusteredMallows(TIERS, inf, distance)
    rankings = every_ordering()
    expected = np.where(agreeing(rankings), -log(4.0), -inf)
    np.testing.assert_allclose(model.log_prob(rankings), expected, atol=1e-12)
    assert float(model.log_partition()) == pytest.approx(log(4.0))
    assert (float(model.mean_distance()), float(model.var_distance())) == (0.0, 0.0)


@pytest.mark.parametrize("distance", reference.DISTANCES)
@pytest.mark.parametrize("unranked", ["below", "anywhere"])
def test_incomplete_answers_are_sums_over_orderings(distance, unranked):
    model = tw.ClusteredMallows(TIERS, inf, distance)
    rows = [["d"], ["b", "d"], ["b", "a"], ["e"], ["d", "b", "a"], ["c", "e"], ["e", "b"]]
    answers = tw.Rankings.from_orderings(rows, items="abcde", unranked=unranked)
    orderings = [
        row for row in permutations("abcde") if [TIERS[item] for item in row] == [1, 1, 2, 3, 3]
    ]
    for row, found in zip(rows, model.log_prob(answers), strict=True):
        if unranked == "below":
            number = sum(ordering[: len(row)] == tuple(row) for ordering in orderings)
        else:
            number = sum(
                [item for item in ordering if item in row] == row for ordering in orderings
            )
        assert np.exp(found) == pytest.approx(number / 4.0, abs=1e-12)


def test_an_answer_that_disagrees_is_impossible_however_many_completions_it_has():
    items = [f"item {number:03}" for number in range(102)]
    tiers = tw.Tiers([items[:1], items[1:2], items[2:]])
    model = tw.ClusteredMallows(tiers, inf, "inversions")
    pairs = tw.Preferences({"one": [(items[1], items[0])], "two": [(items[0], items[1])]}, items)
    lists = tw.Rankings.from_orderings([[items[1]], [items[0]]], items=items, unranked="below")
    np.testing.assert_allclose(np.exp(model.log_prob(lists)), [0.0, 1.0], atol=1e-9)
    small = tw.Tiers([items[:1], items[1:2], items[2:6]])
    pairs = tw.Preferences(
        {"one": [(items[1], items[0])], "two": [(items[0], items[1])]}, items[:6]
    )
    found = np.exp(tw.ClusteredMallows(small, inf).log_prob(pairs))
    np.testing.assert_allclose(found, [0.0, 1.0], atol=1e-9)


@pytest.mark.parametrize("distance", reference.DISTANCES)
def test_draws_and_tables_are_those_of_the_tiers(distance):
    model = tw.ClusteredMallows(TIERS, inf, distance)
    for method in ("auto", "exact", "mcmc"):
        assert agreeing(model.sample(50, 1, method=method)).all()
    drawn = model.sample(4000, 1)
    counts = np.sort(np.bincount(drawn.pattern_of))
    assert len(counts) == 4
    assert (np.abs(counts - 1000.0) < 5 * np.sqrt(4000 * 0.25 * 0.75)).all()
    expected = np.eye(3)[[0, 0, 1, 2, 2]]
    for method in ("auto", "exact", "monte-carlo"):
        table = model.rank_tier_probabilities(method=method, rng=1)
        np.testing.assert_array_equal(table.probabilities, expected)
    pairs = model.pair_probabilities()
    assert pairs.exact
    np.testing.assert_array_equal(pairs.probabilities, np.triu(np.ones((3, 3)), 1) + np.eye(3) / 2)
    assert agreeing(model.sample_pseudo(20, 1)).all()
    pseudo = model.log_pseudo_likelihood(every_ordering())
    np.testing.assert_allclose(
        np.exp(pseudo), np.where(agreeing(every_ordering()), 0.25, 0.0), atol=1e-12
    )


@pytest.mark.parametrize("distance", reference.DISTANCES)
def test_estimated_partition_functions_have_the_same_limit(distance):
    model = tw.ClusteredMallows(TIERS, inf, distance, budget=1.0)
    assert agreeing(model.sample(50, 1)).all()
    np.testing.assert_array_equal(
        model.rank_tier_probabilities().probabilities, np.eye(3)[[0, 0, 1, 2, 2]]
    )
    psi = partition_function(SIZES, distance)
    blocks = get_distance(distance).blocks(SIZES)
    np.testing.assert_allclose(psi.nearest_table(), psi.expected_table(200.0), atol=1e-12)
    assert psi.nearest_table().sum(axis=1).tolist() == list(blocks)


@pytest.mark.parametrize(("distance", "concentration", "n_thetas"), SEVERAL)
@pytest.mark.parametrize("infinite", [0, 1])
def test_one_of_several_thetas_may_be_infinite(distance, concentration, n_thetas, infinite):
    thetas = [0.4, 0.7, 0.3][:n_thetas]
    thetas[infinite] = inf
    large = [min(theta, 60.0) for theta in thetas]
    model = tw.ClusteredMallows(TIERS, thetas, distance, concentration)
    near = tw.ClusteredMallows(TIERS, large, distance, concentration)
    rankings = every_ordering()
    logs = model.log_prob(rankings)
    assert np.exp(logs).sum() == pytest.approx(1.0)
    np.testing.assert_allclose(np.exp(logs), np.exp(near.log_prob(rankings)), atol=1e-12)
    assert (np.isneginf(logs)).any()
    np.testing.assert_allclose(
        model.rank_tier_probabilities().probabilities,
        near.rank_tier_probabilities().probabilities,
        atol=1e-9,
    )
    drawn = model.sample(3000, 1)
    assert np.isfinite(model.log_prob(drawn)).all()
    possible = np.isfinite(logs)
    assert len(drawn.patterns) <= possible.sum()
    pairs = model.pair_probabilities(rng=1).probabilities
    np.testing.assert_allclose(pairs, near.pair_probabilities(rng=1).probabilities, atol=0.02)


def unanimous(items="abcde", n_rankings=12):
    return tw.Rankings.from_orderings([list(items)] * n_rankings)


def divided_in_the_middle():
    """Everybody agrees about the first item, and nobody about the others."""
    return tw.Rankings.from_orderings([["a", *row] for row in permutations("bcd")] * 4)


FITS = [
    (unanimous(), (2, 1, 2), "kendall", "single"),
    (unanimous(), (2, 1, 2), "inversions", "single"),
    (unanimous(), (2, 1, 2), "hamming", "single"),
    (unanimous(), (1, 1, 1, 1, 1), "kendall", "place"),
    (divided_in_the_middle(), (1, 1, 1, 1), "kendall", "tier"),
    (divided_in_the_middle(), (1, 1, 2), "kendall", "place"),
    (divided_in_the_middle(), (1, 1, 2), "inversions", "tier"),
]


@pytest.mark.parametrize(("data", "sizes", "distance", "concentration"), FITS)
def test_a_fit_with_an_infinite_theta_can_be_used_like_any_other(
    data, sizes, distance, concentration
):
    fit = tw.fit(data, sizes, distance, concentration=concentration, rng=1)
    assert inf in fit.thetas
    model = fit.model()
    assert float(model.log_prob(data).sum()) == pytest.approx(fit.log_likelihood)
    assert np.isfinite(model.log_prob(model.sample(100, 1))).all()
    json.dumps(fit.to_dict(), allow_nan=False)
    assert "inf" in repr(fit)
    assert fit.summary()
    for neighbour in neighbour_agreement(fit):
        assert neighbour.interval[0] <= neighbour.probability <= neighbour.interval[1] + 1e-12
    check = tw.check_fit(data, fit, rng=1)
    json.dumps(check.to_dict(), allow_nan=False)
    assert check.summary()
    plots.rank_tier_bars(fit)
    plots.expected_pairs(check)
    plots.agreement_along_tiers(fit)
    if check.lines:
        plots.theta_along_ranking(check)


def test_a_check_expects_nothing_but_the_tiers():
    data = unanimous()
    fit = tw.fit(data, (2, 1, 2), "kendall")
    check = tw.check_fit(data, fit)
    labels = fit.tiers.label_array(data.items)
    first, last = labels == 0, labels == 2
    assert check.pairs_expected[np.ix_(first, last)] == pytest.approx(1.0)


def test_a_histogram_leaves_out_what_is_infinite():
    ax = plots.theta_histogram([0.3, 0.4, inf], truth=inf)
    assert "1 infinite" in ax.get_xlabel()


@pytest.mark.thorough
def test_a_report_shows_what_an_infinite_theta_expects(tmp_path):
    page = tmp_path / "page.html"
    tw.report(unanimous(), page, sizes=(2, 1, 2), distance="kendall", rng=1)
    text = page.read_text(encoding="utf-8")
    assert "Theta is infinite" in text
    assert "the probability of each tier in each place" in text


def test_battles_without_a_surprise_have_an_infinite_theta():
    battles = tw.Battles.from_rows([("a", "b", "a"), ("a", "c", "a"), ("b", "c", "b")] * 5)
    fit = tw.fit(battles, (1, 1, 1))
    assert fit.theta == inf
    assert tw.check_fit(battles, fit).summary()
    assert agreeing(fit.model().sample(10, 1), fit.tiers).all()


@pytest.mark.parametrize("n_rankings", [10, 1000, 100_000])
@pytest.mark.parametrize("sizes", [(2, 1, 1, 1), (1, 1, 1, 2, 1, 2), (1, 2, 4)])
@pytest.mark.parametrize("concentration", ["tier", "place"])
def test_thetas_are_integrated_out_where_very_many_agree(n_rankings, sizes, concentration):
    """Newton's method began in a direction that led nowhere, and its matrix was not definite."""
    items = range(sum(sizes))
    data = tw.Rankings.from_orderings([list(items)], weights=[n_rankings])
    labels = np.array(reference.labels_of(sizes))
    answers = source_of(data, "kendall").with_thetas(
        partition_function(sizes, "kendall", concentration=concentration)
    )
    value = log_integrated_thetas(answers, labels, tw.Gamma(2, 2))
    assert value.standard_error < 0.2
    limit = -n_rankings * sum(log(number) for size in sizes for number in range(1, size + 1))
    assert limit - 30.0 * answers.partition.n_parts < float(value) < limit


@pytest.mark.thorough
@pytest.mark.parametrize("n_rankings", [10, pytest.param(3000, marks=pytest.mark.slow)])
def test_two_thetas_are_integrated_out_as_by_a_grid(n_rankings):
    sizes, prior = (2, 1, 1), tw.Gamma(2, 2)
    partition = partition_function(sizes, "kendall", concentration="place")
    data = tw.Rankings.from_orderings([list("abcd")], weights=[n_rankings])
    found = log_integrated_thetas(
        source_of(data, partition.distance).with_thetas(partition), np.array([0, 0, 1, 2]), prior
    )
    logs = np.linspace(-4.0, 3.5, 120)
    heights = [
        -n_rankings * partition.log_value((one, other))
        + float((prior.log_density(np.array([one, other]))).sum())
        + log(one * other)
        for one in np.exp(logs)
        for other in np.exp(logs)
    ]
    grid = float(np.logaddexp.reduce(heights)) + 2.0 * log(logs[1] - logs[0])
    assert float(found) == pytest.approx(grid, abs=4.0 * found.standard_error)
    assert found.standard_error < 0.1


def test_a_search_compares_thetas_where_everybody_agrees():
    data = tw.Rankings.from_orderings([list("abcde"), list("bacde")], weights=[500, 400])
    for distance in ("kendall", "inversions"):
        found = tw.search(data, distance, concentration="auto", progress="off", rng=1)
        assert inf in found.best.thetas
        assert found.summary()
        json.dumps(found.to_dict(), allow_nan=False)
