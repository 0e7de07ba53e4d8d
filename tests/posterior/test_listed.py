"""Independent draws where answers leave something open and all tiers are listed."""

import numpy as np
import pytest

import tierwise as tw
from tests.posterior.test_incomplete import (
    ROWS,
    SIZES,
    exact_posterior,
    exact_probabilities_of_sizes,
)

N_DRAWS = 4000


@pytest.mark.parametrize("unranked", ["below", "anywhere"])
def test_probabilities_of_sizes_are_those_of_brute_force(unranked):
    rankings = tw.Rankings.from_orderings(ROWS, items="abcd", unranked=unranked)
    posterior = tw.sample_posterior(
        rankings, distance="kendall", priors=tw.Priors(sizes="uniform"), draws=50, chains=1, rng=1
    )
    assert posterior.method == "exact"
    expected = exact_probabilities_of_sizes(unranked)
    found = posterior.sizes_probabilities()
    assert found == pytest.approx(expected, abs=1e-4)


def test_draws_of_given_sizes_are_those_of_brute_force():
    rankings = tw.Rankings.from_orderings(ROWS, items="abcd", unranked="anywhere")
    posterior = tw.sample_posterior(
        rankings, SIZES, "kendall", draws=N_DRAWS, chains=1, progress="off", rng=1
    )
    assert posterior.method == "exact"
    of_tiers, mean, spread = exact_posterior("anywhere", "kendall")
    errors = np.sqrt(of_tiers * (1.0 - of_tiers) / N_DRAWS)
    found = posterior.tier_probabilities().to_numpy()
    assert (np.abs(found - of_tiers) < 4.0 * errors + 1e-12).all()
    assert posterior.thetas.mean() == pytest.approx(mean, abs=4.0 * spread / N_DRAWS**0.5)
    assert posterior.thetas.std() == pytest.approx(spread, rel=0.1)


@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")
def test_a_chain_is_run_where_one_is_asked_for():
    rankings = tw.Rankings.from_orderings(ROWS, items="abcd", unranked="anywhere")
    drawn = tw.sample_posterior(
        rankings,
        distance="kendall",
        sampler=tw.Sampler(method="mcmc"),
        draws=20,
        chains=1,
        progress="off",
        rng=1,
    )
    assert drawn.method == "mcmc"
