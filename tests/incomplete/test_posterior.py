import warnings
from itertools import permutations
from math import lgamma

import numpy as np
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tests.reference import DISTANCES as NAIVE_DISTANCES
from tests.reference_incomplete import completions, pairs_of_groups
from tierwise import InputError
from tierwise.incomplete import answers as answers_module

ROWS = [["a"], ["b", "a"], ["a", "c"], ["a", "b"], ["c", "a"], ["a", "d"]]
SIZES = (1, 1, 2)


def exact_posterior(unranked, distance):
    """Probability that each item is of each tier, and mean and sd of theta, by brute force."""
    thetas = np.linspace(0.005, 6, 1200)
    log_prior = np.log(thetas) - 2 * thetas
    densities = {}
    for labels in set(permutations(np.repeat(np.arange(3), SIZES).tolist())):
        distance_of = {
            ordering: NAIVE_DISTANCES[distance](ordering, labels, SIZES)
            for ordering in permutations(range(4))
        }

        def log_sum(orderings, distance_of=distance_of):
            distances = np.array([distance_of[ordering] for ordering in orderings])
            return np.log(np.exp(-np.outer(thetas, distances)).sum(axis=1))

        logs = log_prior - len(ROWS) * log_sum(distance_of)
        for row in ROWS:
            groups = [["abcd".index(item)] for item in row]
            if unranked == "below":
                groups.append([item for item in range(4) if "abcd"[item] not in row])
            logs = logs + log_sum(completions(pairs_of_groups(groups), 4))
        densities[labels] = np.exp(logs)
    total = sum(density.sum() for density in densities.values())
    of_tiers = np.zeros((4, 3))
    for labels, density in densities.items():
        for item, label in enumerate(labels):
            of_tiers[item, label] += density.sum() / total
    of_theta = sum(densities.values()) / total
    mean = of_theta @ thetas
    return of_tiers, mean, np.sqrt(of_theta @ (thetas - mean) ** 2)


def exact_probabilities_of_sizes(unranked):
    """Posterior over all sizes by brute force, all equally probable beforehand."""
    thetas = np.linspace(0.005, 8, 800)
    log_prior = np.log(thetas) - 2 * thetas
    orders = []
    for row in ROWS:
        groups = [["abcd".index(item)] for item in row]
        if unranked == "below":
            groups.append([item for item in range(4) if "abcd"[item] not in row])
        orders.append(list(completions(pairs_of_groups(groups), 4)))
    weights = {}
    for sizes in tw.compositions(4):
        every = set(permutations(np.repeat(np.arange(len(sizes)), sizes).tolist()))
        weights[sizes] = 0.0
        for labels in every:
            distance_of = {
                ordering: NAIVE_DISTANCES["kendall"](ordering, labels, sizes)
                for ordering in permutations(range(4))
            }

            def log_sum(orderings, distance_of=distance_of):
                distances = np.array([distance_of[ordering] for ordering in orderings])
                return np.log(np.exp(-np.outer(thetas, distances)).sum(axis=1))

            logs = log_prior - len(ROWS) * log_sum(distance_of)
            logs = logs + sum(log_sum(orderings) for orderings in orders)
            weights[sizes] += np.exp(logs).sum() / len(every)
    total = sum(weights.values())
    return {sizes: weight / total for sizes, weight in weights.items()}


@pytest.mark.parametrize("unranked", ["below", "anywhere"])
@pytest.mark.parametrize("how", ["summed", "drawn"])
def test_chains_draw_from_the_posterior(unranked, how, monkeypatch):
    if how == "drawn":
        monkeypatch.setattr(answers_module, "MOST_COMPLETIONS", 0.5)
        monkeypatch.setattr(answers_module, "is_affordable", lambda sizes: False)
        monkeypatch.setattr(
            answers_module, "can_be_interleaved", lambda first, *_: first[:, 0] > 99
        )
    rankings = tw.Rankings.from_orderings(ROWS, items="abcd", unranked=unranked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)
        posterior = tw.sample_posterior(rankings, SIZES, draws=1000, rng=1, progress="off")
    of_tiers, mean, deviation = exact_posterior(unranked, "kendall")
    # Draws are worth a tenth of independent ones at least; five standard errors.
    reach = 5 / np.sqrt(4000 / 10)
    assert np.abs(posterior.tier_probabilities() - of_tiers).max() < reach / 2
    assert abs(posterior.thetas.mean() - mean) < reach * deviation
    assert posterior.thetas.std() == pytest.approx(deviation, rel=0.2)


@pytest.mark.parametrize("unranked", ["below", "anywhere"])
def test_sizes_may_be_unknown(unranked):
    rankings = tw.Rankings.from_orderings(ROWS, items="abcd", unranked=unranked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)
        posterior = tw.sample_posterior(rankings, draws=1500, rng=1, progress="off")
    expected = exact_probabilities_of_sizes(unranked)
    found = posterior.sizes_probabilities()
    assert sum(expected.values()) == pytest.approx(1)
    # Draws are worth a tenth of independent ones at least; five standard errors.
    for sizes, probability in expected.items():
        error = np.sqrt(probability * (1 - probability) / (6000 / 10))
        assert abs(found.get(sizes, 0.0) - probability) < 5 * error + 1e-3


def test_preferences_have_a_posterior():
    preferences = tw.Preferences.from_pairs(
        [(person, "a", other) for person in range(10) for other in "bc"], items="abc"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)
        posterior = tw.sample_posterior(preferences, (1, 2), draws=200, rng=1, progress="off")
    assert posterior.tiers() == tw.Tiers([["a"], ["b", "c"]])


def test_the_same_seed_gives_the_same_draws_and_checkpoints_resume(tmp_path):
    rankings = tw.Rankings.from_orderings(ROWS, items="abcd", unranked="below")
    options = {"sizes": SIZES, "chains": 2, "draws": 20, "warmup": 10, "rng": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)
        one = tw.sample_posterior(rankings, progress="off", **options)
        kept = tw.sample_posterior(rankings, progress="off", checkpoint=tmp_path / "run", **options)
        other = tw.sample_posterior(rankings, progress="off", **(options | {"rng": 4}))
    assert np.array_equal(one.thetas, kept.thetas)
    assert not np.array_equal(one.thetas, other.thetas)


def test_what_needs_known_blocks_is_refused(monkeypatch, tmp_path):
    rankings = tw.Rankings.from_orderings(ROWS, items="abcd", unranked="below")
    for options in (
        {"sizes": SIZES, "method": "exact"},
        {"sizes": SIZES, "theta_update": "exchange"},
        {"sizes": SIZES, "likelihood": "pseudo"},
    ):
        with pytest.raises(InputError, match="open"):
            tw.sample_posterior(rankings, **options)
    monkeypatch.setattr(answers_module, "is_affordable", lambda sizes: False)
    monkeypatch.setattr(answers_module, "can_be_interleaved", lambda first, *_: first[:, 0] > 99)
    monkeypatch.setattr(answers_module, "MOST_COMPLETIONS", 0.5)
    with pytest.raises(InputError, match="checkpoint"):
        tw.sample_posterior(rankings, SIZES, checkpoint=tmp_path / "run")
    weighted = tw.Rankings.from_orderings(ROWS, "abcd", [0.5] * len(ROWS), unranked="below")
    with pytest.raises(InputError, match="whole weights"):
        tw.sample_posterior(weighted, SIZES)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "mean", "deviation"), [(280, 2.615, 0.13), (5000, 2.492, 0.030)])
def test_strict_consensus_on_the_best_five_sushi(rows, mean, deviation):
    sushi = tw.load_sushi(shared_data("sushi")).subset(slice(0, rows))
    places = sushi.patterns[sushi.pattern_of].copy()
    places[places >= 5] = -1
    best_five = tw.Rankings(sushi.items, places, unranked="below")
    assert lgamma(6) == pytest.approx(tw.fit(best_five, (1,) * 10).log_completions / rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)
        posterior = tw.sample_posterior(
            best_five, (1,) * 10, chains=2, draws=1000, rng=1, progress="off"
        )
    assert 10 * posterior.thetas.mean() == pytest.approx(mean, abs=0.25 * deviation)
    assert 10 * posterior.thetas.std() == pytest.approx(deviation, rel=0.15)
