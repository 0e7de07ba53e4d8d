"""Bad input: the message names file, line, item and remedy, in Python and on the command line."""

import sys

import pytest

from tierwise import InputError, Rankings, TooLargeError, read_rankings
from tierwise.cli.main import main

PREFLIB = """# DATA TYPE: soc
# NUMBER ALTERNATIVES: 2
# NUMBER VOTERS: 7
# NUMBER UNIQUE ORDERS: 1
# ALTERNATIVE NAME 1: a
# ALTERNATIVE NAME 2: b
5: 1,2
"""

# What is wrong: the file's name and bytes, options, and what the message must say.
BAD_FILES = {
    "duplicate item in a row": (
        "x.csv",
        b"place 1,place 2,place 3\na,b,c\n\nb,a,b\n",
        {},
        ["x.csv, line 4", "'b'", "listed twice", "once"],
    ),
    "duplicate item of an assessor": (
        "x.csv",
        b"assessor,item,rank\nAnn,a,1\nAnn,b,2\nAnn,a,3\n",
        {},
        ["x.csv, line 4", "'a'", "'Ann'", "listed twice", "once"],
    ),
    "unknown item": (
        "x.soc",
        PREFLIB.replace("5: 1,2", "7: 1,3").encode(),
        {},
        ["x.soc, line 7", "item 3", "not among the 2 items", "correct the row"],
    ),
    "empty file": ("x.csv", b"", {}, ["x.csv is empty", "at least one ranking"]),
    "a picture": ("x.csv", b"\xff\xd8\xff\xe0\x00\x10JFIF", {}, ["x.csv is a picture", "as CSV"]),
    "a PDF document": ("x.pdf", b"%PDF-1.7\n1 0 obj", {}, ["x.pdf is a PDF document", "as CSV"]),
    "a web page": ("x.html", b"\n<!DOCTYPE html>\n<html>", {}, ["is a web page", "spreadsheet"]),
    "an SPSS file": ("x.sav", b"$FL2@(#) IBM", {}, ["is an SPSS file", "save the table as CSV"]),
    "an older Excel file": (
        "x.xls",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        {},
        ["x.xls is not an .xlsx file", "save it as .xlsx or CSV"],
    ),
    "nothing but blank lines": ("x.soc", b"\n \n", {}, ["x.soc is empty"]),
    "too few cells": (
        "x.csv",
        b"a,b,c\n1,2,3\n1,2\n",
        {},
        ["x.csv, line 3 has 2 cells", "3 columns", "give every line the same number"],
    ),
    "too many cells": ("x.csv", b"a,b\n1,2\n\n2,1,3\n", {}, ["x.csv, line 4 has 3 cells"]),
    "rank 0": (
        "x.csv",
        b"a,b\n1,2\n0,1\n",
        {},
        ["x.csv, line 3", "'a'", "is 0", "whole numbers from 1"],
    ),
    "negative rank": ("x.csv", b"a,b\n1,-2\n", {}, ["x.csv, line 2", "'b'", "is -2", "from 1"]),
    "fractional rank": ("x.csv", b"a,b\n1,1.5\n", {}, ["x.csv, line 2", "'b'", "is 1.5"]),
    "rank that is not a number": (
        "x.csv",
        b"a,b,c\n1,2,3\n1,two,3\n",
        {},
        ["x.csv, line 3", "'b'", "'two'", "not a number", "correct the cell"],
    ),
    "rank 0 in the long layout": (
        "x.csv",
        b"assessor,item,rank\nAnn,a,1\nAnn,b,0\n",
        {},
        ["x.csv, line 3", "'b'", "is 0", "whole numbers from 1"],
    ),
    "a rank beyond the number of items": (
        "x.csv",
        b"a,b,c\n1,2,3\n1,3,4\n",
        {},
        ["x.csv, line 3", "'c'", "is 4", "number of items, here 3", "correct it"],
    ),
    "a rank beyond all numbers": (
        "x.csv",
        b"a,b\n1,99999999999999999999\n",
        {},
        ["x.csv, line 2", "'b'", "is 1e+20", "here 2"],
    ),
    "a rank beyond the number of items in the long layout": (
        "x.csv",
        b"assessor,item,rank\nAnn,a,1\nAnn,b,7\n",
        {},
        ["x.csv, line 3", "'b'", "is 7", "here 2"],
    ),
    "a control character in a cell": (
        "x.csv",
        b"place 1,place 2\na,b\na,\x1b[31mb\n",
        {},
        ["x.csv, line 3", r"'\x1b[31mb'", "control character", "remove it"],
    ),
    "NUL in a name of the long layout": (
        "x.csv",
        b"assessor,item,rank\nAnn,a,1\nAnn,b\0,2\n",
        {},
        ["x.csv, line 3", r"'b\x00'", "control character", "remove it"],
    ),
    "a control character in the header": (
        "x.csv",
        b"a\x07,b\n1,2\n",
        {},
        ["x.csv, line 1", r"'a\x07'", "control character", "remove it"],
    ),
    "a control character in a name of PrefLib": (
        "x.soc",
        PREFLIB.encode().replace(b"2: b", b"2: \x1bb"),
        {},
        ["x.soc, line 6", r"'\x1bb'", "control character", "remove it"],
    ),
    "a number with thousands of digits in PrefLib": (
        "x.soc",
        PREFLIB.replace("5: 1,2", "9" * 5000 + ": 1,2").encode(),
        {},
        ["x.soc, line 7", "5,000 digits", "correct it"],
    ),
    "a PrefLib header with more alternatives than there can be": (
        "x.soc",
        PREFLIB.replace("ALTERNATIVES: 2", "ALTERNATIVES: 1" + "0" * 21).encode(),
        {},
        ["x.soc, line 2", "but the header names 2", "make them agree"],
    ),
    "more sushi than there can be": (
        "x.order",
        b"99999999999999999999999 1\n0 2 0 1\n",
        {"unranked": "below"},
        ["x.order", "of memory", "the limit is", "fewer items"],
    ),
    "a quote in the header that is not closed, and no UTF-8": (
        "x.csv",
        b'"a\n\xe9",b\n1,2\n',
        {},
        ["x.csv, line 2", "0xe9", "UTF-8"],
    ),
    "infinite rank": ("x.csv", b"a,b\n1,inf\n", {}, ["x.csv, line 2", "'b'", "is inf"]),
    "a cell of thousands of characters": (
        "x.csv",
        b"a,b\n1," + b"x" * 5000 + b"\n",
        {},
        ["x.csv, line 2", "...", "not a number"],
    ),
    "equal ranks": (
        "x.csv",
        b"a,b,c\n1,2,3\n2,1,2\n",
        {},
        ["x.csv, line 3", "'a' and 'c' both have rank 2", "allow"],
    ),
    "one item only": ("x.csv", b"place 1,place 2\na,\na,\n", {}, ["x.csv", "'a'", "at least two"]),
    "zero rankings": ("x.csv", b"a,b\n", {}, ["x.csv", "no rankings", "add at least one row"]),
    "zero rankings in PrefLib": (
        "x.soc",
        PREFLIB.replace("5: 1,2\n", "").encode(),
        {},
        ["x.soc", "no rankings"],
    ),
    "negative weights": (
        "x.csv",
        b"a,b,weight\n1,2,3\n2,1,-1\n",
        {},
        ["x.csv, line 3", "weight -1", "0 or more"],
    ),
    "a weight that is not a number": (
        "x.csv",
        b"a,b,weight\n1,2,3\n2,1,x\n",
        {},
        ["x.csv, line 3", "the weight is 'x'", "correct the cell"],
    ),
    "a weight that is missing": (
        "x.csv",
        b"a,b,weight\n1,2,\n",
        {},
        ["x.csv, line 2 has no weight", "fill in the cell"],
    ),
    "no weight at all": ("x.csv", b"a,b,weight\n1,2,0\n", {}, ["x.csv", "all weights are 0"]),
    "bytes that are not UTF-8": (
        "x.csv",
        b"place 1,place 2\n\xc3\xa9,b\ncaf\xe9,a\n",
        {},
        ["x.csv, line 3", "0xe9", "save the file as UTF-8"],
    ),
    "bytes that are not UTF-8 in a header": (
        "x.csv",
        b"caf\xe9,caf\xc3\xa9\n1,2\n",
        {},
        ["x.csv, line 1", "0xe9", "UTF-8"],
    ),
    "bytes that are not UTF-8 in PrefLib": (
        "x.soc",
        PREFLIB.encode().replace(b"1: a", b"1: \xe9"),
        {},
        ["x.soc, line 5", "0xe9", "UTF-8"],
    ),
    "a PrefLib header that contradicts its body": (
        "x.soc",
        PREFLIB.encode(),
        {},
        ["x.soc, line 3", "announces NUMBER VOTERS 7", "body holds 5", "correct the header"],
    ),
    "incomplete answers without unranked": (
        "x.csv",
        b"place 1,place 2,place 3\na,b,c\na,,\n",
        {},
        ["x.csv, line 3 lists 1 of 3 items", "'b'", "unranked", "below", "anywhere"],
    ),
    "a format that it is not": (
        "x.csv",
        b"a,b\n1,2\n",
        {"format": "parquet"},
        ["x.csv cannot be read as Parquet", "format"],
    ),
    "JSON lines in another encoding": (
        "x.jsonl",
        b'{"a": 1, "b": 2}\n{"a": "\xe9", "b": 1}\n',
        {},
        ["x.jsonl, line 2 is not UTF-8", "0xe9", "save the file as UTF-8"],
    ),
    "names of JSON lines in another encoding": (
        "x.jsonl",
        b'{"\xe9": 1, "b": 2}\n',
        {},
        ["x.jsonl, line 1 is not UTF-8", "0xe9"],
    ),
    "lists in lists without end": (
        "x.jsonl",
        b'{"a": 1, "b": 2}\n{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b', "b": 1}\n',
        {},
        ["x.jsonl, line 2", "more than 100 deep", "remove them"],
    ),
    "objects that do not end": (
        "x.jsonl",
        b'{"a": ' * 100_000 + b"1",
        {},
        ["x.jsonl, line 1 is not a JSON object"],
    ),
    "lists that go on in the next line": (
        "x.jsonl",
        b'{"a": 1}\n{"a": ' + b"[\n" * 100_000 + b"]\n" * 100_000 + b"}",
        {},
        ["x.jsonl, line 2 is not a JSON object"],
    ),
    "texts and numbers in a column": (
        "x.jsonl",
        b'{"place 1": "a", "place 2": "b"}\n{"place 1": "b", "place 2": 4}\n',
        {},
        ["x.jsonl cannot be read as JSON lines", "place 2", "string to number"],
    ),
    "withdrawn candidates without a space": (
        "x.blt",
        b'2 1\n-2-2\n1 1 2 0\n0\n"a"\n"b"\n"title"\n',
        {},
        ["x.blt, line 2", "'-2-2'", "such as"],
    ),
    "ballots of nothing but a separator": ("x.blt", "\u2028".encode(), {}, ["x.blt is empty"]),
    "ballots of nothing but a remark": ("x.blt", b"# nothing\n", {}, ["x.blt is empty"]),
    "a cell beyond all measure": (
        "x.csv",
        b"a,b\n1,2\n2," + b"x" * 6_000_000 + b"\n",
        {},
        ["x.csv, line 3 holds 6,000,002 characters", "delete the column"],
    ),
    "a title beyond all measure": (
        "x.csv",
        b"a," + b"x" * 200_000 + b"\n1,2\n",
        {},
        ["x.csv, line 1", "more than 131,072 characters", "delete its column"],
    ),
    "a ballot's cell beyond all measure": (
        "x.csv",
        b"2,1\n3,1,2\n1,2," + b"1" * 200_000 + b"\n",
        {},
        ["x.csv, line 3", "more than 131,072 characters", "delete its column"],
    ),
    "an encoding of Python's own": (
        "x.csv",
        b"a,b\n1,2\n\x80,1\n",
        {"encoding": "punycode"},
        ["'punycode' is unknown", "utf-8"],
    ),
    "an encoding that is none": (
        "x.csv",
        b"a,b\n1,2\n",
        {"encoding": "undefined"},
        ["'undefined' is unknown", "utf-8"],
    ),
    "text that cannot be written as UTF-8": (
        "x.csv",
        b"a,b\n1,2\n+2AA-,1\n",
        {"encoding": "utf-7"},
        ["x.csv, line 3 is not utf-7 text", "encoding"],
    ),
}


@pytest.fixture(params=BAD_FILES)
def bad_file(request, tmp_path):
    name, content, options, said = BAD_FILES[request.param]
    (tmp_path / name).write_bytes(content)
    return tmp_path / name, options, said


def run(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["tierwise", *(str(argument) for argument in arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert printed.out == ""
    return ended.value.code, printed.err


def test_from_python(bad_file):
    path, options, said = bad_file
    with pytest.raises((InputError, TooLargeError)) as refused:
        read_rankings(path, **options)
    message = str(refused.value)
    assert len(message) < 500
    assert message.isprintable()
    assert [part for part in said if part not in message] == [], message


def test_from_the_command_line(bad_file, monkeypatch, capsys):
    path, options, said = bad_file
    choices = [word for name, value in options.items() for word in (f"--{name}", value)]
    code, message = run(["describe", path, *choices], monkeypatch, capsys)
    assert code == 2
    assert message.startswith("tierwise: ")
    assert message.count("\n") == 1
    assert [part for part in said if part not in message] == [], message


def test_a_folder_and_a_file_that_is_not_there(tmp_path, monkeypatch, capsys):
    for path, said in [
        (tmp_path, "is a folder: name a file inside it"),
        (tmp_path / "x", "does not exist"),
    ]:
        with pytest.raises(InputError, match=said):
            read_rankings(path)
        code, message = run(["describe", path], monkeypatch, capsys)
        assert (code, message.count("\n")) == (2, 1)
        assert said in message
        assert str(path) in message


def test_remedies_speak_the_language_of_the_shell(tmp_path, monkeypatch, capsys):
    path = tmp_path / "x.csv"
    path.write_text("place 1,place 2,place 3\na,,\na,b,c\n")
    _, message = run(["describe", path], monkeypatch, capsys)
    assert "--unranked below" in message
    path.write_text("a,b\n1,1\n")
    _, message = run(["describe", path], monkeypatch, capsys)
    assert "--ties allow" in message


def test_orderings_from_python_without_unranked():
    with pytest.raises(InputError, match="unranked"):
        Rankings.from_orderings([["a", "b"], ["b", "a", "c"]])
