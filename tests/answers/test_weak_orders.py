"""Groups of items in order, some items anywhere: against sums over all completions."""

from itertools import permutations
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp

import tierwise as tw
from tests.reference import DISTANCES
from tests.reference_incomplete import completions, pairs_of_groups
from tierwise._kernels.consensus import total_cost
from tierwise.answers import blockwise
from tierwise.answers.blockwise import BlockwiseAnswers, work_in_single_places, work_of
from tierwise.answers.by_distance import CountedByDistance
from tierwise.answers.interleaved import InterleavedInversions
from tierwise.answers.likelihood import source_of
from tierwise.answers.weak_orders import InvertedWeakOrders
from tierwise.data.counts import BlockCounts
from tierwise.distances import get_distance

N_ITEMS = 5


def first_places(groups):
    """First place of the group of each listed item; -1 for the others."""
    first = np.full(N_ITEMS, -1, dtype=np.int32)
    place = 0
    for group in groups:
        first[group] = place
        place += len(group)
    return first


@st.composite
def cases(draw):
    """A few answers in groups, with items anywhere; sizes, tiers and theta."""
    compositions = list(tw.compositions(N_ITEMS))
    answers = []
    for _ in range(draw(st.integers(1, 3))):
        n_listed = draw(st.integers(0, N_ITEMS))
        order = draw(st.permutations(range(N_ITEMS)))[:n_listed]
        group_sizes = draw(st.sampled_from(list(tw.compositions(n_listed)))) if n_listed else ()
        ends = np.cumsum(group_sizes, dtype=np.int64)
        answers.append([list(part) for part in np.split(np.array(order), ends[:-1]) if len(part)])
    sizes = draw(st.sampled_from(compositions))
    labels = draw(st.permutations(np.repeat(np.arange(len(sizes)), sizes).tolist()))
    theta = draw(st.sampled_from([0.0, 0.3, 1.5, 40.0]))
    return answers, sizes, np.array(labels, dtype=np.int64), theta


@pytest.mark.parametrize("distance", DISTANCES)
@settings(max_examples=30, deadline=None)
@given(case=cases())
def test_all_completions_are_summed_over(distance, case):
    answers, sizes, labels, theta = case
    weights = np.arange(1.0, len(answers) + 1)
    first = np.array([first_places(groups) for groups in answers])
    found = BlockwiseAnswers(first, weights, sizes, get_distance(distance))
    # Under inversions every place is a block.
    block_sizes = (1,) * N_ITEMS if distance == "inversions" else sizes
    blocks = np.repeat(np.arange(len(block_sizes)), block_sizes)
    expected_logs, mean, variance = [], 0.0, 0.0
    membership, precedence = np.zeros((N_ITEMS, len(block_sizes))), np.zeros((N_ITEMS, N_ITEMS))
    for groups, weight in zip(answers, weights, strict=True):
        orderings = list(completions(pairs_of_groups(groups), N_ITEMS))
        distances = np.array(
            [DISTANCES[distance](one, tuple(labels.tolist()), sizes) for one in orderings]
        )
        least = distances.min()
        terms = np.exp(-theta * (distances - least))
        expected_logs.append(log(terms.sum()) - theta * least)
        shares = terms / terms.sum()
        average = shares @ distances
        mean += weight * average
        variance += weight * (shares @ (distances - average) ** 2)
        for ordering, share in zip(orderings, shares, strict=True):
            block_of = {item: blocks[place] for place, item in enumerate(ordering)}
            for item in range(N_ITEMS):
                membership[item, block_of[item]] += weight * share
                for other in range(N_ITEMS):
                    precedence[item, other] += weight * share * (block_of[item] < block_of[other])
    assert found.log_weights(labels, theta) == pytest.approx(expected_logs, abs=1e-9)
    sums = found.sums(labels, theta)
    assert sums.log_weight == pytest.approx(weights @ expected_logs, abs=1e-9)
    assert sums.mean == pytest.approx(mean, abs=1e-8)
    assert sums.variance == pytest.approx(variance, abs=1e-8)
    costs = found.expected_costs(labels, theta)
    blocks_counted = BlockCounts(
        tuple(range(N_ITEMS)), block_sizes, membership, precedence, weights.sum()
    )
    naive = get_distance(distance).costs(blocks_counted, sizes)
    assert costs.linear == pytest.approx(naive.linear, abs=1e-8)
    assert costs.pairs == pytest.approx(naive.pairs, abs=1e-8)
    assert total_cost(labels, costs.linear, costs.pairs) == pytest.approx(mean, abs=1e-8)
    counted = found.given(labels)
    assert isinstance(counted, CountedByDistance) or distance != "inversions"
    at_once = counted.sums(theta)
    assert at_once.log_weight == pytest.approx(sums.log_weight, abs=1e-9)
    assert at_once.mean == pytest.approx(mean, abs=1e-8)
    assert at_once.variance == pytest.approx(variance, abs=1e-8)


def test_the_number_of_completions():
    answers = [[[0, 3], [1], [2, 4]], [[0, 1, 2, 3, 4]], [[0, 3], [1]], [[2], [4]], []]
    first = np.array([first_places(groups) for groups in answers])
    found = BlockwiseAnswers(first, np.ones(5), (2, 3), get_distance("kendall"))
    naive = [len(completions(pairs_of_groups(groups), N_ITEMS)) for groups in answers]
    assert np.exp(found.log_numbers) == pytest.approx(naive)


def test_work_is_counted_before_it_is_done():
    first = np.array([first_places([[item] for item in range(5)]), first_places([list(range(5))])])
    strict, tied = work_of(first, (1,) * 5)
    assert strict == 5
    assert tied == sum(choose * (5 - place) for place, choose in enumerate((1, 5, 10, 10))) + 5
    many = np.zeros((1, 40), dtype=np.int32)
    assert np.isinf(work_of(many, (1,) * 40)[0])
    assert np.isfinite(work_of(many, (20, 20))[0])


def test_work_in_single_places_grows_with_groups_and_free_items():
    answers = [[[0], [1]], [[0, 1]], [[0, 1], [2]], [[0, 1, 2]], [[0, 1]]]
    first = np.array([first_places(groups) for groups in answers])
    chain, pair, pair_and_one, three, _ = work_in_single_places(first, (1,) * 5)
    assert chain < pair
    assert pair_and_one < three
    assert pair_and_one < pair
    many = np.where(np.arange(40) < 10, 0, -1).astype(np.int32)[None]
    assert np.isinf(work_in_single_places(many, (1,) * 40)[0])
    assert np.isfinite(work_in_single_places(many, (20, 20))[0])


@pytest.mark.parametrize("distance", ["kendall", "inversions"])
def test_ties_and_gaps_together_are_summed_over_and_not_drawn(distance):
    answers = [["a", list("bc"), "d"], [list("fgh"), "a"]]
    data = tw.Rankings.from_orderings(answers, items="abcdefgh", unranked="anywhere")
    likelihood = source_of(data, distance).at((2, 3, 3))
    assert likelihood.drawn is None
    assert [type(part) for part in likelihood.parts] == [BlockwiseAnswers]


def test_under_inversions_each_answer_is_summed_over_in_its_own_way():
    answers = [["a", list("bc"), "d"], ["a", "d"], [list("abcd"), list("efgh")]]
    data = tw.Rankings.from_orderings(answers, items="abcdefgh", unranked="anywhere")
    likelihood = source_of(data, "inversions").at((2, 3, 3))
    kinds = {type(part) for part in likelihood.parts}
    assert kinds == {BlockwiseAnswers, InterleavedInversions, InvertedWeakOrders}
    labels = np.array([0, 1, 2, 1, 0, 2, 1, 2])
    together = sum(part.sums(labels, 0.7).log_weight for part in likelihood.parts)
    naive = 0.0
    for groups in ([[0], [1, 2], [3]], [[0], [3]], [[0, 1, 2, 3], [4, 5, 6, 7]]):
        orderings = completions(pairs_of_groups(groups), 8)
        distances = [DISTANCES["inversions"](one, tuple(labels), (2, 3, 3)) for one in orderings]
        naive += logsumexp(-0.7 * np.array(distances))
    assert together == pytest.approx(naive)


@pytest.mark.parametrize("theta", [0.0, 0.01, 0.5, 40.0])
def test_many_items_with_ties_and_gaps_under_inversions(theta):
    """A pair of tied items at the top counts as two lists, each with half of the completions."""
    n_items, sizes = 1_200, (400, 800)
    labels = np.repeat(np.array([0, 1], dtype=np.int64), sizes)
    order = np.random.default_rng(3).permutation(n_items)
    tied = np.full((1, n_items), -1, dtype=np.int32)
    tied[0, order[:-2]] = np.maximum(np.arange(n_items - 2) - 1, 0) + (np.arange(n_items - 2) > 1)
    lists = np.repeat(tied, 2, axis=0)
    lists[0, order[:2]], lists[1, order[:2]] = [0, 1], [1, 0]
    inversions = get_distance("inversions")
    found = BlockwiseAnswers(tied, np.ones(1), sizes, inversions)
    single = InterleavedInversions(lists, np.ones(2), sizes, inversions)
    logs = single.log_weights(labels, theta)
    assert found.log_weights(labels, theta)[0] == pytest.approx(logsumexp(logs), rel=1e-12)
    shares = np.exp(logs - logsumexp(logs))
    sums = [one.sums(labels, theta) for one in single_answers(lists, sizes)]
    mean = shares @ [one.mean for one in sums]
    assert found.sums(labels, theta).mean == pytest.approx(mean, rel=1e-9)
    variance = shares @ [one.variance + (one.mean - mean) ** 2 for one in sums]
    assert found.sums(labels, theta).variance == pytest.approx(variance, rel=1e-7, abs=1e-7)
    costs = [one.expected_costs(labels, theta).pairs for one in single_answers(lists, sizes)]
    expected = shares[0] * costs[0] + shares[1] * costs[1]
    assert np.allclose(found.expected_costs(labels, theta).pairs, expected, atol=1e-8)


def single_answers(lists, sizes):
    return [
        InterleavedInversions(one[None], np.ones(1), sizes, get_distance("inversions"))
        for one in lists
    ]


def test_ties_are_summed_over_and_not_drawn():
    tied = tw.Rankings.from_orderings([[list("abcd"), list("efgh")]] * 3)
    likelihood = source_of(tied, "kendall").at((2,) * 4)
    assert likelihood.drawn is None
    assert [type(part) for part in likelihood.parts] == [BlockwiseAnswers]
    model = tw.ClusteredMallows(tw.Tiers.from_sizes((2,) * 4, "abcdefgh"), 0.4)
    labels = (0, 0, 1, 1, 2, 2, 3, 3)
    naive = sum(
        exp(-0.4 * DISTANCES["kendall"]((*one, *two), labels, (2,) * 4))
        for one in permutations(range(4))
        for two in permutations(range(4, 8))
    )
    total = float(tw.log_partition((2,) * 4, 0.4))
    assert model.log_prob(tied)[0] == pytest.approx(log(naive) - total)


@pytest.mark.parametrize("size", [150, 510])
@pytest.mark.parametrize("theta", [0.0, 0.5, 40.0])
def test_large_groups_are_summed_over_at_any_theta(size, theta, monkeypatch):
    """Two tiers: the distance depends on how many items of the first one are in its block."""
    n_tied = size + size * 2 // 3
    first = np.where(np.arange(2 * size) < n_tied, 0, n_tied).astype(np.int32)[None]
    labels = np.repeat(np.array([0, 1], dtype=np.int64), size)
    # So many steps that completions would be drawn for expected costs.
    monkeypatch.setattr(blockwise, "MOST_COUNTED", np.inf)
    found = BlockwiseAnswers(first, np.ones(1), (size, size), get_distance("kendall"))
    number = np.arange(2 * size - n_tied, size + 1)
    log_ways = (
        gammaln(size + 1) - gammaln(number + 1) - gammaln(size - number + 1)
        + gammaln(n_tied - size + 1) - gammaln(size - number + 1)
        - gammaln(n_tied - 2 * size + number + 1)
        - gammaln(n_tied + 1) + gammaln(size + 1) + gammaln(n_tied - size + 1)
    )  # fmt: skip
    distances = (size - number) * (size + number)
    logs = log_ways - theta * distances
    assert found.log_weights(labels, theta)[0] - found.log_numbers[0] == pytest.approx(
        logsumexp(logs), rel=1e-9, abs=1e-9
    )
    shares = np.exp(logs - logsumexp(logs))
    sums = found.sums(labels, theta)
    assert sums.mean == pytest.approx(shares @ distances, rel=1e-9, abs=1e-9)
    costs = found.expected_costs(labels, theta)
    assert total_cost(labels, costs.linear, costs.pairs) == pytest.approx(
        shares @ distances, rel=1e-8, abs=1e-6
    )
