"""``tierwise report`` and ``tierwise demo --report`` as people run them."""

import json
from contextlib import chdir

import pytest

import tierwise as tw
from tests.cli.program import run_program


def run(*words, cwd):
    with chdir(cwd):
        return run_program(*words)


@pytest.fixture
def folder(tmp_path):
    tw.write_rankings(tw.load_political_goals(), tmp_path / "goals.csv")
    return tmp_path


@pytest.mark.slow
def test_report_is_written_where_asked(folder):
    done = run(
        "report", "goals.csv", "-o", "page.html", "--seed", 1, "--replicates", 20, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert "order ~ prices > say > speech" in done.stdout
    assert "Wrote page.html." in done.stderr
    assert "<h1>goals: tiers of 4 items</h1>" in (folder / "page.html").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_json_is_pure(folder):
    words = (
        "report",
        "goals.csv",
        "--sizes",
        "1,3",
        "--title",
        "Goals",
        "--replicates",
        5,
        "--json",
    )
    done = run(*words, cwd=folder)
    values = json.loads(done.stdout)
    assert values["report"] == "goals-report.html"
    assert values["fit"]["sizes"] == [1, 3]
    assert values["search"] is None
    assert values["groups"] is None
    assert values["check"]["verdict"] in ("fits", "differs", "mixture suspected", "theta varies")
    assert "<h1>Goals</h1>" in (folder / "goals-report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_groups_are_shown_if_asked_for(folder):
    words = (
        "report",
        "goals.csv",
        "--sizes",
        "2,2",
        "--replicates",
        5,
        "--groups",
        "2",
        "--seed",
        1,
    )
    done = run(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Several groups describe the rankings better than one" in " ".join(done.stdout.split())
    assert 'id="groups"' in (folder / "goals-report.html").read_text(encoding="utf-8")
    wrong = run("report", "goals.csv", "--groups", "two", cwd=folder)
    assert wrong.returncode == 2
    assert "groups 'two' are not numbers" in wrong.stderr


def test_wrong_input_is_one_line_and_leaves_no_file(folder):
    done = run("report", "goals.csv", "--sizes", "1,2", cwd=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    [reports] = [line for line in done.stderr.splitlines() if not line.startswith("Read ")]
    assert "sum to 3" in reports
    assert not (folder / "goals-report.html").exists()


@pytest.mark.slow
def test_demo_writes_a_report(tmp_path):
    done = run("demo", "--report", "goals.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "order ~ prices" in done.stdout
    assert (tmp_path / "goals.html").stat().st_size > 50_000
    values = json.loads(run("demo", "--json", cwd=tmp_path).stdout)
    assert values["search"]["best"]["sizes"] == [2, 1, 1]
    assert len(values["posterior"]["tied_or_nearly_probabilities"]) == 4
