"""Counting weak orders: against definitions, in pieces, and with many items."""

import numpy as np
import pytest

from tests.inversions.lines import log_likelihood
from tests.inversions.small import counts_of, random_answers
from tests.reference_inversions import Model, all_tiers
from tierwise import Rankings
from tierwise.data.counts import WeakOrderCounts
from tierwise.errors import InputError


def blocks_as_dict(counts):
    found = {}
    for block in range(counts.n_blocks):
        begin, end = counts.block_offsets[block : block + 2]
        found[tuple(counts.block_members[begin:end].tolist())] = counts.block_weights[block]
    return found


def naive(answers, n_items):
    above, tied = np.zeros((n_items, n_items)), {}
    for blocks, times in answers:
        for place, block in enumerate(blocks):
            if len(block) > 1:
                key = tuple(sorted(block))
                tied[key] = tied.get(key, 0) + times
            for later in blocks[place + 1 :]:
                for item in block:
                    for other in later:
                        above[item, other] += times
    return above, tied


@pytest.mark.parametrize("n_items", [3, 6, 70, 130])
def test_counts_are_those_of_the_definition(n_items):
    answers = random_answers(n_items, 25, seed=n_items)
    counts = counts_of(answers, n_items)
    above, tied = naive(answers, n_items)
    np.testing.assert_array_equal(counts.above, above)
    assert blocks_as_dict(counts) == tied
    assert counts.n_rankings == sum(times for _, times in answers)


@pytest.mark.parametrize("n_items", [6, 70])
def test_counts_add(n_items):
    answers = random_answers(n_items, 30, seed=2)
    whole = counts_of(answers, n_items)
    parts = counts_of(answers[:11], n_items) + counts_of(answers[11:], n_items)
    np.testing.assert_array_equal(parts.above, whole.above)
    assert blocks_as_dict(parts) == blocks_as_dict(whole)
    assert parts.n_rankings == whole.n_rankings


def test_rankings_with_ties_and_unlisted_items():
    rankings = Rankings.from_orderings(
        [["a"], ["b", ["c", "a"]], ["c", "b", "a", "d"]], items="abcd", unranked="below"
    )
    counts = WeakOrderCounts.of(rankings)
    assert blocks_as_dict(counts) == {(1, 2, 3): 1.0, (0, 2): 1.0}
    assert counts.above[0].tolist() == [0, 1, 1, 3]


def test_complete_rankings_have_no_blocks():
    counts = WeakOrderCounts.of(Rankings.from_orderings([["a", "b", "c"], ["b", "a", "c"]]))
    assert counts.n_blocks == 0
    assert counts.largest_block == 1


def test_anywhere_is_refused():
    rankings = Rankings.from_orderings([["a", "b"]], items="abc", unranked="anywhere")
    with pytest.raises(InputError, match="not listed is unknown"):
        WeakOrderCounts.of(rankings)


def test_counts_of_different_items_do_not_add():
    with pytest.raises(InputError, match="cannot be added"):
        counts_of(random_answers(3, 2, seed=1), 3) + counts_of(random_answers(4, 2, seed=1), 4)


def test_log_likelihood_is_the_sum_over_answers():
    answers = random_answers(4, 6, seed=5)
    counts = counts_of(answers, 4)
    for labels in all_tiers(4)[::7]:
        for theta in (0.5, np.linspace(0.3, 0.8, max(labels))):
            model = Model(labels, theta)
            wanted = sum(times * model.log_probability(blocks) for blocks, times in answers)
            assert log_likelihood(counts, np.array(labels), theta) == pytest.approx(wanted)
