"""Tiers of all sizes where answers leave something open, under inversions."""

from itertools import permutations, product
from math import inf, log

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import tierwise as tw
from tests.reference import inversions
from tests.reference_incomplete import pairs_of_groups
from tierwise.answers.likelihood import source_of
from tierwise.searching.structural_em import StructuralSearch, seconds_of_search
from tierwise.tiers import log_number_of_tiers


def heard(n_items, n_answers, share, seed, size_of_tier=3, gap=0.9):
    """Lists of some of the items, which lie in tiers."""
    rng = np.random.default_rng(seed)
    logs = -gap * (np.arange(n_items) // size_of_tier)
    rows = []
    for _ in range(n_answers):
        n_listed = max(2, rng.binomial(n_items, share))
        listed = rng.permutation(n_items)[:n_listed]
        order = np.argsort(-(logs[listed] + rng.gumbel(size=n_listed)))
        rows.append([f"item {one}" for one in listed[order]])
    items = [f"item {one}" for one in range(n_items)]
    return tw.Rankings.from_orderings(rows, items=items, unranked="anywhere")


def search_of(data, prior_sizes="penalised"):
    return StructuralSearch(source_of(data, "inversions"), prior_sizes, np.random.default_rng(1))


def best_of_all(answers, n_items, price):
    """The best value of all tiers, by going through them and all orderings."""
    orderings = list(permutations(range(n_items)))
    agree = np.array(
        [
            [
                all(one.index(a) < one.index(b) for a, b in pairs_of_groups(groups))
                for one in orderings
            ]
            for groups in answers
        ]
    )
    best = -inf
    for labels in product(range(n_items), repeat=n_items):
        n_tiers = max(labels) + 1
        if set(labels) != set(range(n_tiers)):
            continue
        sizes = tuple(labels.count(tier) for tier in range(n_tiers))
        distances = np.array([inversions(one, labels, sizes) for one in orderings])

        def lost(theta, distances=distances):
            weights = np.exp(-theta * distances)
            return len(answers) * log(weights.sum()) - np.log(agree @ weights).sum()

        found = minimize_scalar(lost, bounds=(0.0, 20.0), method="bounded", options={"xatol": 1e-9})
        value = -min(found.fun, lost(0.0)) - log_number_of_tiers(sizes) - price * n_tiers
        best = max(best, value)
    return best


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("prior_sizes", "price"), [("penalised", 1.0), ("uniform", 0.0)])
def test_the_best_tiers_of_four_items_are_found(seed, prior_sizes, price):
    rng = np.random.default_rng(seed)
    answers = []
    for _ in range(14):
        # Tied groups of the items that are listed, better ones first as a rule.
        listed = np.flatnonzero(rng.random(4) < 0.8)
        places = np.round(listed * 0.7 + rng.normal(size=len(listed)))
        groups = [tuple(listed[places == place].tolist()) for place in np.unique(places)]
        answers.append(groups)
    ranks = np.full((len(answers), 4), np.nan)
    for row, groups in enumerate(answers):
        for place, group in enumerate(groups):
            ranks[row, list(group)] = place + 1
    data = tw.Rankings.from_ranks(ranks, items=list("abcd"), unranked="anywhere", ties="allow")
    found = search_of(data, prior_sizes).run()[0]
    assert found.value == pytest.approx(best_of_all(answers, 4, price), abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_sizes_one_by_one_are_not_better(seed):
    data = heard(6, 40, 0.7, seed)
    search = search_of(data)
    best = search.run()[0]
    one_by_one = tw.search(data, "inversions", rng=1)
    assert one_by_one.method == "exhaustive"
    others = [
        search.value_of(one.tiers.label_array(data.items), 0.3) for one in one_by_one.leaderboard
    ]
    assert best.value >= max(one.value for one in others) - 1e-9


def test_the_strict_tiers_are_those_that_nothing_improves():
    search = search_of(heard(5, 25, 0.8, 2))
    strict = search.strict()
    assert strict.sizes == (1,) * 5
    values = [search.value_of(np.array(one), 0.3).value for one in permutations(range(5))]
    assert strict.value == pytest.approx(max(values), abs=1e-9)


@pytest.mark.thorough
def test_a_greedy_search_of_many_items_is_not_better():
    data = heard(14, 25, 0.75, 3)
    found = tw.search(data, "inversions", rng=1)
    assert (found.method, found.best.method) == ("all sizes", "structural EM")
    greedy = tw.search(data, "inversions", method="greedy", rng=1)
    assert found.leaderboard[0].score >= greedy.leaderboard[0].score - 1e-6
    named = {one.name for one in found.leaderboard}
    assert {"strict consensus", "no tiers"} <= named


def test_inversions_are_compared_where_answers_have_gaps():
    found = tw.search(heard(11, 12, 0.85, 4), rng=1)
    assert "inversions" in {one.name for one in found.families}
    assert set(found.left_out) == {"kendall"}


def test_what_cannot_be_summed_over_is_not_searched_at_once():
    data = heard(40, 10, 0.3, 5)
    assert seconds_of_search(source_of(data, "inversions"), (20, 20)) == inf
    assert seconds_of_search(source_of(heard(6, 9, 0.7, 6), "kendall"), (3, 3)) == inf
    few = seconds_of_search(source_of(heard(6, 9, 0.7, 6), "inversions"), (3, 3))
    many = seconds_of_search(source_of(heard(13, 90, 0.7, 6), "inversions"), (3, 3, 3, 4))
    assert 0.0 < few < many < inf
