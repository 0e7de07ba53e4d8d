"""Simulation-based calibration: over data from the prior, theta has every rank equally often."""

import warnings

import numpy as np
import pytest

from tests.options import in_groups
from tierwise import Tiers, TierwiseWarning
from tierwise.model.clustered_mallows import ClusteredMallows
from tierwise.model.priors import Priors
from tierwise.posterior.run import sample_posterior

N_SIMULATIONS = 400
N_DRAWS = 19
SIZES = (1, 2, 1)
WAYS = {
    "exact": {"method": "exact"},
    "exact theta": {"method": "mcmc", "warmup": 100, "thin": 5},
    "integrated": {"theta_update": "integrated", "warmup": 100, "thin": 5},
    "exchange": {"theta_update": "exchange", "warmup": 300, "thin": 30},
    "open sizes": {"method": "mcmc", "warmup": 60, "thin": 4},
}


def random_tiers(rng, sizes):
    if sizes is None:
        cuts = np.flatnonzero(rng.random(3) < 0.5) + 1
        sizes = tuple(np.diff([0, *cuts.tolist(), 4]).tolist())
    return Tiers.from_sizes(sizes, rng.permutation(4).tolist())


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_ranks_of_theta_and_of_distance_are_uniform(way):
    from scipy.stats import chisquare

    rng = np.random.default_rng(17)
    sizes = None if way == "open sizes" else SIZES
    # Open sizes are drawn from this prior.
    named = {"distance": "kendall", "priors": Priors(sizes="uniform")} if sizes is None else {}
    ranks = np.zeros((2, N_DRAWS + 1), dtype=np.int64)
    for simulation in range(N_SIMULATIONS):
        tiers, theta = random_tiers(rng, sizes), float(rng.gamma(2.0, 0.5))
        model = ClusteredMallows(tiers, theta)
        rankings = model.sample(20, rng).restrict(range(4))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TierwiseWarning)
            posterior = sample_posterior(
                rankings,
                sizes,
                chains=1,
                draws=N_DRAWS,
                rng=simulation,
                progress="off",
                **in_groups(WAYS[way]),
                **named,
            )
        ranks[0, int((posterior.thetas < theta).sum())] += 1
        # The total distance is a whole number: ties are broken at random.
        total = float(model.distances(rankings).sum())
        totals = posterior.data["posterior"]["total_distance"].to_numpy().ravel()
        smaller, equal = int((totals < total).sum()), int((totals == total).sum())
        ranks[1, smaller + int(rng.integers(equal + 1))] += 1
    for counts in ranks:
        # Ten classes of two ranks each.
        assert chisquare(counts.reshape(-1, 2).sum(axis=1)).pvalue > 1e-4
