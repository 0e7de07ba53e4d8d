"""Rankings that were held out: how probable they are, and which number of groups is behind."""

import numpy as np
import pytest

import tierwise as tw
from tests.mixture.simulated import from_groups
from tierwise.mixture.scores import Scores, with_held_out

TWO_GROUPS = [([[0], [1, 2], [3], [4, 5]], 1.5), ([[5], [4, 3], [2], [1, 0]], 1.5)]


def test_gap_to_the_best_has_the_error_of_paired_differences():
    rankings, _ = from_groups(TWO_GROUPS, (300, 100), seed=1)
    found = tw.fit_mixture(rankings, (1, 2, 3), (1, 2, 1, 2), starts=5, rng=1, distance="kendall")
    best = max(found.comparison, key=lambda scores: scores.held_out)
    assert best.held_out_behind == best.held_out_behind_error == 0.0
    for scores in found.comparison:
        assert scores.held_out_behind == pytest.approx(best.held_out - scores.held_out)
    one, _, three = found.comparison
    assert one.held_out_behind > 5 * one.held_out_behind_error > 0
    # Fits with two and three groups predict much the same: each error alone hides how much.
    assert three.held_out_behind_error < three.held_out_error / 3


def test_paired_error_by_its_definition():
    ones, twos = np.array([-1.0, -4.0, -2.0]), np.array([-3.0, -5.0, -3.0])
    weights = np.array([1.0, 2.0, 1.0])
    blank = Scores(1, 1, -1.0, 0.0, -1.0, 1.0, 0.0, 1.0)
    first, second = with_held_out([blank, blank], [ones, twos], weights)
    differences = np.repeat(ones - twos, weights.astype(int))
    assert first.held_out == -2.75
    assert (first.held_out_behind, first.held_out_behind_error) == (0.0, 0.0)
    assert second.held_out_behind == pytest.approx(differences.mean())
    assert second.held_out_behind_error == pytest.approx(differences.std() / 2)
    assert second.held_out_error == pytest.approx(np.repeat(twos, [1, 2, 1]).std() / 2)
    impossible = np.array([-1.0, -np.inf, -1.0])
    _, third = with_held_out([blank, blank], [ones, impossible], weights)
    assert third.held_out_behind == np.inf
    assert np.isnan(third.held_out_behind_error)
    assert np.isnan(third.held_out_error)
    _, none = with_held_out([blank, blank], [impossible, impossible.copy()], weights)
    assert np.isnan(none.held_out_behind)
    assert none.to_dict()["held_out_behind"] is None


def test_held_out_score_is_that_of_answers_not_seen():
    """With one uniform group nothing is learned, and the score is known."""
    rankings = tw.load_word_association()
    found = tw.fit_mixture(rankings, (1,), (5,), criterion="held-out", rng=1, distance="kendall")
    assert found.comparison[0].held_out == pytest.approx(-np.log(120))
    assert found.comparison[0].held_out_error == pytest.approx(0.0, abs=1e-9)
