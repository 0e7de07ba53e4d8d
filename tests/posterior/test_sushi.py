"""The paper's posterior of the sushi rankings, and what others find."""

import numpy as np
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tests.options import in_groups
from tierwise.posterior.run import sample_posterior

SIZES = (1, 1, 1, 2, 3, 2)
TIERS = tw.Tiers(
    [
        ["fatty tuna"],
        ["tuna"],
        ["shrimp"],
        ["sea urchin", "salmon roe"],
        ["sea eel", "tuna roll", "squid"],
        ["egg", "cucumber roll"],
    ]
)


@pytest.fixture(scope="module")
def tohoku():
    return tw.load_sushi(shared_data("sushi"), region="Tohoku")


@pytest.mark.parametrize(
    "options", [{"method": "exact"}, {"method": "mcmc"}, {"theta_update": "integrated"}]
)
def test_posterior_of_tohoku_is_the_papers(tohoku, options):
    posterior = sample_posterior(tohoku, SIZES, rng=1, progress="off", **in_groups(options))
    assert posterior.tiers() == TIERS
    assert posterior.tiers("consensus") == TIERS
    low, high = posterior.theta_interval()
    assert low == pytest.approx(0.244, abs=0.003)
    assert high == pytest.approx(0.291, abs=0.003)
    bands = posterior.rank_tier_bands()
    assert bands.low[0, 0] == pytest.approx(0.240, abs=0.002)
    assert bands.high[0, 0] == pytest.approx(0.271, abs=0.002)
    # The paper's other example: a fifth of the chance for egg or cucumber roll.
    assert bands.high[0, 5] == pytest.approx(0.0595, abs=0.001)
    assert bands.low[0, 5] == pytest.approx(0.0447, abs=0.001)


@pytest.mark.slow
def test_chain_over_sizes_agrees_with_exact_evidence(tohoku):
    named = {"distance": "kendall", "priors": tw.Priors(sizes="uniform")}
    chain = sample_posterior(
        tohoku, sampler=tw.Sampler(method="mcmc"), draws=4000, rng=2, progress="off", **named
    )
    exact = sample_posterior(
        tohoku, sampler=tw.Sampler(method="exact"), draws=1, chains=1, rng=1, **named
    ).sizes_probabilities()
    assert next(iter(exact)) == (1, 1, 1, 2, 1, 2, 1, 1)
    shares = chain.sizes_probabilities()
    n_chains, n_draws = 4, 4000
    indicator_error = 0.0
    for sizes, probability in exact.items():
        if probability < 0.005:
            continue
        matches = chain._has_sizes(sizes).reshape(n_chains, n_draws).astype(float)
        from arviz_stats.base import array_stats

        error = float(array_stats.mcse(matches, chain_axis=0, draw_axis=1))
        indicator_error = max(indicator_error, error)
        assert abs(shares[sizes] - probability) < 5.5 * error
    assert indicator_error < 0.02


@pytest.mark.slow
def test_search_by_evidence_agrees(tohoku):
    exact = sample_posterior(
        tohoku,
        distance="kendall",
        sampler=tw.Sampler(method="exact"),
        priors=tw.Priors(sizes="uniform"),
        draws=1,
        chains=1,
        rng=1,
    ).sizes_probabilities()
    found = tw.search(
        tohoku, criterion="evidence", progress="off", distance="kendall"
    ).probabilities
    for sizes in list(exact)[:20]:
        assert found[sizes] == pytest.approx(exact[sizes], rel=1e-5)


@pytest.mark.thorough
def test_strict_consensus_of_all_is_that_of_bayesmallows():
    rankings = tw.load_sushi(shared_data("sushi"))
    posterior = sample_posterior(
        rankings,
        (1,) * 10,
        sampler=tw.Sampler(theta_update="integrated"),
        draws=2000,
        rng=1,
        progress="off",
    )
    # BayesMallows's alpha is the number of items times theta.
    assert 10 * posterior.thetas.mean() == pytest.approx(2.42, abs=0.004)
    assert 10 * posterior.thetas.std() == pytest.approx(0.0275, abs=0.0015)
    assert np.unique(posterior.labels, axis=0).shape[0] < 20
