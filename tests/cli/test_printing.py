"""What the program prints: numbers with the right words, and nothing that a terminal obeys."""

import json
import sys
from time import monotonic, sleep

import pytest
from typer.testing import CliRunner

from tierwise import ClusteredMallows, Tiers, search
from tierwise._compiling.kernel import working_time
from tierwise.cli import printing
from tierwise.cli.main import app, main
from tierwise.errors import InputError

RED = "\x1b[31mred\x9b\u202e"
SHOWN = r"\x1b[31mred\x9b\u202e"


def described(tmp_path, content):
    path = tmp_path / "answers.csv"
    path.write_text(content, encoding="utf-8")
    result = CliRunner().invoke(app, ["describe", str(path), "--unranked", "below"])
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def test_one_ranking_is_not_many(tmp_path):
    text = described(tmp_path, "a,b\n1,2\n")
    assert "1 ranking of 2 items It lists every item." in text
    text = described(tmp_path, "a,b\n1,2\n1,2\n")
    assert "2 rankings of 2 items 1 of them is distinct. Every ranking lists every item." in text
    text = described(tmp_path, "a,b,c\n1,2,3\n1,,\n")
    assert "2 rankings of 3 items 2 of them are distinct. 1 (50%) is complete" in text


def test_one_answer_is_not_many(tmp_path):
    text = described(tmp_path, "assessor,preferred,other\nAnn,a,b\n")
    assert "1 answer about pairs of 2 items, by 1 assessor" in text


def test_text_and_tables_show_what_a_terminal_would_obey(capsys):
    table = printing.new_table()
    table.add_column(RED)
    table.add_row(RED)
    printing.print_result([f"first {RED}\nsecond", printing.heading(RED), table])
    printing.note(RED)
    printed = capsys.readouterr()
    assert printed.out.count(SHOWN) == 4
    assert "\nsecond\n" in printed.out
    assert printed.err == SHOWN + "\n"
    assert not set("\x1b\x9b\u202e") & set(printed.out + printed.err)


def test_json_holds_the_same_text_without_control_characters(capsys):
    printing.print_json({"items": [RED, "寿司"]}, None)
    text = capsys.readouterr().out
    assert json.loads(text) == {"items": [RED, "寿司"]}
    assert "寿司" in text
    assert not set("\x1b\x9b\u202e") & set(text)


def test_messages_show_what_a_terminal_would_obey(monkeypatch, capsys):
    def fail(*_arguments, **_options):
        raise InputError(f"file {RED} is not one")

    monkeypatch.setattr("tierwise.data.read.read", fail)
    monkeypatch.setattr(sys, "argv", ["tierwise", "fit", "answers.csv"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().err == f"tierwise: file {SHOWN} is not one\n"


def test_quoted_cells_are_escaped(monkeypatch, capsys, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n1,\x1b[31m\xc2\x9b2\n")
    monkeypatch.setattr(sys, "argv", ["tierwise", "fit", str(path)])
    with pytest.raises(SystemExit, match="2"):
        main()
    output = capsys.readouterr().err
    assert r"\x1b[31m" in output
    assert not set("\x1b\x9b") & set(output)


def test_progress_is_told_in_lines_where_there_is_no_terminal(capsys):
    now = [0.0]
    progress = printing.LinesOfProgress(10.0, lambda: now[0])
    for done in range(1, 61):
        now[0] = float(done)
        progress("all sizes, kendall", done, 1260)
    assert capsys.readouterr().err.splitlines() == [
        f"all sizes, kendall: {done} of 1,260" for done in (10, 20, 30, 40, 50, 60)
    ]


def test_no_progress_is_told_of_what_is_finished(capsys):
    now = [0.0]
    progress = printing.LinesOfProgress(10.0, lambda: now[0])
    # What a first use compiles takes longer than the work itself.
    now[0] = 30.0
    for chain in range(1, 5):
        progress(f"chain {chain}", 1, 1)
    assert capsys.readouterr().err == ""
    progress("resampling", 1, 40)
    assert capsys.readouterr().err == "resampling: 1 of 40\n"


def test_the_clock_of_progress_stands_still_while_kernels_are_compiled():
    from numba.core import event

    before = working_time(), monotonic()
    with event.trigger_event("numba:compile"), event.trigger_event("numba:compile"):
        sleep(0.2)
    after = working_time(), monotonic()
    assert after[1] - before[1] >= 0.2
    assert after[0] - before[0] == pytest.approx(after[1] - before[1] - 0.2, abs=0.1)


def test_progress_is_a_bar_on_a_terminal_and_nothing_if_quiet(monkeypatch):
    assert isinstance(printing.progress(quiet=False), printing.LinesOfProgress)
    assert printing.progress(quiet=True) == "off"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert printing.progress(quiet=False) == "auto"


def test_nothing_is_counted_twice_under_one_name():
    reports = []
    data = ClusteredMallows(Tiers([["a", "b"], ["c", "d", "e"]]), 0.5).sample(40, rng=1)
    search(data, rng=1, progress=lambda what, done, total: reports.append((what, done, total)))
    assert len(reports) > 10
    steps = [(what, done) for what, done, _ in reports]
    assert len(set(steps)) == len(steps)
    assert {what for what, *_ in reports} >= {"all sizes, kendall", "all sizes, inversions"}


def test_notes_are_broken_at_the_width_of_the_terminal(monkeypatch, capsys):
    text = (
        "Column 'x' holds numbers: " + "use --missing 99,nothing if words are answers, or not; " * 3
    )
    printing.note(text)
    assert capsys.readouterr().err == text + "\n"  # one line in a log
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    printing.note(text)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 2
    assert max(map(len, lines)) <= 60
    assert " ".join(lines).split() == text.split()
    assert not any(line.endswith("-") for line in lines)
