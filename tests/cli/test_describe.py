"""The installed program, as people and programs run it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.program import run_program
from tests.data_paths import shared_data
from tierwise import Rankings, __version__, describe, write_rankings
from tierwise.cli.main import main

ANSWERS = Rankings.from_orderings(
    [["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]], weights=[5, 3, 1]
)


def tierwise(*arguments, stdin=b"", columns=80):
    program = Path(sys.executable).with_name("tierwise")
    environment = os.environ | {"COLUMNS": str(columns), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [program, *(str(argument) for argument in arguments)],
        input=stdin,
        capture_output=True,
        env=environment,
        check=False,
        timeout=120,
    )


@pytest.fixture
def answers_file(tmp_path):
    write_rankings(ANSWERS, tmp_path / "answers.csv")
    return tmp_path / "answers.csv"


def test_version():
    result = tierwise("--version")
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.decode() == f"tierwise {__version__}\n"


@pytest.mark.thorough
def test_tables_for_people(answers_file):
    result = tierwise("describe", answers_file)
    assert result.returncode == 0
    assert result.stderr == b"Read 9 answers in 3 rows about 3 items from answers.csv.\n"
    assert run_program("describe", answers_file, "--quiet").stderr == ""
    text = result.stdout.decode()
    for words in (
        "How answers.csv was read",
        "Format: CSV, text in UTF-8, comma-separated.",
        "3 columns read: 'place 1', 'place 2', 'place 3'.",
        "Answer 1: a first, then b, c.",
        "9 rankings of 3 items",
        "3 of them are distinct",
        "mean rank",
        "Closest to even",
    ):
        assert words in text
    assert "1.33" in text
    assert "0.667" in text


def test_json_for_programs(answers_file):
    result = run_program("describe", answers_file, "--json")
    assert result.stderr == ""
    described = json.loads(result.stdout)
    assert described.pop("reading")["layout"] == "orderings"
    expected = describe(ANSWERS).to_dict()
    assert expected.pop("reading") is None
    assert described == expected


@pytest.mark.thorough
def test_standard_input(answers_file):
    piped = tierwise("describe", "-", "--json", stdin=answers_file.read_bytes())
    of_file = run_program("describe", answers_file, "--json").output
    assert piped.stdout == of_file.replace(b"answers.csv", b"standard input")
    broken = tierwise("describe", "-", stdin=b"a,b\n1,x\n")
    assert broken.returncode == 2
    assert broken.stderr.decode().startswith(
        "tierwise: standard input, line 2: the rank of item 'b'"
    )
    nothing = run_program("describe", "-")
    assert (nothing.returncode, nothing.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("choice", [(), ("--json",)])
def test_output_to_a_file(answers_file, tmp_path, choice):
    out = tmp_path / "described.txt"
    result = run_program("describe", answers_file, "-o", out, *choice)
    said = b"" if choice else b"Read 9 answers in 3 rows about 3 items from answers.csv.\n"
    where = f"Wrote {out}.\n".encode()
    assert (result.returncode, result.output, result.messages) == (0, b"", said + where)
    assert "a" in out.read_text(encoding="utf-8")
    nowhere = run_program("describe", answers_file, "-o", tmp_path / "nowhere" / "x.txt", *choice)
    assert nowhere.returncode == 2
    # The folder is looked for before the file is read.
    assert nowhere.stderr.count("\n") == 1


def test_options_reach_the_reader(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("1;2;3;votes\n2;3;;4\n2;2;1;1\n")
    result = run_program(
        *("describe", path, "--format", "csv", "--layout", "ranks", "--unranked", "below"),
        *("--ties", "allow", "--weights", "votes", "--json"),
    )
    found = json.loads(result.stdout)
    assert found["items"] == ["1", "2", "3"]
    assert (found["n_rankings"], found["n_with_ties"], found["unranked"]) == (5, 1, None)


@pytest.mark.parametrize(
    ("n_items", "columns"),
    [(2, 60), (2, 80), (9, 200), (10, 60), (25, 60), (25, 80), (120, 80), (120, 200)],
)
def test_tables_fit_the_terminal(tmp_path, monkeypatch, capsys, n_items, columns):
    items = [f"Candidate number {item:03} [b]寿" for item in range(n_items)]
    write_rankings(Rankings.from_orderings([items, items[::-1], items]), tmp_path / "x.csv")
    monkeypatch.setenv("COLUMNS", str(columns))

    def described(*choices):
        monkeypatch.setattr(
            sys, "argv", ["tierwise", "describe", str(tmp_path / "x.csv"), *choices]
        )
        with pytest.raises(SystemExit, match="0"):
            main()
        return capsys.readouterr()

    printed = described()
    lines = printed.out.splitlines()
    assert max(cell_len(line) for line in lines) <= columns
    matrix = [line for line in lines if "·" in line]
    # Names are cut so that they still differ.
    numbers = {re.search(r"Candidate n\S*?(?: \S*?)?(\d{3}) \[b\]", line)[1] for line in matrix}
    assert len(numbers) == len(matrix)
    assert (len(matrix) < n_items) == ("--json to see all" in printed.err)
    assert len(matrix) == n_items or n_items > 5
    assert described("--quiet").err == ""


def test_names_are_printed_as_they_are(tmp_path):
    names = ["[bold]x[/bold]", ":sushi:", "100%"]
    write_rankings(Rankings.from_orderings([names]), tmp_path / "x.csv")
    text = run_program("describe", tmp_path / "x.csv").stdout
    assert all(name in text for name in names)


def test_help_and_completion():
    assert b"describe" in tierwise("--help").stdout
    assert "--unranked" in run_program("describe", "--help", columns=100).stdout
    assert "--show-completion" in run_program("--help").stdout
    assert run_program("describe", "x.csv", "--unranked", "sideways").returncode == 2


def test_tohoku(tmp_path):
    from tierwise import load_sushi

    write_rankings(load_sushi(shared_data("sushi"), region="Tohoku"), tmp_path / "tohoku.parquet")
    found = json.loads(run_program("describe", tmp_path / "tohoku.parquet", "--json").stdout)
    assert found["n_rankings"] == 280
    closest = found["closest_pairs"][0]
    assert {closest["above"], closest["below"]} == {"tuna roll", "squid"}
    assert closest["share"] == pytest.approx(0.51, abs=0.005)
