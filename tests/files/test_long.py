"""Tables with one row for each item of each answer, such as results of races."""

from io import StringIO

import pytest

from tierwise import InputError, read_rankings

RACES = """\
race,driver,team,position
spa,ann,red,1
spa,bob,blue,2
spa,cem,red,3
monza,bob,blue,1
monza,cem,red,2
monza,ann,red,DNF
"""


def read(text, **options):
    return read_rankings(StringIO(text), **options)


def remarks(rankings):
    return [str(remark) for remark in rankings.reading.remarks]


def test_results_of_races_are_recognised_by_the_names_of_their_columns():
    races = read(RACES.replace("team", "car"), unranked="below")
    assert races.to_orderings() == [["ann", "bob", "cem"], ["bob", "cem", "ann"]]
    assert races.reading.layout == "long"
    assert [one.column for one in races.reading.aside] == ["car"]


def test_results_with_two_possible_columns_of_items_are_asked_about():
    with pytest.raises(InputError, match=r"'driver'.*'team'.*item="):
        read(RACES, unranked="below")
    races = read(RACES, unranked="below", item="driver")
    assert races.to_orderings() == [["ann", "bob", "cem"], ["bob", "cem", "ann"]]


@pytest.mark.parametrize("word", ["DNF", "dns", "Ret"])
def test_words_that_stand_for_no_rank_are_counted(word):
    races = read(RACES.replace("DNF", word), unranked="below", item="driver")
    assert f"1 cell says '{word}' and is read as no rank" in " ".join(remarks(races))


def test_nothing_is_said_of_empty_cells_of_ranks():
    assert not remarks(read(RACES.replace("DNF", ""), unranked="below", item="driver"))


def test_words_among_ranks_of_items_are_counted():
    ranks = read("a,b,c\n1,2,3\n2,1,DNF\n1,2,DNS\n2,1,DNF\n", unranked="below")
    assert remarks(ranks) == ["3 cells say 'DNF' or 'DNS' and are read as no rank"]


TWO_YEARS = """\
year,race,driver,position
2023,spa,ann,1
2023,spa,bob,2
2024,spa,bob,1
2024,spa,ann,2
"""


def test_a_column_that_separates_answers_is_named():
    with pytest.raises(InputError, match="'bob' is listed twice") as caught:
        read(TWO_YEARS)
    remedy = """assessor=["race", "year"] if 'year' is part of whose answer it is"""
    assert remedy in str(caught.value)
    assert read(TWO_YEARS, assessor=["race", "year"]).to_orderings() == [
        ["ann", "bob"],
        ["bob", "ann"],
    ]


def test_a_column_that_does_not_separate_answers_is_not_named():
    with pytest.raises(InputError, match="listed twice") as caught:
        read(TWO_YEARS.replace("2024", "2023"))
    assert "whose answer it is" not in str(caught.value)


def test_columns_of_assessors_may_be_one_list():
    apart = read(TWO_YEARS, assessor=["year", "race"])
    assert read(TWO_YEARS, assessor="year,race") == apart
    named = TWO_YEARS.replace("race,", '"year,race",', 1)
    with pytest.raises(InputError, match="listed twice"):
        read(named, assessor="year,race", item="driver", rank="position")


def test_texts_of_which_none_is_in_two_columns_are_not_places():
    columns = "heat,swimmer,placed\nx,ann,won\nx,bob,lost\ny,bob,won\ny,ann,lost\n"
    with pytest.raises(InputError, match="no text is in two of the columns") as caught:
        read(columns)
    assert "one row for each item of each answer" in str(caught.value)
    assert read(columns, layout="orderings", unranked="anywhere").reading.layout == "orderings"


def test_numbers_beside_repeated_names_may_be_a_long_table():
    rows = "season,order,swimmer\n2015,1,ann\n2015,2,bob\n2016,1,bob\n2016,2,ann\n"
    with pytest.raises(InputError, match="one row for each item of each answer"):
        read(rows)
