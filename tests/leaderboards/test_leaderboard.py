"""Leaderboards: what is published, from the library and from the command line."""

import itertools
import json
import re
from io import StringIO

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tierwise as tw
from tests.small_battles import simulated
from tierwise import plots
from tierwise.cli.main import app, shell
from tierwise.leaderboards.wording import note_on_tiers

pytestmark = pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")  # few draws


@pytest.fixture(scope="module")
def battles():
    return simulated((2, 3, 2), 0.5, 3000, 1)[0]


@pytest.fixture(scope="module")
def board(battles):
    return tw.leaderboard(battles, draws=200, chains=2, rng=1)


def test_rows_say_what_the_truth_is(board):
    assert [row.item for row in board.rows[:2]] in (["m000", "m001"], ["m001", "m000"])
    assert [row.tier for row in board.rows] == [1, 1, 2, 2, 2, 3, 3]
    for row in board.rows:
        assert 1 <= row.rank_low <= row.mean_rank <= row.rank_high <= 7
        assert sum(row.tier_probabilities) == pytest.approx(1)
        assert row.best_k_probabilities[0] <= row.best_k_probabilities[1]
    assert sum(row.best_k_probabilities[0] for row in board.rows) == pytest.approx(1)
    assert sum(row.best_k_probabilities[1] for row in board.rows) == pytest.approx(3)
    assert board.rows[-1].next_item is None
    assert board.rows[1].better_than_next > 0.9


def test_the_same_seed_gives_the_same_leaderboard(battles, board):
    again = tw.leaderboard(battles, draws=200, chains=2, rng=1)
    assert again.to_csv() == board.to_csv()


@pytest.mark.thorough
def test_the_note_on_tiers_is_true_of_the_draws():
    """Count draws pair by pair: no sure difference in a tier, so many across."""
    battles = simulated((4, 4, 4, 4), 0.15, 1500, 3)[0]
    seed = np.random.SeedSequence(5)
    draws = tw.sample_posterior(
        battles,
        distance="inversions",
        chains=2,
        draws=200,
        sampler=tw.Sampler(thin="auto"),
        priors=tw.Priors(sizes="sceptical"),
        progress="off",
        rng=np.random.SeedSequence(5).spawn(2)[1],
    ).labels
    board = tw.leaderboard(
        battles,
        family="mallows",
        tiers="sure",
        chains=2,
        draws=200,
        certainty=0.9,
        rng=seed,
    )
    tier_of = {row.item: row.tier for row in board.rows}
    within, across = [], []
    for one, first in enumerate(battles.items):
        for other, second in enumerate(battles.items):
            better = np.mean([draw[one] < draw[other] for draw in draws])
            if tier_of[first] == tier_of[second] and first != second:
                within.append(better)
            elif tier_of[first] < tier_of[second]:
                across.append(better)
    assert 1 < len(board.tiers) < 16
    assert max(within) < 0.9
    assert 0 < board.sure_share < 1
    assert board.sure_share == pytest.approx(np.mean(np.array(across) >= 0.9))
    assert note_on_tiers(board).startswith(
        f"No two items of a tier differ with 90% probability; of the pairs in different tiers, "
        f"{board.sure_share:.0%} differ with 90% probability or more"
    )
    assert board.to_dict()["sure_share"] == board.sure_share
    rows = [battles.items.index(row.item) for row in board.rows]
    for place, one in enumerate(rows):
        for other_place, other in enumerate(rows):
            better = np.mean([draw[one] < draw[other] for draw in draws])
            assert board.above_probabilities[place, other_place] == pytest.approx(better)


def test_every_form_says_the_same(board, tmp_path):
    frame = board.to_frame()
    read = pd.read_csv(StringIO(board.to_csv()))
    assert list(read.columns) == list(frame.columns)
    assert read["rank_low"].tolist() == frame["rank_low"].tolist()
    plain = json.loads(board.to_json(tmp_path / "board.json"))
    assert [row["item"] for row in plain["rows"]] == frame["item"].tolist()
    assert plain["level"] == 0.95
    assert (tmp_path / "board.json").read_text(encoding="utf-8") == board.to_json()
    markdown = board.to_markdown()
    assert markdown.startswith("| no. | tier | item | rank (95%) | battles | share won | P(best) |")
    assert len(markdown.splitlines()) == 2 + 7 + 2
    assert "95% intervals, from 400 draws of the posterior" in board.summary(200)


def test_names_do_not_break_a_markdown_table():
    battles = tw.Battles.from_rows([("a|b", "c", "c")] * 5 + [("a|b", "c", "tie")])
    assert r"a\|b" in tw.leaderboard(battles, draws=50, chains=2, rng=1).to_markdown()


def test_bootstrap_over_judges_is_said():
    rows = [("x", "y", "x", judge) for judge in "abcdef" for _ in range(3)]
    rows += [("y", "z", "y", judge) for judge in "abcdef" for _ in range(3)]
    rows += [("x", "z", "z", "a")]
    board = tw.leaderboard(
        tw.Battles.from_rows(rows), uncertainty="bootstrap", replicates=30, rng=1
    )
    assert board.uncertainty == "bootstrap over judges"
    assert "37 battles by 6 judges (who differ no more than by chance)" in board.note()
    assert board.rows[0].item == "x"


def test_rankings_and_scores_have_leaderboards():
    goals = tw.leaderboard(tw.load_political_goals(), rng=1)
    assert {row.item for row in goals.rows if row.tier == 1} == {"order", "prices"}
    assert goals.uncertainty == "posterior"
    with pytest.raises(tw.InputError, match="from the posterior"):
        tw.leaderboard(tw.load_political_goals(), uncertainty="bootstrap")
    with pytest.raises(tw.InputError, match=r"leaderboard takes Rankings, .* or Battles"):
        tw.leaderboard([1, 2])


def test_rank_intervals_are_drawn(board):
    ax = plots.rank_intervals(board)
    assert len(ax.get_yticklabels()) == 7
    assert ax.get_xlabel() == "rank, 95% interval"
    plt.close("all")


def test_names_in_the_figure_are_told_apart_and_are_no_formulas():
    items = ["One family of models, 7B", "One family of models, 13B", "$x_1$"]
    battles = tw.Battles.from_rows([(items[0], items[1], "tie"), (items[1], items[2], items[1])])
    ax = plots.rank_intervals(tw.leaderboard(battles, draws=50, chains=2, rng=1))
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert sorted(shown) == ["$x_1$", "One family…models, 7B", "One family…odels, 13B"]
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    plt.close("all")


def test_numbers_of_battles_shares_and_ties_are_those_of_the_data(battles, board):
    wins = battles.wins
    for row in board.rows:
        item = battles.items.index(row.item)
        message = wins[item].sum() + wins[:, item].sum()
        assert row.n_answers == pytest.approx(message)
        assert row.share_won == pytest.approx(wins[item].sum() / message)
    assert board.unit == "battles"
    above = board.above_probabilities
    for one, row in enumerate(board.rows):
        tied = [
            other.item
            for two, other in enumerate(board.rows)
            if one != two and max(above[one, two], above[two, one]) < board.certainty
        ]
        assert list(row.tied_with) == tied
    assert board.columns()["tied_with"][0] == "; ".join(map(str, board.rows[0].tied_with))
    ranked = tw.leaderboard(tw.load_political_goals(), rng=1)
    assert [row.n_answers for row in ranked.rows] == [2262] * 4
    assert ranked.unit == "answers"


def test_a_tier_list_is_by_rank_and_may_have_letters(board):
    ax = plots.tier_list(board, signs="letters")
    shown = [text.get_text() for text in ax.texts]
    assert [one for one in shown if len(one) == 1] == ["S", "A", "B"]
    assert [one for one in shown if len(one) > 1] == [str(row.item) for row in board.rows]
    plt.close("all")


@pytest.mark.thorough
def test_command_line(battles, board, tmp_path):
    battles.save(tmp_path / "battles.csv")
    name = str(tmp_path / "battles.csv")
    printed = CliRunner().invoke(app, ["leaderboard", name, "--seed", "1", "--json"])
    assert printed.exit_code == 0, printed.output
    plain = json.loads(printed.stdout)
    assert [row["tier"] for row in plain["rows"]] == [1, 1, 2, 2, 2, 3, 3]
    outputs = ["board.csv", "board.md", "page.html", "ranks.svg", "tiers.png"]
    paths = [str(tmp_path / one) for one in outputs]
    options = ["-o", paths[0], "--page", paths[2], "--figure", paths[3], "--tier-list", paths[4]]
    made = CliRunner().invoke(app, ["leaderboard", name, "--seed", "1", "--quiet", *options])
    assert made.exit_code == 0, made.output
    assert pd.read_csv(paths[0])["item"].tolist() == [row["item"] for row in plain["rows"]]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "7 items in 3 tiers, from 3,000 battles" in page
    assert "m000" in page
    assert not re.search(r'(src|href)="(?!#)', page)
    assert (tmp_path / "ranks.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")
    assert (tmp_path / "tiers.png").read_bytes().startswith(b"\x89PNG")


def test_two_spellings_are_told_with_a_remedy_that_works(tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text("model_a,model_b,winner\nGPT 4,b,model_a\nGpt 4,b,tie\nGPT 4,b,b\n")
    call = ["leaderboard", str(path), "--seed", "1", "--json"]
    refused = CliRunner().invoke(app, call)
    assert refused.exit_code != 0
    message = shell("leaderboard").says(refused.exception)
    assert "'Gpt 4' (battles.csv, line 3) and 'GPT 4' (battles.csv, line 2)" in message
    assert (
        'use --rename "Gpt 4=GPT 4" if they are the same model, or --spellings keep if' in message
    )
    kept = CliRunner().invoke(app, [*call, "--spellings", "keep"])
    assert len(json.loads(kept.stdout)["rows"]) == 3
    renamed = CliRunner().invoke(app, [*call, "--rename", "Gpt 4=GPT 4"])
    assert {row["item"] for row in json.loads(renamed.stdout)["rows"]} == {"GPT 4", "b"}


@pytest.mark.thorough
def test_report_of_battles(battles, tmp_path):
    shown = tw.report(
        battles,
        tmp_path / "page.html",
        uncertainty="posterior",
        replicates=200,
        title="Mine",
        rng=1,
    )
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Mine" in page
    assert "7 items in 3 tiers, from 3,000 battles" in page
    assert shown.check.verdict_in_words() in page
    assert shown.board.n_draws == 800
    assert shown.fit.sizes == (2, 3, 2)
    resampled = tw.report(
        battles, tmp_path / "page.html", uncertainty="bootstrap", replicates=20, rng=1
    )
    assert resampled.board.uncertainty == "bootstrap over battles"
    for wrong in ({"sizes": (3, 4)}, {"groups": 2}, {"distance": "kendall"}, {"by": "age"}):
        with pytest.raises(tw.InputError, match=f"leave out {next(iter(wrong))}"):
            tw.report(battles, tmp_path / "page.html", **wrong)


def test_command_line_reads_scores(tmp_path):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(40, 4)) + np.array([1.5, 1.5, 0.0, 0.0])
    frame = pd.DataFrame(scores, columns=list("wxyz"))
    frame.insert(0, "task", [f"t{number}" for number in range(40)])
    frame.to_csv(tmp_path / "scores.csv", index=False)
    call = ["leaderboard", str(tmp_path / "scores.csv"), "--better", "higher", "--seed", "1"]
    printed = CliRunner().invoke(app, [*call, "--json"])
    assert printed.exit_code == 0, printed.output
    rows = json.loads(printed.stdout)["rows"]
    assert {row["item"] for row in rows if row["tier"] == 1} == {"w", "x"}


def test_check_finds_nothing_in_data_of_the_model():
    verdicts = []
    for seed in range(20):
        battles, _ = simulated((3, 4, 3), 0.25, 4000, seed)
        verdicts.append(tw.check_fit(battles, tw.fit(battles, (3, 4, 3), rng=1)).verdict)
    assert verdicts.count("fits") >= 19


def test_check_finds_wins_that_do_not_follow_the_rank_gap():
    # Each tier beats the next by a hair, but the first beats the last always.
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(3), 3)
    shares = np.array([[0.5, 0.55, 0.99], [0.45, 0.5, 0.55], [0.01, 0.45, 0.5]])
    wins = np.zeros((9, 9))
    for one in range(9):
        for other in range(one + 1, 9):
            wins[one, other] = rng.binomial(200, shares[labels[one], labels[other]])
            wins[other, one] = 200 - wins[one, other]
    items = tuple(f"m{number}" for number in range(9))
    battles = tw.Battles(items, wins, np.zeros((9, 9)))
    check = tw.check_fit(battles, tw.fit(battles, (3, 3, 3), rng=1))
    assert check.verdict != "fits"
    assert any(
        "as often as the rank gap predicts" in finding.statement for finding in check.findings
    )
    assert check.summary()
    assert check.to_dict()["verdict"] == check.verdict


def test_check_finds_a_pair_that_goes_its_own_way():
    battles, _ = simulated((4, 4), 0.3, 8000, 3)
    wins = battles.decided.copy()
    wins[0, 7], wins[7, 0] = 10, 290
    odd = tw.Battles(battles.items, wins, battles.drawn)
    check = tw.check_fit(odd, tw.fit(odd, (4, 4), rng=1))
    assert check.verdict == "differs"
    assert {check.differing_pairs(1)[0].above, check.differing_pairs(1)[0].below} == {
        "m000",
        "m007",
    }


def test_llmfao_is_shipped():
    battles = tw.load_llmfao()
    assert (battles.n_battles, battles.n_drawn, battles.n_judges) == (8931, 3471, 124)
    assert len(battles.items) == 59


@pytest.mark.slow
def test_rank_intervals_cover_and_probabilities_are_calibrated():
    """Truths from the prior: intervals cover as often as they say, and probabilities come true."""
    rng = np.random.default_rng(1)
    n_items, covered, said, happened = 10, [], [], []
    for seed in range(30):
        truth = np.concatenate([[0], np.cumsum(rng.random(n_items - 1) < 0.5)])
        sizes = tuple(np.bincount(truth).tolist())
        battles, labels = simulated(sizes, float(rng.gamma(2.0, 0.5)), 300, 100 + seed)
        order = np.lexsort((rng.random(n_items), labels))
        ranks = np.empty(n_items, dtype=int)
        ranks[order] = np.arange(1, n_items + 1)
        posterior = tw.sample_posterior(
            battles,
            chains=2,
            draws=250,
            sampler=tw.Sampler(warmup=200, thin=3),
            progress="off",
            rng=seed,
        )
        low, high = posterior.rank_interval(0.9).to_numpy().T
        covered += ((low <= ranks) & (ranks <= high)).tolist()
        said += posterior.best_k_probabilities(3).to_numpy().tolist()
        happened += (ranks <= 3).tolist()
    assert np.mean(covered) > 0.9 - 3 * 0.03
    said, happened = np.array(said), np.array(happened)
    error = (said * (1 - said)).sum() ** 0.5
    for share in (said < 0.5, said >= 0.5):
        assert abs((happened - said)[share].sum()) < 4 * error


@pytest.mark.parametrize(
    "rows",
    [
        [list("abc"), list("bca"), list("cab")],
        [[["a", "b", "c"]]] * 3,
        [list("abc")],
        [list("abc")] * 9,
    ],
    ids=["noise", "all ties", "one ranking", "perfect agreement"],
)
def test_rankings_without_signal_and_without_noise(rows):
    board = tw.leaderboard(tw.Rankings.from_orderings(rows), draws=50, chains=1, rng=1)
    assert board.fit.gap == 0.0
    assert json.loads(board.to_json())
    assert board.summary()


def test_scores_without_signal(tmp_path):
    path = tmp_path / "scores.csv"
    rng = np.random.default_rng(1)
    np.savetxt(path, rng.normal(size=(30, 4)), delimiter=",", header="w,x,y,z", comments="")
    shown = CliRunner().invoke(app, ["leaderboard", str(path), "--better", "higher", "--seed", "1"])
    assert shown.exit_code == 0, shown.output


@pytest.fixture(scope="module")
def races():
    """Battles of models with known worths, two of them tied."""
    worths = {"a": 4.0, "b": 2.0, "c": 2.0, "d": 1.0, "e": 0.5}
    rng = np.random.default_rng(4)
    rows = []
    for one, other in itertools.combinations(worths, 2):
        won = rng.random(300) < worths[one] / (worths[one] + worths[other])
        rows += [(one, other, one if first else other) for first in won]
    return tw.Battles.from_rows(rows)


@pytest.fixture(scope="module")
def board_of_races(races):
    return tw.leaderboard(races, family="luce", draws=500, rng=1, progress="off")


def test_a_leaderboard_publishes_the_tiers_that_a_search_finds(races, board_of_races):
    found = tw.search(races, family="luce")
    assert board_of_races.tiers == found.best.tiers == board_of_races.choice.fit.tiers
    assert board_of_races.tiers == tw.Tiers([["a"], ["b", "c"], ["d"], ["e"]])


def test_tied_and_better_are_told_for_each_next_item(board_of_races):
    rows = {row.item: row for row in board_of_races.rows}
    tied = next(row for row in rows.values() if {row.item, row.next_item} == {"b", "c"})
    assert tied.tied_with_next > 0.5 > tied.better_than_next
    assert rows["d"].better_than_next > 0.95 > 0.05 > rows["d"].tied_with_next
    assert rows["e"].next_item is None
    assert rows["e"].tied_with_next is None


def test_strengths_are_those_of_the_worths(board_of_races):
    rows = {row.item: row for row in board_of_races.rows}
    apart = rows["a"].strength - rows["e"].strength
    assert apart == pytest.approx(400 * np.log10(8.0), abs=40)
    for row in rows.values():
        low, high = row.strength_interval
        assert low < row.strength < high
    assert "strength_low" in board_of_races.columns()


def test_a_choice_is_not_made_twice(races, board_of_races, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("chosen again")

    monkeypatch.setattr("tierwise.leaderboards.leaderboard.choose", refuse)
    again = tw.leaderboard(races, choice=board_of_races.choice, draws=500, rng=1, progress="off")
    assert again.rows == board_of_races.rows


def test_tiers_of_leaders_hold_nothing_that_surely_differs_from_the_first(races, board_of_races):
    board = tw.leaderboard(
        races, choice=board_of_races.choice, tiers="leader", draws=500, rng=1, progress="off"
    )
    assert board.published == "leader"
    order = [row.item for row in board.rows]
    for tier in board.tiers:
        first, *others = sorted(tier, key=order.index)
        for other in others:
            above = board.above_probabilities[order.index(first), order.index(other)]
            assert above < board.certainty


def test_a_bootstrap_of_races_searches_again(races):
    board = tw.leaderboard(
        races, family="luce", uncertainty="bootstrap", replicates=20, rng=1, progress="off"
    )
    assert board.uncertainty == "bootstrap over battles"
    assert board.rows[0].item == "a"
    assert board.rows[0].strength is None


def test_a_choice_of_other_items_is_refused(board_of_races):
    others = tw.Battles.from_rows([("x", "y", "x")] * 4)
    with pytest.raises(tw.InputError, match="other items"):
        tw.leaderboard(others, choice=board_of_races.choice)


def test_priors_of_theta_and_of_sizes_matter():
    rows = (
        [("a", "b", "a")] * 7
        + [("a", "b", "b")] * 4
        + [("b", "c", "b")] * 6
        + [("b", "c", "c")] * 5
    )
    battles = tw.Battles.from_rows(rows)
    options = {"family": "mallows", "chains": 1, "draws": 200, "progress": "off", "rng": 1}
    plain, tight, open_minded = (
        tw.leaderboard(battles, priors=priors, **options).above_probabilities
        for priors in (
            tw.Priors(),
            tw.Priors(theta=tw.Gamma(2, 200)),
            tw.Priors(sizes="uniform"),
        )
    )
    assert not np.array_equal(plain, tight)
    assert not np.array_equal(plain, open_minded)
