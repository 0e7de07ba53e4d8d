"""``tierwise compare`` from the shell's side."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from tierwise.cli.main import app


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    scores = np.random.default_rng(1).normal([0.9, 0.89, 0.6], 0.03, (15, 3)).round(4)
    lines = ["dataset,forest,boosting,stump"]
    lines += [f"set {number},{','.join(map(str, row))}" for number, row in enumerate(scores)]
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def run(*arguments):
    words = ["compare", *map(str, arguments), "--seed", "1", "--workers", "1"]
    return CliRunner().invoke(app, words, catch_exceptions=False)


def test_people_get_tiers_and_what_tests_say(table):
    result = run(table)
    assert result.exit_code == 0
    assert "stump" in result.stdout
    assert "Nemenyi's test" in result.stdout
    assert "Read 15 data sets about 3 methods." in result.stderr


def test_programs_get_json(table):
    found = json.loads(run(table, "--json", "--rope", "0.02").stdout)
    assert found["tiers"][-1] == ["stump"]
    assert found["rope"] == 0.02
    assert found["board"]["rows"][0]["rank_set_low"] == 1


def test_tables_figures_and_the_paragraph_are_written(table, tmp_path):
    figure, latex = tmp_path / "methods.pdf", tmp_path / "methods.tex"
    result = run(table, "--figure", figure, "-o", latex)
    assert result.exit_code == 0
    assert figure.read_bytes().startswith(b"%PDF")
    assert r"\toprule" in latex.read_text(encoding="utf-8")
    assert "We compared 3 methods on 15 data sets." in run(table, "--paragraph").stdout


def test_options_of_reading_reach_the_reader(table):
    lower = json.loads(run(table, "--better", "lower", "--json").stdout)
    assert lower["tiers"][0] == ["stump"]
    two = json.loads(run(table, "--items", "forest,stump", "--json").stdout)
    assert two["methods"] == ["forest", "stump"]
    assert two["friedman"] is None
