"""Figures of pairwise answers."""

import numpy as np
import pytest

from tierwise import InputError, Preferences, Tiers, describe, plots

ANSWERS = Preferences.from_pairs(
    [(1, "a", "b"), (2, "b", "a"), (3, "b", "a"), (3, "b", "c"), (4, "c", "a")], items="abcd"
)
TIERS = Tiers([["a", "d"], ["b", "c"]])


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_times_compared_are_written_as_numbers():
    ax = plots.times_compared(ANSWERS)
    assert row_names(ax) == ["b", "c", "a", "d"]
    numbers = [text.get_text() for text in ax.texts]
    order = [ANSWERS.items.index(item) for item in row_names(ax)]
    compared = describe(ANSWERS).compared[np.ix_(order, order)]
    assert numbers == [str(n) for n in compared[~np.eye(4, dtype=bool)].tolist()]
    assert row_names(plots.times_compared(ANSWERS, TIERS)) == ["a", "d", "b", "c"]


def test_pairwise_matrix_of_answers():
    ax = plots.pairwise_matrix(ANSWERS, TIERS)
    assert row_names(ax) == ["a", "d", "b", "c"]
    # Nobody compares with d; a wins one of three against b, none of two against c.
    assert [text.get_text() for text in ax.texts] == ["33", "0", "67", "100", "100", "0"]


def test_bars_are_shares_won_in_the_colour_of_the_tier():
    ax = plots.preferred_shares(ANSWERS, TIERS)
    told = dict(zip(ANSWERS.items, describe(ANSWERS).shares_won, strict=True))
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == pytest.approx([np.nan_to_num(told[item]) for item in row_names(ax)])
    colours = [bar.get_facecolor() for bar in ax.patches]
    assert colours[0] == colours[1] != colours[2] == colours[3]


@pytest.mark.parametrize(
    "draw", [plots.times_compared, plots.preferred_shares, plots.pairwise_matrix]
)
def test_tiers_of_other_items(draw):
    with pytest.raises(InputError):
        draw(ANSWERS, Tiers([["x"], ["y"]]))
