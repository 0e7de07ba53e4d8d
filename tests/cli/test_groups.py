"""tierwise groups and tierwise mixture, as people run them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import tierwise as tw
from tests.mixture.simulated import from_groups
from tests.unrendered import no_forecasts, unrendered_figures
from tierwise.cli.main import app
from tierwise.errors import InputError


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """Old people have other tiers; regions do not matter; schools are where people were asked."""
    one = tw.ClusteredMallows(tw.Tiers([["tea"], ["milk"], ["juice"]]), 1.5, "inversions")
    other = tw.ClusteredMallows(tw.Tiers([["juice"], ["milk"], ["tea"]]), 1.5, "inversions")
    items = ["tea", "milk", "juice"]
    ranks = np.concatenate(
        [model.sample(40, rng=1).restrict(items).ranks() for model in (one, other)]
    )
    lines = ["tea,milk,juice,Age,Region,School"]
    for row, own in enumerate(ranks.astype(int).tolist()):
        age = 20 + row % 30 + (30 if row >= 40 else 0)
        lines.append(",".join(map(str, [*own, age, "NS"[row % 2], f"school {row % 7}"])))
    file = tmp_path_factory.mktemp("survey") / "survey.csv"
    file.write_text("\n".join(lines))
    return file


@pytest.mark.thorough
def test_groups(survey, tmp_path):
    figure = tmp_path / "tree.svg"
    shown = run("groups", survey, "--by", "Age,Region", "--seed", 1, "--figure", figure)
    assert "Do groups differ?" in shown.stdout
    assert "By Age: very strong evidence that groups differ" in shown.stdout
    assert "└─ Age 50 or more" in shown.stdout
    assert figure.read_text().startswith("<?xml")
    plain = json.loads(run("groups", survey, "--by", "Age", "--seed", 1, "--json").stdout)
    assert plain["comparison"]["columns"][0]["preferred"] == "own"
    assert plain["tree"]["n_leaves"] == 2
    with pytest.raises(
        InputError, match="no column 'Sex' for by: the columns about people are 'Age', 'Region'"
    ):
        run("groups", survey, "--by", "Sex")


def test_clusters_and_mixtures(survey):
    words = ("--sizes", "1,1,1", "--seed", 1, "--quiet")
    shown = run("fit", survey, *words, "--bootstrap", 10, "--cluster", "School").stdout
    assert "drawing 7 clusters by 'School'" in shown
    with pytest.raises(InputError, match="use bootstrap=500"):
        run("fit", survey, *words, "--cluster", "School")
    words = ("--groups", 2, "--sizes", "1,1,1", "--seed", 1, "--quiet")
    assert (
        "Share of each group, by value" in run("mixture", survey, *words, "--by", "Region").stdout
    )


@pytest.mark.thorough
def test_the_page_says_how_the_file_was_read_and_whether_people_differ(survey, tmp_path):
    page = tmp_path / "page.html"
    words = ("--sizes", "1,1,1", "--replicates", 10, "--seed", 1, "--quiet", "-o", page)
    with unrendered_figures(), no_forecasts():
        run("report", survey, *words, "--by", "Age,Region", "--cluster", "School")
    text = page.read_text(encoding="utf-8")
    assert "Read from survey.csv: 80 rows." in text
    assert "hold text, not ranks: they were set aside." in text
    assert "Do people differ?" in text
    assert "Age 50 or more" in text
    assert "drawing 7 clusters by" in text


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    groups = [([["a"], ["b", "c"], ["d"]], 2.0), ([["d"], ["c", "b"], ["a"]], 2.0)]
    rankings, belongs = from_groups(groups, (60, 30), seed=1)
    tw.write_rankings(rankings, folder / "answers.csv")
    lines = np.where(belongs == 0, "north", "south")
    (folder / "regions.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "answers.csv", folder / "regions.txt"


def mixture(*arguments):
    return run("mixture", *arguments)


def test_tables_for_people(files):
    answers, regions = files
    text = mixture(answers, "--groups", "1-2", "--covariate", regions, "--seed", 1).stdout
    assert "90 rankings of 4 items in 2 groups" in text
    assert "a > b ~ c > d" in text
    assert "held-out" in text
    assert "north" in text


def test_json_for_programs(files):
    answers, regions = files
    arguments = ("--groups", "2", "--sizes", "1,2,1", "--noise", "uniform", "--starts", 5)
    text = mixture(answers, *arguments, "--covariate", regions, "--seed", 1, "--json").stdout
    found = json.loads(text)
    assert [group["kind"] for group in found["groups"]] == ["tiers", "tiers", "uniform"]
    assert found["covariate"]["value"] == ["north", "south"]
    assert found["n_runs"] == 1
    rankings = tw.read_rankings(answers)
    expected = tw.fit_mixture(rankings, 2, (1, 2, 1), noise="uniform", starts=5, rng=1)
    assert found["log_likelihood"] == expected.log_likelihood


def test_few_rankings_are_compared_without_holding_any_out(tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("first,second,third\na,b,c\nc,b,a\na,c,b\n", encoding="utf-8")
    words = ("--groups", "1-2", "--seed", 1, "--starts", 5)
    assert "held-out" not in mixture(few, *words).stdout
    with pytest.raises(InputError, match="3 rankings are too few for 5 folds"):
        mixture(few, *words, "--criterion", "held-out")


def test_bad_input_is_named(files):
    answers, _ = files
    with pytest.raises(InputError, match="groups 'two' are not numbers"):
        mixture(answers, "--groups", "two")
    with pytest.raises(InputError, match="cannot read"):
        mixture(answers, "--groups", "1", "--covariate", "nowhere.txt")


@pytest.mark.thorough
def test_columns_that_are_used_are_not_said_to_be_set_aside(survey):
    said = run("groups", survey, "--by", "Age,Region", "--permutations", 0, "--seed", 1).stderr
    assert "'School'" in said
    assert "'Region'" not in said
    assert "'Age'" not in said
