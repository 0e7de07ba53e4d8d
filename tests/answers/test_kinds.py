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
    assert [source.are_weak_orders for source in sources] == [True, True, False, False, False]
    assert [source.votes is not None for source in sources] == [False, False, False, True, False]
    assert [source.wins is not None for source in sources] == [False, False, False, False, True]
    assert [source.likelihood for source in sources] == ["exact"] * 4 + ["independent"]
    with pytest.raises(InputError, match="every two items"):
        _ = source_of(PREFERENCES, None).weak_orders


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
