"""Independent comparisons of pairs."""

from math import inf, log

import numpy as np
import pytest

from tests.reference_inversions import Model
from tierwise.errors import InputError
from tierwise.inversions.comparisons import log_likelihood_of_wins, win_probabilities


def test_win_probabilities_are_those_of_all_orderings():
    labels = (0, 1, 1, 2)
    np.testing.assert_allclose(
        win_probabilities((1, 2, 1), 0.8), Model(labels, 0.8).pairs(), atol=1e-12
    )


def test_log_likelihood_is_a_sum_over_comparisons():
    rng = np.random.default_rng(1)
    labels = (1, 0, 1, 2)
    wins = rng.integers(0, 5, (4, 4)) + 0.5
    pairs = Model(labels, 0.6).pairs()
    wanted = sum(
        wins[first, second] * log(pairs[labels[first], labels[second]])
        for first in range(4)
        for second in range(4)
        if first != second
    )
    assert log_likelihood_of_wins(wins, np.array(labels), 0.6) == pytest.approx(wanted)


def test_infinite_theta():
    wins = np.array([[0, 3], [0, 0]])
    assert log_likelihood_of_wins(wins, np.array([0, 1]), inf) == 0.0
    assert log_likelihood_of_wins(wins, np.array([1, 0]), inf) == -inf


def test_shape_is_checked():
    with pytest.raises(InputError, match="square"):
        log_likelihood_of_wins(np.zeros((2, 3)), np.array([0, 1]), 1.0)
