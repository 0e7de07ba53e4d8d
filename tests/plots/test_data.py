"""Figures of rankings and of pairwise answers."""

import numpy as np
import pytest
from matplotlib.colors import same_color

import tierwise as tw
from tierwise import InputError, Preferences, Rankings, Tiers, describe, plots
from tierwise.plots import style


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def box_of(ax, row):
    """Quartiles, as the box is drawn."""
    corners = ax.patches[row].get_path().vertices
    return corners[:, 0].min(), corners[:, 0].max()


def test_boxes_hold_the_middle_half():
    # Ranks of "a": 1 (five times), 2 (three times), 3 (twice).
    rows = [["a", "b", "c"], ["b", "a", "c"], ["b", "c", "a"]]
    rankings = Rankings.from_orderings(rows, weights=[5, 3, 2])
    ax = plots.rank_boxes(rankings)
    assert row_names(ax) == ["b", "a", "c"]  # mean ranks 1.5, 1.7, 2.8
    assert box_of(ax, 1) == (1, 2)
    lines = [line.get_xdata() for line in ax.lines]
    means = [float(line[0]) for line in lines if len(line) == 1]
    assert means == pytest.approx([1.5, 1.7, 2.8])
    # Whiskers hold 90%: from 1 to 3 for "a".
    ends = np.concatenate([line for line in lines if len(line) == 2])
    assert ends.min() == 1
    assert ends.max() == 3


def test_boxes_without_width_are_seen_on_the_page():
    rankings = Rankings.from_orderings([["a", "b", "c"]] * 9 + [["c", "b", "a"]])
    ax = plots.rank_boxes(rankings)
    assert box_of(ax, 1) == (2, 2)
    medians = [line for line in ax.lines if line.get_linewidth() == 1.6]
    assert [same_color(line.get_color(), ax.patches[0].get_edgecolor()) for line in medians] == [
        True
    ] * 3


def test_boxes_of_repeated_and_of_weighted_answers_are_the_same(goals):
    one = plots.rank_boxes(goals)
    repeated = goals.subset(np.repeat(np.arange(len(goals)), goals.weights))
    again = plots.rank_boxes(Rankings(goals.items, repeated.places))
    for row in range(4):
        assert box_of(one, row) == box_of(again, row)


def test_items_not_listed_are_in_the_middle_of_what_is_left_if_they_are_below():
    rows = [["a", "b"], ["a", "b"]]
    below = Rankings.from_orderings(rows, items="abcde", unranked="below")
    ax = plots.rank_boxes(below)
    assert row_names(ax) == ["a", "b", "c", "d", "e"]
    assert box_of(ax, 2) == (4, 4)  # the middle of 3, 4, 5
    anywhere = Rankings.from_orderings(rows, items="abcde", unranked="anywhere")
    ax = plots.rank_boxes(anywhere)
    assert row_names(ax) == ["a", "b", "c", "d", "e"]
    assert np.isnan(box_of(ax, 2)).all()


def test_answers_that_weigh_nothing_leave_no_box():
    rows, weights = [["a", "b"], ["c", "a"]], [1.0, 0.0]
    weighted = Rankings.from_orderings(rows, items="abc", unranked="anywhere", weights=weights)
    ax = plots.rank_boxes(weighted)
    assert np.isnan(box_of(ax, row_names(ax).index("c"))).all()


def test_tied_items_share_the_mean_of_their_ranks():
    rows = [[["a", "b"], "c"], ["b", ["a", "c"]]]
    tied = Rankings.from_orderings(rows, weights=[3, 1])
    ax = plots.rank_boxes(tied)
    means = [float(line.get_xdata()[0]) for line in ax.lines if len(line.get_xdata()) == 1]
    assert row_names(ax) == ["b", "a", "c"]
    assert means == pytest.approx([1.375, 1.75, 2.875])
    described = dict(zip(tied.items, tw.describe(tied).mean_ranks, strict=True))
    assert means == pytest.approx([described[item] for item in row_names(ax)])


def test_tiers_group_and_colour_the_items(goals, fit):
    ax = plots.rank_boxes(goals, fit.tiers)
    assert row_names(ax) == ["prices", "order", "say", "speech"]
    colours = [box.get_facecolor() for box in ax.patches]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    ax = plots.tier_rank_boxes(goals, fit.tiers)
    assert row_names(ax) == ["tier 1", "tier 2"]
    assert box_of(ax, 0) == (1, 3)
    assert box_of(ax, 1) == (2, 4)


def test_matrix_shows_the_pairwise_shares(goals, fit):
    ax = plots.pairwise_matrix(goals)
    shares = tw.describe(goals).pairwise
    order = [goals.items.index(name) for name in row_names(ax)]
    shown = np.ma.filled(ax.collections[0].get_array().astype(float), np.nan).reshape(4, 4)
    np.testing.assert_allclose(shown, shares[np.ix_(order, order)])
    assert len(ax.texts) == 12
    assert not ax.lines
    with_tiers = plots.pairwise_matrix(goals, fit.tiers)
    assert len(with_tiers.lines) == 2  # one between rows, one between columns


def test_numbers_are_left_out_where_there_is_no_room(many_rankings):
    assert not plots.pairwise_matrix(many_rankings).texts


def test_figures_are_drawn_where_asked(goals, fit):
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    for draw in (plots.rank_boxes, plots.tier_rank_boxes, plots.pairwise_matrix):
        assert draw(goals, fit.tiers, ax=ax) is ax
    from matplotlib import pyplot as plt

    assert not plt.get_fignums()


def test_tiers_of_other_items_are_refused(goals):
    with pytest.raises(InputError, match="not in the tiers"):
        plots.rank_boxes(goals, Tiers([["a"], ["b"]]))


def test_names_are_shown_as_they_are_and_shortened():
    rankings = Rankings.from_orderings([["$x_1$", "<b>", "a name that goes on and on and on"]])
    ax = plots.rank_boxes(rankings)
    ax.figure.canvas.draw()
    assert row_names(ax) == ["$x_1$", "<b>", "a name that…on and on"]
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())


@pytest.mark.parametrize("background", ["#ffffff", "#000000", "#3b528b", "#a0da39", "#21918c"])
def test_text_on_colours_has_contrast(background):
    ink = style.readable_on(background)

    def luminance(colour):
        channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    pair = sorted([luminance(background), {"black": 0.0, "white": 1.0}[ink]])
    assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5


@pytest.mark.parametrize("n_tiers", [1, 2, 7, 25])
def test_every_tier_has_a_colour_of_its_own(n_tiers):
    assert len(set(style.tier_colours(n_tiers))) == n_tiers


ANSWERS = Preferences.from_pairs(
    [(1, "a", "b"), (2, "b", "a"), (3, "b", "a"), (3, "b", "c"), (4, "c", "a")], items="abcd"
)
TIERS = Tiers([["a", "d"], ["b", "c"]])


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
    described = dict(zip(ANSWERS.items, describe(ANSWERS).shares_won, strict=True))
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == pytest.approx([np.nan_to_num(described[item]) for item in row_names(ax)])
    colours = [bar.get_facecolor() for bar in ax.patches]
    assert colours[0] == colours[1] != colours[2] == colours[3]


@pytest.mark.parametrize(
    "draw", [plots.times_compared, plots.preferred_shares, plots.pairwise_matrix]
)
def test_tiers_of_other_items(draw):
    with pytest.raises(InputError):
        draw(ANSWERS, Tiers([["x"], ["y"]]))
