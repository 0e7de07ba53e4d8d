"""Tables for people: columns that are as wide as what they hold."""

import re
import textwrap
from collections.abc import Collection, Sequence
from unicodedata import combining, east_asian_width

# What separates the columns of a line: after what begins it.
_GAP = re.compile(r"(?<=\S)\s{2,}")
# A name is cut to no fewer letters than this; then columns are left out instead.
_SHORTEST_NAME = 14


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
    widths = [max(map(display_width, column)) for column in zip(*lines, strict=True)]
    widths = [
        max(width, least[column]) if column < len(least) else width
        for column, width in enumerate(widths)
    ]
    return [
        "  ".join(
            _padded(cell, width, side="left" if column in left else "right")
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def display_width(text: str) -> int:
    r"""Return how many columns of a terminal a text takes: some letters take two, marks none.

    Examples
    --------
    >>> display_width("tea"), display_width("お茶"), display_width("e\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if combining(mark) else 2 if east_asian_width(mark) in "WF" else 1 for mark in text
    )


def _padded(cell: str, width: int, *, side: str) -> str:
    spaces = " " * (width - display_width(cell))
    return cell + spaces if side == "left" else spaces + cell


def shortened(text: str, width: int) -> str:
    """Cut the middle out of a text that is wider than a number of columns; its end often differs.

    Examples
    --------
    >>> shortened("claude-3-5-sonnet-20241022", 16)
    'claude-3…0241022'
    """
    if display_width(text) <= width:
        return text
    first, last = text, ""
    while display_width(first) > width - 1 - (width - 1) // 2:
        first = first[:-1]
    last = text[len(first) :]
    while display_width(last) > width - 1 - display_width(first):
        last = last[1:]
    return f"{first.rstrip()}…{last.lstrip()}"


def shortened_names(names: Sequence[str], width: int) -> list[str]:
    """Cut names to a width so that names that differ still do, if that is possible.

    Examples
    --------
    >>> shortened_names(["llama-3.1-405b-instruct", "llama-3.1-070b-instruct", "tea"], 14)
    ['llam…405b-ins…', 'llam…070b-ins…', 'tea']
    >>> shortened_names(["a-model-of-size-1-instruct", "a-model-of-size-11-instruct"], 18)
    ['a-mod…1-instruct', 'a-mod…11-instruct']
    """
    shown = [shortened(name, width) for name in names]
    for short in {one for one in shown if shown.count(one) > 1}:
        alike = [place for place, one in enumerate(shown) if one == short]
        differing = _first_difference([names[place] for place in alike])
        for place in alike:
            shown[place] = _around(names[place], differing, width)
    return shown


def _first_difference(names: Sequence[str]) -> int:
    """Return how many letters all names begin with, not counting the start of a number."""
    pairs = zip(*(name.ljust(max(map(len, names))) for name in names), strict=True)
    place = next((place for place, marks in enumerate(pairs) if len(set(marks)) > 1), 0)
    digits = re.search(r"\d{0,8}$", names[0][:place])
    return place - len(digits[0]) if digits else place


def _around(name: str, place: int, width: int) -> str:
    """Cut a name so that its first letters stay, and those from a place on."""
    n_first = max((width - 2) // 3, 1)
    text = name if place <= n_first + 1 else f"{name[:n_first]}…{name[place:]}"
    if display_width(text) <= width:
        return text
    while display_width(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def fitted(
    lines: Sequence[Sequence[str]],
    width: int | None,
    *,
    left: Collection[int] = (0,),
    droppable: Sequence[int] = (),
) -> tuple[list[str], str]:
    r"""Write a table so that no line is wider than the terminal, and say what was left out.

    Names are shortened first, as far as they can still be read; then columns are left out.

    Parameters
    ----------
    lines
        The cells of each line, the head first.
    width
        How many columns of letters there are; as many as needed if None.
    left
        Columns of names, which stand left and can be shortened.
    droppable
        Columns that can be left out, the first one first.

    Examples
    --------
    >>> lines, said = fitted([["item", "tier", "won"], ["tea", "1", "5"]], 12, droppable=[2])
    >>> print("\n".join([*lines, said]))
    item  tier
    tea      1
    Left out to fit the width: won.
    """
    lines = [list(line) for line in lines]
    kept = list(range(len(lines[0])))
    if width is None:
        return aligned(lines, left=left), ""
    widths = [max(map(display_width, column)) for column in zip(*lines, strict=True)]
    names = [place for place in kept if place in left]

    def room_lacking() -> int:
        return sum(widths[place] for place in kept) + 2 * (len(kept) - 1) - width

    dropped = []
    for place in (*droppable, None):
        could_shorten = sum(
            max(widths[name] - max(_SHORTEST_NAME, display_width(lines[0][name])), 0)
            for name in names
            if name in kept
        )
        if place is None or room_lacking() <= could_shorten:
            break
        kept.remove(place)
        dropped.append(place)
    # The widest names give way, one letter at a time, until all fit.
    while room_lacking() > 0 and names:
        widest = max((name for name in names if name in kept), key=lambda name: widths[name])
        if widths[widest] <= _SHORTEST_NAME // 2:
            break
        widths[widest] -= 1
    columns = [[line[place] for line in lines] for place in kept]
    shown = [
        *zip(
            *(
                shortened_names(column, widths[place]) if place in left else column
                for place, column in zip(kept, columns, strict=True)
            ),
            strict=True,
        )
    ]
    shown_left = [number for number, place in enumerate(kept) if place in left]
    said = ", ".join(lines[0][place] for place in sorted(dropped))
    return (
        aligned(shown, left=shown_left),
        f"Left out to fit the width: {said}." if said else "",
    )


def within(text: str, width: int) -> str:
    r"""Break lines that are longer than a width; what follows a gap stays below its beginning.

    Examples
    --------
    >>> print(within("tea  1   0.25\nthat is a sentence\ntiers   tea ~ milk > water", 16))
    tea  1   0.25
    that is a
    sentence
    tiers   tea ~
            milk >
            water
    """
    lines: list[str] = []
    for line in text.split("\n"):
        if display_width(line) <= width:
            lines.append(line)
            continue
        gap = _GAP.search(line.rstrip())
        hanging = " " * (gap.end() if gap is not None and gap.end() <= width // 2 else 0)
        broken = textwrap.wrap(line, width, subsequent_indent=hanging, break_on_hyphens=False)
        lines += broken or [line]
    return "\n".join(lines)
