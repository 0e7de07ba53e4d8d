"""Tiers from battles: search, posterior and bootstrap, against enumeration."""

from itertools import permutations, product
from math import inf, log

import numpy as np
import pytest
from scipy.stats import chisquare

import tierwise as tw
from tests.small_battles import battles_of, fitted, simulated, some_wins, value_at
from tierwise.inversions.comparisons import (
    best_tiers_of_sizes,
    log_integrated_likelihood,
    search_tiers_of_wins,
)
from tierwise.inversions.objective import tiers_prior
from tierwise.model.priors import Gamma, log_prior_of_sizes
from tierwise.tiers import log_number_of_tiers


def all_labels(n_items):
    """List all ordered partitions."""
    for labels in product(range(n_items), repeat=n_items):
        if set(labels) == set(range(max(labels) + 1)):
            yield np.array(labels)


def test_integrated_likelihood_is_an_integral():
    wins, labels = some_wins(4, 4), np.array([0, 1, 1, 2])
    prior = Gamma(2.0, 2.0)
    logs = np.linspace(log(1e-7), log(40), 3001)
    values = np.array([value_at(wins, labels, theta) for theta in np.exp(logs)])
    density = values + prior.log_density(np.exp(logs)) + logs
    wanted = np.logaddexp.reduce(density) + log(logs[1] - logs[0])
    found = log_integrated_likelihood(wins, labels, prior)
    assert found == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_search_finds_the_best_of_all_tiers(seed):
    wins = some_wins(4, 10 + seed, scale=12)
    prior = tiers_prior("penalised", 4)

    def criterion(labels):
        sizes = tuple(np.bincount(labels).tolist())
        likely = fitted(wins, labels).log_likelihood
        return likely - log_number_of_tiers(sizes) - len(sizes)

    best = max(map(criterion, all_labels(4)))
    found = search_tiers_of_wins(wins, np.random.default_rng(1), prior)
    assert criterion(found[0]) == pytest.approx(best, abs=1e-6)
    assert np.isfinite(log_integrated_likelihood(wins, found[0], Gamma(2.0, 2.0)))


@pytest.mark.parametrize("sizes", [(2, 3), (1, 2, 2), (1, 1, 1, 1, 1)])
def test_fit_finds_the_best_tiers_of_its_sizes(sizes):
    battles, _ = simulated(sizes, 0.8, 300, 5)
    wins = battles.wins

    def value(labels):
        return fitted(wins, labels).log_likelihood

    sorted_labels = np.repeat(np.arange(len(sizes)), sizes)
    best = max(value(np.array(one)) for one in set(permutations(sorted_labels.tolist())))
    labels = best_tiers_of_sizes(wins, sizes, np.random.default_rng(1))
    assert value(labels) == pytest.approx(best, abs=1e-6)
    fit = tw.fit(battles, sizes, rng=1)
    assert fit.log_likelihood == pytest.approx(best, abs=1e-6)
    assert fit.likelihood == "independent"
    assert "300 battles of 5 items" in fit.summary()


@pytest.mark.parametrize("n_battles", [pytest.param(100, marks=pytest.mark.slow), 100_000])
def test_integrated_likelihood_of_narrow_peaks(n_battles):
    battles, labels = simulated((3, 4, 3), 0.3, n_battles, 6)
    # As wide as the peak of few battles, and as fine as that of many.
    grid = np.linspace(1e-5, 2.0, 60_001) if n_battles < 1000 else np.linspace(0.05, 0.8, 5_001)
    values = np.array([value_at(battles.wins, labels, theta) for theta in grid])
    density = values + Gamma(2.0, 2.0).log_density(grid)
    wanted = np.logaddexp.reduce(density) + log(grid[1] - grid[0])
    found = log_integrated_likelihood(battles.wins, labels, Gamma(2.0, 2.0))
    assert found == pytest.approx(wanted, abs=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("prior_sizes", ["uniform", "sceptical"])
def test_posterior_is_the_exact_one(prior_sizes):
    wins = np.array([[0, 4, 6, 5], [2, 0, 3, 5], [1, 3, 0, 3], [1, 2, 3, 0]], dtype=float)
    prior = Gamma(2.0, 2.0)
    every = list(all_labels(4))
    logs = np.array(
        [
            log_integrated_likelihood(wins, labels, prior)
            - log_number_of_tiers(tuple(np.bincount(labels).tolist()))
            + log_prior_of_sizes(prior_sizes, tuple(np.bincount(labels).tolist()))
            for labels in every
        ]
    )
    exact = np.exp(logs - np.logaddexp.reduce(logs))
    posterior = tw.sample_posterior(
        battles_of(wins),
        family="mallows",
        priors=tw.Priors(sizes=prior_sizes),
        chains=2,
        draws=3000,
        sampler=tw.Sampler(thin=12),
        rng=3,
    )
    number_of = {tuple(labels.tolist()): number for number, labels in enumerate(every)}
    drawn = np.bincount(
        [number_of[tuple(row)] for row in (posterior.labels - 1).tolist()], minlength=len(every)
    )
    common = exact * len(posterior) >= 8
    observed = np.append(drawn[common], drawn[~common].sum())
    expected = np.append(exact[common], exact[~common].sum()) * len(posterior)
    assert chisquare(observed, expected).pvalue > 1e-4
    assert posterior.pairwise
    assert posterior.distance == "inversions"


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")  # so few draws do not settle
def test_the_same_seed_gives_the_same_draws():
    battles, _ = simulated((2, 3, 2), 0.4, 200, 1)
    one, other = (
        tw.sample_posterior(
            battles, chains=2, draws=20, sampler=tw.Sampler(warmup=20), rng=7
        ).labels
        for _ in range(2)
    )
    assert np.array_equal(one, other)
    assert str(tw.search(battles, rng=1).best.tiers) == str(tw.search(battles, rng=1).best.tiers)


def test_tiers_are_recovered():
    battles, labels = simulated((4, 6, 5, 5), 0.15, 40_000, 2)
    found = tw.search(battles, rng=1)
    assert found.best.sizes == (4, 6, 5, 5)
    assert np.array_equal(found.best.tiers.label_array(battles.items), labels)
    assert found.best.theta_estimate.interval[0] < 0.15 < found.best.theta_estimate.interval[1]
    assert found.best.criterion > max(one.criterion for one in found.best.references)
    assert "local search" in found.best.summary()


def test_noise_has_no_tiers():
    battles, _ = simulated((10,), 0.0, 2000, 3)
    assert tw.search(battles, rng=1).best.sizes == (10,)


def test_bootstrap_over_battles_and_judges():
    battles, _ = simulated((3, 3), 0.5, 3000, 4)
    fit = tw.fit(battles, (3, 3), rng=1)
    again = tw.bootstrap(battles, fit, replicates=20, rng=1)
    assert (again.labels == fit.tiers.label_array(fit.tiers.items) + 1).all()
    assert again.theta_interval()[0] < 0.5 < again.theta_interval()[1]
    judged = tw.Battles.from_rows([("x", "y", "x", "Ann")] * 3 + [("y", "x", "y", "Bob")])
    assert judged.composite
    fit = tw.fit(judged, (1, 1))
    assert fit.likelihood == "composite"
    thetas = tw.bootstrap(judged, fit, replicates=50, rng=1).thetas
    # Ann twice, or one of each: no loss at all, or what was seen; Bob twice is the other order.
    assert set(np.round(thetas, 3)) <= {inf, round(fit.theta, 3)}
    assert inf in thetas


def test_what_battles_do_not_have_is_refused():
    battles, _ = simulated((2, 2), 0.5, 50, 1)
    with pytest.raises(tw.InputError, match="inversions"):
        tw.fit(battles, (2, 2), "hamming")
    with pytest.raises(tw.InputError, match="all sizes"):
        tw.sample_posterior(battles, sizes=(2, 2))
    with pytest.raises(tw.InputError, match="one theta"):
        tw.sample_posterior(battles, concentration="tier")
    with pytest.raises(tw.InputError, match="these are battles"):
        tw.search(battles, concentration="tier")
    with pytest.raises(tw.InputError, match="these are battles"):
        tw.fit(battles, (2, 2), concentration="tier")
    with pytest.raises(tw.InputError, match="complete rankings"):
        tw.fit(battles, (2, 2), likelihood="pseudo")
    with pytest.raises(tw.InputError, match="theta_method"):
        tw.fit(battles, (2, 2), theta_method="monte-carlo")
    with pytest.raises(tw.InputError, match="criterion"):
        tw.search(battles, criterion="evidence")
    with pytest.raises(tw.InputError, match='"uniform", "penalised" or "sceptical"'):
        tw.sample_posterior(battles, priors=tw.Priors(sizes={(2, 2): 1.0}))
    with pytest.raises(tw.InputError, match="nonparametric"):
        tw.bootstrap(battles, tw.fit(battles, (2, 2)), kind="parametric")
    with pytest.raises(tw.InputError, match="cluster"):
        tw.bootstrap(battles, tw.fit(battles, (2, 2)), cluster="region")


def test_bootstrap_says_what_was_drawn():
    battles, _ = simulated((2, 2), 0.5, 50, 1)
    again = tw.bootstrap(battles, tw.fit(battles, (2, 2)), replicates=2, rng=1)
    assert again.resampled == "battles"
    assert "drawing battles" in again.summary()


@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")  # so few draws do not settle
def test_a_check_goes_by_the_fit_alone():
    battles, _ = simulated((2, 2), 0.5, 50, 1)
    posterior = tw.sample_posterior(
        battles, family="mallows", chains=1, draws=5, sampler=tw.Sampler(warmup=5), rng=1
    )
    with pytest.raises(tw.InputError, match="leave out posterior"):
        tw.check_fit(battles, tw.fit(battles, (2, 2)), posterior=posterior)


def test_fit_with_any_concentration_is_that_with_one_theta():
    battles, _ = simulated((2, 2), 0.5, 50, 1)
    found = tw.fit(battles, (2, 2), concentration="auto")
    assert found.concentration == "single"
    assert "tier cannot be used" in found.concentration_reason
    assert found.theta == tw.fit(battles, (2, 2)).theta


@pytest.mark.parametrize("n_tiers", [2, 3])
def test_search_of_so_many_tiers_compares_all_their_sizes(n_tiers):
    battles, _ = simulated((1, 2, 2), 0.7, 400, 3)
    found = tw.search(battles, n_tiers=n_tiers, criterion="likelihood", rng=1)
    labels_of = {n: [one for one in all_labels(5) if one.max() + 1 == n] for n in (2, 3)}
    best = max(
        fitted(battles.wins, labels).log_likelihood
        - log_number_of_tiers(tuple(np.bincount(labels).tolist()))
        for labels in labels_of[n_tiers]
    )
    assert found.best.criterion == pytest.approx(best, abs=1e-6)
    assert found.exhaustive
    assert len(found.best.sizes) == n_tiers


def test_greedy_and_exhaustive_search_agree_with_that_of_all_sizes():
    battles, _ = simulated((2, 2, 2), 0.5, 3000, 3)
    at_once = tw.search(battles, family="mallows", rng=1)
    assert at_once.method == "all sizes"
    assert not at_once.exhaustive
    for method in ("greedy", "exhaustive"):
        found = tw.search(battles, family="mallows", method=method, rng=1)
        assert found.best.tiers == at_once.best.tiers
        assert found.contenders[0].score == pytest.approx(at_once.contenders[0].score)


def test_the_strict_consensus_is_the_same_on_the_leaderboard_and_beside_the_fit():
    battles, _ = simulated((3, 4, 3), 0.2, 500, 8)
    found = tw.search(battles, rng=1)
    (strict,) = [one for one in found.leaderboard if len(one.sizes) == 10]
    (reference,) = [one for one in found.best.references if one.name == "strict consensus"]
    assert reference.tiers == strict.tiers
    assert reference.criterion == strict.criterion
