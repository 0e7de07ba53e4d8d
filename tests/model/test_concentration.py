"""The model with a theta per tier or per place, against brute force."""

from itertools import permutations

import numpy as np
import pytest

import tierwise as tw
from tests import reference
from tierwise.errors import InputError, TooLargeError

KINDS = [
    ((1, 2, 1), "kendall", "tier", (0.9, 0.3)),
    ((1, 2, 1), "kendall", "place", (1.2, 0.3)),
    ((2, 2), "kendall", "tier", (0.7, 0.2)),
    ((1, 2, 1), "inversions", "tier", (0.9, 0.1)),
    ((1, 1, 1, 1), "kendall", "tier", (0.2, 1.0, 0.5)),
    ((1, 1, 1, 1), "kendall", "place", (1.0, 0.5, 0.1)),
    ((1, 1, 1, 1), "inversions", "place", (1.0, 0.5, 0.1)),
]


def model_of(sizes, name, concentration, thetas):
    return tw.ClusteredMallows(tw.Tiers.from_sizes(sizes, "abcd"), thetas, name, concentration)


def all_orderings():
    return tw.Rankings.from_orderings([list(row) for row in permutations("abcd")])


def weights_of(sizes, name, concentration, thetas):
    return np.array(
        [
            np.exp(
                -np.dot(
                    reference.parts(
                        row, reference.labels_of(sizes), sizes, name, concentration, len(thetas)
                    ),
                    thetas,
                )
            )
            for row in permutations(range(4))
        ]
    )


@pytest.mark.parametrize(("sizes", "name", "concentration", "thetas"), KINDS)
def test_probabilities_are_those_of_brute_force(sizes, name, concentration, thetas):
    model = model_of(sizes, name, concentration, thetas)
    weights = weights_of(sizes, name, concentration, thetas)
    logs = model.log_prob(all_orderings())
    np.testing.assert_allclose(np.exp(logs), weights / weights.sum(), rtol=1e-10)
    assert model.log_partition() == pytest.approx(np.log(weights.sum()))
    distances = model.distances(all_orderings())
    shares = weights / weights.sum()
    assert model.mean_distance() == pytest.approx(shares @ distances)
    variance = shares @ distances**2 - (shares @ distances) ** 2
    assert model.var_distance() == pytest.approx(variance)
    assert model.part_moments().means.sum() == pytest.approx(shares @ distances)


@pytest.mark.parametrize(("sizes", "name", "concentration", "thetas"), KINDS)
def test_lists_of_the_best_are_sums_over_their_completions(sizes, name, concentration, thetas):
    model = model_of(sizes, name, concentration, thetas)
    best = tw.Rankings.from_orderings([["b"], ["d", "a"]], items="abcd", unranked="below")
    rows = [list(row) for row in permutations("abcd")]
    probabilities = np.exp(model.log_prob(all_orderings()))
    expected = [
        sum(p for p, row in zip(probabilities, rows, strict=True) if row[: len(top)] == top)
        for top in (["b"], ["d", "a"])
    ]
    open_blocks = name == "kendall" and max(sizes) > 1
    if open_blocks:
        with pytest.raises(InputError, match="say which items lie in which tier-sized block"):
            model.log_prob(best)
    else:
        np.testing.assert_allclose(np.exp(model.log_prob(best)), expected, rtol=1e-10)


def test_known_blocks_are_enough():
    model = tw.ClusteredMallows(
        tw.Tiers([["a"], ["b"], ["c", "d"]]), (1.0, 0.4), concentration="place"
    )
    top = tw.Rankings.from_orderings([["b", "a"]], items="abcd", unranked="below")
    whole = tw.Rankings.from_orderings([["b", "a", "c", "d"], ["b", "a", "d", "c"]])
    expected = np.log(np.exp(model.log_prob(whole)).sum())
    assert model.log_prob(top)[0] == pytest.approx(expected)


def test_ties_by_tier_are_summed_over():
    model = tw.ClusteredMallows(tw.Tiers([["a"], ["b"], ["c"]]), (0.8, 0.3), "kendall", "tier")
    tied = tw.Rankings.from_ranks([[2, 1, 2]], items="abc", ties="allow")
    whole = tw.Rankings.from_orderings([["b", "a", "c"], ["b", "c", "a"]])
    expected = np.log(np.exp(model.log_prob(whole)).sum())
    assert model.log_prob(tied)[0] == pytest.approx(expected)


@pytest.mark.parametrize(("sizes", "name", "concentration", "thetas"), KINDS)
def test_tables_and_pairs_agree_with_draws(sizes, name, concentration, thetas):
    model = model_of(sizes, name, concentration, thetas)
    exact = model.rank_tier_probabilities()
    drawn = model.rank_tier_probabilities(method="monte-carlo", draws=20_000, rng=1)
    assert exact.exact
    assert not drawn.exact
    errors = np.maximum(drawn.standard_errors, 1e-3)
    assert (np.abs(exact.probabilities - drawn.probabilities) < 5 * errors).all()
    pairs = model.pair_probabilities()
    probabilities = np.exp(model.log_prob(all_orderings()))
    labels = reference.labels_of(sizes)
    rows = list(permutations(range(4)))
    for better in range(len(sizes)):
        for worse in range(better + 1, len(sizes)):
            a, b = labels.index(better), labels.index(worse)
            before = [row.index(a) < row.index(b) for row in rows]
            error = pairs.standard_errors[better, worse]
            assert pairs[better, worse] == pytest.approx(
                probabilities @ before, abs=5 * error + 1e-10
            )
            assert pairs[worse, better] == pytest.approx(1 - pairs[better, worse])
    assert pairs.exact == (concentration == "tier" and (name == "inversions" or max(sizes) == 1))


def test_pairs_with_one_theta():
    tiers = tw.Tiers([["a", "b"], ["c", "d"]])
    assert tw.ClusteredMallows(tiers, 0.5, "inversions").pair_probabilities().exact
    estimated = tw.ClusteredMallows(tiers, 0.5).pair_probabilities()
    assert estimated.method == "monte-carlo"
    assert 0 < estimated.standard_errors[0, 1] < 0.01
    strict = tw.ClusteredMallows(tw.Tiers([["a"], ["b"]]), 1.0).pair_probabilities()
    assert np.asarray(strict)[0, 1] == pytest.approx(1 / (1 + np.exp(-1)))


def test_equal_thetas_are_one_theta():
    tiers = tw.Tiers([["a"], ["b", "c"], ["d"]])
    rankings = all_orderings()
    single = tw.ClusteredMallows(tiers, 0.6).log_prob(rankings)
    for concentration in ("tier", "place"):
        several = tw.ClusteredMallows(tiers, (0.6, 0.6), "kendall", concentration)
        np.testing.assert_allclose(several.log_prob(rankings), single, rtol=1e-12)


def test_the_model_says_what_it_is_and_what_it_cannot():
    tiers = tw.Tiers([["a"], ["b"], ["c"]])
    model = tw.ClusteredMallows(tiers, [0.5, 1], concentration="place")
    assert model.theta == (0.5, 1.0)
    assert repr(model) == (
        "ClusteredMallows(a > b > c, theta=(0.5, 1.0), distance='kendall', concentration='place')"
    )
    assert model.sample(50, rng=1) == model.sample(50, rng=1)
    with pytest.raises(InputError, match="2 thetas, one for each block of places but the last"):
        tw.ClusteredMallows(tiers, 0.5, concentration="place")
    with pytest.raises(InputError, match="0 or more"):
        tw.ClusteredMallows(tiers, (0.5, float("nan")), concentration="tier")
    with pytest.raises(InputError, match="theta must be a number"):
        tw.ClusteredMallows(tiers, (0.5, 0.5))
    with pytest.raises(InputError, match="concentration must be"):
        tw.ClusteredMallows(tiers, 0.5, concentration="line")
    with pytest.raises(InputError, match="draws are exact"):
        model.sample(5, method="mcmc")
    with pytest.raises(InputError, match="needs a single theta"):
        model.sample_pseudo(5)
    with pytest.raises(InputError, match="pairwise answers"):
        model.log_prob(tw.Preferences.from_pairs([(1, "a", "b"), (1, "b", "c")]))
    wide = tw.Tiers.from_sizes((6,) * 12, range(72))
    with pytest.raises(TooLargeError):
        tw.ClusteredMallows(wide, (0.1,) * 12, concentration="tier")
