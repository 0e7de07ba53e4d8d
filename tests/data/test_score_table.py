"""Which way round tables of scores are, which columns are not scores, and what they are not."""

from io import StringIO
from itertools import product

import pandas as pd
import pytest
from typer.testing import CliRunner

import tierwise as tw
from tierwise.cli.main import app, shell
from tierwise.data.score_table import is_property
from tierwise.errors import InputError
from tierwise.web.choices import asked_by

BOARD = (
    "Model,Organization,Params (B),MMLU,GSM8K,HellaSwag,Latency (s),Average\n"
    "alpha,A,7,60.1,40.2,80.3,0.5,60.2\n"
    "beta,B,70,70.5,60.1,85.2,1.9,71.9\n"
    "gamma,C,13,65.0,45.0,94.0,0.7,68.0\n"
)
ORDERINGS = [["beta", "gamma", "alpha"], ["beta", "gamma", "alpha"], ["gamma", "beta", "alpha"]]


def turned(text, corner="Task"):
    """Return the same table with rows as columns."""
    frame = pd.read_csv(StringIO(text)).drop(columns="Organization").set_index("Model").T
    return frame.rename_axis(corner).reset_index().to_csv(index=False)


def read(text, **options):
    return tw.read_scores(StringIO(text), "higher", **options)


def run(path, *words):
    done = CliRunner().invoke(app, [str(word) for word in (words[0], path, *words[1:])])
    if isinstance(done.exception, InputError):
        return shell(words[0]).says(done.exception)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def board(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(BOARD, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", [BOARD, turned(BOARD)], ids=["rows", "columns"])
def test_models_are_the_items_whichever_way_round(text):
    found = read(text)
    assert found.items == ("alpha", "beta", "gamma")
    assert found.to_orderings() == ORDERINGS
    aside = " ".join(found.reading.set_aside())
    for name in ("Params (B)", "Latency (s)", "Average"):
        assert name in aside
    assert tw.read(StringIO(text), better="higher") == found


def made(side, corner, tasks, extra, mark, gap):
    """Return a table of which the truth is known, and the rankings it holds."""
    models = ("alpha", "beta", "gamma")
    scores = {
        task: {model: (5 * row + 3 * column) % 7 + 0.5 for row, model in enumerate(models)}
        for column, task in enumerate(tasks)
    }
    if gap:
        del scores[tasks[0]]["beta"]
    truth = [sorted(of, key=of.get, reverse=True) for of in scores.values()]
    if extra:
        scores[extra] = dict(zip(models, (7, 70, 13), strict=True))
    frame = pd.DataFrame(scores, index=models)
    frame = (frame if side == "rows" else frame.T).rename_axis(corner).reset_index()
    return frame.to_csv(index=False, sep=mark), truth


@pytest.mark.parametrize("marks", [",", pytest.param(";\t", marks=pytest.mark.slow)])
def test_no_table_made_by_rule_is_read_wrongly(marks):
    corners = {"rows": ("Model", "System name", "LLM"), "columns": ("Task", "benchmark", "judge")}
    count = {"read": 0, "asked": 0}
    for side, own in corners.items():
        for corner, tasks, extra, mark, gap in product(
            (*own, "name", "thing"),
            (("MMLU", "GSM8K", "BBH"), ("sort", "search", "plan")),
            ("", "Params (B)", "Latency (s)", "Release year", "Average"),
            marks,
            (False, True),
        ):
            text, truth = made(side, corner, tasks, extra, mark, gap)
            try:
                found = read(text)
            except InputError as error:
                count["asked"] += "in rows" in error.problem
            else:
                count["read"] += found.to_orderings() == truth
    assert count == {"read": 184 * len(marks), "asked": 16 * len(marks)}


def test_commands_about_answers_ask_too_where_rows_may_be_items(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(made("rows", "thing", ("sort", "plan"), "", ",", gap=False)[0], "utf-8")
    asked = run(path, "fit", "--better", "higher")
    assert "use --items-in rows if each row is an item, or --items-in columns if each" in asked
    rows = run(path, "describe", "--better", "higher", "--items-in", "rows")
    assert "Read 2 tasks about 3 items" in rows
    columns = run(path, "describe", "--better", "higher", "--items-in", "columns")
    assert "Read 3 answers about 2 items" in columns
    for corner in ("name", "ResponseId", "Timestamp", "Respondent"):
        text = made("rows", corner, ("sort", "plan"), "", ",", gap=False)[0]
        assert tw.read(StringIO(text), better="higher").items == ("sort", "plan")


def test_frames_are_read_the_same_way():
    assert tw.read_scores(pd.read_csv(StringIO(BOARD)), "higher") == read(BOARD)


def test_lower_is_better_in_some():
    found = read(BOARD, lower="Latency (s)")
    assert found.to_orderings() == [*ORDERINGS, ["alpha", "gamma", "beta"]]
    assert read(turned(BOARD), lower=["Latency (s)"]) == found
    assert tw.read(StringIO(BOARD), lower="Latency (s)") == found
    with pytest.raises(InputError, match="no task 'Speed': the tasks are 'Params"):
        read(BOARD, lower="Speed")


def test_errors_may_be_better_when_lower():
    text = BOARD.replace("GSM8K", "Word error")
    with pytest.raises(InputError, match="lower numbers may be better in 'Word error'") as refused:
        read(text)
    lower, higher = refused.value.remedies
    assert read(text, **dict(lower.settings)).to_orderings()[1] == ["alpha", "gamma", "beta"]
    assert read(text, **dict(higher.settings)).to_orderings() == ORDERINGS
    assert tw.read_scores(StringIO(text), "lower").to_orderings()[1] == ["alpha", "gamma", "beta"]


def test_tasks_and_items_can_be_named():
    assert read(BOARD, tasks="MMLU,Average").to_orderings() == [ORDERINGS[0]] * 2
    assert read(BOARD, items="gamma,alpha", items_in="rows").items == ("gamma", "alpha")
    with pytest.raises(InputError, match="there is no item 'delta' in the rows"):
        read(BOARD, items="delta,alpha", items_in="rows")
    columns = read(BOARD, items_in="columns", items="MMLU,GSM8K")
    assert columns.items == ("MMLU", "GSM8K")
    assert read(BOARD, item="Organization").items == ("A", "B", "C")


def test_what_nothing_tells_is_asked():
    text = "thing,one,two\nx,1.5,2\ny,3,4\n"
    asked = r"in rows \('x', 'y'\) or in columns \('one', 'two'\): use items_in=\"rows\" if"
    with pytest.raises(InputError, match=asked) as refused:
        read(text)
    assert read(text, items_in="rows").items == ("x", "y")
    assert read(text, items_in="columns").items == ("one", "two")
    (question,) = asked_by(refused.value.remedies)
    assert [value for value, _ in question.answers] == ["rows", "columns"]
    # Models are named in rows, but a size is something that an item has.
    with pytest.raises(InputError, match=r"in rows .* or in columns"):
        read("Model,x,y\nParams (B),1,2\nMMLU,3,4\n")
    assert read("x,y\n1,2\n3,4\n").items == ("x", "y")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Model,MMLU,BBH\nx,1,2\nx,3,4\n", r"line 3: item 'x' has a second row \(the first is .*2"),
        ("Model,MMLU,BBH\nx,1,2\n,3,4\n", "line 3: the item has no name: fill in the cell"),
        ("Model,MMLU,BBH\nx,1,2\ny,3,good\nz,1,2\n", "line 3: the score of 'BBH' is 'good'"),
    ],
)
def test_wrong_rows_are_named(text, message):
    with pytest.raises(InputError, match=message):
        read(text)


def test_read_rankings_does_not_take_tasks_for_items():
    with pytest.raises(InputError, match="each row seems to be an item") as refused:
        tw.read_rankings(StringIO(BOARD), better="higher")
    assert 'use read_scores(..., better="higher") to read it that way' in str(refused.value)
    survey = "name,tea,milk\nAnn,5,4\nBob,3,4\nEve,2,5\n"
    assert tw.read_rankings(StringIO(survey), better="higher").items == ("tea", "milk")
    assert tw.read(StringIO(survey), better="higher").items == ("tea", "milk")


def test_properties_are_told_by_all_of_their_words():
    for title in ("Params (B)", "Latency (s)", "Price per 1M tokens", "Release date", "Cost ($)"):
        assert is_property(title), title
    for title in ("Date understanding", "Time series", "MMLU", "Math", "Code", ""):
        assert not is_property(title), title


def test_the_shell_ranks_models_and_says_what_was_set_aside(board):
    shown = run(board, "leaderboard", "--better", "higher", "--seed", 1)
    assert "'Params (B)', 'Latency (s)'" in shown
    assert "HellaSwag" not in shown
    for command in (("describe",), ("fit", "--sizes", "2,1")):
        read_as = run(board, *command, "--better", "higher", "--lower", "Latency (s)")
        assert "Read 4 tasks about 3 items" in read_as
    other = run(board, "describe", "--better", "higher", "--items-in", "rows", "--tasks", "MMLU")
    assert "Read 1 task about 3 items" in other


def test_commands_recognise_what_is_not_theirs(board, tmp_path):
    asked = run(board, "leaderboard")
    assert "table.csv: each row is an item ('alpha', 'beta', 'gamma'), and 'MMLU'" in asked
    assert (
        "hold numbers that look like scores, not ranks: use --better higher if higher scores"
        in asked
    )
    battles = tmp_path / "battles.csv"
    battles.write_text("model_a,model_b,winner\nx,y,model_a\ny,z,tie\n", encoding="utf-8")
    refused = run(battles, "mixture")
    assert "these are battles, but tierwise mixture takes rankings or preferences" in refused
    assert "tierwise leaderboard FILE for tiers and rank intervals" in refused
    assert "2 battles of 3 items" in run(battles, "fit", "--sizes", "1,2", "--quiet")
    scored = run(battles, "leaderboard", "--better", "higher")
    assert "the columns look like battles, not scores: use tierwise leaderboard" in scored
    for text in ("tea,milk,rum\n1,2,3\n2,1,3\n3,1,2\n", "place 1,place 2\na,b\nb,a\n"):
        battles.write_text(text, encoding="utf-8")
        output = run(battles, "leaderboard")
        assert output.startswith("Read ")
    battles.write_text("task,model,score\none,x,1\none,y,2\n", encoding="utf-8")
    assert "look like scores, with one row per task and item" in run(battles, "leaderboard")
    assert "look like scores, with one row per task and item: use --better" in run(battles, "fit")


def test_readers_name_each_other():
    with pytest.raises(InputError, match=r'like scores .* use read_scores\(..., better="higher"\)'):
        tw.read_battles(StringIO(BOARD))
    with pytest.raises(InputError, match="like rankings: use read_rankings"):
        tw.read_battles(StringIO("place 1,place 2\na,b\nb,a\n"))
    with pytest.raises(InputError, match="look like battles, not scores: use read_battles"):
        read("model_a,model_b,winner\nx,y,model_a\n")
    with pytest.raises(InputError, match="no columns of battles were found"):
        tw.read_battles(StringIO("this,that\nx,y\n"))
