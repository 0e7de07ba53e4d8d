"""Pages with less to compute, for tests of what else pages say.

To lay out and draw figures takes two thirds of the time of a page, and to say how many answers are
missing often half of the rest. What figures look like is tested where they are drawn, and what
pages say of missing answers in `tests.reporting.test_enough`.
"""

from contextlib import contextmanager
from io import StringIO
from unittest.mock import patch

from matplotlib.figure import Figure

_EMPTY = '<svg viewBox="0 0 1 1"></svg>'


@contextmanager
def unrendered_figures():
    """Put empty drawings onto pages; figures in files of their own are drawn all the same."""
    draw = Figure.savefig

    def save(figure, file, **options):
        if isinstance(file, StringIO):
            file.write(_EMPTY)
        else:
            draw(figure, file, **options)

    with patch.object(Figure, "savefig", save):
        yield


@contextmanager
def no_forecasts():
    """Let pages say nothing about how many answers are missing."""
    with patch("tierwise.reporting.report.forecast_where_cheap", lambda *_: None):
        yield
