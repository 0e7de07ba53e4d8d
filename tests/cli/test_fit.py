"""tierwise fit and tierwise search, as people run them."""

import json

import pytest
from typer.testing import CliRunner

import tierwise as tw
from tests.cli.program import run_program
from tierwise.cli.main import app


def run(*words, expected=0):
    done = run_program(*words)
    assert done.returncode == expected, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def goals(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "goals.csv"
    tw.write_rankings(tw.load_political_goals(), path)
    return path


def test_fit_prints_tiers_and_what_they_are_compared_to(goals):
    shown = run("fit", goals, "--sizes", "2,2").stdout
    assert "order ~ prices" in shown
    assert "strict consensus" in shown
    assert "-6430.90" in shown


def test_fit_without_sizes_searches(goals):
    document = json.loads(run("fit", goals, "--json").stdout)
    assert document["sizes"] == [2, 1, 1]
    assert document["tiers"] == [["order", "prices"], ["say"], ["speech"]]
    assert document["concentration"] == "tier"
    named = json.loads(run("fit", goals, "--distance", "kendall", "--json").stdout)
    assert named["tiers"] == [["order", "prices"], ["say", "speech"]]
    assert named["concentration"] == "single"
    assert named["optimal"] is True


def test_fit_resamples_and_writes_a_file(goals, tmp_path):
    out = tmp_path / "fit.json"
    command = ["fit", goals, "--sizes", "2,2", "--bootstrap", 20, "--seed", 1, "--json", "-o", out]
    assert run(*command).stdout == ""
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["bootstrap"]["replicates"] == 20
    assert document["bootstrap"]["provenance"]["seed"] == 1


def test_fit_lets_theta_vary(goals):
    document = json.loads(
        run(
            "fit",
            goals,
            "--sizes",
            "2,2",
            "--distance",
            "kendall",
            "--concentration",
            "auto",
            "--json",
        ).stdout
    )
    assert document["concentration"] in ("single", "tier", "place")
    assert "tier" in document["concentration_reason"]
    words = ("--sizes", "1,1,2", "--distance", "kendall", "--concentration", "place")
    assert "place 2" in run("fit", goals, *words).stdout


def test_sample_draws_the_tiers_where_everybody_agrees(tmp_path):
    path = tmp_path / "same.csv"
    path.write_text("a,b,c\n" + "1,2,3\n" * 20)
    drawn = json.loads(run("sample", path, "-n", 5, "--sizes", "1,1,1", "--json").stdout)
    assert drawn["rankings"] == [["a", "b", "c"]] * 5
    assert drawn["theta"] is None


def test_sample_draws_what_can_be_read_again(goals, tmp_path):
    out = tmp_path / "drawn.csv"
    run("sample", goals, "-n", 500, "--sizes", "2,2", "--seed", 1, "-o", out)
    drawn = tw.read_rankings(out)
    assert drawn.n_rankings == 500
    assert tw.fit(drawn, (2, 2)).tiers == tw.fit(tw.load_political_goals(), (2, 2)).tiers
    to_screen = run("sample", goals, "-n", 500, "--sizes", "2,2", "--seed", 1).stdout
    assert to_screen == out.read_text(encoding="utf-8")
    sharp = json.loads(
        run("sample", goals, "-n", 5, "--sizes", "2,2", "--theta", 50, "--json").stdout
    )
    assert all(set(row[:2]) == {"order", "prices"} for row in sharp["rankings"])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("fit", "{}", "--sizes", "2,3"), "sum to 5, but there are 4 items"),
        (("fit", "{}", "--sizes", "two"), "'two' are not whole numbers"),
        (("fit", "nowhere.csv"), "nowhere.csv"),
        (("sample", "{}", "--sizes", "2,2", "--theta", "-1"), "theta must be 0 or more"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(goals, words, complaint):
    done = run(*(word.format(goals) for word in words), expected=2)
    [reports] = [line for line in done.stderr.splitlines() if not line.startswith("Read ")]
    assert complaint in reports
    assert done.stdout == ""


def search(*arguments):
    result = CliRunner().invoke(app, ["search", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_prints_a_leaderboard_for_people(goals):
    printed = search(goals, "--distance", "kendall")
    assert "order ~ prices > say ~ speech" in printed
    assert "strict consensus" in printed
    assert "-6430.90" in printed


def test_prints_pure_json(goals):
    document = json.loads(search(goals, "--json", "--criterion", "evidence", "--seed", "3"))
    assert document["best"]["tiers"] == [["order", "prices"], ["say", "speech"]]
    assert document["leaderboard"][0]["probability"] > 0.999
    assert document["provenance"]["seed"] == 3


def test_options_reach_the_search(goals):
    document = json.loads(
        search(
            goals, "--json", "--distance", "hamming", "--top", "1", "--bottom", "1", "--tiers", "3"
        )
    )
    assert document["best"]["sizes"] == [1, 2, 1]
    assert document["best"]["distance"] == "hamming"
    wandering = ("--method", "tabu", "--moves", "adjacent", "--start", "1,3")
    document = json.loads(search(goals, "--json", *wandering, "--sample-neighbours", "1"))
    assert document["method"] == "tabu"
    assert document["path"][0] == [1, 3]
    by_size = json.loads(
        search(goals, "--json", "--method", "greedy", "--start", "merging-by-size")
    )
    assert by_size["path"][0] == sorted(by_size["path"][0])


def test_rows_are_as_many_as_asked_for(goals):
    assert "and 4 more" in search(goals, "--distance", "kendall", "--rows", "2")


def test_writes_to_a_file(goals, tmp_path):
    search(goals, "--out", str(tmp_path / "found.txt"))
    assert "order ~ prices" in (tmp_path / "found.txt").read_text()
