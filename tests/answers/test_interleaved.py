import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tierwise as tw
from tests.reference import DISTANCES
from tests.reference_incomplete import Answer, pairs_of_groups
from tierwise._kernels.consensus import total_cost
from tierwise.answers.blockwise import BlockwiseAnswers, have_ties, most_splits, work_of
from tierwise.answers.interleaved import InterleavedInversions, work_under_inversions
from tierwise.answers.likelihood import source_of
from tierwise.distances import get_distance
from tierwise.tiers import compositions


@st.composite
def chains(draw, n_items=5, distances=tuple(DISTANCES)):
    sizes = draw(st.sampled_from(list(compositions(n_items))))
    labels = draw(st.permutations([tier for tier, size in enumerate(sizes) for _ in range(size)]))
    orders = []
    for _ in range(draw(st.integers(1, 3))):
        order = draw(st.permutations(range(n_items)))
        orders.append(order[: draw(st.integers(1, n_items))])
    theta = draw(st.sampled_from([0.0, 0.3, 1.1, 40.0]))
    return sizes, np.array(labels), orders, draw(st.sampled_from(distances)), theta


def places_of(orders, n_items):
    first = np.full((len(orders), n_items), -1, dtype=np.int32)
    for row, order in enumerate(orders):
        first[row, list(order)] = np.arange(len(order))
    return first


@pytest.mark.thorough
@given(chains(), st.randoms(use_true_random=False))
def test_sums_and_expected_costs_are_those_of_brute_force(case, random):
    sizes, labels, orders, distance, theta = case
    weights = np.arange(1.0, len(orders) + 1)
    kind = InterleavedInversions if distance == "inversions" else BlockwiseAnswers
    found = kind(places_of(orders, 5), weights, sizes, get_distance(distance))
    # Distances from far-off tiers underflow at a large theta, where only least ones count.
    small = min(theta, 5.0)
    answers = [
        Answer(pairs_of_groups([[item] for item in order]), sizes, distance, tuple(labels), small)
        for order in orders
    ]
    assert found.log_weights(labels, small) == pytest.approx(
        [answer.log_weight() for answer in answers], abs=1e-9
    )
    sums = found.sums(labels, small)
    assert sums.mean == pytest.approx(weights @ [answer.mean() for answer in answers], abs=1e-9)
    assert sums.variance == pytest.approx(
        weights @ [answer.variance() for answer in answers], abs=1e-7
    )
    assert found.log_numbers == pytest.approx([np.log(len(answer.orderings)) for answer in answers])
    costs = found.expected_costs(labels, small)
    others = labels.tolist()
    random.shuffle(others)
    expected = weights @ [answer.mean_distance_from(tuple(others)) for answer in answers]
    assert total_cost(np.array(others), costs.linear, costs.pairs) == pytest.approx(
        expected, abs=1e-8
    )
    assert np.isfinite(found.log_weights(labels, theta)).all()
    counted = found.given(labels)
    at_once = counted.sums(small)
    assert at_once.log_weight == pytest.approx(sums.log_weight, rel=1e-12, abs=1e-9)
    assert at_once.mean == pytest.approx(sums.mean, abs=1e-9)
    assert at_once.variance == pytest.approx(sums.variance, abs=1e-7)
    thetas = np.array([0.0, small, 40.0])
    assert counted.log_weights_at(thetas) == pytest.approx(
        found.log_weights_at(labels, thetas), rel=1e-12, abs=1e-9
    )
    assert found.log_weights_at(labels, thetas) == pytest.approx(
        [weights @ found.log_weights(labels, one) for one in thetas.tolist()], rel=1e-12, abs=1e-9
    )


def test_work_grows_with_free_items_and_ties_are_seen():
    first = places_of([[0, 1, 2], [3, 4, 5, 6, 7, 8, 9]], 10)
    sizes = (2, 3, 5)
    assert most_splits(sizes)[7] == 3 * 3 * 4
    work = work_of(first, sizes)
    assert work[0] > work[1] > 0
    first[1, 4] = 0  # tied with item 3
    assert work_of(first, sizes)[1] > work[1]
    under_inversions = work_under_inversions(first, sizes)
    assert under_inversions[0] > under_inversions[1] > 0
    assert have_ties(first).tolist() == [False, True]


def test_under_inversions_lists_with_gaps_are_summed_over_and_not_drawn():
    rankings = tw.Rankings.from_orderings(
        [["a", "c", "e", "g"], ["b", "a", "h", "f"], ["k", "l", "m", "a"]],
        items="abcdefghijklm",
        unranked="anywhere",
    )
    likelihood = source_of(rankings, "inversions").at((4, 4, 5))
    assert likelihood.exact
    assert [type(part) for part in likelihood.parts] == [InterleavedInversions]
