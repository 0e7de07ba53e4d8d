"""Tables for people: columns that are as wide as what they hold."""

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
