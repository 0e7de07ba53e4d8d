"""Fits with a theta per tier or per place: values, recovery, choice, divided opinions."""

import json
from itertools import permutations

import numpy as np
import pytest

import tierwise as tw
from tests import reference
from tests.data_paths import shared_data
from tierwise.answers.likelihood import source_of
from tierwise.errors import InputError
from tierwise.partition.choose import partition_function
from tierwise.theta.estimate import estimates_of_thetas, maximise_thetas
from tierwise.tiers import log_number_of_tiers

F1_SIZES = (1, 1, 1, 2, 3, 2, 15)
TOHOKU_SIZES = (1, 1, 1, 2, 1, 2, 1, 1)


def drawn(sizes, distance, concentration, thetas, n_rankings=300, rng=1):
    tiers = tw.Tiers.from_sizes(sizes, "abcdefghij"[: sum(sizes)])
    return tw.ClusteredMallows(tiers, thetas, distance, concentration).sample(n_rankings, rng)


def best_of(rankings, number):
    """The same rankings of which only the best items are listed."""
    listed = [row[:number] for row in rankings.to_orderings()]
    return tw.Rankings.from_orderings(listed, items=rankings.items, unranked="below")


def maximum(data, tiers, distance, concentration):
    """The thetas of greatest likelihood for given tiers."""
    partition = partition_function(tiers.sizes, distance, concentration=concentration)
    answers = source_of(data, partition.distance).with_thetas(partition)
    curve = answers.curve(tiers.label_array(data.items))
    return answers, curve, maximise_thetas(curve)


KINDS = [
    ((1, 2, 1, 1), "kendall", "tier", (0.3, 0.9, 0.5)),
    ((1, 2, 2), "kendall", "tier", (1.0, 0.6, 0.3)),
    ((1, 2, 1, 1), "kendall", "place", (1.0, 0.5, 0.2)),
    ((1, 2, 1, 1), "inversions", "tier", (0.3, 0.9, 0.5)),
    ((1, 1, 1, 1, 1), "kendall", "place", (1.0, 0.7, 0.5, 0.3)),
    ((1, 1, 1, 1, 1), "kendall", "tier", (0.3, 0.7, 0.5, 0.9)),
]


@pytest.mark.parametrize(("sizes", "distance", "concentration", "thetas"), KINDS)
def test_thetas_are_those_of_greatest_likelihood(sizes, distance, concentration, thetas):
    rankings = drawn(sizes, distance, concentration, thetas)
    tiers = tw.Tiers.from_sizes(sizes, "abcdefghij"[: sum(sizes)])
    _, _, found = maximum(rankings, tiers, distance, concentration)

    def log_likelihood(at):
        model = tw.ClusteredMallows(tiers, at, distance, concentration)
        return model.log_prob(rankings).sum()

    best = log_likelihood(found.thetas)
    assert found.log_likelihood == pytest.approx(best, rel=1e-10)
    for part in range(len(thetas)):
        for step in (-1e-3, 1e-3):
            moved = found.thetas.copy()
            moved[part] += step
            assert log_likelihood(moved) < best


@pytest.mark.parametrize(("sizes", "distance", "concentration", "thetas"), KINDS)
def test_the_fit_is_the_best_of_all_tiers(sizes, distance, concentration, thetas):
    rankings = drawn(sizes, distance, concentration, thetas, 200, rng=3)
    fit = tw.fit(rankings, sizes, distance, concentration=concentration, rng=1)
    labels = np.array(reference.labels_of(sizes))
    best = max(
        maximum(
            rankings,
            tw.Tiers.from_labels((np.array(other) + 1).tolist(), rankings.items),
            distance,
            concentration,
        )[2].log_likelihood
        for other in set(permutations(labels.tolist()))
    )
    assert fit.log_likelihood == pytest.approx(best, abs=1e-6)
    assert fit.tiers == tw.Tiers.from_sizes(sizes, "abcdefghij"[: sum(sizes)])
    assert fit.criterion == pytest.approx(fit.log_likelihood - log_number_of_tiers(sizes))
    price = np.log(200) / 2 * (len(thetas) - 1)
    assert fit.penalised_criterion == pytest.approx(fit.criterion - price)


@pytest.mark.parametrize(("sizes", "distance", "concentration", "thetas"), KINDS[:4])
def test_counts_are_as_good_as_rankings(sizes, distance, concentration, thetas):
    rankings = drawn(sizes, distance, concentration, thetas)
    one = tw.fit(rankings, sizes, distance, concentration=concentration, rng=1)
    other = tw.fit(tw.Counts.of(rankings), sizes, distance, concentration=concentration, rng=1)
    assert other.tiers == one.tiers
    assert other.thetas == pytest.approx(one.thetas, rel=1e-6)
    assert other.log_likelihood == pytest.approx(one.log_likelihood)


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "distance", "concentration", "thetas"), KINDS)
def test_intervals_cover(sizes, distance, concentration, thetas):
    model = tw.ClusteredMallows(
        tw.Tiers.from_sizes(sizes, "abcde"), thetas, distance, concentration
    )
    covered = np.zeros(len(thetas))
    for seed in range(200):
        rankings = model.sample(300, seed)
        answers, curve, found = maximum(rankings, model.tiers, distance, concentration)
        estimates = estimates_of_thetas(curve, found.thetas)
        covered += [
            low <= theta <= high
            for theta, (low, high) in zip(thetas, (e.interval for e in estimates), strict=True)
        ]
        assert answers.log_completions == 0.0
    assert 0.91 <= covered.mean() / 200 <= 0.98
    assert (covered / 200 >= 0.89).all()


def test_lists_of_the_best_by_place():
    rankings = drawn((1,) * 5, "kendall", "place", (1.2, 0.8, 0.4, 0.2), 2000)
    top = best_of(rankings, 2)
    tiers = tw.Tiers.from_sizes((1,) * 5, "abcde")
    whole = maximum(rankings, tiers, "kendall", "place")[2].thetas
    answers, curve, found = maximum(top, tiers, "kendall", "place")
    # What is listed says as much about the first places as complete rankings do.
    assert found.thetas[:2] == pytest.approx(whole[:2])
    assert answers.log_completions > 0
    model = tw.ClusteredMallows(tiers, (*found.thetas[:2], 0.0, 0.0), concentration="place")
    assert found.log_likelihood == pytest.approx(model.log_prob(top).sum())
    estimates = estimates_of_thetas(curve, found.thetas)
    assert estimates[2].interval == (0.0, np.inf)


def test_thetas_may_be_infinite_or_zero():
    agreeing = tw.Rankings.from_orderings([list("abcd")] * 6)
    for distance, concentration in (
        ("kendall", "place"),
        ("kendall", "tier"),
        ("inversions", "tier"),
    ):
        fit = tw.fit(agreeing, (1, 2, 1), distance, concentration=concentration, rng=1)
        assert np.isinf(fit.thetas).all()
        assert fit.log_likelihood == pytest.approx(-6 * np.log(2))
        # Where the second tier is kept by all, a cannot leave the first: its theta may be anything.
        free = (distance, concentration) == ("kendall", "tier")
        lowest = [one.interval[0] for one in fit.theta_estimates]
        assert [low > 0 for low in lowest] == [not free, True]
        assert json.loads(json.dumps(fit.to_dict(), allow_nan=False))["theta"] == [None, None]
    even = tw.Rankings.from_orderings([list(row) for row in permutations("abc")])
    fit = tw.fit(even, (1, 2), "kendall", concentration="tier", rng=1)
    assert fit.thetas == pytest.approx((0.0, 0.0), abs=1e-9)


def test_auto_says_what_it_chose_and_why():
    uneven = drawn((1, 1, 1, 1, 1), "kendall", "place", (2.0, 1.0, 0.1, 0.0), 500)
    fit = tw.fit(uneven, (1,) * 5, concentration="auto", rng=1)
    assert fit.concentration == "place"
    assert "single" in fit.concentration_reason
    assert "chosen by" in fit.summary()
    even = drawn((1, 2, 2), "kendall", "place", (0.5, 0.5), 200)
    fit = tw.fit(even, (1, 2, 2), concentration="auto", rng=1)
    assert fit.concentration == "single"
    assert isinstance(fit.theta, float)
    assert "tier" in fit.concentration_reason
    by_inversions = tw.fit(even, (1, 2, 2), "inversions", concentration="auto", rng=1)
    assert "place cannot be used" in by_inversions.concentration_reason


def test_what_cannot_be_fitted_is_said():
    rankings = drawn((1, 2, 2), "kendall", "tier", (1.0, 0.5, 0.2))
    with pytest.raises(InputError, match="not hamming"):
        tw.fit(rankings, (1, 2, 2), "hamming", concentration="tier")
    with pytest.raises(InputError, match="which tier-sized block"):
        tw.fit(best_of(rankings, 2), (1, 2, 2), concentration="place")
    with pytest.raises(InputError, match="likelihood"):
        tw.fit(rankings, (1, 2, 2), concentration="place", likelihood="pseudo")
    with pytest.raises(InputError, match="concentration must be"):
        tw.fit(rankings, (1, 2, 2), concentration="line")
    fit = tw.fit(rankings, (1, 2, 2), concentration="tier", rng=1)
    with pytest.raises(InputError, match="see theta_estimates"):
        _ = fit.theta_estimate


@pytest.mark.parametrize("concentration", ["tier", "place"])
@pytest.mark.parametrize("kind", ["nonparametric", "parametric"])
def test_bootstrap_takes_several_thetas(concentration, kind):
    rankings = drawn((1, 2, 1), "kendall", "place", (1.0, 0.3), 200)
    fit = tw.fit(rankings, (1, 2, 1), concentration=concentration, rng=1)
    again = tw.bootstrap(rankings, fit, replicates=20, kind=kind, rng=1, progress="off")
    assert again.thetas.shape == (20, 2)
    for (low, high), theta in zip(again.theta_intervals(), fit.thetas, strict=True):
        assert low <= theta <= high
    assert "theta " + fit.part_names[0] in again.summary()
    json.dumps(again.to_dict(), allow_nan=False)
    with pytest.raises(InputError, match="theta_intervals"):
        again.theta_interval()


def test_the_check_names_the_option_and_is_satisfied_by_it():
    rankings = drawn((1, 1, 1, 1, 1, 1), "kendall", "place", (2.0, 1.2, 0.6, 0.1, 0.0), 1500)
    single = tw.check_fit(rankings, tw.fit(rankings, (1,) * 6), rng=1)
    assert single.verdict == "theta varies"
    assert 'concentration="tier" or "place"' in single.summary()
    several = tw.check_fit(
        rankings, tw.fit(rankings, (1,) * 6, concentration="place", rng=1), rng=1
    )
    assert several.verdict == "fits"


@pytest.mark.thorough
def test_formula_one():
    races = tw.load_f1(shared_data("f1") / "f1db_2015_2016_results.csv")
    single = tw.fit(races, F1_SIZES)
    answers, _, by_place = maximum(races, single.tiers, "kendall", "place")
    value = by_place.log_likelihood - answers.log_completions
    assert value == pytest.approx(-2004.5, abs=0.05)
    assert by_place.thetas == pytest.approx((0.77, 0.40, 0.27, 0.20, 0.13, 0.10), abs=0.005)
    by_tier = maximum(races, single.tiers, "kendall", "tier")[2]
    value = by_tier.log_likelihood - answers.log_completions
    assert value == pytest.approx(-2016.6, abs=0.05)
    # Other tiers than those of one theta are better still.
    best = tw.fit(races, F1_SIZES, concentration="auto", rng=1)
    assert best.concentration == "place"
    assert best.log_likelihood - best.log_completions > -2004.5
    assert best.part_names[2:5] == ("place 3", "places 4-5", "places 6-8")


@pytest.mark.slow
def test_tohoku():
    sushi = tw.load_sushi(shared_data("sushi"), region="Tohoku")
    by_place = tw.fit(sushi, TOHOKU_SIZES, concentration="place", rng=1)
    assert by_place.log_likelihood == pytest.approx(-3941.2, abs=0.05)
    by_tier = tw.fit(sushi, TOHOKU_SIZES, concentration="auto", rng=1)
    assert by_tier.concentration == "tier"
    assert by_tier.log_likelihood > -3909.4


def test_all_sushi_strict():
    sushi = tw.load_sushi(shared_data("sushi"))
    strict = (1,) * 10
    single = tw.fit(sushi, strict)
    by_place = maximum(sushi, single.tiers, "kendall", "place")[2]
    assert by_place.log_likelihood == pytest.approx(-71336.1, abs=0.05)
    for distance in ("kendall", "inversions"):
        by_tier = maximum(sushi, single.tiers, distance, "tier")[2]
        assert by_tier.log_likelihood == pytest.approx(-70490.4, abs=0.05)
    best = tw.fit(sushi, strict, concentration="tier", rng=1)
    assert best.log_likelihood == pytest.approx(-69911.43, abs=0.05)


def test_people_are_divided_about_sea_urchin():
    sushi = tw.load_sushi(shared_data("sushi"))
    fit = tw.fit(sushi, (1, 1, 5, 2, 1), "inversions", concentration="tier", rng=1)
    # By itself the model puts it first, with a theta near 0.
    assert next(iter(fit.tiers)) == ("sea urchin",)
    assert fit.divided == ("sea urchin",)
    rows = fit.tier_rows()
    assert rows[0].items == ("fatty tuna",)
    assert rows[0].number == 1
    assert rows[-1].divided
    assert rows[-1].items == ("sea urchin",)
    assert [row.number for row in rows] == [1, 2, 3, 4, None]
    summary = fit.summary()
    assert "people are divided about sea urchin" in summary
    assert "  1  fatty tuna" in summary
    assert "sea urchin  0.0000" in summary
    assert "tier 1      0.3881" in summary
    assert fit.to_dict()["divided"] == ["sea urchin"]
    assert tw.fit(sushi, (1, 1, 5, 2, 1), "inversions").divided == ()


def test_columns_of_the_summary_stay_apart():
    """With ten thetas or more, tiers and thetas ran together."""
    rankings = tw.ClusteredMallows(tw.Tiers([[item] for item in "abcdefghijkl"]), 0.5).sample(9, 1)
    fit = tw.fit(rankings, (1,) * 12, concentration="tier", distance="inversions")
    line = next(line for line in fit.summary().splitlines() if line.startswith("these tiers"))
    assert line.split()[2:5] == ["12", "11", "thetas"]
