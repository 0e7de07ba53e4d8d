"""Ballots as cities publish them: words that are not candidates, overvotes, repeated names."""

import re
from io import StringIO

import pytest
from typer.testing import CliRunner

import tierwise as tw
from tierwise.cli.main import app
from tierwise.data.read import scan_rankings

RECORD = """Cast Vote Record,Precinct,Choice 1,Choice 2,Choice 3
1,A,Ann Baird,Bob Cole,Cy Dunn
2,A,Bob Cole,skipped,Ann Baird
3,B,Cy Dunn,overvote,Ann Baird
4,B,Ann Baird,Ann Baird,Bob Cole
5,B,undervote,undervote,undervote
6,C,Write-in,Cy Dunn,Bob Cole
7,C,Bob Cole,Cy Dunn,exhausted
"""
READ = [
    ["Ann Baird", "Bob Cole", "Cy Dunn"],
    ["Bob Cole", "Ann Baird"],
    ["Cy Dunn"],
    ["Ann Baird", "Bob Cole"],
    ["Cy Dunn", "Bob Cole"],
    ["Bob Cole", "Cy Dunn"],
]


@pytest.mark.parametrize("read", [tw.read_rankings, tw.read])
def test_a_cast_vote_record(read):
    found = read(StringIO(RECORD), unranked="anywhere")
    assert found.items == ("Ann Baird", "Bob Cole", "Cy Dunn")
    assert found.to_orderings() == READ
    message = " ".join(str(remark) for remark in found.reading.remarks)
    assert "4 ballots hold 'Write-in', 'exhausted' or 'skipped', which is skipped" in message
    assert '1 ballot holds an overvote, which ends the ballot: use overvotes="skip"' in message
    assert "1 answer names an item twice; it counts where it is named first" in message
    assert "1 row lists no item and is set aside (line 6)" in message


def test_each_is_an_option():
    found = tw.read_rankings(StringIO(RECORD), unranked="anywhere", overvotes="skip")
    assert found.to_orderings()[2] == ["Cy Dunn", "Ann Baird"]
    with pytest.raises(tw.InputError, match="line 5: item 'Ann Baird' is listed twice"):
        tw.read_rankings(StringIO(RECORD), unranked="anywhere", repeats="error")


def test_items_may_be_called_so():
    text = "place 1,place 2,place 3\nblank,lined,squared\nlined,squared,blank\n"
    said = tw.read_rankings(StringIO(text), items=["blank", "lined", "squared"])
    assert said.unranked is None
    assert tw.read_rankings(StringIO(text), missing="nothing") == said


def test_without_such_words_repeats_are_asked_about():
    text = "place 1,place 2,place 3\na,b,c\nb,b,a\nc,a,b\n"
    with pytest.raises(tw.InputError, match="line 3: item 'b' is listed twice") as asked:
        tw.read_rankings(StringIO(text), unranked="below")
    assert 'broken="skip" to leave out such answers' in str(asked.value)
    found = tw.read_rankings(StringIO(text), unranked="anywhere", repeats="first")
    assert found.to_orderings() == [["a", "b", "c"], ["b", "a"], ["c", "a", "b"]]


def test_chunks_read_the_same():
    chunks = scan_rankings(StringIO(RECORD), chunk_rows=3, unranked="anywhere")
    found = [answer for chunk in chunks for answer in chunk.to_orderings()]
    assert found == READ


def test_on_the_command_line(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(RECORD)
    done = CliRunner().invoke(app, ["describe", str(path), "--unranked", "below"])
    assert done.exit_code == 0
    assert "1 ballot holds an overvote, which ends the ballot: use --overvotes skip" in " ".join(
        done.output.split()
    )


BROKEN = {
    "an item twice": ("place 1,place 2,place 3\na,b,c\nb,b,a\nc,a,b\nc,b,a\n", 3),
    "equal ranks": ("a,b,c\n1,2,3\n1,1,2\n3,1,2\n2,3,1\n", 3),
    "no rank": ("a,b,c\n1,2,3\n1,7,2\n3,1,2\n2,3,1\n3,2,1\n", 4),
    "an item twice, one row each": (
        "voter,item,rank\nx,a,1\nx,b,2\ny,a,1\ny,a,2\nz,b,1\nz,a,2\n",
        2,
    ),
    "equal ranks, one row each": (
        "voter,item,rank\nx,a,1\nx,b,2\ny,a,1\ny,b,1\nz,b,1\nz,a,2\n",
        2,
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_answers_are_left_out_if_that_is_said(case):
    text, n_answers = BROKEN[case]
    with pytest.raises(tw.InputError, match="to leave out such answers"):
        tw.read_rankings(StringIO(text), layout=layout_of(text))
    found = tw.read_rankings(StringIO(text), broken="skip", layout=layout_of(text))
    assert found.n_rankings == n_answers
    assert any("not valid" in str(remark) for remark in found.reading.remarks)


def layout_of(text):
    return "ranks" if text.startswith("a,b,c") else "auto"


def test_if_all_are_broken_that_is_said():
    with pytest.raises(tw.InputError, match="listed twice"):
        tw.read_rankings(StringIO("place 1,place 2\na,a\nb,b\n"), broken="skip")


BALLOTS = {
    "x.blt": ('3 1\n5 1 2 0\n2 2 2 0\n4 3 1 2 0\n0\n"a"\n"b"\n"c"\n"title"\n', 9),
    "x.order": ("3 1\n0 3 0 1 2\n0 3 0 0 1\n0 2 2 1\n", 2),
    "x.soi": (
        "# DATA TYPE: soi\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 11\n"
        "# NUMBER UNIQUE ORDERS: 3\n# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n"
        "# ALTERNATIVE NAME 3: c\n5: 1,2\n2: 2,2\n4: 3,1,2\n",
        9,
    ),
}


@pytest.mark.parametrize("name", BALLOTS)
def test_broken_ballots_of_every_format(name, tmp_path):
    text, n_answers = BALLOTS[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(tw.InputError, match=r"listed twice.*to leave out such answers"):
        tw.read_rankings(tmp_path / name, unranked="below")
    found = tw.read_rankings(tmp_path / name, unranked="below", broken="skip")
    assert found.n_rankings == n_answers
    [remark] = found.reading.remarks
    assert re.fullmatch(r"1 row is not valid and is set aside \(line \d+\)\.", str(remark))


def test_broken_answers_on_the_command_line(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(BROKEN["an item twice"][0])
    asked = CliRunner().invoke(app, ["describe", str(path)])
    assert isinstance(asked.exception, tw.InputError)
    done = CliRunner().invoke(app, ["describe", str(path), "--broken", "skip"])
    assert done.exit_code == 0
    assert "1 row is not valid and is set aside (line 3)" in " ".join(done.output.split())
