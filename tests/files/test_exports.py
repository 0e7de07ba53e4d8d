"""Files in the style of survey programs: each is read as it must be, or refused in words that help.

The files lie in the folder ``exports``. All answers are invented.
"""

import csv
import re
from importlib.util import find_spec
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tierwise as tw
from tierwise import InputError, read_rankings

FOLDER = Path(__file__).parent / "exports"
ANSWERS = [
    ["Coffee", "Tea", "Juice", "Milk"],
    ["Tea", "Coffee", "Milk", "Juice"],
    ["Tea", "Juice", "Coffee", "Milk"],
    ["Juice", "Tea", "Milk", "Coffee"],
    ["Coffee", "Juice", "Tea", "Milk"],
]
STARS = [
    ["Coffee", "Tea", "Juice", "Milk"],
    ["Tea", ["Coffee", "Milk"], "Juice"],
    ["Tea", "Juice", ["Coffee", "Milk"]],
    ["Juice", "Tea", ["Coffee", "Milk"]],
    ["Coffee", "Juice", "Tea", "Milk"],
]
BALLOTS = [
    ["Col Costello", "Ann Baird"],
    ["Ann Baird", "Col Costello", "Di Doyle", "Ed Egan"],
    ["Ed Egan", "Ann Baird"],
]
FRENCH = {"Tea": "Thé", "Coffee": "Café", "Milk": "Lait", "Juice": "Jus"}
GERMAN = {"Tea": "Tee", "Coffee": "Kaffee", "Milk": "Milch", "Juice": "Säfte"}


def translated(answers, words):
    return [[words[item] for item in answer] for answer in answers]


READ = {
    "qualtrics.csv": ({}, ANSWERS),
    "google-grid.csv": ({}, ANSWERS),
    "google-places.csv": ({}, ANSWERS),
    "microsoft-forms.csv": ({}, ANSWERS),
    "surveymonkey.csv": ({}, ANSWERS),
    "limesurvey.csv": ({}, ANSWERS),
    "excel.xlsx": ({"sheet": "Answers"}, ANSWERS),
    "french.csv": ({}, translated(ANSWERS, FRENCH)),
    "small-numbers.csv": ({}, ANSWERS),
    "semicolons-latin-1.csv": ({}, translated(ANSWERS, GERMAN)),
    "tabs-utf-16.txt": ({}, ANSWERS),
    "bom.csv": ({}, ANSWERS),
    "title-rows.csv": ({}, ANSWERS),
    "places.csv": ({}, ANSWERS),
    "gender-code.csv": ({"items": "Tea,Coffee,Milk,Juice"}, ANSWERS),
    "two-questions.csv": ({"items": "Q1_*"}, ANSWERS),
    "always-last.csv": (
        {"items": "Tea,Coffee,Milk"},
        [["Coffee", "Tea", "Milk"], ["Tea", "Coffee", "Milk"], ["Coffee", "Milk", "Tea"]],
    ),
    "stars.csv": ({"better": "higher"}, STARS),
    "scores-decimal-commas.csv": ({"better": "higher"}, STARS),
    "irish-ballots.csv": (
        {"unranked": "below"},
        [
            ["Baird", "Costello"],
            ["Costello", "Egan"],
            ["Doyle", "Costello", "Baird", "Egan"],
            ["Doyle"],
            ["Costello", "Baird", "Doyle", "Egan"],
        ],
    ),
    "scottish-ballots.csv": (
        {"unranked": "below"},
        [
            ["Col Costello (Orchard)", "Ann Baird (Independent)"],
            [
                *("Ann Baird (Independent)", "Col Costello (Orchard)"),
                *("Di Doyle (Meadow)", "Ed Egan (Orchard)"),
            ],
            ["Ed Egan (Orchard)", "Ann Baird (Independent)"],
            ["Di Doyle (Meadow)"],
        ],
    ),
    "ballots.blt": (
        {"unranked": "below"},
        [*BALLOTS, [["Di Doyle", "Ed Egan"], "Ann Baird", "Col Costello"]],
    ),
}
REFUSED = {
    "gender-code.csv": r"'Gender' .* not an item: use items=\[\"Tea\", \"Coffee\",",
    "two-questions.csv": r"'Q1_Tea' and 'Q2_Red' belong to different .* items=\"Q1_\*\"",
    "stars.csv": r"from 1 to 5, which look like scores, .* better=\"higher\" if 5 is best",
    "scores-decimal-commas.csv": r"from 1\.5 to 5\.5, which look like scores",
    "typing-error.csv": r"line 6: the rank of item 'Milk' is 44",
    "irish-ballots.csv": r"line 2 lists 2 of 4 items",
    "scottish-ballots.csv": r"line 2 lists 2 of 4 items",
    "ballots.blt": r"line 3 lists 2 of 4 items",
}
# What a word on stderr, or a page, must say.
SAID = {
    "qualtrics.csv": ["'Q2'", "'Q1_DO_1'", "1 row lists no item and is set aside (line 9)"],
    "french.csv": ["'Identifiant du répondant' holds a different number in every row", "'Âge'"],
    "title-rows.csv": ["2 rows above the header were left out"],
    "surveymonkey.csv": ["'Please rank these drinks', which is left out of the items' names"],
    "ballots.blt": ["Line 7 lists no candidate and was set aside (3 ballots)"],
    "always-last.csv": ["1 blank line was skipped (line 3)"],
}


def needs(name):
    if name.endswith(".xlsx") and find_spec("python_calamine") is None:
        pytest.skip("needs python-calamine")


def content_of(answers):
    """Return answers as they are compared: the order of items in a tie says nothing."""
    return [
        [sorted(entry) if isinstance(entry, list) else entry for entry in answer]
        for answer in answers
    ]


def test_every_file_is_tried():
    assert {file.name for file in FOLDER.iterdir()} == READ.keys() | REFUSED.keys()


@pytest.mark.parametrize("name", READ)
def test_files_that_are_read(name):
    needs(name)
    options, expected = READ[name]
    answers = read_rankings(FOLDER / name, **options)
    assert content_of(answers.to_orderings()) == content_of(expected)
    assert answers.reading.n_answers == len(expected)
    assert answers.reading.file == name
    for words in SAID.get(name, ()):
        assert words in " ".join(answers.reading.set_aside())


@pytest.mark.parametrize("name", REFUSED)
def test_files_that_are_refused(name):
    with pytest.raises(InputError, match=REFUSED[name]) as refused:
        read_rankings(FOLDER / name)
    assert name in str(refused.value)


@pytest.mark.parametrize(
    ("name", "encoding", "separator"),
    [
        ("semicolons-latin-1.csv", "Latin-1 (Windows-1252)", "semicolon"),
        ("tabs-utf-16.txt", "UTF-16", "tab"),
        ("bom.csv", "UTF-8", "comma"),
    ],
)
def test_how_text_is_written_is_said(name, encoding, separator):
    notes = read_rankings(FOLDER / name).reading
    assert (notes.encoding, notes.separator) == (encoding, separator)


def test_the_encoding_can_be_named():
    file = FOLDER / "semicolons-latin-1.csv"
    assert read_rankings(file, encoding="latin-1") == read_rankings(file)
    with pytest.raises(InputError, match="line 1 is not UTF-8"):
        read_rankings(file, encoding="utf-8")
    with pytest.raises(InputError, match="encoding 'klingon' is unknown"):
        read_rankings(file, encoding="klingon")


def test_sheets():
    needs("excel.xlsx")
    file = FOLDER / "excel.xlsx"
    assert read_rankings(file, sheet=2) == read_rankings(file, sheet="2")
    with pytest.raises(InputError, match=r"^[^(]*there is no sheet 'Other': use sheet="):
        read_rankings(file, sheet="Other")
    with pytest.raises(InputError, match=r"excel\.xlsx"):
        read_rankings(file)
    with pytest.raises(InputError, match="only Excel files have sheets"):
        read_rankings(FOLDER / "bom.csv", sheet=1)


def test_the_documentation_shows_these_files():
    page = FOLDER.parents[2] / "docs" / "howto" / "my-data.md"
    shown = dict(
        re.findall(
            r"^```{code-block} text\n:caption: (.+?)\n\n(.*?)^```$",
            page.read_text(encoding="utf-8"),
            re.M | re.S,
        )
    )
    assert len(shown) >= 15
    for name, text in shown.items():
        assert text == (FOLDER / name).read_text(encoding="utf-8"), name


ENCODINGS = {
    "semicolons-latin-1.csv": "cp1252",
    "tabs-utf-16.txt": "utf-16",
    "bom.csv": "utf-8-sig",
}
SEPARATORS = {
    "semicolons-latin-1.csv": ";",
    "tabs-utf-16.txt": "\t",
    "scores-decimal-commas.csv": ";",
}
# The column that says whose answer it is, in whatever words.
OF_WHOM = {
    "french.csv": 0,
    "small-numbers.csv": 0,
    "semicolons-latin-1.csv": 0,
    "tabs-utf-16.txt": 0,
    "bom.csv": 0,
    "stars.csv": 0,
    "scores-decimal-commas.csv": 0,
    "irish-ballots.csv": 0,
    "places.csv": 1,
    "microsoft-forms.csv": 0,
    "limesurvey.csv": 0,
    "google-grid.csv": 0,
}
TITLES = ["ID", "Identifiant", "Nummer", "Ветеран", "回答者", "Key", "x", "Respuesta nº", "Rank me"]
TABLES = [
    name
    for name in sorted(READ)
    if name.endswith((".csv", ".txt")) and name != "scottish-ballots.csv"
]


def rows_of(name):
    text = (FOLDER / name).read_bytes().decode(ENCODINGS.get(name, "utf-8"))
    rows = list(csv.reader(StringIO(text), delimiter=SEPARATORS.get(name, ",")))
    width = max(map(len, rows))
    return [row + [""] * (width - len(row)) for row in rows]


def n_headers(name):
    return {"qualtrics.csv": 3, "surveymonkey.csv": 2, "title-rows.csv": 3}.get(name, 1)


def written(name, rows):
    text = StringIO()
    csv.writer(text, delimiter=SEPARATORS.get(name, ","), lineterminator="\n").writerows(rows)
    file = BytesIO(text.getvalue().encode(ENCODINGS.get(name, "utf-8"), errors="replace"))
    file.name = name
    return file


@st.composite
def changed_tables(draw):
    """Tables of which columns change places, get other titles, or are joined by remarks."""
    name = draw(st.sampled_from(TABLES))
    rows = rows_of(name)
    first = n_headers(name)
    if name in OF_WHOM and draw(st.booleans()):
        title = draw(st.sampled_from(TITLES))
        rows[first - 1][OF_WHOM[name]] = title
    kind = draw(st.sampled_from(["none", "remarks", "ages", "dates", "empty"]))
    if kind != "none":
        cell = {
            "remarks": st.sampled_from(["", "fine", "why; not", "1 or 2", "n/a", "Tea"]),
            "ages": st.integers(18, 90).map(str),
            "dates": st.dates().map(str),
            "empty": st.just(""),
        }[kind]
        head = ["", "", ""][:first]
        head[0 if name in ("qualtrics.csv", "surveymonkey.csv") else first - 1] = "Note"
        rows = [
            [*row, head[number] if number < first else draw(cell)]
            for number, row in enumerate(rows)
        ]
    # A title above several columns stays above the first of them.
    together = [4, 5, 6, 7] if name == "surveymonkey.csv" else []
    alone = [[column] for column in range(len(rows[0])) if column not in together]
    within = [draw(st.permutations(together))] if together else []
    order = [column for block in draw(st.permutations([*alone, *within])) for column in block]
    moved = [[row[column] for column in order] for row in rows]
    for position, column in enumerate(order):
        if column in together:
            first_of_all = column == within[0][0]
            moved[0][position] = rows[0][together[0]] if first_of_all else ""
    return name, moved


@settings(max_examples=60, deadline=None)
@given(changed=changed_tables(), with_options=st.booleans())
def test_columns_may_stand_anywhere_and_be_called_anything(changed, with_options):
    """The answers are the same, or the file is refused; they are never about other items."""
    name, rows = changed
    options, expected = READ[name]
    try:
        answers = read_rankings(written(name, rows), **(options if with_options else {}))
    except InputError:
        return
    if name == "always-last.csv" and not with_options:
        # Nothing but the user can tell this code from an item that all rank last: that is said.
        assert "'Wave' is last in every row" in " ".join(map(str, answers.reading.remarks))
        return
    assert content_of(answers.to_orderings()) == content_of(expected)


def test_titles_above_a_header_that_does_not_name_its_first_column():
    text = 'Benchmarks 2024\n\n,MMLU,ARC,Code\nx,61.5,40,3\ny,50,30,2\n"z, large",70,20,1\n'
    found = tw.read(StringIO(text), better="higher")
    assert found.items == ("x", "y", "z, large")
    assert found.to_orderings()[0] == ["z, large", "x", "y"]
    assert any("1 row above the header was left out" in str(r) for r in found.reading.remarks)
