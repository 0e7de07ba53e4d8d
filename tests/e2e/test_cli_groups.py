"""``tierwise groups``, and what other commands know of people."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import tierwise as tw
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
        InputError, match="no column 'Sex' for by=: what is known is 'Age', 'Region'"
    ):
        run("groups", survey, "--by", "Sex")


def test_clusters_and_mixtures(survey):
    words = ("--sizes", "1,1,1", "--seed", 1, "--quiet")
    shown = run("fit", survey, *words, "--bootstrap", 10, "--cluster", "School").stdout
    assert "drawing 7 clusters by 'School'" in shown
    with pytest.raises(InputError, match="--bootstrap"):
        run("fit", survey, *words, "--cluster", "School")
    words = ("--groups", 2, "--sizes", "1,1,1", "--seed", 1, "--quiet")
    assert (
        "Share of each group, by value" in run("mixture", survey, *words, "--by", "Region").stdout
    )


def test_the_page_says_how_the_file_was_read_and_whether_people_differ(survey, tmp_path):
    page = tmp_path / "page.html"
    words = ("--sizes", "1,1,1", "--replicates", 10, "--seed", 1, "--quiet", "-o", page)
    run("report", survey, *words, "--by", "Age,Region", "--cluster", "School")
    text = page.read_text(encoding="utf-8")
    assert "Read from survey.csv: 80 rows." in text
    assert "Columns set aside (holds text, no ranks)" in text
    assert "Do people differ?" in text
    assert "Age 50 or more" in text
    assert "drawing 7 clusters by" in text
