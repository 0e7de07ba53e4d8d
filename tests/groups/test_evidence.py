"""The evidence of groups, against sums over all tiers and integrals over theta, written out."""

from itertools import permutations, product
from math import comb, exp, factorial, log

import numpy as np
import pyarrow as pa
import pytest
from scipy.integrate import quad

import tierwise as tw
from tierwise import InputError
from tierwise.groups.evidence import answers_of, log_evidence_of_thetas, log_prior_of_tiers


def weak_orders(n_items):
    return [
        labels
        for labels in product(range(n_items), repeat=n_items)
        if len(set(labels)) == max(labels) + 1
    ]


def prior(labels):
    """Half for no tiers; else e times less with every tier, and uniform given the sizes."""
    n_items, n_tiers = len(labels), max(labels) + 1
    sizes = np.bincount(labels)
    if n_tiers == 1:
        return 0.5
    total = sum(comb(n_items - 1, k - 1) * exp(-k) for k in range(2, n_items + 1))
    of_sizes = factorial(n_items) / np.prod([factorial(size) for size in sizes.tolist()])
    return 0.5 * exp(-n_tiers) / total / of_sizes


def inversions(ranking, labels):
    """Pairs of different tiers that a ranking, best item first, orders the other way."""
    return sum(
        labels[ranking[i]] > labels[ranking[j]]
        for i in range(len(ranking))
        for j in range(i + 1, len(ranking))
    )


def likelihood(rankings, labels, theta):
    """Of complete rankings: each is as probable as exp(-theta * inversions)."""
    everything = list(permutations(range(len(labels))))
    total = sum(exp(-theta * inversions(one, labels)) for one in everything)
    return np.prod([exp(-theta * inversions(one, labels)) / total for one in rankings])


def integrated(rankings, labels):
    def integrand(theta):
        return 4 * theta * exp(-2 * theta) * likelihood(rankings, labels, theta)

    return (
        quad(integrand, 0, 3, epsabs=0, epsrel=1e-9)[0]
        + quad(integrand, 3, 60, epsabs=0, epsrel=1e-9)[0]
    )


def made(orders, group):
    rankings = tw.Rankings.from_order_array(np.array(orders), "abcd"[: len(orders[0])])
    return rankings.with_people(pa.table({"group": group}))


@pytest.mark.parametrize(
    ("n_items", "seed", "n_rows"),
    [(2, 1, 6), (3, 2, 5), (3, 3, 8), pytest.param(4, 4, 4, marks=pytest.mark.slow)],
)
def test_evidence_is_a_sum_over_all_tiers(n_items, seed, n_rows):
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(n_items).tolist() for _ in range(n_rows)]
    orders[: n_rows // 2] = [sorted(orders[0])] * (n_rows // 2)
    group = ["x"] * (n_rows // 2) + ["y"] * (n_rows - n_rows // 2)
    parts = [
        [order for order, own in zip(orders, group, strict=True) if own == name] for name in "xy"
    ]
    tiers = weak_orders(n_items)
    same = sum(prior(one) * integrated(orders, one) for one in tiers)
    own = np.prod([sum(prior(one) * integrated(part, one) for one in tiers) for part in parts])
    theta = sum(prior(one) * np.prod([integrated(part, one) for part in parts]) for one in tiers)
    found = tw.compare_groups(made(orders, group), by="group", family="mallows", rng=1).best
    assert found.log_evidence["same"] == pytest.approx(log(same), abs=1e-5)
    assert found.log_evidence["own"] == pytest.approx(log(own), abs=1e-5)
    assert found.log_evidence["theta"] == pytest.approx(log(theta), abs=1e-5)
    assert all(value.exact for value in found.log_evidence.values())
    total = 0.5 * same + 0.25 * theta + 0.25 * own
    assert found.probabilities["same"] == pytest.approx(0.5 * same / total, abs=1e-5)
    assert found.log_bayes_factor == pytest.approx(log((theta + own) / 2 / same), abs=1e-5)


@pytest.mark.parametrize("n_items", [2, 3, 4])
def test_prior_of_tiers(n_items):
    tiers = weak_orders(n_items)
    assert sum(prior(one) for one in tiers) == pytest.approx(1)
    for one in tiers:
        assert log_prior_of_tiers(np.array(one)) == pytest.approx(log(prior(one)))


@pytest.mark.slow
def test_thetas_that_differ_are_estimated_within_their_error():
    """Six items: importance sampling against the sum over all 4,683 tiers."""
    model = tw.ClusteredMallows(
        tw.Tiers([["a", "b"], ["c"], ["d", "e", "f"]]), theta=0.3, distance="inversions"
    )
    rankings = tw.Rankings.concat([model.sample(40, rng=1), model.sample(40, rng=2)])
    groups = [
        answers_of(rankings, np.arange(40) + start, most_items_to_sum=16) for start in (0, 40)
    ]
    together = answers_of(rankings, most_items_to_sum=16)
    estimate = log_evidence_of_thetas(together, groups, np.random.default_rng(1), n_draws=2000)
    exact = np.array(
        [
            log_prior_of_tiers(np.array(one)) + sum(g.log_integrated(np.array(one)) for g in groups)
            for one in weak_orders(6)
        ]
    )
    total = exact.max() + log(np.exp(exact - exact.max()).sum())
    assert not estimate.exact
    assert abs(estimate - total) < 4 * estimate.standard_error


def test_many_items_go_by_their_best_tiers():
    items = [f"item {number}" for number in range(20)]
    tiers = tw.Tiers([items[:5], items[5:12], items[12:]])
    turned = tw.Tiers([items[12:], items[5:12], items[:5]])
    models = [tw.ClusteredMallows(one, theta=0.3, distance="inversions") for one in (tiers, turned)]
    parts = [model.sample(60, rng=1).restrict(items) for model in models]
    rankings = tw.Rankings.concat(parts).with_people(pa.table({"side": ["x"] * 60 + ["y"] * 60}))
    found = tw.compare_groups(rankings, by="side", family="mallows", rng=1)
    assert found.method == "best tiers"
    assert found.best.preferred == "own"
    for start, group, truth in zip((0, 60), found.best.groups, (tiers, turned), strict=True):
        answers = answers_of(rankings, np.arange(60) + start, most_items_to_sum=16)
        best = answers.log_joint(group.tiers.label_array(items))
        assert group.log_evidence == pytest.approx(best)
        assert best >= answers.log_joint(truth.label_array(items))
    assert "too many items to sum over" in " ".join(found.summary().split())


def test_weights_of_a_survey_count_by_their_effective_size():
    orders = [[0, 1, 2]] * 30 + [[2, 1, 0]] * 10
    whole = tw.Rankings.from_order_array(np.array(orders), "abc")
    people = pa.table({"group": (["x"] * 15 + ["y"] * 15) + ["x"] * 5 + ["y"] * 5})
    plain = tw.compare_groups(whole.with_people(people), by="group", family="mallows", rng=1)
    # Equal weights, however large, say no more than no weights.
    weighted = tw.Rankings.from_order_array(np.array(orders), "abc", weights=[2.5] * 40)
    scaled = tw.compare_groups(weighted.with_people(people), by="group", family="mallows", rng=1)
    assert scaled.effective_size == pytest.approx(40)
    assert scaled.best.log_evidence["same"] == pytest.approx(plain.best.log_evidence["same"])
    uneven = tw.Rankings.from_order_array(np.array(orders), "abc", weights=[0.5, 1.5] * 20)
    again = tw.compare_groups(uneven.with_people(people), by="group", family="mallows", rng=1)
    assert again.effective_size == pytest.approx(40**2 / (20 * 0.25 + 20 * 2.25))
    assert "Kish" in again.summary()
    assert "Kish" not in plain.summary()


def test_ties_and_lists_of_the_best_are_taken_and_anywhere_is_not():
    rows = [["a", "b"], ["b", ["a", "c"]], ["c"]] * 4
    people = pa.table({"group": ["x", "y", None] * 4})
    answers = tw.Rankings.from_orderings(rows, unranked="below").with_people(people)
    found = tw.compare_groups(answers, by="group", family="mallows", rng=1).best
    assert [group.name for group in found.groups] == ["x", "y", "group missing"]
    assert sum(group.share for group in found.groups) == pytest.approx(1)
    anywhere = tw.Rankings.from_orderings(rows, unranked="anywhere").with_people(people)
    with pytest.raises(InputError, match="is unknown: keep the items"):
        tw.compare_groups(anywhere, by="group", family="mallows")


def test_one_theta_differs():
    tiers = tw.Tiers([["a"], ["b", "c"], ["d"]])
    parts = [
        tw.ClusteredMallows(tiers, theta=theta, distance="inversions").sample(300, rng=1)
        for theta in (0.3, 1.2)
    ]
    people = pa.table({"group": ["loose"] * 300 + ["close"] * 300})
    found = tw.compare_groups(
        tw.Rankings.concat(parts).with_people(people), by="group", family="mallows", rng=1
    )
    assert found.best.preferred == "theta"
    assert "the same tiers, with different agreement" in " ".join(found.summary().split())


def test_moves_and_side_by_side():
    one = tw.ClusteredMallows(tw.Tiers([["a"], ["b"], ["c"], ["d"], ["e"]]), 1.0, "inversions")
    two = tw.ClusteredMallows(tw.Tiers([["b"], ["c"], ["d"], ["a"], ["e"]]), 1.0, "inversions")
    rankings = tw.Rankings.concat([one.sample(200, rng=1), two.sample(200, rng=2)])
    people = pa.table({"group": ["x"] * 200 + ["y"] * 200, "noise": [1, 2] * 200})
    found = tw.compare_groups(
        rankings.with_people(people), by=["noise", "group"], family="mallows", rng=1
    )
    assert [one.column for one in found.columns] == ["group", "noise"]
    assert found["noise"].preferred == "same"
    move = found.best.moves[0]
    assert (move.item, move.higher, move.lower) == ("a", "x", "y")
    assert move.places == pytest.approx((1, 4), abs=0.2)
    assert move.probability > 0.95
    # What rounds to certainty is not called certain.
    assert "very strong evidence that groups differ (Bayes factor more than" in found.summary()
    assert "(probability > 99%)" in " ".join(found["group"].verdict().split())
    assert found.to_frame(backend="pyarrow").num_rows == 4
    plain = found.to_dict()
    assert plain["columns"][0]["preferred"] == "own"
    assert plain["columns"][0]["moves"][0]["item"] == "a"


def test_what_cannot_be_compared():
    rankings = tw.Rankings.from_orderings([["a", "b"], ["b", "a"]])
    with pytest.raises(
        InputError, match=r"only rankings, .*: read a table .* Rankings\.with_people"
    ):
        tw.compare_groups(rankings, by="sex", family="mallows")
    known = rankings.with_people(pa.table({"sex": ["f", "f"], "age": [30, 40]}))
    with pytest.raises(
        InputError, match="no column 'region' for by: the columns about people are 'sex', 'age'"
    ):
        tw.compare_groups(known, by="region", family="mallows")
    with pytest.raises(InputError, match="same value for everybody"):
        tw.compare_groups(known, by="sex", family="mallows")
    with pytest.raises(InputError, match="twice"):
        tw.compare_groups(known, by=["age", "age"], family="mallows")
    many = tw.Rankings.from_orderings([["a", "b"]] * 100)
    many = many.with_people(pa.table({"name": [f"n{number}" for number in range(100)]}))
    with pytest.raises(InputError, match="100 different values, more than the limit of 60"):
        tw.compare_groups(many, by="name", family="mallows")
    with pytest.raises(InputError, match="one row per answer"):
        rankings.with_people(pa.table({"sex": ["f"]}))


def test_numbers_are_cut_into_groups():
    rankings = tw.Rankings.from_orderings([["a", "b", "c"], ["b", "a", "c"]] * 40)
    known = rankings.with_people(pa.table({"age": list(range(20, 100))}))
    groups = tw.compare_groups(known, by="age", family="mallows", rng=1).best.groups
    assert [group.name for group in groups] == [
        "age 20 to 39",
        "age 40 to 59",
        "age 60 to 79",
        "age 80 to 99",
    ]


def test_groups_of_a_scan_are_refused_in_words(tmp_path):
    """A scan holds no columns about people; its family is still found, and then that is said."""
    path = tmp_path / "answers.csv"
    path.write_text("place 1,place 2,place 3\na,b,c\nb,a,c\n", encoding="utf-8")
    scan = tw.Rankings.scan(path)
    with pytest.raises(tw.InputError, match="no columns about people"):
        tw.group_tree(scan, by=["age"], rng=1)
