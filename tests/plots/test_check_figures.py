import numpy as np
import pytest

import tierwise as tw
from tierwise import InputError, Rankings, plots


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
    with pytest.raises(InputError, match="no ranks to draw"):
        plots.expected_ranks(tw.check_fit(rankings, check.fit))


def test_theta_is_drawn_line_by_line(goals):
    check = tw.check_fit(goals, tw.fit(goals, (1, 1, 2)))
    ax = plots.theta_along_ranking(check)
    level, thetas = ax.lines
    assert level.get_ydata()[0] == check.fit.theta
    np.testing.assert_allclose(thetas.get_ydata(), [line.theta for line in check.lines])
    with pytest.raises(InputError, match="no lines between tiers"):
        plots.theta_along_ranking(tw.check_fit(goals, tw.fit(goals, (4,))))
