"""How much asking well saves, counted from shares of pairs that are settled."""

import numpy as np
import pytest
from studies.collecting import (
    TRUTHS,
    WAYS,
    Collection,
    collect,
    model_of,
    ratio_of_votes,
    share_reached,
)


def test_a_way_that_settles_faster_needs_fewer_votes():
    votes = [10, 20, 40, 80]
    slow = [[[share, 0.0] for share in (0.1, 0.2, 0.3, 0.4)]] * 3
    fast = [[[share, 0.0] for share in (0.2, 0.3, 0.4, 0.5)]] * 3
    assert ratio_of_votes(fast, slow, votes, 0.4) == pytest.approx((0.5, 0.0, 0))


def test_ratios_are_averaged_by_collection_with_their_error():
    votes = [10, 20, 40, 80]
    random = [[[share, 0.0] for share in (0.1, 0.2, 0.3, 0.4)]] * 2
    own = [
        [[share, 0.0] for share in (0.4, 0.4, 0.4, 0.4)],
        [[share, 0.0] for share in (0.1, 0.4, 0.4, 0.4)],
    ]
    found = ratio_of_votes(own, random, votes, 0.4)
    assert found.ratio == pytest.approx((10 * 20) ** 0.5 / 80)
    # Logs are half of log 2 away from their mean.
    assert found.error == pytest.approx(found.ratio * np.log(2) / 2)


def test_goals_that_are_not_reached_are_counted():
    votes = [10, 20]
    random = [[[0.1, 0.0], [0.3, 0.0]], [[0.1, 0.0], [0.2, 0.0]]]
    goal = share_reached(random)
    assert goal == 0.2
    own = [[[0.0, 0.0], [0.1, 0.0]], [[0.1, 0.0], [0.2, 0.0]]]
    assert ratio_of_votes(own, random, votes, goal).not_reached == 1
    nothing = [[[0.0, 0.0], [0.1, 0.0]]] * 2
    assert ratio_of_votes(nothing, random, votes, goal).ratio == np.inf


def test_chance_between_looks_is_smoothed_in_the_share_reached():
    assert share_reached([[[0.1, 0.0], [0.5, 0.0], [0.3, 0.0]]]) == pytest.approx(0.4)


def test_every_truth_has_the_best_win_most():
    for truth in TRUTHS:
        chances = np.asarray(model_of(truth, 10).pair_probabilities())
        least, most = (0.99, 1.0) if truth == "spread out" else (0.85, 0.95)
        assert least < chances[0, -1] < most


def test_ways_begin_with_the_same_votes():
    found = [
        collect("tiers", 5, Collection(way, 12, 1, 1), np.random.SeedSequence(3)) for way in WAYS
    ]
    assert found[0] == found[1] == found[2]
