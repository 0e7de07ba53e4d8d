"""Sheets of Excel files: read as they are, and refused where they take far more than they hold."""

from io import BytesIO
from zipfile import ZipFile

import pytest

from tests.robustness.programs import python
from tests.workbooks import KIND, MAIN, OFFICE, PACKAGE, PARTS, sheet_of, workbook
from tierwise import InputError, TierwiseError, read_rankings
from tierwise import read as tw_read
from tierwise.files.excel import sheet_names
from tierwise.files.source import find_source

pytest.importorskip("python_calamine", reason="needs python-calamine")

ROWS = [["Tea", "Coffee", "Milk"], ["1", "2", "3"], ["3", "1", "2"]]
CORNER = (
    '<row r="1"><c r="A1" t="inlineStr"><is><t>Tea</t></is></c></row>'
    '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
)


def read(content):
    return read_rankings(BytesIO(content), format="xlsx")


def packed(name):
    """Return a packed file of another kind, such as a document."""
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        archive.writestr(name, "tea,milk")
    return content.getvalue()


def test_cells_with_and_without_references_and_shared_texts():
    expected = [["Tea", "Coffee", "Milk"], ["Coffee", "Milk", "Tea"]]
    assert read(workbook(sheet_of(ROWS))).to_orderings() == expected
    titles = "".join(
        f'<c r="{column}1" t="s"><v>{number}</v></c>' for number, column in enumerate("BCD")
    )
    ranks = "".join(
        f'<row r="{row}">'
        + "".join(
            f'<c r="{column}{row}"><v>{rank}</v></c>'
            for column, rank in zip("BCD", ROWS[row - 2], strict=True)
        )
        + "</row>"
        for row in (3, 4)
    )
    content = workbook(f'<row r="1">{titles}</row>{ranks}', ROWS[0])
    assert read(content).to_orderings() == expected
    assert sheet_names(find_source(BytesIO(content))) == ["Answers"]


@pytest.mark.thorough
def test_a_cell_in_the_last_corner_is_refused(tmp_path):
    """In a process of its own: the system may end one that asks for 512 GB."""
    (tmp_path / "bomb.xlsx").write_bytes(workbook(CORNER))
    assert (tmp_path / "bomb.xlsx").stat().st_size < 2000
    code = """
    import sys
    from tierwise import InputError, read_rankings
    try:
        read_rankings(sys.argv[1])
    except InputError as error:
        print(error)
    """
    done = python(code, tmp_path / "bomb.xlsx")
    assert done.returncode == 0, done.stderr
    assert "bomb.xlsx: sheet 'Answers' has 2 cells in 1,048,576 rows" in done.stdout


def test_other_sheets_are_not_measured():
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    other = f'<worksheet xmlns="{main}"><sheetData>{CORNER}</sheetData></worksheet>'
    content = workbook(sheet_of(ROWS), **{"xl/worksheets/sheet2.xml": other})
    assert read(content).n_rankings == 2


def two_sheets(first, second):
    """Return an Excel file with the sheets Answers and Results."""
    sheets = PARTS["xl/workbook.xml"].replace(
        "</sheets>", '<sheet name="Results" sheetId="2" r:id="r3"/></sheets>'
    )
    relations = PARTS["xl/_rels/workbook.xml.rels"].replace(
        "</Relationships>",
        f'<Relationship Id="r3" Type="{OFFICE}/worksheet" Target="worksheets/sheet2.xml"/>'
        "</Relationships>",
    )
    types = PARTS["[Content_Types].xml"].replace(
        "</Types>",
        f'<Override PartName="/xl/worksheets/sheet2.xml" ContentType="{KIND}.worksheet+xml"/>'
        "</Types>",
    )
    parts = {
        "[Content_Types].xml": types,
        "xl/workbook.xml": sheets,
        "xl/_rels/workbook.xml.rels": relations,
        "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{sheet_of(second)}'
        "</sheetData></worksheet>",
    }
    return workbook(sheet_of(first), **parts)


def test_other_sheets_are_named():
    content = two_sheets(ROWS, ROWS[:2])
    assert "Sheet 'Results' was not read" in str(read(content).reading)
    assert "not read" not in str(read_rankings(BytesIO(content), sheet=1).reading)
    assert "not read" not in str(read(two_sheets(ROWS, [])).reading)
    with pytest.raises(InputError, match=r"a single column, and there are others: use sheet="):
        read(two_sheets([["README"], ["see the other sheet"]], ROWS))


@pytest.mark.parametrize("shared", [False, True])
def test_cells_of_any_length_are_refused(shared):
    text = "x" * 3_000_000
    cell = '<c t="s"><v>0</v></c>' if shared else f'<c t="inlineStr"><is><t>{text}</t></is></c>'
    content = workbook(f'<row r="1">{cell}</row>', [text] if shared else ())
    assert len(content) < 10_000
    with pytest.raises(InputError, match="a cell holds more than 1,048,576 characters"):
        read(content)


def test_texts_that_many_cells_share_count_as_often(monkeypatch):
    monkeypatch.setenv("TIERWISE_MEMORY", "100MB")
    row = "<row>" + '<c t="s"><v>0</v></c>' * 10 + "</row>"
    content = workbook(row * 200, ["x" * 30_000])
    assert len(content) < 3000
    with pytest.raises(
        TierwiseError, match=r"200 rows and 10 columns .* take 2[0-9]{2} MB of memory"
    ):
        read(content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xd0\xcf\x11\xe0" + bytes(600), r"is not an \.xlsx file .* protected by a password"),
        (b"PK\x03\x04" + bytes(600), r"cannot be read as an Excel file"),
        (workbook("<row><c></row>"), "cannot be read as an Excel file"),
        (workbook("", **{"xl/workbook.xml": "<workbook/>"}), "there is no sheet None"),
        (packed("content.xml"), r"not an Excel file, but another packed file .* save the table"),
        (workbook("")[:-30], "cannot be read as an Excel file"),
    ],
)
def test_what_is_not_a_workbook(content, said):
    with pytest.raises(InputError, match=said):
        read(content)


def book_of(sheets, hidden=()):
    """Return an Excel file with several sheets, by name, of which some are hidden."""
    kinds, related, listed, parts = "", "", "", {}
    types = PARTS["[Content_Types].xml"]
    for number, (name, rows) in enumerate(sheets.items(), start=1):
        state = ' state="hidden"' if name in hidden else ""
        listed += f'<sheet name="{name}" sheetId="{number}" r:id="s{number}"{state}/>'
        related += (
            f'<Relationship Id="s{number}" Type="{OFFICE}/worksheet" '
            f'Target="worksheets/sheet{number}.xml"/>'
        )
        part = f"/xl/worksheets/sheet{number}.xml"
        if part not in types:
            kinds += f'<Override PartName="{part}" ContentType="{KIND}.worksheet+xml"/>'
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{MAIN}"><sheetData>{sheet_of(rows)}</sheetData></worksheet>'
        )
    return workbook(
        "",
        **{
            **parts,
            "[Content_Types].xml": types.replace("</Types>", f"{kinds}</Types>"),
            "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}'
            "</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
            f"{related}</Relationships>",
        },
    )


DATA = [("a", "b", "c"), (1, 2, 3), (2, 1, 3)]


def test_hidden_sheets_are_not_read_unless_they_are_named():
    """The first was read, whether people see it or not."""
    lists = [("x", "y"), ("yes", "no")]
    content = book_of({"lists": lists, "Data": DATA}, hidden=["lists"])
    assert read(content).items == ("a", "b", "c")
    assert "not read" not in str(read(content).reading)
    named = read_rankings(BytesIO(content), format="xlsx", sheet="lists")
    assert named.items == ("yes", "no")


def test_sheets_that_are_not_read_are_named():
    content = book_of({"2022": DATA, "2023": DATA})
    remark = read(content).reading.remarks[0]
    assert str(remark) == "Sheet '2023' was not read: use sheet=\"2023\" to read that sheet"
    named = read_rankings(BytesIO(content), format="xlsx", sheet="2023")
    assert "not read" not in str(named.reading)


@pytest.mark.parametrize("reader", [tw_read, read_rankings])
def test_where_the_first_sheet_holds_no_table_the_others_are_named(reader):
    content = book_of({"Read me": [["About this file"], ["Ask Ann"]], "Data": DATA})
    with pytest.raises(InputError, match=r'a single column.*sheet="Data" if it holds the answers'):
        reader(BytesIO(content), format="xlsx")


def test_archives_that_are_not_workbooks():
    file = BytesIO()
    with ZipFile(file, "w") as packed:
        packed.writestr("answers.csv", "a,b\n1,2\n")
    with pytest.raises(
        InputError, match=r"not an Excel file, but another packed file .*: unpack it"
    ):
        read(file.getvalue())
