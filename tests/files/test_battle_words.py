"""Who won, in the words of judges, leaderboards, matches and fights."""

from io import StringIO

import numpy as np
import pytest

import tierwise as tw


def battles(header, *rows):
    return tw.read_battles(StringIO("\n".join([header, *rows, ""])))


@pytest.mark.parametrize(
    ("header", "won", "lost", "drawn"),
    [
        ("model_a,model_b,winner", "model_a", "model_b", "Both are bad"),
        ("model_a,model_b,verdict", "[[A]]", "[[B]]", "[[C]]"),
        ("model_a,model_b,score", "A>>B", "B>A", "A=B"),
        ("model_a,model_b,score", "[[A>B]]", "[[A<<B]]", "[[A=B]]"),
        ("model 1,model 2,winner", "1", "2", "tie"),
        ("generator_1,generator_2,preference", "1", "2", "neither"),
        ("fighter_1,fighter_2,result", "win", "loss", "draw"),
        ("R_fighter,B_fighter,Winner", "Red", "Blue", "Draw"),
        ("home,away,score", "2\N{EN DASH}1", "0\N{EN DASH}1", "½-½"),
    ],
)
def test_words_for_outcomes(header, won, lost, drawn):
    read = battles(header, f"x,y,{won}", f"x,y,{lost}", f"y,x,{won}", f"x,y,{drawn}")
    assert read.items == ("x", "y")
    # Wins with half of the drawn battle to each side.
    np.testing.assert_array_equal(read.wins, [[0, 1.5], [2.5, 0]])


def test_letters_of_verdicts_are_not_mixed_with_models_called_so():
    with pytest.raises(tw.InputError, match=r"'A>B' may be the model 'A'"):
        battles("model_a,model_b,score", "A,B,A>B")


def test_one_column_for_each_winner():
    read = battles(
        "id,model_a,model_b,response_a,response_b,winner_model_a,winner_model_b,winner_tie",
        "1,x,y,hi,ho,1,0,0",
        "2,x,y,hi,ho,0,0,1",
    )
    np.testing.assert_array_equal(read.wins, [[0, 1.5], [0.5, 0]])


def test_rows_that_count_wins():
    read = battles("model_a,model_b,wins_a,wins_b,ties", "x,y,5,2,3", "y,z,0,4,0")
    np.testing.assert_array_equal(read.wins, [[0, 6.5, 0], [3.5, 0, 0], [0, 4, 0]])
    assert "how often each won" in str(read.reading)
    with pytest.raises(tw.InputError, match=r"line 2: the number in column 'wins_b' is missing"):
        battles("model_a,model_b,wins_a,wins_b", "x,y,5,")


def test_rows_that_count_wins_are_the_battles_themselves():
    counted = battles("model_a,model_b,judge,wins_a,wins_b,ties", "x,y,Ann,2,1,1", "x,y,Bob,0,1,0")
    one_by_one = battles(
        "model_a,model_b,judge,winner",
        *("x,y,Ann,x", "x,y,Ann,x", "x,y,Ann,y", "x,y,Ann,tie", "x,y,Bob,y"),
    )
    assert counted == one_by_one


@pytest.mark.parametrize("word", ["*", "No Contest", "postponed", ""])
def test_matches_without_a_result_are_left_out(word):
    read = battles("white,black,result", "x,y,1-0", f"y,x,{word}")
    np.testing.assert_array_equal(read.wins, [[0, 1], [0, 0]])
    assert "1 row without a result is left out." in read.reading.remarks


def test_a_vote_without_a_winner_is_an_error():
    with pytest.raises(tw.InputError, match=r"line 3: the winner is missing"):
        battles("model_a,model_b,winner", "x,y,x", "x,y,")


@pytest.mark.parametrize(
    "header", ["winner_name,loser_name", "chosen_model,rejected_model", "winning_team,losing_team"]
)
def test_winners_and_losers(header):
    text = f"{header},surface,winner_rank,loser_rank\nx,y,clay,1,2\ny,z,clay,2,3\nx,z,grass,1,3\n"
    for purpose in ("any", "leaderboard"):
        read = tw.read(StringIO(text), purpose=purpose)
        assert read.pair_counts.tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]


def test_two_models_without_a_winner_are_asked_about():
    text = "qid,model_1,model_2,g1_winner\n1,x,y,model_1\n2,y,x,tie\n3,x,z,tie\n"
    with pytest.raises(tw.InputError, match=r"no column says who won: use winner="):
        tw.read(StringIO(text))
    assert isinstance(tw.read(StringIO(text), winner="g1_winner"), tw.Battles)


def test_a_winner_in_another_spelling_is_asked_about():
    rows = ("GPT,claude,gpt", "Claude,gpt,gpt")
    with pytest.raises(tw.InputError, match=r"differ only in case.*'claude'.* and 'Claude'"):
        battles("model_a,model_b,winner", *rows)
    with pytest.raises(tw.InputError, match=r"the winner is 'gpt'.*rename=.\"GPT\": \"gpt\""):
        tw.read_battles(
            StringIO("model_a,model_b,winner\nGPT,claude,gpt\nx,gpt,x\n"), spellings="keep"
        )
