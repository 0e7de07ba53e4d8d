"""Results as notebooks show them: tiers as coloured rows, a few numbers, perhaps a small table."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal

from tierwise._util.tables import Table, in_markdown
from tierwise.errors import share_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tierwise._util.types import Item

# The colours of plots, from dark (best) to light; all of them can be distinguished by everybody.
_SHADES = ((59, 82, 139), (44, 114, 142), (33, 145, 140), (53, 183, 121), (144, 215, 67))
_GREY = (190, 190, 190)
_MOST_ITEMS = 40
_MOST_ROWS = 12

_BOX = "font-family:system-ui,sans-serif;max-width:56em;overflow-x:auto"
_ROW = "display:flex;gap:4px;margin:3px 0"
_HEAD = "flex:none;min-width:1.6em;padding:2px 6px;border-radius:4px;text-align:center"
_CHIP = "display:inline-block;padding:2px 8px;margin:0 4px 3px 0;border:1px solid #8888;"
_CHIP += "border-radius:4px"
_SOFT = "opacity:.75"
# Cells that are longer may be broken into lines.
_MOST_UNBROKEN = 22
_CELL = "padding:1px 12px 1px 0;text-align:left"


@dataclass(frozen=True)
class Row:
    """A tier as it is shown.

    Attributes
    ----------
    sign
        What stands before it: its number; empty for items that people are divided about.
    items
        Its items.
    """

    sign: str
    items: Sequence[Item]


@dataclass(frozen=True)
class Section:
    """Tiers under a heading, which may be empty."""

    rows: Sequence[Row] = ()
    heading: str = ""


@dataclass(frozen=True)
class Card:
    """What is shown of a result.

    Attributes
    ----------
    title
        What it is.
    facts
        A few numbers, each with its name.
    sections
        Tiers, of everybody or of several groups.
    sure
        How sure the tier of each item is, if that is known.
    table
        The head of a table, and its rows.
    note
        What it means, in words.
    """

    title: str
    facts: Sequence[tuple[str, str]] = ()
    sections: Sequence[Section] = ()
    sure: Mapping[Item, float] | None = None
    table: tuple[Sequence[str], Sequence[Sequence[str]]] | None = None
    note: str = ""

    def to_markdown(self) -> str:
        r"""Write it as Markdown, in which every name is text whatever it holds.

        Examples
        --------
        >>> card = Card("2 items", [("theta", "0.5")], [Section([Row("1", ["a*", "b"])])])
        >>> print(card.to_markdown())
        # 2 items
        <BLANKLINE>
        theta 0.5
        <BLANKLINE>
        - **1**: a\*, b
        """
        parts = [f"# {in_markdown(self.title)}"]
        if self.facts:
            parts.append(
                ", ".join(f"{in_markdown(name)} {in_markdown(text)}" for name, text in self.facts)
            )
        for section in self.sections:
            parts += [f"**{in_markdown(section.heading)}**"] if section.heading else []
            lines = [
                f"- **{in_markdown(row.sign or '↔')}**: {', '.join(map(self._named, row.items))}"
                for row in section.rows
            ]
            parts.append("\n".join(lines))
        if self.table is not None:
            parts.append(Table(*self.table).to_markdown())
        return "\n\n".join([*parts, *([in_markdown(self.note)] if self.note else [])])

    def _named(self, item: Item) -> str:
        """Write an item, and how sure its tier is, as Markdown."""
        sure = None if self.sure is None else self.sure.get(item)
        return in_markdown(str(item)) + ("" if sure is None else f" ({share_in_words(sure)})")

    def to_html(self, shown: Literal["head", "all"] = "head") -> str:
        """Write it as HTML, in which every name is text whatever it holds.

        Parameters
        ----------
        shown
            "head" for the first items of a tier and rows of a table, or "all" of them.

        Examples
        --------
        >>> Card("<b>", facts=[("theta", "0.5")]).to_html()[-68:]
        '<b>&lt;b&gt;</b></div><div style="opacity:.75">theta 0.5</div></div>'
        """
        parts = [f"<div><b>{escape(self.title)}</b></div>"]
        if self.facts:
            line = " &middot; ".join(f"{escape(name)} {escape(text)}" for name, text in self.facts)
            parts.append(f'<div style="{_SOFT}">{line}</div>')
        for section in self.sections:
            parts += self._section(section, shown)
        if self.table is not None:
            parts.append(_table(*self.table, shown))
        if self.note:
            parts.append(f'<div style="margin-top:4px">{escape(self.note)}</div>')
        return f'<div style="{_BOX}">{"".join(parts)}</div>'

    def _section(self, section: Section, shown: str) -> Iterable[str]:
        if section.heading:
            yield f'<div style="margin-top:6px">{escape(section.heading)}</div>'
        n_tiers = sum(bool(row.sign) for row in section.rows)
        for number, row in enumerate(section.rows):
            colour = _shade(number, n_tiers) if row.sign else _GREY
            sign = escape(row.sign) or "&harr;"
            head = f'<span style="{_HEAD};{_colours(colour)}">{sign}</span>'
            n_shown = len(row.items) if shown == "all" else _MOST_ITEMS
            chips = "".join(self._chip(item) for item in row.items[:n_shown])
            more = len(row.items) - n_shown
            if more > 0:
                chips += f'<span style="{_SOFT}">and {more:,} more</span>'
            yield f'<div style="{_ROW}">{head}<span>{chips}</span></div>'

    def _chip(self, item: Item) -> str:
        sure = None if self.sure is None else self.sure.get(item)
        share = (
            "" if sure is None else f' <span style="{_SOFT}">{escape(share_in_words(sure))}</span>'
        )
        return f'<span style="{_CHIP}">{escape(str(item))}{share}</span>'


def rows_of(tiers: Iterable[Sequence[Item]]) -> list[Row]:
    """Return tiers with their numbers, best first."""
    return [Row(str(number), tuple(tier)) for number, tier in enumerate(tiers, start=1)]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], shown: str) -> str:
    n_shown = len(rows) if shown == "all" else _MOST_ROWS
    head = "".join(f'<th style="{_CELL}">{escape(cell)}</th>' for cell in header)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{_style(cell)}">{escape(cell)}</td>' for cell in row)
        + "</tr>"
        for row in rows[:n_shown]
    )
    more = len(rows) - n_shown
    if more > 0:
        body += f'<tr><td colspan="{len(header)}">and {more:,} more</td></tr>'
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shade(number: int, n_tiers: int) -> tuple[int, int, int]:
    """Return the colour of a tier, between those of the best and the worst."""
    place = (len(_SHADES) - 1) * (number / (n_tiers - 1) if n_tiers > 1 else 0.25)
    low = min(int(place), len(_SHADES) - 2)
    share = place - low
    red, green, blue = (
        round(one + share * (other - one))
        for one, other in zip(_SHADES[low], _SHADES[low + 1], strict=True)
    )
    return red, green, blue


def _colours(colour: tuple[int, int, int]) -> str:
    """Return a background, and letters that are read on it."""
    red, green, blue = colour
    letters = "#000" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#fff"
    return f"background:#{red:02x}{green:02x}{blue:02x};color:{letters}"


def _style(cell: str) -> str:
    """Keep numbers with their intervals on one line; sentences may be broken."""
    return _CELL + (";white-space:nowrap" if len(cell) <= _MOST_UNBROKEN else "")
