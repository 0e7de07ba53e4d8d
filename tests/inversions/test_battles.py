"""Tiers from battles: likelihood, search, posterior and bootstrap, against enumeration."""

from itertools import permutations, product
from math import exp, inf, log

import numpy as np
import pytest
from scipy.stats import chisquare

import tierwise as tw
from tierwise.inversions.comparisons import (
    ThetaTable,
    TiersPriorNumbers,
    best_tiers_of_sizes,
    estimate_theta_of_wins,
    log_integrated_likelihood,
    log_likelihood_at_best,
    search_tiers_of_wins,
    win_probabilities,
)
from tierwise.model.priors import Gamma, log_prior_of_sizes
from tierwise.tiers.sizes import log_number_of_tiers


def probability_of_win(labels, theta, winner, loser):
    """Sum over all orderings of the probability of those that have one item before the other."""
    n_items = len(labels)
    total = won = 0.0
    for order in permutations(range(n_items)):
        inversions = sum(
            labels[order[later]] < labels[order[earlier]]
            for earlier in range(n_items)
            for later in range(earlier + 1, n_items)
        )
        weight = exp(-theta * inversions)
        total += weight
        won += weight * (order.index(winner) < order.index(loser))
    return won / total


def all_labels(n_items):
    """List all ordered partitions."""
    for labels in product(range(n_items), repeat=n_items):
        if set(labels) == set(range(max(labels) + 1)):
            yield np.array(labels)


def battles_of(wins):
    items = tuple("abcdefgh"[: len(wins)])
    return tw.Battles(items, np.asarray(wins, dtype=float), np.zeros((len(wins), len(wins))))


def some_wins(n_items, seed, scale=6):
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, scale, (n_items, n_items)).astype(float)
    np.fill_diagonal(wins, 0)
    return wins


def simulated(sizes, theta, n_battles, seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    n_items = len(labels)
    pairs = np.triu_indices(n_items, k=1)
    met = rng.multinomial(n_battles, np.full(len(pairs[0]), 1 / len(pairs[0])))
    shares = win_probabilities(sizes, theta)[labels[pairs[0]], labels[pairs[1]]]
    won = rng.binomial(met, shares)
    wins = np.zeros((n_items, n_items))
    wins[pairs] = won
    wins.T[pairs] = met - won
    items = tuple(f"m{number:03}" for number in range(n_items))
    return tw.Battles(items, wins, np.zeros_like(wins)), labels


@pytest.mark.parametrize("theta", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("labels", [(0, 1, 1, 2), (1, 0, 0, 1), (0, 1, 2, 3), (0, 0, 0, 0)])
def test_likelihood_is_that_of_all_orderings(labels, theta):
    wins = some_wins(4, 1)
    wanted = sum(
        wins[one, other] * log(probability_of_win(labels, theta, one, other))
        for one, other in permutations(range(4), 2)
    )
    found = log_likelihood_at_best(wins, np.array(labels), theta)
    assert found == pytest.approx(wanted, abs=1e-9)


def test_likelihood_of_five_items():
    labels, wins = (0, 1, 1, 1, 2), some_wins(5, 2)
    wanted = sum(
        wins[one, other] * log(probability_of_win(labels, 0.7, one, other))
        for one, other in permutations(range(5), 2)
    )
    assert log_likelihood_at_best(wins, np.array(labels), 0.7) == pytest.approx(wanted)


@pytest.mark.parametrize("theta", [1e-6, 0.049, 0.051, 8.0])
def test_win_probabilities_of_large_tiers_and_extreme_thetas(theta):
    sizes = (3, 40, 17)
    labels = np.repeat(np.arange(3), sizes)
    wins = np.zeros((60, 60))
    wins[0, 59], wins[59, 0] = 2.0, 1.0
    shares = win_probabilities(sizes, theta)
    wanted = 2 * np.log(shares[0, 2]) + np.log(max(shares[2, 0], 1e-300))
    found = log_likelihood_at_best(wins, labels, theta)
    if theta < 1:
        assert found == pytest.approx(wanted, rel=1e-7)
    else:  # the other formula has no digits left where a loss is so improbable
        assert found < -30


def test_theta_is_the_best_on_a_grid():
    wins, labels = some_wins(5, 3), np.array([0, 0, 1, 1, 2])
    wins[:2, 2:] += 4
    estimate = estimate_theta_of_wins(wins, labels)
    grid = np.linspace(1e-3, 3, 3000)
    values = [log_likelihood_at_best(wins, labels, theta) for theta in grid]
    assert estimate.value == pytest.approx(grid[int(np.argmax(values))], abs=2e-3)
    assert estimate.interval[0] < estimate.value < estimate.interval[1]


def test_theta_is_infinite_without_losses_and_0_against_the_tiers():
    wins = np.array([[0.0, 5.0], [0.0, 0.0]])
    up = estimate_theta_of_wins(wins, np.array([0, 1]))
    assert up.value == inf
    assert log_likelihood_at_best(wins, np.array([0, 1]), inf) == 0.0
    # Five wins in a row have a probability of 5% at this win probability.
    shares = win_probabilities((1, 1), up.interval[0])
    assert shares[0, 1] ** 5 == pytest.approx(0.05, rel=1e-3)
    assert estimate_theta_of_wins(wins, np.array([1, 0])).value == 0.0


def test_integrated_likelihood_is_an_integral():
    wins, labels = some_wins(4, 4), np.array([0, 1, 1, 2])
    prior = Gamma(2.0, 2.0)
    grid = np.linspace(1e-4, 15, 60_001)
    values = np.array([log_likelihood_at_best(wins, labels, theta) for theta in grid[::20]])
    density = values + prior.log_density(grid[::20])
    wanted = np.logaddexp.reduce(density) + log(20 * (grid[1] - grid[0]))
    found = log_integrated_likelihood(wins, labels, ThetaTable.of(prior))
    assert found == pytest.approx(wanted, abs=2e-3)


@pytest.mark.parametrize("seed", range(4))
def test_search_finds_the_best_of_all_tiers(seed):
    wins = some_wins(4, 10 + seed, scale=12)
    table, prior = ThetaTable.of(Gamma(2.0, 2.0)), TiersPriorNumbers.of("penalised", 4)

    def criterion(labels):
        sizes = tuple(np.bincount(labels).tolist())
        theta = estimate_theta_of_wins(wins, labels).value
        likely = log_likelihood_at_best(wins, labels, theta)
        return likely - log_number_of_tiers(sizes) - len(sizes)

    best = max(map(criterion, all_labels(4)))
    found = search_tiers_of_wins(wins, np.random.default_rng(1), prior)
    assert criterion(found[0]) == pytest.approx(best, abs=1e-6)
    assert np.isfinite(log_integrated_likelihood(wins, found[0], table))


@pytest.mark.parametrize("sizes", [(2, 3), (1, 2, 2), (1, 1, 1, 1, 1)])
def test_fit_finds_the_best_tiers_of_its_sizes(sizes):
    battles, _ = simulated(sizes, 0.8, 300, 5)
    wins = battles.wins

    def value(labels):
        theta = estimate_theta_of_wins(wins, labels).value
        return log_likelihood_at_best(wins, labels, theta)

    sorted_labels = np.repeat(np.arange(len(sizes)), sizes)
    best = max(value(np.array(one)) for one in set(permutations(sorted_labels.tolist())))
    labels = best_tiers_of_sizes(wins, sizes, np.random.default_rng(1))
    assert value(labels) == pytest.approx(best, abs=1e-6)
    fit = tw.fit(battles, sizes, rng=1)
    assert fit.log_likelihood == pytest.approx(best, abs=1e-6)
    assert fit.likelihood == "independent"
    assert "300 battles of 5 items" in fit.summary()


@pytest.mark.parametrize("n_battles", [100, 100_000])
def test_integrated_likelihood_of_narrow_peaks(n_battles):
    battles, labels = simulated((3, 4, 3), 0.3, n_battles, 6)
    grid = np.linspace(0.05, 0.8, 20_001)
    values = np.array([log_likelihood_at_best(battles.wins, labels, theta) for theta in grid])
    density = values + Gamma(2.0, 2.0).log_density(grid)
    wanted = np.logaddexp.reduce(density) + log(grid[1] - grid[0])
    found = log_integrated_likelihood(battles.wins, labels, ThetaTable.of(Gamma(2.0, 2.0)))
    assert found == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize("prior_sizes", ["uniform", "sceptical"])
def test_posterior_is_the_exact_one(prior_sizes):
    wins = np.array([[0, 4, 6, 5], [2, 0, 3, 5], [1, 3, 0, 3], [1, 2, 3, 0]], dtype=float)
    table = ThetaTable.of(Gamma(2.0, 2.0))
    every = list(all_labels(4))
    logs = np.array(
        [
            log_integrated_likelihood(wins, labels, table)
            - log_number_of_tiers(tuple(np.bincount(labels).tolist()))
            + log_prior_of_sizes(prior_sizes, tuple(np.bincount(labels).tolist()))
            for labels in every
        ]
    )
    exact = np.exp(logs - np.logaddexp.reduce(logs))
    posterior = tw.sample_posterior(
        battles_of(wins), prior_sizes=prior_sizes, chains=2, draws=3000, thin=12, rng=3
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


@pytest.mark.filterwarnings("ignore::tierwise.TierwiseWarning")  # so few draws do not settle
def test_the_same_seed_gives_the_same_draws():
    battles, _ = simulated((2, 3, 2), 0.4, 200, 1)
    one, other = (
        tw.sample_posterior(battles, chains=2, draws=20, warmup=20, rng=7).labels for _ in range(2)
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
    with pytest.raises(tw.InputError, match="among all sizes at once"):
        tw.search(battles, n_tiers=2)
    with pytest.raises(tw.InputError, match="criterion"):
        tw.search(battles, criterion="evidence")
    with pytest.raises(tw.InputError, match='"uniform", "penalised" or "sceptical"'):
        tw.sample_posterior(battles, prior_sizes={(2, 2): 1.0})
    with pytest.raises(tw.InputError, match="nonparametric"):
        tw.bootstrap(battles, tw.fit(battles, (2, 2)), kind="parametric")
