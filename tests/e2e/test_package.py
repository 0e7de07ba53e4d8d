"""The package as it is shipped: built, installed into a clean environment, and run from there."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tierwise

ROOT = Path(__file__).resolve().parents[2]


def run(*command, **options):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (source,) = folder.glob("*.tar.gz")
    assert source.name == f"tierwise-{tierwise.__version__}.tar.gz"
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "tierwise/py.typed" in names
    assert "tierwise/_kernels/recursion.py" in names
    assert all(name.startswith(("tierwise/", "tierwise-")) for name in names)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_wheel_works_in_a_clean_environment(wheel, tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "clean")
    binaries = tmp_path / "clean" / ("Scripts" if sys.platform == "win32" else "bin")
    run(binaries / "python", "-m", "pip", "install", "--quiet", wheel)
    assert run(binaries / "tierwise", "--version") == f"tierwise {tierwise.__version__}\n"
    rows = tmp_path / "answers.csv"
    rows.write_text("first,second,third\na,b,c\nb,a,c\na,b,c\n", encoding="utf-8")
    shown = run(binaries / "tierwise", "fit", rows, "--sizes", "2,1", cwd=tmp_path)
    assert "a ~ b" in shown
    # The type information ships with the package, and the tests do not.
    run(binaries / "python", "-c", "import tierwise; tierwise.load_apa1980()", cwd=tmp_path)


def test_importing_is_cheap():
    code = "import sys, tierwise; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = run(sys.executable, "-c", code).split()
    assert not {"numba", "scipy", "pyarrow", "pandas", "polars", "matplotlib", "rich"} & set(loaded)


def test_the_version_stands_in_one_place():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(rf"^version: {re.escape(tierwise.__version__)}$", citation, re.MULTILINE)
    assert "version" not in re.findall(
        r"^(\w+) = ", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE
    )


def test_every_public_name_resolves():
    assert [name for name in tierwise.__all__ if not hasattr(tierwise, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tierwise.nothing  # noqa: B018


def test_no_module_hides_a_public_function():
    modules = {path.stem for path in (ROOT / "src" / "tierwise").iterdir()}
    # The module of figures is itself public, under its own name.
    assert modules & set(tierwise.__all__) == {"plots"}
    assert tierwise.plots is sys.modules["tierwise.plots"]


def test_the_readme_program_runs(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    exec(program, {})
    shown = capsys.readouterr().out
    (printed,) = re.findall(r"```text\n(.*?)```", readme, re.DOTALL)
    assert shown.splitlines() == printed.splitlines()


def test_the_readme_leads_to_files_that_are_there():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", readme):
        assert (ROOT / target).is_file(), target


def test_the_picture_of_the_readme_shows_the_tiers_of_its_words():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    ((words, file),) = re.findall(r"!\[(.*?)\]\((.*?)\)", readme)
    picture = (ROOT / file).read_text(encoding="utf-8")
    for driver in tierwise.load_f1().items:
        assert str(driver) in picture
    assert "seven tiers" in words
    assert re.findall(r">([0-9]+)</text>", picture) == list("1234567")
