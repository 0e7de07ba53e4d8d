"""Whichever door: the same model, the same tiers, the same certainty up to Monte Carlo error."""

import json
import re
from functools import cache

import numpy as np
import pytest
from typer.testing import CliRunner

import tierwise as tw
from tests.unrendered import no_forecasts, unrendered_figures
from tierwise.cli.main import app

TIERS = tw.Tiers([["ash"], ["beech", "cedar"], ["elm", "fir"]])


def drawn(n_rankings, seed, theta=1.0):
    return tw.ClusteredMallows(TIERS, theta, "inversions").sample(n_rankings, rng=seed)


def raced(n_rankings, seed):
    return tw.ClusteredLuce(TIERS, (9.0, 3.0, 1.0)).sample(n_rankings, rng=seed)


def hidden(rankings, unranked, n_listed=3):
    """List only some items of each answer: the best ones, or any."""
    rng = np.random.default_rng(5)
    rows = rankings.to_orderings()
    if unranked == "anywhere":
        shown = [set(rng.choice(len(row), n_listed, replace=False).tolist()) for row in rows]
        rows = [
            [item for item in row if sorted(TIERS.items).index(item) in chosen]
            for row, chosen in zip(rows, shown, strict=True)
        ]
    else:
        rows = [row[:n_listed] for row in rows]
    return tw.Rankings.from_orderings(rows, items=sorted(TIERS.items), unranked=unranked)


def tied(rankings):
    return tw.Rankings.from_orderings(
        [[row[0], row[1:3], row[3:]] for row in rankings.to_orderings()], items=rankings.items
    )


def fought(n_battles, seed):
    rng = np.random.default_rng(seed)
    worths = dict(zip(TIERS.items, (9.0, 3.0, 3.0, 1.0, 1.0), strict=True))
    rows = []
    for _ in range(n_battles):
        one, other = rng.choice(TIERS.items, 2, replace=False).tolist()
        won = rng.random() < worths[one] / (worths[one] + worths[other])
        rows.append((one, other, one if won else other))
    return tw.Battles.from_rows(rows)


DATA = {
    "political goals": tw.load_political_goals,
    "complete, distances": lambda: drawn(200, 1),
    "complete, worths": lambda: raced(200, 2),
    "complete, weak": lambda: drawn(30, 3, theta=0.5),
    "noise": lambda: drawn(60, 4, theta=0.0),
    "counted": lambda: drawn(40, 5).with_people(None),
    "top lists": lambda: hidden(raced(150, 6), "below"),
    "gaps": lambda: hidden(raced(150, 7), "anywhere"),
    "ties": lambda: tied(drawn(80, 8)),
    "battles": lambda: fought(800, 9),
    "few battles": lambda: fought(60, 10),
    "perfect agreement": lambda: tw.Rankings.from_orderings([list("abcd")] * 20),
}


@cache
def answers(name):
    return DATA[name]()


@cache
def found(name):
    return tw.choose(answers(name), progress="off", rng=1)


QUICK = ("political goals", "complete, worths", "battles")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in DATA],
)
def test_search_leaderboard_and_posterior_agree(name):
    choice = found(name)
    board = tw.leaderboard(answers(name), draws=500, progress="off", rng=2)
    assert board.choice.family == choice.family
    assert board.choice.distance == choice.distance
    assert board.choice.concentration == choice.concentration
    assert board.fit.tiers == choice.fit.tiers
    assert board.tiers == choice.fit.agreed_tiers
    posterior = tw.sample_posterior(answers(name), draws=500, progress="off", rng=3)
    assert posterior.family == choice.family
    assert posterior.distance == choice.distance
    assert posterior.concentration == choice.concentration or choice.family == "luce"
    assert set(posterior.divided_items()) == set(choice.fit.divided)
    assert posterior.tiers() == choice.fit.tiers
    shown = dict(zip(posterior.items, posterior.best_k_probabilities(1).to_numpy(), strict=True))
    in_tiers = dict(zip(posterior.items, posterior.tier_probabilities().to_numpy(), strict=True))
    for row in board.rows:
        assert row.best_k_probabilities[0] == pytest.approx(shown[row.item], abs=0.06)
        assert row.tier_probabilities == pytest.approx(in_tiers[row.item], abs=0.06)


@pytest.mark.parametrize("name", ["political goals", "complete, distances"])
def test_the_shell_says_of_tiers_and_sizes_what_leaderboard_and_search_say(name, tmp_path):
    file, data, choice = tmp_path / "answers.csv", answers(name), found(name)
    tw.write_rankings(data, file, layout="orderings")
    words = ["posterior", str(file), "--seed", "5", "-q"]
    printed = CliRunner().invoke(app, words).stdout.splitlines()
    line = next(line for line in printed if line.startswith("most probable tiers"))
    tiers = [
        set(tier.split(" ~ ")) for tier in line.removeprefix("most probable tiers   ").split(" > ")
    ]
    assert tiers == [set(tier) for tier in choice.fit.tiers]
    board = tw.leaderboard(data, progress="off", rng=2)
    start = next(place for place, line in enumerate(printed) if "its rank is among" in line)
    said = {line.split()[0]: line.split(maxsplit=1)[1] for line in printed[start + 1 :]}
    for row in board.rows:
        own = re.search(rf"{row.tier}: (?:[<>] )?(\d+)%", said[row.item])
        share = row.tier_probabilities[row.tier - 1]
        assert int(own[1]) / 100 == pytest.approx(share, abs=0.04)
    # The best and the next sizes are as far apart as the search says, up to other tiers of theirs.
    start = next(place for place, line in enumerate(printed) if line.startswith("sizes "))
    shown = [line.split("  ")[0] for line in printed[start + 1 : start + 3] if "other" not in line]
    searched = choice.search.leaderboard[: len(shown)]
    assert shown == [", ".join(map(str, row.sizes)) for row in searched]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in DATA if "battles" not in name])
def test_pages_and_the_shell_agree(name, tmp_path):
    choice, data = found(name), answers(name)
    with unrendered_figures(), no_forecasts():
        page = tw.report(data, tmp_path / "report.html", replicates=300, progress="off", rng=4)
    assert page.fit.family == choice.family
    assert page.fit.tiers == choice.fit.tiers
    file = tmp_path / "answers.csv"
    tw.write_rankings(data, file, layout="ranks" if data.has_ties else "orderings")
    words = ["fit", str(file), "--json", "--ties", "allow"]
    if data.unranked is not None:
        words += ["--unranked", data.unranked]
    shown = json.loads(CliRunner().invoke(app, words).stdout)
    assert shown["family"] == choice.family
    own = [sorted(map(str, tier)) for tier in choice.fit.tiers]
    assert [sorted(tier) for tier in shown["tiers"]] == own


SMALL = ["tmw", "twm", "mtw", "tmw", "wtm", "twm", "mwt", "tmw", "twm", "wmt"]


def test_odds_are_the_same_in_a_search_of_several_models_a_fit_and_draws():
    data = tw.Rankings.from_orderings([list(row) for row in SMALL])
    found = tw.search(data, progress="off", rng=1)
    assert len(found.families) > 1
    rows = {row.tiers: found.behind(row) for row in found.leaderboard}
    assert found.best.tiers == tw.Tiers([["m", "t", "w"]])
    for fit in (found.best, tw.fit(data, (3,), family="luce")):
        for other in fit.references:
            behind = fit.log_posterior - other.log_posterior
            assert behind == pytest.approx(rows[other.tiers], abs=1e-9)
    draws = tw.sample_posterior(data, draws=4000, progress="off", rng=1)
    labels = draws.labels.reshape(-1, 3)
    tea_first = np.where(np.array(draws.items) == "t", 1, 2)
    n_single, n_tea = (labels == 1).all(axis=1).sum(), (labels == tea_first).all(axis=1).sum()
    behind = rows[tw.Tiers([["t"], ["m", "w"]])]
    # The evidence of a search is Laplace's approximation but for the best tiers.
    assert np.log(n_single / n_tea) == pytest.approx(behind, abs=0.15)
