"""Answers as races: likelihood and derivatives, against sums over all orderings."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tierwise as tw
from tests import reference_luce as reference
from tierwise.answers.meetings import Meetings
from tierwise.answers.races import Races, blocks_of_places, races_of


def races_of_places(places, weights=None, *, rest_is_below=False):
    """Make races of answers given as the place of each item, None being not listed."""
    rows = np.array([[-1 if place is None else place for place in row] for row in places])
    n_items = rows.shape[1]
    weights = np.ones(len(rows)) if weights is None else np.array(weights, dtype=float)
    blocks = blocks_of_places(rows, rest_is_below=rest_is_below)
    none = Meetings(np.zeros((n_items, n_items)))
    return Races(tuple(range(n_items)), *blocks, weights, none, float(weights.sum()), "exact")


def places_of_groups(groups, n_items):
    """Place of each item, tied items sharing the first they take up, None being not listed."""
    places, first = [None] * n_items, 0
    for group in groups:
        for item in group:
            places[item] = first
        first += len(group)
    return places


def in_groups(order, sizes):
    ends = np.cumsum(sizes)
    return [order[end - size : end] for size, end in zip(sizes, ends, strict=True)]


@st.composite
def tiers_with_worths(draw, n_items, largest=3.0):
    """Tiers in any order, with log worths that are far apart or not."""
    labels = draw(st.lists(st.integers(0, n_items - 1), min_size=n_items, max_size=n_items))
    labels = np.unique(labels, return_inverse=True)[1]
    some = st.floats(-largest, largest)
    n_tiers = int(labels.max()) + 1
    return labels, np.array(draw(st.lists(some, min_size=n_tiers, max_size=n_tiers)))


@st.composite
def answers_of_a_kind(draw, most_items=6, largest=3.0):
    """Answers with ties and gaps, or without, and tiers with worths."""
    n_items = draw(st.integers(2, most_items))
    answers = []
    for _ in range(draw(st.integers(1, 3))):
        order = draw(st.permutations(range(n_items)))
        order = order[: draw(st.integers(1, n_items))]
        sizes = draw(st.sampled_from(list(tw.compositions(len(order)))))
        answers.append(places_of_groups(in_groups(order, sizes), n_items))
    weights = draw(st.lists(st.sampled_from([1, 2, 0.5]), min_size=3, max_size=3))
    labels, logs = draw(tiers_with_worths(n_items, largest))
    return answers, weights[: len(answers)], draw(st.booleans()), labels, logs


def check_against_definition(case):
    answers, weights, rest_is_below, labels, logs = case
    races = races_of_places(answers, weights, rest_is_below=rest_is_below)
    worths = np.exp(logs)[labels]
    single = [reference.probability_of_answer(one, worths, rest_is_below) for one in answers]
    assert np.exp(races.log_probabilities(labels, logs)) == pytest.approx(single, rel=1e-10)
    likelihood = reference.Likelihood(len(labels), answers, weights, rest_is_below=rest_is_below)
    expected = likelihood(worths[None])[0]
    value, gradient, hessian = races.derivatives(labels, logs)
    assert value == pytest.approx(expected, rel=1e-10, abs=1e-11)
    assert races.value(labels, logs) == pytest.approx(value, rel=1e-12, abs=1e-13)
    assert gradient == pytest.approx(likelihood.gradient(labels, logs), rel=1e-9, abs=1e-10)
    assert hessian == pytest.approx(likelihood.hessian(labels, logs), rel=1e-8, abs=2e-9)


@settings(max_examples=30)
@given(answers_of_a_kind())
def test_answers_of_every_kind_have_the_probability_of_the_orderings_they_stand_for(case):
    check_against_definition(case)


@pytest.mark.thorough
@given(answers_of_a_kind(most_items=5, largest=9.5))
def test_worths_may_be_a_hundred_million_times_as_large(case):
    check_against_definition(case)


FOUR = {
    "complete": ([(0,), (1,), (2,), (3,)], False),
    "top list": ([(2,), (0,)], True),
    "best only": ([(3,)], True),
    "gaps": ([(3,), (0,)], False),
    "one item, gaps": ([(3,)], False),
    "tied first": ([(1, 2), (0,), (3,)], False),
    "tied in the middle": ([(1,), (0, 2), (3,)], False),
    "tied last": ([(1,), (3,), (0, 2)], False),
    "tied first and last": ([(1, 3), (0, 2)], False),
    "two blocks before the last": ([(1, 3), (2,), (0,)], False),
    "three tied": ([(0, 1, 3), (2,)], False),
    "all tied": ([(0, 1, 2, 3)], False),
    "tied top list": ([(0, 2)], True),
    "ties and gaps": ([(0, 2), (3,)], False),
    "ties, and a rest below": ([(1,), (0, 2)], True),
}


@pytest.mark.parametrize("kind", FOUR)
@pytest.mark.parametrize("labels", [(0, 1, 2, 3), (2, 0, 1, 0), (0, 1, 1, 1), (0, 0, 0, 0)])
@pytest.mark.parametrize("scale", [1.0, 9.2])
def test_each_kind_of_answer(kind, labels, scale):
    groups, rest_is_below = FOUR[kind]
    logs = scale * np.array([1.0, 0.2, -0.4, -1.0])[: max(labels) + 1]
    answers = [places_of_groups(groups, 4)]
    check_against_definition((answers, [2.0], rest_is_below, np.array(labels), logs))


def test_kinds_of_answers_are_those_of_rankings():
    for groups, rest_is_below in FOUR.values():
        rows = [[list(group) if len(group) > 1 else group[0] for group in groups]]
        unranked = "below" if rest_is_below else "anywhere"
        rankings = tw.Rankings.from_orderings(rows, items=range(4), unranked=unranked)
        worths, labels = np.array([3.0, 1.0, 0.7, 0.2]), np.arange(4)
        expected = reference.probability_of_answer(
            places_of_groups(groups, 4), worths, rest_is_below
        )
        found = races_of(rankings).log_probabilities(labels, np.log(worths))
        assert np.exp(found) == pytest.approx([expected])


@given(st.integers(1, 5), st.data())
def test_answers_of_one_kind_are_all_there_is(n_blocks, data):
    # Every way to put five items into blocks of given sizes: their probabilities sum to 1.
    sizes = data.draw(st.sampled_from([one for one in tw.compositions(5) if len(one) == n_blocks]))
    labels, logs = data.draw(tiers_with_worths(5))
    places = [
        np.concatenate([[0], np.cumsum(sizes)])[list(blocks)].tolist()
        for blocks in reference.ordered_partitions(5)
        if tuple(np.bincount(blocks)) == sizes
    ]
    races = races_of_places(places)
    assert np.exp(races.log_probabilities(labels, logs)).sum() == pytest.approx(1, rel=1e-10)


@pytest.mark.parametrize("count", [2, 10, 100, 1000])
@pytest.mark.parametrize("ratio", [1e-8, 1e-3, 0.05, 0.1, 0.3, 1.0, 7.0, 1e3, 1e8])
def test_a_tied_block_of_many_items_that_are_equally_good(count, ratio):
    # Of k equal items and the rest one of the former comes next: k / (k + ratio), down to k = 1.
    # Near 0.05 the mode of the integrand is far from where the last of the items arrives.
    races = races_of_places([[0] * count + [count]])
    labels, logs = np.append(np.zeros(count, dtype=int), 1), np.log([2.0, 2.0 * ratio])
    left = np.arange(1, count + 1)
    shares = ratio / (left + ratio)
    value, gradient, hessian = races.derivatives(labels, logs)
    assert value == pytest.approx(-np.log1p(ratio / left).sum(), rel=1e-10, abs=1e-11)
    assert gradient == pytest.approx(shares.sum() * np.array([1, -1]), rel=1e-9, abs=1e-9)
    bend = (shares * (1 - shares)).sum() * np.array([[-1, 1], [1, -1]])
    # Differences of numbers as large as the square of the number of items.
    assert hessian == pytest.approx(bend, rel=1e-7, abs=1e-13 * count**2 + 1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("counts", "worths", "rest"),
    [
        ((50, 50), (1e4, 1e-4), 1.0),
        ((50, 50), (1.0, 0.02), 0.05),
        ((99, 1), (1.0, 0.05), 0.01),
        ((30, 30, 40), (30.0, 1.0, 0.1), 0.5),
        ((1, 1, 98), (1e-4, 1e4, 1.0), 1e-3),
    ],
)
def test_a_tied_block_of_a_hundred_items(counts, worths, rest):
    labels = np.repeat(np.arange(len(counts) + 1), [*counts, 1])
    races = races_of_places([[0] * sum(counts) + [sum(counts)]])
    logs = np.log([*worths, rest])
    value, gradient, hessian = races.derivatives(labels, logs)
    expected = reference.log_probability_of_block(worths, counts, rest)
    assert value == pytest.approx(expected, rel=1e-10, abs=1e-11)
    # Only ratios matter, and the logarithm is concave.
    assert gradient.sum() == pytest.approx(0, abs=1e-9)
    assert hessian.sum(axis=0) == pytest.approx(np.zeros(len(logs)), abs=1e-8)
    assert np.linalg.eigvalsh(hessian).max() < 1e-8
    # The same items, each with a worth of its own.
    own = races.derivatives(np.arange(len(labels)), logs[labels])
    member = np.eye(len(logs))[labels]
    assert own[0] == pytest.approx(value, rel=1e-12)
    assert member.T @ own[1] == pytest.approx(gradient, rel=1e-10, abs=1e-11)
    assert member.T @ own[2] @ member == pytest.approx(hessian, rel=1e-9, abs=1e-10)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0, 9.2, 18.4]))
@example(0, 18.4)
def test_likelihoods_of_many_items_are_concave_and_have_no_scale(seed, scale):
    rng = np.random.default_rng(seed)
    n_items, n_tiers = 60, 7
    places = rng.integers(0, [[2], [10], [200]], (3, n_items))
    places[rng.random(places.shape) < 0.3] = -1
    labels = np.append(np.arange(n_tiers), rng.integers(0, n_tiers, n_items - n_tiers))
    logs = rng.uniform(-scale, scale, n_tiers)
    places = [[None if place < 0 else place for place in row] for row in places.tolist()]
    for rest_is_below in (False, True):
        races = races_of_places(places, rest_is_below=rest_is_below)
        value, gradient, hessian = races.derivatives(labels, logs)
        assert np.isfinite(value)
        assert value < 0
        size = np.abs(gradient).max()
        assert gradient.sum() == pytest.approx(0, abs=1e-11 * size + 1e-9)
        assert hessian == pytest.approx(hessian.T)
        assert hessian.sum(axis=0) == pytest.approx(np.zeros(n_tiers), abs=1e-8)
        assert np.linalg.eigvalsh(hessian).max() < 1e-8
        moved = races.derivatives(labels, logs + 5.0)
        assert moved[0] == pytest.approx(value, rel=1e-12)
        assert moved[1] == pytest.approx(gradient, rel=1e-9, abs=1e-9)


@given(st.integers(2, 5), st.data())
def test_battles_are_races_of_two(n_items, data):
    some = st.lists(st.sampled_from([0, 0, 1, 2.5, 40]), min_size=n_items**2, max_size=n_items**2)
    wins = np.array(data.draw(some)).reshape(n_items, n_items)
    np.fill_diagonal(wins, 0.0)
    labels, logs = data.draw(tiers_with_worths(n_items, largest=9.5))
    battles = tw.Battles(tuple(f"m{item}" for item in range(n_items)), wins, np.zeros_like(wins))
    races = races_of(battles)
    likelihood = reference.Likelihood(n_items, wins=wins)
    expected = reference.log_likelihood_of_wins(wins, np.exp(logs)[labels])
    value, gradient, hessian = races.derivatives(labels, logs)
    assert value == pytest.approx(expected, rel=1e-12)
    assert races.value(labels, logs) == pytest.approx(value, rel=1e-12)
    assert gradient == pytest.approx(likelihood.gradient(labels, logs), rel=1e-10, abs=1e-11)
    assert hessian == pytest.approx(likelihood.hessian(labels, logs), rel=1e-7, abs=1e-7)
    assert races.arrivals == pytest.approx(wins.sum(axis=1))
    assert races.n_rankings == wins.sum()


def test_drawn_battles_count_half_to_each_side_or_not_at_all():
    rows = [("x", "y", "x"), ("x", "y", "tie"), ("y", "z", "tie (bothbad)")]
    battles = tw.Battles.from_rows(rows)
    assert races_of(battles).meetings.won.tolist() == [[0, 1.5, 0], [0.5, 0, 0.5], [0, 0.5, 0]]
    dropped = races_of(battles.with_drawn("drop"))
    assert dropped.meetings.won.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert dropped.n_rankings == 1


def test_comparisons_of_one_person_are_taken_as_independent_and_that_is_said():
    one_each = tw.Preferences.from_pairs([("Ann", "a", "b"), ("Bob", "c", "b")])
    several = tw.Preferences.from_pairs([("Ann", "a", "b"), ("Ann", "b", "c"), ("Bob", "c", "b")])
    assert races_of(one_each).likelihood == "exact"
    races = races_of(several)
    assert races.likelihood == "composite"
    # What follows from answers is not said twice.
    assert races.meetings.won.tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 0]]
    assert races.n_rankings == 2
    again = tw.Preferences.from_pairs([("Ann", "a", "b")] * 2 + [("Ann", "b", "a")], cycles="keep")
    assert races_of(again).meetings.won.tolist() == [[0, 2], [1, 0]]
    assert races_of(again).likelihood == "composite"
    judged = tw.Battles.from_rows([("x", "y", "x", "Ann"), ("x", "y", "y", "Bob")])
    assert races_of(judged).likelihood == "independent"
    judged = tw.Battles.from_rows([("x", "y", "x", "Ann"), ("x", "y", "y", "Ann")])
    assert races_of(judged).likelihood == "composite"


@given(answers_of_a_kind(most_items=5), st.lists(st.integers(1, 4), min_size=3, max_size=3))
def test_an_answer_with_a_weight_is_the_same_answer_so_often(case, times):
    answers, _, rest_is_below, labels, logs = case
    times = times[: len(answers)]
    weighted = races_of_places(answers, times, rest_is_below=rest_is_below)
    often = [one for one, number in zip(answers, times, strict=True) for _ in range(number)]
    repeated = races_of_places(often, rest_is_below=rest_is_below)
    for one, other in zip(
        weighted.derivatives(labels, logs), repeated.derivatives(labels, logs), strict=True
    ):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-10)
    assert weighted.arrivals == pytest.approx(repeated.arrivals)
    assert weighted.n_rankings == repeated.n_rankings
    again = weighted.reweighted(np.ones(len(times)))
    single = races_of_places(answers, rest_is_below=rest_is_below)
    assert again.value(labels, logs) == single.value(labels, logs)
    assert again.n_rankings == len(times)


@pytest.mark.parametrize("unranked", ["below", "anywhere"])
def test_equal_answers_are_one_race_with_their_weights(unranked):
    rows = [["a", "b"], ["c", ["a", "b"], "d"], ["a", "b"], ["d"]]
    rankings = tw.Rankings.from_orderings(rows, "abcd", [2, 1, 0.5, 1], unranked=unranked)
    races = races_of(rankings)
    assert races.n_answers == 3
    assert races.n_rankings == 4.5
    assert sorted(races.weights.tolist()) == [1, 1, 2.5]
    assert not races.meetings.any
    assert races.likelihood == "exact"


@given(answers_of_a_kind())
def test_arrivals_are_places_before_others(case):
    answers, weights, rest_is_below, labels, _ = case
    races = races_of_places(answers, weights, rest_is_below=rest_is_below)
    expected = np.zeros(len(labels))
    for places, weight in zip(answers, weights, strict=True):
        for item, place in enumerate(places):
            others = [other for other in places if other is not None]
            if rest_is_below and None in places:
                others.append(len(places))
            expected[item] += weight * (place is not None and place < max(others))
    assert races.arrivals == pytest.approx(expected)


def test_tiers_add_up_wins():
    wins = np.array([[0, 5, 1], [2, 0, 3], [0, 4, 0.5]]) * (1 - np.eye(3))
    battles = tw.Battles(("x", "y", "z"), wins, np.zeros((3, 3)))
    found = races_of(battles).meetings.of_tiers(np.array([1, 0, 1]), 2).won
    assert found.tolist() == [[0, 5], [9, 1]]


def test_answers_from_a_scan_are_the_same_races(tmp_path):
    rows = [["a", "b", "c"], ["b", "a", "c"], ["a", "b", "c"]]
    rankings = tw.Rankings.from_orderings(rows)
    path = tmp_path / "answers.csv"
    tw.write_rankings(rankings, path)
    labels, logs = np.array([0, 1, 1]), np.array([0.3, -0.3])
    scanned = races_of(tw.Rankings.scan(path))
    assert scanned.value(labels, logs) == pytest.approx(races_of(rankings).value(labels, logs))


def test_what_is_not_an_answer_is_refused():
    with pytest.raises(tw.InputError, match="a model with worths takes Rankings, Preferences or"):
        races_of([["a", "b"]])


def test_worths_near_the_ends_of_floats_give_no_warnings():
    races = races_of_places([[0, 0, 2, 3, 4], [0, 1, 2, 2, 2], [4, 2, 2, 1, 0]])
    logs = np.array([300.0, 100.0, 0.0, -100.0, -300.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, gradient, hessian = races.derivatives(np.arange(5), logs)
    # The last answer is the reverse of what is sure: each place costs the gap, and
    # the two that are tied, both behind one that is far better, come in either order.
    assert value == pytest.approx(-(600 + 400 + 200 + 300 - np.log(2)), rel=1e-10)
    assert np.isfinite(gradient).all()
    assert np.isfinite(hessian).all()


@pytest.mark.parametrize("unranked", ["below", "anywhere"])
def test_sets_that_many_answers_share_say_what_answers_say_one_by_one(unranked):
    rng = np.random.default_rng(3)
    orders = [rng.permutation(6)[: rng.integers(1, 7)].tolist() for _ in range(300)]
    rankings = tw.Rankings.from_orderings(orders, items=range(6), unranked=unranked)
    races = races_of(rankings)
    assert races.choice_sets is not None
    weights = rng.random(races.n_answers)
    shared = races.reweighted(weights)
    alone = replace(shared, choice_sets=None)
    for labels, logs in [
        ([0, 1, 2, 3, 4, 5], rng.normal(size=6)),
        ([1, 0, 1, 2, 0, 2], [3, 0, -9]),
    ]:
        tiers, point = np.array(labels), np.array(logs, dtype=float)
        assert shared.value(tiers, point) == pytest.approx(alone.value(tiers, point), rel=1e-12)
        each, alike = (one.log_probabilities(tiers, point) for one in (shared, alone))
        assert each == pytest.approx(alike, rel=1e-12)
        found, expected = (one.derivatives(tiers, point) for one in (shared, alone))
        for one, other in zip(found, expected, strict=True):
            assert one == pytest.approx(other, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "data",
    [
        tw.Rankings.from_orderings([["a", "b", "c"], ["c", "a", "b"]]),
        tw.Rankings.from_ranks([[1, 1, 2]] * 9, items="abc", ties="allow"),
        tw.Battles.from_rows([("a", "b", "a")] * 9),
    ],
    ids=["few", "ties", "battles"],
)
def test_sets_are_collected_only_where_answers_without_ties_share_them(data):
    assert races_of(data).choice_sets is None
