"""Input that cannot be used is refused with a remedy."""

import numpy as np
import pytest

import tierwise as tw
from tests.options import in_groups
from tests.posterior.small import SIZES, small_rankings
from tierwise import InputError, TooLargeError
from tierwise.posterior.moves import are_connected, relocate, split_or_merge
from tierwise.posterior.run import sample_posterior


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": (2, 3)}, "sum to 5"),
        ({"sizes": (0, 4)}, "at least one item"),
        ({"sizes": ()}, "empty"),
        ({"sizes": "ab"}, "whole numbers"),
        ({"chains": 0}, "chains"),
        ({"chains": 1.5}, "chains"),
        ({"draws": 0}, "draws"),
        ({"draws": -3}, "draws"),
        ({"thin": 0}, "thin"),
        ({"warmup": -1}, "warmup"),
        ({"method": "gibbs"}, "method"),
        ({"theta_update": "slice"}, "theta_update"),
        ({"method": np.array(["exact", "mcmc"])}, "method"),
        ({"theta_update": np.zeros(2)}, "theta_update"),
        ({"likelihood": np.zeros(2)}, "likelihood"),
        ({"completions": ["auto"]}, "completions"),
        ({"prior_sizes": np.zeros(2)}, "prior of sizes"),
        ({"prior_mistakes": (1, 3)}, "prior of mistakes"),
        ({"draws": 10**12}, "draws must be at most"),
        ({"draws": 10**9}, "GiB of memory"),
        ({"chains": 10**8}, "GiB of memory"),
        ({"likelihood": "none"}, "likelihood"),
        ({"distance": "cayley"}, "distance"),
        ({"prior_theta": lambda theta: np.nan * theta}, "prior of theta is not a density"),
        ({"prior_theta": lambda theta: np.full_like(theta, -np.inf)}, "-inf everywhere"),
        ({"prior_theta": 3}, "prior of theta"),
        ({"prior_sizes": "flat"}, "prior of sizes"),
        ({"sizes": None, "prior_sizes": lambda sizes: np.nan}, "prior of sizes"),
        ({"sizes": None, "prior_sizes": lambda sizes: -np.inf}, "prior of sizes"),
        ({"sizes": None, "prior_sizes": lambda sizes: -np.inf, "method": "mcmc"}, "prior is -inf"),
        ({"method": "exact", "theta_update": "exchange"}, "exact"),
        ({"method": "exact", "likelihood": "pseudo"}, "exact"),
        ({"sizes": None, "theta_update": "exchange"}, r"use sizes=\.\.\."),
        ({"sizes": None, "likelihood": "pseudo"}, r"use sizes=\.\.\."),
        ({"workers": 0}, "workers"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(InputError, match=message):
        sample_posterior(small_rankings(), **in_groups({"sizes": SIZES, "draws": 5} | options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"auxiliary": "none"}, "auxiliary"),
        ({"auxiliary": np.zeros(2)}, "auxiliary"),
        ({"steps": 0}, "steps"),
        ({"steps": 1.5}, "steps"),
    ],
)
def test_wrong_options_of_the_exchange_algorithm_are_named(options, message):
    with pytest.raises(InputError, match=message):
        tw.Exchange(**options)


@pytest.mark.parametrize("data", [[["a", "b"]], np.zeros((2, 2)), None, "file.csv"])
def test_what_is_no_data_is_refused(data):
    with pytest.raises(InputError, match="sample_posterior takes"):
        sample_posterior(data)


def test_exchange_needs_whole_rankings():
    rankings = tw.Rankings.from_orderings([["a", "b"], ["b", "a"]], weights=[1.5, 2])
    with pytest.raises(InputError, match="whole number"):
        sample_posterior(rankings, (1, 1), sampler=tw.Sampler(theta_update="exchange"))


def test_pseudo_needs_rankings_not_counts():
    counts = tw.Counts.of(small_rankings())
    with pytest.raises(InputError, match="pseudo"):
        sample_posterior(counts, SIZES, sampler=tw.Sampler(likelihood="pseudo"))


def test_too_many_tiers_for_exact_draws():
    rng = np.random.default_rng(1)
    rankings = tw.Rankings.from_order_array(
        rng.permuted(np.tile(np.arange(26), (5, 1)), axis=1), range(26)
    )
    with pytest.raises(TooLargeError, match="mcmc"):
        sample_posterior(rankings, sampler=tw.Sampler(method="exact"))
    with pytest.raises(TooLargeError, match="mcmc"):
        sample_posterior(rankings, (1,) * 26, sampler=tw.Sampler(method="exact"))


@pytest.mark.thorough
def test_fractional_weights_are_fine_without_auxiliary_rankings():
    rows, weights = [["a", "b"], ["b", "a"]], [1.5, 2]
    rankings = tw.Rankings.from_orderings(rows, weights=weights, weights_are="counts")
    for options in ({"method": "exact"}, {"method": "mcmc"}, {"theta_update": "integrated"}):
        posterior = sample_posterior(rankings, (1, 1), rng=1, progress="off", **in_groups(options))
        assert posterior.n_rankings == 3.5


@pytest.mark.thorough
def test_estimated_partition_function_is_told():
    rng = np.random.default_rng(1)
    rankings = tw.Rankings.from_order_array(
        rng.permuted(np.tile(np.arange(30), (60, 1)), axis=1), range(30)
    )
    with pytest.warns(tw.TierwiseWarning) as message:
        sample_posterior(
            rankings, (1,) * 30, "footrule", chains=1, draws=10, rng=1,
            sampler=tw.Sampler(method="mcmc", warmup=10),
            priors=tw.Priors(theta=tw.Gamma(50, 100)), progress="off",
        )  # fmt: skip
    assert any("is estimated" in str(warning.message) for warning in message)


def test_single_tier_leaves_theta_to_its_prior():
    for options in ({"method": "exact"}, {"method": "mcmc"}, {"theta_update": "integrated"}):
        posterior = sample_posterior(
            small_rankings(), (4,), rng=1, progress="off", **in_groups(options)
        )
        assert len(posterior.tiers()) == 1
        # Gamma(2, 2) has mean 1 and standard deviation 0.707.
        assert posterior.thetas.mean() == pytest.approx(1.0, abs=0.06)
        assert posterior.thetas.std() == pytest.approx(0.707, abs=0.06)


def test_a_chain_must_be_able_to_reach_all_sizes_of_the_prior():
    islands = {(4,): 1.0, (1, 1, 1, 1): 1.0}
    with pytest.raises(InputError, match="sizes that the prior allows"):
        sample_posterior(
            tw.load_political_goals(),
            sampler=tw.Sampler(method="mcmc"),
            priors=tw.Priors(sizes=islands),
        )
    exact = sample_posterior(tw.load_political_goals(), priors=tw.Priors(sizes=islands), rng=1)
    assert set(exact.sizes_probabilities()) <= set(islands)
    bridged = islands | {(2, 2): 1.0, (1, 3): 1.0, (1, 1, 2): 1.0}
    chain = sample_posterior(
        tw.load_political_goals(),
        sampler=tw.Sampler(method="mcmc"),
        priors=tw.Priors(sizes=bridged),
        draws=200,
        rng=1,
        progress="off",
    )
    assert set(chain.sizes_probabilities()) <= set(bridged)


def test_moves_between_sizes_are_those_that_chains_make():
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(3000):
        sizes = (2, 1, 1)
        labels = rng.permutation(np.repeat(np.arange(3), sizes))
        moved = relocate(labels, sizes, rng)
        seen.add(tuple(np.bincount(moved).tolist()))
        moved, _ = split_or_merge(labels, sizes, rng)
        seen.add(tuple(np.bincount(moved).tolist()))
    others = [sizes for sizes in tw.compositions(4) if sizes != (2, 1, 1)]
    for other in others:
        assert are_connected([(2, 1, 1), other]) == (other in seen)
