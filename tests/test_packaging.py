"""What is said about the package in several places is the same everywhere."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

import tierwise

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
# A source distribution has no workflows: then there is nothing to look at.
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# Packages that conda calls otherwise, and what an extra of pip means there.
ON_CONDA = {
    "matplotlib": ["matplotlib-base"],
    "h5netcdf[h5py]": ["h5netcdf", "h5py"],
}

sys.path.insert(0, str(ROOT / "tools"))
import lowest_versions  # noqa: E402 - the tools are no package


def section(name):
    """Lines of a list in the recipe."""
    (found,) = re.findall(rf"^  {name}:\n((?:    - .*\n)+)", RECIPE, re.MULTILINE)
    return [line.removeprefix("    - ") for line in found.splitlines()]


def as_on_conda(requirement):
    name, version = re.fullmatch(r"([\w\[\],-]+)>=([\d.]+)", requirement).groups()
    first, *others = ON_CONDA.get(name, [name])
    return [f"{first} >={version}", *others]


def test_conda_needs_what_pip_needs():
    needed = [
        line for required in PROJECT["project"]["dependencies"] for line in as_on_conda(required)
    ]
    python, *others = section("run")
    assert python == "python >={{ python_min }}"
    assert others == needed


def test_conda_asks_for_no_less_of_what_is_optional():
    extras = PROJECT["project"]["optional-dependencies"]
    assert section("run_constrained") == [
        line for one in extras["xlsx"] for line in as_on_conda(one)
    ]


def test_licences_are_named_once_and_are_there():
    project = PROJECT["project"]
    about = RECIPE.partition("about:")[2]
    assert f"  license: {project['license']}\n" in about
    assert re.findall(r"^    - (.*)$", about, re.MULTILINE) == project["license-files"]
    for name in project["license-files"]:
        assert (ROOT / name).is_file()
    # Every data set that comes with the package is named beside its licence, or made of code.
    said = (ROOT / "licenses" / "data.txt").read_text(encoding="utf-8")
    for path in (ROOT / "src" / "tierwise" / "data").glob("*.csv*"):
        assert path.name in said


def test_conda_builds_as_pip_does():
    (builder,) = PROJECT["build-system"]["requires"]
    assert as_on_conda(builder)[0] in section("host")
    ((name, target),) = PROJECT["project"]["scripts"].items()
    assert section("entry_points") == [f"{name} = {target}"]


def test_recipe_names_this_version_and_python():
    settings = dict(re.findall(r'{% set (\w+) = "(.*)" %}', RECIPE))
    assert settings["version"] == tierwise.__version__
    assert PROJECT["project"]["requires-python"] == f">={settings['python_min']}"


def test_workflow_tries_every_python_that_is_promised():
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert f">={promised[0]}" == PROJECT["project"]["requires-python"]
    for path in WORKFLOWS:
        for tried in re.findall(r"python: \[(.*)\]", path.read_text(encoding="utf-8")):
            assert re.findall(r"[\d.]+", tried) == promised


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_named_by_commit(path):
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+(\.\d+)*", action), action


def test_only_the_upload_may_ask_for_an_identity():
    for path in WORKFLOWS:
        before, *jobs = re.split(r"^  (?=\w+:\n)", path.read_text(encoding="utf-8"), flags=re.M)
        assert "permissions:\n  contents: read\n" in before + "".join(jobs)
        assert {job.split(":")[0] for job in jobs if "write" in job} <= {"publish"}


def test_lowest_versions_are_lower_bounds():
    assert lowest_versions.lowest("h5netcdf[h5py]>=1.3") == "h5netcdf==1.3"
    assert len(lowest_versions.constraints()) == len(PROJECT["project"]["dependencies"])
    assert set(lowest_versions.constraints()) < set(lowest_versions.constraints("dev"))
    with pytest.raises(ValueError, match="lower bound"):
        lowest_versions.lowest("numpy")
