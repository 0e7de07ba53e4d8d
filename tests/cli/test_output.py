"""Files that commands write, in the form that their ending names; tables that fit the terminal."""

import csv
import json
import re
from io import BytesIO
from random import Random

import pytest
from typer.testing import CliRunner

import tierwise as tw
from tests.unrendered import no_forecasts, unrendered_figures
from tierwise._util.columns import display_width
from tierwise._util.tables import TABLE_ENDINGS
from tierwise.cli.main import app
from tierwise.errors import InputError

LONG = "a model with a very long name, of a family with many members, version"


@pytest.fixture(scope="module")
def goals(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "goals.csv"
    tw.write_rankings(tw.load_political_goals(), path)
    return path


@pytest.fixture(scope="module")
def battles(tmp_path_factory):
    rows = ["model_a,model_b,winner"]
    for number in range(120):
        first, second = number % 4, (number // 4 + 1 + number) % 4
        if first != second:
            best = min(first, second) if number % 5 else max(first, second)
            rows.append(f'"{LONG} {first}","{LONG} {second}","{LONG} {best}"')
    path = tmp_path_factory.mktemp("files") / "battles.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def run(*words, columns=80):
    result = CliRunner(env={"COLUMNS": str(columns)}).invoke(app, list(map(str, words)))
    assert result.exit_code == 0, (result.output, result.exception)
    return result


@pytest.mark.parametrize("ending", TABLE_ENDINGS)
def test_the_ending_says_how_a_result_is_written(goals, ending, tmp_path):
    out = tmp_path / f"fit{ending}"
    result = run("fit", goals, "--sizes", "2,2", "-o", out)
    assert result.stdout == ""
    assert f"Wrote {out}." in result.stderr
    content = out.read_bytes()
    if ending == ".xlsx":
        calamine = pytest.importorskip("python_calamine")
        sheet = calamine.CalamineWorkbook.from_filelike(BytesIO(content)).get_sheet_by_index(0)
        assert sheet.to_python()[1] == ["order", 1.0]
        return
    text = content.decode()
    assert "speech" in text
    assert "Fit(" not in text
    if ending == ".html":
        assert text.startswith("<!doctype html>")
        assert "<pre>2,262 rankings of 4 items" in text
    if ending == ".md":
        assert text.startswith("# 2,262 rankings")
        assert "- **1**: order, prices" in text
    if ending == ".csv":
        assert list(csv.reader(text.splitlines()))[1] == ["order", "1"]
    if ending == ".json":
        assert json.loads(text)["sizes"] == [2, 2]
    if ending == ".tex":
        assert r"\toprule" in text
    if ending == ".txt":
        assert text.startswith("2,262 rankings of 4 items")


@pytest.mark.parametrize("ending", [".md", ".csv", ".html"])
def test_descriptions_are_written_likewise(goals, ending, tmp_path):
    out = tmp_path / f"described{ending}"
    run("describe", goals, "-o", out)
    text = out.read_text(encoding="utf-8")
    if ending == ".csv":
        rows = list(csv.DictReader(text.splitlines()))
        assert [row["item"] for row in rows] == ["prices", "order", "say", "speech"]
        assert rows[0]["listed_by"] == "2262"
    else:
        assert "2,262 rankings of 4 items" in text


COMMANDS = ["describe", "fit", "search", "posterior", "mixture", "groups", "leaderboard", "sample"]


@pytest.mark.parametrize("command", [*COMMANDS, "report"])
def test_an_ending_that_is_not_possible_is_refused_before_the_file_is_read(command, tmp_path):
    more = ["--by", "age"] if command == "groups" else []
    words = [command, "there is no such file.csv", "-o", str(tmp_path / "out.docx"), *more]
    refused = CliRunner().invoke(app, words)
    assert isinstance(refused.exception, InputError)
    assert re.match(r"out\.docx does not end in \.\w+.*: give it", str(refused.exception))


@pytest.mark.parametrize("option", ["--figure", "--tier-list", "--page"])
def test_figures_are_refused_before_the_file_is_read(option, tmp_path):
    words = ["leaderboard", "there is no such file.csv", option, str(tmp_path / "out.docx")]
    refused = CliRunner().invoke(app, words)
    assert "out.docx does not end in" in str(refused.exception)
    nowhere = CliRunner().invoke(app, [*words[:3], str(tmp_path / "nowhere" / "x.html")])
    assert "x.html does not end" in str(nowhere.exception) or "does not exist" in str(
        nowhere.exception
    )


def test_a_leaderboard_is_written_with_figures(battles, tmp_path):
    words = ["--seed", 1, "--quiet", "-o", tmp_path / "board.html"]
    figures = ["--figure", tmp_path / "ranks.pdf", "--tier-list", tmp_path / "tiers.pdf"]
    with unrendered_figures(), no_forecasts():
        result = run("leaderboard", battles, *words, *figures, "--tier-signs", "letters")
    assert result.output == ""
    page = (tmp_path / "board.html").read_text(encoding="utf-8")
    assert "<title>battles: leaderboard of 4 items</title>" in page
    for figure in ("ranks.pdf", "tiers.pdf"):
        assert (tmp_path / figure).read_bytes().startswith(b"%PDF")


@pytest.mark.thorough
def test_no_row_is_wider_than_the_terminal(battles):
    board = run("leaderboard", battles, "--seed", 1)
    others = (["leaderboard", "--family", "luce"], ["fit"], ["search"])
    printed = [board.stdout, *(run(*words, battles, "--seed", 1).stdout for words in others)]
    assert max(map(display_width, "\n".join(printed).splitlines())) <= 80
    head, *rows = board.stdout.splitlines()[:5]
    assert head.split()[:2] == ["no.", "tier"]
    assert "Left out to fit the width" in board.stdout
    # Names that are cut still differ.
    names = [re.match(r"\s*\d+\s+\d+\s+(.*?)\s{2,}", row)[1] for row in rows]
    assert len(set(names)) == 4
    assert "Battles(" not in board.stderr
    assert re.match(r"Read \d+ battles of 4 items, from battles\.csv\.", board.stderr)


LONG = [f"meta-llama/Meta-Llama-3-8B-Instruct-fine-tuned-version-{number}" for number in range(4)]


@pytest.fixture
def with_long_names(tmp_path):
    """Rankings by two groups, and scores, of items whose long names differ at the end only."""
    rng = Random(1)
    orders = [rng.sample(range(4), 4) if rng.random() < 0.5 else [0, 1, 2, 3] for _ in range(24)]
    ranks = [[order.index(item) + 1 for item in range(4)] for order in orders]
    tables = {
        "ranks.csv": [["part", *LONG], *([f"p{n % 2}", *row] for n, row in enumerate(ranks))],
        "scores.csv": [
            ["dataset", *LONG],
            *([f"d{n}", *(90.5 - 3 * rank for rank in row)] for n, row in enumerate(ranks)),
        ],
    }
    for name, rows in tables.items():
        lines = [",".join(map(str, row)) for row in rows]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("describe", []),
        ("fit", []),
        ("search", []),
        ("posterior", ["--draws", "100", "--family", "mallows"]),
        pytest.param("posterior", ["--family", "luce", "--seconds", "0"], marks=pytest.mark.slow),
        ("leaderboard", []),
        ("compare", []),
        ("mixture", ["--groups", "2"]),
        pytest.param("groups", ["--by", "part"], marks=pytest.mark.slow),
        pytest.param("next", [], marks=pytest.mark.slow),
        pytest.param("enough", [], marks=pytest.mark.slow),
    ],
)
@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")
def test_tables_with_long_names_fit_80_columns(with_long_names, command, options):
    file = with_long_names / ("scores.csv" if command == "compare" else "ranks.csv")
    seed = [] if command == "describe" else ["--seed", "1"]
    result = run(command, file, *options, *seed)
    lines = result.stdout.splitlines()
    assert max(map(display_width, lines)) <= 80
    # Names that are cut can still be distinguished, and no row goes on in the next line.
    cut = {word.strip(",.") for line in lines for word in line.split() if "…" in word}
    assert len({word[-1] for word in cut}) == len(cut)
    assert not [line for line in lines if re.fullmatch(r"\s*[\d.:%]*[\d%]", line)]
    # Nothing of Python is printed.
    assert not re.search(r"\b(tw|tierwise)\.\w|\w\(\)|(?<![\w-])[a-z_]+=\S", result.stdout)
    assert not re.search(r"(?<![\w-])[a-z_]+=\S", result.stderr)


@pytest.mark.slow
def test_a_plan_fits_80_columns():
    lines = run("plan", "--sizes", "1,2", "--theta", "0.7", "--seed", "1").stdout.splitlines()
    assert max(map(display_width, lines)) <= 80


def test_json_is_written_under_any_name(goals, tmp_path):
    out = tmp_path / "fit.result"
    run("fit", goals, "--sizes", "2,2", "-o", out, "--json")
    assert json.loads(out.read_text(encoding="utf-8"))["sizes"] == [2, 2]


def test_rankings_that_are_drawn_are_written_as_json(goals, tmp_path):
    out = tmp_path / "drawn.json"
    result = run("sample", goals, "--sizes", "2,2", "-n", 3, "--seed", 1, "-o", out)
    assert f"Wrote {out}." in result.stderr
    assert len(json.loads(out.read_text(encoding="utf-8"))["rankings"]) == 3
