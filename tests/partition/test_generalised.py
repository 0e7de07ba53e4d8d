"""Partition functions with a theta for each part of the distance, against brute force."""

from functools import cache
from itertools import permutations
from math import lgamma

import numpy as np
import pytest
from scipy.stats import chisquare

from tests import reference
from tierwise.errors import InputError, TooLargeError
from tierwise.partition.choose import partition_function
from tierwise.partition.generalised import LineParts, RecursionParts
from tierwise.tiers import compositions

KINDS = [("kendall", "tier"), ("kendall", "place"), ("inversions", "tier"), ("inversions", "place")]


@cache
def orderings(sizes, name, concentration):
    """All orderings as sequences of labels, and the parts of their distances."""
    labels = reference.labels_of(sizes)
    n_parts = partition_function(sizes, name, concentration=concentration).n_parts
    rows, parts = [], []
    for ordering in permutations(range(sum(sizes))):
        rows.append([labels[item] for item in ordering])
        parts.append(reference.parts(ordering, labels, sizes, name, concentration, n_parts))
    return np.array(rows), np.array(parts).reshape(len(rows), n_parts)


def brute(sizes, name, concentration, thetas):
    rows, parts = orderings(sizes, name, concentration)
    weights = np.exp(-(parts @ thetas))
    total = weights.sum()
    shares = weights / total
    means = shares @ parts
    centred = parts - means
    return rows, shares, np.log(total), means, (shares[:, None] * centred).T @ centred


def kinds_of(sizes):
    for name, concentration in KINDS:
        if (name, concentration) != ("inversions", "place") or max(sizes) == 1:
            yield name, concentration


@pytest.mark.parametrize("n_items", [*range(1, 6), pytest.param(6, marks=pytest.mark.slow)])
def test_moments_and_tables_by_brute_force(n_items):
    rng = np.random.default_rng(n_items)
    for sizes in compositions(n_items):
        for name, concentration in kinds_of(sizes):
            psi = partition_function(sizes, name, concentration=concentration)
            for spread in (0.0, 1.0, 3.0):
                thetas = spread * rng.random(psi.n_parts)
                rows, shares, log_value, means, covariances = brute(
                    sizes, name, concentration, thetas
                )
                moments = psi.part_moments(thetas)
                assert moments.log_value == pytest.approx(log_value, rel=1e-11, abs=1e-12)
                np.testing.assert_allclose(moments.means, means, rtol=1e-10, atol=1e-11)
                np.testing.assert_allclose(moments.covariances, covariances, rtol=1e-9, atol=1e-10)
                by_place = np.array(
                    [
                        [shares[rows[:, p] == t].sum() for t in range(len(sizes))]
                        for p in range(n_items)
                    ]
                )
                blocks = psi.distance.blocks(sizes)
                starts = np.cumsum((0, *blocks[:-1]))
                np.testing.assert_allclose(
                    psi.expected_table(thetas), np.add.reduceat(by_place, starts), atol=1e-11
                )
                pairs = psi.pair_probabilities(thetas)
                if pairs is not None:
                    np.testing.assert_allclose(pairs, pair_shares(rows, shares, sizes), atol=1e-11)


def pair_shares(rows, shares, sizes):
    """Probability that an item of one tier precedes one of another, from all orderings."""
    n_tiers = len(sizes)
    found = np.full((n_tiers, n_tiers), 0.5)
    for better in range(n_tiers):
        for worse in range(n_tiers):
            if better != worse:
                before = [
                    sum(
                        (row[place + 1 :] == worse).sum() for place in np.flatnonzero(row == better)
                    )
                    for row in rows
                ]
                found[better, worse] = shares @ before / (sizes[better] * sizes[worse])
    return found


@pytest.mark.parametrize(
    "sizes",
    [(1, 2, 1), (2, 2), (1, 1, 1, 1), (2, 1, 1), (2, 1, 2), (1, 3, 1), (1, 2, 3), (2,) * 3, (3, 3)],
)
def test_draws_are_from_the_model(sizes):
    for seed, (name, concentration) in enumerate(kinds_of(sizes)):
        psi = partition_function(sizes, name, concentration=concentration)
        thetas = np.linspace(1.1, 0.2, psi.n_parts)
        rows, shares, *_ = brute(sizes, name, concentration, thetas)
        drawn = psi.draw_sequences(thetas, 20_000, np.random.default_rng(seed))
        radix = len(sizes) ** np.arange(sum(sizes))
        keys, inverse = np.unique(rows @ radix, return_inverse=True)
        expected = np.bincount(inverse, weights=shares)
        counts = np.array([(drawn @ radix == key).sum() for key in keys])
        assert counts.sum() == len(drawn)
        # Sequences that are drawn fewer than ten times are taken together.
        wanted = expected * len(drawn)
        rare = wanted < 10
        together = [np.append(one[~rare], one[rare].sum()) for one in (counts, wanted)]
        counts, wanted = together if rare.any() else (counts, wanted)
        assert chisquare(counts, wanted).pvalue > 1e-4


@pytest.mark.parametrize("sizes", [(1, 2, 1), (1, 1, 1), (2, 2, 1), (3,)])
def test_equal_thetas_are_one_theta(sizes):
    for name, concentration in kinds_of(sizes):
        psi = partition_function(sizes, name, concentration=concentration)
        single = partition_function(sizes, name)
        for theta in (0.0, 0.4, 2.0):
            moments = psi.part_moments(np.full(psi.n_parts, theta))
            assert moments.log_value == pytest.approx(float(single.log_value(theta)), rel=1e-11)
            assert moments.means.sum() == pytest.approx(float(single.mean(theta)), abs=1e-10)
            assert moments.covariances.sum() == pytest.approx(
                float(single.variance(theta)), abs=1e-9
            )


@pytest.mark.parametrize("sizes", [(1, 2, 1), (1, 1, 1), (2, 2)])
def test_infinite_thetas_leave_the_tiers(sizes):
    for name, concentration in kinds_of(sizes):
        psi = partition_function(sizes, name, concentration=concentration)
        thetas = np.full(psi.n_parts, np.inf)
        expected = sum(lgamma(size + 1) for size in sizes)
        assert psi.log_value(thetas) == pytest.approx(expected)
        drawn = psi.draw_sequences(thetas, 5, np.random.default_rng(1))
        np.testing.assert_array_equal(drawn, np.tile(np.repeat(range(len(sizes)), sizes), (5, 1)))


def test_the_strict_model_by_place_is_that_of_fligner_and_verducci():
    thetas = np.array([1.0, 0.5, 0.2])
    expected = sum(
        np.log(sum(np.exp(-theta * passed) for passed in range(4 - place)))
        for place, theta in enumerate(thetas)
    )
    assert partition_function((1,) * 4, "kendall", concentration="place").log_value(
        thetas
    ) == pytest.approx(expected)


def test_parts_of_data_are_those_of_brute_force():
    rng = np.random.default_rng(5)
    for sizes in compositions(5):
        for name, concentration in kinds_of(sizes):
            psi = partition_function(sizes, name, concentration=concentration)
            labels = np.array(reference.labels_of(sizes))
            ordering = rng.permutation(5)
            block = psi.distance.block_of_place(sizes)
            blocks = block[np.argsort(ordering)][None, :]
            expected = reference.parts(
                tuple(ordering), list(labels), sizes, name, concentration, psi.n_parts
            )
            np.testing.assert_array_equal(psi.part_distances(blocks, labels)[0], expected)


def test_methods_and_refusals():
    assert isinstance(partition_function((2, 3), "inversions", concentration="tier"), LineParts)
    assert isinstance(partition_function((2, 3), "kendall", concentration="tier"), RecursionParts)
    with pytest.raises(InputError, match="tiers of one item each"):
        partition_function((2, 3), "inversions", concentration="place")
    with pytest.raises(InputError, match="not hamming"):
        partition_function((2, 3), "hamming", concentration="tier")
    with pytest.raises(InputError, match="2 thetas, one for each tier but the last"):
        partition_function((2, 3, 1), "kendall", concentration="tier").log_value([1.0, 2.0, 0.5])
    with pytest.raises(InputError, match="2 thetas, one for each tier;"):
        partition_function((1, 2), "kendall", concentration="tier").log_value([1.0])
    with pytest.raises(InputError, match="0 or more"):
        partition_function((2, 3), "kendall", concentration="place").log_value([-1.0])
    with pytest.raises(TooLargeError):
        partition_function((5,) * 12, "kendall", concentration="tier")


def test_one_theta_is_one_part():
    psi = partition_function((2, 1, 2), "hamming")
    moments = psi.part_moments(np.array([0.7]))
    assert psi.n_parts == len(moments.means) == 1
    assert moments.log_value == psi.log_value(0.7)
    assert moments.means[0] == psi.mean(0.7)
    assert moments.covariances[0, 0] == psi.variance(0.7)
    with pytest.raises(InputError, match="a number, 0 or more"):
        psi.part_moments((0.7, 0.8))


def test_a_method_is_not_chosen_with_several_thetas():
    with pytest.raises(InputError, match="the method follows from the sizes"):
        partition_function((2, 1), concentration="tier", method="recursion")
