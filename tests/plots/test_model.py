"""Figures of a fitted model: what it expects, beside what people said, and how far they agree."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import tierwise as tw
from tierwise import InputError, Rankings, plots
from tierwise.fitting.neighbours import neighbour_agreement
from tierwise.plots.data import height_of_bars
from tierwise.plots.model import height_of_rows, name_of_sizes
from tierwise.plots.style import MUTED
from tierwise.plots.tiers import DIVIDED_SIGN, shown_tiers
from tierwise.reporting.figures import FONT_SIZE


def test_distance_distributions_are_those_of_the_model():
    ax = plots.distance_distributions([(1, 2), (1, 1, 1)], "hamming", theta=0.5)
    for line, sizes in zip(ax.lines, [(1, 2), (1, 1, 1)], strict=True):
        exact = tw.partition_function(sizes, "hamming").distribution()
        np.testing.assert_allclose(line.get_xdata(), exact.distances)
        np.testing.assert_allclose(line.get_ydata(), exact.probabilities(0.5))
        assert sum(line.get_ydata()) == pytest.approx(1)
    uniform = plots.distance_distributions([(1, 2)])
    np.testing.assert_allclose(uniform.lines[0].get_ydata(), [2 / 6, 4 / 6])
    with pytest.raises(InputError, match="no sizes to draw"):
        plots.distance_distributions([])


def test_rank_tier_bars_stack_to_one():
    model = tw.ClusteredMallows(tw.Tiers.from_sizes((1, 1, 1, 2, 3, 2), range(10)), theta=0.244)
    ax = plots.rank_tier_bars(model)
    heights = np.array([[bar.get_height() for bar in bars] for bars in ax.containers])
    np.testing.assert_allclose(heights, model.rank_tier_probabilities().probabilities.T)
    assert heights[0, 0] == pytest.approx(0.240031, abs=1e-6)  # a value from the paper's figure
    tops = np.array([bar.get_y() + bar.get_height() for bar in ax.containers[-1]])
    np.testing.assert_allclose(tops, 1)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list("654321")
    assert ax.get_ylabel() == "probability"


@pytest.mark.parametrize(
    ("sizes", "name"),
    [
        ((1, 2, 2), "(1, 2, 2)"),
        ((1, 1, 1, 1), "(1, 1, 1, 1)"),
        ((1, 1, 1, 1, 1, 2), "(5x1, 2)"),
        ((3,) * 6, "(6x3)"),
    ],
)
def test_names_of_sizes(sizes, name):
    assert name_of_sizes(sizes) == name


def test_a_dot_a_pair(check):
    ax = plots.expected_pairs(check)
    dots = np.asarray(ax.collections[0].get_offsets())
    assert len(dots) == 6
    # The share expected of the better tier is above a half, and the same pair is observed.
    first, second = check.items.index("order"), check.items.index("say")
    pair = [check.pairs_expected[first, second], check.pairs_observed[first, second]]
    assert np.isclose(dots, pair).all(axis=1).any()
    assert (dots[:, 0] >= 0.5 - 1e-9).all()


def test_ranks_are_observed_minus_expected(check):
    ax = plots.expected_ranks(check)
    order = [check.items.index(label.get_text()) for label in ax.get_yticklabels()]
    shown = np.asarray(ax.collections[0].get_array()).reshape(4, 4)
    np.testing.assert_allclose(shown, (check.ranks_observed - check.ranks_expected)[order])


def test_ranks_that_not_all_answers_fill_are_left_out():
    rows = [["a", "b"], ["b", "a"], ["a"]]
    rankings = Rankings.from_orderings(rows, items="abcd", unranked="below")
    check = tw.check_fit(rankings, tw.fit(rankings, (1, 3)))
    assert plots.expected_ranks(check).collections[0].get_array().size == 4
    rankings = Rankings.from_orderings(rows, items="abcd", unranked="anywhere")
    with pytest.raises(InputError, match="too incomplete to draw ranks"):
        plots.expected_ranks(tw.check_fit(rankings, check.fit))


def test_theta_is_drawn_line_by_line(goals):
    check = tw.check_fit(goals, tw.fit(goals, (1, 1, 2)))
    ax = plots.theta_along_ranking(check)
    level, thetas = ax.lines
    assert level.get_ydata()[0] == check.fit.theta
    np.testing.assert_allclose(thetas.get_ydata(), [line.theta for line in check.lines])
    with pytest.raises(InputError, match="lines between tiers"):
        plots.theta_along_ranking(tw.check_fit(goals, tw.fit(goals, (4,))))


LONG = "A rather long name of an item"


def simulated(sizes, thetas, names, n_rankings=300):
    model = tw.ClusteredMallows(
        tw.Tiers.from_sizes(sizes, names), thetas, "inversions", concentration="tier"
    )
    return model.sample(n_rankings, rng=1)


@pytest.fixture(scope="module")
def tastes():
    names = ["liquorice", "caramel", "nougat", "mint", "jelly"]
    return simulated((1, 2, 2), (0.1, 1.2), names)


@pytest.fixture(scope="module")
def divided(tastes):
    return tw.fit(tastes, (1, 2, 2), "inversions", concentration="tier")


@pytest.fixture(scope="module")
def resampled(tastes, divided):
    return tw.bootstrap(tastes, divided, replicates=20, rng=1, progress="off")


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def assert_within_figure(ax):
    """No text is cut off, and no two of the same kind lie on each other."""
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()
    texts = [*ax.texts, *ax.get_yticklabels(), ax.xaxis.label]
    if ax.get_legend():
        texts += ax.get_legend().get_texts()
    for text in texts:
        box = text.get_window_extent()
        assert figure.bbox.x0 - 1 <= box.x0, text
        assert box.x1 <= figure.bbox.x1 + 1, text
        assert figure.bbox.y0 - 1 <= box.y0, text
        assert box.y1 <= figure.bbox.y1 + 1, text
    labels = [label.get_window_extent().shrunk(0.85, 0.85) for label in ax.get_yticklabels()]
    for number, box in enumerate(labels):
        assert not any(box.overlaps(other) for other in labels[number + 1 :])


def test_dots_are_probabilities_and_lines_are_intervals(divided):
    ax = plots.agreement_along_tiers(divided)
    assert row_names(ax) == ["tier 1 above tier 2", "divided: liquorice"]
    found = neighbour_agreement(divided)
    for row, one in enumerate(found):
        interval, dot = ax.lines[1 + 2 * row], ax.lines[2 + 2 * row]
        assert interval.get_xdata() == pytest.approx(one.interval)
        assert dot.get_xdata() == pytest.approx([one.probability])
        assert ax.texts[row].get_text() == f"{one.probability:.0%}"
    assert ax.lines[-2].get_xdata() == pytest.approx([one.observed for one in found])
    colours = [ax.lines[2 + 2 * row].get_color() for row in range(2)]
    assert colours == [shown_tiers(divided).colours[0], MUTED]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["model, with 95% interval", "share in the data"]
    assert "coin toss" in ax.get_xlabel()


def test_the_level_is_that_of_the_fit(tastes):
    fit = tw.fit(tastes, (1, 2, 2), "inversions", concentration="tier", level=0.8)
    legend = plots.agreement_along_tiers(fit).get_legend()
    assert "model, with 80% interval" in [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("concentration", ["single", "tier", "place"])
def test_it_works_for_one_theta_and_for_several(goals, concentration):
    fit = tw.fit(goals, (1, 1, 2), concentration=concentration, rng=1)
    ax = plots.agreement_along_tiers(fit)
    assert row_names(ax)[0] == "tier 1 above tier 2"
    with pytest.raises(InputError, match="one tier"):
        plots.agreement_along_tiers(tw.fit(goals, (4,)))


@pytest.mark.parametrize(
    ("n_items", "width"),
    [(10, None), (10, 4.6), *(pytest.param(50, w, marks=pytest.mark.slow) for w in (4.6, None))],
)
def test_nothing_is_cut_off_with_many_items_and_long_names(n_items, width):
    sizes = (2, *[1] * (n_items - 7), 5)
    thetas = (0.0, *np.linspace(0.4, 0.9, n_items - 7))
    names = [f"{LONG} {number:02d}" for number in range(n_items)]
    rankings = simulated(sizes, thetas, names)
    fit = tw.fit(rankings, sizes, "inversions", concentration="tier", rng=1)
    assert fit.divided
    n_rows = len(neighbour_agreement(fit))
    drawings = [
        (lambda ax: plots.agreement_along_tiers(fit, ax=ax), height_of_rows(n_rows)),
        (
            lambda ax: plots.rank_shares(rankings, fit.divided, ax=ax),
            height_of_bars(len(fit.divided)),
        ),
    ]
    for draw, height in drawings:
        if width is None:
            assert_within_figure(draw(None))
            continue
        with mpl.rc_context({"font.size": FONT_SIZE}):
            figure = Figure(figsize=(width, height), layout="constrained")
            assert_within_figure(draw(figure.add_subplot()))
    ax = plots.tier_list(fit)
    ax.figure.canvas.draw()
    frame = ax.get_window_extent()
    for text in ax.texts:
        box = text.get_window_extent()
        assert frame.x0 - 1 <= box.x0
        assert box.x1 <= frame.x1 + 1


def test_divided_items_have_a_row_of_their_own_below_the_tiers(tastes, divided, resampled):
    shown = [text.get_text() for text in plots.tier_list(divided).texts]
    assert shown == [
        "1",
        "caramel",
        "nougat",
        "2",
        "mint",
        "jelly",
        "people are divided about",
        DIVIDED_SIGN,
        "liquorice",
    ]
    ax = plots.tier_probabilities(divided, resampled)
    assert row_names(ax)[-1] == "liquorice"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", DIVIDED_SIGN]
    shares = np.asarray(ax.collections[0].get_array()).reshape(5, 3)
    # It has no rank; all others are ranked among themselves.
    assert np.isnan(shares[-1]).all()
    np.testing.assert_allclose(shares[:-1, :2].sum(axis=1), 1.0)
    assert row_names(plots.rank_boxes(tastes, divided))[-1] == "liquorice"
    assert row_names(plots.tier_rank_boxes(tastes, divided)) == ["tier 1", "tier 2", "divided"]
    assert row_names(plots.pairwise_matrix(tastes, divided))[-1] == "liquorice"
    assert row_names(plots.co_tier_matrix(divided, resampled))[-1] == "liquorice"
    bars = plots.rank_tier_bars(divided)
    legend = [text.get_text() for text in bars.get_legend().get_texts()]
    assert legend == ["divided", "2", "1"]
    # In the first place, what people are divided about is as probable as the model says.
    expected = divided.model().rank_tier_probabilities().probabilities[0, 0]
    assert bars.containers[2][0].get_height() == pytest.approx(expected)
    check = tw.check_fit(tastes, divided, rng=1)
    assert row_names(plots.expected_ranks(check))[-1] == "liquorice"
    lines = plots.theta_along_ranking(check).get_xticklabels()
    assert [label.get_text() for label in lines] == [f"{DIVIDED_SIGN}|1", "1|2"]


def test_rank_shares_count_ties_and_what_is_not_listed():
    rankings = tw.Rankings.from_orderings([["a", "b", "c"], ["b"]], items="abc", unranked="below")
    ax = plots.rank_shares(rankings, ["a"])
    # Once first; once second or third, which is not told.
    assert [bar.get_height() for bar in ax.containers[0]] == [0.5, 0.25, 0.25]
    anywhere = tw.Rankings.from_orderings(
        [["a", "b", "c"], ["b"]], items="abc", unranked="anywhere"
    )
    ax = plots.rank_shares(anywhere, ["a", "b"])
    assert [bar.get_height() for bar in ax.containers[0]] == [1.0, 0.0, 0.0]
    assert [bar.get_height() for bar in ax.containers[1]] == [0.5, 0.5, 0.0]
    assert row_names(plots.rank_shares(rankings)) == ["a", "b", "c"]
    with pytest.raises(InputError, match="'d' is not among them"):
        plots.rank_shares(rankings, ["d"])
    with pytest.raises(InputError, match="none were given"):
        plots.rank_shares(rankings, [])


def test_agreement_along_tiers_needs_a_theta():
    fit = tw.search(tw.load_political_goals(), family="luce").best
    with pytest.raises(tw.InputError, match=r"plots\.strengths"):
        plots.agreement_along_tiers(fit)


def test_a_tier_of_many_long_names_says_how_many_there_are():
    names = [f"A rather long name of an item, number {number}" for number in range(4)]
    tiers = tw.Tiers.from_sizes((1, 3), names)
    fit = tw.fit(tw.ClusteredLuce(tiers, (2, 1)).sample(30, rng=1), tiers=tiers, family="luce")
    first, second = [label.get_text() for label in plots.strengths(fit).get_yticklabels()]
    assert first == f"1  {names[0]}"
    assert second.startswith("2  A rather")
    assert second.endswith("1 and 2 more")
