"""Tables of the documentation say what is so."""

import json
import re
from pathlib import Path

import pytest
import typer
from studies.power import HEADER, cells_of, model_of

import tierwise as tw
from tierwise import plots
from tierwise.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
TASKS = (ROOT / "docs" / "howto" / "index.md").read_text(encoding="utf-8")
PLANNED = json.loads((ROOT / "studies" / "results" / "power.json").read_text("utf-8"))
METHODS = {"to_dict": tw.Fit, "to_frame": tw.Leaderboard}


def rows_of(page, n_columns):
    rows = re.findall(r"^\| (.*) \|$", page, re.MULTILINE)
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    return [row for row in cells if len(row) == n_columns and not row[0].startswith(("-", "how"))]


def test_questions_say_how_many_rankings_plans_need():
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    header, *rows = rows_of(page, 7)
    assert header == HEADER
    assert rows == [cells_of(row) for row in PLANNED["results"]["rows"]]
    for row in PLANNED["results"]["rows"]:
        model = model_of(tuple(row["sizes"]), row["theta"])
        assert row["ahead"] == pytest.approx(model.pair_probabilities()[0, 1])
        assert max(row["wrong"]) < 0.05


@pytest.mark.parametrize("row", rows_of(TASKS, 4), ids=lambda row: row[0])
def test_tasks_name_functions_and_options_that_exist(row):
    _, functions, commands, page = row
    for name in re.findall(r"`([a-zA-Z_.]+)(?:\([a-z_]+=[^`]*\))?`", functions):
        first, _, method = name.partition(".")
        if first == "plots":
            assert callable(getattr(plots, method))
        elif first in METHODS:
            assert hasattr(METHODS[first], first)
        else:
            assert hasattr(getattr(tw, first), method) if method else hasattr(tw, first)
    program = typer.main.get_command(app)
    options = {
        option
        for command in program.commands.values()
        for parameter in command.params
        for option in parameter.opts
    }
    for words in re.findall(r"`([^`]+)`", commands):
        assert set(re.findall(r"--[a-z-]+", words)) <= options
        if words.startswith("tierwise"):
            assert words.split()[1] in program.commands
    (target,) = re.findall(r"\]\(([^)]+)\)", page)
    assert (ROOT / "docs" / "howto" / target).is_file()
