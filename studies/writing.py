"""Small helpers to write markdown: tables, numbers, sizes, figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a markdown table."""
    lines = [_row(header), _row(["---"] * len(header)), *(_row(row) for row in rows)]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def sizes_text(sizes: Iterable[int]) -> str:
    """Write sizes as the paper does: (1,1,2)."""
    return "(" + ",".join(str(size) for size in sizes) + ")"


def tiers_text(tiers: Iterable[Iterable[str]]) -> str:
    """Write tiers in a line: a > b ~ c."""
    return " > ".join(" ~ ".join(tier) for tier in tiers)


def percent(share: float) -> str:
    """Write a share in percent."""
    return f"{100 * share:.1f}%"


def duration(seconds: float) -> str:
    """Write a time in a unit that suits it."""
    if seconds < 1:
        return f"{1000 * seconds:.1f} ms" if seconds < 0.1 else f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"


def figure(name: str, caption: str) -> str:
    """Show a figure that the study draws."""
    return f"![{caption}](figures/{name}.svg)\n\n*{caption}*"


def paragraphs(*parts: str) -> str:
    """Join parts of a section."""
    return "\n\n".join(part.strip() for part in parts if part.strip())
