"""JSON lines: texts stay texts, and pieces of a file make one table."""

from io import BytesIO

import pytest

from tierwise import InputError, read_battles, read_rankings
from tierwise.files import table_file


def read(content):
    return read_rankings(BytesIO(content), format="jsonl")


def test_texts_that_look_like_dates_stay_texts():
    lines = b'{"place 1": "2026-11-17", "place 2": "2026-11-18"}\n'
    assert read(lines * 2).items == ("2026-11-17", "2026-11-18")


def test_the_last_line_need_not_end():
    lines = b'{"a": 1, "b": 2.5, "c": 3}\n{"a": 3, "b": 1, "c": 2}'
    assert read(lines.replace(b"2.5", b"2")).n_rankings == 2
    with pytest.raises(InputError, match="the file given"):
        read(lines + b'\n{"a": "x", "b": 1, "c": 2}')


def test_pieces_that_differ_are_refused(monkeypatch):
    first = b'{"place 1": "a", "place 2": "b"}\n'
    monkeypatch.setattr(table_file, "_PIECE_BYTES", len(first))
    assert read(first * 3).n_rankings == 3
    with pytest.raises(InputError, match="text in some lines and numbers in others"):
        read(first + b'{"place 1": "b", "place 2": 12}\n' + first)
    with pytest.raises(InputError, match="'place 3' is missing in the first lines"):
        read(first * 2 + b'{"place 1": "b", "place 2": "a", "place 3": "c"}\n' + first)


def test_battles_are_read_in_pieces_that_may_have_more_columns(monkeypatch):
    first = b'{"model_a": "x", "model_b": "y", "winner": "tie"}\n'
    monkeypatch.setattr(table_file, "_PIECE_BYTES", len(first))
    more = b'{"model_a": "x", "model_b": "z", "winner": "tie", "language": "en"}\n'
    assert read_battles(BytesIO(first + more), format="jsonl").items == ("x", "y", "z")
