"""Tiers of all sizes from answers with gaps and single pairs, against brute force."""

from itertools import permutations
from math import lgamma, log

import numpy as np
import pytest
from scipy.stats import chi2

import tierwise as tw
from tests.reference_posterior import GRID, all_tiers, gamma_density, sizes_of
from tierwise.answers.likelihood import source_of
from tierwise.inversions.objective import tiers_prior
from tierwise.model.priors import Gamma
from tierwise.posterior import augmented
from tierwise.posterior.augmented import WalkOverCompletions
from tierwise.posterior.estimates import share_above, sure_tiers

few_draws = pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")

ITEMS = ("a", "b", "c", "d")
GAPS = [["a", "c"], ["a", "b", "d"], ["a", ["b", "c"]], ["b", "a", "c", "d"], ["d", "c"], ["a"]]
PAIRS = [(0, "a", "b"), (0, "a", "d"), (1, "a", "c"), (1, "b", "c"), (2, "c", "d"), (3, "b", "d")]


def rankings():
    return tw.Rankings.from_orderings(GAPS, items=ITEMS, unranked="anywhere")


def preferences():
    return tw.Preferences.from_pairs(PAIRS, items=ITEMS)


def completions(data):
    """Return for each answer the orderings that agree with it."""
    if isinstance(data, tw.Rankings):
        relations = []
        for answer in GAPS:
            groups = [group if isinstance(group, list) else [group] for group in answer]
            relations.append(
                [
                    (one, other)
                    for place, group in enumerate(groups)
                    for one in group
                    for later in groups[place + 1 :]
                    for other in later
                ]
            )
    else:
        judges = sorted({judge for judge, _, _ in PAIRS})
        relations = [[pair[1:] for pair in PAIRS if pair[0] == judge] for judge in judges]
    return [
        [
            order
            for order in permutations(ITEMS)
            if all(order.index(above) < order.index(below) for above, below in pairs)
        ]
        for pairs in relations
    ]


def log_weights(data):
    """Log probability of the data given each ordered partition, theta being integrated out."""
    answers = completions(data)
    found = {}
    prior = np.array([gamma_density(theta) for theta in GRID])
    for labels in all_tiers(4):
        tier = dict(zip(ITEMS, labels, strict=True))

        def inversions(order, tier=tier):
            return sum(tier[order[i]] > tier[order[j]] for i in range(4) for j in range(i + 1, 4))

        everything = np.bincount([inversions(order) for order in permutations(ITEMS)], minlength=7)
        powers = np.exp(-np.outer(GRID, np.arange(7)))
        log_likelihood = np.zeros(len(GRID))
        for orders in answers:
            agreeing = np.bincount([inversions(order) for order in orders], minlength=7)
            log_likelihood += np.log(powers @ agreeing) - np.log(powers @ everything)
        found[labels] = log(np.trapezoid(np.exp(log_likelihood) * prior, GRID))
    return found


def log_prior(labels, prior_sizes):
    """Sizes by their prior, tiers of the same sizes being equally probable."""
    sizes = sizes_of(labels)
    value = sum(lgamma(size + 1) for size in sizes) - lgamma(5)
    if prior_sizes == "uniform":
        return value
    several = sum(np.exp(1 - tiers) * {2: 3, 3: 3, 4: 1}[tiers] for tiers in (2, 3, 4))
    if len(sizes) == 1:
        return value + log(0.5)
    return value + 1 - len(sizes) - log(2 * several)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("make", "prior_sizes"),
    [
        pytest.param(rankings, "uniform", marks=pytest.mark.slow),
        (preferences, "sceptical"),
        pytest.param(rankings, "sceptical", marks=pytest.mark.slow),
        pytest.param(preferences, "uniform", marks=pytest.mark.slow),
    ],
)
def test_draws_have_the_probabilities_of_brute_force(make, prior_sizes):
    data = make()
    posterior = tw.sample_posterior(
        data,
        distance="inversions",
        priors=tw.Priors(sizes=prior_sizes),
        chains=2,
        draws=4000,
        sampler=tw.Sampler(thin=8),
        progress="off",
        rng=1,
    )
    assert posterior.completions == "drawn by reinsert"
    logs = {
        labels: value + log_prior(labels, prior_sizes)
        for labels, value in log_weights(data).items()
    }
    total = np.logaddexp.reduce(list(logs.values()))
    expected = {labels: 8000 * np.exp(value - total) for labels, value in logs.items()}
    drawn, counts = np.unique(posterior.labels - 1, axis=0, return_counts=True)
    seen = dict(zip(map(tuple, drawn.tolist()), counts.tolist(), strict=True))
    kept = [labels for labels, number in expected.items() if number > 10]
    statistic = sum((seen.get(one, 0) - expected[one]) ** 2 / expected[one] for one in kept)
    assert chi2.sf(statistic, len(kept) - 1) > 1e-4


@pytest.mark.parametrize("make", [rankings, preferences])
def test_a_single_tier_is_weighed(make, monkeypatch):
    data = make()
    source = source_of(data, "inversions")
    prior = tiers_prior("several", 4)._replace(single_tier_bonus=-1e300)
    several = WalkOverCompletions(source, Gamma(2, 2), prior)
    weights = log_weights(data)
    single = weights.pop((0, 0, 0, 0))
    sceptical = [value + log_prior(labels, "sceptical") for labels, value in weights.items()]
    exact = single - np.logaddexp.reduce(sceptical) - log(2)
    found = augmented._weigh_single_tier(several)
    assert not found.at_most
    assert found.log_odds == pytest.approx(exact, abs=max(5 * found.error, 0.15))
    # A bound that is always taken as good enough is above what it bounds.
    monkeypatch.setattr(augmented, "settled_by_bound", lambda _: True)
    bound = augmented._weigh_single_tier(several)
    assert bound.at_most
    assert bound.log_odds > exact


@pytest.mark.slow
@few_draws
def test_many_items_with_gaps_take_seconds_and_say_what_is_sure():
    rng = np.random.default_rng(1)
    strengths = np.repeat([2.0, 1.0, 0.0], 5)
    scores = rng.normal(size=(60, 15)) + strengths
    scores[rng.random(scores.shape) < 0.1] = np.nan
    names = [f"m{number:02}" for number in range(15)]
    data = tw.Rankings.from_scores(scores, "higher", names)
    board = tw.leaderboard(data, distance="inversions", chains=2, draws=300, rng=1, progress="off")
    assert {row.item for row in board.rows if row.tier == 1} == set(names[:5])
    assert board.fit.sizes == (5, 5, 5)
    assert board.fit.total_distance > 0
    assert (
        tw.sample_posterior(
            data,
            distance="inversions",
            priors=tw.Priors(sizes="sceptical"),
            draws=20,
            chains=1,
            rng=1,
        ).single_tier_log_odds
        < -30
    )


@pytest.mark.thorough
def test_preferences_of_judges_who_gave_many_answers_have_a_leaderboard():
    truth = tw.Tiers([["a", "b"], ["c", "d", "e"]])
    rng = np.random.default_rng(2)
    votes = []
    orders = tw.ClusteredMallows(truth, 0.8, "inversions").sample(80, rng=1).to_orderings()
    for judge, order in enumerate(orders):
        for _ in range(4):
            one, other = sorted(rng.choice(5, 2, replace=False))
            votes.append((judge, order[one], order[other]))
    board = tw.leaderboard(tw.Preferences.from_pairs(votes), rng=1, progress="off")
    assert board.tiers == truth
    assert board.fit.tiers == truth
    assert "draws of the posterior" in board.note()


@pytest.mark.thorough
def test_sure_tiers_cost_least_of_all_that_keep_sure_differences():
    rng = np.random.default_rng(3)
    bound = 0
    for _ in range(20):
        strengths = np.sort(rng.normal(size=5))
        draws = np.argsort(np.argsort(strengths + rng.normal(size=(30, 5)) / 2)) // 2
        above = share_above(draws)
        for certainty in (0.5, 0.8, 0.95):
            found = sure_tiers(above, certainty)
            of_all = {one: cost(np.array(one), above, certainty) for one in all_tiers(5)}
            costs = {
                one: value
                for one, value in of_all.items()
                if not ties_a_sure_pair(one, draws, certainty)
            }
            assert tuple(found.tolist()) in costs
            assert cost(found, above, certainty) == pytest.approx(min(costs.values()))
            bound += min(costs.values()) > 1e-9 + min(of_all.values())
    assert bound > 5  # sure differences do cost something now and then


def ties_a_sure_pair(labels, draws, certainty):
    """Count draws from the definition."""
    return any(
        labels[one] == labels[other]
        and sum(draw[one] < draw[other] for draw in draws) >= certainty * len(draws) - 1e-9
        for one in range(len(labels))
        for other in range(len(labels))
        if one != other
    )


def cost(labels, above, certainty):
    apart = labels[:, None] < labels
    tied = np.triu(labels[:, None] == labels, k=1)
    wrong = certainty * (1 - above)[apart].sum()
    return wrong + (1 - certainty) * (above + above.T)[tied].sum()


def test_certainty_is_a_probability():
    with pytest.raises(tw.InputError, match=r"at least 0\.5"):
        tw.leaderboard(tw.load_political_goals(), certainty=0.2)
