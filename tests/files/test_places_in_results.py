"""Places as results of races and tournaments write them: T3, =2, R, WD."""

from io import StringIO

import pytest

import tierwise as tw


def orderings(text, **options):
    return tw.read(StringIO(text), **options).to_orderings()


def test_letters_beside_places_say_that_there_is_none():
    text = (
        "race,driver,pos\nMonza,Ann,1\nMonza,Bob,R\nMonza,Cid,2\nSpa,Ann,W\nSpa,Bob,1\nSpa,Cid,2\n"
    )
    read = tw.read(StringIO(text), unranked="below")
    assert read.to_orderings() == [["Ann", "Cid", "Bob"], ["Bob", "Cid", "Ann"]]
    assert "2 cells say 'R' or 'W' and are read as no rank" in str(read.reading)


def test_shared_places_are_ties():
    text = "tournament,golfer,position\nOpen,Ann,1\nOpen,Bob,T2\nOpen,Cid,T2\nOpen,Dan,CUT\n"
    assert orderings(text, unranked="below", ties="allow") == [["Ann", ["Bob", "Cid"], "Dan"]]
    with pytest.raises(tw.InputError, match="'Bob' and 'Cid' both have rank 2"):
        tw.read(StringIO(text), unranked="below")
    rowing = "regatta,boat,rank\na,x,=1\na,y,=1\na,z,3\n"
    assert orderings(rowing, ties="allow") == [[["x", "y"], "z"]]


def test_items_that_are_called_like_shared_places_are_items():
    text = "place 1,place 2,place 3\nT1,T2,R\nT2,T1,R\nR,T1,T2\n"
    assert orderings(text) == [["T1", "T2", "R"], ["T2", "T1", "R"], ["R", "T1", "T2"]]


def test_a_weight_is_not_a_place():
    with pytest.raises(tw.InputError, match="the weight is 'T3', which is not a number"):
        tw.read(StringIO("place 1,place 2,weight\na,b,1\nb,a,T3\n"))


def test_drivers_in_rows_and_races_in_columns():
    text = "Pos,Driver,Team,Monza,Spa,Imola,Pts\n1,Ann,red,1,1,R,50\n2,Bob,red,2,DNF*,1,43\n"
    with pytest.raises(tw.InputError, match=r"'DNF\*', which is not a number: use unranked=.below"):
        tw.read(StringIO(text), better="lower", tasks=["Monza", "Spa", "Imola"])
    options = {"better": "lower", "tasks": ["Monza", "Spa", "Imola"], "unranked": "below"}
    read = tw.read(StringIO(text), **options)
    assert read.to_orderings() == [["Ann", "Bob"], ["Ann", "Bob"], ["Bob", "Ann"]]
    assert "2 cells say" in str(read.reading)


@pytest.mark.parametrize("word", ["TO", "DNF", "OOM", "timeout", "R"])
@pytest.mark.parametrize("unranked", ["below", "anywhere"])
def test_what_failed_is_below_all_others_or_unknown(word, unranked):
    text = f"instance,x,y,z\na,1.5,{word},0.5\nb,2.5,1.5,0.5\n"
    read = tw.read(StringIO(text), better="lower", unranked=unranked)
    assert read.pair_counts[0, 1] == (unranked == "below")
    with pytest.raises(tw.InputError, match=r"use unranked=.below. if items without a score"):
        tw.read(StringIO(text), better="lower")


def test_options_that_name_items_go_with_cells_that_hold_more_than_numbers():
    text = "meet,x,y,z\na,2.31m,2.30m,2.1m\nb,2.20m,2.30m,2.1m\n"
    assert orderings(text, better="higher", items_in="columns") == [
        ["x", "y", "z"],
        ["y", "x", "z"],
    ]
    assert orderings(text, better="higher", items=["x", "y"]) == [["x", "y"], ["y", "x"]]
