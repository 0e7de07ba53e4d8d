"""Tables as files hold them: what is written is read back, and nothing in a name is obeyed."""

import csv
import json
from html.parser import HTMLParser
from io import BytesIO, StringIO

import pytest

from tierwise._util.columns import aligned, display_width, fitted, shortened
from tierwise._util.tables import TABLE_ENDINGS, Table, check_ending, in_latex, workbook
from tierwise.errors import InputError

HOSTILE = ["a|b & c_d", "<script>alert(1)</script>", '=1+"2"', "50% {x} \\ ~ ^ # $", "お茶 | ü"]


def table(**more):
    return Table(
        ("item", "share"),
        [(name, f"{number}%") for number, name in enumerate(HOSTILE)],
        values={"item": HOSTILE, "share": [0.0, 0.01, None, 0.03, 0.04]},
        **more,
    )


class Cells(HTMLParser):
    """What a browser would show in the cells of a table."""

    def __init__(self):
        super().__init__()
        self.cells, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        if self.tags[-1] in ("td", "th") and data.strip():
            self.cells[-1] += data


@pytest.mark.parametrize("ending", TABLE_ENDINGS)
def test_every_ending_is_written(ending, tmp_path):
    path = tmp_path / f"table{ending.upper()}"
    table(caption="Shares", note="Made up.").write(path)
    assert path.stat().st_size > 0


def test_csv_and_json_hold_the_values_in_full(tmp_path):
    rows = list(csv.reader(StringIO(table().to_csv())))
    assert rows[0] == ["item", "share"]
    assert [row[0] for row in rows[1:]] == HOSTILE
    table().write(tmp_path / "table.json")
    read = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    assert read == table().records()
    assert read[2] == {"item": '=1+"2"', "share": None}


def test_names_stay_text_in_html():
    parsed = Cells()
    parsed.feed(table().to_html())
    assert "script" not in parsed.tags
    assert parsed.cells[2::2] == HOSTILE


def test_latex_has_as_many_cells_as_the_table():
    lines = table(caption="100%", note="a_b").to_latex().splitlines()
    body = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(body) == len(HOSTILE)
    # An ampersand that is not escaped ends a cell.
    assert all(line.replace(r"\&", "").count("&") == 1 for line in body)
    assert r"\caption{100\%}" in lines
    assert in_latex("x_1^2") == r"x\_1\textasciicircum{}2"


def test_markdown_has_as_many_cells_as_the_table():
    lines = table().to_markdown().splitlines()
    assert lines[1] == "| --- | ---: |"
    assert all(line.replace(r"\|", "").count("|") == 3 for line in lines)
    assert r"\<script>" in lines[3]


def test_excel_reads_what_was_written():
    calamine = pytest.importorskip("python_calamine")
    book = calamine.CalamineWorkbook.from_filelike(BytesIO(table().to_xlsx()))
    rows = book.get_sheet_by_index(0).to_python()
    assert rows[0] == ["item", "share"]
    assert [row[0] for row in rows[1:]] == HOSTILE
    assert [row[1] for row in rows[1:]] == [0.0, 0.01, "", 0.03, 0.04]
    assert table().to_xlsx() == table().to_xlsx()
    # Control characters, which XML cannot hold, are shown.
    strange = workbook([["a\x00b\ufffe", float("nan"), True]])
    sheet = calamine.CalamineWorkbook.from_filelike(BytesIO(strange)).get_sheet_by_index(0)
    assert sheet.to_python() == [[r"a\x00b", "", "True"]]


def test_an_ending_that_is_not_possible_is_refused_with_the_list():
    with pytest.raises(InputError, match=r"out\.pdf does not end in \.txt, .* or \.xlsx: give"):
        check_ending("out.pdf")
    with pytest.raises(InputError, match=r"x does not end in \.html: give it this ending"):
        check_ending("x", [".html"])
    assert check_ending("folder.csv/Page.HTM") == ".html"


@pytest.mark.parametrize("width", [30, 40, 60, 80])
def test_no_line_is_wider_than_the_terminal(width):
    header = ["tier", "item", "rank (95%)", "P(best)", "P(this tier)", "P(better than next)"]
    rows = [["1", "claude-3-5-sonnet-20241022-with-a-long-name", "1 to 3", "55%", "99%", "51%"]] * 3
    lines, said = fitted([header, *rows], width, left=(1,), droppable=(5, 4, 3))
    assert max(map(len, lines)) <= width
    # What is not shown is named.
    for place in (3, 4, 5):
        assert (header[place] in lines[0]) != (header[place] in said)


def test_wide_letters_take_two_columns():
    lines = aligned([["お茶", "1"], ["tea", "10"]])
    assert len({display_width(line) for line in lines}) == 1
    assert display_width(shortened("緑茶" * 10, 9)) <= 9
    assert shortened("gpt-4", 10) == "gpt-4"
