"""The way through as requests: a file, how it was read, a job, its result."""

import io
import os
import re
import shlex
import subprocess
import sys
import time
from html import unescape
from itertools import chain

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import tierwise as tw
from tests.unrendered import unrendered_figures
from tests.web.conftest import client_of, tasks_in_this_process
from tests.workbooks import sheet_of, workbook
from tierwise.errors import behind_in_words
from tierwise.web import choices
from tierwise.web.security import Limits, Settings

GRID = "name;tea;coffee;milk;cocoa\nAnn;1;2;3;4\nBob;2;1;;\nEve;1;3;2;\nDan;2;1;4;3\n"


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return Settings(folder=tmp_path_factory.mktemp("kept"))


@pytest.fixture(scope="module")
def client(settings):
    with tasks_in_this_process(settings, "understand", "judge"), client_of(settings) as started:
        yield started


def give(client, content, name="survey.csv"):
    content = content if isinstance(content, bytes) else content.encode()
    answer = client.post("/data", files={"file": (name, content)})
    assert answer.status_code == 303
    return answer.headers["location"]


def words(page):
    text = re.sub(r"<[^>]+>", " ", page.text)
    return " ".join(text.replace("&#39;", "'").replace("&#34;", '"').split())


def wait(client, job, *, seconds=280):
    end = time.monotonic() + seconds
    while "hx-refresh" not in client.get(f"{job}/progress").headers:
        assert time.monotonic() < end
        time.sleep(0.1)
    return client.get(job)


def test_blanks_in_a_grid_of_ranks_are_asked_about(client):
    here = give(client, "\ufeff" + GRID)
    asked = words(client.get(here))
    assert "One question first" in asked
    assert "line 3 lists 2 of 4 items (not 'milk'), and the data do not say what" in asked
    assert "did they" not in asked
    assert "unranked=" not in asked
    read = words(client.get(f"{here}?unranked=below"))
    assert "4 rankings of 4 items" in read
    assert "semicolon-separated" in read
    assert "Column 'name' says whose answer it is: it was set aside." in read
    assert "Find the tiers" in read


def test_scores_with_decimal_commas_are_asked_about(client):
    here = give(client, "thé;café;lait\n3,5;1,25;2,75\n4,5;2,5;1\n".encode("latin-1"))
    asked = words(client.get(here))
    assert "look like scores" in asked
    assert "café" in asked
    read = words(client.get(f"{here}?better=higher"))
    assert "Answer 1: thé first" in read


def test_models_in_rows_are_the_items(client):
    table = "Model,Params (B),MMLU,GSM8K\nalpha,7,60.1,40.2\nbeta,70,70.5,60.1\ngamma,13,65,45\n"
    here = give(client, table)
    asked = words(client.get(here))
    assert "look like scores" in asked
    assert "better=" not in asked
    read = words(client.get(f"{here}?better=higher"))
    assert "2 rankings of 3 items" in read
    assert "Answer 1: beta first, then gamma, alpha." in read
    assert "Column 'Params (B)' holds a property of the items, not scores" in read
    fewer = words(client.get(f"{here}?better=higher&role-3=aside"))
    assert "1 ranking of 3 items" in fewer
    turned = words(client.get(f"{here}?better=higher&items_in=columns&role-2=items&role-3=items"))
    assert "3 rankings of 2 items" in turned


def test_questions_about_columns_are_answered_with_a_choice(client):
    table = "Model,Error,MMLU\nx,1.5,2\ny,3,4\nz,2,9\n"
    here = give(client, table)
    asked = words(client.get(f"{here}?better=higher"))
    assert "lower numbers may be better in 'Error'" in asked
    assert "Lower numbers are better in Error" in asked
    assert "Higher numbers are better in all of Error and MMLU" in asked
    read = words(client.get(f"{here}?better=higher&lower=Error"))
    assert "Answer 1: x first, then z, y." in read
    both = words(client.get(f"{here}?better=higher&tasks=Error%0AMMLU"))
    assert "Answer 1: y first, then z, x." in both


def test_ties_contradictions_and_empty_rows_are_asked_about(client):
    tied = give(client, "tea,coffee,milk\n1,1,2\n2,1,3\n3,1,2\n")
    assert "items 'tea' and 'coffee' both have rank 1: correct the row." in words(client.get(tied))
    assert "3 rankings of 3 items" in words(client.get(f"{tied}?ties=allow"))
    cycle = give(client, "voter,winner,loser\nA,tea,milk\nA,milk,tea\nB,tea,milk\n")
    assert "contradict themselves" in words(client.get(cycle))
    assert "about pairs of 2 items" in words(client.get(f"{cycle}?cycles=keep"))
    empty = give(client, "tea,coffee,milk\n1,2,3\n,,\n2,1,3\n")
    assert "Some rows rank nothing" in words(client.get(empty))
    assert "2 rankings of 3 items" in words(client.get(f"{empty}?empty=skip"))


def test_broken_answers_may_be_left_out(client):
    here = give(client, "place 1,place 2,place 3\na,b,c\nb,b,a\nc,a,b\na,c,b\n")
    page = words(client.get(here))
    assert "line 3: item 'b' is listed twice" in page
    assert "Some answers are not valid. Leave them out?" in page
    page = words(client.get(here, params={"broken": "skip"}))
    assert "3 rankings of 3 items" in page
    assert "1 row is not valid and is set aside (line 3)" in page


def test_codes_for_missing_answers_are_asked_about(client):
    here = give(client, "a,b,c\n1,2,3\n2,99,1\n3,1,2\n1,99,2\n")
    page = words(client.get(here))
    assert "column 'b' holds 99 as well as numbers from 1 to 3" in page
    assert "Which values stand for a missing answer?" in page
    page = words(client.get(here, params={"missing": "99", "unranked": "anywhere"}))
    assert "4 rankings of 3 items" in page
    assert "2 cells say '99' and are read as empty" in page


def test_wrong_files_are_told_apart(client):
    for content in (b"hello, this is no table", b"%PDF-1.4\n\x00\x01", b"PK\x03\x04rubbish", b" "):
        page = client.get(give(client, content, "letter.pdf"))
        assert page.status_code == 200
        assert "This file cannot be read yet" in words(page)
        assert "Find the tiers" not in words(page)
    wrong = words(client.get(give(client, "tea,coffee,milk\n1,2,x\n2,1,3\n")))
    assert "survey.csv, line 2: the rank of item 'milk' is 'x', which is not a number" in wrong


def test_where_a_file_is_no_table_another_is_offered_at_once(client):
    page = client.get(give(client, b"\xff\xd8\xff\xe0\x00\x10JFIF", "photo.jpg"))
    assert "Reading photo.jpg" in words(page)
    assert "photo.jpg is a picture, not a table" in words(page)
    assert page.text.count("Use another file") == 1
    assert page.text.index("Use another file") < page.text.index("Is something wrong?")
    page = client.get(give(client, GRID))
    assert page.text.index("Use another file") > page.text.index("Is something wrong?")


def test_columns_are_assigned_by_hand(client):
    here = give(client, "who,age,tea,coffee,milk\nAnn,3,1,2,3\nBob,2,3,2,1\nEve,1,2,1,3\n")
    roles = "&".join(f"role-{column}=items" for column in (2, 3, 4))
    read = words(client.get(f"{here}?{roles}&role-0=assessor"))
    assert "3 rankings of 3 items" in read
    fewer = words(client.get(f"{here}?role-1=aside"))
    assert "3 rankings of 3 items" in fewer
    places = give(client, "place 1,place 2,place 3\na,b,c\nb,a,c\n")
    assert "delete the column in the file" in words(client.get(f"{places}?role-2=aside"))
    twice = words(client.get(f"{here}?role-1=weights&role-2=weights"))
    assert "have the same role" in twice


def test_the_same_is_said_in_python_and_in_the_shell():
    reading = choices.reading_options(
        {"unranked": "below", "roles": {"0": "assessor", "2": "items", "3": "items"}},
        ("who", "age", "tea", "it's"),
    )
    assert reading == {"unranked": "below", "assessor": ["who"], "items": ["tea", "it's"]}
    wishes = choices.parse_wishes({"sizes": "1,1", "seed": "3"})
    lines = choices.in_python("a b.csv", reading, ["it's"], wishes)
    compile(lines, "lines", "exec")
    assert "tw.read('a b.csv', unranked='below'" in lines
    assert 'tw.report(answers, "report.html", sizes=[1, 1], rng=3)' in lines
    assert """left_out = ["it's"]""" in lines
    command = choices.in_shell("-a b.csv", reading, ["it's"], wishes)
    assert command.startswith("tierwise report './-a b.csv' --unranked below --assessor who")
    assert "--sizes 1,1 --seed 3" in command
    assert shlex.split(command)[-4:] == ["--without", "it's", "--out", "report.html"]


COMPLETE = "tea,coffee,milk,cocoa\n1,2,3,4\n2,1,4,3\n3,4,1,2\n1,4,2,3\n"


def test_items_of_complete_ranks_are_left_out(client):
    here = give(client, COMPLETE)
    assert "4 rankings of 4 items" in words(client.get(here))
    # A box that is ticked, and a column that is said to be not part of the answers.
    for query in ("without-1=on", "role-1=aside"):
        read = words(client.get(f"{here}?{query}"))
        assert "4 rankings of 3 items" in read
        assert "Answer 1: tea first, then milk, cocoa." in read
        assert "Answer 2: tea first, then cocoa, milk." in read
        assert "Left out of every answer: 'coffee'." in read
    assert "nothing to compare" in words(
        client.get(f"{here}?without-0=on&without-1=on&without-2=on")
    )
    places = give(client, "place 1,place 2,place 3\na,b,c\nb,a,c\n")
    assert "Answer 1: a first, then c." in words(client.get(f"{places}?without-1=on"))


@pytest.mark.slow
def test_a_result_without_an_item_is_that_of_the_python_lines_and_the_command(
    client, tmp_path, monkeypatch
):
    from tierwise.cli.main import app

    here = give(client, COMPLETE)
    started = client.post(f"{here}/jobs?without-1=on", data={"sizes": "1,2"})
    job = started.headers["location"]
    page = wait(client, job)
    theirs = client.get(f"{job}/files/result.json").json()["fit"]
    assert sorted(chain.from_iterable(theirs["tiers"])) == ["cocoa", "milk", "tea"]
    assert "without-1=on" in page.text  # the way back keeps it
    assert "behind (" in client.post(f"{job}/own", data={"tier": ["2", "1", "1"]}).text
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.csv").write_text(COMPLETE, encoding="utf-8")
    message = {}
    exec(code_of(page, "Lines of Python"), message)
    assert message["shown"].fit.to_dict()["criterion"] == theirs["criterion"]
    command = shlex.split(code_of(page, "Command"))
    assert CliRunner().invoke(app, command[1:]).exit_code == 0
    assert "milk" in (tmp_path / "report.html").read_text(encoding="utf-8")


def code_of(page, label):
    text = page.text.partition(f'aria-label="{label}">')[2].partition("</pre>")[0]
    return unescape(text)


TSV = "Name\tThé vert\tعصير\tחלב\nAnn\t1\t2\t3\nBob\t2\t1\t3\n"
SOC = (
    "# FILE NAME: drinks.soc\n# TITLE: Drinks\n# DATA TYPE: soc\n# NUMBER ALTERNATIVES: 3\n"
    "# NUMBER VOTERS: 5\n# NUMBER UNIQUE ORDERS: 2\n# ALTERNATIVE NAME 1: tea\n"
    "# ALTERNATIVE NAME 2: coffee\n# ALTERNATIVE NAME 3: milk\n3: 1,2,3\n2: 2,1,3\n"
)


def parquet():
    sink = io.BytesIO()
    pq.write_table(pa.table({"tea": [1, 2], "coffee": [2, 1], "milk": [3, 3]}), sink)
    return sink.getvalue()


def excel():
    rows = [["Survey of drinks, spring"], [], ["Name", "Tea", "Coffee", "شاي"]]
    return workbook(sheet_of([*rows, ["Ann", "1", "2", "3"], ["Bob", "2", "1", "3"]]))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("drinks.tsv", TSV, "2 rankings of 3 items"),
        ("drinks.tsv", TSV.encode("utf-16"), "Answer 1: Thé vert first, then عصير, חלב."),
        ("drinks.soc", SOC, "5 rankings of 3 items"),
        ("no ending", SOC, "5 rankings of 3 items"),
        ("drinks.parquet", parquet(), "2 rankings of 3 items"),
        ("drinks.xlsx", excel(), "Answer 1: Tea first, then Coffee, شاي."),
        ("drinks.blt", '2 1\n3 1 2 0\n1 2 1 0\n0\n"tea"\n"milk"\n"Drinks"\n', "4 rankings"),
    ],
)
def test_formats(client, name, content, message):
    assert message in words(client.get(give(client, content, name)))


@pytest.fixture(scope="module")
def finished(client):
    """The result of an example, from which several tests take something."""
    here = client.post("/data", data={"example": "goals"}).headers["location"]
    started = client.post(f"{here}/jobs", data={"title": "Goals <b>", "seed": "1"})
    assert started.status_code == 303
    page = wait(client, started.headers["location"])
    return started.headers["location"], page


def test_result_shows_the_tiers_and_gives_everything_away(client, finished):
    here, page = finished
    assert "Goals &lt;b&gt;" in page.text
    names = re.findall(r'class="name" dir="auto">(\w+)<', page.text)
    assert names[:4] == ["order", "prices", "say", "speech"]
    starts = {"report.html": b"<!DOCTYPE", "tiers.png": b"\x89PNG", "tiers.svg": b"<?xml"}
    for file, start in starts.items():
        answer = client.get(f"{here}/files/{file}")
        assert answer.content.lstrip().startswith(start)
        assert "attachment" in answer.headers["content-disposition"]
    table = client.get(f"{here}/files/tiers.csv").content.decode("utf-8-sig").splitlines()
    assert table[0] == "tier,item,probability"
    assert table[1].startswith("1,order,")
    # Downloads carry the name of the data, and lines can be copied.
    named = client.get(f"{here}/files/tiers.csv").headers["content-disposition"]
    assert 'filename="goals-tiers.csv"' in named
    assert page.text.count('class="quiet copy"') == 2
    assert ">Download</h2>" in page.text
    found = client.get(f"{here}/files/result.json").json()
    assert found["fit"]["tiers"] == [["order", "prices"], ["say"], ["speech"]]
    assert client.get(f"{here}/files/job.json").status_code == 404
    assert "There is no page at this address." in client.get("/no/such/page").text


def test_report_may_run_its_own_script_only(client, finished):
    policy = client.get(f"{finished[0]}/page").headers["content-security-policy"]
    assert "script-src 'sha256-" in policy
    assert "sandbox allow-scripts;" in policy
    assert "frame-ancestors 'self'" in policy


def test_own_tiers_are_behind_by_what_a_search_says(client, finished):
    here, _ = finished
    page = client.post(f"{here}/own", data={"tier": ["4", "7", "4", "7"]})
    found = tw.search(tw.load_political_goals())
    two_and_two = next(one for one in found.leaderboard if one.sizes == (2, 2))
    assert two_and_two.tiers == tw.Tiers([["order", "prices"], ["say", "speech"]])
    assert f"<strong>{behind_in_words(found.behind(two_and_two))}</strong>" in page.text
    same = client.post(f"{here}/own", data={"tier": ["1", "2", "1", "3"]})
    assert "This is the list that tierwise found" in same.text
    assert client.post(f"{here}/own", data={"tier": ["1", "2"]}).status_code == 400


def test_the_lines_of_python_give_the_same(client, finished, tmp_path, monkeypatch):
    here, page = finished
    monkeypatch.chdir(tmp_path)
    tw.write_rankings(tw.load_political_goals(), tmp_path / "goals.csv")
    message = {}
    with unrendered_figures():
        exec(code_of(page, "Lines of Python"), message)  # the page says that people may
    theirs = client.get(f"{here}/files/result.json").json()
    assert message["shown"].fit.to_dict()["criterion"] == theirs["fit"]["criterion"]
    assert message["shown"].fit.tiers.to_lists() == theirs["fit"]["tiers"]
    mine = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert mine.count("<figure>") == client.get(f"{here}/page").text.count("<figure>")


def test_results_are_found_again_in_a_folder(client, settings, finished):
    here, page = finished
    with client_of(Settings(folder=settings.folder)) as another:
        again = another.get(here)
        assert words(again) == words(page)
        assert here in another.get("/").text


def test_cancel_ends_a_job_at_once_and_others_wait(tmp_path):
    with client_of(Settings(folder=tmp_path, limits=Limits(jobs=1))) as client:
        here = client.post("/data", data={"example": "goals"}).headers["location"]
        first, second = (client.post(f"{here}/jobs", data={}).headers["location"] for _ in range(2))
        end = time.monotonic() + 60
        while "Waiting" in words(client.get(f"{first}/progress")) and time.monotonic() < end:
            time.sleep(0.05)
        assert "Waiting in the queue: next." in words(client.get(second))
        for job in (first, second):
            assert client.post(f"{job}/cancel").status_code == 303
            assert "This was cancelled" in words(client.get(job))
        assert client.post(f"{first}/delete").status_code == 303
        assert client.get(first).status_code == 404
        assert client.get(second).status_code == 200
        client.post(f"{second}/delete")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"job_seconds": 0.2}, "It took longer than 0 seconds and was stopped."),
        # Which of the two depends on what first asks for more memory than there is.
        ({"memory_bytes": 40 << 20}, "stopped without a result|There is not enough memory"),
    ],
)
def test_a_job_that_ends_early_says_so(tmp_path, limits, message):
    with client_of(Settings(folder=tmp_path, limits=Limits(**limits))) as client:
        here = client.post("/data", data={"text": "a,b\n1,2\n2,1\n"}).headers["location"]
        job = client.post(f"{here}/jobs", data={}).headers["location"]
        assert re.search(message, words(wait(client, job)))
        assert "failed" in client.get("/").text


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print('x' * (1 << 25))", "too long for this server to show"),
        ("print('this is no JSON')", "Something went wrong"),
        ("print('[]')", "Something went wrong"),
    ],
)
def test_whatever_a_child_says_the_job_ends(tmp_path, monkeypatch, code, message):
    program = tmp_path / "child"
    program.write_text(f"#!{sys.executable}\n{code}\n", encoding="utf-8")
    program.chmod(0o700)
    with client_of(Settings(folder=tmp_path)) as client:
        here = give(client, "a,b\n1,2\n2,1\n")
        monkeypatch.setattr(sys, "executable", str(program))
        job = client.post(f"{here}/jobs", data={}).headers["location"]
        assert message in words(wait(client, job, seconds=60))
        assert message in words(client.get(here)) or "Something went wrong" in words(
            client.get(here)
        )


def test_jobs_that_the_server_left_behind_say_so(tmp_path):
    settings = Settings(folder=tmp_path, limits=Limits(jobs=1))
    with client_of(settings) as client:
        here = client.post("/data", data={"text": "a,b\n1,2\n2,1\n"}).headers["location"]
        job = client.post(f"{here}/jobs", data={}).headers["location"]
        number = job.rpartition("/")[2]
        left = (tmp_path / number / "job.json").read_text(encoding="utf-8")
    (tmp_path / number / "job.json").write_text(left, encoding="utf-8")
    with client_of(settings) as client:
        assert "The server stopped while this was being computed" in words(client.get(job))


def test_everything_lies_below_a_base_path(tmp_path):
    settings = Settings(folder=tmp_path, base="/team/tiers")
    with client_of(settings) as client:
        page = client.get("/team/tiers/")
        for address in re.findall(r'(?:href|src|action)="(/[^"]*)"', page.text):
            assert address.startswith("/team/tiers/")
            if "static" in address:
                assert client.get(address).status_code == 200
        assert client.get("/").status_code == 403
        taken = client.post("/team/tiers/data", data={"text": "a,b\n1,2\n"})
        assert taken.headers["location"].startswith("/team/tiers/data/")
        assert client.get(taken.headers["location"]).status_code == 200


def test_without_the_extra_it_says_how_to_install_it(monkeypatch):
    from tierwise.cli import pages
    from tierwise.cli.main import app

    monkeypatch.setattr(pages, "find_spec", lambda name: None if name == "uvicorn" else 1)
    result = CliRunner().invoke(app, ["serve"])
    assert isinstance(result.exception, tw.InputError)
    assert 'uvicorn: install it with pip install "tierwise[web]"' in str(result.exception)


def test_closed_page_leads_back_to_where_one_wanted_to_go(tmp_path):
    settings = Settings(folder=tmp_path, base="/tiers")
    with client_of(settings, let_in=False) as stranger:
        page = stranger.get("/tiers/jobs/abc")
    assert page.status_code == 403
    assert 'href="/tiers/jobs/abc"' in page.text


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_files_are_cleared_away_when_the_server_is_told_to_end(tmp_path):
    program = "from tierwise.cli.main import main; main()"
    command = [sys.executable, "-c", program, "serve", "--no-browser", "--port", "0"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert "tierwise is at" in server.stdout.readline()
        assert list(tmp_path.glob("tierwise-*"))
        server.terminate()
        assert server.wait(60) == 0
    assert not list(tmp_path.glob("tierwise-*"))


BATTLES = "model_a,model_b,winner\n" + "".join(
    f"{one},{other},{winner}\n"
    for one, other, winner, times in (
        ("x", "y", "model_a", 9),
        ("y", "x", "model_b", 6),
        ("x", "y", "tie", 4),
        ("y", "z", "model_a", 7),
        ("z", "x", "model_b", 8),
        ("z", "y", "model_a", 3),
    )
    for _ in range(times)
)


def test_battles_are_taken_with_what_draws_and_the_first_place_mean(client, settings):
    here = give(client, BATTLES, "votes.csv")
    page = client.get(here)
    assert "37 battles of 3 items, 4 drawn: half to each side" in words(page)
    assert "How should battles without a winner count?" in words(page)
    assert "Could being shown first be an advantage?" in words(page)
    # What makes no sense for battles is not offered.
    assert 'name="sizes"' not in page.text
    assert 'name="distance"' not in page.text
    assert 'name="family"' in page.text
    dropped = client.get(here, params={"drawn": "drop"})
    assert "drawn: left out" in words(dropped)
    options = {"drawn": "model", "position": "model"}
    with tasks_in_this_process(settings, "analyse"), unrendered_figures():
        started = client.post(f"{here}/jobs", params=options, data={"seed": "1"})
        done = wait(client, started.headers["location"])
    assert "votes: leaderboard of 3 items" in words(done)
    assert "drawn='model'" in unescape(done.text)
    assert "--position model" in unescape(done.text)
    # Whether there are enough answers is said as in the report.
    said = [
        sentence
        for sentence in re.findall(r"<p>(.*?)</p>", done.text)
        if sentence.startswith(("Enough: ", "Not yet: ", "More answers ", "With about "))
    ]
    assert len(said) == 1
    assert f"<p>{said[0]}</p>" in client.get(f"{started.headers['location']}/page").text
    kept = client.get(f"{started.headers['location']}/files/result.json").json()
    assert [row["item"] for row in kept["rows"]] == ["x", "y", "z"]
    own = client.post(f"{started.headers['location']}/own", data={"tier": ["3", "2", "1"]})
    assert "behind (" in own.text


def test_battles_that_say_nothing_of_draws_or_order_are_not_asked_about(client):
    rows = "winner,loser,judge\n" + "x,y,1\ny,z,1\nx,z,2\nz,y,2\nx,y,3\n"
    page = client.get(give(client, rows, "won.csv"))
    assert "How should battles without a winner count?" not in words(page)
    assert "Could being shown first be an advantage?" not in words(page)


def test_battles_in_json_lines_are_taken(client):
    lines = [f'{{"model_a": "x", "model_b": "{other}", "winner": "model_a"}}' for other in "yzyz"]
    page = client.get(give(client, "\n".join(lines), "votes.jsonl"))
    assert "4 battles of 3 items" in words(page)
