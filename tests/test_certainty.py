"""Nothing that is not certain is called so, wherever it is shown."""

import numpy as np
import pytest

import tierwise as tw
from tierwise import plots
from tierwise.errors import share_in_words
from tierwise.plots.style import draw_cells


@pytest.mark.parametrize("share", [0.9951, 0.998, 0.99999])
def test_what_rounds_to_certainty_is_not_written_so(share):
    assert share_in_words(share) == "> 99%"
    assert share_in_words(0.995) == "> 99%"
    assert share_in_words(1.0 - share) == "< 1%"
    assert share_in_words(share, 2) == "> 0.99"


def test_neither_pictures_nor_summaries_call_it_certain():
    goals = tw.load_political_goals()
    fitted = tw.fit(goals, (2, 2))
    again = tw.bootstrap(goals, fitted, replicates=250, rng=1)
    labels = again.labels.copy()
    labels[0] = labels[0][::-1]
    once = type(again)(**{**vars(again), "labels": labels})
    assert "100%" not in once.summary()
    assert "> 99%" in once.summary()
    ax = plots.tier_list(fitted, once)
    assert not any("100%" in text.get_text() for text in ax.texts)
    assert "100%" in again.summary()


def test_heat_maps():
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    shares = np.array([[0.998, 1.0], [0.002, 0.5]])
    draw_cells(ax, shares, colormaps["viridis"], label="share", rows=["a", "b"])
    assert {text.get_text() for text in ax.texts} == {"> 99", "100", "< 1", "50"}
