"""Who was shown first: kept while reading, adding, resampling, writing and reading again."""

from io import StringIO

import numpy as np
import pytest

import tierwise as tw
from tierwise import Battles, InputError

ROWS = [
    ("x", "y", "x"),
    ("y", "x", "x"),
    ("y", "x", "x"),
    ("x", "y", "tie"),
    ("y", "z", "z"),
    ("z", "y", "tie"),
    ("z", "y", "tie"),
]


def test_wins_and_draws_are_kept_by_who_was_shown_first():
    battles = Battles.from_rows(ROWS)
    assert battles.decided.tolist() == [[0, 3, 0], [0, 0, 0], [0, 1, 0]]
    assert battles.shown.won.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert battles.shown.drawn.tolist() == [[0, 1, 0], [0, 0, 0], [0, 2, 0]]
    assert battles.drawn.tolist() == [[0, 1, 0], [1, 0, 2], [0, 2, 0]]


@pytest.mark.parametrize(("drawn", "position"), [("half", "ignore"), ("model", "model")])
@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_written_is_read_again(tmp_path, drawn, position, judged, ending):
    rows = [(*row, f"judge {number % 2}") if judged else row for number, row in enumerate(ROWS)]
    battles = Battles.from_rows(rows, drawn=drawn, position=position)
    battles.save(tmp_path / f"battles.{ending}")
    again = Battles.load(tmp_path / f"battles.{ending}", drawn=drawn)
    assert again.with_position("model") == battles.with_position("model")
    assert again.with_position(position) == battles


def test_battles_without_an_order_are_written_as_such(tmp_path):
    battles = Battles(("x", "y"), np.array([[0.0, 3], [1, 0]]), np.array([[0.0, 2], [2, 0]]))
    battles.save(tmp_path / "battles.csv")
    again = Battles.load(tmp_path / "battles.csv")
    assert again == battles
    assert again.shown is None


def test_the_first_place_is_not_estimated_where_it_is_not_known():
    lost = tw.read_battles(StringIO("winner,loser\nx,y\ny,x\n"))
    with pytest.raises(InputError, match="not known who was shown first"):
        lost.with_position("model")
    with pytest.raises(InputError, match="not known who was shown first"):
        tw.read_battles(StringIO("winner,loser\nx,y\ny,x\n"), position="model")
    always = Battles.from_rows([("x", "y", "x"), ("y", "x", "y")])
    with pytest.raises(InputError, match="won every battle"):
        always.with_position("model")
    sorted_names = [("x", "y", "x"), ("x", "y", "y"), ("x", "z", "tie")]
    with pytest.raises(InputError, match="in alphabetical order"):
        Battles.from_rows(sorted_names, position="model")
    with pytest.raises(InputError, match="in alphabetical order"):
        tw.load_llmfao().with_position("model")
    with pytest.raises(InputError, match="position"):
        always.with_position("left")


def test_adding_keeps_the_order_where_both_know_it():
    one, other = Battles.from_rows(ROWS[:4]), Battles.from_rows(ROWS[4:])
    both = (one + other).with_position("model")
    assert both == Battles.from_rows(ROWS, position="model")
    unknown = tw.read_battles(StringIO("winner,loser\nx,y\ny,x\n"))
    assert (one + unknown).shown is None
    with pytest.raises(InputError, match="with_position"):
        one.with_position("model") + other
    with pytest.raises(InputError, match="with_drawn"):
        one.with_drawn("model") + other


@pytest.mark.parametrize("judged", [False, True])
def test_battles_drawn_again_keep_the_order(judged):
    rows = [(*row, f"judge {number}") if judged else row for number, row in enumerate(ROWS * 30)]
    battles = Battles.from_rows(rows, drawn="model", position="model")
    again = battles.resampled(np.random.default_rng(1))
    assert again.drawn_as == again.position == "model"
    assert again.n_battles == battles.n_battles
    assert again != battles
    shown = again.shown
    assert (shown.won <= again.decided).all()
    assert (shown.drawn + shown.drawn.T == again.drawn).all()
    # What never happened is not drawn.
    assert not shown.won[battles.shown.won == 0].any()
    assert not shown.drawn[battles.shown.drawn == 0].any()


def test_choices_change_what_a_likelihood_depends_on():
    battles = Battles.from_rows(ROWS)
    other = Battles.from_rows([("y", "x", "x"), *ROWS[1:]])
    assert battles.fingerprint() == other.fingerprint()
    assert (
        battles.with_position("model").fingerprint() != other.with_position("model").fingerprint()
    )
    assert battles.with_drawn("model").fingerprint() != battles.fingerprint()
    assert battles.with_drawn("model").n_battles == battles.n_battles == 7
    assert battles.families == ("mallows", "luce")
    assert battles.with_drawn("model").families == ("luce",)
    assert battles.with_position("model").families == ("luce",)


@pytest.mark.parametrize("names", ["home,away", "white,black", "left,right"])
def test_further_names_of_columns_have_an_order(names):
    first, second = names.split(",")
    text = f"{names},winner\nx,y,{first}\nx,y,{second}\ny,x,draw\n"
    battles = tw.read_battles(StringIO(text))
    assert battles.shown.won.tolist() == [[0, 1], [0, 0]]
    assert battles.n_drawn == 1
