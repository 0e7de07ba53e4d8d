"""Pages say how many answers are missing where that is cheap, and else claim nothing."""

import numpy as np
import pytest

import tierwise as tw
from tierwise.planning.asking import Design
from tierwise.planning.stopping import forecast_where_cheap

MODEL = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"], ["d"]]), (9.0, 3.0, 1.0))


@pytest.mark.parametrize("ask", ["complete", "pairs"])
def test_pages_say_what_enough_says(ask, tmp_path):
    data = Design(ask).answers(MODEL, 80, np.random.default_rng(5))
    path = tmp_path / "page.html"
    shown = tw.report(data, path, family="luce", rng=1, progress="off")
    choice = shown.board.choice if ask == "pairs" else tw.Choice(shown.search)
    said = forecast_where_cheap(data, choice)
    assert said is not None
    assert f"<p>{said.sentence()}</p>" in path.read_text(encoding="utf-8")


def test_nothing_is_claimed_where_a_forecast_is_dear():
    many = MODEL.sample(2_000, rng=1)
    choice = tw.choose(many, family="luce", rng=1, progress="off")
    names = [f"m{number}" for number in range(40)]
    wide = tw.ClusteredLuce(tw.Tiers([names[:20], names[20:]]), (3.0, 1.0))
    # Twenty-four orderings of four items are few; sixty of forty items are not.
    assert forecast_where_cheap(many, choice) is not None
    assert forecast_where_cheap(wide.sample(60, rng=1), choice) is None
    assert (
        forecast_where_cheap(Design("pairs").answers(wide, 500, np.random.default_rng(1)), choice)
        is None
    )


def test_nothing_is_claimed_of_mallows_models():
    data = MODEL.sample(50, rng=1)
    assert forecast_where_cheap(data, tw.choose(data, distance="inversions", rng=1)) is None
