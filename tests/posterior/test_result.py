"""What a posterior says about its draws."""

import json

import numpy as np
import pytest

import tierwise as tw
from tests.posterior.small import SIZES, small_rankings, small_reference
from tests.reference_posterior import all_tiers, disagreement, tiers_of_sizes
from tierwise import InputError
from tierwise.model.clustered_mallows import ClusteredMallows
from tierwise.posterior.estimates import least_disagreement
from tierwise.posterior.run import sample_posterior


@pytest.fixture(scope="module")
def posterior():
    return sample_posterior(small_rankings(), SIZES, draws=500, rng=1)


@pytest.fixture(scope="module")
def open_posterior():
    return sample_posterior(
        small_rankings(), family="mallows", priors=tw.Priors(sizes="uniform"), draws=500, rng=1
    )


def test_probabilities_are_shares_of_draws(open_posterior):
    labels = open_posterior.labels
    tier = open_posterior.tier_probabilities()
    sizes = open_posterior.tiers().sizes
    ends = np.cumsum(sizes)
    tied = open_posterior.co_tier_probabilities()
    above = open_posterior.above_probabilities()
    for item in range(4):
        for number, (size, end) in enumerate(zip(sizes, ends.tolist(), strict=True), start=1):
            # Of the ranks that an item may have in a draw, how many the tier takes up.
            shares = []
            for draw in labels.tolist():
                better = sum(label < draw[item] for label in draw)
                own = set(range(better + 1, better + draw.count(draw[item]) + 1))
                shares.append(len(own & set(range(end - size + 1, end + 1))) / len(own))
            assert float(tier.sel(item=item, tier=number)) == pytest.approx(np.mean(shares))
        for other in range(4):
            share = (labels[:, item] == labels[:, other]).mean()
            assert float(tied.sel(item=item, other=other)) == pytest.approx(share)
            share = (labels[:, item] < labels[:, other]).mean()
            assert float(above.sel(item=item, other=other)) == pytest.approx(share)
    np.testing.assert_allclose(tier.sum("tier"), 1)


def test_probabilities_are_near_the_exact_ones(posterior):
    reference = small_reference()
    top = [reference.probability_of(lambda tiers, item=item: tiers[item] == 0) for item in range(4)]
    np.testing.assert_allclose(posterior.tier_probabilities().sel(tier=1), top, atol=0.06)


def test_map_has_the_least_distance_or_the_highest_posterior(posterior, open_posterior):
    reference = small_reference()
    best = reference.tiers[int(np.argmin(reference.totals))]
    assert tuple(label - 1 for label in posterior.tiers().labels) in {
        tiers
        for tiers, total in zip(reference.tiers, reference.totals, strict=True)
        if total == min(reference.totals)
    }
    assert sum(best) == 4
    every = small_reference(None)
    wanted = every.tiers[int(np.argmax(every.probabilities))]
    assert tuple(label - 1 for label in open_posterior.tiers().labels) == wanted


@pytest.mark.parametrize("seed", range(12))
def test_consensus_of_draws_is_that_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    every = list(all_tiers(4))
    drawn = np.array([every[place] for place in rng.choice(len(every), 9)])
    _, least = least_disagreement(drawn, None)
    sums = [sum(disagreement(tiers, draw) for draw in drawn.tolist()) / 9 for tiers in every]
    assert least == pytest.approx(min(sums), abs=1e-9)
    same_sizes = tiers_of_sizes((1, 2, 1))
    drawn = np.array([same_sizes[place] for place in rng.choice(len(same_sizes), 9)])
    labels, least = least_disagreement(drawn, (1, 2, 1))
    sums = [sum(disagreement(tiers, draw) for draw in drawn.tolist()) / 9 for tiers in same_sizes]
    assert least == pytest.approx(min(sums))
    assert np.bincount(labels).tolist() == [1, 2, 1]


def test_kind_of_point_estimate_must_be_known(posterior):
    assert posterior.tiers("consensus").sizes == SIZES
    with pytest.raises(InputError, match="kind"):
        posterior.tiers("mean")


def test_theta_interval_is_made_of_quantiles(posterior):
    low, high = posterior.theta_interval(0.8)
    assert (posterior.thetas < low).mean() == pytest.approx(0.1, abs=0.001)
    assert (posterior.thetas > high).mean() == pytest.approx(0.1, abs=0.001)
    for level in (0, 1, -1, float("nan")):
        with pytest.raises(InputError, match="level"):
            posterior.theta_interval(level)


def test_bands_are_quantiles_of_probabilities(posterior):
    bands = posterior.rank_tier_bands(0.9)
    tiers = posterior.tiers()
    values = np.array(
        [
            np.asarray(ClusteredMallows(tiers, theta).rank_tier_probabilities())
            for theta in posterior.thetas[::4]
        ]
    )
    np.testing.assert_allclose(bands.mean, values.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(bands.low, np.quantile(values, 0.05, axis=0), atol=0.03)
    np.testing.assert_allclose(bands.high, np.quantile(values, 0.95, axis=0), atol=0.03)
    assert (posterior.rank_tier_bands(0.5).high <= bands.high + 1e-12).all()
    with pytest.raises(InputError, match="level"):
        posterior.rank_tier_bands(1.5)


def test_bands_with_open_sizes_are_those_of_the_best(open_posterior):
    bands = open_posterior.rank_tier_bands()
    assert bands.sizes == open_posterior.tiers().sizes
    assert bands.mean.shape == (4, len(bands.sizes))


@pytest.mark.slow
def test_shares_of_sizes_come_from_draws_of_chains():
    all_sizes = {"family": "mallows", "priors": tw.Priors(sizes="uniform")}
    posterior = sample_posterior(
        small_rankings(), sampler=tw.Sampler(method="mcmc", thin=3), draws=400, rng=2, **all_sizes
    )
    shares = posterior.sizes_probabilities()
    assert sum(shares.values()) == pytest.approx(1)
    exact = sample_posterior(small_rankings(), draws=1, **all_sizes).sizes_probabilities()
    for sizes, share in exact.items():
        assert shares.get(sizes, 0) == pytest.approx(share, abs=0.05)
    given = sample_posterior(small_rankings(), SIZES, draws=10)
    assert given.sizes_probabilities() == {SIZES: 1.0}


def test_summary_and_plain_values(posterior, open_posterior):
    for result in (posterior, open_posterior):
        text = result.summary()
        assert "most probable tiers" in text
        assert "independent draws" in text
        plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert plain["distance"] == "kendall"
        assert plain["tiers"] == [list(tier) for tier in result.tiers()]
        assert plain["provenance"]["seed"] == 1
    assert "sizes  " in open_posterior.summary()
    chains = sample_posterior(
        small_rankings(), SIZES, sampler=tw.Sampler(method="mcmc"), rng=1, progress="off"
    )
    assert "R-hat" in chains.summary()
    json.dumps(chains.to_dict(), allow_nan=False)


def test_plain_values_are_always_json(posterior):
    data = posterior.data.copy()
    facts = json.loads(data.attrs["tierwise"])
    data.attrs["tierwise"] = json.dumps(facts | {"log_evidence": float("-inf")})
    plain = json.loads(json.dumps(type(posterior)(data).to_dict(), allow_nan=False))
    assert plain["log_evidence"] is None
    one_draw = sample_posterior(small_rankings(), SIZES, draws=1, chains=1, rng=1)
    json.dumps(one_draw.to_dict(), allow_nan=False)


@pytest.mark.parametrize("kind", [np.zeros(2), ["map"], None])
def test_kind_must_be_a_word(posterior, kind):
    with pytest.raises(InputError, match="kind"):
        posterior.tiers(kind)


def test_repr_says_what_it_is(posterior, open_posterior):
    assert repr(posterior).startswith("Posterior(4 x 500 draws by exact, sizes (1, 2, 1), kendall")
    assert "4 items, sizes open" in repr(open_posterior)
    assert len(posterior) == 2000
    assert posterior.n_rankings == 7
    assert posterior.provenance.version == tw.__version__


def test_items_that_are_numpy_integers_stay_whole_numbers():
    rng = np.random.default_rng(1)
    orderings = np.array([rng.permutation(5) for _ in range(30)])
    rankings = tw.Rankings.from_order_array(orderings, np.arange(5))
    fit = tw.fit(rankings, (2, 3))
    sampled = tw.sample_posterior(rankings, distance="inversions", chains=2, draws=50, rng=1)
    assert sampled.items == tuple(range(5))
    assert sampled.data["posterior"]["item"].dtype == np.int64
    assert fit.to_dict()["tiers"] == [[int(item) for item in tier] for tier in fit.tiers]
    assert tw.impute(rankings, sampled).items == rankings.items
    shown = [text.get_text() for text in tw.plots.tier_list(fit, sampled).texts]
    assert {text[0] for text in shown if text.endswith("%")} == set("01234")


def test_thetas_of_tiers_are_there_if_no_draw_has_two_tiers():
    one = tw.Rankings.from_orderings([["a", "b", "c", "d"]])
    draws = [
        tw.sample_posterior(one, family="mallows", concentration="tier", chains=1, draws=2, rng=rng)
        for rng in range(8)
    ]
    single = [drawn for drawn in draws if drawn.labels.max() == 1]
    assert single
    assert all(np.isnan(drawn.thetas).all() for drawn in single)
    assert all(drawn.summary() for drawn in single)


def test_the_family_is_always_named(posterior, open_posterior):
    assert posterior.to_dict()["family"] == open_posterior.to_dict()["family"] == "mallows"
