import numpy as np
import pytest

from tierwise import Battles, InputError, Tiers, leaderboard, plots


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_tier_list_shows_every_item_with_how_sure_it_is(goals, fit, bootstrap):
    shares = bootstrap.tier_probabilities()
    shown = texts(plots.tier_list(fit, bootstrap))
    assert shown[0] == "1"
    assert shown[3] == "2"
    assert shown[-1] == f"percentages: share of {len(bootstrap)} replicates"
    for text in shown[1:3] + shown[4:-1]:
        name, percent = text.split("\n")
        share = shares[bootstrap.items.index(name), fit.tiers[name] - 1]
        assert percent == f"{share:.0%}"
    assert texts(plots.tier_list(fit.tiers)) == ["1", "order", "prices", "2", "say", "speech"]


def test_tier_list_of_many_items_stays_within_its_axes(many_tiers, many_sampled):
    ax = plots.tier_list(many_tiers, many_sampled)
    ax.figure.canvas.draw()
    frame = ax.get_window_extent()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 25 + 7 + 1
    for box in boxes:
        assert frame.x0 - 1 <= box.x0
        assert box.x1 <= frame.x1 + 1
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])


def test_names_of_one_family_of_models_stay_distinguishable_in_a_tier_list():
    models = [
        f"Vicuna-Instruct-{size}b-finetuned-on-conversations-of-2024-v{version}-{ending}"
        for size in (7, 13, 33)
        for version in ("1.3", "1.5")
        for ending in ("chat", "chat-32k")
    ]
    ax = plots.tier_list(Tiers([models[:5], models[5:]]))
    names = [text for text in texts(ax) if text not in ("1", "2")]
    assert len(set(names)) == len(models)
    assert max(map(len, names)) < min(map(len, models))
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    frame = ax.get_window_extent()
    assert all(frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1 for box in boxes)
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])


def test_a_tier_list_has_items_by_rank_and_letters_where_they_are_asked_for():
    rows = [("c", "b", "c")] * 30 + [("b", "a", "b")] * 30 + [("c", "a", "c")] * 30
    board = leaderboard(Battles.from_rows(rows), rng=1)
    shown = texts(plots.tier_list(board, signs="letters"))
    items = board.tiers.items
    assert [text for text in shown if text in items] == ["c", "b", "a"]
    assert [text for text in shown if text not in items] == ["S", "A", "B"][: len(board.tiers)]


def test_tier_probabilities_are_shown_in_the_order_of_the_tiers(fit, bootstrap, posterior):
    for sampled in (bootstrap, posterior):
        ax = plots.tier_probabilities(fit, sampled)
        items = [label.get_text() for label in ax.get_yticklabels()]
        assert items == [item for tier in fit.tiers for item in tier]
        expected = np.asarray(sampled.tier_probabilities())
        shown = np.asarray(ax.collections[0].get_array()).reshape(4, -1)
        np.testing.assert_allclose(shown, expected[[sampled.items.index(item) for item in items]])
        assert texts(ax) == [f"{100 * share:.0f}" for share in shown.ravel()]


def test_co_tier_matrix_leaves_the_diagonal_out(fit, bootstrap, posterior):
    for sampled in (bootstrap, posterior):
        ax = plots.co_tier_matrix(fit, sampled)
        shown = np.ma.asarray(ax.collections[0].get_array()).reshape(4, 4)
        assert np.ma.getmaskarray(shown).tolist() == np.eye(4, dtype=bool).tolist()
        items = [label.get_text() for label in ax.get_yticklabels()]
        order = [sampled.items.index(item) for item in items]
        expected = np.array(sampled.co_tier_probabilities())[np.ix_(order, order)]
        np.testing.assert_allclose(shown.compressed(), expected[~np.eye(4, dtype=bool)])


@pytest.mark.parametrize("draw", [plots.tier_list, plots.tier_probabilities, plots.co_tier_matrix])
def test_other_items_are_refused(draw, bootstrap):
    with pytest.raises(InputError, match="have different items"):
        draw(Tiers([["a"], ["b", "c", "d"]]), bootstrap)


@pytest.mark.parametrize("draw", [plots.tier_list, plots.tier_probabilities, plots.co_tier_matrix])
def test_figures_are_drawn_where_asked(draw, fit, bootstrap):
    from matplotlib.figure import Figure

    ax = Figure(layout="constrained").add_subplot()
    assert draw(fit, bootstrap, ax=ax) is ax
