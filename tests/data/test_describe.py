"""Descriptions of rankings and of pairwise answers against their definitions."""

import datetime as dt
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference_describe import mean_rank, share_above
from tests.strategies import rankings
from tierwise import InputError, Preferences, Rankings, describe


def same(ours, reference):
    return math.isnan(ours) if reference is None else ours == pytest.approx(reference)


@given(answers=rankings())
def test_mean_ranks_and_pairs_are_what_they_are_said_to_be(answers):
    description = describe(answers)
    rows, weights = answers.to_orderings(), answers.weights.tolist()
    for a, first in enumerate(answers.items):
        assert same(description.mean_ranks[a], mean_rank(rows, weights, first))
        for b, second in enumerate(answers.items):
            expected = share_above(rows, weights, first, second, answers.unranked)
            assert same(description.pairwise[a, b], None if a == b else expected)


@given(answers=rankings())
def test_numbers_of_answers(answers):
    description = describe(answers)
    sizes = [
        sum(len(entry) if isinstance(entry, list) else 1 for entry in row)
        for row in answers.to_orderings()
    ]
    weights = answers.weights.tolist()
    complete = [size == len(answers.items) for size in sizes]
    tied = [any(isinstance(entry, list) for entry in row) for row in answers.to_orderings()]
    assert description.n_rankings == sum(weights)
    assert description.n_complete == np.dot(complete, weights)
    assert description.n_with_ties == np.dot(tied, weights)
    assert description.mean_listed == pytest.approx(np.dot(sizes, weights) / sum(weights))
    assert description.n_distinct == len({json.dumps(row) for row in answers.to_orderings()})
    assert description.unranked == answers.unranked


@given(answers=rankings())
def test_closest_pairs_are_closest(answers):
    description = describe(answers)
    pairs = description.closest_pairs(100)
    shares = [pair.share for pair in pairs]
    assert shares == sorted(shares)
    assert all(share >= 0.5 for share in shares)
    known = ~np.isnan(description.pairwise)
    assert len(pairs) == known.sum() / 2
    assert description.closest_pairs(1) == pairs[:1]
    for pair in pairs:
        a, b = answers.items.index(pair.above), answers.items.index(pair.below)
        assert description.pairwise[a, b] == pair.share


def test_unranked_makes_a_difference():
    rows = [["a"], ["b", "a", "c"], ["c", "a", "b"]]
    below = describe(Rankings.from_orderings(rows, unranked="below"))
    anywhere = describe(Rankings.from_orderings(rows, unranked="anywhere"))
    assert below.pairwise[0, 1] == pytest.approx(2 / 3)
    assert anywhere.pairwise[0, 1] == 0.5


def test_an_item_that_nobody_lists():
    description = describe(Rankings.from_orderings([["a"]], items="abc", unranked="anywhere"))
    assert math.isnan(description.mean_ranks[1])
    assert description.n_listing == (1, 0, 0)
    assert description.closest_pairs() == []
    assert description.best_first()[0] == 0


@given(answers=rankings())
def test_as_json(answers):
    text = json.dumps(describe(answers).to_dict(), allow_nan=False)
    assert json.loads(text)["items"] == list(answers.items)


def test_a_negative_number_of_pairs():
    with pytest.raises(InputError, match="count must be at least 0"):
        describe(Rankings.from_orderings([["a", "b"]])).closest_pairs(-1)


def test_a_description_is_json_whatever_the_items_are():
    items = [1.5, dt.date(2024, 2, 29), np.int64(7), ("x", 1)]
    places = np.array([[0, 1, -1, -1]], dtype=np.int32)
    answers = Rankings(items, places, unranked="anywhere")
    values = json.loads(json.dumps(describe(answers).to_dict(), allow_nan=False))
    assert values["items"] == [1.5, "2024-02-29", 7, "('x', 1)"]
    assert values["mean_ranks"][2] is None


def test_number_words():
    assert describe(Rankings.from_orderings([["a", "b"]])).heading() == "1 ranking of 2 items"
    pairs = Preferences.from_pairs([("Ann", "a", "b")])
    assert describe(pairs).heading() == "1 answer about pairs of 2 items, by 1 assessor"
    assert repr(pairs).startswith("Preferences(1 assessor, 2 items, 1 ordered pair, 0")


rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4)).filter(
        lambda row: row[1] != row[2]
    ),
    min_size=1,
)


def reachable(edges, start):
    """Items that steps along the edges lead to, the start only if it is come back to."""
    reached, frontier = set(), {start}
    while frontier:
        frontier = {b for a, b in edges if a in frontier} - reached
        reached |= frontier
    return reached


@given(rows=rows)
def test_numbers_are_those_of_the_rows(rows):
    described = describe(Preferences.from_pairs(rows, items=range(5), cycles="keep"))
    pairs = [row[1:] for row in rows]
    assert described.n_answers == len(rows)
    assert described.n_assessors == len({row[0] for row in rows})
    sets = {tuple(sorted(row[1:] for row in rows if row[0] == who)) for who in range(4)} - {()}
    assert described.n_distinct == len(sets)
    assert described.n_contradicting == sum(
        any(a in reachable([row[1:] for row in rows if row[0] == who], a) for a in range(5))
        for who in range(4)
    )
    both = {(who, *sorted(pair)) for who, *pair in rows if (who, *pair[::-1]) in rows}
    assert described.n_both_ways == len(both)
    for a in range(5):
        assert described.n_comparing[a] == len({row[0] for row in rows if a in row[1:]})
        won, lost = (sum(pair[side] == a for pair in pairs) for side in (0, 1))
        share = won / (won + lost) if won + lost else np.nan
        assert described.shares_won[a] == pytest.approx(share, nan_ok=True)
        assert (a in described.never_compared) == (won + lost == 0)
        for b in range(5):
            first, second = pairs.count((a, b)), pairs.count((b, a))
            assert described.compared[a, b] == first + second
            share = first / (first + second) if first + second else np.nan
            assert described.pairwise[a, b] == pytest.approx(share, nan_ok=True)


@given(rows=rows)
def test_parts_are_what_comparisons_connect(rows):
    described = describe(Preferences.from_pairs(rows, items=range(5), cycles="keep"))
    both_ways = [row[1:] for row in rows] + [row[:0:-1] for row in rows]
    assert sorted(item for part in described.parts for item in part) == list(range(5))
    for part in described.parts:
        for item in part:
            assert set(part) == reachable(both_ways, item) | {item}
    assert [len(part) for part in described.parts] == sorted(
        map(len, described.parts), reverse=True
    )


def test_what_follows_counts_for_shares_but_was_not_asked():
    answers = Preferences.from_pairs([("Ann", "a", "b"), ("Ann", "b", "c"), ("Bob", "c", "a")])
    described = describe(answers)
    assert (described.n_answers, described.n_following, described.n_contradicting) == (3, 1, 0)
    assert described.compared.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert described.pairwise[0, 2] == 0.5
    assert "1 more pair follows from their answers" in " ".join(described.sentences())
    assert "Nobody contradicts themselves." in described.sentences()


def test_evenly_split_pairs_with_most_answers_come_first():
    rows = [(number, *pair) for number, pair in enumerate(["ab", "ba", "cd", "dc", "cd", "dc"])]
    first, second, *_ = describe(Preferences.from_pairs(rows)).closest_pairs()
    assert {first.above, first.below} == {"c", "d"}
    assert {second.above, second.below} == {"a", "b"}
    with pytest.raises(InputError, match="count must be at least 0"):
        describe(Preferences.from_pairs(rows)).closest_pairs(-1)


@pytest.mark.parametrize(
    ("rows", "items", "cycles", "said"),
    [
        (["Aab", "Bab"], "ab", "error", "All assessors gave the same answers."),
        (["Aab", "Bab", "Cba"], "ab", "error", "The 3 assessors gave 2 different sets of answers."),
        (["Aab"], "ab", "error", "The only pair of items was compared once."),
        (["Aab", "Abc", "Aac"], "abc", "error", "All 3 pairs of items were compared, each once."),
        (["Aab", "Acd"], "abcd", "error", "fall into 2 groups that were never compared "),
        (["Aab", "Abc"], "abc", "error", "All items are connected, directly or through others."),
        (["Aab", "Abc"], "abcd", "error", "Never compared: d."),
        (["Aab", "Bab"], "ab", "keep", "Any answer may be mistaken, but nobody contradicts"),
        (["Aab", "Aba", "Bab"], "ab", "keep", "1 assessor (50%) contradicts themselves, once by"),
        (["Aab", "Abc", "Aca", "Bab"], "abc", "keep", "1 assessor (50%) contradicts themselves."),
    ],
)
def test_sentences(rows, items, cycles, said):
    described = describe(Preferences.from_pairs(map(tuple, rows), items=items, cycles=cycles))
    assert said in " ".join(described.sentences())


def test_many_items_are_not_all_named():
    answers = Preferences.from_pairs([("Ann", 0, 1)], items=range(15))
    assert (
        "2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 and 1 other." in describe(answers).sentences()[-1]
    )


@given(rows=rows)
def test_pairs_as_json(rows):
    described = describe(Preferences.from_pairs(rows, cycles="keep"))
    document = json.loads(json.dumps(described.to_dict(), allow_nan=False))
    assert document["n_answers"] == len(rows)
    order = [described.shares_won[item] for item in described.best_first()]
    assert order == sorted(order, reverse=True)
