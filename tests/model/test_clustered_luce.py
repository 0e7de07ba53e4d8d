"""The clustered Luce model: probabilities, draws, ranks, and what it refuses."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tierwise as tw
from tests import reference_luce as reference
from tests.inversions.small import chi_square_p_value


def make(sizes, worths):
    return tw.ClusteredLuce(tw.Tiers.from_sizes(sizes, range(sum(sizes))), worths)


@st.composite
def models(draw, most_items=6, largest=2.5):
    """A model of few items, and the worth of each item."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    sizes = tuple(sizes) if 1 < sum(sizes) <= most_items else (1, 2, 2)
    some = st.floats(-largest, largest)
    n_tiers = len(sizes)
    logs = draw(st.lists(some, min_size=n_tiers, max_size=n_tiers, unique=True))
    worths = np.exp(np.array(sorted(logs, reverse=True)) - 0.01 * np.arange(n_tiers))
    names = draw(st.permutations(range(sum(sizes))))
    ends = np.cumsum(sizes)
    tiers = [names[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    model = tw.ClusteredLuce(tw.Tiers(tiers), worths.tolist())
    of_item = [worths[model.tiers[item] - 1] for item in range(sum(sizes))]
    return model, of_item


@settings(max_examples=30)
@given(models())
def test_every_ordering_pairs_and_ranks(case):
    model, worths = case
    n_items, labels = len(worths), model.tiers.label_array(range(len(worths)))
    orderings = list(permutations(range(n_items)))
    expected = np.array([reference.probability_of_ordering(one, worths) for one in orderings])
    rankings = tw.Rankings.from_order_array(np.array(orderings), range(n_items))
    assert np.exp(model.log_prob(rankings)) == pytest.approx(expected, rel=1e-11)
    assert expected.sum() == pytest.approx(1)
    # Ranks of each item and pairs, summed over all orderings.
    ranks = np.argsort(np.array(orderings), axis=1)
    of_rank = np.array(
        [
            [expected[ranks[:, item] == rank].sum() for rank in range(n_items)]
            for item in range(n_items)
        ]
    )
    assert model.rank_probabilities()[labels] == pytest.approx(of_rank, rel=1e-9, abs=1e-12)
    of_tier = np.zeros((n_items, len(model.tiers)))
    for item in range(n_items):
        of_tier[:, labels[item]] += of_rank[item]
    found = model.rank_tier_probabilities()
    assert found.probabilities == pytest.approx(of_tier, rel=1e-9, abs=1e-12)
    assert not found.standard_errors.any()
    assert model.mean_ranks()[labels] == pytest.approx(1 + expected @ ranks)
    pairs = model.pair_probabilities()
    for a, b in permutations(range(n_items), 2):
        before = expected[ranks[:, a] < ranks[:, b]].sum()
        assert pairs[labels[a], labels[b]] == pytest.approx(before)


@st.composite
def rows_of_answers(draw, n_items):
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        order = draw(st.permutations(range(n_items)))[: draw(st.integers(1, n_items))]
        sizes = draw(st.sampled_from(list(tw.compositions(len(order)))))
        ends = np.cumsum(sizes)
        rows.append([order[end - size : end] for size, end in zip(sizes, ends, strict=True)])
    return rows


@given(models(most_items=5), st.data())
def test_log_prob_in_the_order_given(case, data):
    model, worths = case
    n_items = len(worths)
    rows = data.draw(rows_of_answers(n_items))
    rows = data.draw(st.permutations(rows + rows[:2]))
    weights = data.draw(
        st.lists(st.sampled_from([1, 3, 0.5]), min_size=len(rows), max_size=len(rows))
    )
    unranked = data.draw(st.sampled_from(["below", "anywhere"]))
    rankings = tw.Rankings.from_orderings(rows, range(n_items), weights, unranked=unranked)
    expected = []
    for row in rows:
        places = [None] * n_items
        for place, group in enumerate(row):
            for item in group:
                places[item] = place
        expected.append(reference.probability_of_answer(places, worths, unranked == "below"))
    # Weights say how often an answer was given, not how probable it is.
    assert np.exp(model.log_prob(rankings)) == pytest.approx(expected, rel=1e-9)
    assert model.log_likelihood(rankings) == pytest.approx(
        np.array(weights) @ np.log(expected), rel=1e-9, abs=1e-12
    )


def test_preferences_by_assessor_and_battles():
    model = make((1, 2), (3.0, 1.0))
    pairs = [("Ann", 0, 1), ("Ann", 1, 2), ("Bob", 2, 0)]
    preferences = tw.Preferences.from_pairs(pairs, items=range(3))
    assert np.exp(model.log_prob(preferences)) == pytest.approx([0.75 * 0.5, 0.25])
    assert np.exp(model.log_likelihood(preferences)) == pytest.approx(0.75 * 0.5 * 0.25)
    kept = tw.Preferences.from_pairs([("Ann", 0, 1)] * 2, items=range(3), cycles="keep")
    assert np.exp(model.log_prob(kept)) == pytest.approx([0.75**2])
    battles = tw.Battles.from_rows([("a", "b", "a"), ("a", "c", "tie")])
    named = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), (3.0, 1.0))
    expected = np.log(0.75) + 0.5 * np.log(0.75 * 0.25)
    assert named.log_likelihood(battles) == pytest.approx(expected)
    with pytest.raises(tw.InputError, match="log_prob takes rankings or preferences"):
        named.log_prob(battles)


@pytest.mark.parametrize(
    ("sizes", "worths"),
    [((1, 2, 1), (4.0, 1.5, 0.5)), ((4,), (2.0,)), ((1, 1, 1, 1), (1e6, 10.0, 1.0, 1e-3))],
)
def test_draws_have_the_probabilities_of_the_model(sizes, worths):
    model = make(sizes, worths)
    drawn = model.sample(40_000, rng=1)
    orderings = list(permutations(range(4)))
    of_item = np.repeat(worths, sizes)
    expected = [reference.probability_of_ordering(one, of_item) for one in orderings]
    rows = np.argsort(drawn.patterns, axis=1)
    times = dict(zip(map(tuple, rows.tolist()), drawn.pattern_weights.tolist(), strict=True))
    observed = [times.pop(one, 0) for one in orderings]
    assert not times
    assert chi_square_p_value(observed, 40_000 * np.array(expected)) > 1e-3
    assert model.sample(50, rng=2) == model.sample(50, rng=2)
    assert model.sample(50, rng=2) != model.sample(50, rng=3)


def test_a_single_tier_is_uniform_at_any_number_of_items():
    for n_items in (1, 2, 17, 200):
        model = make((n_items,), (5.0,))
        table = model.rank_probabilities()
        assert table == pytest.approx(np.full((1, n_items), 1 / n_items), rel=1e-9)
        assert model.mean_ranks() == pytest.approx([(n_items + 1) / 2])


@pytest.mark.parametrize("ratio", [1.01, 3.0, 1e8])
def test_ranks_of_two_hundred_items(ratio):
    sizes, worths = (40, 100, 60), (ratio, 1.0, 1 / ratio)
    model = make(sizes, worths)
    table = model.rank_probabilities()
    assert (table > -1e-12).all()
    assert table.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-9)
    assert np.array(sizes) @ table == pytest.approx(np.ones(200), abs=1e-9)
    # Closed forms: the best place, and the mean rank, one more than the others that come before.
    total = np.array(sizes) @ np.array(worths)
    assert table[:, 0] == pytest.approx(np.array(worths) / total, rel=1e-9)
    before = np.array(worths) / np.add.outer(worths, worths)
    means = 0.5 + before @ np.array(sizes)
    assert model.mean_ranks() == pytest.approx(means)
    assert table @ np.arange(1, 201) == pytest.approx(means, rel=1e-9)
    found = model.rank_tier_probabilities().probabilities
    assert found.sum(axis=1) == pytest.approx(np.ones(200), abs=1e-9)
    assert found.sum(axis=0) == pytest.approx(np.array(sizes), rel=1e-9)


@pytest.mark.slow
def test_ranks_of_a_thousand_items():
    # Ranks are passed within a few hundredths in log time: a fixed step was 2% off.
    table = make((1000,), (1.0,)).rank_probabilities()
    assert table == pytest.approx(np.full((1, 1000), 0.001), rel=1e-9)


@given(models(), st.sampled_from([1e-300, 1e-9, 1e300]))
def test_only_ratios_of_worths_matter(case, factor):
    model, worths = case
    scaled = tw.ClusteredLuce(model.tiers, [factor * worth for worth in model.worths])
    n_items = len(worths)
    rows = [[list(range(n_items - 1)), n_items - 1], list(range(n_items)), [0]]
    rankings = tw.Rankings.from_orderings(rows, range(n_items), unranked="below")
    assert scaled.log_prob(rankings) == pytest.approx(model.log_prob(rankings), rel=1e-9)
    assert scaled.rank_probabilities() == pytest.approx(model.rank_probabilities(), rel=1e-9)
    pairs = scaled.pair_probabilities().probabilities
    assert pairs == pytest.approx(model.pair_probabilities().probabilities)
    assert scaled.sample(20, rng=1) == model.sample(20, rng=1)


def test_worths_as_far_apart_as_floats_allow():
    model = make((1, 1, 2), (1e300, 1.0, 1e-300))
    in_order = tw.Rankings.from_orderings([[0, 1, 2, 3], [0, 1, [2, 3]], [1, 0, 2, 3]])
    found = model.log_prob(in_order)
    assert found[:2] == pytest.approx([-np.log(2), 0], abs=1e-12)
    assert found[2] == pytest.approx(-300 * np.log(10) - np.log(2))
    assert model.mean_ranks() == pytest.approx([1, 2, 3.5])
    expected = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0.5, 0.5]]
    assert model.rank_probabilities() == pytest.approx(np.array(expected), abs=1e-9)
    largest = make((2, 2), (1.7e308, 1.6e308))
    assert np.isfinite(largest.log_prob(in_order)).all()


def test_items_are_known_by_their_names():
    model = tw.ClusteredLuce(tw.Tiers([["b"], ["a", "c"]]), (2.0, 1.0))
    one = tw.Rankings.from_orderings([["b", "a", "c"]])
    other = tw.Rankings.from_orderings([["b", "a", "c"]], items=["c", "b", "a"])
    assert model.log_prob(one) == pytest.approx(model.log_prob(other))
    assert np.exp(model.log_prob(one)) == pytest.approx([0.25])
    with pytest.raises(tw.InputError, match="item"):
        model.log_prob(tw.Rankings.from_orderings([["b", "a", "d"]]))


def test_models_are_compared_and_shown_by_value():
    model = make((1, 2), [2, 1])
    assert model == make((1, 2), (2.0, 1.0))
    assert model != make((1, 2), (3.0, 1.0))
    assert model.worths == (2.0, 1.0)
    assert repr(model) == "ClusteredLuce(0 > 1 ~ 2, worths=(2, 1))"
    assert repr(make((2,), (1,))) == "ClusteredLuce(0 ~ 1, worths=(1,))"


@pytest.mark.parametrize(
    ("worths", "message"),
    [
        ((1.0,), "one worth per tier, 2 in all; got 1"),
        ((1.0, 2.0), "worths must not increase"),
        ((1.0, 2.0), "put the tiers into the order of their worths"),
        ((1.0, 0.0), "positive and finite"),
        ((np.inf, 1.0), "positive and finite"),
        ((np.nan, 1.0), "positive and finite"),
        (("a", "b"), "must be numbers"),
        (3.0, "worths"),
        (None, "worths"),
    ],
)
def test_worths_that_are_refused(worths, message):
    with pytest.raises(tw.InputError, match=message):
        tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), worths)


def test_tiers_of_equal_worths_are_as_one_tier():
    rankings = tw.Rankings.from_orderings([["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]])
    two = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), (1.0, 1.0))
    one = tw.ClusteredLuce(tw.Tiers([["a", "b", "c"]]), (1.0,))
    assert two.log_prob(rankings) == pytest.approx(one.log_prob(rankings))


def test_tiers_and_numbers_that_are_refused():
    with pytest.raises(tw.InputError, match="the model needs Tiers"):
        tw.ClusteredLuce([["a"], ["b"]], (2.0, 1.0))
    with pytest.raises(tw.InputError, match="n_rankings"):
        make((1, 1), (2.0, 1.0)).sample(0)
