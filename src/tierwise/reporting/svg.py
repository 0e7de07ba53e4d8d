"""Figures as SVG inside a page: they take on its colours, and say what they show."""

from __future__ import annotations

import re
import warnings
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from markupsafe import Markup
    from matplotlib.axes import Axes

# Stands for the colour of the page's text, which depends on the reader's settings.
_INK = "#123457"
_PIXELS_PER_INCH = 96
FONT_SIZE = 9.0
_INKED = (
    "text.color",
    "axes.labelcolor",
    "axes.edgecolor",
    "xtick.color",
    "ytick.color",
    "boxplot.boxprops.color",
    "boxplot.whiskerprops.color",
    "boxplot.capprops.color",
)


def figure_as_svg(
    draw: Callable[[Axes], object], *, name: str, width: float, height: float, description: str
) -> Markup:
    """Draw a figure and return it as SVG to put into a page.

    Parameters
    ----------
    draw
        Draws on the axes it is given.
    name
        Unlike that of any other figure of the page.
    width, height
        In inches; on narrow screens the figure shrinks.
    description
        What it shows, for those who cannot see it.
    """
    import matplotlib as mpl
    from markupsafe import Markup
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = {
        "font.size": FONT_SIZE,
        "svg.fonttype": "none",  # text stays text: it can be read aloud, searched, and is small
        "svg.hashsalt": name,
        **dict.fromkeys(_INKED, _INK),
    }
    buffer = StringIO()
    with mpl.rc_context(settings), warnings.catch_warnings():
        # The reader's browser chooses the font, so what the font here lacks is no matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(
            buffer,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    drawing = buffer.getvalue()
    body = drawing[drawing.index(">", drawing.index("<svg")) + 1 :]
    (view,) = re.findall(r'viewBox="([^"]*)"', drawing)[:1]
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{view}" role="img" aria-labelledby="{name}-title" '
        f'style="width:{width * _PIXELS_PER_INCH:.0f}px">'
        f'<title id="{name}-title">{escape(description)}</title>'
    )
    # Groups and the like, patch_1, have the same names in every figure; nobody refers to them.
    body = re.sub(r'<(\w+) id="[A-Za-z0-9.]+_\d+"', r"<\1", body)
    # The font is that of the page.
    body = re.sub(r"; font-family: 'DejaVu Sans'[^;\"]*", "", body)
    body = re.sub(rf"(fill|stroke): {_INK}", r"\1: currentColor", body)
    return Markup(opening + body)
