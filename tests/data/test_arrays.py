"""What programs hand over as arrays is checked before compiled code meets it."""

import numpy as np
import pytest

import tierwise as tw

ANSWERS = tw.Rankings.from_orderings([["a", "b", "c"], ["b", "a", "c"]])
COUNTS = tw.Counts.of(ANSWERS)
SQUARE = np.zeros((2, 2))
TIMES = np.zeros((2, 3, 3), dtype=np.int32)


@pytest.mark.parametrize(
    ("places", "joint", "n_rankings", "named"),
    [
        (COUNTS.places[:2], COUNTS.joint, 2, "places"),
        (COUNTS.places, COUNTS.joint[:, :2], 2, "joint"),
        (COUNTS.places, COUNTS.joint.tolist(), 2, "joint"),
        (COUNTS.places, -COUNTS.joint, 2, "joint"),
        (COUNTS.places * np.nan, COUNTS.joint, 2, "places"),
        (COUNTS.places, COUNTS.joint, 0, "n_rankings"),
        (COUNTS.places, COUNTS.joint, None, "n_rankings"),
    ],
)
def test_counts(places, joint, n_rankings, named):
    with pytest.raises(tw.InputError, match=named):
        tw.Counts(COUNTS.items, places, joint, n_rankings)


@pytest.mark.parametrize(
    ("decided", "drawn", "said"),
    [
        (np.zeros((3, 3)), SQUARE, "decided must be an array"),
        (SQUARE, np.zeros(2), "drawn must be an array"),
        (SQUARE - 1, SQUARE, "decided must be an array"),
        (SQUARE + np.nan, SQUARE, "decided must be an array"),
        (np.eye(2), SQUARE, "'x' is compared with itself"),
        (SQUARE, np.triu(np.ones((2, 2)), 1), "drawn must be symmetric"),
    ],
)
def test_battles(decided, drawn, said):
    with pytest.raises(tw.InputError, match=said):
        tw.Battles(("x", "y"), decided, drawn)


@pytest.mark.parametrize("times", [TIMES[:, :2], TIMES[0], TIMES - 1, TIMES.astype(str)])
def test_preferences(times):
    preferences = tw.Preferences.from_pairs([(1, "a", "b"), (2, "b", "c")])
    with pytest.raises(tw.InputError, match="times"):
        preferences.with_answers(times)


@pytest.mark.parametrize("name", ["kendall", "inversions", "hamming"])
@pytest.mark.parametrize(
    "sequences",
    [[[0, 1, 7]], [[0, -1, 1]], [[0, 1]], [0, 1, 1], [[0.0, 1.0, 1.0]], [["x", "y", "z"]]],
)
def test_sequences(name, sequences):
    with pytest.raises(tw.InputError, match="sequences"):
        tw.get_distance(name).between(np.array(sequences), (1, 2))
