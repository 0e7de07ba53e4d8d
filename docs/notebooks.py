"""Make a notebook of each tutorial: ``make notebooks`` writes them to ``docs/_notebooks``.

A page is run first, so what its notebook shows is what happens. Sessions become cells, commands
of the program become ``!tierwise ...``, files become ``%%writefile``, and text stays text. Values
that notebooks show as tables or cards are shown so.
"""

import ast
import doctest
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from code_blocks import LANGUAGES_THAT_RUN, Block, Cards, blocks_of, run_page

HERE = Path(__file__).parent
MADE = HERE / "_notebooks"

Cell = dict[str, Any]


def notebook(text: str, cards: Cards | None = None) -> dict[str, Any]:
    """Turn a page into a notebook, in version 4.5 of the format of Jupyter."""
    made = enumerate(cells_of(text, cards or {}))
    cells = [{"id": f"cell-{number}", **cell} for number, cell in made]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def cells_of(text: str, cards: Cards) -> Iterator[Cell]:
    """Cut a page into cells; blocks that are only shown stay in the text."""
    lines = text.splitlines(keepends=True)
    done = 0
    for block in blocks_of(text):
        if block.language in LANGUAGES_THAT_RUN:
            yield from _text_cells(lines[done : block.line - 1])  # up to the line that opens it
            yield from _block_cells(block, cards)
            done = block.line + block.body.count("\n") + 1
    yield from _text_cells(lines[done:])


def _text_cells(lines: list[str]) -> Iterator[Cell]:
    """One cell of text, whose figures lie beside it and whose links lead to other notebooks."""
    text = "".join(lines).strip()
    text = re.sub(r"```{eval-rst}\n.*?```\n*", "", text, flags=re.S)  # cells show these themselves
    text = text.replace("](../_made/", "](")
    text = re.sub(r"(?<!!)\[([^]]+)\]\(\.\./[^)]+\)", r"\1", text)  # pages that are no notebooks
    text = re.sub(r"\]\(([\w-]+)\.md(#[^)]*)?\)", r"](\1.ipynb)", text)
    if text:
        yield {"cell_type": "markdown", "metadata": {}, "source": text}


def _block_cells(block: Block, cards: Cards) -> Iterator[Cell]:
    if block.language == "pycon":
        yield from _session_cells(block, cards)
    elif block.language == "console":
        for part in re.split(r"^\$ ", block.body, flags=re.M)[1:]:
            command, _, shown = part.partition("\n")
            yield _code_cell(f"!{command}", _printed(shown))
    else:
        options, _, content = block.body.partition("\n\n")
        (name,) = re.findall(r"^:caption: (.+)$", options, re.M)
        yield _code_cell(f"%%writefile {name.strip('`')}\n{content}", [])


def _session_cells(block: Block, cards: Cards) -> Iterator[Cell]:
    """Cut after whatever shows something, for a cell shows no more than its last value."""
    sources: list[str] = []
    for example in doctest.DocTestParser().get_examples(block.body):
        sources.append(example.source)
        if example.want:
            card = cards.get(block.line + example.lineno)
            yield _session_cell("".join(sources), example, card)
            sources = []
    if sources:
        yield _code_cell("".join(sources), [])


def _session_cell(source: str, example: doctest.Example, card: str | None) -> Cell:
    """One cell, with what its last statement shows."""
    if example.exc_msg is not None:
        cell = _code_cell(source, _error(example.exc_msg))
        cell["metadata"] = {"tags": ["raises-exception"]}  # Jupyter goes on after such a cell
        return cell
    shown = re.sub(r"^<BLANKLINE>$", "", example.want, flags=re.M)
    return _code_cell(source, _printed(shown) if _prints(example.source) else _value(shown, card))


def _prints(source: str) -> bool:
    """Whether what a statement shows is printed by it, and not its value."""
    (*_, last) = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        return True
    call = last.value
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "print"


def _printed(text: str) -> list[Cell]:
    return [{"name": "stdout", "output_type": "stream", "text": text}] if text.strip() else []


def _value(text: str, card: str | None) -> list[Cell]:
    data = {"text/plain": text.removesuffix("\n")}
    if card is not None:
        data["text/html"] = card
    return [
        {"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"}
    ]


def _error(message: str) -> list[Cell]:
    name, _, text = message.strip().partition(": ")
    error = {"ename": name, "evalue": text, "traceback": [message.strip()]}
    return [{"output_type": "error", **error}]


def _code_cell(source: str, outputs: list[Cell]) -> Cell:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": outputs,
        "source": source.removesuffix("\n"),
    }


def main() -> None:
    """Run every tutorial where its notebook will be, and write the notebook."""
    shutil.rmtree(MADE, ignore_errors=True)
    MADE.mkdir()
    for page in sorted((HERE / "tutorials").glob("*.md")):
        cards = run_page(page, MADE)
        made = notebook(page.read_text(encoding="utf-8"), cards)
        target = MADE / f"{page.stem}.ipynb"
        target.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
