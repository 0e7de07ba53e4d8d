from itertools import combinations, permutations
from math import exp, factorial, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tierwise as tw
from tests.reference import DISTANCES
from tests.reference_incomplete import Answer, completions, pairs_of_groups
from tierwise import TooLargeError
from tierwise._kernels.augmentation import list_extensions
from tierwise._kernels.consensus import total_cost
from tierwise.answers.partial import (
    ListedCompletions,
    log_number_of_extensions,
    orders_of_places,
    orders_of_preferences,
)
from tierwise.data.preferences import transitive_closure
from tierwise.distances import get_distance
from tierwise.tiers import compositions


@st.composite
def partial_orders(draw, n_items=5):
    """Some pairs of a random order, so that there are no cycles."""
    order = draw(st.permutations(range(n_items)))
    pairs = [pair for pair in combinations(order, 2) if draw(st.booleans())]
    return pairs or [tuple(order[:2])]


def relation_of(pairs, n_items):
    relation = np.zeros((1, n_items, n_items), dtype=bool)
    for first, second in pairs:
        relation[0, first, second] = True
    return transitive_closure(relation)[0]


@given(partial_orders())
def test_all_extensions_are_listed_once(pairs):
    expected = completions(pairs, 5)
    relation = relation_of(pairs, 5)
    found = list_extensions(relation, len(expected))
    orderings = {tuple(np.argsort(places).tolist()) for places in found}
    assert orderings == set(expected)
    assert exp(log_number_of_extensions(relation)) == pytest.approx(len(expected))


def test_extensions_of_many_compared_items_are_estimated():
    # Two chains of 12 items with one comparison between them, last below first: one ordering.
    relation = relation_of([(item, item + 1) for item in range(23)], 24)
    assert float(log_number_of_extensions(relation)) == pytest.approx(0.0, abs=1e-9)
    # Twelve pairs under a common best item: 24! / 2 ** 12 orders below it.
    pairs = [(0, item) for item in range(1, 25)]
    pairs += [(item, item + 1) for item in range(1, 25, 2)]
    estimate = log_number_of_extensions(relation_of(pairs, 25), rng=1)
    assert not estimate.exact
    expected = log(factorial(24)) - 12 * log(2)
    assert abs(estimate - expected) < 5 * estimate.standard_error


@given(
    partial_orders(),
    st.sampled_from(list(compositions(5))),
    st.sampled_from(sorted(DISTANCES)),
    st.sampled_from([0.0, 0.4, 2.0]),
    st.randoms(use_true_random=False),
)
def test_the_probability_of_a_partial_order_is_that_of_brute_force(
    pairs, sizes, distance, theta, random
):
    items = list("abcde")
    random.shuffle(items)
    tiers = tw.Tiers.from_sizes(sizes, items)
    labels = tuple(tiers.label_array("abcde").tolist())
    model = tw.ClusteredMallows(tiers, theta, distance)
    answers = tw.Preferences({"Ann": [("abcde"[a], "abcde"[b]) for a, b in pairs]}, items="abcde")
    answer = Answer(pairs, sizes, distance, labels, theta)
    expected = answer.log_weight() - float(model.log_partition())
    assert model.log_prob(answers) == pytest.approx([expected], abs=1e-10)


@given(
    st.permutations(range(5)),
    st.integers(2, 5),
    st.sampled_from(list(compositions(5))),
    st.sampled_from(["below", "anywhere"]),
    st.data(),
)
def test_the_probability_of_a_ranking_with_ties_is_that_of_brute_force(
    order, n_listed, sizes, unranked, data
):
    groups = [[order[0]]]
    for item in order[1:n_listed]:
        if data.draw(st.booleans()):
            groups[-1].append(item)
        else:
            groups.append([item])
    rankings = tw.Rankings.from_orderings([groups], items=range(5), unranked=unranked)
    rest = [item for item in range(5) if item not in order[:n_listed]]
    known = [*groups, rest] if unranked == "below" and rest else groups
    labels = data.draw(st.permutations(np.repeat(np.arange(len(sizes)), sizes).tolist()))
    tiers = tw.Tiers.from_labels([label + 1 for label in labels], range(5))
    model = tw.ClusteredMallows(tiers, 0.7)
    answer = Answer(pairs_of_groups(known), sizes, "kendall", tuple(labels), 0.7)
    expected = answer.log_weight() - float(model.log_partition())
    assert model.log_prob(rankings) == pytest.approx([expected], abs=1e-10)


@pytest.mark.parametrize("distance", DISTANCES)
def test_sums_and_costs_of_listed_completions(distance):
    sizes, labels, theta = (1, 2, 2), np.array([1, 0, 2, 2, 1]), 0.5
    first = np.array([[0, 1, -1, -1, 2], [0, 0, 0, 3, -1]], dtype=np.int32)
    weights = np.array([2.0, 3.5])
    orders = orders_of_places(first, weights)
    found = ListedCompletions(orders, sizes, get_distance(distance))
    answers = [
        Answer({(0, 1), (1, 4), (0, 4)}, sizes, distance, tuple(labels), theta),
        Answer({(0, 3), (1, 3), (2, 3)}, sizes, distance, tuple(labels), theta),
    ]
    sums = found.sums(labels, theta)
    assert sums.log_weight == pytest.approx(weights @ [answer.log_weight() for answer in answers])
    assert sums.mean == pytest.approx(weights @ [answer.mean() for answer in answers])
    assert sums.variance == pytest.approx(weights @ [answer.variance() for answer in answers])
    costs = found.expected_costs(labels, theta)
    for others in set(permutations(labels.tolist())):
        expected = weights @ [answer.mean_distance_from(others) for answer in answers]
        assert total_cost(np.array(others), costs.linear, costs.pairs) == pytest.approx(expected)
    assert np.exp(orders.log_numbers) == pytest.approx(
        [len(answer.orderings) for answer in answers]
    )


def test_equal_preferences_are_one_partial_order():
    answers = tw.Preferences.from_pairs(
        [("Ann", "a", "b"), ("Bob", "b", "c"), ("Cid", "a", "b")], items="abc"
    )
    orders, which = orders_of_preferences(answers)
    assert which.tolist() == [0, 1, 0]
    assert orders.weights.tolist() == [2.0, 1.0]
    assert np.exp(orders.log_numbers) == pytest.approx([3.0, 3.0])


def test_a_completion_of_each_answer_agrees_with_it():
    answers = tw.Preferences.from_pairs([("Ann", "d", "b"), ("Ann", "b", "a")], items="abcd")
    orders, _ = orders_of_preferences(answers)
    places = orders.some_completions[0]
    assert places[3] < places[1] < places[0]
    assert sorted(places.tolist()) == [0, 1, 2, 3]


def test_probabilities_of_ties_with_gaps_are_exact():
    rankings = tw.Rankings.from_orderings([[[1, 2], 3]], items=range(12), unranked="anywhere")
    model = tw.ClusteredMallows(tw.Tiers.from_sizes((4, 8), range(12)), 0.0)
    assert model.log_prob(rankings)[0] == pytest.approx(log(1 / 3))


def test_probabilities_with_too_many_completions_are_refused():
    tiers = tw.Tiers.from_sizes((1,) * 40, range(40))
    model = tw.ClusteredMallows(tiers, 0.5, distance="inversions")
    groups = [list(range(20)), 20]
    rankings = tw.Rankings.from_orderings([groups], items=range(40), unranked="anywhere")
    with pytest.raises(TooLargeError, match="completions"):
        model.log_prob(rankings)
