"""Permutation tests of groups: sums, and that chance alone gives uniform p-values."""

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


def test_people_of_two_kinds_are_not_taken_for_groups():
    """What evidence alone would split: shares of two kinds differ by chance between groups."""
    orders = (list("abcdef"), list("fedcba"))
    models = [
        tw.ClusteredMallows(tw.Tiers([[x] for x in one]), 1.0, "inversions") for one in orders
    ]
    rankings = tw.Rankings.concat([one.sample(40, rng=1).restrict("abcdef") for one in models])
    # In one group 24 of 40 are of the first kind, in the other 16.
    group = ["x"] * 24 + ["y"] * 16 + ["x"] * 16 + ["y"] * 24
    found = tw.compare_groups(rankings.with_people(pa.table({"group": group})), by="group", rng=1)
    assert found.best.log_bayes_factor > 3
    assert found.best.p_value > 0.05
    assert found.best.preferred == "same"
    assert "no more than groups made at random do" in " ".join(found.best.verdict().split())
    tree = tw.group_tree(rankings.with_people(pa.table({"group": group})), by="group", rng=1)
    assert len(tree.leaves()) == 1
    trusting = tw.group_tree(
        rankings.with_people(pa.table({"group": group})), by="group", permutations=0, rng=1
    )
    assert len(trusting.leaves()) == 2
