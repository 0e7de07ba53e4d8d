"""The diagram of methods: names do not overlap and stay within the figure, and bars are tiers."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

import tierwise as tw
from tierwise import plots


def comparison(n_methods):
    rng = np.random.default_rng(n_methods)
    skills = np.repeat([2.0, 1.0, 0.0], [n_methods - 2 * (n_methods // 3), *[n_methods // 3] * 2])
    scores = rng.normal(skills, 0.8, (30, n_methods))
    names = [f"a method with a name, {number}" for number in range(n_methods)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)
        return tw.compare(
            pd.DataFrame(scores, columns=names),
            family="luce",
            chains=1,
            draws=60,
            rng=1,
            workers=1,
            progress="off",
        )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("n_methods", "along"),
    [
        (5, "ranks"),
        (5, "strengths"),
        (31, "ranks"),
        pytest.param(31, "strengths", marks=pytest.mark.slow),
        *(pytest.param(60, along, marks=pytest.mark.slow) for along in ("ranks", "strengths")),
    ],
)
def test_names_do_not_overlap(n_methods, along, tmp_path):
    compared = comparison(n_methods)
    ax = plots.rank_diagram(compared, along)
    ax.figure.draw_without_rendering()
    names = [text for text in ax.texts if text.get_text().startswith("a method")]
    assert len(names) == n_methods
    boxes = [text.get_window_extent() for text in ax.texts]
    for one, other in itertools.combinations(boxes, 2):
        assert not one.shrunk(0.98, 0.85).overlaps(other.shrunk(0.98, 0.85))
    figure = ax.figure.bbox
    for box in boxes:
        assert figure.x0 <= box.x0
        assert box.x1 <= figure.x1
        assert figure.y0 <= box.y0
        assert box.y1 <= figure.y1 + 1
    bars = [line for line in ax.lines if (line.get_gid() or "").startswith("tier ")]
    assert len(bars) == len(compared.tiers)
    for bar, tier in zip(bars, compared.tiers, strict=True):
        values = compared.mean_ranks[:, 0]
        if along == "strengths":
            values = np.array([row.strength for row in compared.board.rows])
        own = [values[compared.methods.index(item)] for item in tier]
        low, high = sorted(bar.get_xdata())
        assert low <= min(own)
        assert max(own) <= high
    for ending in ("pdf", "svg", "png") if n_methods == 5 else ():
        ax.figure.savefig(tmp_path / f"methods.{ending}")
        assert (tmp_path / f"methods.{ending}").stat().st_size > 1000


@pytest.mark.thorough
def test_bars_that_would_touch_are_below_each_other():
    compared = comparison(31)
    ax = plots.rank_diagram(compared)
    bars = [line for line in ax.lines if (line.get_gid() or "").startswith("tier ")]
    for one, other in itertools.combinations(bars, 2):
        (a, b), (c, d) = sorted(one.get_xdata()), sorted(other.get_xdata())
        assert b < c or d < a or one.get_ydata()[0] != other.get_ydata()[0]


def test_strengths_need_a_model_that_has_them():
    table = pd.DataFrame({"x": [9, 8, 9, 7], "y": [5, 6, 5, 4], "z": [1, 2, 1, 2]})
    compared = tw.compare(table, family="mallows", rng=1, draws=50)
    with pytest.raises(tw.InputError, match='along="ranks"'):
        plots.rank_diagram(compared, "strengths")
