"""Descriptions against their definitions."""

import datetime as dt
import json
import math

import numpy as np
import pytest
from hypothesis import given

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
    told = json.loads(json.dumps(describe(answers).to_dict(), allow_nan=False))
    assert told["items"] == ["1.5", "2024-02-29", 7, "('x', 1)"]
    assert told["mean_ranks"][2] is None


def test_number_words():
    assert describe(Rankings.from_orderings([["a", "b"]])).heading() == "1 ranking of 2 items"
    pairs = Preferences.from_pairs([("Ann", "a", "b")])
    assert describe(pairs).heading() == "1 answer about pairs of 2 items, by 1 assessor"
    assert repr(pairs).startswith("Preferences(1 assessor, 2 items, 1 ordered pair of which")
