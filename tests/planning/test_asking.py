"""Answers drawn for a plan have the distribution of the model, and the form that was asked for."""

import numpy as np
import pytest

import tierwise as tw
from tierwise.planning.asking import Alike, Design

TIERS = tw.Tiers([["a"], ["b", "c"], ["d"]])
MODEL = tw.ClusteredLuce(TIERS, (6.0, 2.0, 1.0))
WORTHS = {"a": 6.0, "b": 2.0, "c": 2.0, "d": 1.0}


def test_complete_answers_come_from_the_model():
    answers = Design("complete").answers(MODEL, 20_000, np.random.default_rng(1))
    first = (answers.places[:, answers.items.index("a")] == 0).mean()
    # Five standard errors.
    assert abs(first - 6 / 11) < 5 * np.sqrt(0.25 / 20_000)


def test_top_lists_hold_the_best():
    answers = Design("top", 2).answers(MODEL, 5_000, np.random.default_rng(1))
    assert answers.unranked == "below"
    assert {len(ordering) for ordering in answers.to_orderings()} == {2}
    first = (answers.places[:, answers.items.index("a")] == 0).mean()
    assert abs(first - 6 / 11) < 5 * np.sqrt(0.25 / 5_000)


def test_subsets_are_chosen_at_random_and_ranked_by_worth():
    answers = Design("subsets", 2).answers(MODEL, 30_000, np.random.default_rng(1))
    assert answers.unranked == "anywhere"
    numbers = {item: place for place, item in enumerate(answers.items)}
    shown = answers.places >= 0
    assert (shown.sum(axis=1) == 2).all()
    assert np.abs(shown.mean(axis=0) - 0.5).max() < 5 * np.sqrt(0.25 / 30_000)
    for better, worse in (("a", "d"), ("b", "d"), ("b", "c")):
        both = shown[:, numbers[better]] & shown[:, numbers[worse]]
        won = (answers.places[both, numbers[better]] == 0).mean()
        expected = WORTHS[better] / (WORTHS[better] + WORTHS[worse])
        assert abs(won - expected) < 5 * np.sqrt(0.25 / both.sum())


def test_the_best_and_the_worst_of_those_shown_are_named():
    answers = Design("best-worst", 3).answers(MODEL, 30_000, np.random.default_rng(1))
    assert answers.unranked == "anywhere"
    assert sorted({*answers.places.ravel().tolist()}) == [-1, 0, 1, 2]
    assert ((answers.places >= 0).sum(axis=1) == 3).all()
    a, d = (answers.items.index(item) for item in "ad")
    three = (answers.places >= 0)[:, [a, answers.items.index("b"), d]].all(axis=1)
    first = (answers.places[three, a] == 0).mean()
    last = (answers.places[three, d] == 2).mean()
    # Of worths 6, 2 and 1; d is last if a or b is first, and the other before d.
    assert abs(first - 6 / 9) < 5 * np.sqrt(0.25 / three.sum())
    assert abs(last - (6 / 9 * 2 / 3 + 2 / 9 * 6 / 7)) < 5 * np.sqrt(0.25 / three.sum())


@pytest.mark.parametrize(
    "model", [MODEL, tw.ClusteredMallows(TIERS, 0.7, "inversions")], ids=["luce", "mallows"]
)
def test_pairs_are_won_as_the_model_says(model):
    battles = Design("pairs").answers(model, 60_000, np.random.default_rng(2))
    assert battles.n_battles == 60_000
    chances = np.asarray(model.pair_probabilities())
    labels = TIERS.label_array(battles.items)
    met = battles.decided + battles.decided.T
    for one in range(4):
        for other in range(one + 1, 4):
            expected = 0.5 if labels[one] == labels[other] else chances[labels[one], labels[other]]
            share = battles.decided[one, other] / met[one, other]
            assert abs(share - expected) < 5 * np.sqrt(0.25 / met[one, other])


def test_further_answers_hide_what_those_at_hand_hide():
    rows = [["a", "b"], ["a", "c", "d"], ["d", "b"]]
    data = tw.Rankings.from_orderings(rows, items="abcd", unranked="anywhere")
    further = Alike(data).answers(MODEL, 500, np.random.default_rng(1))
    assert {frozenset(row) for row in further.to_orderings()} == {frozenset(row) for row in rows}


def test_further_battles_are_between_pairs_that_met_and_as_often_drawn():
    battles = tw.Battles.from_rows([("a", "b", "a")] * 30 + [("a", "d", "tie")] * 10)
    model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "d"]]), (2.0, 1.0))
    further = Alike(battles).answers(model, 4_000, np.random.default_rng(1))
    assert further.n_battles == 4_000
    assert further.items == ("a", "b", "d")
    assert further.wins[1, 2] == further.wins[2, 1] == 0
    assert abs(further.n_drawn / 4_000 - 0.25) < 5 * np.sqrt(0.25 / 4_000)


@pytest.mark.parametrize(
    ("ask", "size", "words"),
    [
        ("top", None, "number of items"),
        ("pairs", 3, "size is the number"),
        ("subsets", 1, "size"),
        ("all", None, "ask"),
    ],
)
def test_designs_that_make_no_sense_are_refused(ask, size, words):
    with pytest.raises(tw.InputError, match=words):
        Design(ask, size)


def test_more_items_than_there_are_cannot_be_shown():
    with pytest.raises(tw.InputError, match="at most the number of items, 4"):
        Design("top", 5).answers(MODEL, 10, np.random.default_rng(1))
