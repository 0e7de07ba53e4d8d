"""The tree of people: true splits are found, noise is not split, and the text and figure say it."""

from math import log

import numpy as np
import pyarrow as pa
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tierwise import InputError, plots

TIERS = tw.Tiers([["a", "b"], ["c"], ["d"]])
OTHER = tw.Tiers([["d"], ["c"], ["a", "b"]])


def drawn(tiers, number, seed, theta=1.5):
    model = tw.ClusteredMallows(tiers, theta=theta, distance="inversions")
    return model.sample(number, rng=seed).restrict("abcd")


def two_kinds(number=60):
    """Old people differ; sex and noise say nothing; some ages are missing."""
    rankings = tw.Rankings.concat([drawn(TIERS, number, 1), drawn(OTHER, number, 2)])
    ages = [*np.linspace(20, 49, number).round().tolist()]
    ages += np.linspace(50, 80, number).round().tolist()
    rng = np.random.default_rng(3)
    return rankings.with_people(
        pa.table(
            {
                "age": ages,
                "sex": rng.choice(["f", "m"], 2 * number),
                "town": rng.choice(list("uvwxyz"), 2 * number),
            }
        )
    )


@pytest.mark.thorough
def test_a_true_split_is_found_and_nothing_else():
    tree = tw.group_tree(two_kinds(), by=["sex", "age", "town"])
    young, old = tree.leaves()
    assert tree.root.column == "age"
    assert 47 <= max(two_kinds().people.column("age").to_pylist()[row] for row in young.rows) <= 52
    assert young.group.tiers == TIERS
    assert old.group.tiers == OTHER
    assert young.group.share + old.group.share == pytest.approx(1)
    assert sorted([*young.rows, *old.rows]) == list(range(120))
    assert tree.root.log_gain > 0
    assert young.log_gain < 0


@pytest.mark.thorough
def test_a_split_pays_for_the_number_of_splits():
    """The gain is the log Bayes factor, less the logs of the number of columns and of cuts."""
    rankings = tw.Rankings.concat([drawn(TIERS, 30, 1), drawn(OTHER, 30, 2)])
    sex = pa.array(["f"] * 30 + ["m"] * 30)
    alone = tw.group_tree(rankings.with_people(pa.table({"sex": sex})), by="sex").root
    parts = sum(branch.group.log_evidence for branch in alone.branches)
    assert alone.log_gain == pytest.approx(parts - alone.group.log_evidence)
    known = rankings.with_people(pa.table({"sex": sex, "noise": [1, 2, 3] * 20}))
    beside = tw.group_tree(known, by=["sex", "noise"]).root
    assert beside.column == "sex"
    assert beside.log_gain == pytest.approx(alone.log_gain - log(2))
    # Four categories can be divided in seven ways.
    four = pa.table({"sex": ["p", "q"] * 15 + ["r", "s"] * 15})
    coded = tw.group_tree(rankings.with_people(four), by="sex").root
    assert [branch.condition for branch in coded.branches] == ["sex = p or q", "sex = r or s"]
    assert coded.log_gain == pytest.approx(alone.log_gain - log(7))


def test_missing_values_are_a_branch_of_their_own():
    rankings = tw.Rankings.concat([drawn(TIERS, 40, 1), drawn(OTHER, 40, 2), drawn(TIERS, 20, 3)])
    known = rankings.with_people(pa.table({"sex": ["f"] * 40 + ["m"] * 40 + [None] * 20}))
    tree = tw.group_tree(known, by="sex")
    assert [leaf.condition for leaf in tree.leaves()] == ["sex = f", "sex = m", "sex missing"]
    # Whether something is known may itself be what matters.
    apart = tw.Rankings.concat([drawn(TIERS, 40, 1), drawn(OTHER, 40, 2)])
    ages = pa.table({"age": [20, 30] * 20 + [None] * 40})
    tree = tw.group_tree(apart.with_people(ages), by="age")
    assert [leaf.condition for leaf in tree.leaves()] == ["age known", "age missing"]


def test_many_categories_are_divided_along_what_differs():
    rankings = tw.Rankings.concat([drawn(TIERS, 100, 1), drawn(OTHER, 100, 2)])
    regions = [f"r{number % 5}" for number in range(100)] + [
        f"s{number % 5}" for number in range(100)
    ]
    tree = tw.group_tree(rankings.with_people(pa.table({"region": regions})), by="region")
    conditions = {leaf.condition for leaf in tree.leaves()}
    assert conditions == {
        "region = r0 or r1 or r2 or r3 or r4",
        "region = s0 or s1 or s2 or s3 or s4",
    }


def test_text_frame_dictionary_and_figure():
    tree = tw.group_tree(two_kinds(), by=["sex", "age"], rng=1)
    text = tree.summary()
    assert text.startswith("everybody: 100.0% (120)")
    assert "├─ age below" in text
    assert "a ~ b > c > d" in text
    assert "more than 5% of 199 permutations" in " ".join(text.split())
    assert tree.to_frame(backend="pyarrow").num_rows == 2
    plain = tree.to_dict()
    assert plain["n_leaves"] == 2
    assert plain["tree"]["branches"][0]["tiers"] == [["a", "b"], ["c"], ["d"]]
    assert "2 leaves" in repr(tree)
    words = [text.get_text() for text in plots.group_tree(tree).texts]
    assert "a, b" in words


def test_nobody_is_split_without_a_reason():
    rankings = drawn(TIERS, 100, 5)
    rng = np.random.default_rng(6)
    noise = pa.table({"age": rng.integers(18, 80, 100), "sex": rng.choice(["f", "m"], 100)})
    tree = tw.group_tree(rankings.with_people(noise), by=["age", "sex"])
    assert len(tree.leaves()) == 1
    assert "No split: none of the columns (age, sex) justifies one." in tree.summary()
    assert len(plots.group_tree(tree).texts) > 3


def test_answers_without_weight_are_in_no_node():
    rankings = two_kinds(30)
    weights = np.ones(60, dtype=int)
    weights[::7] = 0
    weighted = tw.Rankings(rankings.items, rankings.places, weights).with_people(rankings.people)
    rows = np.concatenate([leaf.rows for leaf in tw.group_tree(weighted, by="age").leaves()])
    assert sorted(rows.tolist()) == np.flatnonzero(weights).tolist()


def test_branches_are_not_too_small():
    tree = tw.group_tree(two_kinds(), by="age", smallest=100)
    assert len(tree.leaves()) == 1
    with pytest.raises(InputError, match="smallest"):
        tw.group_tree(two_kinds(), by="age", smallest=0)


@pytest.mark.slow
def test_noise_is_seldom_split():
    """At most 5% of data sets: with 60 sets, 9 or more false splits have probability below 1e-3."""
    rng = np.random.default_rng(1)
    model = tw.ClusteredMallows(TIERS, theta=0.3, distance="inversions")
    n_split = 0
    for _ in range(60):
        noise = pa.table(
            {
                "age": rng.integers(18, 80, 100),
                "sex": rng.choice(["f", "m"], 100),
                "town": rng.choice(list("uvwxyz"), 100),
            }
        )
        tree = tw.group_tree(
            model.sample(100, rng=rng).with_people(noise), by=["age", "sex", "town"]
        )
        n_split += len(tree.leaves()) > 1
    assert n_split <= 8


@pytest.mark.slow
def test_sushi_by_age_sex_and_region():
    """Age matters most, then sex, then where people grew up; youngsters do not like sea urchin."""
    rankings = tw.load_sushi(shared_data("sushi"))
    found = tw.compare_groups(rankings, by=["region", "sex", "age"], rng=1)
    assert [one.column for one in found.columns] == ["age", "sex", "region"]
    assert all(one.preferred == "own" for one in found.columns)
    move = found.best.moves[0]
    assert (move.item, move.lower) == ("sea urchin", "age 15")
    tree = tw.group_tree(rankings, by=["region", "sex", "age"], rng=1)
    assert tree.root.column == "sex"
    assert len(tree.leaves()) == 8


@pytest.mark.parametrize("ages", [[20, None, None], [20, 20, None], [None, None, 20]])
@pytest.mark.parametrize("times", [1, 8])
def test_one_value_that_is_often_missing(ages, times):
    rankings = drawn(TIERS, 3 * times, 1).with_people(pa.table({"age": ages * times}))
    tree = tw.group_tree(rankings, by="age", smallest=1, permutations=3, rng=1)
    assert {leaf.condition for leaf in tree.leaves()} <= {"", "age known", "age missing"}


def test_a_value_that_says_who_differs_by_being_missing():
    rankings = tw.Rankings.concat([drawn(TIERS, 60, 1), drawn(OTHER, 60, 2)])
    people = pa.table({"age": [20] * 60 + [None] * 60})
    tree = tw.group_tree(rankings.with_people(people), by="age", permutations=39, rng=1)
    assert [leaf.condition for leaf in tree.leaves()] == ["age known", "age missing"]
