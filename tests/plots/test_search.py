import itertools

import numpy as np
import pytest
from matplotlib.figure import Figure

import tierwise as tw
from tierwise import InputError, plots
from tierwise.plots import style
from tierwise.searching.merging import merge_even_pairs


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_leaderboard_shows_how_far_behind_each_is(found):
    ax = plots.leaderboard(found)
    rows = found.leaderboard
    assert row_names(ax) == [one.name or str(one.sizes) for one in rows]
    assert ax.texts[0].get_text() == "best"
    for one, text in zip(rows[1:], ax.texts[1:], strict=True):
        assert text.get_text().startswith(f"{found.behind(one):,.1f}")
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(widths)
    assert widths[1] == pytest.approx(found.runner_up_gap)


def test_leaderboard_keeps_what_it_is_compared_to(found):
    ax = plots.leaderboard(found, rows=1)
    assert row_names(ax) == ["(2, 2)", "strict consensus", "no tiers"]
    colours = [bar.get_facecolor() for bar in ax.patches]
    assert colours[0] != colours[1] == colours[2]
    with pytest.raises(InputError, match="rows must be at least 1"):
        plots.leaderboard(found, rows=0)


def test_bars_far_behind_are_cut_and_say_so():
    rankings = tw.ClusteredMallows(tw.Tiers.from_sizes((1, 1, 1, 1, 1), "abcde"), 1.0).sample(
        3000, rng=1
    )
    ax = plots.leaderboard(tw.search(rankings, distance="kendall", criterion="likelihood"), rows=3)
    assert ax.texts[-1].get_text().endswith("(cut)")
    assert ax.patches[-1].get_width() < 10_000


def test_merging_shows_each_step(goals):
    merging = merge_even_pairs(goals, tolerance=0.1)
    ax = plots.merging_steps(merging)
    assert row_names(ax) == [item for group in merging.groups for item in group]
    assert [text.get_text() for text in ax.texts] == [
        f"{max(step.share, 1 - step.share):.1%}" for step in merging.steps
    ]
    upright = [line for line in ax.lines if len(set(line.get_xdata())) == 1]
    assert [line.get_xdata()[0] for line in upright] == [1, 2]
    # Two groups are left, so two lines reach the right end.
    end = ax.get_xlim()[1]
    assert sum(line.get_xdata()[-1] == end for line in ax.lines) == 2


def test_numbers_of_many_steps_do_not_touch():
    items = [f"item {number}" for number in range(30)]
    even = tw.Rankings.from_orderings([items, items[::-1]])
    figure = Figure(figsize=(4.6, style.height_for(30)), layout="constrained")  # as in reports
    ax = plots.merging_steps(merge_even_pairs(even, tolerance=0.5), ax=figure.add_subplot())
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert len(boxes) > 5
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_merging_of_a_search_is_that_of_its_start(found):
    assert len(plots.merging_steps(found).texts) == len(found.start.steps)


def test_criterion_histograms_hold_every_value():
    values = {"kendall": [-5.0, -6.0, -5.5], "hamming": np.array([-9.0, -8.0])}
    ax = plots.criterion_histogram(values)
    heights = [sum(bar.get_height() for bar in bars) for bars in ax.containers]
    assert heights == [3, 2]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["kendall", "hamming"]


def test_theta_histogram_marks_the_truth_and_counts_the_infinite():
    ax = plots.theta_histogram([0.1, 0.2, 0.3, np.inf], truth=0.25)
    assert sum(bar.get_height() for bar in ax.patches) == 3
    assert ax.lines[0].get_xdata()[0] == 0.25
    assert ax.get_xlabel() == "theta (1 infinite left out)"
    assert not plots.theta_histogram([0.1, 0.2]).lines


def test_criterion_replicates_are_boxes_in_the_order_given():
    ax = plots.criterion_replicates({"(2, 2)": [1.0, 2.0, 3.0, 4.0, 5.0], "(1, 3)": [0.0, 1.0]})
    assert row_names(ax) == ["(2, 2)", "(1, 3)"]
    corners = ax.patches[0].get_path().vertices[:, 0]
    assert (corners.min(), corners.max()) == (2, 4)


def test_nothing_to_draw_is_an_error():
    with pytest.raises(InputError, match="nothing to draw"):
        plots.criterion_histogram({})
    with pytest.raises(InputError, match="no values of 'a'"):
        plots.criterion_replicates({"a": []})
    with pytest.raises(InputError, match="no values of 'theta'"):
        plots.theta_histogram([])
