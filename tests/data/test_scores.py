"""Score tables as rankings."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tierwise.files.places import ranks_of_scores


def orderings(text, better="higher", **options):
    return tw.read_scores(StringIO(text), better, **options).to_orderings()


def test_higher_or_lower_is_better():
    text = "task,x,y,z\none,1,2,3\ntwo,0.5,0.1,0.3\n"
    assert orderings(text) == [["z", "y", "x"], ["x", "z", "y"]]
    assert orderings(text, "lower") == [["x", "y", "z"], ["y", "z", "x"]]
    with pytest.raises(tw.InputError, match=r'better must be "higher" or "lower"'):
        orderings(text, "best")


def test_equal_and_near_scores_are_tied():
    text = "x,y,z\n1,1,3\n1,1.5,3\n"
    assert orderings(text) == [["z", ["x", "y"]], ["z", "y", "x"]]
    assert orderings(text, tolerance=0.5) == [["z", ["x", "y"]], ["z", ["x", "y"]]]
    with pytest.raises(tw.InputError, match="tolerance must be at least 0"):
        orderings(text, tolerance=-1)


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize("tolerance", [0.0, 0.3])
def test_groups_reach_as_far_as_the_tolerance(better, tolerance):
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 10, (50, 6)) / 10
    scores[rng.random(scores.shape) < 0.2] = np.nan
    ranks = ranks_of_scores(scores, better, tolerance)
    assert np.array_equal(np.isnan(ranks), np.isnan(scores))
    for row, ranked in zip(scores, ranks, strict=True):
        listed = sorted(set(ranked[~np.isnan(ranked)]))
        assert listed == list(range(1, len(listed) + 1))
        sign = -1 if better == "higher" else 1
        leaders = [min(sign * row[ranked == rank]) for rank in listed]
        assert all(np.diff(leaders) > tolerance - 1e-9)
        for rank, leader in zip(listed, leaders, strict=True):
            assert (sign * row[ranked == rank] <= leader + tolerance + 1e-9).all()


def test_what_was_not_tried_may_be_anywhere():
    rankings = tw.read_scores(StringIO("task,x,y,z\none,1,2,\ntwo,3,NA,1\n"), "higher")
    assert rankings.unranked == "anywhere"
    assert rankings.to_orderings() == [["y", "x"], ["x", "z"]]


def test_rows_without_any_score_are_named():
    with pytest.raises(tw.InputError, match="row 2 of the scores is empty: delete the row"):
        tw.Rankings.from_scores([[1.0, 2.0], [np.nan, np.nan]], "higher")


def test_long_tables_and_named_columns():
    text = "task,model,score\none,x,1\none,y,2\ntwo,y,1\ntwo,x,5\n"
    assert orderings(text, layout="long") == [["y", "x"], ["x", "y"]]
    text = text.replace("task,model,score", "t,m,s")
    said = {"layout": "long", "task": "t", "item": "m", "score": "s"}
    assert orderings(text, **said) == [["y", "x"], ["x", "y"]]
    with pytest.raises(tw.InputError, match=r"no column of the task .* task=\.\.\."):
        orderings(text, layout="long")
    with pytest.raises(tw.InputError, match="line 3: 'x' has a second score on 'one'"):
        orderings("task,model,score\none,x,1\none,x,2\n", layout="long")


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        ('"85,3","84,25"', {}),
        ("85.3%,84.25%", {}),
        ('"1.085,3","1.084,25"', {}),
        ('"1,085.3","1,084.25"', {}),
        ('"1,085","1,084"', {"decimal": "."}),
        ('"1,085","1,084"', {"decimal": ","}),
        ("1e3,9.9e2", {}),
    ],
)
def test_numbers_as_people_write_them(cells, options):
    assert orderings(f"x,y\n{cells}\n", **options) == [["x", "y"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('x,y\n"1,085",3\n', r"line 2: the score of 'x' is '1,085'.*decimal=\",\" if"),
        ("x,y\n85%,84\n", "'x' has percent signs, and column 'y' has none.* items="),
        ("x,y\n85%,1%\n84,2%\n", "with and without a percent sign"),
        ("x,y\n1,2\n2,good\n3,4\n", r"line 3: the score of 'y' is 'good', which is not a number"),
        (
            "x,y,Average\n1,2,1.5\n",
            r"column 'Average' may not be an item: use items=\[\"x\", \"y\"\] if",
        ),
        ("task,x\none,1\n", "fewer than two columns of numbers"),
        ("x,y\n1,inf\n2,1\n", "inf"),
    ],
)
def test_bad_tables_are_named_with_line_and_remedy(text, message):
    with pytest.raises(tw.InputError, match=message):
        orderings(text)


def test_items_say_which_columns_count():
    text = "x,Average,y\n1,1.5,2\n"
    assert orderings(text, items="x, y") == [["y", "x"]]
    assert orderings(text, items=["y", "Average"]) == [["y", "Average"]]
    with pytest.raises(tw.InputError, match="no column 'w'"):
        orderings(text, items="w,x")


def test_data_frames_and_arrays():
    frame = pd.DataFrame({"x": [1, 2], "y": [2.0, None]})
    found = tw.Rankings.from_scores(frame, "higher")
    assert found.to_orderings() == [["y", "x"], ["x"]]
    with pytest.raises(tw.InputError, match="must be a table"):
        tw.Rankings.from_scores([1, 2], "higher")
    with pytest.raises(tw.InputError, match="finite"):
        tw.Rankings.from_scores([[1, np.inf]], "higher")


def test_columns_of_lists_and_records_are_set_aside_or_refused_by_name():
    lines = '{"x": 1, "y": 2, "more": {"z": [1]}}\n{"x": 2, "y": 3, "more": {"z": []}}\n'
    found = tw.read_scores(StringIO(lines), "higher", format="jsonl")
    assert found.items == ("x", "y")
    with pytest.raises(tw.InputError, match="column 'more' holds cells of the type"):
        tw.read_scores(StringIO(lines), "higher", format="jsonl", items="x,more")
    with pytest.raises(tw.InputError, match="column 'more' holds cells of the type"):
        tw.read_scores(
            *(StringIO(lines), "higher"), format="jsonl", layout="long", task="more", item="x",
            score="y",
        )  # fmt: skip


def test_mteb():
    found = tw.read_scores(shared_data("mteb") / "scores.csv", "higher")
    assert (len(found.items), found.n_rankings) == (31, 56)
    assert found.unranked == "anywhere"


NAMES = "Model,MMLU,ARC,GSM\nclaude-3.5,60.5,,7\nclaude-3-5,,71.5,9\nx,50.5,50.5,8\n"


def test_names_that_differ_by_punctuation_are_asked_about():
    with pytest.raises(tw.InputError, match="names differ only in case, spaces or punctuation"):
        tw.read_scores(StringIO(NAMES), "higher")
    kept = tw.read_scores(StringIO(NAMES), "higher", spellings="keep")
    assert kept.items == ("claude-3.5", "claude-3-5", "x")


def test_items_that_get_the_same_name_are_one():
    rename = {"claude-3-5": "claude-3.5"}
    with pytest.raises(tw.InputError, match=r"'claude-3\.5' has a second score on 'GSM'"):
        tw.read_scores(StringIO(NAMES), "higher", rename=rename)
    joined = tw.read_scores(StringIO(NAMES), "higher", rename=rename, tasks=["MMLU", "ARC"])
    assert joined.items == ("claude-3.5", "x")
    assert joined.places.tolist() == [[0, 1], [0, 1]]
    mean = tw.read_scores(StringIO(NAMES), "higher", rename=rename, repeats="mean")
    assert mean.places.tolist() == [[0, 1], [0, 1], [0, 0]]
    with pytest.raises(tw.InputError, match="'y' is not an item, so it cannot be renamed"):
        tw.read_scores(StringIO(NAMES), "higher", rename={"y": "z"})


def test_items_are_joined_in_columns_and_in_long_tables():
    wide = "task,a-1,a 1,b\ns,1,,2\nt,,3,2\n"
    long = "task,item,score\ns,a-1,1\ns,b,2\nt,a 1,3\nt,b,2\n"
    for text in (wide, long):
        with pytest.raises(tw.InputError, match="'a 1' and 'a-1'"):
            tw.read_scores(StringIO(text), "higher")
        joined = tw.read_scores(StringIO(text), "higher", rename={"a 1": "a-1"})
        assert joined.items == ("a-1", "b")
        assert joined.places.tolist() == [[1, 0], [0, 1]]


def test_grades_beside_numbers_are_asked_about():
    text = "data set,kind,size,forest,stump\nu,A,S,0.9,0.5\nv,B,A,0.8,0.7\nw,A,A,0.7,0.6\n"
    with pytest.raises(tw.InputError, match=r"look like grades .*, and 'forest', 'stump'"):
        tw.read_scores(StringIO(text), "higher")
    scores = tw.read_scores(StringIO(text), "higher", items=["forest", "stump"])
    assert scores.places.tolist() == [[0, 1]] * 3


WEIGHTED = "tea,coffee,milk,{}\n1,2,3,0.5\n2,1,3,1.5\n1,3,2,0.7\n1,2,3,1.2\n"


@pytest.mark.parametrize("name", ["weight", "count", "wght"])
def test_weights_are_not_an_item(name):
    """They were one more method, and ranks beside them scores of which higher ones are better."""
    text = WEIGHTED.format(name)
    asked = f"column '{name}' may not be an item: use items="
    with pytest.raises(tw.InputError, match=asked):
        tw.compare(StringIO(text))
    with pytest.raises(tw.InputError, match=asked):
        tw.read_scores(StringIO(text), better="lower")
    with pytest.raises(tw.InputError, match="the numbers are ranks from 1 to 3, not scores"):
        tw.compare(StringIO(text), items=["tea", "coffee", "milk"])


def test_weights_beside_scores_count_at_every_door():
    """A leaderboard took them for an item, and a fit for weights."""
    answers = tw.read(StringIO(WEIGHTED.format("weight")), better="lower")
    board = tw.read(StringIO(WEIGHTED.format("weight")), better="lower", purpose="leaderboard")
    assert board == answers
    assert board.items == ("tea", "coffee", "milk")
    text = WEIGHTED.format("wght")
    with pytest.raises(tw.InputError, match='use weights="wght" to weight the answers by it'):
        tw.read(StringIO(text), better="lower")
    assert tw.read(StringIO(text), better="lower", weights="wght") == answers


def test_ranks_with_ties_are_not_scores_unasked():
    with pytest.raises(tw.InputError, match="the numbers are ranks from 1 to 3, not scores"):
        tw.compare(StringIO("a,b,c\n1,2,2\n2,1,3\n1,1,3\n1,3,2\n"))


@pytest.mark.parametrize("title", ["Toxicity ↓", "Harm ⬇", r"$\downarrow$ Harm"])
def test_arrows_in_titles_are_asked_about(title):
    text = f"model,MMLU ↑,{title}\nx,70,0.1\ny,60,0.3\nz,50,0.2\n"
    tasks = ["MMLU ↑", title]
    with pytest.raises(tw.InputError, match="lower numbers may be better in"):
        tw.read_scores(StringIO(text), "higher")
    assert orderings(text, lower=[title])[1][0] == "x"
    assert orderings(text, tasks=tasks)[1][0] == "y"


@pytest.mark.parametrize(
    "header",
    [
        "userId,movieId,rating,timestamp",
        "Reviewer,Product ID,Stars,Name",
        "respondent_id,item_id,score,age",
    ],
)
def test_ratings_with_one_row_per_person_and_thing(header):
    """MovieLens has this form; a leaderboard ranked the columns, the time being the best one."""
    text = f"{header}\n1,31,2.5,90\n1,47,4.0,80\n2,31,5.0,70\n2,47,1.5,60\n2,52,1.0,50\n"
    with pytest.raises(tw.InputError, match="look like scores, with one row per task and item"):
        tw.read(StringIO(text))
    rankings = tw.read(StringIO(text), better="higher")
    assert rankings.to_orderings() == [["47", "31"], ["31", "47", "52"]]
    assert rankings.reading.columns == tuple(header.split(",")[:3])
    assert [one.column for one in rankings.reading.aside] == header.split(",")[3:]
