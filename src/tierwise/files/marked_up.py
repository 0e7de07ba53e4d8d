r"""Tables in Markdown and in LaTeX, as people paste them: ``| a | b |`` and ``a & b \\``.

What surrounds the table is passed over, and so are rules, comments and markup in cells. The text
keeps its lines, so that messages name them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tierwise.errors import InputError

Row: TypeAlias = tuple[int, list[str]]
"""The line a row begins on, and its cells."""

_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*|\s*\|\s*:?-+:?\s*\|\s*")
_PIPE = re.compile(r"(?<!\\)\|")
_BEGIN = re.compile(r"\\begin\{(tabular\*?|tabularx|tabulary|longtable|array)\}")
_COMMENT = re.compile(r"(?<!\\)%.*")
_END_OF_ROW = re.compile(r"\\\\(?:\s*\[[^\]]*\])?|\\tabularnewline")
_LINES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|hdashline|endhead|endfirsthead|endfoot|endlastfoot"
    r"|(?:cmidrule|cline|specialrule|addlinespace|rowcolor)(?:\([^)]*\)|\[[^\]]*\]|\{[^}]*\})*)"
)
_FULL_RULE = re.compile(r"\\(?:midrule|hline|hdashline|endhead|endfirsthead)")
_SPAN = re.compile(r"\s*\\multicolumn\s*\{(\d{1,3})\}\s*\{[^{}]*\}\s*\{(.*)\}\s*", re.DOTALL)
_ROWS = re.compile(r"\\multirow\s*(?:\[[^\]]*\])?\{[^{}]*\}\s*(?:\{[^{}]*\}|\*)\s*")
_COMMAND = re.compile(r"\\(?:[a-zA-Z]+\*?|[,;! ])")
_PLAIN = (("\\pm", "±"), ("\\%", "%"), ("\\&", "&"), ("\\_", "_"), ("\\#", "#"), ("\\$", "$"))
_ARROWS = (("\\uparrow", "↑"), ("\\downarrow", "↓"), ("---", "\N{EM DASH}"), ("--", "\N{EN DASH}"))


@dataclass(frozen=True)
class MarkedUp:
    """A table that was found in a text.

    Attributes
    ----------
    language
        Markdown or LaTeX.
    header
        The names of the columns.
    rows
        The rows, as long as the header.
    is_only
        Whether the text holds no further table.
    """

    language: str
    header: list[str]
    rows: list[Row]
    is_only: bool


def may_be_marked_up(head: str) -> bool:
    """Return whether a text may hold such a table, by its first characters."""
    return "\\begin{" in head or any(
        "|" in line and _RULE.fullmatch(line) for line in head.splitlines()
    )


def marked_up_table(text: str, name: str) -> MarkedUp | None:
    r"""Return the first table of a text in Markdown or LaTeX; None if there is none.

    Parameters
    ----------
    text
        The text.
    name
        What messages call it.

    Examples
    --------
    >>> marked_up_table("| a | b |\n|---|---|\n| 1 | **2** |\n", "x.md").rows
    [(3, ['1', '2'])]
    >>> marked_up_table("\\begin{tabular}{lr}\na & b \\\\ \\hline\n1 & $2$ \\\\\n", "x").rows
    [(3, ['1', '2'])]
    """
    lines = text.splitlines()
    begins = [at for at, line in enumerate(lines) if _BEGIN.search(line)]
    if begins:
        language, header, rows = "LaTeX", *_of_latex(lines, begins[0])
        further = len(begins) > 1
    else:
        rules = [
            at for at, line in enumerate(lines) if at and "|" in line and _RULE.fullmatch(line)
        ]
        rules = [at for at in rules if "|" in lines[at - 1]]
        if not rules:
            return None
        language, header, rows = "Markdown", *_of_markdown(lines, rules[0])
        further = len(rules) > 1
    for line, cells in rows:
        if len(cells) != len(header):
            raise InputError(
                f"{name}, line {line} has {len(cells)} cells, but the header has {len(header)} "
                "columns: give every row the same number of cells"
            )
    return MarkedUp(language, header, rows, not further)


def _of_markdown(lines: Sequence[str], rule: int) -> tuple[list[str], list[Row]]:
    rows: list[Row] = []
    for at in range(rule + 1, len(lines)):
        if "|" not in lines[at]:
            break
        rows.append((at + 1, _between_pipes(lines[at])))
    return _between_pipes(lines[rule - 1]), rows


def _between_pipes(line: str) -> list[str]:
    bare = line.strip().removeprefix("|")
    bare = bare[:-1] if _PIPE.search(bare[-1:]) and not bare.endswith("\\|") else bare
    return [_without_stars(cell.replace("\\|", "|").strip()) for cell in _PIPE.split(bare)]


def _without_stars(cell: str) -> str:
    """Return a cell without the marks of bold and italic text around it, and of links."""
    cell = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell)
    for mark in ("**", "__", "`", "*"):
        cell = re.sub(rf"{re.escape(mark)}(\S(?:.*?\S)?){re.escape(mark)}", r"\1", cell)
    return cell


def _of_latex(lines: Sequence[str], begin: int) -> tuple[list[str], list[Row]]:
    above: list[Row] = []
    below: list[Row] = []
    ruled = False
    for line, text in _rows_of_latex(lines, begin):
        bare = _LINES.sub("", text)
        # A rule stands before the row that it is written with.
        ruled = ruled or (bool(above) and _FULL_RULE.search(text) is not None)
        if _is_begun(text):
            (below if ruled else above).append((line, _between_ampersands(bare)))
    if not below:
        above, below = above[:1], above[1:]
    columns = list(zip(*(cells for _, cells in above), strict=False))
    return [" ".join(filter(None, names)) for names in columns], below


def _rows_of_latex(lines: Sequence[str], begin: int) -> Iterator[tuple[int, str]]:
    """Yield the rows of a table, each with the line where it begins."""
    waiting, start = "", begin + 1
    for at in range(begin, len(lines)):
        line = _COMMENT.sub("", lines[at])
        if at == begin:
            found = _BEGIN.search(line)
            assert found is not None
            line = re.sub(
                r"^(?:\[[^\]]*\])?(?:\{(?:[^{}]|\{[^{}]*\})*\}){0,2}", "", line[found.end() :]
            )
        line, end, _ = line.partition("\\end{")
        *rows, rest = _END_OF_ROW.split(line)
        for row in rows:
            yield start if _is_begun(waiting) else at + 1, f"{waiting} {row}"
            waiting = ""
        start = start if _is_begun(waiting) else at + 1
        waiting = f"{waiting} {rest}"
        if end:
            break
    if waiting.strip():
        yield start, waiting


def _is_begun(row: str) -> bool:
    """Return whether there is more than rules in what was read of a row."""
    return bool(_LINES.sub("", row).strip())


def _between_ampersands(text: str) -> list[str]:
    cells: list[str] = []
    for cell in re.split(r"(?<!\\)&", text):
        span = _SPAN.fullmatch(cell)
        if span is None:
            cells.append(_without_commands(cell))
        else:
            # The name of a group stands above each of its columns.
            cells += [_without_commands(span[2])] * int(span[1])
    return cells


def _without_commands(cell: str) -> str:
    cell = _ROWS.sub("", cell)
    for written, plain in (*_PLAIN, *_ARROWS):
        cell = cell.replace(written, plain)
    cell = _COMMAND.sub(" ", cell)
    return " ".join(re.sub(r"[{}$~]", " ", cell).split())
