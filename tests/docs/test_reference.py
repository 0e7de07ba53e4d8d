"""Everything public has an entry in the reference, and the map of the code is true."""

import re
from pathlib import Path

import tierwise
from tierwise import plots

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "api"
MAP = (REFERENCE.parent / "architecture.md").read_text(encoding="utf-8")
SOURCES = Path(tierwise.__file__).parent


def documented():
    text = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md"))
    return set(re.findall(r"^\.\. auto\w+:: tierwise\.(?:\w+\.)*(\w+)$", text, re.M))


def test_every_public_name_is_in_the_reference():
    assert not set(tierwise.__all__) - {"__version__", "plots"} - documented()


def test_every_figure_is_in_the_reference():
    assert not set(plots.__all__) - documented()


def files_of_the_map():
    """Return the files that the tree names; it says of kernels only how they are called."""
    tree = MAP[MAP.index("src/tierwise/\n") : MAP.index("\ntests/")]
    package, named = "", set()
    for line in tree.splitlines():
        heading = re.match(r"  (\w+)(/|\.py)", line)
        if heading:
            package = f"{heading[1]}/" if heading[2] == "/" else ""
        if package != "_kernels/":
            named |= {package + name for name in re.findall(r"(?<![\w/])\w+\.py", line)}
    return named


def test_the_map_names_every_file_and_no_other():
    files = {path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py")}
    wanted = {name for name in files if not name.endswith("__init__.py")}
    assert files_of_the_map() == {name for name in wanted if not name.startswith("_kernels/")}


def test_the_walks_go_through_what_there_is():
    stops = re.findall(r"`(\w+/\w+\.py)`, `(\w+)", MAP)
    assert len(stops) > 20
    for file, name in stops:
        assert re.search(rf"\b(def|class) {name}\b", (SOURCES / file).read_text("utf-8")), name
