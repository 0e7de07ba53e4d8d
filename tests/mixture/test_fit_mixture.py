"""fit_mixture as users meet it."""

import json
from dataclasses import replace

import numpy as np
import pytest

import tierwise as tw
from tests.data_paths import shared_data
from tests.mixture.simulated import from_groups, random_tiers
from tierwise.errors import InputError, TooLargeError
from tierwise.mixture.groups import distinct_answers, fold_weights
from tierwise.tiers import log_number_of_tiers

pytestmark = pytest.mark.thorough

TWO_GROUPS = [([[0], [1, 2], [3], [4, 5]], 1.5), ([[5], [4, 3], [2], [1, 0]], 1.5)]


@pytest.fixture(scope="module")
def two_groups():
    return from_groups(TWO_GROUPS, (300, 100), seed=1)


@pytest.fixture(scope="module")
def found(two_groups):
    return tw.fit_mixture(two_groups[0], range(1, 4), starts=10, rng=1, distance="kendall")


def test_finds_the_number_of_groups_their_sizes_tiers_and_shares(found, two_groups):
    _, belongs = two_groups
    assert found.n_groups == 2
    assert found.selected_by == "bic"
    assert [group.tiers for group in found.groups] == [tw.Tiers(tiers) for tiers, _ in TWO_GROUPS]
    assert found.shares == pytest.approx([0.75, 0.25], abs=0.01)
    assert (found.memberships.argmax(axis=1) == belongs).mean() > 0.99
    for group in found.groups:
        assert abs(group.theta - 1.5) < 5 * group.theta_error
        assert group.agreement > 0.8


def test_scores_follow_from_their_definitions(found):
    q = found.n_rankings
    number_of_tiers = sum(log_number_of_tiers(group.sizes) for group in found.groups)
    assert found.criterion == pytest.approx(found.log_likelihood - number_of_tiers)
    assert found.scores.n_parameters == 3
    assert found.bic == pytest.approx(-2 * found.criterion + 3 * np.log(q))
    certain = found.memberships[found.memberships > 0]
    assert found.entropy == pytest.approx(-(certain * np.log(certain)).sum())
    assert found.icl == pytest.approx(found.bic + 2 * found.entropy)
    assert found.separation == pytest.approx(1 - found.entropy / (q * np.log(2)))
    assert found.history[-1] == found.criterion
    assert found.converged
    logs = np.column_stack(
        [group.model.log_prob(found_rankings()) + np.log(group.share) for group in found.groups]
    )
    assert found.log_likelihood == pytest.approx(np.logaddexp(*logs.T).sum(), rel=1e-6)


def found_rankings():
    return from_groups(TWO_GROUPS, (300, 100), seed=1)[0]


def test_one_group_is_the_fit(two_groups):
    rankings, _ = two_groups
    for distance in ("kendall", "hamming"):
        sizes = (1, 2, 1, 2)
        alone = tw.fit_mixture(rankings, 1, sizes, distance)
        fit = tw.fit(rankings, sizes, distance)
        assert alone.groups[0].tiers in (fit.tiers, *fit.alternatives)
        assert alone.groups[0].theta == pytest.approx(fit.theta)
        assert alone.groups[0].theta_error == pytest.approx(fit.theta_estimate.standard_error)
        assert alone.log_likelihood == pytest.approx(fit.log_likelihood)
        assert alone.criterion == pytest.approx(fit.criterion)
        assert alone.groups[0].agreement == pytest.approx(fit.agreement)
        assert alone.shares.tolist() == [1.0]
        assert alone.entropy == 0.0
        assert alone.separation == 1.0


@pytest.mark.slow
def test_one_group_is_returned_where_there_is_one():
    rankings = tw.ClusteredMallows(tw.Tiers(random_tiers((1,) * 8, 1)), 0.4).sample(500, rng=2)
    found = tw.fit_mixture(rankings, range(1, 4), starts=10, folds=3, rng=1, distance="kendall")
    assert found.n_groups == 1
    assert min(found.comparison, key=lambda scores: scores.icl).n_groups == 1


def test_sizes_are_found_as_by_a_search_of_all():
    goals = tw.load_political_goals()
    found = tw.fit_mixture(goals, 1, distance="kendall")
    assert (
        found.groups[0].sizes
        == tw.search(goals, distance="kendall", criterion="likelihood").best.sizes
    )
    assert found.criterion == pytest.approx(
        tw.search(goals, distance="kendall", criterion="likelihood").best.criterion
    )


def test_a_uniform_group_takes_those_who_follow_no_tiers():
    followers, _ = from_groups([(random_tiers((1,) * 6, 1), 2.0)], (300,), seed=1)
    rng = np.random.default_rng(2)
    noise = tw.Rankings.from_order_array(
        np.array([rng.permutation(6) for _ in range(100)]), followers.items
    )
    both = tw.Rankings.concat([followers, noise])
    found = tw.fit_mixture(both, 1, (1,) * 6, noise="uniform", rng=1, distance="kendall")
    plain = tw.fit_mixture(both, 1, (1,) * 6, rng=1, distance="kendall")
    assert [group.kind for group in found.groups] == ["tiers", "uniform"]
    assert found.names() == ["group 1", "uniform"]
    assert found.n_groups == 1
    assert found.shares == pytest.approx([0.75, 0.25], abs=0.06)
    assert found.groups[1].theta == 0.0
    assert found.log_likelihood > plain.log_likelihood + 10
    assert found.scores.n_parameters == 2
    assert np.diff(found.history).min() >= -1e-9


def test_estimated_partition_functions_leave_their_error():
    rng = np.random.default_rng(1)
    order = np.array([np.argsort(np.arange(30) + rng.normal(0, 4, 30)) for _ in range(40)])
    rankings = tw.Rankings.from_order_array(order, range(30))
    found = tw.fit_mixture(rankings, 1, (2,) * 15, rng=1, distance="kendall")
    assert 0 < found.scores.log_likelihood_error < 10
    assert "standard error" in found.summary()
    exact = tw.fit_mixture(rankings, 1, (1,) * 30, rng=1, distance="kendall")
    assert exact.scores.log_likelihood_error == 0
    assert "standard error" not in exact.summary()


def test_sizes_may_differ_by_group(two_groups):
    rankings, _ = two_groups
    given = [(1, 2, 1, 2), (2, 2, 2)]
    found = tw.fit_mixture(rankings, sizes=given, rng=1, distance="kendall")
    assert sorted(group.sizes for group in found.groups) == sorted(given)
    mixed = tw.fit_mixture(rankings, 2, [(1, 2, 1, 2), "search"], rng=1, distance="kendall")
    assert mixed.criterion >= found.criterion


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answer_whoever_works(two_groups):
    rankings, _ = two_groups
    first = tw.fit_mixture(rankings, range(2, 4), starts=10, folds=2, rng=7, distance="kendall")
    again = tw.fit_mixture(
        rankings, range(2, 4), starts=10, folds=2, workers=2, rng=7, distance="kendall"
    )
    alone = tw.fit_mixture(rankings, 2, starts=10, rng=7, distance="kendall")
    assert first.comparison == again.comparison
    assert np.array_equal(first.memberships, again.memberships)
    assert first.history == again.history == alone.history
    seed = np.random.SeedSequence(7)
    assert (
        tw.fit_mixture(rankings, 2, starts=10, rng=seed, distance="kendall").history
        == first.history
    )
    assert (
        tw.fit_mixture(rankings, 2, starts=10, rng=seed, distance="kendall").history
        == first.history
    )


def test_weights_count_as_repetitions(two_groups):
    rankings, _ = two_groups
    weighted = tw.Rankings(rankings.items, rankings.patterns, rankings.pattern_weights)
    one = tw.fit_mixture(rankings, 2, (1, 2, 1, 2), rng=1, distance="kendall")
    other = tw.fit_mixture(weighted, 2, (1, 2, 1, 2), rng=1, distance="kendall")
    assert other.log_likelihood == pytest.approx(one.log_likelihood)
    assert len(other.memberships) == len(rankings.patterns)
    halves = tw.Rankings(rankings.items, rankings.patterns, rankings.pattern_weights / 2)
    halves = halves.with_weights_as("counts")
    half = tw.fit_mixture(halves, range(1, 3), (1, 2, 1, 2), rng=1, distance="kendall")
    assert half.n_rankings == 200.0
    assert half.log_likelihood == pytest.approx(one.log_likelihood / 2)


def test_more_groups_than_answers_do_no_harm():
    rankings = tw.Rankings.from_orderings([["a", "b", "c"], ["c", "b", "a"]])
    found = tw.fit_mixture(rankings, 4, (1, 1, 1), rng=1, distance="kendall")
    assert found.shares.sum() == pytest.approx(1.0)
    assert found.log_likelihood == pytest.approx(2 * np.log(0.5), abs=1e-3)
    json.dumps(found.to_dict(), allow_nan=False)


def test_perfect_agreement_has_an_infinite_theta():
    rankings = tw.Rankings.from_orderings([["a", "b", "c"]] * 5)
    found = tw.fit_mixture(rankings, 1, (1, 1, 1), noise="uniform", rng=1, distance="kendall")
    assert found.groups[0].theta == np.inf
    assert np.isnan(found.groups[0].theta_error)
    assert "infinite" in found.summary()
    assert found.to_dict()["groups"][0]["theta"] is None


def test_answers_that_leave_no_doubt_about_blocks_will_do():
    rows = [["a", "b"]] * 30 + [["b", "a"]] * 30 + [["e", "d"]] * 20 + [["d", "e"]] * 20
    top = tw.Rankings.from_orderings(rows, items="abcde", unranked="below")
    alone = tw.fit_mixture(top, 1, (2, 3), distance="kendall")
    assert alone.log_likelihood == pytest.approx(tw.fit(top, (2, 3)).log_likelihood)
    found = tw.fit_mixture(top, 2, (2, 3), rng=1, distance="kendall")
    assert found.shares == pytest.approx([0.6, 0.4])
    assert min(group.theta for group in found.groups) > 5
    # Each group has one of its two orders of the first two, then three items in any order.
    expected = 60 * np.log(0.6 / 2) + 40 * np.log(0.4 / 2)
    assert found.log_likelihood == pytest.approx(expected, abs=1e-3)


def test_each_choice_changes_something(two_groups):
    rankings, _ = two_groups
    base = {"n_groups": 2, "sizes": (1, 2, 1, 2), "rng": 1}
    plain = tw.fit_mixture(rankings, **base)
    for change in (
        {"distance": "hamming"},
        {"sizes": (1,) * 6},
        {"noise": "uniform"},
        {"tolerance": 10.0},
        {"most_steps": 1, "starts": 1},
    ):
        other = tw.fit_mixture(rankings, **(base | change))
        assert other.history != plain.history
    assert tw.fit_mixture(rankings, **base, starts=5).n_runs == 1
    assert plain.n_runs == 4
    assert plain.comparison[0].held_out is None
    two = base | {"n_groups": (1, 2)}
    assert tw.fit_mixture(rankings, **two).comparison[0].held_out is not None
    assert tw.fit_mixture(rankings, **two, folds=None).comparison[0].held_out is None
    assert (
        tw.fit_mixture(rankings, **two, folds=2).comparison
        != tw.fit_mixture(rankings, **two, folds=3).comparison
    )


@pytest.mark.slow
def test_criteria_choose(two_groups):
    rankings, _ = two_groups
    for criterion in ("icl", "held-out"):
        found = tw.fit_mixture(
            rankings,
            (1, 2),
            (1, 2, 1, 2),
            criterion=criterion,
            starts=5,
            folds=3,
            rng=1,
            distance="kendall",
        )
        assert found.selected_by == criterion
        assert found.n_groups == 2
    goals = tw.load_political_goals()
    by = {
        criterion: tw.fit_mixture(
            goals,
            range(1, 4),
            "search",
            criterion=criterion,
            starts=5,
            folds=2,
            rng=1,
            distance="kendall",
        ).n_groups
        for criterion in ("bic", "icl")
    }
    assert by["icl"] < by["bic"]


def test_folds_divide_the_rankings():
    rankings = tw.load_political_goals()
    weights = fold_weights(distinct_answers(rankings), 5, np.random.default_rng(1))
    assert np.array_equal(weights.sum(axis=0), rankings.pattern_weights)
    assert np.ptp(weights.sum(axis=1)) <= 1
    broken = tw.Rankings(rankings.items, rankings.places, rankings.weights * 0.5)
    halves = fold_weights(distinct_answers(broken), 5, np.random.default_rng(1))
    assert np.array_equal(halves.sum(axis=0), broken.pattern_weights)
    assert ((halves > 0).sum(axis=0) == 1).all()


def test_table_relates_groups_to_a_column(found, two_groups):
    _, belongs = two_groups
    regions = np.where(belongs == 0, "north", "south")
    table = found.to_frame(regions)
    assert table["value"].tolist() == ["north", "south"]
    assert table["rankings"].tolist() == [300, 100]
    assert table["group 1"].tolist() == pytest.approx([1.0, 0.0], abs=0.02)
    assert (table["group 1"] + table["group 2"]).tolist() == pytest.approx([1.0, 1.0])
    arrow = found.to_frame([1] * 400, backend="pyarrow").to_pydict()
    assert arrow["group 1"] == pytest.approx([found.shares[0]], abs=1e-4)
    with pytest.raises(InputError, match="3 values for 400 answers"):
        found.to_frame([1, 2, 3])


def test_results_print_and_pack(found):
    text = found.summary()
    assert "400 rankings of 6 items in 2 groups" in text
    assert "0 > 1 ~ 2 > 3 > 4 ~ 5" in text
    assert "chosen" in text
    assert "try larger ones" not in text
    assert (
        "try larger ones"
        in tw.fit_mixture(found_rankings(), (1, 2), folds=None, distance="kendall").summary()
    )
    assert max(len(line) for line in found.summary(60).splitlines()[:9]) <= 60
    assert repr(found).startswith("Mixture(2 groups, shares 0.75")
    assert repr(tw.fit_mixture(found_rankings(), 1, distance="kendall")).startswith(
        "Mixture(1 group, shares 1.000"
    )
    assert repr(found.groups[0]).startswith("Group(75.")
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["n_groups"] == 2
    assert plain["groups"][0]["tiers"] == [[0], [1, 2], [3], [4, 5]]
    assert plain["provenance"]["seed"] == 1
    assert len(plain["comparison"]) == 3
    assert np.array(plain["memberships"]).shape == (400, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_groups": 0}, "n_groups must be at least 1"),
        ({"n_groups": []}, "n_groups must be at least 1"),
        ({"n_groups": 1.5}, "n_groups must be whole numbers"),
        ({"n_groups": "two"}, "n_groups must be whole numbers"),
        ({"sizes": "strict"}, 'sizes must be "search"'),
        ({"sizes": (1, 2)}, "sum to 3"),
        ({"sizes": ()}, "sizes are empty"),
        (
            {"sizes": [(1, 1, 1, 1), (2, 2)], "n_groups": 3},
            "n_groups must be 2, because sizes",
        ),
        ({"noise": "some"}, 'noise must be "none" or "uniform"; got'),
        ({"criterion": "aic"}, 'criterion must be one of "bic"'),
        ({"criterion": "held-out", "folds": None}, "needs folds"),
        ({"starts": 0}, "starts must be at least 1"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"folds": 5000}, "too few for 5000 folds"),
        ({"tolerance": 0.0}, "tolerance must be above 0"),
        ({"most_steps": 0}, "most_steps must be at least 1"),
        ({"distance": "euclid"}, "there is no distance"),
        ({"noise": np.array(["none", "uniform"])}, "noise must be"),
        ({"starts": 10**12}, "starts must be at most"),
        ({"starts": "many"}, "starts must be a whole number"),
        ({"folds": 2.5}, "folds must be a whole number"),
        ({"tolerance": np.ones(3)}, "tolerance must be a finite number"),
        ({"n_groups": np.ones((2, 2))}, "n_groups must be whole numbers"),
        ({"sizes": 3}, "sizes must be"),
        ({"sizes": None}, "sizes must be"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        tw.fit_mixture(tw.load_political_goals(), **arguments)


@pytest.mark.parametrize("function", [tw.fit_mixture, tw.sample_mixture])
@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        ([["a", "b"]], "Rankings.from_orderings"),
        (np.array([[1, 2]]), "Rankings.from_ranks"),
        (None, "tierwise.read"),
        ("answers.csv", "tierwise.read"),
        (tw.Counts.of(tw.Rankings.from_orderings([["a", "b"]])), "pass the rankings"),
    ],
)
def test_wrong_data_are_named_with_the_remedy(function, data, remedy):
    with pytest.raises(InputError, match=remedy):
        function(data, 2)


def test_too_many_items_are_refused():
    rng = np.random.default_rng(1)
    many = tw.Rankings.from_order_array(np.array([rng.permutation(60)]), range(60))
    with pytest.raises(TooLargeError, match="give the sizes"):
        tw.fit_mixture(many, 2, distance="kendall")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_items", "n_groups"), [(8, 2), (8, 3), (10, 2), (10, 3), (12, 2), (12, 3)]
)
def test_recovers_well_separated_groups(n_items, n_groups):
    sizes = (1, 2, 2, n_items - 5)
    groups = [(random_tiers(sizes, 10 * n_items + number), 0.8) for number in range(n_groups)]
    numbers = {2: (700, 300), 3: (500, 300, 200)}[n_groups]
    rankings, belongs = from_groups(groups, numbers, seed=n_items)
    found = tw.fit_mixture(rankings, n_groups, rng=1, distance="kendall")
    assert found.shares == pytest.approx(np.array(numbers) / 1000, abs=0.05)
    assert (found.memberships.argmax(axis=1) == belongs).mean() > 0.95
    assert [group.tiers for group in found.groups] == [tw.Tiers(tiers) for tiers, _ in groups]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_unequal_shares_of_strict_groups(seed):
    groups = [(random_tiers((1,) * 10, 20 + 2 * seed + number), 0.4) for number in range(2)]
    rankings, _ = from_groups(groups, (1800, 200), seed=seed)
    found = tw.fit_mixture(rankings, 2, (1,) * 10, rng=seed, distance="kendall")
    assert found.shares == pytest.approx([0.9, 0.1], abs=0.03)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_all_sushi_rankings():
    folder = shared_data("sushi")
    sushi = tw.load_sushi(folder)
    found = tw.fit_mixture(sushi, workers=2, rng=1, distance="kendall")
    assert [scores.n_groups for scores in found.comparison] == [1, 2, 3, 4, 5, 6]
    likelihoods = [scores.log_likelihood for scores in found.comparison]
    assert likelihoods == sorted(likelihoods)
    strict = tw.fit_mixture(sushi, (1, 2), (1,) * 10, folds=None, rng=1, distance="kendall")
    alone, two = strict.comparison
    assert alone.log_likelihood == pytest.approx(-71353.04, abs=0.01)
    assert two.log_likelihood > alone.log_likelihood
    home = np.loadtxt(folder / "sushi3.udata", dtype=np.int64, usecols=5)
    table = found.to_frame(home)
    assert table["rankings"].sum() == 5000


@pytest.mark.parametrize("theta", [0.3, pytest.param(0.7, marks=pytest.mark.slow)])
def test_more_groups_than_there_are_leave_some_answers_out_of_a_group_altogether(theta):
    """A group of a single answer has such a theta that all others have probability 0 there."""
    tiers = tw.Tiers.from_sizes((1,) * 10, "abcdefghij")
    rankings = tw.ClusteredMallows(tiers, theta).sample(100, rng=1)
    mixture = tw.fit_mixture(
        rankings, 3, (1,) * 10, starts=5, rng=1, progress="off", distance="kendall"
    )
    alone = tw.fit_mixture(rankings, 1, (1,) * 10, rng=1, progress="off", distance="kendall")
    assert sum(mixture.shares) == pytest.approx(1)
    assert max(mixture.shares) > 0.9
    assert mixture.log_likelihood > alone.log_likelihood


@pytest.mark.parametrize("kind", ["rankings", "preferences"])
def test_single_comparisons_are_refused_as_they_tell_nobodys_group(kind):
    pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "b")] * 3
    if kind == "rankings":
        answers = tw.Rankings.from_orderings(pairs, items="abc", unranked="anywhere")
    else:
        rows = [(f"p{row}", *pair) for row, pair in enumerate(pairs)]
        answers = tw.Preferences.from_pairs(rows)
    with pytest.raises(tw.InputError, match=r"two items only.*assessor"):
        tw.fit_mixture(answers, 2)
    assert tw.fit_mixture(answers, 1, distance="kendall", rng=1).n_groups == 1


def test_a_theta_that_is_hardly_determined_has_no_error_in_words(found):
    group = found.groups[0]
    assert " ± " in group.parameters()
    unsure = replace(group, theta=4.363, theta_error=22.714)
    assert unsure.parameters(3) == "theta 4.363, which the answers hardly determine"
    assert " ± " in replace(group, theta=0.01, theta_error=0.05).parameters()
