"""Excel files as small as they can be, with a single sheet."""

from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{KIND}.worksheet+xml"/>'
    "</Types>",
    "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
    f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
    '<sheet name="Answers" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="r2" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
    "</Relationships>",
}


def workbook(cells, strings=(), **others):
    """Return an Excel file whose sheet holds these elements, and the texts that cells share."""
    shared = "".join(f"<si><t>{text}</t></si>" for text in strings)
    parts = {
        **PARTS,
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData>'
        "</worksheet>",
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{shared}</sst>',
        **others,
    }
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as packed:
        for name, text in parts.items():
            packed.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + text)
    return file.getvalue()


def sheet_of(rows):
    """Return the elements of rows of texts."""
    return "".join(
        f'<row r="{number}">'
        + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row)
        + "</row>"
        for number, row in enumerate(rows, start=1)
    )
