"""Battles from files of every kind, counted, saved and added."""

import json
from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tierwise as tw
from tests.data_paths import shared_data
from tierwise.cli.remedies import Shell

ROWS = [
    ("x", "y", "model_a", "Ann"),
    ("y", "x", "model_b", "Ann"),
    ("y", "z", "tie", "Bob"),
    ("z", "x", "tie (bothbad)", "Bob"),
    ("z", "y", "both_bad", "Cid"),
    ("z", "x", "z", "Cid"),
]
FRAME = pd.DataFrame(ROWS, columns=["model_a", "model_b", "winner", "judge"])
DECIDED = np.array([[0, 2, 0], [0, 0, 0], [1, 0, 0]])
DRAWN = np.array([[0, 0, 1], [0, 0, 2], [1, 2, 0]])


def read(text: str, **options: object) -> tw.Battles:
    return tw.read_battles(StringIO(text), **options)


def test_every_outcome_is_counted():
    battles = tw.read_battles(FRAME)
    assert battles.items == ("x", "y", "z")
    assert np.array_equal(battles.decided, DECIDED)
    assert np.array_equal(battles.drawn, DRAWN)
    assert np.array_equal(battles.wins, DECIDED + DRAWN / 2)
    assert (battles.n_battles, battles.n_drawn, battles.n_judges) == (6, 3, 3)
    assert battles.composite
    assert np.array_equal(battles.with_drawn("drop").wins, DECIDED)
    assert battles.with_drawn("drop").n_battles == 3


def test_every_format_says_the_same(tmp_path):
    wanted = tw.read_battles(FRAME)
    FRAME.to_csv(tmp_path / "battles.csv", index=False)
    FRAME.to_parquet(tmp_path / "battles.parquet")
    FRAME.to_json(tmp_path / "battles.jsonl", orient="records", lines=True)
    for ending in ("csv", "parquet", "jsonl"):
        assert tw.read_battles(tmp_path / f"battles.{ending}") == wanted
    text = FRAME.to_json(orient="records", lines=True).encode()
    assert tw.read_battles(BytesIO(text)) == wanted
    assert tw.read_battles(pl.DataFrame(FRAME.to_dict("list"))) == wanted
    assert tw.Battles.from_rows(ROWS) == wanted


def test_results_of_games_are_points_of_the_two():
    games = "White,Black,Result\nx,y,1-0\ny,x,0-1\nx,y,1/2-1/2\nx,y,½\u2013½\nx,y,10 : 9\ny,x,2:2\n"
    wanted = "White,Black,Result\nx,y,x\ny,x,x\nx,y,tie\nx,y,tie\nx,y,x\ny,x,tie\n"
    battles = read(games)
    assert battles == read(wanted)
    assert "Results such as '1-0' are the points of the two: who has more wins." in str(
        battles.reading
    )
    assert "points" not in str(read(wanted).reading)


@pytest.mark.parametrize("result", ["1-", "-1-0", "1-0-1", "1000-1", "1,5-1", "one-nil", "1--0"])
def test_what_is_not_a_result_is_refused(result):
    with pytest.raises(tw.InputError, match=r"line 2.*neither of the two models.*points such as"):
        read(f'home,away,result\nx,y,"{result}"\n')


def test_a_model_that_is_called_like_a_result_is_meant():
    assert read("home,away,result\n1-0,y,1-0\n") == read("home,away,result\n1-0,y,home\n")


def test_other_columns_mean_the_same():
    wanted = read("model_a,model_b,winner\nx,y,model_a\nx,y,model_b\n")
    assert read("id,Left,Right,winner\n1,x,y,left\n2,x,y,right\n") == wanted
    assert read("winner,loser\nx,y\ny,x\n") == wanted
    assert read("model_a,model_b,winner\nx,y,A\nx,y,b\n") == wanted
    assert read("p,q,who\nx,y,p\nx,y,Q\n", first="p", second="q", winner="who") == wanted
    assert read("won,lost\nx,y\ny,x\n", winner="won", loser="lost") == wanted
    assert read("winner,loser,weight\nx,y,3\n").n_battles == 3
    assert read("winner,loser\nx 1,y\n", rename={"x 1": "x"}).items == ("x", "y")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model_a,model_b,winner\nx,y,x\nx,y,w\n", r"line 3: the winner is 'w'.*write \"model_a\""),
        ("model_a,model_b,winner\nx,y,x\nx,z,y\n", r"line 3: the winner is 'y', but the two .*'z'"),
        (
            "model_a,model_b,winner\nB,C,b\n",
            r"the winner 'b' may be the model 'B' or one of the two",
        ),
        (
            "model_a,model_b,winner\nx,y,x\nx,x,tie\n",
            r"line 3: 'x' is compared with itself: delete",
        ),
        ("model_a,model_b,winner\nx,y,1\n", r"line 2: the winner is '1'"),
        ("model_a,model_b,winner\nx,y,\n", r"line 2: the winner is missing"),
        ("model_a,model_b,winner\nx,,x\n", r"line 2: the name of a model is missing"),
        (
            "model_a,model_b,winner\nX 1,y,y\nx1,y,y\n",
            r"'x1' \(.*line 3\) and 'X 1' \(.*line 2\).*rename=.*spellings",
        ),
        ("a,b,winner\na,b,a\n", r"line 2: the winner 'a' may be the model"),
        ("winner,loser,weight\nx,y,-1\n", r"line 2: the weight is -1"),
        ("winner,loser,weight\nx,y,\n", r"line 2: the weight is missing"),
        ("winner,loser,weight\nx,y,0\n", r"all weights are 0"),
        ("winner,loser\n", r"no battles"),
        ("one,two\nx,y\n", r"no columns of battles .* first="),
        ("model_a,model_b\nx,y\n", r"no column says who won"),
        (
            "model_a,model_b,left,right,winner\nx,y,x,y,x\n",
            r"two pairs of columns .*first=... and second=",
        ),
    ],
)
def test_bad_files_are_named_with_line_and_remedy(text, message):
    with pytest.raises(tw.InputError, match=message):
        read(text)


def test_bad_json_is_named_with_its_line():
    good = '{"winner": "x", "loser": "y"}\n'
    with pytest.raises(tw.InputError, match="line 3 is not a JSON object"):
        tw.read_battles(StringIO(good + "\n" + "{broken\n"), format="jsonl")
    with pytest.raises(tw.InputError, match="object 2: 'x' is compared with itself"):
        tw.read_battles(StringIO(f"[{good},\n{good.replace('y', 'x')}]"), format="jsonl")
    with pytest.raises(tw.InputError, match="begins like a JSON list and cannot be read as one"):
        tw.read_battles(StringIO(f"[{good}"), format="jsonl")
    with pytest.raises(tw.InputError, match="object 2 is not a JSON object"):
        tw.read_battles(StringIO(f"[{good}, 3]"))
    wrong = '{"winner": "x", "loser": "x"}\n'
    with pytest.raises(tw.InputError, match="line 3: 'x' is compared with itself"):
        tw.read_battles(StringIO(good + "\n" + wrong), format="jsonl")


def test_bad_arguments():
    with pytest.raises(tw.InputError, match="drawn must be"):
        read("winner,loser\nx,y\n", drawn="third")
    with pytest.raises(tw.InputError, match="no column 'who'"):
        read("winner,loser\nx,y\n", judge="who")
    with pytest.raises(tw.InputError, match="to name both"):
        read("winner,loser\nx,y\n", first="winner")
    with pytest.raises(tw.InputError, match="rows must be battles"):
        tw.Battles.from_rows([("x", "y")])
    with pytest.raises(tw.InputError, match=r"\.csv or \.parquet"):
        tw.Battles.from_rows([("x", "y", "x")]).save("counts.txt")


def test_all_suspects_are_named_at_once_with_what_joins_them():
    text = "model_a,model_b,winner\nclaude-3.5,GPT 4,tie\nclaude-3-5,gpt-4,tie\nR,R+,tie\n"
    with pytest.raises(tw.InputError) as asked:
        read(text)
    [joined, kept] = asked.value.remedies
    assert dict(joined.settings) == {"rename": {"claude-3-5": "claude-3.5", "gpt-4": "GPT 4"}}
    for message in (
        "'claude-3-5' (the file given, line 3) and 'claude-3.5' (the file given, line 2)",
    ):
        assert message in str(asked.value)
    assert Shell().says(asked.value).count("--rename") == 2
    assert read(text, **dict(joined.settings)).items == ("GPT 4", "R", "R+", "claude-3.5")
    assert len(read(text, **dict(kept.settings)).items) == 6


def test_spellings_may_be_kept():
    assert read("winner,loser\nx,X\n", spellings="keep").items == ("X", "x")


@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_saved_counts_come_back_and_add(tmp_path, judged, ending):
    frame = FRAME if judged else FRAME.drop(columns="judge")
    old, new = tw.read_battles(frame[:4]), tw.read_battles(frame[3:])
    old.save(tmp_path / f"counts.{ending}")
    loaded = tw.Battles.load(tmp_path / f"counts.{ending}")
    assert loaded == old
    assert loaded.n_judges == old.n_judges
    both = tw.read_battles(pd.concat([frame[:4], frame[3:]]))
    assert loaded + new == both
    assert (loaded + new).fingerprint() == both.fingerprint()
    assert (loaded + new).n_judges == both.n_judges


@pytest.mark.parametrize("drawn", ["half", "drop", "model"])
@pytest.mark.parametrize("position", ["ignore", "model"])
def test_saved_counts_say_how_draws_and_the_first_place_count(tmp_path, drawn, position):
    rows = [("x", "y", "x"), ("y", "x", "x"), ("x", "y", "tie"), ("y", "x", "y"), ("x", "y", "y")]
    battles = tw.Battles.from_rows(rows, drawn=drawn, position=position)
    battles.save(tmp_path / "counts.parquet")
    assert tw.Battles.load(tmp_path / "counts.parquet").fingerprint() == battles.fingerprint()
    loaded = tw.Battles.load(tmp_path / "counts.parquet", drawn="half", position="ignore")
    assert loaded.fingerprint() == tw.Battles.from_rows(rows).fingerprint()


def test_other_items_add():
    both = read("winner,loser\nx,y\n") + read("winner,loser\ny,a\n")
    assert both == read("winner,loser\nx,y\ny,a\n")


def test_what_does_not_add_says_why():
    one = read("winner,loser\nx,y\n")
    with pytest.raises(tw.InputError, match="with_drawn"):
        one + one.with_drawn("drop")
    with pytest.raises(tw.InputError, match="judges"):
        one + read("winner,loser,judge\nx,y,Ann\n")


def test_resampled_battles_and_judges_keep_their_number():
    battles = tw.read_battles(FRAME)
    rng = np.random.default_rng(1)
    assert battles.resampled(rng, unit="battle").n_battles == 6
    means = np.mean([battles.resampled(rng, unit="battle").wins for _ in range(4000)], axis=0)
    assert np.abs(means - battles.wins).max() < 0.1
    means = np.mean([battles.resampled(rng, unit="judge").wins for _ in range(4000)], axis=0)
    assert np.abs(means - battles.wins).max() < 0.1
    with pytest.raises(tw.InputError, match="judges are not known"):
        read("winner,loser\nx,y\n").resampled(rng, unit="judge")
    with pytest.raises(tw.InputError, match="not whole numbers"):
        read("winner,loser,weight\nx,y,0.5\n").resampled(rng, unit="battle")


def test_judges_are_drawn_where_they_decide_several_battles():
    battles = tw.read_battles(FRAME)
    assert battles.composite
    assert battles.unit_of_resampling() == "judge"
    assert battles.unit_of_resampling("battle") == "battle"
    drawn, again = (battles.resampled(np.random.default_rng(3)) for _ in range(2))
    assert drawn == again == battles.resampled(np.random.default_rng(3), unit="judge")
    anonymous = read("winner,loser\nx,y\n")
    assert anonymous.unit_of_resampling() == "battle"
    assert battles.can_be_resampled
    assert anonymous.can_be_resampled
    assert not read("winner,loser,weight\nx,y,0.5\n").can_be_resampled


def test_llmfao():
    battles = tw.read_battles(shared_data("llmfao") / "crowd-comparisons.csv")
    assert (battles.n_battles, battles.n_drawn, len(battles.items)) == (8931, 3471, 59)
    assert battles.n_judges == 124


def test_battles_are_told_from_rankings(tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner\nx,y,model_a\ny,z,tie\n")
    with pytest.raises(tw.InputError, match="look like battles: use read_battles"):
        tw.read_rankings(path)
    assert tw.describe(tw.read_battles(path)).n_answers == 2


@pytest.mark.parametrize("nested", ["model_a", "model_b", "winner", "judge", "weight"])
def test_columns_of_lists_are_refused_by_name(nested):
    row = {"model_a": "x", "model_b": "y", "winner": "tie", "judge": "Ann", "weight": 1}
    lines = json.dumps(row | {nested: [row[nested]]})
    with pytest.raises(tw.InputError, match=f"column '{nested}' holds cells of the type"):
        tw.read_battles(StringIO(lines), format="jsonl")
    row["conversation"] = [{"said": "hello"}]
    assert tw.read_battles(StringIO(json.dumps(row)), format="jsonl").items == ("x", "y")


WEIGHED = "model_a,model_b,winner,weight\nx,y,model_a,1.5\ny,x,model_b,0.25\nx,z,tie,2.5\n"


def test_fractional_weights_count_as_kish_says():
    battles = tw.read_battles(StringIO(WEIGHED))
    weights = np.array([1.5, 0.25, 2.5])
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert battles.n_battles == pytest.approx(effective)
    assert battles.n_battles.in_words("battles") == (
        f"3 battles with survey weights (as {effective:.1f} of equal weight, Kish)"
    )
    # A thousand times the weights say no more.
    larger = WEIGHED.replace("1.5", "1500.5").replace("0.25", "250.1").replace("2.5", "2500.8")
    assert tw.read_battles(StringIO(larger)).n_battles == pytest.approx(effective, rel=1e-2)
    assert "3 battles of 3 items with survey weights" in repr(battles)


def test_what_weights_are_can_be_said():
    counts = tw.read_battles(StringIO(WEIGHED), weights_are="counts")
    assert counts.n_battles == 4.25
    whole = WEIGHED.replace("1.5", "3").replace("0.25", "1").replace("2.5", "2")
    assert tw.read_battles(StringIO(whole)).n_battles == 6.0
    assert tw.read_battles(StringIO(whole), weights_are="survey").n_battles < 3.0
    halves = WEIGHED.replace("0.25", "0.5")
    assert tw.read_battles(StringIO(halves)).n_battles == 4.5
    with pytest.raises(tw.InputError, match="weights_are"):
        tw.read_battles(StringIO(whole), weights_are="people")


def test_weights_of_a_survey_add_and_are_saved(tmp_path):
    battles = tw.read_battles(StringIO(WEIGHED))
    both = battles + battles
    assert both.n_battles == pytest.approx(2 * battles.n_battles)
    assert both.n_rows == 6
    battles.save(tmp_path / "kept.csv")
    again = tw.Battles.load(tmp_path / "kept.csv")
    assert again.n_battles == pytest.approx(battles.n_battles)
    assert again.wins == pytest.approx(battles.wins)


def test_noise_with_large_weights_is_not_taken_for_tiers():
    rng = np.random.default_rng(4)
    one = rng.integers(4, size=60)
    other = (one + 1 + rng.integers(3, size=60)) % 4
    winner = np.where(rng.random(60) < 0.5, "model_a", "model_b")
    rows = "\n".join(
        f"{'wxyz'[a]},{'wxyz'[b]},{won},{weight:.3f}"
        for a, b, won, weight in zip(one, other, winner, 1700 * rng.lognormal(size=60), strict=True)
    )
    battles = tw.read_battles(StringIO(f"model_a,model_b,winner,weight\n{rows}\n"))
    assert len(tw.search(battles, progress="off").best.tiers) == 1


def table_of(header, *rows):
    return StringIO("\n".join([header, *rows]) + "\n")


@pytest.mark.parametrize(
    "header",
    [
        "home,away,home_goals,away_goals",
        "HomeTeam,AwayTeam,FTHG,FTAG",
        "home_team,away_team,home_score,away_score",
        "team_a,team_b,points_a,points_b",
        "player1,player2,score1,score2",
    ],
)
def test_the_points_of_both_say_who_won(header):
    battles = tw.read(table_of(header, "Ajax,PSV,2,1", "PSV,Ajax,0,0", "PSV,Ajax,0,10"))
    assert isinstance(battles, tw.Battles)
    assert battles.items == ("Ajax", "PSV")
    assert battles.decided.tolist() == [[0, 2], [0, 0]]
    assert battles.n_drawn == 1
    assert "who has more wins" in str(battles.reading)


def test_matches_without_points_are_left_out_and_said():
    rows = ["Ajax,PSV,2,1", "PSV,Ajax,,", "PSV,Ajax,1,3"]
    battles = tw.read_battles(table_of("home,away,home_goals,away_goals", *rows))
    assert battles.decided.tolist() == [[0, 2], [0, 0]]
    assert "1 row without points is left out" in str(battles.reading)
    with pytest.raises(tw.InputError, match=r"line 3: the number in column 'away_goals' is miss"):
        tw.read_battles(table_of("home,away,home_goals,away_goals", "Ajax,PSV,2,1", "PSV,Ajax,1,"))
    # A row is named as it is in the file, although one before it was left out.
    with pytest.raises(tw.InputError, match="line 3: 'PSV' is compared with itself"):
        tw.read_battles(table_of("home,away,home_goals,away_goals", "Ajax,PSV,,", "PSV,PSV,1,0"))


def test_columns_of_points_can_be_named():
    text = "x,y,here,there\nAjax,PSV,2,1\nPSV,Ajax,2,0\n"
    battles = tw.read(StringIO(text), first="x", second="y", points=("here", "there"))
    assert battles.decided.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(tw.InputError, match="points needs two columns"):
        tw.read_battles(StringIO(text), first="x", second="y", points=("here",))
    with pytest.raises(tw.InputError, match="there is no column 'goals' for the points"):
        tw.read_battles(StringIO(text), first="x", second="y", points=("here", "goals"))


def test_a_column_of_results_comes_before_points_unless_these_are_named():
    rows = ["Ajax,PSV,2,1,H", "PSV,Ajax,0,0,D", "PSV,Ajax,0,4,A", "Ajax,PSV,5,0,A"]
    header = "HomeTeam,AwayTeam,FTHG,FTAG,FTR"
    battles = tw.read_battles(table_of(header, *rows))
    assert battles.decided.tolist() == [[0, 2], [1, 0]]
    assert battles.n_drawn == 1
    named = tw.read_battles(table_of(header, *rows), points=("FTHG", "FTAG"))
    assert named.decided.tolist() == [[0, 3], [0, 0]]
    # Where one is at home, A is the other one, so that B says nothing.
    with pytest.raises(tw.InputError, match="the winner is 'B', which is neither"):
        tw.read_battles(table_of("home,away,winner", "Ajax,PSV,B"))


TEAMS = ("Ajax", "FC København", "Inter, Milano", "PSV")
MATCHES = st.lists(
    st.tuples(st.permutations(TEAMS), st.integers(0, 12), st.integers(0, 12)).map(
        lambda drawn: (*drawn[0][:2], *drawn[1:])
    ),
    min_size=1,
    max_size=12,
)


def result_of(home_goals, away_goals, words):
    return words[0 if home_goals > away_goals else 1 if home_goals == away_goals else 2]


SPELLINGS = {
    "home,away,home_goals,away_goals": lambda home, away: (home, away),
    "HomeTeam,AwayTeam,FTHG,FTAG": lambda home, away: (home, away),
    "HomeTeam,AwayTeam,FTR": lambda home, away: (result_of(home, away, "HDA"),),
    "HomeTeam,AwayTeam,FTHG,FTAG,FTR": lambda home, away: (
        home,
        away,
        result_of(home, away, "HDA"),
    ),
    "home,away,result": lambda home, away: (f"{home}-{away}",),
}


@given(MATCHES)
@settings(max_examples=25)
def test_matches_are_the_same_battles_in_every_spelling(matches):
    items = sorted({team for home, away, *_ in matches for team in (home, away)})
    decided, drawn = np.zeros((2, len(items), len(items)))
    for home, away, home_goals, away_goals in matches:
        one, other = items.index(home), items.index(away)
        if home_goals == away_goals:
            drawn[[one, other], [other, one]] += 1
        elif home_goals > away_goals:
            decided[one, other] += 1
        else:
            decided[other, one] += 1
    for header, cells in SPELLINGS.items():
        rows = [[home, away, *cells(*goals)] for home, away, *goals in matches]
        text = pd.DataFrame(rows, columns=header.split(",")).to_csv(index=False)
        battles = tw.read(StringIO(text))
        assert isinstance(battles, tw.Battles), header
        order = [battles.items.index(item) for item in items]
        np.testing.assert_array_equal(battles.decided[np.ix_(order, order)], decided, header)
        np.testing.assert_array_equal(battles.drawn[np.ix_(order, order)], drawn, header)
