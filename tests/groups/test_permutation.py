"""Permutation tests of groups: sums, and that chance alone gives uniform p-values."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import tierwise as tw
from tierwise.groups.permutation import Statements, difference, p_value_of_groups


def test_totals_are_sums_over_groups():
    rankings = tw.Rankings.from_orderings(
        [["a", "b"], ["b", "c", "a"], [["a", "c"], "b"], ["c"]],
        weights=[1, 2, 0.5, 3],
        unranked="below",
    )
    statements = Statements.of(rankings)
    member = np.array([2, -1, 0, 2])
    totals, sizes = statements.totals(member, 4)
    for group in range(4):
        inside = member == group
        assert totals[group] == pytest.approx(statements.values[inside].sum(axis=0))
        assert sizes[group] == pytest.approx(statements.weights[inside].sum())
    # a above b, a above c, b above c, before the mean is taken off
    said = np.array([[1, 1, 1], [-1, -1, 1], [1, 0, -1], [0, -1, -1]])
    centred = (said - said.mean(axis=0)) * np.array([1, 2, 0.5, 3])[:, None]
    assert statements.values == pytest.approx(centred)


def test_difference_is_the_sum_of_squares_between_groups():
    rng = np.random.default_rng(1)
    values, member = rng.normal(size=(30, 3)), rng.integers(0, 4, 30)
    statements = Statements(values, np.ones(30))
    total = ((values - values.mean(axis=0)) ** 2).sum()
    within = sum(
        ((values[member == g] - values[member == g].mean(axis=0)) ** 2).sum() for g in range(4)
    )
    assert difference(*statements.totals(member, 4)) == pytest.approx(total - within)


@pytest.mark.slow
def test_chance_gives_uniform_p_values():
    """Also where people are of two kinds that nobody asked about."""
    rng = np.random.default_rng(2)
    one = tw.ClusteredMallows(tw.Tiers([["a"], ["b"], ["c"], ["d"]]), 1.5, "inversions")
    other = tw.ClusteredMallows(tw.Tiers([["d"], ["c"], ["b"], ["a"]]), 1.5, "inversions")
    found = []
    for _ in range(200):
        kinds = [model.sample(20, rng=rng).restrict("abcd") for model in (one, other)]
        statements = Statements.of(tw.Rankings.concat(kinds))
        found.append(p_value_of_groups(statements, rng.integers(0, 2, 40), 2, rng, 99))
    assert stats.kstest(found, "uniform").pvalue > 1e-4
    assert np.mean(np.array(found) <= 0.05) < 0.12


def test_a_difference_that_chance_matches_is_none():
    rankings = tw.Rankings.from_orderings([["a", "b", "c"]] * 20 + [["c", "b", "a"]] * 20)
    known = rankings.with_people(pa.table({"group": ["x"] * 20 + ["y"] * 20}))
    found = tw.compare_groups(known, by="group", rng=1).best
    assert found.p_value == 1 / 200
    assert found.preferred == "own"
    by_chance = replace(found, p_value=0.3)
    assert by_chance.preferred == "same"
    assert "random groups differ as much in 30% of" in by_chance.verdict()
    assert by_chance.log_bayes_factor > 3


@pytest.mark.thorough
def test_splits_that_chance_matches_are_not_made():
    """People of two kinds, and an age that has nothing to do with it."""
    models = [
        tw.ClusteredMallows(tw.Tiers([[x] for x in one]), 2.0, "inversions")
        for one in ("abcd", "dcba")
    ]
    rankings = tw.Rankings.concat([one.sample(60, rng=1).restrict("abcd") for one in models])
    rng = np.random.default_rng(1)
    for _ in range(10):
        known = rankings.with_people(pa.table({"age": rng.integers(18, 80, 120)}))
        tree = tw.group_tree(known, by="age", rng=rng)
        assert (tree.root.column is None) == (tree.root.p_value > 0.05 or tree.root.log_gain <= 0)
