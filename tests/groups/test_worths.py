"""Comparisons of groups whose tiers have worths."""

import json
from math import log

import numpy as np
import pyarrow as pa
import pytest

import tierwise as tw
from tests import reference_luce
from tierwise import InputError, Rankings, Tiers
from tierwise.answers.races import races_of
from tierwise.groups.evidence import all_tiers, log_prior_of_tiers
from tierwise.groups.worths import WorthAnswers, log_evidence_of_worths

ITEMS = tuple("abcdef")


def sample(order, worths, n_rankings, rng, sizes=(2, 2, 2)):
    return tw.ClusteredLuce(Tiers.from_sizes(sizes, order), worths).sample(n_rankings, rng)


def in_groups(*parts):
    """Put rankings together, with the group that each comes from."""
    names = [name for number, part in enumerate(parts) for name in [f"g{number}"] * len(part)]
    return Rankings.concat(parts).restrict(ITEMS).with_people(pa.table({"group": names}))


def by_quadrature(data, labels, n_points=120):
    """Log evidence of two tiers at most: the share of the first is uniform above a half."""
    if max(labels) == 0:
        return float(data.n_rankings) * -log(6)
    total = 0.0
    # Worths are exponential and the first is the larger, so its share of both is uniform above 1/2.
    nodes, weights = np.polynomial.legendre.leggauss(n_points)
    shares = 0.75 + 0.25 * nodes
    logs = np.array(
        [
            sum(
                weight * log(reference_luce.probability_of_ordering(order, worths))
                for order, weight in zip(
                    np.argsort(data.patterns, axis=1).tolist(), data.pattern_weights, strict=True
                )
            )
            for worths in ([[share, 1 - share][label] for label in labels] for share in shares)
        ]
    )
    top = logs.max()
    total = float((weights / 2) @ np.exp(logs - top))
    return top + log(total)


def test_evidence_of_tiers_is_the_integral_over_worths():
    data = tw.ClusteredLuce(Tiers([["a"], ["b", "c"]]), (3.0, 1.0)).sample(40, rng=1)
    answers = WorthAnswers(data.items, races_of(data))
    for labels in ([0, 1, 1], [0, 0, 1], [1, 0, 0], [0, 0, 0]):
        own = np.array(labels)
        expected = by_quadrature(data, labels) + log_prior_of_tiers(own)
        # Laplace's approximation, also where the order of worths goes against the answers.
        assert answers.log_joint(own) == pytest.approx(expected, abs=0.4)
    assert answers.method == "sum over all tiers"
    values = np.array([answers.log_joint(labels) for labels in all_tiers(3)])
    assert answers.log_evidence == pytest.approx(
        np.logaddexp.reduce(values), abs=0.1 + 3 * answers.estimate.standard_error
    )


def test_the_same_tiers_are_summed_over_for_all_groups():
    data = tw.ClusteredLuce(Tiers([["a"], ["b"], ["c"]]), (3.0, 2.0, 1.0)).sample(60, rng=2)
    races = races_of(data)
    half = races.weights / 2
    parts = [WorthAnswers(data.items, races.reweighted(half)) for _ in range(2)]
    together = WorthAnswers(data.items, races)
    expected = np.logaddexp.reduce(
        [
            log_prior_of_tiers(labels) + 2 * parts[0].log_integrated(labels)
            for labels in all_tiers(3)
        ]
    )
    assert float(log_evidence_of_worths(together, parts)) == pytest.approx(expected)


def test_restricted_races_have_the_answers_that_are_kept():
    data = sample(ITEMS, (4, 2, 1), 30, 1)
    races = races_of(data)
    kept = np.arange(races.n_answers) % 3 == 0
    some = races.restricted(kept)
    labels, logs = np.array([0, 0, 1, 1, 2, 2]), np.log([4.0, 2.0, 1.0])
    np.testing.assert_allclose(
        some.log_probabilities(labels, logs), races.log_probabilities(labels, logs)[kept]
    )
    assert some.n_rankings == races.weights[kept].sum()


def test_groups_with_tiers_of_their_own_are_found():
    rng = np.random.default_rng(1)
    data = in_groups(sample(ITEMS, (5, 2, 1), 80, rng), sample(ITEMS[::-1], (5, 2, 1), 80, rng))
    found = tw.compare_groups(data, by="group", family="luce", rng=1)
    assert found.best.preferred == "own"
    assert [set(next(iter(group.tiers))) for group in found.best.groups] == [{"a", "b"}, {"e", "f"}]
    assert all(len(group.worths) == len(group.tiers) for group in found.best.groups)
    assert "have different tiers" in found.best.verdict()
    assert "one worth per tier" in found.summary()
    assert found.best.moves[0].probability > 0.9
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["family"] == "luce"
    assert set(plain["columns"][0]["log_evidence"]) == {"same", "worths", "own"}
    assert "worths" in found.to_frame().columns


def test_the_same_tiers_with_worths_that_differ_are_found():
    rng = np.random.default_rng(2)
    data = in_groups(
        sample(ITEMS, (12, 1), 150, rng, (3, 3)), sample(ITEMS, (2, 1), 150, rng, (3, 3))
    )
    found = tw.compare_groups(data, by="group", family="luce", rng=1)
    assert found.best.preferred == "worths"
    assert "different worths" in found.best.verdict()


@pytest.mark.slow
def test_groups_that_do_not_differ_are_not_told_apart():
    rng = np.random.default_rng(3)
    preferred = []
    for _ in range(20):
        parts = [sample(ITEMS, (4, 2, 1), 50, rng) for _ in range(2)]
        found = tw.compare_groups(in_groups(*parts), by="group", family="luce", rng=rng)
        preferred.append(found.best.preferred)
    assert preferred.count("same") >= 18


def test_items_that_are_not_listed_may_be_anywhere():
    rng = np.random.default_rng(4)
    rows = []
    for order in (ITEMS, ITEMS[::-1]):
        for row in sample(order, (6, 2, 1), 80, rng).to_orderings():
            shown = set(rng.choice(ITEMS, 3, replace=False).tolist())
            rows.append([item for item in row if item in shown])
    data = Rankings.from_orderings(rows, items=ITEMS, unranked="anywhere")
    data = data.with_people(pa.table({"group": ["g0"] * 80 + ["g1"] * 80}))
    found = tw.compare_groups(data, by="group", family="luce", rng=1)
    assert found.best.preferred == "own"
    with pytest.raises(InputError, match="is unknown: keep"):
        tw.compare_groups(data, by="group", family="mallows", rng=1)
    # What is left open is decided by the data.
    assert tw.compare_groups(data, by="group", rng=1).family == "luce"


def test_a_tree_splits_people_whose_tiers_differ():
    rng = np.random.default_rng(6)
    data = in_groups(sample(ITEMS, (5, 2, 1), 80, rng), sample(ITEMS[::-1], (5, 2, 1), 80, rng))
    known = data.people.append_column("shoe", pa.array([38, 42] * 80))
    tree = tw.group_tree(
        data.with_people(known), by=["group", "shoe"], family="luce", permutations=19, rng=1
    )
    assert tree.root.column == "group"
    assert [leaf.column for leaf in tree.leaves()] == [None, None]
    assert all(len(leaf.group.worths) == len(leaf.group.tiers) for leaf in tree.leaves())
    assert "averaged over worths" in tree.summary()
    assert json.loads(json.dumps(tree.to_dict(), allow_nan=False))["family"] == "luce"
    assert "worths" in tree.to_frame().columns
    alone = in_groups(sample(ITEMS, (5, 2, 1), 60, rng), sample(ITEMS, (5, 2, 1), 60, rng))
    assert tw.group_tree(alone, by="group", family="luce", rng=1).root.column is None


def test_the_family_is_the_one_that_describes_all_answers():
    rng = np.random.default_rng(8)
    answers = in_groups(*(sample(ITEMS, (30, 3, 1), 120, rng) for _ in range(2)))
    choice = tw.choose(answers)
    assert choice.family == "luce"
    assert tw.compare_groups(answers, by="group", rng=1).family == "luce"
    assert tw.compare_groups(answers, by="group", choice=choice, rng=1).family == "luce"
    assert tw.group_tree(answers, by="group", choice=choice, rng=1).family == "luce"
    named = tw.compare_groups(answers, by="group", family="mallows", choice=choice, rng=1)
    assert named.family == "mallows"
    with pytest.raises(tw.InputError, match="for other items"):
        tw.compare_groups(answers, by="group", choice=tw.choose(tw.load_political_goals()))


def test_without_differences_the_family_is_the_one_with_exact_evidence():
    rng = np.random.default_rng(9)
    answers = in_groups(*(sample(ITEMS, (1, 1, 1), 40, rng) for _ in range(2)))
    assert tw.compare_groups(answers, by="group", rng=1).family == "mallows"
