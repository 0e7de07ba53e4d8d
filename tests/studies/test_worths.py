"""Studies of worths: what is held out, and what intervals call different."""

import numpy as np
import pytest
from studies.held_out import CHOSEN, METHODS, STRICT, Settings

import tierwise as tw
from studies import held_out, recovery


def test_folds_of_battles_add_up():
    battles = tw.load_llmfao()
    settings = Settings((), n_folds=3)
    folds = held_out._folds_of_battles(battles, settings, np.random.default_rng(1))
    assert sum(float(test.weights.sum()) for _, test in folds) == battles.n_battles
    for training, test in folds:
        assert training.n_battles + test.weights.sum() == battles.n_battles


def test_held_out_rankings_are_those_that_were_not_learned():
    data = tw.load_political_goals()
    settings = Settings((), n_folds=2, most_answers=100)
    folds = held_out._folds_of_rankings(data, settings, np.random.default_rng(1))
    assert [len(training) + len(test.weights) for training, test in folds] == [100, 100]


def test_probabilities_of_what_was_held_out():
    rankings = tw.Rankings.from_orderings([["a", "b", "c"], ["c", "b", "a"]])
    test = held_out._held_out_rankings(rankings)
    assert np.exp(test.uniform) == pytest.approx([1 / 6, 1 / 6])
    model = tw.ClusteredLuce(tw.Tiers([["a"], ["b"], ["c"]]), (3.0, 2.0, 1.0))
    logs = np.log([3.0, 2.0, 1.0])
    assert np.exp(test.of_model(model)) == pytest.approx([1 / 3, 1 / 6 * 2 / 5])
    assert test.of_worths(logs) == pytest.approx(test.of_model(model))


def test_intervals_call_fewer_pairs_different_if_all_are_to_hold():
    rng = np.random.default_rng(1)
    data = recovery.fight(np.linspace(1, -1, 8), 2_000, rng)
    claims = recovery.wald_claims(data, 0.05)
    assert claims["each"].sum() > claims["all"].sum() > 0
    assert not (claims["all"] & ~claims["each"]).any()
    assert not (claims["each"] & claims["each"].T).any()
    assert claims["all"][0, 7]


def test_errors_of_claims_are_counted():
    truth = np.array([[0, 0, 1], [0, 0, 1], [-1, -1, 0]])
    claimed = np.array([[False, True, True], [False, False, False], [False, True, False]])
    found = recovery._judged(claimed, truth)
    assert found == {"found": 0.5, "reversed": 0.5, "made up": 1.0, "any error": 1.0}


def test_text_says_where_the_choice_is_behind():
    gain = dict.fromkeys(METHODS, 1.0)
    row = {"items": 3, "answers": 10.0, "chosen": {"kendall": 5}, "seconds": 1.0}
    close = held_out.tell({"a set": {**row, "gain": gain}}, Settings(()))
    assert "or is the best, everywhere." in close
    better = {**gain, STRICT: 2.0, CHOSEN: None}
    far = held_out.tell({"a set": {**row, "gain": better}}, Settings(()))
    assert "It is further behind in a set (50.0%)." in far
    assert "| **2.000** |" in far
    assert "| - |" in far
