import json
from collections import Counter

import numpy as np
import pytest
from scipy.stats import norm

import tierwise as tw
from tests import reference, reference_checking
from tests.data_paths import shared_data
from tierwise import InputError, Rankings, Tiers
from tierwise.checking import rankings as checked_rankings
from tierwise.checking import result
from tierwise.posterior.run import sample_posterior

ITEMS = [f"item {number}" for number in range(10)]


def draw(sizes, theta, n_rankings, rng, items=None):
    tiers = Tiers.from_sizes(sizes, ITEMS[: sum(sizes)] if items is None else items)
    return tw.ClusteredMallows(tiers, theta).sample(n_rankings, rng)


def generalised_mallows(thetas, n_rankings, rng):
    """Rankings whose theta differs from place to place."""
    rows = []
    for _ in range(n_rankings):
        left, row = list(range(len(thetas))), []
        for theta in thetas:
            weights = np.exp(-theta * np.arange(len(left)))
            row.append(left.pop(rng.choice(len(left), p=weights / weights.sum())))
        rows.append(row)
    return Rankings.from_order_array(np.array(rows), ITEMS[: len(thetas)])


@pytest.mark.parametrize("distance", ["kendall", "hamming"])
@pytest.mark.parametrize("sizes", [(1, 2, 1), (2, 2), (1, 1, 1, 1), (1, 3), (4,)])
def test_expectations_are_those_of_all_orderings(sizes, distance):
    rankings = draw(sizes, 0.6, 50, rng=3)
    fit = tw.fit(rankings, sizes, distance)
    check = tw.check_fit(rankings, fit)
    labels = tuple(fit.tiers.label_array(rankings.items).tolist())
    brute = reference.BruteForce(sizes, distance, labels)
    n_items = len(labels)
    complete = {n_items: 1.0}
    for first in range(n_items):
        for second in range(n_items):
            if first != second:
                expected = reference_checking.pair_probability(
                    brute, fit.theta, first, second, complete
                )
                assert check.pairs_expected[first, second] == pytest.approx(expected, abs=1e-12)
            rank = reference_checking.rank_probability(brute, fit.theta, first, second)
            assert check.ranks_expected[first, second] == pytest.approx(rank, abs=1e-12)
    assert check.exact
    assert check.monte_carlo_error == 0
    expected_lines = reference_checking.mean_crossings(brute, fit.theta)
    assert [line.expected for line in check.lines] == pytest.approx(expected_lines, abs=1e-12)


def test_observed_shares_are_those_of_the_answers():
    rows = [["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"], ["a", "b", "c"]]
    rankings = Rankings.from_orderings(rows)
    fit = tw.fit(rankings, (1, 1, 1))
    assert str(fit.tiers) == "a > b > c"
    check = tw.check_fit(rankings, fit)
    assert check.pairs_observed[0, 1] == 3 / 4
    assert check.pairs_observed[2, 0] == 1 / 4
    np.testing.assert_allclose(
        check.ranks_observed, [[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0.25, 0, 0.75]]
    )
    # Items that belong above the first line, and the second, but lie below: by hand.
    assert [line.observed for line in check.lines] == [2 / 4, 1 / 4]


def test_weights_count_as_repeated_answers():
    rows = [["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"]]
    weighted = Rankings.from_orderings(rows, weights=[5, 3, 2])
    repeated = Rankings.from_orderings([rows[0]] * 5 + [rows[1]] * 3 + [rows[2]] * 2)
    one = tw.check_fit(weighted, tw.fit(weighted, (1, 2)), rng=1)
    two = tw.check_fit(repeated, tw.fit(repeated, (1, 2)), rng=1)
    np.testing.assert_allclose(one.pair_scores, two.pair_scores, atol=1e-9)
    assert one.to_dict()["findings"] == two.to_dict()["findings"]
    fractional = Rankings.from_orderings(rows, weights=[2.5, 1.5, 1.0])
    half = tw.check_fit(fractional, tw.fit(fractional, (1, 2)), rng=1)
    np.testing.assert_allclose(half.pairs_observed, one.pairs_observed)
    # Three answers, however they are weighted, tell less than ten.
    assert abs(half.pair_scores[0, 1]) < abs(one.pair_scores[0, 1])


def test_answers_cut_short_are_compared_with_orderings_cut_short():
    rows = [["a", "b"], ["b", "a"], ["a"], ["a", "c", "b", "d"], ["d", "a"]]
    rankings = Rankings.from_orderings(rows, items="abcd", unranked="below")
    fit = tw.fit(rankings, (1, 3))
    check = tw.check_fit(rankings, fit)
    labels = tuple(fit.tiers.label_array(rankings.items).tolist())
    brute = reference.BruteForce((1, 3), "kendall", labels)
    lengths = {2: 3 / 5, 1: 1 / 5, 4: 1 / 5}
    for first in range(4):
        for second in set(range(4)) - {first}:
            expected = reference_checking.pair_probability(brute, fit.theta, first, second, lengths)
            assert check.pairs_expected[first, second] == pytest.approx(expected, abs=1e-12)
    # Only the first place is filled by every answer.
    assert not np.isnan(check.ranks_observed[:, 0]).any()
    assert np.isnan(check.ranks_observed[:, 1:]).all()
    assert len(check.lines) == 1
    assert "direction" not in {finding.name for finding in check.findings}


def test_what_answers_leave_open_is_left_out():
    model = tw.ClusteredMallows(Tiers([["a"], ["b", "c"], ["d"]]), theta=0.7)
    complete = model.sample(60, rng=1)
    fit = tw.fit(complete, (1, 2, 1))
    rows = [row[:2] for row in complete.to_orderings()]
    open_ended = Rankings.from_orderings(rows, items=complete.items, unranked="anywhere")
    check = tw.check_fit(open_ended, fit)
    assert check.lines == ()
    assert np.isnan(check.distance_spread)
    assert np.isnan(check.ranks_observed).all()
    assert {finding.name for finding in check.findings} == {"pairs", "ranks", "direction"}
    assert "nothing about shares of an item in a rank" in check.summary()


def test_sampled_expectations_agree_with_exact_ones():
    rankings = draw((1,) * 9, 0.5, 100, rng=2)
    fit = tw.fit(rankings, (1,) * 9)
    check = tw.check_fit(rankings, fit, rng=1)
    assert not check.exact
    # The closed form for two items that are k places apart in a strict consensus.
    q = np.exp(-fit.theta)

    def tail(k):
        return k / (1 - q**k)

    labels = fit.tiers.label_array(rankings.items)
    for first in range(9):
        for second in range(9):
            apart = labels[second] - labels[first]
            if apart > 0:
                exact = tail(apart + 1) - tail(apart)
                error = abs(check.pairs_expected[first, second] - exact)
                # Five standard errors, over 36 pairs: less than once in ten thousand, and the
                # seed is fixed.
                assert error < 5 * check.monte_carlo_error
    assert 0 < check.monte_carlo_error < 0.005
    more = tw.check_fit(rankings, fit, draws=80_000, rng=1)
    assert more.monte_carlo_error == pytest.approx(check.monte_carlo_error / 2, rel=0.05)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sizes", "theta", "n_rankings"),
    [
        ((2, 2), 0.5, 300),
        ((1,) * 6, 0.6, 50),
        pytest.param((1, 2, 1), 0.3, 2000, marks=pytest.mark.slow),
        pytest.param((1, 1, 1, 2, 3, 2), 0.25, 280, marks=pytest.mark.slow),
    ],
)
def test_rankings_from_the_model_fit(sizes, theta, n_rankings):
    rng = np.random.default_rng(11)
    verdicts = Counter()
    for _ in range(25):
        rankings = draw(sizes, theta, n_rankings, rng)
        verdicts[tw.check_fit(rankings, tw.fit(rankings, sizes), draws=4000, rng=rng).verdict] += 1
    # A false alarm once in a hundred, or a little more often: five of 25 are then beyond chance.
    assert verdicts["fits"] >= 21


@pytest.mark.parametrize("thetas", [np.linspace(0.8, 0.0, 10), [1.5, 1.2, 0.8, 0.4, 0.2, 0.0]])
def test_theta_that_varies_is_found(thetas):
    rankings = generalised_mallows(thetas, 400, np.random.default_rng(1))
    fit = tw.fit(rankings, (1,) * len(thetas))
    check = tw.check_fit(rankings, fit, rng=1)
    assert check.verdict == "theta varies"
    assert check.lines[0].theta > fit.theta > check.lines[-1].theta
    assert "Agreement differs along the ranking" in check.verdict_in_words()


def test_two_groups_are_found():
    rng = np.random.default_rng(4)
    turned = ITEMS[5:] + ITEMS[:5]
    rankings = Rankings.concat(
        [draw((1,) * 10, 0.5, 200, rng), draw((1,) * 10, 0.5, 100, rng, items=turned)]
    )
    check = tw.check_fit(rankings, tw.fit(rankings, (1,) * 10), rng=1)
    assert check.verdict == "mixture suspected"
    # The direction sets the items that the groups disagree about against each other.
    signs = np.sign(check.direction)
    first_half = {
        ITEMS.index(item) < 5 for item, sign in zip(check.items, signs, strict=True) if sign > 0
    }
    assert len(first_half) == 1


def test_people_who_answer_at_random_are_found():
    rng = np.random.default_rng(5)
    rankings = Rankings.concat([draw((1,) * 8, 1.2, 200, rng), draw((1,) * 8, 0.0, 100, rng)])
    check = tw.check_fit(rankings, tw.fit(rankings, (1,) * 8), rng=1)
    assert check.verdict == "mixture suspected"
    assert check.distance_spread > 1.5


@pytest.mark.parametrize("n_others", [1, 2, 3])
def test_two_distances_have_the_variance_that_their_mean_implies(n_others):
    # The item is in first place or not, so orderings are 0 or 2 away from the tiers.
    first, others = [["a", "b", "c"]], [["b", "a", "c"]] * n_others
    rankings = Rankings.from_orderings([*first * 4, *others])
    check = tw.check_fit(rankings, tw.fit(rankings, (1, 2), distance="hamming"))
    assert check.distance_spread == pytest.approx(1.0)
    (spread,) = (finding for finding in check.findings if finding.name == "spread")
    assert (spread.score, spread.p_value) == (0.0, 0.5)
    assert "some people" not in spread.statement


def test_tiers_that_are_too_coarse_are_found():
    rankings = draw((1,) * 6, 0.9, 400, rng=6)
    check = tw.check_fit(rankings, tw.fit(rankings, (3, 3)), rng=1)
    assert check.verdict == "differs"
    assert "finer tiers" in check.verdict_in_words()
    worst = check.differing_pairs(1)[0]
    assert check.fit.tiers.tied(worst.above, worst.below)
    assert worst.expected == pytest.approx(0.5)


def test_pairs_are_named_once_and_the_worst_comes_first():
    rankings = draw((1, 2, 2), 0.4, 100, rng=7)
    check = tw.check_fit(rankings, tw.fit(rankings, (1, 2, 2)))
    pairs = check.differing_pairs(100)
    assert len({frozenset((pair.above, pair.below)) for pair in pairs}) == 10 == len(pairs)
    assert [abs(pair.score) for pair in pairs] == sorted(
        (abs(pair.score) for pair in pairs), reverse=True
    )
    assert all(pair.observed >= 0.5 for pair in pairs)
    assert len(check.differing_pairs(3)) == 3
    errors = [pair.observed - pair.expected for pair in pairs]
    assert check.pairs_off_by == pytest.approx(np.sqrt(np.mean(np.square(errors))))


def test_pairs_count_as_often_as_answers_order_them():
    lists = [["a", "b", "c"]] * 9 + [["b", "a"]] * 3 + [["c", "d"]]
    rankings = Rankings.from_orderings(lists, unranked="anywhere")
    check = tw.check_fit(rankings, tw.fit(rankings, (1, 1, 2)))
    a, b, c, d = (rankings.items.index(item) for item in "abcd")
    assert check.pair_numbers[a, b] == check.pair_numbers[b, a] == 12
    assert check.pair_numbers[c, d] == 1
    squares = by_chance = answers = 0.0
    for one, two in ((a, b), (a, c), (b, c), (c, d)):
        number, expected = check.pair_numbers[one, two], check.pairs_expected[one, two]
        squares += number * (check.pairs_observed[one, two] - expected) ** 2
        by_chance += expected * (1 - expected)
        answers += number
    assert check.pairs_off_by == pytest.approx(np.sqrt(squares / answers))
    assert check.pairs_off_by_chance == pytest.approx(np.sqrt(by_chance / answers))


@pytest.mark.thorough
def test_pairs_of_a_true_model_are_off_by_chance():
    tiers = Tiers([["a"], ["b", "c"], ["d"]])
    model = tw.ClusteredMallows(tiers, theta=0.4)
    checks = [
        tw.check_fit(rankings, tw.fit(rankings, tiers=tiers))
        for rankings in (model.sample(80, rng=seed) for seed in range(80))
    ]
    off_by = np.array([[check.pairs_off_by, check.pairs_off_by_chance] for check in checks])
    observed, chance = np.sqrt((off_by**2).mean(axis=0))
    # Theta is estimated from the same answers, so the differences are somewhat smaller.
    assert 0.8 * chance < observed < 1.05 * chance


def test_the_pair_named_is_the_one_that_chance_explains_least():
    lists = [["a", "b", "c"], ["b", "a", "c"]] * 20 + [["b", "a", "c"]] * 30 + [["d", "c"]]
    rankings = Rankings.from_orderings(lists, unranked="anywhere")
    said = tw.check_fit(rankings, tw.fit(rankings, tiers=[["a", "b"], ["c", "d"]])).summary(10_000)
    assert "most clearly for b above a: 71% of rankings, 50% expected" in said


def test_scores_of_findings_are_those_of_their_p_values():
    for seed in range(3):
        rankings = draw((1, 1, 1, 1), 0.5, 100, rng=seed)
        for tiers in ((1, 1, 1, 1), (2, 2), (4,)):
            for finding in tw.check_fit(rankings, tw.fit(rankings, tiers)).findings:
                if 0 < finding.score < 30:
                    assert finding.p_value == pytest.approx(norm.sf(finding.score), rel=1e-6)


def test_verdicts_are_the_same_each_time():
    rankings = draw((1,) * 9, 0.4, 50, rng=9)
    fit = tw.fit(rankings, (1,) * 9)
    one, two = tw.check_fit(rankings, fit), tw.check_fit(rankings, fit)
    assert not one.exact
    assert [finding.p_value for finding in one.findings] == [
        finding.p_value for finding in two.findings
    ]


def test_perfect_agreement_and_one_tier_are_no_trouble():
    agreed = Rankings.from_orderings([["a", "b", "c"]] * 50)
    check = tw.check_fit(agreed, tw.fit(agreed, (1, 1, 1)))
    assert check.verdict == "fits"
    assert check.pairs_expected[0, 1] == pytest.approx(1)
    single = tw.check_fit(agreed, tw.fit(agreed, (3,)))
    assert single.verdict == "differs"
    assert single.lines == ()
    assert single.pairs_expected[0, 1] == pytest.approx(0.5)


def test_posterior_predictive_expectations_average_over_the_posterior():
    rankings = draw((1, 2, 1), 0.5, 40, rng=8)
    fit = tw.fit(rankings, (1, 2, 1))
    posterior = sample_posterior(rankings, (1, 2, 1), rng=1)
    plug_in = tw.check_fit(rankings, fit)
    averaged = tw.check_fit(rankings, fit, posterior=posterior, draws=40_000, rng=1)
    assert not averaged.exact
    expected = np.zeros((4, 4))
    for labels, theta in zip(posterior.labels[::20], posterior.thetas[::20], strict=True):
        order = [posterior.items.index(item) for item in rankings.items]
        brute = reference.BruteForce((1, 2, 1), "kendall", tuple((labels[order] - 1).tolist()))
        for ordering, share in zip(brute.orderings, brute.probabilities(theta), strict=True):
            for place, item in enumerate(ordering):
                expected[item, place] += share / len(posterior.thetas[::20])
    # 100 of the posterior's draws are used, each a little different: hence the wide bound.
    np.testing.assert_allclose(averaged.ranks_expected, expected, atol=0.05)
    assert not np.allclose(
        averaged.pairs_expected, plug_in.pairs_expected, atol=1e-4, equal_nan=True
    )


def test_same_seed_same_answer():
    rankings = draw((1,) * 9, 0.4, 50, rng=9)
    fit = tw.fit(rankings, (1,) * 9)
    one, two, other = (tw.check_fit(rankings, fit, rng=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.pairs_expected, two.pairs_expected)
    assert not np.array_equal(one.pairs_expected, other.pairs_expected)
    assert one.provenance.seed == 1


def test_results_can_be_written_and_printed():
    rankings = draw((1, 2, 1), 0.5, 100, rng=10)
    check = tw.check_fit(rankings, tw.fit(rankings, (1, 2, 1)))
    values = json.loads(json.dumps(check.to_dict(), allow_nan=False))
    assert values["verdict"] == check.verdict
    assert len(values["lines"]) == 2
    assert "line between tiers" in check.summary()
    assert repr(check).startswith("FitCheck('fits', pairs off by 0.0")


def test_bad_input():
    rankings = draw((1, 2), 0.5, 20, rng=1)
    fit = tw.fit(rankings, (1, 2))
    with pytest.raises(InputError, match="draws must be at least 100; got 5"):
        tw.check_fit(rankings, fit, draws=5)
    others = Rankings.from_orderings([["x", "y", "z"]])
    with pytest.raises(InputError, match="not in the tiers: 'x'"):
        tw.check_fit(others, fit)


def test_chi_square_scores():
    values = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    even = np.full(4, 0.25)
    moments = checked_rankings.moments_given_fitted(values, np.zeros((4, 1)), even)
    np.testing.assert_allclose(moments.covariances, [[0.5, 0], [0, 2]])
    score, freedom = result.chi_square_score(np.array([0.5, 1.0]), moments.covariances)
    assert (score, freedom) == (pytest.approx(1.0), 2)
    # What the distance explains does not count.
    moments = checked_rankings.moments_given_fitted(values, values[:, :1], even)
    np.testing.assert_allclose(moments.covariances, [[0, 0], [0, 2]], atol=1e-15)
    assert result.chi_square_score(np.array([0.0, 1.0]), moments.covariances)[1] == 1
    # The approximation is good enough for verdicts: 5% points of chi-square.
    for freedom, point in ((1, 3.841), (5, 11.070), (20, 31.410)):
        assert result.tail(result.standard_score(point, freedom)) == pytest.approx(0.05, abs=0.004)


def test_sushi_has_two_groups_of_eaters():
    sushi = tw.load_sushi(shared_data("sushi"))
    check = tw.check_fit(sushi, tw.fit(sushi, (1,) * 10), rng=1)
    assert check.verdict == "mixture suspected"
    order = np.argsort(check.direction)
    assert {check.items[order[0]], check.items[order[-1]]} == {"egg", "sea urchin"}


@pytest.mark.thorough
def test_formula_one_agrees_more_at_the_top():
    races = tw.load_f1(shared_data("f1") / "f1db_2015_2016_results.csv")
    fit = tw.fit(races, (1, 1, 1, 2, 3, 2, 15), rng=1)
    check = tw.check_fit(races, fit, rng=1)
    assert check.verdict == "theta varies"
    assert check.lines[0].theta > 3 * check.lines[-1].theta


AGREEING = Rankings.from_orderings([["a", "b", "c"]] * 5)
TOLD_NOTHING = Rankings.from_orderings([["a"], ["b"], ["c"]], items="abc", unranked="anywhere")


@pytest.mark.parametrize("data", [AGREEING, TOLD_NOTHING], ids=["infinite theta", "no pairs"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 2), (3,)])
def test_results_are_always_json(data, sizes):
    check = tw.check_fit(data, tw.fit(data, sizes), rng=1)
    plain = json.loads(json.dumps(check.to_dict(), allow_nan=False))
    assert set(plain["findings"][0]) == {"name", "p_value", "score", "statement"}
    assert check.summary()


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        ([["a", "b", "c"]], "Rankings.from_orderings"),
        (np.array([[1, 2, 3]]), "Rankings.from_ranks"),
        (None, "tierwise.read"),
        (tw.Counts.of(AGREEING), "pass the rankings"),
    ],
)
def test_wrong_data_are_named_with_the_remedy(data, remedy):
    with pytest.raises(tw.InputError, match=remedy):
        tw.check_fit(data, tw.fit(AGREEING, (1, 2)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fit": (1, 2)}, "fit must be a Fit"),
        ({"posterior": "all"}, "posterior must be a Posterior"),
        ({"draws": 99}, "draws must be at least 100"),
        ({"draws": 10**12}, "draws must be at most"),
        ({"draws": np.ones(3)}, "draws must be a whole number"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    given = {"data": AGREEING, "fit": tw.fit(AGREEING, (1, 2))} | arguments
    with pytest.raises(tw.InputError, match=message):
        tw.check_fit(**given)


def test_lines_of_inversions_have_the_theta_of_the_model():
    model = tw.ClusteredMallows(tw.Tiers([["a", "b"], ["c"], ["d", "e"]]), 0.7, "inversions")
    rankings = model.sample(20_000, rng=1)
    check = tw.check_fit(rankings, tw.fit(rankings, (2, 1, 2), "inversions"), rng=1)
    assert [line.theta for line in check.lines] == pytest.approx([0.7, 0.7], abs=0.05)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("distance", "concentration"),
    [
        pytest.param("kendall", "tier", marks=pytest.mark.slow),
        ("kendall", "place"),
        ("inversions", "tier"),
    ],
)
def test_a_single_tier_without_any_theta(distance, concentration, tmp_path):
    rankings = draw((2, 2), 0.3, 50, 1)
    fit = tw.fit(rankings, (4,), distance, concentration=concentration)
    single = tw.check_fit(rankings, tw.fit(rankings, (4,), distance), draws=500, rng=1)
    check = tw.check_fit(rankings, fit, draws=500, rng=1)
    assert np.allclose(check.pairs_observed, single.pairs_observed, equal_nan=True)
    assert json.dumps(check.to_dict(), allow_nan=False)
    page = tmp_path / "page.html"
    tw.report(
        rankings,
        page,
        sizes=(4,),
        distance=distance,
        concentration=concentration,
        uncertainty="bootstrap",
        replicates=2,
        rng=1,
    )
    assert page.stat().st_size > 1000
