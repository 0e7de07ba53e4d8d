from itertools import permutations
from math import lgamma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tierwise as tw
from tests.reference import BLOCK_DISTANCES, BruteForce
from tests.reference_incomplete import Answer, pairs_of_groups
from tierwise._kernels.consensus import total_cost
from tierwise.answers.likelihood import source_of
from tierwise.answers.top import (
    BoardTopAnswers,
    RecursiveTopAnswers,
    StrictTopAnswers,
    count_steps,
    in_order_probabilities,
    is_affordable,
)
from tierwise.distances import get_distance
from tierwise.tiers import compositions


def first_places(orders, n_items):
    """First place of each item's group; items not listed come last."""
    first = np.full((len(orders), n_items), -1, dtype=np.int32)
    for row, groups in enumerate(orders):
        place = 0
        for group in groups:
            first[row, list(group)] = place
            place += len(group)
        first[row, first[row] < 0] = place
    return first


def with_the_rest(groups, n_items):
    listed = {item for group in groups for item in group}
    rest = tuple(item for item in range(n_items) if item not in listed)
    return [*groups, rest] if rest else list(groups)


@st.composite
def top_answers(draw, n_items=5):
    sizes = draw(st.sampled_from(list(compositions(n_items))))
    labels = draw(st.permutations([tier for tier, size in enumerate(sizes) for _ in range(size)]))
    answers = []
    for _ in range(draw(st.integers(1, 3))):
        order = draw(st.permutations(range(n_items)))
        answers.append([(item,) for item in order[: draw(st.integers(1, n_items))]])
    theta = draw(st.sampled_from([0.0, 0.3, 1.1, 4.0]))
    return sizes, np.array(labels), answers, draw(st.sampled_from(BLOCK_DISTANCES)), theta


@given(top_answers())
def test_sums_over_completions_are_those_of_brute_force(case):
    sizes, labels, answers, distance, theta = case
    weights = np.arange(1.0, len(answers) + 1)
    found = RecursiveTopAnswers(first_places(answers, 5), weights, sizes, get_distance(distance))
    expected = [
        Answer(pairs_of_groups(with_the_rest(groups, 5)), sizes, distance, tuple(labels), theta)
        for groups in answers
    ]
    assert found.log_weights(labels, theta) == pytest.approx(
        [answer.log_weight() for answer in expected], abs=1e-10
    )
    assert found.log_numbers == pytest.approx(
        [np.log(len(answer.orderings)) for answer in expected]
    )
    sums = found.sums(labels, theta)
    assert sums.log_weight == pytest.approx(
        weights @ [answer.log_weight() for answer in expected], abs=1e-9
    )
    assert sums.mean == pytest.approx(weights @ [answer.mean() for answer in expected], abs=1e-9)
    assert sums.variance == pytest.approx(
        weights @ [answer.variance() for answer in expected], abs=1e-8
    )


@given(top_answers(), st.randoms(use_true_random=False))
def test_expected_costs_are_those_of_brute_force_for_any_tiers(case, random):
    sizes, labels, answers, distance, theta = case
    weights = np.arange(1.0, len(answers) + 1)
    found = RecursiveTopAnswers(first_places(answers, 5), weights, sizes, get_distance(distance))
    costs = found.expected_costs(labels, theta)
    others = labels.tolist()
    random.shuffle(others)
    expected = sum(
        weight
        * Answer(
            pairs_of_groups(with_the_rest(groups, 5)), sizes, distance, tuple(labels), theta
        ).mean_distance_from(tuple(others))
        for weight, groups in zip(weights, answers, strict=True)
    )
    total = total_cost(np.array(others), costs.linear, costs.pairs)
    assert total == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("distance", BLOCK_DISTANCES)
@pytest.mark.parametrize("sizes", [(2, 3), (1, 2, 2), (1, 1, 1, 1, 1), (3, 1, 1), (5,)])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_probabilities_of_all_lists_of_one_length_sum_to_one(distance, sizes, k):
    tiers = tw.Tiers.from_sizes(sizes, "cadbe")
    model = tw.ClusteredMallows(tiers, 0.6, distance)
    lists = list(permutations("abcde", k))
    rankings = tw.Rankings.from_orderings(lists, items="abcde", unranked="below")
    logs = model.log_prob(rankings)
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-12)
    whole = BruteForce(sizes, distance, tuple(tiers.label_array("abcde")))
    probabilities = whole.probabilities(0.6)
    for answer, log_probability in zip(lists, logs, strict=True):
        expected = sum(
            probability
            for ordering, probability in zip(whole.orderings, probabilities, strict=True)
            if tuple("abcde"[item] for item in ordering[:k]) == answer
        )
        assert np.exp(log_probability) == pytest.approx(expected, abs=1e-12)


def test_ties_within_a_block_and_at_the_end_are_summed_over():
    sizes = (2, 1, 3)
    answers = [[(4, 1), (0,)], [(5, 0), (2,), (1, 3, 4)], [(3, 2)]]
    kendall = get_distance("kendall")
    found = RecursiveTopAnswers(first_places(answers, 6), np.ones(3), sizes, kendall)
    labels = np.array([1, 0, 2, 2, 0, 2])
    expected = [
        Answer(pairs_of_groups(with_the_rest(groups, 6)), sizes, "kendall", tuple(labels), 0.4)
        for groups in answers
    ]
    assert found.log_weights(labels, 0.4) == pytest.approx(
        [answer.log_weight() for answer in expected]
    )


@pytest.mark.parametrize("theta", [0.0, 1e-7, 1e-4, 0.3, 5.0, 40.0])
def test_the_closed_form_of_the_strict_model_agrees_with_the_recursion(theta):
    rng = np.random.default_rng(3)
    sizes = (1,) * 7
    answers = [[(item,) for item in rng.permutation(7)[:k]] for k in (1, 1, 2, 3, 4, 5)]
    first, weights = first_places(answers, 7), np.arange(1.0, 7.0)
    labels = rng.permutation(7)
    closed = StrictTopAnswers(first, weights, sizes, get_distance("kendall"))
    recursion = RecursiveTopAnswers(first, weights, sizes, get_distance("kendall"))
    assert closed.log_weights(labels, theta) == pytest.approx(recursion.log_weights(labels, theta))
    one, other = closed.sums(labels, theta), recursion.sums(labels, theta)
    assert (one.log_weight, one.mean) == pytest.approx((other.log_weight, other.mean), rel=1e-9)
    assert one.variance == pytest.approx(other.variance, abs=1e-7)
    assert closed.expected_costs(labels, theta).pairs == pytest.approx(
        recursion.expected_costs(labels, theta).pairs, abs=1e-8
    )


@pytest.mark.parametrize("theta", [0.0, 1e-9, 0.3, 5.0, 40.0])
@pytest.mark.parametrize("sizes", [(2, 3, 2), (1, 1, 2, 3), (4, 3)])
def test_boards_agree_with_the_recursion(theta, sizes):
    rng = np.random.default_rng(3)
    answers = [[(item,) for item in rng.permutation(7)[:k]] for k in (1, 1, 2, 3, 4, 5)]
    first, weights = first_places(answers, 7), np.arange(1.0, 7.0)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    board = BoardTopAnswers(first, weights, sizes, get_distance("hamming"))
    recursion = RecursiveTopAnswers(first, weights, sizes, get_distance("hamming"))
    assert board.log_weights(labels, theta) == pytest.approx(recursion.log_weights(labels, theta))
    one, other = board.sums(labels, theta), recursion.sums(labels, theta)
    assert (one.log_weight, one.mean) == pytest.approx((other.log_weight, other.mean))
    assert one.variance == pytest.approx(other.variance, abs=1e-7)
    assert board.expected_costs(labels, theta).linear == pytest.approx(
        recursion.expected_costs(labels, theta).linear, abs=1e-9
    )


def test_hamming_answers_of_many_items_are_exact():
    items = range(60)
    model = tw.ClusteredMallows(tw.Tiers.from_sizes((3,) * 20, items), 0.8, "hamming")
    one = tw.Rankings.from_orderings([[item] for item in items], items=items, unranked="below")
    assert np.exp(model.log_prob(one)).sum() == pytest.approx(1.0)


def test_two_items_come_in_the_order_of_the_consensus_as_brute_force_says():
    whole = BruteForce((1,) * 5, "kendall")
    found = in_order_probabilities(0.8, 5)
    probabilities = whole.probabilities(0.8)
    for gap in range(1, 5):
        share = sum(
            probability
            for ordering, probability in zip(whole.orderings, probabilities, strict=True)
            if ordering.index(0) < ordering.index(gap)
        )
        assert found[gap] == pytest.approx(share)


def test_large_thetas_leave_the_closest_completions_only():
    found = RecursiveTopAnswers(
        first_places([[(4,)]], 5), np.ones(1), (2, 3), get_distance("kendall")
    )
    labels = np.array([0, 0, 1, 1, 1])
    # Item 4 takes a place of the first block; the other goes to item 0 or 1: 2 * 3! orderings.
    closest = Answer({(4, other) for other in range(4)}, (2, 3), "kendall", tuple(labels), 0.0)
    least = min(closest.distances)
    value = found.log_weights(labels, 40.0)[0] + 40.0 * least
    assert value == pytest.approx(np.log(closest.distances.count(least)), abs=1e-9)


def test_strict_answers_of_many_items_are_exact():
    items = range(200)
    model = tw.ClusteredMallows(tw.Tiers([[item] for item in items]), 0.05)
    one = tw.Rankings.from_orderings([[item] for item in items], items=items, unranked="below")
    assert np.exp(model.log_prob(one)).sum() == pytest.approx(1.0)


def test_the_number_of_steps_decides_what_is_affordable():
    assert count_steps((1, 1, 1)) == 3 + 6 + 3
    assert is_affordable((1,) * 12)
    assert not is_affordable((1,) * 24)
    assert not is_affordable((4,) * 10)


def test_answers_without_doubt_need_no_recursion():
    rankings = tw.Rankings.from_orderings(
        [["a", "b", "c"], ["b", "a"]], items="abcd", unranked="below"
    )
    (part,) = source_of(rankings, "kendall").at((1, 1, 2)).parts
    labels = np.array([0, 1, 2, 2])
    assert part.sums(labels, 0.3).variance == 0.0
    assert part.expected_costs(labels, 0.3).pairs[2, 3] == 0.0
    assert part.log_numbers == pytest.approx([0.0, lgamma(3)])


def test_sizes_beyond_the_recursion_do_not_matter_if_nothing_is_open():
    n_items = 40
    sizes = (4,) * 10
    rankings = tw.Rankings.from_orderings(
        [list(range(n_items)), [[0, 1], *range(2, n_items)]], unranked="below"
    )
    model = tw.ClusteredMallows(tw.Tiers.from_sizes(sizes, range(n_items)), 0.0, "footrule")
    logs = model.log_prob(rankings)
    assert logs[1] - logs[0] == pytest.approx(np.log(2))
