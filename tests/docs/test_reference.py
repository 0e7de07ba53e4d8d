"""Everything public has an entry in the reference."""

import re
from pathlib import Path

import tierwise
from tierwise import plots

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "api"


def documented():
    text = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md"))
    return set(re.findall(r"^\.\. auto\w+:: tierwise\.(?:\w+\.)*(\w+)$", text, re.M))


def test_every_public_name_is_in_the_reference():
    assert not set(tierwise.__all__) - {"__version__"} - documented()


def test_every_figure_is_in_the_reference():
    assert not set(plots.__all__) - documented()
