import warnings
from itertools import permutations, product
from math import lgamma

import numpy as np
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tests.options import in_groups
from tests.reference import DISTANCES as NAIVE_DISTANCES
from tests.reference_incomplete import completions, pairs_of_groups
from tierwise import InputError

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


# What the brute force is about: one theta, and all sizes equally probable beforehand.
ALL_SIZES = {"family": "mallows", "priors": tw.Priors(sizes="uniform")}


def sample(data, sizes=None, **options):
    """Draw from the posterior, without what is said about short chains."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)
        return tw.sample_posterior(data, sizes, progress="off", **in_groups({"rng": 1} | options))


def every_pair_but_slow(hows, slow):
    """All ways to draw completions for both kinds of answers; some are for the slow tests."""
    return [
        pytest.param(how, unranked, marks=pytest.mark.slow if (how, unranked) in slow else ())
        for how in hows
        for unranked in ("below", "anywhere")
    ]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("how", "unranked"),
    every_pair_but_slow(
        ("auto", "reinsert", "refill"),
        {*product(("auto", "reinsert"), ("below", "anywhere")), ("refill", "below")},
    ),
)
def test_chains_draw_from_the_posterior(unranked, how):
    rankings = tw.Rankings.from_orderings(ROWS, items="abcd", unranked=unranked)
    posterior = sample(rankings, SIZES, draws=1000, sampler=tw.Sampler(completions=how))
    assert posterior.completions == ("summed over" if how == "auto" else f"drawn by {how}")
    of_tiers, mean, deviation = exact_posterior(unranked, "kendall")
    # Draws are worth a tenth of independent ones at least; five standard errors.
    reach = 5 / np.sqrt(4000 / 10)
    assert np.abs(posterior.tier_probabilities() - of_tiers).max() < reach / 2
    assert abs(posterior.thetas.mean() - mean) < reach * deviation
    assert posterior.thetas.std() == pytest.approx(deviation, rel=0.2)


TIED = [
    ["a"],
    [["b", "c"], "a"],
    ["a", ["c", "d"], "b"],
    ["a", "b"],
    [["a", "b"], "d"],
    list("cabd"),
]


@pytest.mark.parametrize(
    ("options", "distance"),
    [
        # Around a strict consensus the two distances are one.
        pytest.param(options, distance, marks=() if distance == usual else pytest.mark.slow)
        for options, usual in (
            ({}, "kendall"),
            ({"method": "exact"}, "inversions"),
            ({"method": "mcmc", "thin": 5}, "inversions"),
            ({"theta_update": "integrated"}, "kendall"),
        )
        for distance in ("kendall", "inversions")
    ],
)
def test_weak_orders_around_a_strict_consensus_are_drawn_as_if_they_were_complete(
    options, distance
):
    rankings = tw.Rankings.from_orderings(TIED, items="abcd", unranked="below")
    posterior = sample(rankings, (1,) * 4, distance=distance, draws=2500, **options)
    assert posterior.completions == "summed over"
    assert posterior.method == (
        "exact"
        if options.get("method", "exact") == "exact" and "theta_update" not in options
        else "mcmc"
    )
    thetas = np.linspace(0.005, 8, 1600)
    densities, distances = {}, {}
    for labels in permutations(range(4)):
        distance_of = {
            ordering: NAIVE_DISTANCES["kendall"](ordering, labels, (1,) * 4)
            for ordering in permutations(range(4))
        }
        logs = np.log(thetas) - 2 * thetas
        mean = np.zeros(len(thetas))
        for row in TIED:
            groups = [["abcd".index(item) for item in group] for group in row]
            listed = {item for group in groups for item in group}
            groups.append([item for item in range(4) if item not in listed])
            orders = completions(pairs_of_groups([group for group in groups if group]), 4)
            units = np.array([distance_of[ordering] for ordering in orders])
            weights = np.exp(-np.outer(thetas, units))
            everything = np.array(list(distance_of.values()))
            logs = logs + np.log(weights.sum(axis=1))
            logs = logs - np.log(np.exp(-np.outer(thetas, everything)).sum(axis=1))
            mean = mean + weights @ units / weights.sum(axis=1)
        densities[labels], distances[labels] = np.exp(logs), mean
    total = sum(density.sum() for density in densities.values())
    shares = {labels: density.sum() / total for labels, density in densities.items()}
    drawn = posterior.labels - 1
    found = np.array([(drawn == np.array(labels)).all(axis=1).mean() for labels in shares])
    expected = np.array(list(shares.values()))
    # Independent draws, or worth a third of that: five standard errors.
    reach = 5 / np.sqrt(10_000 if posterior.method == "exact" else 10_000 / 3)
    assert (np.abs(found - expected) < reach * np.sqrt(expected)).all()
    of_theta = sum(densities.values()) / total
    mean = of_theta @ thetas
    deviation = np.sqrt(of_theta @ (thetas - mean) ** 2)
    assert abs(posterior.thetas.mean() - mean) < reach * deviation
    mean_distance = sum((densities[labels] @ distances[labels]) / total for labels in densities)
    spread = posterior.data["posterior"]["total_distance"].to_numpy()
    assert abs(spread.mean() - mean_distance) < reach * spread.std()
    best = tuple((posterior.tiers().label_array(tuple("abcd"))).tolist())
    assert shares[best] == pytest.approx(max(shares.values()))
    if posterior.method == "exact":
        # The density of theta is left off at the ends of the grid, and summed coarsely.
        constant = np.log(total * (thetas[1] - thetas[0]) * 4.0 / 24)
        assert posterior.log_evidence == pytest.approx(constant, abs=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("how", "unranked", "draws"),
    [
        ("reinsert", "below", 300),
        *(
            pytest.param(how, unranked, 1500, marks=pytest.mark.slow)
            for how in ("auto", "reinsert")
            for unranked in ("below", "anywhere")
        ),
    ],
)
def test_sizes_may_be_unknown(unranked, how, draws):
    rankings = tw.Rankings.from_orderings(ROWS, items="abcd", unranked=unranked)
    posterior = sample(rankings, draws=draws, sampler=tw.Sampler(completions=how), **ALL_SIZES)
    expected = exact_probabilities_of_sizes(unranked)
    found = posterior.sizes_probabilities()
    assert sum(expected.values()) == pytest.approx(1)
    # Draws are worth a tenth of independent ones at least; five standard errors.
    for sizes, probability in expected.items():
        error = np.sqrt(probability * (1 - probability) / (4 * draws / 10))
        assert abs(found.get(sizes, 0.0) - probability) < 5 * error + 1e-3


@pytest.mark.slow
def test_many_answers_are_counted_once_for_all_sizes():
    rankings = tw.Rankings.from_orderings(ROWS * 5, items="abcd", unranked="anywhere")
    drawn, summed = (
        sample(
            rankings, draws=1500, sampler=tw.Sampler(completions=how), **ALL_SIZES
        ).sizes_probabilities()
        for how in ("reinsert", "auto")
    )
    for sizes in drawn | summed:
        # Each share is off by five standard errors of 400 independent draws at most.
        assert abs(drawn.get(sizes, 0.0) - summed.get(sizes, 0.0)) < 2 * 5 * 0.5 / np.sqrt(400)


@pytest.mark.thorough
def test_preferences_have_a_posterior():
    preferences = tw.Preferences.from_pairs(
        [(person, "a", other) for person in range(10) for other in "bc"], items="abc"
    )
    for how in ("auto", "reinsert"):
        posterior = sample(preferences, (1, 2), draws=200, sampler=tw.Sampler(completions=how))
        assert posterior.tiers() == tw.Tiers([["a"], ["b", "c"]])


VOTES = {
    "Ann": [("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")],
    "Bob": [("a", "d"), ("b", "d"), ("a", "c")],
    "Cid": [("d", "a"), ("a", "b"), ("b", "d")],
    "Dee": [("a", "c"), ("c", "d")],
}


def exact_posterior_of_votes(sizes, prior):
    """Probability of each item to be of each tier, means of theta and of the mistake probability.

    By summing over all orderings that people may have in mind, on a grid of both.
    """
    thetas, mistakes = np.linspace(0.01, 6, 300), np.linspace(0.001, 0.499, 200)
    log_prior = (np.log(thetas) - 2 * thetas)[:, None] + (
        (prior.mistakes - 1) * np.log(mistakes) + (prior.right - 1) * np.log1p(-mistakes)
    )
    densities = {}
    for labels in set(permutations(np.repeat(np.arange(len(sizes)), sizes).tolist())):
        orderings = list(permutations(range(4)))
        distances = [NAIVE_DISTANCES["kendall"](one, labels, sizes) for one in orderings]
        weights = np.exp(-np.outer(thetas, distances))
        density = np.exp(log_prior)
        for pairs in VOTES.values():
            wrong = np.array(
                [
                    sum(one.index("abcd".index(a)) > one.index("abcd".index(b)) for a, b in pairs)
                    for one in orderings
                ]
            )
            chances = mistakes ** wrong[:, None] * (1 - mistakes) ** (len(pairs) - wrong[:, None])
            density = density * (weights @ chances) / weights.sum(axis=1)[:, None]
        densities[labels] = density
    total = sum(density.sum() for density in densities.values())
    of_tiers = np.zeros((4, len(sizes)))
    for labels, density in densities.items():
        for item, label in enumerate(labels):
            of_tiers[item, label] += density.sum() / total
    both = sum(densities.values()) / total
    return of_tiers, both.sum(axis=1) @ thetas, both.sum(axis=0) @ mistakes


@pytest.mark.slow
@pytest.mark.parametrize("prior", [tw.Beta(1, 3), tw.Beta(4, 6)])
def test_mistaken_answers_have_a_posterior(prior):
    votes = tw.Preferences(VOTES, items="abcd", cycles="keep")
    posterior = sample(votes, (1, 1, 2), draws=2000, priors=tw.Priors(mistakes=prior))
    of_tiers, theta, mistake = exact_posterior_of_votes((1, 1, 2), prior)
    # Draws are worth a tenth of independent ones at least; five standard errors.
    reach = 5 / np.sqrt(8000 / 10)
    assert np.abs(posterior.tier_probabilities() - of_tiers).max() < reach / 2
    assert abs(posterior.thetas.mean() - theta) < reach * posterior.thetas.std()
    mistakes = posterior.mistake_probabilities
    assert abs(mistakes.mean() - mistake) < reach * mistakes.std()
    assert "mistake probability" in posterior.summary()
    assert posterior.to_dict()["mistake_probability"] == pytest.approx(mistakes.mean())


@pytest.mark.slow
def test_mistaken_answers_may_leave_the_sizes_open():
    votes = tw.Preferences(VOTES, items="abcd", cycles="keep")
    posterior = sample(votes, draws=300, **ALL_SIZES)
    assert sum(posterior.sizes_probabilities().values()) == pytest.approx(1)
    assert len(posterior.sizes_probabilities()) > 4


@pytest.mark.parametrize("how", ["auto", "reinsert"])
def test_the_same_seed_gives_the_same_draws_and_checkpoints_resume(tmp_path, how):
    rankings = tw.Rankings.from_orderings(ROWS, items="abcd", unranked="below")
    options = {"chains": 2, "draws": 20, "warmup": 10, "rng": 3, "completions": how}
    one = sample(rankings, SIZES, **options)
    kept = sample(rankings, SIZES, checkpoint=tmp_path / "run", **options)
    again = sample(rankings, SIZES, checkpoint=tmp_path / "run", **options)
    other = sample(rankings, SIZES, **(options | {"rng": 4}))
    assert np.array_equal(one.thetas, kept.thetas)
    assert np.array_equal(one.thetas, again.thetas)
    assert not np.array_equal(one.thetas, other.thetas)


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("rankings", None),
        ("votes", SIZES),
        pytest.param("rankings", SIZES, marks=pytest.mark.slow),
        pytest.param("votes", None, marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_chain_that_draws_completions_goes_on(tmp_path, sizes, kind):
    data = {
        "rankings": tw.Rankings.from_orderings(ROWS, items="abcd", unranked="anywhere"),
        "votes": tw.Preferences(VOTES, items="abcd", cycles="keep"),
    }[kind]
    options = {"chains": 2, "draws": 150, "warmup": 50, "rng": 3, "completions": "reinsert"}

    class Stop(Exception):
        pass

    def stop_halfway(_description, done, total):
        if done > total // 2:
            raise Stop

    whole = sample(data, sizes, **options)
    with pytest.raises(Stop):
        tw.sample_posterior(
            data, sizes, checkpoint=tmp_path, progress=stop_halfway, **in_groups(options)
        )
    resumed = sample(data, sizes, checkpoint=tmp_path, **options)
    assert np.array_equal(resumed.thetas, whole.thetas)
    assert np.array_equal(resumed.labels, whole.labels)


def test_what_needs_known_blocks_is_refused():
    rankings = tw.Rankings.from_orderings(ROWS, items="abcd", unranked="below")
    for options in (
        {"sizes": SIZES, "method": "exact", "completions": "reinsert"},
        {"sizes": SIZES, "theta_update": "exchange"},
        {"sizes": SIZES, "likelihood": "pseudo"},
    ):
        with pytest.raises(InputError, match="do not determine"):
            tw.sample_posterior(rankings, **in_groups(options))
    with pytest.raises(InputError, match="nothing to complete"):
        tw.sample_posterior(tw.load_political_goals(), sampler=tw.Sampler(completions="refill"))
    with pytest.raises(InputError, match="completions must be one of"):
        tw.sample_posterior(rankings, sampler=tw.Sampler(completions="guess"))
    halves = tw.Rankings.from_orderings(ROWS, "abcd", [0.5] * len(ROWS), unranked="below")
    weighted = halves.with_weights_as("counts")
    with pytest.raises(InputError, match="whole weights"):
        tw.sample_posterior(weighted, SIZES, sampler=tw.Sampler(completions="reinsert"))
    votes = tw.Preferences(VOTES, items="abcd", cycles="keep")
    with pytest.raises(InputError, match="no places to refill"):
        tw.sample_posterior(votes, SIZES, sampler=tw.Sampler(completions="refill"))
    with pytest.raises(InputError, match="positive"):
        tw.Beta(0, 1)


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
