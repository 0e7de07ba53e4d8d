import json

import pytest
from typer.testing import CliRunner

import tierwise as tw
from tierwise.cli.main import app


@pytest.fixture(scope="module")
def goals(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "goals.csv"
    tw.write_rankings(tw.load_political_goals(), path)
    return str(path)


def run(*arguments):
    result = CliRunner().invoke(app, ["search", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_prints_a_leaderboard_for_people(goals):
    printed = run(goals)
    assert "order ~ prices > say ~ speech" in printed
    assert "strict consensus" in printed
    assert "-6430.90" in printed


def test_prints_pure_json(goals):
    document = json.loads(run(goals, "--json", "--criterion", "evidence", "--seed", "3"))
    assert document["best"]["tiers"] == [["order", "prices"], ["say", "speech"]]
    assert document["leaderboard"][0]["probability"] > 0.999
    assert document["provenance"]["seed"] == 3


def test_options_reach_the_search(goals):
    document = json.loads(
        run(goals, "--json", "--distance", "hamming", "--top", "1", "--bottom", "1", "--tiers", "3")
    )
    assert document["best"]["sizes"] == [1, 2, 1]
    assert document["best"]["distance"] == "hamming"
    wandering = ("--method", "tabu", "--moves", "adjacent", "--start", "1,3")
    document = json.loads(run(goals, "--json", *wandering, "--sample-neighbours", "1"))
    assert document["method"] == "tabu"
    assert document["path"][0] == [1, 3]
    by_size = json.loads(run(goals, "--json", "--method", "greedy", "--start", "merging-by-size"))
    assert by_size["path"][0] == sorted(by_size["path"][0])


def test_rows_are_as_many_as_asked_for(goals):
    assert "and 4 more" in run(goals, "--rows", "2")


def test_writes_to_a_file(goals, tmp_path):
    run(goals, "--out", str(tmp_path / "found.txt"))
    assert "order ~ prices" in (tmp_path / "found.txt").read_text()
