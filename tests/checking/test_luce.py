"""Checks of fits with one worth per tier."""

import json
from collections import Counter
from itertools import permutations

import numpy as np
import pytest

import tierwise as tw
from tests import reference_luce
from tierwise import Battles, InputError, Preferences, Rankings, Tiers
from tierwise.checking.measures import LogProbabilities

ITEMS = [f"item {number}" for number in range(12)]


def battles_with(wins):
    return Battles(tuple(ITEMS[: len(wins)]), wins, np.zeros_like(wins))


def model_of(sizes, worths):
    return tw.ClusteredLuce(Tiers.from_sizes(sizes, ITEMS[: sum(sizes)]), worths)


def battles_of(model, n_battles, rng):
    """Battles of random pairs, each won as the worths say."""
    items = model.tiers.items
    worths = np.array(model.worths)[model.tiers.label_array(items)]
    wins = np.zeros((len(items), len(items)))
    for _ in range(n_battles):
        first, second = rng.choice(len(items), 2, replace=False).tolist()
        first_wins = rng.random() < worths[first] / (worths[first] + worths[second])
        wins[(first, second) if first_wins else (second, first)] += 1
    return battles_with(wins)


def comparisons_of(model, n_people, each, rng, cycles):
    """Answers of people who compare random pairs of one ordering, or race by race."""
    items = model.tiers.items
    rows = []
    for person in range(n_people):
        places = {item: place for place, item in enumerate(model.sample(1, rng).to_orderings()[0])}
        for _ in range(each):
            if cycles == "keep":
                places = {
                    item: place for place, item in enumerate(model.sample(1, rng).to_orderings()[0])
                }
            pair = [items[number] for number in rng.choice(len(items), 2, replace=False)]
            better, worse = sorted(pair, key=places.__getitem__)
            rows.append((person, better, worse))
    return Preferences.from_pairs(rows, items=items, cycles=cycles)


@pytest.mark.parametrize("sizes", [(1, 2, 1), (2, 2), (1, 1, 1, 1), (4,)])
def test_expectations_are_those_of_all_orderings(sizes):
    rankings = model_of(sizes, np.geomspace(4.0, 0.5, len(sizes))).sample(80, rng=3)
    fit = tw.fit(rankings, sizes, family="luce")
    check = tw.check_fit(rankings, fit)
    labels = fit.tiers.label_array(rankings.items)
    worths = np.array(fit.worths)[labels]
    pairs, ranks = np.zeros((4, 4)), np.zeros((4, 4))
    for ordering in permutations(range(4)):
        probability = reference_luce.probability_of_ordering(ordering, worths)
        for place, item in enumerate(ordering):
            ranks[item, place] += probability
            for other in ordering[place + 1 :]:
                pairs[item, other] += probability
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(check.pairs_expected[off], pairs[off], atol=1e-12)
    np.testing.assert_allclose(check.ranks_expected, ranks, atol=1e-9)
    assert check.exact
    assert check.lines == ()
    assert "lines" not in {finding.name for finding in check.findings}


def test_scores_are_derivatives_of_log_probabilities():
    model = model_of((1, 2, 2), (3.0, 1.0, 0.4))
    labels = model.tiers.label_array(model.tiers.items)
    orders = np.array(list(permutations(range(5))))
    places = np.argsort(orders, axis=1)
    measure = LogProbabilities(model, labels, places)
    for tier in range(3):
        for row in (0, 17, 119):
            shifted = []
            for step in (1e-5, -1e-5):
                worths = np.array(model.worths)
                worths[tier] *= np.exp(step)
                shifted.append(
                    np.log(reference_luce.probability_of_ordering(orders[row], worths[labels]))
                )
            slope = (shifted[0] - shifted[1]) / 2e-5
            assert measure.fitted[row, tier] == pytest.approx(slope, abs=1e-6)
    assert np.exp(measure.values).sum() == pytest.approx(1.0)
    # Scores have the mean 0 under the model: that is what worths are fitted to.
    np.testing.assert_allclose(np.exp(measure.values) @ measure.fitted, 0.0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "worths", "n_rankings"),
    [((2, 2), (2.0, 1.0), 300), ((1,) * 5, (5, 3, 2, 1, 0.5), 60), ((2, 4, 4), (4, 2, 1), 200)],
)
def test_rankings_from_the_model_fit(sizes, worths, n_rankings):
    rng = np.random.default_rng(11)
    verdicts = Counter()
    for _ in range(60):
        rankings = model_of(sizes, worths).sample(n_rankings, rng)
        fit = tw.fit(rankings, sizes, family="luce")
        verdicts[tw.check_fit(rankings, fit, draws=4000, rng=rng).verdict] += 1
    # About 1% are false alarms; eight of 60 are beyond chance.
    assert verdicts["fits"] >= 53


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "worths"), [((2, 4), (2, 1)), ((1, 2, 3, 2), (6, 3, 1.5, 1))])
@pytest.mark.parametrize("kind", ["battles", "one ordering", "race by race"])
def test_comparisons_from_the_model_fit(sizes, worths, kind):
    rng = np.random.default_rng(5)
    model = model_of(sizes, worths)
    verdicts = Counter()
    for _ in range(40):
        if kind == "battles":
            data = battles_of(model, 2000, rng)
        else:
            cycles = "error" if kind == "one ordering" else "keep"
            data = comparisons_of(model, 60, 6, rng, cycles)
        fit = tw.fit(data, sizes, family="luce")
        verdicts[tw.check_fit(data, fit, rng=rng).verdict] += 1
    assert verdicts["fits"] >= 35


def test_too_few_tiers_are_found():
    model = model_of((1,) * 6, (8, 5, 3, 2, 1, 0.5))
    rankings = model.sample(400, rng=6)
    check = tw.check_fit(rankings, tw.fit(rankings, (3, 3), family="luce"), rng=1)
    assert check.verdict == "differs"
    assert "finer tiers" in check.verdict_in_words()
    battles = battles_of(model, 4000, np.random.default_rng(1))
    check = tw.check_fit(battles, tw.fit(battles, (3, 3), family="luce"))
    assert check.verdict == "differs"
    assert {finding.name for finding in check.findings} == {"pairs", "items", "tiers"}
    assert {one.name: one.p_value for one in check.findings}["items"] < 1e-6


def test_battles_are_compared_with_worths():
    rng = np.random.default_rng(3)
    battles = battles_of(model_of((2, 3), (3.0, 1.0)), 3000, rng)
    fit = tw.fit(battles, (2, 3), family="luce")
    check = tw.check_fit(battles, fit)
    labels = fit.tiers.label_array(battles.items)
    worths = np.array(fit.worths)[labels]
    for first in range(5):
        for second in set(range(5)) - {first}:
            expected = worths[first] / (worths[first] + worths[second])
            assert check.pairs_expected[first, second] == pytest.approx(expected)
    assert check.verdict == "fits"


def test_tiers_that_go_round_in_a_circle_are_found():
    # Rock beats scissors, scissors paper, paper rock; a tier of two items each.
    wins = np.zeros((6, 6))
    for tier in range(3):
        for own in (2 * tier, 2 * tier + 1):
            for other in (2 * tier + 2, 2 * tier + 3):
                wins[own, other % 6], wins[other % 6, own] = 90, 10
    battles = battles_with(wins)
    fit = tw.fit(battles, (2, 2, 2), family="luce")
    found = {finding.name: finding for finding in tw.check_fit(battles, fit).findings}
    assert found["tiers"].p_value < 1e-6
    assert "do not win against each other as often" in found["tiers"].statement


@pytest.mark.parametrize("family", ["mallows", "luce"])
def test_two_items_of_a_tier_are_one_degree_of_freedom(family):
    battles = battles_with(np.array([[0.0, 60.0], [40.0, 0.0]]))
    check = tw.check_fit(battles, tw.fit(battles, (2,), family=family))
    (items,) = (finding for finding in check.findings if finding.name == "items")
    # Chi-square of 60 against 40 is 4, with one degree of freedom.
    assert items.p_value == pytest.approx(0.0455, abs=0.004)


def test_groups_are_found():
    rng = np.random.default_rng(4)
    one = tw.ClusteredLuce(Tiers.from_sizes((2, 6), ITEMS[:8]), (6, 1))
    other = tw.ClusteredLuce(Tiers.from_sizes((2, 6), ITEMS[:8][::-1]), (6, 1))
    rankings = Rankings.concat([one.sample(150, rng), other.sample(150, rng)])
    check = tw.check_fit(rankings, tw.fit(rankings, (4, 4), family="luce"), rng=1)
    assert check.verdict == "mixture suspected"


def test_incomplete_answers_leave_out_what_they_leave_open():
    rankings = model_of((1, 2, 1), (4.0, 2.0, 1.0)).sample(60, rng=1)
    rows = [row[:2] for row in rankings.to_orderings()]
    for unranked in ("anywhere", "below"):
        cut = Rankings.from_orderings(rows, items=rankings.items, unranked=unranked)
        check = tw.check_fit(cut, tw.fit(cut, (1, 2, 1), family="luce"), rng=1)
        names = {"pairs", "ranks"} | ({"direction"} if unranked == "anywhere" else set())
        assert {finding.name for finding in check.findings} == names
        assert check.verdict == "fits"
        assert json.dumps(check.to_dict(), allow_nan=False)


def test_a_posterior_may_say_what_to_expect():
    rankings = model_of((1, 2, 1), (4.0, 2.0, 1.0)).sample(50, rng=8)
    fit = tw.fit(rankings, (1, 2, 1), family="luce")
    posterior = tw.sample_posterior(rankings, family="luce", draws=500, rng=1)
    check = tw.check_fit(rankings, fit, posterior=posterior, draws=40_000, rng=1)
    logs = posterior.log_worths[:, [posterior.items.index(item) for item in rankings.items]]
    shares = 1.0 / (1.0 + np.exp(logs[:, None, :] - logs[:, :, None]))
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(check.pairs_expected[off], shares.mean(axis=0)[off], atol=0.015)
    assert not check.exact
    with pytest.raises(InputError, match='family "luce", but the fit "mallows"'):
        tw.check_fit(rankings, tw.fit(rankings, (1, 2, 1)), posterior=posterior)


@pytest.mark.thorough
@pytest.mark.parametrize("family", ["mallows", "luce"])
def test_improbable_ranks_of_many_items_are_no_false_alarm(family):
    # Of 25 items many ranks are expected once in hundreds of rankings, and there are 40.
    tiers = Tiers.from_sizes((2, 2, 4, 9, 8), [f"item {number:02}" for number in range(25)])
    rng = np.random.default_rng(1)
    model = tw.ClusteredMallows(tiers, 0.15, "inversions")
    if family == "luce":
        model = tw.ClusteredLuce(tiers, (9.6, 3.6, 2.2, 1.0, 0.3))
    distance = "inversions" if family == "mallows" else None
    verdicts = Counter()
    for _ in range(8):
        rankings = model.sample(40, rng)
        fit = tw.fit(rankings, tiers.sizes, distance, family=family)
        verdicts[tw.check_fit(rankings, fit, draws=2000, rng=rng).verdict] += 1
    assert verdicts["fits"] >= 7
