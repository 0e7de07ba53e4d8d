"""Files as people have them, through the shell and the page: nothing is misread silently."""

import html
import json
import re
import shlex
from dataclasses import asdict, dataclass
from random import Random

import pytest
from typer.testing import CliRunner

from tests.unrendered import no_forecasts, unrendered_figures
from tierwise.cli.main import app, shell
from tierwise.errors import TierwiseError

pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("multipart", reason="needs python-multipart")

from tierwise.web import choices, tasks
from tierwise.web.app import Pages
from tierwise.web.jobs import Upload
from tierwise.web.security import Limits, Settings

LEADERBOARD = (
    "Model,Params (B),Latency (s),Released,MMLU,HellaSwag,Error\n"
    "alpha,7,0.8,2024-01,60.1,94.0,3.1\nbeta,70,2.1,2024-03,70.5,96.0,2.0\n"
    "gamma,13,1.1,2023-11,65.0,93.5,2.6\n"
)
CODES = "Tee;Kaffee;Milch\n5;4;99\n4;5;3\n3;4;5\n99;2;4\n5;3;4\n5;k.A.;4\n4;2;3\n"
BALLOTS = (
    "id,rank1,rank2,rank3,rank4\n1,Adams,Wiley,skipped,Garcia\n2,Wiley,overvote,Adams,\n"
    "3,Garcia,Garcia,Yang,undervote\n4,Yang,Adams,Wiley,Garcia\n5,skipped,skipped,skipped,skipped\n"
)
WEIGHTS = (
    "Status,Gew_Bund,alter,Tee,Kaffee,Milch\nIP Address,0.71,34,1,2,3\n"
    "Survey Preview,1.00,20,3,2,1\nIP Address,1.42,61,2,1,3\nIP Address,0.95,45,1,3,2\n"
)
NAMES = (
    "model_a,model_b,winner\nclaude-3.5,gpt-4,model_a\nclaude-3-5,gpt 4,model_b\n"
    "GPT-4,llama,tie\nllama,claude-3.5,model_b\n"
)
PREFLIB = (
    "# FILE NAME: x.soc\n# TITLE: x\n# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 2\n"
    "# NUMBER VOTERS: 3\n# NUMBER UNIQUE ORDERS: 2\n# ALTERNATIVE NAME 1: ZoÃ« O\xe2\x80\x99Neil\n"
    "# ALTERNATIVE NAME 2: Bob\x96Smith\n2: 1,2\n1: 2,1\n"
)
TWICE = "place 1,place 2,place 3\na,b,c\nb,b,a\nc,a,b\na,c,b\n"
COMMAS = "Wiley, Maya first, then Yang, Andrew\nYang, Andrew first, then Wiley, Maya\n"
TASTES = "tea,coffee,milk\n5,4,{0}\n4,5,3\n3,4,5\n{0},2,4\n5,3,4\n"
GRADES = "id,Hades,Doom,Myst\np1,S,A,B\np2,A,S,B\np3,S,B,B\n"


@dataclass(frozen=True)
class Case:
    """A file, what is said of it, and what is said once people answer.

    Attributes
    ----------
    name, text
        The file.
    said
        What both doors say at first; None if all is understood.
    options, fields
        What is answered in the shell, and on the page.
    read
        What both doors say then.
    command
        The command of the shell.
    """

    name: str
    text: str
    said: str | None
    options: tuple[str, ...]
    fields: dict[str, str]
    read: tuple[str, ...]
    command: str = "describe"


CASES = [
    Case(
        "leaderboard.csv",
        LEADERBOARD,
        "each row is an item ('alpha', 'beta', 'gamma'), and 'MMLU', 'HellaSwag', 'Error' hold "
        "numbers that look like scores, not ranks",
        ("--better", "higher", "--lower", "Error"),
        {"better": "higher", "lower": "Error"},
        (
            "3 rankings of 3 items",
            "Answer 1: beta first, then gamma, alpha.",
            "hold a property of the items, not scores: they were set aside.",
        ),
    ),
    Case(
        "codes.csv",
        CODES,
        "column 'Tee' holds 99 as well as numbers from 2 to 5",
        ("--better", "higher", "--missing", "99", "--unranked", "anywhere"),
        {"better": "higher", "missing": "99", "unranked": "anywhere"},
        (
            "7 rankings of 3 items",
            "3 cells say '99' or 'k.A.' and are read as empty",
            "Answer 1: Tee first, then Kaffee; Milch not listed.",
        ),
    ),
    *(
        Case(
            "tastes.csv",
            TASTES.format(code),
            f"column 'tea' holds {code} as well as numbers from 2 to 5",
            ("--better", "higher", "--missing", code, "--unranked", "anywhere"),
            {"better": "higher", "missing": code, "unranked": "anywhere"},
            (f"2 cells say '{code}' and are read as empty", "5 rankings of 3 items"),
        )
        for code in ("999", "-1", "0")
    ),
    Case(
        "unsure.csv",
        "Tee;Kaffee;Milch\n5;4;weiß nicht\n4;5;3\n3;4;5\nN/A;2;4\n5;3;4\n",
        "hold numbers from 2 to 5, which look like scores, not ranks",
        ("--better", "higher", "--unranked", "anywhere"),
        {"better": "higher", "unranked": "anywhere"},
        ("2 cells say", "'weiß nicht'", "read as empty", "5 rankings of 3 items"),
    ),
    Case(
        "written in.csv",
        "rank1,rank2,rank3\nAdams,Wiley,write-in\nWiley,exhausted,exhausted\nGarcia,Adams,blank\n"
        "Adams,Garcia,Wiley\n",
        "line 2 lists 2 of 3 items (not 'Garcia')",
        ("--unranked", "below"),
        {"unranked": "below"},
        ("4 rankings of 3 items", "3 ballots hold"),
    ),
    Case(
        "ballots.csv",
        BALLOTS,
        "line 2 lists 3 of 4 items (not 'Yang')",
        ("--unranked", "below"),
        {"unranked": "below"},
        (
            "4 rankings of 4 items",
            "3 ballots hold 'skipped' or 'undervote', which is skipped",
            "1 ballot holds an overvote, which ends the ballot",
            "1 answer names an item twice; it counts where it is named first",
            "1 row lists no item and is set aside (line 6)",
            "Answer 2: Wiley first; Adams, Garcia, Yang not listed.",
        ),
    ),
    Case(
        "weights.csv",
        WEIGHTS,
        None,
        (),
        {},
        (
            "3 rankings of 3 items",
            "1 row is a preview or test of the survey, not answers: left out.",
            "Column 'Gew_Bund' seems to hold weights. They are not used, so every answer counts",
        ),
    ),
    Case(
        "weights.csv",
        WEIGHTS,
        None,
        ("--weights", "Gew_Bund", "--weights-are", "survey"),
        {"weights": "Gew_Bund", "weights_are": "survey"},
        ("3.08 rankings of 3 items",),
    ),
    Case(
        "Gewicht.csv",
        "Gewicht,Tee,Kaffee,Milch\n0.71,1,2,3\n1.42,2,1,3\n0.95,1,3,2\n",
        None,
        (),
        {},
        ("Column 'Gewicht' seems to hold weights. They are not used",),
    ),
    Case(
        "status.csv",
        "StartDate,EndDate,Status,Tee,Kaffee,Milch\n2024-01-02,2024-01-02,0,1,2,3\n"
        "2024-01-02,2024-01-02,1,3,2,1\n2024-01-03,2024-01-03,0,2,1,3\n"
        "2024-01-04,2024-01-04,0,1,3,2\n",
        None,
        (),
        {},
        ("3 rankings of 3 items", "1 row is a preview or test of the survey, not answers"),
    ),
    Case(
        "codes of status.csv",
        "Status,Tee,Kaffee,Milch\n0,1,2,3\n1,3,2,1\n0,2,1,3\n0,1,3,2\n",
        None,
        (),
        {},
        (
            "4 rankings of 3 items",
            "with which survey programs mark previews and tests. All rows are read as answers",
        ),
    ),
    Case(
        "names.csv",
        NAMES,
        "names differ only in case, spaces or punctuation: 'claude-3-5' (names.csv, line 3) and "
        "'claude-3.5' (names.csv, line 2); 'gpt-4' (names.csv, line 2) and 'GPT-4' (names.csv, "
        "line 4); 'gpt 4'",
        ("--rename", "claude-3-5=claude-3.5", "--rename", "gpt-4=GPT-4", "--rename", "gpt 4=GPT-4"),
        {},
        (),
    ),
    Case(
        "names.soc",
        PREFLIB,
        None,
        (),
        {},
        (
            "3 rankings of 2 items",
            "are read as 'Zoë O\N{RIGHT SINGLE QUOTATION MARK}Neil', 'Bob\\x96Smith'.",
            "Answer 1: Zoë O\N{RIGHT SINGLE QUOTATION MARK}Neil first, then Bob\\x96Smith.",
        ),
    ),
    Case(
        "twice.csv",
        TWICE,
        "line 3: item 'b' is listed twice",
        ("--broken", "skip"),
        {"broken": "skip"},
        ("3 rankings of 3 items", "1 row is not valid and is set aside (line 3)"),
    ),
    Case(
        "grades.csv",
        GRADES,
        "columns 'Hades', 'Doom', 'Myst' hold what look like grades ('S', 'A', 'B')",
        ("--order", "S,A,B"),
        {"order": "S,A,B"},
        ("3 rankings of 3 items", "Grades, best first: S, A, B."),
    ),
    *(
        Case(
            "words.csv",
            f"id,tea,milk\n1,{words[0]},{words[1]}\n2,{words[1]},{words[0]}\n",
            "columns 'tea', 'milk' hold what look like grades",
            ("--order", ",".join(words)),
            {"order": ",".join(words)},
            ("2 rankings of 2 items", "Answer 1: tea first, then milk."),
        )
        for words in (("A+", "F"), ("strongly agree", "neutral"), ("★★★★★", "★"))
    ),
    Case(
        "tiers.txt",
        "S: Elden Ring, Hades\nA: Doom\nB: Myst\n",
        None,
        (),
        {},
        ("1 ranking of 4 items", "Elden Ring and Hades (tied) first, then Doom"),
    ),
    Case(
        "pasted.txt",
        "Anna: Sushi > Pizza > Tacos\nBen: Pizza > Sushi > Tacos\n",
        None,
        (),
        {},
        ("2 rankings of 3 items", "Answer 1: Sushi first, then Pizza, Tacos."),
    ),
    Case(
        "sentences.csv",
        '"Wiley, Maya","Yang, Andrew","Adams, Eric"\n1,2,3\n2,1,3\n',
        None,
        (),
        {},
        ("2 rankings of 3 items", 'Answer 1: "Wiley, Maya" first, then "Yang, Andrew", "Adams'),
    ),
    Case(
        "said.txt",
        COMMAS,
        None,
        (),
        {},
        ("2 rankings of 2 items", 'Answer 1: "Wiley, Maya" first, then "Yang, Andrew".'),
    ),
    Case(
        "turned.csv",
        ",0,1,2\nTee,1,2,1\nKaffee,2,1,3\nMilch,3,3,2\n",
        None,
        (),
        {},
        ("3 rankings of 3 items", "Answer 2: Kaffee first, then Tee, Milch."),
    ),
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return Pages(Settings(folder=tmp_path_factory.mktemp("kept")))


def in_shell(command, file, *options):
    result = CliRunner().invoke(app, [command, str(file), *options])
    if isinstance(result.exception, TierwiseError):
        return shell(command).says(result.exception)
    assert result.exit_code == 0, result.exception
    return " ".join((result.stderr + result.stdout).split())


def on_page(pages, file, fields):
    reading = choices.parse_reading(fields)
    limits = asdict(Limits())
    task = {"upload": str(file), "name": file.name, "reading": reading, "limits": limits}
    seen = json.loads(json.dumps(tasks.understand(task, lambda *_: None)))
    page = pages.page_of_reading(Upload("0", file.name, 0.0), fields, seen).body.decode()
    return page, " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def written(case, folder):
    file = folder / case.name
    file.write_text(case.text, encoding="utf-8")
    return file


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name} {' '.join(case.options)}")
def test_both_doors_ask_and_say_what_they_read(case, pages, tmp_path):
    file = written(case, tmp_path)
    if case.said is not None:
        assert case.said in in_shell(case.command, file)
        assert case.said in on_page(pages, file, {})[1]
    message = in_shell(case.command, file, *case.options)
    page = on_page(pages, file, case.fields)[1] if case.read else ""
    for one in case.read:
        assert one in message
        assert one in page
    for said in (message, page):
        assert not re.search(r"(?<![\w-])[a-z_]+=(?!=)(?!GPT|claude)", said), said


def test_names_that_differ_by_punctuation_are_joined_in_the_shell(tmp_path):
    case = next(one for one in CASES if one.name == "names.csv")
    file = written(case, tmp_path)
    assert "4 battles of 3 items" in in_shell("describe", file, *case.options)
    kept = in_shell("describe", file, "--spellings", "keep")
    assert "4 battles of 6 items" in kept


def test_names_that_differ_by_punctuation_are_joined_on_the_page(pages, tmp_path):
    file = tmp_path / "names.csv"
    file.write_text(NAMES, encoding="utf-8")
    page, message = on_page(pages, file, {})
    assert (
        "These names mean the same: claude-3-5 and claude-3.5; gpt-4, gpt 4 and GPT-4 Every "
        "name is a separate item" in message
    )
    answers = [html.unescape(one) for one in re.findall(r'name="answer" value="([^"]*)"', page)]
    assert "4 battles of 3 items" in on_page(pages, file, {"answer": answers[0]})[1]
    assert "4 battles of 6 items" in on_page(pages, file, {"answer": answers[1]})[1]
    reading = choices.reading_options(choices.parse_reading({"answer": answers[0]}), ())
    assert reading["rename"]["gpt 4"] == "GPT-4"
    assert "--rename 'gpt 4=GPT-4'" in choices.in_shell("names.csv", reading, [], {})


def test_a_table_of_scores_is_recognised_by_every_command(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text(LEADERBOARD, encoding="utf-8")
    for command in ("fit", "search", "posterior", "report", "leaderboard", "describe"):
        message = in_shell(command, file)
        assert (
            "look like scores, not ranks: use --better higher if higher scores are better"
            in message
        )


MORE = {
    **dict.fromkeys(("describe", "fit", "search", "posterior", "sample", "report", "mixture"), ()),
    **dict.fromkeys(("leaderboard", "next", "enough"), ()),
    "groups": ("--by", "id"),
}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task,x,y\na,60.5,71.5\nb,80.25,90.5\nc,44.5,50.5\n", "--better higher if 90.5 is best"),
        ("task,model,score\na,x,1\na,y,2\n", "--better higher if higher scores are better"),
        (GRADES, "--order S,A,B if these are grades, best first"),
        ("a,b,c\n1,2,\n2,1,3\n", "--unranked below if"),
    ],
)
def test_every_command_names_the_option_that_a_table_needs(text, message, tmp_path):
    file = tmp_path / "table.csv"
    file.write_text(text, encoding="utf-8")
    for command, options in MORE.items():
        assert message in in_shell(command, file, *options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GRADES, "--order S,A,B if these are grades, best first"),
        ("a,b,c\n1,2,3\n2,1,3\n", "ranks from 1 to 3, not scores: use --better lower if 1 is best"),
        ("model_a,model_b,winner\nx,y,x\ny,z,z\n", "battles, not scores: use tierwise leader"),
        ("winner,loser\nx,y\ny,z\n", "battles, not scores: use tierwise leaderboard FILE"),
        ("place 1,place 2\nx,y\ny,x\n", "like rankings: use tierwise leaderboard FILE"),
        (COMMAS, "holds rankings: use tierwise fit FILE"),
    ],
)
def test_a_comparison_says_what_a_table_holds_if_not_scores(text, message, tmp_path):
    file = tmp_path / "table.csv"
    file.write_text(text, encoding="utf-8")
    assert message in in_shell("compare", file)


def test_grades_are_compared(tmp_path):
    file = tmp_path / "grades.csv"
    file.write_text(GRADES, encoding="utf-8")
    message = in_shell("compare", file, "--order", "S,A,B", "--seed", "1")
    assert "Read 3 data sets about 3 methods. Grades, best first: S, A, B." in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Wiley, Maya first, then Yang, Andrew\n", "'Yang, Andrew' may be one item or several"),
        ("Tea first, then milk, water\n", "'milk, water' may be one item or several"),
        ("ranking\n" + "".join(f'"{line}"\n' for line in COMMAS.splitlines()), "are sentences"),
        (
            "Wiley, Maya,Yang, Andrew\nYang, Andrew,Wiley, Maya\n",
            "as in 'Wiley, Maya', so a comma may be part of a name",
        ),
        (
            'who,ranking\n1,"Wiley, Maya, Yang, Andrew"\n2,"Yang, Andrew, Wiley, Maya"\n',
            "as in 'Wiley, Maya', so a comma may be part of a name",
        ),
    ],
)
def test_names_with_commas_are_asked_about_where_nothing_tells(text, message, pages, tmp_path):
    file = tmp_path / "said.txt"
    file.write_text(text, encoding="utf-8")
    assert message in in_shell("describe", file)
    assert message in on_page(pages, file, {})[1]


def test_names_with_commas_are_told_the_shell_as_it_says(tmp_path):
    file = tmp_path / "names.csv"
    file.write_text('"Wiley, Maya","Yang, Andrew","Adams, Eric"\n1,2,3\n2,1,3\n', encoding="utf-8")
    message = in_shell("describe", file)
    options = shlex.split(re.search(r"use (--items .*) if it is not an item", message)[1])
    assert "2 rankings of 2 items" in in_shell("describe", file, *options)


def test_battles_are_recognised_on_the_page(pages, tmp_path):
    file = tmp_path / "battles.csv"
    file.write_text("model_a,model_b,winner\nx,y,x\ny,z,z\n", encoding="utf-8")
    assert "2 battles of 3 items" in on_page(pages, file, {})[1]


def test_a_report_of_battles_is_written_in_the_shell_as_the_page_says(tmp_path):
    file, page = tmp_path / "battles.csv", tmp_path / "page.html"
    file.write_text("model_a,model_b,winner\n" + "x,y,x\ny,z,y\nx,z,x\n" * 9, encoding="utf-8")
    words = shlex.split(choices.in_shell(str(file), {}, [], {"rng": 1}))
    assert words[:2] == ["tierwise", "report"]
    with unrendered_figures(), no_forecasts():
        message = in_shell("report", file, *words[3:-1], str(page))
    assert "Read 27 battles of 3 items" in message
    assert "x > y > z" in message
    assert "<title>battles: leaderboard of 3 items</title>" in page.read_text(encoding="utf-8")
    refused = in_shell("report", file, "--groups", "2", "--sizes", "1,2")
    assert refused.endswith("leave out --sizes and --groups")
    with unrendered_figures(), no_forecasts():
        result = CliRunner().invoke(
            app, ["report", str(file), "-o", str(page), "--json", "--seed", "1"]
        )
    assert json.loads(result.stdout)["board"]["tiers"] == [["x"], ["y"], ["z"]]


def test_names_in_tables_of_scores_are_joined_as_in_battles(pages, tmp_path):
    file = tmp_path / "scores.csv"
    rows = "claude-3.5,60.5,\nclaude-3-5,,71.5\nx,50.5,50.5\n"
    file.write_text(f"Model,MMLU,ARC\n{rows}", encoding="utf-8")
    message = in_shell("leaderboard", file, "--better", "higher")
    assert (
        "use --rename claude-3-5=claude-3.5 if they are the same item, or --spellings keep"
        in message
    )
    options = ("--better", "higher", "--rename", "claude-3-5=claude-3.5")
    assert "2 rankings of 2 items" in in_shell("describe", file, *options)
    page, message = on_page(pages, file, {"better": "higher"})
    assert "These names mean the same: claude-3-5 and claude-3.5" in message
    answers = [html.unescape(one) for one in re.findall(r'name="answer" value="([^"]*)"', page)]
    joined, kept = (on_page(pages, file, {"better": "higher", "answer": one})[1] for one in answers)
    assert "2 rankings of 2 items" in joined
    assert "2 rankings of 3 items" in kept


def test_what_weights_say_is_asked_on_the_page(pages, tmp_path):
    rng = Random(3)
    rows = [[*rng.sample(range(1, 6), 5), rng.randint(1200, 2300)] for _ in range(60)]
    lines = ["a,b,c,d,e,weight", *(",".join(map(str, row)) for row in rows)]
    file = tmp_path / "survey.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    message = on_page(pages, file, {})[1]
    assert "What do the weights mean? How many people gave the answer in this row" in message
    assert "How much the person in this row counts: survey weights" in message
    for said in ("counts", "survey"):
        page, message = on_page(pages, file, {"weights_are": said})
        assert "Find the tiers" in message
        assert f'name="weights_are" value="{said}" checked' in page


def test_questions_that_are_known_from_the_start_come_together(pages, tmp_path):
    file = tmp_path / "gaps.csv"
    file.write_text("tea,coffee,milk\n5,4,99\n4,99,3\n3,3,5\n2,4,1\n", encoding="utf-8")
    page, message = on_page(pages, file, {})
    assert "Two questions first" in message
    assert page.count("<legend>") == 2
    assert "Which values stand for a missing answer? 99 None: these cells are answers" in message
    assert "Which are better?" in message
    # Whether somebody left an item out is not known before that.
    assert "If someone did not rank an item" not in message
    later = on_page(pages, file, {"missing": "99", "better": "higher"})[1]
    assert "If someone did not rank an item" in later


def test_one_of_several_questions_is_enough(pages, tmp_path):
    file = tmp_path / "errors.csv"
    file.write_text("Model,Error,MMLU\nx,1.5,2\ny,3,4\nz,2,9\n", encoding="utf-8")
    page, message = on_page(pages, file, {"better": "higher"})
    assert page.count('name="answer"') == 2
    assert "Which of these is right?" in message
    read = on_page(pages, file, {"better": "higher", "answer": "tasks:Error\nMMLU"})[1]
    assert "Answer 1: y first, then z, x." in read
    lower = on_page(pages, file, {"better": "higher", "answer": "lower:Error"})
    assert "Answer 1: x first, then z, y." in lower[1]
    assert 'name="lower" value="Error" checked' in lower[0]  # and is kept on the next page


def test_the_button_that_goes_on_is_the_primary_one(pages, tmp_path):
    file = tmp_path / "weights.csv"
    file.write_text(WEIGHTS, encoding="utf-8")
    page, message = on_page(pages, file, {})
    buttons = re.findall(r'<button type="submit"([^>]*)>([^<]+)</button>', page)
    assert [words for how, words in buttons if "quiet" not in how] == ["Find the tiers"]
    assert "Which column says how often each row counts? Gew_Bund None: every answer" in message
    # What is known of people can divide them.
    assert re.search(r'name="by-\d+" value="alter"', page)
    asked, _ = on_page(pages, file, {"layout": "long"})
    assert "Find the tiers" not in asked
