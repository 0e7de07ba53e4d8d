"""``tierwise mixture`` as people run it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import tierwise as tw
from tests.mixture.simulated import from_groups
from tierwise.cli.main import app
from tierwise.errors import InputError


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    groups = [([["a"], ["b", "c"], ["d"]], 2.0), ([["d"], ["c", "b"], ["a"]], 2.0)]
    rankings, belongs = from_groups(groups, (60, 30), seed=1)
    tw.write_rankings(rankings, folder / "answers.csv")
    lines = np.where(belongs == 0, "north", "south")
    (folder / "regions.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "answers.csv", folder / "regions.txt"


def run(*arguments):
    result = CliRunner().invoke(app, ["mixture", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_tables_for_people(files):
    answers, regions = files
    text = run(answers, "--groups", "1-2", "--covariate", regions, "--seed", 1).stdout
    assert "90 rankings of 4 items in 2 groups" in text
    assert "a > b ~ c > d" in text
    assert "held-out" in text
    assert "north" in text


def test_json_for_programs(files):
    answers, regions = files
    arguments = ("--groups", "2", "--sizes", "1,2,1", "--noise", "uniform", "--starts", 5)
    text = run(answers, *arguments, "--covariate", regions, "--seed", 1, "--json").stdout
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
    assert "held-out" not in run(few, *words).stdout
    with pytest.raises(InputError, match="3 rankings are too few to hold out 5 parts"):
        run(few, *words, "--criterion", "held-out")


def test_bad_input_is_named(files):
    answers, _ = files
    with pytest.raises(InputError, match="groups 'two' are not numbers"):
        run(answers, "--groups", "two")
    with pytest.raises(InputError, match="cannot read"):
        run(answers, "--groups", "1", "--covariate", "nowhere.txt")
