"""What can be asked of data of each kind, and of the answers made of them."""

import numpy as np
import pytest

import tierwise as tw
from tierwise.answers.likelihood import distance_for, source_of
from tierwise.errors import InputError

ROWS = [["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]]
RANKINGS = tw.Rankings.from_orderings(ROWS)
COUNTS = tw.Counts.of(RANKINGS)
PAIRS = [(0, "a", "b"), (0, "b", "c"), (1, "c", "a")]
PREFERENCES = tw.Preferences.from_pairs(PAIRS, items="abc")
VOTES = tw.Preferences.from_pairs([*PAIRS, (1, "c", "a")], items="abc", cycles="keep")
BATTLES = tw.Battles.from_rows([("a", "b", "a"), ("b", "c", "tie")])


@pytest.mark.parametrize(
    ("data", "counts"),
    [
        (RANKINGS, [[0, 2, 3], [1, 0, 2], [0, 1, 0]]),
        (COUNTS, [[0, 2, 3], [1, 0, 2], [0, 1, 0]]),
        (PREFERENCES, [[0, 1, 1], [0, 0, 1], [1, 0, 0]]),
        (VOTES, [[0, 1, 0], [0, 0, 1], [2, 0, 0]]),
        (BATTLES, [[0, 1, 0], [0, 0, 0.5], [0, 0.5, 0]]),
    ],
)
def test_pairs_are_counted(data, counts):
    assert data.pair_counts.tolist() == counts
    assert source_of(data, None).pair_counts.tolist() == counts


def test_open_answers_count_what_they_say():
    lists = tw.Rankings.from_orderings([["a"], ["b", "c"]], items="abc", unranked="below")
    assert lists.pair_counts.tolist() == [[0, 1, 1], [1, 0, 1], [1, 0, 0]]
    anywhere = tw.Rankings.from_orderings([["a"], ["b", "c"]], items="abc", unranked="anywhere")
    assert anywhere.pair_counts.tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0]]


def test_who_compared_pairs():
    kinds = (RANKINGS, COUNTS, PREFERENCES, VOTES, BATTLES)
    sources = [source_of(data, None) for data in kinds]
    assert [source.pairwise for source in sources] == [False, False, True, True, True]
    assert [source.likelihood for source in sources] == ["exact"] * 4 + ["independent"]
    with pytest.raises(InputError, match="every pair of items"):
        _ = source_of(PREFERENCES, None).weak_orders
    with pytest.raises(InputError, match="rankings do not show who won"):
        _ = source_of(RANKINGS, None).wins
    with pytest.raises(InputError, match="battles do not show which of them may be mistaken"):
        _ = source_of(BATTLES, None).votes


def test_what_can_be_done_with_each_kind():
    gaps = tw.Rankings.from_orderings([["a", "b"], ["c", "b"]], unranked="anywhere")
    weighted = tw.Rankings(gaps.items, gaps.places, weights=[1, 0.5], unranked="anywhere")
    expected = {
        "rankings": (RANKINGS, "completions", "weak orders", True),
        "counts of rankings": (COUNTS, "completions", "weak orders", True),
        "pairwise answers": (PREFERENCES, "completions", "completions", True),
        "pairwise answers that may be mistaken": (VOTES, "mistakes", None, True),
        "battles": (BATTLES, "comparisons", "comparisons", False),
        "rankings with gaps": (gaps, "completions", "completions", True),
    }
    for name, (data, engine, all_sizes, evidence) in expected.items():
        can = source_of(data, "inversions").capabilities
        assert (can.answers, can.engine, can.all_sizes) == (name, engine, all_sizes)
        assert can.evidence == evidence
        assert ("evidence" in can.criteria) == evidence
        if engine != "comparisons":
            assert source_of(data, "kendall").capabilities.all_sizes is None
    # Completions of answers that count in part cannot be drawn one for each.
    assert source_of(weighted, "inversions").capabilities.all_sizes is None
    assert source_of(weighted, "inversions").reweighted(np.ones(2)).capabilities.all_sizes


def test_a_refusal_lists_what_is_possible():
    with pytest.raises(InputError, match="of battles cannot be computed: use criterion="):
        tw.search(BATTLES, criterion="evidence")


def test_weak_orders_of_rankings_and_of_their_counts_are_the_same():
    one, other = (source_of(data, None).weak_orders for data in (RANKINGS, COUNTS))
    assert np.array_equal(one.above, other.above)
    assert one.n_rankings == other.n_rankings


def test_battles_have_one_distance():
    assert distance_for(PREFERENCES, None).name == "kendall"
    assert distance_for(BATTLES, "auto").name == "inversions"
    assert distance_for(BATTLES, "inversions").name == "inversions"
    with pytest.raises(InputError, match="inversions"):
        distance_for(BATTLES, "kendall")


def test_assessors_are_drawn_with_all_their_answers():
    drawn = PREFERENCES.resampled(np.random.default_rng(1))
    assert len(drawn) == 2
    said = {PREFERENCES.direct[row].tobytes() for row in range(2)}
    assert {drawn.direct[row].tobytes() for row in range(2)} <= said
