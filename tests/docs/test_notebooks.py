"""Notebooks say what the tutorials say."""

import ast
import sys
from pathlib import Path

import pytest

import tierwise as tw

DOCS = Path(__file__).resolve().parents[2] / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))

sys.path.insert(0, str(DOCS))
import notebooks  # noqa: E402 - the documentation is no package

PAGE = """# A page

See [another](other.md), [a guide](../howto/guide.md), and a figure:
![what it shows](../_made/figure.svg)

```{code-block} text
:caption: `answers.csv`

a,b
b,a
```

```pycon
>>> x = [
...     1, 2
... ]
>>> x
[1, 2]
>>> print("one\\n\\ntwo")
one
<BLANKLINE>
two
>>> y = 3
```

```sh
only shown
```

```console
$ tierwise describe answers.csv
2 rankings
$ tierwise fit answers.csv
```

The end.
"""


def test_a_page_becomes_cells():
    cells = notebooks.notebook(PAGE)["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert [(cell["cell_type"], cell["source"]) for cell in cells] == [
        (
            "markdown",
            "# A page\n\nSee [another](other.ipynb), a guide, and a figure:\n"
            "![what it shows](figure.svg)",
        ),
        ("code", "%%writefile answers.csv\na,b\nb,a"),
        ("code", "x = [\n    1, 2\n]\nx"),
        ("code", 'print("one\\n\\ntwo")'),
        ("code", "y = 3"),
        ("markdown", "```sh\nonly shown\n```"),
        ("code", "!tierwise describe answers.csv"),
        ("code", "!tierwise fit answers.csv"),
        ("markdown", "The end."),
    ]
    outputs = [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]
    assert outputs[1][0]["data"] == {"text/plain": "[1, 2]"}
    assert [shown[0]["text"] for shown in (outputs[2], outputs[4])] == [
        "one\n\ntwo\n",
        "2 rankings\n",
    ]
    assert [len(shown) for shown in outputs] == [0, 1, 1, 0, 1, 0]


def test_an_error_that_is_shown_does_not_stop_the_notebook():
    text = (
        "```pycon\n>>> 1 / 0\nTraceback (most recent call last):\n...\nZeroDivisionError: zero\n```"
    )
    (cell,) = notebooks.cells_of(text, {})
    assert cell["metadata"] == {"tags": ["raises-exception"]}
    (error,) = cell["outputs"]
    assert (error["ename"], error["evalue"]) == ("ZeroDivisionError", "zero")


def test_values_are_shown_as_notebooks_show_them(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```pycon\n>>> import tierwise as tw\n>>> tw.Tiers([['a'], ['b', 'c']])\n"
        "Tiers('a > b ~ c')\n>>> 1 + 1\n2\n```\n\n```{eval-rst}\n.. raw:: html\n```\n\nThe end."
    )
    cards = notebooks.run_page(page, tmp_path)
    tiers, number, text = notebooks.notebook(page.read_text(), cards)["cells"]
    assert tiers["outputs"][0]["data"]["text/html"] == tw.Tiers([["a"], ["b", "c"]])._repr_html_()
    assert number["outputs"][0]["data"] == {"text/plain": "2"}
    assert text["source"] == "The end."


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_cells_of_tutorials_are_programs(page):
    made = notebooks.notebook(page.read_text(encoding="utf-8"))
    programs = [cell["source"] for cell in made["cells"] if cell["cell_type"] == "code"]
    assert programs
    for program in programs:
        if not program.startswith(("!", "%%")):
            ast.parse(program)
    text = "".join(cell["source"] for cell in made["cells"])
    assert ">>>" not in text
    assert "_made" not in text
