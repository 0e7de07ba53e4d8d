"""Judges who decided several battles each: how many independent battles these count as."""

import numpy as np
import pytest

import tierwise as tw
from tierwise.data.battles import Battles
from tierwise.data.weights import EffectiveNumber
from tierwise.files.battle_counts import condensed_votes
from tierwise.luce.judges import at_effective_number, design_effect

# Short chains, so that tests are quick.
pytestmark = pytest.mark.filterwarnings("ignore::tierwise.errors.TierwiseWarning")


def judged(n_items, n_judges, n_each, own_taste, seed):
    """Battles by judges whose log worths differ from those of all by a standard deviation."""
    rng = np.random.default_rng(seed)
    worths = np.linspace(0.7, -0.7, n_items) + own_taste * rng.standard_normal((n_judges, n_items))
    judge = np.repeat(np.arange(n_judges), n_each)
    one = rng.integers(n_items, size=len(judge))
    other = (one + rng.integers(1, n_items, size=len(judge))) % n_items
    won = rng.random(len(judge)) < 1 / (1 + np.exp(worths[judge, other] - worths[judge, one]))
    first, second = np.where(won, one, other), np.where(won, other, one)
    wins = np.zeros((n_items, n_items))
    np.add.at(wins, (first, second), 1)
    names = tuple(f"judge {number:03d}" for number in range(n_judges))
    nothing = np.zeros(len(judge), dtype=bool)
    votes = condensed_votes(names, judge, first, second, nothing, np.ones(len(judge)))
    items = tuple(f"m{number:02d}" for number in range(n_items))
    return Battles(items, wins, np.zeros_like(wins), votes=votes)


def test_judges_who_agree_count_as_they_are():
    found = [design_effect(judged(8, 60, 30, 0.0, seed)) for seed in range(8)]
    assert np.mean(found) == pytest.approx(1.0, abs=0.08)


def test_two_items_by_hand():
    """Of two items, all is known by the wins of judges: a ratio of binomial variances."""
    wins_of_judges, n_each = np.array([10, 2, 7, 9, 1, 6]), 10
    rows = [
        ("x", "y", "x" if number < wins else "y", f"judge {judge}")
        for judge, wins in enumerate(wins_of_judges)
        for number in range(n_each)
    ]
    battles = Battles.from_rows(rows)
    logs = np.log((35 + 0.5) / (25 + 0.5))  # near the mode with the prior of worths
    share = 1 / (1 + np.exp(-logs))
    spread = ((wins_of_judges - n_each * share) ** 2).sum() / (60 * share * (1 - share))
    assert design_effect(battles) == pytest.approx(spread * 6 / 5, rel=0.02)


def test_the_design_effect_grows_with_tastes_and_with_battles_of_a_judge():
    few, many = (
        np.mean([design_effect(judged(6, 40, n, 1.0, s)) for s in range(4)]) for n in (10, 80)
    )
    assert 1.0 < few < many
    mild = np.mean([design_effect(judged(6, 40, 80, 0.4, seed)) for seed in range(4)])
    assert 1.0 < mild < many


def test_weights_of_battles_cancel():
    battles = judged(6, 20, 40, 1.0, 1)
    votes = battles.votes
    heavy = Battles(
        battles.items,
        battles.decided * 1000.0,
        battles.drawn,
        votes=condensed_votes(
            votes.judges, votes.judge, votes.first, votes.second, votes.drawn, votes.weight * 1000.0
        ),
    )
    one, other = (float(at_effective_number(data).n_battles) for data in (battles, heavy))
    # The prior of worths weighs less beside more battles.
    assert one == pytest.approx(other, rel=0.05)


def test_battles_of_single_judges_are_left_alone():
    rows = [("x", "y", "x", f"judge {number}") for number in range(9)]
    battles = Battles.from_rows([*rows, ("x", "y", "y", "last")])
    assert at_effective_number(battles) is battles
    scaled = at_effective_number(judged(6, 20, 40, 1.0, 1))
    assert at_effective_number(scaled) is scaled


def test_every_door_counts_them_alike():
    battles = judged(6, 12, 100, 1.0, 3)
    wanted = float(at_effective_number(battles).n_battles)
    assert wanted < 600
    board = tw.leaderboard(battles, family="luce", chains=2, draws=200, rng=1)
    said = f"1,200 battles by 12 judges (as {wanted:,.1f} independent ones, because judges differ)"
    assert said in board.note()
    found = tw.search(battles, rng=1)
    assert said in found.summary(200)
    posterior = tw.sample_posterior(battles, family="luce", draws=200, chains=1, rng=1)
    for number in (
        board.fit.n_rankings,
        found.best.n_rankings,
        tw.fit(battles, found.best.sizes, family="luce").n_rankings,
        posterior.n_rankings,
    ):
        assert isinstance(number, EffectiveNumber)
        assert float(number) == pytest.approx(wanted)


@pytest.mark.slow
def test_rank_intervals_allow_for_judges():
    """Ten judges with tastes of their own and 300 battles each: intervals held 84% before."""
    held, before = [], []
    for seed in range(4):
        battles = judged(8, 10, 300, 0.8, seed)
        alone = Battles(battles.items, battles.decided, battles.drawn)
        for data, shares in ((battles, held), (alone, before)):
            board = tw.leaderboard(data, family="luce", chains=2, draws=300, rng=1)
            shares += [
                row.rank_low <= battles.items.index(row.item) + 1 <= row.rank_high
                for row in board.rows
            ]
    assert np.mean(held) >= 0.9
    assert np.mean(held) > np.mean(before)


def test_one_judge_is_not_said_to_differ_from_others_by_chance_only():
    rows = [("x", "y", "x", "Ann")] * 9 + [("y", "x", "y", "Ann")] * 3
    note = tw.search(tw.Battles.from_rows(rows)).summary()
    assert "12 battles by 1 judge (who may differ from others)" in " ".join(note.split())
