"""Checks of fits to pairwise answers."""

import json
from collections import Counter
from math import comb

import numpy as np
import pytest

import tierwise as tw
from tests import reference, reference_checking
from tests.checking.test_check import generalised_mallows
from tierwise import InputError, Preferences, Rankings, Tiers
from tierwise.checking import result
from tierwise.fitting.observe import answer_like
from tierwise.posterior.run import sample_posterior

ITEMS = tuple("abcdef")


def drawn(sizes, theta, n_rankings, rng, items=ITEMS):
    tiers = Tiers.from_sizes(sizes, items[: sum(sizes)])
    return tw.ClusteredMallows(tiers, theta).sample(n_rankings, rng)


def answers(complete, per_person, mistakes, rng):
    """Let people compare random pairs as their rankings do, with mistakes."""
    items = ITEMS[: len(complete.items)]
    rows = [
        (person, *(items[item] for item in sorted(rng.choice(len(items), 2, replace=False))))
        for person in range(len(complete))
        for _ in range(per_person)
    ]
    asked = Preferences.from_pairs(rows, items, cycles="keep" if mistakes else "error")
    return answer_like(complete, asked, mistakes, rng)


@pytest.mark.parametrize("mistakes", [None, 0.2])
@pytest.mark.parametrize("sizes", [(1, 2, 1), (2, 2), (4,)])
def test_expectations_are_those_of_all_orderings(sizes, mistakes):
    rng = np.random.default_rng(3)
    given = answers(drawn(sizes, 0.8, 60, rng), 4, mistakes, rng)
    fit = tw.fit(given, sizes)
    check = tw.check_fit(given, fit, rng=1)
    brute = reference.BruteForce(sizes, "kendall", tuple(fit.tiers.label_array(ITEMS[:4]).tolist()))
    wrong = fit.mistake_probability or 0.0
    message = given.direct if given.times is None else given.times
    for a in range(4):
        for b in set(range(4)) - {a}:
            above = reference_checking.pair_probability(brute, fit.theta, a, b, {4: 1.0})
            expected = above * (1 - wrong) + (1 - above) * wrong
            assert check.pairs_expected[a, b] == pytest.approx(expected, abs=1e-12)
            won, lost = message[:, a, b].sum(), message[:, b, a].sum()
            assert check.pairs_observed[a, b] == pytest.approx(won / (won + lost))
    assert check.exact
    assert np.isnan(check.ranks_observed).all()
    assert check.verdict == "fits"


def test_scores_of_few_answers_are_binomial_tails():
    rows = [(person, "a", "b") for person in range(7)] + [(7, "b", "a"), (0, "c", "a")]
    given = Preferences.from_pairs(rows, items="abc")
    fit = tw.fit(given, (3,))
    check = tw.check_fit(given, fit)
    tail = sum(comb(8, number) for number in (7, 8)) / 2**8
    assert result.tail(check.pair_scores[0, 1]) == pytest.approx(tail)
    assert check.pair_scores[1, 0] == pytest.approx(-check.pair_scores[0, 1])
    # Whatever a single answer is, it is no surprise.
    assert check.pair_scores[2, 0] == pytest.approx(0.0, abs=1e-9)
    assert np.isnan(check.pair_scores[1, 2])


def test_answers_of_one_person_go_together():
    once = [(person, *("ab" if person < 16 else "ba")) for person in range(20)]
    scores = []
    for times in (1, 30):
        given = Preferences.from_pairs([row for row in once for _ in range(times)], cycles="keep")
        fit = tw.fit(given, (2,))
        assert fit.mistake_probability < 0.5
        scores.append(abs(tw.check_fit(given, fit).pair_scores[0, 1]))
    # Thirty answers of everybody tell little more than one.
    assert scores[0] <= scores[1] < 1.6 * max(scores[0], 2.0)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sizes", "theta", "n_people", "per_person", "mistakes"),
    [
        ((1, 2, 1), 0.7, 60, 10, None),
        pytest.param((1, 2, 2), 0.7, 12, 4, None, marks=pytest.mark.slow),
        pytest.param((2, 2, 2), 0.5, 60, 10, 0.15, marks=pytest.mark.slow),
        pytest.param((1, 2, 1), 0.7, 60, 10, 0.15, marks=pytest.mark.slow),
        pytest.param((2, 2, 2), 0.5, 60, 10, None, marks=pytest.mark.slow),
        pytest.param((1, 2, 2), 0.7, 12, 4, 0.15, marks=pytest.mark.slow),
    ],
)
def test_answers_from_the_model_fit(sizes, theta, n_people, per_person, mistakes):
    rng = np.random.default_rng(11)
    verdicts = Counter()
    for _ in range(20):
        given = answers(drawn(sizes, theta, n_people, rng), per_person, mistakes, rng)
        verdicts[tw.check_fit(given, tw.fit(given, sizes, rng=rng), rng=rng).verdict] += 1
    # A false alarm once in a hundred, or a little more often: five of 20 are then beyond chance.
    assert verdicts["fits"] >= 16


@pytest.mark.parametrize("mistakes", [None, 0.05])
def test_theta_that_varies_is_found(mistakes):
    rng = np.random.default_rng(1)
    complete = generalised_mallows([1.5, 1.2, 0.8, 0.4, 0.2, 0.0], 500, rng)
    named = Rankings.from_orderings(
        [[ITEMS[int(item.split()[1])] for item in row] for row in complete.to_orderings()]
    )
    given = answers(named, 8, mistakes, rng)
    check = tw.check_fit(given, tw.fit(given, (1,) * 6, rng=1), rng=1)
    assert check.verdict == "theta varies"
    assert "answers contradict the tiers less often" in check.verdict_in_words()
    assert check.lines[0].score < 0 < check.lines[-1].score
    assert all(np.isnan(line.theta) for line in check.lines)
    assert "against" in check.summary()


@pytest.mark.parametrize("mistakes", [None, 0.1])
def test_two_groups_are_found(mistakes):
    rng = np.random.default_rng(2)
    turned = ITEMS[3:] + ITEMS[:3]
    both = [drawn((1,) * 6, 1.0, 130, rng), drawn((1,) * 6, 1.0, 70, rng, items=turned)]
    given = answers(Rankings.concat(one.restrict(ITEMS) for one in both), 8, mistakes, rng)
    check = tw.check_fit(given, tw.fit(given, (1,) * 6, rng=1), rng=1)
    assert check.verdict == "mixture suspected"
    first = {
        ITEMS.index(item) < 3
        for item, share in zip(ITEMS, check.direction, strict=True)
        if share > 0
    }
    assert len(first) == 1
    assert "describe the answers better" in check.verdict_in_words()


def test_people_who_answer_at_random_are_found():
    rng = np.random.default_rng(5)
    both = [drawn((1,) * 6, 1.5, 130, rng), drawn((1,) * 6, 0.0, 70, rng)]
    given = answers(Rankings.concat(one.restrict(ITEMS) for one in both), 8, None, rng)
    check = tw.check_fit(given, tw.fit(given, (1,) * 6, rng=1), rng=1)
    assert check.verdict == "mixture suspected"
    assert check.distance_spread > 1.5


def test_tiers_that_are_too_coarse_are_found():
    rng = np.random.default_rng(6)
    given = answers(drawn((1,) * 6, 0.9, 200, rng), 8, None, rng)
    check = tw.check_fit(given, tw.fit(given, (3, 3), rng=1), rng=1)
    assert check.verdict == "differs"
    assert "finer tiers" in check.verdict_in_words()
    assert "of answers" in check.verdict_in_words()


@pytest.mark.slow
def test_a_posterior_may_say_what_to_expect():
    rng = np.random.default_rng(7)
    given = answers(drawn((1, 2), 0.8, 40, rng), 3, None, rng)
    fit = tw.fit(given, (1, 2))
    posterior = sample_posterior(given, (1, 2), draws=200, rng=1)
    averaged = tw.check_fit(given, fit, posterior=posterior, rng=1)
    plain = tw.check_fit(given, fit, rng=1)
    assert not averaged.exact
    assert averaged.pairs_expected[0, 1] == pytest.approx(plain.pairs_expected[0, 1], abs=0.1)
    assert averaged.pairs_expected[0, 1] != plain.pairs_expected[0, 1]


@pytest.mark.slow
def test_many_items_are_sampled():
    names = [f"item {number}" for number in range(12)]
    model = tw.ClusteredMallows(Tiers.from_sizes((4, 8), names), theta=0.4)
    complete = model.sample(40, rng=1)
    rows = [
        (person, row[place], row[place + 3])
        for person, row in enumerate(complete.to_orderings())
        for place in (0, 4, 7)
    ]
    given = Preferences.from_pairs(rows, items=names)
    check = tw.check_fit(given, tw.fit(given, (4, 8), rng=1), rng=1)
    assert not check.exact
    assert 0 < check.monte_carlo_error < 0.005
    assert json.loads(json.dumps(check.to_dict(), allow_nan=False))["verdict"] == check.verdict


def test_seed_decides():
    rng = np.random.default_rng(8)
    given = answers(drawn((1, 2, 1), 0.8, 40, rng), 4, 0.1, rng)
    fit = tw.fit(given, (1, 2, 1))
    one, two, other = (tw.check_fit(given, fit, rng=seed).findings for seed in (1, 1, 2))
    assert one == two != other


def test_unanimous_answers_and_idle_assessors_are_no_trouble():
    agreed = Preferences({**{who: [("a", "b"), ("b", "c")] for who in range(5)}, "idle": []})
    check = tw.check_fit(agreed, tw.fit(agreed, (1, 1, 1)), rng=1)
    assert check.verdict == "fits"
    assert check.pairs_expected[0, 1] == pytest.approx(1.0)


def test_fit_must_know_about_mistakes():
    rows = [("Ann", "a", "b"), ("Bob", "b", "c")]
    kept, trusted = (Preferences.from_pairs(rows, cycles=cycles) for cycles in ("keep", "error"))
    with pytest.raises(InputError, match="only one of fit and answers allows mistakes"):
        tw.check_fit(kept, tw.fit(trusted, (1, 2)))
