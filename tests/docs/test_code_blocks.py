"""Every page of the documentation does what it shows."""

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
# These are written by programs that run what they show.
WRITTEN_BY_PROGRAMS = {"reproduction.md", "scale.md", "benchmarks.md"}
PAGES = sorted(
    page
    for page in DOCS.rglob("*.md")
    if "_build" not in page.parts and page.name not in WRITTEN_BY_PROGRAMS
)

sys.path.insert(0, str(DOCS))
import code_blocks  # noqa: E402 - the documentation is no package

NAMES = [str(page.relative_to(DOCS)) for page in PAGES]
RICH = tuple(int(number) for number in version("rich").split(".")[:2])


# What these compute takes several seconds; what they show of it, other tests show on smaller data.
LONG = {"howto/enough.md", "tutorials/battles.md"}


def page_to_run(page, name):
    """Leave pages that make figures to `make docs`, which fails where they are wrong."""
    slow = name in LONG or "_made/" in page.read_text(encoding="utf-8")
    return pytest.param(page, id=name, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.thorough
@pytest.mark.parametrize("page", [*map(page_to_run, PAGES, NAMES)])
def test_page_does_what_it_shows(page, tmp_path):
    if page.name == "command-line.md" and RICH < (14, 3):
        pytest.skip("tables of older versions of rich are a blank wider")
    code_blocks.run_page(page, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_no_block_escapes(page):
    known = {*code_blocks.LANGUAGES_THAT_RUN, *code_blocks.LANGUAGES_ONLY_SHOWN}
    for block in code_blocks.blocks_of(page.read_text(encoding="utf-8")):
        assert block.language in known, f"line {block.line}: nobody runs {block.language!r}"


def test_pages_are_found():
    assert {"index.md", "theory.md", "tutorials/survey.md"} <= set(NAMES)


def write_page(folder, *blocks):
    page = folder / "page.md"
    page.write_text("\n\n".join(f"```{language}\n{body}\n```" for language, body in blocks))
    return page


def test_blocks_share_names_and_folder(tmp_path):
    page = write_page(
        tmp_path,
        ("{code-block} text", ":caption: answers.csv\n\nfirst,second\na,b\nb,a"),
        ("pycon", ">>> from tierwise import read_rankings"),
        ("pycon", '>>> len(read_rankings("answers.csv"))\n2'),
    )
    code_blocks.run_page(page, tmp_path)


@pytest.mark.parametrize(
    ("language", "body"),
    [
        ("pycon", ">>> 1 + 1\n3"),
        ("pycon", ">>> 1 / 0"),
        (
            "pycon",
            '>>> import warnings, tierwise\n>>> warnings.warn("!", tierwise.TierwiseWarning)',
        ),
        ("console", "$ tierwise --version\ntierwise of another time"),
        ("console", "$ tierwise fit nowhere.csv"),
        ("console", "$ echo 1"),
        ("{code-block} text", "a file without a name"),
    ],
)
def test_wrong_pages_are_noticed(language, body, tmp_path):
    with pytest.raises(code_blocks.WrongPageError):
        code_blocks.run_page(write_page(tmp_path, (language, body)), tmp_path)


def test_commands_are_run(tmp_path):
    from tierwise import __version__

    page = write_page(tmp_path, ("console", f"$ tierwise --version\ntierwise {__version__}"))
    code_blocks.run_page(page, tmp_path)
