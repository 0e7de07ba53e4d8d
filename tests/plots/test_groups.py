import itertools
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import tierwise as tw
from tierwise import plots
from tierwise.reporting.figures import FONT_SIZE


@pytest.fixture(scope="module")
def mixture(goals):
    return tw.fit_mixture(goals, 2, sizes=(2, 2), starts=5, rng=1, distance="kendall")


@pytest.fixture(scope="module")
def mixture_with_noise(goals):
    return tw.fit_mixture(
        goals, 2, sizes=[(2, 2), (1, 2, 1)], noise="uniform", starts=5, rng=1, distance="kendall"
    )


def texts(ax):
    return [text.get_text() for text in ax.texts]


def bars_by_group(ax):
    return np.array([[bar.get_height() for bar in group] for group in ax.containers])


def test_groups_stand_side_by_side_with_share_and_theta(mixture):
    ax = plots.group_tier_lists(mixture)
    shown = texts(ax)
    assert len(shown) == 2 * (3 + 2 + 4)
    for number, group in enumerate(mixture.groups):
        name, share, theta, *rest = shown[9 * number : 9 * (number + 1)]
        assert name == f"group {number + 1}"
        assert share == f"{group.share:.1%} ± {100 * group.share_error:.1f}"
        assert theta == f"theta {group.theta:.3f} ± {group.theta_error:.3f}"
        (first, second), (third, fourth) = group.tiers
        assert rest == ["1", first, second, "2", third, fourth]
    lefts = [patch.get_x() for patch in ax.patches]
    assert lefts[0] == lefts[1] < lefts[2] == lefts[3]


def test_a_uniform_group_has_no_tiers(mixture_with_noise):
    ax = plots.group_tier_lists(mixture_with_noise)
    assert texts(ax)[-3] == "uniform"
    assert texts(ax)[-1] == "no tiers"
    assert len(ax.patches) == 5


def test_numbers_without_errors_and_infinite_ones_are_written_plainly(mixture):
    group = replace(
        mixture.groups[0], theta=np.inf, theta_error=np.nan, share=1.0, share_error=np.nan
    )
    shown = texts(plots.group_tier_lists(replace(mixture, groups=(group,))))
    assert shown[:3] == ["group 1", "100.0%", "theta infinite"]


@pytest.mark.thorough
@pytest.mark.parametrize("n_groups", [1, 6])
def test_lists_of_25_items_stay_apart_and_within_the_axes(mixture, many_tiers, n_groups):
    group = replace(mixture.groups[0], tiers=many_tiers, sizes=many_tiers.sizes)
    ax = plots.group_tier_lists(replace(mixture, groups=(group,) * n_groups))
    ax.figure.canvas.draw()
    frame = ax.get_window_extent()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == n_groups * (3 + 7 + 25)
    for box in boxes:
        assert frame.x0 - 1 <= box.x0
        assert box.x1 <= frame.x1 + 1
        assert frame.y0 - 1 <= box.y0
        assert box.y1 <= frame.y1 + 1
    for one, other in itertools.combinations(boxes, 2):
        # Text boxes hold empty space above and below the letters.
        assert not one.shrunk(0.85, 0.85).overlaps(other.shrunk(0.85, 0.85))


def test_everybody_is_counted_in_the_most_probable_group(goals, mixture):
    ax = plots.memberships(mixture)
    heights = bars_by_group(ax)
    belongs = mixture.memberships.argmax(axis=1)
    for number, row in enumerate(heights):
        assert row.sum() == goals.weights[belongs == number].sum()
    edges = [bar.get_x() for bar in ax.containers[0]]
    assert edges == pytest.approx(np.arange(0.5, 0.99, 0.05))
    sure = mixture.memberships.max(axis=1)
    within = (sure >= 0.85) & (sure < 0.9)
    assert heights[:, 7].sum() == goals.weights[within].sum() > 0
    bottoms = [bar.get_y() for bar in ax.containers[1]]
    assert bottoms == heights[0].tolist()


def test_legend_says_how_sure_it_is(goals, mixture):
    legend = plots.memberships(mixture).get_legend()
    assert legend.get_title().get_text() == f"separation {mixture.separation:.0%}"
    sure, belongs = mixture.memberships.max(axis=1), mixture.memberships.argmax(axis=1)
    expected = [
        f"group {number + 1}, "
        f"{np.average(sure[belongs == number], weights=goals.weights[belongs == number]):.0%} sure"
        for number in range(2)
    ]
    assert [text.get_text() for text in legend.get_texts()] == expected


def test_a_group_without_members_and_a_single_group_can_be_drawn(goals, mixture):
    alone = plots.memberships(tw.fit_mixture(goals, 1, sizes=(2, 2), distance="kendall"))
    assert bars_by_group(alone).tolist() == [[goals.n_rankings]]
    certain = np.zeros_like(mixture.pattern_memberships)
    certain[:, 0] = 1.0 + 1e-15
    ax = plots.memberships(replace(mixture, pattern_memberships=certain))
    assert bars_by_group(ax).sum() == goals.n_rankings
    assert ax.get_legend().get_texts()[1].get_text() == "group 2, nobody"


@pytest.mark.parametrize("draw", [plots.group_tier_lists, plots.memberships])
def test_figures_are_drawn_where_asked(draw, mixture):
    from matplotlib.figure import Figure

    ax = Figure(layout="constrained").add_subplot()
    assert draw(mixture, ax=ax) is ax


@pytest.mark.thorough
@pytest.mark.parametrize("n_groups", [2, 5])
def test_legend_of_memberships_fits_the_figure_of_the_report(n_groups):
    found = tw.fit_mixture(
        tw.load_political_goals(), n_groups, (2, 2), starts=1, rng=1, distance="kendall"
    )
    with mpl.rc_context({"font.size": FONT_SIZE}):
        figure = Figure(figsize=(4.0, 3.0), layout="constrained")
        ax = plots.memberships(found, ax=figure.add_subplot())
        figure.draw_without_rendering()
        box = ax.get_legend().get_window_extent()
    assert figure.bbox.x0 <= box.x0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= figure.bbox.y1
    assert ax.get_window_extent().height > 0.25 * figure.bbox.height


def test_people_of_a_tree_do_not_run_into_their_tiers():
    """Three worths take more than one line."""
    orders = [["a", "b", "c"]] * 30 + [["a", "c", "b"]] * 5
    answers = tw.Rankings.from_orderings([*orders, *([order[::-1] for order in orders])])
    answers = answers.with_people(pa.table({"sex": ["f"] * 35 + ["m"] * 35}))
    ax = plots.group_tree(tw.group_tree(answers, by="sex", family="luce"))
    ax.figure.draw_without_rendering()
    labels = [text for text in ax.texts if "worths" in text.get_text()]
    assert len(labels) == 2
    tiers = min(patch.get_window_extent().x0 for patch in ax.patches)
    assert all(label.get_window_extent().x1 < tiers for label in labels)
