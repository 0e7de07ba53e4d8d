import numpy as np
import pytest

import tierwise as tw
from tierwise import InputError, plots


def test_trace_has_a_line_a_chain(posterior):
    ax = plots.trace(posterior)
    draws = posterior.data["posterior"]["theta"].to_numpy()
    np.testing.assert_allclose([line.get_ydata() for line in ax.lines], draws)
    assert ax.get_ylabel() == "theta"
    other = plots.trace(posterior, "total_distance")
    assert other.get_ylabel() == "total distance"
    assert not np.allclose(other.lines[0].get_ydata(), draws[0])


def test_ranks_of_a_chain_are_counted(posterior):
    ax = plots.chain_ranks(posterior)
    counts = np.array([patch.get_data().values for patch in ax.patches])
    assert counts.shape == (3, 20)
    np.testing.assert_array_equal(counts.sum(axis=1), 100)
    # Every bin holds as many ranks of all chains together.
    np.testing.assert_array_equal(counts.sum(axis=0), 15)


def test_unknown_quantities_are_refused(posterior):
    with pytest.raises(InputError, match="'tier' is not a quantity"):
        plots.trace(posterior, "tier")


def test_ranks_are_whole_numbers_below_an_axis_of_few_items(goals):
    ax = plots.rank_intervals(tw.leaderboard(goals, rng=1))
    ax.figure.draw_without_rendering()
    assert {label.get_text() for label in ax.get_xticklabels()} <= set("012345")
