"""Options that say which column is for what, on every command that reads a file."""

import json
import pickle

import pytest
from typer.testing import CliRunner

from tests.unrendered import no_forecasts, unrendered_figures
from tierwise.cli.main import app, shell
from tierwise.errors import InputError, drop, grouped, instead, use

COMMANDS = ["describe", "fit", "search", "posterior", "sample", "report", "mixture", "groups"]
RACES = "race,driver,place\n1,a,1\n1,b,2\n1,c,3\n2,a,1\n2,c,2\n2,b,3\n"
PAIRS = "voter,winner,loser\nAnn,a,b\nAnn,b,c\nBob,a,c\n"


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def files(tmp_path):
    for name, text in (("races.csv", RACES), ("pairs.csv", PAIRS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_knows_all_options(command):
    shown = run(command, "--help").stdout
    for option in ("--assessor", "--item", "--rank", "--preferred", "--other", "--cycles"):
        assert option in shown


def test_columns_are_named(files):
    words = ("--assessor", "race", "--item", "driver", "--json")
    described = json.loads(run("describe", files / "races.csv", *words).stdout)
    assert described["items"] == ["a", "b", "c"]
    assert described["n_rankings"] == 2
    with pytest.raises(InputError, match="no column 'lap' for the rank: the columns are 'race'"):
        run("describe", files / "races.csv", *words, "--rank", "lap")


def test_pairs_are_fitted_and_drawn_from(files):
    document = json.loads(run("fit", files / "pairs.csv", "--sizes", "1,2", "--json").stdout)
    assert document["tiers"][0] == ["a"]
    words = ("--sizes", "1,2", "--bootstrap", 5, "--seed", 1, "--json")
    document = json.loads(run("fit", files / "pairs.csv", *words).stdout)
    assert document["bootstrap"]["replicates"] == 5
    drawn = run("sample", files / "pairs.csv", "--sizes", "1,2", "--theta", 1, "-n", 3).stdout
    assert drawn.count("\n") == 4


def test_pairs_are_described(files):
    described = json.loads(run("describe", files / "pairs.csv", "--json").stdout)
    assert described["n_assessors"] == 2
    assert described["compared"] == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    shown = run("describe", files / "pairs.csv").stdout
    for words in (
        "3 answers about pairs of 3 items, by 2 assessors",
        "1 more pair follows",
        "How often the two were compared",
        "Closest to even",
    ):
        assert words in shown
    again = files / "again.csv"
    again.write_text(PAIRS + "Ann,c,a\nAnn,b,a\n", encoding="utf-8")
    kept = " ".join(run("describe", again, "--cycles", "keep").stdout.split())
    assert "1 assessor (50%) contradicts themselves, once by answering about the same pair" in kept


def test_pairs_are_reported(files, monkeypatch):
    monkeypatch.chdir(files)
    words = ("--sizes", "1,2", "--replicates", 5, "--seed", 1)
    with unrendered_figures(), no_forecasts():
        assert "Wrote pairs-report.html." in run("report", "pairs.csv", *words).stderr
    page = (files / "pairs-report.html").read_text(encoding="utf-8")
    assert "3 answers about pairs of 3 items" in page
    assert "<title>pairs: tiers of 3 items</title>" in page


def test_groups_are_found_in_pairs_without_mistakes(files):
    words = ("--groups", 1, "--sizes", "1,2", "--quiet")
    shown = run("mixture", files / "pairs.csv", *words).stdout
    assert "2 assessors who compared pairs of 3 items in 1 group" in shown
    with pytest.raises(InputError, match="cannot distinguish groups from mistakes"):
        run("mixture", files / "pairs.csv", "--cycles", "keep", *words)


def test_messages_speak_of_options():
    remedies = [use("if any may be mistaken", cycles="keep"), use(assessor=..., preferred=...)]
    said = shell("fit").says(InputError("Ann contradicts\nherself", remedies))
    expected = "use --cycles keep if any may be mistaken, or --assessor and --preferred"
    assert said == f"Ann contradicts herself: {expected}"


def test_messages_speak_of_options_that_the_command_has():
    remedies = [use(criterion="likelihood"), drop("sizes")]
    assert shell("search").says(InputError("no", remedies)) == "no: use --criterion likelihood"
    assert shell("posterior").says(InputError("no", remedies)) == "no: leave out --sizes"
    assert shell("describe").says(InputError("no", remedies)) == "no"


def test_options_of_a_group_are_options_of_their_own():
    error = InputError("no", [use(sampler=grouped("Sampler", method="mcmc", thin=2))])
    assert str(error) == 'no: use sampler=Sampler(method="mcmc", thin=2)'
    assert shell("posterior").says(error) == "no: use --method mcmc and --thin 2"
    assert shell("describe").says(error) == "no"


def test_arguments_are_named_as_options(files):
    done = CliRunner().invoke(app, ["mixture", str(files / "pairs.csv"), "--groups", "0"])
    assert str(done.exception).startswith("n_groups must be at least 1")
    assert shell("mixture").says(done.exception) == "--groups must be at least 1; got [0]"
    again = pickle.loads(pickle.dumps(done.exception))
    assert shell("mixture").says(again) == "--groups must be at least 1; got [0]"
    done = CliRunner().invoke(app, ["posterior", str(files / "pairs.csv"), "--draws", "0"])
    assert shell("posterior").says(done.exception) == "--draws must be at least 1; got 0"


def test_messages_speak_of_other_commands():
    remedies = [instead("read_scores", command="leaderboard", better="higher"), instead("fit")]
    said = shell("fit").says(InputError("these are scores", remedies))
    assert said == "these are scores: use tierwise leaderboard FILE --better higher"


def test_values_are_words_of_the_shell():
    remedies = [use(items=["green tea", "milk"]), use(rename={"a b": "c"}), use(sheet='"$x')]
    said = shell("fit").says(InputError("no", remedies))
    expected = """use --items "green tea,milk" or --rename "a b=c" or --sheet '"$x'"""
    assert said == f"no: {expected}"
