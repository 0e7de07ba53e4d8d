"""Scores as tables of results write them: with spreads, marks, units, times by the clock."""

from io import StringIO

import pandas as pd
import pytest

import tierwise as tw


def orderings(text, better="higher", **options):
    return tw.read_scores(StringIO(text), better, **options).to_orderings()


@pytest.mark.parametrize(
    ("cell", "lower"),
    [
        ("0.91 ± 0.02", "0.905 ± 0.1"),
        ("0.91+/-0.02", "0.905+/-0.3"),
        ("0.91 (0.02)", "0.905 (0.30)"),
        ("0.91 [0.89, 0.93]", "0.905 [0.1, 0.99]"),
        ("0.91 (1)", "0.905 (2)"),
        ("0.91*", "0.905"),
        ("0.91†", "0.905**"),
        (r"\textbf{0.91} $\pm$ 0.02", r"0.905 $\pm$ 0.30"),
        (r"$\mathbf{0.91}_{0.02}$", r"$0.905_{0.30}$"),
        (r"\textbf{91.0\%}", r"90.5\%"),
        ("**0.91**", "0.905"),
        ("910 ms", "905 ms"),
        ("1:02:33", "59:59"),
        ("\N{MINUS SIGN}0.1", "\N{MINUS SIGN}0.2"),
        ("✅", "❌"),
        ("pass", "fail"),
        ("True", "False"),
    ],
)
def test_what_stands_beside_a_score_is_not_part_of_it(cell, lower):
    table = pd.DataFrame({"task": ["one", "two"], "x": [cell, lower], "y": [lower, cell]})
    read = tw.read_scores(table, "higher")
    assert read.to_orderings() == [["x", "y"], ["y", "x"]]
    assert "Cells such as" in str(read.reading) or cell.startswith("\N{MINUS SIGN}")


def test_the_note_says_which_number_was_taken():
    read = tw.read_scores(StringIO("task,x,y\na,0.91 ± 0.02,0.5\nb,4,0.25 (0.1)\n"), "higher")
    assert "Cells such as '0.91 ± 0.02' are read as 0.91." in read.reading.remarks
    times = tw.read_scores(StringIO("task,x,y\na,1:02:33,1:02:34\n"), "lower")
    assert "Cells such as '1:02:33' are read as 3753 seconds." in times.reading.remarks


def test_times_below_a_minute_are_seconds():
    assert orderings("task,x,y\na,59.80,1:00.21\nb,1:00.5,59.9\n", "lower") == [
        ["x", "y"],
        ["y", "x"],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task,x,y\na,498ms,1\nb,1.10s,2\n", "scores such as '498ms' and '1.10s'.*one unit"),
        ("task,x,y\na,498ms,3 s\nb,398ms,2 s\n", "'x' and 'y' have different units"),
        ("task,x,y\na,1:02:10,1\nb,+4.3,2\n", "gaps such as '\\+4.3': write the time itself"),
        ("task,x,y\na,1,2\nb,see note,2\n", 'missing="see note" if it says that there is no score'),
        ("task,x,y\na,>3600,2\nb,10,2\n", "worse than all others"),
    ],
)
def test_what_cannot_be_one_scale_is_refused(text, message):
    with pytest.raises(tw.InputError, match=message):
        tw.read_scores(StringIO(text), "lower")


def test_distances_beside_times_are_what_rows_are_called():
    assert orderings("event,x,y\n100m,10.1,9.9\n200m,20.1,20.2\n", "lower", items_in="columns") == [
        ["y", "x"],
        ["x", "y"],
    ]


def test_when_something_began_is_not_a_score():
    assert orderings("task,Start,x,y\na,12:30,1,2\nb,12:45,2,1\n") == [["y", "x"], ["x", "y"]]


def test_flags_beside_scores_are_not_scores():
    read = tw.read_scores(
        StringIO("model,Merged,Official,t1,t2\nx,True,False,1,2\ny,False,True,2,1\n"), "higher"
    )
    assert read.to_orderings() == [["y", "x"], ["x", "y"]]


def test_times_of_a_data_frame_are_scores():
    table = pd.DataFrame(
        {
            "stage": ["one", "two"],
            "x": pd.to_timedelta(["04:10:01", "04:09:00"]),
            "y": pd.to_timedelta(["04:10:00", "04:09:01"]),
        }
    )
    assert tw.read_scores(table, "lower").to_orderings() == [["y", "x"], ["x", "y"]]


@pytest.mark.parametrize(
    "text",
    [
        "dataset,RF,SVM\niris,0.91 ± 0.02,0.93 ± 0.01\nwine,0.89 ± 0.02,0.95 ± 0.01\n",
        "model,math,code\na,62.2%,61.5%\nb,60.0%,48.3%\n",
        "task_id,m1,m2\n1,pass,fail\n2,fail,fail\n3,pass,pass\n",
        "query,a,b\nq1,12 ms,13 ms\nq2,14 ms,11 ms\nq3,14 ms,12 ms\n",
        "stage,a,b\none,4:10:11,4:11:12\ntwo,4:12:00,4:12:09\n",
    ],
)
def test_cells_that_are_not_items_raise_the_question_which_scores_are_better(text):
    with pytest.raises(tw.InputError, match=r"which look like scores.*better=.higher"):
        tw.read(StringIO(text))


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        ("dataset,RF_mean,RF_std,SVM_mean,SVM_std", ["RF_mean", "SVM_mean"]),
        ("dataset,#instances,#classes,RF,SVM", ["RF", "SVM"]),
        ("dataset,n_samples,n_features,RF,SVM", ["RF", "SVM"]),
        ("dataset,RF,RF ±,SVM,SVM ±", ["RF", "SVM"]),
    ],
)
def test_columns_beside_scores_are_not_items(header, kept):
    rows = "\n".join(f"d{n},0.{n}1,0.{n}2,0.{n}3,0.{n}4" for n in range(1, 5))
    assert list(tw.read_scores(StringIO(f"{header}\n{rows}\n"), "higher").items) == kept


@pytest.mark.parametrize("title", ["std", "stderr", "Kosten (€)", "Hub ❤️", "Price [USD]", "Pos"])
def test_columns_beside_tasks_are_not_tasks(title):
    read = tw.read_scores(StringIO(f"model,a,b,{title}\nx,1,2,3\ny,2,1,4\n"), "higher")
    assert read.reading.columns == ("a", "b")


def test_of_a_driver_and_a_team_the_driver_names_the_row():
    text = "team,driver,Monza,Spa\nred,Ann,1,2\nred,Bob,2,1\nblue,Cid,3,3\n"
    assert orderings(text, "lower") == [["Ann", "Bob", "Cid"], ["Bob", "Ann", "Cid"]]


def test_places_that_are_shared_are_numbers():
    text = "golfer,Open,Masters\nAnn,1,T2\nBob,T2,T2\nCid,T2,1\n"
    assert orderings(text, "lower") == [["Ann", ["Bob", "Cid"]], ["Cid", ["Ann", "Bob"]]]
    horses = "horse,race 1,race 2\nAnn,1st,2nd\nBob,2nd,1st\n"
    assert orderings(horses, "lower") == [["Ann", "Bob"], ["Bob", "Ann"]]


def test_names_such_as_t1_are_not_places():
    text = "task,x,y\nT1,1,2\nT2,2,1\n"
    assert list(tw.read_scores(StringIO(text), "higher").items) == ["x", "y"]


def test_standings_are_not_scores():
    with pytest.raises(tw.InputError, match="standings, not scores"):
        tw.read_scores(StringIO("Team,Pld,W,D,L,Pts\nx,2,1,1,0,4\ny,2,0,1,1,1\n"), "higher")


def test_an_arrow_upwards_is_heeded_where_lower_is_said_to_be_better():
    text = "method,PSNR ↑,LPIPS ↓\nx,30,0.1\ny,31,0.2\n"
    with pytest.raises(tw.InputError, match=r"better=.higher. and lower=..LPIPS ↓"):
        tw.read_scores(StringIO(text), "lower")
    assert orderings(text, lower=["LPIPS ↓"]) == [["y", "x"], ["x", "y"]]


def test_points_among_places_are_asked_about():
    text = "driver,Monza,Spa,Pts\nAnn,1,2,43\nBob,2,1,44\n"
    with pytest.raises(tw.InputError, match=r"in 'Pts'.*tasks=.*to leave it out"):
        tw.read_scores(StringIO(text), "lower")


def test_the_index_that_pandas_writes_is_not_an_item():
    frame = pd.DataFrame({"dataset": ["a", "b", "c"], "x": [1.5, 2, 3], "y": [2, 1, 1]})
    read = tw.read_scores(StringIO(frame.to_csv()), "higher")
    assert list(read.items) == ["x", "y"]
    assert [one.column for one in read.reading.aside] == ["id"]


def test_the_user_chooses_among_several_columns_of_scores():
    text = "model,dataset,accuracy,f1\nx,a,1,2\ny,a,2,1\n"
    with pytest.raises(tw.InputError, match="'accuracy' and 'f1' may each hold the scores"):
        tw.read_scores(StringIO(text), "higher")
    assert orderings(text, score="f1") == [["x", "y"]]


def test_a_comparison_asks_about_times_and_errors():
    times = "stage,a,b\none,4:10:11,4:11:12\ntwo,4:12:00,4:12:09\n"
    errors = "data set,RF RMSE,SVM RMSE\none,1.5,1.6\ntwo,1.2,1.1\n"
    for text in (times, errors):
        with pytest.raises(tw.InputError, match=r"lower ones may be better: use better=.lower"):
            tw.compare(StringIO(text))


def test_times_of_those_who_race_are_scores_and_other_times_are_not():
    assert orderings("stage,rider,time\na,Ann,1:00:00\na,Bob,59:59\n", "lower") == [["Bob", "Ann"]]
    text = "dataset,method,Runtime,Accuracy on test\na,x,1,5\na,y,2,6\nb,x,1,5\nb,y,2,4\n"
    with pytest.raises(tw.InputError, match="to name the column of scores") as raised:
        tw.read(StringIO(text), better="higher")
    assert 'score="Accuracy on test"' in str(raised.value)
    assert orderings(text, score="Accuracy on test") == [["y", "x"], ["x", "y"]]
