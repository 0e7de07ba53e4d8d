"""Every way to sample gives the posterior that enumeration gives."""

import numpy as np
import pytest

import tierwise as tw
from tests.options import in_groups
from tests.posterior.small import (
    SIZES,
    small_rankings,
    small_reference,
    theta_p_value,
    tiers_p_value,
)
from tests.reference_posterior import PosteriorByEnumeration, hamming, tiers_of_sizes
from tierwise.model.priors import Gamma
from tierwise.posterior.run import sample_posterior

TINY = 1e-6
# What the enumeration is of: all sizes are equally probable beforehand.
ALL_SIZES = {"family": "mallows", "priors": tw.Priors(sizes="uniform")}
WAYS = {
    "exact": {"method": "exact"},
    "exact theta": {"method": "mcmc", "thin": 3},
    "integrated": {"theta_update": "integrated", "thin": 3},
    "exchange": {"theta_update": "exchange", "thin": 30, "draws": 250},
    "exchange, mcmc": {
        "theta_update": tw.Exchange(auxiliary="mcmc", steps=60),
        "thin": 30,
        "draws": 250,
    },
}


@pytest.fixture(scope="module")
def goals():
    return tw.load_political_goals()


@pytest.fixture(scope="module")
def goals_reference(goals):
    data = [
        (tuple(np.argsort(pattern).tolist()), int(weight))
        for pattern, weight in zip(goals.patterns, goals.pattern_weights, strict=True)
    ]
    return PosteriorByEnumeration(data, tiers_of_sizes((2, 2)))


# The exchange algorithm is the slowest: one of its kinds and data sets is enough for most runs.
_BUT_SLOW = [
    pytest.param(way, marks=pytest.mark.slow if way == "exchange, mcmc" else ()) for way in WAYS
]
_BUT_EXCHANGE = [
    pytest.param(way, marks=pytest.mark.slow if way.startswith("exchange") else ()) for way in WAYS
]


@pytest.mark.thorough
@pytest.mark.parametrize("way", _BUT_SLOW)
def test_posterior_is_that_of_enumeration(way):
    posterior = sample_posterior(
        small_rankings(), SIZES, rng=11, progress="off", **in_groups(WAYS[way])
    )
    reference = small_reference()
    assert tiers_p_value(posterior.labels - 1, reference) > TINY
    assert theta_p_value(posterior.thetas, reference) > TINY


@pytest.mark.parametrize("way", _BUT_EXCHANGE)
def test_posterior_of_political_goals_is_that_of_enumeration(goals, goals_reference, way):
    options = {**WAYS[way], "draws": 250}
    if way == "exchange, mcmc":
        options |= {
            "theta_update": tw.Exchange("mcmc", 20),
            "thin": 1,
            "draws": 100,
            "warmup": 100,
            "chains": 2,
        }
    with pytest.warns(tw.TierwiseWarning) if way == "exchange, mcmc" else _silence():
        posterior = sample_posterior(goals, (2, 2), rng=3, progress="off", **in_groups(options))
    assert tiers_p_value(posterior.labels - 1, goals_reference) > TINY
    if way == "exchange, mcmc":
        assert posterior.thetas.mean() == pytest.approx(0.5345, abs=0.02)
    else:
        assert theta_p_value(posterior.thetas, goals_reference) > TINY


@pytest.mark.thorough
@pytest.mark.parametrize(
    "options", [{"method": "exact"}, {"method": "mcmc", "thin": 4, "draws": 400}]
)
def test_posterior_over_all_sizes_is_that_of_enumeration(options):
    posterior = sample_posterior(
        small_rankings(), rng=5, progress="off", **ALL_SIZES, **in_groups(options)
    )
    reference = small_reference(None)
    assert tiers_p_value(posterior.labels - 1, reference) > TINY
    assert theta_p_value(posterior.thetas, reference) > TINY


@pytest.mark.slow
def test_hamming_over_all_sizes():
    posterior = sample_posterior(
        small_rankings(),
        distance="hamming",
        sampler=tw.Sampler(method="mcmc", thin=4),
        draws=400,
        rng=6,
        progress="off",
        **ALL_SIZES,
    )
    reference = small_reference(None, hamming)
    assert tiers_p_value(posterior.labels - 1, reference) > TINY
    assert theta_p_value(posterior.thetas, reference) > TINY


def test_exact_evidence_is_that_of_enumeration():
    posterior = sample_posterior(small_rankings(), SIZES, draws=1, chains=1, rng=1)
    reference = small_reference()
    weights = np.array(reference.log_weights)
    assert posterior.log_evidence == pytest.approx(np.logaddexp.reduce(weights), abs=1e-8)


def test_exact_probabilities_of_sizes_are_those_of_enumeration():
    posterior = sample_posterior(small_rankings(), draws=1, chains=1, rng=1, **ALL_SIZES)
    reference = small_reference(None)
    shares = posterior.sizes_probabilities()
    assert sum(shares.values()) == pytest.approx(1)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    for sizes, share in shares.items():
        wanted = reference.probability_of(
            lambda tiers, sizes=sizes: tuple(np.bincount(tiers)) == sizes
        )
        assert share == pytest.approx(wanted, rel=1e-7)


@pytest.mark.thorough
def test_priors_are_taken_into_account():
    rankings = small_rankings()
    for options in ({"method": "exact"}, {"method": "mcmc"}, {"theta_update": "integrated"}):
        loose, tight = (
            sample_posterior(
                rankings,
                SIZES,
                priors=tw.Priors(theta=prior),
                rng=1,
                progress="off",
                **in_groups(options),
            )
            for prior in (Gamma(2, 2), lambda theta: -((theta - 1.5) ** 2) / 0.002)
        )
        assert tight.thetas.mean() == pytest.approx(1.5, abs=0.1)
        assert loose.thetas.mean() < 1.0
    posteriors = (
        sample_posterior(rankings, family="mallows", priors=tw.Priors(sizes=prior), rng=1)
        for prior in ("sceptical", "penalised", "uniform")
    )
    numbers = [float(one.data["posterior"]["n_tiers"].mean()) for one in posteriors]
    assert numbers == sorted(set(numbers))


@pytest.mark.slow
def test_pseudo_posterior_is_that_of_quadrature():
    """Two items: the pseudo-likelihood is a choice between two labels."""
    rankings = tw.Rankings.from_orderings([["a", "b"]] * 6 + [["b", "a"]] * 2)
    posterior = sample_posterior(
        rankings,
        (1, 1),
        sampler=tw.Sampler(likelihood="pseudo", thin=8),
        draws=500,
        rng=1,
        progress="off",
    )
    thetas = np.linspace(1e-4, 12, 40_000)
    wrong = np.exp(-thetas) / (1 + np.exp(-thetas))
    right = 1 / (1 + np.exp(-thetas))
    prior = thetas * np.exp(-2 * thetas)
    with_a, with_b = prior * right**6 * wrong**2, prior * right**2 * wrong**6
    share_of_a = with_a.sum() / (with_a + with_b).sum()
    drawn = (posterior.labels[:, 0] == 1).mean()
    assert drawn == pytest.approx(share_of_a, abs=5 * (0.25 / 500) ** 0.5)
    mean = (thetas * (with_a + with_b)).sum() / (with_a + with_b).sum()
    assert posterior.thetas.mean() == pytest.approx(mean, abs=0.1)


@pytest.mark.thorough
def test_pseudo_posterior_of_political_goals(goals):
    with pytest.warns(tw.TierwiseWarning):
        posterior = sample_posterior(
            goals, (2, 2), sampler=tw.Sampler(likelihood="pseudo"), draws=200, rng=1, progress="off"
        )
    assert str(posterior.tiers()) == "order ~ prices > say ~ speech"
    assert posterior.tiers("consensus") == posterior.tiers()


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")
@pytest.mark.parametrize(
    "options", [{"method": "exact"}, {"method": "mcmc"}, {"theta_update": "integrated"}]
)
def test_draws_do_not_depend_on_the_number_of_workers(options):
    alone, together = (
        sample_posterior(
            small_rankings(), SIZES, chains=3, draws=200, workers=workers, rng=8, progress="off",
            **in_groups(options),
        )
        for workers in (1, 2)
    )  # fmt: skip
    assert alone.data["posterior"].equals(together.data["posterior"])


def test_seed_decides():
    first, again, other = (
        sample_posterior(small_rankings(), SIZES, draws=20, rng=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(first.thetas, again.thetas)
    assert not np.array_equal(first.thetas, other.thetas)


def test_chains_tell_how_far_they_are():
    reports = []
    sample_posterior(
        small_rankings(), SIZES, chains=2, draws=50, rng=1,
        progress=lambda what, done, total: reports.append((what, done, total)),
    )  # fmt: skip
    assert {what for what, _, _ in reports} == {"chain 1", "chain 2"}
    assert all(done <= total for _, done, total in reports)


def test_weights_and_counts_are_the_same_as_repeated_rankings():
    rows = [["a", "b", "c"], ["b", "a", "c"], ["a", "b", "c"]]
    plain = tw.Rankings.from_orderings(rows)
    weighted = tw.Rankings.from_orderings(rows[:2], weights=[2, 1])
    draws = [
        sample_posterior(data, sizes, draws=30, rng=1).thetas
        for data in (plain, weighted, tw.Counts.of(plain))
        for sizes in [(1, 2)]
    ]
    assert np.array_equal(draws[0], draws[1])
    assert np.array_equal(draws[0], draws[2])


def _silence():
    from contextlib import nullcontext

    return nullcontext()
