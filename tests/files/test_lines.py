"""Rankings as people paste them: line by line, as tier lists, without a header; grades."""

from io import StringIO

import pytest

import tierwise as tw
from tierwise import InputError, read


def read_text(text, **options):
    return read(StringIO(text), **options)


def remarks_of(answers):
    return " ".join(map(str, answers.reading.remarks))


def test_one_ranking_per_line_with_names_and_ties():
    answers = read_text("Anna: Sushi > Pizza > Tacos\nBob: Pizza > Sushi = Tacos\n")
    assert answers.items == ("Sushi", "Pizza", "Tacos")
    assert answers.places.tolist() == [[0, 1, 2], [1, 0, 1]]
    assert "whose answer it is" in remarks_of(answers)
    assert "1 answer holds some" in remarks_of(answers)


def test_the_first_line_is_not_lost():
    answers = read_text("Sushi > Pizza > Tacos\nPizza>Sushi~Tacos\n")
    assert answers.places.tolist() == [[0, 1, 2], [1, 0, 1]]


def test_counts_before_colons_are_weights_and_numbers_of_lines_are_not():
    counted = read_text("12: tea > milk\n3: milk > tea\n")
    assert counted.n_rankings == 15
    assert "how often each answer counts" in remarks_of(counted)
    numbered = read_text("1: tea > milk\n2: milk > tea\n")
    assert numbered.n_rankings == 2
    assert "set aside" in remarks_of(numbered)


def test_names_of_items_may_hold_commas_and_colons():
    answers = read_text("Wiley, Maya > Yang, Andrew\nYang, Andrew > Wiley, Maya\n")
    assert answers.items == ("Wiley, Maya", "Yang, Andrew")
    games = read_text("Zelda: Ocarina > Doom\nDoom > Zelda: Ocarina\n")
    assert games.items == ("Zelda: Ocarina", "Doom")


@pytest.mark.parametrize(
    "text",
    [
        "Wiley, Maya first, then Yang, Andrew\nYang, Andrew first, then Wiley, Maya.\n",
        "Ann: Wiley, Maya first, then Yang, Andrew\nBob: Yang, Andrew first, then Wiley, Maya\n",
        "1. Wiley, Maya 2. Yang, Andrew\n1. Yang, Andrew; 2. Wiley, Maya\n",
        '"Wiley, Maya" first, then "Yang, Andrew"\n"Yang, Andrew" first, then "Wiley, Maya"\n',
    ],
)
def test_sentences_with_commas_in_names(text):
    answers = read_text(text)
    names = ["Wiley, Maya", "Yang, Andrew"]
    assert answers.to_orderings() == [names, names[::-1]]
    assert answers.reading.layout == "sentences"


def test_sentences_of_which_nothing_tells_where_an_item_ends():
    for text in ("Tea first, then milk, water\n", "Tea and milk first, then water\n"):
        with pytest.raises(InputError, match="may be one item or several"):
            read_text(text)
    lists = "who;ranking\n1;Wiley, Maya, Yang, Andrew\n2;Yang, Andrew, Wiley, Maya\n"
    with pytest.raises(InputError, match="a comma may be part of a name"):
        read_text(lists)
    names = ["Wiley", "Maya", "Yang", "Andrew"]
    assert read_text(lists, items=names).to_orderings()[0] == names


def test_texts_that_are_no_sentences_are_read_as_before():
    answers = read_text("first,second,third\ntea,milk,water\nmilk,tea,water\n")
    assert answers.to_orderings() == [["tea", "milk", "water"], ["milk", "tea", "water"]]


def test_grades_of_which_each_row_holds_each_once_are_not_items():
    text = "id,Hades,Doom\n1,S,A\n2,A,S\n"
    with pytest.raises(InputError, match=r'order="S,A" if these are grades.*layout="orderings"'):
        read_text(text)
    assert read_text(text, order="S,A").items == ("Hades", "Doom")
    assert read_text(text, layout="orderings").items == ("S", "A")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Anna,tea > milk\nBob,milk > tea\n", "may begin with a person or an item"),
        (
            "Anna: tea > milk\nmilk > tea\n",
            "line 1 has 'Anna' before a colon, and other lines have",
        ),
        ("tea > milk > tea\nmilk > tea\n", "line 1"),
        ("tea > milk > water\nmilk > tea\n", "lists 2 of 3 items"),
        ("tea > milk =\nmilk > tea\n", "an item is missing"),
    ],
)
def test_what_is_in_doubt_is_asked(text, message):
    with pytest.raises(InputError, match=message):
        read_text(text)


def test_broken_lines_can_be_left_out():
    answers = read_text("tea > milk > tea\nmilk > tea\n", broken="skip")
    assert len(answers) == 1


def test_tier_lists():
    first = "Anna\nS: Elden Ring, Hades\nB: Doom\nA: Celeste\n"
    text = f"{first}\nBob\nA: Doom\nF: Hades, Celeste\nS: Elden Ring\n"
    answers = read_text(text)
    place = dict(zip(answers.items, answers.places.T.tolist(), strict=True))
    assert place == {"Elden Ring": [0, 0], "Hades": [0, 2], "Celeste": [2, 2], "Doom": [3, 1]}
    with pytest.raises(InputError, match="tier 'S' occurs twice"):
        read_text("S: a, b\nS: c\n")


def test_answers_without_a_header():
    answers = read_text("Sushi,Pizza,Tacos\nPizza,Sushi,Tacos\nTacos,Pizza,Sushi\n")
    assert answers.to_orderings()[0] == ["Sushi", "Pizza", "Tacos"]
    assert len(answers) == 3
    assert "No line names the columns" in remarks_of(answers)


def test_the_index_of_a_data_frame_has_no_name():
    answers = read_text(",Tea,Milk,Juice\n0,1,2,3\n1,2,1,3\n2,3,1,2\n")
    assert answers.items == ("Tea", "Milk", "Juice")
    assert answers.places.tolist() == [[0, 1, 2], [1, 0, 2], [2, 0, 1]]


def test_a_data_frame_that_was_turned():
    answers = read_text(",0,1,2,3\nTea,1,2,1,1\nMilk,2,1,3,2\nJuice,3,3,2,3\n")
    assert answers.items == ("Tea", "Milk", "Juice")
    assert answers.places.tolist() == [[0, 1, 2], [1, 0, 2], [0, 2, 1], [0, 1, 2]]
    assert "transposed" in remarks_of(answers)
    with pytest.raises(InputError, match="both rows and columns look like rankings"):
        read_text(",0,1,2\nTea,1,2,3\nMilk,2,3,1\nJuice,3,1,2\n")


def test_scores_with_an_unnamed_column_of_models():
    scores = tw.read_scores(StringIO(",MMLU,GSM\nx,90.1,80\ny,80.2,85\nz,60,50\n"), "higher")
    assert scores.items == ("x", "y", "z")
    assert scores.places.tolist() == [[0, 1, 2], [1, 0, 2]]


def test_grades_are_asked_about_and_read():
    text = "name,Elden Ring,Hades,Celeste\na,S,A,B\nb,A,A,D\nc,S,F,B\n"
    with pytest.raises(InputError, match=r'hold what look like grades .*order="S,A,B,D,F"'):
        read_text(text)
    for how in (
        {"order": "S,A,B,D,F"},
        {"order": ["S", "A", "B", "C", "D", "F"]},
        {"better": "higher"},
    ):
        answers = read_text(text, **how)
        assert answers.items == ("Elden Ring", "Hades", "Celeste")
        assert answers.places.tolist() == [[0, 1, 2], [0, 0, 2], [0, 2, 1]]
        assert "Grades, best first: S, A" in remarks_of(answers)
    turned = read_text(text, order="F,D,C,B,A,S")
    assert turned.places.tolist() == [[2, 1, 0], [1, 1, 0], [2, 0, 1]]


@pytest.mark.parametrize(
    ("words", "best"),
    [
        (("strongly agree", "neutral", "disagree"), 0),
        (("A-", "A+", "B"), 1),
        (("★★★", "★★★★★", "★"), 1),
        (("4 stars", "2 stars", "5 stars"), 2),
        (("gut", "sehr gut", "mangelhaft"), 1),
    ],
)
def test_known_orders_of_words(words, best):
    rows = [",".join(["who", "x", "y", "z"]), f"1,{','.join(words)}", f"2,{','.join(words)}"]
    answers = read_text("\n".join(rows), better="higher")
    assert answers.to_orderings()[0][0] == "xyz"[best]


def test_items_called_by_letters_are_not_grades():
    answers = read_text("place 1,place 2,place 3\nA,B,C\nB,A,C\nC,B,A\n")
    assert answers.items == ("A", "B", "C")


def test_grades_that_are_not_named_are_refused():
    with pytest.raises(InputError, match="column 'x' holds 'Q', which is not one of the grades"):
        read_text("who,x,y\n1,A,B\n2,Q,A\n3,B,A\n", order="A,B")
    with pytest.raises(InputError, match="order must list the grades once each"):
        read_text("who,x,y\n1,A,B\n", order="A,A")


def test_weights_are_said_and_previews_are_left_out():
    text = (
        "StartDate,Status,Gew_Bund,Tea,Coffee,Milk\n"
        "2024,IP Address,0.81,1,2,3\n2024,Survey Preview,1.3,3,2,1\n"
        "2024,IP Address,1.2,1,3,2\n2024,IP Address,1.12,2,1,3\n"
    )
    answers = read_text(text)
    assert len(answers) == 3
    assert "1 row is a preview or test of the survey" in remarks_of(answers)
    assert "'Gew_Bund' seems to hold weights. They are not used" in remarks_of(answers)
    weighted = read_text(text, weights="Gew_Bund")
    assert weighted.n_rankings == pytest.approx(3.13)
    assert "seems to hold weights" not in remarks_of(weighted)


@pytest.mark.parametrize("name", ["Gewicht", "wgt", "pspwght", "survey_weight", "Gew 2", "poids"])
def test_names_of_weights(name):
    answers = read_text(f"{name},Tea,Coffee,Milk\n0.8,1,2,3\n1.4,2,1,3\n0.9,1,3,2\n")
    assert f"'{name}' seems to hold weights" in remarks_of(answers)


def test_codes_of_previews_in_qualtrics():
    text = (
        "Status,Q1_1,Q1_2,Q1_3\nResponse Type,Rank - Tea,Rank - Milk,Rank - Juice\n"
        '"{""ImportId"":""status""}",a,b,c\n0,1,2,3\n1,3,2,1\n0,2,1,3\n0,1,3,2\n'
    )
    answers = read_text(text)
    assert len(answers) == 3
    assert "preview" in remarks_of(answers)


@pytest.mark.parametrize("mark", ["x", " x", "\N{MULTIPLICATION SIGN}", "*"])
def test_counts_may_be_multiplied_instead(mark):
    """They were taken for parts of names."""
    counted = read_text(f"12{mark} tea > milk\n3{mark} milk > tea\n")
    assert counted.items == ("tea", "milk")
    assert counted.n_rankings == 15
