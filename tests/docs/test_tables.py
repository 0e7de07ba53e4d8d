"""Tables of the documentation say what is so."""

import json
import re
from pathlib import Path

import pytest
import typer

import tierwise as tw
from tierwise import plots
from tierwise.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
TASKS = (ROOT / "docs" / "howto" / "index.md").read_text(encoding="utf-8")
SIMULATED = json.loads((ROOT / "studies" / "results" / "false-tiers.json").read_text("utf-8"))
METHODS = {"to_dict": tw.Fit, "to_frame": tw.Leaderboard}


def rows_of(page, n_columns):
    rows = re.findall(r"^\| (.*) \|$", page, re.MULTILINE)
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    return [row for row in cells if len(row) == n_columns and not row[0].startswith(("-", "how"))]


def test_questions_say_how_many_rankings_simulations_needed():
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    rows = rows_of(page, 6)[1:]
    assert len(rows) == 12
    for items, theta, ahead, *shares in rows:
        numbers = [int(number) for number in re.findall(r"\d+", items)]
        n_items, sizes = numbers[0], tuple(numbers[1:])
        for n_rankings, share in zip((20, 100, 1000), shares, strict=True):
            found = SIMULATED["results"][f"{n_items} items, {n_rankings} rankings, tiers {theta}"]
            assert share == f"{found['ordered rightly'][1]:.0%}"
            assert found["ordered wrongly"][1] < 0.01
        tiers = tw.Tiers.from_sizes(sizes, range(n_items))
        model = tw.ClusteredMallows(tiers, float(theta), distance="inversions")
        assert ahead == f"{model.pair_probabilities()[0, 1]:.0%}"


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
