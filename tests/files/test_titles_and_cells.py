"""Ranks and places as survey programs and cities write them, and tables that are neither."""

from io import BytesIO, StringIO

import pytest

from tierwise import InputError, read

ORDERS = [["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"], ["b", "c", "a"]]
NUMBERS = {
    "1. Platz": [f"{rank}. Platz" for rank in (1, 2, 3)],
    "Rang 1": [f"Rang {rank}" for rank in (1, 2, 3)],
    "Erste Wahl": ["Erste Wahl", "Zweite Wahl", "Dritte Wahl"],
    "Erster": ["Erster", "Zweiter", "Dritter"],
    "1er": ["1er", "2ème", "3ème"],
    "1er choix": ["1er choix", "2e choix", "3e choix"],
    "premier": ["premier", "deuxième", "troisième"],
    "1º lugar": [f"{rank}º lugar" for rank in (1, 2, 3)],
    "primera": ["primera", "segunda", "tercera"],
    "1位": [f"{rank}位" for rank in (1, 2, 3)],
    "第1位": [f"第{rank}位" for rank in (1, 2, 3)],
}


def table(header, rows):
    return StringIO("\n".join(",".join(map(str, row)) for row in [header, *rows]) + "\n")


@pytest.mark.parametrize("written", NUMBERS)
def test_ranks_are_read_in_other_languages(written):
    """They were taken for items, in places that were called as the items are."""
    rows = [[NUMBERS[written][order.index(item)] for item in "abc"] for order in ORDERS]
    answers = read(table(["Bitte ordnen [a]", "Bitte ordnen [b]", "Bitte ordnen [c]"], rows))
    assert answers.to_orderings() == ORDERS


@pytest.mark.parametrize(
    "titles",
    [
        ["Rang 1", "Rang 2", "Rang 3"],
        ["1. Wahl", "2. Wahl", "3. Wahl"],
        ["1er choix", "2ème choix", "3ème choix"],
        ["DEM Mayor Choice 1 of 3", "DEM Mayor Choice 2 of 3", "DEM Mayor Choice 3 of 3"],
        ["1ST CHOICE MAYOR", "2ND CHOICE MAYOR", "3RD CHOICE MAYOR"],
    ],
)
def test_titles_of_places(titles):
    rows = [[number, "Ward 1", *order] for number, order in enumerate(ORDERS, start=7)]
    assert read(table(["Ballot", "Precinct", *titles], rows)).to_orderings() == ORDERS


def test_places_of_two_contests_are_asked_about():
    titles = [f"{office} choice {place}" for office in ("Mayor", "Sheriff") for place in (1, 2, 3)]
    rows = [[*order, *(f"{item}{item}" for item in order)] for order in ORDERS]
    with pytest.raises(InputError, match="for the same place") as caught:
        read(table(titles, rows))
    assert 'items="Mayor choice *" or items="Sheriff choice *"' in str(caught.value)
    answers = read(table(titles, rows), items="Sheriff choice *")
    assert answers.to_orderings() == [[f"{item}{item}" for item in order] for order in ORDERS]


@pytest.mark.parametrize(
    "words", [("red", "blue", "red"), ("1 - sehr gut", "2 - gut", "2 - gut"), ("bon", "bof", "bof")]
)
def test_texts_that_repeat_within_rows_are_not_places(words):
    with pytest.raises(InputError, match=f"hold a text twice, such as '{words[2]}'") as caught:
        read(table(["tea", "milk", "juice"], [words, words[::-1], words, words]))
    assert "to list the grades, best first" in str(caught.value)
    assert "broken" not in str(caught.value)
    best_first = list(dict.fromkeys(words))
    rows = [words, words[::-1], words, words]
    answers = read(table(["tea", "milk", "juice"], rows), order=best_first)
    assert answers.reading.layout == "scores"


def test_numbers_with_labels_are_grades():
    rows = [["1 (not at all)", 2, 3], [4, "5 (very much)", 3], [2, 2, 4], [3, 4, 4]]
    with pytest.raises(InputError, match=r"numbers with words, such as '1 \(not at all\)'"):
        read(table(["tea", "milk", "juice"], rows))
    order = "5 (very much),4,3,2,1 (not at all)"
    answers = read(table(["tea", "milk", "juice"], rows), order=order)
    assert answers.to_orderings()[:2] == [["juice", "milk", "tea"], ["milk", "tea", "juice"]]


@pytest.mark.parametrize("chosen", [("x", "z", "x", "y"), ("A", "B", "A", "A")])
def test_columns_that_say_which_of_two_was_chosen(chosen):
    pairs = [("x", "y"), ("y", "z"), ("z", "x"), ("y", "x")]
    rows = [(*pair, one) for pair, one in zip(pairs, chosen, strict=True)]
    with pytest.raises(InputError, match="'picked' seems to say which of 'one' and") as caught:
        read(table(["one", "the other", "picked"], rows))
    assert 'first="one", second="the other", winner="picked"' in str(caught.value)
    battles = read(
        table(["one", "the other", "picked"], rows),
        first="one",
        second="the other",
        winner="picked",
    )
    assert battles.n_battles == 4


def test_points_are_not_ranks_although_they_are_1_to_k():
    rows = [[3, 2, 1], [2, 3, 1], [3, 1, 2]]
    with pytest.raises(InputError, match=r"'a \(points\)', .* which look like scores"):
        read(table(["a (points)", "b (points)", "c (points)"], rows))
    assert read(table(["a", "b", "c"], rows)).to_orderings()[0] == ["c", "b", "a"]


@pytest.mark.parametrize("rank", ["0", "1.5"])
def test_numbers_that_are_not_ranks_can_be_ordered(rank):
    rows = [[rank, 2, 3], [1, 2, 3], [3, 1, 2], [2, 1, 3]]
    with pytest.raises(InputError, match=f"rank of item 'a' is {rank}") as caught:
        read(table(["a", "b", "c"], rows))
    assert 'better="lower" if they need not be ranks' in str(caught.value)
    assert read(table(["a", "b", "c"], rows), better="lower").to_orderings()[0] == ["a", "b", "c"]


def test_a_table_of_candidates_with_one_column_per_voter_is_not_read_as_it_stands():
    rows = [["Ann", 1, 1, 2], ["Bob", 2, 3, 1], ["Cy", 3, 2, 3]]
    with pytest.raises(InputError, match="each row seems to be an item: turn the table"):
        read(table(["candidate", "voter 1", "voter 2", "voter 3"], rows))


def test_a_matrix_of_wins_holds_no_answers():
    rows = [["tea", 0, 12, 15], ["milk", 8, 0, 11], ["juice", 5, 9, 0]]
    with pytest.raises(InputError, match="the rows and the columns are the same items"):
        read(table(["item", "tea", "milk", "juice"], rows))


@pytest.mark.parametrize("name", ["Number of ballots", "Anzahl", "n", "Freq", "Stimmen"])
def test_counts_beside_answers_are_asked_about(name):
    header, rows = ["1st", "2nd", "3rd", name], [[*ORDERS[0], 45], [*ORDERS[1], "1,200"]]
    rows = [[*row[:3], f'"{row[3]}"'] for row in rows]
    with pytest.raises(InputError, match=f"'{name}' may say how often each answer") as caught:
        read(table(header, rows))
    assert f'weights="{name}" if it does' in str(caught.value)
    assert len(read(table(header, rows), assessor=name)) == 2


def test_weights_with_decimal_commas_are_read_by_the_other_cells():
    rows = [[*ORDERS[0], '"1,560"'], [*ORDERS[1], '"0,440"']]
    answers = read(table(["1st", "2nd", "3rd", "Gewicht"], rows), weights="Gewicht")
    assert answers.weights.tolist() == [1.56, 0.44]


@pytest.mark.parametrize("name", ["respondent_id", "BallotID", "Voter No.", "Participant number"])
def test_numbers_of_people_are_recognised_by_their_names(name):
    rows = [[number, 1, 2, 3] for number in (2, 1, 3, 1)]
    answers = read(table([name, "a", "b", "c"], rows))
    assert answers.items == ("a", "b", "c")


def test_a_column_that_separates_equal_ranks_is_named():
    rows = [
        (person, question, item, rank)
        for person in "xy"
        for question, items in (("drinks", "ab"), ("food", "cd"))
        for rank, item in enumerate(items, start=1)
    ]
    header = ["respondent_id", "question", "option", "rank"]
    with pytest.raises(InputError, match="both have rank 1") as caught:
        read(table(header, rows))
    assert 'assessor=["respondent_id", "question"]' in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x1f\x8b\x08\x00abc", "x is compressed with gzip, not a table: unpack it"),
        ("番号,寿司\n1,2\n".encode("shift_jis"), r"use encoding=\.\.\. if you know its encoding"),
    ],
)
def test_files_that_have_to_be_unpacked_or_written_otherwise(content, said):
    file = BytesIO(content)
    file.name = "x"
    with pytest.raises(InputError, match=said):
        read(file)
