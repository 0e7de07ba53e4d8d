"""With 25 items and long names, no two labels overlap, also at the sizes of the report."""

import itertools

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

import tierwise as tw
from tierwise import plots
from tierwise.plots.style import height_for
from tierwise.reporting.figures import FONT_SIZE, matrix_size


def visible_boxes(axis):
    low, high = sorted(axis.get_view_interval())
    ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
    return [label.get_window_extent() for place, label in ticks if low <= place <= high]


def assert_labels_apart(ax):
    ax.figure.draw_without_rendering()
    for axis in (ax.xaxis, ax.yaxis):
        for one, other in itertools.pairwise(visible_boxes(axis)):
            # Text boxes hold empty space above and below the letters.
            assert not one.shrunk(0.85, 0.85).overlaps(other.shrunk(0.85, 0.85))
    figure = ax.figure.bbox
    for box in visible_boxes(ax.xaxis) + visible_boxes(ax.yaxis):
        assert figure.x0 - 1 <= box.x0
        assert box.x1 <= figure.x1 + 1
        assert figure.y0 - 1 <= box.y0


def drawings(rankings, tiers, sampled):
    return {
        "rank_boxes": lambda ax=None: plots.rank_boxes(rankings, tiers, ax=ax),
        "pairwise_matrix": lambda ax=None: plots.pairwise_matrix(rankings, tiers, ax=ax),
        "tier_probabilities": lambda ax=None: plots.tier_probabilities(tiers, sampled, ax=ax),
        "co_tier_matrix": lambda ax=None: plots.co_tier_matrix(tiers, sampled, ax=ax),
    }


@pytest.mark.parametrize(
    "name", ["rank_boxes", "pairwise_matrix", "tier_probabilities", "co_tier_matrix"]
)
def test_labels_of_25_items_do_not_overlap(name, many_rankings, many_tiers, many_sampled):
    assert_labels_apart(drawings(many_rankings, many_tiers, many_sampled)[name]())


@pytest.mark.parametrize("name", ["pairwise_matrix", "co_tier_matrix"])
def test_a_few_items_with_long_names_leave_room_for_all_labels(name):
    names = [f"A rather long name of an item, number {number}" for number in range(3)]
    tiers = tw.Tiers.from_sizes((1, 2), names)
    rankings = tw.ClusteredLuce(tiers, (2, 1)).sample(30, rng=1)
    sampled = tw.sample_posterior(rankings, (1, 2), family="mallows", rng=1, draws=50)
    ax = drawings(rankings, tiers, sampled)[name]()
    assert_labels_apart(ax)
    figure = ax.figure.bbox
    for one in ax.figure.axes[1].yaxis.label, *ax.get_yticklabels():
        box = one.get_window_extent()
        assert figure.x0 <= box.x0 < box.x1 <= figure.x1
        assert figure.y0 <= box.y0 < box.y1 <= figure.y1


@pytest.mark.parametrize("name", ["pairwise_matrix", "co_tier_matrix"])
def test_nor_do_they_at_the_size_of_the_report(name, many_rankings, many_tiers, many_sampled):
    figure = Figure(figsize=matrix_size(many_tiers.items), layout="constrained")
    with mpl.rc_context({"font.size": FONT_SIZE}):
        ax = drawings(many_rankings, many_tiers, many_sampled)[name](figure.add_subplot())
        assert_labels_apart(ax)


@pytest.mark.thorough
def test_bars_of_many_tiers_have_a_legend_that_fits():
    model = tw.ClusteredMallows(tw.Tiers.from_sizes((1,) * 25, range(25)), theta=0.3)
    ax = plots.rank_tier_bars(model)
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert ax.figure.bbox.y0 - 1 <= box.y0
    assert box.x1 <= ax.figure.bbox.x1 + 1


@pytest.mark.thorough
@pytest.mark.parametrize("n_items", [2, 4, 9])
def test_colour_bars_of_the_report_are_labelled_within_the_figure(n_items):
    tiers = tw.Tiers.from_sizes((1, n_items - 1), range(n_items))
    rankings = tw.ClusteredMallows(tiers, theta=0.5).sample(50, rng=1)
    fit = tw.fit(rankings, tiers.sizes)
    check, sampled = tw.check_fit(rankings, fit), tw.bootstrap(rankings, fit, replicates=2, rng=1)
    by_item, square = (4.6, height_for(n_items)), matrix_size(tiers.items)
    for size, draw in (
        (by_item, lambda ax: plots.expected_ranks(check, ax=ax)),
        ((3.4, by_item[1]), lambda ax: plots.tier_probabilities(fit, sampled, ax=ax)),
        (square, lambda ax: plots.co_tier_matrix(fit, sampled, ax=ax)),
        (square, lambda ax: plots.pairwise_matrix(rankings, tiers, ax=ax)),
    ):
        with mpl.rc_context({"font.size": FONT_SIZE}):
            figure = Figure(figsize=size, layout="constrained")
            draw(figure.add_subplot())
            figure.draw_without_rendering()
            label = figure.axes[1].yaxis.label
            box = label.get_window_extent()
        assert label.get_text()
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1
        assert box.x1 <= figure.bbox.x1
