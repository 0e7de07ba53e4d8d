"""CSV files of every layout, as people really write them."""

import sys
from io import BytesIO, StringIO

import pytest

import tierwise as tw
from tierwise import InputError, Rankings, read_rankings
from tierwise.files.source import reader_of

ORDERINGS = Rankings.from_orderings([["a", "b", "c"], ["b", "c", "a"]])


def read(text, **options):
    return read_rankings(StringIO(text), **options)


@pytest.mark.parametrize(
    "text",
    [
        "place 1,place 2,place 3\na,b,c\nb,c,a\n",
        "first,second,third\na,b,c\nb,c,a",
        "1;2;3\na;b;c\nb;c;a\n",
        "1\t2\t3\r\na\tb\tc\r\nb\tc\ta\r\n",
        '"rank 1","rank 2","rank 3"\n"a","b","c"\n"b","c","a"\n',
        "\ufeffplace 1,place 2,place 3\na,b,c\nb,c,a\n",
        "\n\nplace 1, place 2, place 3\n\n a, b, c \n\n\nb ,c ,a\n\n",
        "voter,place 1,place 2,place 3\nAnn,a,b,c\nBob,b,c,a\n",
        "place 1,place 2,place 3,place 4\na,b,c,\nb,,c,a\n",
        "a,b,c\n1,2,3\n3,1,2\n",
        "a,b,c\n1.0,2.0,3\n3,1,2\n",
        "id,a,b,c\n1,1,2,3\n2,3,1,2\n",
        "assessor,item,rank\n7,a,1\n7,b,2\n7,c,3\n9,b,1\n9,c,2\n9,a,3\n",
        "rank,item,voter\n1,a,Ann\n1,b,Bob\n2,b,Ann\n2,c,Bob\n3,c,Ann\n3,a,Bob\n",
    ],
)
def test_every_way_to_write_the_same(text):
    assert read(text) == ORDERINGS


def test_quoted_names_keep_what_is_inside_the_quotes():
    answers = read('place 1,place 2\n"x, ""y""",{z}\n')
    assert answers.items == ('x, "y"', "{z}")


@pytest.mark.parametrize("column", ["weight", "weights", "Count", "WEIGHT"])
def test_weights_are_recognised(column):
    answers = read(f"place 1,place 2,{column}\na,b,3\nb,a,2.0\n")
    assert answers.weights.tolist() == [3, 2]
    assert answers.weights.dtype.kind == "i"


def test_weights_are_named():
    text = "first,second,votes\na,b,3\nb,a,0.5\n"
    assert read(text, weights="votes").weights.tolist() == [3, 0.5]
    with pytest.raises(InputError, match="no column 'ballots'"):
        read(text, weights="ballots")


def test_two_columns_that_may_hold_weights():
    with pytest.raises(InputError, match="'weight' and 'count' may both hold how often"):
        read("a,b,weight,count\n1,2,3,4\n")
    assert read(
        "a,b,weight,count\n1,2,3,4\n", weights="count", items=["a", "b", "weight"]
    ).items == (
        "a",
        "b",
        "weight",
    )


def test_long_weights_must_agree():
    text = "assessor,item,rank,weight\nAnn,a,1,2\nBob,a,2,1\nAnn,b,2,{}\nBob,b,1,1\n"
    assert read(text.format(2)).weights.tolist() == [2, 1]
    with pytest.raises(InputError, match=r"line 2 \(assessor 'Ann'\) has different weights"):
        read(text.format(3))


def test_long_columns_are_named():
    text = "who,what,where\nAnn,a,1\nAnn,b,2\n"
    answers = read(text, layout="long", assessor="who", item="what", rank="where")
    assert answers.to_orderings() == [["a", "b"]]
    assert read(text, layout="long", assessor="who", rank="where") == answers
    with pytest.raises(InputError, match=r"for the item: .* which of 'who', 'what', 'where'"):
        read(text, layout="long", rank="where")


@pytest.mark.parametrize("assessor", ["name", "Voter", "person", "participant", "race"])
def test_what_is_left_over_in_a_long_table_is_what_is_missing(assessor):
    item = "candidate" if assessor == "race" else "driver"
    text = f"{assessor},{item},position\nx,a,1\nx,b,2\ny,b,1\ny,a,2\n"
    assert read(text).to_orderings() == [["a", "b"], ["b", "a"]]


def test_several_columns_name_the_assessor_together():
    text = "year,round,driver,place\n15,1,a,1\n15,1,b,2\n15,2,b,1\n15,2,a,2\n16,1,a,1\n16,1,b,DNF\n"
    columns = {"assessor": ["year", "round"], "item": "driver"}
    races = read(text, **columns, unranked="below")
    assert races.to_orderings() == [["a", "b"], ["b", "a"], ["a", "b"]]
    with pytest.raises(InputError, match=r"line 6 \(assessor '16, 1'\) lists 1 of 2 items"):
        read(text, **columns)
    with pytest.raises(
        InputError, match="no column 'lap' for the assessor: the columns are 'year'"
    ):
        read(text, assessor=["year", "lap"], item="driver")


def test_a_column_that_is_said_to_hold_items_does_not_hold_people():
    text = "judge,name,rank\nAnn,a,1\nAnn,b,2\nBob,b,1\nBob,a,2\n"
    assert read(text, item="name").to_orderings() == [["a", "b"], ["b", "a"]]
    with pytest.raises(InputError, match="needs a column for the assessor"):
        read("name,rank\na,1\nb,2\n", item="name", rank="rank")


@pytest.mark.parametrize("header", ["name,rank", "team,Place", "item,position"])
def test_a_table_with_the_ranks_of_one_answer_is_refused(header):
    with pytest.raises(InputError, match=r"no column says which answer.* 'assessor'"):
        read(f"{header}\na,1\nb,2\nc,3\n")


def test_columns_of_the_assessor_are_passed_over_elsewhere():
    assert read("id,name,first,second\n1,Ann,a,b\n2,Bob,b,a\n").items == ("a", "b")
    with pytest.raises(InputError, match="'id' and 'name' may both hold the assessor"):
        read("id,name,item,rank\n1,Ann,a,1\n2,Ann,b,2\n")
    text = "age,town,a,b\n31,Ulm,1,2\n47,Bonn,2,1\n"
    answers = read(text)
    assert answers.items == ("a", "b")
    assert [one.column for one in answers.reading.aside] == ["age", "town"]
    with pytest.raises(InputError, match="column 'town' holds names and columns 'age', 'a', 'b'"):
        read("age,town,a,b\n31,Ulm,1,0\n47,Bonn,1,0\n")
    assert read(text, assessor=["age", "town"]).items == ("a", "b")


def test_long_cells_must_be_filled():
    with pytest.raises(InputError, match="line 3 has no assessor"):
        read("assessor,item,rank\nAnn,a,1\n,b,2\n")
    with pytest.raises(InputError, match="line 3 has no item"):
        read("assessor,item,rank\nAnn,a,1\nAnn,,2\n")


def test_long_without_rank_is_not_listed():
    answers = read(
        "assessor,item,rank\nA,a,1\nA,b,NA\nA,c,\nB,a,1\nB,b,2\nB,c,3\n", unranked="below"
    )
    assert answers.to_orderings() == [["a"], ["a", "b", "c"]]


def test_ranks_with_gaps_and_ties():
    text = "a,b,c,d\n1,NA,3,3\n2,1,,nan\n"
    answers = read(text, unranked="anywhere", ties="allow")
    assert answers.to_orderings() == [["a", ["c", "d"]], ["b", "a"]]


def test_numbers_in_places_need_a_word_from_the_user():
    text = "1,2,3\n2,3,1\n"
    with pytest.raises(InputError, match='layout="orderings"'):
        read(text)
    assert read(text, layout="orderings").to_orderings() == [["2", "3", "1"]]
    assert read(text, layout="ranks").to_orderings() == [["3", "1", "2"]]


def test_numbered_places_hold_items_even_if_these_are_numbers():
    assert read("choice 1,choice 2\n7,9\n9,7\n").to_orderings() == [["7", "9"], ["9", "7"]]


def test_items_are_in_order_of_appearance_row_by_row():
    assert read("place 1,place 2,place 3\nc,a,b\nb,a,c\n").items == ("c", "a", "b")
    assert read("place 1,place 2\nx,\nz,x\n", unranked="below").items == ("x", "z")


def test_items_given():
    text = "place 1,place 2\na,b\nb,a\n"
    answers = read(text, items=["b", "a", "c"], unranked="below")
    assert answers.items == ("b", "a", "c")
    with pytest.raises(InputError, match="line 3: item 'b' is not among the 2 items"):
        read(text, items=["a", "c"], unranked="below")
    with pytest.raises(InputError, match="no items"):
        read(text, items=[])


def test_items_given_for_ranks():
    text = "b,a\n1,2\n2,1\n"
    assert read(text, items=["a", "b"]).to_orderings() == [["b", "a"], ["a", "b"]]
    assert read(text, items=["a", "b", "c"], unranked="below").items == ("a", "b", "c")
    with pytest.raises(InputError, match="columns: item 'b' is not among"):
        read(text, items=["a", "c"], unranked="below")


def test_an_item_called_count_is_an_item_if_the_items_say_so():
    answers = read("count,b\n1,2\n2,1\n", items=["count", "b"])
    assert answers.to_orderings() == [["count", "b"], ["b", "count"]]


def test_unranked_decides_what_is_stored():
    text = "place 1,place 2,place 3\na,,\nb,a,c\n"
    assert read(text, unranked="below").unranked == "below"
    assert read(text, unranked="anywhere").unranked == "anywhere"


def test_bytes_and_a_name():
    file = BytesIO(b"a,b\n1,x\n")
    file.name = "votes.csv"
    with pytest.raises(InputError, match=r"votes\.csv, line 2: the rank of item 'b' is 'x'"):
        read_rankings(file)


def test_a_header_that_is_not_one():
    with pytest.raises(InputError, match="line 1: column 2 has no name"):
        read("a,,c\n1,2,3\n")
    with pytest.raises(InputError, match="line 1: column 'a' occurs twice"):
        read("a,b, a\n1,2,3\n")


@pytest.mark.parametrize("text", ["a,b,c\nb,c,a\nc,a,b\n", "b,a\na,b\n"])
def test_an_answer_in_place_of_a_header_is_not_lost(text):
    lines = [line.split(",") for line in text.splitlines()]
    assert read(text).to_orderings() == lines
    # Where answers are incomplete, a header cannot be told from an answer.
    with pytest.raises(InputError, match="first line seems to be an answer"):
        read(f"{text}{','.join([*lines[0][:-1], ''])}\n", unranked="below")


def test_numbers_in_place_of_a_header_are_not_lost():
    with pytest.raises(InputError, match="may hold orderings or ranks"):
        read("3,1,2\n1,2,3\n")
    with pytest.raises(InputError, match="first line seems to be an answer"):
        read("3,1,2\n1,2,3\n", layout="orderings")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1st,2nd\na,b\n1st,2nd\nb,a\n", 3),
        ("a,b\n1,2\n\n a ,b\n2,1\n", 4),
        ("voter,item,rank\nAnn,a,1\nAnn,b,2\nvoter,item,rank\nBob,a,1\n", 4),
        ("model_a,model_b,winner\na,b,model_a\nmodel_a,model_b,winner\n", 3),
        ("winner,loser\na,b\nwinner,loser\n", 3),
    ],
)
def test_a_header_that_is_repeated(text, line):
    """One file below another: the names of the columns were taken for models and items."""
    message = f"line {line} is the same as the line with the column names: delete line {line}"
    with pytest.raises(InputError, match=message):
        tw.read(StringIO(text))


def test_ranks_that_are_the_names_of_items_are_answers():
    answers = read("1,2,3\n1,2,3\n2,1,3\n", layout="ranks")
    assert answers.to_orderings() == [["1", "2", "3"], ["2", "1", "3"]]


def test_a_quote_that_is_not_closed():
    with pytest.raises(InputError, match="line 3: a quote is not closed"):
        read('place 1,place 2\na,b\nb,"a\na,b\n')


def test_an_empty_row():
    with pytest.raises(InputError, match="line 3 lists no item"):
        read("first,second\na,b\n,\n")
    with pytest.raises(InputError, match="line 3 ranks no item"):
        read("a,b\n1,2\n,\n")


def test_a_layout_or_format_that_does_not_exist():
    with pytest.raises(InputError, match=r"layout must be .*'wide'"):
        read("a,b\n1,2\n", layout="wide")
    with pytest.raises(InputError, match=r"format must be .*'xls'"):
        read("a,b\n1,2\n", format="xls")


def test_a_name_that_does_not_survive_as_quoted_header():
    answers = read('"x, y","z ""q"""\n1,2\n')
    assert answers.items == ("x, y", 'z "q"')


def test_arrow_reads_a_copy_that_needs_no_python_to_be_let_go():
    # Its threads may outlive Python, and aborted the process where they held Python's memory.
    content = b"a,b\n1,2\n" * 100
    held = sys.getrefcount(content)
    reader = reader_of(content)
    assert sys.getrefcount(content) == held
    assert reader.read() == content
    assert reader_of(b"").read() == b""
