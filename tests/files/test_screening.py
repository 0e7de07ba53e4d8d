"""Columns that do not hold ranks: set aside or asked about, never read as items."""

from io import StringIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tierwise import InputError, Rankings, read_preferences, read_rankings
from tierwise.cli.main import app, shell

CODES = {
    "numbers of rows": lambda rng, n: np.arange(1, n + 1),
    "numbers of rows, shuffled": lambda rng, n: rng.permutation(n) + 1,
    "respondent numbers": lambda rng, n: rng.integers(1000, 9999, n),
    "ages": lambda rng, n: rng.integers(18, 80, n),
    "age groups": lambda rng, n: rng.integers(1, 6, n),
    "gender": lambda rng, n: rng.integers(1, 3, n),
    "yes or no": lambda rng, n: rng.integers(0, 2, n),
    "satisfaction": lambda rng, n: rng.integers(1, 8, n),
    "year": lambda rng, n: np.full(n, 2026),
    "ones": lambda rng, n: np.ones(n, dtype=int),
    "height": lambda rng, n: rng.normal(1.7, 0.1, n).round(2),
    # One more than the number of items, if that is 4 or 5.
    "always 5": lambda rng, n: np.full(n, 5),
    "always 6": lambda rng, n: np.full(n, 6),
}


def read(text, **options):
    return read_rankings(StringIO(text), **options)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_items=st.integers(3, 7),
    n_rows=st.integers(1, 30),
    codes=st.lists(st.sampled_from(list(CODES)), min_size=1, max_size=3, unique=True),
    ties=st.sampled_from(["error", "allow"]),
    first=st.integers(2, 7),
)
def test_no_other_column_becomes_an_item(seed, n_items, n_rows, codes, ties, first):
    """Ranks of all items, or of the first few, beside columns of other numbers in any order."""
    rng = np.random.default_rng(seed)
    ranks = np.argsort(rng.random((n_rows, n_items)), axis=1) + 1
    columns = {f"item {item}": ranks[:, item] for item in range(n_items)}
    columns |= {code: CODES[code](rng, n_rows) for code in codes}
    names = [str(name) for name in rng.permutation(list(columns))]
    lines = [",".join(names)]
    for row in range(n_rows):
        cells = [
            "" if name.startswith("item") and columns[name][row] > first else columns[name][row]
            for name in names
        ]
        lines.append(",".join(map(str, cells)))
    try:
        answers = read("\n".join(lines), ties=ties, unranked="below")
    except InputError:
        return
    taken = set(answers.items) & set(codes)
    message = " ".join(map(str, answers.reading.remarks))
    # Nothing in the rows distinguishes such a code from an item that all rank last, and nothing in
    # a single row distinguishes any code from an item: then a remark says so.
    everything = f"all {len(columns)} columns of numbers are read as items" in message
    assert all(name in message for name in taken) or (n_rows == 1 and everything)
    assert n_rows < 20 or not taken
    ranked = {name for name in columns if name.startswith("item") and columns[name].min() <= first}
    assert set(answers.items) - taken == ranked


def test_a_code_that_looks_like_the_last_rank():
    rows = ["2,1,3,4", "1,2,3,4", "3,1,2,4"]
    few = read("Tea,Coffee,Milk,Wave\n" + "\n".join(rows))
    assert few.items == ("Tea", "Coffee", "Milk", "Wave")
    said = "Column 'Wave' is last in every row"
    assert any(said in remark for remark in few.reading.set_aside())
    many = "Tea,Coffee,Milk,Wave\n" + "\n".join(rows * 7)
    with pytest.raises(
        InputError, match=r"'Wave' holds the largest .* items=\[\"Tea\", \"Coffee\", \"Milk\"\]"
    ):
        read(many)
    assert read(many, items="Tea,Coffee,Milk").items == ("Tea", "Coffee", "Milk")
    assert read(many, layout="ranks").items[-1] == "Wave"
    # Where all agree about everything there is nothing to wonder about.
    assert not read("a,b,c\n" + "1,2,3\n" * 30).reading.remarks


def test_a_single_answer_cannot_tell_ranks_from_codes():
    answer = read("Tea,Coffee,Milk,Sex\n1,2,3,2\n", ties="allow")
    (remark,) = answer.reading.remarks
    assert "all 4 columns of numbers are read as items" in remark.problem


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_are_counted(end, tmp_path):
    text = end.join(["a,b", "1,2", "", "2,1", "", "1,2", "", ""])
    (tmp_path / "blank.csv").write_text(text, newline="")
    answers = read_rankings(tmp_path / "blank.csv")
    assert len(answers) == 3
    assert answers.reading.remarks == ("2 blank lines were skipped (first line 3).",)
    assert not read("a,b\n1,2\n2,1\n\n\n").reading.remarks
    titles = "My survey\n\nTea,Coffee,Milk\n1,2,3\n2,1,3\n3,1,2\n"
    assert "1 blank line was skipped (line 2)." in read(titles).reading.remarks


def test_scans_and_pairs_say_how_they_were_read(tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text("id,a,b,c\n101,1,2,3\n102,2,1,3\n103,3,2,1\n")
    scan = Rankings.scan(file)
    whole = read_rankings(file).reading
    assert scan.reading.aside == whole.aside
    assert scan.reading.columns == whole.columns
    assert scan.distinct().reading.file == "answers.csv"
    pairs = StringIO("voter,winner,loser\nAnn,a,b\nAnn,b,c\nBob,c,a\n")
    notes = read_preferences(pairs).reading
    assert notes.columns == ("winner", "loser")
    assert notes.layout == "pairs"
    assert notes.n_answers == 3


def test_scores_are_asked_about():
    text = "a,b,c\n5,5,3\n4,2,4\n1,3,3\n5,4,4\n"
    for options in ({}, {"ties": "allow"}, {"items": ["a", "b", "c"]}):
        with pytest.raises(
            InputError, match=r'from 1 to 5, which look like scores.*better="higher"'
        ):
            read(text, **options)
    assert read(text, better="higher").to_orderings()[:2] == [[["a", "b"], "c"], [["a", "c"], "b"]]
    assert read(text, better="lower").to_orderings()[0] == ["c", ["a", "b"]]
    with pytest.raises(InputError, match="better must be"):
        read(text, better="best")


def test_grades_of_many_items_may_be_ranks_or_scores():
    rng = np.random.default_rng(1)
    grades = rng.integers(1, 4, (20, 12))
    names = [f"i{number}" for number in range(12)]
    text = "\n".join(",".join(map(str, row)) for row in [names, *grades.tolist()])
    with pytest.raises(InputError, match="look like scores"):
        read(text, ties="allow")
    by_rank = read(text, layout="ranks", ties="allow")
    assert by_rank == read(text, better="lower")
    assert by_rank != read(text, better="higher")


def test_a_column_that_may_be_no_score():
    text = "Sex,a,b,c\n1,5,5,3\n2,4,2,4\n1,1,3,3\n1,5,4,4\n"
    with pytest.raises(InputError, match=r"'Sex' has no number above 2 .* items="):
        read(text, better="higher")
    assert read(text, better="higher", items=["a", "b", "c"]).items == ("a", "b", "c")


def test_scores_that_rise_by_chance_and_sums():
    shares = "Name,a,b,c\nAnn,30,30,40\nBob,50,20,30\nEve,10,80,10\n"
    assert read(shares, better="higher").items == ("a", "b", "c")
    text = "a,b,c,all\n3,3,4,10\n5,2,3,10\n1,8,1,10\n"
    with pytest.raises(
        InputError, match=r"'all' is the sum of other columns, .* items=\[\"a\", \"b\", \"c\"\]"
    ):
        read(text, better="higher")
    rising = "nr,a,b,c\n1,5,5,3\n3,4,2,4\n4,1,3,3\n5,5,4,4\n"
    with pytest.raises(InputError, match="'nr' only rises or only falls from row to row"):
        read(rising, better="higher")


@pytest.mark.parametrize(
    ("rank", "said"),
    [("99999999999999999999", r"line 3: .* 1e\+20"), ("0", "line 3"), ("1.5", "line 3")],
)
def test_a_slip_is_named_by_its_line(rank, said):
    with pytest.raises(InputError, match=said):
        read(f"a,b,c\n1,2,3\n2,1,{rank}\n3,1,2\n2,3,1\n")


def test_items_and_names():
    text = "Q1_1,Q1_2,Q1_3,Q2\n1,2,3,5\n2,1,3,4\n3,2,1,4\n"
    answers = read(text, items="Q1_*", rename={"Q1_1": "tea", "Q1_3": "milk"})
    assert answers.items == ("tea", "Q1_2", "milk")
    with pytest.raises(InputError, match=r"no column is named 'Q3_\*': the columns are 'Q1_1'"):
        read(text, items="Q3_*")
    with pytest.raises(InputError, match="'Q9' is not an item, so it cannot be renamed"):
        read(text, rename={"Q9": "x"})
    short = read("Rank these - a,Rank these - b\n1,2\n2,1\n")
    assert short.items == ("a", "b")
    assert "'Rank these', which is left out" in short.reading.set_aside()[0]


def test_rows_without_an_answer():
    text = "id,a,b\n1,1,2\n2,,\n3,2,1\n"
    with pytest.raises(InputError, match=r'line 3 ranks no item: .*empty="skip"'):
        read(text)
    answers = read(text, empty="skip")
    assert len(answers) == 2
    assert answers.reading.set_aside()[-1] == "1 row lists no item and is set aside (line 3)."


def test_data_frames_are_screened_too():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"nº": [101, 102, 103], "a": [1, 2, 1], "b": [2, 1, 2]})
    answers = read_rankings(frame)
    assert answers.items == ("a", "b")
    assert [one.column for one in answers.reading.aside] == ["nº"]


def test_remedies_can_be_copied(tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text("Gender,a,b,c\n1,1,2,3\n2,2,1,3\n2,3,1,2\n", encoding="utf-8")

    def run(*words):
        return CliRunner().invoke(app, ["describe", str(file), *words])

    refused = run()
    assert isinstance(refused.exception, InputError)
    assert "use --items a,b,c if it is not" in shell("describe").says(refused.exception)
    done = run("--items", "a,b,c", "--rename", "a=tea")
    assert "Answer 1: tea first, then b, c." in done.output
    assert "Column 'Gender' is not among the items given" in done.output
    assert "Read 3 answers about 3 items from answers.csv." in done.output
    wrong = run("--rename", "tea")
    assert "use --rename Q1_1=tea" in shell("describe").says(wrong.exception)
