"""How much asking well saves, counted from shares of pairs that are settled."""

import numpy as np
import pytest
from studies.collecting import (
    WAYS,
    Collection,
    collect,
    model_of,
    ratio_of_votes,
    votes_needed,
)


def test_votes_needed_lie_evenly_between_looks():
    shares = np.array([0.2, 0.4, 0.4, 0.8])
    assert votes_needed(shares, [10, 20, 30, 40], 0.3) == pytest.approx(15)
    assert votes_needed(shares, [10, 20, 30, 40], 0.1) == pytest.approx(5)
    assert votes_needed(shares, [10, 20, 30, 40], 0.9) == np.inf


def test_a_way_that_settles_twice_as_fast_needs_half_the_votes():
    votes = [10, 20, 30, 40]
    slow = [[[share, 0.0] for share in (0.1, 0.2, 0.3, 0.4)]] * 3
    fast = [[[share, 0.0] for share in (0.2, 0.4, 0.6, 0.8)]] * 3
    assert ratio_of_votes(fast, slow, votes) == pytest.approx((0.5, 0.0))
    assert ratio_of_votes(slow, fast, votes)[0] == np.inf


def test_every_truth_has_the_best_win_most():
    for truth in ("tiers", "all different", "theta"):
        model = model_of(truth, 10)
        chances = np.asarray(model.pair_probabilities())
        assert 0.85 < chances[0, -1] < 0.95


def test_ways_begin_with_the_same_votes():
    found = [
        collect("tiers", 5, Collection(way, 12, 1, 1), np.random.SeedSequence(3)) for way in WAYS
    ]
    assert found[0] == found[1] == found[2]
