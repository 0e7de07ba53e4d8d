"""Exact partition functions against brute force, published values, limits and each other."""

from math import factorial, lgamma, log

import numpy as np
import pytest

from tests import reference
from tierwise.distances import get_distance
from tierwise.partition import recursion as recursion_module
from tierwise.partition import rook as rook_module
from tierwise.partition.choose import log_partition, partition_function
from tierwise.partition.interpolated import InterpolatedPartition, for_many_thetas
from tierwise.tiers import compositions

NAMES = sorted(reference.DISTANCES)
THETAS = (0.0, 1e-6, 0.3, 1.7, 6.0)


def methods_for(sizes, name):
    if name == "inversions":
        return ["auto", "lines"]
    methods = ["auto", "recursion"]
    if name == "hamming":
        methods.append("rook")
    if name == "kendall" and max(sizes) == 1:
        methods.append("closed")
    return methods


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_items", [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_brute_force_for_every_composition(name, n_items):
    for sizes in compositions(n_items):
        brute = reference.BruteForce(sizes, name)
        for method in methods_for(sizes, name):
            psi = partition_function(sizes, name, method=method)
            assert psi.exact
            for theta in THETAS:
                close = {"rel": 1e-10, "abs": 1e-14}
                assert psi.log_value(theta) == pytest.approx(brute.log_partition(theta), **close)
                assert psi.mean(theta) == pytest.approx(brute.mean(theta), **close)
                assert psi.variance(theta) == pytest.approx(brute.variance(theta), **close)
                blocks = get_distance(name).blocks(sizes)
                expected = np.array(brute.rank_tiers(theta)) * np.repeat(blocks, blocks)[:, None]
                table = np.repeat(psi.expected_table(theta), blocks, axis=0)
                np.testing.assert_allclose(table, expected, rtol=1e-10, atol=1e-15)
            distribution = psi.distribution()
            found = dict(zip(distribution.distances, distribution.counts, strict=True))
            assert found == brute.counts()
            for theta in THETAS:
                counts = brute.counts()
                expected = [
                    count * np.exp(-theta * distance - brute.log_partition(theta))
                    for distance, count in counts.items()
                ]
                np.testing.assert_allclose(distribution.probabilities(theta), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("sizes", "value"),
    [
        ((1, 1, 1, 2, 3, 2), 10.445639342627),
        ((1, 1, 1, 2, 3, 2, 15), 39.431728302830),
        ((3,) * 5, 17.894449969153),
        ((2,) * 10, 25.208762104731),
        ((4,) * 8, 43.643053577993),
    ],
)
def test_known_values(sizes, value):
    estimate = log_partition(sizes, 0.25)
    assert estimate == pytest.approx(value, abs=5e-12)
    assert estimate.method == "recursion"
    assert estimate.exact


@pytest.mark.parametrize("name", ["kendall", "inversions", "hamming", "footrule"])
@pytest.mark.parametrize("sizes", [(1, 2, 3), (1, 1, 1, 1), (4,), (2, 1, 4)])
def test_many_thetas_at_once(sizes, name):
    partition = partition_function(sizes, name)
    thetas = np.array([2.0, 0.0, 1e-9, 0.3, 40.0, np.inf])
    expected = [partition.log_value(theta) for theta in thetas]
    assert partition.log_values(thetas) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("sizes", "name"),
    [
        ((1, 1, 2, 3), "kendall"),
        ((2, 4, 1, 5), "kendall"),
        ((3, 1, 2), "footrule"),
        ((2, 2, 3), "spearman"),
        ((2, 3, 1), "hamming"),
    ],
)
def test_one_theta_at_a_time_agrees_with_all_at_once(sizes, name, monkeypatch):
    at_once = partition_function(sizes, name, method="recursion")
    expected = [at_once.moments(theta) for theta in THETAS]
    monkeypatch.setattr(recursion_module, "WIDEST_TABLE", 0)
    one_by_one = partition_function(sizes, name, method="recursion")
    for theta, moments in zip(THETAS, expected, strict=True):
        found = one_by_one.moments(theta)
        assert found.log_value == pytest.approx(moments.log_value, rel=1e-12)
        assert found.mean == pytest.approx(moments.mean, rel=1e-11)
        assert found.variance == pytest.approx(moments.variance, rel=1e-9)


@pytest.mark.parametrize("sizes", [(1,) * 7, (3, 4), (2, 1, 5, 1), (9,)])
def test_rook_in_logarithms_agrees_with_whole_numbers(sizes, monkeypatch):
    whole = partition_function(sizes, "hamming")
    expected = [whole.moments(theta) for theta in THETAS]
    monkeypatch.setattr(rook_module, "MOST_ITEMS_FOR_DISTRIBUTION", 0)
    logarithms = partition_function(sizes, "hamming", method="rook")
    for theta, moments in zip(THETAS, expected, strict=True):
        found = logarithms.moments(theta)
        assert found.log_value == pytest.approx(moments.log_value, rel=1e-11)
        assert found.mean == pytest.approx(moments.mean, rel=1e-9, abs=1e-11)
        assert found.variance == pytest.approx(moments.variance, rel=1e-8, abs=1e-11)


@pytest.mark.parametrize("name", ["footrule", "spearman"])
def test_two_tiers_are_hamming_in_other_units(name):
    psi = partition_function((3, 4), name)
    assert psi.method == "rook"
    slow = partition_function((3, 4), name, method="recursion")
    for theta in THETAS:
        assert psi.log_value(theta) == pytest.approx(slow.log_value(theta), rel=1e-12)
        assert psi.mean(theta) == pytest.approx(slow.mean(theta), rel=1e-10)
        np.testing.assert_allclose(psi.expected_table(theta), slow.expected_table(theta), rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_items", [12, 20])
def test_numbers_of_orderings_sum_to_all_of_them(name, n_items):
    for sizes in [(1,) * n_items, (4,) * (n_items // 4), (1, 2, n_items - 3), (n_items,)]:
        if name not in ("kendall", "inversions", "hamming") and len(sizes) == 20:
            continue
        distribution = partition_function(sizes, name).distribution()
        assert all(type(count) is int for count in distribution.counts)
        assert sum(distribution.counts) == factorial(n_items)
        assert (np.diff(distribution.distances) > 0).all()


@pytest.mark.thorough
def test_whole_numbers_beyond_what_floats_hold():
    sizes = (2,) * 8 + (1,) * 4
    assert factorial(20) // 2**8 > 2**53
    distribution = partition_function(sizes, "kendall").distribution()
    assert sum(distribution.counts) == factorial(20)
    assert distribution.counts[0] == 2**8


def test_logarithms_where_whole_numbers_are_out_of_reach():
    distribution = partition_function((8, 8, 8)).distribution()
    assert distribution.counts is None or sum(distribution.counts) == factorial(24)
    distribution = partition_function((6,) * 5).distribution()
    assert distribution.counts is None
    assert np.logaddexp.reduce(distribution.log_counts) == pytest.approx(lgamma(31), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (2, 3), (1, 4, 2), (6,)])
def test_limits_of_theta(name, sizes):
    for method in methods_for(sizes, name):
        psi = partition_function(sizes, name, method=method)
        n_items = sum(sizes)
        inside = sum(log(factorial(size)) for size in sizes)
        assert psi.log_value(0) == pytest.approx(lgamma(n_items + 1), rel=1e-13)
        for theta in (800.0, 1e6, 1e300, np.inf):
            assert psi.log_value(theta) == pytest.approx(inside, rel=1e-12, abs=1e-12)
            assert psi.mean(theta) == pytest.approx(0, abs=1e-12)
            assert psi.variance(theta) == pytest.approx(0, abs=1e-12)
        assert psi.distribution().probabilities(np.inf)[0] == 1


@pytest.mark.parametrize("name", NAMES)
def test_moments_are_derivatives(name):
    psi = partition_function((2, 1, 3, 2), name)
    step = 1e-4
    below, at, above = (psi.log_value(0.4 + shift) for shift in (-step, 0.0, step))
    assert (below - above) / (2 * step) == pytest.approx(psi.mean(0.4), rel=1e-5)
    assert (above - 2 * at + below) / step**2 == pytest.approx(psi.variance(0.4), rel=1e-4)


def test_many_items_strict_kendall():
    psi = partition_function((1,) * 1000)
    theta = 0.01
    q = np.exp(-theta)
    expected = sum(log((1 - q**number) / (1 - q)) for number in range(1, 1001))
    assert psi.method == "closed"
    assert psi.log_value(theta) == pytest.approx(expected, rel=1e-12)
    assert psi.mean(0.0) == pytest.approx(1000 * 999 / 4, rel=1e-12)
    table = partition_function((1,) * 100).expected_table(0.05)
    np.testing.assert_allclose(table.sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-12)


def test_many_items_hamming():
    psi = partition_function((100,) * 10, "hamming")
    assert psi.method == "rook"
    assert psi.log_value(0.0) == pytest.approx(lgamma(1001), rel=1e-13)
    assert psi.mean(0.0) == pytest.approx(900, rel=1e-12)
    step = 1e-4
    below, above = psi.log_value(2 - step), psi.log_value(2 + step)
    assert (below - above) / (2 * step) == pytest.approx(psi.mean(2.0), rel=1e-6)
    table = partition_function((20, 30, 50), "hamming").expected_table(1.0)
    np.testing.assert_allclose(table.sum(axis=0), [20, 30, 50], rtol=1e-11)


@pytest.mark.thorough
def test_thirteen_pairs():
    psi = partition_function((2,) * 13)
    assert psi.method == "recursion"
    assert psi.log_value(0.0) == pytest.approx(lgamma(27), rel=1e-12)


def test_strict_additive_distances_are_permanents():
    n_items, theta = 8, 0.2
    weights = np.exp(-theta * np.abs(np.subtract.outer(range(n_items), range(n_items))))
    # Ryser's formula.
    total = 0.0
    for subset in range(1, 2**n_items):
        columns = [column for column in range(n_items) if subset >> column & 1]
        total += (-1) ** (n_items - len(columns)) * np.prod(weights[:, columns].sum(axis=1))
    assert log_partition((1,) * n_items, theta, "footrule") == pytest.approx(log(total), rel=1e-11)


def test_every_argument_changes_something():
    base = log_partition((2, 2, 1), 0.5, "kendall")
    assert log_partition((2, 1, 2), 0.6, "kendall") != base
    assert log_partition((1, 2, 2), 0.5, "kendall") != log_partition((1, 1, 3), 0.5, "kendall")
    assert log_partition((2, 2, 1), 0.5, "hamming") != base
    assert log_partition((2, 2, 1), 0.5, get_distance("kendall")) == base
    assert log_partition((2, 2, 1), 0.5, method="path", rng=1).method == "path"
    assert log_partition((2, 2, 1), 0.5, budget=1, rng=1).method == "anchored"


@pytest.mark.parametrize("sizes", [(2,) * 7, (1, 3, 2, 4, 1), (5, 5, 5), (1,) * 8])
@pytest.mark.parametrize("distance", ["kendall", "footrule"])
def test_interpolation_between_thetas(sizes, distance):
    exact = partition_function(sizes, distance, method="recursion")
    between = InterpolatedPartition(exact)
    assert between.exact
    assert between.method == "recursion"
    for theta in (0.0, 1e-4, 0.01, 0.1, 0.2718, 0.8, 2.0, 9.0, 50.0):
        here, there = exact.moments(theta), between.moments(theta)
        assert there.log_value == pytest.approx(float(here.log_value), abs=1e-8)
        assert there.mean == pytest.approx(float(here.mean), abs=1e-6)
        assert there.variance == pytest.approx(float(here.variance), abs=1e-4)


@pytest.mark.thorough
def test_only_what_is_slow_is_interpolated():
    quick = partition_function((2, 3))
    assert for_many_thetas(quick) is quick
    slow = partition_function((2,) * 13)
    assert isinstance(for_many_thetas(slow), InterpolatedPartition)
