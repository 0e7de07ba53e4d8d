"""Evidence from answers that leave something open, against sums over everything."""

import warnings
from itertools import permutations

import numpy as np
import pytest

import tierwise as tw
from tests.reference import DISTANCES as NAIVE_DISTANCES
from tests.reference_incomplete import completions, pairs_of_groups
from tierwise.answers.likelihood import source_of
from tierwise.evidence.chib import estimate_log_evidence, find_log_evidence
from tierwise.partition.choose import partition_function

ROWS = [["a"], ["b", "a"], ["a", "c"], ["a", "b"], ["c", "a"], ["a", "d"]]
PAIRS = {"Ann": [("a", "b"), ("b", "c")], "Bob": [("a", "d")], "Cid": [("d", "c"), ("a", "c")]}
VOTES = {
    "Ann": [("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")],
    "Bob": [("a", "d"), ("b", "d"), ("a", "c")],
    "Cid": [("d", "a"), ("a", "b"), ("b", "d")],
}
NODES = np.linspace(-12, 3.5, 500)
THETAS = np.exp(NODES)
MISTAKES = np.linspace(0, 0.5, 202)[1:-1]


def orderings_behind(kind):
    """All complete orderings that agree with each answer."""
    if kind == "preferences":
        relations = [[("abcd".index(a), "abcd".index(b)) for a, b in one] for one in PAIRS.values()]
        return [list(completions(relation, 4)) for relation in relations]
    found = []
    for row in ROWS:
        groups = [["abcd".index(item)] for item in row]
        if kind == "below":
            groups.append([item for item in range(4) if "abcd"[item] not in row])
        found.append(list(completions(pairs_of_groups(groups), 4)))
    return found


def data_of(kind):
    if kind == "preferences":
        return tw.Preferences(PAIRS, items="abcd")
    return tw.Rankings.from_orderings(ROWS, items="abcd", unranked=kind)


def naive_log_evidence(kind, sizes, distance="kendall", shape=2.0, rate=2.0):
    """Sum over all tiers and completions, and over theta on a fine grid."""
    every = list(permutations(range(4)))
    answers = orderings_behind(kind)
    tiers = set(permutations(np.repeat(np.arange(len(sizes)), sizes).tolist()))
    total = np.zeros(len(THETAS))
    for labels in tiers:
        distance_of = {one: NAIVE_DISTANCES[distance](one, labels, sizes) for one in every}

        def weight(orderings, distance_of=distance_of):
            return np.exp(-np.outer(THETAS, [distance_of[one] for one in orderings])).sum(axis=1)

        total += np.prod([weight(orderings) / weight(every) for orderings in answers], axis=0)
    log_prior = (shape - 1) * NODES - rate * THETAS + shape * np.log(rate)
    density = np.exp(log_prior) * total / len(tiers)
    assert shape == int(shape)
    return np.log(np.trapezoid(density * THETAS, NODES)) - sum(np.log(range(1, int(shape))))


def naive_log_evidence_of_votes(sizes):
    """The same for answers that may be mistaken, with a Beta(1, 3) prior cut off at one half."""
    every = list(permutations(range(4)))
    tiers = set(permutations(np.repeat(np.arange(len(sizes)), sizes).tolist()))
    total = np.zeros((len(THETAS), len(MISTAKES)))
    for labels in tiers:
        weights = np.exp(
            -np.outer(THETAS, [NAIVE_DISTANCES["kendall"](one, labels, sizes) for one in every])
        )
        product = 1.0
        for pairs in VOTES.values():
            numbers = [("abcd".index(a), "abcd".index(b)) for a, b in pairs]
            wrong = np.array([sum(o.index(a) > o.index(b) for a, b in numbers) for o in every])
            chances = MISTAKES ** wrong[:, None] * (1 - MISTAKES) ** (len(pairs) - wrong[:, None])
            product = product * (weights @ chances) / weights.sum(axis=1)[:, None]
        total += product
    prior_of_theta = 4 * THETAS * np.exp(-2 * THETAS) * THETAS
    prior_of_mistakes = (1 - MISTAKES) ** 2
    prior_of_mistakes = prior_of_mistakes / np.trapezoid(prior_of_mistakes, MISTAKES)
    over_mistakes = np.trapezoid(total * prior_of_mistakes, MISTAKES, axis=1) / len(tiers)
    return np.log(np.trapezoid(over_mistakes * prior_of_theta, NODES))


def best_labels(data, sizes, distance="kendall"):
    return tw.fit(data, sizes, distance, rng=1).tiers.label_array(data.items).astype(np.int64)


@pytest.mark.parametrize("kind", ["below", "anywhere", "preferences"])
@pytest.mark.parametrize("distance", ["kendall", "hamming"])
@pytest.mark.parametrize("sizes", [(1, 3), (2, 2), (1, 2, 1), (1, 1, 1, 1)])
def test_all_tiers_and_completions_are_summed_over(kind, distance, sizes):
    data = data_of(kind)
    found = find_log_evidence(
        source_of(data, distance),
        partition_function(sizes, distance),
        tw.Gamma(3, 1),
        best_labels(data, sizes, distance),
        np.random.default_rng(0),
    )
    assert found.exact
    assert found == pytest.approx(naive_log_evidence(kind, sizes, distance, 3.0, 1.0), abs=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["below", "anywhere", "preferences"])
@pytest.mark.parametrize("sizes", [(2, 1, 1), pytest.param((1, 3), marks=pytest.mark.slow)])
def test_an_estimate_is_as_good_as_it_says(kind, sizes):
    data = data_of(kind)
    found = estimate_log_evidence(
        source_of(data, "kendall"),
        partition_function(sizes),
        tw.Gamma(2, 2),
        best_labels(data, sizes),
        np.random.default_rng(5),
    )
    assert 0 < found.standard_error < 0.2
    # Twenty batches: a correct program is this far off once in a million times.
    assert abs(found - naive_log_evidence(kind, sizes)) < 7 * found.standard_error


@pytest.mark.thorough
@pytest.mark.parametrize("sizes", [pytest.param((1, 3), marks=pytest.mark.slow), (2, 1, 1)])
def test_mistaken_answers_have_an_evidence(sizes):
    votes = tw.Preferences(VOTES, items="abcd", cycles="keep")
    found = find_log_evidence(
        source_of(votes, "kendall"),
        partition_function(sizes),
        tw.Gamma(2, 2),
        best_labels(votes, sizes),
        np.random.default_rng(2),
    )
    assert not found.exact
    assert abs(found - naive_log_evidence_of_votes(sizes)) < 7 * found.standard_error + 1e-3


@pytest.mark.parametrize("kind", ["below", "anywhere", "preferences"])
def test_a_search_gives_probabilities_of_sizes(kind):
    found = tw.search(
        data_of(kind), criterion="evidence", progress="off", rng=1, distance="kendall"
    )
    expected = {sizes: np.exp(naive_log_evidence(kind, sizes)) for sizes in tw.compositions(4)}
    total = sum(expected.values())
    for sizes, weight in expected.items():
        assert found.probabilities[sizes] == pytest.approx(weight / total, abs=1e-5)


@pytest.mark.slow
def test_estimates_are_told():
    votes = tw.Preferences(VOTES, items="abcd", cycles="keep")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)
        found = tw.search(votes, criterion="evidence", progress="off", rng=1, distance="kendall")
    assert "±" in found.summary()
    errors = found.to_frame(backend="pyarrow").column("log_evidence_error").to_pylist()
    assert all(error > 0 for error, one in zip(errors, found.leaderboard, strict=True) if one.theta)
    assert found.doubtful


def test_many_answers_make_few_tiers_matter():
    model = tw.ClusteredMallows(tw.Tiers.from_sizes((2, 2, 4), range(8)), 0.6)
    places = model.sample(500, rng=3).places.copy()
    places[places >= 3] = -1
    best_three = tw.Rankings(tuple(range(8)), places, unranked="below")
    found = tw.search(
        best_three,
        criterion="evidence",
        method=tw.Greedy(start=(2, 2, 4)),
        progress="off",
        rng=1,
        distance="kendall",
    )
    assert found.best.sizes[:2] == (2, 2)
    assert all(one.log_evidence_error == 0 for one in found.leaderboard)
