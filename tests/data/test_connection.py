"""Parts of items that never met: found, said, and nothing claimed across them."""

import numpy as np
import pytest

import tierwise as tw
from tierwise.data.connection import numbers_of_parts, parts_of, stack_parts

# Short chains, so that tests are quick.
pytestmark = pytest.mark.filterwarnings("ignore::tierwise.errors.TierwiseWarning")


@pytest.fixture(scope="module")
def apart():
    """Two groups of three models that never met; within each, the first is best."""
    rows = []
    for group in ("abc", "xyz"):
        for one, other in ((0, 1), (1, 2), (0, 2)):
            rows += [(group[one], group[other], group[one])] * 40
            rows += [(group[one], group[other], group[other])] * 8
    return tw.Battles.from_rows(rows)


def test_parts_by_brute_force():
    rng = np.random.default_rng(1)
    for _ in range(20):
        met = rng.random((7, 7)) < 0.12
        reached = met | met.T | np.eye(7, dtype=bool)
        for _ in range(7):
            reached = reached @ reached
        numbers = numbers_of_parts(met)
        np.testing.assert_array_equal(numbers[:, None] == numbers, reached)
        sizes = np.bincount(numbers)
        assert (np.diff(sizes) <= 0).all()


def test_parts_of_rankings_with_gaps_and_an_item_that_nobody_listed():
    rows = [["a", "b"], [["b", "c"]], ["x", "y"]]
    answers = tw.Rankings.from_orderings(rows, items="abcxyz", unranked="anywhere")
    assert parts_of(answers) == (("a", "b", "c"), ("x", "y"), ("z",))
    assert len(parts_of(tw.load_political_goals())) == 1


def test_stacked_parts_keep_their_order_and_are_above_each_other_equally_often():
    labels = np.tile([[1, 2, 2, 5]], (4000, 1))
    stacked = stack_parts(labels, np.array([0, 0, 1, 1]), np.random.default_rng(1))
    assert (stacked[:, 0] < stacked[:, 1]).all()
    assert (stacked[:, 2] < stacked[:, 3]).all()
    assert (stacked[:, 0] < stacked[:, 3]).mean() == pytest.approx(0.5, abs=0.03)
    assert set(map(tuple, stacked.tolist())) == {(1, 2, 3, 4), (3, 4, 1, 2)}


@pytest.mark.parametrize(
    "uncertainty", ["posterior", pytest.param("bootstrap", marks=pytest.mark.slow)]
)
def test_a_leaderboard_claims_nothing_across_parts(apart, uncertainty):
    board = tw.leaderboard(
        apart, uncertainty=uncertainty, chains=2, draws=500, replicates=200, rng=1
    )
    order = [row.item for row in board.rows]
    above = {
        (one, other): board.above_probabilities[i, j]
        for i, one in enumerate(order)
        for j, other in enumerate(order)
    }
    for one in "abc":
        for other in "xyz":
            assert above[one, other] == pytest.approx(0.5, abs=0.12)
    assert above["a", "b"] > 0.95
    assert "a, b and c; x, y and z" in board.note()
    rows = {row.item: row for row in board.rows}
    assert rows["a"].rank_low == 1
    assert rows["a"].rank_high >= 4


def test_every_summary_says_it(apart):
    said = "Never compared, not even indirectly: a, b and c; x, y and z."
    found = tw.search(apart, rng=1)
    assert found.best.parts == (("a", "b", "c"), ("x", "y", "z"))
    one_line = [" ".join(text.split()) for text in (found.summary(), found.best.summary())]
    assert all(said in text for text in one_line)
    posterior = tw.sample_posterior(apart, chains=1, draws=100, rng=1)
    assert said in posterior.caution
    assert said in " ".join(posterior.summary().split())
    assert "fall into 2 groups" in " ".join(tw.describe(apart).sentences())


def test_the_bootstrap_invents_nothing(apart):
    fitted = tw.search(apart, family="luce", rng=1).best
    again = tw.bootstrap(apart, fitted, replicates=100, rng=2)
    order = list(fitted.tiers.items)
    above = (again.labels[:, order.index("a")] < again.labels[:, order.index("z")]).mean()
    assert 0.3 < above < 0.7


def test_an_item_that_never_lost_has_finite_strength():
    rows = [("top", "b", "top")] * 12 + [("b", "c", "b")] * 9 + [("b", "c", "c")] * 7
    battles = tw.Battles.from_rows(rows)
    described = tw.describe(battles)
    assert described.never_lost == ("top",)
    board = tw.leaderboard(battles, family="luce", chains=2, draws=300, rng=1)
    assert np.isfinite([row.strength_interval for row in board.rows]).all()
    assert board.rows[0].item == "top"
    assert str(described.heading()) == "28 battles of 3 items"
