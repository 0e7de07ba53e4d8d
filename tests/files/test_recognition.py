"""Formats are recognised by name or content, Parquet and the sushi format are read."""

import shutil
from functools import partial
from io import BytesIO, StringIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tierwise as tw
from tierwise import InputError, Rankings, read_rankings, write_rankings

ANSWERS = Rankings.from_orderings([["a", "b", "c"], ["c", "b", "a"]])
SUSHI = b"3 1\n0 3 2 0 1\n0 3 1 0 2\n"


@pytest.mark.parametrize("suffix", ["csv", "parquet", "soc"])
def test_a_file_without_a_telling_name_is_recognised(tmp_path, suffix):
    write_rankings(ANSWERS, tmp_path / f"answers.{suffix}")
    shutil.move(tmp_path / f"answers.{suffix}", tmp_path / "answers")
    assert read_rankings(tmp_path / "answers") == ANSWERS


def test_sushi_is_recognised():
    assert read_rankings(BytesIO(SUSHI)).to_orderings() == [[2, 0, 1], [1, 0, 2]]


def test_the_format_can_be_named(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_bytes(SUSHI)
    assert len(read_rankings(path, format="sushi")) == 2
    with pytest.raises(InputError, match=r"answers\.csv cannot be read as Parquet"):
        read_rankings(path, format="parquet")
    with pytest.raises(InputError, match=r"answers\.csv, line 1: .* is not a number of voters"):
        read_rankings(path, format="preflib")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("0 3 2 0 x", "line 2 contains something that is not a whole number"),
        ("0 2 2 0 1", "line 2 must be 0, the number of items listed"),
        ("0 3 2 0 3", "line 2: item 3 is not among the 3 items"),
        ("0 3 2 0 2", "line 2: item 2 is listed twice"),
        ("0 2 2 0", "line 2 lists 2 of 3 items"),
        ("", "no rankings"),
    ],
)
def test_sushi_files_with_mistakes(body, message):
    with pytest.raises(InputError, match=message):
        read_rankings(BytesIO(f"3 1\n{body}\n".encode()), format="sushi")
    with pytest.raises(InputError, match="line 1: a file in the sushi format begins with"):
        read_rankings(BytesIO(b"3 2\n0 3 0 1 2\n"), format="sushi")


def parquet(columns):
    buffer = BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return BytesIO(buffer.getvalue())


def test_parquet_of_every_layout():
    places = parquet({"place 1": ["a", "b"], "place 2": ["b", None], "count": [2, 1]})
    assert read_rankings(places, unranked="below").weights.tolist() == [2, 1]
    ranks = parquet({"a": [1, 2], "b": [2.0, None]})
    assert read_rankings(ranks, unranked="below").to_orderings() == [["a", "b"], ["a", "b"]]
    long = parquet({"voter": [1, 1, 2, 2], "item": list("abba"), "rank": [1, 2, 1, 2]})
    assert read_rankings(long).to_orderings() == [["a", "b"], ["b", "a"]]


def test_parquet_dictionaries_and_numbers():
    column = pa.array(["a", "b"]).dictionary_encode()
    assert read_rankings(parquet({"x": column, "y": ["b", "a"]})).items == ("a", "b")
    assert read_rankings(parquet({"place 1": [7, 8], "place 2": [8, 7]})).items == (7, 8)


def test_parquet_names_rows():
    with pytest.raises(InputError, match="row 2: item 'a' is listed twice"):
        read_rankings(parquet({"x": ["a", "a"], "y": ["b", "a"]}))


def test_a_parquet_file_that_is_cut_short(tmp_path):
    path = tmp_path / "answers.parquet"
    write_rankings(ANSWERS, path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"answers\.parquet cannot be read as Parquet"):
        read_rankings(path)


LEADERBOARD = "Model,Params (B),MMLU,ARC\nx,7,61.5,40\ny,70,50.5,99\nz,13,70.5,30\n"


@pytest.mark.parametrize("purpose", ["any", "leaderboard"])
def test_models_in_rows_are_the_items_whatever_else_is_said(purpose):
    read = partial(tw.read, purpose=purpose)
    said = read(StringIO(LEADERBOARD), better="higher", missing="99")
    assert said.items == ("x", "y", "z")
    assert said.to_orderings() == [["z", "x", "y"], ["x", "z"]]
    below = read(StringIO(LEADERBOARD), better="higher", missing="99", unranked="below")
    assert below.to_orderings() == [["z", "x", "y"], ["x", "z", "y"]]
    with pytest.raises(InputError, match="ties does not apply to scores of items in rows"):
        read(StringIO(LEADERBOARD), better="higher", ties="allow")
    turned = read(StringIO(LEADERBOARD), better="higher", items_in="columns")
    assert "MMLU" in turned.items


@pytest.mark.parametrize(
    ("text", "options", "kind", "first"),
    [
        ("first,second,third\na,b,c\na,c,b\n", {}, tw.Rankings, "a"),
        ("a,b,c\n1,2,3\n1,3,2\n", {}, tw.Rankings, "a"),
        ("a,b,c\n1,2,\n1,3,2\n", {"unranked": "below"}, tw.Rankings, "a"),
        ("voter,item,rank\np,a,1\np,b,2\n", {}, tw.Rankings, "a"),
        ("winner,loser\na,b\nb,c\n", {}, tw.Battles, "a"),
        ("left,right,result\na,b,left\nb,c,tie\n", {}, tw.Battles, "a"),
        ("voter,winner,loser\np,a,b\np,b,a\n", {"cycles": "keep"}, tw.Preferences, "a"),
        ("judge,a,b,c\np,1.5,,2.5\nq,3.5,1,2\n", {"better": "higher"}, tw.Rankings, "a"),
        ("judge,a,b\np,S,A\nq,B,S\n", {"order": "S,A,B"}, tw.Rankings, "a"),
        ("p: a > b > c\nq: b > a > c\n", {}, tw.Rankings, "a"),
        (LEADERBOARD, {"better": "higher", "tasks": "MMLU"}, tw.Rankings, "x"),
    ],
)
def test_leaderboards_are_made_of_whatever_a_file_holds(text, options, kind, first):
    found = tw.read(StringIO(text), purpose="leaderboard", **options)
    assert isinstance(found, kind)
    assert found.items[0] == first


def test_the_purpose_decides_what_winners_and_losers_are():
    text = "winner,loser\na,b\nb,c\n"
    assert isinstance(tw.read(StringIO(text), purpose="leaderboard"), tw.Battles)
    assert isinstance(tw.read(StringIO(text)), tw.Rankings | tw.Preferences)
    with pytest.raises(InputError, match="purpose must be"):
        tw.read(StringIO(text), purpose="board")
