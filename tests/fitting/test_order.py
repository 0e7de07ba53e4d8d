"""People who are divided get no tiers by default."""

import numpy as np
import pytest

import tierwise as tw
from tierwise.errors import listed
from tierwise.fitting.order import are_an_order, pairs_by_answer


def opposed(n_items, n_rankings, theta, seed):
    """Half of the rankings from a strict order, half from its reverse."""
    items = [f"item {number}" for number in range(n_items)]
    rng = np.random.default_rng(seed)
    model = tw.ClusteredMallows(tw.Tiers([[item] for item in items]), theta)
    upward, downward = (
        model.sample(n_rankings // 2, rng=rng).restrict(items).places for _ in range(2)
    )
    return tw.Rankings.from_ranks(np.concatenate([upward + 1, n_items - downward]), items)


@pytest.mark.parametrize("seed", range(3))
def test_two_opposed_halves_are_not_an_order(seed):
    found = tw.search(opposed(6, 300, 0.6, seed), progress="off", rng=1)
    assert len(found.best.tiers) == 1
    for why in found.left_out.values():
        assert "People seem to be divided" in why


def test_what_is_left_out_is_said():
    answers = opposed(6, 1000, 0.6, 0)
    found = tw.search(answers, progress="off", rng=1)
    names = listed(list(found.left_out))
    said = f"Not compared: {names}, because the tiers found are not an order"
    assert "kendall" in found.left_out
    assert said in " ".join(found.summary().split())
    # What is named is used as named.
    assert len(tw.search(answers, "kendall", progress="off", rng=1).best.tiers) > 1


def test_pairs_are_counted_answer_by_answer():
    answers = tw.Rankings.from_orderings(
        [["a", "b", "c"], ["c", "a"], ["b"]], items="abc", unranked="anywhere"
    )
    labels = np.array([0, 1, 1])
    with_tiers, against = pairs_by_answer(answers, labels)
    assert with_tiers.tolist() == [2, 0, 0]
    assert against.tolist() == [0, 1, 0]
    below = tw.Rankings.from_orderings([["b"], ["a"]], items="abc", unranked="below")
    with_tiers, against = pairs_by_answer(below, labels)
    assert with_tiers.tolist() == [0, 2]
    assert against.tolist() == [1, 0]


def test_a_weak_order_is_an_order_once_there_are_enough_answers():
    tiers = tw.Tiers([["a", "b"], ["c", "d"]])
    answers = tw.ClusteredMallows(tiers, 0.1, "inversions").sample(3000, rng=1)
    assert are_an_order(answers, tiers)
    assert not are_an_order(answers, tw.Tiers(list(tiers)[::-1]))


def test_battles_are_taken_to_be_an_order():
    battles = tw.Battles.from_rows([("x", "y", "x")] * 3)
    assert are_an_order(battles, tw.Tiers([["y"], ["x"]]))
