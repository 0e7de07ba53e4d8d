"""The search over tiers of all sizes, against all ordered partitions."""

from itertools import permutations
from math import log

import numpy as np
import pytest

import tierwise as tw
from tests import reference_luce as reference
from tests.luce.small import KINDS, small
from tierwise.answers.races import races_of
from tierwise.luce.search import (
    Limits,
    TierSearch,
    _TiersOfCovariance,
    search_tiers,
    sizes_of,
    tiers_of_sizes,
)
from tierwise.tiers import log_number_of_tiers

# Tied and distinct worths, and noise.
WORTHS = {
    4: [(1, 1, 1, 1), (3, 1, 1, 1), (3, 3, 1, 1), (4, 2, 1, 0.5), (6, 2.5, 2.5, 0.8)],
    5: [(1, 1, 1, 1, 1), (4, 4, 1, 1, 1), (5, 3, 1.5, 1, 0.5), (4, 1.5, 1.5, 1.5, 0.5)],
    6: [(1,) * 6, (6, 2.5, 2.5, 1, 1, 0.4), (8, 4, 2, 1, 0.5, 0.25), (3, 3, 3, 1, 1, 1)],
}


NO_LIMITS = Limits()


def uniform(_sizes):
    return 0.0


def sceptical(sizes):
    """Half to a single tier, the rest over all other sizes."""
    n_items = sum(sizes)
    return log(0.5) if len(sizes) == 1 else log(0.5) - log(2 ** (n_items - 1) - 1)


def best_of_all(races, log_prior, limits=NO_LIMITS):
    """Evaluate all partitions; each is put into the order of its worths."""
    search = TierSearch(races, log_prior, limits)
    for labels in reference.ordered_partitions(races.n_items):
        if list(dict.fromkeys(labels)) == sorted(set(labels)):
            search.evaluate(np.array(labels))
    return next(found for found in search.ranked if limits.allow(found.worths))


@pytest.mark.parametrize("log_prior", [uniform, sceptical])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "n_items", [4, pytest.param(5, marks=pytest.mark.slow), pytest.param(6, marks=pytest.mark.slow)]
)
def test_the_best_of_all_tiers_is_found(n_items, kind, log_prior):
    for number, worths in enumerate(WORTHS[n_items]):
        for n_answers in (5, 15, 60):
            made = small(kind, worths, n_answers, seed=100 * number + n_answers)
            found = search_tiers(TierSearch(made.races, log_prior))
            best = best_of_all(made.races, log_prior)
            # Modes are found to a hundred-thousandth of their standard error.
            assert found[0].score == pytest.approx(best.score, abs=1e-4)
            scores = [one.score for one in found]
            assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=() if kind in ("complete", "ties and gaps") else pytest.mark.slow)
        for kind in KINDS
    ],
)
def test_the_best_tiers_by_quadrature_are_found_or_nearly(kind):
    # Laplace's approximation may prefer others: never by more than its own error.
    for seed, worths in enumerate(WORTHS[4]):
        made = small(kind, worths, 30, seed)
        prior = [0.5, *[0.5 / 7] * 3]
        partitions, _, scores = reference.posterior(made.likelihood, 4, prior, n_nodes=16)
        found = search_tiers(TierSearch(made.races, sceptical))[0]
        own = scores[partitions.index(tuple(found.labels.tolist()))]
        assert own > scores.max() - 0.4
        assert found.score == pytest.approx(own, abs=0.4)


def test_scores_are_evidence_and_prior_of_tiers():
    made = small("complete", (3, 3, 1, 1), 40, seed=1)
    found = search_tiers(TierSearch(made.races, sceptical))
    for one in found:
        expected = one.worths.log_evidence - log_number_of_tiers(one.sizes) + sceptical(one.sizes)
        assert one.score == pytest.approx(expected)
        assert (np.diff(one.worths.logs) <= 0).all()
        assert one.sizes == sizes_of(one.labels)
    kinds = {one.sizes for one in found}
    assert {(4,), (1, 1, 1, 1)} <= kinds
    assert len({one.labels.tobytes() for one in found}) == len(found)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("complete", marks=pytest.mark.slow),
        pytest.param("gaps", marks=pytest.mark.slow),
        "battles",
    ],
)
def test_limits_of_tiers(kind):
    made = small(kind, (8, 4, 2, 1, 0.5, 0.25), 60, seed=4)
    for limits in (Limits(most=2), Limits(fewest=3, most=4), Limits(fewest=2), Limits(margin=0.7)):
        found = search_tiers(TierSearch(made.races, uniform, limits))
        best = best_of_all(made.races, uniform, limits)
        allowed = [one for one in found if limits.allow(one.worths)]
        assert allowed[0].score == pytest.approx(best.score, abs=1e-4)
        for one in found:
            assert limits.allow(one.worths) or one.worths.n_tiers in (1, 6)
    assert Limits(margin=0.7).least_gap == pytest.approx(log(7 / 3))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [(1, 4), (2, 3), (1, 2, 2), (1, 1, 1, 1, 1)])
def test_tiers_of_given_sizes(kind, sizes):
    made = small(kind, (5, 3, 1.5, 1, 0.5), 30, seed=6)
    search = TierSearch(made.races, uniform)
    base = np.repeat(np.arange(len(sizes)), sizes)
    every = [search.evaluate(np.array(labels)) for labels in set(permutations(base.tolist()))]
    best = max((one for one in every if one.sizes == sizes), key=lambda one: one.score)
    found = tiers_of_sizes(made.races, sizes)
    assert found.sizes == sizes
    assert found.score == pytest.approx(best.score, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_an_answer_with_weight_three_is_three_answers(kind):
    made = small(kind, (6, 2.5, 2.5, 0.8), 10, seed=3)
    rows = made.data.to_orderings()
    once = tw.Rankings.from_orderings(rows, range(4), [3] * len(rows), unranked="anywhere")
    thrice = tw.Rankings.from_orderings(rows * 3, range(4), unranked="anywhere")
    one, other = (search_tiers(TierSearch(races_of(data), sceptical))[0] for data in (once, thrice))
    assert one.labels.tolist() == other.labels.tolist()
    assert one.score == pytest.approx(other.score, abs=1e-6)


def test_names_of_items_do_not_matter():
    made = small("ties and gaps", (6, 2.5, 2.5, 1, 1, 0.4), 40, seed=5)
    rows = made.data.to_orderings()
    turn = [3, 5, 0, 1, 4, 2]

    def renamed(row):
        return [[turn[i] for i in one] if isinstance(one, list) else turn[one] for one in row]

    other = tw.Rankings.from_orderings(
        [renamed(row) for row in rows], range(6), unranked="anywhere"
    )
    first = search_tiers(TierSearch(made.races, sceptical))[0]
    second = search_tiers(TierSearch(races_of(other), sceptical))[0]
    assert first.score == pytest.approx(second.score, abs=1e-4)
    assert second.labels[turn].tolist() == first.labels.tolist()


@pytest.mark.slow
def test_known_tiers_of_forty_items_are_found():
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(5), 8)
    orders = np.argsort(rng.exponential(size=(400, 40)) / np.exp(-truth), axis=1)
    races = races_of(tw.Rankings.from_order_array(orders, range(40)))
    found = search_tiers(TierSearch(races, sceptical))[0]
    at_truth = TierSearch(races, sceptical).evaluate(truth)
    assert found.score >= at_truth.score - 1e-4
    assert found.labels.tolist() == truth.tolist()


@pytest.mark.thorough
def test_covariance_of_joined_tiers_is_that_given_equal_worths():
    rng = np.random.default_rng(4)
    root = rng.normal(size=(200, 200))
    covariance = root @ root.T
    tiers = _TiersOfCovariance(covariance)
    expected = covariance.copy()
    # Many joins: they are taken from the matrix at once, and rows that are gone are taken out.
    for _ in range(199):
        gaps = np.diff(np.eye(len(expected)), axis=0)
        variances = np.einsum("ij,jk,ik->i", gaps, expected, gaps)
        assert tiers.variances_of_gaps() == pytest.approx(variances, rel=1e-6)
        at = int(rng.integers(len(variances)))
        with_gap = expected[at] - expected[at + 1]
        assert tiers.join(at, variances[at]) == pytest.approx(with_gap, rel=1e-6, abs=1e-6)
        expected -= np.outer(with_gap, with_gap) / variances[at]
        expected = np.delete(np.delete(expected, at + 1, axis=0), at + 1, axis=1)
