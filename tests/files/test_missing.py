"""Codes and words for missing answers: never taken for an answer without a word."""

from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import tierwise as tw
from tierwise.cli.main import app
from tierwise.data.read import scan_rankings
from tierwise.files.missing import refuse_codes

ITEMS = ["tea", "coffee", "milk", "juice", "cocoa", "water", "soda", "beer"]


def ranks(code):
    """Return ranks of eight items, of which five have a code in one cell each."""
    rng = np.random.default_rng(1)
    table = np.array([rng.permutation(8) + 1 for _ in range(12)]).astype(str)
    for row, column in enumerate([0, 2, 3, 5, 6]):
        table[row, column] = code
    return "\n".join([",".join(ITEMS), *(",".join(row) for row in table)]) + "\n"


def stars(code):
    """Return stars from 1 to 5, with a code in some cells."""
    rng = np.random.default_rng(2)
    table = rng.integers(1, 6, (20, 4)).astype(str)
    table[3, 1] = table[7, 2] = table[9, 1] = code
    return "\n".join(["tea,coffee,milk,juice", *(",".join(row) for row in table)]) + "\n"


@pytest.mark.parametrize("code", ["99", "999", "-1", "-9", "0", "98"])
def test_codes_among_ranks_are_asked_about(code):
    with pytest.raises(
        tw.InputError, match=rf"holds {code} as well as numbers from 1 to 8"
    ) as asked:
        tw.read_rankings(StringIO(ranks(code)), unranked="anywhere")
    assert f'missing=["{code}"]' in str(asked.value)
    assert "5 cells in all columns" in str(asked.value)
    found = tw.read_rankings(StringIO(ranks(code)), unranked="anywhere", missing=code)
    assert set(found.items) == set(ITEMS)
    assert (found.places < 0).sum() == 5
    assert any(
        f"5 cells say '{code}' and are read as empty" in str(r) for r in found.reading.remarks
    )


@pytest.mark.parametrize("code", ["99", "-1", "0", "999"])
@pytest.mark.parametrize("read", [tw.read_scores, tw.read])
def test_codes_among_scores_are_asked_about(code, read):
    with pytest.raises(tw.InputError, match=rf"holds {code} as well as numbers from 1 to 5"):
        read(StringIO(stars(code)), better="higher", **unranked(read))
    found = read(StringIO(stars(code)), better="higher", missing=[code], **unranked(read))
    assert (found.places < 0).sum() == 3
    kept = read(StringIO(stars(code)), better="higher", missing="nothing", **unranked(read))
    assert (kept.places < 0).sum() == 0


def unranked(read):
    return {"unranked": "anywhere"} if read is tw.read else {}


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pa.table])
def test_codes_in_frames_and_parquet_files(as_frame, tmp_path):
    table = {"tea": [1, 2, 99, 3], "coffee": [2.0, 1.0, 2.0, 1.0], "milk": [3, 3, 1, 2]}
    frame = as_frame(table)
    pq.write_table(pa.table(table), tmp_path / "x.parquet")
    for source in (frame, tmp_path / "x.parquet"):
        with pytest.raises(tw.InputError, match="99 as well as numbers from 1 to 3"):
            tw.read_rankings(source, unranked="anywhere")
        assert (tw.read_rankings(source, unranked="anywhere", missing=99).places < 0).sum() == 1
    chunks = list(
        scan_rankings(tmp_path / "x.parquet", chunk_rows=2, unranked="anywhere", missing="99")
    )
    assert sum((chunk.places < 0).sum() for chunk in chunks) == 1
    scan = tw.Rankings.scan(tmp_path / "x.parquet", unranked="anywhere", missing=99)
    assert sum((chunk.places < 0).sum() for chunk in scan.chunks()) == 1


@pytest.mark.parametrize("word", ["N/A", "k.A.", "weiß nicht", "Don't know", "keine Angabe"])
def test_words_are_taken_as_empty_with_a_remark(word):
    text = f"tea,coffee,milk\n1,2,3\n2,{word},1\n3,1,2\n"
    found = tw.read_rankings(StringIO(text), unranked="anywhere")
    assert found.to_orderings()[1] == ["milk", "tea"]
    assert any("1 cell says" in str(r) and "read as empty" in str(r) for r in found.reading.remarks)
    places = f"place 1,place 2,place 3\ntea,coffee,milk\nmilk,tea,{word}\n"
    found = tw.read_rankings(StringIO(places), unranked="anywhere")
    assert found.items == ("tea", "coffee", "milk")
    scores = f"task,x,y\nt1,0.5,0.7\nt2,{word},0.4\nt3,0.2,0.9\n"
    assert (tw.read_scores(StringIO(scores), "higher").places < 0).sum() == 1


def test_words_stay_missing_beside_codes():
    text = "tea,coffee,milk\n1,99,2\n2,k.A.,1\n3,1,2\n1,2,3\n"
    found = tw.read_rankings(StringIO(text), unranked="anywhere", missing="99")
    assert found.items == ("tea", "coffee", "milk")
    assert [str(one) for one in found.reading.remarks] == [
        "2 cells say '99' or 'k.A.' and are read as empty: "
        'use missing="99,nothing" if words are answers'
    ]
    alone = "place 1,place 2,place 3\na,b,NA\nb,99,a\nNA,a,b\n"
    kept = tw.read_rankings(StringIO(alone), unranked="anywhere", missing="99,nothing")
    assert kept.items == ("a", "b", "NA")


def test_names_of_people_and_weights_are_no_codes():
    text = "id,weight,tea,coffee\n98,1,1,2\n99,99,2,1\n100,2,1,2\n"
    found = tw.read_rankings(StringIO(text), missing="99")
    assert found.weights.tolist() == [1, 99, 2]


@pytest.mark.parametrize(
    "values",
    [
        [[88, 95], [99, 91], [77, 60]],  # percent
        [[0, 3], [10, 7], [5, 0]],  # from 0 to 10
        [[1, 2], [2, 1], [1, 2]],
        [[-1.5, 2.5], [-1, 3.5], [0.5, -2]],
        [[1, 12], [2, 99], [1, 40]],  # an age
    ],
)
def test_other_numbers_are_no_codes(values):
    refuse_codes(np.array(values, dtype=float), ["x", "y"], ranks=False)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        # More than a quarter of the cells: seven people of five items, of whom three gave up.
        (
            [[61.1, 53.7, 57.4], [53.7, 99, 99], [99, 50.0, 57.4]],
            "99 as well as numbers from 50 to",
        ),
        ([[61, 53, 57], [53, -1, 52], [-1, 50, 57]], "-1 as well as numbers from 50 to 61"),
        ([[31, 23, 27], [23, 999, 22], [999, 20, 27]], "999 as well as numbers from 20 to 31"),
        ([[44, 47, 50], [98, 47, 50], [44, 50, 47]], "98 as well as numbers from 44 to 50"),
    ],
)
def test_codes_stand_out_from_scores_of_any_kind(values, message):
    with pytest.raises(tw.InputError, match=message):
        refuse_codes(np.array(values, dtype=float), ["x", "y", "z"], ranks=False)


def test_on_the_command_line(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text(ranks("99"))
    asked = CliRunner().invoke(app, ["describe", str(path), "--unranked", "anywhere"])
    assert isinstance(asked.exception, tw.InputError)
    done = CliRunner().invoke(
        app, ["describe", str(path), "--unranked", "anywhere", "--missing", "99,-1"]
    )
    assert done.exit_code == 0
    assert "5 cells say '99'" in done.output


def test_json_lines():
    lines = b'{"x": 1, "y": 2}\n{"x": 99, "y": 1}\n{"x": 2, "y": 1}\n{"x": 1, "y": 2}'
    with pytest.raises(tw.InputError, match="99 as well as"):
        tw.read_rankings(BytesIO(lines), format="jsonl")
    found = tw.read_rankings(BytesIO(lines), format="jsonl", missing=99, unranked="anywhere")
    assert (found.places < 0).sum() == 1


@pytest.mark.parametrize("n_listed", [8, 3])
def test_items_that_are_numbers_from_0_are_not_codes(tmp_path, n_listed):
    orders = np.random.default_rng(1).permuted(np.tile(np.arange(8), (50, 1)), axis=1)
    rankings = tw.Rankings.from_orderings(
        orders[:, :n_listed].tolist(), items=range(8), unranked="below"
    )
    file = tmp_path / "answers.csv"
    tw.write_rankings(rankings, file)
    read = tw.read_rankings(file, unranked="below")
    assert {int(item) for item in read.items} == set(range(8))
    assert len(read) == 50


def test_zeros_beside_the_best_few_are_asked_about():
    """They were taken for scores, of which 3 is better than 1."""
    text = "a,b,c,d\n1,2,0,0\n0,1,0,2\n2,0,1,0\n"
    with pytest.raises(tw.InputError, match="holds 0 as well as numbers from 1 to 2"):
        tw.read(StringIO(text))
    answers = tw.read(StringIO(text), missing="0", unranked="below")
    assert answers.to_orderings() == [["a", "b"], ["b", "d"], ["c", "a"]]


def test_zeros_and_ones_are_not_codes():
    with pytest.raises(tw.InputError, match="from 0 to 1, which look like scores"):
        tw.read(StringIO("a,b,c,d\n1,1,0,0\n0,1,0,0\n1,0,1,0\n"))
