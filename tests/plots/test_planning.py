"""The figure of a plan shows its numbers."""

import numpy as np
import pytest

import tierwise as tw
from tierwise import plots


@pytest.mark.thorough
def test_power_curves_show_means_and_what_is_needed():
    model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), (6.0, 1.0))
    plan = tw.plan(model, answers=(5, 80), sets=4, rng=1)
    ax = plots.power_curves(plan)
    separated, found = ax.containers
    assert separated[0].get_ydata() == pytest.approx(plan.separated.mean(axis=1))
    assert found[0].get_ydata() == pytest.approx(plan.found.mean(axis=1))
    ticks = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "|"]
    needed = [plan.needed(of=goal).n_answers for goal in ("differences", "tiers")]
    assert ticks == [number for number in needed if number is not None]
    assert np.isclose(ax.lines[0].get_ydata()[0], plan.power)
