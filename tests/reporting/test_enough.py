"""Pages say how many answers are missing where that is cheap, and else claim nothing."""

import re
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import tierwise as tw
from tests.unrendered import unrendered_figures
from tierwise.cli.main import app
from tierwise.planning.asking import Design
from tierwise.planning.stopping import forecast_where_cheap
from tierwise.reporting.report import forecast_of_leaderboard

pytestmark = pytest.mark.thorough

MODEL = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"], ["d"]]), (9.0, 3.0, 1.0))


def reported(ask, folder):
    """Answers, the report about them, and its page."""
    data = Design(ask).answers(MODEL, 80, np.random.default_rng(5))
    path = folder / "page.html"
    with unrendered_figures():
        shown = tw.report(data, path, family="luce", rng=1, progress="off")
    return data, shown, path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    return reported("complete", tmp_path_factory.mktemp("complete"))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return reported("pairs", tmp_path_factory.mktemp("pairs"))


@pytest.mark.parametrize("ask", ["complete", "pairs"])
def test_pages_say_what_enough_says(ask, request):
    data, shown, page = request.getfixturevalue(ask)
    choice = shown.board.choice if ask == "pairs" else tw.Choice(shown.search)
    said = forecast_where_cheap(data, choice)
    assert said is not None
    assert f"<p>{said.sentence()}</p>" in page
    assert shown.forecast.sentence() == said.sentence()


def test_pages_of_the_leaderboard_command_say_it(tmp_path):
    data = Design("pairs").answers(MODEL, 80, np.random.default_rng(5))
    rows = [
        f"{winner},{loser}\n" * int(data.decided[one, other])
        for one, winner in enumerate(data.items)
        for other, loser in enumerate(data.items)
    ]
    (tmp_path / "battles.csv").write_text("winner,loser\n" + "".join(rows), encoding="utf-8")
    words = ["battles.csv", "--seed", "1", "--page", "page.html"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        with unrendered_figures():
            result = CliRunner().invoke(app, ["leaderboard", *words], catch_exceptions=False)
    assert result.exit_code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.search(r"<p>(Enough: |Not yet: |With about \d+ further answers)", page)


def test_other_tiers_than_the_most_probable_get_no_forecast(pairs):
    data, shown, _ = pairs
    board = shown.board
    other = replace(board, tiers=tw.Tiers([["a", "b"], ["c", "d"]]))
    assert shown.forecast is not None  # that of its own tiers
    assert forecast_of_leaderboard(other, data) is None


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
