"""Groups of people who compared pairs of items."""

from itertools import permutations, product

import numpy as np
import pytest

import tierwise as tw
from tests import reference
from tests.mixture.simulated import from_groups
from tierwise.distances import get_distance
from tierwise.mixture.groups import GroupFitter, distinct_answers

GROUPS = [([[0], [1, 2], [3]], 2.0), ([[3], [2, 1], [0]], 2.0)]


def compared_pairs(numbers=(120, 60), seed=1):
    """What people say who compare four of the six pairs of items, and who belongs where."""
    rankings, belongs = from_groups(GROUPS, numbers, seed=seed)
    rng = np.random.default_rng(seed)
    rows = []
    for person, ordering in enumerate(rankings.to_orderings()):
        pairs = [(a, b) for a, b in product(range(4), repeat=2) if a < b]
        for a, b in rng.permutation(pairs)[:4].tolist():
            first, second = sorted((a, b), key=ordering.index)
            rows.append((person, first, second))
    return tw.Preferences.from_pairs(rows, items=range(4)), belongs


def test_probabilities_are_those_of_all_orderings_that_agree():
    preferences, _ = compared_pairs((6, 3))
    fitter = GroupFitter(distinct_answers(preferences), get_distance("kendall"))
    for sizes, theta in (((1, 2, 1), 0.7), ((1, 1, 1, 1), 0.3), ((4,), 0.0)):
        labels = np.array(reference.labels_of(sizes))
        component = fitter.component(sizes, labels, theta)
        found = fitter.log_probabilities(component)[fitter.answers.pattern_of]
        brute = reference.BruteForce(sizes, "kendall", tuple(labels.tolist()))
        chances = dict(zip(brute.orderings, brute.probabilities(theta), strict=True))
        for person, value in enumerate(found):
            said = preferences.pairs(person)
            agreeing = [
                ordering
                for ordering in permutations(range(4))
                if all(ordering.index(a) < ordering.index(b) for a, b in said)
            ]
            assert value == pytest.approx(np.log(sum(chances[row] for row in agreeing)))


def test_one_group_is_the_fit():
    preferences, _ = compared_pairs()
    fit = tw.fit(preferences, (1, 2, 1))
    alone = tw.fit_mixture(preferences, 1, (1, 2, 1), tolerance=1e-7, distance="kendall")
    assert alone.log_likelihood == pytest.approx(fit.log_likelihood, abs=1e-3)
    assert alone.groups[0].tiers == fit.tiers
    assert alone.groups[0].theta == pytest.approx(fit.theta, rel=1e-3)
    assert alone.groups[0].agreement == pytest.approx(fit.agreement)
    assert "180 assessors who compared pairs of 4 items in 1 group" in alone.summary()


def test_groups_are_found_from_pairs():
    preferences, belongs = compared_pairs()
    found = tw.fit_mixture(
        preferences, (1, 2), (1, 2, 1), starts=5, folds=3, rng=1, distance="kendall"
    )
    assert found.n_groups == 2
    assert found.pairwise
    assert found.shares == pytest.approx([2 / 3, 1 / 3], abs=0.06)
    assert [group.tiers for group in found.groups] == [tw.Tiers(tiers) for tiers, _ in GROUPS]
    assert (found.memberships.argmax(axis=1) == belongs).mean() > 0.9
    assert found.n_rankings == 180
    assert np.diff(found.history).min() >= -1e-7


def test_answers_that_may_be_mistaken_are_refused():
    mistaken = tw.Preferences.from_pairs([(1, "a", "b"), (1, "b", "a")], cycles="keep")
    with pytest.raises(tw.InputError, match="may be mistaken"):
        tw.fit_mixture(mistaken, 2, (1, 1), distance="kendall")
    preferences, _ = compared_pairs((3, 3))
    with pytest.raises(tw.InputError, match="but sample_mixture takes rankings"):
        tw.sample_mixture(preferences, 2, (1, 2, 1))
