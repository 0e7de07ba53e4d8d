from itertools import permutations
from math import inf, lgamma, log

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import tierwise as tw
from tests.data_paths import shared_data
from tests.reference import BLOCK_DISTANCES
from tierwise import Counts, InputError, Rankings, Tiers
from tierwise.fitting.fit import fit
from tierwise.tiers import compositions


def random_rankings(seed, n_items, n_rankings):
    rng = np.random.default_rng(seed)
    utilities = np.linspace(1, 0, n_items) + rng.gumbel(size=(n_rankings, n_items)) * 0.5
    return Rankings.from_order_array(np.argsort(-utilities, axis=1), "abcdefgh"[:n_items])


def brute_force_maximum(rankings, sizes, distance):
    """Maximise the likelihood over all tiers and theta, from the definition of the model."""
    items = rankings.items
    everything = Rankings.from_orderings(list(permutations(items)), items=items)
    best = -inf
    for order in set(permutations(np.repeat(np.arange(1, len(sizes) + 1), sizes).tolist())):
        model = tw.ClusteredMallows(Tiers.from_labels(order, items), 1.0, distance)
        total = float(model.distances(rankings) @ rankings.weights)
        distances = model.distances(everything)

        def negative(theta, total=total, distances=distances):
            return theta * total + rankings.n_rankings * np.log(np.exp(-theta * distances).sum())

        found = minimize_scalar(negative, bounds=(0, 30), method="bounded")
        best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("distance", BLOCK_DISTANCES)
@pytest.mark.parametrize("sizes", [(1, 2, 1), (2, 2), (3, 1), (1, 1, 1, 1)])
def test_no_tiers_and_theta_are_more_probable(distance, sizes):
    rankings = random_rankings(4, 4, 15)
    found = fit(rankings, sizes, distance)
    assert found.optimal
    assert found.log_likelihood == pytest.approx(
        brute_force_maximum(rankings, sizes, distance), abs=1e-5
    )


@pytest.mark.parametrize("distance", BLOCK_DISTANCES)
def test_log_likelihood_is_the_sum_of_log_probabilities(distance):
    rankings = random_rankings(1, 5, 30)
    for sizes in compositions(5):
        found = fit(rankings, sizes, distance)
        model = tw.ClusteredMallows(found.tiers, found.theta, distance)
        assert found.log_likelihood == pytest.approx(model.log_prob(rankings).sum(), abs=1e-8)
        assert found.total_distance == pytest.approx(model.distances(rankings).sum())
        count = lgamma(6) - sum(lgamma(size + 1) for size in sizes)
        assert found.criterion == pytest.approx(found.log_likelihood - count, abs=1e-9)


def test_theta_makes_expected_and_observed_distance_equal():
    rankings = random_rankings(2, 6, 50)
    found = fit(rankings, (2, 2, 2))
    model = tw.ClusteredMallows(found.tiers, found.theta)
    assert model.mean_distance() == pytest.approx(found.total_distance / 50, rel=1e-9)
    information = 50 * model.var_distance()
    assert found.theta_estimate.standard_error == pytest.approx(information**-0.5, rel=1e-9)


def test_weights_count_as_repeated_rankings():
    rankings = random_rankings(3, 5, 12)
    weights = np.arange(12) % 3 + 1
    repeated = Rankings.concat([rankings.subset(np.repeat(np.arange(12), weights))])
    weighted = Rankings.from_orderings(rankings.to_orderings(), rankings.items, weights)
    first, second = fit(repeated, (2, 3)), fit(weighted, (2, 3))
    assert first.tiers == second.tiers
    assert first.log_likelihood == pytest.approx(second.log_likelihood, rel=1e-12)
    assert fit(Counts.of(weighted), (2, 3)).log_likelihood == first.log_likelihood


def test_doubling_the_data_doubles_the_likelihood_and_keeps_the_rest():
    rankings = random_rankings(3, 5, 12)
    once, twice = fit(rankings, (2, 3)), fit(Rankings.concat([rankings] * 2), (2, 3))
    assert twice.tiers == once.tiers
    assert twice.theta == pytest.approx(once.theta, rel=1e-10)
    assert twice.log_likelihood == pytest.approx(2 * once.log_likelihood, rel=1e-12)


def test_all_rankings_identical_gives_infinite_theta():
    rankings = Rankings.from_orderings([["a", "b", "c"]] * 10)
    found = fit(rankings, (1, 2))
    assert found.theta == inf
    assert found.log_likelihood == pytest.approx(-10 * log(2))
    low, high = found.theta_estimate.interval
    assert high == inf
    model = tw.ClusteredMallows(found.tiers, low)
    assert 10 * (log(2) - model.log_partition()) == pytest.approx(log(0.05), abs=1e-6)
    assert "infinite" in found.summary()
    assert found.to_dict()["theta"] is None


def test_perfectly_even_data_give_theta_zero():
    rankings = Rankings.from_orderings(list(permutations("abc")))
    found = fit(rankings, (1, 1, 1))
    assert found.theta == 0.0
    assert found.log_likelihood == pytest.approx(-6 * log(6))
    assert found.n_optima == 6
    assert len(found.alternatives) == 5
    assert "6 tier lists are equally good" in found.summary()


def test_one_ranking():
    found = fit(Rankings.from_orderings([["b", "a", "c"]]), (1, 1, 1))
    assert str(found.tiers) == "b > a > c"
    assert found.theta == inf


@pytest.mark.parametrize("distance", BLOCK_DISTANCES)
def test_all_items_in_one_tier_is_the_uniform_distribution(distance):
    rankings = random_rankings(5, 4, 20)
    found = fit(rankings, (4,), distance)
    assert found.theta == 0.0
    assert found.log_likelihood == pytest.approx(-20 * log(24))
    assert "not defined" in found.summary()


def test_references_are_fits_of_their_own():
    rankings = random_rankings(6, 5, 40)
    found = fit(rankings, (2, 3))
    strict, uniform = found.references
    alone = fit(rankings, (1,) * 5)
    assert strict.tiers == alone.tiers
    assert strict.criterion == pytest.approx(alone.criterion)
    assert uniform.criterion == pytest.approx(-40 * log(120))
    assert [other.name for other in alone.references] == ["no tiers"]


def test_tiers_worse_than_none_are_called_that():
    # Opinion is evenly split, so nothing is gained by eight arbitrary tiers.
    rng = np.random.default_rng(0)
    rankings = Rankings.from_order_array(rng.permuted([range(8)] * 30, axis=1), "abcdefgh")
    found = fit(rankings, (1,) * 8)
    assert found.criterion < found.references[-1].criterion
    assert "worse than none" in found.verdict()


def test_a_single_tier_that_is_best_says_that_nothing_is_told_apart():
    rankings = Rankings.from_orderings(list(permutations("abc")))
    found = fit(rankings, (3,))
    assert "All items are in one tier" in found.verdict()


def test_a_strict_order_that_may_lead_by_chance_is_no_reason_to_leave_a_single_tier():
    ranks = [[2, 1, 4, 3], [1, 2, 3, 4], [1, 3, 4, 2], [2, 4, 3, 1], [1, 2, 4, 3]]
    few = tw.fit(tw.Rankings.from_ranks(ranks), (4,))
    assert "but this may be chance" in few.verdict()
    assert tw.search(tw.Rankings.from_ranks(ranks)).best.sizes == (4,)
    many = tw.fit(tw.Rankings.from_ranks(ranks * 10), (4,))
    assert "search for better sizes" in many.verdict()


@pytest.mark.thorough
def test_the_papers_own_methods_agree_within_their_error():
    rankings = random_rankings(7, 6, 100)
    exact = fit(rankings, (1, 2, 3))
    papers = fit(
        rankings,
        (1, 2, 3),
        method="annealing",
        theta_method="monte-carlo",
        partition_method="importance",
        rng=1,
    )
    assert papers.tiers == exact.tiers
    assert papers.method == "annealing"
    assert not papers.optimal
    assert papers.theta == pytest.approx(exact.theta, abs=0.05)
    assert papers.log_likelihood_error > 0
    assert abs(papers.log_likelihood - exact.log_likelihood) < 6 * papers.log_likelihood_error + 0.5
    assert papers.provenance.seed == 1
    again = fit(
        rankings,
        (1, 2, 3),
        method="annealing",
        theta_method="monte-carlo",
        partition_method="importance",
        rng=1,
    )
    assert again.theta == papers.theta
    assert again.log_likelihood == papers.log_likelihood


def test_pseudo_likelihood_is_climbed_to_a_maximum():
    rankings = random_rankings(8, 5, 60)
    found = fit(rankings, (1, 2, 2), likelihood="pseudo")
    model = tw.ClusteredMallows(found.tiers, found.theta)
    assert found.log_likelihood == pytest.approx(model.log_pseudo_likelihood(rankings).sum())
    for theta in (found.theta * 0.98, found.theta * 1.02):
        other = tw.ClusteredMallows(found.tiers, theta)
        assert other.log_pseudo_likelihood(rankings).sum() < found.log_likelihood
    assert found.likelihood == "pseudo"
    with pytest.raises(InputError, match="complete rankings"):
        fit(Counts.of(rankings), (1, 2, 2), likelihood="pseudo")


def test_confidence_widens_the_interval():
    rankings = random_rankings(9, 5, 40)
    narrow = fit(rankings, (2, 3), level=0.5).theta_estimate.interval
    wide = fit(rankings, (2, 3), level=0.99).theta_estimate.interval
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"sizes": (1, 1)}, "sum to 2, but there are 4 items"),
        ({"sizes": (4, 0)}, "at least one item"),
        ({"sizes": (2, 2), "distance": "cayley"}, "kendall"),
        ({"sizes": (2, 2), "method": "magic"}, "subsets"),
        ({"sizes": (2, 2), "theta_method": "magic"}, "monte-carlo"),
        ({"sizes": (2, 2), "partition_method": "magic"}, "recursion"),
        ({"sizes": (2, 2), "likelihood": "magic"}, "pseudo"),
        ({"sizes": (2, 2), "level": 1.5}, "between 0 and 1"),
        ({"sizes": (2, 2), "method": "assignment"}, "assignment"),
    ],
)
def test_bad_arguments_are_refused(arguments, complaint):
    with pytest.raises(tw.TierwiseError, match=complaint):
        fit(random_rankings(1, 4, 5), **arguments)


def test_to_dict_holds_plain_values():
    import json

    found = fit(random_rankings(1, 4, 5), (2, 2))
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["tiers"] == found.tiers.to_lists()
    assert document["sizes"] == [2, 2]
    assert document["theta"] == pytest.approx(found.theta)
    assert document["provenance"]["version"] == tw.__version__


def test_political_goals():
    found = fit(tw.load_political_goals(), (2, 2))
    assert found.tiers == Tiers([["order", "prices"], ["say", "speech"]])
    assert found.theta == pytest.approx(0.535, abs=0.0006)
    assert found.criterion == pytest.approx(-6430.90, abs=0.005)
    strict, uniform = found.references
    assert strict.criterion == pytest.approx(-6517.01, abs=0.005)
    assert uniform.criterion == pytest.approx(-7188.8, abs=0.05)


def test_published_tables():
    words = fit(tw.load_word_association("idea"), (1, 2, 1, 1))
    assert words.tiers == Tiers([["thought"], ["theory", "dream"], ["attention"], ["play"]])
    assert words.criterion == pytest.approx(-249.84, abs=0.005)
    assert words.references[0].criterion == pytest.approx(-256.06, abs=0.005)
    candidates = fit(tw.load_apa1980(), (2, 3))
    assert candidates.tiers == Tiers([["A", "C"], ["B", "D", "E"]])
    assert candidates.theta == pytest.approx(0.133, abs=0.0005)
    assert candidates.criterion == pytest.approx(-27304.70, abs=0.005)
    assert candidates.references[0].criterion == pytest.approx(-27413.28, abs=0.005)


def test_tohoku_sushi():
    rankings = tw.load_sushi(shared_data("sushi"), region="Tohoku")
    found = fit(rankings, (1, 1, 1, 2, 3, 2))
    assert found.tiers == Tiers(
        [
            ["fatty tuna"],
            ["tuna"],
            ["shrimp"],
            ["sea urchin", "salmon roe"],
            ["sea eel", "tuna roll", "squid"],
            ["egg", "cucumber roll"],
        ]
    )
    assert found.theta == pytest.approx(0.2686, abs=5e-5)
    assert found.log_likelihood == pytest.approx(-3956.57, abs=0.005)
    assert found.criterion == pytest.approx(-3968.50, abs=0.005)
    strict = found.references[0]
    assert strict.criterion == pytest.approx(-3961.57, abs=0.005)
    assert strict.log_likelihood == pytest.approx(-3946.47, abs=0.005)
    assert strict.theta == pytest.approx(0.2689, abs=5e-5)
    best = fit(rankings, (1, 1, 1, 2, 1, 2, 1, 1))
    assert best.criterion == pytest.approx(-3957.00, abs=0.005)
    assert best.log_likelihood == pytest.approx(-3943.28, abs=0.005)
    assert best.theta == pytest.approx(0.2746, abs=5e-5)
    hamming = fit(rankings, (5, 2, 1, 2), "hamming")
    assert hamming.criterion == pytest.approx(-4064.68, abs=0.005)
    assert hamming.theta == pytest.approx(0.7220, abs=5e-5)


def test_all_sushi_rankings_strict():
    found = fit(tw.load_sushi(shared_data("sushi")), (1,) * 10)
    assert found.log_likelihood == pytest.approx(-71353.04, abs=0.01)
    assert found.optimal
    assert found.theta == pytest.approx(0.242, abs=0.0005)


@pytest.mark.thorough
def test_formula_one_finishers():
    races = tw.load_f1(shared_data("f1") / "f1db_2015_2016_results.csv")
    assert len(races.items) == 25
    assert races.n_rankings == 40
    found = fit(races, (1, 1, 1, 2, 3, 2, 15))
    assert found.optimal
    assert found.total_distance == 2070
    assert found.theta == pytest.approx(0.1737, abs=5e-5)
    # What one completion of every race weighs; the answers themselves sum over all of them.
    assert found.criterion - found.log_completions == pytest.approx(-2087.05, abs=0.005)


@pytest.mark.slow
def test_the_papers_second_study_recovers_tiers_and_theta():
    tiers = Tiers.from_labels([1, 2, 2, 3, 3, 3, 3, 4, 4, 5])
    model = tw.ClusteredMallows(tiers, 0.4)
    recovered = {"kendall": 0, "hamming": 0}
    thetas = []
    for seed in range(300):
        rankings = model.sample(200, rng=seed)
        for distance in recovered:
            found = fit(rankings, tiers.sizes, distance)
            recovered[distance] += found.tiers == tiers
            if distance == "kendall":
                thetas.append(found.theta)
    assert recovered["kendall"] >= 297
    assert recovered["hamming"] >= 270
    assert np.mean(thetas) == pytest.approx(0.4, abs=0.005)
