"""One reader that finds out what a file or a data frame holds, and says so."""

from io import BytesIO, StringIO

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tierwise as tw
from tierwise import InputError

RANKS = {"tea": [1, 2, 1], "milk": [2, 1, 3], "juice": [3, 3, 2]}
PAIRS = {"voter": ["Ann", "Ann", "Bob"], "winner": ["a", "b", "c"], "loser": ["b", "c", "a"]}
BATTLES = {
    "model_a": ["x", "y", "x"],
    "model_b": ["y", "z", "z"],
    "winner": ["model_a", "tie", "z"],
    "language": ["en", "de", "en"],
}
WIDE = {"task": ["sort", "find"], "x": [0.91, 0.40], "y": [0.85, 0.45], "z": [0.90, 0.10]}
LONG = {
    "task": ["sort", "sort", "find", "find"],
    "model": ["x", "y", "x", "y"],
    "score": [0.9, 0.8, 0.2, 0.4],
}
KINDS = {
    "ranks": (RANKS, {}, tw.Rankings, tw.read_rankings),
    "pairs": (PAIRS, {}, tw.Preferences, tw.read_preferences),
    "battles": (BATTLES, {}, tw.Battles, tw.read_battles),
    "scores": (WIDE, {"better": "higher"}, tw.Rankings, tw.read_scores),
    "long scores": (LONG, {"better": "lower"}, tw.Rankings, tw.read_scores),
}


def sources(columns, folder):
    """The same table as everything that can be read."""
    frame = pd.DataFrame(columns)
    frame.to_csv(folder / "table.csv", index=False)
    frame.to_parquet(folder / "table.parquet")
    text = frame.to_csv(index=False)
    return [
        folder / "table.csv",
        str(folder / "table.parquet"),
        StringIO(text),
        BytesIO(text.encode()),
        frame,
        pl.DataFrame(columns),
        pa.table(columns),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_everything_that_holds_a_table_is_read_alike(kind, tmp_path):
    columns, options, wanted, reader = KINDS[kind]
    expected = reader(pd.DataFrame(columns), **options)
    for source in sources(columns, tmp_path):
        found = tw.read(source, **options)
        assert type(found) is wanted
        assert found == expected
        assert found.reading.layout == kind
    for source in sources(columns, tmp_path):
        assert reader(source, **options) == expected


def test_formats_that_announce_their_items_are_rankings(tmp_path):
    path = tmp_path / "ballots.soc"
    path.write_text(
        "# NUMBER ALTERNATIVES: 2\n# NUMBER VOTERS: 3\n# NUMBER UNIQUE ORDERS: 2\n"
        "# ALTERNATIVE NAME 1: tea\n# ALTERNATIVE NAME 2: milk\n2: 1,2\n1: 2,1\n"
    )
    assert tw.read(path) == tw.read_rankings(path)


def test_what_was_found_is_said():
    battles = tw.read(pd.DataFrame(BATTLES))
    assert str(battles.reading).splitlines() == [
        "Format: a data frame of pandas.",
        "Layout: battles, one row per comparison of two models, with the winner.",
        "3 columns read: 'model_a', 'model_b', 'winner'.",
        "Column 'language' does not say who won: it was set aside.",
    ]
    scores = tw.read_scores(pl.DataFrame(WIDE), "higher")
    assert scores.reading.columns == ("x", "y", "z")
    assert tw.read(pl.DataFrame(RANKS)).reading.format == "a data frame of polars"


def test_columns_may_be_named_where_their_names_do_not_tell():
    renamed = pd.DataFrame(BATTLES).rename(columns={"model_a": "uno", "model_b": "due"})
    assert tw.read(renamed, first="uno", second="due") == tw.read(pd.DataFrame(BATTLES))
    other = pd.DataFrame(LONG).rename(columns={"score": "dB"})
    assert tw.read(other, score="dB", better="lower") == tw.read(pd.DataFrame(LONG), better="lower")


def test_numbers_name_columns_of_frames():
    frame = pd.DataFrame([[1, 2], [2, 1]], columns=[10, 20])
    assert tw.read(frame, layout="ranks").items == (10, 20)
    assert tw.read_scores(frame, "lower").items == (10, 20)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (LONG, {}, 'better="higher"'),
        (WIDE, {}, "better=.higher. if the numbers are scores"),
        (BATTLES, {"unranked": "below"}, "unranked does not apply to battles, .*: leave out"),
        (RANKS, {"tolerance": 1.0}, "tolerance does not apply to rankings, .*: leave out"),
        (
            LONG,
            {"better": "higher", "cycles": "keep"},
            "cycles does not apply to scores, and this table is read as scores",
        ),
        (RANKS, {"encoding": "latin-1"}, "a data frame has no encoding: leave out encoding"),
        (RANKS, {"format": "csv"}, "a data frame has no format"),
    ],
)
def test_errors_name_the_remedy(columns, options, message):
    with pytest.raises(InputError, match=message):
        tw.read(pd.DataFrame(columns), **options)


def test_lazy_frames_are_refused():
    for reader in (tw.read, tw.read_rankings, tw.read_battles):
        with pytest.raises(InputError, match="collect a lazy frame first"):
            reader(pl.LazyFrame(RANKS))


def test_a_layout_that_is_found_out_may_be_named_auto():
    text = "task,model,score\nt1,a,0.5\nt1,b,0.7\nt2,a,0.2\nt2,b,0.9\n"
    assert (
        tw.read(StringIO(text), better="higher", layout="auto").to_orderings() == [["b", "a"]] * 2
    )
