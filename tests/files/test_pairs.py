"""Answers pair by pair, from tables."""

from io import BytesIO, StringIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tierwise as tw
from tierwise import InputError, Preferences, Rankings, read_rankings
from tierwise.data.read import read_preferences

TEXT = "voter,winner,loser\nAnn,a,b\nBob,c,a\nAnn,b,c\n"
EXPECTED = Preferences.from_pairs([("Ann", "a", "b"), ("Bob", "c", "a"), ("Ann", "b", "c")])


def read(text, **options):
    return read_preferences(StringIO(text), **options)


def test_columns_are_recognised_or_named():
    assert read(TEXT) == EXPECTED
    renamed = TEXT.replace("voter,winner,loser", "who,this,that")
    columns = {"assessor": "who", "preferred": "this", "other": "that"}
    assert read(renamed, **columns) == EXPECTED
    with pytest.raises(InputError, match=r"preferred item: .* which of 'who', 'this', 'that'"):
        read(renamed)
    with pytest.raises(InputError, match="for the other item"):
        read(renamed, preferred="this")


def test_parquet():
    buffer = BytesIO()
    pq.write_table(pa.table({"voter": [1, 1], "better": ["a", "b"], "worse": ["b", "c"]}), buffer)
    assert read_preferences(BytesIO(buffer.getvalue())).pairs(1)[1] == ("a", "c")


def test_without_assessors_every_row_is_all_that_somebody_said():
    text = "winner,loser\na,b\nb,a\n"
    assert len(read(text)) == 2
    alone = tw.read(StringIO("winner,loser,count\na,b,3\nb,c,1\n"))
    assert isinstance(alone, Rankings)
    assert (alone.unranked, alone.weights.tolist()) == ("anywhere", [3, 1])


def test_items_and_contradictions():
    assert read(TEXT, items="cbad").items == ("c", "b", "a", "d")
    cycle = TEXT + "Ann,c,a\n"
    with pytest.raises(InputError, match="assessor 'Ann' contradicts themselves"):
        read(cycle)
    assert read(cycle, cycles="keep").cycles == "keep"


def test_either_kind_is_told_apart():
    assert tw.read(StringIO(TEXT)) == EXPECTED
    assert isinstance(tw.read(StringIO("first,second\na,b\nb,a\n")), Rankings)
    with pytest.raises(InputError, match="'winner' and 'loser' hold pairwise comparisons"):
        read_rankings(StringIO(TEXT))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("voter,winner,loser\nAnn,a,a\n", "line 2 compares item 'a' with itself: delete the row"),
        ("voter,winner,loser\nAnn,a,\n", "line 2 has no other item"),
        ("voter,winner,loser\n,a,b\n", "line 2 has no assessor"),
        ("voter,winner,loser,count\nAnn,a,b,2\n", "have no weights: delete the column 'count'"),
        ("voter,winner,loser\n", "no answers below the header"),
    ],
)
def test_mistakes_are_named(text, message):
    with pytest.raises(InputError, match=message):
        read(text)


def test_formats_of_rankings_hold_no_pairs():
    with pytest.raises(InputError, match="sushi format holds rankings"):
        read_preferences(BytesIO(b"3 1\n0 3 2 0 1\n"))


@pytest.mark.parametrize("assessor", ["", "voter,"])
def test_columns_that_are_set_aside_are_named(assessor):
    """Without assessors they were not, and a column of draws was passed over in silence."""
    cell = assessor and "Ann,"
    text = f"{assessor}winner,loser,draw\n{cell}a,b,no\n{cell}b,c,yes\n"
    notes = tw.read(StringIO(text)).reading
    assert notes.layout == "pairs"
    assert [one.column for one in notes.aside] == ["draw"]
