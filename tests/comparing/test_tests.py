"""Friedman, Nemenyi and Bayesian signed ranks against their definitions and published values."""

import numpy as np
import pytest

from tests import reference_comparing as reference
from tierwise.comparing.friedman import friedman_test, ranks_of
from tierwise.comparing.mean_ranks import mean_ranks, stretched_ranks
from tierwise.comparing.signed_ranks import shares_beyond, signed_ranks

# Demšar (2006), table 6: AUC of C4.5 and three variants on fourteen data sets.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_demsar_s_example_has_his_numbers():
    found = friedman_test(DEMSAR, 0.05)
    assert found.mean_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert found.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=2e-3)
    # At 0.10 his critical difference is 1.12, and C4.5 differs from both others it is compared to.
    assert friedman_test(DEMSAR, 0.10).critical_difference == pytest.approx(1.12, abs=5e-3)
    differ = friedman_test(DEMSAR, 0.10).differ
    assert differ[1, 0]
    assert differ[3, 0]
    assert int(differ.sum()) == 2


@pytest.mark.parametrize("seed", range(4))
def test_the_test_and_its_groups_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(np.linspace(1.5, 0, 6), 1.0, (9, 6))
    found = friedman_test(scores, 0.05)
    assert found.mean_ranks == pytest.approx(reference.mean_ranks(scores))
    assert found.statistic == pytest.approx(reference.friedman_statistic(scores))
    means, difference = found.mean_ranks, found.critical_difference
    assert {frozenset(one) for one in found.cliques} == reference.cliques(means, difference)
    apart = np.abs(means - means[:, None]) > difference
    assert np.array_equal(found.differ | found.differ.T, apart)
    assert np.array_equal(found.p_values < 0.05, apart)


def test_tables_with_gaps_are_tested_on_what_is_complete():
    gaps = np.vstack([DEMSAR, [[0.5, np.nan, 0.4, 0.3]]])
    found = friedman_test(gaps, 0.05)
    assert found.n_data_sets == 14
    assert found == friedman_test(DEMSAR, 0.05)
    assert friedman_test(gaps[-2:], 0.05) is None
    assert friedman_test(gaps[:, :2], 0.05) is None


def test_methods_that_are_tied_everywhere_do_not_differ():
    found = friedman_test(np.ones((5, 3)), 0.05)
    assert (found.statistic, found.p_value) == (0.0, 1.0)
    assert found.cliques == ((0, 1, 2),)


def test_ranks_are_stretched_over_gaps():
    scores = np.array([[5.0, 4, 3, 2, 1], [5, np.nan, 3, np.nan, 1]])
    assert stretched_ranks(scores)[1][[0, 2, 4]].tolist() == [1, 3, 5]
    assert ranks_of(scores)[1][[0, 2, 4]].tolist() == [1, 2, 3]
    found = mean_ranks(scores, 0.95, np.random.default_rng(1))
    assert found[:, 0].tolist() == [1, 2, 3, 4, 5]


def test_intervals_of_mean_ranks_are_those_of_resampled_data_sets():
    rng = np.random.default_rng(5)
    scores = rng.normal([1.0, 0.5, 0.0], 1.0, (40, 3))
    found = mean_ranks(scores, 0.9, np.random.default_rng(1))
    ranks = ranks_of(scores)
    again = [ranks[rng.integers(40, size=40)].mean(axis=0) for _ in range(4000)]
    low, high = np.quantile(again, [0.05, 0.95], axis=0)
    assert found[:, 0] == pytest.approx(ranks.mean(axis=0))
    assert found[:, 1] == pytest.approx(low, abs=0.03)
    assert found[:, 2] == pytest.approx(high, abs=0.03)


@pytest.mark.parametrize("rope", [0.0, 0.3])
def test_shares_of_pairs_beyond_the_margin_are_those_of_the_definition(rope):
    rng = np.random.default_rng(3)
    differences = np.round(rng.normal(0.2, 0.5, 7), 1)
    weights = rng.dirichlet(np.ones(7), size=5).T
    above, below = shares_beyond(differences, weights, rope)
    sums = differences + differences[:, None]
    for draw in range(5):
        products = np.outer(weights[:, draw], weights[:, draw])
        assert above[draw] == pytest.approx(products[sums > 2 * rope].sum())
        assert below[draw] == pytest.approx(products[sums < -2 * rope].sum())


@pytest.mark.parametrize("rope", [0.0, 0.25])
def test_signed_ranks_have_the_probabilities_of_the_definition(rope):
    rng = np.random.default_rng(7)
    differences = rng.normal(0.3, 0.6, 8)
    scores = np.column_stack([differences, np.zeros(8)])
    found = signed_ranks(scores, rope, np.random.default_rng(1), n_draws=4000)
    expected = reference.signed_ranks(differences, rope, np.random.default_rng(2), 1500)
    own = found.better[0, 1], found.equivalent[0, 1], found.better[1, 0]
    # Shares of 4,000 and of 1,500 draws differ by less than four standard errors of both.
    assert own == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 4000 + 0.25 / 1500))
    assert sum(own) == pytest.approx(1.0)


def test_a_pair_that_never_met_is_undecided():
    scores = np.array([[1.0, np.nan], [np.nan, 0.0]])
    found = signed_ranks(scores, 0.0, np.random.default_rng(1))
    assert found.equivalent[0, 1] == 1.0
