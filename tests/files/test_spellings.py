"""Names in cells that differ only in case, spaces or punctuation: one item or several?"""

from io import StringIO

import pytest

from tierwise import InputError, Rankings, read, read_rankings
from tierwise.data.battles import Battles
from tierwise.data.read import scan_rankings

PLACES = "1st choice,2nd choice,3rd choice\nTea,Coffee,Milk\ntea,Coffee,Milk\nMilk,Tea,Coffee\n"
LONG = "person,item,rank\nAnn,Tea,1\nAnn,Coffee,2\nBob,tea,2\nBob,Coffee,1\n"
PAIRS = "person,preferred,other\nAnn,Tea,Coffee\nBob,Coffee,tea\n"
LINES = "Tea > Coffee = Milk\ntea > Coffee > Milk\n"
WHOLE = "person,ranking\nAnn,Tea > Coffee = Milk\nBob,tea > Coffee > Milk\n"
SENTENCES = "Tea first, then Coffee\nCoffee first, then tea\n"
EVERY_LAYOUT = pytest.mark.parametrize(
    "text", [PLACES, LONG, PAIRS, LINES, WHOLE, SENTENCES], ids=str.split
)


@EVERY_LAYOUT
def test_who_is_meant_is_asked(text):
    with pytest.raises(InputError, match=r"case, spaces or punctuation: 'tea'.* and 'Tea'"):
        read(StringIO(text), unranked="anywhere")


@EVERY_LAYOUT
def test_names_that_become_the_same_are_one_item(text):
    answers = read(StringIO(text), rename={"tea": "Tea"})
    assert "Tea" in answers.items
    assert "tea" not in answers.items


@EVERY_LAYOUT
def test_every_name_can_be_an_item(text):
    answers = read(StringIO(text), unranked="anywhere", spellings="keep")
    assert {"Tea", "tea"} <= set(answers.items)


def test_both_lines_are_named():
    with pytest.raises(InputError, match=r"'tea' \(.*line 3\) and 'Tea' \(.*line 2\)"):
        read_rankings(StringIO(PLACES))


def test_items_that_are_listed_are_not_asked_about():
    items = ["Tea", "tea", "Coffee", "Milk"]
    assert set(read_rankings(StringIO(PLACES), items=items, unranked="below").items) == set(items)
    joined = read_rankings(StringIO(PLACES), items=items, rename={"tea": "Tea"})
    assert joined.items == ("Tea", "Coffee", "Milk")


def test_numbers_are_not_spellings():
    assert read_rankings(StringIO("1st,2nd\n1.5,15\n15,1.5\n"), layout="orderings").items == (
        "1.5",
        "15",
    )


def test_an_answer_that_names_both_is_named():
    with pytest.raises(InputError, match=r"line 2: item 'Tea' is listed twice"):
        read_rankings(StringIO("1st,2nd\nTea,tea\ntea,Milk\n"), rename={"tea": "Tea"})


def test_files_in_chunks_ask_too(tmp_path):
    path = tmp_path / "places.csv"
    path.write_text(PLACES)
    asked = r"use read_rankings\(.*rename=.*\) if they are the same item"
    with pytest.raises(InputError, match=asked):
        scan_rankings(path)
    with pytest.raises(InputError, match=asked):
        _ = Rankings.scan(path, unranked="below").items
    scan = Rankings.scan(path, unranked="below", spellings="keep")
    assert set(scan.items) == {"Tea", "tea", "Coffee", "Milk"}


def test_battles_and_rankings_ask_the_same():
    battles = "model_a,model_b,winner\nTea,Milk,model_a\nMilk,tea,model_b\n"
    with pytest.raises(InputError, match="case, spaces or punctuation"):
        read(StringIO(battles))
    assert isinstance(read(StringIO(battles), rename={"tea": "Tea"}), Battles)


PREFLIB = """# FILE NAME: drinks.soc
# DATA TYPE: soc
# NUMBER ALTERNATIVES: 2
# NUMBER VOTERS: 2
# NUMBER UNIQUE ORDERS: 1
# ALTERNATIVE NAME 1: tea
# ALTERNATIVE NAME 2: milk
2: 1,2
"""


@pytest.mark.parametrize(
    ("name", "text"), [("drinks.soc", PREFLIB), ("drinks.txt", "tea > milk\nmilk > tea\n")]
)
def test_files_that_are_not_tables(tmp_path, name, text):
    """Options are used, or refused: they were ignored."""
    path = tmp_path / name
    path.write_text(text)
    assert read(path, rename={"tea": "chai"}).items == ("chai", "milk")
    with pytest.raises(InputError, match="'Q9' is not an item"):
        read(path, rename={"Q9": "chai"})
    for option in ({"weights": "n"}, {"better": "higher"}, {"missing": "99"}, {"items": "t*"}):
        (keyword,) = option
        with pytest.raises(InputError, match=f"{keyword} does not apply to a file that is not a"):
            read(path, **option)
