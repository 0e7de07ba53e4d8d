import numpy as np
import pytest

import tierwise as tw
from tierwise import InputError, plots
from tierwise.plots.model import name_of_sizes


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
