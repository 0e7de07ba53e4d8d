"""Tables for people: columns that are as wide as what they hold."""

import textwrap
from collections.abc import Collection, Sequence


def aligned(
    lines: Sequence[Sequence[str]],
    *,
    left: Collection[int] = (0,),
    least: Sequence[int] = (),
) -> list[str]:
    r"""Write the cells of a table below each other, two spaces between columns.

    Parameters
    ----------
    lines
        The cells of each line, the same number in each.
    left
        Columns, counted from 0, that stand left; numbers stand right.
    least
        Least widths of the first columns.

    Examples
    --------
    >>> print("\n".join(aligned([["tiers", "theta"], ["a ~ b", "0.5"], ["a", "10 thetas"]])))
    tiers      theta
    a ~ b        0.5
    a      10 thetas
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    widths = [
        max(width, least[column]) if column < len(least) else width
        for column, width in enumerate(widths)
    ]
    return [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def within(text: str, width: int) -> str:
    r"""Break lines of words that are longer than a width; lines with columns stay as they are.

    Examples
    --------
    >>> print(within("tea   1   0.25   0.25\nthat is a sentence", 12))
    tea   1   0.25   0.25
    that is a
    sentence
    """
    lines: list[str] = []
    for line in text.split("\n"):
        is_prose = len(line) > width and "  " not in line.strip()
        lines += textwrap.wrap(line, width) if is_prose else [line]
    return "\n".join(lines)
