"""Weights of a survey on the command line: asked about, said, and taken as they are said."""

import json

import numpy as np
import pytest

from tests.cli.test_fit import run


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(3)
    rows = [
        ",".join([*map(str, rng.permutation(5) + 1), str(weight)])
        for weight in rng.integers(1200, 2300, 60)
    ]
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(["a,b,c,d,e,weight", *rows]))
    return path


def test_the_shell_asks_and_takes_what_is_said(file):
    asked = run("search", file, expected=2).stderr
    assert "--weights-are counts" in asked
    assert "--weights-are survey" in asked
    shown = run("search", file, "--weights-are", "survey").stdout
    assert "60 rankings with survey weights" in shown
    found = json.loads(run("search", file, "--weights-are", "survey", "--json").stdout)
    assert found["best"]["n_rankings"] < 60
    assert len(found["best"]["tiers"]) == 1
