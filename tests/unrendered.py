"""Pages whose figures are made but not drawn, for tests of what pages say.

To lay out and draw figures takes two thirds of the time of a page. What figures look like is
tested where they are drawn.
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
